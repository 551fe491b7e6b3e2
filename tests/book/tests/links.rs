//! The book builds, contains every page, and has no dead links.

use std::fs;

use atoms_book::{build, dead_links, root};

#[test]
fn the_book_builds_and_its_links_lead_somewhere() {
    let book = tempfile::tempdir().unwrap();
    build(&root().join("docs").canonicalize().unwrap(), book.path()).unwrap();
    let dead = dead_links(book.path()).unwrap();
    assert!(dead.is_empty(), "dead links:\n  {}", dead.join("\n  "));
}

#[test]
fn every_page_is_in_the_book() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let listed = summary.contains(&format!("]({name})"));
        assert_eq!(listed, name.ends_with(".md") && name != "SUMMARY.md", "{name} in docs/SUMMARY.md");
    }
}

/// The check finds a link to a missing page and a link to a missing heading.
#[test]
fn dead_links_are_found() {
    let source = tempfile::tempdir().unwrap();
    let book = tempfile::tempdir().unwrap();
    fs::write(source.path().join("SUMMARY.md"), "[One](one.md)\n\n- [Two](two.md)\n").unwrap();
    fs::write(source.path().join("one.md"), "# One\n\n[two](two.md#two) [no](three.md) [no](two.md#four)\n")
        .unwrap();
    fs::write(source.path().join("two.md"), "# Two\n\n[one](one.md)\n").unwrap();
    build(source.path(), book.path()).unwrap();
    let dead = dead_links(book.path()).unwrap();
    let of = |page: &str| dead.iter().filter(|link| link.starts_with(page)).cloned().collect::<Vec<_>>();
    assert_eq!(of("one.html"), ["one.html: three.html", "one.html: two.html#four"], "{dead:?}");
}
