//! Plants bugs in the RTL to test that the checks find them.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::rtl;
use atoms_regress::whole_file::write_whole;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::{Library, Variant};

use crate::generated;

#[derive(Clone, Copy, Debug)]
pub struct Patch {
    pub file: &'static str,
    /// Text to replace. The text must occur exactly once in the file.
    pub find: &'static str,
    pub replace: &'static str,
}

impl Patch {
    /// Returns the file and the range of changed lines, from 1.
    ///
    /// # Panics
    /// The file cannot be read, or does not contain the text.
    pub fn place(&self) -> (String, RangeInclusive<u64>) {
        let path = rtl_dir().join(self.file);
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let at =
            text.find(self.find).unwrap_or_else(|| panic!("`{}` is not in rtl/{}", self.find, self.file));
        let alike = self.find.bytes().zip(self.replace.bytes()).take_while(|(a, b)| a == b).count();
        let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count() as u64;
        let first = lines(&text.as_bytes()[..at + alike]) + 1;
        let last = first + lines(&self.replace.as_bytes()[alike..]);
        (self.file.to_string(), first..=last)
    }
}

/// Builds a patched copy of the RTL for `named`.
///
/// # Panics
/// See [`sources`]; also if the copy does not build.
pub fn plant(name: &str, named: &NamedConfig, patches: &[Patch]) -> Library {
    rtl::library(&sources(name, patches), named, Variant::Fast, &mut |_| {})
        .unwrap_or_else(|error| panic!("{name} does not build: {error}"))
}

/// Writes a patched copy of the RTL sources and returns its folder.
///
/// # Panics
/// A text to replace does not occur exactly once in its file, because the RTL has changed.
pub fn sources(name: &str, patches: &[Patch]) -> PathBuf {
    let folder = generated("planted").join(name);
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let from = rtl_dir();
    for entry in fs::read_dir(&from).unwrap_or_else(|e| panic!("{}: {e}", from.display())) {
        let path = entry.expect("the folder can be read to its end").path();
        if !path.is_file() {
            continue;
        }
        let mut text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = path.file_name().expect("a file has a name");
        for Patch { find, replace, .. } in patches.iter().filter(|patch| file == patch.file) {
            let times = text.matches(find).count();
            let file = file.display();
            assert_eq!(times, 1, "{name}: `{find}` must stand once in rtl/{file}; plant the bug anew");
            text = text.replace(find, replace);
        }
        put(&folder.join(file), &text);
    }
    for Patch { file, .. } in patches {
        assert!(folder.join(file).is_file(), "{name}: there is no rtl/{file}; plant the bug anew");
    }
    folder
}

/// Writes a file unless its text is already the same, because parallel tests may be reading the file.
fn put(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return;
    }
    write_whole(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}
