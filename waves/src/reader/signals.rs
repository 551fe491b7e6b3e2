//! The signals of a wave file.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ValueKind;

/// A series of values in a file; signals with several names share one. Means nothing to another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub(super) u32);

impl Slot {
    /// Its number, below [`WaveFile::slots`](crate::WaveFile::slots).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of slots of one file.
#[derive(Clone, Debug)]
pub struct Slots(Vec<bool>);

impl Slots {
    pub(super) fn none(slots: usize) -> Self {
        Slots(vec![false; slots])
    }

    /// With one more.
    pub fn insert(&mut self, slot: Slot) {
        if let Some(inside) = self.0.get_mut(slot.index()) {
            *inside = true;
        }
    }

    /// Whether `slot` is in it.
    pub fn contains(&self, slot: Slot) -> bool {
        self.0.get(slot.index()).copied().unwrap_or(false)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..).zip(&self.0).filter(|(_, inside)| **inside).map(|(slot, _)| Slot(slot))
    }
}

/// A signal of a wave file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSignal {
    /// Names of the scopes it is in, the outermost first.
    pub scopes: Arc<[String]>,
    /// Its name there, without a range of bits, and without the `\` of an escaped name.
    pub name: String,
    /// The range of bits that the file states, such as `[31:0]`.
    pub range: Option<String>,
    /// What it holds.
    pub kind: ValueKind,
    /// Its values.
    pub slot: Slot,
}

impl FileSignal {
    /// A signal that the file calls `words`: the name, and what follows it.
    ///
    /// A part `[3]` belongs to the name, since it tells the elements of an array or the bits of a vector apart; a
    /// range `[7:0]` says how wide the signal is.
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
        let mut signal =
            FileSignal { scopes, name: escaped.unwrap_or(name).to_owned(), range: None, kind, slot };
        for part in std::iter::once(attached).chain(further.iter().copied()).filter(|part| !part.is_empty()) {
            if is_range(part) {
                signal.range = Some(part.to_owned());
            } else {
                signal.name.push_str(part);
            }
        }
        signal
    }

    /// Scopes and name, joined by points.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for part in self.parts() {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(part);
        }
        path
    }

    /// Scopes and name.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.scopes.iter().chain([&self.name]).map(String::as_str)
    }
}

/// The signals without those declared twice. Parts of one vector that are signals of their own get their range as part
/// of their name.
pub(super) fn distinct(signals: Vec<FileSignal>) -> Vec<FileSignal> {
    let mut first: HashMap<String, usize> = HashMap::with_capacity(signals.len());
    let mut kept: Vec<FileSignal> = Vec::with_capacity(signals.len());
    let mut parts = Vec::new();
    for signal in signals {
        match first.get(&signal.path()) {
            None => {
                first.insert(signal.path(), kept.len());
                kept.push(signal);
            }
            Some(there) if kept[*there].slot == signal.slot => {}
            Some(there) => {
                parts.extend([*there, kept.len()]);
                kept.push(signal);
            }
        }
    }
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        let signal = &mut kept[part];
        signal.name.push_str(signal.range.as_deref().unwrap_or_default());
    }
    kept
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
    fn parts_of_a_vector_are_told_apart_and_repetitions_dropped() {
        let signals = vec![
            signal(&["a", "[7:4]"], 0),
            signal(&["b", "[7:0]"], 1),
            signal(&["a", "[3:0]"], 2),
            signal(&["b", "[7:0]"], 1),
        ];
        let names: Vec<_> = distinct(signals).into_iter().map(|signal| signal.path()).collect();
        assert_eq!(names, ["top.a[7:4]", "top.b", "top.a[3:0]"]);
    }
}
