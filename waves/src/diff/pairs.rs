//! Which signal of one side is which of the other.

use std::collections::HashMap;

use super::{DiffOptions, DiffSides};
use crate::{FileSignal, SignalLookupError, Slot, ValueKind, WaveFile};

/// A scope or a signal that the right side calls differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalRename {
    /// Adjacent names of a path of the left side, joined by points.
    pub old: String,
    /// What stands in their place on the right side; may be empty.
    pub new: String,
}

/// Why the signals of two sides do not go together.
#[derive(Debug, thiserror::Error)]
pub enum PairingError {
    /// A rename does not apply.
    #[error("no signal of the left side has `{old}` in its path, which is to be `{new}`{near}")]
    Rename {
        /// What was to be renamed.
        old: String,
        /// Into what.
        new: String,
        /// Paths that are there.
        near: String,
    },
    /// No signal is on both sides.
    #[error(
        "no signal is on both sides: the first one of the left side is `{left}`, renames included, that of the right side \
         `{right}`; rename what differs"
    )]
    Nothing {
        /// A path.
        left: String,
        /// A path.
        right: String,
    },
    /// All pairs were left out.
    #[error("{0} signals are on both sides, and the patterns choose none of them")]
    NothingChosen(usize),
    /// A scope is not there.
    #[error("there is no scope `{scope}` in it; it has {known}")]
    NoScope {
        /// What was asked for.
        scope: String,
        /// Some that there are.
        known: String,
    },
    /// A scope is there more than once.
    #[error("`{scope}` may be {one} or {other}; write more of the path")]
    AmbiguousScope {
        /// What was asked for.
        scope: String,
        /// A path.
        one: String,
        /// A path.
        other: String,
    },
    /// The clock is not a signal of one bit of the left side.
    #[error("clock: {0}")]
    NoClock(#[from] SignalLookupError),
    /// The clock is wider.
    #[error("clock `{0}`: expected a signal of one bit")]
    WideClock(String),
}

/// Two signals that are compared.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) slots: [Slot; 2],
    /// Their numbers in their files: the first of their names.
    pub(super) signals: [usize; 2],
    pub(super) further_names: usize,
}

/// Signals of both sides, brought together.
#[derive(Clone, Debug)]
pub(super) struct Pairing {
    pub(super) pairs: Vec<Pair>,
    pub(super) missing: [Vec<String>; 2],
    pub(super) unlike: Vec<[String; 2]>,
    /// The number of the clock among the signals of the left file, if edges are compared.
    pub(super) clock: Option<usize>,
}

impl Pairing {
    pub(super) fn new(sides: DiffSides<'_>, options: &DiffOptions) -> Result<Self, PairingError> {
        let (left, right, [left_scope, right_scope]) = match sides {
            DiffSides::Files(left, right) => (left, right, [Vec::new(), Vec::new()]),
            DiffSides::Scopes(file, scopes) => {
                (file, file, [scope(file, scopes[0])?, scope(file, scopes[1])?])
            }
        };
        let chosen = |signal: &FileSignal| {
            let matches = |pattern: &crate::SignalPattern| pattern.matches(signal.parts());
            !options.ignore.iter().any(matches)
                && (options.only.is_empty() || options.only.iter().any(matches))
        };
        let mut right_by_path: HashMap<String, usize> = HashMap::new();
        for (number, signal) in right.signals().iter().enumerate() {
            if let Some(path) = below(signal, &right_scope) {
                right_by_path.entry(path).or_insert(number);
            }
        }
        let mut renamed = vec![false; options.renames.len()];
        let mut by_slots: HashMap<[Slot; 2], usize> = HashMap::new();
        let mut pairing = Pairing {
            pairs: Vec::new(),
            missing: Default::default(),
            unlike: Vec::new(),
            clock: clock(left, options)?,
        };
        // A path of the left side as it is looked for.
        let mut looked_for = None;
        let (mut on_both, mut taken) = (0, vec![false; right.signals().len()]);
        for (number, signal) in left.signals().iter().enumerate() {
            let Some(mut path) = below(signal, &left_scope) else { continue };
            for (rename, applies) in options.renames.iter().zip(&mut renamed) {
                if let Some(new) = rename.apply(&path) {
                    (path, *applies) = (new, true);
                }
            }
            looked_for.get_or_insert_with(|| path.clone());
            let Some(other) = right_by_path.get(&path) else {
                if chosen(signal) {
                    pairing.missing[0].push(signal.path());
                }
                continue;
            };
            on_both += 1;
            taken[*other] = true;
            let counterpart = &right.signals()[*other];
            if !chosen(signal) || !chosen(counterpart) && matches!(sides, DiffSides::Files(..)) {
                continue;
            }
            if signal.kind != counterpart.kind {
                pairing.unlike.push([signal.path(), counterpart.path()]);
            }
            let slots = [signal.slot, counterpart.slot];
            match by_slots.get(&slots) {
                Some(pair) => pairing.pairs[*pair].further_names += 1,
                None => {
                    by_slots.insert(slots, pairing.pairs.len());
                    pairing.pairs.push(Pair { slots, signals: [number, *other], further_names: 0 });
                }
            }
        }
        if let Some(unused) = renamed.iter().position(|applies| !applies) {
            let SignalRename { old, new } = options.renames[unused].clone();
            let near = first_path(left).map_or(String::new(), |path| format!("; one of them is `{path}`"));
            return Err(PairingError::Rename { old, new, near });
        }
        for (signal, taken) in right.signals().iter().zip(taken) {
            if !taken && below(signal, &right_scope).is_some() && chosen(signal) {
                pairing.missing[1].push(signal.path());
            }
        }
        match (on_both, pairing.pairs.is_empty()) {
            (0, _) => Err(PairingError::Nothing {
                left: looked_for.unwrap_or_default(),
                right: right
                    .signals()
                    .iter()
                    .find_map(|signal| below(signal, &right_scope))
                    .unwrap_or_default(),
            }),
            (_, true) => Err(PairingError::NothingChosen(on_both)),
            (_, false) => Ok(pairing),
        }
    }
}

impl SignalRename {
    /// The path with the first of these names in it replaced; `None` if it has none.
    fn apply(&self, path: &str) -> Option<String> {
        let ends = |at: usize| path[at..].is_empty() || path[at..].starts_with('.');
        let begins = |at: usize| at == 0 || path[..at].ends_with('.');
        if self.old.is_empty() {
            return None;
        }
        let mut places = path.match_indices(&self.old).map(|(at, _)| at);
        let at = places.find(|at| begins(*at) && ends(at + self.old.len()))?;
        let parts = [
            path[..at].trim_end_matches('.'),
            &self.new,
            path[at + self.old.len()..].trim_start_matches('.'),
        ];
        Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("."))
    }
}

fn first_path(file: &WaveFile) -> Option<String> {
    file.signals().first().map(FileSignal::path)
}

/// The path of a signal below a scope.
fn below(signal: &FileSignal, scope: &[String]) -> Option<String> {
    let inner = signal.scopes.strip_prefix(scope)?;
    Some(inner.iter().chain([&signal.name]).map(String::as_str).collect::<Vec<_>>().join("."))
}

/// The scope whose path ends with these names.
fn scope(file: &WaveFile, name: &str) -> Result<Vec<String>, PairingError> {
    let names: Vec<&str> = name.split('.').collect();
    let mut found: Option<Vec<String>> = None;
    let mut known: Vec<&String> = Vec::new();
    for signal in file.signals() {
        for depth in 1..=signal.scopes.len() {
            let path = &signal.scopes[..depth];
            if depth <= 2 && !known.contains(&&path[depth - 1]) && known.len() < 12 {
                known.push(&path[depth - 1]);
            }
            if !path.iter().rev().map(String::as_str).take(names.len()).eq(names.iter().rev().copied()) {
                continue;
            }
            match &found {
                None => found = Some(path.to_vec()),
                Some(other) if *other == path => {}
                Some(other) => {
                    let (one, other) = (other.join("."), path.join("."));
                    return Err(PairingError::AmbiguousScope { scope: name.to_owned(), one, other });
                }
            }
        }
    }
    found.ok_or_else(|| {
        let known = known.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        PairingError::NoScope { scope: name.to_owned(), known }
    })
}

/// The number of the clock that is asked for.
fn clock(left: &WaveFile, options: &DiffOptions) -> Result<Option<usize>, PairingError> {
    let Some(name) = &options.clock else { return Ok(None) };
    let found = left.lookup(name)?;
    match left.signals()[found].kind {
        ValueKind::Bits(1) => Ok(Some(found)),
        _ => Err(PairingError::WideClock(left.signals()[found].path())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const RENAMES: &[(&str, &str, &str, Option<&str>)] = &[
        // old          new             path                    renamed
        ("top",         "tb.dut",       "top.a.b",              Some("tb.dut.a.b")),
        ("top.a",       "x",            "top.a.b",              Some("x.b")),
        ("a",           "x",            "top.aa.a.b",           Some("top.aa.x.b")),
        ("b",           "x",            "top.a.b",              Some("top.a.x")),
        ("top",         "",             "top.a",                Some("a")),
        ("top.a.b",     "c",            "top.a.b",              Some("c")),
        ("op",          "x",            "top.a",                None),
        ("",            "x",            "top.a",                None),
    ];

    #[test]
    fn whole_names_are_replaced() {
        for (old, new, path, renamed) in RENAMES {
            let rename = SignalRename { old: (*old).to_owned(), new: (*new).to_owned() };
            assert_eq!(rename.apply(path).as_deref(), *renamed, "{old} {new} {path}");
        }
    }
}
