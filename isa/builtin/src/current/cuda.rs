//! Expansion of the `atomic*` functions of CUDA C++, and of the `__nvvm_atom_*` builtins that implement them.

use super::*;
use crate::NameScope;

/// Mangled name of the shared array: static variable `sm` of function `f`.
const ARRAY: &str = "_ZZ1fE2sm";

pub(super) struct Object {
    pub(super) operand: String,
    pub(super) space: &'static str,
}

/// Declares the shared array that contains the object. The declaration must be the first line of the PTX.
fn declare_array(text: &mut Writer, ty: ObjectType) {
    put!(text, ".shared .align {0} .b8 {ARRAY}[{1}];", ty.bytes(), 8 * ty.bytes());
}

/// Returns the address operand of the object. For an object in the shared array, first emits the computation
/// of the address.
pub(super) fn object(
    text: &mut Writer,
    place: ObjectPlace,
    ty: ObjectType,
    generation: Generation,
) -> Object {
    if place == ObjectPlace::Generic {
        return Object { operand: format!("[{}]", text.address(InputRole::Object)), space: "" };
    }
    let [thread, offset, masked, base, address] = [(); 5].map(|()| text.register(RegisterType::B32));
    declare_array(text, ty);
    put!(text, "mov.u32 {thread}, %tid.x;");
    put!(text, "shl.b32 {offset}, {thread}, {};", ty.bytes().ilog2());
    put!(text, "and.b32 {masked}, {offset}, {};", 7 * ty.bytes());
    put!(text, "mov.{} {base}, {ARRAY};", generation.plain(32));
    put!(text, "add.s32 {address}, {base}, {masked};");
    Object { operand: format!("[{address}]"), space: ".shared" }
}

/// Returns a register with the generic address of the object, and the lines that compute the address. The
/// inline assembly of the CUDA header uses generic addresses, also for an object in the shared array.
pub(super) fn generic_object(
    text: &mut Writer,
    place: ObjectPlace,
    ty: ObjectType,
    generation: Generation,
) -> (String, Vec<String>) {
    if place == ObjectPlace::Generic {
        return (text.address(InputRole::Object), Vec::new());
    }
    let [thread, base, offset] = [(); 3].map(|()| text.register(RegisterType::B32));
    let [window, wide, masked, address] = [(); 4].map(|()| text.register(RegisterType::B64));
    let mut lines = vec![
        format!(".shared .align {0} .b8 {ARRAY}[{1}];", ty.bytes(), 8 * ty.bytes()),
        format!("mov.u32 {thread}, %tid.x;"),
        format!("mov.{} {base}, {ARRAY};", generation.plain(32)),
    ];
    match generation {
        Generation::Inline => lines.extend([
            "{ .reg .b64 %tmp;".into(),
            format!("cvt.u64.u32 %tmp, {base};"),
            format!("cvta.shared.u64 {window}, %tmp; }}"),
        ]),
        Generation::Native => {
            let zeroed = text.register(RegisterType::B64);
            lines.push(format!("cvt.u64.u32 {zeroed}, {base};"));
            lines.push(format!("cvta.shared.u64 {window}, {zeroed};"));
        }
    }
    lines.extend([
        format!("shl.b32 {offset}, {thread}, {};", ty.bytes().ilog2()),
        format!("cvt.u64.u32 {wide}, {offset};"),
        format!("and.b64 {masked}, {wide}, {};", 7 * ty.bytes()),
        format!("add.s64 {address}, {window}, {masked};"),
    ]);
    (address, lines)
}

/// Returns the qualifiers between `atom` and the operation. If the function's name states no scope
/// (`atomicAdd`), the code generator for sm_100 and later writes `.relaxed.gpu`, and the older one writes
/// nothing.
fn qualifiers(reach: NameScope, space: &str, generation: Generation) -> String {
    match (reach, generation) {
        (NameScope::Device, Generation::Native) => format!(".relaxed.gpu{space}"),
        _ => format!("{space}{}", reach.qualifier()),
    }
}

pub(super) fn expand(
    op: BuiltinOp,
    reach: NameScope,
    ty: ObjectType,
    place: ObjectPlace,
    target: PtxTarget,
) -> Expansion {
    let generation = Generation::of(target);
    match ty {
        ObjectType::Bf16 | ObjectType::Bf16x2 if target.number() < 90 => bfloat::expand(ty, place, target),
        ObjectType::F16 | ObjectType::F16x2 | ObjectType::Bf16 | ObjectType::Bf16x2 => {
            half_add(ty, place, generation)
        }
        ObjectType::B128 => sixteen_bytes(op, reach, place, generation),
        _ => plain(op, reach, ty, place, generation),
    }
}

fn plain(
    op: BuiltinOp,
    reach: NameScope,
    ty: ObjectType,
    place: ObjectPlace,
    generation: Generation,
) -> Expansion {
    let mut text = Writer::default();
    let bits = ty.bits();
    // An exchange of floats is emitted as an exchange of their 32 bits.
    let as_bits = op == BuiltinOp::Exchange && ty == ObjectType::F32;
    let register = if as_bits { RegisterType::B32 } else { generation.register(ty) };
    let generic = (place == ObjectPlace::Generic).then(|| object(&mut text, place, ty, generation));
    let passed = if as_bits { "b32" } else { passed_as(ty) };
    let compare =
        (op == BuiltinOp::CompareExchange).then(|| text.input(InputRole::Compare, register, passed));
    let value = text.input(InputRole::Value, register, passed);
    let object = generic.unwrap_or_else(|| object(&mut text, place, ty, generation));
    let value = if op == BuiltinOp::Sub {
        let negated = text.register(register);
        put!(text, "neg.s{bits} {negated}, {value};");
        negated
    } else {
        value
    };
    let result = text.register(register);
    let operands = match compare {
        Some(compare) => format!("{compare}, {value}"),
        None => value,
    };
    // The 16-bit compare-and-swap comes from a CUDA header that is older than memory orders, so it has no
    // order and no scope.
    let words = if ty == ObjectType::U16 {
        object.space.to_owned()
    } else {
        qualifiers(reach, object.space, generation)
    };
    let (op, suffix) = (op.ptx(), op.older_suffix(ty));
    put!(text, "atom{words}.{op}.{suffix} {result}, {}, {operands};", object.operand);
    if ty == ObjectType::U16 {
        let wide = text.register(RegisterType::B32);
        put!(text, "cvt.u32.u16 {wide}, {result};");
        return text.finish(&[&wide]);
    }
    if as_bits && generation == Generation::Inline {
        let float = text.register(RegisterType::F32);
        put!(text, "mov.b32 {float}, {result};");
        return text.finish(&[&float]);
    }
    text.finish(&[&result])
}

/// Expands additions of half and bfloat16, single or packed. Packed values are passed by address.
fn half_add(ty: ObjectType, place: ObjectPlace, generation: Generation) -> Expansion {
    let mut text = Writer::default();
    let packed = ty.bytes() == 4;
    let register = if packed { RegisterType::B32 } else { RegisterType::B16 };
    let plain = generation.plain(32);
    let object = |text: &mut Writer| generic_object(text, place, ty, generation);
    let generic = (place == ObjectPlace::Generic).then(|| object(&mut text));
    let addresses =
        packed.then(|| (text.address(InputRole::ResultAddress), text.address(InputRole::ValueAddress)));
    let passed = (!packed).then(|| text.input(InputRole::Value, register, "u16"));
    let (object, lines) = generic.unwrap_or_else(|| object(&mut text));
    lines.into_iter().for_each(|line| text.line(line));
    let value = passed.unwrap_or_else(|| text.register(register));
    let result = text.register(register);
    if let Some((_, from)) = &addresses {
        put!(text, "ld.{plain} {value}, [{from}];");
    }
    put!(text, "{{ atom.add.noftz.{} {result},[{object}],{value}; }}", ty.name());
    let to = addresses.as_ref().map(|(to, _)| to.as_str());
    text.give(&format!("st.{plain}"), to, &[&result])
}

fn sixteen_bytes(op: BuiltinOp, reach: NameScope, place: ObjectPlace, generation: Generation) -> Expansion {
    let mut text = Writer::default();
    let ty = ObjectType::B128;
    let generic = (place == ObjectPlace::Generic).then(|| object(&mut text, place, ty, generation));
    let mut pair = |role| {
        let low = text.input(role, RegisterType::B64, "u64");
        (low, text.input(role, RegisterType::B64, "u64"))
    };
    let compare = (op == BuiltinOp::CompareExchange).then(|| pair(InputRole::Compare));
    let value = pair(InputRole::Value);
    let object = generic.unwrap_or_else(|| object(&mut text, place, ty, generation));
    // Only for functions without a scope in the name does the code generator for sm_100 and later use new
    // register names. For all others it emits the same inline assembly as the older one.
    let new_names = generation == Generation::Native && reach == NameScope::Device;
    let [compared, new, found] = match (new_names, op) {
        (true, BuiltinOp::CompareExchange) => ["cmp", "swap", "dst"],
        (true, _) => ["cmp", "amt", "dst"],
        (false, BuiltinOp::CompareExchange) => ["%b", "%c", "%dst"],
        (false, _) => ["%c", "%b", "%dst"],
    };
    let mut operands = String::new();
    if let Some((low, high)) = &compare {
        text.named(compared, RegisterType::B128);
        put!(text, "mov.b128 {compared}, {{{low}, {high}}};");
        operands = format!("{compared}, ");
    }
    let (low, high) = &value;
    text.named(new, RegisterType::B128);
    text.named(found, RegisterType::B128);
    put!(text, "mov.b128 {new}, {{{low}, {high}}};");
    operands.push_str(new);
    let words = qualifiers(reach, object.space, generation);
    put!(text, "atom{words}.{}.b128 {found}, {}, {operands};", op.ptx(), object.operand);
    let [low, high] = [(); 2].map(|()| text.register(RegisterType::B64));
    put!(text, "mov.b128 {{{low}, {high}}}, {found};");
    text.finish(&[&low, &high])
}
