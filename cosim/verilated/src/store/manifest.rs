//! Manifests of folders in the cache, and moving complete folders in and out.

use crate::key::content_hash;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// Name of the manifest in an entry. The manifest has a line `hash length name` for every other file.
pub(crate) const MANIFEST: &str = "manifest";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EntryState {
    /// Every file matches the manifest.
    Whole,
    Absent,
    /// The entry cannot be used, for this reason.
    Damaged(String),
}

/// A mark that keeps an entry from eviction, in any process. Marking also records the time of the last use.
#[derive(Debug)]
pub(crate) struct InUse {
    _file: Option<File>,
}

impl InUse {
    /// Marks the entry at `dir`. The mark has no effect without an entry or on a file system without locks.
    pub(crate) fn mark(dir: &Path) -> Self {
        let file = File::options().read(true).write(true).open(dir.join(MANIFEST)).ok();
        let file = file.filter(|file| file.lock_shared().is_ok());
        if let Some(file) = &file {
            let _ = file.set_modified(SystemTime::now());
        }
        Self { _file: file }
    }

    /// Claims the entry at `dir` for eviction. `None` if the entry is marked, or if locks do not work.
    pub(crate) fn unless_marked(dir: &Path) -> Option<Self> {
        let file = File::options().read(true).write(true).open(dir.join(MANIFEST)).ok()?;
        file.try_lock().ok()?;
        Some(Self { _file: Some(file) })
    }
}

pub(crate) fn last_use(dir: &Path) -> Option<SystemTime> {
    dir.join(MANIFEST).metadata().ok()?.modified().ok()
}

/// Writes the manifest of `dir` over the files in it. From then on, only their owner may write to them.
pub(crate) fn seal(dir: &Path) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        names.push(entry?.file_name());
    }
    names.sort();
    let close = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode));
    close(dir, 0o755)?;
    let mut lines = String::new();
    for name in names {
        let path = dir.join(&name);
        close(&path, 0o644)?;
        let content = std::fs::read(path)?;
        lines += &format!("{} {} {}\n", content_hash(&content), content.len(), name.to_string_lossy());
    }
    std::fs::write(dir.join(MANIFEST), lines)?;
    close(&dir.join(MANIFEST), 0o644)
}

pub(crate) fn inspect(dir: &Path) -> EntryState {
    if !dir.exists() {
        return EntryState::Absent;
    }
    match first_damage(dir) {
        None => EntryState::Whole,
        Some(damage) => EntryState::Damaged(damage),
    }
}

fn first_damage(dir: &Path) -> Option<String> {
    let Ok(manifest) = std::fs::read_to_string(dir.join(MANIFEST)) else {
        return Some("it has no manifest".to_owned());
    };
    if manifest.is_empty() {
        return Some("its manifest is empty".to_owned());
    }
    manifest.lines().find_map(|line| {
        let mut words = line.splitn(3, ' ');
        let (Some(hash), Some(length), Some(name)) = (words.next(), words.next(), words.next()) else {
            return Some("its manifest is unreadable".to_owned());
        };
        match std::fs::read(dir.join(name)) {
            Err(error) => Some(format!("{name}: {error}")),
            Ok(content) if content.len().to_string() != length => {
                Some(format!("{name} has {} bytes instead of {length}", content.len()))
            }
            Ok(content) if content_hash(&content) != hash => Some(format!("{name} has another content")),
            Ok(_) => None,
        }
    })
}

/// Moves the sealed entry at `prepared` to `dir`. Other processes see the complete entry or none. If there is
/// an entry already, that entry stays: it was built from the same inputs.
pub(crate) fn install(prepared: &Path, dir: &Path) -> io::Result<()> {
    match std::fs::rename(prepared, dir) {
        Err(_) if dir.exists() => std::fs::remove_dir_all(prepared),
        result => result,
    }
}

/// Removes the entry at `dir`, unless it has become complete in the meantime.
pub(crate) fn discard(dir: &Path) -> io::Result<()> {
    let aside = private_dir(dir.parent().unwrap_or(Path::new(".")), "discard");
    match std::fs::rename(dir, &aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        result => result?,
    }
    // Another process may have put a new entry there between the check and the move.
    if inspect(&aside) == EntryState::Whole && std::fs::rename(&aside, dir).is_ok() {
        return Ok(());
    }
    std::fs::remove_dir_all(&aside)
}

/// Removes the entry at `dir`. Other processes see the complete entry or none.
pub(crate) fn discard_whole(dir: &Path) -> io::Result<()> {
    let aside = private_dir(dir.parent().unwrap_or(Path::new(".")), "discard");
    std::fs::rename(dir, &aside)?;
    std::fs::remove_dir_all(&aside)
}

pub(crate) fn private_dir(parent: &Path, purpose: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    parent.join(format!(".{purpose}-{}-{count}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn entry(dir: &Path) -> PathBuf {
        let entry = dir.join("entry");
        fs::create_dir(&entry).unwrap();
        fs::write(entry.join("a.so"), "library").unwrap();
        fs::write(entry.join("b c"), "").unwrap();
        seal(&entry).unwrap();
        entry
    }

    #[test]
    fn every_damage_is_named() {
        type Damage = fn(&Path) -> io::Result<()>;
        #[rustfmt::skip]
        let cases: [(&str, Damage); 7] = [
            ("a.so has another content",           |dir| fs::write(dir.join("a.so"), "librart")),
            ("a.so has 3 bytes instead of 7",      |dir| fs::write(dir.join("a.so"), "lib")),
            ("a.so: No such file",                 |dir| fs::remove_file(dir.join("a.so"))),
            ("b c: No such file",                  |dir| fs::remove_file(dir.join("b c"))),
            ("it has no manifest",                 |dir| fs::remove_file(dir.join(MANIFEST))),
            ("its manifest is empty",              |dir| fs::write(dir.join(MANIFEST), "")),
            ("its manifest is unreadable",         |dir| fs::write(dir.join(MANIFEST), "a.so")),
        ];
        for (reason, damage) in cases {
            let dir = tempfile::tempdir().unwrap();
            let entry = entry(dir.path());
            assert_eq!(inspect(&entry), EntryState::Whole);
            damage(&entry).unwrap();
            match inspect(&entry) {
                EntryState::Damaged(found) => assert!(found.starts_with(reason), "{found}"),
                other => panic!("{reason}: {other:?}"),
            }
            discard(&entry).unwrap();
            assert_eq!(inspect(&entry), EntryState::Absent);
        }
    }

    #[test]
    fn what_has_become_whole_is_not_discarded() {
        let dir = tempfile::tempdir().unwrap();
        let entry = entry(dir.path());
        discard(&entry).unwrap();
        assert_eq!(inspect(&entry), EntryState::Whole);
    }

    #[test]
    fn the_first_to_install_stays() {
        let dir = tempfile::tempdir().unwrap();
        let first = entry(dir.path());
        let place = dir.path().join("place");
        install(&first, &place).unwrap();
        let second = entry(dir.path());
        install(&second, &place).unwrap();
        assert_eq!((inspect(&place), inspect(&second)), (EntryState::Whole, EntryState::Absent));
    }
}
