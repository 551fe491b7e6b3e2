use std::path::{Path, PathBuf};
use std::time::Duration;

use atoms_coverage::corpus::Corpus;
use atoms_coverage::episode::Episode;
use atoms_stimulus::Profile as Stimulus;
use atoms_stimulus::configs::NamedConfig;

use super::file::{Profile, RandomEntry};
use super::timeout;
use crate::checksum::fnv1a;

/// Stimulus of a test.
#[derive(Clone, Debug)]
pub enum Job {
    /// Series of random episodes. With steering, each episode depends on the bins that earlier ones hit.
    Series {
        /// Stimulus of the episodes that are not steered.
        stimulus: Box<Stimulus>,
        seed: u64,
        episodes: u64,
        /// Number of warp requests in each episode.
        requests: u64,
        steer: bool,
    },
    /// Episodes of a corpus, run as stored.
    Episodes(Vec<Episode>),
    Case(PathBuf),
    Kernel {
        /// Path of the listing or PTX file.
        file: PathBuf,
        launch: PathBuf,
    },
}

#[derive(Clone, Debug)]
pub struct Test {
    /// Index in the plan, from 0.
    pub index: u64,
    /// `ENTRY/CONFIG/SERIES` for random tests, `ENTRY/CONFIG/FILE` for cases and kernels, `ENTRY/CONFIG/PART`
    /// for a corpus.
    pub name: String,
    pub entry: String,
    /// Index of the configuration in [`Tests::configs`].
    pub config: usize,
    pub job: Job,
    pub timeout: Duration,
    /// Estimated work in warp requests.
    pub cost: u64,
}

impl Test {
    /// Estimates processor time in seconds. Only the ratios between tests matter.
    pub fn seconds(&self) -> f64 {
        // Fixed cost of each test, plus the time of its requests.
        0.01 + self.cost as f64 / REQUESTS_PER_SECOND as f64
    }
}

/// Warp requests per second of a random test in lockstep with oracle, in the configuration `default`.
pub(super) const REQUESTS_PER_SECOND: u64 = 45_000;

#[derive(Clone, Debug)]
pub struct Tests {
    /// Name of the plan: file name without folder and extension.
    pub plan: String,
    pub profile: String,
    pub seed: u64,
    /// Profile, after the overrides of the command line.
    pub settings: Profile,
    /// True if configurations of the command line replace those of the plan.
    pub other_configs: bool,
    /// Names of the selected entries, in plan order.
    pub entries: Vec<String>,
    /// Configurations in use. Those of `rtl/configs.toml` come first, in file order; named points follow.
    pub configs: Vec<NamedConfig>,
    /// Episodes of all corpus files in the plan's selected entries. Steering does not draw stimulus towards
    /// coverage bins that these episodes hit.
    pub corpus: Corpus,
    /// Input files of the selected entries, whose hashes identify a run.
    pub files: Vec<PathBuf>,
    pub(super) fixed: Vec<Test>,
    pub(super) rounds: Vec<Round>,
    pub(super) count: Option<u64>,
}

/// Random test that runs once in each round, until the budget ends.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) entry: RandomEntry,
    pub(super) stimulus: Stimulus,
    pub(super) config: usize,
    pub(super) nth: u64,
}

impl Tests {
    /// Returns the path of the waiver file of the profile, if it has one. `plan` is the path of the plan
    /// file.
    pub fn waivers(&self, plan: &Path) -> Option<PathBuf> {
        let file = self.settings.waivers.as_ref()?;
        Some(plan.parent().unwrap_or(Path::new("")).join(file))
    }

    /// Number of tests; `None` if only wall time or a cycle budget ends the run.
    pub fn count(&self) -> Option<u64> {
        self.count
    }

    /// Number of tests that always run, before the rounds that fill the budget.
    pub fn fixed_count(&self) -> u64 {
        self.fixed.len() as u64
    }

    pub fn has(&self, index: u64) -> bool {
        self.count.is_none_or(|count| index < count)
    }

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

/// Derives a seed from a plan seed and a name: FNV-1a, then the finalizer of SplitMix64, so that similar
/// names get unrelated seeds.
pub fn derive_seed(seed: u64, name: &str) -> u64 {
    let hash = fnv1a(seed, name);
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}
