//! PTX instructions of the capture kit, and the operation of the unit that each corresponds to.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::value::{Update, ValueType};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// One operation of the unit. `op` and `size` are stored in the capture under the names of the trace
    /// format.
    Unit {
        #[serde(serialize_with = "by_name", deserialize_with = "op_named")]
        op: atoms_ops::Op,
        #[serde(serialize_with = "by_name", deserialize_with = "size_named")]
        size: atoms_ops::Size,
    },
    /// `mbarrier.init`: [`atoms_ops::Op::MbarInit`] with a word that the instruction builds from the count.
    Init,
    /// `mbarrier.pending_count`: arithmetic on a state, without a memory access.
    PendingCount,
    /// Retry loop around CAS or CAST.SPIN that updates a value of this type (spec 7.2).
    Loop { update: Update, value: ValueType },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneResult {
    Nothing,
    Register,
    Predicate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneOperands {
    None,
    /// Value to store, add or compare with.
    B,
    /// Value to compare with, and value to store.
    BC,
    /// The constant 1, as an immediate operand.
    One,
    State,
}

#[derive(Clone, Copy, Debug)]
pub struct TestInstruction {
    /// Opcode without the qualifiers for order, scope and space: `atom.add.u32`.
    pub name: &'static str,
    pub meaning: Meaning,
    pub operand: LaneOperands,
    pub answer: LaneResult,
    /// Width of the operand and result registers, in bits.
    pub bits: u32,
    /// First architecture with the instruction, as the number after `sm_`.
    pub since: u32,
}

impl TestInstruction {
    pub fn named(name: &str) -> Option<&'static TestInstruction> {
        [ATOMICS, LOOPS, ACCESSES, BARRIERS, REMOTE].into_iter().flatten().find(|i| i.name == name)
    }

    /// True if PTX or the compiler leaves the result undefined when several lanes access one address. If
    /// several lanes store values wider than a word, the value of another lane than with narrow stores can
    /// remain. For most 64-bit and packed-half atomics, compilers emit a separate load and store if the
    /// address may be in another CTA, so updates get lost.
    pub(crate) fn is_open(&self, ctas: u32) -> bool {
        match self.meaning {
            Meaning::Unit { op: Op::Store, size } => size.bytes() > 4,
            Meaning::Loop { update, value } => {
                let packed = matches!(value, ValueType::F16x2 | ValueType::Bf16x2);
                let bitwise = value.bytes() == 8 && update != Update::Add;
                ctas > 1 && (packed || bitwise)
            }
            _ => false,
        }
    }

    pub fn is_atomic(&self) -> bool {
        self.name.starts_with("atom.") || self.name.starts_with("red.")
    }

    pub fn reaches_cluster(&self) -> bool {
        !self.name.starts_with("mbarrier.") || self.name.ends_with(".remote")
    }

    /// True if the instruction accepts these qualifiers for order and scope. `red` returns nothing, so it
    /// cannot acquire.
    pub fn takes(&self, order: &str) -> bool {
        self.is_atomic() && !(self.name.starts_with("red.") && order.starts_with(".acq"))
    }

    /// Number of bytes that one lane accesses.
    pub fn bytes(&self) -> u32 {
        match self.meaning {
            Meaning::Unit { size, .. } => size.bytes(),
            Meaning::Init => 8,
            Meaning::PendingCount => 0,
            Meaning::Loop { value, .. } => value.bytes(),
        }
    }

    /// Formats the PTX text. `space` is `.shared` or `.shared::cluster`. `order` holds the qualifiers for
    /// order and scope, and may be empty. The registers are `%a` (address), `%b`, `%c` (operands), `%d`
    /// (destination) and `%q` (predicate).
    pub fn text(&self, space: &str, order: &str, state: Option<&str>) -> String {
        let (base, rest) = self.name.split_once('.').unwrap_or((self.name, ""));
        let destination = match self.answer {
            LaneResult::Nothing if rest.starts_with("arrive") => "_, ",
            LaneResult::Nothing => "",
            LaneResult::Register => "%d, ",
            LaneResult::Predicate => "%q, ",
        };
        let operands = match self.operand {
            LaneOperands::None => String::new(),
            LaneOperands::B => ", %b".into(),
            LaneOperands::BC => ", %b, %c".into(),
            LaneOperands::One => ", 1".into(),
            LaneOperands::State => format!(", {}", state.unwrap_or("%b")),
        };
        match (base, self.meaning) {
            (_, Meaning::PendingCount) => {
                format!("mbarrier.pending_count.b64 %count, {}", state.unwrap_or("%b"))
            }
            ("mbarrier", _) => {
                let count = if self.bits == 32 { operands.replace("%b", "%n") } else { operands };
                // The time hint of `try_wait`, the count and the parity are 32 bits wide.
                let operation = [".remote", ".count", ".hint"]
                    .iter()
                    .fold(rest, |rest, suffix| rest.trim_end_matches(suffix));
                let hint = if rest.ends_with(".hint") { ", %hint" } else { "" };
                format!("mbarrier.{operation}{order}{space}.b64 {destination}[%a]{count}{hint}")
            }
            _ => {
                let rest = rest.trim_end_matches(".one");
                format!("{base}{order}{space}.{rest} {destination}[%a]{operands}")
            }
        }
    }
}

macro_rules! instructions {
    ($($name:literal $meaning:expr, $operand:ident, $answer:ident, $bits:literal, sm $since:literal;)*) => {
        &[$(TestInstruction {
            name: $name,
            meaning: $meaning,
            operand: LaneOperands::$operand,
            answer: LaneResult::$answer,
            bits: $bits,
            since: $since,
        }),*]
    };
}

const fn unit(op: atoms_ops::Op, size: atoms_ops::Size) -> Meaning {
    Meaning::Unit { op, size }
}

const fn update(update: Update, value: ValueType) -> Meaning {
    Meaning::Loop { update, value }
}

use atoms_ops::Op;
use atoms_ops::Size::{B128, S32, U8, U16, U32, U64};

/// Atomics that the unit executes as one operation (spec 7.1, "native"). The suffix `.one` stands for the
/// constant 1 as operand, for which compilers emit POPC.INC.
pub const ATOMICS: &[TestInstruction] = instructions! {
    "atom.add.u32" unit(Op::Add, U32), B, Register, 32, sm 70;
    "atom.add.s32" unit(Op::Add, S32), B, Register, 32, sm 70;
    "atom.min.u32" unit(Op::Min, U32), B, Register, 32, sm 70;
    "atom.min.s32" unit(Op::Min, S32), B, Register, 32, sm 70;
    "atom.max.u32" unit(Op::Max, U32), B, Register, 32, sm 70;
    "atom.max.s32" unit(Op::Max, S32), B, Register, 32, sm 70;
    "atom.inc.u32" unit(Op::Inc, U32), B, Register, 32, sm 70;
    "atom.dec.u32" unit(Op::Dec, U32), B, Register, 32, sm 70;
    "atom.and.b32" unit(Op::And, U32), B, Register, 32, sm 70;
    "atom.or.b32" unit(Op::Or, U32), B, Register, 32, sm 70;
    "atom.xor.b32" unit(Op::Xor, U32), B, Register, 32, sm 70;
    "atom.exch.b32" unit(Op::Exch, U32), B, Register, 32, sm 70;
    "atom.exch.b64" unit(Op::Exch, U64), B, Register, 64, sm 70;
    "atom.exch.b128" unit(Op::Exch, B128), B, Register, 128, sm 90;
    "atom.cas.b32" unit(Op::Cas, U32), BC, Register, 32, sm 70;
    "atom.cas.b64" unit(Op::Cas, U64), BC, Register, 64, sm 70;
    "atom.cas.b128" unit(Op::Cas, B128), BC, Register, 128, sm 90;
    "red.add.u32" unit(Op::Add, U32), B, Nothing, 32, sm 70;
    "atom.add.u32.one" unit(Op::Add, U32), One, Register, 32, sm 70;
    "red.add.u32.one" unit(Op::Add, U32), One, Nothing, 32, sm 70;
    "red.min.s32" unit(Op::Min, S32), B, Nothing, 32, sm 70;
    "red.max.u32" unit(Op::Max, U32), B, Nothing, 32, sm 70;
    "red.inc.u32" unit(Op::Inc, U32), B, Nothing, 32, sm 70;
    "red.dec.u32" unit(Op::Dec, U32), B, Nothing, 32, sm 70;
    "red.and.b32" unit(Op::And, U32), B, Nothing, 32, sm 70;
    "red.or.b32" unit(Op::Or, U32), B, Nothing, 32, sm 70;
    "red.xor.b32" unit(Op::Xor, U32), B, Nothing, 32, sm 70;
};

/// Atomics that compilers expand to retry loops (spec 7.1, 7.2).
pub const LOOPS: &[TestInstruction] = instructions! {
    "atom.add.u64" update(Update::Add, ValueType::U64), B, Register, 64, sm 70;
    "atom.min.u64" update(Update::Min, ValueType::U64), B, Register, 64, sm 70;
    "atom.max.u64" update(Update::Max, ValueType::U64), B, Register, 64, sm 70;
    "atom.min.s64" update(Update::Min, ValueType::S64), B, Register, 64, sm 70;
    "atom.max.s64" update(Update::Max, ValueType::S64), B, Register, 64, sm 70;
    "atom.and.b64" update(Update::And, ValueType::U64), B, Register, 64, sm 70;
    "atom.or.b64" update(Update::Or, ValueType::U64), B, Register, 64, sm 70;
    "atom.xor.b64" update(Update::Xor, ValueType::U64), B, Register, 64, sm 70;
    "atom.add.f32" update(Update::Add, ValueType::F32), B, Register, 32, sm 70;
    "atom.add.f64" update(Update::Add, ValueType::F64), B, Register, 64, sm 70;
    "atom.add.noftz.f16" update(Update::Add, ValueType::F16), B, Register, 16, sm 70;
    "atom.add.noftz.f16x2" update(Update::Add, ValueType::F16x2), B, Register, 32, sm 70;
    "atom.add.noftz.bf16" update(Update::Add, ValueType::Bf16), B, Register, 16, sm 90;
    "atom.add.noftz.bf16x2" update(Update::Add, ValueType::Bf16x2), B, Register, 32, sm 90;
    "atom.cas.b16" update(Update::Cas, ValueType::U16), BC, Register, 16, sm 70;
    "red.add.u64" update(Update::Add, ValueType::U64), B, Nothing, 64, sm 70;
    "red.add.f32" update(Update::Add, ValueType::F32), B, Nothing, 32, sm 70;
    "red.add.f64" update(Update::Add, ValueType::F64), B, Nothing, 64, sm 70;
    "red.add.noftz.f16x2" update(Update::Add, ValueType::F16x2), B, Nothing, 32, sm 70;
};

/// Plain accesses, which use the same unit as the atomics (spec 3.5).
pub const ACCESSES: &[TestInstruction] = instructions! {
    "st.u8" unit(Op::Store, U8), B, Nothing, 16, sm 70;
    "st.u16" unit(Op::Store, U16), B, Nothing, 16, sm 70;
    "st.b32" unit(Op::Store, U32), B, Nothing, 32, sm 70;
    "st.b64" unit(Op::Store, U64), B, Nothing, 64, sm 70;
    "ld.b32" unit(Op::Load, U32), None, Register, 32, sm 70;
    "ld.b64" unit(Op::Load, U64), None, Register, 64, sm 70;
};

/// Operations on mbarrier objects (spec 6.3). The suffixes `.count` and `.hint` stand for an operand, not for
/// a qualifier.
pub const BARRIERS: &[TestInstruction] = instructions! {
    "mbarrier.init" Meaning::Init, B, Nothing, 32, sm 80;
    "mbarrier.inval" unit(Op::MbarInval, U64), None, Nothing, 32, sm 80;
    "mbarrier.expect_tx.relaxed.cta" unit(Op::MbarExpectTx, U64), B, Nothing, 32, sm 90;
    "mbarrier.complete_tx.relaxed.cta" unit(Op::MbarCompleteTx, U64), B, Nothing, 32, sm 90;
    "mbarrier.arrive" unit(Op::MbarArrive, U64), None, Register, 64, sm 80;
    "mbarrier.arrive.count" unit(Op::MbarArriveCount, U64), B, Register, 32, sm 90;
    "mbarrier.arrive.expect_tx" unit(Op::MbarArriveExpectTx, U64), B, Register, 32, sm 90;
    "mbarrier.arrive.noComplete" unit(Op::MbarArriveNoComplete, U64), B, Register, 32, sm 80;
    "mbarrier.arrive_drop" unit(Op::MbarArriveDrop, U64), None, Register, 64, sm 80;
    "mbarrier.arrive_drop.count" unit(Op::MbarArriveDropCount, U64), B, Register, 32, sm 90;
    "mbarrier.arrive_drop.expect_tx" unit(Op::MbarArriveDropExpectTx, U64), B, Register, 32, sm 90;
    "mbarrier.arrive_drop.noComplete" unit(Op::MbarArriveDropNoComplete, U64), B, Register, 32, sm 80;
    "mbarrier.test_wait" unit(Op::MbarTestWait, U64), State, Predicate, 64, sm 80;
    "mbarrier.test_wait.parity" unit(Op::MbarTestWait, U64), B, Predicate, 32, sm 80;
    "mbarrier.try_wait" unit(Op::MbarTryWait, U64), State, Predicate, 64, sm 90;
    "mbarrier.try_wait.parity" unit(Op::MbarTryWait, U64), B, Predicate, 32, sm 90;
    "mbarrier.try_wait.parity.hint" unit(Op::MbarTryWait, U64), B, Predicate, 32, sm 90;
    "mbarrier.pending_count" Meaning::PendingCount, State, Register, 64, sm 80;
};

/// Operations on mbarrier objects of another CTA of the cluster (spec 6.7).
pub const REMOTE: &[TestInstruction] = instructions! {
    "mbarrier.arrive.remote" unit(Op::MbarArrive, U64), None, Nothing, 32, sm 90;
    "mbarrier.arrive.count.remote" unit(Op::MbarArriveCount, U64), B, Nothing, 32, sm 90;
    "mbarrier.arrive.expect_tx.remote" unit(Op::MbarArriveExpectTx, U64), B, Nothing, 32, sm 90;
    "mbarrier.arrive_drop.remote" unit(Op::MbarArriveDrop, U64), None, Nothing, 32, sm 90;
    "mbarrier.expect_tx.relaxed.cluster.remote" unit(Op::MbarExpectTx, U64), B, Nothing, 32, sm 90;
    "mbarrier.complete_tx.relaxed.cluster.remote" unit(Op::MbarCompleteTx, U64), B, Nothing, 32, sm 90;
};

fn by_name<T: std::fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn op_named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<atoms_ops::Op, D::Error> {
    let name = String::deserialize(deserializer)?;
    Op::from_name(&name).ok_or_else(|| D::Error::custom(format!("no operation `{name}`")))
}

fn size_named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<atoms_ops::Size, D::Error> {
    let name = String::deserialize(deserializer)?;
    atoms_ops::Size::from_name(&name).ok_or_else(|| D::Error::custom(format!("no size `{name}`")))
}
