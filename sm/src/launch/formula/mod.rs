//! Formulas for the expected elements of a buffer, computed from the values of the launch.
//!
//! Integers have 128 bits; an overflow is an error. Floats are binary64. The name of a type used as a
//! function (`u32(x)`) wraps or rounds to that type, as the store into the buffer does at the end. Errors
//! have a position in the text.
//!
//! This is an own parser, because available expression crates compute in binary64 or 64-bit integers without
//! wrapping, and have no reductions.

mod eval;
mod lex;
mod operator;
mod parse;
mod tree;
mod value;

#[cfg(test)]
mod tests;

use super::element::Element;
use super::param::{self, Param, ParamKind};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormulaError {
    /// Byte range in the text.
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl FormulaError {
    fn new(range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> FormulaError {
        FormulaError { range, message: message.into(), help: help.into() }
    }
}

pub(crate) struct Names<'a> {
    pub(crate) params: &'a [Param],
    /// Scalars other than parameters, such as `grid.x`.
    pub(crate) scalars: &'a [(&'static str, u64)],
}

impl<'a> Names<'a> {
    fn buffer(&self, name: &str) -> Option<(Element, &'a [u8])> {
        param::find(self.params, name).and_then(|p| match &p.kind {
            ParamKind::Buffer { element, bytes, .. } | ParamKind::Array { element, bytes, .. } => {
                Some((*element, bytes.as_slice()))
            }
            ParamKind::Scalar { .. } | ParamKind::Struct { .. } => None,
        })
    }

    fn scalar(&self, name: &str) -> Option<value::Value> {
        let param = param::find(self.params, name);
        if let Some(Param { kind: ParamKind::Scalar { element, bits }, .. }) = param {
            return Some(value::Value::of(*element, *bits));
        }
        let found = self.scalars.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value::Value::Int(i128::from(*value)))
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        let params = param::leaves(self.params, 0).into_iter().map(|(_, p)| p.name.as_str());
        params.chain(self.scalars.iter().map(|(name, _)| *name))
    }
}

/// Evaluates elements 0 to `count - 1` of a buffer of type `element`, as bits.
pub(crate) fn elements(
    text: &str,
    element: Element,
    count: usize,
    names: &Names<'_>,
) -> Result<Vec<u64>, FormulaError> {
    let formula = parse::parse(text, names)?;
    let mut work = eval::Work::new(formula.locals);
    (0..count).map(|index| Ok(work.element(&formula.root, index)?.store(element))).collect()
}
