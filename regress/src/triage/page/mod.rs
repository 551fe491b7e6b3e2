//! Report of a bundle as a self-contained HTML page.

pub(crate) mod text;
pub mod timeline;
pub(crate) mod wave_page;

use atoms_wave_view::html::{Column, HtmlPage};
use maud::{Markup, html};

use crate::triage::layout::file;
use crate::triage::page::text::{Content, HERE, Report};

pub(crate) fn page(report: &Report<'_>) -> String {
    let key = &report.record.key;
    let body = html! {
        div.banner {
            h1 { (key) }
            @if report.wave_from.is_some() { p { a href=(file::WAVE_PAGE) { "the wave at the failure" } } }
            (table("Failure", "", &[], &report.head()))
        }
        @for section in report.sections() {
            h2 { (section.title) }
            @match &section.content {
                Content::Words(words) => { pre { (words) } },
                Content::Table(head, rows) => (table(section.title, section.class, head, rows)),
            }
            @if !section.more.is_empty() { p { (section.more) } }
        }
    };
    HtmlPage { title: &key.to_string(), style: include_str!("page.css"), body }.text()
}

/// Renders a table. The row whose last cell is [`HERE`] is the failing cycle.
fn table(label: &str, class: &str, head: &[&str], rows: &[Vec<String>]) -> Markup {
    let columns: Vec<_> = head.iter().map(|name| Column::text(name)).collect();
    let rows = html! {
        @for row in rows {
            tr.fails[row.last().is_some_and(|last| last == HERE)] { @for cell in row { td { (cell) } } }
        }
    };
    atoms_wave_view::html::table(label, class, &columns, rows)
}
