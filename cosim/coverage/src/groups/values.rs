//! Dimensions that several coverage groups share.

use atoms_ops::{Op, OpClass, Size};

use crate::cross::{BinValue, Needs, table};

table! {
    operations AnyOp {
        Add Min Max Inc Dec And Or Xor Exch Cas Cast CastSpin PopcInc Load Store MbarInit MbarInval
        MbarExpectTx MbarCompleteTx MbarArrive MbarArriveCount MbarArriveExpectTx MbarArriveNoComplete
        MbarArriveDrop MbarArriveDropCount MbarArriveDropExpectTx MbarArriveDropNoComplete MbarTestWait
        MbarTryWait MbarArriveSm80
    }
    /// Operation on plain memory.
    operations PlainOp { Add Min Max Inc Dec And Or Xor Exch Cas Cast CastSpin PopcInc Load Store }
    /// Operation on mbarrier objects.
    operations ObjectOp {
        MbarInit MbarInval MbarExpectTx MbarCompleteTx MbarArrive MbarArriveCount MbarArriveExpectTx
        MbarArriveNoComplete MbarArriveDrop MbarArriveDropCount MbarArriveDropExpectTx
        MbarArriveDropNoComplete MbarTestWait MbarTryWait MbarArriveSm80
    }

    /// Port at which a request arrives.
    values Port { Warp = "warp", Cluster = "cluster", }
    /// Result wanted by the requester.
    values Wanted { Result = "result", None = "no result", }
    /// Number of lanes, in the ranges in which conflicts are counted.
    ranges Degree {
        One = "1" to 1, Two = "2" to 2, ThreeFour = "3-4" to 4, FiveEight = "5-8" to 8,
        NineSixteen = "9-16" to 16, Most = "17-31" to 31, All = "32" to 32,
    }

    /// Kind of pass in the pipeline, by its use of memory.
    values Kind {
        Load = "load", Store = "store", Update = "update", Compare = "compare", Spin = "spin",
        Object = "object", Look = "look",
    } needs |kind| Needs {
        ops: match kind {
            Kind::Load => &[Op::Load],
            Kind::Store => &[Op::Store],
            Kind::Update => &[
                Op::Add, Op::Min, Op::Max, Op::Inc, Op::Dec, Op::And, Op::Or, Op::Xor, Op::Exch, Op::PopcInc,
            ],
            Kind::Compare => &[Op::Cas, Op::Cast],
            Kind::Spin => &[Op::CastSpin],
            Kind::Object => &[Op::MbarInit, Op::MbarArrive, Op::MbarArriveCount, Op::MbarCompleteTx],
            Kind::Look => &[Op::MbarTestWait, Op::MbarTryWait, Op::MbarInval],
        },
        ..Needs::default()
    };

    /// Width of an access, in banks.
    values Width { Sub = "part of a word", Word = "word", Pair = "pair", Quad = "quad", }
    needs |width| {
        let (sizes, support): (&[_], &[_]) = match width {
            Width::Sub => (&[Size::U8, Size::U16, Size::S8, Size::S16], &[Op::Load, Op::Store]),
            Width::Word => (&[Size::U32, Size::S32], &[]),
            Width::Pair => (&[Size::U64], &[]),
            Width::Quad => (&[Size::B128], &[Op::Load, Op::Store, Op::Exch, Op::Cas]),
        };
        Needs { sizes, support, ..Needs::default() }
    };

    ranges Few { Zero = "0" to 0, One = "1" to 1, Two = "2" to 2, More = "more" to u32::MAX, }

    numbers Lane: 32 from 0;
    numbers Bank: 64 from 0;
    /// CTA slot of a request.
    numbers SlotNumber: 16 from 0;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnySize(pub Size);

impl BinValue for AnySize {
    const COUNT: usize = Size::ALL.len();

    #[inline(always)]
    fn index(self) -> usize {
        match self.0 {
            Size::U8 => 0,
            Size::U16 => 1,
            Size::U32 => 2,
            Size::U64 => 3,
            Size::B128 => 4,
            Size::S8 => 5,
            Size::S16 => 6,
            Size::S32 => 7,
        }
    }

    fn of(index: usize) -> Self {
        AnySize(Size::ALL[index])
    }

    fn name(index: usize) -> String {
        Size::ALL[index].name().to_string()
    }

    fn needs(self) -> Needs {
        Needs { sizes: std::slice::from_ref(&Size::ALL[self.index()]), ..Needs::default() }
    }
}

/// Returns true if the operation exists in this size (spec 3.3).
pub fn legal(op: Op, size: AnySize) -> bool {
    op.row().sizes.contains(&size.0)
}

impl Degree {
    pub fn least(self) -> u32 {
        (self as usize).checked_sub(1).map_or(1, |below| Self::MOST[below] + 1)
    }

    pub fn most(self) -> u32 {
        Self::MOST[self as usize]
    }
}

impl Kind {
    pub const fn new(op: Op) -> Self {
        match op.row().class {
            OpClass::Load => Kind::Load,
            OpClass::Store => Kind::Store,
            OpClass::Compare if matches!(op, Op::CastSpin) => Kind::Spin,
            OpClass::Compare => Kind::Compare,
            OpClass::Barrier if matches!(op, Op::MbarInval) || op.asks_phase() => Kind::Look,
            OpClass::Barrier => Kind::Object,
            OpClass::Update => Kind::Update,
        }
    }

    /// Returns true if requests of this port can have a pass of this kind. Kind `Look` (phase tests and
    /// MBAR.INVAL) does not exist at the cluster port (spec 6.7).
    pub fn comes_from(self, port: Port) -> bool {
        !(self == Kind::Look && port == Port::Cluster)
    }
}

impl Width {
    pub const fn new(size: Size) -> Self {
        match size {
            Size::U8 | Size::S8 | Size::U16 | Size::S16 => Width::Sub,
            Size::U32 | Size::S32 => Width::Word,
            Size::U64 => Width::Pair,
            Size::B128 => Width::Quad,
        }
    }

    #[inline(always)]
    pub const fn banks(self) -> usize {
        match self {
            Width::Sub | Width::Word => 1,
            Width::Pair => 2,
            Width::Quad => 4,
        }
    }
}

impl Wanted {
    /// Maps the `red` bit of a request.
    pub const fn new(red: bool) -> Self {
        if red { Wanted::None } else { Wanted::Result }
    }
}
