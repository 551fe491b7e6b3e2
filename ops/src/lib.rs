//! The operation table of the unit, once: everything on the Rust side is derived from [`OPS`].
//!
//! Names, codes and legal sizes live in a crate of their own so that the serial oracle can name an
//! operation without the model coming within its reach. `rtl/atoms_pkg.sv` holds the same table for
//! the hardware; a test compares the two, names and codes.
//!
//! Source of names and sizes: spec 3.

#![forbid(unsafe_code)]

use std::fmt;

/// Operation on shared memory. The discriminant is the code on the request port (`op_e`).
///
/// Append, never renumber: traces store the name, waves the code. Codes from 16 on are the mbarrier
/// operations of spec 6; 15 and 31 are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// `M + Rb`, modulo 2^32.
    Add = 0,
    /// The lesser of `M` and `Rb`, by the signedness of the size.
    Min = 1,
    /// The greater of `M` and `Rb`, by the signedness of the size.
    Max = 2,
    /// `M >= Rb ? 0 : M + 1`.
    Inc = 3,
    /// `M == 0 or M > Rb ? Rb : M - 1`.
    Dec = 4,
    /// `M & Rb`.
    And = 5,
    /// `M | Rb`.
    Or = 6,
    /// `M ^ Rb`.
    Xor = 7,
    /// `Rb`.
    Exch = 8,
    /// `M == Rb ? Rc : M`; gives `M`.
    Cas = 9,
    /// `M == Rb ? Rc : M`; gives whether it stored.
    Cast = 10,
    /// As [`Op::Cast`] for one selected lane of each bank group; the others fail at once (spec 5).
    CastSpin = 11,
    /// `M` + number of active lanes at this address; gives nothing.
    PopcInc = 12,
    /// Plain load (spec 3.5).
    Load = 13,
    /// Plain store (spec 3.5).
    Store = 14,
    /// Makes the word an mbarrier object: writes `Rb`, the word that software put together
    /// (`SYNCS.EXCH.64`).
    MbarInit = 16,
    /// The object ceases to be one; the word stays (`SYNCS.CCTL.IV`).
    MbarInval = 17,
    /// tx-count += `Rb` (`SYNCS.ARRIVE.TRANS64.A0TR`, and `.A0T1` with 1).
    MbarExpectTx = 18,
    /// tx-count -= `Rb`, then completion (`.A0TX`).
    MbarCompleteTx = 19,
    /// Arrives once (`.A1T0`).
    MbarArrive = 20,
    /// Arrives `Rb` times (`.ART0`).
    MbarArriveCount = 21,
    /// tx-count += `Rb`, then arrives once (no suffix).
    MbarArriveExpectTx = 22,
    /// Arrives `Rb` times, which must not complete the phase (`.TMASK.ART0`).
    MbarArriveNoComplete = 23,
    /// expected -= 1, then arrives once (`.OPTOUT.A1T0`).
    MbarArriveDrop = 24,
    /// expected -= `Rb`, then arrives `Rb` times (`.OPTOUT.ART0`).
    MbarArriveDropCount = 25,
    /// tx-count += `Rb`, expected -= 1, then arrives once (`.OPTOUT`).
    MbarArriveDropExpectTx = 26,
    /// As [`Op::MbarArriveDropCount`], which must not complete the phase (`.TMASK.OPTOUT.ART0`).
    MbarArriveDropNoComplete = 27,
    /// Whether the phase of the parity in bit 31 of `Rb` is complete (`SYNCS.PHASECHK.TRANS64`).
    MbarTestWait = 28,
    /// As [`Op::MbarTestWait`]; while it is not, the request may sleep (`.TRYWAIT`).
    MbarTryWait = 29,
    /// Arrives once at an object of two 32-bit words, as sm_80 to sm_89 keep it (spec 6.2.1,
    /// `ATOMS.ARRIVE.64`).
    MbarArriveSm80 = 30,
}

/// Width and signedness of an access. The discriminant is the code on the request port (`size_e`):
/// log2 of the bytes in bits 2:0, signedness in bit 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Size {
    /// One byte; a load extends it with zeros.
    U8 = 0,
    /// Two bytes; a load extends them with zeros.
    U16 = 1,
    /// Four bytes, unsigned: one word of one bank.
    U32 = 2,
    /// Eight bytes: a pair of banks.
    U64 = 3,
    /// Sixteen bytes: four banks.
    B128 = 4,
    /// One byte; a load extends its sign.
    S8 = 8,
    /// Two bytes; a load extends their sign.
    S16 = 9,
    /// Four bytes, signed.
    S32 = 10,
}

impl Size {
    /// Every size, in order of code.
    pub const ALL: [Size; 8] =
        [Size::U8, Size::U16, Size::U32, Size::U64, Size::B128, Size::S8, Size::S16, Size::S32];

    /// Bytes in memory: 1, 2, 4, 8 or 16.
    pub const fn bytes(self) -> u32 {
        1 << (self as u8 & 7)
    }

    /// Whether ordering and extension treat the value as two's complement.
    pub const fn signed(self) -> bool {
        self as u8 & 8 != 0
    }

    /// The size with this port code, if it is one.
    pub fn from_code(code: u8) -> Option<Size> {
        Size::ALL.into_iter().find(|s| *s as u8 == code)
    }

    /// Name as in traces and on the command line: `u32`, `s16`, `b128`, ...
    pub const fn name(self) -> &'static str {
        match self {
            Size::U8 => "u8",
            Size::U16 => "u16",
            Size::U32 => "u32",
            Size::U64 => "u64",
            Size::B128 => "b128",
            Size::S8 => "s8",
            Size::S16 => "s16",
            Size::S32 => "s32",
        }
    }

    /// The size with this name.
    pub fn from_name(name: &str) -> Option<Size> {
        Size::ALL.into_iter().find(|s| s.name() == name)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why a request touched no memory. The discriminant is the code on the response port (`fault_e`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Fault {
    /// No fault.
    None = 0,
    /// No such operation, or not of this size (spec 3.3).
    Illegal = 1,
    /// An address that is no multiple of the access size (spec 2.4).
    Misaligned = 2,
    /// An access not wholly inside the CTA's part (spec 2.4, 1.4).
    OutOfRange = 3,
}

impl Fault {
    /// Every fault, in order of code.
    pub const ALL: [Fault; 4] = [Fault::None, Fault::Illegal, Fault::Misaligned, Fault::OutOfRange];

    /// Name as in traces and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::None => "none",
            Fault::Illegal => "illegal instruction",
            Fault::Misaligned => "misaligned address",
            Fault::OutOfRange => "address out of range",
        }
    }

    /// The fault with this port code, if it is one.
    pub fn from_code(code: u8) -> Option<Fault> {
        Fault::ALL.into_iter().find(|f| *f as u8 == code)
    }

    /// The fault with this name.
    pub fn from_name(name: &str) -> Option<Fault> {
        Fault::ALL.into_iter().find(|f| f.name() == name)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How many data operands an operation reads besides the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// None: loads and POPC.INC.
    None,
    /// Rb.
    B,
    /// Rb, the value compared against, and Rc, the new value.
    BC,
}

/// What a lane gets back in Rd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// Nothing; Rd reads as zero.
    Nothing,
    /// The memory value before the operation, extended to the register as the size says.
    Old,
    /// 1 if the lane stored, else 0, in the full width of Rd (spec 3.2).
    Flag,
    /// Low word: the lanes that arrived together; high word: that of the object before they did. The
    /// compiler's code puts the lane's own state together from the two (spec 6.8, `.TMASK`).
    Together,
    /// A predicate: the phase asked about is complete (spec 6.5). Rd reads as zero.
    Predicate,
}

/// One row of the operation table.
#[derive(Debug)]
pub struct OpRow {
    /// The operation.
    pub op: Op,
    /// Name as in traces, on the command line and, after `ATOMS.`, in machine code text.
    pub name: &'static str,
    /// Name of the value in `op_e` of `rtl/atoms_pkg.sv`.
    pub rtl_name: &'static str,
    /// Sizes it exists in; any other is an illegal instruction (spec 3.3).
    pub sizes: &'static [Size],
    /// Data operands it reads.
    pub operands: Operands,
    /// What a lane gets back.
    pub gives: Gives,
    /// Effect on the memory word, for help and documentation.
    pub effect: &'static str,
}

/// The operation table, in order of code.
///
/// Sizes are the union of what the machine reference lists and what the toolchain emits
/// (spec 3, both columns), so that code of every architecture runs.
#[rustfmt::skip]
pub const OPS: &[OpRow] = {
    use Gives::{Flag, Nothing, Old, Predicate, Together};
    use Operands::{B, BC};
    use Size::{B128, S16, S32, S8, U16, U32, U64, U8};
    &[
        OpRow { op: Op::Add,      name: "ADD",       rtl_name: "OpAdd",      sizes: &[U32, S32],            operands: B,              gives: Old,     effect: "M + Rb" },
        OpRow { op: Op::Min,      name: "MIN",       rtl_name: "OpMin",      sizes: &[U32, S32],            operands: B,              gives: Old,     effect: "min(M, Rb)" },
        OpRow { op: Op::Max,      name: "MAX",       rtl_name: "OpMax",      sizes: &[U32, S32],            operands: B,              gives: Old,     effect: "max(M, Rb)" },
        OpRow { op: Op::Inc,      name: "INC",       rtl_name: "OpInc",      sizes: &[U32],                 operands: B,              gives: Old,     effect: "M >= Rb ? 0 : M + 1" },
        OpRow { op: Op::Dec,      name: "DEC",       rtl_name: "OpDec",      sizes: &[U32],                 operands: B,              gives: Old,     effect: "M == 0 || M > Rb ? Rb : M - 1" },
        OpRow { op: Op::And,      name: "AND",       rtl_name: "OpAnd",      sizes: &[U32, S32],            operands: B,              gives: Old,     effect: "M & Rb" },
        OpRow { op: Op::Or,       name: "OR",        rtl_name: "OpOr",       sizes: &[U32, S32],            operands: B,              gives: Old,     effect: "M | Rb" },
        OpRow { op: Op::Xor,      name: "XOR",       rtl_name: "OpXor",      sizes: &[U32, S32],            operands: B,              gives: Old,     effect: "M ^ Rb" },
        OpRow { op: Op::Exch,     name: "EXCH",      rtl_name: "OpExch",     sizes: &[U32, S32, U64, B128], operands: B,              gives: Old,     effect: "Rb" },
        OpRow { op: Op::Cas,      name: "CAS",       rtl_name: "OpCas",      sizes: &[U32, S32, U64, B128], operands: BC,             gives: Old,     effect: "M == Rb ? Rc : M" },
        OpRow { op: Op::Cast,     name: "CAST",      rtl_name: "OpCast",     sizes: &[U32, S32, U64],       operands: BC,             gives: Flag,    effect: "M == Rb ? Rc : M" },
        OpRow { op: Op::CastSpin, name: "CAST.SPIN", rtl_name: "OpCastSpin", sizes: &[U32, S32, U64],       operands: BC,             gives: Flag,    effect: "as CAST for one lane of each bank group" },
        OpRow { op: Op::PopcInc,  name: "POPC.INC",  rtl_name: "OpPopcInc",  sizes: &[U32],                 operands: Operands::None, gives: Nothing, effect: "M + active lanes at this address" },
        OpRow { op: Op::Load,     name: "LDS",       rtl_name: "OpLoad",     sizes: &[U8, U16, U32, U64, B128, S8, S16], operands: Operands::None, gives: Old, effect: "M" },
        OpRow { op: Op::Store,    name: "STS",       rtl_name: "OpStore",    sizes: &[U8, U16, U32, U64, B128], operands: B,          gives: Nothing, effect: "Rb" },
        OpRow { op: Op::MbarInit, name: "MBAR.INIT", rtl_name: "OpMbarInit", sizes: &[U64], operands: B, gives: Old, effect: "Rb" },
        OpRow { op: Op::MbarInval, name: "MBAR.INVAL", rtl_name: "OpMbarInval", sizes: &[U64], operands: Operands::None, gives: Nothing, effect: "M" },
        OpRow { op: Op::MbarExpectTx, name: "MBAR.EXPECT_TX", rtl_name: "OpMbarExpectTx", sizes: &[U64], operands: B, gives: Nothing, effect: "tx += Rb" },
        OpRow { op: Op::MbarCompleteTx, name: "MBAR.COMPLETE_TX", rtl_name: "OpMbarCompleteTx", sizes: &[U64], operands: B, gives: Nothing, effect: "tx -= Rb; complete?" },
        OpRow { op: Op::MbarArrive, name: "MBAR.ARRIVE", rtl_name: "OpMbarArrive", sizes: &[U64], operands: Operands::None, gives: Old, effect: "pending -= 1; complete?" },
        OpRow { op: Op::MbarArriveCount, name: "MBAR.ARRIVE_COUNT", rtl_name: "OpMbarArriveCount", sizes: &[U64], operands: B, gives: Old, effect: "pending -= Rb; complete?" },
        OpRow { op: Op::MbarArriveExpectTx, name: "MBAR.ARRIVE.EXPECT_TX", rtl_name: "OpMbarArriveExpectTx", sizes: &[U64], operands: B, gives: Old, effect: "tx += Rb; pending -= 1; complete?" },
        OpRow { op: Op::MbarArriveNoComplete, name: "MBAR.ARRIVE.NO_COMPLETE", rtl_name: "OpMbarArriveNoComplete", sizes: &[U64], operands: B, gives: Together, effect: "pending -= Rb; complete?" },
        OpRow { op: Op::MbarArriveDrop, name: "MBAR.ARRIVE_DROP", rtl_name: "OpMbarArriveDrop", sizes: &[U64], operands: Operands::None, gives: Old, effect: "expected -= 1; pending -= 1; complete?" },
        OpRow { op: Op::MbarArriveDropCount, name: "MBAR.ARRIVE_DROP_COUNT", rtl_name: "OpMbarArriveDropCount", sizes: &[U64], operands: B, gives: Old, effect: "expected -= Rb; pending -= Rb; complete?" },
        OpRow { op: Op::MbarArriveDropExpectTx, name: "MBAR.ARRIVE_DROP.EXPECT_TX", rtl_name: "OpMbarArriveDropExpectTx", sizes: &[U64], operands: B, gives: Old, effect: "tx += Rb; expected -= 1; pending -= 1; complete?" },
        OpRow { op: Op::MbarArriveDropNoComplete, name: "MBAR.ARRIVE_DROP.NO_COMPLETE", rtl_name: "OpMbarArriveDropNoComplete", sizes: &[U64], operands: B, gives: Together, effect: "expected -= Rb; pending -= Rb; complete?" },
        OpRow { op: Op::MbarTestWait, name: "MBAR.TEST_WAIT", rtl_name: "OpMbarTestWait", sizes: &[U64], operands: B, gives: Predicate, effect: "M" },
        OpRow { op: Op::MbarTryWait, name: "MBAR.TRY_WAIT", rtl_name: "OpMbarTryWait", sizes: &[U64], operands: BC, gives: Predicate, effect: "M" },
        OpRow { op: Op::MbarArriveSm80, name: "MBAR.ARRIVE.SM80", rtl_name: "OpMbarArriveSm80", sizes: &[U64], operands: Operands::None, gives: Old, effect: "pending -= 1; complete? (two words)" },
    ]
};

impl Op {
    /// This operation's row of [`OPS`].
    pub const fn row(self) -> &'static OpRow {
        // Code 15 is free.
        let code = self as usize;
        &OPS[if code > 15 { code - 1 } else { code }]
    }

    /// Whether it works on an mbarrier object (spec 6).
    pub const fn is_mbarrier(self) -> bool {
        self as u8 >= Op::MbarInit as u8
    }

    /// Whether it only looks: memory stays as it is.
    pub const fn only_reads(self) -> bool {
        matches!(self, Op::Load | Op::MbarInval | Op::MbarTestWait | Op::MbarTryWait)
    }

    /// Whether the object of another CTA of the cluster knows it: those that need no result, and then
    /// only without one (spec 6.7). Operations on plain memory all do (spec 7.5).
    pub const fn cluster_legal(self, red: bool) -> bool {
        match self {
            Op::MbarInit
            | Op::MbarInval
            | Op::MbarArriveNoComplete
            | Op::MbarArriveDropNoComplete
            | Op::MbarTestWait
            | Op::MbarTryWait => false,
            op => !op.is_mbarrier() || red,
        }
    }

    /// Name as in traces and on the command line.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The operation with this port code, if it is one.
    pub fn from_code(code: u8) -> Option<Op> {
        OPS.iter().find(|row| row.op as u8 == code).map(|row| row.op)
    }

    /// The operation with this name.
    pub fn from_name(name: &str) -> Option<Op> {
        OPS.iter().find(|row| row.name == name).map(|row| row.op)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether operation and size, as port codes, are an instruction (spec 3.3).
pub fn legal(op: u8, size: u8) -> bool {
    match (Op::from_code(op), Size::from_code(size)) {
        (Some(op), Some(size)) => op.row().sizes.contains(&size),
        _ => false,
    }
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
