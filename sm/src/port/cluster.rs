//! The unit's cluster port: one word at a time, for requests from other CTAs of the cluster and from
//! asynchronous copies (spec 6.7, 7.5).
//!
//! Posted requests need no result and get no response (spec 4.7). For the core, they end when the port
//! accepts them. The unit executes the requests of the port in order. So the response to a later request
//! shows that earlier posted requests are done. A fence waits for such a response.

use super::copy::CopyEngine;
use super::transfer::{Answer, Transfer};
use crate::error::KernelError;
use crate::memory::GlobalMemory;
use atoms_model::port::{In, Out};
use atoms_ops::Fault;
use std::collections::VecDeque;

#[derive(Default)]
pub(crate) struct ClusterPort {
    lanes: VecDeque<Transfer>,
    offered: Option<Transfer>,
    /// Accepted requests without a response yet. Responses come in this order. Faults of posted requests may
    /// come in between.
    in_flight: VecDeque<(u8, Transfer)>,
    /// The last accepted posted requests with their tags. The port holds far fewer requests than there are
    /// tags.
    posted: VecDeque<(u8, Transfer)>,
    tag: u8,
    /// True if the last offered request was a lane's.
    lane_was_last: bool,
}

impl ClusterPort {
    pub(crate) fn ask(&mut self, transfer: Transfer) {
        self.lanes.push_back(transfer);
    }

    /// True if nothing is queued, offered or in flight. Posted requests may still be inside the unit.
    pub(crate) fn idle(&self) -> bool {
        self.lanes.is_empty() && self.offered.is_none() && self.in_flight.is_empty()
    }

    /// True if a request to the allocation of `slot` is not finished. A posted request is finished when it is
    /// accepted: the unit keeps the allocation while the request is inside (spec 1.3).
    pub(crate) fn uses(&self, slot: usize) -> bool {
        let flying = self.in_flight.iter().map(|(_, t)| t);
        self.lanes.iter().chain(&self.offered).chain(flying).any(|t| t.place.slot == slot)
    }

    /// Offers the next request. Lanes and copies alternate if both have requests.
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

    /// Returns the request that the port accepts in this cycle, if any.
    pub(crate) fn taken(&mut self, inputs: &In, outputs: &Out) -> Option<Transfer> {
        if inputs.cl_valid == 0 || outputs.cl_ready == 0 {
            return None;
        }
        let transfer = self.offered.take()?;
        // The tag has 6 bits, and the port holds far fewer requests. So when a tag comes again, the old
        // request with this tag has left.
        if self.posted.front().is_some_and(|(tag, _)| *tag == self.tag) {
            self.posted.pop_front();
        }
        let taken = if transfer.red { &mut self.posted } else { &mut self.in_flight };
        taken.push_back((self.tag, transfer));
        self.tag = (self.tag + 1) % 64;
        Some(transfer)
    }

    pub(crate) fn answered(&mut self, outputs: &Out) -> Result<Option<Answer>, KernelError> {
        if outputs.cl_rsp_valid == 0 {
            return Ok(None);
        }
        let tag = outputs.cl_rsp_tag;
        let fault = Fault::from_code(outputs.cl_rsp_fault).unwrap_or(Fault::Illegal);
        let posted = self.posted.iter().position(|(of, _)| *of == tag && fault != Fault::None);
        let answered = match self.in_flight.front() {
            Some((of, _)) if *of == tag => self.in_flight.pop_front(),
            _ => posted.and_then(|at| self.posted.remove(at)),
        };
        let (_, transfer) = answered.ok_or(KernelError::StrayResponse { tag })?;
        Ok(Some(Answer { transfer, fault, old: outputs.cl_rsp_rd, stored: outputs.cl_rsp_pred != 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SmConfig;
    use crate::launch::Launch;
    use crate::memory::SharedPlace;
    use crate::port::copy::{Asker, Completion};
    use crate::port::transfer::{Origin, Reply};
    use atoms_ops::{Op, Size};

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
        let mut order = Vec::new();
        for _ in 0..6 {
            port.drive(&mut inputs, &mut copies, &mut global).unwrap();
            order.push(port.taken(&inputs, &outputs).unwrap().op);
        }
        let [arrive, complete] = [Op::MbarArrive, Op::MbarCompleteTx];
        assert_eq!(order, [arrive, complete, arrive, complete, arrive, complete]);
        port.drive(&mut inputs, &mut copies, &mut global).unwrap();
        assert_eq!(inputs.cl_valid, 0);
        assert!(port.idle(), "posted requests are not waited for");
        for tag in 0..2 {
            let origin = Origin::Lane { warp: 0, lane: tag, pc: 0 };
            let (op, size, reply) = (Op::Load, Size::U32, Reply::Flushed);
            port.ask(Transfer { op, size, place, b: 0, c: 0, red: false, origin, reply });
            port.drive(&mut inputs, &mut copies, &mut global).unwrap();
            port.taken(&inputs, &outputs).unwrap();
        }
        outputs.cl_rsp_valid = 1;
        // A posted request gets a response only if it faults.
        outputs.cl_rsp_tag = 3;
        assert!(matches!(port.answered(&outputs), Err(KernelError::StrayResponse { tag: 3 })));
        outputs.cl_rsp_fault = Fault::OutOfRange as u8;
        let answer = port.answered(&outputs).unwrap().unwrap();
        assert_eq!((answer.transfer.op, answer.fault), (complete, Fault::OutOfRange));
        outputs.cl_rsp_fault = 0;
        outputs.cl_rsp_tag = 7;
        assert!(matches!(port.answered(&outputs), Err(KernelError::StrayResponse { tag: 7 })), "6 is first");
        for tag in [6, 7] {
            outputs.cl_rsp_tag = tag;
            assert_eq!(port.answered(&outputs).unwrap().unwrap().transfer.op, Op::Load);
        }
        assert!(port.idle());
    }
}
