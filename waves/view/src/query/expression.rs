//! Expressions and their evaluation.

use std::cmp::Ordering;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Any(Vec<Expression>),
    All(Vec<Expression>),
    Not(Box<Expression>),
    /// True if the operand is a number other than 0, or an event that triggers.
    True(Operand),
    Compare(Operand, Relation, Operand),
    Edge(Edge, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    Rose,
    Fell,
    Changed,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// Index of a signal in the query.
    Signal(usize),
    Fixed(QueryValue),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum QueryValue {
    /// No value yet: every comparison fails.
    #[default]
    None,
    /// Known binary digits without leading zeros.
    Number(Vec<u8>),
    /// Digits with unknown ones: every comparison fails.
    Unknown(Vec<u8>),
    Real(f64),
    Text(Vec<u8>),
    Event,
}

impl QueryValue {
    pub(super) fn number(number: u128) -> Self {
        QueryValue::digits(format!("{number:b}").as_bytes())
    }

    /// Converts digits, the most significant first.
    pub(super) fn digits(digits: &[u8]) -> Self {
        if digits.iter().any(|digit| !matches!(digit, b'0' | b'1')) {
            return QueryValue::Unknown(digits.to_vec());
        }
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        QueryValue::Number(digits[zeros..].to_vec())
    }

    /// True if the values are equal. NaN equals itself here, so that it does not count as a change.
    fn is_same(&self, other: &QueryValue) -> bool {
        match (self, other) {
            (QueryValue::Real(one), QueryValue::Real(other)) => one.to_bits() == other.to_bits(),
            _ => self == other,
        }
    }

    fn is_true(&self) -> bool {
        match self {
            QueryValue::Number(digits) => !digits.is_empty(),
            QueryValue::Real(number) => *number != 0.0,
            QueryValue::Event => true,
            // One digit 1 makes the value nonzero, whatever the unknown digits are.
            QueryValue::Unknown(digits) => digits.contains(&b'1'),
            QueryValue::None | QueryValue::Text(_) => false,
        }
    }

    fn compare(&self, other: &QueryValue) -> Option<Ordering> {
        match (self, other) {
            (QueryValue::Number(one), QueryValue::Number(other)) => {
                Some(one.len().cmp(&other.len()).then_with(|| one.cmp(other)))
            }
            (QueryValue::Text(one), QueryValue::Text(other)) => Some(one.cmp(other)),
            (QueryValue::Real(one), other) => one.partial_cmp(&other.as_real()?),
            (one, QueryValue::Real(other)) => one.as_real()?.partial_cmp(other),
            _ => None,
        }
    }

    fn as_real(&self) -> Option<f64> {
        match self {
            QueryValue::Real(number) => Some(*number),
            QueryValue::Number(digits) => {
                Some(digits.iter().fold(0.0, |number, digit| number * 2.0 + f64::from(digit - b'0')))
            }
            QueryValue::None | QueryValue::Unknown(_) | QueryValue::Text(_) | QueryValue::Event => None,
        }
    }
}

impl Expression {
    /// Evaluates the expression for the values of a cycle and of the previous cycle.
    pub(super) fn holds(&self, now: &[QueryValue], before: &[QueryValue]) -> bool {
        match self {
            Expression::Any(parts) => parts.iter().any(|part| part.holds(now, before)),
            Expression::All(parts) => parts.iter().all(|part| part.holds(now, before)),
            Expression::Not(part) => !part.holds(now, before),
            Expression::True(operand) => operand.value(now).is_true(),
            Expression::Compare(one, relation, other) => {
                let order = one.value(now).compare(other.value(now));
                order.is_some_and(|order| match relation {
                    Relation::Equal => order.is_eq(),
                    Relation::Unequal => order.is_ne(),
                    Relation::Less => order.is_lt(),
                    Relation::LessOrEqual => order.is_le(),
                    Relation::Greater => order.is_gt(),
                    Relation::GreaterOrEqual => order.is_ge(),
                })
            }
            Expression::Edge(edge, signal) => {
                let (was, is) = (&before[*signal], &now[*signal]);
                match edge {
                    Edge::Rose => is.is_true() && !was.is_true() && *was != QueryValue::None,
                    Edge::Fell => was.is_true() && !is.is_true(),
                    Edge::Changed => !was.is_same(is) && *was != QueryValue::None,
                }
            }
        }
    }
}

impl Operand {
    fn value<'a>(&'a self, now: &'a [QueryValue]) -> &'a QueryValue {
        match self {
            Operand::Signal(signal) => &now[*signal],
            Operand::Fixed(value) => value,
        }
    }
}
