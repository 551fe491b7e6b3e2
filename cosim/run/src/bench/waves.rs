//! Measures the speed of writing and comparing waves.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use atoms_model::Config;
use atoms_monitor::Monitor;
use atoms_ops::Op;
use atoms_stimulus::Profile;
use atoms_verilated::{Library, Variant};
use atoms_wave_view::{DiffOptions, DiffSides, WaveDiff, WaveFile};
use atoms_wave_write::{Definition, SignalKind};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::tape::Tape;
use super::{BenchValue, Limit, RatioOf};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::trace::Trace;

const COMPARED: [&str; 2] = ["left.vcd", "right.vcd"];

/// Clock edges and signals of the compared waves. The numbers are those of a published figure for another
/// comparator.
const COMPARED_EDGES: u64 = 100_000;
const COMPARED_SIGNALS: usize = 350;

/// Signals that change in each cycle of the compared waves.
const CHANGES: usize = 40;

/// Benchmark of writing waves in lockstep, and of reading and comparing waves.
#[derive(Debug)]
pub struct WaveBench<'a> {
    fast: &'a Library,
    inside: &'a Library,
    config: Config,
    dir: PathBuf,
    tape: Tape,
    compared: [WaveFile; 2],
}

const WATCHED: &str = "lockstep, requests followed";
const VCD: &str = "the same, wave as VCD";
const FST: &str = "the same, wave as FST";
const OWN: &str = "the same, Verilator's VCD";
const INSIDE: &str = "the same, VCD with internals";
const READING: &str = "100,000 edges of 350 signals read";
const COMPARING: &str = "and compared";

/// Kinds of waves: name, file, and name of the figure for its size.
const KINDS: [(&str, &str, &str); 4] = [
    (VCD, "wave.vcd", "bytes of the VCD"),
    (FST, "wave.fst", "bytes of the FST"),
    (OWN, "verilator.vcd", "bytes of Verilator's VCD"),
    (INSIDE, "internals.vcd", "bytes with internals"),
];

impl<'a> WaveBench<'a> {
    pub const RATIOS: &'static [RatioOf] = &[
        RatioOf { what: "an open VCD over lockstep in time", over: WATCHED, under: VCD },
        RatioOf { what: "an open FST over lockstep in time", over: WATCHED, under: FST },
        RatioOf { what: "internals over Verilator's in time", over: OWN, under: INSIDE },
        RatioOf { what: "comparing over reading in time", over: COMPARING, under: READING },
        RatioOf { what: "VCD over FST in bytes", over: KINDS[0].2, under: KINDS[1].2 },
        RatioOf { what: "internals over Verilator's in bytes", over: KINDS[3].2, under: KINDS[2].2 },
    ];

    /// Returns the names of all files that the benchmark writes in its folder.
    pub fn files() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|(_, file, _)| *file).chain(COMPARED)
    }

    /// Prepares a mix of `ops`, or of all operations on plain memory if `ops` is empty. The libraries must be
    /// built for `config` as [`Variant::Fast`] and [`Variant::Wave`]. Files go to `dir`. Waves of lockstep
    /// are removed after their measurement.
    ///
    /// # Errors
    /// [`Failure`], for example if a file cannot be written.
    pub fn new(
        [fast, inside]: [&'a Library; 2],
        config: Config,
        ops: &[Op],
        dir: &Path,
    ) -> Result<Self, Failure> {
        debug_assert!((fast.variant(), inside.variant()) == (Variant::Fast, Variant::Wave));
        let compared = COMPARED.map(|name| dir.join(name));
        for (path, wrong) in compared.iter().zip([None, Some(COMPARED_EDGES / 2)]) {
            write_compared(path, wrong)?;
        }
        Ok(WaveBench {
            fast,
            inside,
            config,
            dir: dir.to_path_buf(),
            tape: Tape::record(config, &Profile::busy().with_ops(ops), 1)?,
            compared: compared.map(|path| WaveFile::open(&path).expect("this program wrote it")),
        })
    }

    /// Measures every figure once, in turns. Uses elapsed time, because other threads write and read the
    /// files.
    ///
    /// # Errors
    /// [`Failure`], for example if a file cannot be written.
    pub fn round(&mut self, limit: Limit) -> Result<Vec<BenchValue>, Failure> {
        let mut round = Vec::new();
        let mut measured = |what, unit, value| round.push(BenchValue { what, unit, value });
        measured(WATCHED, "cycles/s", self.watched(limit, None)?.1);
        for (what, file, bytes) in KINDS {
            let (cycles, rate) = self.watched(limit, Some(what))?;
            measured(what, "cycles/s", rate);
            let path = self.dir.join(file);
            let length = std::fs::metadata(&path).map_or(0, |data| data.len());
            measured(bytes, "bytes/cycle", length as f64 / cycles as f64);
            // Remove the file, so that the system does not write it to disk during the next measurement.
            let _ = std::fs::remove_file(&path);
        }
        let [left, right] = &self.compared;
        measured(READING, "s", timed(|| read(left, right)));
        measured(COMPARING, "s", timed(|| compare(left, right)));
        Ok(round)
    }

    /// Runs lockstep like a session, without a wave or with one of [`KINDS`]. Returns cycles, and cycles per
    /// second.
    fn watched(&self, limit: Limit, kind: Option<&str>) -> Result<(usize, f64), Failure> {
        let kind = kind.and_then(|kind| KINDS.iter().find(|(what, ..)| *what == kind));
        let path = kind.map(|(_, file, _)| self.dir.join(file));
        let what = kind.map_or(WATCHED, |(what, ..)| *what);
        let library = if [OWN, INSIDE].contains(&what) { self.inside } else { self.fast };
        let mut rtl = library.instantiate()?;
        let mut trace = None;
        let mut machine = match path {
            Some(path) if what == OWN => {
                rtl.open_trace(&path)?;
                Lockstep::new(rtl, self.config)?
            }
            Some(path) => {
                let mut machine = Lockstep::new(rtl, self.config)?;
                if what == INSIDE {
                    machine.show_inside(0..u64::MAX)?;
                }
                trace = Some(Trace::create(&path, &machine, None)?);
                machine
            }
            None => Lockstep::new(rtl, self.config)?,
        };
        let mut monitor = Monitor::new(machine.config());
        let start = Instant::now();
        let cycles = self.tape.play_for(
            limit,
            || start.elapsed(),
            |i| {
                let number = machine.cycles();
                machine.cycle(i)?;
                let seen = monitor.cycle(number, i, machine.out(), machine.probe());
                trace.as_mut().map_or(Ok(()), |trace| Ok(trace.cycle(number, i, &machine, Some(&seen))?))
            },
        )?;
        trace.map(Trace::finish).transpose()?;
        // Dropping the machine also completes Verilator's own wave, if there is one.
        drop(machine);
        Ok((cycles, cycles as f64 / start.elapsed().as_secs_f64()))
    }
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Writes a wave to compare. One value differs in cycle `wrong`.
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

/// Reads every change of both waves, on one thread each.
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
