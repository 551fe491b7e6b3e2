//! How fast RTL, model and lockstep are: in one process, in turns, on the same tape of inputs.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use atoms_model::port::{In, Out, Probe};
use atoms_model::{Config, Unit};
use atoms_ops::Op;
use atoms_verilated::{Library, Rtl};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::lockstep::Lockstep;
use crate::machine::{Machine, ModelMachine, Stop};
use crate::monitor::Monitor;
use crate::session::Failure;
use crate::stimulus::{Profile, RandomStimulus, Stimulus, settle};
use crate::trace::Trace;

/// Cycles on the tape: long enough to be a mix of everything, short enough to stay in the cache.
const TAPE_CYCLES: usize = 4096;

/// One thing measured.
#[derive(Clone, Debug, Serialize)]
pub struct Rate {
    /// What ran.
    pub what: &'static str,
    /// Clock cycles per second of processor time, median of the rounds.
    pub cycles_per_second: f64,
    /// Warp requests per second of processor time.
    pub requests_per_second: f64,
}

/// A ratio of two rates, taken round by round.
#[derive(Clone, Debug, Serialize)]
pub struct Ratio {
    /// What is divided by what.
    pub what: &'static str,
    /// Median of the rounds.
    pub median: f64,
    /// Lowest of the rounds.
    pub min: f64,
    /// Highest of the rounds.
    pub max: f64,
}

/// What a benchmark gave.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Configuration.
    pub config: String,
    /// Rounds.
    pub rounds: usize,
    /// Cycles per warp request on the tape.
    pub cycles_per_request: f64,
    /// RTL, lockstep, model, lockstep with an open wave.
    pub rates: Vec<Rate>,
    /// Lockstep over RTL in time, model over RTL in speed, wave over lockstep in time.
    pub ratios: Vec<Ratio>,
}

/// Inputs of consecutive cycles, the first of them a reset.
struct Tape {
    inputs: Vec<In>,
    requests: f64,
}

impl Tape {
    fn record(config: Config, ops: &[Op], seed: u64) -> Result<Tape, Stop> {
        let mut machine = ModelMachine::new(config);
        let busy = Profile::busy();
        let profile = busy.with_ops(ops);
        let mut stimulus = RandomStimulus::new(config, &profile, seed, u64::MAX);
        let mut inputs = vec![In::default()];
        let mut i = In::default();
        machine.cycle(&i)?;
        let mut requests = 0;
        while inputs.len() < TAPE_CYCLES {
            stimulus.drive(&mut i);
            inputs.push(i);
            machine.cycle(&i)?;
            stimulus.observe(&i, machine.out());
            requests += u32::from(i.req_valid & machine.out().req_ready);
            settle(&mut i, machine.out());
        }
        Ok(Tape { inputs, requests: requests.into() })
    }
}

/// Processor time of this thread.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Plays the tape over and over for about `seconds` of processor time, or until `stop` is set; gives cycles
/// per second.
fn rate(
    tape: &Tape,
    (seconds, stop): (f64, &AtomicBool),
    mut cycle: impl FnMut(&In) -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let start = processor_time();
    let mut cycles = 0;
    loop {
        for i in &tape.inputs {
            cycle(i)?;
        }
        cycles += tape.inputs.len();
        let spent = (processor_time() - start).as_secs_f64();
        if spent >= seconds || stop.load(Ordering::SeqCst) {
            return Ok(cycles as f64 / spent);
        }
    }
}

/// Measures `rounds` rounds; in each, everything runs for about `seconds` in turn, on a mix of `ops`, or
/// of all that work on plain memory if there are none. The wave goes to `wave`, which is overwritten.
/// It ends before the round in which `stop` is set; without a whole round the figures are NaN.
///
/// # Errors
/// [`Failure`], a mismatch for one.
#[allow(clippy::too_many_arguments)] // what a benchmark is of, and how long it takes
pub fn bench(
    name: &str,
    library: &Library,
    config: Config,
    ops: &[Op],
    rounds: usize,
    seconds: f64,
    wave: &Path,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize),
) -> Result<Report, Failure> {
    let tape = Tape::record(config, ops, 1)?;
    let rtl = || -> Result<Rtl, Failure> { Ok(library.instantiate().map_err(Stop::from)?) };
    let mut alone = rtl()?;
    let mut lockstep = Lockstep::new(rtl()?, config)?;
    let mut model = Unit::new(config);
    let (mut out, mut probe) = (Out::default(), Probe::default());
    let mut rows: [Vec<f64>; 4] = Default::default();
    for round in 0..rounds {
        progress(round);
        rows[0].push(rate(&tape, (seconds, stop), |i| {
            Ok(alone.cycle(i, &mut out, &mut probe).map_err(Stop::from)?)
        })?);
        rows[1].push(rate(&tape, (seconds, stop), |i| Ok(lockstep.cycle(i)?))?);
        rows[2].push(rate(&tape, (seconds, stop), |i| {
            model.evaluate(i);
            model.tick(i);
            Ok(())
        })?);
        let mut traced = Lockstep::new(rtl()?, config)?;
        let (mut trace, mut monitor) = (Trace::create(wave, &traced, None)?, Monitor::new(&config));
        rows[3].push(rate(&tape, (0.0, stop), |i| {
            let number = traced.cycles();
            traced.cycle(i)?;
            let seen = monitor.cycle(number, i, traced.out(), traced.probe());
            Ok(trace.cycle(number, i, &traced, Some(&seen))?)
        })?);
        trace.finish()?;
        if stop.load(Ordering::SeqCst) {
            // The round is not whole.
            rows.iter_mut().for_each(|row| row.truncate(round));
            break;
        }
    }
    let [rtl, lockstep, model, traced] = &rows;
    let per_request = tape.inputs.len() as f64 / tape.requests;
    let named = |what, values: &[f64]| {
        let median = median(values);
        Rate { what, cycles_per_second: median, requests_per_second: median / per_request }
    };
    Ok(Report {
        config: name.to_string(),
        rounds: rtl.len(),
        cycles_per_request: per_request,
        rates: vec![
            named("RTL alone", rtl),
            named("lockstep", lockstep),
            named("model alone", model),
            named("lockstep with an open wave", traced),
        ],
        ratios: vec![
            ratio("lockstep takes, times RTL alone", rtl, lockstep),
            ratio("model is faster than RTL, times", model, rtl),
            ratio("an open wave takes, times lockstep", lockstep, traced),
        ],
    })
}

fn ratio(what: &'static str, over: &[f64], under: &[f64]) -> Ratio {
    let each: Vec<_> = over.iter().zip(under).map(|(over, under)| over / under).collect();
    Ratio {
        what,
        median: median(&each),
        min: each.iter().copied().fold(f64::INFINITY, f64::min),
        max: each.iter().copied().fold(0.0, f64::max),
    }
}

/// The middle one of some values; NaN of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
