//! A wave as a page: one HTML file that needs nothing else, neither a network nor another file.
//!
//! The wave is in the page in a compact form (`packed`); scripts unpack it and draw what is visible.

mod packed;

use crate::{Excerpt, WaveNames, WaveView};

/// A wave to be shown as a page.
#[derive(Clone, Copy, Debug)]
pub struct WavePage<'a> {
    /// What stands above it.
    pub title: &'a str,
    /// The signals with their values.
    pub excerpt: &'a Excerpt,
    /// What is shown first; all signals are shown below, in their scopes.
    pub view: &'a WaveView,
    /// Names of the scopes and signals that are shown in their own way.
    pub names: &'a WaveNames,
    /// Name and content of the text that transactions name lines of, such as a kernel.
    pub source: Option<(&'a str, &'a str)>,
}

/// The markup, with a line for each of the parts below.
const MARKUP: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");

/// The scripts, each of which uses those before it.
const SCRIPTS: &[&str] = &[
    include_str!("wave.js"),
    include_str!("values.js"),
    include_str!("rows.js"),
    include_str!("drawing.js"),
    include_str!("page.js"),
];

impl WavePage<'_> {
    /// The text of the file.
    pub fn html(&self) -> String {
        let mut html = String::new();
        for line in MARKUP.lines() {
            match line.trim() {
                "<!-- title -->" => html.extend(["<title>", &escape(self.title), "</title>"]),
                "<!-- style -->" => html.extend(["<style>\n", STYLE, "</style>"]),
                "<!-- wave -->" => {
                    let packed = packed::text(self);
                    html.extend(["<script type=\"text/plain\" id=\"packed\">", &packed, "</script>"]);
                }
                "<!-- scripts -->" => {
                    html.push_str("<script>\n\"use strict\";\n");
                    html.extend(SCRIPTS.iter().copied());
                    html.push_str("</script>");
                }
                _ => html.push_str(line),
            }
            html.push('\n');
        }
        html
    }
}

fn escape(text: &str) -> String {
    // HTML has no characters for control characters.
    let text = text.replace(char::is_control, "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracks::tests::NAMES;

    #[test]
    fn a_title_is_text() {
        let (excerpt, view) = (Excerpt::default(), WaveView::default());
        let title = "</title><script>alert(1)</script>&amp;";
        let html = WavePage { title, excerpt: &excerpt, view: &view, names: &NAMES, source: None }.html();
        assert!(
            html.contains("<title>&lt;/title>&lt;script>alert(1)&lt;/script>&amp;amp;</title>"),
            "{html}"
        );
        assert!(!html.contains("<!-- "), "each part has its place");
    }
}
