//! Queue of cluster responses, and the room reserved for them. Mirror of `rtl/atoms_cluster_rsp.sv`.

use crate::config::Config;
use crate::port::{In, Out};
use crate::registers::{SeeRegister, words};

/// Capacity of the queue in the largest configuration.
const MAX_RESPONSES: usize = 12;

/// A response of the cluster port; fields as in `cluster_rsp_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClusterRsp {
    pub(crate) rd: u128,
    /// True if a compare-and-store stored.
    pub(crate) pred: bool,
    pub(crate) tag: u8,
    pub(crate) fault: u8,
    /// Faulting address; 0 without a fault.
    pub(crate) fault_addr: u32,
}

/// Registers: the queue, and the number of responses owed.
///
/// The ports show the oldest entry even if the queue is empty. The model therefore keeps the hardware's
/// entries and pointers.
#[derive(Clone, Debug)]
pub(crate) struct ClusterResponses {
    entry: [ClusterRsp; MAX_RESPONSES],
    depth: usize,
    head: usize,
    tail: usize,
    held: usize,
    owed: usize,
}

impl ClusterResponses {
    pub(crate) fn new(config: &Config) -> Self {
        let depth = config.cluster_responses() as usize;
        ClusterResponses {
            entry: [ClusterRsp::default(); MAX_RESPONSES],
            depth,
            head: 0,
            tail: 0,
            held: 0,
            owed: 0,
        }
    }

    /// True if one more response than the owed ones fits.
    pub(crate) fn room(&self) -> bool {
        self.owed != self.depth
    }

    /// Number of responses owed: those reserved at issue and not yet accepted.
    pub(crate) fn owed(&self) -> usize {
        self.owed
    }

    /// Clock edge. `reserve` reserves room for a request that goes to issue and owes a response. `done` is
    /// the response of a finished request. The oldest response is removed if it is accepted.
    #[inline]
    pub(crate) fn tick(&mut self, reserve: bool, done: Option<ClusterRsp>, out: &mut Out, i: &In) {
        let after = |at: usize| if at + 1 == self.depth { 0 } else { at + 1 };
        let pop = out.cl_rsp_valid & i.cl_rsp_ready == 1;
        if reserve {
            self.owed += 1;
        }
        if pop {
            self.owed -= 1;
            self.head = after(self.head);
            self.held -= 1;
        }
        if let Some(rsp) = done {
            self.entry[self.tail] = rsp;
            self.tail = after(self.tail);
            self.held += 1;
        }
        if pop || done.is_some() {
            self.show(out);
        }
    }

    fn show(&self, out: &mut Out) {
        let oldest = &self.entry[self.head];
        out.cl_rsp_valid = u8::from(self.held != 0);
        out.cl_rsp_rd = oldest.rd;
        out.cl_rsp_pred = u8::from(oldest.pred);
        out.cl_rsp_tag = oldest.tag;
        out.cl_rsp_fault = oldest.fault;
        out.cl_rsp_fault_addr = oldest.fault_addr;
    }

    pub(crate) fn registers(&self, see: &mut impl SeeRegister) {
        let ClusterResponses { entry, depth, head, tail, held, owed } = self;
        for (place, rsp) in entry.iter().enumerate().take(*depth) {
            let ClusterRsp { rd, pred, tag, fault, fault_addr } = *rsp;
            for (word, value) in words(rd) {
                see.see(format_args!("u_cluster_rsp.entry_q[{place}].rd[{word}]"), Some(value));
            }
            let fields = [
                ("pred", pred.into()),
                ("tag", tag.into()),
                ("fault", fault.into()),
                ("fault_addr", fault_addr),
            ];
            for (field, value) in fields {
                see.see(format_args!("u_cluster_rsp.entry_q[{place}].{field}"), Some(value.into()));
            }
        }
        for (name, value) in [("head", head), ("tail", tail), ("held", held), ("owed", owed)] {
            see.see(format_args!("u_cluster_rsp.{name}_q"), Some(*value as u128));
        }
    }

    pub(crate) fn reset(&mut self, out: &mut Out) {
        (self.head, self.tail, self.held, self.owed) = (0, 0, 0, 0);
        self.show(out);
    }
}
