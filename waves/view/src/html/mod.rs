//! Skeleton of self-contained HTML pages: no network, no other files.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

const THEME: &str = include_str!("theme.css");

#[derive(Clone, Debug)]
pub struct HtmlPage<'a> {
    pub title: &'a str,
    pub style: &'a str,
    pub body: Markup,
}

impl HtmlPage<'_> {
    /// Returns the text of the file. Control characters, which HTML forbids, become U+FFFD.
    pub fn text(self) -> String {
        let HtmlPage { title, style, body } = self;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    // Block all network access, whatever the texts contain.
                    meta http-equiv="Content-Security-Policy"
                        content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
                    // An empty icon, so that browsers do not request one.
                    link rel="icon" href="data:,";
                    title { (title) }
                    style { (PreEscaped(THEME)) (PreEscaped(style)) }
                }
                body { (body) }
            }
        }
        .into_string()
        .replace(|c: char| c.is_control() && c != '\n' && c != '\t', "\u{fffd}")
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Column<'a> {
    pub label: &'a str,
    /// Tooltip; none if empty.
    pub about: &'a str,
    /// True if the column contains figures, which are aligned to the right.
    pub is_figure: bool,
}

impl<'a> Column<'a> {
    pub fn text(label: &'a str) -> Self {
        Column { label, ..Column::default() }
    }

    pub fn figure(label: &'a str) -> Self {
        Column { label, is_figure: true, ..Column::default() }
    }
}

/// Returns a table with a header row and the rows `body`, in a scrollable frame. `label` names the frame.
pub fn table(label: &str, class: &str, columns: &[Column<'_>], body: impl Render) -> Markup {
    let table = html! {
        table class=[Some(class).filter(|class| !class.is_empty())] {
            @if !columns.is_empty() {
                thead {
                    tr {
                        @for column in columns {
                            @let about = Some(column.about).filter(|about| !about.is_empty());
                            th class=[column.is_figure.then_some("figure")] scope="col" title=[about] { (column.label) }
                        }
                    }
                }
            }
            tbody { (body) }
        }
    };
    scroll(label, table)
}

/// Returns a frame that scrolls horizontally if its content is wider than the window.
pub fn scroll(label: &str, content: impl Render) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (content) } }
}

pub fn figure(caption: Option<Markup>, plot: impl Render) -> Markup {
    html! {
        figure {
            @if let Some(caption) = caption { figcaption { (caption) } }
            (plot)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place() {
        let title = "</title><script>alert(1)</script>&amp;\u{1b}";
        let body = table("a \"b\"", "", &[Column::text("<i>")], html! { tr { td { "<b>" } } });
        let text = HtmlPage { title, style: "p{}", body }.text();
        assert!(
            text.contains(
                "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;\u{fffd}</title>"
            ),
            "{text}"
        );
        assert!(text.contains(r#"aria-label="a &quot;b&quot;"><table><thead>"#), "{text}");
        assert!(
            text.contains(r#"<th scope="col">&lt;i&gt;</th>"#) && text.contains("<td>&lt;b&gt;</td>"),
            "{text}"
        );
    }

    #[test]
    fn a_page_asks_for_nothing() {
        let text = HtmlPage { title: "a", style: "", body: html! {} }.text();
        assert!(text.contains("default-src 'none'"), "{text}");
        assert!(!["http:", "https:", "url(", "@import"].iter().any(|word| text.contains(word)), "{text}");
    }
}
