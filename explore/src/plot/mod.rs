//! Plots as SVG: charts, stacked bars, heat maps. Colours are safe for colour-blind readers and adapt to
//! light or dark mode. Marks differ in shape as well.

mod chart;
mod heat_map;
mod scale;
mod stack;
mod theme;

pub(crate) use chart::MOST_SERIES;
pub use chart::{Chart, Mark, Series};
pub use heat_map::HeatMap;
pub(crate) use scale::short;
pub use scale::{Axis, Scale};
pub use stack::{Bar, StackedBars};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw `{title}`: {reason}")]
pub struct PlotError {
    pub title: String,
    pub reason: String,
}
