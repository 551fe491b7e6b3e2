//! Effect of each operation on memory, its result (spec 3, 6.3), and its legal sizes.

use atoms_ops::{MbarOp, Op, OpKind, Size, WordOp};

use crate::mbarrier;

/// Operation and size of two port codes; `None` for an illegal instruction (spec 3, both columns of sizes;
/// spec 3.5 for plain accesses).
pub(crate) fn instruction(op: u8, size: u8) -> Option<(Op, Size)> {
    let (op, size) = (Op::from_code(op)?, Size::from_code(size)?);
    rules(op).0.contains(&size).then_some((op, size))
}

/// True if an operation is legal on memory of another CTA of the cluster. `red` means that no result is
/// wanted (spec 6.7; spec 7.5 for plain memory).
pub(crate) fn reaches_the_cluster(op: Op, red: bool) -> bool {
    match rules(op).1 {
        Reach::Cluster => true,
        Reach::ClusterWithoutResult => red,
        Reach::Cta => false,
    }
}

enum Reach {
    Cluster,
    ClusterWithoutResult,
    Cta,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    /// No result and no predicate.
    Nothing,
    Old,
    /// Value before the operation, and a predicate: 1 if the lane stored.
    OldAndStored,
    /// 1 if the lane stored, in Rd and as a predicate.
    Stored,
    /// High word of the object before the arrival, in the high word of Rd (spec 6.6).
    State,
    /// Mask of the lanes that arrived together, and the high word before these arrivals (spec 6.8).
    Merged,
    /// Predicate: 1 if the tested phase is complete (spec 6.5).
    Complete,
}

impl Gives {
    pub(crate) fn of(op: Op) -> Self {
        rules(op).2
    }
}

/// Combined effect of several lanes at one address. Determines how their observation is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    /// No effect on memory: each lane loads its bytes.
    Load,
    /// Each byte comes from the lowest lane that stores it.
    Store,
    /// The count goes up by one per lane.
    Count,
    /// Every order leaves the same value.
    Commute,
    /// The operand of the last lane is left.
    Replace,
    /// Steps up to a limit; each lane has a separate limit.
    CountUp,
    /// Steps down from a limit; each lane has a separate limit.
    CountDown,
    /// Each lane stores if it finds the value that it compares with.
    Compare,
    /// CAST.SPIN: of the lanes that access the same bank or group of banks, one lane is selected to store.
    /// The other lanes fail (spec 5).
    Select,
    /// No effect on memory, and no result.
    Nothing,
    /// Each lane tests the phase of an mbarrier object (spec 6.5).
    Wait,
    /// Each lane changes the counts of an mbarrier object (spec 6.3).
    Arrive,
    /// Each lane arrives at an mbarrier object of sm_80 (spec 6.2.1). Every order leaves the same object.
    ArriveSm80,
}

impl Together {
    pub(crate) fn of(op: Op) -> Self {
        rules(op).3
    }
}

/// True if the order of lanes never changes the final memory, for any operands.
pub fn lanes_commute(op: Op) -> bool {
    match Together::of(op) {
        Together::Load | Together::Nothing | Together::Wait => true,
        Together::Count | Together::Commute | Together::Arrive | Together::ArriveSm80 => true,
        Together::Store | Together::Replace | Together::Compare | Together::Select => false,
        Together::CountUp | Together::CountDown => false,
    }
}

/// Legal sizes, ports, result and combined effect of an operation.
///
/// Deliberately repeats the table in `atoms_ops`, which RTL and model use. The oracle must be independent of
/// it.
fn rules(op: Op) -> (&'static [Size], Reach, Gives, Together) {
    use Reach::{Cluster, ClusterWithoutResult, Cta};
    use Size::{B128, S8, S16, S32, U8, U16, U32, U64};
    use Together::{Arrive, ArriveSm80, Commute, Compare, Count, CountDown, CountUp, Replace, Select, Wait};
    match op {
        Op::Add | Op::Min | Op::Max | Op::And | Op::Or | Op::Xor => {
            (&[U32, S32], Cluster, Gives::Old, Commute)
        }
        Op::Inc => (&[U32], Cluster, Gives::Old, CountUp),
        Op::Dec => (&[U32], Cluster, Gives::Old, CountDown),
        Op::PopcInc => (&[U32], Cluster, Gives::Nothing, Count),
        Op::Exch => (&[U32, S32, U64, B128], Cluster, Gives::Old, Replace),
        Op::Cas => (&[U32, S32, U64, B128], Cluster, Gives::OldAndStored, Compare),
        Op::Cast => (&[U32, S32, U64], Cluster, Gives::Stored, Compare),
        Op::CastSpin => (&[U32, S32, U64], Cluster, Gives::Stored, Select),
        Op::Load => (&[U8, S8, U16, S16, U32, U64, B128], Cluster, Gives::Old, Together::Load),
        Op::Store => (&[U8, U16, U32, U64, B128], Cluster, Gives::Nothing, Together::Store),
        Op::MbarInit => (&[U64], Cta, Gives::Old, Replace),
        Op::MbarInval => (&[U64], Cta, Gives::Nothing, Together::Nothing),
        Op::MbarExpectTx | Op::MbarCompleteTx => (&[U64], ClusterWithoutResult, Gives::Nothing, Arrive),
        Op::MbarArrive
        | Op::MbarArriveCount
        | Op::MbarArriveExpectTx
        | Op::MbarArriveDrop
        | Op::MbarArriveDropCount
        | Op::MbarArriveDropExpectTx => (&[U64], ClusterWithoutResult, Gives::State, Arrive),
        Op::MbarArriveSm80 => (&[U64], ClusterWithoutResult, Gives::Old, ArriveSm80),
        Op::MbarArriveNoComplete | Op::MbarArriveDropNoComplete => (&[U64], Cta, Gives::Merged, Arrive),
        Op::MbarTestWait | Op::MbarTryWait => (&[U64], Cta, Gives::Complete, Wait),
    }
}

pub(crate) fn value_mask(size: Size) -> u128 {
    match size {
        Size::U8 | Size::S8 => 0xff,
        Size::U16 | Size::S16 => 0xffff,
        Size::U32 | Size::S32 => 0xffff_ffff,
        Size::U64 => 0xffff_ffff_ffff_ffff,
        Size::B128 => u128::MAX,
    }
}

/// Value after the operation of a single lane on the value `m` (spec 3, 6.3).
///
/// `m`, `b` and `c` must fit [`value_mask`]. POPC.INC counts each lane as one.
pub(crate) fn leaves(op: Op, size: Size, m: u128, b: u128, c: u128) -> u128 {
    let signed = size == Size::S32;
    let lesser = |x: u128, y: u128| if signed { (x as u32 as i32) < (y as u32 as i32) } else { x < y };
    let op = match op.kind() {
        OpKind::Mbar(MbarOp::Init) => return b,
        OpKind::Mbar(_) => return mbarrier::leaves(op, m as u64, b as u32).into(),
        OpKind::Word(op) => op,
    };
    match op {
        WordOp::Add => (m + b) & 0xffff_ffff,
        WordOp::Min if lesser(b, m) => b,
        WordOp::Max if lesser(m, b) => b,
        WordOp::Min | WordOp::Max => m,
        WordOp::Inc if m >= b => 0,
        WordOp::Inc => m + 1,
        WordOp::Dec if m == 0 || m > b => b,
        WordOp::Dec => m - 1,
        WordOp::And => m & b,
        WordOp::Or => m | b,
        WordOp::Xor => m ^ b,
        WordOp::Exch | WordOp::Store => b,
        WordOp::Cas | WordOp::Cast | WordOp::CastSpin if m == b => c,
        WordOp::Cas | WordOp::Cast | WordOp::CastSpin | WordOp::Load => m,
        WordOp::PopcInc => (m + 1) & 0xffff_ffff,
    }
}

/// Extends a loaded value for Rd: sub-word loads are extended to 32 bits (spec 3.5).
pub(crate) fn loaded(size: Size, m: u128) -> u128 {
    match size {
        Size::S8 => u128::from(m as u8 as i8 as i32 as u32),
        Size::S16 => u128::from(m as u16 as i16 as i32 as u32),
        Size::U8 | Size::U16 | Size::U32 | Size::S32 | Size::U64 | Size::B128 => m,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals are excluded: they have their own orders ([`crate::mbarrier::arrivals`]).
    #[test]
    fn operations_commute_where_two_lanes_leave_the_same_either_way() {
        for row in atoms_ops::OPS.iter().filter(|row| !row.op.is_mbarrier()) {
            let values = || [0, 1, 2, 3, 7].into_iter();
            let pairs = || values().flat_map(|b| values().map(move |c| (b, c)));
            let either_way = pairs().all(|(b, c)| {
                let one = |m, lane: (u128, u128)| leaves(row.op, Size::U32, m, lane.0, lane.1);
                pairs()
                    .all(|other| values().all(|m| one(one(m, (b, c)), other) == one(one(m, other), (b, c))))
            });
            assert_eq!(lanes_commute(row.op), either_way, "{}", row.op);
        }
    }

    #[rustfmt::skip]
    const CASES: &[(&str, Op, Size, u128, u128, u128, u128)] = &[
        // rule                           op         size        m            b            c  left
        ("add wraps modulo 2^32",         Op::Add,   Size::U32,  0xffff_ffff, 2,           0, 1),
        ("min.u32 orders as unsigned",    Op::Min,   Size::U32,  1,           0x8000_0000, 0, 1),
        ("min.s32 orders as signed",      Op::Min,   Size::S32,  1,           0x8000_0000, 0, 0x8000_0000),
        ("max.u32 orders as unsigned",    Op::Max,   Size::U32,  1,           0x8000_0000, 0, 0x8000_0000),
        ("max.s32 orders as signed",      Op::Max,   Size::S32,  1,           0x8000_0000, 0, 1),
        ("popc.inc counts each lane as 1", Op::PopcInc, Size::U32, 4,          7,            0, 5),
        ("popc.inc wraps modulo 2^32",    Op::PopcInc, Size::U32, 0xffff_ffff, 7,          0, 0),
        ("inc counts below the limit",    Op::Inc,   Size::U32,  3,           4,           0, 4),
        ("inc wraps at the limit",        Op::Inc,   Size::U32,  4,           4,           0, 0),
        ("inc wraps beyond the limit",    Op::Inc,   Size::U32,  9,           4,           0, 0),
        ("inc of the greatest word wraps",Op::Inc,   Size::U32,  0xffff_ffff, 0xffff_ffff, 0, 0),
        ("dec of 0 gives the limit",      Op::Dec,   Size::U32,  0,           4,           0, 4),
        ("dec beyond gives the limit",    Op::Dec,   Size::U32,  5,           4,           0, 4),
        ("dec counts at the limit",       Op::Dec,   Size::U32,  4,           4,           0, 3),
        ("exch.b128 takes all of Rb",     Op::Exch,  Size::B128, 7,           u128::MAX,   0, u128::MAX),
        ("cas hit stores Rc",             Op::Cas,   Size::U64,  7,           7,           9, 9),
        ("cas miss keeps the word",       Op::Cas,   Size::U64,  7,           8,           9, 7),
        ("xor",                           Op::Xor,   Size::U32,  6,           3,           0, 5),
    ];

    #[test]
    fn every_row_leaves_what_it_says() {
        for (rule, op, size, m, b, c, left) in CASES {
            assert_eq!(leaves(*op, *size, *m, *b, *c), *left, "{rule}");
        }
    }

    #[test]
    fn signed_loads_extend_to_32_bits_only() {
        assert_eq!(loaded(Size::S8, 0x80), 0xffff_ff80);
        assert_eq!(loaded(Size::S16, 0x8000), 0xffff_8000);
        assert_eq!(loaded(Size::U8, 0x80), 0x80);
        assert_eq!(loaded(Size::B128, u128::MAX), u128::MAX);
    }

    #[test]
    fn instructions_are_those_of_the_table_and_no_others() {
        let sizes = |op: u8| -> Vec<&str> {
            let exists = |&size: &u8| instruction(op, size).is_some();
            (0..=255).filter(exists).filter_map(Size::from_code).map(Size::name).collect()
        };
        assert_eq!(sizes(Op::Add as u8), ["u32", "s32"]);
        assert_eq!(sizes(Op::Dec as u8), ["u32"]);
        assert_eq!(sizes(Op::Exch as u8), ["u32", "u64", "b128", "s32"]);
        assert_eq!(sizes(Op::CastSpin as u8), ["u32", "u64", "s32"]);
        assert_eq!(sizes(Op::PopcInc as u8), ["u32"]);
        assert_eq!(sizes(Op::Load as u8), ["u8", "u16", "u32", "u64", "b128", "s8", "s16"]);
        assert_eq!(sizes(Op::Store as u8), ["u8", "u16", "u32", "u64", "b128"]);
        let all: usize = (0..=255).map(|op| sizes(op).len()).sum();
        assert_eq!(all, 6 * 2 + 3 + 2 * 4 + 2 * 3 + 7 + 5 + 15);
        assert!((16..31).all(|op| sizes(op) == ["u64"]), "mbarrier objects have 64 bits");
    }
}
