//! Test support outside the product: [`programs`] that a machine may lack, [`processes`] that must end with
//! their test, a [`browser`] for pages, and the list of [`generated`] files.

#![forbid(unsafe_code)]

pub mod browser;
pub mod generated;
pub mod processes;
pub mod programs;

use std::path::{Path, PathBuf};

/// True if `.ci/tests nightly` runs the test. Random tests then draw their full number of cases.
pub fn is_nightly() -> bool {
    std::env::var("ATOMS_TIER").is_ok_and(|tier| tier == "nightly")
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tests/host is two folders deep").into()
}
