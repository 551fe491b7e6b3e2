//! What can go wrong, one variant for each thing the caller can do about it.

use crate::{PythonPackage, Version};
use std::io;
use std::path::PathBuf;

/// Why no usable set of tools was found. A path is that of the program or folder that it is about, a text what was said
/// or found there.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// Nothing called `verilator` anywhere: install one, or let [`install_verilator`](crate::install_verilator()) do it.
    #[error(
        "no Verilator found: install {} or newer so that `verilator` is on PATH, or set VERILATOR_ROOT",
        Version::MINIMUM
    )]
    VerilatorMissing,
    /// `VERILATOR_ROOT` is set to a folder without Verilator: correct it or unset it.
    #[error("VERILATOR_ROOT is `{path}`, which has neither bin/verilator nor bin/verilator_bin; correct it or unset it", path = .0.display())]
    VerilatorRoot(PathBuf),
    /// Too old: install a newer one.
    #[error("`{path}` is Verilator {1}; {minimum} or newer is needed", path = .0.display(), minimum = Version::MINIMUM)]
    VerilatorTooOld(PathBuf, Version),
    /// It does not run, or does not say what it is: reinstall it.
    #[error("`{path}` is not a working Verilator: {1}", path = .0.display())]
    VerilatorUnusable(PathBuf, String),
    /// No C++ compiler: install one or set `CXX`.
    #[error("no C++ compiler: `{0}` was not found; install g++ or set CXX")]
    CompilerMissing(String),
    /// The C++ compiler does not run: correct `CXX`.
    #[error("C++ compiler `{path}` does not work ({1}); correct CXX or install g++", path = .0.display())]
    CompilerUnusable(PathBuf, String),
    /// The installed tool could be another user's work: it would run here.
    #[error(
        "the {tool} at `{path}` is not used: {2}; remove it, or set {variable} to another",
        tool = .0.tool, variable = .0.variable, path = .1.display()
    )]
    Foreign(&'static PythonPackage, PathBuf, String),
    /// No `python3` to install this tool's package with.
    #[error("cannot install {0}: `python3` was not found on PATH")]
    PythonMissing(&'static str),
    /// Installing this tool's package failed: the command line, and its last lines.
    #[error("cannot install {0}: `{1}` failed:\n{2}")]
    Install(&'static str, String, String),
    /// A folder could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Reason why there is no RTL to run.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No usable Verilator or C++ compiler.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    #[error("{0}")]
    Spec(String),
    /// A source cannot be read.
    #[error(transparent)]
    Source(#[from] io::Error),
    /// Verilator rejects the design; its messages name file, line and column.
    #[error("Verilator rejects the design:\n{0}")]
    Verilate(String),
    /// The design does not have the ports of [`atoms_model::port`] in the widths configured.
    #[error("the design's ports differ from the port list:\n{0}")]
    Ports(String),
    /// No memory where the binding looks for that of this bank, below this top module.
    #[error("bank {0} has no memory `g_bank[{0}].u_bank.mem_q` marked public_flat_rw in `{1}`")]
    NoMemory(usize, String),
    /// The C++ compiler fails on generated code: the file, and what it said.
    #[error("C++ compiler failed on {0}:\n{1}")]
    Compile(String, String),
    /// A tool could not be started at all.
    #[error("cannot start `{path}`", path = .0.display())]
    Start(PathBuf, #[source] io::Error),
    /// The cache cannot be written: free space, or point `ATOMS_CACHE` elsewhere.
    #[error("cannot write to the cache at `{path}`; set ATOMS_CACHE to another folder", path = .0.display())]
    Cache(PathBuf, #[source] io::Error),
    /// The cache, or an entry of it, could be another user's work: what is in it would run here.
    #[error(
        "`{path}` is not used: {1}, and what is in it would run as part of this program; remove it, or set ATOMS_CACHE to a \
         folder of your own",
        path = .0.display()
    )]
    Foreign(PathBuf, String),
    /// `ATOMS_CACHE_MB` is no size.
    #[error("ATOMS_CACHE_MB is `{0}`; expected the size limit of the cache in MB, such as 2000")]
    CacheLimit(String),
    /// A freshly built library cannot be loaded, as the loader says.
    #[error("cannot load `{path}`: {1}", path = .0.display())]
    Load(PathBuf, String),
    /// A folder for the lint cannot be written, or Verilator not started.
    #[error("cannot lint: {0}")]
    Lint(io::Error),
    /// The library is loaded, but an instance cannot be made.
    #[error(transparent)]
    Instance(#[from] RtlError),
}

/// Where and why the design stopped itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtlStop {
    /// Clock cycle, counted from creation, in which it happened.
    pub cycle: u64,
    /// Source file, as `rtl/<name>`.
    pub file: String,
    /// Line in it; 0 when unknown.
    pub line: u32,
    /// What was printed: the text of `$error` with the assertion's hierarchical name.
    pub message: String,
}

impl RtlStop {
    /// Name of the assertion: that in the message of the RTL's own macros, else the last part of the hierarchical
    /// name that Verilator prints, else the first line of the message.
    pub fn assertion(&self) -> &str {
        if let Some((_, name)) = self.message.split_once("assertion failed: ") {
            return name.split_whitespace().next().unwrap_or(name).trim_matches('"');
        }
        match self.message.split_once("Assertion failed in ") {
            Some((_, rest)) => {
                let path = rest.split([':', ' ']).next().unwrap_or(rest);
                path.rsplit('.').next().unwrap_or(path)
            }
            None => self.message.lines().next().unwrap_or_default(),
        }
    }
}

/// Why a Verilated model could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RtlError {
    /// An assertion failed, or `$error`, `$fatal`, `$stop` or `$finish` was reached. A finding
    /// about the design. The model answers every later cycle with the same error until it is
    /// restored from a snapshot.
    #[error("rtl stopped in cycle {} at {}:{}: {}", .0.cycle, .0.file, .0.line, .0.message)]
    Stopped(RtlStop),
    /// The simulation itself broke off (no convergence, out of memory): the model is lost.
    #[error("rtl simulation failed: {0}")]
    Failed(String),
    /// No such word: the memory is smaller.
    #[error("no word at bank {bank}, row {row}: there are {banks} banks of {rows} rows")]
    NoWord { bank: usize, row: usize, banks: usize, rows: usize },
    /// A buffer for the whole memory has another length.
    #[error("memory has {expected} words, the buffer {found}")]
    MemoryLength { expected: usize, found: usize },
    /// A snapshot of another library, or not a snapshot.
    #[error("snapshot is not from this design and variant")]
    Snapshot,
    /// The library was not built as [`Variant::Wave`](crate::Variant::Wave).
    #[error("this library cannot write waves; build the wave variant")]
    NoWaves,
    /// The library was built as a variant that counts coverage, which Verilator cannot save.
    #[error("this library cannot save and restore its state; build the fast variant")]
    NoSnapshots,
    /// The library was built as a variant that does not count coverage.
    #[error("this library counts no coverage; build the cov variant")]
    NoCoverage,
    /// The trace file cannot be opened.
    #[error("cannot write trace to `{path}`", path = .0.display())]
    Trace(PathBuf),
}
