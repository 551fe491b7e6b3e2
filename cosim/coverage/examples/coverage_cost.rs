//! Measures the processor time that coverage sampling adds to lockstep. Runs lockstep with and without a
//! sampler, in turns, on the same recorded inputs (a tape). An episode plays the tape repeatedly until the
//! requested number of warp requests is reached. Two cases are measured: all episodes sample coverage, as in
//! a search for new bins, and only some episodes do, as when all bins are hit.
//!
//! `cargo run --release -p atoms-coverage --example coverage_cost -- [CONFIG [ROUNDS [REQUESTS]]]`

#![allow(clippy::print_stdout)] // stand-alone program that prints for people

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine, ModelMachine};
use atoms_cosim::rtl;
use atoms_cosim::session::Session;
use atoms_coverage::steer::Steering;
use atoms_coverage::{Model, Sampler};
use atoms_model::Config;
use atoms_model::port::{In, Out, Probe};
use atoms_monitor::Listener;
use atoms_monitor::Monitor;
use atoms_run::bench::{Tape, median, processor_time};
use atoms_stimulus::{Profile, configs};
use atoms_verilated::Variant;
use bitvec::vec::BitVec;

const SECONDS: f64 = 0.2;

const EPISODES: u64 = 16;

/// Inputs, outputs and probe of one cycle.
type Pins = (In, Out, Probe);

fn seen(config: Config, tape: &Tape) -> Result<Vec<Pins>, Failure> {
    let mut machine = ModelMachine::new(config);
    let mut cycles = Vec::new();
    tape.inputs.play(|i| {
        machine.cycle(i)?;
        cycles.push((*i, *machine.out(), *machine.probe()));
        Ok::<_, Failure>(())
    })?;
    Ok(cycles)
}

/// Returns nanoseconds of processor time per cycle for the sampler alone. One episode plays the tape `tapes`
/// times.
fn sampling(config: &Config, sampler: &mut Sampler, cycles: &[Pins], tapes: usize) -> f64 {
    let mut monitor = Monitor::new(config);
    let cycles: Vec<_> = cycles.iter().map(|(i, out, probe)| monitor.cycle(0, i, out, probe)).collect();
    let (start, mut count) = (processor_time(), 0_usize);
    loop {
        if count.is_multiple_of(tapes * cycles.len()) {
            sampler.take();
        }
        for cycle in &cycles {
            sampler.cycle(cycle);
        }
        count += cycles.len();
        let spent = (processor_time() - start).as_secs_f64();
        if spent > SECONDS {
            return 1e9 * spent / count as f64;
        }
    }
}

/// Returns nanoseconds of processor time per cycle of lockstep. One episode plays the tape `tapes` times, and
/// `counts` selects the episodes that sample coverage.
fn nanoseconds(
    session: &mut Session<Lockstep, Option<Sampler>>,
    sampler: &mut Option<Sampler>,
    tape: &Tape,
    tapes: usize,
    counts: impl Fn(u64) -> bool,
) -> Result<f64, Box<dyn std::error::Error>> {
    let (start, mut cycles) = (processor_time(), 0_usize);
    for episode in 0..EPISODES {
        session.restart(None);
        if counts(episode) {
            *session.listener() = sampler.take();
            session.restart(None);
        }
        for _ in 0..tapes {
            // The tape starts with a reset, which drops requests in flight.
            session.restart(None);
            tape.inputs.play(|i| session.clock(i))?;
            cycles += tape.inputs.cycles();
        }
        if let Some(mut counted) = session.listener().take() {
            counted.take();
            *sampler = Some(counted);
        }
    }
    Ok(1e9 * (processor_time() - start).as_secs_f64() / cycles as f64)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "default".to_string());
    let rounds: usize = arguments.next().map_or(Ok(15), |rounds| rounds.parse())?;
    let episode: usize = arguments.next().map_or(Ok(2_000), |requests| requests.parse())?;
    let all = configs::all(&rtl_dir())?;
    let named = all.into_iter().find(|named| named.name == name).ok_or("no such configuration")?;
    for manner in ["default", "busy"] {
        let tape = Tape::record(named.config, &Profile::named(manner)?, 1)?;
        let cycles = seen(named.config, &tape)?;
        let tapes = episode.div_ceil(tape.requests.max(1)).max(1);
        let mut sampler = Sampler::new(&named.config);
        let each: Vec<_> =
            (0..rounds).map(|_| sampling(&named.config, &mut sampler, &cycles, tapes)).collect();
        println!(
            "{name}, profile {manner}, {tapes} tapes per episode: sampler alone {:.0} ns per cycle",
            median(&each)
        );
    }
    let library = rtl::library(&rtl_dir(), &named, Variant::Fast, &mut |_| {})?;
    for manner in ["default", "busy"] {
        let tape = Tape::record(named.config, &Profile::named(manner)?, 1)?;
        let tapes = episode.div_ceil(tape.requests.max(1)).max(1);
        let session = || {
            let machine = Lockstep::new(library.instantiate()?, named.config)?;
            Ok::<_, Box<dyn std::error::Error>>(Session::new(machine, None).listened_by(None).0)
        };
        let mut session = session()?;
        let mut sampler = Some(Sampler::new(&named.config));
        // A search samples coverage in every episode. When all bins are hit, only some episodes sample.
        let model = Model::standard();
        let all = BitVec::repeat(true, model.bins());
        let steering = Steering::new(&model, &named.config);
        let mut measured = [vec![], vec![], vec![]];
        for _ in 0..rounds {
            let mut measure =
                |counts: &dyn Fn(u64) -> bool| nanoseconds(&mut session, &mut sampler, &tape, tapes, counts);
            let alone = measure(&|_| false)?;
            let searching = measure(&|_| true)? / alone;
            let found = measure(&|nth| steering.counts(nth, &all))? / alone;
            for (all, one) in measured.iter_mut().zip([alone, searching, found]) {
                all.push(one);
            }
        }
        let [alone, searching, found] = measured;
        println!("{name}, profile {manner}: lockstep without sampler {:.0} ns per cycle", median(&alone));
        for (what, ratios) in [("all sample", searching), ("some sample", found)] {
            println!(
                "  episodes of {tapes} tapes, {what}: {:.4} times as long ({:.4} to {:.4})",
                median(&ratios),
                ratios.iter().copied().fold(f64::INFINITY, f64::min),
                ratios.iter().copied().fold(0.0, f64::max),
            );
        }
    }
    Ok(())
}
