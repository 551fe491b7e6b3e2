//! Access to the model's registers by their RTL names, for waves and to find the first register that differs.
//!
//! A struct is shown field by field, and a wide value word by word, as simulators show them. Every
//! `registers` function destructures its struct completely. A new register therefore does not compile until
//! it is shown or omitted here.

use std::fmt::Arguments;

/// Visitor of the registers. The order of the calls never changes.
///
/// The trait is generic, not a trait object: a wave of the unit's inside visits 2,000 registers per cycle.
/// Such a visitor counts positions, and never formats a path.
pub trait SeeRegister {
    /// Visits a register: its path below the unit, such as `u_issue.op_q`, and its value. `None` means that
    /// the value is meaningless and that the hardware may hold any value.
    fn see(&mut self, path: Arguments<'_>, value: Option<u128>);

    /// Returns true to skip the next `count` registers. They hold `operands`, or meaningless values if `held`
    /// is false. A visitor may skip them if nothing has changed since its last visit.
    fn leaves_out(&mut self, _count: usize, _operands: &[u128], _held: bool) -> bool {
        false
    }
}

impl<See: FnMut(Arguments<'_>, Option<u128>)> SeeRegister for See {
    fn see(&mut self, path: Arguments<'_>, value: Option<u128>) {
        self(path, value);
    }
}

/// RTL registers without a counterpart in the model: the instance below the unit, its registers, and the
/// reason.
pub const WITHOUT_COUNTERPART: &[(&str, &[&str], &str)] = &[
    (
        "u_pipe",
        &["stage0_q", "pass_q", "bank_q", "row_q", "b_q", "c_q", "bank_addr_q"],
        "differs by design: the model's ring of stages turns the other way; inputs and outputs are compared",
    ),
    (
        "u_pipe",
        &["read_q", "written_q", "word_written_q"],
        "differs by design: the model reads memory in the last stage, and needs no forwarding",
    ),
    (
        "u_issue.u_operands",
        &["cluster_b_q", "cluster_c_q"],
        "differs by design: the model computes the single pass of a cluster request when issue takes it",
    ),
    ("u_port_rules", &[], "checks rules that drivers must follow; the model has no such module"),
    ("g_bank", &["mem_q"], "memory, which lockstep compares as a whole"),
];

/// Splits a 128-bit value into its words, lowest first, with their indices.
pub(crate) fn words(value: u128) -> impl Iterator<Item = (usize, u128)> {
    (0..4).map(move |word| (word, value >> (32 * word) & 0xffff_ffff))
}

pub(crate) trait EntryFields {
    /// Visits each field, in an order that never changes. `lanes` is the number of lanes of the
    /// configuration.
    fn fields(&self, lanes: usize, see: &mut impl FnMut(Arguments<'_>, u128));
}
