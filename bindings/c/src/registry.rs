//! Table of all objects. A handle is a key of the table, never the address of an object.

use std::any::Any;
use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Object of one handle.
pub(crate) struct Entry {
    pub(crate) object: Box<dyn Any + Send>,
    /// Message of the last call that did not return `ATOMS_OK`.
    pub(crate) message: CString,
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

fn handle(place: usize, generation: u32) -> *mut c_void {
    let key = (u64::from(generation) << PLACE_BITS | place as u64) << 1 | 1;
    std::ptr::without_provenance_mut(key as usize)
}

fn key(handle: *const c_void) -> Option<(usize, u32)> {
    let key = handle.addr() as u64;
    let (place, generation) = (key >> 1 & ((1 << PLACE_BITS) - 1), key >> (1 + PLACE_BITS));
    Some((place as usize, u32::try_from(generation).ok()?)).filter(|_| key & 1 == 1)
}

/// Adds an object. Returns `None` if the table is full.
pub(crate) fn insert(object: Box<dyn Any + Send>) -> Option<*mut c_void> {
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
    slot.entry = Some(Arc::new(Mutex::new(Entry { object, message: CString::default() })));
    Some(handle(place, slot.generation))
}

pub(crate) fn find(handle: *const c_void) -> Option<Arc<Mutex<Entry>>> {
    let (place, generation) = key(handle)?;
    table().get(place).filter(|slot| slot.generation == generation)?.entry.clone()
}

/// Removes an object. Returns false if there is none with this handle.
pub(crate) fn remove(handle: *const c_void) -> bool {
    let Some((place, generation)) = key(handle) else { return false };
    let mut table = table();
    let Some(slot) = table.get_mut(place).filter(|slot| slot.generation == generation) else { return false };
    slot.generation = slot.generation.wrapping_add(1);
    slot.entry.take().is_some()
}
