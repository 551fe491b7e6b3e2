//! Objects of 16 bytes: pairs of 64-bit registers around an access of 128 bits.

use super::*;

/// A value of 16 bytes in two 64-bit registers.
struct Pair {
    low: String,
    high: String,
}

impl Pair {
    fn new(text: &mut Writer) -> Pair {
        Pair { low: text.register(RegisterType::B64), high: text.register(RegisterType::B64) }
    }

    fn passed(text: &mut Writer) -> Pair {
        let mut half = || text.input(InputRole::Value, RegisterType::B64, "u64");
        Pair { low: half(), high: half() }
    }

    fn load(nv: &Nv, text: &mut Writer, from: &str) -> Pair {
        let pair = Pair::new(text);
        put!(text, "ld.v2.{} {}, [{from}];", nv.generation.plain(64), pair.braces());
        pair
    }

    fn store(&self, nv: &Nv, text: &mut Writer, to: &str) {
        put!(text, "st.v2.{} [{to}], {};", nv.generation.plain(64), self.braces());
    }

    fn give(&self, nv: &Nv, text: Writer, to: Option<&str>) -> Expansion {
        text.give(&format!("st.v2.{}", nv.generation.plain(64)), to, &[&self.low, &self.high])
    }

    fn braces(&self) -> String {
        format!("{{{}, {}}}", self.low, self.high)
    }
}

/// Allocates a 128-bit register. In inline assembly its name is a number, in the code generator for sm_100
/// and later it is `name`.
fn register(nv: &Nv, text: &mut Writer, name: &str) -> String {
    match nv.generation {
        Generation::Inline => text.register(RegisterType::B128),
        Generation::Native => text.named(name, RegisterType::B128),
    }
}

fn join(text: &mut Writer, to: &str, from: &Pair) {
    put!(text, "mov.b128 {to}, {};", from.braces());
}

fn split(text: &mut Writer, from: &str) -> Pair {
    let pair = Pair::new(text);
    put!(text, "mov.b128 {}, {from};", pair.braces());
    pair
}

/// Computes a register with the bits in which two values differ. It is zero if they are equal.
fn difference(text: &mut Writer, found: &Pair, other: &Pair) -> String {
    let [high, low, any] = [(); 3].map(|()| text.register(RegisterType::B64));
    put!(text, "xor.b64 {high}, {}, {};", found.high, other.high);
    put!(text, "xor.b64 {low}, {}, {};", found.low, other.low);
    put!(text, "or.b64 {any}, {low}, {high};");
    any
}

pub(super) fn expand(nv: &Nv) -> Expansion {
    match nv.op {
        BuiltinOp::Load => load(nv),
        BuiltinOp::Store => store(nv),
        BuiltinOp::Exchange => exchange(nv),
        BuiltinOp::CompareExchange => compare_exchange(nv),
        _ => fetch(nv),
    }
}

fn load(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let object = text.address(InputRole::Object);
    let to = nv.indirect.then(|| text.address(InputRole::ResultAddress));
    nv.fence(&mut text);
    let whole = register(nv, &mut text, "dst");
    put!(text, "ld.{}.{}.b128 {whole}, [{object}];", nv.qualifier(), nv.scope);
    let pair = split(&mut text, &whole);
    pair.give(nv, text, to.as_deref())
}

fn store(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let object = text.address(InputRole::Object);
    let pair = if nv.indirect {
        let from = text.address(InputRole::ValueAddress);
        Pair::load(nv, &mut text, &from)
    } else {
        Pair::passed(&mut text)
    };
    nv.fence(&mut text);
    let whole = register(nv, &mut text, "src");
    join(&mut text, &whole, &pair);
    put!(text, "st.{}.{}.b128 [{object}], {whole};", nv.qualifier(), nv.scope);
    text.finish(&[])
}

fn exchange(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let object = text.address(InputRole::Object);
    let (pair, to) = if nv.indirect {
        let from = text.address(InputRole::ValueAddress);
        let to = text.address(InputRole::ResultAddress);
        (Pair::load(nv, &mut text, &from), Some(to))
    } else {
        (Pair::passed(&mut text), None)
    };
    nv.fence(&mut text);
    let value = register(nv, &mut text, "amt");
    join(&mut text, &value, &pair);
    let found = register(nv, &mut text, "dst");
    nv.atom(&mut text, nv.qualifier(), "b128", &found, &[&format!("[{object}]"), &value]);
    let old = split(&mut text, &found);
    old.give(nv, text, to.as_deref())
}

fn compare_exchange(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let native = nv.generation == Generation::Native;
    let object = text.address(InputRole::Object);
    let expected = text.address(InputRole::ExpectedAddress);
    let from = nv.indirect.then(|| text.address(InputRole::ValueAddress));
    let passed = (!nv.indirect).then(|| Pair::passed(&mut text));
    let early = native.then(|| Pair::load(nv, &mut text, &expected));
    let swap = match (passed, from) {
        (Some(pair), _) => pair,
        (None, from) => Pair::load(nv, &mut text, &from.unwrap_or_default()),
    };
    nv.fence(&mut text);
    let compare = match early {
        Some(pair) => pair,
        None => Pair::load(nv, &mut text, &expected),
    };
    let cmp = register(nv, &mut text, "cmp");
    let new = register(nv, &mut text, "swap");
    // Order in which the compiler joins the two operands. The inline generator first joins the operand that
    // is loaded first. If no fence separates the two loads, it keeps the order of the operands.
    if native || (nv.indirect && nv.order != MemoryOrder::SeqCst) {
        join(&mut text, &cmp, &compare);
        join(&mut text, &new, &swap);
    } else {
        join(&mut text, &new, &swap);
        join(&mut text, &cmp, &compare);
    }
    let found = register(nv, &mut text, "dst");
    nv.atom(&mut text, nv.qualifier(), "b128", &found, &[&format!("[{object}]"), &cmp, &new]);
    let old = split(&mut text, &found);
    let against = if native { compare } else { Pair::load(nv, &mut text, &expected) };
    let any = difference(&mut text, &old, &against);
    let stored = text.register(RegisterType::Pred);
    let result = text.register(RegisterType::B32);
    put!(text, "setp.eq.{} {stored}, {any}, 0;", nv.generation.compared(64));
    old.store(nv, &mut text, &expected);
    put!(text, "selp.{} {result}, 1, 0, {stored};", nv.generation.plain(32));
    text.finish(&[&result])
}

/// Expands a fetch operation to a loop around a compare-and-swap of 128 bits. Only for sm_100 and later.
fn fetch(nv: &Nv) -> Expansion {
    let mut text = Writer::default();
    let object = text.address(InputRole::Object);
    let value = Pair::passed(&mut text);
    let whole = text.named("dst", RegisterType::B128);
    let cmp = text.named("cmp", RegisterType::B128);
    let swap = text.named("swap", RegisterType::B128);
    let again = text.label();
    nv.fence_before_loop(&mut text);
    put!(text, "ld.relaxed.{}.b128 {whole}, [{object}];", nv.scope);
    let old = split(&mut text, &whole);
    put!(text, "{again}:");
    let new = combine(nv, &mut text, &old, &value);
    join(&mut text, &cmp, &old);
    join(&mut text, &swap, &new);
    nv.loop_cas(&mut text, "b128", &whole, &[&format!("[{object}]"), &cmp, &swap]);
    let found = split(&mut text, &whole);
    let any = difference(&mut text, &found, &old);
    let failed = text.register(RegisterType::Pred);
    put!(text, "setp.ne.b64 {failed}, {any}, 0;");
    put!(text, "mov.b64 {}, {};", old.low, found.low);
    put!(text, "mov.b64 {}, {};", old.high, found.high);
    put!(text, "@{failed} bra {again};");
    nv.fence_after_loop(&mut text);
    text.finish(&[&found.low, &found.high])
}

fn combine(nv: &Nv, text: &mut Writer, old: &Pair, value: &Pair) -> Pair {
    match nv.op {
        BuiltinOp::Add | BuiltinOp::Sub => {
            let new = Pair::new(text);
            let op = if nv.op == BuiltinOp::Add { "add" } else { "sub" };
            put!(text, "{op}.cc.s64 {}, {}, {};", new.low, old.low, value.low);
            put!(text, "{op}c.cc.s64 {}, {}, {};", new.high, old.high, value.high);
            new
        }
        BuiltinOp::Min | BuiltinOp::Max => {
            let [low, equal, both, high, keep] = [(); 5].map(|()| text.register(RegisterType::Pred));
            let relation = if nv.op == BuiltinOp::Max { "gt" } else { "lt" };
            let letter = nv.ty.class().letter();
            put!(text, "setp.{relation}.u64 {low}, {}, {};", old.low, value.low);
            put!(text, "setp.eq.b64 {equal}, {}, {};", old.high, value.high);
            put!(text, "and.pred {both}, {equal}, {low};");
            put!(text, "setp.{relation}.{letter}64 {high}, {}, {};", old.high, value.high);
            put!(text, "or.pred {keep}, {both}, {high};");
            let new = Pair::new(text);
            put!(text, "selp.b64 {}, {}, {}, {keep};", new.high, old.high, value.high);
            put!(text, "selp.b64 {}, {}, {}, {keep};", new.low, old.low, value.low);
            new
        }
        op => {
            let new = Pair::new(text);
            put!(text, "{}.b64 {}, {}, {};", op.ptx(), new.low, old.low, value.low);
            put!(text, "{}.b64 {}, {}, {};", op.ptx(), new.high, old.high, value.high);
            new
        }
    }
}
