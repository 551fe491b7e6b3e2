//! Random numbers for warps, and distributions over bins.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Creates one generator per warp, so that the draws of a warp do not depend on timing.
pub(crate) fn generators(seed: u64, warps: usize) -> Vec<Xoshiro256PlusPlus> {
    let mut first = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..warps).map(|_| Xoshiro256PlusPlus::seed_from_u64(first.next_u64())).collect()
}

/// Histogram of a photograph: pixels per grey level. `camera.txt` names the photograph.
const PHOTOGRAPH: &str = include_str!("camera.txt");

/// Returns weights of `bins` bins from the grey levels of a photograph. A bin spans several levels, or
/// several bins share one level.
pub(crate) fn photograph(bins: u32) -> Vec<f64> {
    let lines = PHOTOGRAPH.lines().filter(|line| !line.starts_with('#'));
    let levels: Vec<f64> = lines.flat_map(str::split_whitespace).filter_map(|n| n.parse().ok()).collect();
    let (all, bins) = (levels.len(), bins as usize);
    if bins < all {
        let mut weights = vec![0.0; bins];
        levels.iter().enumerate().for_each(|(level, pixels)| weights[level * bins / all] += pixels);
        weights
    } else {
        (0..bins).map(|bin| levels[bin * all / bins]).collect()
    }
}

/// Returns Zipf weights of `bins` bins: rank r has weight r^-s. Ranks are assigned to bins at random.
pub(crate) fn zipf(bins: u32, s: f64, rng: &mut impl Rng) -> Vec<f64> {
    let mut weights: Vec<f64> = (1..=bins).map(|rank| f64::from(rank).powf(-s)).collect();
    weights.shuffle(rng);
    weights
}

/// Draws bins by weight in constant time with the alias method (Walker 1977, setup after Vose 1991).
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    /// Per bin: probability of keeping the bin in units of 2^-32, and the alias otherwise.
    table: Vec<(u32, u32)>,
}

impl Distribution {
    /// Builds the table. At least one weight must be above 0.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let bins = weights.len();
        let mean = weights.iter().sum::<f64>() / bins as f64;
        let mut share: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let (mut small, mut large): (Vec<_>, Vec<_>) = (0..bins).partition(|bin| share[*bin] < 1.0);
        // A bin that remains because of rounding has no alias and keeps all of its draws.
        let mut table: Vec<_> = (0..bins as u32).map(|bin| (u32::MAX, bin)).collect();
        while let (Some(less), Some(&more)) = (small.pop(), large.last()) {
            table[less] = ((share[less] * f64::from(u32::MAX)) as u32, more as u32);
            share[more] -= 1.0 - share[less];
            if share[more] < 1.0 {
                large.pop();
                small.push(more);
            }
        }
        Distribution { table }
    }

    #[inline]
    pub(crate) fn draw(&self, rng: &mut impl Rng) -> u32 {
        let bits = rng.next_u64();
        let bin = (((bits >> 32) * self.table.len() as u64) >> 32) as u32;
        let (stays, other) = self.table[bin as usize];
        if bits as u32 <= stays { bin } else { other }
    }
}

/// Draws a number of cycles evenly from 0 to twice the mean.
#[inline]
pub(crate) fn around(mean: u32, rng: &mut impl Rng) -> u64 {
    if mean == 0 { 0 } else { rng.random_range(0..=2 * u64::from(mean)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(weights: &[f64]) -> Vec<f64> {
        let (distribution, mut rng) = (Distribution::new(weights), Xoshiro256PlusPlus::seed_from_u64(1));
        let mut counts = vec![0.0; weights.len()];
        (0..1 << 20).for_each(|_| counts[distribution.draw(&mut rng) as usize] += 1.0 / f64::from(1 << 20));
        counts
    }

    #[test]
    fn bins_are_drawn_by_weight() {
        for weights in [vec![1.0], vec![1.0; 7], vec![0.0, 3.0, 1.0, 0.0], photograph(256), photograph(10)] {
            let all: f64 = weights.iter().sum();
            for (bin, (found, weight)) in drawn(&weights).iter().zip(&weights).enumerate() {
                // Allow five standard deviations of a count, plus rounding.
                let share = weight / all;
                let off = 5.0 * (share * (1.0 - share) / f64::from(1 << 20)).sqrt() + 1e-6;
                assert!((found - share).abs() <= off, "bin {bin} of {weights:?}: {found}, not {share}");
            }
        }
    }

    #[test]
    fn the_photograph_has_all_its_pixels() {
        for bins in [1, 2, 10, 256] {
            assert_eq!(photograph(bins).len(), bins as usize);
            assert_eq!(photograph(bins).iter().sum::<f64>(), 512.0 * 512.0, "{bins} bins");
        }
        assert_eq!(photograph(512)[..4], [1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn the_first_rank_is_twice_the_second() {
        let mut weights = zipf(100, 1.0, &mut Xoshiro256PlusPlus::seed_from_u64(3));
        assert_ne!(weights[0], 1.0, "ranks are not in order");
        weights.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(weights[..2], [1.0, 0.5]);
    }

    #[test]
    fn a_warp_draws_the_same_whatever_the_others_do() {
        let (mut few, mut many) = (generators(7, 2), generators(7, 64));
        let _ = many[0].next_u64();
        assert_eq!(few[1].next_u64(), many[1].next_u64());
        assert_ne!(few[0].next_u64(), generators(8, 1)[0].next_u64());
    }
}
