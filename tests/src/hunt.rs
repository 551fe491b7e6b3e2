//! The hunt for a case that fails: draws, judges, shrinks, and keeps what it found.

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;

use atoms_cosim::case::{Case, CaseStimulus};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine, RtlMachine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_model::port::In;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::Library;
use proptest::test_runner::{Config as Settings, RngSeed, TestCaseError, TestError, TestRunner};

use crate::draw::{self, Mix};
use crate::{generated, root};

/// A machine that can be made from a library.
pub trait Hunted: Machine + Sized {
    /// A machine of `config` with RTL from `library`.
    ///
    /// # Errors
    /// [`Failure`] when it does not come out of reset.
    fn make(library: &Library, config: &NamedConfig) -> Result<Self, Failure>;
}

impl Hunted for Lockstep {
    fn make(library: &Library, config: &NamedConfig) -> Result<Self, Failure> {
        Lockstep::new(library.instantiate()?, config.config)
    }
}

impl Hunted for RtlMachine {
    fn make(library: &Library, config: &NamedConfig) -> Result<Self, Failure> {
        Ok(RtlMachine::new(library.instantiate()?, config.config)?)
    }
}

/// Runs one case after the other on one machine, with the oracle listening.
pub struct Judge<M: Hunted> {
    library: Library,
    named: NamedConfig,
    session: Option<Session<M>>,
    zeros: Vec<u32>,
}

impl<M: Hunted> Judge<M> {
    /// A judge of RTL from `library`, built for `named`.
    pub fn new(library: Library, named: NamedConfig) -> Self {
        let zeros = vec![0; (named.config.bytes() / 4) as usize];
        Judge { library, named, session: None, zeros }
    }

    /// Runs `case` from reset and a memory of zeros to its end.
    ///
    /// # Errors
    /// [`Failure`], a finding.
    pub fn judge(&mut self, case: &Case) -> Result<(), Failure> {
        // A machine that has found something may have stopped itself: the next case gets a new one.
        let (mut session, fresh) = match self.session.take() {
            Some(session) => (session, false),
            None => (Session::new(M::make(&self.library, &self.named)?, None), true),
        };
        if !fresh {
            // All inputs zero are reset.
            session.machine_mut().cycle(&In::default())?;
            session.machine_mut().load_memory(&self.zeros)?;
        }
        session.restart(Some(Scoreboard::new(&self.named.config, &self.zeros)));
        session.run(&mut CaseStimulus::new(case), u64::MAX, |_| {})?;
        self.session = Some(session);
        Ok(())
    }
}

/// A case that fails, as small as it could be made.
#[derive(Debug)]
pub struct Found {
    /// The case.
    pub case: Case,
    /// How it fails.
    pub failure: Failure,
    /// Seed of the hunt.
    pub seed: u64,
    /// File that holds the case.
    pub file: PathBuf,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.strip_prefix(root()).unwrap_or(&self.file);
        write!(f, "{}\n  seed     PROPTEST_RNG_SEED={}", self.failure, self.seed)?;
        write!(f, "\n  repeat   atoms cosim --case {}", file.display())
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// Number of cases to draw: `PROPTEST_CASES` if it is set, else `cases` in the nightly tier and a quarter of them in the
/// quick one.
pub fn cases_or(cases: u32) -> u32 {
    let of_tier = if atoms_host::is_nightly() { cases } else { cases / 4 };
    number("PROPTEST_CASES").map_or(of_tier, |cases| cases as u32)
}

/// `PROPTEST_RNG_SEED` if it is set, else 1.
pub fn seed() -> u64 {
    number("PROPTEST_RNG_SEED").unwrap_or(1)
}

/// Draws `cases` values, the same ones from the same seed, and shrinks one that fails in so many steps at most.
pub fn settings(cases: u32, seed: u64, max_shrink_iters: u32) -> Settings {
    let rng_seed = RngSeed::Fixed(seed);
    Settings { cases, rng_seed, failure_persistence: None, max_shrink_iters, ..Settings::default() }
}

/// Draws up to `cases` cases of up to `requests` requests of `mix` for the judge's configuration; the first that
/// fails is shrunk and kept as `failures/NAME.json`.
///
/// The same seed, 1 unless `PROPTEST_RNG_SEED` says otherwise, draws the same cases.
///
/// # Errors
/// What was found.
///
/// # Panics
/// When a case could not be judged at all.
pub fn hunt<M: Hunted>(
    name: &str,
    judge: &mut Judge<M>,
    cases: u32,
    requests: usize,
    mix: Mix,
) -> Result<(), Box<Found>> {
    let seed = seed();
    let strategy = draw::case(&judge.named.name, judge.named.config, requests, mix);
    let judge = RefCell::new(judge);
    let outcome = TestRunner::new(settings(cases, seed, 20_000)).run(&strategy, |case| {
        judge.borrow_mut().judge(&case).map_err(|failure| {
            assert!(failure.is_finding(), "the case could not be judged: {failure}");
            TestCaseError::fail(failure.to_string())
        })
    });
    let case = match outcome {
        Ok(()) => return Ok(()),
        Err(TestError::Abort(reason)) => panic!("{name}: {reason}"),
        Err(TestError::Fail(_, case)) => case,
    };
    let file = generated("failures").join(format!("{name}.json"));
    let text = serde_json::to_string_pretty(&case).expect("a case is plain data");
    std::fs::write(&file, text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    // Once more on a machine of its own, whose first cycle is cycle 0.
    let judge = judge.into_inner();
    judge.session = None;
    let failure = judge.judge(&case).expect_err("a failure that shrank repeats itself");
    Err(Box::new(Found { case, failure, seed, file }))
}
