//! Groups for single requests: operations, lanes and addresses.

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
    "Each pair of codes is an instruction or is refused; one wrong entry of the decoder shows in no other pair." "3.3";

    cover Operation "operation" (operation: AnyOp, size: AnySize, result: Wanted, port: Port)
    "Every instruction works with and without a result and from either port, through the same kernels but other response registers." "3, 6.3, 6.7";
    |_| legal(operation.0, size) && (port == Port::Warp || operation.0.cluster_legal(result == Wanted::None));

    /// Number of lanes that take part.
    values Population { None = "none", One = "one", Some = "some", All = "all", }
    cover Lanes "lanes" (operation: AnyOp, lanes: Population)
    "A guard may leave any number of lanes; none at all must still be answered, and all is what merging and joining are widest in." "2.6";
    |config| lanes != Population::Some || config.num_lanes > 2;

    cover LaneAlone "lane_alone" (lane: Lane)
    "Each lane can be the only one, so that nothing but its own wires serves it." "2.6";
    |config| u32::from(lane.0) < config.num_lanes;

    cover Conflict "conflict" (operation: PlainOp, size: AnySize, lanes_at_one_group: Degree)
    "How many passes a request takes follows from the lanes of its fullest bank group, which differs by size, and from what the operation does with those that do not win." "4.3, 4.4";
    |config| legal(operation.0, size) && lanes_at_one_group.least() <= config.num_lanes;

    cover Addresses "addresses" (operation: PlainOp, addresses_in_one_group: Degree)
    "Lanes of one bank and different rows can never share a pass, whatever joins or merges." "4.1";
    |config| addresses_in_one_group.least() <= config.num_lanes.min(config.num_rows);

    cover SameAddress "same_address" (operation: PlainOp, result: Wanted, lanes_at_one_address: Degree)
    "Lanes at one address are served one after the other, joined, merged or failed, by operation and by whether a result is wanted." "3.5, 4.5, 5.1";
    |config| lanes_at_one_address.least() <= config.num_lanes;

    /// Operation whose lanes at one address may be merged.
    operations MergedOp { Add Min Max And Or Xor PopcInc Load Store MbarArrive MbarTestWait MbarTryWait Inc Exch }
    /// Service of several lanes at one address.
    values Together { No = "one after the other", Yes = "together", }

    cover Merging "merging" (operation: MergedOp, result: Wanted, lanes_at_one_address: Together, addresses: Few)
    "Joining and merging are decided by operation, result and configuration, and must leave lanes of other addresses on the bank their own pass." "3.5, 4.5";
    |config| {
        // At least two lanes share one address, and each other address needs one lane.
        let rows = if addresses == Few::More { 3 } else { addresses as u32 };
        addresses != Few::Zero
            && rows <= config.num_rows
            && rows < config.num_lanes
            && (lanes_at_one_address == Together::Yes) == merges(config, operation.0, result)
    };

    cover Crossbar "crossbar" (lane: Lane, bank: Bank)
    "Operands travel from each lane to each bank and results back; a wire that is crossed shows in its own pair only." "4.1";
    |config| u32::from(lane.0) < config.num_lanes && u32::from(bank.0) < config.num_banks;

    /// Position of the winner among the lanes that want its bank.
    values Standing { Lowest = "lowest", Between = "between", Highest = "highest", }
    values Policy { Lowest = "lowest first", Highest = "highest first", Rotating = "rotating", }
    cover Winner "winner" (policy: Policy, winner_of_the_bank: Standing)
    "The policy decides which lane goes first; the rotating one lets any of the contenders. CAST.SPIN has a rule of its own." "4.2";
    |config| policy == Policy::of_config(config) && match policy {
        Policy::Lowest => winner_of_the_bank == Standing::Lowest,
        Policy::Highest => winner_of_the_bank == Standing::Highest,
        Policy::Rotating => winner_of_the_bank != Standing::Between || config.num_lanes > 2,
    };

    /// Position of the winner in the rotating order.
    values Turn { AtStart = "at the start", Behind = "behind the start", Round = "round past the last lane", }
    cover Rotation "rotation" (start: Lane, winner: Turn)
    "The order starts at every lane in turn and goes round, which only a conflict shows." "4.2";
    |config| config.winner_policy == WinnerPolicy::Rotating
        && u32::from(start.0) < config.num_lanes
        && match winner {
            Turn::AtStart => true,
            // Both lanes of the bank must come after the lane where the order starts.
            Turn::Behind => u32::from(start.0) + 1 < config.num_lanes && config.num_lanes > 2,
            Turn::Round => start.0 >= 2,
        };

    /// Value that the bank hash applies to a bank number, in quads.
    numbers Swizzle: 16 from 0;
    cover Hash "hash" (swizzle: Swizzle, width: Width)
    "The hash moves quads of banks, so that wide accesses stay together; each of its values is another permutation." "1.2";
    |config| config.bank_hash && u32::from(swizzle.0) < (config.num_banks / 4).min(config.num_rows);

    cover WideAccess "wide_access" (width: Width, first_bank: Bank)
    "Each pair and each quad of banks is a unit of its own for grouping, comparing and writing." "4.4";
    |config| width >= Width::Pair
        && u32::from(first_bank.0) < config.num_banks
        && usize::from(first_bank.0).is_multiple_of(width.banks());

    /// Byte offset within the word.
    numbers Byte: 4 from 0;
    /// Highest bit of the value that a sub-word access moves.
    values Sign { Clear = "clear", Set = "set", }
    cover SubWord "sub_word" (operation: PlainOp, size: AnySize, byte: Byte, highest_bit: Sign)
    "Bytes and halves are cut out of their word at every place, and extended with or without sign." "3.5";
    |_| legal(operation.0, size) && Width::new(size.0) == Width::Sub && u32::from(byte.0) % size.0.bytes() == 0;

    /// Overlap of stores by several lanes of one word.
    values Overlay { Alone = "alone in its word", Same = "over the same bytes", Beside = "beside others in the word", }
    cover StoreOverlay "store_overlay" (size: AnySize, lanes: Overlay)
    "Of several stores to the same bytes the lowest lane's stays, and stores to other bytes of the word must not touch them." "3.5";
    |_| legal(Op::Store, size) && (lanes != Overlay::Beside || Width::new(size.0) == Width::Sub);

    /// Form of the address.
    values Form { Register = "register", Absolute = "absolute", }
    /// Scale factor of the register.
    values Scale { One = "1", Four = "4", Eight = "8", Sixteen = "16", Reserved = "reserved code", }
    /// Uniform register in the address.
    values Uniform { Zero = "none", Other = "uniform register", }
    /// Immediate, and overflow of the sum beyond 32 bits.
    values Immediate {
        Zero = "0", Positive = "positive", Negative = "highest bit set", ZeroWraps = "0, sum wraps",
        PositiveWraps = "positive, sum wraps", NegativeWraps = "highest bit set, sum wraps",
    }
    cover Address "address" (form: Form, scale: Scale, uniform: Uniform, immediate: Immediate)
    "Each form adds other terms, and a sum that wraps or an immediate that is sign-extended only shows when the access is good all the same." "2.1, 2.2";
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
    "Each slot's part is looked up and its requests are counted in registers of its own." "1.3";
    |config| u32::from(slot.0) < config.num_cta_slots;

    numbers OffsetBits: 25 from 0;
    cover Offset "offset" (port: Port, rank: Rank, offset_bits: OffsetBits)
    "Each bit of an offset reaches the bank or the row, up to the last byte of the window, beside every rank." "1.2, 1.3, 1.4";
    |config| offset_bits.0 == 0 || config.bytes() > 1 << (offset_bits.0 - 1);

    numbers Tag: 64 from 0;
    cover Tags "tag" (port: Port, tag: Tag)
    "A tag comes back as it went in, bit for bit." "4.6";

    /// Other requests near this one with the same tag.
    values Reuse {
        Fresh = "nothing near", Again = "the request answered last", Other = "a request at the other port",
        Both = "both",
    }
    cover TagReuse "tag_reuse" (port: Port, names_also: Reuse)
    "Answers are told apart by port and order as well as by tag, so that a tag can be used again at once, and at both ports." "4.6";
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
