//! What to build.

use crate::BuildError;
use std::fmt;
use std::path::{Path, PathBuf};

/// What a library is built for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Assertions and snapshots; no waves. For lockstep.
    #[default]
    Fast,
    /// As `Fast`, and can write every signal of the design to a VCD file: slower even when no file
    /// is open (0.9 of `Fast`), and about 20 times slower when one is.
    Wave,
    /// As `Fast`, and counts how often each line and each cover property of the design is reached: 0.6
    /// to 0.75 of the speed of `Fast`. Without snapshots, which Verilator refuses beside coverage.
    Cov,
    /// As `Cov`, and counts how often each bit of each signal changes: 0.16 of the speed of `Fast` with
    /// Verilator 5.48, 0.1 with 5.006. For runs of a few seconds.
    CovToggle,
}

impl Variant {
    pub const ALL: [Variant; 4] = [Variant::Fast, Variant::Wave, Variant::Cov, Variant::CovToggle];

    /// Whether a model of it can be saved and restored.
    pub const fn has_snapshots(self) -> bool {
        matches!(self, Variant::Fast | Variant::Wave)
    }

    /// Whether it counts what is covered.
    pub const fn has_coverage(self) -> bool {
        matches!(self, Variant::Cov | Variant::CovToggle)
    }

    /// Name as in progress lines and cache entries.
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

/// A design, its configuration and the variant to build.
#[derive(Clone, Debug)]
pub struct BuildSpec {
    /// Folder of the sources; [`Self::files`] are relative to it. Headers (`*.svh`, `*.vh`) found
    /// directly in it may be included and count as sources.
    pub rtl_dir: PathBuf,
    /// Sources, in compilation order.
    pub files: Vec<PathBuf>,
    /// Text that takes the place of a listed file: its name as in [`Self::files`], and the text.
    pub generated: Vec<(String, String)>,
    pub top: String,
    /// Lanes the configuration has: the width of the per-lane ports.
    pub lanes: usize,
    /// Banks the configuration has: the width of the per-bank ports.
    pub banks: usize,
    pub variant: Variant,
    /// Arguments for Verilator after the binding's own.
    pub verilator_args: Vec<String>,
    /// Models are restored before each of many short runs: what does so is optimized as well.
    pub restored_often: bool,
}

impl BuildSpec {
    /// A spec for the files named in `list` (in `rtl_dir`): one a line, `//` starts a comment.
    ///
    /// Lanes and banks start at 32, the variant at [`Variant::Fast`].
    ///
    /// # Errors
    /// [`BuildError::Source`] when the list cannot be read.
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
        })
    }

    /// With this many lanes.
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

    /// With `text` in place of the listed file `name`.
    pub fn generated(mut self, name: &str, text: impl Into<String>) -> Self {
        self.generated.push((name.to_owned(), text.into()));
        self
    }

    /// With one more argument for Verilator.
    pub fn verilator_arg(mut self, arg: &str) -> Self {
        self.verilator_args.push(arg.to_owned());
        self
    }
}

/// The file names of a list file.
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
