//! Checks that each text signal has the values that an expression compares it with.

use std::ops::ControlFlow;

use super::ComparedName;
use super::parse::error;
use crate::reader::listed;
use crate::{QueryError, RawValue, WaveFile};

/// Number of values collected for the message: one more than it lists.
const KEPT: usize = 33;

/// Reads the file until each signal has had the values that it is compared with.
///
/// # Errors
/// [`QueryError`] with a value that its signal never has, and a list of values that it has.
pub(super) fn check(file: &WaveFile, text: &str, names: Vec<ComparedName>) -> Result<(), QueryError> {
    let slot = |name: &ComparedName| file.signals()[name.signal].slot;
    let mut which = file.no_slots();
    names.iter().for_each(|name| which.insert(slot(name)));
    let mut open: Vec<_> = names.into_iter().map(|name| (name, Vec::<String>::new())).collect();
    if open.is_empty() {
        return Ok(());
    }
    let read = file.changes(&which, u64::MAX, |_, of, value| {
        if let RawValue::Text(value) = value {
            open.retain(|(name, _)| slot(name) != of || name.name != value);
            for (_, has) in open.iter_mut().filter(|(name, has)| slot(name) == of && has.len() < KEPT) {
                let value = String::from_utf8_lossy(value);
                if !has.iter().any(|known| *known == value) {
                    has.push(value.into_owned());
                }
            }
        }
        if open.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match open.first() {
        // The search itself reports a malformed file.
        Some((name, has)) if read.is_ok() => {
            let path = file.signals()[name.signal].path();
            let never = String::from_utf8_lossy(&name.name);
            let has = if has.is_empty() { "none".to_owned() } else { listed(has) };
            let problem = format!("`{path}` is never `{never}`; its values are: {has}");
            Err(error(text, name.place.clone(), problem))
        }
        _ => Ok(()),
    }
}
