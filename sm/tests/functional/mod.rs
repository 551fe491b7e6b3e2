//! A memory port for tests: one request at a time, worked off lane by lane by the table of spec 3,
//! answered after a few cycles, with ready withdrawn at random. Shares no code with model or RTL.

use atoms_model::port::{In, Out};
use atoms_ops::{Fault, Op, Size, legal};
use atoms_sm::MemoryPort;
use std::convert::Infallible;

/// How the port is built.
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

pub(crate) struct FunctionalPort {
    shape: Shape,
    random: u64,
    memory: Vec<u8>,
    /// Base in bytes and size in bytes.
    parts: Vec<Option<(u32, u32)>>,
    pending: Option<(u32, Box<Out>)>,
    reject: u8,
    offered: Option<In>,
}

impl FunctionalPort {
    pub(crate) fn new(shape: Shape) -> FunctionalPort {
        let bytes = shape.rows * shape.banks * 4;
        FunctionalPort {
            shape,
            random: shape.seed,
            // What was there before must not matter.
            memory: (0..bytes).map(|i| (i * 37 + 11) as u8).collect(),
            parts: vec![None; shape.slots as usize],
            pending: None,
            reject: 0,
            offered: None,
        }
    }

    /// No slot has a part.
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
        let (base, limit) = self.parts[usize::from(i.req_slot)].unwrap_or((0, 0));
        for &lane in &lanes {
            let address = Self::address(i, lane);
            if address % bytes as u32 != 0 {
                fault(&mut out, Fault::Misaligned, lane, address);
                return out;
            }
            if address.checked_add(bytes as u32).is_none_or(|end| end > limit) {
                fault(&mut out, Fault::OutOfRange, lane, address);
                return out;
            }
        }
        let mut banks_taken = 0_u64;
        let mut depth = vec![0_u8; self.shape.banks as usize];
        for &lane in &lanes {
            let at = (base + Self::address(i, lane)) as usize;
            let bank = at / 4 % self.shape.banks as usize;
            depth[bank] += 1;
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
                Op::Load => None,
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

    fn cycle(&mut self, i: &In) -> Result<Out, Infallible> {
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
        out.cta_reject = std::mem::take(&mut self.reject);
        // An offered request stays as it is until it is taken.
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
                self.pending = Some((wait, Box::new(response)));
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
                let part = (u32::from(i.cta_base) * row_bytes, i.cta_size);
                let slot = usize::from(i.cta_slot);
                self.parts[slot] = None;
                let clash = |p: &(u32, u32)| part.0 < p.0 + p.1 && p.0 < part.0 + part.1;
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
        Ok(out)
    }
}
