//! Shows excerpts as text, pictures and WaveJSON.

mod label;
mod lane;
mod svg;
mod text;
mod wavedrom;

pub use label::value_label;
pub use svg::{PictureError, show_svg};
pub use text::{Charset, Shades, TextStyle, show_text};
pub use wavedrom::{WaveLane, show_wavedrom};
