//! Checks of the modifiers of `atom` and `red`: syntax, legal combinations, and first architectures. Wording
//! and order of the checks are those of the vendor's assembler (release 13.5; 12.8 before sm_75):
//! data/README.md.

use super::form::{AtomicOp, AtomicSpace, Form, Modifiers};
use crate::arch::Arch;
use crate::kernel::order::{Scope, Semantics};
use crate::lower::since::Since;
use crate::lower::{LoweringRefusal, Target, illegal, mismatch, refuse, unsupported};
use crate::ptx::{PtxInstruction, Type};
use strum::VariantNames;

pub(super) struct Row {
    pub(super) op: AtomicOp,
    /// Types that the operation supports, in the order in which the assembler's messages list them. Each has
    /// the first architecture and the first PTX version that support it.
    pub(super) types: &'static [(Type, Since)],
}

/// Every legal pair of operation and type. Source: [PTX] atom, target notes; [TOOLS].
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row { op: AtomicOp::Add, types: &[
        (Type::U32, OLD), (Type::S32, OLD), (Type::U64, OLD), (Type::F64, (60, (5, 0))),
        (Type::F16, (70, (6, 3))), (Type::F16x2, (60, (6, 2))), (Type::F32, OLD), (Type::Bf16, (90, (7, 8))),
        (Type::Bf16x2, (90, (7, 8))),
    ] },
    Row { op: AtomicOp::Min, types: MIN_MAX },
    Row { op: AtomicOp::Max, types: MIN_MAX },
    Row { op: AtomicOp::Inc, types: &[(Type::U32, OLD)] },
    Row { op: AtomicOp::Dec, types: &[(Type::U32, OLD)] },
    Row { op: AtomicOp::And, types: BITWISE },
    Row { op: AtomicOp::Or, types: BITWISE },
    Row { op: AtomicOp::Xor, types: BITWISE },
    Row { op: AtomicOp::Exch, types: &[(Type::B32, OLD), (Type::B64, OLD), (Type::B128, (90, (8, 3)))] },
    Row { op: AtomicOp::Cas, types: &[
        (Type::B16, (70, (6, 3))), (Type::B32, OLD), (Type::B64, OLD), (Type::B128, (90, (8, 3))),
    ] },
];

/// First support of the oldest features: every architecture, in every PTX version that has the architecture.
const OLD: Since = (50, (2, 0));

const WIDE: Since = (50, (3, 1));

/// First support of vector atomics: sm_90, PTX 8.1. Minimum and maximum of halves exist only as vector
/// atomics.
const VECTORS: Since = (90, (8, 1));

const MIN_MAX: &[(Type, Since)] = &[
    (Type::U32, OLD),
    (Type::S32, OLD),
    (Type::U64, WIDE),
    (Type::S64, WIDE),
    (Type::F16, VECTORS),
    (Type::F16x2, VECTORS),
    (Type::Bf16, VECTORS),
    (Type::Bf16x2, VECTORS),
];

const BITWISE: &[(Type, Since)] = &[(Type::B32, OLD), (Type::B64, WIDE)];

fn types(op: AtomicOp) -> &'static [(Type, Since)] {
    ROWS.iter().find(|row| row.op == op).map_or(&[], |row| row.types)
}

/// True for 16-bit floats and pairs of them. These types require `.noftz`, which keeps subnormals.
const fn half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

pub(super) fn of_vectors_alone(op: AtomicOp, ty: Type) -> bool {
    half(ty) && op != AtomicOp::Add
}

fn feature<T>(name: &str, since: u16) -> Result<T, LoweringRefusal> {
    unsupported(name, since, format!("lower it for sm_{since} or later"))
}

pub(super) fn unknown_modifier(name: &str) -> LoweringRefusal {
    let help = match name {
        "sub" => "PTX has no atomic subtraction: negate the operand and use .add".into(),
        "seq_cst" | "sc" => "write fence.sc before the instruction and use .acq_rel".into(),
        _ => {
            let names = AtomicOp::VARIANTS;
            format!("legal operations are .{}", names.join(", ."))
        }
    };
    LoweringRefusal { message: format!("Unknown modifier '.{name}'"), help }
}

/// Name of an instruction in messages: `atom.add.f16.shared`.
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

impl<'t> Modifiers<'t> {
    /// Sorts the modifiers of an instruction by kind.
    ///
    /// # Errors
    /// The assembler's message for an unknown modifier, or for a missing operation or type.
    pub(super) fn read(
        instruction: &PtxInstruction<'t>,
        arch: Arch,
    ) -> Result<Modifiers<'t>, LoweringRefusal> {
        let mut found = Modifiers::default();
        for modifier in &instruction.modifiers {
            let op = modifier.parse().ok();
            let ty = Type::from_name(modifier);
            match *modifier {
                _ if op.is_some() => {
                    if found.op.keep_first(op) {
                        found.double("operation", "Multiple instruction post-operation flags set".into());
                    }
                }
                _ if ty.is_some() => {
                    if found.ty.keep_first(ty) {
                        let opcode = instruction.opcode;
                        let message = format!("Unexpected instruction types specified for '{opcode}'");
                        found.double("type", message);
                    }
                }
                sem @ ("relaxed" | "acquire" | "release" | "acq_rel" | "sc" | "weak" | "volatile"
                | "mmio") => {
                    if found.sem.keep_first(Some(sem)) {
                        found.double("semantics", format!("Duplicate .{sem} modifier"));
                    }
                }
                scope @ ("cta" | "cluster" | "gpu" | "sys") => {
                    if found.scope.keep_first(Some(scope)) {
                        found.double("scope", "Multiple scope modifiers specified".into());
                    }
                }
                space @ ("shared" | "shared::cta" | "shared::cluster" | "global") => {
                    let space = match space {
                        "global" => AtomicSpace::Global,
                        "shared::cluster" => AtomicSpace::Cluster,
                        _ => AtomicSpace::Shared,
                    };
                    if found.space.keep_first(Some(space)) {
                        found.double("state space", "Multiple state spaces specified".into());
                    }
                }
                "local" | "const" | "param" => {
                    let message = format!("State space incorrect for instruction '{}'", instruction.opcode);
                    return refuse(message, "atomics exist on .global, .shared and generic addresses");
                }
                "noftz" => found.noftz = true,
                "v2" | "v4" | "v8" => {
                    if found.vector.keep_first(Some(modifier)) {
                        found.double("vector modifier", "Multiple vector modifiers specified".into());
                    }
                }
                "L2::cache_hint" => found.hinted = true,
                // For a `.b128` type before sm_70, the assembler reports the type, not the unknown modifier.
                _ if arch.number() < 70 && instruction.modifiers.contains(&"b128") => {
                    return wide_type();
                }
                unknown => return Err(unknown_modifier(unknown)),
            }
        }
        Ok(found)
    }

    fn double(&mut self, kind: &'static str, message: String) {
        self.doubled.get_or_insert((kind, message));
    }
}

trait First<T> {
    /// Stores the value if none is stored yet. Returns true if there already was one.
    fn keep_first(&mut self, value: Option<T>) -> bool;
}

impl<T> First<T> for Option<T> {
    fn keep_first(&mut self, value: Option<T>) -> bool {
        let set = self.is_some();
        if !set {
            *self = value;
        }
        set
    }
}

impl Form {
    /// Reads the modifiers of an instruction, and checks if the assembler accepts them for `arch`.
    ///
    /// # Errors
    /// The assembler's message.
    pub(super) fn read(
        instruction: &PtxInstruction<'_>,
        arch: Arch,
        target: Target,
    ) -> Result<Form, LoweringRefusal> {
        let modifiers = Modifiers::read(instruction, arch)?;
        let red = instruction.opcode == "red";
        let (op, ty) = check(&modifiers, red, target)?;
        let lanes = modifiers.vector.and_then(|v| v.strip_prefix('v')?.parse().ok());
        Ok(Form {
            red,
            op,
            ty,
            // A `volatile` access has relaxed order, as an access without a memory order does.
            sem: modifiers.sem.and_then(|name| name.parse().ok()).unwrap_or(Semantics::Relaxed),
            scope: modifiers.scope.and_then(|name| name.parse().ok()).unwrap_or(Scope::Gpu),
            space: modifiers.space.unwrap_or(AtomicSpace::Generic),
            noftz: modifiers.noftz,
            hinted: modifiers.hinted,
            lanes: lanes.unwrap_or(1),
        })
    }
}

/// Checks the combination of all modifiers.
///
/// # Errors
/// The first message that the assembler prints for the target.
fn check(modifiers: &Modifiers<'_>, red: bool, target: Target) -> Result<(AtomicOp, Type), LoweringRefusal> {
    let number = target.number;
    let opcode = if red { "red" } else { "atom" };
    if let Some((kind, message)) = &modifiers.doubled {
        return refuse(message.as_str(), format!("write only one {kind}"));
    }
    early_features(modifiers, target)?;
    let space = modifiers.space.unwrap_or(AtomicSpace::Generic);
    // For `.b128` before sm_90, the assembler reports the architecture before `.mmio`.
    let there = modifiers.ty != Some(Type::B128) || number >= 90;
    if let (Some("mmio"), AtomicSpace::Shared | AtomicSpace::Cluster, true) = (modifiers.sem, space, there) {
        let message = format!("Modifier '.mmio' cannot be applied to '{}' space", space_name(space));
        return refuse(message, "use .mmio only with .global and generic addresses");
    }
    hint(modifiers, space, opcode, target)?;
    let (op, ty) = operation_and_type(modifiers, opcode, number)?;
    if modifiers.vector.is_some() && !half(ty) && ty != Type::F32 {
        let message = format!("Vector qualifier is not allowed for instruction '{opcode}'");
        return refuse(
            message,
            "vector types are .f32, .f16, .f16x2, .bf16 and .bf16x2; for others use one instruction per element",
        );
    }
    if red && op == AtomicOp::Exch {
        let message = "Illegal operation '.exch' for instruction 'red'";
        return refuse(message, "write atom.exch with the destination _, or a store");
    }
    if half(ty) && !modifiers.noftz {
        return refuse(
            format!("'.noftz' modifier required for instruction '{opcode}' with type '.{}'", ty.name()),
            format!("write {opcode}.{}.noftz.{}", op.name(), ty.name()),
        );
    }
    let Some((_, since)) = types(op).iter().find(|(t, _)| *t == ty) else {
        return wrong_type(op, ty, opcode, number);
    };
    if modifiers.noftz && ty == Type::F32 {
        target.needs(&format!("Feature '{opcode} with .noftz and .f32'"), (90, (9, 4)), "")?;
    }
    let name = full_name(opcode, op, ty, space);
    let alone = of_vectors_alone(op, ty);
    let help = match alone {
        true => {
            "only vectors in global memory have this operation; elsewhere write a loop around atom.cas".into()
        }
        false => format!("lower it for sm_{} or later, or write a loop around {opcode}.cas", since.0),
    };
    target.needs(&format!("Instruction '{name}'"), *since, &help)?;
    match modifiers.vector {
        Some(vector) => check_vector(vector, op, ty, space, opcode, target)?,
        None if alone => return refuse(format!("Vector modifier required for instruction '{name}'"), help),
        None => {}
    }
    order(modifiers, red, opcode, target)?;
    Ok((op, ty))
}

fn check_vector(
    vector: &str,
    op: AtomicOp,
    ty: Type,
    space: AtomicSpace,
    opcode: &str,
    target: Target,
) -> Result<(), LoweringRefusal> {
    let feature = format!("{opcode} instruction with vector types");
    let help = "use one scalar instruction per element; a vector is also atomic only in each element";
    target.needs(&format!("Feature '{feature}'"), VECTORS, help)?;
    if matches!(space, AtomicSpace::Shared | AtomicSpace::Cluster) {
        return refuse(format!("State space incorrect for feature '{feature}'"), help);
    }
    if vector == "v8" && ty.bits() == 32 {
        let (ty, op) = (ty.name(), op.name());
        let message = format!(
            "Only .v2 or .v4 vector modifier supported with type .{ty} on .{op} operation for {feature}"
        );
        return refuse(message, "an access has at most 16 bytes: write two instructions with .v4");
    }
    Ok(())
}

/// Checks the features that the assembler already checks while it reads a modifier.
fn early_features(modifiers: &Modifiers<'_>, target: Target) -> Result<(), LoweringRefusal> {
    let number = target.number;
    if modifiers.ty == Some(Type::B128) && number < 70 {
        return wide_type();
    }
    if let Some(sem @ ("weak" | "mmio")) = modifiers.sem {
        target.has(&format!(".{sem}"), "")?;
    }
    match modifiers.ty {
        // The earlier release of the assembler (12.8) names sm_75 in this message.
        Some(Type::Bf16x2) if number < 75 => return feature(".bf16x2", 75),
        Some(ty @ (Type::Bf16 | Type::Bf16x2)) => target.has(&format!(".{}", ty.name()), "")?,
        _ => {}
    }
    match modifiers.space {
        Some(AtomicSpace::Cluster) => target.has("::cluster", ""),
        _ => Ok(()),
    }
}

pub(super) fn wide_type<T>() -> Result<T, LoweringRefusal> {
    feature("Type .b128", 70)
}

fn hint(
    modifiers: &Modifiers<'_>,
    space: AtomicSpace,
    opcode: &str,
    target: Target,
) -> Result<(), LoweringRefusal> {
    if !modifiers.hinted {
        return Ok(());
    }
    target.has("Modifier '.L2::cache_hint'", "omit the modifier: it is only a hint")?;
    if matches!(space, AtomicSpace::Shared | AtomicSpace::Cluster) {
        let message = format!(
            "Modifier '.L2::cache_hint' cannot be applied to '.shared' space for instruction '{opcode}'"
        );
        return refuse(message, "omit the modifier: shared memory has no cache");
    }
    Ok(())
}

fn operation_and_type(
    modifiers: &Modifiers<'_>,
    opcode: &str,
    number: u16,
) -> Result<(AtomicOp, Type), LoweringRefusal> {
    let red = opcode == "red";
    let Some(op) = modifiers.op else {
        let names = AtomicOp::VARIANTS;
        let message = format!("Illegal operation '' for instruction '{opcode}'");
        return refuse(message, format!("write the operation: .{}", names.join(", .")));
    };
    if red && op == AtomicOp::Cas {
        return illegal("cas", "red", "write atom.cas with the destination _");
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
        (_, Type::B16) => mismatch(opcode, listed()),
        _ => Ok(()),
    }?;
    // On `.f32`, `.noftz` is not supported before sm_75.
    if modifiers.noftz && !half(ty) && (ty != Type::F32 || number < 75) {
        let help = "use .noftz only with .f16, .f16x2, .bf16, .bf16x2, and from sm_90 on with .f32";
        return illegal("noftz", opcode, help);
    }
    Ok((op, ty))
}

fn unexpected_types(opcode: &str) -> String {
    format!("Unexpected instruction types specified for '{opcode}'")
}

fn wrong_type<T>(op: AtomicOp, ty: Type, opcode: &str, number: u16) -> Result<T, LoweringRefusal> {
    let required = types(op).iter().map(|(ty, _)| match ty {
        // The earlier release of the assembler (12.8) prints these types without a dot.
        Type::F16 | Type::F16x2 if number < 75 && op == AtomicOp::Add => ty.name().into(),
        ty => format!(".{}", ty.name()),
    });
    let required = required.collect::<Vec<_>>().join(" or ");
    let message = format!("Operation .{} requires {required} type for instruction '{opcode}'", op.name());
    let same_bits = types(op).iter().find(|(t, _)| t.bits() == ty.bits() && !of_vectors_alone(op, *t));
    let help = match same_bits {
        Some((legal, _)) if half(*legal) => {
            format!("for {} bits, use {opcode}.{}.noftz.{}", ty.bits(), op.name(), legal.name())
        }
        Some((legal, _)) => {
            format!("for {} bits, use {opcode}.{}.{}", ty.bits(), op.name(), legal.name())
        }
        None => format!("for {} bits, write a loop around atom.cas", ty.bits()),
    };
    refuse(message, help)
}

fn order(modifiers: &Modifiers<'_>, red: bool, opcode: &str, target: Target) -> Result<(), LoweringRefusal> {
    let legal: &[&str] =
        if red { &["relaxed", "release"] } else { &["relaxed", "acquire", "release", "acq_rel"] };
    if let Some(sem) = modifiers.sem {
        target.has(&format!(".{sem}"), "")?;
        if !legal.contains(&sem) {
            let help = format!("{opcode} takes .{}", legal.join(", ."));
            return illegal(sem, opcode, help);
        }
    }
    if modifiers.scope == Some("cluster") {
        target.has(".cluster scope", "")?;
    }
    match modifiers.scope {
        Some(_) => target.has("scopes on atomic operations", ""),
        None => Ok(()),
    }
}
