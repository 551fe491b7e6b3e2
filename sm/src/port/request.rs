//! Request of a warp to the unit, from the instruction to the response.

use crate::compute::atomic;
use crate::warp::{LANES, Row, View, Warp, high_words, lanes};
use atoms_isa::{
    BarrierAccess, BarrierOperand, BarrierResult, GlobalOp, Pred, Reg, SharedAccess, SharedAddress,
    SharedFill, SharedResult, UReg,
};
use atoms_model::diagnosis::{OBJECT_INIT, OBJECT_LOAD};
use atoms_model::port::{In, Out};
use atoms_ops::{Op, ResultKind, Size};

/// Request, split into pieces of as many lanes as the port has. One piece if the port has 32 lanes.
pub(crate) struct Request {
    pub(crate) op: Op,
    pub(crate) size: Size,
    pub(crate) mask: u32,
    pub(crate) pc: u32,
    pub(crate) red: bool,
    pub(crate) slot: u8,
    pub(crate) address: Address,
    // Boxed because a request is moved several times before it waits for the port.
    pub(crate) operands: Box<RequestOperands>,
    pub(crate) dst: Reg,
    /// Pair of uniform registers, for a result that the warp has only once.
    pub(crate) uniform_dst: UReg,
    pub(crate) pred_dst: Option<Pred>,
    /// Predicate to clear in all lanes.
    pub(crate) cleared: Option<Pred>,
    /// Index of the piece that is offered or in flight.
    pub(crate) piece: u32,
    /// True if the port has accepted the piece and not answered it.
    pub(crate) in_flight: bool,
    /// Lanes that have stored so far.
    pub(crate) stored: u32,
    pub(crate) fill: FillRest,
}

/// Part of a fill that has not been requested yet, in 64-bit words.
#[derive(Default)]
pub(crate) struct FillRest {
    words: u32,
    address: u32,
    /// Lanes that share the words.
    lanes: u32,
}

pub(crate) struct RequestOperands {
    pub(crate) b: [u128; LANES],
    pub(crate) c: [u128; LANES],
}

impl RequestOperands {
    pub(crate) const NONE: RequestOperands = RequestOperands { b: [0; LANES], c: [0; LANES] };

    pub(crate) fn gather(view: &View<'_>, rb: Reg, rc: Reg, size: Size) -> RequestOperands {
        RequestOperands { b: gather(view, rb, size), c: gather(view, rc, size) }
    }
}

/// Summands of an address: register, scale, uniform register, immediate. The port adds them.
pub(crate) struct Address {
    pub(crate) ra: Row,
    pub(crate) scale: u8,
    pub(crate) ur: u32,
    pub(crate) imm: u32,
    pub(crate) absolute: bool,
}

impl Address {
    pub(crate) fn of(text: &SharedAddress, view: &View<'_>) -> Address {
        Address {
            ra: *view.reg(text.ra),
            scale: text.scale,
            ur: view.uniform().get(text.ur),
            imm: text.imm,
            absolute: text.absolute,
        }
    }

    /// Address that is only a register value per lane, without summands.
    pub(crate) fn plain(ra: Row) -> Address {
        Address { ra, scale: 0, ur: 0, imm: 0, absolute: false }
    }

    /// Sum as the port computes it (spec 2.1, 2.2).
    pub(crate) fn sum(&self, lane: usize) -> u32 {
        if self.absolute {
            return self.ur.wrapping_add(self.imm);
        }
        let imm = ((self.imm << 8) as i32 >> 8) as u32;
        (self.ra[lane] << self.scale).wrapping_add(self.ur).wrapping_add(imm)
    }
}

/// Reads one to four registers of each lane as one value.
pub(crate) fn gather(view: &View<'_>, reg: Reg, size: Size) -> [u128; LANES] {
    let mut values = [0; LANES];
    if reg.is_zero() {
        return values;
    }
    for word in 0..size.bytes().div_ceil(4) as u8 {
        let row = view.reg(reg.plus(word));
        for (value, bits) in values.iter_mut().zip(row) {
            *value |= u128::from(*bits) << (32 * word);
        }
    }
    values
}

/// Writes one to four registers of the lanes of `mask`.
pub(crate) fn scatter(warp: &mut Warp, dst: Reg, size: Size, mask: u32, values: &[u128; LANES]) {
    for word in 0..size.bytes().div_ceil(4) as u8 {
        let row = std::array::from_fn(|lane| (values[lane] >> (32 * word)) as u32);
        warp.registers.set(dst.plus(word), mask, &row);
    }
}

impl Request {
    /// Request of an ATOMS, LDS or STS.
    pub(crate) fn new(access: &SharedAccess, view: &View<'_>, mask: u32, pc: u32, slot: usize) -> Request {
        let (dst, pred_dst) = match access.result {
            SharedResult::None => (Reg::RZ, None),
            SharedResult::Reg(reg) => (reg, None),
            SharedResult::Pred(pred) => (Reg::RZ, Some(Pred::Thread(pred))),
        };
        let mut operands = Box::new(RequestOperands::gather(view, access.rb, access.rc, access.size));
        if access.object {
            operands.c = [OBJECT_INIT; LANES];
        }
        let address = Address::of(&access.address, view);
        let red = access.result == SharedResult::None;
        let bare = Request::bare(access.op, access.size, mask, pc, slot, address, operands);
        Request { red, dst, pred_dst, ..bare }
    }

    pub(crate) fn bare(
        op: Op,
        size: Size,
        mask: u32,
        pc: u32,
        slot: usize,
        address: Address,
        operands: Box<RequestOperands>,
    ) -> Request {
        Request {
            op,
            size,
            mask,
            pc,
            red: true,
            slot: slot as u8,
            address,
            operands,
            dst: Reg::RZ,
            uniform_dst: UReg::URZ,
            pred_dst: None,
            cleared: None,
            piece: 0,
            in_flight: false,
            stored: 0,
            fill: FillRest::default(),
        }
    }

    /// First request of an UMEMSETS. Further requests follow until all words are stored.
    pub(crate) fn fill(fill: &SharedFill, view: &View<'_>, mask: u32, pc: u32, slot: usize) -> Request {
        let lowest = mask.trailing_zeros() as usize % LANES;
        let words = view.row(&fill.words)[lowest];
        let address = Address::of(&fill.address, view).sum(lowest);
        let (zeros, none) = (Box::new(RequestOperands::NONE), Address::plain([0; LANES]));
        let mut request = Request::bare(Op::Store, Size::U64, 0, pc, slot, none, zeros);
        request.fill = FillRest { words, address, lanes: mask };
        request.next_words();
        request
    }

    /// Takes the next words of a fill, one per lane.
    fn next_words(&mut self) {
        (self.mask, self.piece) = (0, 0);
        for lane in lanes(self.fill.lanes).take(self.fill.words as usize) {
            self.address.ra[lane] = self.fill.address;
            self.mask |= 1 << lane;
            self.fill.address = self.fill.address.wrapping_add(8);
            self.fill.words -= 1;
        }
    }

    /// Request of a SYNCS for the lanes of `mask`: all lanes of `active`, or one lane that acts for all of
    /// them.
    pub(crate) fn on_barrier(
        access: &BarrierAccess,
        view: &View<'_>,
        [mask, active]: [u32; 2],
        pc: u32,
        slot: usize,
    ) -> Request {
        let (dst, uniform_dst, pred_dst) = match access.result {
            BarrierResult::None => (Reg::RZ, UReg::URZ, None),
            BarrierResult::Pair(reg) => (reg, UReg::URZ, None),
            BarrierResult::UniformPair(reg) => (Reg::RZ, reg, None),
            BarrierResult::Pred(pred) => (Reg::RZ, UReg::URZ, Some(pred)),
        };
        let b = match &access.b {
            BarrierOperand::None => [0; LANES],
            BarrierOperand::One => [1; LANES],
            BarrierOperand::Whole => [OBJECT_LOAD; LANES],
            BarrierOperand::Active => [u128::from(active.count_ones()); LANES],
            BarrierOperand::Word(source) => view.row(source).map(u128::from),
            BarrierOperand::Pair(source) => view.pairs(source).map(u128::from),
        };
        let red = access.result == BarrierResult::None;
        let address = Address::of(&access.address, view);
        let operands = Box::new(RequestOperands { b, ..RequestOperands::NONE });
        let bare = Request::bare(access.op, Size::U64, mask, pc, slot, address, operands);
        Request { red, dst, uniform_dst, pred_dst, cleared: access.reported, ..bare }
    }

    /// Lanes of the current piece, shifted to lane 0.
    pub(crate) fn piece_mask(&self, port_lanes: u32) -> u32 {
        self.mask >> (self.piece * port_lanes) & (u32::MAX >> (32 - port_lanes))
    }

    /// Moves to the next piece that has lanes, starting with the current one. Returns `false` if there is
    /// none.
    pub(crate) fn skip_empty(&mut self, port_lanes: u32) -> bool {
        while self.piece * port_lanes < 32 {
            if self.piece_mask(port_lanes) != 0 {
                return true;
            }
            self.piece += 1;
        }
        false
    }

    pub(crate) fn drive(&self, inputs: &mut In, port_lanes: u32, tag: u8) {
        let first = (self.piece * port_lanes) as usize;
        let count = port_lanes as usize;
        inputs.req_valid = 1;
        inputs.req_op = self.op as u8;
        inputs.req_size = self.size as u8;
        inputs.req_mask = self.piece_mask(port_lanes);
        inputs.req_red = u8::from(self.red);
        inputs.req_absolute = u8::from(self.address.absolute);
        inputs.req_scale = self.address.scale;
        inputs.req_imm = self.address.imm;
        inputs.req_ur = self.address.ur;
        inputs.req_tag = tag;
        inputs.req_slot = self.slot;
        inputs.req_ra[..count].copy_from_slice(&self.address.ra[first..first + count]);
        inputs.req_b[..count].copy_from_slice(&self.operands.b[first..first + count]);
        inputs.req_c[..count].copy_from_slice(&self.operands.c[first..first + count]);
    }

    /// True if the current piece may have changed a word. If the response does not tell, returns `true`.
    pub(crate) fn changed(&self, outputs: &Out, port_lanes: u32) -> bool {
        if self.op.only_reads() {
            return false;
        }
        if self.red || self.op.is_mbarrier() || self.op.row().result != ResultKind::Old {
            return true;
        }
        let bits = u128::MAX >> (128 - 8 * self.size.bytes());
        let first = (self.piece * port_lanes) as usize;
        lanes(self.piece_mask(port_lanes)).any(|lane| {
            let (b, c) = (self.operands.b[first + lane], self.operands.c[first + lane]);
            let old = outputs.rsp_rd[lane] & bits;
            let new = atomic::apply(GlobalOp::Atomic(self.op), self.size, old, b, c);
            new.is_some_and(|new| new & bits != old)
        })
    }

    /// Address and value of each lane of the current piece, and the predicates.
    pub(crate) fn accessed(&self, outputs: &Out, port_lanes: u32) -> impl Iterator<Item = u64> {
        let first = (self.piece * port_lanes) as usize;
        let lane = move |lane| [self.address.sum(first + lane).into(), outputs.rsp_rd[lane] as u64];
        lanes(self.piece_mask(port_lanes)).flat_map(lane).chain([outputs.rsp_pred.into()])
    }

    /// Handles the unit's response to the current piece of the request: the lanes that the port takes
    /// together. `holds` is the mask of the port's lanes whose predicate is true. `results` has the value of
    /// Rd for each lane; `None` if the unit answered with a wake-up, which returns only predicates. Returns
    /// `true` if this was the last piece.
    pub(crate) fn answer(
        &mut self,
        holds: u32,
        results: Option<&[u128]>,
        port_lanes: u32,
        warp: &mut Warp,
    ) -> bool {
        let first = self.piece * port_lanes;
        let mask = self.piece_mask(port_lanes) << first;
        self.stored |= (holds << first) & mask;
        if let Some(results) = results.filter(|_| !self.red && self.pred_dst.is_none()) {
            let mut values = [0; LANES];
            lanes(mask).for_each(|lane| values[lane] = results[lane - first as usize]);
            if self.op.row().result == ResultKind::MergedArrival {
                // The low word of each result is a mask of port lanes. Shift it, because lane 0 of the port
                // is lane `first` of the warp.
                lanes(mask).for_each(|lane| {
                    let low = values[lane] as u32;
                    values[lane] ^= u128::from(low) ^ u128::from(low << first);
                });
            }
            scatter(warp, self.dst, self.size, mask, &values);
            warp.states.note(self.op, self.dst, mask, &high_words(&values));
            if let (Some(lane), Some(split)) = (lanes(mask).next(), warp.split_of(mask)) {
                let uniform = &mut warp.splits[split].uniform;
                uniform.set(self.uniform_dst, values[lane] as u32);
                uniform.set(self.uniform_dst.plus(1), (values[lane] >> 32) as u32);
            }
        }
        self.end_piece(port_lanes, warp)
    }

    fn end_piece(&mut self, port_lanes: u32, warp: &mut Warp) -> bool {
        self.piece += 1;
        self.in_flight = false;
        if self.skip_empty(port_lanes) {
            return false;
        }
        if self.fill.words > 0 {
            self.next_words();
            return !self.skip_empty(port_lanes);
        }
        if let Some(split) = warp.split_of(self.mask) {
            for (pred, holds) in [(self.pred_dst, self.stored), (self.cleared, 0)] {
                if let Some(pred) = pred {
                    warp.set_pred(split, pred, self.mask, holds);
                }
            }
        }
        if matches!(self.op, Op::MbarTestWait | Op::MbarTryWait) {
            warp.asked.open = (warp.asked.open & !self.mask) | (self.mask & !self.stored);
        }
        true
    }
}
