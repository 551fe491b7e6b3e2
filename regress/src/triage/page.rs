//! The report of a bundle as one page, with nothing outside it.

use std::fmt::Write as _;

use crate::triage::text::{Report, requests, surroundings};
use crate::triage::timeline::COLUMNS;

/// Text as it may stand in a page.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

const STYLE: &str = "\
:root{--ink:#1c2128;--dim:#59636e;--line:#d5dae0;--paper:#fff;--shade:#f5f7f9;--bad:#b3261e;--badback:#fdecea;--good:#1a6b3c}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#9aa4af;--line:#3a424c;--paper:#15191e;--shade:#1e242b;--bad:#ff8a80;--badback:#3a1d1b;--good:#7bd69c}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1.5rem;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:2rem 0 .5rem}
p{margin:.25rem 0}
.dim{color:var(--dim)}
.banner{border-left:.4rem solid var(--bad);background:var(--badback);padding:.9rem 1.1rem;border-radius:.25rem}
.facts{display:flex;flex-wrap:wrap;gap:.25rem 2rem;margin-top:.5rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.25rem .75rem;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--dim);font-size:.85rem}
td.v,code,pre{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.87rem}
pre{background:var(--shade);padding:.75rem 1rem;border-radius:.25rem;overflow-x:auto;margin:0}
tr.fails td{background:var(--badback);font-weight:600}
.rtl{color:var(--bad);font-weight:600}.model{color:var(--good);font-weight:600}
summary{cursor:pointer;margin:2rem 0 .5rem;font-weight:600}
";

/// One table with a head.
fn table(out: &mut String, head: &[&str], rows: impl IntoIterator<Item = String>) {
    let _ = write!(out, "<div class=\"wide\"><table><thead><tr>");
    for cell in head {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(cell));
    }
    let _ = writeln!(out, "</tr></thead><tbody>");
    for row in rows {
        let _ = writeln!(out, "{row}");
    }
    let _ = writeln!(out, "</tbody></table></div>");
}

fn cell(text: &str) -> String {
    format!("<td class=\"v\">{}</td>", escape(text))
}

/// The report as a page.
pub(crate) fn page(report: &Report<'_>) -> String {
    let record = report.record;
    let key = escape(&record.key);
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{key}</title>\n<style>\n{STYLE}</style></head><body>\n<div class=\"banner\"><h1>{key}</h1>"
    );
    let clause =
        report.clause().map_or("no clause named".to_string(), |clause| format!("<b>{}</b>", escape(clause)));
    let cycle = report.small.map_or(record.cycle, |small| small.cycle);
    let of = if report.small.is_some() { "the smallest case" } else { "the run" };
    let _ = writeln!(
        out,
        "<p>In cycle <b>{cycle}</b> of {of} ({}).</p><div class=\"facts\"><span>Broken: {clause}</span>\
         <span>Configuration: <b>{}</b></span><span>Test: <b>{}</b></span></div></div>",
        escape(&report.size()),
        escape(&record.config),
        escape(&record.test)
    );
    let (differences, all) = report.differences();
    if !differences.is_empty() {
        let _ = writeln!(out, "<h2>What differs</h2>");
        table(
            &mut out,
            &["where", "model", "rtl"],
            differences.iter().map(|d| {
                format!(
                    "<tr>{}<td class=\"v model\">{}</td><td class=\"v rtl\">{}</td></tr>",
                    cell(&d.place()),
                    escape(&d.show(d.model)),
                    escape(&d.show(d.rtl))
                )
            }),
        );
        if all > differences.len() {
            let _ = writeln!(out, "<p class=\"dim\">and {} more values</p>", all - differences.len());
        }
    } else {
        let _ = writeln!(out, "<h2>What was found</h2>\n<pre>{}</pre>", escape(&report.words()));
    }
    let _ = writeln!(
        out,
        "<h2>What the oracle says of the RTL alone</h2>\n<pre>{}</pre>",
        escape(&report.oracle())
    );
    if let Some(small) = report.small {
        let _ = writeln!(out, "<h2>The requests</h2>");
        let mut rows = Vec::new();
        for request in requests(&small.case) {
            let span = request.lanes.len().max(1);
            let head = format!(
                "<td class=\"v\" rowspan=\"{span}\"><b>{}</b></td><td class=\"v\" rowspan=\"{span}\">{}</td>\
                 <td class=\"v\" rowspan=\"{span}\">{}</td>",
                escape(&request.what),
                request.slot,
                request.tag
            );
            if request.lanes.is_empty() {
                rows.push(format!("<tr>{head}<td class=\"dim\" colspan=\"4\">no lane takes part</td></tr>"));
            }
            for (at, lane) in request.lanes.iter().enumerate() {
                let head = if at == 0 { head.as_str() } else { "" };
                let cells: String =
                    [&lane.lane, &lane.address, &lane.b, &lane.c].map(|text| cell(text)).concat();
                rows.push(format!("<tr>{head}{cells}</tr>"));
            }
        }
        table(&mut out, &["request", "slot", "tag", "lane", "address", "b", "c"], rows);
        let around = surroundings(&small.case);
        if !around.is_empty() {
            let rows =
                around.iter().map(|(what, is)| format!("<tr><td>{}</td>{}</tr>", escape(what), cell(is)));
            table(&mut out, &["with", ""], rows);
        }
    }
    if !report.rows.is_empty() {
        let _ = writeln!(out, "<h2>The RTL, cycle by cycle</h2>");
        table(
            &mut out,
            &COLUMNS,
            report.rows.iter().map(|row| {
                let class = if row.fails { " class=\"fails\"" } else { "" };
                format!("<tr{class}>{}</tr>", row.cells.each_ref().map(|text| cell(text)).concat())
            }),
        );
    }
    let _ = writeln!(out, "<h2>Repeat it</h2>");
    table(
        &mut out,
        &["command, in this folder", ""],
        report
            .repeats()
            .iter()
            .map(|(line, what)| format!("<tr>{}<td>{}</td></tr>", cell(line), escape(what))),
    );
    let _ = writeln!(out, "<h2>Where it comes from</h2>");
    let facts = [
        ("test", format!("{}, number {} of a plan with seed {}", record.test, record.index, record.seed)),
        ("ran", report.run()),
        ("found", format!("in cycle {} as {}", record.cycle, record.raw)),
        ("configuration", format!("{}: {}", record.config, report.parameters())),
        ("rtl", format!("{}, built with Verilator {}", record.rtl, record.verilator)),
        ("wave", report.wave()),
    ];
    table(
        &mut out,
        &["", ""],
        facts.iter().map(|(what, is)| {
            format!("<tr><td>{what}</td><td style=\"overflow-wrap:anywhere\">{}</td></tr>", escape(is))
        }),
    );
    let _ = writeln!(
        out,
        "<details><summary>The failure as it was met</summary><pre>{}</pre></details>\n</body></html>",
        escape(&report.failed.failure.to_string())
    );
    out
}
