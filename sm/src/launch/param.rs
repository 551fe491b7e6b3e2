//! Parameters of a kernel.

use super::element::Element;
use super::expectation::Expectation;

/// Most bytes that a place is a multiple of. Source: [PTX] .align of a parameter.
pub(crate) const MOST_ALIGN: u32 = 128;

#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name: of a buffer, for expectations and reports; else for messages.
    pub name: String,
    pub kind: ParamKind,
}

/// Kind of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    Scalar {
        element: Element,
        bits: u64,
    },
    /// The address of a buffer in global memory.
    Buffer {
        element: Element,
        /// Content at the start, little-endian.
        bytes: Vec<u8>,
        expect: Option<Expectation>,
    },
    /// Elements, one after the other.
    Array {
        element: Element,
        /// The elements, little-endian.
        bytes: Vec<u8>,
        /// Bytes that its place is a multiple of.
        align: u32,
    },
    /// Fields, each naturally aligned.
    Struct {
        fields: Vec<Param>,
        /// Bytes that its place and its size are multiples of.
        align: u32,
    },
}

impl Param {
    /// Bytes that the parameter itself takes.
    pub fn bytes(&self) -> u32 {
        match &self.kind {
            ParamKind::Scalar { element, .. } => element.bytes() as u32,
            ParamKind::Buffer { .. } => 8,
            ParamKind::Array { bytes, .. } => bytes.len() as u32,
            ParamKind::Struct { fields, align } => {
                let end = |(at, field): (u32, &Param)| at + field.bytes();
                place(fields, 0).last().map_or(0, end).next_multiple_of(*align)
            }
        }
    }

    /// Bytes that its place is a multiple of.
    pub fn alignment(&self) -> u32 {
        match &self.kind {
            ParamKind::Scalar { .. } | ParamKind::Buffer { .. } => self.bytes(),
            ParamKind::Array { align, .. } | ParamKind::Struct { align, .. } => *align,
        }
    }
}

/// Address of the first byte of buffer `index`. Each has 4 GiB of addresses to itself, and starts just below a
/// multiple of 2^32, so that code which drops the carry into the high word is found out.
pub(crate) fn buffer_address(index: usize) -> u64 {
    ((0x10 + index as u64) << 32) | 0xffff_fe00
}

/// First byte of each parameter, the first one from `base` on, which is aligned for all of them.
pub(crate) fn place(params: &[Param], base: u32) -> impl Iterator<Item = (u32, &Param)> {
    let mut next = 0_u32;
    params.iter().map(move |param| {
        let at = next.next_multiple_of(param.alignment());
        next = at + param.bytes();
        (base + at, param)
    })
}

/// Parameters and fields that are no structures themselves, and the first byte of each.
pub(crate) fn leaves(params: &[Param], base: u32) -> Vec<(u32, &Param)> {
    let each = place(params, base).flat_map(|(at, param)| match &param.kind {
        ParamKind::Struct { fields, .. } => leaves(fields, at),
        ParamKind::Scalar { .. } | ParamKind::Buffer { .. } | ParamKind::Array { .. } => vec![(at, param)],
    });
    each.collect()
}

/// The parameter or field with this name.
pub(crate) fn find<'p>(params: &'p [Param], name: &str) -> Option<&'p Param> {
    params.iter().find_map(|param| match &param.kind {
        _ if param.name == name => Some(param),
        ParamKind::Struct { fields, .. } => find(fields, name),
        ParamKind::Scalar { .. } | ParamKind::Buffer { .. } | ParamKind::Array { .. } => None,
    })
}
