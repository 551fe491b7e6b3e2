//! Runs each mutant on each stage.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use atoms_cosim::case::{Case, CaseStimulus};
use atoms_cosim::machine::Failure;
use atoms_cosim::mismatch::ComparedSignal;
use atoms_cosim::parallel::in_parallel;
use atoms_cosim::rtl::BuildStep;
use atoms_cosim::session::{Tally, WATCHDOG_CYCLES};
use atoms_coverage::episode::Episode;
use atoms_model::Config;
use atoms_model::mbarrier::MbarObject;
use atoms_ops::{Op, Size};
use atoms_stimulus::configs;
use atoms_stimulus::request::{AllocationWrite, Lane, WarpRequest};
use atoms_verilated::RtlError;

use crate::build::{Recording, Reply, SchemataBench, SchemataBuildError, SchemataRtl, Switch};
use crate::mutate::{Mutant, MutateError, Planted, Stage};

/// Under the oracle, a run is stuck after this many times the cycles of the unmutated run. The oracle does
/// not check timing, so a mutant may take longer.
const TIMES_AS_LONG: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KillCheck {
    /// An output port differs from that of the model.
    Output,
    /// Only a field of the probe differs, no output port.
    Probe,
    /// Memory differs at the end of the run.
    Memory,
    /// An assertion of the RTL fails.
    Assertion,
    /// The oracle reports a violation.
    Oracle,
    /// The run does not end, or the RTL does not come out of reset.
    Stuck,
    /// Verilator's lint reports a message for the mutated text.
    Lint,
    /// The mutant does not compile.
    Build,
}

/// First run or check that killed a mutant.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Kill {
    /// Index of the stage, from 0. None if no stage killed the mutant, but lint, a failed build or reset, or
    /// the oracle in the extra run with a wait of `LONG_WAIT` cycles.
    pub stage: Option<usize>,
    /// Index of the run in its stage, from 0.
    pub episode: usize,
    pub check: KillCheck,
    /// First signal that differs, or the message of the RTL, the oracle, the lint or the build.
    pub by: String,
    /// Warp requests accepted until the kill.
    pub requests: usize,
    /// Cycles until the kill.
    pub cycle: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Fate {
    /// First kill. None if the mutant survives.
    pub kill: Option<Kill>,
    pub kills: usize,
}

#[derive(Clone, Debug, Default, serde::Serialize, schemars::JsonSchema)]
pub struct StageTally {
    pub name: String,
    /// Warp requests, summed over the runs of the stage.
    pub requests: u64,
    /// Cycles of the unmutated runs, summed.
    pub cycles: u64,
    /// Mutants alive before the stage.
    pub before: usize,
    pub killed: usize,
    /// Wall time without builds and recording, in seconds. Not serialized, so that equal evaluations give
    /// equal reports.
    #[serde(skip)]
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgedBy {
    /// The model: every cycle must be equal.
    Model,
    /// The oracle alone. This shows if the oracle notices a defect that the model has too.
    Oracle,
}

#[derive(Clone, Copy, Debug)]
pub struct EvaluationSettings<'a> {
    pub rtl_dir: &'a Path,
    pub judge: JudgedBy,
    pub stages: &'a [Stage],
    pub threads: usize,
    /// True to run the survivors of the first stage on every run of all stages, even after a kill. This finds
    /// mutants that only one run kills.
    pub every_stage: bool,
}

/// Runs `mutants` on the stages. Every mutant must have a switch. Calls `built` for each build and `done`
/// after each stage.
///
/// # Errors
/// [`MutateError`].
pub fn evaluate(
    settings: EvaluationSettings<'_>,
    mutants: &[Mutant],
    built: &mut dyn FnMut(&BuildStep),
    done: &mut dyn FnMut(&StageTally),
) -> Result<(Vec<Fate>, Vec<StageTally>), MutateError> {
    let switches: Vec<_> = mutants.iter().map(|mutant| mutant.switch).collect();
    evaluate_switches(settings, &switches, &mut |name| schemata(settings.rtl_dir, name, built), done)
}

/// Runs the planted defects on the stages, as [`evaluate`] does.
///
/// # Errors
/// [`MutateError`].
pub fn evaluate_planted(
    settings: EvaluationSettings<'_>,
    defects: &[Planted],
    built: &mut dyn FnMut(&BuildStep),
    done: &mut dyn FnMut(&StageTally),
) -> Result<(Vec<Fate>, Vec<StageTally>), MutateError> {
    let place = |one: &Planted| {
        let source = fs_err::read_to_string(settings.rtl_dir.join(&one.file))?;
        Ok((one.file.clone(), one.place(&source)?, one.with.clone()))
    };
    let replacements = defects.iter().map(place).collect::<Result<Vec<_>, MutateError>>()?;
    let switches: Vec<_> = (0..defects.len()).map(|number| Some(Switch::always(number, 1))).collect();
    let mut build = |name: &str| {
        let config = configs::named(settings.rtl_dir, name)?;
        SchemataRtl::replaced(settings.rtl_dir, &config, &replacements, built)
            .map_err(|error| MutateError::Schemata(name.to_owned(), error))
    };
    evaluate_switches(settings, &switches, &mut build, done)
}

fn evaluate_switches(
    settings: EvaluationSettings<'_>,
    mutants: &[Option<Switch>],
    build: &mut dyn FnMut(&str) -> Result<SchemataRtl, MutateError>,
    done: &mut dyn FnMut(&StageTally),
) -> Result<(Vec<Fate>, Vec<StageTally>), MutateError> {
    let mut fates = vec![Fate::default(); mutants.len()];
    let mut tallies = Vec::new();
    let mut libraries: BTreeMap<String, SchemataRtl> = BTreeMap::new();
    for (number, stage) in settings.stages.iter().enumerate() {
        let mut tally = StageTally { name: stage.name.clone(), ..StageTally::default() };
        tally.before = fates.iter().filter(|fate| fate.kill.is_none()).count();
        let put = |fate: &Fate| fate.kill.is_none() || settings.every_stage && is_hard(fate);
        if !fates.iter().any(put) {
            continue;
        }
        // Group the episodes by configuration, so that each thread builds its bench once for all of them.
        let named: BTreeSet<&str> = stage.episodes.iter().map(|episode| episode.config.as_str()).collect();
        for name in named {
            if !libraries.contains_key(name) {
                let schemata = build(name)?;
                if let Some((other, first)) = libraries.first_key_value()
                    && first.sites != schemata.sites
                {
                    return Err(MutateError::Sites(name.to_owned(), other.clone()));
                }
                libraries.insert(name.to_owned(), schemata);
            }
            let schemata = &libraries[name];
            let episodes = stage.episodes.iter().enumerate().filter(|(_, episode)| episode.config == name);
            let mut benches = (0..settings.threads.max(1))
                .map(|_| schemata.bench())
                .collect::<Result<Vec<SchemataBench>, _>>()?;
            for (episode_number, episode) in episodes {
                let run =
                    Run { recording: record(schemata, episode)?, episode, config: &schemata.config.config };
                tally.requests += episode.requests;
                tally.cycles += run.recording.cycles();
                let todo: Vec<usize> = (0..mutants.len()).filter(|at| put(&fates[*at])).collect();
                let notice = |bench: &mut SchemataBench, switches: &[Switch]| {
                    run.notice(bench, switches, settings.judge)
                };
                if let Some(notice) = notice(&mut benches[0], &[])? {
                    return Err(MutateError::Unsound(name.to_owned(), episode.seed, notice.by));
                }
                let began = Instant::now();
                let noticed = in_parallel(&mut benches, todo.len(), |bench, number| {
                    notice(bench, mutants[todo[number]].as_slice())
                })?;
                tally.seconds += began.elapsed().as_secs_f64();
                for (at, notice) in todo.into_iter().zip(noticed) {
                    let Some(Notice { check, by, requests, cycle }) = notice else { continue };
                    let fate = &mut fates[at];
                    fate.kills += 1;
                    fate.kill.get_or_insert_with(|| {
                        tally.killed += 1;
                        Kill { stage: Some(number), episode: episode_number, check, by, requests, cycle }
                    });
                }
            }
        }
        done(&tally);
        tallies.push(tally);
    }
    if let Some(schemata) = libraries.values().next().filter(|_| settings.judge == JudgedBy::Oracle) {
        let (mut bench, case) = (schemata.bench()?, long_wait(&schemata.config.config));
        let limit = TIMES_AS_LONG * u64::from(LONG_WAIT);
        for (fate, switch) in fates.iter_mut().zip(mutants).filter(|(fate, _)| fate.kill.is_none()) {
            let (tally, failure) = bench.judged(switch.as_slice(), &mut CaseStimulus::new(&case), limit)?;
            if let Some(Notice { check, by, requests, cycle }) = Notice::of(&tally, failure) {
                *fate = Fate {
                    kill: Some(Kill { stage: None, episode: 0, check, by, requests, cycle }),
                    kills: 1,
                };
            }
        }
    }
    Ok((fates, tallies))
}

/// Cycles of a wait that overflows a 16-bit counter. Random runs are too short for such a wait.
const LONG_WAIT: u32 = 70_000;

/// Builds a case with a single request that waits for [`LONG_WAIT`] cycles.
fn long_wait(config: &Config) -> Case {
    let request = |op: Op, lane| WarpRequest {
        op: op as u8,
        size: Size::U64 as u8,
        mask: 1,
        lanes: vec![lane],
        ..WarpRequest::default()
    };
    let object = Lane { b: MbarObject::init(1).encode().into(), ..Lane::default() };
    let limit = Lane { c: LONG_WAIT.into(), ..Lane::default() };
    Case {
        allocations: vec![AllocationWrite {
            enable: true,
            size: config.row_bytes(),
            ..AllocationWrite::default()
        }],
        warps: vec![request(Op::MbarInit, object), request(Op::MbarTryWait, limit)],
        ..Case::default()
    }
}

/// Configurations for mutants without a switch, fastest first. There are few, because each mutant needs a
/// build in each.
const BUILT_CONFIGS: [&str; 4] = ["tiny", "small", "all_options", "default"];

/// Runs mutants that have no switch. Each needs its own build in `tiny`, `small`, `all_options` and
/// `default`, in this order, until a run of the stages kills it. Ignores `judge` and `every_stage`. A mutant
/// that does not build is killed by [`KillCheck::Build`]; the caller must leave it out of the score.
///
/// # Errors
/// [`MutateError`].
pub fn evaluate_built(
    settings: EvaluationSettings<'_>,
    mutants: &[Mutant],
    built: &mut dyn FnMut(&BuildStep),
    done: &mut dyn FnMut(&StageTally),
) -> Result<(Vec<Fate>, Vec<StageTally>), MutateError> {
    let mut fates = vec![Fate::default(); mutants.len()];
    let mut tallies = Vec::new();
    for name in BUILT_CONFIGS {
        let todo: Vec<usize> = (0..mutants.len()).filter(|at| fates[*at].kill.is_none()).collect();
        let mut episodes = settings.stages.iter().flat_map(|stage| &stage.episodes);
        if todo.is_empty() || !episodes.any(|episode| episode.config == name) {
            continue;
        }
        let schemata = schemata(settings.rtl_dir, name, built)?;
        let mut runs = Vec::new();
        for (number, stage) in settings.stages.iter().enumerate() {
            for (place, episode) in stage.episodes.iter().enumerate().filter(|(_, one)| one.config == name) {
                let run =
                    Run { recording: record(&schemata, episode)?, episode, config: &schemata.config.config };
                runs.push((number, place, run));
            }
        }
        let mut unaltered = schemata
            .bench_with(settings.rtl_dir, "", "")
            .map_err(|error| MutateError::Schemata(name.to_owned(), error))?;
        for (_, _, run) in &runs {
            if let Some(notice) = run.noticed_by_model(&mut unaltered, &[])? {
                return Err(MutateError::Unsound(name.to_owned(), run.episode.seed, notice.by));
            }
        }
        let mut tally =
            StageTally { name: format!("{name}, built"), before: todo.len(), ..StageTally::default() };
        tally.requests = runs.iter().map(|(_, _, run)| run.episode.requests).sum();
        tally.cycles = runs.iter().map(|(_, _, run)| run.recording.cycles()).sum();
        let began = Instant::now();
        let workers = vec![(); settings.threads.max(1)];
        let noticed = in_parallel(workers, todo.len(), |(), number| -> Result<_, RtlError> {
            let mutant = &mutants[todo[number]];
            let altered = mutant.altered_source(schemata.source(&mutant.site.file).unwrap_or_default());
            let kill = |stage, episode, Notice { check, by, requests, cycle }| {
                Some(Kill { stage, episode, check, by, requests, cycle })
            };
            let at_once = |check, by: String| kill(None, 0, Notice { check, by, requests: 0, cycle: 0 });
            let mut bench = match schemata.bench_with(settings.rtl_dir, &mutant.site.file, &altered) {
                Ok(bench) => bench,
                Err(SchemataBuildError::Rtl(error)) => {
                    return Ok(at_once(KillCheck::Stuck, error.to_string()));
                }
                Err(error) => return Ok(at_once(KillCheck::Build, error.to_string())),
            };
            for (stage, episode, run) in &runs {
                if let Some(notice) = run.noticed_by_model(&mut bench, &[])? {
                    return Ok(kill(Some(*stage), *episode, notice));
                }
            }
            Ok(None)
        })?;
        tally.seconds = began.elapsed().as_secs_f64();
        for (at, kill) in todo.into_iter().zip(noticed) {
            tally.killed += usize::from(kill.is_some());
            fates[at] = Fate { kills: usize::from(kill.is_some()), kill };
        }
        done(&tally);
        tallies.push(tally);
    }
    Ok((fates, tallies))
}

/// Builds the RTL of a configuration with all mutants.
///
/// # Errors
/// [`MutateError`].
pub fn schemata(
    rtl_dir: &Path,
    name: &str,
    built: &mut dyn FnMut(&BuildStep),
) -> Result<SchemataRtl, MutateError> {
    let config = configs::named(rtl_dir, name)?;
    SchemataRtl::build(rtl_dir, &config, built).map_err(|error| MutateError::Schemata(name.to_owned(), error))
}

/// True if the mutant survived the first stage.
fn is_hard(fate: &Fate) -> bool {
    fate.kill.as_ref().is_some_and(|kill| kill.stage != Some(0))
}

fn record(schemata: &SchemataRtl, episode: &Episode) -> Result<Recording, MutateError> {
    let config = &schemata.config.config;
    Recording::of_stimulus(config, &mut episode.stimulus(config))
        .map_err(|failure| MutateError::Model(schemata.config.name.clone(), failure))
}

struct Notice {
    check: KillCheck,
    by: String,
    requests: usize,
    cycle: u64,
}

impl Notice {
    fn of(tally: &Tally, failure: Option<Failure>) -> Option<Notice> {
        let failure = failure?;
        let check = match &failure {
            Failure::Oracle(_) => KillCheck::Oracle,
            Failure::Rtl(_) => KillCheck::Assertion,
            _ => KillCheck::Stuck,
        };
        let (requests, cycle) = (tally.requests as usize, tally.cycles);
        Some(Notice { check, by: failure.to_string(), requests, cycle })
    }
}

struct Run<'a> {
    recording: Recording,
    episode: &'a Episode,
    config: &'a Config,
}

impl Run<'_> {
    fn notice(
        &self,
        bench: &mut SchemataBench,
        switches: &[Switch],
        judge: JudgedBy,
    ) -> Result<Option<Notice>, RtlError> {
        match judge {
            JudgedBy::Model => self.noticed_by_model(bench, switches),
            JudgedBy::Oracle => self.noticed_by_oracle(bench, switches),
        }
    }

    fn noticed_by_model(
        &self,
        bench: &mut SchemataBench,
        switches: &[Switch],
    ) -> Result<Option<Notice>, RtlError> {
        let reply = bench.reply(switches, &self.recording)?;
        let cycle = reply.cycle().unwrap_or(0);
        let (check, by) = match reply {
            Reply::Agrees => return Ok(None),
            Reply::Stops(_, said) => (KillCheck::Assertion, said),
            Reply::Differs(_, differences) => {
                let is_output = |signal: ComparedSignal| matches!(signal, ComparedSignal::Output(_));
                let output = differences.iter().find(|one| is_output(one.signal));
                match (output, differences.first()) {
                    (Some(one), _) => (KillCheck::Output, one.place()),
                    (None, Some(one)) => (KillCheck::Probe, one.place()),
                    (None, None) => (KillCheck::Memory, "memory".to_owned()),
                }
            }
        };
        Ok(Some(Notice { check, by, requests: self.recording.requests_until(cycle), cycle }))
    }

    fn noticed_by_oracle(
        &self,
        bench: &mut SchemataBench,
        switches: &[Switch],
    ) -> Result<Option<Notice>, RtlError> {
        let limit = TIMES_AS_LONG * self.recording.cycles() + WATCHDOG_CYCLES;
        let (tally, failure) = bench.judged(switches, &mut self.episode.stimulus(self.config), limit)?;
        Ok(Notice::of(&tally, failure))
    }
}
