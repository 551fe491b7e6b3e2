//! The list of generated files is complete, and names existing tests.

use std::fs;

use atoms_host::generated::{GeneratedBy, TESTS};
use atoms_host::root;

/// Returns the path prefix of the source files that can contain the test, relative to the checkout.
fn sources(test: &GeneratedBy) -> String {
    let folder = test.folder;
    match test.target {
        ["--lib"] => format!("{folder}/src/"),
        ["--test", "integration"] => format!("{folder}/tests/{}", test.name.split("::").next().unwrap()),
        ["--test", name] => format!("{folder}/tests/{name}"),
        other => panic!("{other:?}: expected `--lib` or `--test NAME`"),
    }
}

pub(crate) fn texts() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") {
                let shown = path.strip_prefix(root()).unwrap().display().to_string();
                found.push((shown, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn every_test_that_holds_a_file_is_in_the_list() {
    let holds = concat!("expect_file", "![");
    for (path, _) in texts().iter().filter(|(_, text)| text.contains(holds)) {
        assert!(TESTS.iter().any(|test| path.starts_with(&sources(test))), "{path}: no row of `TESTS`");
    }
}

/// Cargo passes if no test has the selected name, so every name of the list must exist.
#[test]
fn every_test_of_the_list_is_there() {
    let texts = texts();
    for test in TESTS {
        let function = format!("#[test]\nfn {}()", test.name.rsplit("::").next().unwrap());
        let mut own = texts.iter().filter(|(path, _)| path.starts_with(&sources(test)));
        // Functions in a module are indented.
        let plain = |text: &str| text.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
        assert!(own.any(|(_, text)| plain(text).contains(&function)), "{test:?}");
        for file in test.files {
            let folder = root().join(file.split("/*").next().unwrap());
            assert!(folder.exists(), "{file}");
        }
    }
}
