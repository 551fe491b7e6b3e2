//! Driver functions that code calls: `assert`, `printf`, and block copies of sm_120 to other CTAs of the
//! cluster.
//!
//! Source: listings, and the declarations that `ptxas` 13.5 contains. Arguments are in registers from R4,
//! each aligned to its size. R20 holds the return address.

use super::Core;
use super::async_copy::Block;
use super::issue::{At, ExecError};
use crate::warp::{LANES, Row, Warp, lanes};
use atoms_isa::{BulkWay, Reg};

/// Longest string in bytes that code may pass.
const MOST_TEXT: u64 = 1 << 10;

/// Limit for the number of distinct `printf` formats in the report.
const MOST_FORMATS: usize = 64;

const KNOWN: [&str; 4] = [
    "__assertfail",
    "vprintf",
    "__cuda_syscall_cp_async_bulk_unicast",
    "__cuda_syscall_cp_async_bulk_multicast",
];

impl Core<'_> {
    pub(super) fn call_driver(&mut self, at: At, warp: &mut Warp, function: u32) -> Result<(), ExecError> {
        let At { index, mask, pc, .. } = at;
        let name = self.kernel.driver_functions.get(function as usize).map_or("", String::as_str);
        let view = warp.view(index, &self.constants);
        let word = |register: u16| *view.reg(Reg(register));
        let pair = |register: u16| -> [u64; LANES] {
            let (low, high) = (word(register), word(register + 1));
            std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
        };
        let back = word(20);
        match KNOWN.iter().position(|known| *known == name) {
            Some(0) => {
                let lane = mask.trailing_zeros() as usize % LANES;
                let ([what, file, function], line) = ([4, 6, 10].map(|r| pair(r)[lane]), word(8)[lane]);
                let message = format!(
                    "assertion `{}` failed: {}, line {line}, `{}`, lane {lane}",
                    self.text_at(what),
                    self.text_at(file),
                    self.text_at(function)
                );
                return Err(ExecError::operand(pc, message));
            }
            Some(1) => {
                let formats = pair(4);
                let mut values: Row = [0; LANES];
                for lane in lanes(mask) {
                    let format = self.text_at(formats[lane]);
                    values[lane] = format.replace("%%", "").matches('%').count() as u32;
                    self.note_printed(format);
                }
                warp.registers.set(Reg(4), mask, &values);
            }
            Some(copy) => {
                let (to, from, bytes, barrier) = (word(4), pair(6), word(8), word(10));
                let ranks = word(9);
                for lane in lanes(mask) {
                    let ranks = (copy == 3).then_some(ranks[lane] & 0xffff);
                    let (to, barrier, from, bytes) = (to[lane], barrier[lane], from[lane], bytes[lane]);
                    let way = BulkWay::ToShared;
                    let block = Block { way, reduction: None, to, barrier, from, bytes, ranks };
                    self.copy_block(At { mask: 1 << lane, ..at }, warp, &block)?;
                }
            }
            None => {
                let message = format!(
                    "call of `{name}`, which is neither in the listing nor in this core; the core has {}",
                    KNOWN.join(", ")
                );
                return Err(ExecError::operand(pc, message));
            }
        }
        self.go_to_addresses(at, warp, &back)
    }

    fn text_at(&mut self, address: u64) -> String {
        let bytes = (0..MOST_TEXT).map_while(|i| {
            let byte = self.global.load(address.wrapping_add(i), 1).unwrap_or(0) as u8;
            (byte != 0).then_some(byte)
        });
        let bytes: Vec<u8> = bytes.collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn note_printed(&mut self, format: String) {
        let printed = &mut self.statistics.printed;
        match printed.iter().position(|(known, _)| *known == format) {
            Some(at) => printed[at].1 += 1,
            None if printed.len() < MOST_FORMATS => printed.push((format, 1)),
            None => {}
        }
    }
}
