//! `docs/verification.md` lists the checks of each clause of the specification, from its citations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect_file;

const BEGIN: &str = "<!-- begin: clauses -->\n";
const END: &str = "<!-- end: clauses -->\n";

/// Kinds of checks: the columns of the table.
const KINDS: [&str; 6] = ["proof", "assertion", "oracle", "bins", "tests", "silicon"];

type Behind = BTreeMap<&'static str, BTreeSet<String>>;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn block<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(begin).unwrap_or_else(|| panic!("no {begin}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end}")).0
}

/// Returns the numbers of the clauses in page order. Section 3 has an unnumbered table.
fn clauses(page: &str) -> Vec<String> {
    let number = |paragraph: &str| match paragraph.starts_with("M is the memory word") {
        true => Some("3".to_owned()),
        false => Some(paragraph.strip_prefix("**")?.split_once("**")?.0.to_owned()),
    };
    page.split("\n\n").filter_map(number).collect()
}

/// Splits off the number at the start of a text, such as `6.2.1`.
fn number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    number.starts_with(|c: char| c.is_ascii_digit()).then(|| (number, &text[number.len()..]))
}

/// Returns the numbers of a list such as `1.2, 1.3, 2.1 to 2.4 and 6.7`, with the inside of ranges.
fn listed(mut text: &str) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::new();
    let mut range = false;
    while let Some((found, rest)) = number(text) {
        let last = |number: &str| number.rsplit('.').next().and_then(|part| part.parse::<u32>().ok());
        if range && let Some(from) = numbers.last().and_then(|from| last(from)) {
            let section = found.split('.').next().unwrap_or_default();
            let between = from + 1..last(found).unwrap_or_default();
            numbers.extend(between.map(|part| format!("{section}.{part}")));
        }
        numbers.push(found.to_owned());
        range = rest.starts_with(" to ");
        let joined = [", and ", ", ", " and ", " to "].iter().find_map(|joint| rest.strip_prefix(joint));
        let Some(next) = joined else { break };
        text = next;
    }
    numbers
}

/// Returns every clause or section that a text cites as `spec 4.5`, also across comment lines.
fn cited(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(|line| line.trim_start().trim_start_matches(['/', '!', '#', '*']).trim());
    let text = lines.collect::<Vec<_>>().join(" ");
    text.match_indices("spec ").flat_map(|(at, word)| listed(&text[at + word.len()..])).collect()
}

fn files() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    let of = |name: &str| {
        ["rs", "sv", "svh", "md", "toml"]
            .iter()
            .any(|ext| Path::new(name).extension().is_some_and(|e| e == *ext))
    };
    let names = String::from_utf8(listed.stdout).expect("names are text");
    let names: Vec<_> =
        names.lines().filter(|name| of(name) && root().join(name).is_file()).map(str::to_owned).collect();
    assert!(names.len() > 100, "{} files", names.len());
    names
}

/// Returns the column for citations in a file, its name there, and the part of the text that counts.
fn stands_behind<'a>(file: &str, text: &'a str) -> Option<(&'static str, String, &'a str)> {
    let path = Path::new(file);
    let stem = path.file_stem()?.to_str()?;
    // A `mod.rs` is named after its folder.
    let stem = if stem == "mod" { path.parent()?.file_name()?.to_str()? } else { stem };
    let stem = stem.to_owned();
    if file.starts_with("rtl/formal/") && file.ends_with(".sv") {
        return Some(("proof", stem, text));
    }
    // The fixture is the report of an invented regression.
    if !file.ends_with(".rs") || ["fixture", "verification"].contains(&stem.as_str()) {
        return None;
    }
    if let Some(at) = file.find("tests/").filter(|at| *at == 0 || file[..*at].ends_with('/')) {
        let of = file[..at].trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        // `tests/src` holds support code, and `tests/tests` the tests.
        let is_test = at > 0 || file.starts_with("tests/tests/");
        let name = if of.is_empty() { stem } else { format!("{of}/{stem}") };
        return is_test.then_some(("tests", name, text));
    }
    if file.starts_with("oracle/src/") || file.starts_with("oracle/record/src/") {
        return Some(("oracle", stem, text));
    }
    let (_, tests) = text.split_once("#[cfg(test)]")?;
    let of = file.split("/src/").next()?.rsplit('/').next()?;
    Some(("tests", format!("{of}/{stem}"), tests))
}

/// Splits a source into items with their comments. An item starts at the margin after an empty line.
fn items(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut after_empty = false;
    for line in text.lines() {
        if after_empty && line.starts_with(|c: char| !c.is_whitespace() && c != '}') {
            items.push(String::new());
        }
        after_empty = line.is_empty();
        let item = items.last_mut().expect("there is one from the start");
        item.push_str(line);
        item.push('\n');
    }
    items
}

fn has_quick_test(item: &str) -> bool {
    let begins =
        ["#[test]", "test_each! {", "test_each_configuration! {", "test_each_bug! {", "test_each_kernel! {"];
    let mut tests = begins.iter().flat_map(|begin| item.match_indices(begin));
    tests.any(|(at, begin)| !item[at + begin.len()..].trim_start().starts_with("#[ignore"))
}

fn defined(item: &str) -> Vec<&str> {
    let words: Vec<&str> =
        item.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    let keywords = ["fn", "const", "static", "struct", "enum", "type", "macro_rules"];
    words.windows(2).filter(|pair| keywords.contains(&pair[0])).map(|pair| pair[1]).collect()
}

/// Returns the clauses that quick tests cite: in their text, in items they use, and in the file header.
fn cited_by_quick_tests(text: &str) -> BTreeSet<String> {
    let items = items(text);
    let uses = |user: &str, name: &str| {
        let mut parts = user.match_indices(name).map(|(at, _)| (&user[..at], &user[at + name.len()..]));
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        parts.any(|(before, after)| !before.ends_with(is_word) && !after.starts_with(is_word))
    };
    let mut quick: Vec<bool> = items.iter().map(|item| has_quick_test(item)).collect();
    quick[0] |= quick.iter().any(|quick| *quick);
    // Marks items that quick items use, until there are no more.
    loop {
        let reached: Vec<usize> = (0..items.len())
            .filter(|&at| !quick[at])
            .filter(|&at| {
                let names = defined(&items[at]);
                items
                    .iter()
                    .zip(&quick)
                    .any(|(user, quick)| *quick && names.iter().any(|name| uses(user, name)))
            })
            .collect();
        if reached.is_empty() {
            break;
        }
        reached.into_iter().for_each(|at| quick[at] = true);
    }
    items.iter().zip(quick).filter(|(_, quick)| *quick).flat_map(|(item, _)| cited(item)).collect()
}

fn quick_clauses() -> BTreeSet<String> {
    let mut clauses = BTreeSet::new();
    for file in files() {
        let text = read(&file);
        if let Some(("tests", _, text)) = stands_behind(&file, &text) {
            clauses.extend(cited_by_quick_tests(text));
        }
    }
    clauses
}

/// Returns the first tier that tests a clause: a quick test, a proof, or a nightly test. Assertions, oracle
/// and bins without a test count as quick, because they work in every simulation.
fn tier(behind: &Behind, is_quick: bool) -> &'static str {
    match (is_quick, behind.contains_key("proof"), behind.contains_key("tests")) {
        (true, _, _) | (false, false, false) => "quick",
        (false, true, _) => "CI",
        (false, false, true) => "nightly",
    }
}

fn behind() -> BTreeMap<String, Behind> {
    let mut behind: BTreeMap<String, Behind> = BTreeMap::new();
    let mut add = |clause: String, kind: &'static str, name: String| {
        behind.entry(clause).or_default().entry(kind).or_default().insert(name);
    };
    for file in files() {
        let text = read(&file);
        if let Some((kind, name, text)) = stands_behind(&file, &text) {
            cited(text).into_iter().for_each(|clause| add(clause, kind, name.clone()));
        }
    }
    let coverage = read("docs/coverage.md");
    for (name, clauses) in assertions(&coverage) {
        clauses.into_iter().for_each(|clause| add(clause, "assertion", name.clone()));
    }
    let groups = block(&coverage, "<!-- begin: groups of bins -->\n", "<!-- end: groups of bins -->\n");
    for group in groups.split("### `").skip(1) {
        let name = group.split('`').next().unwrap_or_default();
        cited(group).into_iter().for_each(|clause| add(clause, "bins", name.to_owned()));
    }
    for row in block(&read("docs/silicon.md"), BEGIN, END).lines().skip(2) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        if let [_, clause, _, _, said, _] = cells[..]
            && !said.is_empty()
        {
            add(clause.to_owned(), "silicon", said.to_owned());
        }
    }
    behind
}

/// Returns the assertions in `docs/coverage.md`, with the clauses in parentheses at the end of each.
fn assertions(page: &str) -> Vec<(String, Vec<String>)> {
    let table = block(page, "## Assertions", "## Bins");
    let mut found = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let [_, names, _, says, _] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let clauses = says.trim().strip_suffix(')').and_then(|says| says.rsplit_once('('));
        let clauses = clauses.map(|(_, clauses)| listed(clauses)).unwrap_or_default();
        let names = names.split('`').skip(1).step_by(2);
        found.extend(names.map(|name| (name.to_owned(), clauses.clone())));
    }
    found
}

fn names(of: Option<&BTreeSet<String>>) -> String {
    const SHOWN: usize = 3;
    let Some(of) = of else { return String::new() };
    let shown: Vec<_> = of.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = of.len().saturating_sub(SHOWN);
    shown.join(" ") + &if more > 0 { format!(" +{more}") } else { String::new() }
}

fn table() -> String {
    let (behind, none, quick) = (behind(), Behind::new(), quick_clauses());
    let clauses = clauses(&read("docs/spec.md"));
    let has = |clause: &str, kind: &str| behind.get(clause).is_some_and(|of| of.contains_key(kind));
    let with = |kind: &str| clauses.iter().filter(|clause| has(clause, kind)).count();
    let mut text = format!("{} clauses. ", clauses.len());
    let counts: Vec<_> = KINDS.iter().map(|kind| format!("{kind} {}", with(kind))).collect();
    let _ = write!(text, "Clauses with an entry: {}.\n\n", counts.join(", "));
    let _ =
        writeln!(text, "| clause | tier | {} |\n|---|---|{}", KINDS.join(" | "), "---|".repeat(KINDS.len()));
    for clause in &clauses {
        let of = behind.get(clause).unwrap_or(&none);
        let cells: Vec<_> = KINDS.iter().map(|kind| names(of.get(kind))).collect();
        let tier = tier(of, quick.contains(clause));
        let _ = writeln!(text, "| {clause} | {tier} | {} |", cells.join(" | "));
    }
    text
}

#[test]
fn the_page_has_what_stands_behind_each_clause() {
    let path = root().join("docs/verification.md");
    let page = std::fs::read_to_string(&path).expect("docs/verification.md can be read");
    let (before, rest) = page.split_once(BEGIN).expect("docs/verification.md has the marker of the clauses");
    let (_, after) = rest.split_once(END).expect("docs/verification.md has the marker behind the clauses");
    expect_file![&path].assert_eq(&format!("{before}{BEGIN}{}{END}{after}", table()));
}

#[test]
fn something_stands_behind_each_clause() {
    let behind = behind();
    let empty: Vec<_> =
        clauses(&read("docs/spec.md")).into_iter().filter(|clause| !behind.contains_key(clause)).collect();
    assert!(empty.is_empty(), "no proof, assertion, bin, test, and not the oracle, cites {empty:?}");
}

#[test]
fn the_quick_tier_tests_each_clause() {
    let (behind, quick) = (behind(), quick_clauses());
    let none = Behind::new();
    let tier_of = |clause: &str| tier(behind.get(clause).unwrap_or(&none), quick.contains(clause));
    let later = clauses(&read("docs/spec.md")).into_iter().filter(|clause| tier_of(clause) != "quick");
    assert_eq!(later.collect::<Vec<_>>(), [] as [String; 0], "no quick test cites these clauses");
}

#[test]
fn a_nightly_test_makes_no_clause_quick() {
    let ignored = "#[ignore = \"nightly: long\"]";
    let text = format!(
        "//! Waits (spec 6.1).\n\n/// spec 6.2\nconst ROWS: u32 = 1;\n\n/// spec 6.3\nfn other() {{}}\n\n\
         #[test]\n{ignored}\nfn all() {{\n    other();\n\n    // spec 6.4\n}}\n\n#[test]\nfn one() {{ ROWS; }}\n"
    );
    let quick = |text: &str| cited_by_quick_tests(text).into_iter().collect::<Vec<_>>();
    assert_eq!(quick(&text), ["6.1", "6.2"]);
    assert_eq!(quick(&text.replace(&format!("{ignored}\n"), "")), ["6.1", "6.2", "6.3", "6.4"]);
    let rows = "test_each! { mod a: run; one two }\n\n/// spec 6.1\nfn run(_: &str) {}\n";
    assert_eq!(quick(rows), ["6.1"]);
    assert_eq!(quick(&rows.replace("mod", &format!("{ignored} mod"))), [""; 0]);
}

#[test]
fn what_is_cited_is_a_clause_or_a_section() {
    let page = read("docs/spec.md");
    let mut known: BTreeSet<String> = clauses(&page).into_iter().collect();
    known.extend(
        page.lines().filter_map(|line| line.strip_prefix("## ")?.split_once('.')).map(|(n, _)| n.into()),
    );
    let mut unknown = Vec::new();
    for file in files().iter().filter(|file| *file != "tests/tests/verification.rs") {
        unknown.extend(cited(&read(file)).difference(&known).map(|clause| format!("{file}: spec {clause}")));
    }
    assert!(unknown.is_empty(), "docs/spec.md has none of these:\n{}", unknown.join("\n"));
}

#[test]
fn every_assertion_of_the_rtl_is_in_the_table() {
    let mut in_rtl = BTreeSet::new();
    for file in files().iter().filter(|file| file.starts_with("rtl/atoms_") && file.ends_with(".sv")) {
        for line in read(file).lines().filter(|line| line.trim_start().starts_with("`ATOMS_ASSERT")) {
            let (_, rest) = line.split_once('(').expect("an assertion has arguments");
            in_rtl.insert(rest.split([',', ')']).next().unwrap_or_default().trim().to_owned());
        }
    }
    let listed: BTreeSet<_> =
        assertions(&read("docs/coverage.md")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(listed, in_rtl, "the table of assertions in docs/coverage.md, and those of the RTL");
}

#[test]
fn lists_and_ranges_of_clauses_are_read() {
    let of = |text: &str| cited(text).into_iter().collect::<Vec<_>>();
    assert_eq!(of("as is (spec 1.2, 2.1 to 2.4 and 6.2.1)."), ["1.2", "2.1", "2.2", "2.3", "2.4", "6.2.1"]);
    assert_eq!(of("/// A wait ends (spec 6.3,\n/// 6.10)."), ["6.10", "6.3"]);
    assert_eq!(of("the specification; spec x"), [""; 0]);
}
