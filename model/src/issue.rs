//! The request being worked off: takes one from the queues, and makes its passes, one a cycle.
//! Twin of `rtl/atoms_issue.sv`.

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

/// A warp request as it waits in the queue; fields as in `warp_req_t`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WarpReq {
    /// What it says once for all its lanes.
    pub(crate) meta: Meta,
    /// Register Ra per lane.
    pub(crate) ra: [u32; MAX_LANES],
    /// Operand B per lane.
    pub(crate) b: [u128; MAX_LANES],
    /// Operand C per lane.
    pub(crate) c: [u128; MAX_LANES],
}

/// A cluster request as it waits in the queue; fields as in `cluster_req_t`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClusterReq {
    /// As for one lane, lane 0, with the offset for an absolute address.
    pub(crate) meta: Meta,
    /// Operand B.
    pub(crate) b: u128,
    /// Operand C.
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

/// What a pass carries through the pipeline besides its words; fields as in `pass_t`.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Lanes that get their result from this pass.
    pub served: u32,
    /// Lanes that perform their operation; fewer only for CAST.SPIN.
    pub win: u32,
    /// For MBAR.TEST_WAIT and MBAR.TRY_WAIT: lanes that ask about the odd phase.
    pub asked: u32,
    /// Address of the first faulting lane.
    pub fault_addr: u32,
    /// First faulting lane.
    pub fault_lane: u8,
    /// Why the request touches no memory.
    pub fault: Fault,
    /// Passes of the request up to and with this one.
    pub passes: u8,
    /// CTA slot.
    pub slot: u8,
    /// Given back with the response.
    pub tag: u8,
    /// First pass of its request.
    pub first: bool,
    /// Last pass of its request.
    pub last: bool,
    /// The request came through the cluster port.
    pub cluster: bool,
    /// No result wanted.
    pub red: bool,
    /// Posted, if it came through the cluster port. In the RTL, a function of `red` and the operation.
    pub posted: bool,
    /// Operation and size; none for an illegal pair, which serves no lane.
    pub kind: Option<(Op, Size)>,
    /// There is a pass.
    pub valid: bool,
}

impl Pass {
    /// The request came through the cluster port and owes a response: a posted one only to say that it
    /// faults.
    pub(crate) fn owes_response(&self) -> bool {
        let posted = self.posted && self.fault == Fault::None;
        self.cluster && !posted
    }

    /// No pass.
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

/// Whether a cluster request is posted (spec 4.7): neither a result nor a predicate is wanted. `op` is a code.
pub(crate) fn posted(op: u8, red: bool) -> bool {
    red && !Op::from_code(op).is_some_and(Op::compares)
}

/// Registers of issue, and the pass that could leave now.
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
    // All passes of the request, and the one at hand: functions of the registers above, made once
    // when they change.
    schedule: Schedule,
    pass: Pass,
    work: Box<BankWork>,
}

impl Issue {
    /// Empty.
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

    /// A request is here.
    pub(crate) fn valid(&self) -> bool {
        self.valid
    }

    /// Passes that the request here takes in all: one even where no lane waits.
    pub(crate) fn passes(&self) -> u32 {
        self.schedule.passes.max(1) as u32
    }

    /// Operation code of the request here.
    pub(crate) fn op_code(&self) -> u8 {
        self.op_code
    }

    /// Lanes that still wait.
    pub(crate) fn pending(&self) -> u32 {
        self.pending
    }

    /// First lane in the rotating order.
    pub(crate) fn rotate(&self) -> u32 {
        self.rotate
    }

    /// The pass that leaves next, if there is a request.
    pub(crate) fn pass(&self) -> &Pass {
        &self.pass
    }

    /// What it brings to the banks.
    pub(crate) fn work(&self) -> &BankWork {
        &self.work
    }

    /// Where the accesses of the request's lanes begin.
    pub(crate) fn bank_addrs(&self) -> &BankAddrs {
        &self.bank_addrs
    }

    /// Hands the bank work of the pass over for that of an old one, which is then written over.
    pub(crate) fn exchange_work(&mut self, old: &mut Box<BankWork>) {
        std::mem::swap(&mut self.work, old);
    }

    /// Which queue the next request comes from: the ports take turns when both wait. `fire` says that the
    /// pass leaves at this edge, `room` that there is room for a cluster response.
    ///
    /// Without room for its response a request waits in its queue, and warp requests go by. Whether a
    /// posted one owes a response is known when its address is: it costs one cycle to find out.
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

    /// Clock edge while the pipeline moves.
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

    /// A request comes; with `offset` through the cluster port, for lane 0.
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

    /// The next pass of the request here.
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

    /// Its registers, with those of `atoms_spin` and `atoms_operands`, whose entries are those of the warp queue.
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
        // Of an illegal pair the size is not kept.
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

    /// Reset: no request, and the rotating order starts at lane 0.
    pub(crate) fn reset(&mut self) {
        *self = Issue::new();
    }
}

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The warp queue.
    Warp,
    /// The cluster queue.
    Cluster,
}

/// Bank work as the probe shows it: banks that do nothing read as zero.
pub(crate) fn show_winners(work: &BankWork, valid: u64, lane: &mut [u8; MAX_BANKS]) {
    *lane = [0; MAX_BANKS];
    for bank in banks(valid) {
        lane[bank] = work.lane[bank];
    }
}
