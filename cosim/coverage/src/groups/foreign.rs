//! Bins that a unit which is not this project's can hit: those that the ports alone show.

use atoms_model::Config;
use atoms_ops::{Op, Size};
use atoms_stimulus::unit::ForeignUnit;
use bitvec::vec::BitVec;

use super::*;
use crate::cross::Cover;
use crate::model::Group;

/// Groups that the ports alone show, so that they count for a unit that is not this project's.
const AT_THE_PORTS: [&str; 17] = [
    Operation::NAME,
    Decode::NAME,
    Lanes::NAME,
    LaneAlone::NAME,
    Conflict::NAME,
    Addresses::NAME,
    SameAddress::NAME,
    StoreOverlay::NAME,
    Address::NAME,
    Tags::NAME,
    TagReuse::NAME,
    Compare::NAME,
    PartEdge::NAME,
    Hold::NAME,
    ObjectLanes::NAME,
    Objects::NAME,
    Wait::NAME,
];

/// Groups that the ports alone show if the unit has a CTA table.
const OF_THE_TABLE: [&str; 7] = [
    Slot::NAME,
    Offset::NAME,
    CtaWrite::NAME,
    CtaPart::NAME,
    CtaNeighbour::NAME,
    AllocationSize::NAME,
    CtaBackToBack::NAME,
];

/// Groups of faulty requests that the ports alone show.
const OF_FAULTS: [&str; 4] = [FaultLane::NAME, FaultMix::NAME, Misalignment::NAME, OutOfRange::NAME];

/// Returns true if the ports show the group, and the unit has what it needs.
fn at_the_ports(unit: &ForeignUnit, group: &str) -> bool {
    let stores =
        group != StoreOverlay::NAME || unit.has(Op::Store, Size::U32) || unit.has(Op::Store, Size::U64);
    AT_THE_PORTS.contains(&group) && stores
        || unit.ports.table && OF_THE_TABLE.contains(&group)
        || unit.rules.faults && OF_FAULTS.contains(&group)
}

impl Model {
    /// Returns the bins that a configuration can hit, of a unit that is not this project's if `unit` is given: only
    /// bins of transactions that the ports show and that the unit supports.
    pub fn reachable_by(&self, config: &Config, unit: Option<&ForeignUnit>) -> BitVec {
        let mut bins = self.reachable(config);
        let Some(unit) = unit else { return bins };
        for group in &self.groups {
            let shown = at_the_ports(unit, group.name);
            for at in (0..group.len()).filter(|at| !shown || !supports(unit, group, &group.values(*at))) {
                bins.set(group.first + at, false);
            }
        }
        bins
    }
}

/// Returns true if a unit supports the operation, size and port of a bin.
fn supports(unit: &ForeignUnit, group: &Group, values: &[usize]) -> bool {
    let value = |name: &str| {
        let at = group.dimensions.iter().position(|dimension| dimension.name == name)?;
        Some(group.dimensions[at].values[values[at]].as_str())
    };
    let code = |name: &str| value(name).and_then(|code| code.parse().ok());
    let op = value("operation").map(Op::from_name).or_else(|| code("operation_code").map(Op::from_code));
    let size = |name: &str| Size::ALL.into_iter().find(|size| size.name() == name);
    let size = value("size").map(size).or_else(|| code("size_code").map(Size::from_code));
    let fits = match (op, size) {
        (Some(op), Some(size)) => op.zip(size).is_some_and(|(op, size)| unit.has(op, size)),
        (Some(op), None) => op.is_some_and(|op| Size::ALL.iter().any(|size| unit.has(op, *size))),
        (None, Some(size)) => size.is_some_and(|size| Op::ALL.iter().any(|op| unit.has(*op, size))),
        (None, None) => true,
    };
    // An operation that the unit does not have is never sent.
    let is_sent = value("fault") != Some("illegal instruction")
        && (unit.rules.faults || matches!(value("scale"), None | Some("1")));
    let waits = unit.has(Op::MbarTryWait, Size::U64);
    let has_port = match value("port") {
        Some(port) if port.starts_with("cluster") => unit.ports.cluster,
        Some("wake-up") => waits,
        _ => true,
    };
    let two_ports = value("names_also")
        .is_none_or(|names| unit.ports.cluster || !matches!(names, "a request at the other port" | "both"));
    fits && is_sent && has_port && two_ports
}
