//! Axes: conversion of values to pixels, and positions of ticks.

use std::ops::Range;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Even steps. The axis starts at 0 if the smallest value is not far from it.
    #[default]
    Linear,
    /// Powers of two, for contention, banks or warps. Values must be above 0.
    Log2,
    /// Powers of ten. Values must be above 0.
    Log10,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// Name and unit, such as `updates per 1,000 cycles`.
    pub label: String,
    pub scale: Scale,
}

impl Axis {
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Linear }
    }

    pub fn log2(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Log2 }
    }

    pub fn log10(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: Scale::Log10 }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Ruler {
    scale: Scale,
    /// Smallest and largest value on the scale, as [`Ruler::place`] returns them.
    range: (f64, f64),
    pixels: Range<i32>,
    /// Values with a tick, in ascending order.
    pub(super) ticks: Vec<f64>,
}

/// Minimum number of steps between ticks on a linear axis, if the values allow it.
const TICKS: f64 = 5.0;

impl Ruler {
    /// Fits an axis to `values`. The first pixel is the smallest value.
    ///
    /// # Errors
    /// A message if a value is not finite, or not above 0 on a logarithmic scale, or there is no value.
    pub(super) fn new(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        pixels: Range<i32>,
    ) -> Result<Ruler, String> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            if !value.is_finite() || (axis.scale != Scale::Linear && value <= 0.0) {
                return Err(format!("the axis `{}` cannot show {value}", axis.label));
            }
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            return Err("it has no values".to_string());
        }
        let (range, ticks) = match axis.scale {
            Scale::Linear => even(low, high),
            Scale::Log2 => powers(2.0, low.log2(), high.log2()),
            Scale::Log10 => powers(10.0, low.log10(), high.log10()),
        };
        Ok(Ruler { scale: axis.scale, range, pixels, ticks })
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log2 => value.log2(),
            Scale::Log10 => value.log10(),
        }
    }

    pub(super) fn pixel(&self, value: f64) -> i32 {
        let share = (self.place(value) - self.range.0) / (self.range.1 - self.range.0);
        let (from, to) = (f64::from(self.pixels.start), f64::from(self.pixels.end));
        (from + share * (to - from)).round() as i32
    }
}

/// Returns range and ticks with even steps of 1, 2 or 5 times a power of ten.
fn even(low: f64, high: f64) -> ((f64, f64), Vec<f64>) {
    // Include 0 if it is close: the reader then sees how large a difference is.
    let low = if low > 0.0 && low < 0.6 * high { 0.0 } else { low };
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let rough = span / TICKS;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|of| of * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step).floor();
    let last = (high / step).ceil().max(first + 1.0);
    let ticks = (0..=(last - first) as u32).map(|at| (first + f64::from(at)) * step).collect();
    ((first * step, last * step), ticks)
}

/// Returns range and ticks at powers of `base`, with at most about ten ticks.
fn powers(base: f64, low: f64, high: f64) -> ((f64, f64), Vec<f64>) {
    let (first, mut last) = (low.floor(), high.ceil());
    if last <= first {
        last = first + 1.0;
    }
    let step = ((last - first) / 10.0).ceil().max(1.0);
    let count = ((last - first) / step).floor() as u32;
    let ticks = (0..=count).map(|at| base.powf(first + f64::from(at) * step)).collect();
    // Add a margin, so that marks at the ends are not cut.
    let room = 0.02 * (last - first);
    ((first - room, last + room), ticks)
}

/// Formats a number for a tick: `250`, `1.5 M`, `0.02`.
pub(crate) fn short(value: f64) -> String {
    let (value, unit) = match value.abs() {
        large if large >= 1e9 => (value / 1e9, " G"),
        large if large >= 1e6 => (value / 1e6, " M"),
        large if large >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let digits = match value.abs() {
        0.0 => 0,
        small if small < 1.0 => (-small.log10().floor()) as usize + 1,
        small if small < 100.0 => 2,
        _ => 1,
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_short() {
        let rows = [
            (0.0, "0"),
            (0.02, "0.02"),
            (1.0, "1"),
            (2.5, "2.5"),
            (250.0, "250"),
            (4096.0, "4096"),
            (65536.0, "65.54 k"),
            (2_000_000.0, "2 M"),
        ];
        for (value, text) in rows {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let of = |axis: &Axis, value| Ruler::new(axis, [1.0, value].into_iter(), 0..10).map(|_| ());
        assert_eq!(of(&Axis::log2("banks"), 0.0), Err("the axis `banks` cannot show 0".to_string()));
        assert!(of(&Axis::linear("banks"), f64::NAN).is_err_and(|error| error.contains("NaN")));
        assert!(Ruler::new(&Axis::linear("banks"), [].into_iter(), 0..10).is_err());
    }

    proptest! {
        /// Each value maps to a pixel on the axis, in ascending order, and lies between the first and the
        /// last tick of an even scale.
        #[test]
        fn values_lie_on_the_axis(values in prop::collection::vec(1e-6f64..1e12, 1..20), log in 0usize..3) {
            let axis = Axis { label: String::new(), scale: [Scale::Linear, Scale::Log2, Scale::Log10][log] };
            let ruler = Ruler::new(&axis, values.iter().copied(), 100..700).expect("they are above zero");
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let pixels: Vec<_> = sorted.iter().map(|value| ruler.pixel(*value)).collect();
            prop_assert!(pixels.is_sorted());
            prop_assert!(pixels.iter().all(|pixel| (100..=700).contains(pixel)), "{pixels:?}");
            prop_assert!((2..=16).contains(&ruler.ticks.len()), "{:?}", ruler.ticks);
            prop_assert!(ruler.ticks.is_sorted());
        }
    }
}
