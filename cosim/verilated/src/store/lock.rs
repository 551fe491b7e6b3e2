//! Locks between processes, which the system releases when their holder ends, however it ends.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An exclusive lock on the file at `path`, which is there as long as the lock.
///
/// On a file system without locks everyone holds it: then work is done twice, and the first result used.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    path: PathBuf,
}

/// What came of asking for a lock.
pub(crate) enum Asked {
    Held(Lock),
    /// Another process, or another thread, has it.
    Taken,
    /// The file system has no locks.
    Unsupported,
}

impl Lock {
    /// Takes the lock; `waits` is called once if it has to be waited for.
    pub(crate) fn wait(path: &Path, waits: impl FnOnce()) -> io::Result<Self> {
        let mut waits = Some(waits);
        loop {
            let file = open(path)?;
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                if let Some(waits) = waits.take() {
                    waits();
                }
                while let Err(error) = file.lock() {
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
            if is_at(&file, path) {
                return Ok(Self { _file: file, path: path.to_path_buf() });
            }
        }
    }

    /// Takes the lock if it is free.
    pub(crate) fn ask(path: &Path) -> io::Result<Asked> {
        let file = open(path)?;
        Ok(match file.try_lock() {
            Ok(()) if is_at(&file, path) => Asked::Held(Self { _file: file, path: path.to_path_buf() }),
            Ok(()) | Err(TryLockError::WouldBlock) => Asked::Taken,
            Err(TryLockError::Error(_)) => Asked::Unsupported,
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is held: a waiter that then gets the removed file's lock sees that, and opens a new one.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(path)
}

/// Whether `file` is still the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}
