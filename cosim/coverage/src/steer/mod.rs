//! Stimulus towards what was not hit yet.
//!
//! [`Steering`] belongs to one series of episodes. It picks bins that the configuration can hit and no run
//! has, and `focus.rs` turns the values of their dimensions into knobs. It knows nothing but what it is told,
//! so that a series is the same wherever it runs.

mod focus;

use atoms_model::Config;
use atoms_stimulus::Profile;
use bitvec::vec::BitVec;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Group, Model};

/// One of so many episodes is not steered, since what is not asked for is not known.
const UNSTEERED: u32 = 4;

/// When nothing is left to hit, one of so many episodes still counts bins. To count costs a sixth to a
/// quarter of the time of lockstep, which is well spent on a search and not on hits that are known.
const COUNTED: u64 = 8;

/// What a series was steered to so far.
#[derive(Clone, Debug)]
pub struct Steering {
    reachable: BitVec,
    /// Episodes aimed at each bin.
    aims: Vec<u16>,
}

impl Steering {
    /// Steering of a series in a configuration.
    pub fn new(model: &Model, config: &Config) -> Self {
        Self::towards(model.reachable(config))
    }

    /// Steering of a series in a configuration that can hit these bins.
    pub fn towards(reachable: BitVec) -> Self {
        Steering { aims: vec![0; reachable.len()], reachable }
    }

    /// Bins that the configuration can hit.
    pub fn reachable(&self) -> &BitVec {
        &self.reachable
    }

    /// Whether the `nth` episode of a series, from 0, counts what it hits; `hit` is as in [`Steering::next`].
    pub fn counts(&self, nth: u64, hit: &BitVec) -> bool {
        nth.is_multiple_of(COUNTED)
            || self.reachable.iter_ones().any(|bin| !hit.get(bin).is_some_and(|bit| *bit))
    }

    /// The profile of the next episode, and the group it is steered to, if it is. `hit` is what the series
    /// has hit itself, with what it need not hit; `seed` is drawn from, the same gives the same.
    ///
    /// What was aimed at in vain gets less attention each time.
    pub fn next(&mut self, model: &Model, hit: &BitVec, seed: u64) -> (Profile, Option<String>) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        if rng.random_range(0..UNSTEERED) == 0 {
            return (Profile::default(), None);
        }
        let attention = |bin: usize| match self.reachable.get(bin).is_some_and(|bit| *bit) {
            true if !hit.get(bin).is_some_and(|bit| *bit) => 1.0 / f64::from(1 + self.aims[bin]),
            _ => 0.0,
        };
        // Many bins weigh more than few, but not in proportion: large groups fill up by themselves.
        let of_group = |group: &Group| (group.first..group.first + group.len()).map(attention).sum::<f64>();
        let weights: Vec<_> = model.groups.iter().map(|group| of_group(group).sqrt()).collect();
        let Some((group, steered)) =
            draw(&weights, &mut rng).and_then(|at| Some((model.groups.get(at)?, focus::STEERED.get(at)?)))
        else {
            return (Profile::default(), None);
        };
        let bins: Vec<_> = (group.first..group.first + group.len()).map(attention).collect();
        let Some(target) = draw(&bins, &mut rng) else { return (Profile::default(), None) };
        let wanted = companions(group, target, |at| bins[at] > 0.0);
        for at in &wanted {
            let aims = &mut self.aims[group.first + at];
            *aims = aims.saturating_add(1);
        }
        let wanted: Vec<_> = wanted.into_iter().map(|at| group.values(at)).collect();
        (steered(&wanted, &mut rng), Some(group.name.to_string()))
    }
}

/// The target, and bins beside it that differ from it in one dimension only, the dimension in which
/// there are most: one episode can hit them all.
fn companions(group: &Group, target: usize, unhit: impl Fn(usize) -> bool) -> Vec<usize> {
    let values = group.values(target);
    let mut best = vec![target];
    let mut step = group.len();
    for (dimension, value) in group.dimensions.iter().zip(values) {
        step /= dimension.values.len();
        let first = target - value * step;
        let others = (0..dimension.values.len()).map(|other| first + other * step);
        let line: Vec<_> = others.filter(|at| *at != target && unhit(*at)).collect();
        if line.len() + 1 > best.len() {
            best = std::iter::once(target).chain(line).collect();
        }
    }
    best
}

/// An index drawn by weight; none if no weight is above 0.
fn draw(weights: &[f64], rng: &mut Xoshiro256PlusPlus) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return None;
    }
    let mut left = rng.random::<f64>() * total;
    let above = |(at, weight): (usize, &f64)| {
        left -= weight;
        (*weight > 0.0 && left < 0.0).then_some(at)
    };
    let drawn = weights.iter().enumerate().find_map(above);
    drawn.or_else(|| weights.iter().rposition(|weight| *weight > 0.0))
}

#[cfg(test)]
mod tests;
