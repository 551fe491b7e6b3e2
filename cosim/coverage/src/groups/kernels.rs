//! Coverage groups for the values that kernels (the arithmetic of operations) compute.

use atoms_ops::{Op, Size};

use super::requests::Policy;
use super::values::{AnySize, Lane, PlainOp, Port, Width, legal};
use crate::cross::table;

table! {
    /// Operation with one operand that is combined with the word in memory.
    operations BinaryOp { Add Min Max Inc Dec And Or Xor Exch Store }
    /// Operation whose outcome depends on both the operand and the word.
    operations ArithmeticOp { Add Min Max Inc Dec And Or Xor Exch PopcInc }
    /// Operation that stores only if a comparison holds.
    operations CompareOp { Cas Cast CastSpin }
    /// Class of a value, interpreted in the width of the access.
    values Class {
        Zero = "0", One = "1", Max = "largest positive", Min = "smallest negative", Ones = "all ones",
        Other = "other",
    }

    cover Values "values" (operation: BinaryOp, size: AnySize, operand: Class, word: Class)
    "The arithmetic of an operation behaves differently at the ends of the number range, and where both word and operand are at an end of the range." "3";
    |_| legal(operation.0, size);

    /// Effect of an operation on the word.
    values Outcome {
        Unchanged = "unchanged", Changed = "changed", Carry = "carry", Overflow = "signed overflow",
        Both = "carry and signed overflow", AtBound = "at the bound", BeyondBound = "beyond the bound",
        FromZero = "from 0",
    }
    cover Arithmetic "arithmetic" (operation: ArithmeticOp, size: AnySize, outcome: Outcome)
    "Each branch of the arithmetic is separate logic: carry and overflow of sums, keeping or replacing the word, counting and wrapping." "3";
    |_| legal(operation.0, size) && match operation.0 {
        Op::Add => !matches!(outcome, Outcome::AtBound | Outcome::BeyondBound | Outcome::FromZero),
        Op::PopcInc => matches!(outcome, Outcome::Changed | Outcome::Carry | Outcome::Overflow),
        Op::Inc => matches!(outcome, Outcome::Changed | Outcome::AtBound | Outcome::BeyondBound),
        Op::Dec => matches!(outcome, Outcome::Changed | Outcome::AtBound | Outcome::BeyondBound | Outcome::FromZero),
        _ => matches!(outcome, Outcome::Unchanged | Outcome::Changed),
    };

    values Share { None = "none", Some = "some", All = "all", }
    /// Number of active lanes, and conflicts between them.
    values Meeting {
        Alone = "one lane", Apart = "several, each on its own bank", Bank = "some on one bank",
        Address = "some at one address",
    }
    cover Compare "compare" (operation: CompareOp, size: AnySize, stored: Share, lanes: Meeting)
    "Retry loops depend on the lanes that store: none, some or all of them, each on its own bank, several on one bank, or one after the other at one word." "3, 5.3";
    |config| legal(operation.0, size)
        && match lanes {
            Meeting::Alone => stored != Share::Some,
            Meeting::Apart => config.num_banks as usize > Width::new(size.0).banks(),
            // A CAST.SPIN request with losers never stores for all lanes.
            Meeting::Bank | Meeting::Address => operation.0 != Op::CastSpin || stored != Share::All,
        };

    /// Words in memory that differ from the compare value Rb, in an access of several words.
    values Difference {
        Equal = "none", First = "the first alone", Last = "the last alone", Middle = "one between",
        Several = "several",
    }
    cover CompareWords "compare_words" (operation: CompareOp, size: AnySize, words_that_differ: Difference)
    "An access of several words combines the comparisons of several banks; one word that differs must prevent all words from being stored." "3, 4.4";
    |_| legal(operation.0, size) && match Width::new(size.0) {
        Width::Pair => words_that_differ != Difference::Middle,
        Width::Quad => true,
        _ => false,
    };

    /// Value of a wide access whose words are all different.
    values Moved { B = "operand B", C = "stored operand C", Word = "returned word", }
    cover DistinctWords "distinct_words" (operation: PlainOp, size: AnySize, value: Moved, port: Port)
    "Swapped words, or a word that is used twice, are visible only if all words of the value differ." "3, 3.5, 4.4";
    |_| legal(operation.0, size)
        && Width::new(size.0) >= Width::Pair
        && match value {
            Moved::B => operation.0 != Op::Load,
            Moved::C => CompareOp::new(operation.0).is_some(),
            // CAST returns only whether it stored.
            Moved::Word => !matches!(operation.0, Op::Store | Op::Cast | Op::CastSpin),
        }
        && (port == Port::Warp || operation.0.cluster_legal(value != Moved::Word));

    cover StoredWords "stored_words" (operation: CompareOp, size: AnySize, lane: Lane)
    "Operand C has its own path from each lane to the banks, separate from operand B: here all words of operand C differ, and they are stored." "3, 4.4";
    |config| legal(operation.0, size)
        && Width::new(size.0) >= Width::Pair
        && u32::from(lane.0) < config.num_lanes;

    /// Addresses of the lanes that are not selected on a bank, compared with the address of the selected
    /// lane.
    values Losers {
        None = "no losers", Same = "at the winner's address", Other = "at other addresses", Both = "both",
    }
    /// Result of the comparison of the selected lane.
    values Selected { Stored = "stored", Failed = "failed", Missed = "failed while a loser would match", }
    cover Spin "spin" (size: AnySize, losers: Losers, selected_lane: Selected)
    "Only the selected lane compares: the other lanes on its bank (losers) fail, whatever their word contains and whichever address of the bank they access." "5.1, 5.3";
    |config| legal(Op::CastSpin, size)
        && (losers != Losers::Both || config.num_lanes > 2)
        && (losers != Losers::None || selected_lane != Selected::Missed);

    /// Behaviour of the CAST.SPIN counter of a bank group. The counter gives the priority lane (spec 5.4).
    values Counter { Steps = "goes from lane to lane", Holds = "holds one lane", }
    // Saved coverage and waivers name this group `favour` and its dimension `favoured_lane`.
    /// Position of the priority lane among the lanes that access a bank group, in the order of the winner
    /// policy.
    values PriorityLane { First = "first by the policy too", Behind = "behind another by the policy", Away = "does not ask", }
    cover SpinPriority "favour" (policy: Policy, counter: Counter, favoured_lane: PriorityLane)
    "The priority lane is selected before the lane that the winner policy would select, but only if the priority lane accesses the bank group." "5.4";
    |config| policy == Policy::of_config(config)
        && (favoured_lane != PriorityLane::Away || config.num_lanes > 2);
}

impl Class {
    #[inline(always)]
    pub fn word(value: u32) -> Self {
        // Avoid branches, which would be mispredicted: stimulus draws values from exactly these classes.
        let is = |class: Class, this: u32| {
            (class as u8).wrapping_sub(Class::Other as u8) & u8::from(value == this).wrapping_neg()
        };
        let class = (Class::Other as u8)
            .wrapping_add(is(Class::Zero, 0))
            .wrapping_add(is(Class::One, 1))
            .wrapping_add(is(Class::Max, 0x7fff_ffff))
            .wrapping_add(is(Class::Min, 0x8000_0000))
            .wrapping_add(is(Class::Ones, u32::MAX));
        Class::ALL[usize::from(class) % Class::ALL.len()]
    }

    /// Returns the class of a value of this access size. Ignores higher bits of `value`.
    #[inline]
    pub fn sized(value: u128, size: Size) -> Self {
        let bits = 8 * size.bytes();
        let ones = u128::MAX >> (128 - bits);
        let value = value & ones;
        let min = 1 << (bits - 1);
        if value > 1 && value < min - 1 || value > min && value < ones {
            Class::Other
        } else {
            match value {
                0 => Class::Zero,
                1 => Class::One,
                _ if value == ones => Class::Ones,
                _ if value == min => Class::Min,
                _ => Class::Max,
            }
        }
    }
}
