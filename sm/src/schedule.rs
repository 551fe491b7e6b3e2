//! Schedules: other legal orders in which a kernel may run.

use crate::SmConfig;
use crate::random::SplitMix64;
use atoms_isa::{Effect, Operation};
use std::fmt;
use std::str::FromStr;

/// Version of the text form and of the issue rules. A new version gives old schedules another meaning.
pub const SCHEDULE_VERSION: u32 = 1;

/// Largest number of preemptions, and of early timeouts.
const MOST_CHANGES: usize = 64;

/// Upper limit in cycles for the latency of copies.
const MOST_LATENCY: u32 = 1 << 20;

/// Minimum and maximum latency of copies in cycles, one of which is drawn per schedule. [CHOSEN: from faster
/// than the threads to later than most waits]
const LATENCIES: [[u32; 2]; 5] = [[1, 1], [1, 60], [1, 2000], [100, 400], [2000, 4000]];

/// One order of warps, copies, timeouts and CTAs. The same schedule repeats the same run.
///
/// One warp issues at a time: the warp with the highest priority that can run. A warp that waits for an
/// mbarrier object, a barrier, a group of copies or a sleep cannot run. Latencies of single accesses do not let
/// other warps run. A *step* is an instruction that other threads can see: an access to shared or global
/// memory, an arrival, a barrier, an exit. Steps and try-waits count from 1.
///
/// A warp gets the lowest priority at each preemption, after a polling loop iteration that repeats an earlier
/// one, and after thousands of instructions in a row. Source: Burckhardt and others, ASPLOS 2010 (PCT).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Seed of the priorities of warps. 0 for the order of CTA and warp numbers.
    pub priorities: u32,
    /// Steps at which the warp that would issue the step gets the lowest priority instead.
    pub preemptions: Vec<u64>,
    /// Try-waits that time out after one cycle if their phase is incomplete.
    pub timeouts: Vec<u64>,
    /// Seed, minimum and maximum cycles of the latency of copies. `None` for those of [`SmConfig`].
    pub copies: Option<(u32, [u32; 2])>,
    /// Seed of the start order of clusters, or of CTAs without clusters. 0 for ascending numbers.
    pub clusters: u32,
    /// Limit of the run in cycles. `None` for the limit of the launch, and at least that of [`SmConfig`].
    pub cycle_limit: Option<u64>,
}

/// Extent of a kernel, from which schedules are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelExtent {
    pub steps: u64,
    pub try_waits: u64,
    pub copies: u64,
    pub clusters: u32,
}

impl Schedule {
    /// Draws schedule number `index` of the sequence with this seed: 0 to 3 preemptions, and up to 3 early
    /// timeouts.
    pub fn draw(seed: u64, index: u64, extent: &KernelExtent) -> Schedule {
        let mut random = SplitMix64::new(SplitMix64::new(seed).next().wrapping_add(index));
        // Cannot truncate: the values lie between the given bounds.
        let mut between = |least: u64, most: u64| random.between(least.into(), most.max(least).into()) as u64;
        let mut numbers = |count: u64, most: u64| {
            let mut numbers: Vec<u64> = (0..count).map(|_| between(1, most)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let [changes, timeouts] = [numbers(1, 4), numbers(1, 6)].map(|drawn| drawn[0] - 1);
        let preemptions = numbers(changes, extent.steps);
        let timeouts = if extent.try_waits == 0 || timeouts > 3 { 0 } else { timeouts };
        let timeouts = numbers(timeouts, extent.try_waits);
        let mut seed = || between(1, u16::MAX.into()) as u32;
        let (priorities, copies, clusters) = (seed(), seed(), seed());
        let latency = LATENCIES[copies as usize % LATENCIES.len()];
        Schedule {
            priorities,
            preemptions,
            timeouts,
            copies: (extent.copies > 0).then_some((copies, latency)),
            clusters: if extent.clusters > 1 && clusters % 4 != 0 { clusters } else { 0 },
            cycle_limit: None,
        }
    }

    /// True for an instruction that other threads can see.
    pub fn is_step(operation: &Operation) -> bool {
        !matches!(operation.effect(), Effect::Own | Effect::Time)
    }

    /// Parameters of the core under this schedule. A global access takes one cycle, because no other warp may
    /// issue meanwhile.
    pub(crate) fn config(&self, config: &SmConfig) -> SmConfig {
        let (seed, latency) =
            self.copies.map_or((config.copy_seed, config.copy_latency_cycles), |(s, l)| (s.into(), l));
        SmConfig { copy_seed: seed, copy_latency_cycles: latency, global_latency_cycles: 0, ..*config }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}", self.priorities)?;
        for (name, numbers) in [("p", &self.preemptions), ("t", &self.timeouts)] {
            for (at, number) in numbers.iter().enumerate() {
                let before = if at == 0 { format!("-{name}") } else { ".".into() };
                write!(f, "{before}{number}")?;
            }
        }
        if let Some((seed, [least, most])) = self.copies {
            write!(f, "-c{seed}.{least}.{most}")?;
        }
        if self.clusters != 0 {
            write!(f, "-g{}", self.clusters)?;
        }
        self.cycle_limit.map_or(Ok(()), |cycles| write!(f, "-b{cycles}"))
    }
}

/// Field that is not part of a schedule, or not at this place.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is no field of a schedule; fields are, in this order: w, p, t, c, g and b with numbers, as in `w7-p12.340-t3-c9.1.60-g5-b20000`"
)]
pub struct ScheduleError(String);

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        let mut schedule = Schedule::default();
        for field in text.split('-') {
            let wrong = || ScheduleError(field.to_string());
            let (name, numbers) = field.split_at_checked(1).ok_or_else(wrong)?;
            let numbers = numbers.split('.').map(str::parse).collect::<Result<Vec<u64>, _>>();
            let numbers = numbers.map_err(|_| wrong())?;
            let short = |number: u64| u32::try_from(number).map_err(|_| wrong());
            match (name, numbers.as_slice()) {
                ("w", [seed]) => schedule.priorities = short(*seed)?,
                ("g", [seed]) => schedule.clusters = short(*seed)?,
                ("b", [cycles]) => schedule.cycle_limit = Some(*cycles),
                ("p", steps) if steps.len() <= MOST_CHANGES => schedule.preemptions = steps.to_vec(),
                ("t", waits) if waits.len() <= MOST_CHANGES => schedule.timeouts = waits.to_vec(),
                ("c", [seed, least, most]) if least <= most && *most <= MOST_LATENCY.into() => {
                    schedule.copies = Some((short(*seed)?, [short(*least)?, short(*most)?]));
                }
                _ => return Err(wrong()),
            }
        }
        // A schedule has one text only, so fields in another order or twice are wrong.
        if schedule.to_string() == text { Ok(schedule) } else { Err(ScheduleError(text.to_string())) }
    }
}

#[cfg(test)]
mod tests {
    use super::{KernelExtent, Schedule};

    #[test]
    fn drawn_schedules_are_read_back() {
        let extent = KernelExtent { steps: 500, try_waits: 9, copies: 3, clusters: 4 };
        for index in 0..200 {
            let schedule = Schedule::draw(7, index, &extent);
            assert!(schedule.preemptions.iter().all(|step| (1..=500).contains(step)), "{schedule}");
            assert_eq!(schedule.to_string().parse::<Schedule>().ok(), Some(schedule));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "w", "x3", "w1-w1", "p1-w1", "w1-p", "w1-p1.", "w+1", "w4294967296", "w1-c1.9.2", "w1-é"]
        {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
