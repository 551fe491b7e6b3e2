//! Specification of a library to build.

use crate::BuildError;
use std::fmt;
use std::path::{Path, PathBuf};

/// Features that a library is built with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Assertions and snapshots; no waves. For lockstep.
    #[default]
    Fast,
    /// Like `Fast`, and can write every signal of the design to a VCD file. Runs at 0.9 of the speed of
    /// `Fast` without an open file, and about 20 times slower with one.
    Wave,
    /// Like `Fast`, and counts how often each line and each cover property is reached. Runs at 0.6 to 0.75 of
    /// the speed of `Fast`. Has no snapshots, which Verilator refuses together with coverage.
    Cov,
    /// Like `Cov`, and counts how often each bit of each signal changes. Runs at 0.16 of the speed of `Fast`
    /// with Verilator 5.48, and at 0.1 with 5.006. Meant for runs of a few seconds.
    CovToggle,
}

impl Variant {
    pub const ALL: [Variant; 4] = [Variant::Fast, Variant::Wave, Variant::Cov, Variant::CovToggle];

    pub const fn has_snapshots(self) -> bool {
        matches!(self, Variant::Fast | Variant::Wave)
    }

    pub const fn has_coverage(self) -> bool {
        matches!(self, Variant::Cov | Variant::CovToggle)
    }

    /// Returns the name in progress lines and cache entries.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Fast => "fast",
            Variant::Wave => "wave",
            Variant::Cov => "cov",
            Variant::CovToggle => "cov-toggle",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Clone, Debug)]
pub struct BuildSpec {
    /// Folder of the sources, to which [`Self::files`] are relative. Headers (`*.svh`, `*.vh`) directly in
    /// the folder can be included and count as sources.
    pub rtl_dir: PathBuf,
    /// Sources, in compilation order.
    pub files: Vec<PathBuf>,
    /// Name of a listed file, as in [`Self::files`], and the text that replaces it.
    pub generated: Vec<(String, String)>,
    pub top: String,
    /// Number of lanes: the width of the per-lane ports.
    pub lanes: usize,
    /// Number of banks: the width of the per-bank ports.
    pub banks: usize,
    pub variant: Variant,
    /// Arguments for Verilator, after those of the binding.
    pub verilator_args: Vec<String>,
    /// True if models are restored before each of many short runs: restoring is then optimized, too.
    pub restored_often: bool,
    /// Name of the module that [`Self::top`] wraps. Its ports must then equal those of the top module.
    pub wrapped: Option<String>,
}

impl BuildSpec {
    /// Creates a specification for the files named in `list`, one per line. `//` starts a comment.
    ///
    /// The defaults are 32 lanes, 32 banks and [`Variant::Fast`].
    ///
    /// # Errors
    /// [`BuildError::Source`] if the list cannot be read.
    pub fn from_list(rtl_dir: impl AsRef<Path>, list: &str, top: &str) -> Result<Self, BuildError> {
        let text = fs_err::read_to_string(rtl_dir.as_ref().join(list))?;
        Ok(Self {
            rtl_dir: rtl_dir.as_ref().to_path_buf(),
            files: file_names(&text),
            generated: Vec::new(),
            top: top.to_owned(),
            lanes: 32,
            banks: 32,
            variant: Variant::default(),
            verilator_args: Vec::new(),
            restored_often: false,
            wrapped: None,
        })
    }

    pub fn lanes(mut self, lanes: usize) -> Self {
        self.lanes = lanes;
        self
    }

    pub fn banks(mut self, banks: usize) -> Self {
        self.banks = banks;
        self
    }

    pub fn variant(mut self, variant: Variant) -> Self {
        self.variant = variant;
        self
    }

    pub fn generated(mut self, name: &str, text: impl Into<String>) -> Self {
        self.generated.push((name.to_owned(), text.into()));
        self
    }

    pub fn verilator_arg(mut self, arg: &str) -> Self {
        self.verilator_args.push(arg.to_owned());
        self
    }
}

fn file_names(text: &str) -> Vec<PathBuf> {
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim())
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_one_name_a_line() {
        let names = file_names("// order matters\natoms_pkg.sv\n\n  atoms_unit.sv // top\n");
        assert_eq!(names, [PathBuf::from("atoms_pkg.sv"), PathBuf::from("atoms_unit.sv")]);
    }
}
