//! Command lines for people to paste.

use std::path::{Path, PathBuf};

use crate::report::summary::Summary;

/// A word for a shell, whatever is in it.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A path as a word of a command line that is no option.
pub fn path(path: &Path) -> String {
    let text = path.display().to_string();
    if text.starts_with('-') { quote(&format!("./{text}")) } else { quote(&text) }
}

/// The checkout around a folder: where `cargo atoms` is the program.
fn checkout(folder: &Path) -> Option<PathBuf> {
    let alias = |folder: &&Path| {
        let text = std::fs::read_to_string(folder.join(".cargo/config.toml")).unwrap_or_default();
        text.lines().any(|line| line.starts_with("atoms = "))
    };
    folder.ancestors().find(alias).map(Path::to_path_buf)
}

/// What the program is called in the current folder.
pub fn program() -> &'static str {
    let here = std::env::current_dir().unwrap_or_default();
    if checkout(&here).is_some() { "cargo atoms" } else { "atoms" }
}

/// The line that replays the bundle in `bundle`, as it is typed in the root of the checkout around it; one that
/// lies elsewhere is named from the root of the file system.
fn repro(bundle: &Path) -> String {
    let bundle = std::path::absolute(bundle).unwrap_or_else(|_| bundle.to_path_buf());
    match checkout(&bundle) {
        Some(root) => format!("cargo atoms repro {}", path(bundle.strip_prefix(&root).unwrap_or(&bundle))),
        None => format!("{} repro {}", program(), path(&bundle)),
    }
}

/// The summary of the run in the output folder `place` with commands that work from the root of the checkout.
/// `summary.json` has them as seen from the output folder, since it is the same wherever that lies.
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
