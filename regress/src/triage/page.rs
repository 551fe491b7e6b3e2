//! The report of a bundle as one page, with nothing outside it.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::triage::layout::file;
use crate::triage::text::{Content, HERE, Report};

/// The report as a page.
pub(crate) fn page(report: &Report<'_>) -> String {
    let key = &report.record.key;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { (key) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                div.banner {
                    h1 { (key) }
                    @if report.wave_from.is_some() { p { a href=(file::WAVE_PAGE) { "the wave at the failure" } } }
                    (table(&[], &report.head(), ""))
                }
                @for section in report.sections() {
                    h2 { (section.title) }
                    @match &section.content {
                        Content::Words(words) => { pre { (words) } },
                        Content::Table(head, rows) => (table(head, rows, section.class)),
                    }
                    @if !section.more.is_empty() { p { (section.more) } }
                }
            }
        }
    }
    .into_string()
}

/// A table; the row that ends with [`HERE`] is that of the cycle that fails.
fn table(head: &[&str], rows: &[Vec<String>], class: &str) -> Markup {
    html! {
        div.wide {
            table class=(class) {
                @if !head.is_empty() { thead { tr { @for name in head { th scope="col" { (name) } } } } }
                @for row in rows {
                    tr.fails[row.last().is_some_and(|last| last == HERE)] { @for cell in row { td { (cell) } } }
                }
            }
        }
    }
}
