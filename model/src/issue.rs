//! The request at issue: takes a request from the queues and makes its passes, one per cycle. Twin of
//! `rtl/atoms_issue.sv`.

use std::fmt;
use std::slice::from_ref;

use atoms_ops::{Fault, Op, Size};

use crate::agen::{BankAddrs, Meta, agen};
use crate::config::Config;
use crate::cta_table::CtaTable;
use crate::fifo::Fifo;
use crate::grouper::{ConflictPolicy, Schedule, grouper};
use crate::lanes::{FirstWords, banks, lanes};
use crate::operands::{BankWork, Operands, operands};
use crate::port::{MAX_BANKS, MAX_LANES};
use crate::registers::{EntryFields, SeeRegister, words};
use crate::spin::SpinTurns;

/// Warp request in the queue; fields as in `warp_req_t`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WarpReq {
    pub(crate) meta: Meta,
    /// Register Ra per lane, before scaling.
    pub(crate) ra: [u32; MAX_LANES],
    pub(crate) b: [u128; MAX_LANES],
    pub(crate) c: [u128; MAX_LANES],
}

/// Cluster request in the queue; fields as in `cluster_req_t`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClusterReq {
    /// The request as a warp request of lane 0 alone, with the offset as an absolute address.
    pub(crate) meta: Meta,
    pub(crate) b: u128,
    pub(crate) c: u128,
}

impl EntryFields for WarpReq {
    fn fields(&self, lanes: usize, see: &mut impl FnMut(fmt::Arguments<'_>, u128)) {
        // The hardware keeps the operands in `atoms_operands`.
        let WarpReq { meta, ra, b: _, c: _ } = self;
        meta.fields(&mut |field, value| see(format_args!("meta.{field}"), value));
        for (lane, ra) in ra.iter().enumerate().take(lanes) {
            see(format_args!("ra[{lane}]"), (*ra).into());
        }
    }
}

impl EntryFields for ClusterReq {
    fn fields(&self, _: usize, see: &mut impl FnMut(fmt::Arguments<'_>, u128)) {
        let ClusterReq { meta, b, c } = self;
        let Meta { mask: _, ur: _, imm, slot, tag, scale: _, absolute: _, red, size, op } = *meta;
        see(format_args!("addr"), imm.into());
        see(format_args!("slot"), slot.into());
        see(format_args!("tag"), tag.into());
        see(format_args!("red"), red.into());
        see(format_args!("size"), size.into());
        see(format_args!("op"), op.into());
        for (name, operand) in [("c", c), ("b", b)] {
            words(*operand).for_each(|(word, value)| see(format_args!("{name}[{word}]"), value));
        }
    }
}

/// Fields of a pass that move through the pipeline, without the data words; as in `pass_t`.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Lanes that get their result from this pass.
    pub served: u32,
    /// Lanes that perform their operation; fewer only for CAST.SPIN.
    pub win: u32,
    /// Lanes that test the odd phase, for MBAR.TEST_WAIT and MBAR.TRY_WAIT; else 0.
    pub asked: u32,
    /// Address of the lowest faulting lane; 0 without a fault.
    pub fault_addr: u32,
    /// Lowest faulting lane; 0 without a fault.
    pub fault_lane: u8,
    /// Reason why the request touches no memory.
    pub fault: Fault,
    /// Number of passes of the request so far, including this one.
    pub passes: u8,
    /// CTA slot of the request.
    pub slot: u8,
    /// Request tag; the response returns it.
    pub tag: u8,
    /// First pass of its request.
    pub first: bool,
    /// Last pass of its request.
    pub last: bool,
    /// The request came through the cluster port.
    pub cluster: bool,
    /// The request wants no result.
    pub red: bool,
    /// The request is posted, if it came through the cluster port. The RTL derives this from `red` and the
    /// operation.
    pub posted: bool,
    /// Operation and size. `None` if a code is undefined; such a request serves no lane.
    pub kind: Option<(Op, Size)>,
    /// The pass exists. If false, all other fields are meaningless.
    pub valid: bool,
}

impl Pass {
    /// True if the request came through the cluster port and owes a response. A posted request owes a
    /// response only after a fault.
    pub(crate) fn owes_response(&self) -> bool {
        let posted = self.posted && self.fault == Fault::None;
        self.cluster && !posted
    }

    pub(crate) const NONE: Pass = Pass {
        served: 0,
        win: 0,
        asked: 0,
        fault_addr: 0,
        fault_lane: 0,
        fault: Fault::None,
        passes: 0,
        slot: 0,
        tag: 0,
        first: false,
        last: false,
        cluster: false,
        red: false,
        posted: false,
        kind: None,
        valid: false,
    };
}

/// True for a posted cluster request, which wants neither a result nor a predicate (spec 4.7). `op` is a port
/// code.
pub(crate) fn posted(op: u8, red: bool) -> bool {
    red && !Op::from_code(op).is_some_and(Op::compares)
}

#[derive(Clone, Debug)]
pub(crate) struct Issue {
    valid: bool,
    turn: bool,
    no_room: bool,
    op_code: u8,
    pending: u32,
    rotate: u32,
    spin: SpinTurns,
    conflict_policy: ConflictPolicy,
    bank_addrs: BankAddrs,
    // All passes of the request, and the next one. Both are functions of the registers above, and are
    // computed only when these change.
    schedule: Schedule,
    pass: Pass,
    work: Box<BankWork>,
}

impl Issue {
    pub(crate) fn new() -> Self {
        Issue {
            valid: false,
            turn: false,
            no_room: false,
            op_code: 0,
            pending: 0,
            rotate: 0,
            spin: SpinTurns::RESET,
            conflict_policy: ConflictPolicy::Replay,
            bank_addrs: BankAddrs { first: FirstWords::NONE, row: [0; MAX_LANES] },
            schedule: Schedule::EMPTY,
            pass: Pass::NONE,
            work: Box::new(BankWork::NONE),
        }
    }

    pub(crate) fn valid(&self) -> bool {
        self.valid
    }

    /// Total passes of the request at issue. One pass even if no lane waits.
    pub(crate) fn passes(&self) -> u32 {
        self.schedule.passes.max(1) as u32
    }

    pub(crate) fn op_code(&self) -> u8 {
        self.op_code
    }

    pub(crate) fn pending(&self) -> u32 {
        self.pending
    }

    pub(crate) fn rotate(&self) -> u32 {
        self.rotate
    }

    /// Next pass; meaningless without a request.
    pub(crate) fn pass(&self) -> &Pass {
        &self.pass
    }

    pub(crate) fn work(&self) -> &BankWork {
        &self.work
    }

    pub(crate) fn bank_addrs(&self) -> &BankAddrs {
        &self.bank_addrs
    }

    /// Swaps the bank work of the pass with that of an old pass, which is then overwritten. Avoids a copy.
    pub(crate) fn exchange_work(&mut self, old: &mut Box<BankWork>) {
        std::mem::swap(&mut self.work, old);
    }

    /// Selects the queue of the next request; the ports take turns if both have a request. `fire` means that
    /// the current pass leaves at this edge, `room` that the cluster response queue has room.
    ///
    /// Without room for its response a cluster request waits in its queue, and warp requests overtake it. A
    /// posted request owes a response only if its address faults. The address check costs one cycle.
    pub(crate) fn load(
        &mut self,
        config: &Config,
        fire: bool,
        warp: bool,
        cluster: &Fifo<ClusterReq>,
        room: bool,
        table: &CtaTable,
    ) -> Option<Source> {
        if self.valid && !(fire && self.pass.last) {
            return None;
        }
        let meta = &cluster.head().meta;
        let cluster = cluster.count() > 0 && (room || (posted(meta.op, meta.red) && !self.no_room));
        if !cluster || warp && self.turn {
            return warp.then_some(Source::Warp);
        }
        if !room {
            let allocation = table.allocation(meta.slot);
            let mut bank_addrs = self.bank_addrs;
            self.no_room = agen(config, meta, &[0; MAX_LANES], true, allocation, &mut bank_addrs).is_some();
            return (!self.no_room).then_some(Source::Cluster);
        }
        self.no_room = false;
        Some(Source::Cluster)
    }

    pub(crate) fn tick(
        &mut self,
        config: &Config,
        fire: bool,
        load: Option<Source>,
        warp: &Fifo<WarpReq>,
        cluster: &Fifo<ClusterReq>,
        table: &CtaTable,
    ) {
        if fire {
            if self.conflict_policy == ConflictPolicy::Fail {
                for lane in lanes(self.pass.win) {
                    self.spin.fire(config, self.bank_addrs.first.bank(lane));
                }
            }
            self.pending &= !self.pass.served;
            self.pass.first = false;
            if self.pass.last {
                self.valid = false;
                self.rotate = (self.rotate + 1) & (config.num_lanes - 1);
            }
        }
        let request = match load {
            Some(Source::Warp) => {
                let request = warp.head();
                self.take(config, &request.meta, &request.ra, false, table);
                Operands { b: &request.b, c: &request.c }
            }
            Some(Source::Cluster) => {
                let request = cluster.head();
                self.take(config, &request.meta, &[0; MAX_LANES], true, table);
                Operands { b: from_ref(&request.b), c: from_ref(&request.c) }
            }
            None if fire && self.valid => {
                let request = warp.taken();
                Operands { b: &request.b, c: &request.c }
            }
            None => return,
        };
        self.make_pass(request);
    }

    /// Loads a request. `offset` is true for a request of the cluster port, which uses lane 0.
    fn take(&mut self, config: &Config, meta: &Meta, ra: &[u32; MAX_LANES], offset: bool, table: &CtaTable) {
        let faulty = agen(config, meta, ra, offset, table.allocation(meta.slot), &mut self.bank_addrs);
        self.valid = true;
        self.turn = offset;
        self.op_code = meta.op;
        self.pending = if faulty.is_none() { meta.mask } else { 0 };
        let (fault, fault_lane, fault_addr) = faulty.unwrap_or((Fault::None, 0, 0));
        self.pass = Pass {
            fault,
            fault_lane,
            fault_addr,
            slot: meta.slot,
            tag: meta.tag,
            first: true,
            cluster: offset,
            red: meta.red,
            posted: posted(meta.op, meta.red),
            kind: Op::from_code(meta.op).zip(Size::from_code(meta.size)),
            valid: true,
            ..Pass::NONE
        };
        self.conflict_policy = match self.pass.kind {
            Some((Op::CastSpin, _)) => ConflictPolicy::Fail,
            Some((op, _)) if op.coalesces(meta.red, config.merge_red, config.merge_arrive) => {
                ConflictPolicy::Coalesce
            }
            Some(_) | None => ConflictPolicy::Replay,
        };
        let (conflict_policy, bank_addrs) = (self.conflict_policy, &self.bank_addrs);
        grouper(
            config,
            self.pending,
            conflict_policy,
            bank_addrs,
            self.rotate,
            &self.spin,
            &mut self.schedule,
        );
    }

    fn make_pass(&mut self, lanes: Operands<'_>) {
        let pass = &mut self.pass;
        match pass.kind {
            Some((op, size)) if self.pending != 0 => {
                let number = usize::from(pass.passes) & (MAX_LANES - 1);
                pass.served = self.schedule.served[number];
                let first = self.schedule.first[number];
                let coalesce = self.conflict_policy == ConflictPolicy::Coalesce;
                pass.win = if self.conflict_policy == ConflictPolicy::Fail { first } else { pass.served };
                operands(op, size, coalesce, pass.served, first, &self.bank_addrs, lanes, &mut self.work);
                pass.asked = if op.asks_phase() {
                    lanes.b.iter().enumerate().fold(0, |asked, (lane, b)| asked | (*b as u32 >> 31) << lane)
                } else {
                    0
                };
                pass.passes += 1;
            }
            Some(_) | None => {
                self.work.valid = 0;
                pass.served = 0;
                pass.win = 0;
            }
        }
        pass.last = self.pending & !pass.served == 0;
    }

    /// Shows the registers, including those of `atoms_spin` and `atoms_operands`. The operand entries are
    /// part of the warp queue's entries here.
    pub(crate) fn registers(&self, config: &Config, warp: &Fifo<WarpReq>, see: &mut impl SeeRegister) {
        let Issue {
            valid,
            turn,
            no_room,
            op_code,
            pending,
            rotate,
            spin,
            conflict_policy: _,
            bank_addrs,
            schedule: _,
            pass,
            work: _,
        } = self;
        let mut request =
            |name, value: u128| see.see(format_args!("u_issue.{name}_q"), valid.then_some(value));
        request("cluster", pass.cluster.into());
        request("red", pass.red.into());
        request("first", pass.first.into());
        request("op", (*op_code).into());
        request("tag", pass.tag.into());
        request("slot", pass.slot.into());
        request("fault", pass.fault as u128);
        request("fault_lane", pass.fault_lane.into());
        request("fault_addr", pass.fault_addr.into());
        request("passes", u128::from(pass.passes) - u128::from(*valid && *pending != 0));
        // `kind` is `None` for an undefined code, so the size code is unknown then.
        let size = pass.kind.filter(|_| *valid).map(|(_, size)| size as u128);
        see.see(format_args!("u_issue.size_q"), size);
        see.see(format_args!("u_issue.valid_q"), Some((*valid).into()));
        see.see(format_args!("u_issue.pending_q"), Some((*pending).into()));
        see.see(format_args!("u_issue.rotate_q"), Some((*rotate).into()));
        see.see(format_args!("u_issue.turn_q"), Some((*turn).into()));
        see.see(format_args!("u_issue.no_room_q"), Some((*no_room).into()));
        for lane in 0..config.num_lanes as usize {
            let waits = *valid && pending >> lane & 1 == 1;
            let first = &bank_addrs.first;
            let fields = [
                ("row", bank_addrs.row[lane].into()),
                ("bank", first.bank(lane) as u128),
                ("in_word", first.byte(lane).into()),
            ];
            for (field, value) in fields {
                see.see(format_args!("u_issue.bank_addr_q[{lane}].{field}"), waits.then_some(value));
            }
        }
        spin.registers(config, see);
        self.operand_registers(config, warp, see);
    }

    fn operand_registers(&self, config: &Config, warp: &Fifo<WarpReq>, see: &mut impl SeeRegister) {
        let (head, tail, entries) = warp.places();
        let at_issue = self.valid && !self.pass.cluster;
        let places = config.queue_depth as usize + 1;
        let taken = (head + places - 1) % places;
        for (at, request) in entries {
            let kept = warp.holds(at) || (at_issue && at == taken);
            for (name, operands) in [("b", &request.b), ("c", &request.c)] {
                let operands = &operands[..config.num_lanes as usize];
                if see.leaves_out(4 * operands.len(), operands, kept) {
                    continue;
                }
                for (lane, operand) in operands.iter().enumerate() {
                    for (word, value) in words(*operand) {
                        let path = format_args!("u_issue.u_operands.{name}_q[{at}][{}]", 4 * lane + word);
                        see.see(path, kept.then_some(value));
                    }
                }
            }
        }
        see.see(format_args!("u_issue.u_operands.tail_q"), Some(tail as u128));
        see.see(format_args!("u_issue.u_operands.next_q"), Some(head as u128));
        see.see(format_args!("u_issue.u_operands.work_q"), at_issue.then_some(taken as u128));
    }

    pub(crate) fn reset(&mut self) {
        *self = Issue::new();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Warp,
    Cluster,
}

/// Copies the winners of the banks in `valid`; all other banks are zero, as in the probe.
pub(crate) fn show_winners(work: &BankWork, valid: u64, lane: &mut [u8; MAX_BANKS]) {
    *lane = [0; MAX_BANKS];
    for bank in banks(valid) {
        lane[bank] = work.lane[bank];
    }
}
