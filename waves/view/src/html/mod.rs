//! Skeleton of HTML pages that need nothing but themselves: no network, no other file.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

/// Colours for light and dark screens, and the style of what every page has.
const THEME: &str = include_str!("theme.css");

/// A page.
#[derive(Clone, Debug)]
pub struct HtmlPage<'a> {
    /// Title of the window.
    pub title: &'a str,
    /// Style sheet behind the theme.
    pub style: &'a str,
    /// Content of the body.
    pub body: Markup,
}

impl HtmlPage<'_> {
    /// Text of the file. Control characters, which HTML does not have, become U+FFFD.
    pub fn text(self) -> String {
        let HtmlPage { title, style, body } = self;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    // Whatever texts may say, nothing is fetched from anywhere.
                    meta http-equiv="Content-Security-Policy"
                        content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
                    // No icon: browsers would otherwise ask for one.
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

/// A column of a [`table`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Column<'a> {
    /// Text in the head of the table.
    pub label: &'a str,
    /// Text for the mouse pointer; none if it is empty.
    pub about: &'a str,
    /// The column has figures, which stand at its right edge.
    pub is_figure: bool,
}

impl<'a> Column<'a> {
    /// A column of texts.
    pub fn text(label: &'a str) -> Self {
        Column { label, ..Column::default() }
    }

    /// A column of figures.
    pub fn figure(label: &'a str) -> Self {
        Column { label, is_figure: true, ..Column::default() }
    }
}

/// A table with a head and the rows `body`, in a frame of its own. `label` names the frame.
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

/// A frame that scrolls sideways where its content is wider than the window.
pub fn scroll(label: &str, content: impl Render) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (content) } }
}

/// A plot, and the caption above it if there is one.
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
