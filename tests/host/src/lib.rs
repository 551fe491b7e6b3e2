//! What tests need beside the code: [`programs`] that a machine may lack, [`processes`] that must not outlive the
//! test that started them, a [`browser`] to look at pages with, and the list of [`generated`] files that tests hold up
//! to date.

#![forbid(unsafe_code)]

pub mod browser;
pub mod generated;
pub mod processes;
pub mod programs;

use std::path::{Path, PathBuf};

/// True if `.ci/tests nightly` runs the test: a test that draws random cases then draws all of them.
pub fn is_nightly() -> bool {
    std::env::var("ATOMS_TIER").is_ok_and(|tier| tier == "nightly")
}

/// Root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tests/host is two folders deep").into()
}
