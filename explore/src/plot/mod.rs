//! Plots as SVG: lines and points, stacked bars, heat maps. Colours that the colour-blind tell apart, light and dark,
//! by what the viewer prefers; marks differ in shape as well.

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

/// A plot that cannot be drawn: what hinders it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw `{title}`: {reason}")]
pub struct PlotError {
    pub title: String,
    pub reason: String,
}
