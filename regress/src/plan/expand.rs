//! Expands a profile of a plan into numbered tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use atoms_cosim::case::Case;
use atoms_coverage::Model;
use atoms_coverage::corpus::Corpus;
use atoms_coverage::episode::Episode;
use atoms_stimulus::Profile as Stimulus;
use atoms_stimulus::configs::{self};

use super::file::{
    CorpusEntry, DirectedEntry, KernelEntry, Plan, PlanEntry, Profile, RandomEntry, StimulusSource,
};
use super::numbered::{Job, Round, Test, Tests};
use super::{PlanError, timeout};

/// Maximum number of tests that entries may list, and of series in a round. All of them are held in memory;
/// larger runs use a budget instead.
const MOST: u64 = 100_000;

/// Estimated average cost of a stored case or kernel, in warp requests.
const FILE_COST: u64 = 1_000;

/// Selections and overrides from the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanChoice {
    /// Name of the profile; optional if the plan has at most one.
    pub profile: Option<String>,
    /// Seed that overrides that of the plan.
    pub seed: Option<u64>,
    /// Tags that override those of the profile.
    pub tags: Vec<String>,
    /// Configurations that override those of entries. Stored cases and episodes for other configurations are
    /// skipped.
    pub configs: Vec<String>,
}

impl Tests {
    /// # Errors
    /// [`PlanError`].
    pub fn of(
        path: &Path,
        plan: &Plan,
        choice: &PlanChoice,
        rtl_dir: &Path,
        model: &Model,
    ) -> Result<Tests, PlanError> {
        let (profile, mut settings) = picked(path, plan, choice.profile.as_deref())?;
        if !choice.tags.is_empty() {
            settings.tags.clone_from(&choice.tags);
        }
        let other_configs = !choice.configs.is_empty();
        // No gate: the plan is meant to hit all bins only in its own configurations.
        settings.gate &= !other_configs;
        let seed = choice.seed.unwrap_or(plan.seed);
        let stem = path.file_stem().map_or("plan".into(), |stem| stem.to_string_lossy());
        let configs = configs::usable(rtl_dir)?;
        if configs.iter().any(|config| config.unit.is_some()) {
            // Waivers name lines of this project's RTL.
            settings.waivers = None;
        }
        let mut expansion = Expansion {
            path,
            folder: path.parent().unwrap_or(Path::new("")),
            plan,
            listed: configs.len(),
            chosen: Vec::new(),
            rtl_dir,
            model,
            tests: Tests {
                plan: stem.into_owned(),
                profile,
                seed,
                entries: Vec::new(),
                configs,
                corpus: Corpus::new(model.bins()),
                files: Vec::new(),
                fixed: Vec::new(),
                rounds: Vec::new(),
                count: None,
                settings,
                other_configs,
            },
        };
        for name in &choice.configs {
            let config = expansion.config("--config", name)?;
            if expansion.chosen.contains(&config) {
                return Err(expansion.wrong("--config", format!("`{name}` is named twice")));
            }
            expansion.chosen.push(config);
        }
        expansion.entries()?;
        expansion.budget()?;
        let mut tests = expansion.tests;
        tests.drop_unused_configs();
        Ok(tests)
    }
}

fn picked(path: &Path, plan: &Plan, name: Option<&str>) -> Result<(String, Profile), PlanError> {
    let known = || plan.profiles.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let wrong = |reason: String| PlanError::Malformed(path.to_path_buf(), reason);
    // The profile name is also part of the default output folder.
    if let Some(name) = plan.profiles.keys().find(|name| !is_plain(name)) {
        let name = name.escape_debug();
        return Err(wrong(format!("profile `{name}`: a name is letters, digits, `_`, `-` and `.`")));
    }
    match name {
        Some(name) => match plan.profiles.get(name) {
            Some(profile) => Ok((name.to_string(), profile.clone())),
            None if plan.profiles.is_empty() => {
                Err(wrong(format!("profile `{name}`: the plan has no profiles: remove the option")))
            }
            None => Err(wrong(format!("profile `{name}` does not exist; the plan has {}", known()))),
        },
        None if plan.profiles.len() > 1 => {
            Err(wrong(format!("the plan has several profiles: choose one with --profile: {}", known())))
        }
        None => Ok(match plan.profiles.iter().next() {
            Some((name, profile)) => (name.clone(), profile.clone()),
            None => ("all".to_string(), Profile::default()),
        }),
    }
}

/// Returns true if a name is safe in test names, folder names and command lines.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    !name.starts_with(['.', '-']) && !name.is_empty() && name.chars().all(plain)
}

struct Expansion<'a> {
    path: &'a Path,
    folder: &'a Path,
    plan: &'a Plan,
    /// Number of usable configurations in `rtl/configs.toml`, which come first in [`Tests::configs`].
    listed: usize,
    /// Configurations that override those of entries; empty means no override.
    chosen: Vec<usize>,
    rtl_dir: &'a Path,
    model: &'a Model,
    tests: Tests,
}

impl Expansion<'_> {
    fn wrong(&self, place: &str, reason: impl std::fmt::Display) -> PlanError {
        PlanError::Malformed(self.path.to_path_buf(), format!("{place}: {reason}"))
    }

    fn entries(&mut self) -> Result<(), PlanError> {
        let plan = self.plan;
        let mut names = std::collections::BTreeSet::new();
        for entry in plan.entries() {
            let name = entry.name();
            if !is_plain(name) {
                let place = format!("entry `{}`", name.escape_debug());
                return Err(self.wrong(&place, "a name is letters, digits, `_`, `-` and `.`"));
            }
            if !names.insert(name) {
                return Err(self.wrong(
                    &format!("entry `{name}`"),
                    "there is another entry of this name; names must be unique",
                ));
            }
        }
        let known: std::collections::BTreeSet<_> = plan.entries().flat_map(PlanEntry::tags).collect();
        for tag in &self.tests.settings.tags {
            if !known.contains(tag) {
                let known = known.into_iter().map(|tag| format!("`{tag}`")).collect::<Vec<_>>().join(", ");
                let reason = match known.as_str() {
                    "" => "no entry of the plan has this tag, nor any other tag".to_string(),
                    known => format!("no entry of the plan has this tag; there are {known}"),
                };
                return Err(self.wrong(&format!("tag `{tag}`"), reason));
            }
        }
        for entry in plan.entries() {
            let tags = &self.tests.settings.tags;
            if !tags.is_empty() && !entry.tags().iter().any(|tag| tags.contains(tag)) {
                continue;
            }
            // Cases, kernels and the corpus need configurations or operations that another unit may not have.
            if self.is_foreign() && !matches!(entry, PlanEntry::Random(_)) {
                continue;
            }
            self.tests.entries.push(entry.name().to_string());
            match entry {
                PlanEntry::Random(entry) => self.random(entry)?,
                PlanEntry::Directed(entry) => self.directed(entry)?,
                PlanEntry::Kernels(entry) => self.kernels(entry)?,
                PlanEntry::Corpus(entry) => self.corpus(entry)?,
            }
        }
        if self.tests.fixed.is_empty() && self.tests.rounds.is_empty() {
            let reason = "it picks no tests: no entry matches its tags and the chosen configurations";
            return Err(self.wrong(&format!("profile `{}`", self.tests.profile), reason));
        }
        Ok(())
    }

    fn configs(&mut self, place: &str, names: &[String]) -> Result<Vec<usize>, PlanError> {
        if !self.chosen.is_empty() {
            return Ok(self.chosen.clone());
        }
        match names {
            [] => Err(self.wrong(
                place,
                "`configs` names none: remove the key, or name configurations, or \"*\" for all",
            )),
            [all] if all == "*" => {
                configs::all(self.rtl_dir).map_err(|error| self.wrong(place, error))?;
                Ok((0..self.listed).collect())
            }
            names if names.iter().any(|name| name == "*") => {
                Err(self.wrong(place, "`configs` has `*`, which selects all: remove the others"))
            }
            names => {
                let mut found = Vec::new();
                for name in names {
                    let config = self.config(place, name)?;
                    if found.contains(&config) {
                        return Err(self.wrong(place, format!("`configs` names `{name}` twice")));
                    }
                    found.push(config);
                }
                Ok(found)
            }
        }
    }

    /// Returns the index of the configuration or point `name`, adding a point if needed.
    fn config(&mut self, place: &str, name: &str) -> Result<usize, PlanError> {
        // The error gives the reason if the configuration exists but cannot be used.
        let named = configs::named(self.rtl_dir, name).map_err(|error| self.wrong(place, error))?;
        let configs = &mut self.tests.configs;
        Ok(configs.iter().position(|config| config.name == named.name).unwrap_or_else(|| {
            configs.push(named);
            configs.len() - 1
        }))
    }

    /// Returns true if the RTL is not this project's.
    fn is_foreign(&self) -> bool {
        self.tests.configs.iter().any(|config| config.unit.is_some())
    }

    /// Returns true if tests for `config` are part of the run.
    fn runs(&self, config: usize) -> bool {
        self.chosen.is_empty() || self.chosen.contains(&config)
    }

    fn random(&mut self, entry: &RandomEntry) -> Result<(), PlanError> {
        let place = format!("random `{}`", entry.name);
        let stimulus = match &entry.stimulus {
            StimulusSource::Stated(stimulus) => (**stimulus).clone(),
            StimulusSource::Named(name) => {
                let own = self.plan.stimulus.get(name).cloned();
                own.or_else(|| Stimulus::named(name).ok()).ok_or_else(|| {
                    let own = self.plan.stimulus.keys().map(String::as_str);
                    let known: Vec<_> = own.chain(Stimulus::NAMES).map(|name| format!("`{name}`")).collect();
                    let known = known.join(", ");
                    self.wrong(&place, format!("no [stimulus.{name}] in the plan; there are {known}"))
                })?
            }
        };
        if entry.requests == 0 || entry.episodes == 0 {
            return Err(self.wrong(&place, "requests and episodes must be at least 1"));
        }
        if entry.episodes.checked_mul(entry.requests).is_none() {
            return Err(self.wrong(&place, "episodes times requests exceeds 64 bits"));
        }
        if entry.series == 0 && entry.weight == 0 {
            return Err(self.wrong(&place, "without `series` and `weight` the entry never runs"));
        }
        let configs = self.configs(&place, &entry.configs)?;
        for (what, each, there) in [
            ("series", entry.series, self.tests.fixed.len()),
            ("a weight", entry.weight, self.tests.rounds.len()),
        ] {
            let all = each.checked_mul(configs.len() as u64).and_then(|more| more.checked_add(there as u64));
            if all.is_none_or(|all| all > MOST) {
                let reason = format!(
                    "{what} of {each} in {} configurations, and the entries before it, make more than {MOST} tests; for \
                     more, give a profile a budget and this entry a small weight",
                    configs.len()
                );
                return Err(self.wrong(&place, reason));
            }
        }
        for config in configs {
            for series in 0..entry.series {
                let index = self.tests.fixed.len() as u64;
                let test = self.tests.series(entry, &stimulus, config, series, index);
                self.tests.fixed.push(test);
            }
            let round = |nth| Round { entry: entry.clone(), stimulus: stimulus.clone(), config, nth };
            self.tests.rounds.extend((0..entry.weight).map(round));
        }
        Ok(())
    }

    fn push(
        &mut self,
        entry: &str,
        config: usize,
        which: &str,
        job: Job,
        limit: Option<Duration>,
        cost: u64,
    ) {
        self.tests.fixed.push(Test {
            index: self.tests.fixed.len() as u64,
            name: format!("{entry}/{}/{which}", self.tests.configs[config].name),
            entry: entry.to_string(),
            config,
            job,
            timeout: limit.unwrap_or_else(|| timeout(cost)),
            cost,
        });
    }

    fn directed(&mut self, entry: &DirectedEntry) -> Result<(), PlanError> {
        let place = format!("directed `{}`", entry.name);
        let files = self.files(&place, "cases", &entry.cases)?;
        for (file, which) in files.iter().zip(self.names(&files)) {
            let configs = if entry.configs.is_empty() {
                let case: Case = serde_json::from_str(&fs_err::read_to_string(file)?)
                    .map_err(|error| self.wrong(&place, format!("`{}`: {error}", file.display())))?;
                let place = format!("{place}: `{}`", file.display());
                let own = self.config(&place, &case.config)?;
                if self.runs(own) { vec![own] } else { Vec::new() }
            } else {
                self.configs(&place, &entry.configs)?
            };
            for config in configs {
                let job = Job::Case(file.clone());
                self.push(&entry.name, config, &which, job, entry.timeout, FILE_COST);
            }
        }
        Ok(())
    }

    fn kernels(&mut self, entry: &KernelEntry) -> Result<(), PlanError> {
        let place = format!("kernels `{}`", entry.name);
        let configs = self.configs(&place, &entry.configs)?;
        let mut kinds = Vec::new();
        for kind in &entry.texts {
            let pattern = glob::Pattern::new(kind);
            kinds.push(pattern.map_err(|error| self.wrong(&place, format!("`{kind}`: {error}")))?);
        }
        let mut found = Vec::new();
        for launch in self.files(&place, "launches", &entry.launches)? {
            let name = file_name(&launch);
            let Some(kernel) = name.strip_suffix(".launch.toml") else {
                let reason = format!("`{name}`: expected a launch file named KERNEL.launch.toml");
                return Err(self.wrong(&place, reason));
            };
            let mut texts = Vec::new();
            for extension in ["sass", "ptx"] {
                let beside = launch.with_file_name(format!("{kernel}.*.{extension}"));
                texts.extend(self.matching(&place, &beside)?);
            }
            // Match the part after `KERNEL.`, such as `sm_90a.sass`.
            texts.retain(|text| {
                let name = file_name(text);
                let kind = name.get(kernel.len() + 1..).unwrap_or_default();
                kinds.iter().any(|pattern| pattern.matches(kind))
            });
            if texts.is_empty() {
                let kinds = entry.texts.join("`, `");
                let reason = format!("`{name}` has no listing or PTX file next to it that matches `{kinds}`");
                return Err(self.wrong(&place, reason));
            }
            found.extend(texts.into_iter().map(|file| (file, launch.clone())));
        }
        let files: Vec<_> = found.iter().map(|(file, _)| file.clone()).collect();
        for ((file, launch), which) in found.into_iter().zip(self.names(&files)) {
            for config in &configs {
                let job = Job::Kernel { file: file.clone(), launch: launch.clone() };
                self.push(&entry.name, *config, &which, job, entry.timeout, FILE_COST);
            }
            self.tests.files.push(file);
        }
        Ok(())
    }

    fn corpus(&mut self, entry: &CorpusEntry) -> Result<(), PlanError> {
        let place = format!("corpus `{}`", entry.name);
        let path = self.folder.join(&entry.file);
        let text = fs_err::read_to_string(&path).map_err(|error| self.wrong(&place, error))?;
        let read = Corpus::read(&text, self.model);
        let corpus =
            read.map_err(|error| self.wrong(&place, format!("`{}`: {error}", path.display())))?.corpus;
        if entry.episodes == 0 {
            return Err(self.wrong(&place, "episodes must be at least 1"));
        }
        let place = format!("{place}: `{}`", path.display());
        let mut of_config: BTreeMap<usize, Vec<Episode>> = BTreeMap::new();
        for kept in corpus.entries() {
            let config = self.config(&place, &kept.episode.config)?;
            if self.runs(config) {
                self.tests.corpus.add(&kept.episode, &kept.hit, &kept.found_by);
                of_config.entry(config).or_default().push(kept.episode.clone());
            }
        }
        for (config, episodes) in of_config {
            for (nth, some) in episodes.chunks(entry.episodes).enumerate() {
                let cost = some.iter().map(|episode| episode.requests).sum();
                let job = Job::Episodes(some.to_vec());
                self.push(&entry.name, config, &nth.to_string(), job, entry.timeout, cost);
            }
        }
        self.tests.files.push(path);
        Ok(())
    }

    /// Finds the files that match the patterns, sorted and without duplicates.
    fn files(&mut self, place: &str, key: &str, patterns: &[String]) -> Result<Vec<PathBuf>, PlanError> {
        if patterns.is_empty() {
            return Err(self.wrong(place, format!("`{key}` names no files")));
        }
        let mut files = Vec::new();
        for pattern in patterns {
            let found = self.matching(place, &self.folder.join(pattern))?;
            if found.is_empty() {
                return Err(self.wrong(place, format!("no file matches `{pattern}`")));
            }
            files.extend(found);
        }
        files.sort();
        files.dedup();
        self.tests.files.extend(files.iter().cloned());
        Ok(files)
    }

    /// Returns a test name for each file: the file name, or the path relative to the plan if file names are
    /// not unique.
    fn names(&self, files: &[PathBuf]) -> Vec<String> {
        let names: std::collections::BTreeSet<_> = files.iter().map(|file| file_name(file)).collect();
        let seen = |file: &PathBuf| file.strip_prefix(self.folder).unwrap_or(file).display().to_string();
        let name = |file: &PathBuf| if names.len() < files.len() { seen(file) } else { file_name(file) };
        files.iter().map(name).collect()
    }

    fn matching(&self, place: &str, pattern: &Path) -> Result<Vec<PathBuf>, PlanError> {
        let text = pattern.to_str().ok_or_else(|| self.wrong(place, "the file name is not UTF-8"))?;
        let paths = glob::glob(text).map_err(|error| self.wrong(place, format!("`{text}`: {error}")))?;
        let mut found = Vec::new();
        for path in paths {
            let path = path.map_err(std::io::Error::from)?;
            if path.is_file() {
                found.push(path);
            }
        }
        Ok(found)
    }

    fn budget(&mut self) -> Result<(), PlanError> {
        let Profile { tests, requests, cycles, wall, .. } = self.tests.settings;
        let fixed = self.tests.fixed.len() as u64;
        let place = format!("profile `{}`", self.tests.profile);
        let limits = [tests, requests, cycles];
        if limits.iter().flatten().count() > 1 {
            let reason = "give only one of tests, requests and cycles; `wall` may limit the time in addition";
            return Err(self.wrong(&place, reason));
        }
        if limits.contains(&Some(0)) {
            return Err(self.wrong(&place, "a budget of 0 runs nothing; remove the key for no budget"));
        }
        self.tests.count = if let Some(tests) = tests {
            if tests < fixed {
                let reason = format!("a budget of {tests} tests, but the tests that always run are {fixed}");
                return Err(self.wrong(&place, reason));
            }
            self.must_go_on(&place, tests > fixed)?;
            Some(tests)
        } else if let Some(requests) = requests {
            Some(self.tests_of_requests(&place, requests)?)
        } else if (cycles.is_some() || wall.is_some()) && !self.tests.rounds.is_empty() {
            None
        } else {
            // Without a budget, weighted entries run only their listed series.
            self.tests.rounds.clear();
            if fixed == 0 {
                let reason = "it picks no tests: entries with a weight and no series need a budget (tests, \
                              requests, cycles or wall)";
                return Err(self.wrong(&place, reason));
            }
            Some(fixed)
        };
        Ok(())
    }

    fn must_go_on(&self, place: &str, more: bool) -> Result<(), PlanError> {
        if more && self.tests.rounds.is_empty() {
            let reason =
                "a budget beyond the tests of its entries, but no random entry has a weight to add tests";
            return Err(self.wrong(place, reason));
        }
        Ok(())
    }

    fn tests_of_requests(&self, place: &str, requests: u64) -> Result<u64, PlanError> {
        let random = |test: &&Test| matches!(test.job, Job::Series { .. } | Job::Episodes(_));
        let sum = |costs: &[u64]| {
            let all = costs.iter().try_fold(0_u64, |all, cost| all.checked_add(*cost));
            all.ok_or_else(|| self.wrong(place, "the number of requests of its entries exceeds 64 bits"))
        };
        let fixed: Vec<_> = self.tests.fixed.iter().filter(random).map(|test| test.cost).collect();
        let fixed = sum(&fixed)?;
        if requests < fixed {
            let reason =
                format!("a budget of {requests} requests, but the tests that always run have {fixed}");
            return Err(self.wrong(place, reason));
        }
        self.must_go_on(place, requests > fixed)?;
        let costs: Vec<_> =
            self.tests.rounds.iter().map(|round| round.entry.episodes * round.entry.requests).collect();
        let round = sum(&costs)?;
        let mut count = self.tests.fixed.len() as u64;
        let mut left = requests - fixed;
        if let Some(rounds) = left.checked_div(round) {
            count += rounds * costs.len() as u64;
            left -= rounds * round;
        }
        for cost in costs {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(cost);
            count += 1;
        }
        Ok(count)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
