//! What an expression is, and whether it holds.

use std::cmp::Ordering;

/// Something that holds or not.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Any(Vec<Expression>),
    All(Vec<Expression>),
    Not(Box<Expression>),
    /// A number that is not 0, an event that happens.
    True(Operand),
    Compare(Operand, Relation, Operand),
    Edge(Edge, usize),
}

/// How two values may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// How a signal differs from the cycle before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    Rose,
    Fell,
    Changed,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// The place of a signal in the query.
    Signal(usize),
    Fixed(QueryValue),
}

/// A value of a signal, or of the expression.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum QueryValue {
    /// Nothing yet; with it every comparison fails.
    #[default]
    None,
    /// Binary digits without zeros in front; none of them is unknown.
    Number(Vec<u8>),
    /// Digits with unknown ones: every comparison fails.
    Unknown(Vec<u8>),
    Real(f64),
    Text(Vec<u8>),
    Event,
}

impl QueryValue {
    /// A number as expressions have it.
    pub(super) fn number(number: u128) -> Self {
        QueryValue::digits(format!("{number:b}").as_bytes())
    }

    /// Digits, the most significant first.
    pub(super) fn digits(digits: &[u8]) -> Self {
        if digits.iter().any(|digit| !matches!(digit, b'0' | b'1')) {
            return QueryValue::Unknown(digits.to_vec());
        }
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        QueryValue::Number(digits[zeros..].to_vec())
    }

    /// True if there is no change between them; a real number that is none stays the same.
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
            // One digit that is 1 makes it other than 0, whatever the unknown ones are.
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
    /// Whether it holds for the values of a cycle, behind those of the cycle before.
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
