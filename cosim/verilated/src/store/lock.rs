//! Locks between processes. The system releases a lock when its holder ends, even if it is killed.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An exclusive lock on the file at `path`. The file exists as long as the lock.
///
/// On a file system without locks, every process gets it: work is then done twice, the first result used.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    path: PathBuf,
}

pub(crate) enum Asked {
    Held(Lock),
    /// Another process or thread has the lock.
    Taken,
    Unsupported,
}

impl Lock {
    /// Takes the lock. Calls `waits` once if the lock is not free.
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
        // Remove the file under the lock. A waiter that locks the removed file notices, and opens a new one.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(path)
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}
