//! The registers of the model by the names of the RTL's: for waves, and to find the first one that differs.
//!
//! A struct is shown by its fields, and a word of several by its words, as simulators show them. Every `registers` takes
//! its struct apart without a rest, so that a new register does not compile until it is shown or left out here.

use std::fmt::Arguments;

/// Sees each register, or each part of one, in an order that never changes.
///
/// A type, not a trait object: a wave of what is inside sees two thousand in each cycle, by their places alone, and
/// then no path is put together.
pub trait SeeRegister {
    /// A register: its path below the unit, such as `u_issue.op_q`, and its value; `None` while it means nothing, and the
    /// hardware may hold anything.
    fn see(&mut self, path: Arguments<'_>, value: Option<u128>);

    /// The next `count` registers hold `operands`, or mean nothing unless `held`. Where that was so before, they are
    /// left out.
    fn leaves_out(&mut self, _count: usize, _operands: &[u128], _held: bool) -> bool {
        false
    }
}

impl<See: FnMut(Arguments<'_>, Option<u128>)> SeeRegister for See {
    fn see(&mut self, path: Arguments<'_>, value: Option<u128>) {
        self(path, value);
    }
}

/// Registers of the RTL that have no counterpart in the model: the instance below the unit, its registers, and why.
pub const WITHOUT_COUNTERPART: &[(&str, &[&str], &str)] = &[
    (
        "u_pipe",
        &["stage0_q", "pass_q", "bank_q", "row_q", "b_q", "c_q", "bank_addr_q"],
        "a twin: its ring of stages turns the other way; what enters and leaves it is compared",
    ),
    (
        "u_pipe",
        &["read_q", "written_q", "word_written_q"],
        "a twin: it reads memory in the last stage, and forwards nothing",
    ),
    (
        "u_issue.u_operands",
        &["cluster_b_q", "cluster_c_q"],
        "a twin: a cluster request has one pass, which is made when it comes",
    ),
    ("u_port_rules", &[], "states what drivers must keep to, and has no part in the model"),
    ("g_bank", &["mem_q"], "compared as a whole, through the binding"),
];

/// The words of a number of 128 bits, the lowest first.
pub(crate) fn words(value: u128) -> impl Iterator<Item = (usize, u128)> {
    (0..4).map(move |word| (word, value >> (32 * word) & 0xffff_ffff))
}

/// An entry of a queue as its fields.
pub(crate) trait EntryFields {
    /// Sees each field, in an order that never changes; `lanes` are those of the configuration.
    fn fields(&self, lanes: usize, see: &mut impl FnMut(Arguments<'_>, u128));
}
