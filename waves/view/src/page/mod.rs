//! A wave as a page: one HTML file that needs nothing else, neither a network nor another file.
//!
//! The wave is in the page in a compact form (`packed`); scripts unpack it and draw what is visible.

mod packed;

use atoms_wave_write::WaveView;
use maud::{PreEscaped, html};

use crate::html::HtmlPage;
use crate::{Excerpt, WaveNames};

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
        let body = html! {
            (PreEscaped(include_str!("page.html")))
            script type="text/plain" id="packed" { (PreEscaped(packed::text(self))) }
            script { (PreEscaped("\n\"use strict\";\n")) @for script in SCRIPTS { (PreEscaped(script)) } }
        };
        HtmlPage { title: self.title, style: include_str!("page.css"), body }.text()
    }
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
            html.contains("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;</title>"),
            "{html}"
        );
    }
}
