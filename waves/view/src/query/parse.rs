//! Parser of expressions.

use std::ops::Range;

use super::expression::{Edge, Expression, Operand, QueryValue, Relation};
use super::{ComparedName, QuerySignal};
use crate::{SignalLookupError, ValueKind, WaveFile};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}\n  {text}\n  {}{}", " ".repeat(*column), "^".repeat((*length).max(1)))]
pub struct QueryError {
    pub problem: String,
    pub text: String,
    /// Number of characters before the error.
    pub column: usize,
    /// Length of the error in characters.
    pub length: usize,
}

/// Maximum nesting depth of parentheses and `!`.
const DEEPEST: u32 = 64;

type Parsed = (Expression, Vec<QuerySignal>, Vec<ComparedName>);

pub(super) fn parse(file: &WaveFile, text: &str) -> Result<Parsed, QueryError> {
    let (signals, names) = (Vec::new(), Vec::new());
    let mut parser = Parser { file, text, words: words(text)?, at: 0, signals, names, depth: 0 };
    let expression = parser.any()?;
    match parser.peek() {
        None => Ok((expression, parser.signals, parser.names)),
        Some(Word { place, .. }) => {
            let place = place.clone();
            let found = &text[place.clone()];
            Err(error(text, place, format!("expected &&, || or the end, found `{found}`")))
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Symbol {
    /// A bare word: a signal or a text.
    Name(String),
    Quoted(String),
    /// A signal's name in backquotes.
    Signal(String),
    Number(u128),
    Relation(Relation),
    And,
    Or,
    Not,
    Open,
    Close,
}

#[derive(Clone, Debug)]
struct Word {
    symbol: Symbol,
    place: Range<usize>,
}

pub(super) fn error(text: &str, place: Range<usize>, problem: impl Into<String>) -> QueryError {
    QueryError {
        problem: problem.into(),
        text: text.to_owned(),
        column: text[..place.start].chars().count(),
        length: text[place].chars().count(),
    }
}

const SYMBOLS: [(&str, Symbol); 11] = [
    ("&&", Symbol::And),
    ("||", Symbol::Or),
    ("==", Symbol::Relation(Relation::Equal)),
    ("!=", Symbol::Relation(Relation::Unequal)),
    ("<=", Symbol::Relation(Relation::LessOrEqual)),
    (">=", Symbol::Relation(Relation::GreaterOrEqual)),
    ("<", Symbol::Relation(Relation::Less)),
    (">", Symbol::Relation(Relation::Greater)),
    ("!", Symbol::Not),
    ("(", Symbol::Open),
    (")", Symbol::Close),
];

fn words(text: &str) -> Result<Vec<Word>, QueryError> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (symbol, length) = if let Some((spelled, symbol)) =
            SYMBOLS.iter().find(|(spelled, _)| rest.starts_with(spelled))
        {
            (symbol.clone(), spelled.len())
        } else if first == '`' {
            let Some(inside) = rest[1..].find('`') else {
                return Err(error(text, at..text.len(), "a name without its closing `"));
            };
            // A bit select may be inside or after the backquotes.
            let behind = &rest[inside + 2..];
            let end = if behind.starts_with('[') { behind.find(']').map_or(0, |end| end + 1) } else { 0 };
            (Symbol::Signal(rest[1..=inside].to_owned() + &behind[..end]), inside + 2 + end)
        } else if matches!(first, '"' | '\'') {
            let Some(inside) = rest[1..].find(first) else {
                return Err(error(text, at..text.len(), format!("a text without its closing {first}")));
            };
            (Symbol::Quoted(rest[1..=inside].to_owned()), inside + 2)
        } else {
            let is_part = |c: char| c.is_alphanumeric() || "_.[]:$#@/+-\\".contains(c);
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            if length == 0 {
                let place = at..at + first.len_utf8();
                let known = "a name (`between backquotes` with any character), a number, ==, !=, <, >, <=, >=, &&, \
                             ||, !, ( or )";
                return Err(error(text, place, format!("expected {known}, found `{first}`")));
            }
            let word = &rest[..length];
            let symbol = match number(word) {
                Some(Ok(number)) => Symbol::Number(number),
                Some(Err(())) => {
                    let expected = "expected a number such as 12, 0x1f or 0b101, of at most 128 bits";
                    return Err(error(text, at..at + length, expected));
                }
                None => Symbol::Name(word.to_owned()),
            };
            (symbol, length)
        };
        words.push(Word { symbol, place: at..at + length });
        at += length;
    }
    Ok(words)
}

fn number(word: &str) -> Option<Result<u128, ()>> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = word.replace('_', "");
    let parsed = match digits.get(..2) {
        Some("0x" | "0X") => u128::from_str_radix(&digits[2..], 16),
        Some("0b" | "0B") => u128::from_str_radix(&digits[2..], 2),
        _ => digits.parse(),
    };
    Some(parsed.map_err(|_| ()))
}

/// An operand that may still be a bare word: a signal or a text.
enum Side {
    Known(Operand, Option<ValueKind>),
    Word(String, SignalLookupError),
}

struct Parser<'a> {
    file: &'a WaveFile,
    text: &'a str,
    words: Vec<Word>,
    at: usize,
    signals: Vec<QuerySignal>,
    names: Vec<ComparedName>,
    depth: u32,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Word> {
        self.words.get(self.at)
    }

    fn takes(&mut self, symbol: &Symbol) -> bool {
        let takes = self.peek().is_some_and(|word| word.symbol == *symbol);
        self.at += usize::from(takes);
        takes
    }

    fn here(&self) -> Range<usize> {
        self.peek().map_or(self.text.len()..self.text.len(), |word| word.place.clone())
    }

    fn fails<T>(&self, place: Range<usize>, problem: impl Into<String>) -> Result<T, QueryError> {
        Err(error(self.text, place, problem))
    }

    fn any(&mut self) -> Result<Expression, QueryError> {
        let mut parts = vec![self.all()?];
        while self.takes(&Symbol::Or) {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Any(parts) })
    }

    fn all(&mut self) -> Result<Expression, QueryError> {
        let mut parts = vec![self.one()?];
        while self.takes(&Symbol::And) {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::All(parts) })
    }

    fn one(&mut self) -> Result<Expression, QueryError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fails(self.here(), format!("parentheses and ! are nested more than {DEEPEST} deep"));
        }
        let found = self.one_inside();
        self.depth -= 1;
        found
    }

    fn one_inside(&mut self) -> Result<Expression, QueryError> {
        if self.takes(&Symbol::Not) {
            return Ok(Expression::Not(Box::new(self.one()?)));
        }
        let open = self.here();
        if self.takes(&Symbol::Open) {
            let inside = self.any()?;
            if !self.takes(&Symbol::Close) {
                return self.fails(open, "this parenthesis is not closed");
            }
            return Ok(inside);
        }
        if let Some(edge) = self.edge()? {
            return Ok(edge);
        }
        let left_place = self.here();
        let left = self.operand()?;
        let relation = match self.peek() {
            Some(Word { symbol: Symbol::Relation(relation), .. }) => *relation,
            Some(_) | None => return self.holds(left, left_place),
        };
        let relation_place = self.here();
        self.at += 1;
        let right_place = self.here();
        let right = self.operand()?;
        let left = self.settle(left, &right, left_place.clone())?;
        let right = self.settle(right, &left, right_place.clone())?;
        let (Side::Known(left, left_kind), Side::Known(right, right_kind)) = (left, right) else {
            return self.fails(left_place, "expected a signal");
        };
        let is_text = |operand: &Operand, kind: Option<ValueKind>| match operand {
            Operand::Fixed(value) => matches!(value, QueryValue::Text(_)),
            Operand::Signal(_) => kind == Some(ValueKind::Text),
        };
        let texts = [is_text(&left, left_kind), is_text(&right, right_kind)];
        if texts[0] != texts[1] {
            let both = left_place.start..right_place.end;
            return self.fails(both, "a text cannot be compared with a number");
        }
        if texts[0] && !matches!(relation, Relation::Equal | Relation::Unequal) {
            return self.fails(relation_place, "texts can be compared only with == and !=");
        }
        for (side, other, place) in [(&left, &right, right_place), (&right, &left, left_place)] {
            if let (Operand::Signal(at), Operand::Fixed(QueryValue::Text(name))) = (side, other) {
                let (signal, name) = (self.signals[*at].number, name.clone());
                self.names.push(ComparedName { signal, name, place });
            }
        }
        Ok(Expression::Compare(left, relation, right))
    }

    /// Parses `rose(x)`, `fell(x)` or `changed(x)`.
    fn edge(&mut self) -> Result<Option<Expression>, QueryError> {
        let (Some(Word { symbol: Symbol::Name(name), .. }), Some(Word { symbol: Symbol::Open, .. })) =
            (self.peek(), self.words.get(self.at + 1))
        else {
            return Ok(None);
        };
        let edge = match name.as_str() {
            "rose" => Edge::Rose,
            "fell" => Edge::Fell,
            "changed" => Edge::Changed,
            _ => {
                let problem = format!("there is no `{name}(..)`; there are rose, fell and changed");
                return self.fails(self.here(), problem);
            }
        };
        self.at += 2;
        let place = self.here();
        let Side::Known(Operand::Signal(signal), kind) = self.operand()? else {
            return self.unknown(place);
        };
        if !self.takes(&Symbol::Close) {
            return self.fails(self.here(), "expected ) after one signal");
        }
        if edge != Edge::Changed && matches!(kind, Some(ValueKind::Text)) {
            return self.fails(place, "a text cannot rise or fall; use changed(..)");
        }
        Ok(Some(Expression::Edge(edge, signal)))
    }

    /// Converts an operand without a relation to an expression.
    fn holds(&self, operand: Side, place: Range<usize>) -> Result<Expression, QueryError> {
        match operand {
            Side::Known(_, Some(ValueKind::Text)) => {
                self.fails(place, "a text is not true or false: compare it, such as `== NAME`")
            }
            Side::Known(Operand::Fixed(QueryValue::Text(_)), _) | Side::Word(..) => self.unknown(place),
            Side::Known(operand, _) => Ok(Expression::True(operand)),
        }
    }

    fn unknown<T>(&self, place: Range<usize>) -> Result<T, QueryError> {
        let name = &self.text[place.clone()];
        match self.file.lookup(name) {
            Ok(_) => self.fails(place, "expected a signal"),
            Err(unknown) => self.fails(place, unknown.to_string()),
        }
    }

    /// Decides the meaning of a bare word: next to a text signal, a text; otherwise an unknown signal.
    fn settle(&self, side: Side, other: &Side, place: Range<usize>) -> Result<Side, QueryError> {
        match (side, other) {
            (Side::Word(word, SignalLookupError::Unknown { .. }), Side::Known(_, Some(ValueKind::Text))) => {
                Ok(Side::Known(Operand::Fixed(QueryValue::Text(word.into_bytes())), None))
            }
            (Side::Word(_, unknown), _) => self.fails(place, unknown.to_string()),
            (known, _) => Ok(known),
        }
    }

    /// Finds a signal, or a bit such as `a[3]`. A signal with that name takes precedence.
    fn named(&mut self, name: String, place: Range<usize>) -> Result<Side, QueryError> {
        let select = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
        let select =
            select.and_then(|(vector, bit)| Some((self.file.lookup(vector).ok()?, bit.parse().ok()?)));
        let (signal, kind) = match (self.file.lookup(&name), select) {
            (Ok(number), _) => (QuerySignal { number, bit: None }, self.file.signals()[number].kind),
            (Err(SignalLookupError::Unknown { .. }), Some((number, bit))) => {
                let vector = &self.file.signals()[number];
                let Some(bit) = vector.bit(bit) else {
                    return self.fails(place, format!("`{}` has no bit {bit}", vector.path()));
                };
                (QuerySignal { number, bit: Some(bit) }, ValueKind::Bits(1))
            }
            (Err(unknown), _) => return Ok(Side::Word(name, unknown)),
        };
        let known = self.signals.iter().position(|known| *known == signal);
        let at = known.unwrap_or_else(|| {
            self.signals.push(signal);
            self.signals.len() - 1
        });
        Ok(Side::Known(Operand::Signal(at), Some(kind)))
    }

    fn operand(&mut self) -> Result<Side, QueryError> {
        let place = self.here();
        let Some(word) = self.peek().cloned() else {
            return self.fails(place, "expected a signal or a value, found the end");
        };
        self.at += 1;
        match word.symbol {
            Symbol::Number(number) => Ok(Side::Known(Operand::Fixed(QueryValue::number(number)), None)),
            Symbol::Quoted(text) => {
                let text = if self.file.joins_words() { text.replace(' ', "_") } else { text };
                let text = text.into_bytes();
                Ok(Side::Known(Operand::Fixed(QueryValue::Text(text)), None))
            }
            Symbol::Name(name) => self.named(name, place),
            Symbol::Signal(name) => match self.named(name, place.clone())? {
                Side::Word(_, unknown) => self.fails(place, unknown.to_string()),
                known => Ok(known),
            },
            Symbol::Relation(_) | Symbol::And | Symbol::Or | Symbol::Not | Symbol::Open | Symbol::Close => {
                let found = &self.text[place.clone()];
                self.fails(place.clone(), format!("expected a signal or a value, found `{found}`"))
            }
        }
    }
}
