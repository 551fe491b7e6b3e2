//! Memory port for tests. It executes one request at a time, lane by lane, according to the tables of spec 3
//! and 6.3. It answers after a few cycles and withdraws ready at random. Shares no code with model or RTL.

use atoms_model::port::{In, Out};
use atoms_ops::{Fault, Op, ResultKind, Size, legal};
use atoms_sm::MemoryPort;
use std::convert::Infallible;

#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) lanes: u32,
    pub(crate) banks: u32,
    pub(crate) rows: u32,
    pub(crate) slots: u32,
    pub(crate) seed: u64,
}

impl Default for Shape {
    fn default() -> Self {
        Shape { lanes: 32, banks: 32, rows: 512, slots: 4, seed: 1 }
    }
}

struct Waiter {
    tag: u8,
    mask: u32,
    /// Address of the byte that holds the phase parity (`at`), and parity of the awaited phase (`odd`).
    at: usize,
    odd: bool,
    limit: u32,
}

pub(crate) struct FunctionalPort {
    shape: Shape,
    random: u64,
    memory: Vec<u8>,
    /// Allocation of each slot: base in bytes, size in bytes, rank.
    parts: Vec<Option<(u32, u32, u8)>>,
    pending: Option<(u32, Box<Out>)>,
    cluster_pending: Option<(u32, Box<Out>)>,
    waiters: Vec<Waiter>,
    reject: u8,
    offered: Option<In>,
    out: Out,
}

impl FunctionalPort {
    pub(crate) fn new(shape: Shape) -> FunctionalPort {
        let bytes = shape.rows * shape.banks * 4;
        FunctionalPort {
            shape,
            random: shape.seed,
            // Nonzero initial content, because kernels must not depend on it.
            memory: (0..bytes).map(|i| (i * 37 + 11) as u8).collect(),
            parts: vec![None; shape.slots as usize],
            pending: None,
            cluster_pending: None,
            waiters: Vec::new(),
            reject: 0,
            offered: None,
            out: Out::default(),
        }
    }

    pub(crate) fn clean(&self) -> bool {
        self.parts.iter().all(Option::is_none)
    }

    fn coin(&mut self, of: u64) -> bool {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33).is_multiple_of(of)
    }

    fn address(i: &In, lane: usize) -> u32 {
        if i.req_absolute != 0 {
            return i.req_imm.wrapping_add(i.req_ur);
        }
        let imm = ((i.req_imm << 8) as i32 >> 8) as u32;
        (i.req_ra[lane] << i.req_scale).wrapping_add(imm).wrapping_add(i.req_ur)
    }

    fn load(&self, at: usize, bytes: usize) -> u128 {
        self.memory[at..at + bytes].iter().rev().fold(0, |acc, b| acc << 8 | u128::from(*b))
    }

    /// Executes an operation on an mbarrier object in memory. The fields of the object are negated counts
    /// (spec 6.2, 6.3).
    fn barrier(&mut self, op: Op, at: usize, b: u64) -> u64 {
        let old = self.load(at, 8) as u64;
        if op == Op::MbarArriveSm80 {
            // The carry out of the count toggles the phase.
            let (low, mut high) = (old as u32, ((old >> 32) as u32).wrapping_add(1));
            if high & 0x7fff_ffff == 0 {
                high |= low.wrapping_add(0x4000_0000) & 0x7fff_ffff;
            }
            self.memory[at..at + 8].copy_from_slice(&(u64::from(high) << 32 | u64::from(low)).to_le_bytes());
            return old;
        }
        let field = |shift: u32, bits: u32| (old >> shift) & ((1 << bits) - 1);
        let (mut expected, mut tx, mut pending) = (field(1, 20), field(21, 21), field(43, 20));
        let mut phase = old >> 63;
        let (arrive, drop, expect) = match op {
            Op::MbarArrive => (1, 0, 0),
            Op::MbarArriveCount | Op::MbarArriveNoComplete => (b, 0, 0),
            Op::MbarArriveExpectTx => (1, 0, b),
            Op::MbarArriveDrop => (1, 1, 0),
            Op::MbarArriveDropCount | Op::MbarArriveDropNoComplete => (b, b, 0),
            Op::MbarArriveDropExpectTx => (1, 1, b),
            Op::MbarExpectTx => (0, 0, b),
            Op::MbarCompleteTx => (0, 0, b.wrapping_neg()),
            _ => (0, 0, 0),
        };
        tx = tx.wrapping_sub(expect) & 0x1f_ffff;
        expected = expected.wrapping_add(drop) & 0xf_ffff;
        pending = pending.wrapping_add(arrive) & 0xf_ffff;
        if pending == 0 && tx == 0 {
            (phase, pending) = (phase ^ 1, expected);
        }
        let new = match op {
            Op::MbarInit => b,
            Op::MbarInval | Op::MbarTestWait | Op::MbarTryWait => old,
            _ => old & (1 << 42 | 1) | expected << 1 | tx << 21 | pending << 43 | phase << 63,
        };
        self.memory[at..at + 8].copy_from_slice(&new.to_le_bytes());
        old
    }

    /// Serves a request of the cluster port like a request of lane 0 with the offset as address.
    fn serve_cluster(&mut self, i: &In) -> Out {
        assert!(Op::from_code(i.cl_op).is_some_and(|op| op.cluster_legal(i.cl_red == 1)));
        let rank = self.parts[usize::from(i.cl_slot)].map_or(0, |p| p.2);
        let mut lane =
            In { req_mask: 1, req_op: i.cl_op, req_size: i.cl_size, req_red: i.cl_red, ..In::default() };
        (lane.req_ra[0], lane.req_b[0]) = (u32::from(rank) << 24 | i.cl_addr, i.cl_b);
        lane.req_c[0] = i.cl_c;
        lane.req_slot = i.cl_slot;
        let out = self.serve(&lane);
        Out {
            cl_rsp_valid: 1,
            cl_rsp_tag: i.cl_tag,
            cl_rsp_fault: out.rsp_fault,
            cl_rsp_fault_addr: out.rsp_fault_addr,
            cl_rsp_rd: out.rsp_rd[0],
            cl_rsp_pred: out.rsp_pred as u8,
            ..Out::default()
        }
    }

    /// Suspends a try-wait if all lanes wait for one object and its phase is not complete.
    fn falls_asleep(&mut self, i: &In, response: &Out) -> bool {
        let lanes: Vec<usize> = (0..32).filter(|l| i.req_mask >> l & 1 != 0).collect();
        let same = lanes.iter().all(|l| Self::address(i, *l) == Self::address(i, lanes[0]));
        let faulty = response.rsp_fault != 0;
        if Op::from_code(i.req_op) != Some(Op::MbarTryWait) || faulty || !same || response.rsp_pred != 0 {
            return false;
        }
        let base = self.parts[usize::from(i.req_slot)].map_or(0, |p| p.0);
        let at = (base + (Self::address(i, lanes[0]) & 0xff_ffff)) as usize + 7;
        let limit = (i.req_c[lanes[0]] as u32).clamp(1, 700);
        let odd = i.req_b[lanes[0]] >> 31 & 1 != 0;
        self.waiters.push(Waiter { tag: i.req_tag, mask: i.req_mask, at, odd, limit });
        true
    }

    /// Wakes one waiter whose phase is complete or whose limit has expired.
    fn wake(&mut self, out: &mut Out) {
        self.waiters.iter_mut().for_each(|s| s.limit = s.limit.saturating_sub(1));
        let complete = |s: &Waiter, memory: &[u8]| (memory[s.at] >> 7 != 0) != s.odd;
        let found = self.waiters.iter().position(|s| s.limit == 0 || complete(s, &self.memory));
        if let Some(found) = found {
            let waiter = self.waiters.remove(found);
            out.wake_valid = 1;
            out.wake_tag = waiter.tag;
            out.wake_pred = if complete(&waiter, &self.memory) { waiter.mask } else { 0 };
        }
    }

    fn serve(&mut self, i: &In) -> Out {
        let mut out = Out { rsp_tag: i.req_tag, ..Out::default() };
        let lanes: Vec<usize> = (0..self.shape.lanes as usize).filter(|l| i.req_mask >> l & 1 != 0).collect();
        let fault = |out: &mut Out, fault: Fault, lane: usize, address: u32| {
            (out.rsp_fault, out.rsp_fault_lane, out.rsp_fault_addr) = (fault as u8, lane as u8, address);
        };
        if !legal(i.req_op, i.req_size) {
            fault(&mut out, Fault::Illegal, lanes[0], Self::address(i, lanes[0]));
            return out;
        }
        let (op, size) = (Op::from_code(i.req_op).unwrap(), Size::from_code(i.req_size).unwrap());
        let bytes = size.bytes() as usize;
        let (base, limit, rank) = self.parts[usize::from(i.req_slot)].unwrap_or((0, 0, 0));
        for &lane in &lanes {
            let address = Self::address(i, lane);
            if address % bytes as u32 != 0 {
                fault(&mut out, Fault::Misaligned, lane, address);
                return out;
            }
            if address >> 24 != u32::from(rank) || (address & 0xff_ffff) + bytes as u32 > limit {
                fault(&mut out, Fault::OutOfRange, lane, address);
                return out;
            }
        }
        let mut banks_taken = 0_u64;
        let mut depth = vec![0_u8; self.shape.banks as usize];
        // The store of the lowest lane wins.
        let mut lanes = lanes;
        if op == Op::Store {
            lanes.reverse();
        }
        for &lane in &lanes {
            let at = (base + (Self::address(i, lane) & 0xff_ffff)) as usize;
            let bank = at / 4 % self.shape.banks as usize;
            depth[bank] += 1;
            if op.is_mbarrier() {
                let odd = i.req_b[lane] >> 31 & 1 != 0;
                let old = self.barrier(op, at, i.req_b[lane] as u64);
                if matches!(op, Op::MbarTestWait | Op::MbarTryWait) {
                    out.rsp_pred |= u32::from((old >> 63 != 0) != odd) << lane;
                }
                out.rsp_rd[lane] = match op.row().result {
                    _ if i.req_red != 0 => 0,
                    ResultKind::Nothing | ResultKind::Predicate | ResultKind::Flag => 0,
                    ResultKind::Old => u128::from(old),
                    ResultKind::State => u128::from(old >> 32 << 32),
                    ResultKind::MergedArrival => u128::from(old >> 32 << 32 | 1 << lane),
                };
                continue;
            }
            let full = if bytes == 16 { u128::MAX } else { (1 << (8 * bytes)) - 1 };
            let (old, b, c) = (self.load(at, bytes), i.req_b[lane] & full, i.req_c[lane] & full);
            let signed = |v: u128| ((v << (128 - 8 * bytes)) as i128) >> (128 - 8 * bytes);
            let less = if size.signed() { signed(old) < signed(b) } else { old < b };
            let selected = op != Op::CastSpin || banks_taken >> bank & 1 == 0;
            banks_taken |= 1 << bank;
            let new = match op {
                Op::Add => Some(old.wrapping_add(b)),
                Op::Min => Some(if less { old } else { b }),
                Op::Max => Some(if less { b } else { old }),
                Op::Inc => Some(if old >= b { 0 } else { old + 1 }),
                Op::Dec => Some(if old == 0 || old > b { b } else { old - 1 }),
                Op::And => Some(old & b),
                Op::Or => Some(old | b),
                Op::Xor => Some(old ^ b),
                Op::Exch | Op::Store => Some(b),
                Op::Cas | Op::Cast | Op::CastSpin => (selected && old == b).then_some(c),
                Op::PopcInc => Some(old + 1),
                _ => None,
            };
            let stored = new.is_some();
            if let Some(new) = new {
                self.memory[at..at + bytes].copy_from_slice(&(new & full).to_le_bytes()[..bytes]);
            }
            if matches!(op, Op::Cas | Op::Cast | Op::CastSpin) {
                out.rsp_pred |= u32::from(stored) << lane;
            }
            let extended = if size.signed() { signed(old) as u32 as u128 } else { old };
            out.rsp_rd[lane] = match op {
                _ if i.req_red != 0 => 0,
                Op::Cast | Op::CastSpin => u128::from(stored),
                Op::PopcInc | Op::Store => 0,
                _ => extended,
            };
        }
        out.rsp_passes = if op == Op::CastSpin { 1 } else { depth.into_iter().max().unwrap_or(0) };
        out
    }
}

impl MemoryPort for FunctionalPort {
    type Error = Infallible;

    fn lanes(&self) -> u32 {
        self.shape.lanes
    }

    fn rows(&self) -> u32 {
        self.shape.rows
    }

    fn banks(&self) -> u32 {
        self.shape.banks
    }

    fn cta_slots(&self) -> u32 {
        self.shape.slots
    }

    fn cycle(&mut self, i: &In) -> Result<&Out, Infallible> {
        assert_eq!(i.rst_n, 1);
        let mut out = Out::default();
        if let Some((wait, response)) = &mut self.pending {
            if *wait == 0 {
                out = **response;
                out.rsp_valid = 1;
                assert_eq!(i.rsp_ready, 1);
            } else {
                *wait -= 1;
            }
        }
        let answered = out.rsp_valid != 0;
        if let Some((wait, response)) = &mut self.cluster_pending {
            if *wait == 0 {
                let Out { rsp_valid, rsp_tag, rsp_rd, rsp_pred, rsp_fault, .. } = out;
                let Out { rsp_fault_lane, rsp_fault_addr, rsp_passes, .. } = out;
                out = Out {
                    rsp_valid,
                    rsp_tag,
                    rsp_rd,
                    rsp_pred,
                    rsp_fault,
                    rsp_fault_lane,
                    rsp_fault_addr,
                    rsp_passes,
                    ..**response
                };
                assert_eq!(i.cl_rsp_ready, 1);
            } else {
                *wait -= 1;
            }
        }
        if out.cl_rsp_valid != 0 {
            self.cluster_pending = None;
        } else if self.cluster_pending.is_none() && !self.coin(4) {
            out.cl_ready = 1;
            if i.cl_valid != 0 {
                let response = self.serve_cluster(i);
                // A posted request without a fault has no response (spec 4.7).
                if i.cl_red == 0 || response.cl_rsp_fault != 0 {
                    self.cluster_pending = Some((u32::from(self.coin(3)), Box::new(response)));
                }
            }
        }
        assert_eq!(i.wake_ready, 1);
        self.wake(&mut out);
        out.cta_reject = std::mem::take(&mut self.reject);
        // An offered request must stay stable until the port accepts it.
        if let Some(offered) = self.offered.take() {
            assert_eq!(i.req_valid, 1, "a request was withdrawn");
            assert_eq!(
                (i.req_tag, i.req_mask, i.req_ra),
                (offered.req_tag, offered.req_mask, offered.req_ra)
            );
        }
        if self.pending.is_none() && !self.coin(4) {
            out.req_ready = 1;
        }
        if i.req_valid != 0 {
            if out.req_ready != 0 {
                assert!(i.req_mask != 0 && i.req_mask.checked_shr(self.shape.lanes).unwrap_or(0) == 0);
                let response = self.serve(i);
                let wait = 1 + u32::from(response.rsp_passes) + u32::from(self.coin(3));
                if !self.falls_asleep(i, &response) {
                    self.pending = Some((wait, Box::new(response)));
                }
            } else {
                self.offered = Some(*i);
            }
        }
        if answered {
            self.pending = None;
        }
        if !self.coin(3) {
            out.cta_ready = 1;
            if i.cta_valid != 0 {
                let row_bytes = self.shape.banks * 4;
                let part = (u32::from(i.cta_base) * row_bytes, i.cta_size, i.cta_rank);
                let slot = usize::from(i.cta_slot);
                self.parts[slot] = None;
                let clash = |p: &(u32, u32, u8)| part.0 < p.0 + p.1 && p.0 < part.0 + part.1;
                if i.cta_enable != 0 {
                    if part.0 + part.1 > self.shape.rows * row_bytes || self.parts.iter().flatten().any(clash)
                    {
                        self.reject = 1;
                    } else {
                        self.parts[slot] = Some(part);
                    }
                }
            }
        }
        self.out = out;
        Ok(&self.out)
    }

    fn word(&self, row: u32, bank: u32) -> u32 {
        self.load(4 * (row * self.shape.banks + bank) as usize, 4) as u32
    }
}
