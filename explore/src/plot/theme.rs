//! Colours of plots, and the page that a plot is drawn on.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotError;

pub(super) const SIZE: (u32, u32) = (760, 430);
/// Height of title and subtitle in pixels.
pub(super) const HEAD: i32 = 58;
pub(super) const INK: RGBColor = RGBColor(0x1f, 0x23, 0x28);
pub(super) const DIM: RGBColor = RGBColor(0x59, 0x63, 0x6e);
pub(super) const GRID: RGBColor = RGBColor(0xd8, 0xde, 0xe4);
pub(super) const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);

/// Colours of series, after [OKABE], darkest first. Black is omitted, and yellow too, since it is hard to see
/// on white.
pub(super) const SERIES: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x8c, 0x8c, 0x8c),
];

const DARK: [(RGBColor, RGBColor); 5] = [
    (INK, RGBColor(0xe6, 0xed, 0xf3)),
    (DIM, RGBColor(0x9d, 0xa7, 0xb3)),
    (GRID, RGBColor(0x30, 0x36, 0x3d)),
    (PAPER, RGBColor(0x15, 0x19, 0x1e)),
    (SERIES[0], RGBColor(0x4d, 0xa3, 0xd9)),
];

pub(super) fn colour(series: usize) -> RGBColor {
    SERIES[series % SERIES.len()]
}

fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

pub(super) type Page<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws a plot on an empty page with title and subtitle, and returns SVG with a dark mode. The SVG elements
/// that `draw` returns go on top.
pub(super) fn page(
    title: &str,
    subtitle: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Page<'_>) -> Result<String, String>,
) -> Result<String, PlotError> {
    let mut svg = String::new();
    let mut on_top = String::new();
    let drawn = || {
        let page = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        page.fill(&PAPER).map_err(|error| error.to_string())?;
        text(&page, title, (16, 12), 17, INK, Pos::new(HPos::Left, VPos::Top))?;
        let fits = 13 * 116 / subtitle.chars().count().max(1);
        text(&page, subtitle, (16, 34), fits.clamp(8, 13) as i32, DIM, Pos::new(HPos::Left, VPos::Top))?;
        on_top = draw(&page)?;
        page.present().map_err(|error| error.to_string())
    };
    drawn().map_err(|reason| PlotError { title: title.to_string(), reason })?;
    let dark = DARK.iter().map(|(light, dark)| {
        let (light, dark) = (hex(*light), hex(*dark));
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
    });
    let style = format!(
        "<style>a{{cursor:pointer}}a:hover circle{{stroke-width:3}}@media(prefers-color-scheme:dark){{{}}}</style>\n",
        dark.collect::<String>()
    );
    let open = svg.find('>').map_or(0, |at| at + 1);
    svg.insert_str(open, &style);
    let close = svg.rfind("</svg>").unwrap_or(svg.len());
    svg.insert_str(close, &on_top);
    Ok(svg)
}

pub(super) fn text(
    page: &Page<'_>,
    text: &str,
    at: (i32, i32),
    size: i32,
    colour: RGBColor,
    anchor: Pos,
) -> Result<(), String> {
    let style = ("sans-serif", size).into_font().color(&colour).pos(anchor);
    page.draw_text(text, &style, at).map_err(|error| error.to_string())
}

pub(super) fn upright(page: &Page<'_>, words: &str, at: (i32, i32)) -> Result<(), String> {
    let font = ("sans-serif", 13).into_font().transform(FontTransform::Rotate270);
    let style = font.color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
    page.draw_text(words, &style, at).map_err(|error| error.to_string())
}

pub(super) fn line(page: &Page<'_>, points: Vec<(i32, i32)>, style: ShapeStyle) -> Result<(), String> {
    page.draw(&PathElement::new(points, style)).map_err(|error| error.to_string())
}

pub(super) fn rectangle(
    page: &Page<'_>,
    corners: [(i32, i32); 2],
    style: impl Into<ShapeStyle>,
) -> Result<(), String> {
    page.draw(&Rectangle::new(corners, style.into())).map_err(|error| error.to_string())
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let room = lines
            .last()
            .is_some_and(|line| line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width);
        match lines.last_mut().filter(|_| room) {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_string()),
        }
    }
    lines
}
