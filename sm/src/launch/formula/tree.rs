use super::operator::{Fold, Function};
use super::value::Value;
use crate::launch::element::Element;
use std::ops::Range;

/// Formula, and the number of local variables besides `i`.
pub(super) struct Formula<'a> {
    pub(super) root: Node<'a>,
    pub(super) locals: usize,
}

/// Node of the tree, with its byte range in the text.
pub(super) struct Node<'a> {
    pub(super) part: Part<'a>,
    pub(super) range: Range<usize>,
}

pub(super) enum Part<'a> {
    Constant(Value),
    /// Local variable by number; 0 is `i`.
    Local(usize),
    Element(Element, &'a [u8], Box<Node<'a>>),
    Choice(Box<[Node<'a>; 3]>),
    Call(Function, Vec<Node<'a>>),
    /// Reduction over a local variable, from a lower bound up to, but not including, an upper bound.
    Fold(&'static Fold, usize, Box<[Node<'a>; 3]>),
}
