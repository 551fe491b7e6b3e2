#![doc = include_str!("../README.md")]
//!
//! # Design
//!
//! [`OPS`] is the single source of names, codes, legal sizes and properties. The table is a crate of its own, so that
//! the serial oracle can name an operation without access to the model.
//! Two committed texts are derived from the table: `rtl/atoms_op_pkg.sv` ([`rtl_package`]) and the table in
//! `docs/spec.md` ([`spec_table`]). Tests check that both are up to date.
//!
//! Source of names and sizes: spec 3.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod generated;

use std::fmt;

pub use generated::{rtl_package, spec_table, with_spec_table};

/// Defines an enum whose discriminants are codes on a port, with the name of each value.
macro_rules! codes {
    ($(#[$doc:meta])* $type:ident { $( $(#[$value_doc:meta])* $value:ident = $code:literal, $name:literal; )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $type { $( $(#[$value_doc])* $value = $code, )* }

        impl $type {
            /// Every value, in order of code.
            pub const ALL: [$type; [$($code),*].len()] = [$($type::$value),*];

            /// Name in traces, in reports and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $($type::$value => $name,)* }
            }

            /// Name of the value in `rtl/atoms_op_pkg.sv`.
            pub const fn rtl_name(self) -> &'static str {
                match self { $($type::$value => concat!(stringify!($type), stringify!($value)),)* }
            }

            /// Value with this port code; `None` if the code is undefined.
            pub const fn from_code(code: u8) -> Option<$type> {
                match code { $($code => Some($type::$value),)* _ => None }
            }

            /// Value with this name; `None` if no value has the name.
            pub fn from_name(name: &str) -> Option<$type> {
                match name { $($name => Some($type::$value),)* _ => None }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

codes! {
    /// Width and signedness of an access. The discriminant is the code on the request port (`size_e`):
    /// log2 of the bytes in bits 2:0, signedness in bit 3.
    Size {
        /// One byte; a load extends it with zeros.
        U8 = 0, "u8";
        /// Two bytes; a load extends them with zeros.
        U16 = 1, "u16";
        /// Four bytes, unsigned: one word of one bank.
        U32 = 2, "u32";
        /// Eight bytes: a pair of banks.
        U64 = 3, "u64";
        /// Sixteen bytes: four banks.
        B128 = 4, "b128";
        /// One byte; a load extends its sign.
        S8 = 8, "s8";
        /// Two bytes; a load extends their sign.
        S16 = 9, "s16";
        /// Four bytes, signed: MIN and MAX compare as two's complement.
        S32 = 10, "s32";
    }
}

impl Size {
    /// Bytes that an access covers in memory: 1, 2, 4, 8 or 16.
    pub const fn bytes(self) -> u32 {
        1 << (self as u8 & 7)
    }

    /// True if comparison and extension treat the value as two's complement.
    pub const fn signed(self) -> bool {
        self as u8 & 8 != 0
    }
}

codes! {
    /// Reason why a request touched no memory. The discriminant is the code on the response port (`fault_e`).
    Fault {
        /// The request touched memory without a fault, or had no active lane.
        None = 0, "none";
        /// Undefined operation, or a size that the operation does not have (spec 3.3).
        Illegal = 1, "illegal instruction";
        /// Address that is not a multiple of the access size (spec 2.4).
        Misaligned = 2, "misaligned address";
        /// Access that is not wholly inside the CTA's allocation (spec 2.4, 1.4).
        OutOfRange = 3, "address out of range";
    }
}

/// Kind of access that an operation makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpClass {
    /// Read-modify-write: writes a function of the word and operand B.
    Update,
    /// Writes operand C if the word equals operand B.
    Compare,
    /// A plain load (spec 3.5).
    Load,
    /// A plain store (spec 3.5).
    Store,
    /// Operation on an mbarrier object (spec 6).
    Barrier,
}

/// Number of data operands that an operation reads besides the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// No operand: loads, POPC.INC, and mbarrier operations such as MBAR.ARRIVE.
    None,
    /// One operand, in register Rb.
    B,
    /// Two operands: Rb and Rc. A compare-and-store compares with Rb and writes Rc.
    BC,
}

/// Result that an operation returns to each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// No result; Rd reads as zero.
    Nothing,
    /// The memory value before the operation, extended to the register by the rule of its size.
    Old,
    /// 1 if the lane stored, else 0, in the full width of Rd (spec 3.2).
    Flag,
    /// Low word: 0. High word: high word of the mbarrier object before the lane arrived (spec 6.6).
    State,
    /// Low word: mask of the lanes that arrived together. High word: high word of the object before these
    /// arrivals. The compiler's code computes the lane's own state from both words (spec 6.8, `.TMASK`).
    MergedArrival,
    /// A predicate: 1 if the requested phase is complete (spec 6.5). Rd reads as zero.
    Predicate,
}

/// Effect of an operation on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryEffect {
    /// Memory never changes.
    Reads,
    /// Memory may be written.
    Writes,
}

/// Condition under which one pass serves all lanes of one address (spec 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coalescing {
    /// One lane per pass.
    Never,
    /// All lanes of one address share a pass.
    Always,
    /// Lanes share a pass if the configuration has `merge_red` and the request wants no result.
    MergeRed,
    /// Lanes share a pass if the configuration has `merge_arrive`.
    MergeArrive,
}

/// Condition under which the cluster port accepts an operation (spec 6.7, 7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterUse {
    /// Legal with and without a result.
    Any,
    /// Legal only without a result: an mbarrier object of another CTA returns none.
    NoResult,
    /// Illegal on the cluster port.
    Never,
}

/// One row of the operation table.
#[derive(Clone, Copy, Debug)]
pub struct OpRow {
    /// Operation that the row describes.
    pub op: Op,
    /// Name as in traces, on the command line and, after `ATOMS.`, in machine code text.
    pub name: &'static str,
    /// Legal sizes; any other size is an illegal instruction (spec 3.3).
    pub sizes: &'static [Size],
    /// Kind of access that the operation makes.
    pub class: OpClass,
    /// Data operands that the operation reads.
    pub operands: Operands,
    /// Result that the operation returns to each lane.
    pub result: ResultKind,
    /// Effect of the operation on memory.
    pub memory: MemoryEffect,
    /// Condition under which one pass serves all lanes of one address.
    pub coalescing: Coalescing,
    /// Condition under which the cluster port accepts the operation.
    pub cluster: ClusterUse,
    /// Effect on the memory word `M`, as text for help and documentation.
    pub effect: &'static str,
}

/// Operation split by the kind of memory that it works on. A `match` over one kind need not list the other
/// kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Operation on a word, a pair or a quad of plain memory.
    Word(WordOp),
    /// Operation on an mbarrier object (spec 6).
    Mbar(MbarOp),
}

/// Defines the enum of the operations and their table, from one row per operation.
macro_rules! operations {
    ($dollar:tt
        Word { $( $(#[$word_doc:meta])* $word_op:ident = $word_code:literal, $word_name:literal, $word_row:tt; )* }
        Mbar { $( $(#[$mbar_doc:meta])* $mbar_op:ident $mbar:ident = $mbar_code:literal, $mbar_name:literal, $mbar_row:tt; )* }
    ) => {
        codes! {
            /// Operation on shared memory. The discriminant is the code on the request port (`op_e`).
            ///
            /// Append new codes and never renumber: traces store the name, waves store the code. Codes from
            /// 16 on are the mbarrier operations of spec 6; 15 and 31 are free.
            Op {
                $( $(#[$word_doc])* $word_op = $word_code, $word_name; )*
                $( $(#[$mbar_doc])* $mbar_op = $mbar_code, $mbar_name; )*
            }
        }

        /// Operation on plain memory, without the mbarrier operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum WordOp { $( $(#[$word_doc])* $word_op, )* }

        /// Operation on an mbarrier object, without the operations on plain memory.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum MbarOp { $( $(#[$mbar_doc])* $mbar, )* }

        /// The operation table, in order of code.
        ///
        /// Sizes are the union of those in the machine reference and those that the toolchain emits (spec 3,
        /// both columns), so that code for every architecture runs.
        pub const OPS: &[OpRow] = &[$(*Op::$word_op.row(),)* $(*Op::$mbar_op.row()),*];

        /// Calls a function with the operation as first argument: `for_each_op!(op => run(a, b))`. The
        /// operation is a constant in each arm, so code that depends on it is selected once per call.
        #[macro_export]
        macro_rules! for_each_op {
            ($dollar value:expr => $dollar run:ident($dollar($dollar arg:expr),*)) => {
                match $dollar value {
                    $($dollar crate::Op::$word_op => $dollar run($dollar crate::Op::$word_op, $dollar($dollar arg),*),)*
                    $($dollar crate::Op::$mbar_op => $dollar run($dollar crate::Op::$mbar_op, $dollar($dollar arg),*),)*
                }
            };
        }

        impl Op {
            /// Row of this operation in [`OPS`].
            #[inline]
            pub const fn row(self) -> &'static OpRow {
                match self {
                    $(Op::$word_op => row!($word_op, $word_row),)*
                    $(Op::$mbar_op => row!($mbar_op, $mbar_row),)*
                }
            }

            /// The operation as a [`WordOp`] or as an [`MbarOp`].
            #[inline]
            pub const fn kind(self) -> OpKind {
                match self {
                    $(Op::$word_op => OpKind::Word(WordOp::$word_op),)*
                    $(Op::$mbar_op => OpKind::Mbar(MbarOp::$mbar),)*
                }
            }
        }
    };
}

/// Builds one row of [`OPS`] from the columns in parentheses.
macro_rules! row {
    ($op:ident, ([$($size:ident)*], $class:ident, $operands:ident, $result:ident, $memory:ident, $coalescing:ident,
        $cluster:ident, $effect:literal)) => {
        const {
            &OpRow {
                op: Op::$op,
                name: Op::$op.name(),
                sizes: &[$(Size::$size),*],
                class: OpClass::$class,
                operands: Operands::$operands,
                result: ResultKind::$result,
                memory: MemoryEffect::$memory,
                coalescing: Coalescing::$coalescing,
                cluster: ClusterUse::$cluster,
                effect: $effect,
            }
        }
    };
}

// Each row: name, code, name in text, then the columns of `OpRow`: sizes, class, operands, result, memory,
// coalescing, cluster, effect. Rows of mbarrier operations also give the name in `MbarOp`.
operations! { $
    Word {
        /// `M + Rb`, modulo 2^32.
        Add = 0, "ADD", ([U32 S32], Update, B, Old, Writes, MergeRed, Any, "M + Rb");
        /// Minimum of `M` and `Rb`, by the signedness of the size.
        Min = 1, "MIN", ([U32 S32], Update, B, Old, Writes, MergeRed, Any, "min(M, Rb)");
        /// Maximum of `M` and `Rb`, by the signedness of the size.
        Max = 2, "MAX", ([U32 S32], Update, B, Old, Writes, MergeRed, Any, "max(M, Rb)");
        /// `M >= Rb ? 0 : M + 1`.
        Inc = 3, "INC", ([U32], Update, B, Old, Writes, Never, Any, "M >= Rb ? 0 : M + 1");
        /// `M == 0 or M > Rb ? Rb : M - 1`.
        Dec = 4, "DEC", ([U32], Update, B, Old, Writes, Never, Any, "M == 0 || M > Rb ? Rb : M - 1");
        /// Bitwise AND of `M` and `Rb`.
        And = 5, "AND", ([U32 S32], Update, B, Old, Writes, MergeRed, Any, "M & Rb");
        /// Bitwise OR of `M` and `Rb`.
        Or = 6, "OR", ([U32 S32], Update, B, Old, Writes, MergeRed, Any, "M | Rb");
        /// Bitwise XOR of `M` and `Rb`.
        Xor = 7, "XOR", ([U32 S32], Update, B, Old, Writes, MergeRed, Any, "M ^ Rb");
        /// Replaces `M` by `Rb`.
        Exch = 8, "EXCH", ([U32 S32 U64 B128], Update, B, Old, Writes, Never, Any, "Rb");
        /// `M == Rb ? Rc : M`; returns `M`.
        Cas = 9, "CAS", ([U32 S32 U64 B128], Compare, BC, Old, Writes, Never, Any, "M == Rb ? Rc : M");
        /// `M == Rb ? Rc : M`; returns 1 if the lane stored, else 0.
        Cast = 10, "CAST", ([U32 S32 U64], Compare, BC, Flag, Writes, Never, Any, "M == Rb ? Rc : M");
        /// Compares and stores as [`Op::Cast`] for one selected lane of each bank group. All other lanes
        /// fail immediately, without comparing (spec 5).
        CastSpin = 11, "CAST.SPIN", ([U32 S32 U64], Compare, BC, Flag, Writes, Never, Any, "as CAST for one lane of each bank group");
        /// `M` + number of active lanes at this address; returns no result.
        PopcInc = 12, "POPC.INC", ([U32], Update, None, Nothing, Writes, Always, Any, "M + active lanes at this address");
        /// Plain load (spec 3.5).
        Load = 13, "LDS", ([U8 U16 U32 U64 B128 S8 S16], Load, None, Old, Reads, Always, Any, "M");
        /// Plain store (spec 3.5).
        Store = 14, "STS", ([U8 U16 U32 U64 B128], Store, B, Nothing, Writes, Always, Any, "Rb");
    }
    Mbar {
        /// Makes the word an mbarrier object: writes `Rb`, the object's initial word, which software computes
        /// (`SYNCS.EXCH.64`).
        MbarInit Init = 16, "MBAR.INIT", ([U64], Barrier, B, Old, Writes, Never, Never, "Rb");
        /// Ends the object's life; its word in memory does not change (`SYNCS.CCTL.IV`).
        MbarInval Inval = 17, "MBAR.INVAL", ([U64], Barrier, None, Nothing, Reads, Never, Never, "M");
        /// Adds `Rb` to the tx-count, then checks for completion (`SYNCS.ARRIVE.TRANS64.A0TR`, and `.A0T1`
        /// with 1).
        MbarExpectTx ExpectTx = 18, "MBAR.EXPECT_TX", ([U64], Barrier, B, Nothing, Writes, Never, NoResult, "tx += Rb; complete?");
        /// Subtracts `Rb` from the tx-count, then checks for completion (`.A0TX`).
        MbarCompleteTx CompleteTx = 19, "MBAR.COMPLETE_TX", ([U64], Barrier, B, Nothing, Writes, Never, NoResult, "tx -= Rb; complete?");
        /// Subtracts one arrival from the pending count (`.A1T0`).
        MbarArrive Arrive = 20, "MBAR.ARRIVE", ([U64], Barrier, None, State, Writes, MergeArrive, NoResult, "pending -= 1; complete?");
        /// Arrives `Rb` times (`.ART0`).
        MbarArriveCount ArriveCount = 21, "MBAR.ARRIVE_COUNT", ([U64], Barrier, B, State, Writes, Never, NoResult, "pending -= Rb; complete?");
        /// Adds `Rb` to the tx-count, then arrives once (no suffix).
        MbarArriveExpectTx ArriveExpectTx = 22, "MBAR.ARRIVE.EXPECT_TX", ([U64], Barrier, B, State, Writes, Never, NoResult, "tx += Rb; pending -= 1; complete?");
        /// Arrives `Rb` times, which must not complete the phase (`.TMASK.ART0`).
        MbarArriveNoComplete ArriveNoComplete = 23, "MBAR.ARRIVE.NO_COMPLETE", ([U64], Barrier, B, MergedArrival, Writes, Never, Never, "pending -= Rb; complete?");
        /// Subtracts 1 from the expected count, then arrives once (`.OPTOUT.A1T0`).
        MbarArriveDrop ArriveDrop = 24, "MBAR.ARRIVE_DROP", ([U64], Barrier, None, State, Writes, Never, NoResult, "expected -= 1; pending -= 1; complete?");
        /// Subtracts `Rb` from the expected count, then arrives `Rb` times (`.OPTOUT.ART0`).
        MbarArriveDropCount ArriveDropCount = 25, "MBAR.ARRIVE_DROP_COUNT", ([U64], Barrier, B, State, Writes, Never, NoResult, "expected -= Rb; pending -= Rb; complete?");
        /// Adds `Rb` to the tx-count, subtracts 1 from the expected count, then arrives once (`.OPTOUT`).
        MbarArriveDropExpectTx ArriveDropExpectTx = 26, "MBAR.ARRIVE_DROP.EXPECT_TX", ([U64], Barrier, B, State, Writes, Never, NoResult, "tx += Rb; expected -= 1; pending -= 1; complete?");
        /// Drops and arrives as [`Op::MbarArriveDropCount`]; must not complete the phase (`.TMASK.OPTOUT.ART0`).
        MbarArriveDropNoComplete ArriveDropNoComplete = 27, "MBAR.ARRIVE_DROP.NO_COMPLETE", ([U64], Barrier, B, MergedArrival, Writes, Never, Never, "expected -= Rb; pending -= Rb; complete?");
        /// Tests if the phase with the parity in bit 31 of `Rb` is complete (`SYNCS.PHASECHK.TRANS64`).
        MbarTestWait TestWait = 28, "MBAR.TEST_WAIT", ([U64], Barrier, B, Predicate, Reads, Always, Never, "M");
        /// Tests a phase like [`Op::MbarTestWait`]. The unit may suspend the request until the phase is
        /// complete (`.TRYWAIT`).
        MbarTryWait TryWait = 29, "MBAR.TRY_WAIT", ([U64], Barrier, BC, Predicate, Reads, Always, Never, "M");
        /// Arrives once at an object of two 32-bit words, the layout of sm_80 to sm_89 (spec 6.2.1,
        /// `ATOMS.ARRIVE.64`).
        MbarArriveSm80 ArriveSm80 = 30, "MBAR.ARRIVE.SM80", ([U64], Barrier, None, Old, Writes, Never, NoResult, "pending -= 1; complete? (two words)");
    }
}

impl Op {
    /// True for operations on mbarrier objects (spec 6).
    #[inline]
    pub const fn is_mbarrier(self) -> bool {
        matches!(self.kind(), OpKind::Mbar(_))
    }

    /// True if the operation never changes memory.
    #[inline]
    pub const fn only_reads(self) -> bool {
        matches!(self.row().memory, MemoryEffect::Reads)
    }

    /// True for compare-and-stores, which report in a predicate if they stored (spec 3.2).
    #[inline]
    pub const fn compares(self) -> bool {
        matches!(self.row().class, OpClass::Compare)
    }

    /// True if the operation tests if a phase of an mbarrier object is complete (spec 6.5).
    #[inline]
    pub const fn asks_phase(self) -> bool {
        matches!(self.row().result, ResultKind::Predicate)
    }

    /// True if each lane arrives exactly once at an mbarrier object, without an operand that holds a count.
    #[inline]
    pub const fn arrives_once(self) -> bool {
        matches!(
            self.row(),
            OpRow { class: OpClass::Barrier, operands: Operands::None, memory: MemoryEffect::Writes, .. }
        )
    }

    /// True if the cluster port accepts the operation; `red` means that no result is wanted (spec 6.7). Every
    /// operation on plain memory is legal there (spec 7.5).
    #[inline]
    pub const fn cluster_legal(self, red: bool) -> bool {
        match self.row().cluster {
            ClusterUse::Any => true,
            ClusterUse::NoResult => red,
            ClusterUse::Never => false,
        }
    }

    /// True if one pass serves all lanes of one address, which merge their operands or share their result.
    /// `red` means that no result is wanted.
    #[inline]
    pub const fn coalesces(self, red: bool, merge_red: bool, merge_arrive: bool) -> bool {
        match self.row().coalescing {
            Coalescing::Never => false,
            Coalescing::Always => true,
            Coalescing::MergeRed => merge_red && red,
            Coalescing::MergeArrive => merge_arrive,
        }
    }
}

/// Operation and size of these port codes; `None` for an illegal instruction (spec 3.3).
#[inline]
pub fn instruction(op: u8, size: u8) -> Option<(Op, Size)> {
    Op::from_code(op).zip(Size::from_code(size)).filter(|(op, size)| op.row().sizes.contains(size))
}

/// True if the port codes of operation and size are a legal instruction (spec 3.3).
#[inline]
pub fn legal(op: u8, size: u8) -> bool {
    instruction(op, size).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_order_of_code() {
        assert!(OPS.is_sorted_by_key(|row| row.op as u8));
        for row in OPS {
            assert_eq!(row.op.row().op, row.op, "{}", row.name);
            assert_eq!(Op::from_code(row.op as u8), Some(row.op));
            assert_eq!(row.op.is_mbarrier(), row.op as u8 >= 16, "codes from 16 on are of mbarrier objects");
        }
    }

    #[test]
    fn names_lead_back_to_what_they_name() {
        for row in OPS {
            assert_eq!(Op::from_name(row.name), Some(row.op));
        }
        for size in Size::ALL {
            assert_eq!(Size::from_name(size.name()), Some(size));
            assert_eq!(Size::from_code(size as u8), Some(size));
        }
        for fault in Fault::ALL {
            assert_eq!(Fault::from_name(fault.name()), Some(fault));
        }
    }
}
