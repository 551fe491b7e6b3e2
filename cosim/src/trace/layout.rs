//! Signals that a viewer shows, in order.

use atoms_model::port::In;
use atoms_wave_write::{Layout, Signal};

use super::ports::SideSignals;
use super::{FailurePoint, Trace};
use crate::mismatch::{ComparedSignal, Difference, SignalElement};

impl Trace {
    /// Returns the default layout: first the differences and transactions, last lanes and banks.
    pub(super) fn layout(&self) -> Layout {
        let mut layout = Layout::new();
        if let Some(comparison) = &self.comparison {
            let counts = [comparison.any, comparison.pairs_differing, comparison.cycles_differing];
            layout = layout.group("difference", counts);
        }
        layout = self.transactions.layout(layout).group(
            "request",
            self.input(&["req_valid", "req_op", "req_size", "req_tag", "req_slot", "req_mask", "req_red"]),
        );
        let names = if self.ports.sides.len() == 2 { ["rtl", "model"] } else { ["unit", ""] };
        for (side, name) in self.ports.sides.iter().zip(names) {
            let issue = [
                "queue_count",
                "issue_valid",
                "issue_op",
                "issue_tag",
                "issue_pending",
                "pass_fire",
                "pass_index",
                "pass_served",
                "pass_last",
                "hazard",
                "stall",
            ];
            let waiting = side.probe(&["completed", "wait_enter", "wait_suspended", "wait_ready"]);
            let cluster = side.probe(&["cl_count", "cl_done", "cl_owes", "cl_owed"]);
            let answer = ["rsp_valid", "rsp_tag", "rsp_fault", "rsp_passes", "rsp_pred", "rsp_rd"];
            layout = layout
                .group(&format!("{name}: issue"), [side.out(&["req_ready"]), side.probe(&issue)].concat())
                .group(
                    &format!("{name}: waiting"),
                    [waiting, side.out(&["wake_valid", "wake_tag", "wake_pred"])].concat(),
                )
                .group(
                    &format!("{name}: cluster"),
                    [cluster, side.out(&["cl_rsp_valid", "cl_rsp_tag"])].concat(),
                )
                .group(
                    &format!("{name}: banks"),
                    side.probe(&["pipe_valid", "win_valid", "wr_en", "wr_data"]),
                )
                .group(&format!("{name}: answer"), side.out(&answer));
        }
        layout
    }

    /// Returns the layout for a failure. Above the default layout, it has the value that differs on both
    /// sides, the request with the operands of its lane, and the bank.
    pub(super) fn layout_at(&self, failure: &FailurePoint) -> Layout {
        let mut layout = Layout::new().marker(failure.cycle);
        let element = failure.difference.and_then(|difference| difference.element);
        if let Some(difference) = &failure.difference {
            let title = format!("first difference: {}", difference.place());
            layout = layout.group(&title, self.both_sides_of(difference));
        }
        if let Some(subject) = &failure.subject {
            let port = if subject.cluster { "cl" } else { "req" };
            let operands = ["ra", "b", "c"].map(|operand| self.input(&[&format!("{port}_{operand}")]));
            let lane = match element {
                Some(SignalElement::Lane(lane)) if !subject.cluster => Some(lane),
                Some(SignalElement::Bank(bank)) if !subject.cluster => self.transactions.lane_at(bank),
                Some(_) | None => None,
            };
            // Without a known lane, show no operands: those of all lanes would fill the screen.
            let of_lane = operands.iter().filter_map(|lanes| lanes.get(lane?).copied());
            let port =
                self.input(&["valid", "op", "size", "tag", "slot"].map(|name| format!("{port}_{name}")));
            let signals = self.transactions.of(subject).into_iter().chain(port).chain(of_lane);
            layout = layout.group(&format!("request concerned, tag {}", subject.tag), signals);
        }
        if let Some(SignalElement::Bank(bank)) = element {
            let of_bank = |side: &SideSignals| {
                let of_each = ["win_lane", "wr_row", "wr_data"].map(|name| side.probe(&[name]));
                let of_each = of_each.iter().filter_map(|banks| banks.get(bank).copied()).collect();
                [side.probe(&["win_valid", "wr_en"]), of_each].concat()
            };
            let sides = self.ports.sides.iter().flat_map(of_bank);
            layout = layout.group(&format!("bank {bank}"), self.transactions.of_bank(bank).chain(sides));
        }
        layout.above(self.layout())
    }

    /// Returns the RTL's signal, the model's signal, and their difference flag.
    fn both_sides_of(&self, difference: &Difference) -> Vec<Signal> {
        let at = match difference.element {
            None => 0,
            Some(SignalElement::Lane(at) | SignalElement::Bank(at)) => at,
            Some(SignalElement::Word { .. }) => return Vec::new(),
        };
        let of = |side: &SideSignals| match difference.signal {
            ComparedSignal::Output(field) => side.out.0.get(field as usize)?.signals.get(at).copied(),
            ComparedSignal::Probe(field) => side.probe.0.get(field as usize)?.signals.get(at).copied(),
            ComparedSignal::Memory => None,
        };
        let sides: Vec<_> = self.ports.sides.iter().filter_map(of).collect();
        let flag = self.comparison.as_ref().and_then(|comparison| {
            let pair = comparison.pairs.iter().position(|pair| pair[..] == sides[..])?;
            comparison.flags.get(pair).copied()
        });
        sides.into_iter().chain(flag).collect()
    }

    fn input(&self, names: &[impl AsRef<str>]) -> Vec<Signal> {
        names.iter().flat_map(|name| self.ports.inputs.of(In::FIELDS, name.as_ref())).collect()
    }
}
