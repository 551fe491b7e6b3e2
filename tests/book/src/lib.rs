//! Builds the pages of `docs/` as one book, and checks its links.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use mdbook_driver::MDBook;
use mdbook_driver::config::Config;
use mdbook_driver::errors::Error;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds the book of the pages in `folder`, in the order of its `SUMMARY.md`, into `to`.
///
/// # Errors
/// Error of mdbook: a page of `SUMMARY.md` is missing, or a folder cannot be written.
pub fn build(folder: &Path, to: &Path) -> Result<(), Error> {
    let mut config = Config::default();
    config.book.title = Some("ATOMS".into());
    config.book.src = folder.into();
    config.build.build_dir = to.into();
    config.build.create_missing = false;
    MDBook::load_with_config(folder, config)?.build()
}

fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let start = format!(" {name}=\"");
    page.split(&start).skip(1).filter_map(|piece| piece.split('"').next()).collect()
}

/// Returns links of a built book to missing files or headings, as `page: link`. Links to other sites are not
/// checked.
///
/// # Errors
/// A page cannot be read.
pub fn dead_links(book: &Path) -> io::Result<Vec<String>> {
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in walkdir::WalkDir::new(book) {
        let path = entry?.into_path();
        if path.extension().is_some_and(|extension| extension == "html") {
            pages.insert(path.clone(), fs::read_to_string(&path)?);
        }
        files.insert(path);
    }
    let headings: BTreeMap<&Path, BTreeSet<&str>> =
        pages.iter().map(|(path, text)| (&**path, attributes(text, "id").into_iter().collect())).collect();
    let mut dead = Vec::new();
    for (path, text) in &pages {
        for link in attributes(text, "href").into_iter().filter(|link| !link.contains(':')) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { joined(path, file) };
            let found = match headings.get(&*target) {
                Some(headings) => heading.is_empty() || headings.contains(heading),
                None => files.contains(&target),
            };
            if !found {
                dead.push(format!("{}: {link}", path.strip_prefix(book).unwrap_or(path).display()));
            }
        }
    }
    Ok(dead)
}

/// Resolves a link of a page to a path without `..`.
fn joined(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                path.pop();
            }
            name => path.push(name),
        }
    }
    path
}
