//! Bugs planted in the RTL, to see whether they are found.

use std::fs;
use std::path::Path;

use atoms_cosim::configs::{self, NamedConfig};
use atoms_cosim::rtl;
use atoms_verilated::{Library, Variant};

use crate::generated;

/// A change of one place in one file of `rtl/`.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// The file.
    pub file: &'static str,
    /// Text that stands there exactly once.
    pub find: &'static str,
    /// What to put in its place.
    pub replace: &'static str,
}

/// Builds a copy of the RTL with `patches` for `named`.
///
/// # Panics
/// When a text to replace does not stand exactly once in its file: the RTL has changed, and the bug
/// has to be planted anew. Also when the copy does not build.
pub fn plant(name: &str, named: &NamedConfig, patches: &[Patch]) -> Library {
    let folder = generated("planted").join(name);
    copy(&configs::rtl_dir(), &folder);
    for Patch { file, find, replace } in patches {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {}: {e}", path.display()));
        let times = text.matches(find).count();
        assert_eq!(times, 1, "{name}: `{find}` must stand once in rtl/{file}; plant the bug anew");
        write(&path, &text.replace(find, replace));
    }
    rtl::library(&folder, named, Variant::Fast, &mut |_| {})
        .unwrap_or_else(|error| panic!("{name} does not build: {error}"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap_or_else(|e| panic!("{}: {e}", to.display()));
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())) {
        let path = entry.expect("the folder can be read to its end").path();
        if path.is_file() {
            let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            write(&to.join(path.file_name().expect("a file has a name")), &text);
        }
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}
