use maud::{Markup, html};

use super::super::figures::{count, counted};
use super::href;
use crate::report::summary::{Bucket, Summary, Verdict};
use crate::report::text::{by_suspect, said};
use crate::run::result::Status;

/// Number of buckets whose message is initially expanded.
const OPEN: usize = 1;

pub(super) fn section(summary: &Summary) -> Markup {
    html! {
        section #failures {
            h2 { "Failures" }
            @if summary.buckets.is_empty() {
                p.empty {
                    @match summary.verdict() {
                        Verdict::Failed => { "Some failed tests are in no bucket; results.jsonl lists them." }
                        _ => { "No test failed." }
                    }
                }
            }
            @for cause in &summary.causes {
                p.cause { b { "Likely one cause: " } (said(summary, cause)) }
            }
            @for group in by_suspect(&summary.buckets) {
                @let common = summary.buckets[group[0]].suspect.as_ref().filter(|_| group.len() > 1);
                @if let Some(suspect) = common {
                    p.cause { b { "Likely one cause: " } code { (suspect) } }
                }
                @for at in group { (article(at, &summary.buckets[at])) }
            }
        }
    }
}

fn article(at: usize, bucket: &Bucket) -> Markup {
    let lines = bucket.text.lines().count();
    html! {
        article.bucket id={ "bucket-" (at + 1) } {
            h3 {
                a.number href={ "#bucket-" (at + 1) } { (at + 1) }
                code { (bucket.key) }
                span.tests { (counted(bucket.tests, "test")) }
            }
            dl.facts {
                @if bucket.status != Status::Failed { (fact("ended", bucket.status.name())) }
                @if let Some(what) = bucket.key.what() { div { dt { "first mismatch" } dd { code { (what) } } } }
                @if let Some(op) = bucket.key.op { div { dt { "operation" } dd { code { (op) } } } }
                (fact(if bucket.configs.len() == 1 { "configuration" } else { "configurations" }, &bucket.configs.join(", ")))
                div { dt { "first" } dd { code { (bucket.first_name) } " (test " (count(bucket.first)) ")" } }
                @if let Some(requests) = bucket.requests { (fact("smaller case", &counted(requests, "request"))) }
            }
            @if let Some(suspect) = &bucket.suspect {
                div.repeat {
                    span.label { "suspect" }
                    code { (suspect) }
                }
            }
            @if !bucket.repeat.is_empty() {
                div.repeat {
                    span.label { "repeat" }
                    code.copy tabindex="0" { (bucket.repeat) }
                }
            }
            @if let Some(bundle) = &bucket.bundle {
                div.repeat {
                    span.label { "bundle" }
                    span {
                        @for file in &bucket.files { a href=(href(&[bundle, file])) { (file) } " " }
                        code.path { (bundle) "/" }
                    }
                }
            }
            @if lines == 1 {
                pre tabindex="0" { (bucket.text) }
            } @else if lines > 1 {
                details open[at < OPEN] {
                    summary { "what was found" @if at >= OPEN { ", " (counted(lines as u64, "line")) } }
                    pre tabindex="0" { (bucket.text) }
                }
            }
        }
    }
}

fn fact(name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}
