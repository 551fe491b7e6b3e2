//! Identity of a run: program, RTL and input files.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::checksum::hex;

/// Everything except the plan that determines test results; must be equal on all machines of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    pub version: String,
    /// SHA-256 of the program file, since one version can be built from different sources.
    pub build: String,
    pub rtl: String,
    /// Hashes of the files that the plan names (cases, kernels, corpus), by path relative to the plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
}

impl Origin {
    /// Returns the origin of this process with the given RTL hash and input files (name and path).
    ///
    /// # Errors
    /// The error names the file that cannot be read.
    pub fn of_process(
        version: &str,
        rtl: &str,
        inputs: impl IntoIterator<Item = (String, PathBuf)>,
    ) -> io::Result<Origin> {
        // `/proc/self/exe` is the running program even if its file was replaced since the start.
        let itself = Path::new("/proc/self/exe");
        let build =
            if itself.exists() { hash_of_file(itself)? } else { hash_of_file(&std::env::current_exe()?)? };
        let hash = |(name, path): (String, PathBuf)| Ok((name, hash_of_file(&path)?));
        let inputs = inputs.into_iter().map(hash).collect::<io::Result<_>>()?;
        Ok(Origin { version: version.to_string(), build, rtl: rtl.to_string(), inputs })
    }

    /// Lists the differences between two origins, one line each with both values, which the labels `ours`
    /// (`self`) and `theirs` (`other`) precede.
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

fn hash_of_file(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut fs::File::open(path)?, &mut hash)?;
    Ok(hex(hash.finalize()))
}

/// Shortens a hash to 12 digits for display; returns other text unchanged.
fn short(hash: &str) -> &str {
    let is_hash = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    if is_hash { hash.get(..12).unwrap_or(hash) } else { hash }
}
