//! Chart of lines and points over two axes.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotError;
use super::scale::{Axis, Ruler, short};
use super::theme::{self, DIM, GRID, HEAD, INK, PAPER, Page, SIZE, colour, escape};

/// Width of the legend in pixels.
const LEGEND: i32 = 190;
/// Maximum characters per line of the legend.
const LEGEND_WIDTH: usize = 24;
/// Height of a legend line, and gap between two series in the legend, in pixels.
const LINE: i32 = 17;
const GAP: i32 = 5;
/// Margins of the axes in pixels.
const LEFT: i32 = 78;
const BELOW: i32 = 56;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    pub x: f64,
    pub y: f64,
    /// Tooltip; none if empty.
    pub title: String,
    /// Target of a click in the surrounding page, such as `#point-7`; none if empty.
    pub link: String,
    /// True if the mark is hollow: an estimate without certificate.
    pub open: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub name: String,
    /// Points in the order in which a line joins them.
    pub marks: Vec<Mark>,
    /// True if a line joins the points.
    pub joined: bool,
}

pub(crate) const MOST_SERIES: usize = 12;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    pub title: String,
    pub subtitle: String,
    pub x: Axis,
    pub y: Axis,
    /// Series to draw, at most `MOST_SERIES`.
    pub series: Vec<Series>,
}

impl Chart {
    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// [`PlotError`] if there is no point, or a point does not fit its axis.
    pub fn svg(&self) -> Result<String, PlotError> {
        // A long legend makes the page higher.
        let names = || self.series.iter().map(|series| LINE * wrapped_name(series).len() as i32 + GAP);
        let legend = if self.series.len() > 1 { HEAD + names().sum::<i32>() + BELOW } else { 0 };
        let size = (SIZE.0, SIZE.1.max(legend as u32));
        theme::page(&self.title, &self.subtitle, size, |page| self.draw(page, size.1 as i32))
    }

    fn draw(&self, page: &Page<'_>, height: i32) -> Result<String, String> {
        let width = SIZE.0 as i32;
        let legend = if self.series.len() > 1 { LEGEND } else { 24 };
        let marks = || self.series.iter().flat_map(|series| &series.marks);
        let x = Ruler::new(&self.x, marks().map(|mark| mark.x), LEFT..width - legend)?;
        let y = Ruler::new(&self.y, marks().map(|mark| mark.y), height - BELOW..HEAD + 8)?;
        axes(page, (&x, &self.x), (&y, &self.y), (width - legend, height))?;
        let mut links = String::new();
        for (number, series) in self.series.iter().enumerate() {
            let at = |mark: &Mark| (x.pixel(mark.x), y.pixel(mark.y));
            if series.joined {
                theme::line(page, series.marks.iter().map(at).collect(), colour(number).stroke_width(2))?;
            }
            for mark in &series.marks {
                shape(page, number, at(mark), mark.open)?;
                links += &link(mark, at(mark));
            }
        }
        self.legend(page, width - legend + 16)?;
        Ok(links)
    }

    fn legend(&self, page: &Page<'_>, left: i32) -> Result<(), String> {
        if self.series.len() < 2 {
            return Ok(());
        }
        let mut top = HEAD + 14;
        for (number, series) in self.series.iter().enumerate() {
            if series.joined {
                theme::line(page, vec![(left, top), (left + 22, top)], colour(number).stroke_width(2))?;
            }
            shape(page, number, (left + 11, top), false)?;
            for line in wrapped_name(series) {
                theme::text(page, &line, (left + 30, top), 13, INK, Pos::new(HPos::Left, VPos::Center))?;
                top += LINE;
            }
            top += GAP;
        }
        if self.series.iter().flat_map(|series| &series.marks).any(|mark| mark.open) {
            for line in theme::wrapped("hollow marks: the model alone, not certified", LEGEND_WIDTH) {
                theme::text(page, &line, (left, top + 4), 12, DIM, Pos::new(HPos::Left, VPos::Center))?;
                top += 16;
            }
        }
        Ok(())
    }
}

fn wrapped_name(series: &Series) -> Vec<String> {
    theme::wrapped(&series.name, LEGEND_WIDTH - 5)
}

fn axes(
    page: &Page<'_>,
    x: (&Ruler, &Axis),
    y: (&Ruler, &Axis),
    (right, height): (i32, i32),
) -> Result<(), String> {
    let bottom = height - BELOW;
    for tick in &y.0.ticks {
        let at = y.0.pixel(*tick);
        theme::line(page, vec![(LEFT, at), (right, at)], GRID.into())?;
        theme::text(page, &short(*tick), (LEFT - 8, at), 12, DIM, Pos::new(HPos::Right, VPos::Center))?;
    }
    for tick in &x.0.ticks {
        let at = x.0.pixel(*tick);
        theme::line(page, vec![(at, bottom), (at, bottom + 5)], INK.into())?;
        theme::text(page, &short(*tick), (at, bottom + 8), 12, DIM, Pos::new(HPos::Center, VPos::Top))?;
    }
    theme::line(page, vec![(LEFT, HEAD + 8), (LEFT, bottom), (right, bottom)], INK.into())?;
    let middle = ((LEFT + right) / 2, height - 12);
    theme::text(page, &x.1.label, middle, 13, INK, Pos::new(HPos::Center, VPos::Bottom))?;
    theme::upright(page, &y.1.label, (18, (HEAD + 8 + bottom) / 2))
}

fn shape(page: &Page<'_>, series: usize, (x, y): (i32, i32), open: bool) -> Result<(), String> {
    let own = colour(series);
    // A hollow mark is filled with the page colour, so that it hides the line behind it.
    let style = if open { PAPER.filled() } else { own.filled() };
    let edge = own.stroke_width(2);
    let polygon = |points: Vec<(i32, i32)>| {
        page.draw(&Polygon::new(points.clone(), style)).map_err(|error| error.to_string())?;
        let closed = points.iter().copied().chain(points.first().copied()).collect();
        theme::line(page, closed, edge)
    };
    match series % 4 {
        0 => {
            page.draw(&Circle::new((x, y), 4, style)).map_err(|error| error.to_string())?;
            page.draw(&Circle::new((x, y), 4, edge)).map_err(|error| error.to_string())
        }
        1 => polygon(vec![(x - 4, y - 4), (x + 4, y - 4), (x + 4, y + 4), (x - 4, y + 4)]),
        2 => polygon(vec![(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)]),
        _ => polygon(vec![(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)]),
    }
}

/// Returns an invisible circle with tooltip and link. It is larger than the mark, so that it is easy to hit.
fn link(mark: &Mark, (x, y): (i32, i32)) -> String {
    if mark.title.is_empty() && mark.link.is_empty() {
        return String::new();
    }
    let spot = format!(
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"9\" fill=\"transparent\"><title>{}</title></circle>",
        escape(&mark.title)
    );
    if mark.link.is_empty() {
        spot + "\n"
    } else {
        format!("<a href=\"{}\">{spot}</a>\n", escape(&mark.link))
    }
}
