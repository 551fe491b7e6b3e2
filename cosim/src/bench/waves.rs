//! How fast waves are written, and compared. In elapsed time: files are written and read by threads of their own.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use atoms_model::Config;
use atoms_ops::Op;
use atoms_verilated::{Library, Variant};
use atoms_waves::{Definition, DiffOptions, DiffSides, SignalKind, WaveDiff, WaveFile};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::{Rate, Ratio, Tape, Watched, median, ratio};
use crate::lockstep::Lockstep;
use crate::machine::Stop;
use crate::session::Failure;
use crate::trace::Sides;

/// Edges and signals of the waves that are compared: those of a published figure for another comparator.
const COMPARED_EDGES: u64 = 100_000;
const COMPARED_SIGNALS: usize = 350;

/// Signals that change in each of their cycles.
const CHANGES: usize = 40;

/// What a benchmark of waves gave.
#[derive(Clone, Debug, Serialize)]
pub struct WaveReport {
    /// Configuration.
    pub config: String,
    /// Rounds.
    pub rounds: usize,
    /// Lockstep without a wave, with one of each kind, and with Verilator's own.
    pub rates: Vec<Rate>,
    /// Files that are compared.
    pub times: Vec<WaveTime>,
    /// Of times, and of sizes.
    pub ratios: Vec<Ratio>,
}

/// How long something took.
#[derive(Clone, Debug, Serialize)]
pub struct WaveTime {
    /// What.
    pub what: &'static str,
    /// Median of the rounds, in seconds.
    pub seconds: f64,
}

impl WaveTime {
    /// Of the times of several rounds, in seconds.
    pub fn median(what: &'static str, seconds: &[f64]) -> Self {
        WaveTime { what, seconds: median(seconds) }
    }
}

/// Measures `rounds` rounds; in each, lockstep runs for about `seconds` without a wave and with each kind. The libraries
/// are those of [`Variant::Fast`] and [`Variant::Wave`]. Files go to `dir`, where they stay. As [`super::bench`] in all
/// else.
///
/// # Errors
/// [`Failure`], a file that cannot be written for one.
#[allow(clippy::too_many_arguments)] // what a benchmark is of, and how long it takes
pub fn wave_bench(
    name: &str,
    libraries: [&Library; 2],
    config: Config,
    ops: &[Op],
    rounds: usize,
    seconds: f64,
    dir: &Path,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize),
) -> Result<WaveReport, Failure> {
    let [fast, inside] = libraries;
    debug_assert!((fast.variant(), inside.variant()) == (Variant::Fast, Variant::Wave));
    let tape = Tape::record(config, ops, 1)?;
    let limit = (seconds, stop);
    let lockstep = |library: &Library, own: Option<&Path>| -> Result<Lockstep, Failure> {
        let mut rtl = library.instantiate().map_err(Stop::from)?;
        own.map(|path| rtl.open_trace(path)).transpose().map_err(Stop::from)?;
        Ok(Lockstep::new(rtl, config)?)
    };
    let file = |name: &str| dir.join(name);
    let [vcd, fst, own, ours] = ["wave.vcd", "wave.fst", "verilator.vcd", "internals.vcd"].map(file);
    let compared = ["left.vcd", "right.vcd"].map(file);
    for (path, wrong) in compared.iter().zip([None, Some(COMPARED_EDGES / 2)]) {
        write_compared(path, wrong)?;
    }
    let compared = compared.map(WaveFile::open);
    let [left, right] = compared.each_ref().map(|file| file.as_ref().expect("this program wrote it"));
    let mut rows: [Vec<f64>; 5] = Default::default();
    let mut sizes: [Vec<f64>; 4] = Default::default();
    let mut took: [Vec<f64>; 2] = Default::default();
    for round in 0..rounds {
        progress(round);
        for (at, path) in [None, Some(&vcd), Some(&fst), Some(&own), Some(&ours)].into_iter().enumerate() {
            let machine = match path {
                Some(path) if *path == own => lockstep(inside, Some(path))?,
                Some(path) if *path == ours => {
                    let mut machine = lockstep(inside, None)?;
                    machine.show_inside(0..u64::MAX).map_err(Stop::from)?;
                    machine
                }
                Some(_) | None => lockstep(fast, None)?,
            };
            let wave = path.filter(|path| **path != own).map(|path| &**path);
            let watched = Watched::measure(&tape, machine, limit, wave)?;
            rows[at].push(watched.cycles_per_second);
            if let Some(path) = path {
                let bytes = std::fs::metadata(path).map_or(0, |data| data.len());
                sizes[at - 1].push(bytes as f64 / watched.cycles as f64);
            }
        }
        took[0].push(timed(|| read(left, right)));
        took[1].push(timed(|| compare(left, right)));
        if stop.load(Ordering::SeqCst) {
            // The round is not whole.
            rows.iter_mut().chain(&mut sizes).chain(&mut took).for_each(|row| row.truncate(round));
            break;
        }
    }
    let per_request = tape.inputs.len() as f64 / tape.requests;
    let named = |what, values: &[f64]| {
        let median = median(values);
        Rate { what, cycles_per_second: median, requests_per_second: median / per_request }
    };
    let [watched, in_vcd, in_fst, in_own, in_ours] = &rows;
    let [vcd_bytes, fst_bytes, own_bytes, ours_bytes] = &sizes;
    let [reading, comparing] = &took;
    Ok(WaveReport {
        config: name.to_string(),
        rounds: watched.len(),
        rates: vec![
            named("lockstep and monitor", watched),
            named("the same, wave as VCD", in_vcd),
            named("the same, wave as FST", in_fst),
            named("the same, Verilator's VCD", in_own),
            named("the same, VCD with internals", in_ours),
        ],
        times: vec![
            WaveTime::median("100,000 edges of 350 signals read", reading),
            WaveTime::median("and compared", comparing),
        ],
        ratios: vec![
            ratio("an open VCD takes, times lockstep", watched, in_vcd),
            ratio("an open FST takes, times lockstep", watched, in_fst),
            ratio("internals take, times Verilator's VCD", in_own, in_ours),
            ratio("comparing takes, times reading both", comparing, reading),
            ratio("VCD is larger than FST, times", vcd_bytes, fst_bytes),
            ratio("internals are, times Verilator's VCD", ours_bytes, own_bytes),
        ],
    })
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Writes a wave to be compared, in which one value differs in cycle `wrong`.
fn write_compared(path: &Path, wrong: Option<u64>) -> Result<(), Failure> {
    const WIDTHS: [u32; 7] = [1, 1, 1, 4, 8, 32, 32];
    let mut definition = Definition::new("top");
    let width = |at: usize| WIDTHS[at % WIDTHS.len()];
    let declare = |at: usize| definition.signal(&format!("s{at}"), SignalKind::Bits(width(at)));
    let signals: Vec<_> = (1..COMPARED_SIGNALS).map(declare).collect();
    let mut trace = definition.create(path)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for cycle in 0..COMPARED_EDGES {
        for _ in 0..CHANGES {
            let at = random.random_range(0..signals.len());
            trace.set(signals[at], u128::from(random.random::<u32>() ^ u32::from(wrong == Some(cycle))));
        }
        trace.tick()?;
    }
    Ok(trace.finish()?)
}

/// Reads every change of both, with a thread each.
fn read(left: &WaveFile, right: &WaveFile) {
    std::thread::scope(|scope| {
        for file in [left, right] {
            scope.spawn(|| {
                let mut all = file.no_slots();
                file.signals().iter().for_each(|signal| all.insert(signal.slot));
                let mut changes = 0_u64;
                let outcome = file.changes(&all, u64::MAX, |_, _, value| {
                    std::hint::black_box(value);
                    changes += 1;
                    ControlFlow::Continue(())
                });
                assert!(outcome.is_ok() && changes > COMPARED_EDGES, "this program wrote it");
            });
        }
    });
}

fn compare(left: &WaveFile, right: &WaveFile) {
    let options = DiffOptions { clock: Some("clk".to_owned()), ..DiffOptions::default() };
    let diff = WaveDiff::compare(DiffSides::Files(left, right), &options).expect("this program wrote them");
    assert_eq!((diff.points, diff.compared), (COMPARED_EDGES, COMPARED_SIGNALS));
    assert_eq!(diff.causes.first().map(|cause| cause.first), Some(COMPARED_EDGES / 2 * 10));
}
