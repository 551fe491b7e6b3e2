//! Objects of 1 and 2 bytes. All operations become a loop around a compare-and-swap of the 32-bit word that
//! contains the object, with masks and shifts. Source: [NVVM], Sub-Word Atomic Expansion; spec 8.4, 7.2.

use super::*;

/// Registers with the word's address, the position of the object's lowest bit in the word, and the mask of
/// all other bits.
struct Part {
    aligned_address: String,
    shift: String,
    inverted_mask: String,
}

impl Part {
    fn of(nv: &Nv, text: &mut Writer, object: &str) -> Part {
        let aligned_address = text.register(RegisterType::B64);
        let [address, low, shift, bits, mask, inverted_mask] =
            [(); 6].map(|()| text.register(RegisterType::B32));
        put!(text, "and.b64 {aligned_address}, {object}, -4;");
        put!(text, "cvt.u32.u64 {address}, {object};");
        put!(text, "and.b32 {low}, {address}, 3;");
        put!(text, "shl.b32 {shift}, {low}, 3;");
        put!(text, "mov.b32 {bits}, {};", nv.ty.ones());
        put!(text, "shl.b32 {mask}, {bits}, {shift};");
        put!(text, "not.b32 {inverted_mask}, {mask};");
        Part { aligned_address, shift, inverted_mask }
    }
}

/// Shifts a value to the position of the object in the word. All other bits of the result are zero.
fn placed(nv: &Nv, text: &mut Writer, part: &Part, value: &str) -> String {
    let [masked, moved] = [(); 2].map(|()| text.register(RegisterType::B32));
    put!(text, "and.b32 {masked}, {value}, {};", nv.ty.ones());
    put!(text, "shl.b32 {moved}, {masked}, {};", part.shift);
    moved
}

pub(super) fn expand(nv: &Nv, mut text: Writer) -> Expansion {
    let object = text.address(InputRole::Object);
    let passed = bits_as(nv.ty);
    let compare = (nv.op == BuiltinOp::CompareExchange)
        .then(|| text.input(InputRole::Compare, RegisterType::B32, passed));
    let value = text.input(InputRole::Value, RegisterType::B32, passed);
    // A release gets a fence before the loop, an acquire a fence after the loop.
    let strength = if nv.order == MemoryOrder::SeqCst { "sc" } else { "acq_rel" };
    if nv.order.releases() {
        nv.fence(&mut text, strength);
    }
    let part = Part::of(nv, &mut text, &object);
    let found = match compare {
        Some(compare) => compare_loop(nv, &mut text, &part, &compare, &value),
        None => fetch_loop(nv, &mut text, &part, &value),
    };
    let moved = text.register(RegisterType::B32);
    put!(text, "shr.u32 {moved}, {found}, {};", part.shift);
    let result = text.extended(nv.ty, &moved);
    if nv.order.acquires() {
        nv.fence(&mut text, strength);
    }
    text.finish(&[&result])
}

/// Writes the compare-and-swap of the loop. It is relaxed, because the fences are before and after the loop.
fn swap(nv: &Nv, text: &mut Writer, part: &Part, found: &str, old: &str, new: &str) {
    let words = nv.words(MemoryOrder::Relaxed.qualifier());
    put!(text, "atom.cas.{words}.b32 {found}, [{}], {old}, {new};", part.aligned_address);
}

fn load(nv: &Nv, text: &mut Writer, part: &Part) -> String {
    let word = text.register(RegisterType::B32);
    put!(text, "ld.{}.b32 {word}, [{}];", nv.words(MemoryOrder::Relaxed.qualifier()), part.aligned_address);
    word
}

fn fetch_loop(nv: &Nv, text: &mut Writer, part: &Part, value: &str) -> String {
    let new_bits = (nv.op == BuiltinOp::Exchange).then(|| placed(nv, text, part, value));
    let old = load(nv, text, part);
    let again = text.label();
    put!(text, "{again}:");
    let new_bits = new_bits.unwrap_or_else(|| {
        let moved = text.register(RegisterType::B32);
        put!(text, "shr.u32 {moved}, {old}, {};", part.shift);
        let inside = text.extended(nv.ty, &moved);
        let new = text.register(RegisterType::B32);
        match nv.op {
            BuiltinOp::Add => put!(text, "add.s32 {new}, {inside}, {value};"),
            BuiltinOp::Sub => put!(text, "sub.s32 {new}, {inside}, {value};"),
            BuiltinOp::Min | BuiltinOp::Max => {
                let letter = nv.ty.class().letter();
                put!(text, "{}.{letter}32 {new}, {inside}, {value};", nv.op.ptx());
            }
            op => put!(text, "{}.b32 {new}, {inside}, {value};", op.ptx()),
        }
        placed(nv, text, part, &new)
    });
    let [outside, new, found] = [(); 3].map(|()| text.register(RegisterType::B32));
    let failed = text.register(RegisterType::Pred);
    put!(text, "and.b32 {outside}, {old}, {};", part.inverted_mask);
    put!(text, "or.b32 {new}, {outside}, {new_bits};");
    swap(nv, text, part, &found, &old, &new);
    put!(text, "setp.ne.b32 {failed}, {found}, {old};");
    put!(text, "mov.b32 {old}, {found};");
    put!(text, "@{failed} bra {again};");
    found
}

/// Writes the loop of a compare-and-swap. The loop repeats only if the bits of the word outside the object
/// have changed.
fn compare_loop(nv: &Nv, text: &mut Writer, part: &Part, compare: &str, value: &str) -> String {
    let compare = placed(nv, text, part, compare);
    let value = placed(nv, text, part, value);
    let word = load(nv, text, part);
    let [outside, old, new, found, seen] = [(); 5].map(|()| text.register(RegisterType::B32));
    let [stored, changed] = [(); 2].map(|()| text.register(RegisterType::Pred));
    let [again, done] = [(); 2].map(|()| text.label());
    put!(text, "and.b32 {outside}, {word}, {};", part.inverted_mask);
    put!(text, "{again}:");
    put!(text, "or.b32 {old}, {outside}, {compare};");
    put!(text, "or.b32 {new}, {outside}, {value};");
    swap(nv, text, part, &found, &old, &new);
    put!(text, "setp.eq.b32 {stored}, {found}, {old};");
    put!(text, "@{stored} bra {done};");
    put!(text, "and.b32 {seen}, {found}, {};", part.inverted_mask);
    put!(text, "setp.ne.b32 {changed}, {seen}, {outside};");
    put!(text, "mov.b32 {outside}, {seen};");
    put!(text, "@{changed} bra {again};");
    put!(text, "{done}:");
    found
}
