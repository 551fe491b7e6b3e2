//! What results depend on, beside the plan.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::checksum::hex;

/// What the result of a test depends on, beside the plan: the same on every machine that takes part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Version of ATOMS.
    pub version: String,
    /// Hash of the program, since one version can be built from different sources.
    pub build: String,
    /// Hash of the RTL's sources.
    pub rtl: String,
    /// Hashes of the files that the plan names, by their path: cases, kernels, the corpus.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
}

impl Origin {
    /// What runs here: this program, with these sources of RTL and the files of these names and paths.
    ///
    /// # Errors
    /// With the file that cannot be read.
    pub fn of_process(
        version: &str,
        rtl: &str,
        inputs: impl IntoIterator<Item = (String, PathBuf)>,
    ) -> io::Result<Origin> {
        // The file that runs, also when another has taken its name since.
        let itself = Path::new("/proc/self/exe");
        let build =
            if itself.exists() { hash_of_file(itself)? } else { hash_of_file(&std::env::current_exe()?)? };
        let hash = |(name, path): (String, PathBuf)| Ok((name, hash_of_file(&path)?));
        let inputs = inputs.into_iter().map(hash).collect::<io::Result<_>>()?;
        Ok(Origin { version: version.to_string(), build, rtl: rtl.to_string(), inputs })
    }

    /// What `other` has differently, a line each, with both values; `self` is called `ours`, `other`
    /// `theirs`.
    pub fn differences(&self, other: &Origin, ours: &str, theirs: &str) -> Vec<String> {
        let named = [
            ("version of ATOMS", &self.version, &other.version),
            ("program", &self.build, &other.build),
            ("RTL", &self.rtl, &other.rtl),
        ];
        let mut found: Vec<String> = named
            .into_iter()
            .filter(|(_, a, b)| a != b)
            .map(|(what, a, b)| format!("{what}: {ours} {}, {theirs} {}", short(a), short(b)))
            .collect();
        let names: std::collections::BTreeSet<_> = self.inputs.keys().chain(other.inputs.keys()).collect();
        for name in names {
            let value = |origin: &Origin| match origin.inputs.get(name) {
                Some(hash) => short(hash).to_string(),
                None => "none".to_string(),
            };
            if self.inputs.get(name) != other.inputs.get(name) {
                found.push(format!("`{name}`: {ours} {}, {theirs} {}", value(self), value(other)));
            }
        }
        found
    }
}

/// SHA-256 of a file's content.
fn hash_of_file(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut fs::File::open(path)?, &mut hash)?;
    Ok(hex(hash.finalize()))
}

/// As much of a hash as people compare.
fn short(hash: &str) -> &str {
    let is_hash = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    if is_hash { hash.get(..12).unwrap_or(hash) } else { hash }
}
