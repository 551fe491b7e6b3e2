//! Attempts and successes of operations that may fail.

use atoms_model::port::MAX_LANES;
use atoms_ops::{OPS, Op, Size};
use serde::Serialize;

use atoms_stimulus::request::WarpRequest;

/// Tags of the warp port. A core gives each warp its own tag.
const TAGS: usize = 64;

/// Attempts at one operation that may fail: a compare-and-store, or a query of the phase of an mbarrier
/// object. The figures count lanes of both ports, except those of requests that fault.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RetryUsage {
    /// Name of the operation.
    pub op: &'static str,
    /// Number of requests answered.
    pub requests: u64,
    /// Answered requests in which every lane repeats a failed attempt (class `retry` of the cycles).
    pub retries: u64,
    /// Number of lanes that tried.
    pub attempts: u64,
    /// Lanes that stored, or whose phase was complete.
    pub successes: u64,
    /// Lanes of CAST.SPIN that were not selected. Such a lane fails whatever its word holds (spec 5.1).
    pub not_selected: u64,
    /// `attempts` divided by `successes`. `None` without a success.
    pub attempts_per_success: Option<f64>,
}

/// Returns true if the answer tells each lane whether it succeeded.
pub(super) fn may_fail(op: Op) -> bool {
    op.compares() || op.asks_phase()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    pub(super) op: Op,
    /// Lanes that tried. `succeeded` has those that succeeded.
    pub(super) lanes: u32,
    pub(super) succeeded: u32,
    pub(super) retry: bool,
    pub(super) not_selected: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Retries {
    usage: Vec<RetryUsage>,
    /// Lanes that failed in the last answered compare-and-store, by tag.
    failed: Vec<Option<Failed>>,
}

#[derive(Clone, Copy, Debug)]
struct Failed {
    op: u8,
    size: u8,
    slot: u8,
    lanes: u32,
    /// Address of each lane. Only lanes in `lanes` are valid.
    addresses: [u32; MAX_LANES],
}

impl Failed {
    // Copies the addresses: the request itself would keep its operands alive, a kilobyte or more.
    fn new(request: &WarpRequest, lanes: u32) -> Self {
        let WarpRequest { op, size, slot, .. } = *request;
        let (form, mut addresses) = (request.address_form(), [0; MAX_LANES]);
        for (lane, address) in addresses.iter_mut().enumerate() {
            *address = form.address(request.lane(lane).ra);
        }
        Failed { op, size, slot, lanes, addresses }
    }
}

impl Retries {
    pub(super) fn new() -> Self {
        let none = |op: Op| RetryUsage {
            op: op.name(),
            requests: 0,
            retries: 0,
            attempts: 0,
            successes: 0,
            not_selected: 0,
            attempts_per_success: None,
        };
        let usage = OPS.iter().filter(|row| may_fail(row.op)).map(|row| none(row.op)).collect();
        Retries { usage, failed: vec![None; TAGS] }
    }

    /// Returns true if every lane of a compare-and-store repeats an attempt that failed.
    pub(super) fn repeats(&self, request: &WarpRequest, lanes: u32) -> bool {
        let Some(Some(before)) = self.failed.get(usize::from(request.tag)) else { return false };
        if lanes == 0 || lanes & !before.lanes != 0 {
            return false;
        }
        let now = Failed::new(request, lanes);
        let same = |lane: usize| now.addresses[lane] == before.addresses[lane];
        (now.op, now.size, now.slot) == (before.op, before.size, before.slot)
            && (0..MAX_LANES).filter(|lane| lanes >> lane & 1 == 1).all(same)
    }

    /// Notes the lanes that failed in an answered compare-and-store of the warp port.
    pub(super) fn failed(&mut self, request: &WarpRequest, lanes: u32) {
        if let Some(last) = self.failed.get_mut(usize::from(request.tag)) {
            *last = (lanes != 0).then(|| Failed::new(request, lanes));
        }
    }

    pub(super) fn answered(&mut self, tried: &Tried) {
        let name = tried.op.name();
        let Some(usage) = self.usage.iter_mut().find(|usage| usage.op == name) else { return };
        usage.requests += 1;
        usage.retries += u64::from(tried.retry);
        usage.attempts += u64::from(tried.lanes.count_ones());
        usage.successes += u64::from((tried.lanes & tried.succeeded).count_ones());
        usage.not_selected += u64::from(tried.not_selected);
    }

    /// Forgets the failed attempts, because a reset drops all requests.
    pub(super) fn reset(&mut self) {
        self.failed.fill(None);
    }

    pub(super) fn usage(&self) -> Vec<RetryUsage> {
        let ratio = |usage: &RetryUsage| {
            (usage.successes > 0).then(|| usage.attempts as f64 / usage.successes as f64)
        };
        let tried = self.usage.iter().filter(|usage| usage.requests > 0);
        tried.map(|usage| RetryUsage { attempts_per_success: ratio(usage), ..usage.clone() }).collect()
    }
}

/// Returns the lanes that a CAST.SPIN pass does not select. The pass selects one lane for each bank group.
pub(super) fn not_selected(size: u8, lanes: u32, banks: u64) -> u32 {
    let words = Size::from_code(size).map_or(1, |size| (size.bytes() / 4).max(1));
    lanes.count_ones().saturating_sub(banks.count_ones() / words)
}
