//! Texts of real kernels, random changes to them, and checks of the parsed result.
use std::path::PathBuf;

pub(crate) fn kernels(extension: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    let mut kernels: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    kernels.sort();
    kernels
}

/// Pseudo-random numbers from a seed: xorshift64*.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as usize * end) >> 32
    }
}

/// Tokens that mean something to one of the parsers, to be inserted in texts.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "::",
    ".",
    "@",
    "@!",
    "!",
    "|",
    "+",
    "-",
    "+-",
    "=",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    " ",
    "_",
    "%",
    "$",
    "`(",
    "&req={0}",
    "?",
    "0x",
    "0f",
    "0d",
    "0b",
    "0f3F800000",
    "4294967296",
    "18446744073709551616",
    "99999999999999999999999",
    "1e999",
    "-0",
    "1.5e-",
    "08",
    "%r",
    "%r1",
    "%p1",
    "%tid",
    "%tid.x",
    ".x",
    "R254",
    "UR62",
    "R255",
    ".reg .b32 %r<9>;",
    "<4000000000>",
    "[4000000000]",
    ".b8",
    ".pred",
    ".v4",
    ".align 4",
    ".shared",
    ".param",
    ".extern",
    ".visible",
    ".entry k",
    ".func f",
    ".version 8.0",
    ".target sm_80",
    ".target sm_50",
    ".section",
    ".section .debug_info {",
    ".loc 1 2 3",
    ".file 1 \"a\"",
    ".pragma \"x\";",
    ".branchtargets L, M;",
    ".callprototype",
    ".attribute(",
    "generic(x)+4",
    "= {1, {2}}",
    "bra L;",
    "L:",
    "call (a), f, (b), p;",
    "atom.shared.add.u32 %r1, [%r1], 1;",
    ".section .text.k,\"ax\"",
    "/*0010*/",
    "BRA `(.L_x_0)",
    "\u{e9}",
    "\u{4e2d}\u{6587}",
    "\u{1f600}",
    "\0",
    "\u{85}",
    "\r",
];

/// Returns `text` after one to a dozen random changes: flips bytes; deletes, doubles or moves parts; takes
/// parts from `other`; exchanges words; inserts tokens; or cuts off the end.
pub(crate) fn mutated(text: &str, other: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(12) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let length = 1 << random.below(9);
        let end = (at + 1 + random.below(length)).min(bytes.len());
        match random.below(10) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                for _ in 0..=random.below(20) {
                    bytes.splice(at..at, part.iter().copied());
                }
            }
            3 => {
                let part: Vec<u8> = bytes.drain(at..end).collect();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, part);
            }
            4 => {
                let from = random.below(other.len());
                let part = other.as_bytes()[from..].iter().take(length).copied();
                bytes.splice(at..end, part);
            }
            5 => exchange(&mut bytes, at, random),
            6 if random.below(8) == 0 => bytes.truncate(at),
            7 => bytes[at] = random.below(256) as u8,
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Exchanges two words, one of which is at position `at`.
fn exchange(bytes: &mut [u8], at: usize, random: &mut Random) {
    let word = |at: usize| {
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'%' | b'_' | b'.' | b'$');
        let before = bytes[..at].iter().rev().take_while(|b| part(b)).count();
        let after = bytes[at..].iter().take_while(|b| part(b)).count();
        at - before..at + after
    };
    let (a, b) = (word(at), word(random.below(bytes.len())));
    let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
    if a.end <= b.start {
        let middle = bytes[a.end..b.start].to_vec();
        let exchanged = [&bytes[b.clone()], &middle, &bytes[a.clone()]].concat();
        bytes[a.start..b.end].copy_from_slice(&exchanged);
    }
}

pub(crate) fn check_problems(error: &atoms_isa::TextError, text: &str) {
    assert!(!error.problems.is_empty());
    assert!(error.problems.len() <= 300);
    for problem in &error.problems {
        let (start, length) = (problem.span.offset(), problem.span.len());
        assert!(text.get(start..start + length).is_some(), "{problem} at {start}+{length}");
        let before = &text[..start];
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() as u32 + 1;
        assert_eq!((problem.line, problem.column), (line, column), "{problem}");
        assert!(!problem.help.is_empty() && !problem.message.is_empty());
    }
}

/// Checks properties of a parsed function: indices are valid, and sizes are in proportion to the length of
/// the text.
pub(crate) fn check_function(
    function: &atoms_isa::ptx::Function<'_>,
    functions: usize,
    globals: usize,
    length: usize,
) {
    use atoms_isa::ptx::{Base, Operand, Symbol};
    let symbol = |symbol: &Symbol| match *symbol {
        Symbol::Local(index) => assert!((index as usize) < function.variables.len()),
        Symbol::Module(index) => assert!((index as usize) < globals),
        Symbol::Function(index) => assert!((index as usize) < functions),
    };
    let register = |id: &atoms_isa::ptx::RegId| assert!((id.0 as usize) < function.registers.len());
    fn walk<'a, 't>(operand: &'a Operand<'t>, see: &mut dyn FnMut(&'a Operand<'t>)) {
        see(operand);
        match operand {
            Operand::Vector(inner) | Operand::List(inner) => inner.iter().for_each(|o| walk(o, see)),
            Operand::Pair(inner) => inner.iter().for_each(|o| walk(o, see)),
            _ => {}
        }
    }
    assert!(function.registers.len() <= 100_000 + length);
    assert!(function.instructions.len() <= length && function.labels.len() <= length);
    assert!(function.params + function.results <= function.variables.len());
    for instruction in &function.instructions {
        assert!(!instruction.text.is_empty() && !instruction.opcode.is_empty());
        instruction.guard.iter().for_each(|g| register(&g.register));
        for operand in &instruction.operands {
            walk(operand, &mut |operand| match operand {
                Operand::Register(id) | Operand::Not(id) => register(id),
                Operand::Label(id) => assert!((id.0 as usize) < function.labels.len()),
                Operand::Targets(index) => assert!((*index as usize) < function.branch_targets.len()),
                Operand::Address { base: Base::Register(id), .. } => register(id),
                Operand::Address { base: Base::Symbol(s), .. } | Operand::Symbol { symbol: s, .. } => {
                    symbol(s)
                }
                _ => {}
            });
        }
    }
    for label in &function.labels {
        assert!(label.at as usize <= function.instructions.len());
    }
    for target in function.branch_targets.iter().flatten() {
        assert!((target.0 as usize) < function.labels.len());
    }
}
