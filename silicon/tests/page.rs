//! Checks `docs/silicon.md`: for each clause its sources, and the number of GPU answers about it.

use expect_test::expect_file;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::path::PathBuf;

use atoms_silicon::capture::{Capture, ProgramRecord};
use atoms_silicon::catalogue;
use atoms_silicon::report::{self, CaptureReport};

const BEGIN: &str = "<!-- begin: clauses -->\n";
const END: &str = "<!-- end: clauses -->\n";

fn docs(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

fn sources(text: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    for tag in text.split('[').skip(1).flat_map(|part| part.split(']').next().unwrap_or_default().split(','))
    {
        let tag = tag.trim().split([':', ' ']).next().unwrap_or_default();
        if tag.len() > 2 && tag.chars().all(|c| c.is_ascii_uppercase() || c == '-') && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

/// Returns number and text of each clause of the specification. Section 3 counts as one clause, because it is
/// a table.
fn clauses(page: &str) -> BTreeMap<String, String> {
    let mut clauses = BTreeMap::new();
    let mut number: Option<String> = None;
    for line in page.lines() {
        if let Some((clause, _)) = line.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
            if clause.chars().all(|c| c.is_ascii_digit() || c == '.') {
                number = Some(clause.into());
            }
        } else if line.starts_with("## ") {
            number = line.starts_with("## 3.").then(|| "3".into());
        }
        if let Some(number) = &number {
            let text: &mut String = clauses.entry(number.clone()).or_default();
            text.push_str(line);
            text.push('\n');
        }
    }
    clauses
}

/// Reads every capture of a real GPU in the repository. Skips the capture of the stand-in.
fn silicon() -> Vec<Capture> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("captures");
    let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let of_gpus = folders.iter().filter(|folder| folder.is_dir() && !folder.ends_with("standin"));
    of_gpus
        .map(|folder| Capture::read(File::open(folder.join("capture.jsonl.gz")).unwrap()).unwrap())
        .collect()
}

/// Returns the verdict of each GPU about a clause. Empty if no program about the clause answered.
fn about(captures: &[(Capture, CaptureReport)], clause: &str) -> BTreeMap<String, String> {
    let mut said = BTreeMap::new();
    for (capture, report) in captures {
        let asks = |record: &&ProgramRecord| {
            record.program.clauses.iter().any(|c| c == clause) && record.outputs().is_some()
        };
        if capture.records.iter().any(|record| asks(&record)) {
            let against =
                report.oracle.findings.iter().filter(|f| f.refusal.clause == format!("spec {clause}"));
            let programs: BTreeSet<&str> = against.map(|f| &f.program[..]).collect();
            let verdict = match programs.len() {
                0 => "agrees".into(),
                1 => "1 program differs".into(),
                n => format!("{n} programs differ"),
            };
            said.entry(report.header.device.name.clone()).or_insert(verdict);
        }
    }
    said
}

#[test]
fn the_page_has_every_clause_that_is_asked_about() {
    let specification = std::fs::read_to_string(docs("spec.md")).unwrap();
    let clauses = clauses(&specification);
    let mut asked: BTreeMap<&str, u32> = BTreeMap::new();
    let programs = catalogue::programs(1);
    for clause in programs.iter().flat_map(|program| &program.clauses) {
        assert!(clauses.contains_key(clause), "clause {clause}: docs/spec.md has none of that number");
        *asked.entry(clause).or_default() += 1;
    }
    let judged = |capture: Capture| {
        let report = report::judge(&capture);
        (capture, report)
    };
    let captures: Vec<_> = silicon().into_iter().map(judged).collect();
    let mut table = String::from("| clause | text from | programs | silicon |\n|---|---|---|---|\n");
    for (clause, text) in &clauses {
        let programs = asked.get(&clause[..]).map_or("none".into(), u32::to_string);
        let said: Vec<String> =
            about(&captures, clause).iter().map(|(gpu, says)| format!("{gpu}: {says}")).collect();
        let _ =
            writeln!(table, "| {clause} | {} | {programs} | {} |", sources(text).join(", "), said.join("; "));
    }
    let path = docs("silicon.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has the place");
    let (_, after) = rest.split_once(END).expect("the place has an end");
    let expected = format!("{before}{BEGIN}{table}{END}{after}");
    expect_file![&path].assert_eq(&expected);
}
