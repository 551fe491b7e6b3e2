//! Names of atomic builtins, and their numeric identifiers in \[NVVM\].

use super::excerpt::excerpt;
use super::refusal::{diagnose, refuse};
use super::{BuiltinRefusal, ObjectType, TypeClass};
use atoms_isa::nearest;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltinOp {
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

impl BuiltinOp {
    pub const NV: &[BuiltinOp] = &[
        BuiltinOp::Load,
        BuiltinOp::Store,
        BuiltinOp::Add,
        BuiltinOp::Sub,
        BuiltinOp::And,
        BuiltinOp::Or,
        BuiltinOp::Xor,
        BuiltinOp::Max,
        BuiltinOp::Min,
        BuiltinOp::Exchange,
        BuiltinOp::CompareExchange,
    ];

    /// True if the operation combines the operand with the object and returns the old value.
    pub const fn is_fetch(self) -> bool {
        !matches!(self, BuiltinOp::Exchange | BuiltinOp::CompareExchange | BuiltinOp::Load | BuiltinOp::Store)
    }

    pub const fn is_bitwise(self) -> bool {
        matches!(self, BuiltinOp::And | BuiltinOp::Or | BuiltinOp::Xor)
    }

    const fn row(self) -> &'static OpRow {
        &OPS[self as usize]
    }

    /// Name in PTX. A subtraction is the addition of the negated operand (spec 8.3).
    pub const fn ptx(self) -> &'static str {
        self.row().ptx
    }

    pub(super) fn older_suffix(self, ty: ObjectType) -> String {
        let letter = match (self, ty.class()) {
            (BuiltinOp::Add | BuiltinOp::Sub, TypeClass::Float) => 'f',
            (BuiltinOp::Add | BuiltinOp::Sub | BuiltinOp::Inc | BuiltinOp::Dec, _) => 'u',
            (BuiltinOp::Min | BuiltinOp::Max, class) => class.letter(),
            _ => 'b',
        };
        format!("{letter}{}", ty.bits())
    }

    /// Returns the operation that a kind number of the compiler's front end stands for. The flag is true if
    /// the builtin's name is given explicitly, false if the front end constructs it from the type. Kind
    /// 0x6286 is the fence, not an operation. Source: \[NVVM\], EDG Frontend Name Construction.
    pub fn of_frontend_kind(kind: u16) -> Option<(BuiltinOp, bool)> {
        let found =
            OPS.iter().find_map(|row| Some((row, kind.checked_sub(row.nv?.kind)?)).filter(|(_, k)| *k < 2));
        found.map(|(row, place)| (row.op, place != 0))
    }
}

struct OpRow {
    op: BuiltinOp,
    ptx: &'static str,
    /// Part of the `atomic*` function's name, such as `Add`. `None` if there is no such function.
    cuda: Option<&'static str>,
    /// Names in the `__nv_atomic_*` family. `None` for operations that only the older families have.
    nv: Option<NvRow>,
}

#[derive(Clone, Copy)]
struct NvRow {
    name: &'static str,
    /// Lowest identifier of the operation's builtins in \[NVVM\].
    first: u16,
    /// Lower one of the operation's two kind numbers in the compiler's front end.
    kind: u16,
}

const fn nv(name: &'static str, first: u16, kind: u16) -> Option<NvRow> {
    Some(NvRow { name, first, kind })
}

#[rustfmt::skip]
const OPS: &[OpRow] = &[
    OpRow { op: BuiltinOp::Add,             ptx: "add",  cuda: Some("Add"),  nv: nv("fetch_add", 429, 0x624f) },
    OpRow { op: BuiltinOp::Sub,             ptx: "add",  cuda: Some("Sub"),  nv: nv("fetch_sub", 435, 0x6257) },
    OpRow { op: BuiltinOp::And,             ptx: "and",  cuda: Some("And"),  nv: nv("fetch_and", 441, 0x625f) },
    OpRow { op: BuiltinOp::Or,              ptx: "or",   cuda: Some("Or"),   nv: nv("fetch_or", 443, 0x6267) },
    OpRow { op: BuiltinOp::Xor,             ptx: "xor",  cuda: Some("Xor"),  nv: nv("fetch_xor", 445, 0x6263) },
    OpRow { op: BuiltinOp::Max,             ptx: "max",  cuda: Some("Max"),  nv: nv("fetch_max", 447, 0x626b) },
    OpRow { op: BuiltinOp::Min,             ptx: "min",  cuda: Some("Min"),  nv: nv("fetch_min", 453, 0x6273) },
    OpRow { op: BuiltinOp::Inc,             ptx: "inc",  cuda: Some("Inc"),  nv: None },
    OpRow { op: BuiltinOp::Dec,             ptx: "dec",  cuda: Some("Dec"),  nv: None },
    OpRow { op: BuiltinOp::Exchange,        ptx: "exch", cuda: Some("Exch"), nv: nv("exchange", 462, 0x6248) },
    OpRow { op: BuiltinOp::CompareExchange, ptx: "cas",  cuda: Some("CAS"),  nv: nv("compare_exchange", 469, 0x6241) },
    OpRow { op: BuiltinOp::Load,            ptx: "ld",   cuda: None,         nv: nv("load", 417, 0x627b) },
    OpRow { op: BuiltinOp::Store,           ptx: "st",   cuda: None,         nv: nv("store", 423, 0x6280) },
];

const _: () = {
    let mut at = 0;
    while at < OPS.len() {
        assert!(OPS[at].op as usize == at);
        at += 1;
    }
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameScope {
    Device,
    Block,
    System,
}

impl NameScope {
    pub const ALL: &[NameScope] = &[NameScope::Device, NameScope::Block, NameScope::System];

    /// Words for the scope: in the name of an `__nvvm_atom_*` builtin, at the end of an `atomic*` function's
    /// name, after `atom` in PTX, and after `membar` in PTX. An `atom` without a scope has device scope.
    const fn words(self) -> [&'static str; 4] {
        match self {
            NameScope::Device => ["", "", "", "gl"],
            NameScope::Block => ["cta_", "_block", ".cta", "cta"],
            NameScope::System => ["sys_", "_system", ".sys", "sys"],
        }
    }

    const fn infix(self) -> &'static str {
        self.words()[0]
    }

    const fn suffix(self) -> &'static str {
        self.words()[1]
    }

    pub(super) const fn qualifier(self) -> &'static str {
        self.words()[2]
    }

    pub(super) const fn membar(self) -> &'static str {
        self.words()[3]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameForm {
    /// Name without a suffix: the arguments give the type. Values are passed by address, except to fetch
    /// operations.
    Generic,
    /// Name with the suffix `_n`: the arguments give the type, and values are passed directly.
    Value,
    /// Name with a width in bytes and, except for [`TypeClass::Bits`], the letter of a type class. Values are
    /// passed directly.
    Sized {
        /// Width in bytes: 1, 2, 4, 8 or 16.
        bytes: u32,
        class: TypeClass,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// A builtin `__nvvm_atom_{,cta_,sys_}OP_gen_TYPE`.
    Nvvm {
        op: BuiltinOp,
        reach: NameScope,
        /// Type of the object. It is signed if the name does not state the sign.
        ty: ObjectType,
    },
    /// A builtin `__nv_atomic_OP[_n | _WIDTH[_CLASS]]`.
    Nv { op: BuiltinOp, form: NameForm },
    /// The fence builtin `__nv_atomic_thread_fence`.
    ThreadFence,
    /// A function `atomicOP{,_block,_system}`, overloaded by type.
    Cuda { op: BuiltinOp, reach: NameScope },
    /// A function `__threadfence{,_block,_system}`.
    CudaFence { reach: NameScope },
}

/// A name of the `__nvvm_atom_*` family: operation, word for the operation, word for the type, type,
/// identifier of the name for the first scope. The names for the other scopes have the next identifiers.
/// \[NVVM\] gives only ranges of identifiers; this order within a range is a project choice.
type NvvmRow = (BuiltinOp, &'static str, &'static str, ObjectType, u16);

#[rustfmt::skip]
const NVVM: &[NvvmRow] = &[
    (BuiltinOp::Add, "add", "i", ObjectType::S32, 207), (BuiltinOp::Add, "add", "ll", ObjectType::S64, 210),
    (BuiltinOp::Add, "add", "f", ObjectType::F32, 213), (BuiltinOp::Add, "add", "d", ObjectType::F64, 216),
    (BuiltinOp::Exchange, "xchg", "i", ObjectType::S32, 219), (BuiltinOp::Exchange, "xchg", "ll", ObjectType::S64, 222),
    (BuiltinOp::Exchange, "xchg", "128", ObjectType::B128, 225),
    (BuiltinOp::Min, "min", "i", ObjectType::S32, 228), (BuiltinOp::Min, "min", "ll", ObjectType::S64, 231),
    (BuiltinOp::Min, "min", "ui", ObjectType::U32, 234), (BuiltinOp::Min, "min", "ull", ObjectType::U64, 237),
    (BuiltinOp::Max, "max", "i", ObjectType::S32, 240), (BuiltinOp::Max, "max", "ll", ObjectType::S64, 243),
    (BuiltinOp::Max, "max", "ui", ObjectType::U32, 246), (BuiltinOp::Max, "max", "ull", ObjectType::U64, 249),
    (BuiltinOp::Inc, "inc", "ui", ObjectType::U32, 252), (BuiltinOp::Dec, "dec", "ui", ObjectType::U32, 255),
    (BuiltinOp::And, "and", "i", ObjectType::S32, 258), (BuiltinOp::And, "and", "ll", ObjectType::S64, 261),
    (BuiltinOp::Or, "or", "i", ObjectType::S32, 264), (BuiltinOp::Or, "or", "ll", ObjectType::S64, 267),
    (BuiltinOp::Xor, "xor", "i", ObjectType::S32, 270), (BuiltinOp::Xor, "xor", "ll", ObjectType::S64, 273),
    (BuiltinOp::CompareExchange, "cas", "i", ObjectType::S32, 370), (BuiltinOp::CompareExchange, "cas", "ll", ObjectType::S64, 373),
    // This type has a name for only one scope. With three, the range 370 to 379 would be too short by two
    // identifiers.
    (BuiltinOp::CompareExchange, "cas", "us", ObjectType::U16, 376),
    (BuiltinOp::CompareExchange, "cas", "128", ObjectType::B128, 377),
    (BuiltinOp::Add, "add", "f2", ObjectType::F16x2, 459), (BuiltinOp::Add, "add", "f4", ObjectType::F16x4, 466),
];

/// Returns the scopes for which a row of [`NVVM`] has names.
fn reaches(row: &NvvmRow) -> &'static [NameScope] {
    if row.3 == ObjectType::U16 { &[NameScope::Device] } else { NameScope::ALL }
}

/// Widths in bytes for which the names of an operation have an identifier, in order of identifier.
const fn identified_widths(op: BuiltinOp) -> &'static [u32] {
    match op {
        BuiltinOp::Load | BuiltinOp::Store => &[1, 2, 4, 8, 16],
        BuiltinOp::Exchange => &[4, 8, 16],
        BuiltinOp::CompareExchange => &[2, 4, 8, 16],
        _ => &[4, 8],
    }
}

/// Type classes for which the names of an operation have a letter, in order of identifier.
const fn name_classes(op: BuiltinOp) -> &'static [TypeClass] {
    match op {
        BuiltinOp::Add | BuiltinOp::Sub | BuiltinOp::Max | BuiltinOp::Min => {
            &[TypeClass::Unsigned, TypeClass::Signed, TypeClass::Float]
        }
        _ => &[TypeClass::Bits],
    }
}

impl Builtin {
    /// Returns every builtin with an identifier, every builtin whose arguments give the type, and the
    /// functions of CUDA C++. A dialect may refuse some of them. Names with a width that only the current
    /// compiler supports are omitted.
    pub fn all() -> Vec<Builtin> {
        let mut all = Vec::new();
        for row in NVVM {
            all.extend(reaches(row).iter().map(|reach| Builtin::Nvvm {
                op: row.0,
                reach: *reach,
                ty: row.3,
            }));
        }
        for op in BuiltinOp::NV.iter().copied() {
            all.push(Builtin::Nv { op, form: NameForm::Generic });
            if !op.is_fetch() {
                all.push(Builtin::Nv { op, form: NameForm::Value });
            }
            for bytes in identified_widths(op).iter().copied() {
                all.extend(
                    name_classes(op)
                        .iter()
                        .map(|class| Builtin::Nv { op, form: NameForm::Sized { bytes, class: *class } }),
                );
            }
        }
        all.push(Builtin::ThreadFence);
        for op in [
            BuiltinOp::Add,
            BuiltinOp::Sub,
            BuiltinOp::Exchange,
            BuiltinOp::Min,
            BuiltinOp::Max,
            BuiltinOp::Inc,
            BuiltinOp::Dec,
            BuiltinOp::CompareExchange,
            BuiltinOp::And,
            BuiltinOp::Or,
            BuiltinOp::Xor,
        ] {
            all.extend(NameScope::ALL.iter().map(|reach| Builtin::Cuda { op, reach: *reach }));
        }
        all.extend(NameScope::ALL.iter().map(|reach| Builtin::CudaFence { reach: *reach }));
        all
    }

    pub fn id(self) -> Option<u16> {
        match self {
            Builtin::Nvvm { op, reach, ty } => {
                let row = NVVM.iter().find(|row| (row.0, row.3) == (op, ty))?;
                let place = reaches(row).iter().position(|r| *r == reach)?;
                Some(row.4 + u16::try_from(place).ok()?)
            }
            Builtin::Nv { op, form } => {
                let first = op.row().nv?.first;
                let has_generic = usize::from(!op.is_fetch());
                let place = match form {
                    NameForm::Generic if has_generic == 1 => 0,
                    NameForm::Generic | NameForm::Value => return None,
                    NameForm::Sized { bytes, class } => {
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

    pub fn of_id(id: u16) -> Option<Builtin> {
        Builtin::all().into_iter().find(|b| b.id() == Some(id))
    }

    /// Returns the name that the compiler's front end constructs for an operation on objects of a type.
    /// Source: \[NVVM\], Name Construction Algorithm.
    ///
    /// # Errors
    /// Diagnostic 3748 for a fetch operation on objects of other than 4 or 8 bytes. Diagnostic 852 for an
    /// operation that has no `__nv_atomic_*` names. Diagnostic 3745 for a type class that the operation does
    /// not support.
    pub fn sized(op: BuiltinOp, ty: ObjectType) -> Result<Builtin, BuiltinRefusal> {
        if op.row().nv.is_none() {
            let message = format!("no `__nv_atomic_*` builtin implements the operation `{}`", op.ptx());
            return diagnose(852, message, "use `atomicInc` or `atomicDec`");
        }
        if op.is_fetch() && !matches!(ty.bytes(), 4 | 8) {
            let message = format!("a fetch operation on `{ty}`, which has {} bytes", ty.bytes());
            return diagnose(3748, message, "a fetch operation supports objects of 4 or 8 bytes");
        }
        let class = if name_classes(op) == [TypeClass::Bits] { TypeClass::Bits } else { ty.class() };
        if !name_classes(op).contains(&class) {
            let message = format!("the atomic `{}` does not support the type `{ty}`", op.ptx());
            return diagnose(3745, message, "use an integer type, `f32` or `f64`");
        }
        Ok(Builtin::Nv { op, form: NameForm::Sized { bytes: ty.bytes(), class } })
    }

    /// Type of the object, if the name fixes it.
    pub fn object_type(self) -> Option<ObjectType> {
        match self {
            Builtin::Nvvm { ty, .. } => Some(ty),
            Builtin::Nv { form: NameForm::Sized { bytes, class }, .. } => ObjectType::of(class, bytes),
            _ => None,
        }
    }

    /// Operation of the builtin; `None` for a fence.
    pub const fn op(self) -> Option<BuiltinOp> {
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
                write!(f, "__nv_atomic_{}", op.row().nv.map_or(op.ptx(), |nv| nv.name))?;
                match form {
                    NameForm::Generic => Ok(()),
                    NameForm::Value => f.write_str("_n"),
                    NameForm::Sized { bytes, class: TypeClass::Bits } => write!(f, "_{bytes}"),
                    NameForm::Sized { bytes, class } => write!(f, "_{bytes}_{}", class.letter()),
                }
            }
            Builtin::ThreadFence => f.write_str("__nv_atomic_thread_fence"),
            Builtin::Cuda { op, reach } => {
                write!(f, "atomic{}{}", op.row().cuda.unwrap_or(op.ptx()), reach.suffix())
            }
            Builtin::CudaFence { reach } => write!(f, "__threadfence{}", reach.suffix()),
        }
    }
}

impl FromStr for Builtin {
    type Err = BuiltinRefusal;

    fn from_str(name: &str) -> Result<Builtin, BuiltinRefusal> {
        let all = Builtin::all();
        if let Some(found) = all.iter().find(|b| b.to_string() == name) {
            return Ok(*found);
        }
        if let Some(found) = other_width(name)? {
            return Ok(found);
        }
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        refuse(
            format!("unknown builtin `{}`", excerpt(name)),
            format!(
                "the nearest known one is `{}`",
                nearest(name, names.iter().map(String::as_str)).unwrap_or_default()
            ),
        )
    }
}

/// Parses a well-formed name of the `__nv_atomic_*` family whose width has no identifier.
///
/// # Errors
/// Diagnostic 3767 for a width that no object type has.
fn other_width(name: &str) -> Result<Option<Builtin>, BuiltinRefusal> {
    let Some(rest) = name.strip_prefix("__nv_atomic_") else { return Ok(None) };
    for op in BuiltinOp::NV.iter().copied() {
        let Some(suffix) = op.row().nv.and_then(|nv| rest.strip_prefix(nv.name)?.strip_prefix('_')) else {
            continue;
        };
        for class in name_classes(op).iter().copied() {
            let width = match class {
                TypeClass::Bits => Some(suffix),
                class => suffix.strip_suffix(class.letter()).and_then(|s| s.strip_suffix('_')),
            };
            let Some(bytes) = width.filter(|w| w.bytes().all(|b| b.is_ascii_digit())) else { continue };
            let Ok(bytes) = bytes.parse::<u32>() else { continue };
            if ObjectType::unsigned(bytes).is_none() {
                let message = format!("`{name}` names an object of {bytes} bytes, which does not exist");
                return diagnose(3767, message, "the width is 1, 2, 4, 8 or 16 bytes");
            }
            if ObjectType::of(class, bytes).is_some() {
                return Ok(Some(Builtin::Nv { op, form: NameForm::Sized { bytes, class } }));
            }
        }
    }
    Ok(None)
}
