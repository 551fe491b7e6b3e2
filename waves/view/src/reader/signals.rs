//! The signals of a wave file.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ValueKind;

/// A series of values in a file. Signals with several names share one slot. A slot is valid only for its
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub(super) u32);

impl Slot {
    /// Returns the number of the slot, below [`WaveFile::slots`](crate::WaveFile::slots).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub struct Slots(Vec<bool>);

impl Slots {
    pub(super) fn none(slots: usize) -> Self {
        Slots(vec![false; slots])
    }

    pub fn insert(&mut self, slot: Slot) {
        if let Some(inside) = self.0.get_mut(slot.index()) {
            *inside = true;
        }
    }

    pub fn contains(&self, slot: Slot) -> bool {
        self.0.get(slot.index()).copied().unwrap_or(false)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..).zip(&self.0).filter(|(_, inside)| **inside).map(|(slot, _)| Slot(slot))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSignal {
    pub scopes: Arc<[String]>,
    /// Name without a bit range, and without the `\` of an escaped name.
    pub name: String,
    /// Declared bit range, such as `[31:0]`.
    pub range: Option<String>,
    pub kind: ValueKind,
    pub slot: Slot,
    /// Index among its namesakes in order of declaration, from 0.
    pub ordinal: usize,
    /// Number of signals with the same scopes and name, this one included.
    pub namesakes: usize,
}

impl FileSignal {
    /// Creates a signal from the words of its declaration: the name, and what follows it. A part such as
    /// `[3]` belongs to the name, since it is an array element or a bit of a vector. A range such as `[7:0]`
    /// only gives the width.
    pub(super) fn new(scopes: Arc<[String]>, words: &[&str], kind: ValueKind, slot: Slot) -> Self {
        let is_range = |part: &str| {
            part.strip_prefix('[').and_then(|part| part.strip_suffix(']')).is_some_and(|part| {
                part.split_once(':')
                    .is_some_and(|(high, low)| [high, low].iter().all(|at| at.parse::<i64>().is_ok()))
            })
        };
        let (name, further) = words.split_first().map_or(("", &[][..]), |(name, rest)| (*name, rest));
        let attached = name.rfind('[').filter(|at| *at > 0 && is_range(&name[*at..]));
        let (name, attached) = name.split_at(attached.unwrap_or(name.len()));
        let escaped = name.strip_prefix('\\').filter(|name| !name.is_empty());
        let name = escaped.unwrap_or(name).to_owned();
        let mut signal = FileSignal { scopes, name, range: None, kind, slot, ordinal: 0, namesakes: 1 };
        for part in std::iter::once(attached).chain(further.iter().copied()).filter(|part| !part.is_empty()) {
            if is_range(part) {
                signal.range = Some(part.to_owned());
            } else {
                signal.name.push_str(part);
            }
        }
        signal
    }

    /// Returns the first and the last bit number of the declared range. Default: width - 1 and 0.
    pub(crate) fn bounds(&self) -> Option<(i64, i64)> {
        let ValueKind::Bits(width) = self.kind else { return None };
        let Some(range) = &self.range else { return Some((i64::from(width) - 1, 0)) };
        let (first, last) = range.trim_matches(['[', ']']).split_once(':')?;
        let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
        (first.checked_sub(last)?.unsigned_abs() == u64::from(width) - 1).then_some((first, last))
    }

    /// Converts a bit number of the range to a position from the least significant bit.
    pub(crate) fn bit(&self, number: i64) -> Option<u32> {
        let (first, last) = self.bounds()?;
        let inside = (first.min(last)..=first.max(last)).contains(&number);
        inside.then(|| number.abs_diff(last) as u32)
    }

    pub fn path(&self) -> String {
        signal_path(self.scopes.iter().chain([&self.label()]))
    }

    /// Returns the name, followed by `#1`, `#2`, ... if the signal has namesakes.
    pub fn label(&self) -> String {
        if self.namesakes == 1 { self.name.clone() } else { format!("{}#{}", self.name, self.ordinal + 1) }
    }

    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.scopes.iter().chain([&self.name]).map(String::as_str)
    }
}

/// Joins scopes and name by points. The path is unique: a part that contains a point is written as an escaped
/// name of SystemVerilog, with `\` before it and, inside the path, a space after it.
pub fn signal_path(parts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut path = String::new();
    for part in parts {
        let part = part.as_ref();
        path += if path.is_empty() { "" } else { "." };
        if part.contains('.') {
            path.extend(["\\", part, " "]);
        } else {
            path += part;
        }
    }
    path.truncate(path.trim_end().len());
    path
}

/// Removes duplicate declarations and makes names unique. The range of a vector's part becomes part of its
/// name; other namesakes get a number.
pub(super) fn distinct(mut signals: Vec<FileSignal>) -> Vec<FileSignal> {
    for group in namesakes(&signals) {
        let first = &signals[group[0]];
        let slots_differ = group.iter().any(|at| signals[*at].slot != first.slot);
        if slots_differ && group.iter().any(|at| signals[*at].range != first.range) {
            for at in group {
                let FileSignal { name, range, .. } = &mut signals[at];
                name.push_str(range.as_deref().unwrap_or_default());
            }
        }
    }
    let mut repeated = vec![false; signals.len()];
    for group in namesakes(&signals) {
        let slots_differ = group.iter().any(|at| signals[*at].slot != signals[group[0]].slot);
        for (ordinal, at) in group.iter().enumerate() {
            repeated[*at] = !slots_differ && ordinal > 0;
            if slots_differ {
                (signals[*at].ordinal, signals[*at].namesakes) = (ordinal, group.len());
            }
        }
    }
    let mut repeated = repeated.into_iter();
    signals.retain(|_| repeated.next() == Some(false));
    signals
}

/// Groups the indices of signals with equal scopes and name, in order of declaration.
fn namesakes(signals: &[FileSignal]) -> Vec<Vec<usize>> {
    let mut groups: HashMap<(&[String], &str), Vec<usize>> = HashMap::with_capacity(signals.len());
    for (at, signal) in signals.iter().enumerate() {
        groups.entry((&signal.scopes, &signal.name)).or_default().push(at);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(words: &[&str], slot: u32) -> FileSignal {
        FileSignal::new(Arc::from([String::from("top")]), words, ValueKind::Bits(8), Slot(slot))
    }

    #[test]
    fn names_have_no_range_and_elements_keep_their_place() {
        for (words, name, range) in [
            (&["data", "[7:0]"][..], "data", Some("[7:0]")),
            (&["data[7:0]"], "data", Some("[7:0]")),
            (&["mem", "[3]", "[7:0]"], "mem[3]", Some("[7:0]")),
            (&["bit", "[3]"], "bit[3]", None),
            (&["\\a+b[x]"], "a+b[x]", None),
            (&["down", "[0:-3]"], "down", Some("[0:-3]")),
            (&["[7:0]"], "[7:0]", None),
            (&["\\"], "\\", None),
        ] {
            let signal = signal(words, 0);
            assert_eq!((signal.name.as_str(), signal.range.as_deref()), (name, range), "{words:?}");
        }
    }

    #[test]
    fn namesakes_are_told_apart_and_repetitions_dropped() {
        let signals = vec![
            signal(&["a", "[7:4]"], 0),
            signal(&["b", "[7:0]"], 1),
            signal(&["a", "[3:0]"], 2),
            signal(&["b"], 1),
            signal(&["a", "[7:4]"], 0),
            signal(&["c", "[7:0]"], 3),
            signal(&["c", "[7:0]"], 4),
            signal(&["c", "[7:0]"], 3),
        ];
        let paths: Vec<_> = distinct(signals).into_iter().map(|signal| signal.path()).collect();
        assert_eq!(paths, ["top.a[7:4]", "top.b", "top.a[3:0]", "top.c#1", "top.c#2", "top.c#3"]);
    }
}
