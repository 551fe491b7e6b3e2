//! Command lines for users to copy.

use std::path::{Path, PathBuf};

use crate::report::summary::Summary;

pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Quotes a path so that a command does not take it for an option.
pub fn path(path: &Path) -> String {
    let text = path.display().to_string();
    if text.starts_with('-') { quote(&format!("./{text}")) } else { quote(&text) }
}

/// Finds the checkout around a folder, in which `cargo atoms` runs the program.
fn checkout(folder: &Path) -> Option<PathBuf> {
    let alias = |folder: &&Path| {
        let text = std::fs::read_to_string(folder.join(".cargo/config.toml")).unwrap_or_default();
        text.lines().any(|line| line.starts_with("atoms = "))
    };
    folder.ancestors().find(alias).map(Path::to_path_buf)
}

/// Returns the command that runs this program in the current folder.
pub fn program() -> &'static str {
    let here = std::env::current_dir().unwrap_or_default();
    if checkout(&here).is_some() { "cargo atoms" } else { "atoms" }
}

/// Returns the command that replays the bundle `bundle`. A path inside a checkout is relative to the root of
/// the checkout; any other path is absolute.
fn repro(bundle: &Path) -> String {
    let bundle = std::path::absolute(bundle).unwrap_or_else(|_| bundle.to_path_buf());
    match checkout(&bundle) {
        Some(root) => format!("cargo atoms repro {}", path(bundle.strip_prefix(&root).unwrap_or(&bundle))),
        None => format!("{} repro {}", program(), path(&bundle)),
    }
}

/// Returns the summary of the run in `place` with commands for the root of the checkout. `summary.json` keeps
/// paths relative to the output folder, so that its contents do not depend on the location.
pub fn to_be_pasted(summary: &Summary, place: &Path) -> Summary {
    let mut summary = summary.clone();
    for bucket in &mut summary.buckets {
        if let Some(bundle) = &bucket.bundle {
            bucket.repeat = repro(&place.join(bundle));
        }
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_and_no_option() {
        let rows = [
            ("target/out", "target/out"),
            ("-x/y", "./-x/y"),
            ("a b", "'a b'"),
            ("$(touch x)", "'$(touch x)'"),
            ("it's", r"'it'\''s'"),
            ("~/x", "'~/x'"),
            ("", "''"),
        ];
        for (given, expected) in rows {
            assert_eq!(path(Path::new(given)), expected);
        }
    }
}
