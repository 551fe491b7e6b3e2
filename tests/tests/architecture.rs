//! Allowed imports and forbidden features of each crate, from docs/ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use atoms_tests::{root, text_of};
use serde_json::Value;

/// Crates with `unsafe`: those that call foreign code or are called by it.
const UNSAFE: &[&str] = &["c", "verilated", "cuda", "standin"];

/// Crates that print: those of the programs.
const PRINTS: &[&str] = &["cli", "capture"];

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Reads the arrows of docs/ARCHITECTURE.md. A new arrow is a design change.
fn declared() -> Arrows {
    let text = text_of("docs/ARCHITECTURE.md");
    let section = text.split_once("\n## Arrows").expect("docs/ARCHITECTURE.md has a section `## Arrows`").1;
    let block = section.split("```").nth(1).expect("the section has a fenced block");
    // The rest of the first line is the language of the fence.
    let lines = block.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let (name, to) =
                line.split_once("->").unwrap_or_else(|| panic!("`{line}`: expected `name -> a, b`"));
            let to = to.split(',').map(|name| name.trim().to_string()).filter(|name| !name.is_empty());
            (name.trim().to_string(), to.collect())
        })
        .collect()
}

fn short(name: &str) -> Option<&str> {
    name.strip_prefix("atoms-")
}

fn packages() -> Vec<Value> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn name_of(package: &Value) -> &str {
    let name = package["name"].as_str().expect("a package has a name");
    short(name).unwrap_or_else(|| panic!("`{name}`: expected a name that starts with `atoms-`"))
}

fn folder_of(package: &Value) -> PathBuf {
    let manifest = package["manifest_path"].as_str().expect("a package has a manifest");
    Path::new(manifest).parent().expect("it lies in a folder").to_path_buf()
}

fn found() -> Arrows {
    let arrows = |package: &Value| {
        let dependencies = package["dependencies"].as_array().expect("a list of dependencies").clone();
        dependencies.iter().filter_map(|d| short(d["name"].as_str()?).map(str::to_string)).collect()
    };
    packages().iter().map(|package| (name_of(package).to_string(), arrows(package))).collect()
}

#[test]
fn crates_import_what_the_page_says() {
    let (declared, found, none) = (declared(), found(), BTreeSet::new());
    let mut wrong = Vec::new();
    for name in declared.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
        if declared.contains_key(name) != found.contains_key(name) {
            wrong.push(format!("crate `{name}` is on one side only"));
        }
        let (declared, found) = (declared.get(name).unwrap_or(&none), found.get(name).unwrap_or(&none));
        wrong.extend(found.difference(declared).map(|to| format!("{name} -> {to} is not on the page")));
        wrong.extend(declared.difference(found).map(|to| format!("{name} -> {to} is on the page only")));
    }
    assert!(wrong.is_empty(), "Cargo.toml files against docs/ARCHITECTURE.md:\n  {}", wrong.join("\n  "));
}

#[test]
fn arrows_run_one_way() {
    let mut arrows = declared();
    // Repeatedly removes the crates that have no remaining imports.
    while !arrows.is_empty() {
        let free: Vec<_> =
            arrows.iter().filter(|(_, to)| to.is_empty()).map(|(name, _)| name.clone()).collect();
        assert!(!free.is_empty(), "{arrows:?} go round in circles");
        for name in free {
            arrows.remove(&name);
            for to in arrows.values_mut() {
                to.remove(&name);
            }
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("a folder can be read to its end").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the lines of a file without comments, with line numbers from 1.
fn code(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_string();
    text.lines().enumerate().map(|(at, line)| (at + 1, code(line))).collect()
}

#[test]
fn unsafe_code_is_forbidden_but_at_the_borders() {
    for package in packages() {
        let name = name_of(&package);
        let roots = package["targets"].as_array().expect("a list of targets").clone();
        for target in roots {
            let kinds = target["kind"].as_array().expect("a target has kinds");
            if !kinds.iter().any(|kind| ["lib", "bin", "cdylib"].iter().any(|known| kind == known)) {
                continue;
            }
            let path = target["src_path"].as_str().expect("a target has a root");
            let forbids = code(Path::new(path)).iter().any(|(_, line)| line == "#![forbid(unsafe_code)]");
            assert_eq!(forbids, !UNSAFE.contains(&name), "{path}: `#![forbid(unsafe_code)]`");
        }
    }
}

#[test]
fn only_the_command_line_prints() {
    let macros = ["println!", "eprintln!", "print!", "eprint!", "dbg!", "io::stdout()"];
    let mut printing = BTreeSet::new();
    for package in packages() {
        let name = name_of(&package).to_string();
        for path in sources(&folder_of(&package).join("src")) {
            for (number, line) in code(&path) {
                if macros.iter().any(|name| line.contains(name)) {
                    printing.insert(name.clone());
                    assert!(PRINTS.contains(&&name[..]), "{}:{number}: {line}", path.display());
                }
            }
        }
    }
    assert_eq!(printing, PRINTS.iter().map(ToString::to_string).collect(), "the programs print");
}

/// Terms of the column "absent on purpose" of docs/ARCHITECTURE.md, with words that contradict each.
#[rustfmt::skip]
const TERMS: &[(&str, &[&str])] = &[
    ("arguments",       &["clap"]),
    ("banks",           &["num_banks"]),
    ("coverage",        &["atoms_coverage"]),
    ("cycles",          &["cycle("]),
    ("files",           &["std::fs", "fs_err", "std::env"]),
    ("formats",         &["serde", "std::io"]),
    ("kernels",         &["atoms_isa", "atoms_sm"]),
    ("lockstep",        &["atoms_cosim", "Lockstep"]),
    ("mutants",         &["atoms_faults"]),
    ("observers",       &["Observer", "run_observed"]),
    ("plans",           &["atoms_regress"]),
    ("printing",        &["println!", "io::stdout"]),
    ("random requests", &["atoms_stimulus"]),
    ("terminals",       &["is_terminal"]),
    ("the model",       &["atoms_model"]),
    ("the oracle",      &["atoms_oracle"]),
    ("traces",          &["atoms_record", "atoms_wave"]),
    ("Verilator",       &["atoms_verilated", "Verilator"]),
    ("wall-clock time", &["std::time"]),
];

#[test]
fn crates_do_not_name_what_is_absent_on_purpose() {
    let page = text_of("docs/ARCHITECTURE.md");
    let section = page.split_once("| absent on purpose |").expect("the table of crates").1;
    let rows: Vec<Vec<&str>> = section
        .lines()
        .skip(2)
        .map_while(|line| Some(line.strip_prefix("| ")?.trim_end_matches(" |").split(" | ").collect()))
        .collect();
    for package in packages() {
        let folder = folder_of(&package);
        let name = format!("`{}/`", folder.strip_prefix(root()).expect("it is of the checkout").display());
        let row =
            rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("the page has no row {name}"));
        assert_eq!(row.len(), 4, "{row:?}");
        for term in row[3].split(", ") {
            let known = TERMS.iter().find(|(known, _)| *known == term);
            let (_, words) = known.unwrap_or_else(|| panic!("{name}: no test knows the term `{term}`"));
            for path in sources(&folder.join("src")) {
                for (number, line) in code(&path) {
                    let word = words.iter().find(|word| line.contains(**word));
                    assert_eq!(word, None, "{}:{number}: {term} in {line}", path.display());
                }
            }
        }
    }
}

/// Exceptions: folders with a file per RTL module, and files that are tables.
const LARGE: &[&str] = &["model/src", "cosim/coverage/src/steer/focus.rs"];

/// Counts the product lines of a source: neither blank nor comment, and before its tests.
fn product_lines(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let product = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    product.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// Maximum of product lines in `cli/src`, which only handles arguments and printing.
const COMMAND_LINE: usize = 5500;

#[test]
fn the_command_line_is_small() {
    let lines: usize = sources(&root().join("cli/src")).iter().map(|path| product_lines(path)).sum();
    assert!(
        lines <= COMMAND_LINE,
        "cli/src has {lines} product lines, and at most {COMMAND_LINE} are for arguments and printing"
    );
}

#[test]
fn folders_have_15_files_and_files_500_lines() {
    let mut folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let is_test = |path: &Path| path.file_stem().is_some_and(|stem| stem == "tests");
    for package in packages() {
        let sources = sources(&folder_of(&package).join("src"));
        for path in sources.iter().filter(|path| !is_test(path)) {
            let name = path.strip_prefix(root()).expect("it is of the checkout");
            *folders.entry(name.with_file_name("")).or_default() += 1;
            let lines = product_lines(path);
            assert!(
                lines <= 500 || LARGE.iter().any(|large| name == Path::new(large)),
                "{}: {lines} lines",
                name.display()
            );
        }
    }
    for (folder, files) in folders {
        assert!(
            files <= 15 || LARGE.iter().any(|large| folder == Path::new(large)),
            "{}: {files} files",
            folder.display()
        );
    }
}

/// A header of the model says `Mirror of` or `Twin of` as the table of docs/ARCHITECTURE.md does.
#[test]
fn mirrors_and_twins_are_called_so() {
    let page = text_of("docs/ARCHITECTURE.md");
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `atoms_")?.split(" | ");
        let (module, file, kind) = (cells.next()?, cells.next()?, cells.next()?);
        Some((module.trim_end_matches('`').to_string(), file.trim_matches('`').to_string(), kind.to_string()))
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.len() > 10, "{rows:?}");
    for (module, file, kind) in rows {
        let text = text_of(&format!("model/src/{file}"));
        let header: Vec<_> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        let header = header.join("");
        let word = if kind.starts_with("a mirror") { "Mirror" } else { "Twin" };
        let (before, _) = header
            .split_once(&format!("`rtl/atoms_{module}.sv`"))
            .unwrap_or_else(|| panic!("{file} names no `rtl/atoms_{module}.sv`"));
        let called = before.rsplit(". ").next().unwrap_or_default().trim();
        assert!(called.starts_with(&format!("{word} of")), "{file} says `{called}`: it is {kind}");
    }
}
