//! Stacked bars of equal length.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotError;
use super::theme::{self, DIM, HEAD, INK, Page, SIZE, colour};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    pub name: String,
    /// Shares of the parts, in the order of [`StackedBars::parts`].
    pub values: Vec<f64>,
}

/// Bars of equal length, split into parts, such as the share of cycles per activity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackedBars {
    pub title: String,
    pub subtitle: String,
    pub parts: Vec<String>,
    /// Bars from top to bottom.
    pub bars: Vec<Bar>,
}

const LEFT: i32 = 200;
const ROW: i32 = 30;
const LEGEND_COLUMNS: usize = 3;
const LEGEND_ROW: i32 = 20;
/// Share below which a part is too narrow for its number.
const NARROW: f64 = 0.06;

impl StackedBars {
    /// Draws the bars as SVG.
    ///
    /// # Errors
    /// [`PlotError`] if there is no bar, or a value is not a valid share.
    pub fn svg(&self) -> Result<String, PlotError> {
        let rows = self.parts.len().div_ceil(LEGEND_COLUMNS) as i32;
        let height = HEAD + 8 + rows * LEGEND_ROW + 10 + self.bars.len() as i32 * ROW + 40;
        theme::page(&self.title, &self.subtitle, (SIZE.0, height as u32), |page| {
            self.draw(page, rows)?;
            Ok(String::new())
        })
    }

    fn draw(&self, page: &Page<'_>, rows: i32) -> Result<(), String> {
        if self.bars.is_empty() {
            return Err("it has no values".to_string());
        }
        let width = SIZE.0 as i32;
        for (at, part) in self.parts.iter().enumerate() {
            let column = (at % LEGEND_COLUMNS) as i32 * ((width - 32) / LEGEND_COLUMNS as i32);
            let (x, y) = (16 + column, HEAD + 8 + (at / LEGEND_COLUMNS) as i32 * LEGEND_ROW);
            theme::rectangle(page, [(x, y), (x + 12, y + 12)], fill(at))?;
            theme::text(page, part, (x + 20, y + 6), 13, INK, Pos::new(HPos::Left, VPos::Center))?;
        }
        let length = f64::from(width - 24 - LEFT);
        let top = HEAD + 8 + rows * LEGEND_ROW + 10;
        for (number, bar) in self.bars.iter().enumerate() {
            let all: f64 = bar.values.iter().sum();
            if !(all > 0.0 && all.is_finite()) || bar.values.iter().any(|value| *value < 0.0) {
                return Err(format!("the parts of `{}` are {:?}", bar.name, bar.values));
            }
            let y = top + number as i32 * ROW;
            let right = Pos::new(HPos::Right, VPos::Center);
            theme::text(page, &bar.name, (LEFT - 10, y + ROW / 2 - 3), 13, INK, right)?;
            let mut before = 0.0;
            for (at, value) in bar.values.iter().enumerate() {
                let pixel = |value: f64| LEFT + (value / all * length).round() as i32;
                let (from, to) = (pixel(before), pixel(before + value));
                before += value;
                if to > from {
                    theme::rectangle(page, [(from, y), (to, y + ROW - 7)], fill(at))?;
                }
                if value / all >= NARROW {
                    let says = format!("{:.0}", 100.0 * value / all);
                    let middle = ((from + to) / 2, y + ROW / 2 - 3);
                    theme::text(
                        page,
                        &says,
                        middle,
                        12,
                        WHITE_ON_COLOUR,
                        Pos::new(HPos::Center, VPos::Center),
                    )?;
                }
            }
        }
        let bottom = top + self.bars.len() as i32 * ROW;
        for share in [0, 25, 50, 75, 100] {
            let x = LEFT + (f64::from(share) / 100.0 * length).round() as i32;
            theme::text(
                page,
                &format!("{share} %"),
                (x, bottom + 2),
                12,
                DIM,
                Pos::new(HPos::Center, VPos::Top),
            )?;
        }
        Ok(())
    }
}

/// White outside the theme: dark mode does not replace it.
const WHITE_ON_COLOUR: RGBColor = RGBColor(0xfe, 0xfe, 0xfe);

fn fill(part: usize) -> ShapeStyle {
    // When the colours run out, repeat them in a lighter shade.
    let colour = colour(part);
    if part < theme::SERIES.len() { colour.filled() } else { colour.mix(0.5).filled() }
}
