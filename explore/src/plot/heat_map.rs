//! Heat map: cells in rows and columns, coloured by value.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotError;
use super::scale::short;
use super::theme::{self, DIM, HEAD, INK, Page, SIZE};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    pub title: String,
    pub subtitle: String,
    pub x: String,
    /// First value of the first column, and the value after the last column.
    pub columns: (f64, f64),
    pub y: String,
    /// Quantity of the cells, with its unit.
    pub value: String,
    /// Rows of cells, the first at the bottom; all of equal length.
    pub rows: Vec<Vec<f64>>,
}

const LEFT: i32 = 62;
const LEGEND: i32 = 96;
const BELOW: i32 = 56;
const STEPS: i32 = 50;

impl HeatMap {
    /// Draws the map as SVG.
    ///
    /// # Errors
    /// [`PlotError`] if there is no cell, rows differ in length, or a cell is negative or not finite.
    pub fn svg(&self) -> Result<String, PlotError> {
        theme::page(&self.title, &self.subtitle, SIZE, |page| {
            self.draw(page)?;
            Ok(String::new())
        })
    }

    fn draw(&self, page: &Page<'_>) -> Result<(), String> {
        let (width, height) = (SIZE.0 as i32, SIZE.1 as i32);
        let columns = self.rows.first().map_or(0, Vec::len);
        if columns == 0 || self.rows.iter().any(|row| row.len() != columns) {
            return Err("its rows are empty, or of different lengths".to_string());
        }
        let cells = || self.rows.iter().flatten().copied();
        if let Some(odd) = cells().find(|value| !value.is_finite() || *value < 0.0) {
            return Err(format!("a cell is {odd}"));
        }
        let most = cells().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let (right, bottom, top) = (width - LEGEND, height - BELOW, HEAD + 8);
        let x = |column: usize| LEFT + (column as i32 * (right - LEFT)) / columns as i32;
        let y = |row: usize| bottom - (row as i32 * (bottom - top)) / self.rows.len() as i32;
        for (at, row) in self.rows.iter().enumerate() {
            // Merge adjacent cells of one colour into one rectangle.
            let mut from = 0;
            for column in 0..columns {
                let own = heat(row[column] / most);
                if row.get(column + 1).is_none_or(|next| heat(next / most) != own) {
                    theme::rectangle(page, [(x(from), y(at + 1)), (x(column + 1), y(at))], own.filled())?;
                    from = column + 1;
                }
            }
        }
        let every = self.rows.len().div_ceil(16);
        for at in (0..self.rows.len()).step_by(every) {
            let middle = (LEFT - 8, (y(at) + y(at + 1)) / 2);
            theme::text(page, &at.to_string(), middle, 12, DIM, Pos::new(HPos::Right, VPos::Center))?;
        }
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let value = self.columns.0 + share * (self.columns.1 - self.columns.0);
            let pixel = LEFT + (share * f64::from(right - LEFT)) as i32;
            theme::text(
                page,
                &short(value),
                (pixel, bottom + 8),
                12,
                DIM,
                Pos::new(HPos::Center, VPos::Top),
            )?;
        }
        for step in 0..STEPS {
            let at = |step: i32| bottom - step * (bottom - top) / STEPS;
            let own = heat(f64::from(step) / f64::from(STEPS - 1));
            theme::rectangle(page, [(right + 18, at(step + 1)), (right + 34, at(step))], own.filled())?;
        }
        for (value, pixel) in [(0.0, bottom), (most / 2.0, (top + bottom) / 2), (most, top)] {
            let at = (right + 40, pixel);
            theme::text(page, &short(value), at, 12, DIM, Pos::new(HPos::Left, VPos::Center))?;
        }
        let middle = ((LEFT + right) / 2, height - 12);
        theme::text(page, &self.x, middle, 13, INK, Pos::new(HPos::Center, VPos::Bottom))?;
        theme::upright(page, &self.y, (18, (top + bottom) / 2))?;
        theme::upright(page, &self.value, (width - 14, (top + bottom) / 2))
    }
}

/// Returns the colour of a share from 0 to 1. Lightness decreases evenly, so the map also works in grey.
/// After [CIVIDIS].
fn heat(share: f64) -> RGBColor {
    const STOPS: [[f64; 3]; 6] = [
        [253.0, 234.0, 69.0],
        [203.0, 186.0, 105.0],
        [148.0, 142.0, 119.0],
        [106.0, 106.0, 112.0],
        [55.0, 71.0, 108.0],
        [0.0, 32.0, 76.0],
    ];
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let below = (at as usize).min(STOPS.len() - 2);
    let part = at - below as f64;
    let mix = |c: usize| (STOPS[below][c] + part * (STOPS[below + 1][c] - STOPS[below][c])).round() as u8;
    RGBColor(mix(0), mix(1), mix(2))
}
