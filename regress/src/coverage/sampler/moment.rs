//! A cycle as it is kept until it is looked at.
//!
//! Cycles are looked at in batches: between two of them the simulation runs through more code than the
//! processor keeps at hand, and a sampler that woke up for each would find its own code gone.

use atoms_model::port::{In, MAX_BANKS, Out, Probe};

use super::shadow::PartWrite;

/// Most configurations have half of the banks that fit.
const HALF: usize = MAX_BANKS / 2;

macro_rules! moment {
    (($i:ident, $out:ident, $probe:ident) $($from:ident: $($field:ident: $ty:ty),*;)*) => {
        /// What a sampler looks at in a cycle, named as on the ports. Requests are taken down elsewhere.
        #[derive(Clone, Copy, Debug)]
        pub(super) struct Moment {
            $($(pub(super) $field: $ty,)*)*
            /// Valid and ready of the ports that answer, [`RSP`] and so on, and [`ASLEEP`].
            pub(super) answers: u8,
            /// Queues of both ports: level, and whether a request is taken or refused.
            pub(super) queues: [u8; 2],
            /// As of the last write of the CTA table that was offered.
            pub(super) write: PartWrite,
            pub(super) cta_offered: bool,
            /// As of the last warp response.
            pub(super) rsp: Response,
            /// As of the last pass that left issue.
            pub(super) win_lane: [u8; MAX_BANKS],
            /// As of the last cycle in which banks were written.
            pub(super) wr_row: [u16; MAX_BANKS],
            pub(super) wr_data: [u32; MAX_BANKS],
        }

        impl Moment {
            /// Nothing happens.
            pub(super) const NONE: Moment = Moment {
                $($($field: 0,)*)*
                answers: 0,
                queues: [0; 2],
                write: PartWrite::NONE,
                cta_offered: false,
                rsp: Response { pred: 0, fault: 0, fault_lane: 0, passes: 0 },
                win_lane: [0; MAX_BANKS],
                wr_row: [0; MAX_BANKS],
                wr_data: [0; MAX_BANKS],
            };

            /// Takes a cycle down.
            #[inline(always)]
            pub(super) fn set(&mut self, $i: &In, $out: &Out, $probe: &Probe) {
                $($(self.$field = $from.$field;)*)*
                self.answers = $out.rsp_valid
                    | $i.rsp_ready << 1
                    | $out.cl_rsp_valid << 2
                    | $i.cl_rsp_ready << 3
                    | $out.wake_valid << 4
                    | $i.wake_ready << 5
                    | u8::from($probe.wait_asleep != 0) << 6;
                self.queues = [
                    queue($probe.queue_count, $i.req_valid, $out.req_ready),
                    queue($probe.cl_count, $i.cl_valid, $out.cl_ready),
                ];
                self.cta_offered = $i.cta_valid == 1;
                if self.cta_offered {
                    self.write = PartWrite::of($i);
                }
                if $out.rsp_valid == 1 {
                    self.rsp = Response {
                        pred: $out.rsp_pred,
                        fault: $out.rsp_fault,
                        fault_lane: $out.rsp_fault_lane,
                        passes: $out.rsp_passes,
                    };
                }
                if $probe.pass_fire == 1 {
                    self.win_lane = $probe.win_lane;
                }
                if $probe.wr_en >> HALF != 0 {
                    self.wr_row = $probe.wr_row;
                    self.wr_data = $probe.wr_data;
                } else if $probe.wr_en != 0 {
                    self.wr_row[..HALF].copy_from_slice(&$probe.wr_row[..HALF]);
                    self.wr_data[..HALF].copy_from_slice(&$probe.wr_data[..HALF]);
                }
            }
        }
    };
}

moment! {
    (i, out, probe)
    probe: wr_en: u64, win_valid: u64, completed: u64, pass_served: u32, issue_pending: u32, wait_asleep: u32,
        wait_ready: u32, pipe_valid: u16;
    i: req_tag: u8, req_slot: u8, cl_tag: u8, cl_slot: u8;
    out: rsp_tag: u8, cl_rsp_tag: u8, cl_rsp_fault: u8, wake_tag: u8, cta_ready: u8, cta_reject: u8;
    probe: issue_valid: u8, issue_cluster: u8, pass_fire: u8, pass_last: u8, hazard: u8, stall: u8, rotate: u8,
        wait_enter: u8, cl_owes: u8, cl_owed: u8;
}

/// A warp response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    pub(super) pred: u32,
    pub(super) fault: u8,
    pub(super) fault_lane: u8,
    pub(super) passes: u8,
}

/// Valid and ready of a port in [`Moment::answers`].
pub(super) const RSP: u8 = 0b11;
pub(super) const CL_RSP: u8 = 0b11 << 2;
/// A cluster response stands at the port and is not taken.
pub(super) const CL_RSP_HELD: u8 = 0b01 << 2;
pub(super) const WAKE: u8 = 0b11 << 4;
pub(super) const WAKE_VALID: u8 = 1 << 4;
/// Somebody sleeps.
pub(super) const ASLEEP: u8 = 1 << 6;

/// Level of a queue, and whether a request was taken or refused, in [`Moment::queues`].
pub(super) const LEVEL: u8 = 31;
pub(super) const CAME: u8 = 1 << 5;
pub(super) const REFUSED: u8 = 1 << 6;

#[inline(always)]
fn queue(level: u8, valid: u8, ready: u8) -> u8 {
    level | (valid & ready) << 5 | (valid & !ready) << 6
}
