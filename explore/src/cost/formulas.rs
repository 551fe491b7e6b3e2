//! Formulas for area and slowest path of each module. A formula is a sum of terms over the parameters, whose
//! coefficients are fitted to measured points.

use atoms_model::Config;

pub(crate) type Term = (&'static str, fn(&Config) -> f64);

pub(crate) struct Formula {
    pub(crate) module: &'static str,
    /// Parameters that the module's structure depends on. Points with equal values have the same module.
    pub(crate) parameters: &'static [&'static str],
    pub(crate) area: &'static [Term],
    pub(crate) path: &'static [Term],
}

fn log(number: u32) -> f64 {
    f64::from(number).log2()
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}

fn ring(c: &Config) -> u32 {
    if c.forwarding { 2 * c.rmw_latency + 1 } else { c.rmw_latency + 1 }
}

const ONE: Term = ("1", |_| 1.0);
const LANES: Term = ("lanes", |c| f64::from(c.num_lanes));
const BANKS: Term = ("banks", |c| f64::from(c.num_banks));
const LANES_BANKS: Term = ("lanes*banks", |c| f64::from(c.num_lanes * c.num_banks));
const LANES_LANES: Term = ("lanes^2", |c| f64::from(c.num_lanes).powi(2));
const LOG_LANES: Term = ("log(lanes)", |c| log(c.num_lanes));
const LOG_BANKS: Term = ("log(banks)", |c| log(c.num_banks));
const LANES_LOG_BANKS: Term = ("lanes*log(banks)", |c| f64::from(c.num_lanes) * log(c.num_banks));
const QUEUE: Term = ("queue", |c| f64::from(c.queue_depth));
const LANES_QUEUE: Term = ("lanes*queue", |c| f64::from(c.num_lanes * c.queue_depth));
const LANES_ENTRIES: Term = ("lanes*(queue+1)", |c| f64::from(c.num_lanes * (c.queue_depth + 1)));
const LOG_ENTRIES: Term = ("log(queue+1)", |c| log(c.queue_depth + 1));
const RING_BANKS: Term = ("ring*banks", |c| f64::from(ring(c) * c.num_banks));
const RING_LANES: Term = ("ring*lanes", |c| f64::from(ring(c) * c.num_lanes));
const LOG_RING: Term = ("log(ring)", |c| log(ring(c)));
const FORWARDS: Term = ("forwarding*rmw", |c| flag(c.forwarding) * f64::from(c.rmw_latency));
const FORWARDS_BANKS: Term =
    ("forwarding*rmw*banks", |c| flag(c.forwarding) * f64::from(c.rmw_latency * c.num_banks));
const HOLDS_BANKS: Term =
    ("(1-forwarding)*rmw*banks", |c| flag(!c.forwarding) * f64::from(c.rmw_latency * c.num_banks));
const RESPONSES: Term = ("(rmw+4)", |c| f64::from(c.rmw_latency + 4));
const LOG_RESPONSES: Term = ("log(rmw+4)", |c| log(c.rmw_latency + 4));
const MERGES: Term = ("merge_arrive", |c| flag(c.merge_arrive));
const MERGES_LOG: Term = ("merge_arrive*log(lanes)", |c| flag(c.merge_arrive) * log(c.num_lanes));
const MERGES_BANKS: Term = ("merge_arrive*banks", |c| flag(c.merge_arrive) * f64::from(c.num_banks));
const MERGES_LANES_LANES: Term =
    ("merge_arrive*lanes^2", |c| flag(c.merge_arrive) * f64::from(c.num_lanes).powi(2));
const MERGED_LANES_BANKS: Term =
    ("merge_red*lanes*banks", |c| flag(c.merge_red) * f64::from(c.num_lanes * c.num_banks));
const MERGED_LOG_LANES: Term = ("merge_red*log(lanes)", |c| flag(c.merge_red) * log(c.num_lanes));
const SPIN_BANKS: Term =
    ("banks*log(2*spin_hold*lanes)", |c| f64::from(c.num_banks) * log(2 * c.spin_hold * c.num_lanes));
const WAITERS: Term = ("waiters", |c| f64::from(c.num_waiters));
const WAITERS_LANES: Term = ("waiters*lanes", |c| f64::from(c.num_waiters * c.num_lanes));
const WAITERS_BANKS: Term = ("waiters*banks", |c| f64::from(c.num_waiters * c.num_banks));
const LOG_WAITERS: Term = ("log(waiters+1)", |c| log(c.num_waiters + 1));
const SLOTS: Term = ("slots", |c| f64::from(c.num_cta_slots));
const LOG_SLOTS: Term = ("log(slots+1)", |c| log(c.num_cta_slots + 1));

/// Modules of the unit, in the order in which a request visits them. The module of the unit's own name is the
/// glue logic.
#[rustfmt::skip]
pub(crate) const FORMULAS: &[Formula] = &[
    Formula { module: "atoms_fifo_u_warp_queue", parameters: &["num_lanes", "queue_depth"],
        area: &[LANES_QUEUE, LANES, QUEUE, ONE], path: &[LOG_ENTRIES, LOG_LANES, ONE] },
    Formula { module: "atoms_fifo_u_cluster_queue", parameters: &[],
        area: &[ONE], path: &[ONE] },
    Formula { module: "atoms_cta_table", parameters: &["num_banks", "num_rows", "num_cta_slots", "queue_depth", "rmw_latency", "num_waiters"],
        area: &[SLOTS, ONE], path: &[SLOTS, LOG_SLOTS, ONE] },
    Formula { module: "atoms_agen", parameters: &["num_lanes", "num_banks", "bank_hash"],
        area: &[LANES_LOG_BANKS, LANES, ONE], path: &[LANES, LOG_LANES, LOG_BANKS, ONE] },
    Formula { module: "atoms_grouper", parameters: &["num_lanes", "num_banks", "winner_policy"],
        area: &[LANES_BANKS, LANES_LANES, LANES, BANKS, ONE], path: &[LANES, LOG_LANES, LOG_BANKS, ONE] },
    Formula { module: "atoms_spin", parameters: &["num_lanes", "num_banks", "spin_hold"],
        area: &[SPIN_BANKS, BANKS, ONE], path: &[LOG_BANKS, LOG_LANES, ONE] },
    Formula { module: "atoms_operands", parameters: &["num_lanes", "num_banks", "queue_depth", "merge_red"],
        area: &[LANES_BANKS, LANES_ENTRIES, LANES, BANKS, MERGED_LANES_BANKS, ONE],
        path: &[LOG_LANES, LOG_BANKS, MERGED_LOG_LANES, ONE] },
    Formula { module: "atoms_issue", parameters: &["num_lanes", "num_banks", "merge_red", "merge_arrive"],
        area: &[LANES, BANKS, ONE], path: &[LOG_LANES, LOG_BANKS, ONE] },
    Formula { module: "atoms_pipe", parameters: &["num_lanes", "num_banks", "rmw_latency", "forwarding"],
        area: &[RING_BANKS, RING_LANES, FORWARDS_BANKS, HOLDS_BANKS, BANKS, ONE], path: &[LOG_RING, FORWARDS, LOG_BANKS, ONE] },
    Formula { module: "atoms_alu", parameters: &["num_banks"],
        area: &[BANKS, ONE], path: &[LOG_BANKS, ONE] },
    Formula { module: "atoms_mbar", parameters: &["num_lanes", "num_banks", "merge_arrive"],
        area: &[BANKS, MERGES_BANKS, ONE], path: &[LOG_BANKS, MERGES, MERGES_LOG, ONE] },
    Formula { module: "atoms_collect", parameters: &["num_lanes", "num_banks", "merge_arrive", "try_wait_limit"],
        area: &[LANES_BANKS, MERGES_LANES_LANES, LANES, BANKS, ONE], path: &[LOG_LANES, LOG_BANKS, MERGES, MERGES_LOG, ONE] },
    Formula { module: "atoms_cluster_rsp", parameters: &["rmw_latency"],
        area: &[RESPONSES, ONE], path: &[LOG_RESPONSES, ONE] },
    Formula { module: "atoms_waiters", parameters: &["num_lanes", "num_banks", "num_waiters"],
        area: &[WAITERS_LANES, WAITERS_BANKS, WAITERS, ONE], path: &[LOG_WAITERS, LOG_BANKS, ONE] },
    Formula { module: "atoms_unit", parameters: &["num_lanes", "num_banks", "num_rows", "num_cta_slots", "queue_depth", "rmw_latency", "num_waiters"],
        area: &[LANES, BANKS, ONE], path: &[LOG_LANES, ONE] },
];

/// Chains: each list names the modules that one timing path between two registers passes. The slowest path of
/// the unit is one of these chains plus a delay outside the modules.
pub(crate) const CHAINS: &[&[&str]] = &[&["atoms_agen"], &["atoms_grouper", "atoms_operands"]];

pub(crate) fn values(terms: &[Term], config: &Config) -> Vec<f64> {
    terms.iter().map(|(_, value)| value(config)).collect()
}

/// Formats a fitted sum, without terms of weight 0.
pub(crate) fn written<'t>(terms: impl Iterator<Item = &'t str>, coefficients: &[f64]) -> String {
    let parts = terms.zip(coefficients).filter(|(_, weight)| **weight > 1e-6);
    let part = |(name, weight): (&str, &f64)| {
        let digits = if *weight >= 100.0 { 0 } else { 3 };
        match name {
            "1" => format!("{weight:.digits$}"),
            name => format!("{weight:.digits$}*{name}"),
        }
    };
    parts.map(part).collect::<Vec<_>>().join(" + ")
}
