//! TOML format of a plan file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use atoms_stimulus::Profile as Stimulus;
use atoms_verilated::Variant;
use serde::{Deserialize, Deserializer};
use serde_untagged::UntaggedEnumVisitor;

use super::PlanError;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Seed from which all random tests derive theirs.
    #[serde(default = "one")]
    pub seed: u64,
    /// Profiles by name, such as `smoke` and `nightly`.
    #[serde(default, rename = "profile")]
    pub profiles: BTreeMap<String, Profile>,
    /// Named stimulus profiles that random entries refer to.
    #[serde(default)]
    pub stimulus: BTreeMap<String, Stimulus>,
    #[serde(default)]
    pub random: Vec<RandomEntry>,
    #[serde(default)]
    pub directed: Vec<DirectedEntry>,
    #[serde(default)]
    pub kernels: Vec<KernelEntry>,
    #[serde(default)]
    pub corpus: Vec<CorpusEntry>,
}

/// Selection of entries, budget and coverage settings of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// Purpose of the profile, in one line.
    pub about: String,
    /// Runs entries that have one of these tags; an empty list selects all entries.
    pub tags: Vec<String>,
    /// Budget: number of tests, after which random entries add no more.
    pub tests: Option<u64>,
    /// Budget: number of warp requests in random tests.
    pub requests: Option<u64>,
    /// Budget: number of clock cycles. The test that exceeds the budget is the last one.
    pub cycles: Option<u64>,
    /// Wall time after which no test starts. Only the number of tests depends on the machine, not their
    /// contents.
    #[serde(deserialize_with = "duration")]
    pub wall: Option<Duration>,
    pub rtl_coverage: RtlCoverage,
    /// True if the regression fails when bins are neither hit nor waived.
    pub gate: bool,
    /// File of coverage waivers, relative to the plan.
    pub waivers: Option<PathBuf>,
    /// True if failure bundles name the likeliest causes. This needs an extra RTL build for each
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RtlCoverage {
    /// No RTL coverage; the RTL runs at full speed.
    #[default]
    Off,
    /// Lines and cover properties. The RTL runs at 0.6 to 0.75 of full speed.
    Lines,
    /// Lines, cover properties and toggles of each bit. The RTL runs at 0.1 to 0.16 of full speed.
    Toggles,
}

impl RtlCoverage {
    pub fn variant(self) -> Variant {
        match self {
            RtlCoverage::Off => Variant::Fast,
            RtlCoverage::Lines => Variant::Cov,
            RtlCoverage::Toggles => Variant::CovToggle,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomEntry {
    /// Name, unique in the plan.
    pub name: String,
    /// Tags by which profiles select the entry.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Names of configurations; `*` means all.
    #[serde(default = "default_config")]
    pub configs: Vec<String>,
    #[serde(default)]
    pub stimulus: StimulusSource,
    /// Number of series in each configuration, independent of the budget.
    #[serde(default = "one")]
    pub series: u64,
    /// Number of runs from reset in a series.
    #[serde(default = "one")]
    pub episodes: u64,
    /// Number of warp requests in an episode.
    pub requests: u64,
    /// True if stimulus is steered towards bins that the series has not hit.
    #[serde(default)]
    pub steer: bool,
    /// Number of series that each round adds until the budget is used up; 0 means that rounds add none.
    #[serde(default)]
    pub weight: u64,
    /// Wall-time limit of a test; `None` means the default, which depends on the test's cost.
    #[serde(default, deserialize_with = "duration")]
    pub timeout: Option<Duration>,
}

/// Name of a stimulus profile, or a profile given in place.
#[derive(Clone, Debug)]
pub enum StimulusSource {
    Named(String),
    Stated(Box<Stimulus>),
}

/// Implemented by hand, since errors of a derived untagged enum do not say which field is wrong.
impl<'de> Deserialize<'de> for StimulusSource {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        UntaggedEnumVisitor::new()
            .expecting("a name, or a table of the keys that differ from the default stimulus")
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

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectedEntry {
    pub name: String,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Paths of case files, relative to the plan; `*` matches any part of a file name.
    pub cases: Vec<String>,
    /// Names of configurations. If empty, each case runs in the configuration that it names.
    #[serde(default)]
    pub configs: Vec<String>,
    #[serde(default, deserialize_with = "duration")]
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelEntry {
    pub name: String,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Paths of launch files, relative to the plan; `*` matches any part of a file name. The kernel of
    /// `hist_u32.launch.toml` is in `hist_u32.ARCH.sass` and `hist_u32.ARCH.ptx` in the same folder.
    pub launches: Vec<String>,
    /// Patterns for `ARCH` and the extension, which select kernel files: `sm_90a.*`, `*.ptx`.
    #[serde(default = "any")]
    pub texts: Vec<String>,
    #[serde(default = "default_config")]
    pub configs: Vec<String>,
    #[serde(default, deserialize_with = "duration")]
    pub timeout: Option<Duration>,
}

/// Entry of episodes kept from earlier regressions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusEntry {
    pub name: String,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Path of the corpus file, relative to the plan.
    pub file: PathBuf,
    /// Number of episodes in a test; all episodes of a test share one configuration.
    #[serde(default = "sixteen")]
    pub episodes: usize,
    #[serde(default, deserialize_with = "duration")]
    pub timeout: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
pub enum PlanEntry<'a> {
    Random(&'a RandomEntry),
    Directed(&'a DirectedEntry),
    Kernels(&'a KernelEntry),
    Corpus(&'a CorpusEntry),
}

impl<'a> PlanEntry<'a> {
    pub fn name(self) -> &'a str {
        match self {
            PlanEntry::Random(entry) => &entry.name,
            PlanEntry::Directed(entry) => &entry.name,
            PlanEntry::Kernels(entry) => &entry.name,
            PlanEntry::Corpus(entry) => &entry.name,
        }
    }

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
    /// Reads a plan file. Returns the plan and the text of the file.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn read(path: &Path) -> Result<(Plan, String), PlanError> {
        let text = fs_err::read_to_string(path)?;
        let plan = toml::from_str(&text)
            .map_err(|error| PlanError::Malformed(path.to_path_buf(), error.to_string()))?;
        Ok((plan, text))
    }

    /// Returns the entries in the order of their tests: stored cases, corpus, kernels, random tests. Stored
    /// cases come first, since they are fast and have failed before.
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

/// Parses a time such as `90s`, `15min` or `8h`.
fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    let found = humantime::parse_duration(&text).map_err(|error| {
        serde::de::Error::custom(format!("`{text}`: {error}; a time is written as 90s, 15min or 8h"))
    })?;
    if found.is_zero() {
        return Err(serde::de::Error::custom("a time of zero: remove the key for no limit"));
    }
    Ok(Some(found))
}
