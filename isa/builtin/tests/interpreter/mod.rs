//! Interpreter of the PTX that builtins expand to, for one thread. It supports integers, `f32` and `f64`, but
//! no half precision.
//!
//! The interpreter shares no code with the crate, and reads the PTX as text.

use std::collections::HashMap;

pub(crate) const MEMORY: u64 = 0x1000;

pub(crate) fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

pub(crate) fn signed(value: u128, bits: u32) -> i128 {
    (value << (128 - bits)) as i128 >> (128 - bits)
}

/// State of one thread: 128 bytes of memory at [`MEMORY`], and registers.
pub(crate) struct Thread {
    pub(crate) memory: [u8; 128],
    pub(crate) registers: HashMap<String, u128>,
    carry: bool,
}

impl Thread {
    pub(crate) fn new(memory: [u8; 128]) -> Thread {
        Thread { memory, registers: HashMap::new(), carry: false }
    }

    pub(crate) fn read(&self, at: u64, bytes: u32) -> u128 {
        let at = (at - MEMORY) as usize;
        assert_eq!(at % bytes as usize, 0, "misaligned access");
        (0..bytes as usize).map(|i| u128::from(self.memory[at + i]) << (8 * i)).sum()
    }

    pub(crate) fn write(&mut self, at: u64, bytes: u32, value: u128) {
        let at = (at - MEMORY) as usize;
        assert_eq!(at % bytes as usize, 0, "misaligned access");
        self.memory[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
    }

    pub(crate) fn get(&self, operand: &str) -> u128 {
        let hex = |digits: &str| u128::from_str_radix(digits, 16).unwrap();
        if let Some(digits) = operand.strip_prefix("0f").or(operand.strip_prefix("0d")) {
            return hex(digits);
        }
        match operand.parse::<i128>() {
            Ok(number) => number as u128,
            Err(_) => *self.registers.get(operand).unwrap_or_else(|| panic!("`{operand}` is not set")),
        }
    }

    pub(crate) fn set(&mut self, register: &str, value: u128) {
        let kind = register.trim_end_matches(|c: char| c.is_ascii_digit());
        let bits = match kind {
            "%p" => 1,
            "%rs" => 16,
            "%r" | "%f" => 32,
            "%rd" | "%fd" => 64,
            _ => 128,
        };
        self.registers.insert(register.into(), value & mask(bits));
    }

    fn address(&self, operand: &str) -> u64 {
        self.get(operand.trim_matches(['[', ']'])) as u64
    }

    pub(crate) fn run(&mut self, lines: &[String]) {
        let (mut at, mut steps) = (0, 0);
        while let Some(line) = lines.get(at) {
            steps += 1;
            assert!(steps < 200, "endless loop\n{}", lines.join("\n"));
            at += 1;
            if line.ends_with(':') {
                continue;
            }
            let line = line.strip_suffix(';').unwrap();
            if let Some(branch) = line.strip_prefix('@') {
                let (guard, label) = branch.split_once(" bra ").unwrap();
                if self.get(guard) == 1 {
                    at = lines.iter().position(|l| l.strip_suffix(':') == Some(label)).unwrap();
                }
                continue;
            }
            let (mnemonic, operands) = line.split_once(' ').unwrap_or((line, ""));
            self.step(mnemonic, &split(operands));
        }
    }

    fn step(&mut self, mnemonic: &str, operands: &[&str]) {
        let words: Vec<&str> = mnemonic.split('.').collect();
        let ty = *words.last().unwrap();
        let (letter, bits) = (ty.chars().next().unwrap(), ty[1..].parse::<u32>().unwrap_or(1));
        let bytes = bits.div_ceil(8);
        let number = |v: u128| if letter == 's' { signed(v, bits) } else { (v & mask(bits)) as i128 };
        match (words[0], operands) {
            ("fence" | "membar", _) => {}
            ("ld", [to, from]) => {
                let from = self.address(from);
                for (i, to) in elements(to).into_iter().enumerate() {
                    let value = self.read(from + u64::from(bytes) * i as u64, bytes);
                    self.set(to, value);
                }
            }
            ("st", [to, from]) => {
                let to = self.address(to);
                for (i, from) in elements(from).into_iter().enumerate() {
                    let value = self.get(from);
                    self.write(to + u64::from(bytes) * i as u64, bytes, value);
                }
            }
            ("mov", [to, from]) => match (elements(to).as_slice(), elements(from).as_slice()) {
                ([to], [low, high]) => self.set(to, self.get(low) | self.get(high) << 64),
                ([low, high], [from]) => {
                    let whole = self.get(from);
                    self.set(low, whole);
                    self.set(high, whole >> 64);
                }
                ([to], [from]) => self.set(to, self.get(from)),
                _ => panic!("{mnemonic}"),
            },
            ("cvt", [to, from]) => {
                let wide = number(self.get(from)) as u128;
                // The result is sign-extended from the width of the destination register.
                let into = words[1];
                let narrow = into[1..].parse().unwrap();
                self.set(
                    to,
                    if into.starts_with('s') { signed(wide, narrow) as u128 } else { wide & mask(narrow) },
                );
            }
            ("not", [to, a]) => self.set(to, !self.get(a)),
            ("neg", [to, a]) if letter == 'f' => self.set(to, self.get(a) ^ 1 << (bits - 1)),
            ("neg", [to, a]) => self.set(to, self.get(a).wrapping_neg()),
            ("selp", [to, a, b, p]) => self.set(to, if self.get(p) == 1 { self.get(a) } else { self.get(b) }),
            ("setp", [to, a, b]) => {
                let (a, b) = (number(self.get(a)), number(self.get(b)));
                let holds = match words[1] {
                    "eq" => a == b,
                    "ne" => a != b,
                    "lt" => a < b,
                    "gt" => a > b,
                    other => panic!("{other}"),
                };
                self.set(to, u128::from(holds));
            }
            ("add" | "sub" | "addc" | "subc", [to, a, b]) if words[1] == "cc" => {
                let with_carry = u128::from(self.carry && words[0].ends_with('c'));
                let (a, b) = (self.get(a), self.get(b));
                let wide = if words[0].starts_with("add") {
                    a + b + with_carry
                } else {
                    a.wrapping_sub(b).wrapping_sub(with_carry)
                };
                self.carry = wide >> 64 != 0;
                self.set(to, wide);
            }
            ("atom", [to, address, rest @ ..]) => {
                let at = self.address(address);
                let old = self.read(at, bytes);
                let rest: Vec<u128> = rest.iter().map(|r| self.get(r) & mask(bits)).collect();
                let new = match rest.as_slice() {
                    [compare, new] => {
                        if old == *compare {
                            *new
                        } else {
                            old
                        }
                    }
                    [value] => {
                        let names = ["add", "and", "or", "xor", "min", "max", "inc", "dec", "exch"];
                        let op = words[1..].iter().find(|w| names.contains(w)).unwrap();
                        combine(op, letter, bits, old, *value)
                    }
                    _ => panic!("{mnemonic}"),
                };
                self.write(at, bytes, new);
                self.set(to, old);
            }
            (op, [to, a, b]) => self.set(to, combine(op, letter, bits, self.get(a), self.get(b))),
            _ => panic!("{mnemonic} {operands:?}"),
        }
    }
}

fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

fn elements(operand: &str) -> Vec<&str> {
    match operand.strip_prefix('{').and_then(|o| o.strip_suffix('}')) {
        Some(inner) => inner.split(',').map(str::trim).collect(),
        None => vec![operand],
    }
}

pub(crate) fn combine(op: &str, letter: char, bits: u32, a: u128, b: u128) -> u128 {
    if letter == 'f' {
        let apply = |a: f64, b: f64| match op {
            "add" => a + b,
            "sub" => a - b,
            "min" => a.min(b),
            "max" => a.max(b),
            other => panic!("{other}"),
        };
        return if bits == 32 {
            let float = |v: u128| f64::from(f32::from_bits(v as u32));
            (apply(float(a), float(b)) as f32).to_bits().into()
        } else {
            apply(f64::from_bits(a as u64), f64::from_bits(b as u64)).to_bits().into()
        };
    }
    let (a, b) = (a & mask(bits), b & mask(bits));
    let less = if letter == 's' { signed(a, bits) < signed(b, bits) } else { a < b };
    let result = match op {
        "add" => a.wrapping_add(b),
        "sub" => a.wrapping_sub(b),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "shl" => a << b,
        "shr" => a >> b,
        "min" => {
            if less {
                a
            } else {
                b
            }
        }
        "max" => {
            if less {
                b
            } else {
                a
            }
        }
        "exch" => b,
        "inc" => {
            if a >= b {
                0
            } else {
                a + 1
            }
        }
        "dec" => {
            if a == 0 || a > b {
                b
            } else {
                a - 1
            }
        }
        other => panic!("{other}"),
    };
    result & mask(bits)
}
