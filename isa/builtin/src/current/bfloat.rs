//! bfloat16 additions for targets before sm_90. The CUDA header implements them as compare-and-swap loops.
//! From sm_80 on, the loop computes `addend * 1.0 + old` with one fused multiply-add. For earlier targets it
//! adds in binary32 and rounds to bfloat16 with integer instructions.

use super::cuda;
use super::*;

struct LoopRegisters {
    found: String,
    old: String,
}

pub(super) fn expand(ty: ObjectType, place: ObjectPlace, target: PtxTarget) -> Expansion {
    let generation = Generation::of(target);
    let fused = target.number() >= 80;
    let packed = ty == ObjectType::Bf16x2;
    let mut text = Writer::default();
    let bits = ty.bits();
    let register = generation.register(ObjectType::unsigned(ty.bytes()).unwrap_or(ObjectType::U32));
    let object = |text: &mut Writer| cuda::object(text, place, ty, generation);
    let generic = (place == ObjectPlace::Generic).then(|| object(&mut text));
    let addresses =
        packed.then(|| (text.address(InputRole::ResultAddress), text.address(InputRole::ValueAddress)));
    let passed = (!packed).then(|| text.input(InputRole::Value, register, "u16"));
    let object = generic.unwrap_or_else(|| object(&mut text));
    let step = LoopRegisters { found: text.register(register), old: text.register(register) };
    let first = format!("ld{}.u{bits} {}, {};", object.space, step.found, object.operand);
    let again = text.label();
    let new = match (fused, passed, &addresses) {
        (true, passed, addresses) => {
            let value = passed.unwrap_or_else(|| text.register(register));
            if let Some((_, from)) = addresses {
                put!(text, "ld.u32 {value}, [{from}];");
            }
            text.line(first);
            put!(text, "{again}:");
            put!(text, "mov.u{bits} {}, {};", step.old, step.found);
            let new = text.register(register);
            let (one, name) = if packed { ("0x3f803f80U", "bf16x2") } else { ("0x3f80U", "bf16") };
            put!(text, "{{.reg .b{bits} c;");
            put!(text, "mov.b{bits} c, {one};");
            put!(text, "fma.rn.{name} {new},{value},c,{};}}", step.old);
            new
        }
        (false, Some(value), _) => {
            text.line(first);
            let addend = widen(&mut text, &value);
            put!(text, "{again}:");
            put!(text, "mov.u16 {}, {};", step.old, step.found);
            add(&mut text, &addend, &step.old)
        }
        (false, None, addresses) => {
            let [low, high] = [(); 2].map(|()| text.register(RegisterType::B16));
            let from = addresses.as_ref().map(|(_, from)| from.as_str()).unwrap_or_default();
            text.line(first);
            put!(text, "ld.v2.u16 {{{low}, {high}}}, [{from}];");
            let addends = [low, high].map(|half| widen(&mut text, &half));
            put!(text, "{again}:");
            put!(text, "mov.u32 {}, {};", step.old, step.found);
            let halves = [(); 2].map(|()| text.register(RegisterType::B16));
            put!(text, "mov.b32 {{{}, {}}}, {};", halves[0], halves[1], step.old);
            let sums = [0, 1].map(|half: usize| add(&mut text, &addends[half], &halves[half]));
            let new = text.register(RegisterType::B32);
            put!(text, "mov.b32 {new}, {{{}, {}}};", sums[0], sums[1]);
            new
        }
    };
    let failed = text.register(RegisterType::Pred);
    let LoopRegisters { found, old } = &step;
    put!(text, "atom{}.cas.b{bits} {found}, {}, {old}, {new};", object.space, object.operand);
    put!(text, "setp.ne.s{bits} {failed}, {old}, {found};");
    put!(text, "@{failed} bra {again};");
    text.give("st.u32", addresses.as_ref().map(|(to, _)| to.as_str()), &[old])
}

fn widen(text: &mut Writer, half: &str) -> String {
    let float = text.register(RegisterType::F32);
    put!(text, "{{ mov.b32 {float}, {{0,{half}}};}}");
    float
}

/// Adds in binary32 and rounds the sum to the nearest bfloat16, ties to even. A NaN becomes 0x7fff.
fn add(text: &mut Writer, addend: &str, old: &str) -> String {
    let old = widen(text, old);
    let [one, sum] = [(); 2].map(|()| text.register(RegisterType::F32));
    let [bits, magnitude, below, above, lost] = [(); 5].map(|()| text.register(RegisterType::B32));
    let [truncated, rounded, odd] = [(); 3].map(|()| text.register(RegisterType::B16));
    let [nan, up, not_tie, is_odd, even, keep] = [(); 6].map(|()| text.register(RegisterType::Pred));
    let [round, done] = [(); 2].map(|()| text.label());
    put!(text, "mov.f32 {one}, 0f3F800000;");
    put!(text, "fma.rn.f32 {sum}, {addend}, {one}, {old};");
    put!(text, "mov.b32 {bits}, {sum};");
    put!(text, "and.b32 {magnitude}, {bits}, 2147483647;");
    put!(text, "setp.gt.u32 {nan}, {magnitude}, 2139095040;");
    put!(text, "shl.b32 {below}, {bits}, 16;");
    put!(text, "shr.u32 {above}, {bits}, 16;");
    put!(text, "cvt.u16.u32 {truncated}, {above};");
    put!(text, "selp.b32 {lost}, 0, {below}, {nan};");
    put!(text, "selp.b16 {rounded}, 32767, {truncated}, {nan};");
    put!(text, "setp.gt.u32 {up}, {lost}, -2147483648;");
    put!(text, "@{up} bra {round};");
    put!(text, "setp.ne.s32 {not_tie}, {lost}, -2147483648;");
    put!(text, "and.b16 {odd}, {rounded}, 1;");
    put!(text, "setp.eq.b16 {is_odd}, {odd}, 1;");
    put!(text, "not.pred {even}, {is_odd};");
    put!(text, "or.pred {keep}, {not_tie}, {even};");
    put!(text, "@{keep} bra {done};");
    put!(text, "{round}:");
    put!(text, "add.s16 {rounded}, {rounded}, 1;");
    put!(text, "{done}:");
    rounded
}
