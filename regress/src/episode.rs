//! One random run from reset, stated completely.

use serde::{Deserialize, Serialize};

/// One random run from reset and a memory of zeros: a function of this value and of the RTL alone. What
/// the corpus keeps, and what a failure names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    /// Configuration, by name.
    pub config: String,
    /// Operations drawn from, by name as in [`atoms_ops`]; all of them if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<String>,
    /// Seed of the stimulus.
    pub seed: u64,
    /// Warp requests.
    pub requests: u64,
    /// Coverage group that the stimulus was steered to, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub towards: Option<String>,
}
