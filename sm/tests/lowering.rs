//! Every `atom` and `red` that PTX allows, lowered for each generation and executed by all lanes of two warps
//! at once, on shared addresses. The results must match some serial order of the lanes, by the semantics of
//! PTX alone (spec 3, 3.4, 4.5, 7.1, 7.2).

use crate::functional;

use atoms_isa::lower::{Frame, lower};
use atoms_isa::ptx::{Base, Function, Module, Operand, snippet};
use atoms_isa::{Arch, Program};
use atoms_sm::{Element, Launch, Param, ParamKind, SmConfig, run};
use functional::{FunctionalPort, Shape};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Half};
use std::collections::{BTreeMap, BTreeSet};

/// Architectures for which the tests lower: at least one of each generation.
const ARCHES: [&str; 8] = ["sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_110", "sm_120"];

/// Legal atomics: operation, type, width of the type in bits, first architecture, as the number after `sm_`,
/// that has this combination.
#[rustfmt::skip]
const LEGAL: &[(&str, &str, u32, u16)] = &[
    ("add", "u32", 32, 70), ("add", "s32", 32, 70), ("add", "u64", 64, 70), ("add", "f32", 32, 70),
    ("add", "f64", 64, 70), ("add", "noftz.f16", 16, 70), ("add", "noftz.f16x2", 32, 70),
    ("add", "noftz.bf16", 16, 90), ("add", "noftz.bf16x2", 32, 90), ("add", "noftz.f32", 32, 90),
    ("min", "u32", 32, 70), ("min", "s32", 32, 70), ("min", "u64", 64, 70), ("min", "s64", 64, 70),
    ("max", "u32", 32, 70), ("max", "s32", 32, 70), ("max", "u64", 64, 70), ("max", "s64", 64, 70),
    ("inc", "u32", 32, 70), ("dec", "u32", 32, 70),
    ("and", "b32", 32, 70), ("and", "b64", 64, 70), ("or", "b32", 32, 70), ("or", "b64", 64, 70),
    ("xor", "b32", 32, 70), ("xor", "b64", 64, 70),
    ("exch", "b32", 32, 70), ("exch", "b64", 64, 70), ("exch", "b128", 128, 90),
    ("cas", "b16", 16, 70), ("cas", "b32", 32, 70), ("cas", "b64", 64, 70), ("cas", "b128", 128, 90),
];

const THREADS: usize = 64;
/// Number of addresses that the threads share (`PLACES`), and size of the memory at these addresses in bytes.
const PLACES: usize = 16;
const BYTES: usize = 16 * PLACES;

/// New value of an operation by its definition. Source: [PTX] atom, semantics.
fn apply(op: &str, ty: &str, old: u128, b: u128, c: u128) -> u128 {
    let signed = |v: u128| match ty {
        "s32" => i128::from(v as u32 as i32),
        "s64" => i128::from(v as u64 as i64),
        _ => v as i128,
    };
    let half = |old: u128, b: u128| match ty {
        "noftz.f16" | "noftz.f16x2" => (Half::from_bits(old) + Half::from_bits(b)).value.to_bits(),
        _ => (BFloat::from_bits(old) + BFloat::from_bits(b)).value.to_bits(),
    };
    match (op, ty) {
        ("add", "u32" | "s32") => u128::from((old as u32).wrapping_add(b as u32)),
        ("add", "u64") => u128::from((old as u64).wrapping_add(b as u64)),
        ("add", "f32" | "noftz.f32") => {
            u128::from((f32::from_bits(old as u32) + f32::from_bits(b as u32)).to_bits())
        }
        ("add", "f64") => u128::from((f64::from_bits(old as u64) + f64::from_bits(b as u64)).to_bits()),
        ("add", "noftz.f16" | "noftz.bf16") => half(old, b),
        ("add", _) => half(old >> 16, b >> 16) << 16 | half(old & 0xffff, b & 0xffff),
        ("min", _) => {
            if signed(old) < signed(b) {
                old
            } else {
                b
            }
        }
        ("max", _) => {
            if signed(old) > signed(b) {
                old
            } else {
                b
            }
        }
        ("inc", _) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        ("dec", _) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        ("and", _) => old & b,
        ("or", _) => old | b,
        ("xor", _) => old ^ b,
        ("exch", _) => b,
        ("cas", _) => {
            if old == b {
                c
            } else {
                old
            }
        }
        _ => panic!("no operation {op}.{ty}"),
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Random value of a type: a corner case, a small value that is likely to repeat, or any value.
    fn value(&mut self, ty: &str, bits: u32) -> u128 {
        let tiny = [0_i8, 1, -1, 3, 12, -7][self.below(6) as usize];
        let small = f32::from(tiny) * 0.75;
        let half = |value: f32, bf: bool| -> u128 {
            let text = value.to_string();
            if bf {
                text.parse::<BFloat>().unwrap().to_bits()
            } else {
                text.parse::<Half>().unwrap().to_bits()
            }
        };
        let wild = u128::from(self.next()) << 64 | u128::from(self.next());
        let value = match ty {
            // Shared-memory atomics keep subnormals (spec 7.3).
            "f32" | "noftz.f32" if self.below(4) == 0 => u128::from(self.below(0x80_0000)),
            "f32" | "noftz.f32" => u128::from((small * 1.1).to_bits()),
            "f64" => u128::from((f64::from(small) * 1.1).to_bits()),
            "noftz.f16" | "noftz.bf16" => half(small, ty == "noftz.bf16"),
            "noftz.f16x2" | "noftz.bf16x2" => {
                half(small, ty == "noftz.bf16x2") << 16 | half(1.5 - small, ty == "noftz.bf16x2")
            }
            _ if self.below(2) == 0 => i128::from(tiny) as u128,
            _ => wild,
        };
        if bits == 128 { value } else { value & ((1 << bits) - 1) }
    }
}

/// Form of the address and operands of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// `[%r8]`: an address per thread.
    Own,
    /// `[%r8+offset]`: an offset that fits into the address field, or does not.
    Offset(i64),
    /// `[sm+16]`: one address for all threads.
    Variable(u32),
    /// A constant for operand B, with an address per thread.
    Constant(u64),
    /// A constant for operand B, with one address for all threads.
    VariableConstant(u64),
    /// Generic address of shared memory, with an offset.
    Generic(i64),
    /// `.shared::cluster`, with an address in the own CTA.
    Cluster,
}

struct Case {
    op: &'static str,
    ty: &'static str,
    bits: u32,
    form: Form,
    /// `red`, or `atom`. `used` is true if the kernel uses the result of the `atom`.
    red: bool,
    used: bool,
    /// True if the kernel ends directly after the instruction.
    last: bool,
    /// Qualifiers for order and scope, such as `.acq_rel.gpu`.
    order: &'static str,
    arch: &'static str,
}

impl Case {
    fn text(&self) -> String {
        let opcode = if self.red { "red" } else { "atom" };
        let letter = match self.bits {
            16 => "h",
            32 => "r",
            64 => "d",
            _ => "q",
        };
        let (space, address) = match self.form {
            Form::Own | Form::Constant(_) => (".shared", "%a".to_string()),
            Form::Offset(offset) => (".shared", format!("%a+{offset}")),
            Form::Variable(byte) => (".shared", format!("sm+{byte}")),
            Form::VariableConstant(_) => (".shared", "sm+16".into()),
            Form::Generic(offset) => ("", format!("%ga+{offset}")),
            Form::Cluster => (".shared::cluster", "%a".into()),
        };
        let d = if self.red { String::new() } else { format!("%{letter}4, ") };
        let b = match self.form {
            Form::Constant(bits) | Form::VariableConstant(bits) => match self.ty {
                "f32" => format!("0f{bits:08X}"),
                "f64" => format!("0d{bits:016X}"),
                _ => format!("{bits:#x}"),
            },
            _ => format!("%{letter}1"),
        };
        let c = if self.op == "cas" { format!(", %{letter}2") } else { String::new() };
        let more = if self.last { "" } else { "\nbar.sync 0;" };
        format!("{opcode}{}{space}.{}.{} {d}[{address}], {b}{c};{more}", self.order, self.op, self.ty)
    }

    fn constant(&self) -> Option<u64> {
        match self.form {
            Form::Constant(bits) | Form::VariableConstant(bits) => Some(bits),
            _ => None,
        }
    }

    /// Byte offset of the common address. `None` if each thread has its own.
    fn one_place(&self) -> Option<usize> {
        match self.form {
            Form::Variable(byte) => Some(byte as usize),
            Form::VariableConstant(_) => Some(16),
            _ => None,
        }
    }
}

struct Start {
    memory: Vec<u8>,
    /// Per thread: place, operand B, operand C, true if active.
    threads: Vec<(usize, u128, u128, bool)>,
}

impl Start {
    fn new(case: &Case, random: &mut Random) -> Start {
        let mut memory = vec![0; BYTES];
        let bytes = case.bits as usize / 8;
        for at in (0..BYTES).step_by(bytes) {
            let value = random.value(case.ty, case.bits).to_le_bytes();
            memory[at..at + bytes].copy_from_slice(&value[..bytes]);
        }
        let everybody = random.below(3) == 0;
        let turn = random.below(PLACES as u64) as usize;
        let threads = (0..THREADS).map(|thread| {
            // Neighbouring halves share a word, and places of a warp share banks.
            let place = case.one_place().map_or((thread * 5 + turn) % PLACES, |byte| byte / bytes);
            let b = case.constant().map(u128::from).unwrap_or_else(|| random.value(case.ty, case.bits));
            let b = if case.bits == 128 { b } else { b & ((1 << case.bits) - 1) };
            (place, b, random.value(case.ty, case.bits), everybody || random.below(4) != 0)
        });
        Start { threads: threads.collect(), memory }
    }

    fn value(memory: &[u8], place: usize, bytes: usize) -> u128 {
        memory[place * bytes..][..bytes].iter().rev().fold(0, |v, b| v << 8 | u128::from(*b))
    }
}

fn lowered(case: &Case, frame: &mut Frame) -> (Vec<String>, Vec<(String, u16)>) {
    let module = Module::parse("none", ".version 8.0\n.target sm_90\n.address_size 64\n").unwrap();
    let text = case.text();
    let function: Function<'_> = snippet(&text).unwrap();
    let arch = Arch::from_name(case.arch).unwrap();
    frame.begin();
    for instruction in &function.instructions {
        for operand in &instruction.operands {
            if let Operand::Address { base: Base::Symbol(symbol), .. } = operand {
                frame.place(*symbol, arch.shared_origin());
            }
        }
    }
    let sequence = lower(&module, &function, &function.instructions[0], case.used, arch, frame)
        .unwrap()
        .unwrap_or_else(|e| panic!("{text} on {}: {e}", case.arch));
    let places = function.registers.iter().enumerate().map(|(index, register)| {
        let words = match register.name.as_ref() {
            "%a" => 1,
            "%ga" => 2,
            _ => case.bits.div_ceil(32) as u8,
        };
        (register.name.to_string(), frame.register(atoms_isa::ptx::RegId(index as u32), words))
    });
    (sequence, places.collect())
}

/// Kernel around a lowered sequence: loads operands and memory, stores result and memory.
fn listing(case: &Case, sequence: &[String], places: &[(String, u16)]) -> String {
    let arch = Arch::from_name(case.arch).unwrap();
    let param = |n: u32| arch.param_base() + 8 * n;
    let mut lines: Vec<String> = Vec::new();
    let mut say = |line: String| lines.push(format!("{line} ;"));
    say("S2R R200, SR_TID.X".into());
    for (n, register) in [(0, 202), (1, 204), (2, 206), (3, 208)] {
        say(format!("MOV R{register}, c[0x0][{:#x}]", param(n)));
        say(format!("MOV R{}, c[0x0][{:#x}]", register + 1, param(n) + 4));
    }
    if case.last {
        // A third warp waits until the others have ended, then reads the memory.
        say(format!("ISETP.GE.U32.AND P5, PT, R200, {THREADS:#x}, PT"));
        say("@P5 BRA `(watch)".into());
    }
    // Each thread has 64 bytes of input and 16 bytes of output. Each also loads and stores a few bytes of the
    // memory.
    say("IMAD.WIDE.U32 R202, R200, 0x40, R202".into());
    say("IMAD.WIDE.U32 R204, R200, 0x10, R204".into());
    let each = BYTES / THREADS;
    say(format!("IMAD.WIDE.U32 R206, R200, {each:#x}, R206"));
    say(format!("IMAD.WIDE.U32 R208, R200, {each:#x}, R208"));
    say(format!("IMAD R210, R200, {each:#x}, RZ"));
    say(format!("IADD3 R210, R210, {:#x}, RZ", arch.shared_origin()));
    say("LDG.E R211, [R206]".into());
    say("STS [R210], R211".into());
    say("LDG.E R212, [R202]".into());
    say("LDG.E R213, [R202+0x4]".into());
    for (name, register) in places {
        let words = case.bits.div_ceil(32);
        let from = match name.as_bytes().last().copied().unwrap_or(0) {
            b'1' => 0x10,
            b'2' => 0x20,
            _ => 0x30,
        };
        match name.as_str() {
            "%a" => say(format!("MOV R{register}, R212")),
            "%ga" => {
                say(format!("MOV R{register}, R212"));
                if arch.number() < 90 {
                    say(format!("MOV R{}, c[0x0][0x1c]", register + 1));
                } else {
                    say(format!("S2R R{}, SR_SWINHI", register + 1));
                }
            }
            _ => {
                for word in 0..words {
                    let at = from + 4 * word;
                    say(format!("LDG.E R{}, [R202+{at:#x}]", u32::from(*register) + word));
                }
            }
        }
    }
    say("BAR.SYNC 0x0".into());
    say("ISETP.EQ.U32.AND P6, PT, R213, RZ, PT".into());
    say("@P6 BRA `(skip)".into());
    lines.extend(sequence.iter().map(|l| if l.ends_with(':') { l.clone() } else { format!("{l} ;") }));
    let mut say = |line: String| lines.push(format!("{line} ;"));
    if case.used {
        let (_, result) = places.iter().find(|(name, _)| name.ends_with('4')).expect("a destination");
        for word in 0..case.bits.div_ceil(32) {
            say(format!("STG.E [R204+{:#x}], R{}", 4 * word, u32::from(*result) + word));
        }
    }
    let mut more = |text: &str| lines.extend(text.lines().map(str::to_string));
    if case.last {
        more("skip:\nEXIT ;\nwatch:\nBAR.SYNC 0x0 ;\nBAR.SYNC 0x0 ;");
        more(&format!("IADD3 R200, R200, -{THREADS:#x}, RZ ;"));
        more("IMAD R210, R200, 0x8, RZ ;\nIMAD.WIDE.U32 R208, R200, 0x8, R208 ;");
        more(&format!("LDS.64 R214, [R210+{:#x}] ;\nSTG.E.64 [R208], R214 ;\nEXIT ;", arch.shared_origin()));
    } else {
        more("skip:\nBAR.SYNC 0x0 ;\nLDS R214, [R210] ;\nSTG.E [R208], R214 ;\nEXIT ;");
    }
    format!(".target {}\n.section .text.k,\"ax\",@progbits\n{}\n", case.arch, lines.join("\n"))
}

/// Runs a case. Returns the result of each thread, and the final memory.
fn outcome(case: &Case, start: &Start, seed: u64) -> (Vec<u128>, Vec<u8>) {
    let mut frame = Frame::new();
    let (sequence, places) = lowered(case, &mut frame);
    let text = listing(case, &sequence, &places);
    let program =
        Program::parse(&case.text(), &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let bytes = case.bits as usize / 8;
    let offset = if let Form::Offset(offset) | Form::Generic(offset) = case.form { offset } else { 0 };
    let origin = i64::from(program.arch.shared_origin());
    let mut input = Vec::new();
    for (place, b, c, active) in &start.threads {
        let address = (origin + (place * bytes) as i64 - offset) as u32;
        let mut record = vec![0; 64];
        record[..4].copy_from_slice(&address.to_le_bytes());
        record[4] = u8::from(*active);
        record[16..32].copy_from_slice(&b.to_le_bytes());
        record[32..48].copy_from_slice(&c.to_le_bytes());
        // The initial value of the destination must not matter.
        record[48..64].fill(0xa5);
        input.extend(record);
    }
    let buffer = |name: &str, bytes: Vec<u8>| Param {
        name: name.into(),
        kind: ParamKind::Buffer { element: Element::U8, bytes, expect: None },
    };
    let launch = Launch {
        kernel: "k".into(),
        grid: [1; 3],
        block: [THREADS as u32 + if case.last { 32 } else { 0 }, 1, 1],
        cluster: [1; 3],
        shared: Some(2048),
        cycle_budget: Some(400_000),
        params: vec![
            buffer("in", input),
            buffer("out", vec![0; 16 * THREADS]),
            buffer("before", start.memory.clone()),
            buffer("after", vec![0; BYTES]),
        ],
        ..Launch::default()
    };
    let mut port = FunctionalPort::new(Shape { seed, ..Shape::default() });
    let report = run(&program.kernels[0], &launch, &mut port, &SmConfig::default())
        .unwrap_or_else(|e| panic!("{} on {}: {e}\n{text}", case.text(), case.arch));
    assert!(port.clean(), "every part is taken away");
    let out = &report.buffer("out").unwrap().bytes;
    let full = if case.bits == 128 { u128::MAX } else { (1 << case.bits) - 1 };
    let result = |t: usize| u128::from_le_bytes(out[16 * t..16 * t + 16].try_into().unwrap()) & full;
    ((0..THREADS).map(result).collect(), report.buffer("after").unwrap().bytes.clone())
}

/// True if the final memory does not depend on the order of the lanes.
fn commutes(case: &Case) -> bool {
    let integer = !case.ty.contains('f');
    integer && matches!(case.op, "add" | "min" | "max" | "and" | "or" | "xor")
}

/// True if some order of these threads leads from one value to the other, and gives each thread its result.
fn explained(case: &Case, from: u128, to: u128, threads: &[(u128, u128, u128)]) -> bool {
    if case.used {
        return trail(case, from, to, threads);
    }
    if commutes(case) {
        return threads.iter().fold(from, |v, (b, c, _)| apply(case.op, case.ty, v, *b, *c)) == to;
    }
    // Without results, try every order: few threads share a place.
    if threads.is_empty() {
        return from == to;
    }
    (0..threads.len()).any(|next| {
        let mut others = threads.to_vec();
        let (b, c, _) = others.swap_remove(next);
        explained(case, apply(case.op, case.ty, from, b, c), to, &others)
    })
}

/// True if an order of the threads exists. Each thread is an edge from the value it saw to the value it left.
/// An order is a trail over all edges of this graph. It exists if the edges into and out of each value
/// balance, and the graph is connected.
fn trail(case: &Case, from: u128, to: u128, threads: &[(u128, u128, u128)]) -> bool {
    let edge = |(b, c, seen): &(u128, u128, u128)| (*seen, apply(case.op, case.ty, *seen, *b, *c));
    let mut balance: BTreeMap<u128, i64> = BTreeMap::new();
    for (start, end) in threads.iter().map(edge).chain([(to, from)]) {
        *balance.entry(start).or_default() += 1;
        *balance.entry(end).or_default() -= 1;
    }
    let mut reached = BTreeSet::from([from]);
    loop {
        let before = reached.len();
        for (start, end) in threads.iter().map(edge) {
            if reached.contains(&start) {
                reached.insert(end);
            }
        }
        if reached.len() == before {
            break;
        }
    }
    balance.values().all(|n| *n == 0) && threads.iter().all(|t| reached.contains(&edge(t).0))
}

fn judge(case: &Case, start: &Start, results: &[u128], after: &[u8]) {
    let bytes = case.bits as usize / 8;
    let mut at: BTreeMap<usize, Vec<(u128, u128, u128)>> = BTreeMap::new();
    for ((place, b, c, active), seen) in start.threads.iter().zip(results) {
        if *active {
            at.entry(*place).or_default().push((*b, *c, *seen));
        }
    }
    for place in 0..BYTES / bytes {
        let (from, to) = (Start::value(&start.memory, place, bytes), Start::value(after, place, bytes));
        let threads = at.remove(&place).unwrap_or_default();
        assert!(
            explained(case, from, to, &threads),
            "{} on {}: {from:#x} at {place} became {to:#x}; (b, c, seen) of its threads: {threads:#x?}",
            case.text(),
            case.arch
        );
    }
}

fn check(case: &Case, random: &mut Random, rounds: usize) {
    for _ in 0..rounds {
        let start = Start::new(case, random);
        let (results, after) = outcome(case, &start, random.next());
        judge(case, &start, &results, &after);
    }
}

/// Runs every legal pair of operation and type in one form on all architectures; in the nightly tier from two
/// random states. Returns the number of cases.
fn every(form: Form, order: &'static str, last: bool, wants: impl Fn(&Case) -> bool) -> usize {
    let mut random = Random(0x5eed);
    let mut count = 0;
    let rounds = if atoms_host::is_nightly() { 2 } else { 1 };
    for arch in ARCHES {
        let number = Arch::from_name(arch).unwrap().number();
        for &(op, ty, bits, since) in LEGAL {
            for (red, used) in [(false, true), (false, false), (true, false)] {
                let case = Case { op, ty, bits, form, red, used, last, order, arch };
                let reducible = !red || !matches!(op, "exch" | "cas");
                if number >= since && reducible && wants(&case) {
                    check(&case, &mut random, rounds);
                    count += 1;
                }
            }
        }
    }
    count
}

/// Number of legal pairs before sm_90 (all, those with `red`), and from sm_90 on (all, those with `red`).
const PAIRS: [usize; 4] = [28, 23, 33, 26];

/// Number of cases of [`every`] if it runs all.
const ALL: usize = 4 * (2 * PAIRS[0] + PAIRS[1]) + 4 * (2 * PAIRS[2] + PAIRS[3]);

#[test]
fn an_address_of_each_thread() {
    assert_eq!(every(Form::Own, "", false, |_| true), ALL);
}

/// Without later instructions, threads exit in the middle of a sequence.
#[test]
fn at_the_end_of_the_kernel() {
    assert_eq!(every(Form::Own, "", true, |_| true), ALL);
}

#[test]
fn offsets_near_and_far() {
    for offset in [16, -8, 0x7f_ff00, 0x100_0000, -0x200_0000] {
        assert_eq!(every(Form::Offset(offset), "", false, |_| true), ALL);
    }
}

/// The warp may combine its lanes first. If the order of the lanes affects the final memory, only cases whose
/// result is used are checked.
#[test]
fn one_address_for_all() {
    for last in [false, true] {
        assert!(every(Form::Variable(16), "", last, |case| case.used || commutes(case)) > ALL / 2);
    }
    // The upper half of a word.
    assert!(every(Form::Variable(18), "", false, |case| case.bits == 16 && case.used) > 0);
}

fn integer(case: &Case) -> bool {
    !case.ty.contains('f') && case.bits >= 32 && case.bits <= 64
}

const CONSTANTS: [u64; 10] =
    [0, 1, 5, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 32, 3 << 32, 0xffff_ffff_0000_0000, u64::MAX];

#[test]
fn constants() {
    for constant in CONSTANTS {
        let wide = constant > 0xffff_ffff;
        let wants = |case: &Case| integer(case) && (case.bits == 64 || !wide);
        assert!(every(Form::Constant(constant), "", false, wants) > 0);
    }
}

#[test]
fn constants_at_one_address() {
    for constant in CONSTANTS {
        let wide = constant > 0xffff_ffff;
        let wants = |case: &Case| integer(case) && (case.bits == 64 || !wide) && commutes(case);
        for last in [false, true] {
            assert!(every(Form::VariableConstant(constant), "", last, wants) > 0);
        }
    }
}

/// Immediates, constants with too many digits for an immediate, zeros, and halves as compare values.
#[test]
fn constants_of_other_types() {
    let third = f64::to_bits(1.0 / 3.0);
    for (ty, constants) in [
        ("f32", [0x3f80_0000, 0xbf00_0000, 0x4049_0fdb, 0x501_5f90, 0, 0x8000_0000]),
        ("f64", [0x3ff0_0000_0000_0000, 0xbfe0_0000_0000_0000, third, 0x4340_0000_0000_0000, 0, 1 << 63]),
        ("b16", [0, 1, 0xffff, 0x8000, 12, 0xfff9]),
    ] {
        for constant in constants {
            assert!(every(Form::Constant(constant), "", false, |case| case.ty == ty) > 0);
        }
    }
}

/// Memory order and scope only add fences around the same operation (spec 7.4).
#[test]
fn fences_change_nothing() {
    for order in [".release.cta", ".release.sys", ".acquire.gpu", ".acq_rel.gpu"] {
        let wants = |case: &Case| !case.red || order.starts_with(".release");
        for form in [Form::Own, Form::Variable(16)] {
            let countable = |case: &Case| form == Form::Own || case.used || commutes(case);
            assert!(every(form, order, false, |case| wants(case) && countable(case)) > 0);
        }
    }
}

/// True if the core supports all instructions of the sequence. The core lacks some generic 64-bit and
/// packed-half atomics, and the local-memory code of later architectures. Those sequences are only compared
/// with the assembler's.
fn carried_out(case: &Case) -> bool {
    let (sequence, places) = lowered(case, &mut Frame::new());
    let program = Program::parse("carried out", &listing(case, &sequence, &places));
    program.is_ok_and(|p| p.kernels[0].unsupported().next().is_none())
}

/// Lower limits for the number of cases that the core supports, generic and `.shared::cluster`.
const GENERIC: usize = 508;
const CLUSTER: usize = 264;

#[test]
fn generic_addresses() {
    for offset in [0, -8, -0x100_0008] {
        let count = every(Form::Generic(offset), "", false, carried_out);
        assert!(count >= GENERIC, "{count}");
    }
}

#[test]
fn addresses_of_the_cluster() {
    let since = |case: &Case| Arch::from_name(case.arch).unwrap().number() >= 90;
    let count = every(Form::Cluster, "", false, |case| since(case) && carried_out(case));
    assert!(count >= CLUSTER, "{count}");
}
