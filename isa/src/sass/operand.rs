//! Operands of machine code text: their parsed form and their parser.

use crate::kernel::register::{BarrierRegister, Pred, PredSource};
use crate::kernel::source::HalfSelect;
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Operand<'t> {
    pub(crate) kind: OperandKind<'t>,
    pub(crate) range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, strum::EnumTryAs)]
pub(crate) enum OperandKind<'t> {
    Reg(RegText),
    Pred(PredSource),
    Barrier(BarrierRegister),
    Number(Number),
    Const(ConstText),
    Address(AddressText),
    Label(&'t str),
    /// Branch target in rewritten code, where it has no label: an index into
    /// [`Targets::places`](super::decode::Targets).
    Place(usize),
    /// A special register, or an operand that occurs only in unsupported instructions.
    Name(&'t str),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signs {
    pub(crate) negate: bool,
    pub(crate) absolute: bool,
    pub(crate) invert: bool,
}

/// A register of a thread, or of the warp if `uniform` is true. `index` is the register number; `None` for
/// the zero register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RegText {
    pub(crate) uniform: bool,
    pub(crate) index: Option<u16>,
    pub(crate) signs: Signs,
    pub(crate) suffix: RegSuffix,
}

impl RegText {
    pub(crate) const fn plain(index: Option<u16>) -> RegText {
        let signs = Signs { negate: false, absolute: false, invert: false };
        let suffix = RegSuffix { width: None, scale: 0, half: HalfSelect::Both };
        RegText { uniform: false, index, signs, suffix }
    }
}

/// Suffixes after a register. `.reuse` is only a hint, so it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegSuffix {
    pub(crate) width: Option<Width>,
    /// log2 of the scale factor in `.X4`, `.X8` or `.X16`. 0 without such a suffix.
    pub(crate) scale: u8,
    pub(crate) half: HalfSelect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Pair,
    Word,
    Floats,
}

/// A number as it is written. The decoder of the instruction decides if decimal digits are an integer or a
/// float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Hex(i64),
    Dec(i64),
    /// A number written as a float, for example with a dot.
    Float(f64),
}

impl Number {
    pub(crate) fn integer(self) -> Option<i64> {
        match self {
            Number::Hex(value) | Number::Dec(value) => Some(value),
            Number::Float(_) => None,
        }
    }
}

/// A constant operand: `c[bank][register + offset]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ConstText {
    pub(crate) bank: u8,
    pub(crate) index: Option<RegText>,
    pub(crate) offset: i64,
    pub(crate) signs: Signs,
    pub(crate) half: HalfSelect,
}

/// An address `[register + uniform register + immediate]`, with or without a descriptor before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AddressText {
    pub(crate) reg: Option<RegText>,
    pub(crate) uniform: Option<RegText>,
    pub(crate) imm: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) registers: u16,
    pub(crate) predicates: u16,
    pub(crate) uniforms: u16,
}

impl Limits {
    /// Registers that machine code has: R0 to R254, P0 to P6, UR0 to UR254. Before sm_100 there are fewer
    /// uniform registers.
    pub(crate) const MACHINE: Limits = Limits { registers: 255, predicates: 7, uniforms: 255 };

    pub(crate) const VIRTUAL: Limits = Limits { registers: 0xfff0, predicates: 0xfff0, uniforms: 255 };
}

pub(crate) type Unreadable = (String, String);

/// Parses one operand. The text must not be empty, and must have no white space at its ends.
pub(crate) fn parse(text: &str, limits: Limits) -> Result<OperandKind<'_>, Unreadable> {
    if let Some(label) = text.strip_prefix("`(") {
        return label
            .strip_suffix(')')
            .filter(|l| !l.is_empty())
            .map(OperandKind::Label)
            .ok_or_else(|| (format!("label `{text}` is not closed"), "write it as `(.L_x_0)".into()));
    }
    if let Some(number) = number(text) {
        return Ok(OperandKind::Number(number));
    }
    // `.reuse` is a hint without effect. It may be after the bars of an absolute value.
    let (signs, inverted, body, after) = signs(text.strip_suffix(".reuse").unwrap_or(text));
    if !after.is_empty() && register(body, after, limits).is_none() {
        return Ok(OperandKind::Name(text));
    }
    if body.starts_with('[') {
        return address(body, limits).map(OperandKind::Address);
    }
    if body.starts_with("desc[") {
        let inner = body.find(']').map(|end| body[end + 1..].trim_start());
        return match inner {
            // The cache policy at the end of a copy, after the addresses, is taken as a name.
            Some("") => return Ok(OperandKind::Name(text)),
            Some(inner) if inner.starts_with('[') => address(inner, limits).map(OperandKind::Address),
            _ => Err((
                format!("expected an address after the descriptor in `{text}`"),
                "write desc[UR8][R2.64]".into(),
            )),
        };
    }
    if body.starts_with("c[") {
        let Some(mut constant) = constant(body, limits)? else { return Ok(OperandKind::Name(text)) };
        constant.signs = Signs { invert: signs.invert || inverted, ..signs };
        return Ok(OperandKind::Const(constant));
    }
    if let Some(pred) = predicate(body, limits) {
        return Ok(OperandKind::Pred(PredSource { pred, negate: inverted }));
    }
    if let Some(register) = register(body, after, limits) {
        return match register {
            RegOutcome::Register(mut reg) => {
                reg.signs = Signs { invert: signs.invert || inverted, ..signs };
                Ok(OperandKind::Reg(reg))
            }
            RegOutcome::TooHigh(last) => {
                Err((format!("register `{body}` does not exist"), format!("the last one is {last}")))
            }
            RegOutcome::Odd => Ok(OperandKind::Name(text)),
        };
    }
    if let Some(index) = body.strip_prefix('B').and_then(decimal) {
        return match u8::try_from(index) {
            Ok(index) if index < 16 => Ok(OperandKind::Barrier(BarrierRegister(index))),
            _ => Err((format!("convergence barrier `{body}` does not exist"), "the last one is B15".into())),
        };
    }
    // Operands that are words, or words followed by brackets, occur only in instructions that are not
    // decoded.
    let worded =
        text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '{' | '(' | '$'));
    let known = text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    if (worded || text.starts_with("32@") || !text.starts_with(|c: char| c.is_ascii_digit()))
        && known
        && balanced(text)
        && (has_word(text) || text.starts_with('{'))
    {
        return Ok(OperandKind::Name(text));
    }
    Err((
        format!("cannot read operand `{text}`"),
        "operands are registers (R2, UR4, P0, B1), numbers (0x10, 1.5), c[0x0][0x160], [R2+0x4] or `(.L_x_0)"
            .into(),
    ))
}

fn has_word(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_alphabetic())
}

fn balanced(text: &str) -> bool {
    let mut open = Vec::new();
    text.chars().all(|c| match c {
        '[' | '(' | '{' => {
            open.push(c);
            true
        }
        ']' => open.pop() == Some('['),
        ')' => open.pop() == Some('('),
        '}' => open.pop() == Some('{'),
        _ => true,
    }) && open.is_empty()
}

/// Splits an operand such as `-|R2|.H1_H1`. Returns its signs, true if there is a `!`, the operand inside,
/// and the suffixes after the bars.
fn signs(text: &str) -> (Signs, bool, &str, &str) {
    let mut signs = Signs::default();
    let mut inverted = false;
    let (mut rest, after) = match text.split_once("|.") {
        Some((rest, after)) if rest.contains('|') => (&text[..=rest.len()], after),
        _ => (text, ""),
    };
    while let Some(first) = rest.chars().next() {
        match first {
            '-' if !signs.negate => signs.negate = true,
            '~' if !signs.invert => signs.invert = true,
            '!' if !inverted => inverted = true,
            '|' if rest.len() > 2 && rest.ends_with('|') => {
                signs.absolute = true;
                rest = &rest[1..rest.len() - 1];
                break;
            }
            _ => break,
        }
        rest = &rest[1..];
    }
    (signs, inverted, rest, after)
}

fn decimal(text: &str) -> Option<u16> {
    (!text.is_empty() && text.len() <= 5 && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

fn predicate(text: &str, limits: Limits) -> Option<Pred> {
    let text = text.strip_suffix(".reuse").unwrap_or(text);
    let (uniform, rest) = match text.strip_prefix('U') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    match (rest.strip_prefix('P')?, uniform) {
        ("T", false) => Some(Pred::PT),
        ("T", true) => Some(Pred::Uniform(7)),
        (digits, false) => decimal(digits).filter(|n| *n < limits.predicates).map(Pred::Thread),
        (digits, true) => decimal(digits).filter(|n| *n < 7).map(|n| Pred::Uniform(n as u8)),
    }
}

enum RegOutcome {
    Register(RegText),
    TooHigh(&'static str),
    /// A register with a suffix that no decoded instruction accepts.
    Odd,
}

/// Parses a register. `after` is the text with the suffixes after the bars of an absolute value.
fn register(text: &str, after: &str, limits: Limits) -> Option<RegOutcome> {
    let (name, suffixes) = text.split_once('.').map_or((text, None), |(name, s)| (name, Some(s)));
    let (uniform, rest) = match name.strip_prefix("UR") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix('R')?),
    };
    let index = if rest == "Z" {
        None
    } else {
        let index = decimal(rest)?;
        let (limit, last) =
            if uniform { (limits.uniforms, "UR254, or URZ") } else { (limits.registers, "R254, or RZ") };
        if index >= limit {
            return Some(RegOutcome::TooHigh(last));
        }
        Some(index)
    };
    let mut suffix = RegSuffix { width: None, scale: 0, half: HalfSelect::Both };
    let outside = Some(after).filter(|suffixes| !suffixes.is_empty());
    for part in suffixes.into_iter().chain(outside).flat_map(|s| s.split('.')) {
        match part {
            "reuse" => {}
            "64" => suffix.width = Some(Width::Pair),
            "U32" => suffix.width = Some(Width::Word),
            "F32x2" => suffix.width = Some(Width::Floats),
            "HI_LO" if suffix.width == Some(Width::Floats) => {}
            // I2IP has these suffixes: the number of bits of its third operand that it keeps.
            "24" | "28" => {}
            "X4" => suffix.scale = 2,
            "X8" => suffix.scale = 3,
            "X16" => suffix.scale = 4,
            _ => match half(part) {
                Some(half) => suffix.half = half,
                None => return Some(RegOutcome::Odd),
            },
        }
    }
    Some(RegOutcome::Register(RegText { uniform, index, signs: Signs::default(), suffix }))
}

fn half(suffix: &str) -> Option<HalfSelect> {
    Some(match suffix {
        "H0_H0" | "H0" => HalfSelect::Low,
        "H1_H1" | "H1" => HalfSelect::High,
        "F32" => HalfSelect::Single,
        "B0" => HalfSelect::Byte(0),
        "B1" => HalfSelect::Byte(1),
        "B2" => HalfSelect::Byte(2),
        "B3" => HalfSelect::Byte(3),
        "SIGN" => HalfSelect::Sign,
        _ => return None,
    })
}

fn number(text: &str) -> Option<Number> {
    let (negative, digits) = match (text.strip_prefix('-'), text.strip_suffix(".NEG")) {
        (Some(digits), _) | (None, Some(digits)) => (true, digits),
        (None, None) => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let sign = |value: f64| if negative { -value } else { value };
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        if hex.is_empty() || hex.len() > 16 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let value = u64::from_str_radix(hex, 16).ok()? as i64;
        return Some(Number::Hex(if negative { value.wrapping_neg() } else { value }));
    }
    match digits {
        "INF" => return Some(Number::Float(sign(f64::INFINITY))),
        "QNAN" | "NAN" => return Some(Number::Float(sign(f64::NAN))),
        _ => {}
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || digits.len() > 64 {
        return None;
    }
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        let value: i64 = digits.parse().ok()?;
        // The number is written as minus zero, which only a float can be.
        return Some(if negative && value == 0 {
            Number::Float(-0.0)
        } else {
            Number::Dec(if negative { -value } else { value })
        });
    }
    let float_like =
        digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    float_like.then(|| digits.parse().ok()).flatten().map(|value| Number::Float(sign(value)))
}

fn bracketed<'t>(text: &'t str, whole: &str) -> Result<(&'t str, &'t str), Unreadable> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    inner.ok_or_else(|| (format!("`{whole}` is not closed"), "close the bracket with ]".into()))
}

/// Parses the terms of an address, which are registers and an immediate, joined by `+`. A negative term is
/// written `+-0x4` or ` - 0x4`.
fn terms(inner: &str, whole: &str, limits: Limits) -> Result<AddressText, Unreadable> {
    let mut address = AddressText { reg: None, uniform: None, imm: 0 };
    let mut immediate = false;
    let odd = |term: &str| {
        (
            format!("cannot read `{term}` in address `{whole}`"),
            "an address is a register, a uniform register and a number, joined by +".to_string(),
        )
    };
    for (negative, term) in inner.split('+').flat_map(signed_terms) {
        let value = match number(term) {
            Some(Number::Hex(value) | Number::Dec(value)) if negative => Some(Number::Dec(-value)),
            other if !negative => other,
            _ => return Err(odd(inner)),
        };
        match (register(term, "", limits), value) {
            (Some(RegOutcome::Register(reg)), _) if reg.uniform && address.uniform.is_none() => {
                address.uniform = Some(reg);
            }
            (Some(RegOutcome::Register(reg)), _) if !reg.uniform && address.reg.is_none() => {
                address.reg = Some(reg);
            }
            (Some(RegOutcome::TooHigh(last)), _) => {
                return Err((format!("register `{term}` does not exist"), format!("the last one is {last}")));
            }
            (None, Some(Number::Hex(value) | Number::Dec(value))) if !immediate => {
                address.imm = value;
                immediate = true;
            }
            _ => return Err(odd(term)),
        }
    }
    Ok(address)
}

/// Splits the text at minus signs. The flag of a part is true if a minus sign is before the part.
fn signed_terms(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut terms = text.split('-').map(str::trim).enumerate().peekable();
    // A minus sign at the beginning has no term before it.
    if text.trim_start().starts_with('-') {
        terms.next();
    }
    terms.map(|(at, term)| (at > 0, term))
}

fn address(text: &str, limits: Limits) -> Result<AddressText, Unreadable> {
    let (inner, rest) = bracketed(text, text)?;
    if !rest.is_empty() {
        return Err((
            format!("unexpected `{rest}` after the address in `{text}`"),
            "separate operands by commas".into(),
        ));
    }
    terms(inner, text, limits)
}

/// Parses a constant operand such as `c[0x0][0x160]`. `None` if it has a suffix that no decoded instruction
/// accepts.
fn constant(text: &str, limits: Limits) -> Result<Option<ConstText>, Unreadable> {
    let help = || "write c[0x0][0x160] or c[0x0][R2+0x160]".to_string();
    let (bank, rest) = bracketed(&text[1..], text)?;
    let Some(Number::Hex(bank) | Number::Dec(bank)) = number(bank.trim()) else {
        return Err((format!("cannot read the constant bank of `{text}`"), help()));
    };
    let bank = u8::try_from(bank)
        .map_err(|_| (format!("constant bank {bank} in `{text}` does not exist"), help()))?;
    let (inner, rest) = bracketed(rest.trim_start(), text)?;
    let half = match rest.strip_prefix('.') {
        Some(suffix) => match half(suffix) {
            Some(half) => half,
            None => return Ok(None),
        },
        None if rest.is_empty() => HalfSelect::Both,
        None => return Err((format!("unexpected `{rest}` after the constant operand in `{text}`"), help())),
    };
    let address = terms(inner, text, limits)?;
    if address.reg.is_some() && address.uniform.is_some() {
        return Err((format!("two registers in the constant operand `{text}`"), help()));
    }
    let index = address.reg.or(address.uniform);
    Ok(Some(ConstText { bank, index, offset: address.imm, signs: Signs::default(), half }))
}
