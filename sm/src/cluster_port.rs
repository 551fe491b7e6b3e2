//! The unit's cluster port: one word at a time, for what comes from other CTAs of the cluster and from
//! asynchronous copies (spec 6.7, 7.5).

use crate::copy::CopyEngine;
use crate::error::KernelError;
use crate::global::GlobalMemory;
use atoms_isa::{Reg, WideOp};
use atoms_model::port::{In, Out};
use atoms_ops::{Fault, Op, Size};
use std::collections::VecDeque;

/// A place in the shared memory of a CTA on the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedPlace {
    /// Slot of the CTA.
    pub(crate) slot: usize,
    /// The address as the thread formed it: rank in the top byte, offset below.
    pub(crate) address: u32,
}

impl SharedPlace {
    /// Offset in the CTA's part.
    pub(crate) fn offset(self) -> u32 {
        self.address & 0xff_ffff
    }
}

/// Who waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A lane of a warp, at this instruction.
    Lane { warp: usize, lane: u32, pc: u32 },
    /// A copy, by number.
    Copy(u64),
}

/// What becomes of the answer to a lane's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Nothing.
    None,
    /// The word before goes to a register.
    Old { dst: Reg },
    /// Whether it stored goes to a register.
    Stored { dst: Reg },
    /// The word is worked on by compare-and-store, until one has stored; the word before goes to a register.
    Update { op: WideOp, operand: u64, dst: Reg },
}

/// One request at the cluster port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) op: Op,
    pub(crate) size: Size,
    pub(crate) place: SharedPlace,
    pub(crate) b: u128,
    pub(crate) c: u128,
    /// No result is wanted.
    pub(crate) red: bool,
    pub(crate) origin: Origin,
    pub(crate) reply: Reply,
}

/// The core's side of the cluster port.
#[derive(Default)]
pub(crate) struct ClusterPort {
    lanes: VecDeque<Transfer>,
    offered: Option<Transfer>,
    /// Taken and not answered; answers come in this order.
    in_flight: VecDeque<(u8, Transfer)>,
    tag: u8,
    /// The last one offered was a lane's.
    lane_was_last: bool,
}

/// What became of a request.
pub(crate) struct Answer {
    pub(crate) transfer: Transfer,
    pub(crate) fault: Fault,
    /// The word before, where it was wanted.
    pub(crate) old: u128,
    /// A compare-and-store stored.
    pub(crate) stored: bool,
}

impl ClusterPort {
    /// Queues a lane's request.
    pub(crate) fn ask(&mut self, transfer: Transfer) {
        self.lanes.push_back(transfer);
    }

    /// Nothing is queued, offered or in flight.
    pub(crate) fn idle(&self) -> bool {
        self.lanes.is_empty() && self.offered.is_none() && self.in_flight.is_empty()
    }

    /// Whether a request to the part of `slot` has not been answered.
    pub(crate) fn uses(&self, slot: usize) -> bool {
        let flying = self.in_flight.iter().map(|(_, t)| t);
        self.lanes.iter().chain(&self.offered).chain(flying).any(|t| t.place.slot == slot)
    }

    /// Offers the next request: of a lane and of a copy in turn, where both have one.
    pub(crate) fn drive(
        &mut self,
        inputs: &mut In,
        copies: &mut CopyEngine,
        global: &mut GlobalMemory,
    ) -> Result<(), (u64, String)> {
        if self.offered.is_none() {
            let lane_first = !self.lane_was_last || !copies.has_request();
            self.offered = if lane_first { self.lanes.pop_front() } else { None };
            self.lane_was_last = self.offered.is_some();
            if self.offered.is_none() {
                self.offered = copies.next_request(global)?;
            }
        }
        inputs.cl_valid = u8::from(self.offered.is_some());
        if let Some(transfer) = &self.offered {
            inputs.cl_op = transfer.op as u8;
            inputs.cl_size = transfer.size as u8;
            inputs.cl_red = u8::from(transfer.red);
            inputs.cl_slot = transfer.place.slot as u8;
            inputs.cl_addr = transfer.place.offset();
            inputs.cl_b = transfer.b;
            inputs.cl_c = transfer.c;
            inputs.cl_tag = self.tag;
        }
        Ok(())
    }

    /// Whether the port has taken the request offered.
    pub(crate) fn taken(&mut self, inputs: &In, outputs: &Out) -> Option<Origin> {
        if inputs.cl_valid == 0 || outputs.cl_ready == 0 {
            return None;
        }
        let transfer = self.offered.take()?;
        self.in_flight.push_back((self.tag, transfer));
        // The tag has 6 bits; the port holds far fewer requests.
        self.tag = (self.tag + 1) % 64;
        Some(transfer.origin)
    }

    /// The request that is answered in this cycle.
    pub(crate) fn answered(&mut self, outputs: &Out) -> Result<Option<Answer>, KernelError> {
        if outputs.cl_rsp_valid == 0 {
            return Ok(None);
        }
        match self.in_flight.pop_front() {
            Some((tag, transfer)) if tag == outputs.cl_rsp_tag => {
                let fault = Fault::from_code(outputs.cl_rsp_fault).unwrap_or(Fault::Illegal);
                let (old, stored) = (outputs.cl_rsp_rd, outputs.cl_rsp_pred != 0);
                Ok(Some(Answer { transfer, fault, old, stored }))
            }
            _ => Err(KernelError::StrayResponse { tag: outputs.cl_rsp_tag }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SmConfig;
    use crate::copy::{Asker, Completion};
    use crate::launch::Launch;

    #[test]
    fn lanes_and_copies_take_turns_and_answers_come_in_order() {
        let launch = Launch::from_toml("k", "kernel = \"k\"\ngrid = 1\nblock = 1\n", "".as_ref()).unwrap();
        let (mut global, _) = GlobalMemory::new(&launch, &[]);
        let mut copies = CopyEngine::new(&SmConfig::default(), 1);
        let mut port = ClusterPort::default();
        let place = SharedPlace { slot: 0, address: 0 };
        for lane in 0..3 {
            let origin = Origin::Lane { warp: 0, lane, pc: 0 };
            let (op, reply) = (Op::MbarArrive, Reply::None);
            port.ask(Transfer { op, size: Size::U64, place, b: 0, c: 0, red: true, origin, reply });
            let asker = Asker { slot: 0, warp: 0, lane, pc: 0 };
            copies.arrive(asker, Completion { op: Op::MbarCompleteTx, at: place, b: 1 });
        }
        let (mut inputs, mut outputs) = (In::default(), Out { cl_ready: 1, ..Out::default() });
        for _ in 0..6 {
            port.drive(&mut inputs, &mut copies, &mut global).unwrap();
            assert!(port.taken(&inputs, &outputs).is_some());
        }
        port.drive(&mut inputs, &mut copies, &mut global).unwrap();
        assert_eq!(inputs.cl_valid, 0);
        let mut order = Vec::new();
        outputs.cl_rsp_valid = 1;
        for tag in 0..6 {
            outputs.cl_rsp_tag = tag;
            let answer = port.answered(&outputs).unwrap().unwrap();
            order.push(answer.transfer.op);
        }
        let [arrive, complete] = [Op::MbarArrive, Op::MbarCompleteTx];
        assert_eq!(order, [arrive, complete, arrive, complete, arrive, complete]);
        assert!(matches!(port.answered(&outputs), Err(KernelError::StrayResponse { tag: 5 })));
    }
}
