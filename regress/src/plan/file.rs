//! The form of a plan's file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use atoms_stimulus::Profile as Stimulus;
use atoms_verilated::Variant;
use serde::{Deserialize, Deserializer};
use serde_untagged::UntaggedEnumVisitor;

use super::PlanError;

/// A plan as it stands in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Seed of everything random in it.
    #[serde(default = "one")]
    pub seed: u64,
    /// What can be asked for by name: `smoke`, `nightly`.
    #[serde(default, rename = "profile")]
    pub profiles: BTreeMap<String, Profile>,
    /// Kinds of stimulus, by name.
    #[serde(default)]
    pub stimulus: BTreeMap<String, Stimulus>,
    /// Random tests.
    #[serde(default)]
    pub random: Vec<RandomEntry>,
    /// Stored cases.
    #[serde(default)]
    pub directed: Vec<DirectedEntry>,
    /// Compiled kernels.
    #[serde(default)]
    pub kernels: Vec<KernelEntry>,
    /// Episodes that hit bins before.
    #[serde(default)]
    pub corpus: Vec<CorpusEntry>,
}

/// What of a plan is run, and for how long.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// What it is for, in a line.
    pub about: String,
    /// Entries with one of these tags are run; all of them if there is none.
    pub tags: Vec<String>,
    /// Tests after which random entries do not go on.
    pub tests: Option<u64>,
    /// Warp requests of the random tests after which they do not.
    pub requests: Option<u64>,
    /// Clock cycles: the test that goes beyond is the last.
    pub cycles: Option<u64>,
    /// Wall time after which no test is begun. It makes the number of tests, and nothing else, depend
    /// on the machine.
    #[serde(deserialize_with = "duration")]
    pub wall: Option<Duration>,
    /// What runs count of the RTL's source.
    pub rtl_coverage: RtlCoverage,
    /// Whether coverage must suffice for the regression to pass.
    pub gate: bool,
    /// What coverage may lack, with reasons; relative to the plan.
    pub waivers: Option<PathBuf>,
    /// Whether the bundle of a failure names the likeliest causes, which takes a build of the RTL for each
    /// configuration that fails.
    pub causes: bool,
}

impl Default for Profile {
    fn default() -> Self {
        Profile {
            about: String::new(),
            tags: Vec::new(),
            tests: None,
            requests: None,
            cycles: None,
            wall: None,
            rtl_coverage: RtlCoverage::Off,
            gate: false,
            waivers: None,
            causes: true,
        }
    }
}

/// What runs count of the RTL's source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RtlCoverage {
    /// Nothing: the RTL runs at full speed.
    #[default]
    Off,
    /// Lines and cover properties; at 0.6 to 0.75 of the speed of the RTL.
    Lines,
    /// How often each bit changed, too; at 0.1 to 0.16 of the speed of the RTL.
    Toggles,
}

impl RtlCoverage {
    /// The variant of the RTL that counts it.
    pub fn variant(self) -> Variant {
        match self {
            RtlCoverage::Off => Variant::Fast,
            RtlCoverage::Lines => Variant::Cov,
            RtlCoverage::Toggles => Variant::CovToggle,
        }
    }
}

/// Random tests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomEntry {
    /// Name, unique in the plan.
    pub name: String,
    /// What profiles pick it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Configurations, by name; `*` means all.
    #[serde(default = "default_config")]
    pub configs: Vec<String>,
    /// Kind of stimulus, by its name in the plan, or stated here.
    #[serde(default)]
    pub stimulus: StimulusSource,
    /// Series in each configuration.
    #[serde(default = "one")]
    pub series: u64,
    /// Runs from reset in a series.
    #[serde(default = "one")]
    pub episodes: u64,
    /// Warp requests of an episode.
    pub requests: u64,
    /// Whether episodes are steered to bins that the series has not hit.
    #[serde(default)]
    pub steer: bool,
    /// Share of this entry where a budget lets entries go on: series in each round.
    #[serde(default)]
    pub weight: u64,
    /// Wall time that a test may take.
    #[serde(default, deserialize_with = "duration")]
    pub timeout: Option<Duration>,
}

/// A kind of stimulus: named, or stated in place.
#[derive(Clone, Debug)]
pub enum StimulusSource {
    /// By its name in the plan.
    Named(String),
    /// In place.
    Stated(Box<Stimulus>),
}

/// By hand, since an untagged enumeration would not say what is wrong with a stimulus.
impl<'de> Deserialize<'de> for StimulusSource {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        UntaggedEnumVisitor::new()
            .expecting("a name, or a table of what differs from the default stimulus")
            .string(|name| Ok(StimulusSource::Named(name.to_string())))
            .map(|map| map.deserialize().map(StimulusSource::Stated))
            .deserialize(from)
    }
}

impl Default for StimulusSource {
    fn default() -> Self {
        StimulusSource::Stated(Box::default())
    }
}

/// Stored cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectedEntry {
    /// Name, unique in the plan.
    pub name: String,
    /// What profiles pick it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Case files, relative to the plan; `*` stands for any part of a file name.
    pub cases: Vec<String>,
    /// Configurations; without them each case runs in its own.
    #[serde(default)]
    pub configs: Vec<String>,
    /// Wall time that a test may take.
    #[serde(default, deserialize_with = "duration")]
    pub timeout: Option<Duration>,
}

/// Compiled kernels with launch files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelEntry {
    /// Name, unique in the plan.
    pub name: String,
    /// What profiles pick it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Launch files, relative to the plan; `*` stands for any part of a file name. Listings and PTX of
    /// `hist_u32.launch.toml` are `hist_u32.ARCH.sass` and `hist_u32.ARCH.ptx` beside it.
    pub launches: Vec<String>,
    /// Which of them, by what stands behind the kernel's name: `sm_90a.*`, `*.ptx`.
    #[serde(default = "any")]
    pub texts: Vec<String>,
    /// Configurations, by name; `*` means all.
    #[serde(default = "default_config")]
    pub configs: Vec<String>,
    /// Wall time that a test may take.
    #[serde(default, deserialize_with = "duration")]
    pub timeout: Option<Duration>,
}

/// Episodes kept from earlier regressions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusEntry {
    /// Name, unique in the plan.
    pub name: String,
    /// What profiles pick it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The corpus, relative to the plan.
    pub file: PathBuf,
    /// Episodes of one configuration that make a test.
    #[serde(default = "sixteen")]
    pub episodes: usize,
    /// Wall time that a test may take.
    #[serde(default, deserialize_with = "duration")]
    pub timeout: Option<Duration>,
}

/// Any entry of a plan.
#[derive(Clone, Copy, Debug)]
pub enum PlanEntry<'a> {
    /// Random tests.
    Random(&'a RandomEntry),
    /// Stored cases.
    Directed(&'a DirectedEntry),
    /// Compiled kernels.
    Kernels(&'a KernelEntry),
    /// Episodes kept.
    Corpus(&'a CorpusEntry),
}

impl<'a> PlanEntry<'a> {
    /// Its name.
    pub fn name(self) -> &'a str {
        match self {
            PlanEntry::Random(entry) => &entry.name,
            PlanEntry::Directed(entry) => &entry.name,
            PlanEntry::Kernels(entry) => &entry.name,
            PlanEntry::Corpus(entry) => &entry.name,
        }
    }

    /// What profiles pick it by.
    pub fn tags(self) -> &'a [String] {
        match self {
            PlanEntry::Random(entry) => &entry.tags,
            PlanEntry::Directed(entry) => &entry.tags,
            PlanEntry::Kernels(entry) => &entry.tags,
            PlanEntry::Corpus(entry) => &entry.tags,
        }
    }
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn read(path: &Path) -> Result<(Plan, String), PlanError> {
        let text = fs_err::read_to_string(path)?;
        let plan = toml::from_str(&text)
            .map_err(|error| PlanError::Malformed(path.to_path_buf(), error.to_string()))?;
        Ok((plan, text))
    }

    /// Its entries: stored cases first, since they are quick and were failures once, then the corpus,
    /// kernels and random tests.
    pub fn entries(&self) -> impl Iterator<Item = PlanEntry<'_>> {
        let directed = self.directed.iter().map(PlanEntry::Directed);
        let corpus = self.corpus.iter().map(PlanEntry::Corpus);
        let kernels = self.kernels.iter().map(PlanEntry::Kernels);
        directed.chain(corpus).chain(kernels).chain(self.random.iter().map(PlanEntry::Random))
    }
}

fn one() -> u64 {
    1
}

fn any() -> Vec<String> {
    vec!["*".to_string()]
}

fn sixteen() -> usize {
    16
}

fn default_config() -> Vec<String> {
    vec!["default".to_string()]
}

/// `90s`, `15min`, `8h`.
fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    let found = humantime::parse_duration(&text).map_err(|error| {
        serde::de::Error::custom(format!("`{text}`: {error}; a time is written as 90s, 15min or 8h"))
    })?;
    if found.is_zero() {
        return Err(serde::de::Error::custom("a time of zero: leave it away for no limit"));
    }
    Ok(Some(found))
}
