//! Prints random requests that the model accepts: `draw_requests [PROFILE [SEED [REQUESTS]]]`.

#![allow(clippy::print_stdout)] // a program for interactive use

use atoms_model::port::In;
use atoms_model::{Config, Unit};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, WarpRequest};
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};

fn number(argument: Option<String>, default: u64) -> Result<u64, String> {
    let Some(text) = argument else { return Ok(default) };
    text.parse().map_err(|_| format!("{text}: expected a number"))
}

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "default".to_string());
    let profile = Profile::named(&name).map_err(|error| error.to_string())?;
    let seed = number(arguments.next(), 1)?;
    let requests = number(arguments.next(), 10)?;

    let config = Config::default();
    let mut stimulus = RandomStimulus::new(config, &profile, seed, requests);
    let (mut unit, mut pins) = (Unit::new(config), In::default());
    let mut cycle = 0;
    while !stimulus.finished() || pins.req_valid == 1 {
        stimulus.drive(&mut pins);
        let out = *unit.clock(&pins);
        stimulus.observe(&pins, &out);
        if pins.rst_n == 0 {
            println!("cycle {cycle:4}  reset");
        } else {
            if pins.cta_valid & out.cta_ready == 1 {
                println!("cycle {cycle:4}  slot {}: {}", pins.cta_slot, AllocationWrite::sample(&pins));
            }
            if pins.req_valid & out.req_ready == 1 {
                println!("cycle {cycle:4}  warp    {}", WarpRequest::sample(&pins));
            }
            if pins.cl_valid & out.cl_ready == 1 {
                println!("cycle {cycle:4}  cluster {}", ClusterRequest::sample(&pins));
            }
        }
        complete_handshakes(&mut pins, &out);
        cycle += 1;
    }
    Ok(())
}
