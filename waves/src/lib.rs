//! Waveform traces: declare signals, set values cycle by cycle, and get a VCD file of the changes,
//! with the differences between two sides marked and a viewer layout beside it; and show waves as pages.
//!
//! ```
//! use atoms_waves::{Definition, SignalKind, Layout};
//!
//! # fn main() -> Result<(), atoms_waves::WaveError> {
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
//! Nothing here knows what a signal means.

#![forbid(unsafe_code)]

mod batch;
mod comparison;
mod definition;
mod diff;
mod error;
mod excerpt;
mod export;
mod format;
mod fst;
pub mod html;
mod layout;
mod page;
mod query;
mod reader;
mod save_file;
mod show;
mod trace;
mod tracks;
mod values;
mod vcd;
mod view;
mod writer;

pub use comparison::Comparison;
pub use definition::{Definition, Signal, SignalKind};
pub use diff::{
    DiffError, DiffOptions, DiffSides, Divergence, DivergenceCause, PairingError, SignalRename, WaveDiff,
};
pub use error::WaveError;
pub use excerpt::{Excerpt, ExcerptSignal, ValueKind, WaveValue};
pub use export::{PipelineRequest, write_konata, write_perfetto};
pub use layout::Layout;
pub use page::WavePage;
pub use query::{QueryError, WaveQuery};
pub use reader::{
    EXCERPT_LIMIT, FileSignal, RawValue, SignalLookupError, SignalPattern, Slot, Slots, TimeUnit, WaveClock,
    WaveExtent, WaveFile, WaveFormat, WaveNote, WaveNoteKind, WaveNotes, WaveReadError, WaveReadFault,
    signal_path,
};
pub use show::{
    Charset, PictureError, Shades, TextStyle, WaveLane, show_svg, show_text, show_wavedrom, value_label,
};
pub use trace::WaveTrace;
pub use tracks::{WaveNames, WaveTrack, WaveTransaction};
pub use values::{Deferred, WaveValues};
pub use view::{Fold, ViewGroup, WaveView};
