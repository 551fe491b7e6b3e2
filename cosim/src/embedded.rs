//! RTL that a program carries inside itself, for use outside a checkout.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use atoms_verilated::{Environment, hash};

/// Files by their path in `rtl/`, and their texts.
pub type Files = &'static [(&'static str, &'static str)];

static FILES: OnceLock<Files> = OnceLock::new();

/// Says which RTL this program carries. The first call counts.
pub fn carry(files: Files) {
    let _ = FILES.set(files);
}

/// Where the carried RTL is unpacked: a folder in the cache, named after its content. `None` in a program that
/// carries none.
pub(crate) fn folder() -> Option<PathBuf> {
    let hash = hash(FILES.get()?.iter().flat_map(|(name, text)| [name, text]));
    Some(Environment::from_process().cache_dir().join(format!("rtl-{}", &hash[..16])))
}

/// Puts the carried RTL into `folder`, unless it is there as it should be.
pub(crate) fn unpack(folder: &Path) -> io::Result<()> {
    for (name, text) in FILES.get().copied().unwrap_or_default() {
        let path = folder.join(name);
        if fs_err::read_to_string(&path).is_ok_and(|there| there == *text) {
            continue;
        }
        fs_err::create_dir_all(path.parent().unwrap_or(folder))?;
        // Whole or not at all: another process may be reading it, or unpacking too.
        let part = path.with_extension(format!("part-{}", std::process::id()));
        fs_err::write(&part, text)?;
        fs_err::rename(&part, &path)?;
    }
    Ok(())
}
