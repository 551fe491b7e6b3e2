//! Table of the scoreboards. A handle is a key of the table, never the address of an object.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atoms_scoreboard::{PortScoreboard, PortVerdict};

/// A scoreboard. Only pointers to it exist, and they are never dereferenced.
#[derive(Debug)]
pub struct AtomsScoreboard(());

/// State behind one handle.
pub(crate) struct Entry {
    pub(crate) scoreboard: PortScoreboard,
    /// Words of the next response or executed request.
    pub(crate) written: Vec<(u32, u32)>,
    /// Words of the memory at the end.
    pub(crate) last_words: BTreeMap<u32, u32>,
    pub(crate) verdict: Option<Box<PortVerdict>>,
    /// Message of the last call that did not return `ATOMS_OK`.
    pub(crate) message: CString,
    /// Clause of the last rejection, for the caller.
    pub(crate) clause: CString,
}

struct Slot {
    /// Increases each time the slot is freed, so that an old handle matches no later scoreboard.
    generation: u32,
    entry: Option<Arc<Mutex<Entry>>>,
}

static TABLE: Mutex<Vec<Slot>> = Mutex::new(Vec::new());

/// Bits of a handle that hold the place in the table. Handles are odd, which addresses of objects are not.
const PLACE_BITS: u32 = 16;

fn table() -> MutexGuard<'static, Vec<Slot>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn handle(place: usize, generation: u32) -> *mut AtomsScoreboard {
    let key = (u64::from(generation) << PLACE_BITS | place as u64) << 1 | 1;
    std::ptr::without_provenance_mut(key as usize)
}

fn key(handle: *const AtomsScoreboard) -> Option<(usize, u32)> {
    let key = handle.addr() as u64;
    let (place, generation) = (key >> 1 & ((1 << PLACE_BITS) - 1), key >> (1 + PLACE_BITS));
    Some((place as usize, u32::try_from(generation).ok()?)).filter(|_| key & 1 == 1)
}

/// Adds a scoreboard. Returns `None` if the table is full.
pub(crate) fn insert(entry: Entry) -> Option<*mut AtomsScoreboard> {
    let mut table = table();
    let place = match table.iter().position(|slot| slot.entry.is_none()) {
        Some(place) => place,
        None if table.len() < 1 << PLACE_BITS => {
            table.push(Slot { generation: 1, entry: None });
            table.len() - 1
        }
        None => return None,
    };
    let slot = &mut table[place];
    slot.entry = Some(Arc::new(Mutex::new(entry)));
    Some(handle(place, slot.generation))
}

pub(crate) fn find(handle: *const AtomsScoreboard) -> Option<Arc<Mutex<Entry>>> {
    let (place, generation) = key(handle)?;
    table().get(place).filter(|slot| slot.generation == generation)?.entry.clone()
}

/// Removes a scoreboard. Returns false if there is none with this handle.
pub(crate) fn remove(handle: *const AtomsScoreboard) -> bool {
    let Some((place, generation)) = key(handle) else { return false };
    let mut table = table();
    let Some(slot) = table.get_mut(place).filter(|slot| slot.generation == generation) else { return false };
    slot.generation = slot.generation.wrapping_add(1);
    slot.entry.take().is_some()
}
