//! Coverage of a testbench in a file, for `atoms cover`.

use std::path::{Path, PathBuf};

use bitvec::vec::BitVec;
use serde::{Deserialize, Serialize};

use crate::{Map, Model};

/// Version of the format that is written and read.
const FORMAT: u32 = 1;

/// Hits of each bin that a testbench can hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoverageFile {
    /// Version of the format.
    atoms_coverage: u32,
    /// Name of the configuration or of the unit.
    pub config: String,
    /// Number of bins of the coverage model.
    bins: usize,
    /// Each bin that the unit can hit, and its hits.
    hits: Vec<(usize, u32)>,
}

/// Reason why a file of coverage cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum CoverageFileError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file has another form. Has the problem and what would work.
    #[error("`{path}`: {1}", path = .0.display())]
    Malformed(PathBuf, String),
}

impl CoverageFile {
    /// Creates the content of a file.
    pub fn new(config: &str, reachable: &BitVec, hits: &Map) -> Self {
        let hits = reachable.iter_ones().map(|bin| (bin, hits.hits(bin))).collect();
        CoverageFile { atoms_coverage: FORMAT, config: config.to_string(), bins: reachable.len(), hits }
    }

    /// Reads a file of this version and of this coverage model.
    ///
    /// # Errors
    /// [`CoverageFileError`].
    pub fn read(path: &Path, model: &Model) -> Result<Self, CoverageFileError> {
        let wrong = |problem: String| CoverageFileError::Malformed(path.to_path_buf(), problem);
        let text = fs_err::read_to_string(path)?;
        let file: CoverageFile = serde_json::from_str(&text).map_err(|error| {
            wrong(format!("{error}; expected a file of `Coverage.write` of the bindings"))
        })?;
        let bins = model.bins();
        if file.atoms_coverage != FORMAT || file.bins != bins || file.hits.iter().any(|(bin, _)| *bin >= bins)
        {
            return Err(wrong(
                "another version of ATOMS wrote it; measure again with this version".to_string(),
            ));
        }
        Ok(file)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CoverageFileError> {
        let text = serde_json::to_string(self).map_err(std::io::Error::from)?;
        Ok(fs_err::write(path, text + "\n")?)
    }

    /// Returns the bins that the unit can hit.
    pub fn reachable(&self) -> BitVec {
        let mut bins = BitVec::repeat(false, self.bins);
        self.hits.iter().for_each(|(bin, _)| bins.set(*bin, true));
        bins
    }

    /// Returns the hits of all bins.
    pub fn map(&self) -> Map {
        let mut counts = vec![0; self.bins];
        self.hits.iter().for_each(|(bin, hits)| counts[*bin] = *hits);
        Map::of(&counts)
    }
}
