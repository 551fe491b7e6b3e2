//! Signals by a part of their path.

use std::fmt;

use super::{FileSignal, WaveFile};

/// Why a name does not stand for a signal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignalLookupError {
    /// No path ends with it.
    #[error("there is no signal `{name}`{}", Near(.near))]
    Unknown {
        /// The name.
        name: String,
        /// Paths that are like it.
        near: Vec<String>,
    },
    /// Several paths end with it.
    #[error("`{name}` may be {} signals: {}{}; write more of the path", .paths.len(), .paths[..(*.paths).len().min(3)].join(", "), if .paths.len() > 3 { ", .." } else { "" })]
    Ambiguous {
        /// The name.
        name: String,
        /// The paths.
        paths: Vec<String>,
    },
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

/// Paths that are shown as like a name, and how like they are, of 1.
const NEAR: usize = 3;
const LIKE: f64 = 0.75;

impl WaveFile {
    /// The number of the signal whose path ends with `name`: names joined by points; failing that, whose path ends with
    /// `_` and `name`. A path that is all of it comes first, and several names of the same values are one signal.
    ///
    /// # Errors
    /// [`SignalLookupError`].
    pub fn lookup(&self, name: &str) -> Result<usize, SignalLookupError> {
        let wanted: Vec<&str> = name.split('.').collect();
        // The outermost of the names may be the end of one in the path: `op` of `req_op`.
        let ends = |signal: &FileSignal, first_matches: fn(&str, &str) -> bool| {
            let mut parts = signal.parts().rev();
            let (first, rest) = wanted.split_first().unwrap_or((&"", &[]));
            rest.iter().rev().all(|wanted| parts.next() == Some(wanted))
                && parts.next().is_some_and(|part| first_matches(part, first))
        };
        let is_word = |part: &str, wanted: &str| part == wanted;
        let ends_in_word = |part: &str, wanted: &str| {
            part.strip_suffix(wanted).is_some_and(|front| front.ends_with('_')) && !wanted.is_empty()
        };
        let all = |first_matches| -> Vec<usize> {
            (0..self.signals().len()).filter(|at| ends(&self.signals()[*at], first_matches)).collect()
        };
        let mut found = all(is_word);
        if found.is_empty() {
            found = all(ends_in_word);
        }
        if let Some(whole) = found.iter().find(|at| self.signals()[**at].parts().count() == wanted.len()) {
            return Ok(*whole);
        }
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

    /// Paths whose end is like `name`.
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
