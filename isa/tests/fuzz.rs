//! Random changes to real texts. Parsing must return a result, or problems with positions inside the text. It
//! must not panic, hang, or use more memory than the length of the text justifies.
//!
//! To run longer, with a new seed each time: `ATOMS_FUZZ_MINUTES=60 cargo test --release -p atoms-isa fuzz::
//! -- --ignored --nocapture`. A failure reports its seed; `ATOMS_FUZZ_SEED=...` starts with that seed.

use crate::common;

use atoms_isa::lower::{Frame, lower};
use atoms_isa::ptx::{Function, Module, snippet};
use atoms_isa::{Arch, Program};
use common::{Random, check_function, check_problems, kernels, mutated};
use proptest::prelude::*;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static LISTINGS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| kernels("sass"));
/// Texts of kernels, each followed by a module that contains every construct once.
static MODULES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let constructs = ("constructs.ptx".to_string(), include_str!("common/constructs.ptx").to_string());
    kernels("ptx").into_iter().flat_map(|kernel| [kernel, constructs.clone()]).collect()
});

/// The texts are correct before they are changed. Otherwise the parser would refuse most changed texts at
/// their first problem.
#[test]
fn texts_before_changes_are_read() {
    for (name, text) in MODULES.iter() {
        Module::parse(name, text).unwrap_or_else(|e| panic!("{e}"));
    }
    for (name, text) in LISTINGS.iter() {
        Program::parse(name, text).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// Time limit for parsing one text: a thousand times the usual time, plus a margin for a busy machine.
fn limit(text: &str) -> Duration {
    Duration::from_secs(2) + Duration::from_micros(20) * text.len() as u32
}

fn changed(texts: &[(String, String)], seed: u64) -> String {
    let mut random = Random::new(seed);
    let which = &texts[random.below(texts.len())].1;
    let other = &texts[random.below(texts.len())].1;
    mutated(which, other, &mut random)
}

fn read_module(text: &str) {
    let start = Instant::now();
    match Module::parse("changed.ptx", text) {
        Ok(module) => {
            let counts = (module.functions.len(), module.variables.len());
            module.functions.iter().for_each(|f| check_function(f, counts.0, counts.1, text.len()));
            let registers: usize = module.functions.iter().map(|f| f.registers.len()).sum();
            let initial: usize = module.variables.iter().map(|v| v.initial.len()).sum();
            assert!(registers + initial <= 100_000 + text.len());
            // A module that parses is either translated, or refused with a position in the text.
            if let Err(error) = Program::from_ptx("changed.ptx", text, None) {
                check_problems(&error, text);
            }
        }
        Err(error) => check_problems(&error, text),
    }
    assert!(start.elapsed() < limit(text), "{:?}", start.elapsed());
}

fn read_snippet(text: &str) {
    let start = Instant::now();
    match snippet(text) {
        Ok(function) => {
            check_function(&function, 0, 0, text.len());
            lower_all(function, text.len());
        }
        Err(error) => check_problems(&error, text),
    }
    assert!(start.elapsed() < limit(text), "{:?}", start.elapsed());
}

fn lower_all(function: Function<'_>, length: usize) {
    let arch =
        Arch::from_name(["sm_60", "sm_75", "sm_80", "sm_90", "sm_120"][length % 5]).expect("it is known");
    let module = Module::new((9, 0), arch, vec![function]);
    let function = &module.functions[0];
    let mut frame = Frame::new();
    for instruction in &function.instructions {
        frame.begin();
        match lower(&module, function, instruction, length.is_multiple_of(2), arch, &mut frame) {
            Some(Err(refusal)) => assert!(!refusal.message.is_empty()),
            Some(Ok(sequence)) => assert!(sequence.len() < 1000),
            None => {}
        }
    }
}

fn read_listing(text: &str) {
    let start = Instant::now();
    if let Err(error) = Program::parse("changed.sass", text) {
        check_problems(&error, text);
    }
    assert!(start.elapsed() < limit(text), "{:?}", start.elapsed());
}

fn body(text: &str) -> &str {
    text.split_once("\n{").map_or(text, |(_, body)| body)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn changed_modules(seed in any::<u64>()) {
        read_module(&changed(&MODULES, seed));
    }

    #[test]
    fn changed_bodies(seed in any::<u64>()) {
        read_snippet(body(&changed(&MODULES, seed)));
    }

    #[test]
    fn changed_listings(seed in any::<u64>()) {
        read_listing(&changed(&LISTINGS, seed));
    }

    /// Random text without parts of a real one.
    #[test]
    fn any_text(text in "[ -~\\n]{0,80}") {
        read_module(&text);
        read_snippet(&text);
        read_listing(&format!(".target sm_80\n.section .text.k,\"ax\"\n{text}"));
    }
}

/// Texts that are made to take long: each must be parsed in the time that its length allows.
#[test]
fn texts_made_to_take_long() {
    let head = ".version 8.0\n.target sm_90\n.address_size 64\n";
    let times = |piece: &str| piece.repeat(400_000 / piece.len());
    for piece in [
        "{",
        "}",
        "(",
        "[",
        "x{",
        "x{{;",
        "@",
        "@%p",
        ".",
        ";",
        ":",
        "a:",
        "{a:",
        "bra x;",
        "{bra x;",
        "/*",
        "\"",
        "x\n",
        ".reg .b32 %r<9>;",
        ".reg .b32 %r<90000>;",
        "{.reg .b32 %r<9>;",
        ".global .attribute(\n",
        ".section {",
        ".section\n",
        ".global .b32 x[9][9] = {{{",
        ".global .b8 x[99999] = {{",
        ".func f\n",
        ".func f(.param .b8 x) {",
        "x.x.x.x",
        "%r1|",
        "a|a|",
        "add a, a, ",
        "-",
        "--1",
        "0x",
        "1e9",
        "x::",
        "\u{4e2d}",
        ".loc 1 1 1, ",
        ".file \"",
        "mov a, {b, ",
        "t: .branchtargets ",
        "t: .branchtargets a; brx.idx b, t;",
        "call (a), b, (c), d;",
        ".entry k(",
        ".target sm_80,",
    ] {
        let text = times(piece);
        read_snippet(&text);
        read_module(&format!("{head}{text}"));
        read_module(&format!("{head}.entry k() {{ {text} }}"));
        read_listing(&text);
        read_listing(&format!(".target sm_80\n.section .text.k,\"ax\"\n{text}"));
        read_listing(&format!(".target sm_80\n.section .text.k,\"ax\"\nMOV R1, {text};\n"));
    }
    // One instruction with very many names that are labels or variables.
    let names = |count: usize| (0..count).map(|n| format!("n{n}, ")).collect::<String>();
    for list in ["x, ".repeat(100_000), names(50_000)] {
        let vector = format!("mov.b32 {{{list}x}}, {{{list}x}}; {{ call ({list}x), x, ({list}x); }} x: ret;");
        read_snippet(&vector);
        read_module(&format!("{head}.entry k() {{ {vector} }}"));
        read_module(&format!("{head}.entry k() {{ {} }}", vector.replace(" x:", &list.replace(", ", ": "))));
    }
    // Many declared names, and many undeclared ones.
    let declared: String = (0..20_000).map(|n| format!(".reg .b32 a{n}, b{n}<9>;\n")).collect();
    let named: String = (0..20_000).map(|n| format!("add.s32 a{n}, b{n}3, c{n};\n")).collect();
    read_module(&format!("{head}.entry k() {{ {declared} {named} }}"));
    let listing: String = (0..20_000).map(|n| format!(".L{n}:\nBRA `(.M{n});\nFOO{n};\n")).collect();
    read_listing(&format!(".target sm_80\n.section .text.k,\"ax\"\n{listing}"));
}

/// Peak memory of this process in bytes, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[test]
#[ignore = "nightly: runs for ATOMS_FUZZ_MINUTES, one minute by default"]
fn for_as_long_as_asked() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let minutes = number("ATOMS_FUZZ_MINUTES").unwrap_or(1);
    let clock =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let first = number("ATOMS_FUZZ_SEED").unwrap_or(clock >> 8);
    let start = Instant::now();
    let mut bytes = 0;
    let mut seed = first;
    while start.elapsed() < Duration::from_secs(60 * minutes) {
        let run = std::panic::catch_unwind(|| {
            let (module, listing) = (changed(&MODULES, seed), changed(&LISTINGS, seed));
            read_module(&module);
            read_snippet(body(&module));
            read_listing(&listing);
            module.len() + listing.len()
        });
        bytes += run.unwrap_or_else(|_| panic!("the text of ATOMS_FUZZ_SEED={seed} fails"));
        seed = seed.wrapping_add(1);
    }
    let peak = peak_memory();
    println!(
        "{} texts of each kind, {bytes} bytes, from seed {first} on; peak memory {peak:?}",
        seed - first
    );
    assert!(peak.is_none_or(|bytes| bytes < 1 << 30), "{peak:?}");
}
