//! What computes, moves and accesses memory: one instruction as one or a few later ones.
//!
//! P10 is the carry of the condition code, P11 whether the result was zero and P12 whether it was negative; P20 and up, and R260 and up, hold
//! values on the way.

mod bits;
mod product;

use super::Code;

/// A predicate that holds where the condition code meets the condition: `CC.EQ`.
pub(super) fn condition(text: &str) -> Option<&'static str> {
    match text {
        "CC.EQ" | "CC.EQU" => Some("P11"),
        "CC.NE" | "CC.NEU" => Some("!P11"),
        _ => None,
    }
}

/// The later code; `None` if the instruction is not known.
pub(super) fn lines(code: &mut Code<'_>) -> Option<Vec<String>> {
    // `.CC` behind the destination, or behind nothing of it.
    let mut sets = false;
    for operand in &mut code.operands {
        if let Some(plain) = operand.strip_suffix(".CC") {
            *operand = plain.into();
            sets = true;
        }
    }
    let mut step = Step { g: code.guard.clone(), lines: Vec::new(), sets };
    step.rewrite(code)?;
    Some(step.lines)
}

struct Step {
    g: String,
    lines: Vec<String>,
    /// The condition code is set, and has not been told yet.
    sets: bool,
}

/// Without its sign, and whether there was one; a number has none.
fn sign(operand: &str) -> (bool, &str) {
    match operand.strip_prefix('-') {
        Some(rest) if !number(rest) => (true, rest),
        _ => (false, operand),
    }
}

fn number(operand: &str) -> bool {
    operand.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
}

/// The half of a register that an operand names, and the operand without that.
fn half<'o>(operand: &'o str, high: &str, low: &str) -> (bool, &'o str) {
    match operand.strip_suffix(high) {
        Some(rest) => (true, rest),
        None => (false, operand.strip_suffix(low).unwrap_or(operand)),
    }
}

impl Step {
    fn put(&mut self, line: String) {
        self.lines.push(format!("{}{line}", self.g));
    }

    /// Where a result goes whose condition is wanted: RZ would lose it.
    fn kept<'o>(&self, to: &'o str) -> &'o str {
        if self.sets && to == "RZ" { "R267" } else { to }
    }

    /// Notes whether the result is negative, and whether it is zero; `and` whether the words before were.
    fn zero(&mut self, result: &str, and: bool) {
        if std::mem::take(&mut self.sets) {
            let before = if and { "P11" } else { "PT" };
            self.put(format!("ISETP.EQ.AND P11, PT, {result}, RZ, {before}"));
            self.put(format!("ISETP.LT.AND P12, PT, {result}, RZ, PT"));
        }
    }

    /// `to = terms`, with carry in and, where it is wanted, out.
    fn add(&mut self, to: &str, terms: [&str; 3], carry: bool) {
        let term = |text: &str| match sign(text) {
            // The one that makes a complement a negation comes from the words before.
            (true, rest) if carry => format!("~{rest}"),
            _ => text.to_string(),
        };
        let [a, b, c] = terms.map(term);
        let to = self.kept(to).to_string();
        let out = if self.sets { "P10, PT, " } else { "" };
        if carry {
            self.put(format!("IADD3.X {to}, {out}{a}, {b}, {c}, P10, !PT"));
        } else {
            self.put(format!("IADD3 {to}, {out}{a}, {b}, {c}"));
        }
        self.zero(&to, carry);
    }

    /// Half of an operand as a number of its own.
    fn piece(&mut self, to: &str, operand: &str, signed: bool) {
        let (high, base) = half(operand, ".H1", ".H0");
        let selector = match (high, signed) {
            (false, false) => "0x4410",
            (true, false) => "0x4432",
            (false, true) => "0x9910",
            (true, true) => "0xbb32",
        };
        self.put(format!("PRMT {to}, {base}, {selector}, RZ"));
    }

    fn rewrite(&mut self, code: &mut Code<'_>) -> Option<()> {
        let operands = code.operands.clone();
        let o: Vec<&str> = operands.iter().map(String::as_str).collect();
        match (code.name, o.as_slice()) {
            ("IADD" | "IADD32I", [to, a, b]) if code.take("SAT") => {
                code.modifiers.is_empty().then(|| self.limited_sum(to, a, b))??
            }
            ("IMAD", [to, a, b, c]) => self.product(code, to, [a, b, c])?,
            ("IMUL" | "IMUL32I", [to, a, b]) => self.product(code, to, [a, b, "RZ"])?,
            // The condition code in a register, in an order of bits that only these two know.
            ("P2R", [to, "CC", "RZ", "0xf"]) => {
                self.put("SEL R260, RZ, 0x1, !P10".into());
                self.put("SEL R261, RZ, 0x2, !P11".into());
                self.put("SEL R262, RZ, 0x4, !P12".into());
                self.put(format!("LOP3.LUT {to}, R260, R261, R262, 0xfe, !PT"));
            }
            ("R2P", ["CC", from, "0xf"]) => {
                for (p, bit) in [("P10", "0x1"), ("P11", "0x2"), ("P12", "0x4")] {
                    self.put(format!("LOP3.LUT {p}, RZ, {from}, {bit}, RZ, 0xc0, !PT"));
                }
            }
            // Where the stack ends at its lower side: the core sees to that itself.
            ("S2R", [to, "SR_LMEMHIOFF"]) => self.put(format!("MOV {to}, RZ")),
            ("IMNMX", [to, a, b, p]) if code.take("XHI") => {
                let kind = code.modifiers.join(".");
                let kind = if kind.is_empty() { kind } else { format!(".{kind}") };
                self.put(format!("ISETP.LT{kind}.AND P10, PT, {a}, {b}, PT"));
                self.put(format!("ISETP.EQ.AND P11, PT, {a}, {b}, PT"));
                self.put(format!("IMNMX{kind} {to}, {a}, {b}, {p}"));
                std::mem::take(&mut self.sets).then_some(())?
            }
            ("IMNMX", [to, a, b, p]) if code.modifiers == ["U32", "XLO"] && !self.sets => {
                let other = p.strip_prefix('!').map_or(format!("!{p}"), str::to_string);
                self.put(format!("ISETP.LT.U32.AND P20, PT, {a}, {b}, P11"));
                self.put("PSETP.OR.AND P20, PT, P20, P10, PT".into());
                self.put(format!("PSETP.XOR.AND P20, PT, P20, {other}, PT"));
                self.put(format!("SEL {to}, {a}, {b}, P20"));
            }
            ("DMNMX", [to, a, b, p]) if !self.sets && code.modifiers.is_empty() => self.dmnmx(to, a, b, p)?,
            ("VABSDIFF", [to, a, b, c]) if !self.sets => {
                let kind = match code.modifiers[..] {
                    ["SD", "ACC"] => "",
                    ["U32", "U32", "ACC"] => ".U32",
                    _ => return None,
                };
                self.put(format!("VABSDIFF{kind} {to}, {a}, {b}, {c}"));
            }
            ("IADD" | "IADD32I", [to, a, b]) => {
                let carry = code.take("X");
                code.modifiers.is_empty().then(|| self.add(to, [a, b, "RZ"], carry))?
            }
            ("IADD3", [to, a, b, c]) => self.iadd3(code, to, [a, b, c])?,
            ("ISCADD" | "ISCADD32I", [to, a, b, shift]) => {
                let (negative, a) = sign(a);
                self.put(format!("SHF.L.U32 R261, {a}, {shift}, RZ"));
                self.add(to, [if negative { "-R261" } else { "R261" }, b, "RZ"], code.take("X"));
            }
            ("XMAD", [to, a, b, c]) => self.xmad(code, to, [a, b, c])?,
            ("LEA", _) => self.lea(code, &o)?,
            ("LOP" | "LOP32I", _) => self.lop(code, &o)?,
            ("LOP3", [to, a, b, c, table]) if !self.sets => {
                self.put(format!("LOP3.LUT {to}, {a}, {b}, {c}, {table}, !PT"))
            }
            ("LOP3", [p, to, a, b, c, table]) if code.take("NZ") && !self.sets => {
                self.put(format!("LOP3.LUT {p}, {to}, {a}, {b}, {c}, {table}, !PT"))
            }
            ("SHL", [to, a, count]) => {
                let wrap = if code.take("W") { ".W" } else { "" };
                self.put(format!("SHF.L{wrap}.U32 {to}, {a}, {count}, RZ"));
                (!self.sets).then_some(())?
            }
            ("SHR", [to, a, count]) => {
                let wrap = if code.take("W") { ".W" } else { "" };
                let kind = if code.take("U32") { "U32" } else { "S32" };
                self.put(format!("SHF.R{wrap}.{kind}.HI {to}, RZ, {count}, {a}"));
                (!self.sets).then_some(())?
            }
            ("SHF", [to, low, count, high]) => {
                let wrap = if code.take("W") { ".W" } else { "" };
                let kind = ["U64", "S64"].into_iter().find(|kind| code.take(kind)).unwrap_or("U32");
                match (code.take("L"), code.take("R"), self.sets) {
                    (true, _, false) => {
                        self.put(format!("SHF.L{wrap}.{kind}.HI {to}, {low}, {count}, {high}"))
                    }
                    (_, true, false) => self.put(format!("SHF.R{wrap}.{kind} {to}, {low}, {count}, {high}")),
                    _ => return None,
                }
            }
            ("BFE", [to, a, field]) => self.bfe(code, to, a, field)?,
            ("BFI", [to, a, field, base]) => self.bfi(code, to, a, field, base)?,
            ("PSET", [to, p, q, r]) => {
                let float = code.take("BF");
                self.put(format!("PSETP.{} P20, PT, {p}, {q}, {r}", code.modifiers.join(".")));
                self.truth(to, float);
            }
            ("ISETP", [p, q, a, b, with]) if code.take("X") => {
                let low = self.low_words(code)?;
                self.put(format!("ISETP.{}.EX {p}, {q}, {a}, {b}, {with}, {low}", code.modifiers.join(".")));
            }
            ("ISET", [to, a, b, with]) => {
                let (float, carry) = (code.take("BF"), code.take("X"));
                let low = if carry { Some(self.low_words(code)?) } else { None };
                let ex = low.map_or(("", String::new()), |low| (".EX", format!(", {low}")));
                self.put(format!(
                    "ISETP.{}{} P20, PT, {a}, {b}, {with}{}",
                    code.modifiers.join("."),
                    ex.0,
                    ex.1
                ));
                self.truth(to, float);
            }
            ("FSET" | "DSET", [to, a, b, with]) => {
                let float = code.take("BF");
                self.put(format!("{}P.{} P20, PT, {a}, {b}, {with}", code.name, code.modifiers.join(".")));
                self.truth(to, float);
            }
            ("ICMP", [to, a, b, c]) => {
                self.put(format!("ISETP.{}.AND P20, PT, {c}, RZ, PT", code.modifiers.join(".")));
                self.put(format!("SEL {to}, {a}, {b}, P20"));
            }
            ("FCMP", [to, a, b, c]) if !self.sets => {
                let flush = if code.take("FTZ") { ".FTZ" } else { "" };
                // Disassemblers leave `.GT` out.
                let compare = match code.modifiers[..] {
                    [] => "GT",
                    [compare] => compare,
                    _ => return None,
                };
                self.put(format!("FSETP.{compare}{flush}.AND P20, PT, {c}, RZ, PT"));
                self.put(format!("FSEL {to}, {a}, {b}, P20"));
            }
            ("I2I", [to, a]) if code.modifiers == ["S32", "S32"] => {
                let (negative, a) = sign(a);
                let to = self.kept(to).to_string();
                match a.strip_prefix('|').and_then(|a| a.strip_suffix('|')) {
                    Some(a) => self.put(format!("IABS {to}, {a}")),
                    None => self.put(format!("MOV {to}, {a}")),
                }
                if negative {
                    self.put(format!("IADD3 {to}, -{to}, RZ, RZ"));
                }
                self.zero(&to, false);
            }
            ("I2F", [to, a]) => {
                code.take("F32");
                let a = match a.strip_prefix('|').and_then(|a| a.strip_suffix('|')) {
                    Some(a) => {
                        self.put(format!("IABS R260, {a}"));
                        "R260"
                    }
                    None => a,
                };
                self.put(format!("I2F.{} {to}, {a}", code.modifiers.join(".")));
            }
            ("F2I", [_, _]) => {
                code.take("F32");
                // A NaN gives zero where neither side has 64 bits, as [PTX] cvt says: compiled code has nothing for it.
                if !code.modifiers.iter().any(|m| matches!(*m, "F64" | "S64" | "U64")) {
                    code.modifiers.push("NTZ");
                }
                self.same(code)?
            }
            ("F2F", [to, a]) => {
                let flush = if code.take("FTZ") { ".FTZ" } else { "" };
                let way = match code.modifiers[..] {
                    [from, into, "ROUND"] if from == into => "",
                    [from, into, "FLOOR"] if from == into => ".FLOOR",
                    [from, into, "CEIL"] if from == into => ".CEIL",
                    [from, into, "TRUNC"] if from == into => ".TRUNC",
                    [from, into, _] if from == into => return None,
                    _ => {
                        code.modifiers.splice(..0, (!flush.is_empty()).then_some("FTZ"));
                        return self.same(code);
                    }
                };
                let wide = if code.modifiers[0] == "F64" { ".F64" } else { "" };
                self.put(format!("FRND{flush}{wide}{way} {to}, {a}"));
            }
            // What prepares an operand of MUFU: there it is in turns, or as it is.
            ("RRO", [to, a]) if code.modifiers == ["SINCOS"] => {
                self.put(format!("FMUL {to}, {a}, 0.15915493667125701904"))
            }
            ("RRO", [to, a]) if code.modifiers == ["EX2"] => self.put(format!("FADD {to}, {a}, -RZ")),
            ("MOV32I", _) => self.called("MOV", code)?,
            ("FMUL32I", _) => self.called("FMUL", code)?,
            ("FADD32I", _) => self.called("FADD", code)?,
            ("FCHK", _) => {
                code.take("DIVIDE");
                self.same(code)?
            }
            ("CSETP", [p, q, "CC", with]) if code.modifiers == ["SFT", "AND"] => {
                self.put(format!("PSETP.AND.AND {p}, {q}, P12, PT, {with}"))
            }
            // A constant among halves is a binary32 where nothing else is said.
            ("HADD2" | "HMUL2" | "HFMA2", _) => {
                for operand in code.operands.iter_mut().filter(|o| o.contains("c[") && o.ends_with(']')) {
                    operand.push_str(".F32");
                }
                self.same(code)?
            }
            // Results are there when an instruction is done.
            ("DEPBAR" | "TEXDEPBAR", _) => self.put("NOP".into()),
            ("B2R", [to]) => {
                self.put(format!("B2R.RESULT {to}, PT"));
                (code.modifiers == ["RESULT"]).then_some(())?
            }
            ("LD" | "ST" | "LDG" | "STG", _) => {
                // Volatile accesses, which pass by caches.
                if code.take("CV") || code.take("WT") {
                    code.modifiers.extend(["STRONG", "SYS"]);
                }
                if o.len() == 3 && o[2].trim_start_matches('!').starts_with('P') {
                    code.operands.pop();
                }
                self.same(code)?
            }
            ("MEMBAR", []) => {
                code.modifiers.retain(|m| *m != "IVALLD");
                code.modifiers.iter_mut().filter(|m| **m == "GL").for_each(|m| *m = "GPU");
                self.same(code)?
            }
            (
                "BFI" | "CSETP" | "FCMP" | "XMAD" | "CSET" | "JCAL" | "LONGJMP" | "PLONGJMP" | "PRET"
                | "PSET" | "DMNMX" | "DSET" | "VADD" | "VMAD" | "VMNMX" | "VSET" | "VSETP" | "VSHL" | "VSHR",
                _,
            ) => return None,
            _ => self.same(code)?,
        }
        Some(())
    }

    /// As it is, where no condition code is set.
    fn same(&mut self, code: &Code<'_>) -> Option<()> {
        self.lines.push(code.text());
        (!self.sets).then_some(())
    }

    fn called(&mut self, name: &'static str, code: &mut Code<'_>) -> Option<()> {
        code.name = name;
        self.same(code)
    }

    /// All ones, or 1.0, where P20 holds; the condition code is that of the result.
    fn truth(&mut self, to: &str, float: bool) {
        let yes = if float { "0x3f800000" } else { "0xffffffff" };
        self.put(format!("SEL {to}, RZ, {yes}, !P20"));
        if std::mem::take(&mut self.sets) {
            self.put("PSETP.AND.AND P11, PT, !P20, PT, PT".into());
            self.put("PSETP.AND.AND P12, PT, P20, PT, PT".into());
        }
    }

    /// Whether a comparison holds for the words that the condition code is of: their difference.
    fn low_words(&mut self, code: &Code<'_>) -> Option<&'static str> {
        let compare = code.modifiers.first()?;
        Some(match *compare {
            "LT" => "!P10",
            "GE" => "P10",
            "EQ" => "P11",
            "NE" => "!P11",
            "LE" => {
                self.put("PSETP.OR.AND P21, PT, !P10, P11, PT".into());
                "P21"
            }
            "GT" => {
                self.put("PSETP.AND.AND P21, PT, P10, !P11, PT".into());
                "P21"
            }
            _ => return None,
        })
    }

    /// `DMNMX d, a, b, p`, without signs
    fn dmnmx(&mut self, to: &str, a: &str, b: &str, p: &str) -> Option<()> {
        let high = |operand: &str| Some(format!("R{}", operand.strip_prefix('R')?.parse::<u16>().ok()? + 1));
        let way = match p {
            "PT" => "MIN",
            "!PT" => "MAX",
            _ => return None,
        };
        let (to_high, a_high, b_high) = (high(to)?, high(a)?, high(b)?);
        self.put(format!("DSETP.{way}.AND P20, P21, {a}, {b}, PT"));
        self.put(format!("SEL R262, {a}, {b}, P20"));
        self.put(format!("SEL R263, {a_high}, {b_high}, P20"));
        // Both are NaN: the second one, quiet.
        self.put("LOP3.LUT R264, R263, 0x80000, RZ, 0xfc, !PT".into());
        self.put(format!("SEL {to_high}, R264, R263, P21"));
        self.put(format!("MOV {to}, R262"));
        Some(())
    }
}
