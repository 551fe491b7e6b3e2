//! What can be altered, and how.

use std::fmt;
use std::ops::Range;

/// One small change of a design that a simulation can switch on: a defect to plant, or a repair to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutationOperator {
    Negated,
    /// A condition that always holds.
    AlwaysTrue,
    /// A condition that never holds.
    AlwaysFalse,
    /// Another operator of its kind between the same operands.
    Operator(&'static str),
    /// The first operand alone.
    FirstOnly,
    /// The second operand alone.
    SecondOnly,
    /// A number or sum, one larger.
    OneMore,
    /// A number or sum, one smaller.
    OneLess,
    /// All bits of a constant the other way round.
    Inverted,
    /// A value without its complement.
    NotComplemented,
    NotShifted,
    /// An assignment or call that is not carried out.
    Dropped,
}

impl MutationOperator {
    /// Whether a text that was altered so can be altered back: the change is one of those that [`MutationSite::operators`]
    /// offers for the altered text. It is not where something was lost.
    pub fn has_inverse(self) -> bool {
        match self {
            MutationOperator::Negated
            | MutationOperator::Operator(_)
            | MutationOperator::OneMore
            | MutationOperator::OneLess
            | MutationOperator::Inverted => true,
            MutationOperator::AlwaysTrue
            | MutationOperator::AlwaysFalse
            | MutationOperator::FirstOnly
            | MutationOperator::SecondOnly
            | MutationOperator::NotComplemented
            | MutationOperator::NotShifted
            | MutationOperator::Dropped => false,
        }
    }
}

/// What is altered, as a reader of the list of causes finds it: `negated`, `with != in place of ==`.
impl fmt::Display for MutationOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MutationOperator::Negated => "negated",
            MutationOperator::AlwaysTrue => "always true",
            MutationOperator::AlwaysFalse => "always false",
            MutationOperator::Operator(sign) => return write!(f, "with `{sign}` as its operator"),
            MutationOperator::FirstOnly => "reduced to its first operand",
            MutationOperator::SecondOnly => "reduced to its second operand",
            MutationOperator::OneMore => "one larger",
            MutationOperator::OneLess => "one smaller",
            MutationOperator::Inverted => "inverted",
            MutationOperator::NotComplemented => "not complemented",
            MutationOperator::NotShifted => "not shifted",
            MutationOperator::Dropped => "left out",
        })
    }
}

/// Forms of what can be altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// A condition, or a comparison for equality.
    Condition,
    /// `&&` or `||`.
    Logic(&'static str),
    /// `<`, `<=`, `>` or `>=`.
    Relation(&'static str),
    /// `+` or `-`.
    Sum(&'static str),
    /// `&` or `|`.
    Mask(&'static str),
    /// `^`.
    Difference,
    /// `~`.
    Complement,
    Shift,
    Number,
    /// A constant of one bit, or one that fills its place.
    Fill,
    /// An assignment or a call.
    Statement,
    /// The value of an assignment.
    Value,
    /// The condition of a block that is elaborated or not.
    Presence,
    /// An arm of a `case`, one of its labels, or an element of a list.
    Choice,
}

/// An operator as a table of four bits over what it depends on, for those that are altered by changing the table.
pub(crate) fn table(sign: &str) -> Option<u8> {
    Some(match sign {
        // Bit 2 * first + second.
        "&&" => 0b1000,
        "||" => 0b1110,
        // Bit 2 * (equal) + (smaller).
        "<" => 0b0010,
        "<=" => 0b0110,
        ">" => 0b0001,
        ">=" => 0b0101,
        _ => return None,
    })
}

/// A place in the design that can be altered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutationSite {
    pub file: String,
    /// The module or package it is in.
    pub module: String,
    /// Its line, from 1: that of the operator where there is one.
    pub line: usize,
    /// What is altered, as it is written.
    pub text: String,
    pub kind: SiteKind,
    /// Where all of that is in the source.
    pub(crate) place: SourceRange,
}

/// Bytes of the source that an operator is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceRange {
    pub(crate) whole: Range<usize>,
    /// Its operands, where it has one or two; else both are empty.
    pub(crate) operands: [Range<usize>; 2],
}

impl SourceRange {
    /// Of something without operands, as far as operators are concerned.
    pub(crate) fn of(whole: &Range<usize>) -> SourceRange {
        SourceRange { whole: whole.clone(), operands: [whole.end..whole.end, whole.end..whole.end] }
    }
}

impl MutationSite {
    /// `source`, of which this is a site, as a text of its own that is altered so: for a reader, and for tools that
    /// cannot read switches.
    pub fn altered_source(&self, source: &str, by: MutationOperator) -> String {
        let SourceRange { whole, operands: [first, second] } = &self.place;
        let text = &source[whole.clone()];
        let operand = |range: &Range<usize>| format!("({})", &source[range.clone()]);
        let new = match by {
            MutationOperator::Negated => format!("!({text})"),
            MutationOperator::AlwaysTrue => "1'b1".to_owned(),
            MutationOperator::AlwaysFalse => "1'b0".to_owned(),
            MutationOperator::Operator(sign) => format!("({} {sign} {})", operand(first), operand(second)),
            MutationOperator::FirstOnly
            | MutationOperator::NotComplemented
            | MutationOperator::NotShifted => operand(first),
            MutationOperator::SecondOnly => operand(second),
            MutationOperator::OneMore => format!("({text} + 1'b1)"),
            MutationOperator::OneLess => format!("({text} - 1'b1)"),
            MutationOperator::Inverted => match (self.kind, text) {
                (SiteKind::Fill, "'0") => "'1".to_owned(),
                (SiteKind::Fill, "'1") => "'0".to_owned(),
                _ => format!("~({text})"),
            },
            MutationOperator::Dropped if self.kind == SiteKind::Choice => String::new(),
            MutationOperator::Dropped => ";".to_owned(),
        };
        format!("{}{new}{}", &source[..whole.start], &source[whole.end..])
    }

    /// Every operator of it, with the number that switches it on. 0 is the design as written.
    pub fn operators(&self) -> Vec<(u8, MutationOperator)> {
        use MutationOperator as A;
        match self.kind {
            SiteKind::Condition => vec![(1, A::Negated), (2, A::AlwaysTrue), (3, A::AlwaysFalse)],
            SiteKind::Logic(sign) => {
                let own = table(sign).unwrap_or(0);
                let other = if sign == "&&" { "||" } else { "&&" };
                let mut found = vec![(own ^ table(other).unwrap_or(0), A::Operator(other))];
                found.extend([
                    (own ^ 0b1100, A::FirstOnly),
                    (own ^ 0b1010, A::SecondOnly),
                    (0b1111, A::Negated),
                ]);
                found.extend([(own ^ 0b1111, A::AlwaysTrue), (own, A::AlwaysFalse)]);
                found
            }
            SiteKind::Relation(sign) => ["<", "<=", ">", ">="]
                .into_iter()
                .filter(|other| *other != sign)
                .filter_map(|other| Some((table(sign)? ^ table(other)?, A::Operator(other))))
                .collect(),
            SiteKind::Sum(sign) => {
                let other = if sign == "+" { "-" } else { "+" };
                vec![(1, A::Operator(other)), (2, A::OneMore), (3, A::OneLess)]
            }
            SiteKind::Mask(sign) => {
                let other = if sign == "&" { "|" } else { "&" };
                vec![(3, A::Operator(other)), (1, A::FirstOnly), (2, A::SecondOnly)]
            }
            SiteKind::Difference => vec![(1, A::FirstOnly), (2, A::SecondOnly)],
            SiteKind::Complement => vec![(1, A::NotComplemented)],
            SiteKind::Shift => vec![(1, A::NotShifted)],
            SiteKind::Number => vec![(1, A::OneMore), (2, A::OneLess)],
            SiteKind::Fill => vec![(1, A::Inverted)],
            SiteKind::Value => vec![(1, A::Inverted)],
            SiteKind::Statement | SiteKind::Choice => vec![(1, A::Dropped)],
            SiteKind::Presence => vec![(1, A::Negated)],
        }
    }

    /// The other of two values at a site that is switched to `own`: what is tried in single cycles. None where a value is
    /// not one of two.
    pub fn flip(&self, own: u8) -> Option<(u8, MutationOperator)> {
        match self.kind {
            // As written, negated, true, false: each has its opposite beside it.
            SiteKind::Condition => Some((own ^ 1, MutationOperator::Negated)),
            SiteKind::Logic(_) => Some((own ^ 0b1111, MutationOperator::Negated)),
            SiteKind::Fill | SiteKind::Value => Some((own ^ 1, MutationOperator::Inverted)),
            SiteKind::Statement => (own == 0).then_some((1, MutationOperator::Dropped)),
            SiteKind::Relation(_)
            | SiteKind::Sum(_)
            | SiteKind::Mask(_)
            | SiteKind::Difference
            | SiteKind::Complement
            | SiteKind::Shift
            | SiteKind::Number
            | SiteKind::Presence
            | SiteKind::Choice => None,
        }
    }

    /// What switches a condition on and off for good; none where there is no condition.
    pub fn constants(&self) -> Option<[u8; 2]> {
        match self.kind {
            SiteKind::Condition => Some([2, 3]),
            SiteKind::Logic(sign) => table(sign).map(|own| [own ^ 0b1111, own]),
            SiteKind::Relation(_)
            | SiteKind::Sum(_)
            | SiteKind::Mask(_)
            | SiteKind::Difference
            | SiteKind::Complement
            | SiteKind::Shift
            | SiteKind::Number
            | SiteKind::Fill
            | SiteKind::Statement
            | SiteKind::Value
            | SiteKind::Presence
            | SiteKind::Choice => None,
        }
    }
}
