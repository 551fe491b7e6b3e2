//! Runs four requests of a warp, and prints each accepted request and each response with its cycle.

#![allow(clippy::print_stdout)] // a program for interactive use

use atoms_model::port::In;
use atoms_model::{Config, Unit};
use atoms_ops::{Fault, Op, Size};

/// Operation, and bytes from the address of one lane to that of the next lane.
const REQUESTS: [(Op, u32); 4] = [(Op::Add, 4), (Op::Add, 0), (Op::Load, 128), (Op::Add, 2)];

fn main() {
    let mut unit = Unit::new(Config::default());
    let mut pins = In { rst_n: 1, rsp_ready: 1, ..In::default() };
    // Give CTA slot 0 the first 4,096 bytes.
    (pins.cta_valid, pins.cta_enable, pins.cta_size) = (1, 1, 4096);
    unit.clock(&pins);
    pins.cta_valid = 0;

    (pins.req_size, pins.req_mask, pins.req_b) = (Size::U32 as u8, u32::MAX, [1; 32]);
    let (mut offered, mut answered) = (0, 0);
    for cycle in 1.. {
        if pins.req_valid == 0
            && let Some(&(op, stride)) = REQUESTS.get(offered)
        {
            (pins.req_valid, pins.req_op, pins.req_tag) = (1, op as u8, offered as u8);
            pins.req_ra = std::array::from_fn(|lane| lane as u32 * stride);
            offered += 1;
        }
        let out = unit.clock(&pins);
        if out.rsp_valid == 1 {
            let fault = Fault::from_code(out.rsp_fault).map_or("unknown fault", Fault::name);
            println!(
                "cycle {cycle:3}  response tag {}  fault: {fault}  passes {:2}  rd {:?}...",
                out.rsp_tag,
                out.rsp_passes,
                &out.rsp_rd[..4]
            );
            answered += 1;
        }
        if pins.req_valid & out.req_ready == 1 {
            let (op, stride) = REQUESTS[offered - 1];
            println!(
                "cycle {cycle:3}  request  tag {}  {op}.u32, {stride} bytes between lanes",
                pins.req_tag
            );
            pins.req_valid = 0;
        }
        if answered == REQUESTS.len() {
            return;
        }
    }
}
