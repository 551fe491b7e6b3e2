//! Searches random cases for a failure, then shrinks and saves the failing case.

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

pub trait Hunted: Machine + Sized {
    /// # Errors
    /// [`Failure`] if the machine fails during reset.
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

pub struct Judge<M: Hunted> {
    library: Library,
    named: NamedConfig,
    session: Option<Session<M>>,
    zeros: Vec<u32>,
}

impl<M: Hunted> Judge<M> {
    pub fn new(library: Library, named: NamedConfig) -> Self {
        let zeros = vec![0; (named.config.bytes() / 4) as usize];
        Judge { library, named, session: None, zeros }
    }

    /// Runs `case` to its end, from reset and zero memory.
    ///
    /// # Errors
    /// [`Failure`] of the case, or of the creation of the machine.
    pub fn judge(&mut self, case: &Case) -> Result<(), Failure> {
        // A machine can be stopped after a failure, so the next case gets a new machine.
        let (mut session, fresh) = match self.session.take() {
            Some(session) => (session, false),
            None => (Session::new(M::make(&self.library, &self.named)?, None), true),
        };
        if !fresh {
            // `In::default()` is a reset cycle because all its inputs are zero.
            session.machine_mut().cycle(&In::default())?;
            session.machine_mut().load_memory(&self.zeros)?;
        }
        session.restart(Some(Scoreboard::new(&self.named.config, &self.zeros)));
        session.run(&mut CaseStimulus::new(case), u64::MAX, |_| {})?;
        self.session = Some(session);
        Ok(())
    }
}

#[derive(Debug)]
pub struct Found {
    pub case: Case,
    pub failure: Failure,
    pub seed: u64,
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

/// Returns `PROPTEST_CASES` if set, else `cases` in the nightly tier and a quarter of it in the quick tier.
pub fn cases_or(cases: u32) -> u32 {
    let of_tier = if atoms_host::is_nightly() { cases } else { cases / 4 };
    number("PROPTEST_CASES").map_or(of_tier, |cases| cases as u32)
}

pub fn seed() -> u64 {
    number("PROPTEST_RNG_SEED").unwrap_or(1)
}

pub fn settings(cases: u32, seed: u64, max_shrink_iters: u32) -> Settings {
    let rng_seed = RngSeed::Fixed(seed);
    Settings { cases, rng_seed, failure_persistence: None, max_shrink_iters, ..Settings::default() }
}

/// Draws up to `cases` cases of up to `requests` requests of `mix` for the judge's configuration. Shrinks the
/// first failing case and saves it as `failures/NAME.json`.
///
/// The default seed is 1; `PROPTEST_RNG_SEED` overrides it. Equal seeds draw equal cases.
///
/// # Errors
/// The failing case, after shrinking.
///
/// # Panics
/// A case could not run, for a reason other than a finding.
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
    // Runs the case again on a new machine, so that cycles count from 0.
    let judge = judge.into_inner();
    judge.session = None;
    let failure = judge.judge(&case).expect_err("a failure that shrank repeats itself");
    Err(Box::new(Found { case, failure, seed, file }))
}
