//! Snapshots in the cache, so that a later process need not repeat a run up to them.
//!
//! Verilated code trusts its state, and a process trusts the libraries of its cache. So snapshots have the
//! same owner and manifests as libraries, and never move between machines.

use crate::key::Key;
use crate::store::entry::{entry, own};
use crate::store::manifest::{self, EntryState, InUse};
use crate::{BuildError, Cache, Library, Progress, Snapshot, store::evict};
use std::path::PathBuf;

const STATE: &str = "state";

impl Cache {
    /// Stores snapshots of models of `library` in the run `run`. This name must differ for every other run,
    /// and so include the program that drives the run. Snapshots count towards the size limit.
    ///
    /// # Errors
    /// [`BuildError::Cache`] and [`BuildError::Foreign`]; [`BuildError::CacheLimit`].
    pub fn keep<'s>(
        &self,
        library: &Library,
        run: &str,
        snapshots: impl IntoIterator<Item = &'s Snapshot>,
    ) -> Result<(), BuildError> {
        let limit = self.limit()?;
        let mut kept = false;
        for snapshot in snapshots {
            let Ok(state) = snapshot.state_for(library) else { continue };
            let name = name(library, run, snapshot.cycle());
            let new = entry(self.root(), &name, &mut |_| {}, |shop, _| {
                shop.write(&format!("entry/{STATE}"), state)?;
                shop.folder("entry")
            })?;
            kept |= new.built;
        }
        if kept {
            // Ignore the error: a cache that is too large still works.
            let _ = evict::shrink(self.root(), limit);
        }
        Ok(())
    }

    /// Returns the snapshot of `run` after `clocks` clocks, if it is stored. Removes a damaged snapshot.
    pub fn kept(
        &self,
        library: &Library,
        run: &str,
        clocks: u64,
        progress: &mut dyn FnMut(&Progress),
    ) -> Option<Snapshot> {
        let name = name(library, run, clocks);
        let dir: PathBuf = self.root().join(&name);
        own(&dir).ok()?;
        let _in_use = InUse::mark(&dir);
        match manifest::inspect(&dir) {
            EntryState::Absent => None,
            EntryState::Whole => {
                let state = std::fs::read(dir.join(STATE)).ok()?;
                Some(Snapshot::new(library, clocks, state))
            }
            EntryState::Damaged(reason) => {
                let _ = manifest::discard(&dir);
                progress(&Progress::Discarded(name, reason));
                None
            }
        }
    }
}

fn name(library: &Library, run: &str, clocks: u64) -> String {
    let key = Key::new("snapshot").with(library.key()).with(run).with(clocks.to_le_bytes());
    format!("snapshot-{}", key.finish())
}
