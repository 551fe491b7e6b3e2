//! Measures the processor time of a usage report: a session of the model alone, with and without the usage
//! listener. Both play the same recorded inputs in turns.
//!
//! `cargo run --release -p atoms-run --example usage_cost -- [CONFIG [ROUNDS]]`

#![allow(clippy::print_stdout)] // stand-alone program that prints for people

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::session::Session;
use atoms_cosim::usage::Usage;
use atoms_monitor::Listener;
use atoms_run::bench::{Tape, median, processor_time};
use atoms_stimulus::{Profile, configs};

/// Number of times the tape is played in a round.
const TAPES: usize = 25;

/// Returns nanoseconds of processor time per cycle.
fn nanoseconds<L: Listener>(
    session: &mut Session<ModelMachine, L>,
    tape: &Tape,
) -> Result<f64, Box<dyn std::error::Error>> {
    let start = processor_time();
    for _ in 0..TAPES {
        tape.inputs.play(|i| session.clock(i))?;
    }
    Ok(1e9 * (processor_time() - start).as_secs_f64() / (TAPES * tape.inputs.cycles()) as f64)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "default".to_string());
    let rounds: usize = arguments.next().map_or(Ok(21), |rounds| rounds.parse())?;
    let config = configs::named(&rtl_dir(), &name)?.config;
    for manner in ["default", "busy"] {
        let tape = Tape::record(config, &Profile::named(manner)?, 1)?;
        let mut alone = Session::new(ModelMachine::new(config), None);
        let (mut measured, ()) =
            Session::new(ModelMachine::new(config), None).listened_by(Usage::new(&config));
        let mut figures = [vec![], vec![], vec![]];
        for _ in 0..rounds {
            let (without, with) = (nanoseconds(&mut alone, &tape)?, nanoseconds(&mut measured, &tape)?);
            for (all, one) in figures.iter_mut().zip([without, with, with / without]) {
                all.push(one);
            }
        }
        let [without, with, ratio] = figures;
        println!(
            "{name}, profile {manner}: {:.0} ns per cycle, with usage {:.0} ns: {:.3} times as long ({:.3} to {:.3})",
            median(&without),
            median(&with),
            median(&ratio),
            ratio.iter().copied().fold(f64::INFINITY, f64::min),
            ratio.iter().copied().fold(0.0, f64::max),
        );
    }
    Ok(())
}
