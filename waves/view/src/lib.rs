//! Reads waves (VCD and FST from any simulator), compares and searches them, and shows them as text, pictures
//! and pages. Also exports them to other viewers.
//!
//! This crate does not know the meaning of any signal.

#![forbid(unsafe_code)]

mod diff;
mod excerpt;
mod export;
pub mod html;
mod info;
mod moment;
mod page;
mod query;
mod reader;
mod show;
mod tracks;

pub use diff::{
    DiffError, DiffOptions, DiffResult, DiffSides, Divergence, DivergenceCause, PairingError, SignalRename,
    WaveDiff,
};
pub use excerpt::{Excerpt, ExcerptSignal, ValueKind, WaveValue};
pub use export::{PipelineRequest, write_konata, write_perfetto};
pub use info::{InfoResult, SignalResult, WaveInfo, matching_signals};
pub use moment::{MomentWindow, Shift, WaveScale, WaveTime};
pub use page::WavePage;
pub use query::{QueryError, WaveQuery};
pub use reader::{
    EXCERPT_LIMIT, FileSignal, RawValue, SignalLookupError, SignalPattern, Slot, Slots, TimeUnit, WaveClock,
    WaveExtent, WaveFile, WaveFormat, WaveNote, WaveNoteKind, WaveNoteResult, WaveNotes, WaveReadError,
    WaveReadFault, last_cycle, signal_path,
};
pub use show::{
    Charset, PictureError, Shades, TextStyle, WaveLane, show_svg, show_text, show_wavedrom, value_label,
};
pub use tracks::{WaveNames, WaveTrack, WaveTransaction};

fn grouped(number: u64) -> String {
    thousands::Separable::separate_with_commas(&number)
}
