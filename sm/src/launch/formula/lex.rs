use super::FormulaError;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    Int(i128),
    Float(f64),
    Name(&'t str),
    Mark(&'static str),
    End,
}

/// Longer operators first, so that `<<` is not read as two `<`.
const MARKS: [&str; 29] = [
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "..", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
    "<", ">", "?", ":", "(", ")", "[", "]", ",", "=",
];

/// Splits a formula into tokens, and adds an end token.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, FormulaError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(first) = rest.chars().next() else { break };
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = if first.is_ascii_digit() {
            number(rest, at)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            name(rest)
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            (Kind::Mark(mark), mark.len())
        } else {
            let range = at..at + first.len_utf8();
            return Err(FormulaError::new(
                range,
                format!("unexpected character `{first}`"),
                "a formula has names, numbers, brackets and the operators of C",
            ));
        };
        tokens.push(Token { kind, range: at..at + length });
        at += length;
    }
    tokens.push(Token { kind: Kind::End, range: text.len()..text.len() });
    Ok(tokens)
}

/// Reads a name, which may have two parts, as in `grid.x`.
fn name(rest: &str) -> (Kind<'_>, usize) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut end = rest.find(|c| !word(c)).unwrap_or(rest.len());
    if let Some(part) = rest[end..].strip_prefix('.')
        && part.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        end += 1 + part.find(|c| !word(c)).unwrap_or(part.len());
    }
    (Kind::Name(&rest[..end]), end)
}

fn number(rest: &str, at: usize) -> Result<(Kind<'_>, usize), FormulaError> {
    let wrong = |end: usize| {
        let message = format!("`{}` is not a number", &rest[..end]);
        FormulaError::new(
            at..at + end,
            message,
            "write 12, 0x1f, 1.5 or 1e-3; integers have at most 127 bits",
        )
    };
    let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    if let Some(hex) = rest[..word].strip_prefix("0x") {
        let value = i128::from_str_radix(&hex.replace('_', ""), 16).map_err(|_| wrong(word))?;
        return Ok((Kind::Int(value), word));
    }
    let digits = |from: usize| {
        rest[from..].find(|c: char| !c.is_ascii_digit() && c != '_').map_or(rest.len(), |end| from + end)
    };
    let mut end = digits(0);
    let mut float = false;
    // `0..n` is a range, but `0.5` is a float.
    if rest[end..].starts_with('.') && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        float = true;
        end = digits(end + 1);
    }
    if let Some(exponent) = rest[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        float = true;
        end = digits(end + 1 + sign);
    }
    if rest[end..].starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(wrong(word.max(end)));
    }
    let text = rest[..end].replace('_', "");
    let kind = if float {
        Kind::Float(text.parse().map_err(|_| wrong(end))?)
    } else {
        Kind::Int(text.parse().map_err(|_| wrong(end))?)
    };
    Ok((kind, end))
}
