//! List of surviving mutants with an explanation.

use std::collections::BTreeMap;
use std::path::Path;

use crate::mutate::{MutateError, Planted};

/// Reason why a mutant need not be killed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Explanation {
    /// Proved equivalent to the RTL, in this scope.
    Proved(String),
    /// Equivalent by an argument without proof, or breaks only behaviour that the specification does not
    /// promise. Contains the argument.
    Argued(String),
    /// No explanation yet: either the stimulus has a hole or a proof is missing.
    Open,
}

#[derive(Clone, Debug, Default)]
pub struct Explained {
    pub defects: Vec<Planted>,
    by_key: BTreeMap<String, Explanation>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    proved: Vec<Proved>,
    #[serde(default)]
    argued: Vec<Argued>,
    open: Option<Open>,
    #[serde(default)]
    defects: Vec<Planted>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Open {
    mutants: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Proved {
    scope: String,
    mutants: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Argued {
    reason: String,
    mutants: Vec<String>,
}

impl Explained {
    /// Reads the list at `path`. A missing file is an empty list.
    ///
    /// # Errors
    /// [`MutateError::Explained`], [`MutateError::Twice`].
    pub fn read(path: &Path) -> Result<Explained, MutateError> {
        let text = match fs_err::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Explained::default()),
            text => text?,
        };
        let file: File =
            toml::from_str(&text).map_err(|error| MutateError::Explained(path.to_path_buf(), error))?;
        let proved = file.proved.into_iter().map(|group| (group.mutants, Explanation::Proved(group.scope)));
        let argued = file.argued.into_iter().map(|group| (group.mutants, Explanation::Argued(group.reason)));
        let open = file.open.into_iter().map(|group| (group.mutants, Explanation::Open));
        let mut by_key = BTreeMap::new();
        for (keys, explanation) in proved.chain(argued).chain(open) {
            for key in keys {
                if by_key.insert(key.clone(), explanation.clone()).is_some() {
                    return Err(MutateError::Twice(path.to_path_buf(), key));
                }
            }
        }
        Ok(Explained { defects: file.defects, by_key })
    }

    pub fn of(&self, key: &str) -> Option<&Explanation> {
        self.by_key.get(key)
    }

    /// Returns listed keys that are not in `keys`, because the mutant no longer exists.
    pub fn stale<'a>(&'a self, keys: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let known: std::collections::BTreeSet<&str> = keys.into_iter().collect();
        self.by_key.keys().map(String::as_str).filter(|key| !known.contains(key)).collect()
    }
}
