//! Pairs the signals of both sides.

use std::collections::{HashMap, HashSet};

use super::{DiffOptions, DiffSides};
use crate::reader::{listed, path_end};
use crate::{FileSignal, SignalLookupError, Slot, ValueKind, WaveFile, signal_path};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalRename {
    /// Adjacent names in a path of the left side, joined by points.
    pub old: String,
    /// Replacement on the right side; may be empty.
    pub new: String,
}

#[derive(Debug, thiserror::Error)]
pub enum PairingError {
    #[error(
        "no signal of the left side has `{old}` in its path, so the name cannot be replaced by `{new}`{near}"
    )]
    Rename { old: String, new: String, near: String },
    #[error(
        "no signal is on both sides: after all renames, the first signal of the left side is `{left}`, and the first of \
         the right side is `{right}`; rename the scopes that differ"
    )]
    Nothing { left: String, right: String },
    #[error("{0} signals are on both sides, and the patterns select none of them")]
    NothingChosen(usize),
    #[error(
        "the left side has {}, the right side has {}: expected the same number of signals with one name; ignore them, \
         or declare them in the same way",
        listed(.0), listed(.1)
    )]
    Namesakes(Vec<String>, Vec<String>),
    #[error("there is no scope `{scope}` in it; it has {known}")]
    NoScope { scope: String, known: String },
    #[error("`{scope}` matches both {one} and {other}; write more of the path")]
    AmbiguousScope { scope: String, one: String, other: String },
    #[error("clock: {0}")]
    NoClock(#[from] SignalLookupError),
    #[error("clock `{0}`: expected a signal of one bit")]
    WideClock(String),
}

#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) slots: [Slot; 2],
    /// Numbers of the signals in their files. If a signal has several names, the number of the first.
    pub(super) signals: [usize; 2],
    /// Compared bit of each side, as its index in the declared range; only for bits of vectors.
    pub(super) bits: [Option<i64>; 2],
    pub(super) further_names: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Pairing {
    pub(super) pairs: Vec<Pair>,
    pub(super) missing: [Vec<String>; 2],
    pub(super) unlike: Vec<[String; 2]>,
    /// Number of the clock among the signals of the left file.
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
        // A pattern selects a pair if it matches any name of its signals.
        let chosen = |signals: &[&FileSignal]| {
            let matches =
                |pattern: &crate::SignalPattern| signals.iter().any(|signal| pattern.matches(signal.parts()));
            !options.ignore.iter().any(matches)
                && (options.only.is_empty() || options.only.iter().any(matches))
        };
        let mut right_by_name: HashMap<Vec<&str>, Vec<usize>> = HashMap::new();
        for (number, signal) in right.signals().iter().enumerate() {
            if let Some(parts) = below(signal, &right_scope) {
                right_by_name.entry(parts).or_default().push(number);
            }
        }
        let mut renamed = vec![false; options.renames.len()];
        let mut by_slots: HashMap<([Slot; 2], [Option<i64>; 2]), usize> = HashMap::new();
        let mut pairing = Pairing {
            pairs: Vec::new(),
            missing: Default::default(),
            unlike: Vec::new(),
            clock: clock(left, options)?,
        };
        let mut looked_for = None;
        // Signals without a counterpart, with the parts of their paths.
        let mut alone: [Alone<'_>; 2] = Default::default();
        let mut unequal = (Vec::new(), Vec::new());
        let (mut on_both, mut taken) = (0, vec![false; right.signals().len()]);
        let mut found = Vec::new();
        for (number, signal) in left.signals().iter().enumerate() {
            let Some(mut parts) = below(signal, &left_scope) else { continue };
            for (rename, applies) in options.renames.iter().zip(&mut renamed) {
                if let Some(new) = rename.apply(&parts) {
                    (parts, *applies) = (new, true);
                }
            }
            let others = right_by_name.get(&parts);
            looked_for.get_or_insert_with(|| parts.clone());
            let Some(others) = others else {
                alone[0].push((number, parts));
                continue;
            };
            on_both += 1;
            others.iter().for_each(|other| taken[*other] = true);
            let other = others.get(signal.ordinal).unwrap_or(&others[0]);
            let counterpart = &right.signals()[*other];
            if !chosen(&[signal]) || !chosen(&[counterpart]) && matches!(sides, DiffSides::Files(..)) {
                continue;
            }
            if others.len() != signal.namesakes {
                unequal.0.push(signal.path());
                let others = others.iter().filter(|_| signal.ordinal == 0);
                unequal.1.extend(others.map(|other| right.signals()[*other].path()));
                continue;
            }
            if signal.kind != counterpart.kind {
                pairing.unlike.push([signal.path(), counterpart.path()]);
            }
            let slots = [signal.slot, counterpart.slot];
            found.push(Pair { slots, signals: [number, *other], bits: [None; 2], further_names: 0 });
        }
        if let Some(unused) = renamed.iter().position(|applies| !applies) {
            let SignalRename { old, new } = options.renames[unused].clone();
            let near =
                first_path(left).map_or(String::new(), |path| format!("; one of its signals is `{path}`"));
            return Err(PairingError::Rename { old, new, near });
        }
        if !unequal.0.is_empty() {
            return Err(PairingError::Namesakes(unequal.0, unequal.1));
        }
        let not_taken = (0..).zip(taken).filter(|(_, taken)| !taken);
        alone[1]
            .extend(not_taken.filter_map(|(at, _)| Some((at, below(&right.signals()[at], &right_scope)?))));
        let bits = vectors_and_bits([left, right], &mut alone);
        on_both += bits.len();
        let signals = |pair: &Pair| [&left.signals()[pair.signals[0]], &right.signals()[pair.signals[1]]];
        found.extend(bits.into_iter().filter(|pair| chosen(&signals(pair))));
        for pair in found {
            match by_slots.get(&(pair.slots, pair.bits)) {
                Some(pair) => pairing.pairs[*pair].further_names += 1,
                None => {
                    by_slots.insert((pair.slots, pair.bits), pairing.pairs.len());
                    pairing.pairs.push(pair);
                }
            }
        }
        for ((file, alone), missing) in [left, right].into_iter().zip(alone).zip(&mut pairing.missing) {
            let alone = alone.iter().map(|(number, _)| &file.signals()[*number]);
            missing.extend(alone.filter(|signal| chosen(&[signal])).map(FileSignal::path));
        }
        match (on_both, pairing.pairs.is_empty()) {
            (0, _) => Err(PairingError::Nothing {
                left: signal_path(looked_for.unwrap_or_default()),
                right: signal_path(
                    right.signals().iter().find_map(|signal| below(signal, &right_scope)).unwrap_or_default(),
                ),
            }),
            (_, true) => Err(PairingError::NothingChosen(on_both)),
            (_, false) => Ok(pairing),
        }
    }
}

/// Numbers of signals, with the parts of their paths.
type Alone<'a> = Vec<(usize, Vec<&'a str>)>;

/// Pairs vectors of one side with single bits of the other side: `q[1:0]` with `q[1]` and `q[0]`. Removes
/// them from `alone` and returns a pair for each bit.
fn vectors_and_bits(files: [&WaveFile; 2], alone: &mut [Alone<'_>; 2]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for side in [0, 1] {
        let [of_vectors, of_bits] = [side, 1 - side].map(|side| files[side].signals());
        let mut bits: HashMap<(&[&str], &str), usize> = HashMap::new();
        for (number, parts) in &alone[1 - side] {
            let FileSignal { kind, namesakes, .. } = of_bits[*number];
            if let (ValueKind::Bits(1), 1, Some((name, scopes))) = (kind, namesakes, parts.split_last()) {
                bits.insert((scopes, name), *number);
            }
        }
        let mut joined = [HashSet::new(), HashSet::new()];
        for (number, parts) in &alone[side] {
            let vector = &of_vectors[*number];
            let (Some((name, scopes)), Some((first, last))) = (parts.split_last(), vector.bounds()) else {
                continue;
            };
            if vector.namesakes > 1 || vector.kind == ValueKind::Bits(1) && vector.range.is_none() {
                continue;
            }
            let numbers = first.min(last)..=first.max(last);
            let bit = |bit: i64| Some((bit, *bits.get(&(scopes, &format!("{name}[{bit}]")[..]))?));
            let Some(all) = numbers.map(bit).collect::<Option<Vec<_>>>() else { continue };
            joined[side].insert(*number);
            for (bit, other) in all {
                joined[1 - side].insert(other);
                let mut pair = Pair {
                    slots: [vector.slot, of_bits[other].slot],
                    signals: [*number, other],
                    bits: [Some(bit), None],
                    further_names: 0,
                };
                if side == 1 {
                    pair.slots.reverse();
                    pair.signals.reverse();
                    pair.bits.reverse();
                }
                pairs.push(pair);
            }
        }
        for (alone, joined) in alone.iter_mut().zip(&joined) {
            alone.retain(|(number, _)| !joined.contains(number));
        }
    }
    pairs
}

impl SignalRename {
    /// Replaces the first occurrence of the old names in a path; `None` if the path does not contain them.
    fn apply<'a>(&'a self, parts: &[&'a str]) -> Option<Vec<&'a str>> {
        let ends_at = |to: usize| match path_end(parts[..to].iter().copied(), &self.old)? {
            ("", from) => Some(from..to),
            _ => None,
        };
        let old = (1..=parts.len()).find_map(ends_at)?;
        // An escaped name extends to the end, points included.
        let (plain, escaped) = self
            .new
            .split_once('\\')
            .map_or((&self.new[..], None), |(plain, escaped)| (plain, Some(escaped)));
        let new = plain.split('.').filter(|part| !part.is_empty()).chain(escaped);
        Some(parts[..old.start].iter().copied().chain(new).chain(parts[old.end..].iter().copied()).collect())
    }
}

fn first_path(file: &WaveFile) -> Option<String> {
    file.signals().first().map(FileSignal::path)
}

fn below<'a>(signal: &'a FileSignal, scope: &[String]) -> Option<Vec<&'a str>> {
    let inner = signal.scopes.strip_prefix(scope)?;
    Some(inner.iter().chain([&signal.name]).map(String::as_str).collect())
}

fn scope(file: &WaveFile, name: &str) -> Result<Vec<String>, PairingError> {
    let mut found: Option<Vec<String>> = None;
    let mut known: Vec<&String> = Vec::new();
    for signal in file.signals() {
        for depth in 1..=signal.scopes.len() {
            let path = &signal.scopes[..depth];
            if depth <= 2 && !known.contains(&&path[depth - 1]) && known.len() < 12 {
                known.push(&path[depth - 1]);
            }
            if !matches!(path_end(path.iter().map(String::as_str), name), Some(("", _))) {
                continue;
            }
            match &found {
                None => found = Some(path.to_vec()),
                Some(other) if *other == path => {}
                Some(other) => {
                    let [one, other] = [&other[..], path].map(signal_path);
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
        ("a",           "x.\\b.c",       "top.a.b",              Some("top.x.b.c.b")),
        ("op",          "x",            "top.a",                None),
        ("",            "x",            "top.a",                None),
    ];

    #[test]
    fn whole_names_are_replaced() {
        for (old, new, path, renamed) in RENAMES {
            let rename = SignalRename { old: (*old).to_owned(), new: (*new).to_owned() };
            let parts: Vec<_> = path.split('.').collect();
            assert_eq!(
                rename.apply(&parts).map(|parts| parts.join(".")).as_deref(),
                *renamed,
                "{old} {new} {path}"
            );
        }
    }
}
