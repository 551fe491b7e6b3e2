//! Files that are there whole or not at all, whoever dies while writing, on a file system that
//! several machines share.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is not there before [`Pending::publish`]: until then it has a name of its own in the same
/// folder, which no other process has, and which goes away with this value.
#[derive(Debug)]
struct Pending {
    file: BufWriter<File>,
    temporary: PathBuf,
    target: PathBuf,
}

impl Pending {
    /// A file that will be `target`, in a folder that exists.
    ///
    /// # Errors
    /// Whatever keeps it from being created.
    fn new(target: &Path) -> io::Result<Self> {
        let temporary = unique(target);
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        Ok(Pending { file: BufWriter::new(file), temporary, target: target.to_path_buf() })
    }

    /// Puts it in its place, in that of another file if there is one. What is there afterwards is on the
    /// disk, not only on its way.
    ///
    /// # Errors
    /// Whatever keeps it from being written: a full disk. The place is then as it was.
    fn publish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.temporary, &self.target)?;
        sync_folder(&self.target);
        Ok(())
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // After a rename there is nothing under this name.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// As of [`Pending::publish`].
pub fn write_whole(target: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut pending = Pending::new(target)?;
    pending.write_all(content.as_ref())?;
    pending.publish()
}

/// A name beside `target` that no other process on any machine chooses: host, process, random number.
pub(crate) fn unique(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.{}.{:016x}.part", host(), std::process::id(), random()))
}

/// Whether a file or folder of this name was left by somebody who died before publishing it.
pub(super) fn is_part(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".part")
}

/// Name of this machine, as far as it can be part of a file name.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if name.is_empty() { "host".to_string() } else { name }
}

/// A number that no other call gives: the standard library seeds its hashers from the system.
pub(super) fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// Makes the entry of `path` in its folder last through a loss of power. Some file systems cannot; what
/// was written is then as safe as they make it.
pub(super) fn sync_folder(path: &Path) {
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
        let target = folder.path().join("a file");
        let mut pending = Pending::new(&target).expect("it can be created");
        pending.write_all(b"half").expect("it can be written");
        assert!(!target.exists(), "nothing before it is published");
        drop(pending);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left");
        write_whole(&target, "whole").expect("it can be written");
        assert_eq!(fs::read_to_string(&target).expect("it is there"), "whole");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
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
