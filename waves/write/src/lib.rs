//! Writes waveform traces: declare signals, set their values cycle by cycle, and get a VCD or FST file of the
//! changes. Differences between two sides are marked, and a viewer layout can be written next to the file.
//!
//! ```
//! use atoms_wave_write::{Definition, SignalKind, Layout};
//!
//! # fn main() -> Result<(), atoms_wave_write::WaveError> {
//! let mut signals = Definition::new("top");
//! let (valid, op) = signals.scope("request", |s| (s.signal("valid", SignalKind::Bits(1)), s.signal("op", SignalKind::Text)));
//! let rtl = signals.scope("rtl", |s| s.signal("ready", SignalKind::Bits(1)));
//! let model = signals.scope("model", |s| s.signal("ready", SignalKind::Bits(1)));
//! let diff = signals.compare("diff", &[[rtl, model]]);
//!
//! # let dir = std::env::temp_dir();
//! # let path = dir.join(format!("atoms-waves-doc-{}.vcd", std::process::id()));
//! let mut trace = signals.create(&path)?;
//! trace.set(valid, 1);
//! trace.set_text(op, "CAST.SPIN");
//! trace.set(rtl, 1);
//! trace.set(model, 0);
//! trace.tick()?; // end of cycle 0
//! trace.finish()?;
//! Layout::new().group("request", [valid, op]).group("difference", [diff.any]).write(&signals, &path)?;
//! # let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
//! # Ok(())
//! # }
//! ```
//!
//! This crate does not know the meaning of any signal.

#![forbid(unsafe_code)]

mod batch;
mod comparison;
mod definition;
mod error;
mod format;
mod fst;
mod layout;
mod save_file;
mod trace;
mod values;
mod vcd;
mod view;
mod writer;

/// Start of the writer's name in a file. It is the same in every version; the version follows.
pub const WRITER: &str = "atoms-waves ";

pub use comparison::{ANY, Comparison};
pub use definition::{Definition, Signal, SignalKind};
pub use error::WaveError;
pub use layout::Layout;
pub use trace::WaveTrace;
pub use values::{Deferred, WaveValues};
pub use view::{Fold, ViewGroup, WaveView};
