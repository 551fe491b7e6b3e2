//! Check that a unit does not change an answer before the driver takes it.

use atoms_monitor::Cycle;

use crate::scoreboard::OracleViolation;

/// Answers that the unit offered in the last cycle and the driver did not take, one entry for each answer port.
/// An entry has the values of the port's signals. It is empty if no answer waits.
#[derive(Debug, Default)]
pub(super) struct HeldAnswers([Vec<u128>; 3]);

/// Names of the answer ports in signals.
const PORTS: [&str; 3] = ["rsp", "cl_rsp", "wake"];
/// Names of the signals of an answer, without the port. Results follow, one for each lane.
const SIGNALS: [&str; 5] = ["tag", "pred", "fault", "fault_lane", "fault_addr"];

impl HeldAnswers {
    /// Compares the answers of this cycle with those that waited in the last one.
    ///
    /// # Errors
    /// [`OracleViolation`] with the first signal that changed.
    pub(super) fn see(&mut self, cycle: &Cycle<'_>) -> Result<(), OracleViolation> {
        let warp = cycle.warp_answer.as_ref().map(|answer| {
            let place = [answer.fault.into(), answer.fault_lane.into(), answer.fault_addr.into()];
            let values = [answer.tag.into(), answer.pred.into()].into_iter().chain(place);
            (answer.taken, values.chain(*answer.rd).collect::<Vec<_>>())
        });
        let cluster = cycle.cluster_answer.map(|answer| {
            let (fault, address) = (answer.fault.into(), answer.fault_addr.into());
            (answer.taken, vec![answer.tag.into(), answer.pred.into(), fault, 0, address, answer.rd])
        });
        let wake_up = cycle
            .wake_up
            .as_ref()
            .map(|wake_up| (wake_up.taken, vec![wake_up.tag.into(), wake_up.pred.into()]));
        for ((held, port), offered) in self.0.iter_mut().zip(PORTS).zip([warp, cluster, wake_up]) {
            let before = std::mem::take(held);
            let (taken, values) = offered.unwrap_or((true, vec![]));
            if cycle.reset.is_none() && !before.is_empty() {
                changed(cycle.number, port, &before, &values)?;
            }
            if cycle.reset.is_none() && !taken {
                *held = values;
            }
        }
        Ok(())
    }
}

fn changed(cycle: u64, port: &str, before: &[u128], now: &[u128]) -> Result<(), OracleViolation> {
    let violation = |what: String| {
        let message = format!("in cycle {cycle} {what}, although the driver had not taken the answer");
        Err(OracleViolation::new("held answer", "", message))
    };
    if now.is_empty() {
        return violation(format!("`{port}_valid_o` fell"));
    }
    let Some(at) = before.iter().zip(now).position(|(before, now)| before != now) else { return Ok(()) };
    let signal = match SIGNALS.get(at) {
        Some(signal) => format!("`{port}_{signal}_o`"),
        None => format!("`{port}_rd_o` of lane {}", at - SIGNALS.len()),
    };
    violation(format!("{signal} changed from {:#x} to {:#x}", before[at], now[at]))
}
