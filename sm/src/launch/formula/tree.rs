//! A formula as a tree whose names are resolved, and its values.

use super::operator::{Fold, Function};
use crate::launch::element::Element;
use std::ops::Range;

/// A formula, and how many variables it has besides `i`.
pub(super) struct Formula<'a> {
    pub(super) root: Node<'a>,
    pub(super) locals: usize,
}

/// A part of a formula, and where it stands.
pub(super) struct Node<'a> {
    pub(super) part: Part<'a>,
    pub(super) range: Range<usize>,
}

pub(super) enum Part<'a> {
    Constant(Value),
    /// Variable by number; 0 is `i`.
    Local(usize),
    Element(Element, &'a [u8], Box<Node<'a>>),
    Choice(Box<[Node<'a>; 3]>),
    /// Of at least one value.
    Call(Function, Vec<Node<'a>>),
    /// Over a variable from one bound up to, not including, another.
    Fold(&'static Fold, usize, Box<[Node<'a>; 3]>),
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i128),
    Float(f64),
}

impl Value {
    /// The value of an element's bits.
    pub(super) fn of(element: Element, bits: u64) -> Value {
        element.to_int(bits).map_or_else(|| Value::Float(element.to_float(bits)), Value::Int)
    }

    /// Bits of an element: integers wrap, floats are rounded to nearest even, and cut off towards zero where the
    /// element is an integer.
    pub(super) fn store(self, element: Element) -> u64 {
        match self {
            Value::Int(value) => element.from_int(value),
            Value::Float(value) => element.from_float(value),
        }
    }

    pub(super) fn float(self) -> f64 {
        match self {
            Value::Int(value) => value as f64,
            Value::Float(value) => value,
        }
    }

    pub(super) fn holds(self) -> bool {
        match self {
            Value::Int(value) => value != 0,
            Value::Float(value) => value != 0.0,
        }
    }

    pub(super) fn truth(holds: bool) -> Value {
        Value::Int(i128::from(holds))
    }
}
