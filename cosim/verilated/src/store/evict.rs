//! Eviction of cache entries.

use crate::store::manifest::{InUse, discard_whole, last_use};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    pub removed: usize,
    pub removed_bytes: u64,
    /// Entries that should have been removed, but are in use.
    pub in_use: usize,
    /// Entries left, including those in use.
    pub left: usize,
    pub left_bytes: u64,
}

struct Candidate {
    dir: PathBuf,
    used: SystemTime,
    bytes: u64,
}

/// Removes the least recently used entries until the rest fits into `limit` bytes.
pub(crate) fn shrink(root: &Path, limit: u64) -> io::Result<Cleaned> {
    evict(root, |_, bytes| bytes > limit)
}

pub(crate) fn older(root: &Path, age: Duration) -> io::Result<Cleaned> {
    let now = SystemTime::now();
    evict(root, |used, _| now.duration_since(used).unwrap_or_default() >= age)
}

/// Removes entries if `goes` says so, given the time of their last use and the bytes of all entries left.
fn evict(root: &Path, goes: impl Fn(SystemTime, u64) -> bool) -> io::Result<Cleaned> {
    let mut candidates = candidates(root)?;
    candidates.sort_by_key(|candidate| candidate.used);
    let left_bytes = candidates.iter().map(|candidate| candidate.bytes).sum();
    let mut cleaned = Cleaned { left: candidates.len(), left_bytes, ..Cleaned::default() };
    for candidate in candidates {
        if !goes(candidate.used, cleaned.left_bytes) {
            continue;
        }
        let Some(_ours) = InUse::unless_marked(&candidate.dir) else {
            cleaned.in_use += 1;
            continue;
        };
        discard_whole(&candidate.dir)?;
        cleaned.removed += 1;
        cleaned.removed_bytes += candidate.bytes;
        cleaned.left -= 1;
        cleaned.left_bytes -= candidate.bytes;
    }
    Ok(cleaned)
}

fn candidates(root: &Path) -> io::Result<Vec<Candidate>> {
    let folder = match std::fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        folder => folder?,
    };
    let mut found = Vec::new();
    for entry in folder {
        let dir = entry?.path();
        // An entry without a manifest is skipped here. It is replaced when it is requested.
        let Some(used) = last_use(&dir) else { continue };
        let files = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        let bytes = files.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
        found.push(Candidate { dir, used, bytes });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::manifest;
    use std::fs::{self, File};

    /// Creates entries of 1000 bytes with manifests. The first entry is the least recently used one.
    fn cache(names: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (at, name) in names.iter().enumerate() {
            let dir = root.path().join(name);
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join("atoms.so"), [0; 1000]).unwrap();
            manifest::seal(&dir).unwrap();
            let used = SystemTime::now() - Duration::from_secs(1000 * (names.len() - at) as u64);
            File::options()
                .write(true)
                .open(dir.join(manifest::MANIFEST))
                .unwrap()
                .set_modified(used)
                .unwrap();
        }
        root
    }

    fn names(root: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let root = cache(&["a", "b", "c", "d"]);
        // Mark the entry as used now, and drop the mark.
        drop(InUse::mark(&root.path().join("a")));
        let cleaned = shrink(root.path(), 2500).unwrap();
        assert_eq!((cleaned.removed, cleaned.left), (2, 2));
        assert_eq!(names(root.path()), ["a", "d"]);
        assert_eq!(shrink(root.path(), 2500).unwrap().removed, 0, "it fits");
    }

    #[test]
    fn what_is_in_use_stays() {
        let root = cache(&["a", "b", "c"]);
        let held = InUse::mark(&root.path().join("b"));
        let cleaned = older(root.path(), Duration::ZERO).unwrap();
        assert_eq!((cleaned.removed, cleaned.in_use, cleaned.left), (2, 1, 1));
        assert_eq!(names(root.path()), ["b"]);
        drop(held);
        assert_eq!(older(root.path(), Duration::ZERO).unwrap().removed, 1);
        assert_eq!(older(&root.path().join("nowhere"), Duration::ZERO).unwrap(), Cleaned::default());
    }

    #[test]
    fn age_is_time_since_the_last_use() {
        let root = cache(&["a", "b", "c"]);
        assert_eq!(older(root.path(), Duration::from_secs(1500)).unwrap().removed, 2);
        assert_eq!(names(root.path()), ["c"]);
    }
}
