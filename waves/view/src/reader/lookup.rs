//! Finds signals by a part of their path.

use std::fmt;

use super::{FileSignal, WaveFile};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignalLookupError {
    #[error("there is no signal `{name}`{}", Near(.near))]
    Unknown { name: String, near: Vec<String> },
    #[error("`{name}` matches {} signals: {}; write more of the path", .paths.len(), listed(.paths))]
    Ambiguous { name: String, paths: Vec<String> },
}

struct Near<'a>(&'a [String]);

impl fmt::Display for Near<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            near => write!(f, "; there is {}", near.join(", ")),
        }
    }
}

const LISTED: usize = 32;

pub(crate) fn listed(names: &[String]) -> String {
    let more = if names.len() > LISTED { ", .." } else { "" };
    names[..names.len().min(LISTED)].join(", ") + more
}

/// Number of similar paths to suggest, and their minimum similarity (1 is equal).
const NEAR: usize = 3;
const LIKE: f64 = 0.75;

impl WaveFile {
    /// Returns the number of the signal whose path ends with `name`: names joined by points, or `_` and
    /// `name`. A complete path takes precedence, and the spelling of [`FileSignal::path`] comes before one
    /// without `\` and `#`. Several names with the same values count as one signal.
    ///
    /// # Errors
    /// [`SignalLookupError`].
    pub fn lookup(&self, name: &str) -> Result<usize, SignalLookupError> {
        let ranked: Vec<_> = self
            .signals()
            .iter()
            .enumerate()
            .filter_map(|(at, signal)| Some((signal.rank(name)?, at)))
            .collect();
        let best = ranked.iter().map(|(rank, _)| *rank).min();
        let mut found: Vec<_> =
            ranked.iter().filter(|(rank, _)| Some(*rank) == best).map(|(_, at)| *at).collect();
        let slot = |at: &usize| self.signals()[*at].slot;
        found.sort_by_key(slot);
        found.dedup_by_key(|at| slot(at));
        match found[..] {
            [one] => Ok(one),
            [] => Err(SignalLookupError::Unknown { name: name.to_owned(), near: self.near(name) }),
            _ => {
                let paths = found.iter().map(|at| self.signals()[*at].path()).collect();
                Err(SignalLookupError::Ambiguous { name: name.to_owned(), paths })
            }
        }
    }

    fn near(&self, name: &str) -> Vec<String> {
        let last = name.rsplit('.').next().unwrap_or(name).to_lowercase();
        let like = |signal: &FileSignal| strsim::jaro_winkler(&signal.name.to_lowercase(), &last);
        let mut near: Vec<(f64, &FileSignal)> =
            self.signals().iter().map(|signal| (like(signal), signal)).collect();
        near.retain(|(like, _)| *like >= LIKE);
        near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        near.into_iter().take(NEAR).map(|(_, signal)| signal.path()).collect()
    }
}

impl FileSignal {
    fn rank(&self, name: &str) -> Option<u8> {
        let numbered = (self.namesakes > 1).then(|| name.strip_suffix(&format!("#{}", self.ordinal + 1)));
        match path_end(self.parts(), numbered.flatten().unwrap_or(name))? {
            ("", 0) if self.path() == name => Some(0),
            ("", 0) => Some(1),
            ("", _) => Some(2),
            // `name` starts inside a part of the path, after `_`: `op` in `req_op`.
            (front, _) => front.ends_with('_').then_some(3),
        }
    }
}

/// Removes `name` (names joined by points) from the end of a path. Returns the text before `name` in the part
/// where it starts, and the number of parts before that one. `None` if the path does not end with `name`.
pub(crate) fn path_end<'p>(
    mut parts: impl DoubleEndedIterator<Item = &'p str>,
    name: &str,
) -> Option<(&'p str, usize)> {
    let mut rest = name;
    while let Some(part) = parts.next_back() {
        if rest.len() <= part.len() {
            return part.strip_suffix(rest).filter(|_| !rest.is_empty()).map(|front| (front, parts.count()));
        }
        let before = rest.strip_suffix(part)?;
        let before = before.strip_suffix('\\').filter(|_| part.contains('.')).unwrap_or(before);
        if before.is_empty() {
            return Some(("", parts.count()));
        }
        rest = before.strip_suffix('.')?.trim_end();
    }
    None
}
