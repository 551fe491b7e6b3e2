//! Location of the RTL folder, and RTL that is embedded in a program for use outside a checkout.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use atoms_verilated::{Environment, checkout, hash};

/// Path in `rtl/` and text of each file.
pub type Files = &'static [(&'static str, &'static str)];

static FILES: OnceLock<Files> = OnceLock::new();

/// Sets the RTL that is embedded in this program. Only the first call has an effect.
pub fn carry(files: Files) {
    let _ = FILES.set(files);
}

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Sets the RTL folder of this process. Only the first call has an effect.
pub fn set_rtl_dir(folder: PathBuf) {
    let _ = FOLDER.set(folder);
}

/// Returns the absolute path of the RTL folder. The first of these applies:
/// - the folder of [`set_rtl_dir`];
/// - `ATOMS_RTL`;
/// - `rtl/` of the checkout around the working folder;
/// - the folder with the unpacked RTL that the program carries;
/// - `rtl/` of the working folder.
pub fn rtl_dir() -> PathBuf {
    if let Some(folder) = FOLDER.get() {
        return folder.clone();
    }
    let here = std::env::current_dir().unwrap_or_default();
    match std::env::var_os("ATOMS_RTL") {
        Some(dir) if !dir.is_empty() => here.join(dir),
        _ => checkout(&here)
            .map(|root| root.join("rtl"))
            .or_else(|| {
                let folder = folder()?;
                // A failure shows when `configs.toml` is read: that file is unpacked last.
                let _ = unpack(FILES.get().copied().unwrap_or_default(), &folder);
                Some(folder)
            })
            .unwrap_or_else(|| here.join("rtl")),
    }
}

/// Returns the cache folder for the embedded RTL, named after its hash. `None` if the program has no embedded
/// RTL.
pub(crate) fn folder() -> Option<PathBuf> {
    let hash = hash(FILES.get()?.iter().flat_map(|(name, text)| [name, text]));
    Some(Environment::from_process().cache_dir().join(format!("rtl-{}", &hash[..16])))
}

/// Writes the files to `folder`, `configs.toml` last. Skips files that already have the right text.
fn unpack(files: Files, folder: &Path) -> io::Result<()> {
    let mut files = files.to_vec();
    files.sort_by_key(|(name, _)| *name == "configs.toml");
    for (name, text) in files {
        let path = folder.join(name);
        put(&path, text)?;
    }
    Ok(())
}

/// Writes a file, unless it has this text. Another process may be reading or writing the same file.
pub(crate) fn put(path: &Path, text: &str) -> io::Result<()> {
    if fs_err::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    fs_err::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let part = path.with_extension(format!("part-{}", std::process::id()));
    fs_err::write(&part, text)?;
    fs_err::rename(&part, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_whole_has_no_configurations() {
        let folder = std::env::temp_dir().join(format!("atoms-unpack-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        let files: Files = &[("configs.toml", "[small]"), ("lint/verilator.vlt", "`verilator_config")];
        // Put a file where a folder should be.
        std::fs::write(folder.join("lint"), "").expect("it can be written");
        unpack(files, &folder).expect_err("there is no place for the second file");
        assert!(!folder.join("configs.toml").exists());
        std::fs::remove_file(folder.join("lint")).expect("removes");
        unpack(files, &folder).expect("there is a place now");
        assert!(folder.join("configs.toml").exists());
        std::fs::remove_dir_all(&folder).expect("removes");
    }
}
