//! Every test runs in the quick or the nightly tier. An ignored test is nightly.

use std::fs;

use atoms_host::root;

use crate::generated::texts;

/// Prefix of the reason of every ignored test.
const NIGHTLY: &str = "nightly: ";

#[test]
fn every_ignored_test_is_nightly_and_says_why() {
    let ignore = concat!("#[", "ignore");
    for (path, text) in texts() {
        for (at, _) in text.match_indices(ignore) {
            // The attribute occurs in a string or in a comment.
            if text[..at].ends_with(['"', '`']) {
                continue;
            }
            let line = text[..at].matches('\n').count() + 1;
            let reason =
                text[at + ignore.len()..].strip_prefix(" = \"").and_then(|rest| rest.split('"').next());
            let reason = reason.and_then(|reason| reason.strip_prefix(NIGHTLY)).unwrap_or_default();
            assert!(!reason.is_empty(), "{path}:{line}: expected {ignore} = \"{NIGHTLY}REASON\"]");
        }
        let hidden = concat!("cfg_attr", "(");
        let mut conditions = text.lines().filter(|line| line.contains(hidden));
        assert!(!conditions.any(|line| line.contains("ignore")), "{path}: `cfg_attr` must not hide `ignore`");
    }
}

#[test]
fn the_nightly_tier_runs_ignored_tests() {
    let script = |name: &str| fs::read_to_string(root().join(".ci").join(name)).unwrap();
    assert!(script("nightly").contains("\ntests() { .ci/tests nightly; }\n"));
    assert!(script("tests").contains("command += \" -- --include-ignored\""));
}

/// Cargo does not compile a file next to `tests/main.rs` without a `mod` for it.
#[test]
fn every_test_file_is_in_a_target() {
    let texts = texts();
    let mains = texts.iter().filter_map(|(path, main)| Some((path.strip_suffix("tests/main.rs")?, main)));
    for (crate_, main) in mains {
        let manifest = fs::read_to_string(root().join(crate_).join("Cargo.toml")).unwrap();
        for entry in fs::read_dir(root().join(crate_).join("tests")).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy();
            let is_file = path.extension().is_some_and(|extension| extension == "rs") && stem != "main";
            if is_file || path.join("mod.rs").exists() {
                let is_named = main.lines().any(|line| line == format!("mod {stem};"));
                let is_target = manifest.contains(&format!("[[test]]\nname = \"{stem}\""));
                assert!(is_named || is_target, "{}: not in tests/main.rs", path.display());
            }
        }
    }
}
