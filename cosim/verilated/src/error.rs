//! Errors of the binding, with one variant for each thing that the caller can do about them.

use crate::{PythonPackage, Version};
use std::io;
use std::path::PathBuf;

/// Reason why no usable tools were found.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// No `verilator` was found. Install one, or call [`install_verilator`](crate::install_verilator()).
    #[error(
        "no Verilator found: install {} or newer so that `verilator` is on PATH, or set VERILATOR_ROOT",
        Version::MINIMUM
    )]
    VerilatorMissing,
    #[error("VERILATOR_ROOT is `{path}`, which has neither bin/verilator nor bin/verilator_bin; correct it or unset it", path = .0.display())]
    VerilatorRoot(PathBuf),
    #[error("`{path}` is Verilator {1}; {minimum} or newer is needed", path = .0.display(), minimum = Version::MINIMUM)]
    VerilatorTooOld(PathBuf, Version),
    #[error("`{path}` is not a working Verilator: {1}", path = .0.display())]
    VerilatorUnusable(PathBuf, String),
    #[error("no C++ compiler: `{0}` was not found; install g++ or set CXX")]
    CompilerMissing(String),
    #[error("C++ compiler `{path}` does not work ({1}); correct CXX or install g++", path = .0.display())]
    CompilerUnusable(PathBuf, String),
    #[error(
        "the {tool} at `{path}` is not used: {2}; remove it, or set {variable} to another",
        tool = .0.tool, variable = .0.variable, path = .1.display()
    )]
    Foreign(&'static PythonPackage, PathBuf, String),
    #[error("cannot install {0}: `python3` was not found on PATH")]
    PythonMissing(&'static str),
    /// Fields: the tool, the command line, and the last lines of its output.
    #[error("cannot install {0}: `{1}` failed:\n{2}")]
    Install(&'static str, String, String),
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Reason why there is no RTL to run.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    #[error("{0}")]
    Spec(String),
    /// A source cannot be read.
    #[error(transparent)]
    Source(#[from] io::Error),
    #[error("Verilator rejects the design:\n{0}")]
    Verilate(String),
    #[error("the design's ports differ from the port list:\n{0}")]
    Ports(String),
    /// Fields: the module in the wrapper, and one line per port.
    #[error("the ports of module `{0}` differ from docs/ports.md:\n{1}")]
    UnitPorts(String, String),
    #[error("no source declares module `{0}`; correct `module` or `sources` in the declaration of the unit")]
    NoModule(String),
    /// Fields: the bank and the top module.
    #[error("bank {0} has no memory `g_bank[{0}].u_bank.mem_q` marked public_flat_rw in `{1}`")]
    NoMemory(usize, String),
    #[error("C++ compiler failed on {0}:\n{1}")]
    Compile(String, String),
    #[error("cannot start `{path}`", path = .0.display())]
    Start(PathBuf, #[source] io::Error),
    #[error("cannot write to the cache at `{path}`; set ATOMS_CACHE to another folder", path = .0.display())]
    Cache(PathBuf, #[source] io::Error),
    #[error(
        "`{path}` is not used: {1}, and what is in it would run as part of this program; remove it, or set ATOMS_CACHE to a \
         folder of your own",
        path = .0.display()
    )]
    Foreign(PathBuf, String),
    #[error("ATOMS_CACHE_MB is `{0}`; expected the size limit of the cache in MB, such as 2000")]
    CacheLimit(String),
    #[error("cannot load `{path}`: {1}", path = .0.display())]
    Load(PathBuf, String),
    /// The folder for the lint cannot be written, or Verilator cannot be started.
    #[error("cannot lint: {0}")]
    Lint(io::Error),
    /// The library is loaded, but no instance could be created.
    #[error(transparent)]
    Instance(#[from] RtlError),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtlStop {
    /// Clock cycle of the stop, counted from creation.
    pub cycle: u64,
    /// Source file, as `rtl/<name>`.
    pub file: String,
    pub line: u32,
    /// Text that the design printed: the text of `$error` with the hierarchical name of the assertion.
    pub message: String,
}

impl RtlStop {
    /// Returns the name of the assertion: from the message of the RTL's own macros, else the last part of the
    /// hierarchical name that Verilator prints, else the first line of the message.
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

/// Reason why a call on a Verilated model failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RtlError {
    /// An assertion failed, or `$error`, `$fatal`, `$stop` or `$finish` was reached: a finding about the
    /// design. Every later cycle returns the same error until the model is restored from a snapshot.
    #[error("rtl stopped in cycle {} at {}:{}: {}", .0.cycle, .0.file, .0.line, .0.message)]
    Stopped(RtlStop),
    /// The simulation failed, without convergence or without memory, for example. The model is lost.
    #[error("rtl simulation failed: {0}")]
    Failed(String),
    #[error("no word at bank {bank}, row {row}: there are {banks} banks of {rows} rows")]
    NoWord { bank: usize, row: usize, banks: usize, rows: usize },
    #[error("memory has {expected} words, the buffer {found}")]
    MemoryLength { expected: usize, found: usize },
    #[error("snapshot is not from this design and variant")]
    Snapshot,
    #[error("this library cannot write waves; build the wave variant")]
    NoWaves,
    /// The library counts coverage, and Verilator cannot save such a model.
    #[error("this library cannot save and restore its state; build the fast variant")]
    NoSnapshots,
    #[error("this library counts no coverage; build the cov variant")]
    NoCoverage,
    #[error("cannot write trace to `{path}`", path = .0.display())]
    Trace(PathBuf),
}
