//! How often what may fail is tried until it succeeds.

use atoms_model::port::MAX_LANES;
use atoms_ops::{OPS, Op, Size};
use serde::Serialize;

use atoms_stimulus::request::WarpRequest;

/// Tags of the warp port. A core gives each warp its own.
const TAGS: usize = 64;

/// Lanes that tried an operation which may fail: a compare-and-store, or asking for the phase of an mbarrier object.
/// Of both ports; lanes of requests that fault do not count.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RetryUsage {
    /// Name of the operation.
    pub op: &'static str,
    /// Requests answered.
    pub requests: u64,
    /// Of these, the ones in which every lane repeats what failed (class `retry` of the cycles).
    pub retries: u64,
    /// Lanes that tried.
    pub attempts: u64,
    /// Lanes of these that stored, or whose phase was complete.
    pub successes: u64,
    /// Lanes of CAST.SPIN that were not selected, and so failed whatever their word held (spec 5.1).
    pub not_selected: u64,
    /// `attempts` over `successes`; `None` where nothing succeeded.
    pub attempts_per_success: Option<f64>,
}

/// Whether a lane is told if it succeeded.
pub(super) fn may_fail(op: Op) -> bool {
    op.compares() || op.asks_phase()
}

/// An answer to something that may fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    pub(super) op: Op,
    /// Lanes that tried, and those of them that succeeded.
    pub(super) lanes: u32,
    pub(super) succeeded: u32,
    pub(super) retry: bool,
    /// Lanes that were not selected.
    pub(super) not_selected: u32,
}

/// Follows them.
#[derive(Clone, Debug)]
pub(super) struct Retries {
    usage: Vec<RetryUsage>,
    /// By tag: what failed of the last compare-and-store answered.
    failed: Vec<Option<Failed>>,
}

/// Lanes that failed in a compare-and-store.
#[derive(Clone, Copy, Debug)]
struct Failed {
    op: u8,
    size: u8,
    slot: u8,
    lanes: u32,
    /// `[lane]`; only those of `lanes` count.
    addresses: [u32; MAX_LANES],
}

impl Failed {
    // The request itself would keep its operands alive, a kilobyte or more.
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

    /// Whether every lane of a compare-and-store repeats one that failed.
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

    /// A compare-and-store of the warp port is answered, and these lanes failed in it.
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

    /// Nothing is inside, and what failed is forgotten.
    pub(super) fn reset(&mut self) {
        self.failed.fill(None);
    }

    /// The operations that were tried.
    pub(super) fn usage(&self) -> Vec<RetryUsage> {
        let ratio = |usage: &RetryUsage| {
            (usage.successes > 0).then(|| usage.attempts as f64 / usage.successes as f64)
        };
        let tried = self.usage.iter().filter(|usage| usage.requests > 0);
        tried.map(|usage| RetryUsage { attempts_per_success: ratio(usage), ..usage.clone() }).collect()
    }
}

/// Lanes of a CAST.SPIN pass that are not selected: one lane is on each bank group that the pass works on.
pub(super) fn not_selected(size: u8, lanes: u32, banks: u64) -> u32 {
    let words = Size::from_code(size).map_or(1, |size| (size.bytes() / 4).max(1));
    lanes.count_ones().saturating_sub(banks.count_ones() / words)
}
