//! A formula as a tree whose names are resolved.

use super::operator::{Fold, Function};
use super::value::Value;
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
