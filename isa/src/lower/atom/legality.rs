//! Which modifiers an assembler takes together, and from which architecture on. Wording and order of the
//! checks are those of the vendor's assembler (release 13.5; 12.8 before sm_75): data/README.md.

use super::form::{AtomicOp, AtomicSpace, Modifiers};
use crate::arch::Arch;
use crate::lower::Refusal;
use crate::ptx::Type;
use strum::VariantNames;

/// An operation on a type that `atom` has, and from where on.
pub(super) struct Row {
    pub(super) op: AtomicOp,
    /// Types in the order in which the assembler names them, each with the first architecture that has the
    /// operation on it; `None` for one that exists for vectors alone.
    pub(super) types: &'static [(Type, Option<u16>)],
}

/// Every legal pair of operation and type. Source: [PTX] atom, target notes; [TOOLS].
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row { op: AtomicOp::Add, types: &[
        (Type::U32, Some(50)), (Type::S32, Some(50)), (Type::U64, Some(50)), (Type::F64, Some(60)),
        (Type::F16, Some(70)), (Type::F16x2, Some(60)), (Type::F32, Some(50)), (Type::Bf16, Some(90)),
        (Type::Bf16x2, Some(90)),
    ] },
    Row { op: AtomicOp::Min, types: MIN_MAX },
    Row { op: AtomicOp::Max, types: MIN_MAX },
    Row { op: AtomicOp::Inc, types: &[(Type::U32, Some(50))] },
    Row { op: AtomicOp::Dec, types: &[(Type::U32, Some(50))] },
    Row { op: AtomicOp::And, types: BITWISE },
    Row { op: AtomicOp::Or, types: BITWISE },
    Row { op: AtomicOp::Xor, types: BITWISE },
    Row { op: AtomicOp::Exch, types: &[(Type::B32, Some(50)), (Type::B64, Some(50)), (Type::B128, Some(90))] },
    Row { op: AtomicOp::Cas, types: &[
        (Type::B16, Some(70)), (Type::B32, Some(50)), (Type::B64, Some(50)), (Type::B128, Some(90)),
    ] },
];

const MIN_MAX: &[(Type, Option<u16>)] = &[
    (Type::U32, Some(50)),
    (Type::S32, Some(50)),
    (Type::U64, Some(50)),
    (Type::S64, Some(50)),
    (Type::F16, None),
    (Type::F16x2, None),
    (Type::Bf16, None),
    (Type::Bf16x2, None),
];

const BITWISE: &[(Type, Option<u16>)] = &[(Type::B32, Some(50)), (Type::B64, Some(50))];

/// Types of an operation; none for one without a row.
fn types(op: AtomicOp) -> &'static [(Type, Option<u16>)] {
    ROWS.iter().find(|row| row.op == op).map_or(&[], |row| row.types)
}

/// Types whose results are rounded from halves: `.noftz` must say that subnormals stay.
const fn half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

pub(super) fn refuse<T>(message: String, help: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { message, help: help.into() })
}

fn feature<T>(name: &str, since: u16) -> Result<T, Refusal> {
    refuse(
        format!("Feature '{name}' requires .target sm_{since} or higher"),
        format!("lower it for sm_{since} or later"),
    )
}

pub(super) fn arguments_mismatch<T>(opcode: &str, help: impl Into<String>) -> Result<T, Refusal> {
    refuse(format!("Arguments mismatch for instruction '{opcode}'"), help)
}

/// The refusal of a modifier that does not exist.
pub(super) fn unknown_modifier(name: &str) -> Refusal {
    let help = match name {
        "sub" => "there is no subtraction: negate the operand and use .add".into(),
        "seq_cst" | "sc" => "put fence.sc before it and use .acq_rel".into(),
        _ => {
            let names = AtomicOp::VARIANTS;
            format!("operations are .{}", names.join(", ."))
        }
    };
    Refusal { message: format!("Unknown modifier '.{name}'"), help }
}

/// What an instruction is called in messages: `atom.add.f16.shared`.
fn full_name(opcode: &str, op: AtomicOp, ty: Type, space: AtomicSpace) -> String {
    format!("{opcode}.{}.{}{}", op.name(), ty.name(), space_name(space))
}

fn space_name(space: AtomicSpace) -> &'static str {
    match space {
        AtomicSpace::Shared => ".shared",
        AtomicSpace::Cluster => ".shared::cluster",
        AtomicSpace::Global => ".global",
        AtomicSpace::Generic => " with generic state space",
    }
}

/// Looks at all modifiers together.
///
/// # Errors
/// The first complaint of the assembler for `arch`.
pub(super) fn check(modifiers: &Modifiers<'_>, red: bool, arch: Arch) -> Result<(AtomicOp, Type), Refusal> {
    let number = arch.number();
    let opcode = if red { "red" } else { "atom" };
    if let Some((kind, message)) = &modifiers.doubled {
        return refuse(message.clone(), format!("one {kind} is enough"));
    }
    early_features(modifiers, number)?;
    let space = modifiers.space.unwrap_or(AtomicSpace::Generic);
    // Of .b128 the architecture comes first.
    let there = modifiers.ty != Some(Type::B128) || number >= 90;
    if let (Some("mmio"), AtomicSpace::Shared | AtomicSpace::Cluster, true) = (modifiers.sem, space, there) {
        return refuse(
            format!("Modifier '.mmio' cannot be applied to '{}' space", space_name(space)),
            "it is for .global and generic addresses",
        );
    }
    hint(modifiers, space, opcode, number)?;
    let (op, ty) = operation_and_type(modifiers, opcode, number)?;
    if red && op == AtomicOp::Exch {
        return refuse(
            "Illegal operation '.exch' for instruction 'red'".into(),
            "write atom.exch with the destination _, or a store",
        );
    }
    if half(ty) && !modifiers.noftz {
        return refuse(
            format!("'.noftz' modifier required for instruction '{opcode}' with type '.{}'", ty.name()),
            format!("write {opcode}.{}.noftz.{}", op.name(), ty.name()),
        );
    }
    if let Some(vector) = modifiers.vector {
        return refuse(
            format!("Vector modifier '.{vector}' is not supported for instruction '{opcode}'"),
            "use one scalar instruction per element: only each element is atomic anyway",
        );
    }
    let Some((_, since)) = types(op).iter().find(|(t, _)| *t == ty) else {
        return wrong_type(op, ty, opcode, number);
    };
    if modifiers.noftz && ty == Type::F32 && number < 90 {
        return feature(&format!("{opcode} with .noftz and .f32"), 90);
    }
    let name = full_name(opcode, op, ty, space);
    match since {
        Some(since) if number >= *since => {}
        Some(since) => {
            return refuse(
                format!("Instruction '{name}' requires .target sm_{since} or higher"),
                format!("lower it for sm_{since} or later, or write a loop around {opcode}.cas"),
            );
        }
        None if number < 90 => {
            return refuse(
                format!("Instruction '{name}' requires .target sm_90 or higher"),
                "there it exists for vectors in global memory; elsewhere write a loop around atom.cas",
            );
        }
        None => {
            return refuse(
                format!("Vector modifier required for instruction '{name}'"),
                "it exists for vectors in global memory; elsewhere write a loop around atom.cas",
            );
        }
    }
    order(modifiers, red, opcode, number)?;
    Ok((op, ty))
}

/// Features that are looked at where a modifier is read.
fn early_features(modifiers: &Modifiers<'_>, number: u16) -> Result<(), Refusal> {
    if modifiers.ty == Some(Type::B128) && number < 70 {
        return wide_type();
    }
    if let Some(sem @ ("weak" | "mmio")) = modifiers.sem
        && number < 70
    {
        return feature(&format!(".{sem}"), 70);
    }
    match modifiers.ty {
        Some(Type::Bf16) if number < 80 => return feature(".bf16", 80),
        // The earlier release counts conversions of sm_75 in.
        Some(Type::Bf16x2) if number < 75 => return feature(".bf16x2", 75),
        Some(Type::Bf16x2) if number < 80 => return feature(".bf16x2", 80),
        _ => {}
    }
    if modifiers.space == Some(AtomicSpace::Cluster) && number < 90 {
        return feature("::cluster", 90);
    }
    Ok(())
}

/// `.b128` where it does not exist.
pub(super) fn wide_type<T>() -> Result<T, Refusal> {
    feature("Type .b128", 70)
}

/// `.L2::cache_hint`
fn hint(modifiers: &Modifiers<'_>, space: AtomicSpace, opcode: &str, number: u16) -> Result<(), Refusal> {
    if !modifiers.hinted {
        return Ok(());
    }
    if number < 80 {
        return refuse(
            "Modifier '.L2::cache_hint' requires .target sm_80 or higher".into(),
            "drop it: it is a hint",
        );
    }
    if matches!(space, AtomicSpace::Shared | AtomicSpace::Cluster) {
        let message = format!(
            "Modifier '.L2::cache_hint' cannot be applied to '.shared' space for instruction '{opcode}'"
        );
        return refuse(message, "drop it: shared memory has no cache");
    }
    Ok(())
}

fn operation_and_type(
    modifiers: &Modifiers<'_>,
    opcode: &str,
    number: u16,
) -> Result<(AtomicOp, Type), Refusal> {
    let red = opcode == "red";
    let Some(op) = modifiers.op else {
        let names = AtomicOp::VARIANTS;
        return refuse(
            format!("Illegal operation '' for instruction '{opcode}'"),
            format!("say which: .{}", names.join(", .")),
        );
    };
    if red && op == AtomicOp::Cas {
        return refuse(
            "Illegal modifier '.cas' for instruction 'red'".into(),
            "write atom.cas with the destination _",
        );
    }
    let listed = || {
        let names: Vec<_> = types(op).iter().map(|(ty, _)| ty.name()).collect();
        format!("{opcode}.{} takes .{}", op.name(), names.join(", ."))
    };
    let unexpected = || refuse(unexpected_types(opcode), listed());
    let Some(ty) = modifiers.ty else {
        return refuse(unexpected_types(opcode), listed());
    };
    match (op, ty) {
        (_, Type::B8 | Type::U8 | Type::S8 | Type::U16 | Type::S16 | Type::Pred) => unexpected(),
        (_, Type::B16 | Type::B128) if red => unexpected(),
        (AtomicOp::Cas, Type::B16 | Type::B32 | Type::B64 | Type::B128) => Ok(()),
        (AtomicOp::Cas, _) => unexpected(),
        (_, Type::B16) => arguments_mismatch(opcode, listed()),
        _ => Ok(()),
    }?;
    // Where the earlier release assembles, .f32 does not have it.
    if modifiers.noftz && !half(ty) && (ty != Type::F32 || number < 75) {
        return refuse(
            format!("Illegal modifier '.noftz' for instruction '{opcode}'"),
            "it goes with .f16, .f16x2, .bf16, .bf16x2, and from sm_90 on with .f32",
        );
    }
    Ok((op, ty))
}

fn unexpected_types(opcode: &str) -> String {
    format!("Unexpected instruction types specified for '{opcode}'")
}

/// The operation does not exist for the type.
fn wrong_type<T>(op: AtomicOp, ty: Type, opcode: &str, number: u16) -> Result<T, Refusal> {
    let required = types(op).iter().map(|(ty, _)| match ty {
        // As the earlier release prints them.
        Type::F16 | Type::F16x2 if number < 75 && op == AtomicOp::Add => ty.name().into(),
        ty => format!(".{}", ty.name()),
    });
    let required = required.collect::<Vec<_>>().join(" or ");
    let message = format!("Operation .{} requires {required} type for instruction '{opcode}'", op.name());
    let same_bits = types(op).iter().find(|(t, since)| t.bits() == ty.bits() && since.is_some());
    let help = match same_bits {
        Some((legal, _)) if half(*legal) => {
            format!("of {} bits there is {opcode}.{}.noftz.{}", ty.bits(), op.name(), legal.name())
        }
        Some((legal, _)) => {
            format!("of {} bits there is {opcode}.{}.{}", ty.bits(), op.name(), legal.name())
        }
        None => format!("of {} bits there is none: write a loop around atom.cas", ty.bits()),
    };
    refuse(message, help)
}

/// `.sem` and `.scope`
fn order(modifiers: &Modifiers<'_>, red: bool, opcode: &str, number: u16) -> Result<(), Refusal> {
    let legal: &[&str] =
        if red { &["relaxed", "release"] } else { &["relaxed", "acquire", "release", "acq_rel"] };
    match modifiers.sem {
        Some(sem) if number < 70 && sem != "volatile" => feature(&format!(".{sem}"), 70)?,
        Some(sem) if !legal.contains(&sem) => {
            let help = format!("{opcode} takes .{}", legal.join(", ."));
            return refuse(format!("Illegal modifier '.{sem}' for instruction '{opcode}'"), help);
        }
        _ => {}
    }
    match modifiers.scope {
        Some("cluster") if number < 90 => feature(".cluster scope", 90),
        Some(_) if number < 60 => feature("scopes on atomic operations", 60),
        _ => Ok(()),
    }
}
