//! Converts times of a capture to the measurement table of `atoms explore calibrate` (docs/calibration.md).

use crate::program::{Clock, Contention};
use crate::times::MeasuredTime;

/// Timed instructions that have an equivalent workload of `atoms explore`. Columns: name of the timing,
/// workloads that make up one round, memory order.
#[rustfmt::skip]
const WORKLOADS: &[(&str, &[&str], &str)] = &[
    ("ld.u32 latency",                         &["contend op=lds"],                                   ""),
    ("atom.add.u32 latency",                   &["contend"],                                          ""),
    ("atom.add.u32 latency by warps",          &["contend"],                                          ""),
    ("atom.exch.b32 latency",                  &["contend op=exch"],                                  ""),
    ("atom.cas.b32 latency",                   &["contend op=cas"],                                   ""),
    ("atom.cas.b32 latency by warps",          &["contend op=cas"],                                   ""),
    ("atom.add.f32 latency",                   &["accumulate of=f32"],                                ""),
    ("atom.add.f32 latency by warps",          &["accumulate of=f32"],                                ""),
    ("atom.acquire latency",                   &["contend"],                                          "acquire"),
    ("atom.release latency",                   &["contend"],                                          "release"),
    ("atom.acq_rel latency",                   &["contend"],                                          "acq_rel"),
    ("atom.acq_rel.gpu latency",               &["contend"],                                          "acq_rel.gpu"),
    ("mbarrier.arrive latency",                &["contend op=mbar.arrive"],                           ""),
    ("mbarrier.test_wait latency",             &["contend op=mbar.test_wait"],                        ""),
    ("mbarrier.arrive and test_wait latency",  &["contend op=mbar.arrive", "contend op=mbar.test_wait"], ""),
];

/// Workload parameters for a contention. `None` if the workload has no equivalent. With several warps, all
/// warps use the same addresses.
fn contention_parameters(workload: &str, contention: Contention, warps: u32) -> Option<String> {
    let is_loop = workload.starts_with("accumulate");
    let text = match contention {
        Contention::OneBank(_) | Contention::PerBank(_) if is_loop => return None,
        Contention::Apart(_) | Contention::PerWord(_) if is_loop && warps > 1 => return None,
        Contention::Apart(n) => format!("lanes={n} contention=1"),
        Contention::OneWord(n) => format!("lanes={n} contention=0"),
        Contention::PerWord(n) => format!("contention={n}"),
        Contention::OneBank(n) => format!("lanes={n} contention=0 at=bank"),
        Contention::PerBank(n) => format!("contention={n} at=bank"),
    };
    Some(text)
}

/// Returns CSV lines: a header, then one line for each timing that has an equivalent workload.
pub fn csv(gpu: &str, timings: &[MeasuredTime]) -> Vec<String> {
    let row = |time: &MeasuredTime| {
        let (_, workloads, order) = WORKLOADS.iter().find(|(name, ..)| *name == time.of)?;
        let part = |workload: &&str| {
            Some(format!(
                "{workload} {} warps={}",
                contention_parameters(workload, time.contention, time.warps)?,
                time.warps
            ))
        };
        let parts = workloads.iter().map(part).collect::<Option<Vec<_>>>()?.join(" + ");
        // Readings that are all equal still get a tolerance of 1 %, because the calibration weighs figures by
        // their tolerance.
        let tolerance = (100.0 * time.spread / time.each).max(1.0);
        let is_usable = time.clock == Clock::Cycles && time.each > 0.0;
        let gpu = gpu.replace('"', "");
        is_usable.then(|| format!("\"{gpu}\",{parts},{order},latency,{:.3},{tolerance:.1}", time.each))
    };
    let head = "gpu,workload,order,metric,value,tolerance".to_string();
    std::iter::once(head).chain(timings.iter().filter_map(row)).collect()
}
