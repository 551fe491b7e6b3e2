//! Numbered tests of a profile.

use std::path::{Path, PathBuf};
use std::time::Duration;

use atoms_coverage::corpus::Corpus;
use atoms_coverage::episode::Episode;
use atoms_stimulus::Profile as Stimulus;
use atoms_stimulus::configs::NamedConfig;

use super::file::{Profile, RandomEntry};
use super::timeout;
use crate::checksum::fnv1a;

/// What a test runs.
#[derive(Clone, Debug)]
pub enum Job {
    /// Random episodes, each steered by what those before it hit.
    Series {
        /// Stimulus of episodes that are not steered.
        stimulus: Box<Stimulus>,
        /// Seed of the series.
        seed: u64,
        /// Runs from reset.
        episodes: u64,
        /// Warp requests of each.
        requests: u64,
        /// Whether they are steered.
        steer: bool,
    },
    /// Episodes as they are stated.
    Episodes(Vec<Episode>),
    /// A stored case.
    Case(PathBuf),
    /// A compiled kernel.
    Kernel {
        /// Listing or PTX.
        file: PathBuf,
        /// Launch file.
        launch: PathBuf,
    },
}

/// One test: what is given to one worker.
#[derive(Clone, Debug)]
pub struct Test {
    /// Number in the plan, from 0.
    pub index: u64,
    /// `ENTRY/CONFIG/WHICH`.
    pub name: String,
    /// PlanEntry.
    pub entry: String,
    /// Configuration, an index into [`Tests::configs`].
    pub config: usize,
    /// What it runs.
    pub job: Job,
    /// Wall time it may take.
    pub timeout: Duration,
    /// Estimated work, in warp requests.
    pub cost: u64,
}

impl Test {
    /// Estimated processor time in seconds: what counts is that tests are in proportion.
    pub fn seconds(&self) -> f64 {
        // What every test takes, and what its requests do.
        0.01 + self.cost as f64 / REQUESTS_PER_SECOND as f64
    }
}

/// Random requests a second in lockstep with the oracle in `default`.
pub(super) const REQUESTS_PER_SECOND: u64 = 45_000;

/// The tests of one profile of a plan.
#[derive(Clone, Debug)]
pub struct Tests {
    /// Name of the plan: its file without folder and extension.
    pub plan: String,
    /// Name of the profile.
    pub profile: String,
    /// Seed.
    pub seed: u64,
    /// What the profile says.
    pub settings: Profile,
    /// True if configurations were chosen in place of the plan's.
    pub other_configs: bool,
    /// Names of the entries that are run, in order.
    pub entries: Vec<String>,
    /// Configurations that are used: those of `rtl/configs.toml` in its order, then points as they are met.
    pub configs: Vec<NamedConfig>,
    /// Episodes of all corpora that are run: what they hit need not be steered to.
    pub corpus: Corpus,
    /// Input files, for a manifest.
    pub files: Vec<PathBuf>,
    pub(super) fixed: Vec<Test>,
    pub(super) rounds: Vec<Round>,
    pub(super) count: Option<u64>,
}

/// One test of each round that a budget lets random entries go on for.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) entry: RandomEntry,
    pub(super) stimulus: Stimulus,
    pub(super) config: usize,
    pub(super) nth: u64,
}

impl Tests {
    /// File of the profile's waivers, if it has some; `plan` is the plan's own.
    pub fn waivers(&self, plan: &Path) -> Option<PathBuf> {
        let file = self.settings.waivers.as_ref()?;
        Some(plan.parent().unwrap_or(Path::new("")).join(file))
    }

    /// How many there are; `None` if only wall time or cycles end them.
    pub fn count(&self) -> Option<u64> {
        self.count
    }

    /// Tests that are run once, whatever the budget: those before what goes on.
    pub fn fixed_count(&self) -> u64 {
        self.fixed.len() as u64
    }

    /// Whether test `index` exists.
    pub fn has(&self, index: u64) -> bool {
        self.count.is_none_or(|count| index < count)
    }

    /// Test `index`; `None` behind the last.
    pub fn test(&self, index: u64) -> Option<Test> {
        if !self.has(index) {
            return None;
        }
        let fixed = self.fixed.len() as u64;
        if let Some(test) = self.fixed.get(usize::try_from(index).ok()?) {
            return Some(test.clone());
        }
        let beyond = index - fixed;
        let length = self.rounds.len() as u64;
        let round = self.rounds.get(usize::try_from(beyond.checked_rem(length)?).ok()?)?;
        let series = round.entry.series + beyond / length * round.entry.weight + round.nth;
        Some(self.series(&round.entry, &round.stimulus, round.config, series, index))
    }

    pub(super) fn series(
        &self,
        entry: &RandomEntry,
        stimulus: &Stimulus,
        config: usize,
        series: u64,
        index: u64,
    ) -> Test {
        let name = format!("{}/{}/{series}", entry.name, self.configs[config].name);
        let cost = entry.episodes * entry.requests;
        Test {
            index,
            entry: entry.name.clone(),
            config,
            job: Job::Series {
                stimulus: Box::new(stimulus.clone()),
                seed: derive_seed(self.seed, &name),
                episodes: entry.episodes,
                requests: entry.requests,
                steer: entry.steer,
            },
            timeout: entry.timeout.unwrap_or_else(|| timeout(cost)),
            cost,
            name,
        }
    }

    pub(super) fn drop_unused_configs(&mut self) {
        let mut used: Vec<usize> = self.fixed.iter().map(|test| test.config).collect();
        used.extend(self.rounds.iter().map(|round| round.config));
        used.sort_unstable();
        used.dedup();
        let place = |config: usize| used.binary_search(&config).unwrap_or(0);
        self.fixed.iter_mut().for_each(|test| test.config = place(test.config));
        self.rounds.iter_mut().for_each(|round| round.config = place(round.config));
        self.configs = used.iter().filter_map(|config| self.configs.get(*config).cloned()).collect();
    }
}

/// A seed for everything called `name` in a plan with this seed: FNV-1a, then the finalizer of
/// SplitMix64, so that neighbouring names have nothing in common.
pub fn derive_seed(seed: u64, name: &str) -> u64 {
    let hash = fnv1a(seed, name);
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}
