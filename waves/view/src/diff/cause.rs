//! Differences brought down to where they begin.

use std::collections::HashMap;

/// Causes that are kept apart; of the others only the number is known.
const MOST: usize = 256;

/// Signals that begin to differ where nothing differed before, and what follows them.
///
/// A follower begins to differ while something of its cause still does. The same signals may begin again later: then
/// it is the same cause, once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DivergenceCause {
    /// When it begins first.
    pub first: u64,
    /// The signals that differ first: numbers in [`WaveDiff::divergences`](super::WaveDiff::divergences).
    pub roots: Vec<usize>,
    /// Those that differ later, each with the time at which it does, the earliest first.
    pub followers: Vec<(usize, u64)>,
    /// How often it begins.
    pub times: u64,
    /// Since when nothing of it differs, the first time; `None` if something does to the end.
    pub heals: Option<u64>,
    /// When it begins last.
    pub last: u64,
    /// Whether something of it differs to the end.
    pub stays: bool,
}

/// Causes while differences are found. Signals are numbers of pairs.
#[derive(Debug, Default)]
pub(super) struct Causes {
    causes: Vec<DivergenceCause>,
    by_roots: HashMap<Vec<usize>, usize>,
    pub(super) further: u64,
    /// The one that is open.
    open: Option<DivergenceCause>,
    /// By pair: the number of the opening in which it was last.
    in_opening: Vec<u64>,
    openings: u64,
}

impl Causes {
    pub(super) fn new(pairs: usize) -> Self {
        Causes { in_opening: vec![0; pairs], ..Self::default() }
    }

    /// At `time` the pairs in `begin` begin to differ, while others `differ` or not.
    pub(super) fn begin(&mut self, time: u64, begin: &[usize]) {
        if begin.is_empty() {
            return;
        }
        match &mut self.open {
            None => {
                self.openings += 1;
                let mut roots = begin.to_vec();
                roots.sort_unstable();
                let (first, followers) = (time, Vec::new());
                self.open = Some(DivergenceCause {
                    first,
                    roots,
                    followers,
                    times: 1,
                    heals: None,
                    last: time,
                    stays: true,
                });
                begin.iter().for_each(|pair| self.in_opening[*pair] = self.openings);
            }
            Some(open) => {
                for pair in begin {
                    if self.in_opening[*pair] != self.openings {
                        self.in_opening[*pair] = self.openings;
                        open.followers.push((*pair, time));
                    }
                }
            }
        }
    }

    /// At `time` nothing differs any more.
    pub(super) fn heal(&mut self, time: u64) {
        if let Some(mut cause) = self.open.take() {
            (cause.heals, cause.stays) = (Some(time), false);
            self.close(cause);
        }
    }

    /// All causes, the earliest first.
    pub(super) fn finish(mut self) -> (Vec<DivergenceCause>, u64) {
        if let Some(cause) = self.open.take() {
            self.close(cause);
        }
        (self.causes, self.further)
    }

    fn close(&mut self, cause: DivergenceCause) {
        match self.by_roots.get(&cause.roots) {
            Some(known) => {
                let known = &mut self.causes[*known];
                known.times += 1;
                (known.last, known.stays) = (cause.first, cause.stays);
                for follower in cause.followers {
                    if !known.followers.iter().any(|(pair, _)| *pair == follower.0) {
                        known.followers.push(follower);
                    }
                }
            }
            None if self.causes.len() < MOST => {
                self.by_roots.insert(cause.roots.clone(), self.causes.len());
                self.causes.push(cause);
            }
            None => self.further += 1,
        }
    }
}
