//! Steers stimulus towards bins that no run has hit.
//!
//! [`Steering`] belongs to one series of episodes. It picks reachable bins without a hit, and `focus.rs`
//! turns their values into knobs of the profile. Its choices depend only on its calls and their arguments, so
//! a series is reproducible anywhere.

mod focus;

use atoms_model::Config;
use atoms_stimulus::Profile;
use bitvec::vec::BitVec;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Group, Model};

/// One episode out of this many is not steered, to hit bins that steering does not aim at.
const UNSTEERED: u32 = 4;

/// If all bins are hit, one episode out of this many still samples coverage. Sampling costs a sixth to a
/// quarter of the lockstep time, too much for bins that are already hit.
const COUNTED: u64 = 8;

#[derive(Clone, Debug)]
pub struct Steering {
    reachable: BitVec,
    /// Number of episodes that aimed at each bin.
    aims: Vec<u16>,
}

impl Steering {
    pub fn new(model: &Model, config: &Config) -> Self {
        Self::towards(model.reachable(config))
    }

    /// Creates the steering of a series with these reachable bins.
    pub fn towards(reachable: BitVec) -> Self {
        Steering { aims: vec![0; reachable.len()], reachable }
    }

    pub fn reachable(&self) -> &BitVec {
        &self.reachable
    }

    /// Returns true if the `nth` episode of a series, from 0, samples coverage. `hit` is as in
    /// [`Steering::next`].
    pub fn counts(&self, nth: u64, hit: &BitVec) -> bool {
        nth.is_multiple_of(COUNTED)
            || self.reachable.iter_ones().any(|bin| !hit.get(bin).is_some_and(|bit| *bit))
    }

    /// Returns the profile of the next episode, and the group it is steered to. None if it is not steered.
    ///
    /// `hit` has the bins hit by the series itself, and bins that the series need not hit. The same `seed`
    /// gives the same draw. Each failed attempt at a bin lowers its weight.
    pub fn next(&mut self, model: &Model, hit: &BitVec, seed: u64) -> (Profile, Option<String>) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        if rng.random_range(0..UNSTEERED) == 0 {
            return (Profile::default(), None);
        }
        let attention = |bin: usize| match self.reachable.get(bin).is_some_and(|bit| *bit) {
            true if !hit.get(bin).is_some_and(|bit| *bit) => 1.0 / f64::from(1 + self.aims[bin]),
            _ => 0.0,
        };
        // Larger groups weigh more, but less than in proportion, because large groups fill up without
        // steering.
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

/// Returns the target and other unhit bins that differ from it in one dimension only, so that one episode can
/// hit them all. Takes the dimension with the most such bins.
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

/// Draws an index by weight. None if no weight is above 0.
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
