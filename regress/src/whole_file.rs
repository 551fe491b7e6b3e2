//! Atomic file writes, safe against dying processes and for file systems that several machines share.

use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs_err::{self as fs, File};

/// Writes a file atomically, replacing an existing one, and flushes it to disk.
///
/// # Errors
/// Any error of the file system, such as a full disk. The old file is then unchanged.
pub fn write_whole(target: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let temporary = unique(target);
    let write = || {
        let mut file = File::options().write(true).create_new(true).open(&temporary)?;
        file.write_all(content.as_ref())?;
        file.sync_all()?;
        fs::rename(&temporary, target)
    };
    write().inspect_err(|_| _ = fs::remove_file(&temporary)).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot write `{}`: {error}", target.display()))
    })?;
    sync_folder(target);
    Ok(())
}

/// Returns a name in the folder of `target` that is unique on all machines: host, process id, random number.
pub(crate) fn unique(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.{}.{:016x}.part", host(), std::process::id(), random()))
}

/// Returns true if this is the name of an unfinished file or folder, which a dead process may have left.
pub(crate) fn is_part(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".part")
}

/// Returns the host name, reduced to characters that are safe in file names.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if name.is_empty() { "host".to_string() } else { name }
}

/// Returns a random number. The standard library seeds its hashers from the system.
pub(crate) fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// Flushes the folder entry of `path` to disk. Ignores errors, since some file systems do not support this.
pub(crate) fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = || fs::read_dir(folder.path()).expect("a folder").count();
        let target = folder.path().join("a file");
        write_whole(&target, "whole").expect("it can be written");
        assert_eq!(fs::read_to_string(&target).expect("it is there"), "whole");
        write_whole(&target, "another").expect("it can be written");
        assert_eq!(fs::read_to_string(&target).expect("it is there"), "another");
        assert_eq!(names(), 1);
        let taken = folder.path().join("a folder");
        fs::create_dir(&taken).expect("it can be made");
        write_whole(&taken, "whole").expect_err("a folder is in its place");
        assert_eq!(names(), 2, "nothing is left");
    }

    #[test]
    fn two_writers_have_two_names() {
        let names: Vec<_> = (0..100).map(|_| unique(Path::new("/x/3.result"))).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name));
            assert!(is_part(&name.file_name().expect("a name").to_string_lossy()));
            assert_eq!(name.parent(), Some(Path::new("/x")));
        }
        assert!(!is_part("3.result"));
    }
}
