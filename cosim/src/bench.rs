//! How fast RTL, model, lockstep and waves are: in one process, in turns, on the same tape of inputs.

mod waves;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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

pub use waves::{WaveReport, WaveTime, wave_bench};

/// Cycles on the tape: long enough to be a mix of everything, short enough to stay in the cache.
const TAPE_CYCLES: usize = 4096;

/// One thing measured.
#[derive(Clone, Debug, Serialize)]
pub struct Rate {
    /// What ran.
    pub what: &'static str,
    /// Clock cycles per second, of processor time unless `what` says otherwise, median of the rounds.
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
    /// RTL, lockstep, model; lockstep with the monitor, alone and with waves of two formats.
    pub rates: Vec<Rate>,
    /// Lockstep over RTL in time, model over RTL in speed, waves over lockstep in time, VCD over FST in bytes.
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
    limit: (f64, &AtomicBool),
    cycle: impl FnMut(&In) -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let start = processor_time();
    let spent = || (processor_time() - start).as_secs_f64();
    let cycles = play(tape, limit, spent, cycle)?;
    Ok(cycles as f64 / spent())
}

/// Plays the tape over and over until `spent` gives that many seconds, or `stop` is set; gives the cycles.
fn play(
    tape: &Tape,
    (seconds, stop): (f64, &AtomicBool),
    spent: impl Fn() -> f64,
    mut cycle: impl FnMut(&In) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut cycles = 0;
    loop {
        for i in &tape.inputs {
            cycle(i)?;
        }
        cycles += tape.inputs.len();
        if spent() >= seconds || stop.load(Ordering::SeqCst) {
            return Ok(cycles);
        }
    }
}

/// Lockstep as a session sees it, with or without a wave. In elapsed time: a wave is written by a thread of its own.
struct Watched {
    cycles: usize,
    cycles_per_second: f64,
    /// Of the wave, per cycle.
    bytes: f64,
}

impl Watched {
    fn measure(
        tape: &Tape,
        mut machine: Lockstep,
        limit: (f64, &AtomicBool),
        wave: Option<&Path>,
    ) -> Result<Self, Failure> {
        let mut trace = wave.map(|path| Trace::create(path, &machine, None)).transpose()?;
        let mut monitor = Monitor::new(machine.config());
        let start = Instant::now();
        let cycles = play(
            tape,
            limit,
            || start.elapsed().as_secs_f64(),
            |i| {
                let number = machine.cycles();
                machine.cycle(i)?;
                let seen = monitor.cycle(number, i, machine.out(), machine.probe());
                trace.as_mut().map_or(Ok(()), |trace| Ok(trace.cycle(number, i, &machine, Some(&seen))?))
            },
        )?;
        trace.map(Trace::finish).transpose()?;
        // The RTL may have a wave of its own, which ends with it.
        drop(machine);
        let spent = start.elapsed().as_secs_f64();
        let bytes = wave.and_then(|path| Some(std::fs::metadata(path).ok()?.len())).unwrap_or(0);
        Ok(Watched { cycles, cycles_per_second: cycles as f64 / spent, bytes: bytes as f64 / cycles as f64 })
    }
}

/// Measures `rounds` rounds; in each, everything runs for about `seconds` in turn, on a mix of `ops`, or
/// of all that work on plain memory if there are none. Waves go to `wave` and, as FST, to the file of that name beside it,
/// which are overwritten.
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
    let mut rows: [Vec<f64>; 8] = Default::default();
    let fst = wave.with_extension("fst");
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
        for (at, path) in [None, Some(wave), Some(&fst)].into_iter().enumerate() {
            let watched = Watched::measure(&tape, Lockstep::new(rtl()?, config)?, (seconds, stop), path)?;
            rows[3 + at].push(watched.cycles_per_second);
            if at > 0 {
                rows[5 + at].push(watched.bytes);
            }
        }
        if stop.load(Ordering::SeqCst) {
            // The round is not whole.
            rows.iter_mut().for_each(|row| row.truncate(round));
            break;
        }
    }
    let [rtl, lockstep, model, watched, in_vcd, in_fst, vcd_bytes, fst_bytes] = &rows;
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
            named("lockstep and monitor, elapsed", watched),
            named("the same, wave as VCD", in_vcd),
            named("the same, wave as FST", in_fst),
        ],
        ratios: vec![
            ratio("lockstep takes, times RTL alone", rtl, lockstep),
            ratio("model is faster than RTL, times", model, rtl),
            ratio("an open VCD takes, times lockstep", watched, in_vcd),
            ratio("an open FST takes, times lockstep", watched, in_fst),
            ratio("VCD is larger than FST, times", vcd_bytes, fst_bytes),
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
