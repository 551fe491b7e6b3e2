//! Groups differences by cause: the signals that differ first, and the signals that follow.

use std::collections::HashMap;

/// Maximum number of causes that are kept. Further causes are only counted.
const MOST: usize = 256;

/// Signals that start to differ when no other signal differs, and the signals that follow them.
///
/// A follower starts to differ while another signal of the cause still differs. If the same root signals
/// start to differ again later, this counts as the same cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DivergenceCause {
    /// Time at which the cause starts first.
    pub first: u64,
    /// Signals that differ first, as indices into [`WaveDiff::divergences`](super::WaveDiff::divergences).
    pub roots: Vec<usize>,
    /// Signals that differ later, each with its time, the earliest first.
    pub followers: Vec<(usize, u64)>,
    /// Number of times that the cause starts.
    pub times: u64,
    /// Time at which the first occurrence ends, so that no signal differs; `None` if it lasts to the end.
    pub heals: Option<u64>,
    /// Time at which the cause starts last.
    pub last: u64,
    /// True if a signal of this cause differs at the end.
    pub stays: bool,
}

#[derive(Debug, Default)]
pub(super) struct Causes {
    causes: Vec<DivergenceCause>,
    by_roots: HashMap<Vec<usize>, usize>,
    pub(super) further: u64,
    open: Option<DivergenceCause>,
    /// Per pair: number of the last opening that contains the pair.
    in_opening: Vec<u64>,
    openings: u64,
}

impl Causes {
    pub(super) fn new(pairs: usize) -> Self {
        Causes { in_opening: vec![0; pairs], ..Self::default() }
    }

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

    pub(super) fn heal(&mut self, time: u64) {
        if let Some(mut cause) = self.open.take() {
            (cause.heals, cause.stays) = (Some(time), false);
            self.close(cause);
        }
    }

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
