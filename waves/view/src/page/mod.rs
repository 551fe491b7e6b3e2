//! Wave as a page: one self-contained HTML file.
//!
//! The page contains the wave in a compact form (`packed`). Scripts unpack it and draw the visible part.

mod packed;

use atoms_wave_write::WaveView;
use maud::{PreEscaped, html};

use crate::html::HtmlPage;
use crate::{Excerpt, WaveNames};

#[derive(Clone, Copy, Debug)]
pub struct WavePage<'a> {
    /// Heading of the page.
    pub title: &'a str,
    pub excerpt: &'a Excerpt,
    /// Signals to show first. All signals follow below, in their scopes.
    pub view: &'a WaveView,
    pub names: &'a WaveNames,
    /// Name and content of the text whose lines transactions refer to, such as a kernel.
    pub source: Option<(&'a str, &'a str)>,
}

/// Scripts in order: each one uses those before it.
const SCRIPTS: &[&str] = &[
    include_str!("wave.js"),
    include_str!("values.js"),
    include_str!("rows.js"),
    include_str!("drawing.js"),
    include_str!("page.js"),
];

impl WavePage<'_> {
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
