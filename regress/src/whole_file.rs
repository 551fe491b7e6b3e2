//! Files that are there whole or not at all, also when a process dies while it writes, on a file system that
//! several machines share.

use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs_err::{self as fs, File};

/// Writes a file whole or not at all, in the place of another one if there is one. What is there afterwards is on
/// the disk, not only on its way.
///
/// # Errors
/// Whatever keeps it from being written: a full disk. The place is then as it was.
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

/// A name beside `target` that no other process on any machine chooses: host, process, random number.
pub(crate) fn unique(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.{}.{:016x}.part", host(), std::process::id(), random()))
}

/// Whether a file or folder of this name was left by a process that died before it was whole.
pub(crate) fn is_part(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".part")
}

/// Name of this machine, as far as it can be part of a file name.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if name.is_empty() { "host".to_string() } else { name }
}

/// A number that no other call gives: the standard library seeds its hashers from the system.
pub(crate) fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// Makes the entry of `path` in its folder last through a loss of power. Some file systems cannot; what
/// was written is then as safe as they make it.
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
