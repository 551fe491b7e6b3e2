//! One random run from reset, stated completely.

use atoms_model::Config;
use atoms_stimulus::{Profile, RandomStimulus};
use serde::{Deserialize, Serialize};

/// One random run from reset and a memory of zeros: a function of this value and of the RTL alone. What
/// the corpus keeps, and what a failure names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    pub config: String,
    /// What is drawn, and how often; only what differs from the default is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub profile: Profile,
    pub seed: u64,
    /// Warp requests.
    pub requests: u64,
    /// Coverage group that the stimulus was steered to, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub towards: Option<String>,
}

impl Episode {
    /// What drives a machine of `config`, which is the configuration named here.
    pub fn stimulus(&self, config: &Config) -> RandomStimulus {
        RandomStimulus::new(*config, &self.profile, self.seed, self.requests)
    }
}

fn is_default(profile: &Profile) -> bool {
    *profile == Profile::default()
}
