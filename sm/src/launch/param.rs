use super::element::Element;
use super::expectation::Expectation;

/// Largest alignment in bytes. Source: [PTX] .align of a parameter.
pub(crate) const MOST_ALIGN: u32 = 128;

#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name. Expectations and reports identify buffers by it; for other parameters it is only used in
    /// messages.
    pub name: String,
    pub kind: ParamKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    Scalar {
        element: Element,
        bits: u64,
    },
    /// Address of a buffer in global memory.
    Buffer {
        element: Element,
        /// Content at the start of the run, little-endian.
        bytes: Vec<u8>,
        expect: Option<Expectation>,
    },
    Array {
        element: Element,
        bytes: Vec<u8>,
        /// Alignment of the array in bytes.
        align: u32,
    },
    /// Structure with naturally aligned fields.
    Struct {
        fields: Vec<Param>,
        /// Alignment in bytes, which also divides the size.
        align: u32,
    },
}

impl Param {
    /// Size of the parameter in bytes; 8 for a buffer.
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

    pub fn alignment(&self) -> u32 {
        match &self.kind {
            ParamKind::Scalar { .. } | ParamKind::Buffer { .. } => self.bytes(),
            ParamKind::Array { align, .. } | ParamKind::Struct { align, .. } => *align,
        }
    }
}

/// Address of buffer `index`. Each buffer has its own 4 GiB range and starts just below a multiple of 2^32.
/// This exposes code that drops the carry into the high word.
pub(crate) fn buffer_address(index: usize) -> u64 {
    ((0x10 + index as u64) << 32) | 0xffff_fe00
}

/// Offset of each parameter, if the first one starts at `base`. `base` must be aligned for all of them.
pub(crate) fn place(params: &[Param], base: u32) -> impl Iterator<Item = (u32, &Param)> {
    let mut next = 0_u32;
    params.iter().map(move |param| {
        let at = next.next_multiple_of(param.alignment());
        next = at + param.bytes();
        (base + at, param)
    })
}

/// Flattens structures: parameters and fields that are not structures, with their offsets.
pub(crate) fn leaves(params: &[Param], base: u32) -> Vec<(u32, &Param)> {
    let each = place(params, base).flat_map(|(at, param)| match &param.kind {
        ParamKind::Struct { fields, .. } => leaves(fields, at),
        ParamKind::Scalar { .. } | ParamKind::Buffer { .. } | ParamKind::Array { .. } => vec![(at, param)],
    });
    each.collect()
}

pub(crate) fn find<'p>(params: &'p [Param], name: &str) -> Option<&'p Param> {
    params.iter().find_map(|param| match &param.kind {
        _ if param.name == name => Some(param),
        ParamKind::Struct { fields, .. } => find(fields, name),
        ParamKind::Scalar { .. } | ParamKind::Buffer { .. } | ParamKind::Array { .. } => None,
    })
}
