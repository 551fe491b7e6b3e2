//! Objects of 1 and 2 bytes: masks and shifts around an atomic on the 32-bit word that contains the object.
//!
//! Only the code generator for sm_100 and later supports these. The older one has `cas.b16` and refuses all
//! others. Source: spec 8.4.

use super::*;

struct Part {
    /// Register with the address of the word.
    word: String,
    /// Register with the position of the object's lowest bit in the word: 0, 8, 16 or 24.
    shift: String,
}

impl Part {
    fn of(text: &mut Writer, object: &str) -> Part {
        let word = text.register(RegisterType::B64);
        let [low, bits, shift] = [(); 3].map(|()| text.register(RegisterType::B32));
        put!(text, "and.b64 {word}, {object}, -4;");
        put!(text, "cvt.u32.u64 {low}, {object};");
        put!(text, "shl.b32 {bits}, {low}, 3;");
        put!(text, "and.b32 {shift}, {bits}, 24;");
        Part { word, shift }
    }

    fn masks(&self, nv: &Nv, text: &mut Writer) -> (String, String) {
        let [ones, mask, rest] = [(); 3].map(|()| text.register(RegisterType::B32));
        put!(text, "mov.b32 {ones}, {};", nv.ty.ones());
        put!(text, "shl.b32 {mask}, {ones}, {};", self.shift);
        put!(text, "not.b32 {rest}, {mask};");
        (mask, rest)
    }

    fn place(&self, text: &mut Writer, value: &str) -> String {
        let placed = text.register(RegisterType::B32);
        put!(text, "shl.b32 {placed}, {value}, {};", self.shift);
        placed
    }

    /// Shifts the object to bit 0 of a new register. The bits of the word above the object stay in the
    /// register.
    fn extract(&self, text: &mut Writer, word: &str) -> String {
        let moved = text.register(RegisterType::B32);
        put!(text, "shr.u32 {moved}, {word}, {};", self.shift);
        moved
    }
}

/// Returns the register in which the caller passes the operand: 16 bits for an object of one byte, else 32
/// bits.
fn passed(nv: &Nv, text: &mut Writer) -> String {
    let register = if nv.ty.bytes() == 1 { RegisterType::B16 } else { RegisterType::B32 };
    // A 2-byte operand is loaded as `u16`, also if the type is signed, because only its low 16 bits matter.
    text.input(InputRole::Value, register, if nv.ty.bytes() == 1 { passed_as(nv.ty) } else { "u16" })
}

fn widened(nv: &Nv, text: &mut Writer, passed: &str) -> String {
    if nv.ty.bytes() != 1 {
        return passed.into();
    }
    let wide = text.register(RegisterType::B32);
    put!(text, "cvt.u32.u16 {wide}, {passed};");
    if nv.ty != ObjectType::S8 {
        return wide;
    }
    let masked = text.register(RegisterType::B32);
    put!(text, "and.b32 {masked}, {wide}, 255;");
    masked
}

pub(super) fn expand(nv: &Nv) -> Expansion {
    match nv.op {
        BuiltinOp::And | BuiltinOp::Or | BuiltinOp::Xor => bitwise(nv),
        BuiltinOp::Exchange => exchange(nv),
        BuiltinOp::CompareExchange => compare_exchange(nv),
        BuiltinOp::Min | BuiltinOp::Max => select(nv),
        _ => arithmetic(nv),
    }
}

/// Expands a bitwise operation to one atomic on the word. The operand leaves the bits outside the object
/// unchanged.
fn bitwise(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let object = text.address(InputRole::Object);
    let value = passed(nv, &mut text);
    nv.fence_before_loop(&mut text);
    let part = Part::of(&mut text, &object);
    let mut operand;
    if nv.op == BuiltinOp::And {
        let (_, rest) = part.masks(nv, &mut text);
        let value = widened(nv, &mut text, &value);
        let placed = part.place(&mut text, &value);
        operand = text.register(RegisterType::B32);
        put!(text, "or.b32 {operand}, {placed}, {rest};");
    } else {
        operand = widened(nv, &mut text, &value);
        operand = part.place(&mut text, &operand);
    }
    let old = text.register(RegisterType::B32);
    nv.atom(&mut text, "relaxed", "b32", &old, &[&format!("[{}]", part.word), &operand]);
    let moved = part.extract(&mut text, &old);
    nv.fence_after_loop(&mut text);
    let result = text.extended(nv.ty, &moved);
    text.finish(&[&result])
}

/// Writes a compare-and-swap loop and returns the register with the old word. `combine` writes the
/// computation of the new word from the old one.
fn cas_loop(
    nv: &Nv,
    text: &mut Writer,
    part: &Part,
    combine: impl FnOnce(&mut Writer, &str) -> String,
) -> String {
    let old = text.register(RegisterType::B32);
    let again = text.label();
    put!(text, "ld.relaxed.{}.b32 {old}, [{}];", nv.scope, part.word);
    put!(text, "{again}:");
    let new = combine(text, &old);
    let found = text.register(RegisterType::B32);
    let failed = text.register(RegisterType::Pred);
    nv.loop_cas(text, "b32", &found, &[&format!("[{}]", part.word), &old, &new]);
    put!(text, "setp.ne.b32 {failed}, {found}, {old};");
    put!(text, "mov.b32 {old}, {found};");
    put!(text, "@{failed} bra {again};");
    found
}

/// Expands addition and subtraction. The loop computes on the whole word, and then stores only the object's
/// bits of the sum.
fn arithmetic(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let object = text.address(InputRole::Object);
    let value = passed(nv, &mut text);
    nv.fence_before_loop(&mut text);
    let part = Part::of(&mut text, &object);
    let (mask, rest) = part.masks(nv, &mut text);
    let value = widened(nv, &mut text, &value);
    let placed = part.place(&mut text, &value);
    let op = if nv.op == BuiltinOp::Sub { "sub" } else { "add" };
    let found = cas_loop(nv, &mut text, &part, |text, old| {
        let [sum, inside, outside, new] = [(); 4].map(|()| text.register(RegisterType::B32));
        put!(text, "{op}.s32 {sum}, {old}, {placed};");
        put!(text, "and.b32 {inside}, {sum}, {mask};");
        put!(text, "and.b32 {outside}, {old}, {rest};");
        put!(text, "or.b32 {new}, {outside}, {inside};");
        new
    });
    let moved = part.extract(&mut text, &found);
    nv.fence_after_loop(&mut text);
    let result = text.extended(nv.ty, &moved);
    text.finish(&[&result])
}

/// Expands minimum and maximum. The loop first extracts the object from the word.
fn select(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let object = text.address(InputRole::Object);
    let value = text.input(InputRole::Value, RegisterType::B16, passed_as(nv.ty));
    nv.fence_before_loop(&mut text);
    let part = Part::of(&mut text, &object);
    let (_, rest) = part.masks(nv, &mut text);
    let letter = nv.ty.class().letter();
    let found = cas_loop(nv, &mut text, &part, |text, old| {
        let moved = part.extract(text, old);
        let mut inside = text.register(RegisterType::B16);
        if nv.ty == ObjectType::S8 {
            put!(text, "cvt.s8.s32 {inside}, {moved};");
        } else {
            put!(text, "cvt.u16.u32 {inside}, {moved};");
        }
        if nv.ty == ObjectType::U8 {
            let masked = text.register(RegisterType::B16);
            put!(text, "and.b16 {masked}, {inside}, 255;");
            inside = masked;
        }
        let chosen = text.register(RegisterType::B16);
        put!(text, "{}.{letter}16 {chosen}, {inside}, {value};", nv.op.ptx());
        let mut wide = text.register(RegisterType::B32);
        put!(text, "cvt.u32.u16 {wide}, {chosen};");
        if nv.ty == ObjectType::S8 {
            let masked = text.register(RegisterType::B32);
            put!(text, "and.b32 {masked}, {wide}, 255;");
            wide = masked;
        }
        let placed = part.place(text, &wide);
        let [outside, new] = [(); 2].map(|()| text.register(RegisterType::B32));
        put!(text, "and.b32 {outside}, {old}, {rest};");
        put!(text, "or.b32 {new}, {outside}, {placed};");
        new
    });
    let moved = part.extract(&mut text, &found);
    nv.fence_after_loop(&mut text);
    let result = text.extended(nv.ty, &moved);
    text.finish(&[&result])
}

fn exchange(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let plain = nv.generation.plain(nv.ty.bits());
    let object = text.address(InputRole::Object);
    let (value, to) = if nv.indirect {
        let from = text.address(InputRole::ValueAddress);
        let to = text.address(InputRole::ResultAddress);
        let value = text.register(RegisterType::B32);
        put!(text, "ld.{plain} {value}, [{from}];");
        (value, Some(to))
    } else {
        (passed(nv, &mut text), None)
    };
    nv.fence_before_loop(&mut text);
    let part = Part::of(&mut text, &object);
    let (_, rest) = part.masks(nv, &mut text);
    let value = if nv.indirect { value } else { widened(nv, &mut text, &value) };
    let placed = part.place(&mut text, &value);
    let found = cas_loop(nv, &mut text, &part, |text, old| {
        let [outside, new] = [(); 2].map(|()| text.register(RegisterType::B32));
        put!(text, "and.b32 {outside}, {old}, {rest};");
        put!(text, "or.b32 {new}, {outside}, {placed};");
        new
    });
    let moved = part.extract(&mut text, &found);
    nv.fence_after_loop(&mut text);
    match to {
        Some(to) => {
            put!(text, "st.{plain} [{to}], {moved};");
            text.finish(&[])
        }
        None => {
            let result = text.extended(nv.ty, &moved);
            text.finish(&[&result])
        }
    }
}

/// Labels of the loop of a strong compare-and-swap on a subword object. The attempt is repeated only if the
/// bits of the word outside the object have changed. If the object itself differs from the expected value,
/// the loop ends, and the compare-and-swap fails.
struct Retry {
    again: String,
    done: String,
}

impl Retry {
    fn begin(text: &mut Writer) -> Retry {
        let again = text.label();
        // The compiler numbers labels by basic block. The block between the two branches of the loop has a
        // number but no label.
        text.label();
        let done = text.label();
        put!(text, "{again}:");
        Retry { again, done }
    }

    /// Writes the end of the loop. The loop ends if the compare-and-swap stored the word, or if the bits
    /// outside the object are unchanged.
    fn end(self, text: &mut Writer, [stored, outside, found, rest]: [&str; 4]) {
        let Retry { again, done } = self;
        let seen = text.register(RegisterType::B32);
        let changed = text.register(RegisterType::Pred);
        put!(text, "@{stored} bra {done};");
        put!(text, "and.b32 {seen}, {found}, {rest};");
        put!(text, "setp.ne.b32 {changed}, {outside}, {seen};");
        put!(text, "mov.b32 {outside}, {seen};");
        put!(text, "@{changed} bra {again};");
        put!(text, "{done}:");
    }
}

fn compare_exchange(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let plain = nv.generation.plain(nv.ty.bits());
    let object = text.address(InputRole::Object);
    let expected = text.address(InputRole::ExpectedAddress);
    let from = if nv.indirect { Some(text.address(InputRole::ValueAddress)) } else { None };
    let given = if nv.indirect { None } else { Some(passed(nv, &mut text)) };
    let compare = text.register(RegisterType::B32);
    put!(text, "ld.{plain} {compare}, [{expected}];");
    let loaded = from.map(|from| {
        let swap = text.register(RegisterType::B32);
        put!(text, "ld.{plain} {swap}, [{from}];");
        swap
    });
    nv.fence_before_loop(&mut text);
    let part = Part::of(&mut text, &object);
    let (_, rest) = part.masks(nv, &mut text);
    let swap = match (loaded, given) {
        (Some(swap), _) => swap,
        (None, given) => widened(nv, &mut text, &given.unwrap_or_default()),
    };
    let swap = part.place(&mut text, &swap);
    let compare = part.place(&mut text, &compare);
    let [word, outside, new, old, found] = [(); 5].map(|()| text.register(RegisterType::B32));
    let stored = text.register(RegisterType::Pred);
    put!(text, "ld.relaxed.{}.b32 {word}, [{}];", nv.scope, part.word);
    put!(text, "and.b32 {outside}, {word}, {rest};");
    let retry = (nv.strength == CasStrength::Strong).then(|| Retry::begin(&mut text));
    put!(text, "or.b32 {new}, {outside}, {swap};");
    put!(text, "or.b32 {old}, {outside}, {compare};");
    nv.loop_cas(&mut text, "b32", &found, &[&format!("[{}]", part.word), &old, &new]);
    put!(text, "setp.eq.b32 {stored}, {found}, {old};");
    if let Some(retry) = retry {
        retry.end(&mut text, [&stored, &outside, &found, &rest]);
    }
    let moved = part.extract(&mut text, &found);
    nv.fence_after_loop(&mut text);
    let result = text.register(RegisterType::B32);
    put!(text, "st.{plain} [{expected}], {moved};");
    put!(text, "selp.{} {result}, 1, 0, {stored};", nv.generation.plain(32));
    text.finish(&[&result])
}
