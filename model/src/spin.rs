//! Priority lane of CAST.SPIN on each bank (spec 5.4). Mirror of `rtl/atoms_spin.sv`.

use crate::config::Config;
use crate::port::MAX_BANKS;
use crate::registers::SeeRegister;

/// One counter per bank. From the low end a counter has the fields `step`, `hold` and `lane`, as in
/// `spin_turn_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinTurns {
    turn: [u32; MAX_BANKS],
}

impl SpinTurns {
    /// Counters after reset: all zero.
    pub const RESET: SpinTurns = SpinTurns { turn: [0; MAX_BANKS] };

    /// True while the counter of `bank` keeps priority at one lane. Otherwise priority moves with every
    /// request.
    pub fn holds(&self, config: &Config, bank: usize) -> bool {
        self.turn[bank & (MAX_BANKS - 1)] & config.spin_hold != 0
    }

    /// Priority lane of `bank`. This lane need not wait on the bank.
    pub fn priority_lane(&self, config: &Config, bank: usize) -> usize {
        let turn = self.turn[bank & (MAX_BANKS - 1)];
        let lane = if self.holds(config, bank) { turn / (2 * config.spin_hold) } else { turn };
        (lane & (config.num_lanes - 1)) as usize
    }

    /// Advances the counter of `bank` when a CAST.SPIN pass leaves issue. `bank` is the bank of the first
    /// word.
    pub fn fire(&mut self, config: &Config, bank: usize) {
        let turn = &mut self.turn[bank & (MAX_BANKS - 1)];
        *turn = (*turn + 1) & (2 * config.spin_hold * config.num_lanes - 1);
    }

    /// Shows each counter by the fields of `spin_turn_t`.
    pub(crate) fn registers(&self, config: &Config, see: &mut impl SeeRegister) {
        let SpinTurns { turn } = self;
        for (bank, turn) in turn.iter().enumerate().take(config.num_banks as usize) {
            let spin_hold = config.spin_hold;
            let fields = [
                ("lane", turn / (2 * spin_hold)),
                ("hold", u32::from(turn & spin_hold != 0)),
                ("step", turn & (spin_hold - 1)),
            ];
            for (field, value) in fields {
                see.see(format_args!("u_issue.u_spin.turn_q[{bank}].{field}"), Some(value.into()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small configurations: lanes and `spin_hold`.
    const SHAPES: [(u32, u32); 7] = [(2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16)];

    /// Priority lanes over one full period of the counter.
    fn priority_lanes(num_lanes: u32, spin_hold: u32) -> Vec<usize> {
        let config = Config { num_lanes, spin_hold, ..Config::default() };
        let mut spin = SpinTurns::RESET;
        let lanes = (0..2 * spin_hold * num_lanes).map(|_| {
            let lane = spin.priority_lane(&config, 3);
            spin.fire(&config, 3);
            lane
        });
        let lanes = lanes.collect();
        assert_eq!(spin, SpinTurns::RESET, "the counter has come round, and no other has moved");
        lanes
    }

    #[test]
    fn the_counter_steps_and_then_holds() {
        assert_eq!(priority_lanes(2, 4), [0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1]);
        assert_eq!(priority_lanes(4, 4)[..16], [0, 1, 2, 3, 0, 0, 0, 0, 0, 1, 2, 3, 1, 1, 1, 1]);
    }

    /// Maximum number of requests until a lane that competes in each request has priority, over every start.
    #[test]
    fn a_lane_that_always_asks_has_priority_within_the_first_bound() {
        for (num_lanes, spin_hold) in SHAPES {
            let lanes = priority_lanes(num_lanes, spin_hold);
            let until = |start: usize, lane| {
                1 + (0..lanes.len())
                    .find(|n| lanes[(start + n) % lanes.len()] == lane)
                    .expect("each has priority")
            };
            let every =
                (0..lanes.len()).flat_map(|start| (0..num_lanes as usize).map(move |lane| (start, lane)));
            let worst = every.map(|(start, lane)| until(start, lane)).max();
            assert_eq!(worst, Some((spin_hold + num_lanes) as usize), "{num_lanes} lanes, hold {spin_hold}");
        }
    }

    /// Bound for a lane that chooses when to compete, but never stays away for `spin_hold` requests in a row.
    /// Counts requests from one in which the lane competes until it competes with priority. The test tries
    /// every choice, backwards from the last start, over twice the bound.
    #[test]
    fn a_lane_that_asks_now_and_then_has_priority_within_the_second_bound() {
        for (num_lanes, spin_hold) in SHAPES {
            let lanes = priority_lanes(num_lanes, spin_hold);
            let bound = lanes.len();
            for lane in 0..num_lanes as usize {
                // longest[n]: the lane competed in request n without priority. The entry counts the requests
                // from n to the one in which the lane has priority, including the latter. If the bound were
                // wrong, the count would reach the end of the table.
                let end = 4 * bound;
                let mut longest = vec![0usize; end + spin_hold as usize + 1];
                for at in (0..end).rev() {
                    let next = |gap: usize| {
                        let chosen = at + gap;
                        gap + if lanes[chosen % bound] == lane { 0 } else { longest[chosen] }
                    };
                    longest[at] = (1..=spin_hold as usize).map(next).max().expect("a gap there is");
                }
                let starts = (0..bound).filter(|at| lanes[*at] != lane);
                let worst = 1 + starts.map(|at| longest[at]).max().expect("it does not always have priority");
                assert!(
                    worst <= bound,
                    "{num_lanes} lanes, hold {spin_hold}, lane {lane}: {worst} of {bound}"
                );
                assert!(
                    worst > bound - 2 * spin_hold as usize,
                    "the bound is not far off: {worst} of {bound}"
                );
            }
        }
    }
}
