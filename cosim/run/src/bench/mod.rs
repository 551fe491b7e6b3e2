//! Measures the speed of RTL, model, lockstep, oracle and waves, in turns, on the same recorded inputs.

mod tape;
mod waves;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use atoms_model::port::{In, Out, Probe};
use atoms_model::{Config, Unit};
use atoms_ops::Op;
use atoms_stimulus::Profile;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::{Library, Rtl};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use atoms_cosim::campaign::Campaign;
use atoms_cosim::follower::FollowerMode;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;

pub use tape::Tape;
pub use waves::WaveBench;

/// A measured quantity, with one value for each round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BenchFigure {
    /// Name of the measured quantity.
    pub what: String,
    /// Unit of the values: `cycles/s`, `s` or `bytes/cycle`.
    pub unit: String,
    /// One value for each round.
    pub rounds: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
pub struct BenchValue {
    pub what: &'static str,
    pub unit: &'static str,
    pub value: f64,
}

/// A ratio of two figures.
#[derive(Clone, Copy, Debug)]
pub struct RatioOf {
    pub what: &'static str,
    /// Name of the numerator ([`BenchFigure::what`]).
    pub over: &'static str,
    /// Name of the denominator ([`BenchFigure::what`]).
    pub under: &'static str,
}

/// Median and range of some values. All fields are NaN if there are no values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct BenchSpread {
    /// Median of the values. NaN if there are none.
    pub median: f64,
    /// Lowest of the values.
    pub min: f64,
    /// Highest of the values.
    pub max: f64,
}

impl BenchSpread {
    pub fn of(values: impl IntoIterator<Item = f64>) -> BenchSpread {
        let mut sorted: Vec<_> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        BenchSpread { median: at(sorted.len() / 2), min: at(0), max: at(sorted.len().saturating_sub(1)) }
    }
}

impl From<BenchValue> for BenchFigure {
    fn from(BenchValue { what, unit, value }: BenchValue) -> Self {
        BenchFigure { what: what.into(), unit: unit.into(), rounds: vec![value] }
    }
}

impl BenchFigure {
    pub fn spread(&self) -> BenchSpread {
        BenchSpread::of(self.rounds.iter().copied())
    }

    /// Returns how many times as fast this figure is as `other`. Compares round by round if both have the
    /// same number of rounds, else the medians.
    pub fn faster_than(&self, other: &BenchFigure) -> BenchSpread {
        let faster =
            |this: f64, other: f64| if self.unit.ends_with("/s") { this / other } else { other / this };
        if self.rounds.len() == other.rounds.len() {
            BenchSpread::of(self.rounds.iter().zip(&other.rounds).map(|(this, other)| faster(*this, *other)))
        } else {
            BenchSpread::of([faster(self.spread().median, other.spread().median)])
        }
    }
}

/// Figures of several rounds.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Figures(pub Vec<BenchFigure>);

impl Figures {
    pub fn add(&mut self, round: impl IntoIterator<Item = impl Into<BenchFigure>>) {
        for measured in round.into_iter().map(Into::into) {
            match self.0.iter_mut().find(|figure| figure.what == measured.what) {
                Some(figure) => figure.rounds.extend(measured.rounds),
                None => self.0.push(measured),
            }
        }
    }

    pub fn named(&self, what: &str) -> Option<&BenchFigure> {
        self.0.iter().find(|figure| figure.what == what)
    }

    /// Returns a ratio, computed round by round. None if a figure is missing.
    pub fn ratio(&self, of: &RatioOf) -> Option<BenchSpread> {
        let (over, under) = (self.named(of.over)?, self.named(of.under)?);
        Some(BenchSpread::of(over.rounds.iter().zip(&under.rounds).map(|(over, under)| over / under)))
    }
}

/// Duration of each measurement in a round, and a flag that ends it early.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Approximate duration in seconds.
    pub seconds: f64,
    /// Flag that ends a measurement. The caller must discard a round in which it is set.
    pub stop: &'static AtomicBool,
}

pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Returns the median of some values. NaN if there are none.
pub fn median(values: &[f64]) -> f64 {
    BenchSpread::of(values.iter().copied()).median
}

/// Benchmark of RTL, model and lockstep on a mix of operations.
#[derive(Debug)]
pub struct MixBench<'a> {
    library: &'a Library,
    campaign: Campaign,
    tape: Tape,
    alone: Rtl,
    lockstep: Lockstep,
    in_turns: Lockstep,
    model: Unit,
}

const MODEL: &str = "model alone";
const RTL: &str = "RTL alone";
const RTL_ELAPSED: &str = "RTL alone, elapsed";
const ABREAST: &str = "lockstep, cycle by cycle";
const LOCKSTEP: &str = "lockstep, in turns, one thread";
const LOCKSTEP_TWO: &str = "lockstep, two threads, elapsed";
const MONITOR: &str = "lockstep, requests followed";
const ORACLE: &str = "the same with the oracle";
const COSIM: &str = "random run, one thread, elapsed";
const COSIM_TWO: &str = "random run, two threads, elapsed";

impl<'a> MixBench<'a> {
    pub const RATIOS: &'static [RatioOf] = &[
        RatioOf { what: "model over RTL in speed", over: MODEL, under: RTL },
        RatioOf { what: "cycle by cycle over RTL in time", over: RTL, under: ABREAST },
        RatioOf { what: "in turns, over RTL in time", over: RTL, under: LOCKSTEP },
        RatioOf { what: "on two threads, elapsed", over: RTL_ELAPSED, under: LOCKSTEP_TWO },
        RatioOf { what: "with oracle over without in time", over: MONITOR, under: ORACLE },
        RatioOf { what: "random run over RTL in time", over: RTL_ELAPSED, under: COSIM },
        RatioOf { what: "on two threads", over: RTL_ELAPSED, under: COSIM_TWO },
    ];

    /// Prepares a mix of `ops`, or of all operations on plain memory if `ops` is empty. `library` must be
    /// built for `config`.
    ///
    /// # Errors
    /// [`Failure::Rtl`] if the RTL does not come out of reset.
    pub fn new(library: &'a Library, config: &NamedConfig, ops: &[Op]) -> Result<Self, Failure> {
        let unit = config.config;
        let profile = Profile::busy().with_ops(ops);
        let config = config.clone();
        Ok(MixBench {
            tape: Tape::record(unit, &profile, 1)?,
            campaign: Campaign { config, profile, seed: 1, requests: u64::MAX, until: 0 },
            alone: library.instantiate()?,
            lockstep: lockstep(library, unit)?,
            in_turns: lockstep(library, unit)?,
            model: Unit::new(unit),
            library,
        })
    }

    pub fn cycles_per_request(&self) -> f64 {
        self.tape.cycles_per_request()
    }

    /// Measures every figure once, in turns.
    ///
    /// # Errors
    /// [`Failure`], for example a mismatch.
    pub fn round(&mut self, limit: Limit) -> Result<Vec<BenchValue>, Failure> {
        let MixBench { library, campaign, tape, alone, lockstep, in_turns, model } = self;
        let unit = campaign.config.config;
        let mut round = Vec::new();
        let mut measured = |what, value| round.push(BenchValue { what, unit: "cycles/s", value });
        let processor = tape.rate(limit, processor_time, |i| {
            model.evaluate(i);
            model.tick(i);
            Ok(())
        })?;
        measured(MODEL, processor);
        let (mut out, mut probe) = (Out::default(), Probe::default());
        let mut rtl = |i: &In| Ok(alone.cycle(i, &mut out, &mut probe)?);
        let start = Instant::now();
        let elapsed = || start.elapsed();
        let half = Limit { seconds: limit.seconds / 2.0, ..limit };
        measured(RTL, tape.rate(half, processor_time, &mut rtl)?);
        measured(RTL_ELAPSED, tape.rate(half, elapsed, rtl)?);
        let on_one = tape.rate(limit, processor_time, |i| lockstep.cycle(i))?;
        measured(ABREAST, on_one);
        in_turns.set_following(Some(FollowerMode::InTurns))?;
        measured(LOCKSTEP, tape.rate(limit, processor_time, |i| in_turns.cycle(i))?);
        in_turns.catch_up()?;
        let mut two = self::lockstep(library, unit)?;
        two.set_following(Some(FollowerMode::OnItsOwnThread))?;
        measured(LOCKSTEP_TWO, tape.rate(limit, elapsed, |i| two.cycle(i))?);
        two.catch_up()?;
        for (what, oracle) in [(MONITOR, false), (ORACLE, true)] {
            let scoreboard = oracle.then(|| Scoreboard::new(&unit, &[]));
            let mut session = Session::new(self::lockstep(library, unit)?, scoreboard);
            measured(what, tape.rate(limit, processor_time, |i| session.clock(i))?);
        }
        // Run for about as many cycles as the other measurements.
        campaign.until = (on_one * limit.seconds) as u64;
        for (what, following) in [(COSIM, FollowerMode::InTurns), (COSIM_TWO, FollowerMode::OnItsOwnThread)] {
            let mut machine = self::lockstep(library, unit)?;
            machine.set_following(Some(following))?;
            let mut session = Session::new(machine, Some(campaign.scoreboard()));
            session.set_interrupt(limit.stop);
            let start = Instant::now();
            let (_, tally) = campaign.run(session, |_| ()).map_err(|failed| failed.failure)?;
            measured(what, tally.cycles as f64 / start.elapsed().as_secs_f64());
        }
        Ok(round)
    }
}

fn lockstep(library: &Library, config: Config) -> Result<Lockstep, Failure> {
    Lockstep::new(library.instantiate()?, config)
}
