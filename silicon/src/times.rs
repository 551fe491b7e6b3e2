//! Computes the time of operations from clock readings.

use serde::Serialize;

use crate::bytes::number;
use crate::capture::Capture;
use crate::program::{Clock, Contention, Reading, Times};

/// Time of one operation under one contention.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MeasuredTime {
    /// Instruction and kind of repetition: `atom.add.u32 latency`.
    pub of: String,
    /// Pattern of the addresses.
    pub contention: Contention,
    /// Number of warps that execute the same operations.
    pub warps: u32,
    pub clock: Clock,
    /// Time of one operation, in units of `clock`. With two run lengths: the difference of the medians
    /// divided by the difference of the lengths. With one length: the median.
    pub each: f64,
    /// Half of the range of the readings, per operation.
    pub spread: f64,
}

/// Median, minimum and maximum of the readings of a launch. With several warps, a sample is the time of the
/// slowest warp.
#[derive(Clone, Copy)]
struct Readings {
    median: f64,
    least: f64,
    greatest: f64,
}

fn readings(times: &Times, output: &[u8]) -> Option<Readings> {
    let per_sample = 8 * times.warps as usize;
    let sample = |bytes: &[u8]| bytes.chunks_exact(8).map(|word| number(word) as u64).max();
    // Skip the first sample: it is a warm-up.
    let mut of: Vec<u64> = output.chunks_exact(per_sample).skip(1).filter_map(sample).collect();
    of.sort_unstable();
    let median = *of.get(of.len() / 2)?;
    Some(Readings { median: median as f64, least: *of.first()? as f64, greatest: *of.last()? as f64 })
}

pub fn timings(capture: &Capture) -> Vec<MeasuredTime> {
    let mut lengths: Vec<Vec<(Times, Readings)>> = Vec::new();
    for record in &capture.records {
        let outputs = record.outputs().unwrap_or_default();
        for (launch, output) in record.program.launches.iter().zip(outputs) {
            let Reading::Times(times) = &launch.reading else { continue };
            let Some(readings) = readings(times, output) else { continue };
            let key = |times: &Times| (times.of.clone(), times.contention, times.warps);
            match lengths.iter_mut().find(|of| key(&of[0].0) == key(times)) {
                Some(of) => of.push((times.clone(), readings)),
                None => lengths.push(vec![(times.clone(), readings)]),
            }
        }
    }
    lengths.iter().filter_map(|of| timing(of)).collect()
}

fn timing(lengths: &[(Times, Readings)]) -> Option<MeasuredTime> {
    let (short, long) =
        (lengths.iter().min_by_key(|l| l.0.operations)?, lengths.iter().max_by_key(|l| l.0.operations)?);
    let Times { of, contention, warps, clock, .. } = long.0.clone();
    let operations = f64::from(long.0.operations);
    let each = if short.0.operations == long.0.operations {
        long.1.median / operations
    } else {
        (long.1.median - short.1.median) / (operations - f64::from(short.0.operations))
    };
    let spread = (long.1.greatest - long.1.least) / 2.0 / operations;
    Some(MeasuredTime { of, contention, warps, clock, each, spread })
}

/// Linear fit of the time of one instruction over the number of competing lanes.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Fit {
    /// Instruction and kind of repetition.
    pub of: String,
    /// Resource for which the lanes compete: `one word`, `one bank`, `each word`, `each bank`.
    pub on: &'static str,
    /// Cycles with one lane.
    pub base: f64,
    /// Cycles for each further lane.
    pub per_lane: f64,
    /// Largest distance of a measured time from the line, in cycles.
    pub residual: f64,
    /// Measured points: number of lanes, cycles.
    pub points: Vec<(u32, f64)>,
}

/// Name of a contention family, and function that is true for the contentions of this family.
type Family = (&'static str, fn(Contention) -> bool);

const FAMILIES: [Family; 4] = [
    ("one word", |c| matches!(c, Contention::OneWord(_))),
    ("one bank", |c| matches!(c, Contention::OneBank(_))),
    ("each word", |c| matches!(c, Contention::PerWord(_))),
    ("each bank", |c| matches!(c, Contention::PerBank(_))),
];

/// Fits a line for each instruction and contention family, for timings of one warp.
pub fn fits(timings: &[MeasuredTime]) -> Vec<Fit> {
    let mut names: Vec<&str> = timings.iter().map(|t| &t.of[..]).collect();
    names.dedup();
    let of = |name: &str, (on, is_of): Family| {
        let mut points: Vec<(u32, f64)> = timings
            .iter()
            .filter(|t| t.of == name && t.warps == 1 && t.clock == Clock::Cycles && is_of(t.contention))
            .map(|t| (t.contention.ways(), t.each))
            .collect();
        points.sort_by_key(|(lanes, _)| *lanes);
        points.dedup_by_key(|(lanes, _)| *lanes);
        (points.len() >= 3).then(|| fit(name, on, points))
    };
    names.iter().flat_map(|name| FAMILIES.into_iter().filter_map(|family| of(name, family))).collect()
}

/// Fits a line by least squares.
fn fit(of: &str, on: &'static str, points: Vec<(u32, f64)>) -> Fit {
    let count = points.len() as f64;
    let x = |lanes: u32| f64::from(lanes) - 1.0;
    let mean_x = points.iter().map(|(lanes, _)| x(*lanes)).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, cycles)| cycles).sum::<f64>() / count;
    let products: f64 = points.iter().map(|(l, y)| (x(*l) - mean_x) * (y - mean_y)).sum();
    let squares: f64 = points.iter().map(|(l, _)| (x(*l) - mean_x).powi(2)).sum();
    let per_lane = products / squares;
    let base = mean_y - per_lane * mean_x;
    let distance = |(lanes, cycles): &(u32, f64)| (cycles - base - per_lane * x(*lanes)).abs();
    let residual = points.iter().map(distance).fold(0.0, f64::max);
    Fit { of: of.into(), on, base, per_lane, residual, points }
}
