//! Episode: one reproducible random run from reset.

use atoms_model::Config;
use atoms_stimulus::{Profile, RandomStimulus};
use serde::{Deserialize, Serialize};

/// One random run from reset with memory zero. The run depends only on this value and on the RTL, so the
/// corpus stores episodes and failures name them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    pub config: String,
    /// Profile of the stimulus. Only values that differ from the default are saved.
    #[serde(default, skip_serializing_if = "is_default")]
    pub profile: Profile,
    pub seed: u64,
    /// Number of warp requests.
    pub requests: u64,
    /// Coverage group that the stimulus was steered to. None if it was not steered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub towards: Option<String>,
}

impl Episode {
    /// Creates the stimulus of the episode. `config` must be the configuration that `self.config` names.
    pub fn stimulus(&self, config: &Config) -> RandomStimulus {
        RandomStimulus::new(*config, &self.profile, self.seed, self.requests)
    }
}

fn is_default(profile: &Profile) -> bool {
    *profile == Profile::default()
}
