//! Lowering of operations that complete transactions at an mbarrier object (bulk copies, `st.async`,
//! `red.async`), and of the instructions used with them (`mapa`, fences).

use super::form::older_features;
use crate::lower::code::{Code, Reg, emit};
use crate::lower::operand::{Reader, Word};
use crate::lower::{LoweringRefusal, Target, illegal, mismatch, refuse, unsupported};
use crate::ptx::{Operand, PtxInstruction, Type};

type Outcome = Result<(), LoweringRefusal>;

type Writer = fn(&Reader<'_, '_>, &[&str], &mut Code<'_>) -> Outcome;

const COMPLETION: &str = "mbarrier::complete_tx::bytes";

/// Emits the machine code of an instruction that this module handles. `None` for any other instruction.
pub(super) fn lower(reader: &Reader<'_, '_>, code: &mut Code<'_>) -> Option<Outcome> {
    let modifiers = reader.instruction.modifiers.as_slice();
    let old = code.number < 90;
    let (name, writer): (_, Writer) = match (reader.instruction.opcode, modifiers) {
        ("mapa", _) => ("mapa", map),
        ("fence", ["mbarrier_init", ..]) => ("fence.mbarrier_init", fence_init),
        ("fence", ["proxy", "async", ..]) => ("fence.proxy.async", fence_async),
        ("cp", ["async", "bulk", ..]) if old => ("cp.async.bulk", bulk_copy),
        ("cp", ["reduce", "async", "bulk", "shared::cluster" | "global", ..]) => {
            ("cp.reduce.async.bulk", bulk_copy)
        }
        ("cp", ["async", "bulk", "shared::cluster", "global", COMPLETION, "multicast::cluster"]) => {
            ("cp.async.bulk", bulk_copy)
        }
        // Copies with a cache hint are not supported.
        ("cp", ["async", "bulk", "shared::cta" | "shared::cluster", "global", COMPLETION])
        | ("cp", ["async", "bulk", "shared::cluster", "shared::cta", COMPLETION])
        | ("cp", ["async", "bulk", "global", "shared::cta", "bulk_group"])
        | ("cp", ["async", "bulk", "global", "shared::cta", "bulk_group", "cp_mask"]) => {
            ("cp.async.bulk", bulk_copy)
        }
        // Forms with `.release` store to global memory and signal no mbarrier object.
        ("st" | "red", ["async", rest @ ..])
            if rest.contains(&"release") && !rest.contains(&COMPLETION) && !old =>
        {
            return None;
        }
        ("st", ["async", ..]) => ("st.async", store),
        ("red", ["async", ..]) => ("red.async", reduce),
        _ => return None,
    };
    Some(legal(reader, name, code.target).and_then(|()| writer(reader, modifiers, code)))
}

/// Checks what the assembler checks before everything else.
fn legal(reader: &Reader<'_, '_>, name: &str, target: Target) -> Outcome {
    older_features(reader.instruction, target)?;
    types(reader.instruction, name)?;
    let (subject, version) = match name {
        "mapa" => ("Feature 'mapa'".into(), (7, 8)),
        "fence.mbarrier_init" => ("Feature '.op_restrict'".into(), (8, 0)),
        "fence.proxy.async" => ("Modifier '.async'".into(), (8, 0)),
        "st.async" | "red.async" => (format!("Feature '{name}'"), (8, 1)),
        _ => (format!("Feature '{name}'"), (8, 0)),
    };
    target.needs_version(&subject, version)?;
    if target.number < 90 {
        let help = "clusters, and copies that complete transactions, exist from sm_90 on";
        return unsupported(name, 90, help);
    }
    let modifiers = &reader.instruction.modifiers;
    match modifiers.iter().find(|m| matches!(**m, "cta" | "cluster")) {
        Some(scope) if modifiers.contains(&"release") && modifiers.contains(&COMPLETION) => refuse(
            format!("Illegal modifier '.{scope}' for instruction '{name}' with '.release'"),
            "an operation that signals an mbarrier object is .weak or .relaxed.cluster",
        ),
        _ => Ok(()),
    }
}

fn types(instruction: &PtxInstruction<'_>, name: &str) -> Outcome {
    let Some(ty) = instruction.modifiers.iter().find_map(|m| Type::from_name(m)) else { return Ok(()) };
    let word = matches!(ty.bits(), 32 | 64) && ty != Type::F16x2 && ty != Type::Bf16x2;
    let float = matches!(ty, Type::F32 | Type::F64);
    match name {
        "st.async" if !word => mismatch(name, "a value has 32 or 64 bits: write .b32 or .b64"),
        "red.async" if !word || float => refuse(
            format!("Unexpected instruction types specified for '{name}'"),
            "the type must be an integer: write .u32, .s32, .b32 or .u64",
        ),
        _ => Ok(()),
    }
}

/// Lowers `mapa[.shared::cluster].u32 d, a, rank`: replaces the rank in the address (spec 1.4).
fn map(reader: &Reader<'_, '_>, modifiers: &[&str], code: &mut Code<'_>) -> Outcome {
    let (generic, wide) = match modifiers {
        ["u32"] => (true, false),
        ["u64"] => (true, true),
        ["shared::cluster", "u32"] => (false, false),
        ["shared::cluster", "u64"] => (false, true),
        ["shared" | "shared::cta", ..] => {
            let message = "State space incorrect for instruction 'mapa', expected '::cluster'";
            return refuse(message, "write mapa.shared::cluster.u32");
        }
        _ => {
            return illegal(&modifiers.join("."), "mapa", "write mapa.shared::cluster.u32");
        }
    };
    let wrong = || {
        LoweringRefusal::mismatch("mapa", "write d, address, rank; d and address have the width of the type")
    };
    let bits = if wide { 64 } else { 32 };
    let [target, address, rank] = reader.instruction.operands.as_slice() else { return Err(wrong()) };
    let target = reader.register(target, bits).ok_or_else(wrong)?;
    let address_register = reader.register(address, bits);
    let rank = reader.word(rank).ok_or_else(wrong)?;
    let words = if wide { 2 } else { 1 };
    let low = match (address_register, address) {
        (Some(id), _) => code.registers(id, words),
        (None, Operand::Symbol { symbol, offset }) => {
            let address = reader.symbol(*symbol, *offset);
            let place = code.place(address)?;
            code.address_register(place)
        }
        _ => return Err(wrong()),
    };
    let rank = code.word(rank);
    let target = code.registers(target, words);
    emit!(code, "PRMT {target}, {rank}, 0x654, {low}");
    match (wide, generic, address_register) {
        (true, true, Some(_)) => emit!(code, "MOV {}, {}", target.high(), low.high()),
        (true, true, None) => emit!(code, "S2R {}, SR_SWINHI", target.high()),
        (true, false, _) => emit!(code, "MOV {}, RZ", target.high()),
        (false, ..) => {}
    }
    Ok(())
}

/// Lowers `fence.mbarrier_init.release.cluster`.
fn fence_init(_: &Reader<'_, '_>, modifiers: &[&str], code: &mut Code<'_>) -> Outcome {
    if !matches!(modifiers, [_, "release", "cluster"]) {
        let help = "write fence.mbarrier_init.release.cluster";
        return illegal(&modifiers.get(1..).unwrap_or(&[]).join("."), "fence.mbarrier_init", help);
    }
    emit!(code, "NOP");
    Ok(())
}

/// Lowers `fence.proxy.async[.space]`.
fn fence_async(_: &Reader<'_, '_>, modifiers: &[&str], code: &mut Code<'_>) -> Outcome {
    let view = match modifiers {
        [_, _] => "",
        [_, _, "shared::cta" | "shared::cluster"] => ".S",
        [_, _, "global"] => ".G",
        _ => {
            let rest = modifiers.get(2..).unwrap_or(&[]).join(".");
            let help =
                "use no further modifier than a state space: .shared::cta, .shared::cluster or .global";
            return illegal(&rest, "fence.proxy.async", help);
        }
    };
    emit!(code, "MEMBAR.ALL.CTA");
    emit!(code, "FENCE.VIEW.ASYNC{view}");
    Ok(())
}

/// Lowers bulk copies and reductions:
///
/// - `cp.async.bulk.shared.global.mbarrier::complete_tx::bytes [to], [from], bytes, [object]`
/// - the same with a source in shared memory
/// - `cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes`
/// - `cp.reduce.async.bulk`, with the operation and the type as last modifiers
/// - `.multicast::cluster` and `.cp_mask`, with a mask of CTAs or of bytes as last operand
///
/// Machine code takes all operands from uniform registers, so the lowered code loops over the lanes. Lanes
/// whose operands are equal share one copy if the destination is global memory.
fn bulk_copy(reader: &Reader<'_, '_>, modifiers: &[&str], code: &mut Code<'_>) -> Outcome {
    let (name, modifiers, reduction) = match modifiers {
        ["reduce", rest @ ..] => ("cp.reduce.async.bulk", rest, Some(reduction(rest)?)),
        _ => ("cp.async.bulk", modifiers, None),
    };
    let out = modifiers.get(2) == Some(&"global");
    let plain = reduction.is_none();
    let among = modifiers.get(3) == Some(&"shared::cta") && !out;
    let masked = matches!(modifiers.last(), Some(&("multicast::cluster" | "cp_mask")));
    let help = match (out, masked) {
        (true, false) => "write [global], [shared], bytes",
        (true, true) => "write [global], [shared], bytes, mask",
        (false, false) => "write [shared], [from], bytes, [object]",
        (false, true) => "write [shared], [from], bytes, [object], mask",
    };
    let wrong = || LoweringRefusal::mismatch(name, help);
    let (to, from, bytes, object, mask) = match reader.instruction.operands.as_slice() {
        [to, from, bytes] if out && !masked => (to, from, bytes, None, None),
        [to, from, bytes, mask] if out && masked => (to, from, bytes, None, Some(mask)),
        [to, from, bytes, object] if !out && !masked => (to, from, bytes, Some(object), None),
        [to, from, bytes, object, mask] if !out && masked => (to, from, bytes, Some(object), Some(mask)),
        _ => return Err(wrong()),
    };
    let to = reader.address(to, out).ok_or_else(wrong)?;
    let from = reader.address(from, !out && !among).ok_or_else(wrong)?;
    let bytes = reader.word(bytes).ok_or_else(wrong)?;
    let object = match object {
        Some(object) => Some(reader.address(object, false).ok_or_else(wrong)?),
        None => None,
    };
    let mask = match mask {
        Some(&Operand::Integer(mask)) if out => {
            let constant = code.scratch(1);
            code.set(constant, mask as u32 & 0xffff);
            Some(constant)
        }
        Some(mask) => {
            let id = reader.register(mask, 16).ok_or_else(wrong)?;
            Some(code.register(id))
        }
        None => None,
    };
    if out && masked && code.number < 100 {
        return unsupported(".cp_mask", 100, "before sm_100, bulk copies have no byte mask");
    }
    let lanes = code.all_wait();
    let size = code.frame.uniform(1);
    let (source, target) = (code.frame.uniform(2), code.frame.uniform(2));
    let mut operands = Vec::new();
    let mut uniform = |to: u8, from: Reg| operands.push((format!("UR{to}"), from));
    match (bytes, mask) {
        (Word::Constant(bytes), Some(mask)) => {
            let units = code.scratch(1);
            emit!(code, "MOV {units}, {:#x}", bytes >> 4 & 0xffff);
            emit!(code, "PRMT {units}, {units}, 0x5410, {mask}");
            uniform(size, units);
        }
        (Word::Constant(bytes), None) => emit!(code, "UMOV UR{size}, {:#x}", bytes >> 4 & 0xffff),
        (Word::Register(id), mask) => {
            let (bytes, units) = (code.register(id), code.scratch(1));
            emit!(code, "SHF.R.U32.HI {units}, RZ, 0x4, {bytes}");
            let mask = mask.unwrap_or(Reg::RZ);
            emit!(code, "PRMT {units}, {units}, 0x5410, {mask}");
            uniform(size, units);
        }
    }
    if out || among {
        let from = code.place(from)?;
        uniform(source, code.address_register(from));
    } else {
        let from = code.global_address(from)?;
        uniform(source, from);
        uniform(source + 1, from.high());
    }
    if let Some(object) = object {
        let (to, object) = (code.place(to)?, code.place(object)?);
        let (to, object) = (code.address_register(to), code.address_register(object));
        uniform(target + 1, object);
        uniform(target, to);
    } else {
        let to = code.global_address(to)?;
        uniform(target, to);
        uniform(target + 1, to.high());
    }
    let way = if out {
        "G.S"
    } else if among {
        "S.S"
    } else {
        "S.G"
    };
    let what = match (reduction, masked) {
        (Some(reduction), _) => format!("UBLKRED.{way}.{reduction}"),
        (None, true) if out => format!("UBLKCP.{way}.DST_G_BYTE_MASK"),
        (None, true) => format!("UBLKCP.{way}.MULTICAST"),
        (None, false) => format!("UBLKCP.{way}"),
    };
    let copy = format!("{what} [UR{target}], [UR{source}], UR{size}");
    if out && plain {
        // Lanes with equal operands need only one copy.
        let label = code.take_equals(lanes, &operands, &[]);
        code.lines.push(copy);
        code.next_equals(lanes, &label);
        return Ok(());
    }
    let broadcast = if code.number < 100 { "" } else { ".BROADCAST" };
    let head: Vec<_> = operands.iter().map(|(to, from)| format!("R2UR{broadcast} {to}, {from}")).collect();
    code.one_by_one(lanes, &head, &copy);
    Ok(())
}

fn reduction(modifiers: &[&str]) -> Result<String, LoweringRefusal> {
    const NAME: &str = "cp.reduce.async.bulk";
    let (shared, rest) = match modifiers {
        ["async", "bulk", "shared::cluster", "shared::cta", COMPLETION, rest @ ..] => (true, rest),
        ["async", "bulk", "global", "shared::cta", "bulk_group", rest @ ..] => (false, rest),
        _ => {
            let help = "write .shared::cluster.shared::cta.mbarrier::complete_tx::bytes or \
                        .global.shared::cta.bulk_group, the operation and its type";
            return illegal(&modifiers.join("."), NAME, help);
        }
    };
    let suffix = match (rest, shared) {
        (["add" | "min" | "max" | "inc" | "dec", "u32"] | ["and" | "or" | "xor", "b32"], _) => "",
        (["add" | "min" | "max", "s32"], _) => ".S32",
        (["add", "u64"], _) | (["min" | "max", "u64"] | ["and" | "or" | "xor", "b64"], false) => ".U64",
        (["min" | "max", "s64"], false) => ".S64",
        (["add", "f32"], false) => ".F32.RN",
        (["add", "f64"], false) => ".F64.RN",
        (["add", "noftz", "f16"] | ["min" | "max", "f16"], false) => ".F16.RN",
        (["add", "noftz", "bf16"] | ["min" | "max", "bf16"], false) => ".BF16.RN",
        _ => {
            let help = if shared {
                "write .add, .min, .max of .u32 or .s32, .inc, .dec of .u32, .and, .or, .xor of .b32, or .add.u64"
            } else {
                "write an operation and its type, such as .add.u32, .min.s64, .add.f32 or .add.noftz.f16"
            };
            return illegal(&rest.join("."), NAME, help);
        }
    };
    let op = rest.first().copied().unwrap_or_default().to_uppercase();
    Ok(format!("{op}{suffix}"))
}

/// Reads the operands `[data], value, [object]`, where `value` may be a vector. Returns a register pair with
/// the addresses of the data and of the mbarrier object, and the first register of the values. STAS and REDAS
/// take this pair. Each value has `words` words.
fn operands(
    reader: &Reader<'_, '_>,
    name: &str,
    generic: bool,
    vector: Option<u8>,
    words: u8,
    code: &mut Code<'_>,
) -> Result<(Reg, Reg), LoweringRefusal> {
    let wrong = || LoweringRefusal::mismatch(name, "write [data], value, [object]");
    let [data, value, object] = reader.instruction.operands.as_slice() else { return Err(wrong()) };
    let data = reader.address(data, generic).ok_or_else(wrong)?;
    let object = reader.address(object, generic).ok_or_else(wrong)?;
    let values = match value {
        Operand::Vector(values) if vector.is_some() => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    if values.len() != vector.map_or(1, usize::from) {
        return Err(wrong());
    }
    let source = source(reader, values, words, code).ok_or_else(wrong)?;
    let (data, object) = (code.place(data)?, code.place(object)?);
    let pair = code.scratch(2);
    for (at, place) in [(pair, data), (pair.high(), object)] {
        let from = code.address_register(place);
        emit!(code, "MOV {at}, {from}");
    }
    Ok((pair, source))
}

/// Splits off the state space and the completion modifier, if there are any. Returns true if the addresses
/// are generic, and the remaining modifiers.
fn destination<'a, 't>(modifiers: &'a [&'t str]) -> (bool, &'a [&'t str]) {
    let (generic, rest) = match modifiers {
        ["shared::cluster" | "shared::cta", rest @ ..] => (false, rest),
        modifiers => (true, modifiers),
    };
    (generic, rest.strip_prefix(&[COMPLETION]).unwrap_or(rest))
}

/// Checks that the scope fits the state space, and that the completion modifier is there. It is mandatory
/// except for `.shared::cta`.
fn scope_and_report(name: &str, scope: Option<&str>, rest: &[&str]) -> Outcome {
    let requires = |modifier: &str, what: &str, help: &str| {
        let message = format!("Modifier '.{modifier}' requires {what} for instruction '{name}'");
        refuse(message, help)
    };
    let space = rest.first().copied().filter(|m| m.starts_with("shared") || *m == "global");
    match scope {
        Some(scope @ ("gpu" | "sys")) if space != Some("global") => {
            return requires(scope, "'.global' space", "write .cluster and .shared::cluster");
        }
        Some("cluster") if space == Some("shared::cta") => {
            return requires("cluster", "'.shared::cluster' space", "write .shared::cluster");
        }
        _ => {}
    }
    let shared = matches!(space, None | Some("shared::cluster")) && matches!(scope, None | Some("cluster"));
    if shared && !rest.contains(&COMPLETION) {
        let modifier = scope.unwrap_or("shared::cluster");
        return requires(modifier, "modifier '.completion_mechanism'", &format!("write .{COMPLETION}"));
    }
    Ok(())
}

/// Lowers
/// `st.async[.weak|.cluster][.shared::cluster].mbarrier::complete_tx::bytes[.v2|.v4].type [data], value, [object]`
/// and `st.async[.weak].shared::cta[.v2|.v4].type [data], value, [object]`.
fn store(reader: &Reader<'_, '_>, modifiers: &[&str], code: &mut Code<'_>) -> Outcome {
    const NAME: &str = "st.async";
    let rest = modifiers.get(1..).unwrap_or(&[]);
    let (weak, rest) = rest.strip_prefix(&["weak"]).map_or((false, rest), |rest| (true, rest));
    if rest.first() == Some(&"relaxed") {
        return illegal("relaxed", NAME, "write .weak, or omit the modifier");
    }
    let (scope, rest) = match *rest {
        [scope @ ("cta" | "cluster" | "gpu" | "sys"), ref rest @ ..] => (Some(scope), rest),
        _ => (None, rest),
    };
    match scope {
        Some(scope) if weak => {
            let message = format!("Modifier '.weak' cannot be combined with modifier '.{scope}'");
            return refuse(message, "omit one of the two modifiers");
        }
        Some("cta") => return illegal("cta", NAME, "write .cluster, or omit the modifier"),
        _ => scope_and_report(NAME, scope, rest)?,
    }
    let (generic, rest) = destination(rest);
    let (elements, ty) = match *rest {
        [ty] => (1, ty),
        ["v2", ty] => (2, ty),
        ["v4", ty] => (4, ty),
        _ => {
            return illegal(&rest.join("."), NAME, "write a type: .b32, .b64");
        }
    };
    let words = match ty {
        "b32" | "u32" | "s32" | "f32" => 1,
        "b64" | "u64" | "s64" | "f64" => 2,
        _ => return illegal(ty, NAME, "a value has 32 or 64 bits"),
    };
    let size = match elements * words {
        1 => "",
        2 => ".64",
        4 => ".128",
        _ => {
            let message = "Vector type too large, exceeds 128 bit limit";
            return refuse(message, "a store has at most 16 bytes: write .v2");
        }
    };
    let (pair, source) = operands(reader, NAME, generic, Some(elements), words, code)?;
    emit!(code, "STAS{size} [{pair}.64], {source}");
    Ok(())
}

/// Returns the first of the consecutive registers that hold the values, with `words` words for each. `None`
/// if an operand is not a register of this width.
fn source(reader: &Reader<'_, '_>, values: &[Operand<'_>], words: u8, code: &mut Code<'_>) -> Option<Reg> {
    let register = |value| reader.register(value, 32 * u32::from(words));
    if let [value] = values
        && let Some(id) = register(value)
    {
        return Some(code.registers(id, words));
    }
    let group = code.scratch(values.len() as u8 * words);
    for (at, value) in (0..).step_by(words.into()).zip(values) {
        let to = group.plus(at);
        match *value {
            Operand::Integer(value) => code.move_constant(to, value as u64, words),
            Operand::Single(bits) if words == 1 => code.move_constant(to, bits.into(), words),
            Operand::Double(bits) if words == 2 => code.move_constant(to, bits, words),
            _ => {
                let from = code.registers(register(value)?, words);
                code.copy(to, from, words);
            }
        }
    }
    Some(group)
}

/// Lowers
/// `red.async.relaxed.cluster[.shared::cluster].mbarrier::complete_tx::bytes.op.type [data], value, [object]`.
fn reduce(reader: &Reader<'_, '_>, modifiers: &[&str], code: &mut Code<'_>) -> Outcome {
    const NAME: &str = "red.async";
    if let ["async", "relaxed", scope @ ("cluster" | "gpu" | "sys"), rest @ ..] = modifiers {
        scope_and_report(NAME, Some(scope), rest)?;
    }
    let rest = match modifiers {
        ["async", "relaxed", "cta" | "cluster" | "gpu" | "sys", rest @ ..] => Some(destination(rest)),
        _ => None,
    };
    let Some((generic, &[operation, ty])) = rest else {
        let help = format!("write {NAME}.relaxed.cluster.shared::cluster.{COMPLETION}, operation and type");
        return illegal(&modifiers.get(1..).unwrap_or(&[]).join("."), NAME, help);
    };
    let (name, types): (_, &[_]) = match operation {
        "inc" => ("INC", &["u32"]),
        "dec" => ("DEC", &["u32"]),
        "min" => ("MIN", &["u32", "s32"]),
        "max" => ("MAX", &["u32", "s32"]),
        "add" => ("ADD", &["u32", "s32", "u64", "s64"]),
        "and" => ("AND", &["b32"]),
        "or" => ("OR", &["b32"]),
        "xor" => ("XOR", &["b32"]),
        _ => {
            let message = format!("Illegal reduction operation for instruction '{NAME}'");
            return refuse(message, "operations are .inc, .dec, .min, .max, .add, .and, .or and .xor");
        }
    };
    if !types.contains(&ty) {
        let message = format!("Incorrect type '.{ty}' for operation '.{operation}' in instruction '{NAME}'");
        return refuse(message, format!("types of .{operation} are .{}", types.join(", .")));
    }
    if let ["async", "relaxed", "cta", ..] = modifiers {
        return illegal("cta", NAME, "write .relaxed.cluster");
    }
    let (suffix, words) = match ty {
        "s32" => (".S32", 1),
        "u64" | "s64" => (".64", 2),
        _ => ("", 1),
    };
    let (pair, source) = operands(reader, NAME, generic, None, words, code)?;
    emit!(code, "REDAS.{name}{suffix} [{pair}.64], {source}");
    Ok(())
}
