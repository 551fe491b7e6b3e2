//! Compares text reports with stored files, and checks the width of 80 columns.

use atoms_regress::report::text;
use atoms_regress::triage::signature::{FailureKind, Signature};

use expect_test::expect_file;

use super::fixture::{self, Regression};

fn golden(regression: &Regression, file: &str) {
    let text = text::report(&regression.summary, &regression.timing, "target/regress/nightly/report.html");
    expect_file![file].assert_eq(&text);
    for line in text.lines() {
        assert!(line.chars().count() <= 80 || line.contains("repeat  "), "wider than 80 columns: {line}");
        assert_eq!(line.trim_end(), line, "spaces at the end");
    }
}

#[test]
fn a_failing_regression_reads_like_this() {
    golden(&fixture::failing(), "failing.txt");
}

#[test]
fn a_passing_regression_reads_like_this() {
    golden(&fixture::passing(), "passing.txt");
}

#[test]
fn what_is_the_same_everywhere_holds_no_times() {
    let mut other = fixture::failing();
    other.timing.wall_s *= 2.0;
    other.timing.started += 1;
    let text = text::deterministic(&fixture::failing().summary);
    assert_eq!(text, text::deterministic(&other.summary));
    assert!(!text.contains(" s\n") && !text.contains("UTC"), "{text}");
}

#[test]
fn any_text_stays_within_the_columns_and_steers_no_terminal() {
    let mut regression = fixture::failing();
    let long = format!("{}\u{1b}[2J{}\r\n\t{}", "wide ".repeat(60), "x".repeat(300), "語".repeat(90));
    let summary = &mut regression.summary;
    for bucket in &mut summary.buckets {
        bucket.key = Signature::new(FailureKind::Assertion, &long);
        bucket.text.clone_from(&long);
        bucket.first_name.clone_from(&long);
    }
    for group in &mut summary.coverage.groups {
        group.name.clone_from(&long);
    }
    summary.entries[0].name.clone_from(&long);
    summary.plan.clone_from(&long);
    summary.rtl = "é".repeat(12);
    let text = text::report(summary, &regression.timing, "page.html");
    assert!(!text.contains(['\u{1b}', '\r', '\t']), "control characters are written out");
    for line in text.lines().filter(|line| !line.contains("repeat  ")) {
        assert!(line.chars().count() <= 80, "wider than 80 columns: {line}");
    }
}

#[test]
fn an_empty_summary_is_not_a_success() {
    let text = text::deterministic(&Default::default());
    assert!(text.starts_with("INCOMPLETE  no test was run"), "{text}");
}
