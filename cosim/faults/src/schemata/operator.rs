//! Mutation operators, and sites where they apply.

use std::fmt;
use std::ops::Range;

/// A small change of one site: a defect to plant, or a repair to try for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutationOperator {
    Negated,
    AlwaysTrue,
    AlwaysFalse,
    /// Another operator of the same kind between the same operands.
    Operator(&'static str),
    FirstOnly,
    SecondOnly,
    OneMore,
    OneLess,
    Inverted,
    NotComplemented,
    NotShifted,
    /// An assignment or call removed.
    Dropped,
}

impl MutationOperator {
    /// True if the mutated text can be mutated back, because [`MutationSite::operators`] of that text offers
    /// the inverse. False if the mutation loses part of the text.
    pub fn has_inverse(self) -> bool {
        matches!(
            self,
            MutationOperator::Negated
                | MutationOperator::Operator(_)
                | MutationOperator::OneMore
                | MutationOperator::OneLess
                | MutationOperator::Inverted
        )
    }
}

/// Writes the change in words, as in the list of causes: `negated`, ``with `!=` as its operator``.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// A condition, or an equality comparison.
    Condition,
    Logic(&'static str),
    Relation(&'static str),
    Sum(&'static str),
    /// A bitwise `&` or `|` of two values.
    Mask(&'static str),
    /// A bitwise exclusive or: `^`.
    Difference,
    Complement,
    Shift,
    Number,
    /// A one-bit constant, or an unsized literal such as `'0`.
    Fill,
    Statement,
    Value,
    /// Condition of a generate block.
    Presence,
    /// An arm of a `case`, one of its labels, or an element of an `inside` list.
    Choice,
}

/// Returns the truth table of an operator, 4 bits, for operators that are mutated by changing the table.
pub(crate) fn table(sign: &str) -> Option<u8> {
    Some(match sign {
        // Bit number is 2 * first + second.
        "&&" => 0b1000,
        "||" => 0b1110,
        // Bit number is 2 * (equal) + (smaller).
        "<" => 0b0010,
        "<=" => 0b0110,
        ">" => 0b0001,
        ">=" => 0b0101,
        _ => return None,
    })
}

/// An expression or statement of the design that can be mutated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutationSite {
    pub file: String,
    pub module: String,
    /// Line number, from 1: the line of the operator if there is one.
    pub line: usize,
    /// Text to mutate, as written.
    pub text: String,
    pub kind: SiteKind,
    pub(crate) place: SourceRange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceRange {
    pub(crate) whole: Range<usize>,
    /// Operands if the site has one or two, else empty ranges.
    pub(crate) operands: [Range<usize>; 2],
}

impl SourceRange {
    /// Range of a site without operands.
    pub(crate) fn of(whole: &Range<usize>) -> SourceRange {
        SourceRange { whole: whole.clone(), operands: [whole.end..whole.end, whole.end..whole.end] }
    }
}

impl MutationSite {
    /// Applies the mutation `by` to `source` as plain text, for readers and for tools that cannot use
    /// switches.
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

    /// Returns every operator of the site, with its switch value. Value 0 is the design as written.
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

    /// Returns the opposite of the value `own`, for a site that has only two values. Such a flip is tried in
    /// single cycles. None for all other sites.
    pub fn flip(&self, own: u8) -> Option<(u8, MutationOperator)> {
        match self.kind {
            // Each of the values 0 (as written), 1 (negated), 2 (true) and 3 (false) differs from its
            // opposite in bit 0.
            SiteKind::Condition => Some((own ^ 1, MutationOperator::Negated)),
            SiteKind::Logic(_) => Some((own ^ 0b1111, MutationOperator::Negated)),
            SiteKind::Fill | SiteKind::Value => Some((own ^ 1, MutationOperator::Inverted)),
            SiteKind::Statement => (own == 0).then_some((1, MutationOperator::Dropped)),
            _ => None,
        }
    }

    /// Returns the switch values that make a condition always true and always false. None if the site is not
    /// a condition.
    pub fn constants(&self) -> Option<[u8; 2]> {
        match self.kind {
            SiteKind::Condition => Some([2, 3]),
            SiteKind::Logic(sign) => table(sign).map(|own| [own ^ 0b1111, own]),
            _ => None,
        }
    }
}
