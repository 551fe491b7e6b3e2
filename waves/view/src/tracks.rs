//! Transactions of a wave: tracks and their fields. The caller provides the names of scopes and signals.

use serde_json::{Map, Value};

use crate::{Excerpt, ExcerptSignal, ValueKind, WaveValue, value_label};

/// Names of the scopes and signals that pages and exports treat specially.
#[derive(Clone, Copy, Debug)]
pub struct WaveNames {
    /// Scope of transactions. A scope below it that has a text signal [`label`](Self::label) or
    /// [`kind`](Self::kind) is a track. The other signals of this scope are the fields. A track is idle while
    /// that text is `-`.
    pub transactions: &'static str,
    pub label: &'static str,
    /// Signal with the kind of a transaction, for tracks without a label.
    pub kind: &'static str,
    /// Field with the request number, which selects the colour of a transaction.
    pub request: &'static str,
    /// Field with the source line; 0 means none.
    pub line: &'static str,
    /// Fields that Perfetto shows as counters.
    pub counters: &'static [&'static str],
    /// Counters with a sign.
    pub signed: &'static [&'static str],
    /// Scopes of the two sides, whose signals have equal names.
    pub sides: [&'static str; 2],
    /// Scope of the difference flags that [`Definition::compare`](atoms_wave_write::Definition::compare)
    /// creates.
    pub difference: &'static str,
}

#[derive(Clone, Debug)]
pub struct WaveTrack<'e> {
    /// Index of the label in [`Excerpt::signals`], or of the kind for a track without a label.
    pub signal: usize,
    /// Names of the track's scopes below the scope of transactions.
    pub scopes: &'e [String],
    /// Indices of the other signals in the track's scope.
    pub fields: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WaveTransaction<'e> {
    pub from: u64,
    /// End time in time units, exclusive.
    pub to: u64,
    /// Label, or kind for a track without a label.
    pub text: &'e str,
    /// Names and values of the fields that have a value.
    pub fields: Vec<(&'e str, &'e WaveValue)>,
}

impl WaveTransaction<'_> {
    /// Returns the fields as JSON. Numbers of at most 64 known bits become JSON numbers; other values become
    /// texts.
    pub fn json(&self) -> Map<String, Value> {
        let value = |value: &WaveValue| match value {
            WaveValue::Bits(digits) => match u64::from_str_radix(digits, 2) {
                Ok(number) => number.into(),
                Err(_) => value_label(value).into(),
            },
            WaveValue::Text(_) | WaveValue::Real(_) | WaveValue::Event => value_label(value).into(),
        };
        self.fields.iter().map(|(name, of)| ((*name).to_owned(), value(of))).collect()
    }
}

impl WaveNames {
    /// True if the signal is below the scope of transactions.
    pub fn is_transaction(&self, signal: &ExcerptSignal) -> bool {
        signal.scopes.iter().any(|scope| scope == self.transactions)
    }
}

impl Excerpt {
    pub fn tracks(&self, names: &WaveNames) -> Vec<WaveTrack<'_>> {
        let mut tracks: Vec<WaveTrack<'_>> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for state in [names.label, names.kind] {
            for (number, signal) in self.signals.iter().enumerate() {
                let below = signal.scopes.iter().position(|scope| scope == names.transactions);
                let Some(below) = below.filter(|_| signal.name == state && signal.kind == ValueKind::Text)
                else {
                    continue;
                };
                places.entry(&signal.scopes).or_insert_with(|| {
                    let scopes = &signal.scopes[below + 1..];
                    tracks.push(WaveTrack { signal: number, scopes, fields: Vec::new() });
                    tracks.len() - 1
                });
            }
        }
        for (number, signal) in self.signals.iter().enumerate() {
            if let Some(place) = places.get(&signal.scopes)
                && tracks[*place].signal != number
            {
                tracks[*place].fields.push(number);
            }
        }
        tracks.sort_by_key(|track| track.signal);
        tracks
    }

    pub fn transactions<'e>(&'e self, track: &WaveTrack<'_>) -> impl Iterator<Item = WaveTransaction<'e>> {
        let state = &self.signals[track.signal];
        let fields: Vec<_> = track.fields.iter().map(|field| &self.signals[*field]).collect();
        let mut times: Vec<u64> = fields
            .iter()
            .chain([&state])
            .flat_map(|signal| signal.changes.iter().map(|(time, _)| *time))
            .collect();
        times.sort_unstable();
        times.dedup();
        let ends: Vec<_> = times.iter().skip(1).copied().chain([self.window.end]).collect();
        times.into_iter().zip(ends).filter_map(move |(from, to)| {
            let Some(WaveValue::Text(text)) = state.at(from) else { return None };
            let values = fields.iter().filter_map(|field| Some((field.name.as_str(), field.at(from)?)));
            let transaction = || WaveTransaction { from, to: to.max(from), text, fields: values.collect() };
            (!is_idle(text)).then(transaction)
        })
    }
}

/// True for the text that this workspace's writer gives an empty text.
pub(crate) fn is_idle(text: &str) -> bool {
    matches!(text, "" | "-")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const NAMES: WaveNames = WaveNames {
        transactions: "txn",
        label: "text",
        kind: "kind",
        request: "request",
        line: "line",
        counters: &["count"],
        signed: &[],
        sides: ["rtl", "model"],
        difference: "diff",
    };

    fn signal(path: &str, kind: ValueKind, changes: &[(u64, &str)]) -> ExcerptSignal {
        let mut scopes: Vec<_> = path.split('.').map(str::to_owned).collect();
        let name = scopes.pop().expect("a path has a name");
        let value = |value: &str| match kind {
            ValueKind::Text => WaveValue::Text(value.to_owned()),
            _ => WaveValue::Bits(value.to_owned()),
        };
        let changes = changes.iter().map(|(time, of)| (*time, value(of))).collect();
        ExcerptSignal { scopes, name, kind, changes }
    }

    #[test]
    fn transactions_have_the_fields_of_their_scope() {
        let signals = vec![
            signal("u.txn.issue.request", ValueKind::Bits(4), &[(0, "xxxx"), (10, "0101"), (40, "0110")]),
            signal("u.txn.issue.text", ValueKind::Text, &[(0, "-"), (10, "a"), (30, "-"), (40, "b")]),
            signal("u.txn.issue.kind", ValueKind::Text, &[(10, "pass")]),
            signal("u.txn.place.kind", ValueKind::Text, &[(0, "queued")]),
            signal("u.rtl.text", ValueKind::Text, &[(0, "no track")]),
        ];
        let excerpt = Excerpt { signals, window: 0..50, ..Excerpt::default() };
        let tracks = excerpt.tracks(&NAMES);
        let found: Vec<_> = tracks.iter().map(|track| (track.signal, track.fields.clone())).collect();
        assert_eq!(found, [(1, vec![0, 2]), (3, vec![])]);
        let issued: Vec<_> = excerpt
            .transactions(&tracks[0])
            .map(|of| format!("{} to {} {} {}", of.from, of.to, of.text, Value::Object(of.json())))
            .collect();
        assert_eq!(
            issued,
            [r#"10 to 30 a {"kind":"pass","request":5}"#, r#"40 to 50 b {"kind":"pass","request":6}"#]
        );
        assert_eq!(excerpt.transactions(&tracks[1]).map(|of| of.text).collect::<Vec<_>>(), ["queued"]);
    }
}
