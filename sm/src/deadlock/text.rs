//! Text of a deadlock report.

use super::{BlockedObject, DeadlockReport, HintCause, WaitEdge, WaitObject, WarpLanes};
use std::collections::BTreeMap;
use std::fmt;

/// Places that the text shows for one object.
const MOST_PLACES: usize = 4;

impl DeadlockReport {
    /// Formats the reason, objects, waits and hints.
    pub(crate) fn text(&self) -> String {
        let mut text = match self.quiet {
            None => "every thread waits for another thread".into(),
            Some(quiet) => format!(
                "every thread waits or repeats itself,\n  and nothing but registers has changed for {quiet} cycles"
            ),
        };
        if let Some(arch) = self.in_step {
            text += &format!(
                "\n  on {arch}, threads that wait at SYNC continue only together with the others of their\n  warp, so \
                 these must not wait for anything after the SYNC (from sm_70 on, threads\n  are independent)"
            );
        }
        text += &self.objects();
        if !self.waits.is_empty() {
            let cyclic = self.waits.first().map(|w| w.object) == self.waits.last().map(|w| w.behind);
            text += if cyclic { "\n  cycle of waits:" } else { "\n  waits:" };
        }
        // The sentences name the CTA only if there are several.
        let first = self.blocked.first().map_or(0, |blocked| blocked.cta);
        let home = if self.blocked.iter().all(|b| b.cta == first) { first } else { u32::MAX };
        for wait in &self.waits {
            text += &self.sentence(wait, home);
        }
        let mut hints: Vec<String> = Vec::new();
        for hint in &self.hints {
            let line = format!("\n  hint for {}:{}", self.blocked[hint.object].object, hint.cause);
            if !hints.contains(&line) {
                hints.push(line);
            }
        }
        text + &hints.concat()
    }

    /// Formats the objects. CTAs whose objects have equal text share it.
    pub(crate) fn objects(&self) -> String {
        let mut ctas: Vec<(String, Vec<u32>)> = Vec::new();
        for blocked in &self.blocked {
            let text = self.describe(blocked);
            match ctas.iter_mut().find(|(same, _)| *same == text) {
                Some((_, ctas)) => ctas.push(blocked.cta),
                None => ctas.push((text, vec![blocked.cta])),
            }
        }
        ctas.into_iter().map(|(text, ctas)| format!("\n  {} {text}", ranges("CTA", &ctas))).collect()
    }

    fn describe(&self, blocked: &BlockedObject) -> String {
        let BlockedObject { cta, object, waiters, places, releasers, certain, ended } = blocked;
        let who = threads(waiters, *cta);
        let plural = if one(waiters) { "s" } else { "" };
        let may = if *certain { "can" } else { "may" };
        let mut state = Vec::new();
        let mut text = match object {
            WaitObject::Mbarrier { address, waited, phase, pending, count, bytes, arrived, .. } => {
                let parity = waited.map_or(String::new(), |parity| format!(" for parity {parity}"));
                state.push(format!(
                    "phase parity {phase}, {pending} of {count} arrivals pending, {bytes} bytes outstanding"
                ));
                if !arrived.is_empty() {
                    state.push(format!("arrived: {}", threads(arrived, *cta)));
                }
                format!("{object} ({address:#010x}): {who} wait{plural}{parity}")
            }
            WaitObject::BlockBarrier { arrived, count, .. }
            | WaitObject::ClusterBarrier { arrived, count } => {
                state.push(format!("{arrived} of {count} threads have arrived"));
                format!("{object}: {who} wait{plural}")
            }
            WaitObject::Warp { .. } => format!("{object}: {who} wait{plural}"),
            WaitObject::Running => {
                let verb = if self.quiet.is_some() { "repeat" } else { "run" };
                format!("{who} {verb}{plural}{}", if self.quiet.is_some() { " a loop" } else { "" })
            }
        };
        if !matches!(object, WaitObject::Running | WaitObject::Warp { .. }) {
            let act = match object {
                WaitObject::Mbarrier { pending: 0, bytes: ..0, .. } => "expect bytes",
                WaitObject::Mbarrier { pending: 0, .. } => "deliver bytes",
                _ => "arrive",
            };
            let alone = if releasers.iter().all(|r| waiters.contains(r)) { "only " } else { "" };
            state.push(match releasers.as_slice() {
                [] if ended.is_empty() => format!("no thread can still {act}"),
                [] => {
                    let has = if ended.len() == 1 { "has" } else { "have" };
                    format!("no thread can still {act}: {} {has} ended", ranges("warp", ended))
                }
                _ => format!("{alone}{} {may} still {act}", threads(releasers, *cta)),
            });
        }
        state.iter().for_each(|line| text += &format!("\n    {line}"));
        for place in places.iter().take(MOST_PLACES) {
            text += &format!("\n    {}: `{}`", place.line(), place.text);
        }
        if places.len() > MOST_PLACES {
            text += &format!("\n    and {} other instructions", places.len() - MOST_PLACES);
        }
        text
    }

    fn sentence(&self, wait: &WaitEdge, home: u32) -> String {
        let WaitEdge { object, releasers, behind } = wait;
        let (from, to) = (&self.blocked[*object], &self.blocked[*behind]);
        let who = threads(&from.waiters, home);
        let others = threads(releasers, home);
        let plural = |list: &[WarpLanes]| if one(list) { "s" } else { "" };
        let (wait, make) = (plural(&from.waiters), plural(releasers));
        let make = if from.certain { format!("make{make}") } else { "may make".into() };
        let place = match (&to.object, to.places.as_slice()) {
            _ if object == behind => "this wait".into(),
            (object, []) => object.to_string(),
            (WaitObject::Mbarrier { .. }, [place, ..]) => {
                format!("the wait for {} in {}", to.object, place.line())
            }
            (_, [place, ..]) => format!("`{}` in {}", place.text, place.line()),
        };
        let only = if object == behind { "only " } else { "" };
        match &from.object {
            WaitObject::Mbarrier { pending, .. } => {
                let what = if *pending == 0 { "bytes" } else { "an arrive" };
                format!(
                    "\n    {who} wait{wait} for {what} on {} that {only}{others} {make}\n      behind {place}",
                    from.object
                )
            }
            WaitObject::BlockBarrier { .. } | WaitObject::ClusterBarrier { .. } => {
                format!("\n    {who} wait{wait} at {} for {others},\n      behind {place}", from.object)
            }
            WaitObject::Warp { .. } | WaitObject::Running => {
                format!("\n    {who} wait{wait} at {} for {others}", from.object)
            }
        }
    }
}

impl fmt::Display for WaitObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitObject::Mbarrier { name: Some(name), .. } => write!(f, "mbarrier {name}"),
            WaitObject::Mbarrier { address, .. } => write!(f, "mbarrier at {address:#x}"),
            WaitObject::BlockBarrier { id, .. } => write!(f, "block barrier {id}"),
            WaitObject::ClusterBarrier { .. } => f.write_str("cluster barrier"),
            WaitObject::Warp { what } => f.write_str(what),
            WaitObject::Running => f.write_str("no object"),
        }
    }
}

impl fmt::Display for HintCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            HintCause::ExpectWithoutArrive { expected } => write!(
                f,
                " expect_tx without arrive\n    {expected} bytes were expected, but no thread has arrived; use\n    \
                 `mbarrier.arrive.expect_tx` to do both"
            ),
            HintCause::NetZeroArrive { count, arrived } => write!(
                f,
                "\n    the count is {count}, but only {arrived} can arrive: each `cp.async.mbarrier.arrive`\n    \
                 without .noinc first raises the pending count by one, and so changes nothing"
            ),
            HintCause::BytesDiffer { expected, delivered } => {
                write!(f, "\n    {expected} bytes were expected, but {delivered} were delivered")
            }
            HintCause::CountTooLarge { count, arrived } => {
                write!(f, "\n    the count is {count}, but only {arrived} can arrive")
            }
            HintCause::CountDoesNotDivide { count, threads } => {
                write!(
                    f,
                    "\n    {threads} threads have arrived since the start, no multiple of the count {count}"
                )
            }
            HintCause::FirstPhase => write!(
                f,
                " no phase has completed\n    a wait for parity 0 blocks until the first phase completes; the first\n    \
                 wait for an empty buffer takes parity 1, which does not block"
            ),
            HintCause::ParityNotFlipped { parity } => write!(
                f,
                " parity off by one phase\n    the last wait of these threads that passed had parity {parity}, too; the \
                 parity\n    must flip with each phase"
            ),
        }
    }
}

fn one(threads: &[WarpLanes]) -> bool {
    threads.len() == 1
}

/// Formats threads, such as `warps 0-3, warp 5 lanes 0x0000000f`. Threads of CTA `home` are named without
/// their CTA.
fn threads(threads: &[WarpLanes], home: u32) -> String {
    let mut groups: BTreeMap<(u32, Option<u32>), Vec<u32>> = BTreeMap::new();
    for WarpLanes { cta, warp, lanes } in threads {
        groups.entry((*cta, *lanes)).or_default().push(*warp);
    }
    let group = |((cta, lanes), warps): ((u32, Option<u32>), Vec<u32>)| {
        let place = if cta == home { String::new() } else { format!("CTA {cta} ") };
        let lanes = lanes.map_or(String::new(), |lanes| {
            let numbers: Vec<u32> = (0..32).filter(|lane| lanes >> lane & 1 != 0).collect();
            let ranges = ranges("lane", &numbers);
            if ranges.matches(',').count() < 4 {
                format!(" {ranges}")
            } else {
                format!(" lanes {lanes:#010x}")
            }
        });
        format!("{place}{}{lanes}", ranges("warp", &warps))
    };
    groups.into_iter().map(group).collect::<Vec<_>>().join(", ")
}

/// Formats ascending numbers as ranges, such as `warps 0-3, 5`.
fn ranges(noun: &str, numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == *number || *end == *number => *end = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let range = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let text = ranges.iter().map(range).collect::<Vec<_>>().join(", ");
    format!("{noun}{} {text}", if numbers.len() == 1 { "" } else { "s" })
}
