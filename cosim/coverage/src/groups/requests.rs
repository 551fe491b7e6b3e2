//! Coverage groups for single requests: operations, lanes and addresses.

use atoms_model::config::WinnerPolicy;
use atoms_ops::Op;

use super::ports::Rank;
use super::values::{
    AnyOp, AnySize, Bank, Degree, Few, Lane, PlainOp, Port, SlotNumber, Wanted, Width, legal,
};
use crate::cross::table;

table! {
    /// Operation code on the port.
    numbers OpCode: 32 from 0;
    /// Size code on the port.
    numbers SizeCode: 16 from 0;
    cover Decode "decode" (operation_code: OpCode, size_code: SizeCode)
    "Each pair of operation code and size code is either an instruction or illegal; a wrong entry of the decoder is visible only with its own pair." "3.3";

    cover Operation "operation" (operation: AnyOp, size: AnySize, result: Wanted, port: Port)
    "Every instruction works with and without a result and at either port: the arithmetic is the same, the response registers differ." "3, 6.3, 6.7";
    |_| legal(operation.0, size) && (port == Port::Warp || operation.0.cluster_legal(result == Wanted::None));

    /// Number of active lanes.
    values Population { None = "none", One = "one", Some = "some", All = "all", }
    cover Lanes "lanes" (operation: AnyOp, lanes: Population)
    "Any number of lanes may be active: a request without active lanes must still get a response, and with all lanes active, coalescing combines the most lanes." "2.6";
    |config| lanes != Population::Some || config.num_lanes > 2;

    cover LaneAlone "lane_alone" (lane: Lane)
    "Each lane can be the only active one, so that only its own wires serve the request." "2.6";
    |config| u32::from(lane.0) < config.num_lanes;

    cover Conflict "conflict" (operation: PlainOp, size: AnySize, lanes_at_one_group: Degree)
    "The number of passes of a request follows from the lanes on its fullest bank group, which depends on the size, and from the treatment of lanes that do not win." "4.3, 4.4";
    |config| legal(operation.0, size) && lanes_at_one_group.least() <= config.num_lanes;

    cover Addresses "addresses" (operation: PlainOp, addresses_in_one_group: Degree)
    "Lanes on one bank but in different rows can never share a pass, with or without coalescing." "4.1";
    |config| addresses_in_one_group.least() <= config.num_lanes.min(config.num_rows);

    cover SameAddress "same_address" (operation: PlainOp, result: Wanted, lanes_at_one_address: Degree)
    "Lanes at one address are served one after the other or coalesced, or they fail, depending on the operation and on whether a result is wanted." "3.5, 4.5, 5.1";
    |config| lanes_at_one_address.least() <= config.num_lanes;

    /// Operation whose lanes at one address may be merged.
    operations MergedOp { Add Min Max And Or Xor PopcInc Load Store MbarArrive MbarTestWait MbarTryWait Inc Exch }
    /// Service of several lanes at one address: in several passes or in one.
    values Together { No = "one after the other", Yes = "together", }

    cover Merging "merging" (operation: MergedOp, result: Wanted, lanes_at_one_address: Together, addresses: Few)
    "Operation, result and configuration decide if lanes at one address share a pass; lanes at other addresses of the bank must keep their own passes." "3.5, 4.5";
    |config| {
        // At least two lanes share one address, and each other address needs one lane.
        let rows = if addresses == Few::More { 3 } else { addresses as u32 };
        addresses != Few::Zero
            && rows <= config.num_rows
            && rows < config.num_lanes
            && (lanes_at_one_address == Together::Yes) == merges(config, operation.0, result)
    };

    cover Crossbar "crossbar" (lane: Lane, bank: Bank)
    "Operands go from each lane to each bank, and results go back; a crossed wire is visible only for its own lane and bank." "4.1";
    |config| u32::from(lane.0) < config.num_lanes && u32::from(bank.0) < config.num_banks;

    /// Position of the winner among the lanes that access its bank, by lane number.
    values Standing { Lowest = "lowest", Between = "between", Highest = "highest", }
    values Policy { Lowest = "lowest first", Highest = "highest first", Rotating = "rotating", }
    cover Winner "winner" (policy: Policy, winner_of_the_bank: Standing)
    "The winner policy decides which lane is served first; the rotating policy may select any competing lane. CAST.SPIN has a separate rule (group `favour`)." "4.2";
    |config| policy == Policy::of_config(config) && match policy {
        Policy::Lowest => winner_of_the_bank == Standing::Lowest,
        Policy::Highest => winner_of_the_bank == Standing::Highest,
        Policy::Rotating => winner_of_the_bank != Standing::Between || config.num_lanes > 2,
    };

    /// Position of the winner in the rotating order: at the lane where the order starts, after this lane, or
    /// after the wrap-around.
    values Turn { AtStart = "at the start", Behind = "behind the start", Round = "round past the last lane", }
    cover Rotation "rotation" (start: Lane, winner: Turn)
    "The rotating order starts at each lane in turn and wraps around, which is visible only in a conflict." "4.2";
    |config| config.winner_policy == WinnerPolicy::Rotating
        && u32::from(start.0) < config.num_lanes
        && match winner {
            Turn::AtStart => true,
            // Both lanes of the bank must come after the lane where the order starts.
            Turn::Behind => u32::from(start.0) + 1 < config.num_lanes && config.num_lanes > 2,
            Turn::Round => start.0 >= 2,
        };

    /// Value that the bank hash combines with the bank number, in units of four banks.
    numbers Swizzle: 16 from 0;
    cover Hash "hash" (swizzle: Swizzle, width: Width)
    "The bank hash permutes quads of banks, so that the words of a wide access stay next to each other; each hash value is another permutation." "1.2";
    |config| config.bank_hash && u32::from(swizzle.0) < (config.num_banks / 4).min(config.num_rows);

    cover WideAccess "wide_access" (width: Width, first_bank: Bank)
    "Each pair and each quad of banks has its own logic to group lanes, to compare and to write." "4.4";
    |config| width >= Width::Pair
        && u32::from(first_bank.0) < config.num_banks
        && usize::from(first_bank.0).is_multiple_of(width.banks());

    /// Byte offset within the word.
    numbers Byte: 4 from 0;
    /// Highest bit of the value that a sub-word access moves.
    values Sign { Clear = "clear", Set = "set", }
    cover SubWord "sub_word" (operation: PlainOp, size: AnySize, byte: Byte, highest_bit: Sign)
    "Bytes and half-words are taken from each position in a word, and extended with or without sign." "3.5";
    |_| legal(operation.0, size) && Width::new(size.0) == Width::Sub && u32::from(byte.0) % size.0.bytes() == 0;

    /// Overlap of the bytes that several lanes store in one word.
    values Overlay { Alone = "alone in its word", Same = "over the same bytes", Beside = "beside others in the word", }
    cover StoreOverlay "store_overlay" (size: AnySize, lanes: Overlay)
    "If several lanes store to the same bytes, the value of the lowest lane remains; stores to other bytes of the word must not change these bytes." "3.5";
    |_| legal(Op::Store, size) && (lanes != Overlay::Beside || Width::new(size.0) == Width::Sub);

    /// Form of the address.
    values Form { Register = "register", Absolute = "absolute", }
    /// Scale factor of the address register Ra.
    values Scale { One = "1", Four = "4", Eight = "8", Sixteen = "16", Reserved = "reserved code", }
    /// Uniform register in the address.
    values Uniform { Zero = "none", Other = "uniform register", }
    /// Class of the immediate, and overflow of the address sum beyond 32 bits.
    values Immediate {
        Zero = "0", Positive = "positive", Negative = "highest bit set", ZeroWraps = "0, sum wraps",
        PositiveWraps = "positive, sum wraps", NegativeWraps = "highest bit set, sum wraps",
    }
    cover Address "address" (form: Form, scale: Scale, uniform: Uniform, immediate: Immediate)
    "Each address form adds other terms. A wrong wrap of the sum or a wrong sign extension of the immediate is visible only if the correct address is legal." "2.1, 2.2";
    |config| {
        let adds = uniform == Uniform::Other;
        // Without another term, the top bits of the sum come from the immediate alone.
        let high = config.bytes() > 1 << 23;
        match (form, immediate) {
            (_, Immediate::Zero | Immediate::Positive) => true,
            (Form::Absolute, Immediate::Negative) => adds || high,
            (Form::Absolute, Immediate::ZeroWraps) => false,
            (Form::Absolute, Immediate::PositiveWraps | Immediate::NegativeWraps) => adds,
            (Form::Register, Immediate::Negative | Immediate::PositiveWraps) => true,
            (Form::Register, Immediate::ZeroWraps) => adds,
            (Form::Register, Immediate::NegativeWraps) => adds || high,
        }
    };

    cover Slot "slot" (port: Port, slot: SlotNumber)
    "Each slot has its own registers: for its allocation, and for the number of its requests in flight." "1.3";
    |config| u32::from(slot.0) < config.num_cta_slots;

    numbers OffsetBits: 25 from 0;
    cover Offset "offset" (port: Port, rank: Rank, offset_bits: OffsetBits)
    "Each bit of an offset selects a bank or a row, up to the last byte of the shared-memory window, with ranks of each class." "1.2, 1.3, 1.4";
    |config| offset_bits.0 == 0 || config.bytes() > 1 << (offset_bits.0 - 1);

    numbers Tag: 64 from 0;
    cover Tags "tag" (port: Port, tag: Tag)
    "The response has the same tag as its request, in each bit." "4.6";

    /// Other requests with the same tag: the last one answered at this port, one in flight at the other port,
    /// or both.
    values Reuse {
        Fresh = "nothing near", Again = "the request answered last", Other = "a request at the other port",
        Both = "both",
    }
    cover TagReuse "tag_reuse" (port: Port, names_also: Reuse)
    "Responses are matched by port and order as well as by tag, so a tag may be reused immediately, and at both ports." "4.6";
}

impl Policy {
    pub fn of_config(config: &atoms_model::Config) -> Self {
        match config.winner_policy {
            WinnerPolicy::Lowest => Policy::Lowest,
            WinnerPolicy::Highest => Policy::Highest,
            WinnerPolicy::Rotating => Policy::Rotating,
        }
    }
}

/// Returns true if a configuration serves several lanes at one address in one pass.
pub fn merges(config: &atoms_model::Config, op: Op, result: Wanted) -> bool {
    op.coalesces(result == Wanted::None, config.merge_red, config.merge_arrive)
}
