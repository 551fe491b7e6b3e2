//! Mutants against runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use atoms_cosim::configs;
use atoms_cosim::mismatch::ComparedSignal;
use atoms_cosim::rtl::BuildStep;
use atoms_cosim::woven::{Recording, Reply, WovenBench, WovenRtl};
use atoms_coverage::episode::Episode;
use atoms_verilated::RtlError;

use crate::{Mutant, MutateError, Stage};

/// What notices a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KillCheck {
    /// An output port differs from the model's.
    Output,
    /// Only a field of the probe differs.
    Probe,
    /// Memory differs at the end of the run.
    Memory,
    /// The RTL stops itself: an assertion of its own.
    Assertion,
    /// Verilator's lint has something to say of its text.
    Lint,
}

/// How a mutant was killed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Kill {
    /// The stage, by its number; none where it is the lint.
    pub stage: Option<usize>,
    /// The run of it, by its number.
    pub episode: usize,
    /// By what.
    pub check: KillCheck,
    /// The signal that differed first, or what the RTL or the lint said.
    pub by: String,
    /// Warp requests taken until then.
    pub requests: usize,
    /// Cycles until then.
    pub cycle: u64,
}

/// What became of a mutant.
#[derive(Clone, Debug, Default)]
pub struct Fate {
    /// The first kill; none where it survives.
    pub kill: Option<Kill>,
    /// Runs that kill it, of those that it was put to.
    pub kills: usize,
}

/// What a stage did.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct StageTally {
    /// Its name.
    pub name: String,
    /// Warp requests of its runs.
    pub requests: u64,
    /// Cycles of its runs.
    pub cycles: u64,
    /// Mutants that were alive before.
    pub before: usize,
    /// Mutants that it killed.
    pub killed: usize,
    /// Wall time without builds and recording, in seconds. Not reported: the same hunt gives the same report.
    #[serde(skip)]
    pub seconds: f64,
}

/// How to hunt.
#[derive(Clone, Copy, Debug)]
pub struct Hunt<'a> {
    /// Where the RTL is.
    pub rtl_dir: &'a Path,
    /// What mutants are put to.
    pub stages: &'a [Stage],
    /// Threads.
    pub threads: usize,
    /// What outlives the first stage is put to every run of every stage, dead or not, so that it is known which die of one
    /// run alone.
    pub every_stage: bool,
}

/// Puts `mutants` to the stages. `built` is told of builds, `done` of each stage that is over.
///
/// # Errors
/// [`MutateError`].
pub fn hunt(
    hunt: Hunt<'_>,
    mutants: &[Mutant],
    built: &mut dyn FnMut(&BuildStep),
    done: &mut dyn FnMut(&StageTally),
) -> Result<(Vec<Fate>, Vec<StageTally>), MutateError> {
    let mut fates = vec![Fate::default(); mutants.len()];
    let mut tallies = Vec::new();
    let mut libraries: BTreeMap<String, WovenRtl> = BTreeMap::new();
    for (number, stage) in hunt.stages.iter().enumerate() {
        let mut tally = StageTally { name: stage.name.clone(), ..StageTally::default() };
        tally.before = fates.iter().filter(|fate| fate.kill.is_none()).count();
        let put = |fate: &Fate| fate.kill.is_none() || hunt.every_stage && is_hard(fate);
        if !fates.iter().any(put) {
            continue;
        }
        // Of the same configuration one after the other, so that a thread's model serves them all.
        let named: BTreeSet<&str> = stage.episodes.iter().map(|episode| episode.config.as_str()).collect();
        for name in named {
            if !libraries.contains_key(name) {
                let woven = woven(hunt.rtl_dir, name, built)?;
                if let Some((other, first)) = libraries.first_key_value()
                    && first.sites != woven.sites
                {
                    return Err(MutateError::Sites(name.to_owned(), other.clone()));
                }
                libraries.insert(name.to_owned(), woven);
            }
            let woven = &libraries[name];
            let episodes = stage.episodes.iter().enumerate().filter(|(_, episode)| episode.config == name);
            let mut benches =
                (0..hunt.threads.max(1)).map(|_| woven.bench()).collect::<Result<Vec<WovenBench>, _>>()?;
            for (episode_number, episode) in episodes {
                let run = record(woven, episode)?;
                tally.requests += episode.requests;
                tally.cycles += run.cycles();
                let todo: Vec<usize> = (0..mutants.len()).filter(|at| put(&fates[*at])).collect();
                if let Some((_, by)) = noticed(&benches[0].reply(&[], &run)?) {
                    return Err(MutateError::Unsound(name.to_owned(), episode.seed, by));
                }
                let began = Instant::now();
                let replies = replies(&mut benches, &run, mutants, &todo)?;
                tally.seconds += began.elapsed().as_secs_f64();
                for (at, reply) in replies {
                    let Some((check, by)) = noticed(&reply) else { continue };
                    let fate = &mut fates[at];
                    fate.kills += 1;
                    let cycle = reply.cycle().unwrap_or(0);
                    fate.kill.get_or_insert_with(|| {
                        tally.killed += 1;
                        let requests = run.requests_until(cycle);
                        Kill { stage: Some(number), episode: episode_number, check, by, requests, cycle }
                    });
                }
            }
        }
        done(&tally);
        tallies.push(tally);
    }
    Ok((fates, tallies))
}

/// The RTL of a configuration with every mutant woven in.
///
/// # Errors
/// [`MutateError`].
pub fn woven(rtl_dir: &Path, name: &str, built: &mut dyn FnMut(&BuildStep)) -> Result<WovenRtl, MutateError> {
    let config = configs::named(rtl_dir, name)?;
    WovenRtl::build(rtl_dir, &config, built).map_err(|error| MutateError::Woven(name.to_owned(), error))
}

/// It outlived the first stage.
fn is_hard(fate: &Fate) -> bool {
    fate.kill.as_ref().is_some_and(|kill| kill.stage != Some(0))
}

fn record(woven: &WovenRtl, episode: &Episode) -> Result<Recording, MutateError> {
    let config = &woven.config.config;
    Recording::of_stimulus(config, &mut episode.stimulus(config))
        .map_err(|failure| MutateError::Model(woven.config.name.clone(), failure))
}

/// What each of `todo` does in `run`.
fn replies(
    benches: &mut [WovenBench],
    run: &Recording,
    mutants: &[Mutant],
    todo: &[usize],
) -> Result<Vec<(usize, Reply)>, RtlError> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::with_capacity(todo.len()));
    std::thread::scope(|scope| {
        let workers: Vec<_> = benches
            .iter_mut()
            .map(|bench| {
                let (next, found) = (&next, &found);
                scope.spawn(move || {
                    let mut own = Vec::new();
                    while let Some(at) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                        own.push((*at, bench.reply(&[mutants[*at].switch], run)?));
                    }
                    found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(own);
                    Ok(())
                })
            })
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// By which check a reply is noticed, and where or with which words.
fn noticed(reply: &Reply) -> Option<(KillCheck, String)> {
    match reply {
        Reply::Agrees => None,
        Reply::Stops(_, said) => Some((KillCheck::Assertion, said.clone())),
        Reply::Differs(_, differences) => {
            let is_output = |signal: ComparedSignal| matches!(signal, ComparedSignal::Output(_));
            let output = differences.iter().find(|one| is_output(one.signal));
            Some(match (output, differences.first()) {
                (Some(one), _) => (KillCheck::Output, one.place()),
                (None, Some(one)) => (KillCheck::Probe, one.place()),
                (None, None) => (KillCheck::Memory, "memory".to_owned()),
            })
        }
    }
}
