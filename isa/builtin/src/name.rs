//! The builtins by name, and by the identifiers of \[NVVM\].

use super::excerpt::excerpt;
use super::{Class, Refusal, Type};
use atoms_isa::nearest;
use std::fmt;
use std::str::FromStr;

/// What a builtin does to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names say it
pub enum Op {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Max,
    Min,
    Inc,
    Dec,
    Exchange,
    CompareExchange,
    Load,
    Store,
}

impl Op {
    /// The operations of the newer family, in order of identifier.
    pub const NV: &[Op] = &[
        Op::Load,
        Op::Store,
        Op::Add,
        Op::Sub,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Max,
        Op::Min,
        Op::Exchange,
        Op::CompareExchange,
    ];

    /// Whether it combines the operand with the object and gives the old value back.
    pub const fn is_fetch(self) -> bool {
        !matches!(self, Op::Exchange | Op::CompareExchange | Op::Load | Op::Store)
    }

    /// Whether it treats every bit alike.
    pub const fn is_bitwise(self) -> bool {
        matches!(self, Op::And | Op::Or | Op::Xor)
    }

    /// The name in PTX. A subtraction is the addition of the negated operand (spec 8.3).
    pub const fn ptx(self) -> &'static str {
        match self {
            Op::Add | Op::Sub => "add",
            Op::And => "and",
            Op::Or => "or",
            Op::Xor => "xor",
            Op::Max => "max",
            Op::Min => "min",
            Op::Inc => "inc",
            Op::Dec => "dec",
            Op::Exchange => "exch",
            Op::CompareExchange => "cas",
            Op::Load => "ld",
            Op::Store => "st",
        }
    }

    /// The part of a `__nv_atomic_` name; none for the operations of the older families only.
    const fn nv_name(self) -> Option<&'static str> {
        Some(match self {
            Op::Add => "fetch_add",
            Op::Sub => "fetch_sub",
            Op::And => "fetch_and",
            Op::Or => "fetch_or",
            Op::Xor => "fetch_xor",
            Op::Max => "fetch_max",
            Op::Min => "fetch_min",
            Op::Exchange => "exchange",
            Op::CompareExchange => "compare_exchange",
            Op::Load => "load",
            Op::Store => "store",
            Op::Inc | Op::Dec => return None,
        })
    }

    /// The part of an `atomic` function's name.
    const fn cuda_name(self) -> Option<&'static str> {
        Some(match self {
            Op::Add => "Add",
            Op::Sub => "Sub",
            Op::Exchange => "Exch",
            Op::Min => "Min",
            Op::Max => "Max",
            Op::Inc => "Inc",
            Op::Dec => "Dec",
            Op::CompareExchange => "CAS",
            Op::And => "And",
            Op::Or => "Or",
            Op::Xor => "Xor",
            Op::Load | Op::Store => return None,
        })
    }

    /// The operation behind a builtin kind of the front end, and whether it is the kind whose name is
    /// given outright (else it is constructed). The kind of the fence, 0x6286, is no operation.
    /// Source: \[NVVM\], EDG Frontend Name Construction.
    pub fn of_frontend_kind(kind: u16) -> Option<(Op, bool)> {
        const KINDS: &[(u16, Op)] = &[
            (0x6241, Op::CompareExchange),
            (0x6248, Op::Exchange),
            (0x624f, Op::Add),
            (0x6257, Op::Sub),
            (0x625f, Op::And),
            (0x6263, Op::Xor),
            (0x6267, Op::Or),
            (0x626b, Op::Max),
            (0x6273, Op::Min),
            (0x627b, Op::Load),
            (0x6280, Op::Store),
        ];
        let row = KINDS.iter().find(|(first, _)| (*first..=first + 1).contains(&kind));
        row.map(|(first, op)| (*op, kind != *first))
    }
}

/// Scope in the name of the older families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// No word in the name.
    Device,
    /// `cta_`, `_block`
    Block,
    /// `sys_`, `_system`
    System,
}

impl Reach {
    /// Every scope, in order of identifier.
    pub const ALL: &[Reach] = &[Reach::Device, Reach::Block, Reach::System];

    const fn infix(self) -> &'static str {
        match self {
            Reach::Device => "",
            Reach::Block => "cta_",
            Reach::System => "sys_",
        }
    }

    const fn suffix(self) -> &'static str {
        match self {
            Reach::Device => "",
            Reach::Block => "_block",
            Reach::System => "_system",
        }
    }

    /// The qualifier of an `atom`, whose scope is the device without one.
    pub(super) const fn qualifier(self) -> &'static str {
        match self {
            Reach::Device => "",
            Reach::Block => ".cta",
            Reach::System => ".sys",
        }
    }

    /// The scope of a `membar`.
    pub(super) const fn membar(self) -> &'static str {
        match self {
            Reach::Device => "gl",
            Reach::Block => "cta",
            Reach::System => "sys",
        }
    }
}

/// What the end of a `__nv_atomic_` name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Nothing: the type is that of the arguments, and values are passed by address (but to fetch
    /// operations).
    Generic,
    /// `_n`: the type is that of the arguments, and values are passed as such.
    Value,
    /// Width in bytes and, but for [`Class::Bits`], a letter; values are passed as such.
    Sized {
        /// 1, 2, 4, 8 or 16.
        bytes: u32,
        /// Bits, unsigned, signed or float.
        class: Class,
    },
}

/// A builtin, as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `__nvvm_atom_{,cta_,sys_}OP_gen_TYPE`
    Nvvm {
        /// Operation.
        op: Op,
        /// Scope.
        reach: Reach,
        /// Type, signed where the name does not say.
        ty: Type,
    },
    /// `__nv_atomic_OP[_n | _WIDTH[_CLASS]]`
    Nv {
        /// Operation.
        op: Op,
        /// The end of the name.
        form: Form,
    },
    /// `__nv_atomic_thread_fence`
    ThreadFence,
    /// `atomicOP{,_block,_system}`, overloaded by type.
    Cuda {
        /// Operation.
        op: Op,
        /// Scope.
        reach: Reach,
    },
    /// `__threadfence{,_block,_system}`
    CudaFence {
        /// Scope.
        reach: Reach,
    },
}

/// One name of the older family: operation, its word, the type's word, type, identifier of the first
/// scope. Those of the other scopes follow it. \[NVVM\] gives ranges only; that scopes run fastest
/// within them is chosen.
type NvvmRow = (Op, &'static str, &'static str, Type, u16);

#[rustfmt::skip]
const NVVM: &[NvvmRow] = &[
    (Op::Add, "add", "i", Type::S32, 207), (Op::Add, "add", "ll", Type::S64, 210),
    (Op::Add, "add", "f", Type::F32, 213), (Op::Add, "add", "d", Type::F64, 216),
    (Op::Exchange, "xchg", "i", Type::S32, 219), (Op::Exchange, "xchg", "ll", Type::S64, 222),
    (Op::Exchange, "xchg", "128", Type::B128, 225),
    (Op::Min, "min", "i", Type::S32, 228), (Op::Min, "min", "ll", Type::S64, 231),
    (Op::Min, "min", "ui", Type::U32, 234), (Op::Min, "min", "ull", Type::U64, 237),
    (Op::Max, "max", "i", Type::S32, 240), (Op::Max, "max", "ll", Type::S64, 243),
    (Op::Max, "max", "ui", Type::U32, 246), (Op::Max, "max", "ull", Type::U64, 249),
    (Op::Inc, "inc", "ui", Type::U32, 252), (Op::Dec, "dec", "ui", Type::U32, 255),
    (Op::And, "and", "i", Type::S32, 258), (Op::And, "and", "ll", Type::S64, 261),
    (Op::Or, "or", "i", Type::S32, 264), (Op::Or, "or", "ll", Type::S64, 267),
    (Op::Xor, "xor", "i", Type::S32, 270), (Op::Xor, "xor", "ll", Type::S64, 273),
    (Op::CompareExchange, "cas", "i", Type::S32, 370), (Op::CompareExchange, "cas", "ll", Type::S64, 373),
    // One scope only: with three the range 370 to 379 would be too short by two.
    (Op::CompareExchange, "cas", "us", Type::U16, 376),
    (Op::CompareExchange, "cas", "128", Type::B128, 377),
    (Op::Add, "add", "f2", Type::F16x2, 459), (Op::Add, "add", "f4", Type::F16x4, 466),
];

/// The scopes that a row of [`NVVM`] has names for.
fn reaches(row: &NvvmRow) -> &'static [Reach] {
    if row.3 == Type::U16 { &[Reach::Device] } else { Reach::ALL }
}

/// Widths in bytes that the names of an operation have an identifier for, in order.
const fn identified_widths(op: Op) -> &'static [u32] {
    match op {
        Op::Load | Op::Store => &[1, 2, 4, 8, 16],
        Op::Exchange => &[4, 8, 16],
        Op::CompareExchange => &[2, 4, 8, 16],
        _ => &[4, 8],
    }
}

/// The classes that an operation's names have a letter for, in order of identifier.
const fn name_classes(op: Op) -> &'static [Class] {
    match op {
        Op::Add | Op::Sub | Op::Max | Op::Min => &[Class::Unsigned, Class::Signed, Class::Float],
        _ => &[Class::Bits],
    }
}

impl Builtin {
    /// Every builtin with an identifier, every one whose type comes with the call, and the functions of
    /// CUDA C++. Legal in a dialect or not; names with widths that only the current compiler knows are
    /// left out.
    pub fn all() -> Vec<Builtin> {
        let mut all = Vec::new();
        for row in NVVM {
            all.extend(reaches(row).iter().map(|reach| Builtin::Nvvm {
                op: row.0,
                reach: *reach,
                ty: row.3,
            }));
        }
        for op in Op::NV.iter().copied() {
            all.push(Builtin::Nv { op, form: Form::Generic });
            if !op.is_fetch() {
                all.push(Builtin::Nv { op, form: Form::Value });
            }
            for bytes in identified_widths(op).iter().copied() {
                all.extend(
                    name_classes(op)
                        .iter()
                        .map(|class| Builtin::Nv { op, form: Form::Sized { bytes, class: *class } }),
                );
            }
        }
        all.push(Builtin::ThreadFence);
        for op in [Op::Add, Op::Sub, Op::Exchange, Op::Min, Op::Max, Op::Inc, Op::Dec] {
            all.extend(Reach::ALL.iter().map(|reach| Builtin::Cuda { op, reach: *reach }));
        }
        for op in [Op::CompareExchange, Op::And, Op::Or, Op::Xor] {
            all.extend(Reach::ALL.iter().map(|reach| Builtin::Cuda { op, reach: *reach }));
        }
        all.extend(Reach::ALL.iter().map(|reach| Builtin::CudaFence { reach: *reach }));
        all
    }

    /// The identifier of \[NVVM\], where there is one.
    pub fn id(self) -> Option<u16> {
        match self {
            Builtin::Nvvm { op, reach, ty } => {
                let row = NVVM.iter().find(|row| (row.0, row.3) == (op, ty))?;
                let place = reaches(row).iter().position(|r| *r == reach)?;
                Some(row.4 + u16::try_from(place).ok()?)
            }
            Builtin::Nv { op, form } => {
                let (first, has_generic) = match op {
                    Op::Load => (417, 1),
                    Op::Store => (423, 1),
                    Op::Add => (429, 0),
                    Op::Sub => (435, 0),
                    Op::And => (441, 0),
                    Op::Or => (443, 0),
                    Op::Xor => (445, 0),
                    Op::Max => (447, 0),
                    Op::Min => (453, 0),
                    Op::Exchange => (462, 1),
                    Op::CompareExchange => (469, 1),
                    Op::Inc | Op::Dec => return None,
                };
                let place = match form {
                    Form::Generic if has_generic == 1 => 0,
                    Form::Generic | Form::Value => return None,
                    Form::Sized { bytes, class } => {
                        let classes = name_classes(op);
                        let width = identified_widths(op).iter().position(|w| *w == bytes)?;
                        let letter = classes.iter().position(|c| *c == class)?;
                        has_generic + width * classes.len() + letter
                    }
                };
                Some(first + u16::try_from(place).ok()?)
            }
            Builtin::ThreadFence => Some(366),
            Builtin::Cuda { .. } | Builtin::CudaFence { .. } => None,
        }
    }

    /// The builtin of an identifier.
    pub fn of_id(id: u16) -> Option<Builtin> {
        Builtin::all().into_iter().find(|b| b.id() == Some(id))
    }

    /// The name that the front end constructs for an operation on objects of a type.
    /// Source: \[NVVM\], Name Construction Algorithm.
    ///
    /// # Errors
    /// 3748 for a fetch operation on objects of other than 4 or 8 bytes; 852 for an operation without
    /// names of this family.
    pub fn sized(op: Op, ty: Type) -> Result<Builtin, Refusal> {
        if op.nv_name().is_none() {
            return Err(Refusal::numbered(852, format!("no `__nv_atomic_` builtin does `{}`", op.ptx()))
                .help("use `atomicInc` or `atomicDec`"));
        }
        if op.is_fetch() && !matches!(ty.bytes(), 4 | 8) {
            return Err(Refusal::numbered(3748, format!("`{ty}` has {} bytes", ty.bytes()))
                .help("a fetch operation takes objects of 4 or 8 bytes"));
        }
        let class = if name_classes(op) == [Class::Bits] { Class::Bits } else { ty.class() };
        if !name_classes(op).contains(&class) {
            return Err(Refusal::numbered(3745, format!("no atomic `{}` on `{ty}`", op.ptx()))
                .help("an integer, `f32` or `f64`"));
        }
        Ok(Builtin::Nv { op, form: Form::Sized { bytes: ty.bytes(), class } })
    }

    /// The type of the object, where the name fixes it.
    pub fn object_type(self) -> Option<Type> {
        match self {
            Builtin::Nvvm { ty, .. } => Some(ty),
            Builtin::Nv { form: Form::Sized { bytes, class }, .. } => Type::of(class, bytes),
            _ => None,
        }
    }

    /// What it does; none for a fence.
    pub const fn op(self) -> Option<Op> {
        match self {
            Builtin::Nvvm { op, .. } | Builtin::Nv { op, .. } | Builtin::Cuda { op, .. } => Some(op),
            Builtin::ThreadFence | Builtin::CudaFence { .. } => None,
        }
    }
}

impl fmt::Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Builtin::Nvvm { op, reach, ty } => {
                let row = NVVM.iter().find(|row| (row.0, row.3) == (op, ty));
                let (op, ty) = row.map_or((op.ptx(), ty.name()), |row| (row.1, row.2));
                write!(f, "__nvvm_atom_{}{op}_gen_{ty}", reach.infix())
            }
            Builtin::Nv { op, form } => {
                write!(f, "__nv_atomic_{}", op.nv_name().unwrap_or(op.ptx()))?;
                match form {
                    Form::Generic => Ok(()),
                    Form::Value => f.write_str("_n"),
                    Form::Sized { bytes, class: Class::Bits } => write!(f, "_{bytes}"),
                    Form::Sized { bytes, class } => write!(f, "_{bytes}_{}", class.letter()),
                }
            }
            Builtin::ThreadFence => f.write_str("__nv_atomic_thread_fence"),
            Builtin::Cuda { op, reach } => {
                write!(f, "atomic{}{}", op.cuda_name().unwrap_or(op.ptx()), reach.suffix())
            }
            Builtin::CudaFence { reach } => write!(f, "__threadfence{}", reach.suffix()),
        }
    }
}

impl FromStr for Builtin {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Builtin, Refusal> {
        let all = Builtin::all();
        if let Some(found) = all.iter().find(|b| b.to_string() == name) {
            return Ok(*found);
        }
        if let Some(found) = other_width(name)? {
            return Ok(found);
        }
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        Err(Refusal::new(format!("unknown builtin `{}`", excerpt(name))).help(format!(
            "the nearest known one is `{}`",
            nearest(name, names.iter().map(String::as_str)).unwrap_or_default()
        )))
    }
}

/// A well-formed name of the newer family with a width that has no identifier.
///
/// # Errors
/// 3767 where the width is none of an object.
fn other_width(name: &str) -> Result<Option<Builtin>, Refusal> {
    let Some(rest) = name.strip_prefix("__nv_atomic_") else { return Ok(None) };
    for op in Op::NV.iter().copied() {
        let Some(suffix) = op.nv_name().and_then(|n| rest.strip_prefix(n)?.strip_prefix('_')) else {
            continue;
        };
        for class in name_classes(op).iter().copied() {
            let width = match class {
                Class::Bits => Some(suffix),
                class => suffix.strip_suffix(class.letter()).and_then(|s| s.strip_suffix('_')),
            };
            let Some(bytes) = width.filter(|w| w.bytes().all(|b| b.is_ascii_digit())) else { continue };
            let Ok(bytes) = bytes.parse::<u32>() else { continue };
            if Type::unsigned(bytes).is_none() {
                return Err(Refusal::numbered(3767, format!("no object has {bytes} bytes in `{name}`"))
                    .help("the width is 1, 2, 4, 8 or 16"));
            }
            if Type::of(class, bytes).is_some() {
                return Ok(Some(Builtin::Nv { op, form: Form::Sized { bytes, class } }));
            }
        }
    }
    Ok(None)
}
