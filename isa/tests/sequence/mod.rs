//! Comparison of two machine code sequences: they must have the same instructions on the same values.
//!
//! Register numbers differ between kernels, so the comparison uses the origin of each value. An operand
//! agrees if both sides read the result of the same compared instruction, or the same constant. Other values
//! come from outside the sequence, or from instructions that are not compared. For these, the registers of
//! the two sequences must correspond one to one.

use std::collections::HashMap;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) guard: &'a str,
    pub(crate) mnemonic: &'a str,
    pub(crate) operands: &'a str,
}

impl<'a> Statement<'a> {
    pub(crate) fn parse(line: &'a str) -> Statement<'a> {
        let (guard, rest) = match line.starts_with('@').then(|| line.split_once(' ')).flatten() {
            Some(split) => split,
            None => ("", line),
        };
        let (mnemonic, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        Statement { guard, mnemonic, operands }
    }

    pub(crate) fn base(&self) -> &'a str {
        self.mnemonic.split('.').next().unwrap_or("")
    }

    fn parts(&self) -> Vec<&'a str> {
        self.operands.split(", ").filter(|part| !part.is_empty()).collect()
    }

    /// Returns the target label of a branch or of a reconvergence point.
    pub(crate) fn target(&self) -> Option<&'a str> {
        let last = self.operands.rsplit([' ', '(']).next().unwrap_or("").trim_end_matches(')');
        let number = last.strip_prefix('L')?;
        number.bytes().all(|b| b.is_ascii_digit()).then_some(last)
    }

    /// Number of 32-bit words of a value that is in consecutive registers.
    fn words(&self) -> u32 {
        let wide = ["64", "U64", "S64", "F64", "TRANS64", "WIDE"];
        match self.mnemonic.split('.').any(|part| part == "128") {
            true => 4,
            false => {
                1 + u32::from(self.base() == "DADD" || self.mnemonic.split('.').any(|p| wide.contains(&p)))
            }
        }
    }

    /// Number of leading operands that the instruction writes: predicates, then one register.
    fn written(&self, parts: &[&str]) -> usize {
        let predicate =
            |p: &&&str| matches!(register(p), Some(("P" | "UP", _))) || matches!(**p, "PT" | "UPT");
        let leading = parts.iter().take_while(predicate).count();
        match self.base() {
            "ISETP" | "PLOP3" => 2,
            "ST" | "STS" | "STG" | "RED" | "REDG" | "BSSY" | "BSYNC" | "BRA" | "MEMBAR" | "CCTL" | "STAS" => {
                0
            }
            "IADD3" | "UIADD3" | "VOTE" | "VOTEU" => {
                1 + parts
                    .iter()
                    .skip(1)
                    .take(if self.base().starts_with('V') { 1 } else { 2 })
                    .take_while(predicate)
                    .count()
            }
            _ => {
                let register_next = parts.get(leading).is_some_and(|p| {
                    matches!(register(p), Some(("R" | "UR", _))) || matches!(*p, "RZ" | "URZ")
                });
                leading + usize::from(register_next)
            }
        }
    }

    /// True if the instruction only copies a value or creates a constant. Compilers select and place such
    /// instructions depending on the rest of the kernel.
    pub(crate) fn is_move(&self) -> bool {
        let constant =
            |from: &str| self.operands.split_once(", ").is_some_and(|(_, rest)| rest.starts_with(from));
        match self.base() {
            "MOV" | "MOV32I" | "UMOV" | "CS2R" | "S2R" | "S2UR" => true,
            "IMAD" if self.mnemonic.starts_with("IMAD.MOV") => true,
            "IMAD" => self.mnemonic == "IMAD.U32" && constant("RZ, RZ"),
            "HFMA2" => constant("-RZ, RZ"),
            _ => false,
        }
    }
}

/// Returns the kind and the number of a register, such as `R12`, `UR4`, `P0`, `UP0` or `B0`.
fn register(text: &str) -> Option<(&str, u32)> {
    let kind = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = text.strip_prefix(kind)?.parse().ok()?;
    matches!(kind, "R" | "UR" | "P" | "UP" | "B").then_some((kind, number))
}

/// Returns the register whose number is higher by `words`. A predicate is returned unchanged.
fn further(name: &str, words: u32) -> String {
    match register(name) {
        Some((kind @ ("R" | "UR"), number)) => format!("{kind}{}", number + words),
        _ => name.into(),
    }
}

/// Returns the registers in a text, in order, and the text with each register replaced by its kind.
fn registers(text: &str) -> (Vec<&str>, String) {
    let (mut found, mut rest, mut word) = (Vec::new(), String::new(), 0);
    let alphanumeric = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (at, c) in text.char_indices().chain([(text.len(), '\n')]) {
        if alphanumeric(c) {
            continue;
        }
        let name = &text[word..at];
        match register(name) {
            Some((kind, _)) => {
                found.push(name);
                rest.push_str(kind);
            }
            None => rest.push_str(name),
        }
        if c != '\n' {
            rest.push(c);
        }
        word = at + c.len_utf8();
    }
    (found, rest)
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// Result of a compared instruction: index of the instruction, index of the operand, index of the word.
    Written(usize, usize, u32),
    Constant(u32),
    Sum(Box<Origin>, u32),
    /// Value that was read before any write, or that an instruction wrote which is not compared.
    Outside(String, usize),
}

#[derive(Debug, Default)]
pub(crate) struct Sequence {
    /// Text of each compared statement and label, without register numbers.
    pub(crate) texts: Vec<String>,
    pub(crate) reads: Vec<Vec<Origin>>,
}

fn constant(text: &str) -> Option<u64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let bits = match digits {
        "RZ" | "URZ" | "SRZ" => 0,
        _ => u64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?,
    };
    Some(if negative { bits.wrapping_neg() } else { bits })
}

fn half(text: &str) -> Option<u32> {
    let wanted: f64 = text.trim().parse().ok()?;
    let value = |bits: u32| {
        let (exponent, fraction) = ((bits >> 10 & 0x1f) as i32, f64::from(bits & 0x3ff));
        let magnitude = match exponent {
            0 => fraction * f64::powi(2.0, -24),
            _ => (fraction + 1024.0) * f64::powi(2.0, exponent - 25),
        };
        if bits & 0x8000 == 0 { magnitude } else { -magnitude }
    };
    (0..0x1_0000).find(|bits| value(*bits).to_bits() == wanted.to_bits())
}

/// Returns the comparable form of a sequence. `compared` selects the statements to compare by their index.
pub(crate) fn sequence(lines: &[String], compared: impl Fn(usize, &Statement<'_>) -> bool) -> Sequence {
    let mut seen = Sequence::default();
    let mut holds: HashMap<String, Origin> = HashMap::new();
    // Register contents at the first branch to each label. The flag is true if control reaches the end of the
    // last statement.
    let mut branched: HashMap<&str, HashMap<String, Origin>> = HashMap::new();
    let mut falls_through = true;
    let mut names: Vec<&str> = Vec::new();
    let mentioned: Vec<&str> = (lines.iter().filter(|l| !l.ends_with(':') && !l.starts_with("SSY")))
        .filter_map(|l| Statement::parse(l).target())
        .collect();
    for (at, line) in lines.iter().enumerate() {
        let mut number = |name| {
            let at = names.iter().position(|n| *n == name);
            at.unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            })
        };
        if let Some(label) = line.strip_suffix(':') {
            if let (false, Some(there)) = (falls_through, branched.get(label)) {
                holds = there.clone();
            }
            falls_through = true;
            if mentioned.contains(&label) {
                seen.texts.push(format!("L{}:", number(label)));
                seen.reads.push(Vec::new());
            }
            continue;
        }
        let statement = Statement::parse(line);
        if let (Some(label), "BRA") = (statement.target(), statement.base()) {
            branched.entry(label).or_insert_with(|| holds.clone());
        }
        if matches!(statement.base(), "BRA" | "EXIT" | "SYNC") {
            falls_through = !statement.guard.is_empty();
        }
        let parts = statement.parts();
        let written = statement.written(&parts);
        let origin = |holds: &HashMap<String, Origin>, name: &str| {
            holds.get(name).cloned().unwrap_or_else(|| Origin::Outside(name.into(), 0))
        };
        let targets: Vec<&str> =
            parts.iter().take(written).map(|p| p.strip_suffix(".CC").unwrap_or(p)).collect();
        if !compared(at, &statement) {
            let source = |from: &str, word: u32| match constant(from) {
                Some(bits) => Some(Origin::Constant((bits >> (32 * word)) as u32)),
                None => register(from).map(|_| origin(&holds, &further(from, word))),
            };
            // CS2R without `.32` writes two words.
            let words = if statement.mnemonic == "CS2R" { 2 } else { statement.words() };
            let copied = |word| match (statement.base(), &parts[..]) {
                _ if is_far_offset(&statement) => {
                    let added = parts.iter().skip(1).filter(|p| **p != "PT" && register(p).is_none());
                    let added = added.filter_map(|p| constant(p)).fold(0, u64::wrapping_add) as u32;
                    let from = parts.iter().skip(1).find(|p| register(p).is_some());
                    from.map(|from| Origin::Sum(Box::new(origin(&holds, from)), added))
                }
                _ if !statement.is_move() => None,
                ("HFMA2", [.., high, low]) => {
                    half(high).zip(half(low)).map(|(high, low)| Origin::Constant(high << 16 | low))
                }
                (_, [.., from]) => source(from, word),
                _ => None,
            };
            let copied: Vec<_> = (0..words).map(copied).collect();
            for target in targets.into_iter().filter(|target| register(target).is_some()) {
                for (word, origin) in (0..).zip(&copied) {
                    let target = further(target, word);
                    let origin = origin.clone().unwrap_or_else(|| Origin::Outside(target.clone(), at + 1));
                    holds.insert(target, origin);
                }
            }
            continue;
        }
        let (_, text) = registers(statement.operands);
        let (guards, guard) = registers(statement.guard);
        let label = statement.target().map(|target| (target, format!("L{}", number(target))));
        let text = match label {
            Some((target, number)) => {
                let bare = text.replace(['`', '(', ')'], "");
                format!("{}{number}", bare.strip_suffix(target).unwrap_or(&bare))
            }
            // The scale factor and the descriptor of global memory depend on the kernel, so they are not
            // compared.
            None => text.replace(".X16", "").replace("desc[UR]", ""),
        };
        let mut reads: Vec<Origin> = guards.iter().map(|name| origin(&holds, name)).collect();
        for part in &parts[written..] {
            // An address or a count is one word, or names its second register explicitly.
            let narrow = part.contains('[') || matches!(statement.base(), "SYNCS" | "USYNCS");
            let words = if narrow { 1 } else { statement.words() };
            let part =
                part.find("desc[").map_or(*part, |_| part.split_once(']').map_or(*part, |(_, rest)| rest));
            for name in registers(part).0.into_iter().filter(|name| !name.starts_with('B')) {
                reads.extend((0..words).map(|word| origin(&holds, &further(name, word))));
            }
        }
        seen.reads.push(reads);
        for (operand, target) in targets.into_iter().enumerate().filter(|(_, t)| register(t).is_some()) {
            for word in 0..statement.words() {
                holds.insert(further(target, word), Origin::Written(seen.texts.len(), operand, word));
            }
        }
        seen.texts.push(format!(
            "{guard}{}{} {text}",
            if guard.is_empty() { "" } else { " " },
            statement.mnemonic
        ));
    }
    seen
}

pub(crate) fn difference(expected: &Sequence, found: &Sequence, renamed: bool) -> Option<String> {
    if expected.texts != found.texts {
        let at = expected.texts.iter().zip(&found.texts).position(|(a, b)| a != b);
        let at = at.unwrap_or(expected.texts.len().min(found.texts.len()));
        let text = |s: &Sequence| s.texts.get(at).cloned().unwrap_or("nothing".into());
        return Some(format!("`{}` where `{}` is expected", text(found), text(expected)));
    }
    if renamed {
        return None;
    }
    let (mut theirs, mut ours) = (HashMap::new(), HashMap::new());
    let pairs = expected.reads.iter().zip(&found.reads).zip(&expected.texts);
    for ((wanted, read), text) in pairs {
        for (wanted, read) in wanted.iter().zip(read) {
            let (mut wanted, mut read) = (wanted, read);
            while let (Origin::Sum(a, m), Origin::Sum(b, n)) = (wanted, read)
                && m == n
            {
                (wanted, read) = (a, b);
            }
            let agree = match (wanted, read) {
                (Origin::Outside(..), Origin::Outside(..)) => {
                    theirs.entry(wanted).or_insert(read) == &read
                        && ours.entry(read).or_insert(wanted) == &wanted
                }
                (wanted, read) => wanted == read,
            };
            if !agree {
                return Some(format!("`{text}` reads {read:?} where {wanted:?} is expected"));
            }
        }
    }
    None
}

/// Marks the lines inside loops: from a label to the last branch back to it.
fn loops(lines: &[String]) -> Vec<bool> {
    let place = |name: &str| lines.iter().position(|l| l.strip_suffix(':') == Some(name));
    let mut inside = vec![false; lines.len()];
    for (at, line) in lines.iter().enumerate() {
        let statement = Statement::parse(line);
        let start = statement.target().and_then(place).filter(|start| *start < at);
        if let (Some(start), "BRA") = (start, statement.base()) {
            inside[start..at].fill(true);
        }
    }
    inside
}

/// True if an instruction adds an offset that is too large for an address. Some loops do so in each
/// iteration.
fn is_far_offset(statement: &Statement<'_>) -> bool {
    let parts: Vec<_> = statement.parts().into_iter().filter(|p| !matches!(*p, "PT" | "RZ")).collect();
    let [to, from, offset] = parts[..] else { return false };
    let digits = offset.trim_start_matches('-').trim_start_matches("0x");
    let far = i64::from_str_radix(digits, 16).is_ok_and(|n| n >= 0x80_0000);
    let plain = |r: &str| r.starts_with('R') && !r.ends_with(".CC");
    matches!(statement.mnemonic, "IADD3" | "IADD" | "VIADD" | "IADD32I") && plain(to) && plain(from) && far
}

/// Instructions that are compared outside loops, too.
#[rustfmt::skip]
const ALWAYS: [&str; 31] = [
    "ATOM", "ATOMG", "ATOMS", "RED", "REDG", "LD", "LDS", "ST", "STS", "MEMBAR", "ERRBAR",
    "CGAERRBAR", "CCTL", "FENCE", "BRA", "BSSY", "BSYNC", "BMOV", "SYNC", "QSPC", "VOTE", "VOTEU", "SHFL", "REDUX",
    "CREDUX", "POPC", "UPOPC", "SYNCS", "USYNCS", "ARRIVES", "NANOSLEEP",
];

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Look {
    /// Compare the instructions that the head of `lowering.rs` lists.
    Shape,
    /// All instructions except `EXIT` and `SSY`.
    Everything,
}

/// Returns the comparable form of a sequence. In rows with renamed registers, the authors have removed
/// instructions that they took for moves.
pub(crate) fn seen(lines: &[String], look: Look, renamed: bool) -> Sequence {
    let inside = loops(lines);
    sequence(lines, |at, statement| {
        let taken_for_move = renamed
            && matches!(statement.base(), "HFMA2" | "XMAD")
            && statement.mnemonic.starts_with(statement.base());
        match statement.base() {
            "EXIT" | "SSY" | "S2R" | "S2UR" => false,
            _ if look == Look::Everything => true,
            _ if statement.is_move() || is_far_offset(statement) || taken_for_move => false,
            "FLO" | "UFLO" => true,
            base => inside[at] || ALWAYS.contains(&base),
        }
    })
}
