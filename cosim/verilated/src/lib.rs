//! Binding to Verilated models. Finds Verilator, builds RTL at run time into a cached shared library, loads
//! the library and drives it. Also installs and runs tools for other crates, and caches their results.
//!
//! ```no_run
//! use atoms_model::port::{In, Out, Probe};
//! use atoms_verilated::{BuildSpec, Cache, Environment, Toolchain, Variant};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let env = Environment::from_process();
//! let tools = Toolchain::find(&env)?;
//! let spec = BuildSpec::from_list("rtl", "atoms.f", "atoms_unit")?.lanes(32).banks(32).variant(Variant::Fast);
//! let library = Cache::new(&env).library(&spec, &tools, &mut |step| eprintln!("{step}"))?;
//! let mut rtl = library.instantiate()?;
//! let (mut out, mut probe) = (Out::default(), Probe::default());
//! rtl.reset()?;
//! rtl.cycle(&In { rst_n: 1, ..In::default() }, &mut out, &mut probe)?;
//! # Ok(())
//! # }
//! ```
//!
//! The C++ side is generated from [`atoms_model::port`], so that only one list declares a port. Both sides
//! assert the layout.

mod abi;
mod bank_names;
mod build;
mod cache;
mod environment;
mod error;
mod group;
mod install;
mod key;
mod load;
mod owner;
mod ports;
mod progress;
mod spec;
mod store;
mod toolchain;

pub use build::compiler::Compiler;
pub use build::headers;
pub use cache::{Cache, CachedFiles};
pub use environment::{Environment, checkout};
pub use error::{BuildError, RtlError, RtlStop, ToolchainError};
pub use group::{ToolGroup, cores};
pub use install::{PythonPackage, install_verilator, last_lines};
pub use key::hash;
pub use load::coverage::{Coverage, Point, PointKind};
pub use load::library::Library;
pub use load::rtl::Rtl;
pub use load::signals::{DesignSignal, SignalChange, read_changes};
pub use load::snapshot::Snapshot;
pub use progress::Progress;
pub use spec::{BuildSpec, Variant};
pub use store::entry::BuildDir;
pub use store::evict::Cleaned;
pub use toolchain::{Toolchain, Verilator, Version};
