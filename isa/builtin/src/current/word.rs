//! Objects with the width of one instruction: 4 and 8 bytes, and smaller ones that PTX supports.

use super::*;

fn suffix(nv: &Nv) -> String {
    let letter = match (nv.op, nv.ty.class(), nv.generation) {
        (BuiltinOp::Add | BuiltinOp::Sub, TypeClass::Signed, Generation::Native) => 'u',
        (BuiltinOp::Add | BuiltinOp::Sub | BuiltinOp::Min | BuiltinOp::Max, class, _) => class.letter(),
        _ => 'b',
    };
    format!("{letter}{}", nv.ty.bits())
}

fn object_register(nv: &Nv) -> RegisterType {
    match (nv.op.is_fetch(), nv.ty.bytes(), nv.generation) {
        (true, ..) => nv.generation.register(nv.ty),
        // Inline assembly has no operand constraint for a single byte, so the byte is in a 32-bit register.
        (_, 1, Generation::Inline) => RegisterType::B32,
        (_, 1 | 2, _) => RegisterType::B16,
        (_, 4, _) => RegisterType::B32,
        _ => RegisterType::B64,
    }
}

pub(super) fn expand(nv: &Nv) -> Expansion {
    match nv.op {
        BuiltinOp::Load => load(nv),
        BuiltinOp::Store => store(nv),
        BuiltinOp::Exchange => exchange(nv),
        BuiltinOp::CompareExchange => compare_exchange(nv),
        BuiltinOp::Sub => subtract(nv),
        BuiltinOp::Min | BuiltinOp::Max if nv.ty.class() == TypeClass::Float => float_loop(nv),
        _ => fetch(nv),
    }
}

fn fetch(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let register = nv.generation.register(nv.ty);
    let object = text.address(InputRole::Object);
    let value = text.input(InputRole::Value, register, passed_as(nv.ty));
    let result = text.register(register);
    nv.fence(&mut text);
    nv.atom(&mut text, nv.qualifier(), &suffix(nv), &result, &[&format!("[{object}]"), &value]);
    text.finish(&[&result])
}

fn subtract(nv: &Nv) -> Expansion {
    if nv.ty.class() == TypeClass::Float && nv.generation == Generation::Native {
        return float_loop(nv);
    }
    let mut text = Writer::default();
    let register = nv.generation.register(nv.ty);
    let object = text.address(InputRole::Object);
    let value = text.input(InputRole::Value, register, passed_as(nv.ty));
    let negated = text.register(register);
    let result = text.register(register);
    nv.fence(&mut text);
    match nv.ty.class() {
        TypeClass::Float => {
            let bits = nv.ty.bits();
            let zero = text.register(register);
            let literal = if bits == 32 { "0f00000000" } else { "0d0000000000000000" };
            put!(text, "mov.f{bits} {zero}, {literal};");
            put!(text, "sub.f{bits} {negated}, {zero}, {value};");
        }
        _ => put!(text, "neg.s{} {negated}, {value};", nv.ty.bits()),
    }
    nv.atom(&mut text, nv.qualifier(), &suffix(nv), &result, &[&format!("[{object}]"), &negated]);
    text.finish(&[&result])
}

/// Expands a float operation that has no atomic instruction to a loop around a compare-and-swap.
fn float_loop(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let bits = nv.ty.bits();
    let register = nv.generation.register(nv.ty);
    let object = text.address(InputRole::Object);
    let value = text.input(InputRole::Value, register, passed_as(nv.ty));
    let old = text.register(register);
    let new = text.register(register);
    let found = text.register(register);
    let failed = text.register(RegisterType::Pred);
    let again = text.label();
    let op = match nv.op {
        BuiltinOp::Min => "min",
        BuiltinOp::Max => "max",
        _ => "sub",
    };
    nv.fence_before_loop(&mut text);
    put!(text, "ld.relaxed.{}.b{bits} {old}, [{object}];", nv.scope);
    put!(text, "{again}:");
    put!(text, "{op}.f{bits} {new}, {old}, {value};");
    nv.loop_cas(&mut text, &format!("b{bits}"), &found, &[&format!("[{object}]"), &old, &new]);
    put!(text, "setp.ne.b{bits} {failed}, {found}, {old};");
    put!(text, "mov.b{bits} {old}, {found};");
    put!(text, "@{failed} bra {again};");
    nv.fence_after_loop(&mut text);
    text.finish(&[&found])
}

fn load(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let object = text.address(InputRole::Object);
    let to = nv.indirect.then(|| text.address(InputRole::ResultAddress));
    let result = text.register(object_register(nv));
    let suffix = suffix(nv);
    nv.fence(&mut text);
    put!(text, "ld.{}.{}.{suffix} {result}, [{object}];", nv.qualifier(), nv.scope);
    if to.is_some() || !nv.ty.is_subword() {
        let store = format!("st.{}", nv.generation.plain(nv.ty.bits()));
        return text.give(&store, to.as_deref(), &[&result]);
    }
    let wide = text.register(RegisterType::B32);
    match (nv.ty, nv.generation) {
        (ObjectType::U8, Generation::Inline) => put!(text, "and.b32 {wide}, {result}, 255;"),
        (ObjectType::S8, Generation::Inline) => put!(text, "cvt.s32.s8 {wide}, {result};"),
        (ObjectType::S8, Generation::Native) => {
            // A single byte is in a 16-bit register, so the code first extends the register to 32 bits, then
            // the sign of the byte.
            let zeroed = text.register(RegisterType::B32);
            put!(text, "cvt.u32.u16 {zeroed}, {result};");
            put!(text, "cvt.s32.s8 {wide}, {zeroed};");
        }
        (ObjectType::S16, _) => put!(text, "cvt.s32.s16 {wide}, {result};"),
        _ => put!(text, "cvt.u32.u16 {wide}, {result};"),
    }
    text.finish(&[&wide])
}

fn store(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let register = object_register(nv);
    let object = text.address(InputRole::Object);
    let value = if nv.indirect {
        let from = text.address(InputRole::ValueAddress);
        let value = text.register(register);
        put!(text, "ld.{} {value}, [{from}];", nv.generation.plain(nv.ty.bits()));
        nv.fence(&mut text);
        value
    } else {
        let passed = text.input(InputRole::Value, nv.generation.register(nv.ty), passed_as(nv.ty));
        nv.fence(&mut text);
        if register == nv.generation.register(nv.ty) {
            passed
        } else {
            let value = text.register(register);
            put!(text, "cvt.u32.u16 {value}, {passed};");
            value
        }
    };
    put!(text, "st.{}.{}.{} [{object}], {value};", nv.qualifier(), nv.scope, suffix(nv));
    text.finish(&[])
}

fn exchange(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let register = object_register(nv);
    let plain = nv.generation.plain(nv.ty.bits());
    let object = text.address(InputRole::Object);
    let (value, to) = if nv.indirect {
        let from = text.address(InputRole::ValueAddress);
        let to = text.address(InputRole::ResultAddress);
        let value = text.register(register);
        put!(text, "ld.{plain} {value}, [{from}];");
        (value, Some(to))
    } else {
        (text.input(InputRole::Value, register, passed_as(nv.ty)), None)
    };
    let result = text.register(register);
    nv.fence(&mut text);
    nv.atom(&mut text, nv.qualifier(), &suffix(nv), &result, &[&format!("[{object}]"), &value]);
    text.give(&format!("st.{plain}"), to.as_deref(), &[&result])
}

fn compare_exchange(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let register = object_register(nv);
    let plain = nv.generation.plain(nv.ty.bits());
    let object = text.address(InputRole::Object);
    let expected = text.address(InputRole::ExpectedAddress);
    let compare = text.register(register);
    // Both code generators load the value to store before the fence. The expected value is loaded before the
    // fence by the native generator, and after the fence by the inline generator.
    let native = nv.generation == Generation::Native;
    let swap = if nv.indirect {
        let from = text.address(InputRole::ValueAddress);
        if native {
            put!(text, "ld.{plain} {compare}, [{expected}];");
        }
        let swap = text.register(register);
        put!(text, "ld.{plain} {swap}, [{from}];");
        swap
    } else {
        let swap = text.input(InputRole::Value, register, passed_as(nv.ty));
        if native {
            put!(text, "ld.{plain} {compare}, [{expected}];");
        }
        swap
    };
    nv.fence(&mut text);
    if !native {
        put!(text, "ld.{plain} {compare}, [{expected}];");
    }
    let found = text.register(register);
    let stored = text.register(RegisterType::Pred);
    let result = text.register(RegisterType::B32);
    let address = format!("[{object}]");
    nv.atom(&mut text, nv.qualifier(), &suffix(nv), &found, &[&address, &compare, &swap]);
    let compared = nv.generation.compared(nv.ty.bits());
    if native {
        put!(text, "setp.eq.{compared} {stored}, {found}, {compare};");
    } else {
        let again = text.register(register);
        put!(text, "ld.{plain} {again}, [{expected}];");
        put!(text, "setp.eq.{compared} {stored}, {again}, {found};");
    }
    put!(text, "st.{plain} [{expected}], {found};");
    put!(text, "selp.{} {result}, 1, 0, {stored};", nv.generation.plain(32));
    text.finish(&[&result])
}
