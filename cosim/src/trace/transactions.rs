//! Transactions as tracks of a wave: requests by tag, lanes by bank, mbarrier objects, and stall reasons.
//!
//! A track is a scope with a signal `text` for people and one signal for each field. Programs read only the
//! fields. A field that exists in the probe or the outputs is an alias. Fields keep their values while the
//! track is idle.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use atoms_model::port::MAX_BANKS;
use atoms_model::{Config, RequestOrigin};
use atoms_monitor::{AtIssue, Cycle, InFlight, LastStage, PassIssued};
use atoms_ops::{Fault, Op};
use atoms_stimulus::request::{ClusterRequest, WarpRequest};
use atoms_wave_write::{Definition, Layout, Signal, SignalKind, WaveTrace};

use super::fields::{
    AnswerFields, ClusterFields, IssueFields, ObjectFields, RequestFields, StallFields, TagFields,
};
use super::ports::SideSignals;
use super::tracks::{
    Inside, ObjectTrack, Origin, PassOf, PortTrack, RequestPlace, RequestState, ShownObject, hexadecimal,
    number, numbered_request, set_op,
};
use super::{CycleValues, IDLE, NAMES};
use crate::mismatch::Subject;

/// Tags of the warp port. A core gives each warp its own tag, so a track shows one warp.
const TAGS: usize = 64;
/// Number of mbarrier objects with a track. The tracks show those used most recently.
const OBJECTS: usize = 8;

#[derive(Debug)]
pub(super) struct Transactions {
    config: Config,
    issue: PortTrack<IssueFields>,
    stall: PortTrack<StallFields>,
    answer: PortTrack<AnswerFields>,
    wake_up: PortTrack<AnswerFields>,
    cluster: ClusterFields,
    tags: Vec<TagFields>,
    banks: Vec<Signal>,
    objects: Vec<ObjectTrack>,
    places: Vec<RequestPlace>,
    inside: Vec<Inside>,
    clusters: Vec<InFlight<ClusterRequest>>,
    /// Number of the cluster request shown, or `Some(None)` if there is none. `None` before the first cycle.
    cluster_shown: Option<Option<u64>>,
    /// Passes in the pipeline, oldest first: banks that the pass accesses, and the lane of each bank.
    passes: VecDeque<(u64, [u8; MAX_BANKS])>,
    issued: Option<PassOf>,
    /// Mask of the tags whose track must be written. Bit `n`: tag `n`.
    stale: u64,
    /// Mask of the banks whose track shows a lane. Bit `n`: bank `n`.
    serving: u64,
    text: String,
    offered_from: Origin,
}

impl Transactions {
    /// Declares the tracks. `side` has the signals that the monitor reads.
    pub(super) fn define(d: &mut Definition, config: &Config, side: &SideSignals) -> Self {
        d.scope(NAMES.transactions, |d| {
            let issue = d.scope("issue", |d| {
                let fields = IssueFields::define(d);
                d.alias("lanes", side.probe(&["pass_served"])[0]);
                d.alias("banks", side.probe(&["win_valid"])[0]);
                fields
            });
            let stall = d.scope("stall", StallFields::define);
            let mut answer = |name: &str, port: &str, fields: &[&str]| {
                d.scope(name, |d| {
                    let answer = AnswerFields::define(d);
                    for field in fields {
                        d.alias(field, side.out(&[&format!("{port}_{field}")])[0]);
                    }
                    PortTrack::new(answer)
                })
            };
            let at_response = ["tag", "fault", "fault_lane", "fault_addr", "pred", "passes"];
            let (answer, wake_up) =
                (answer("answer", "rsp", &at_response), answer("wake_up", "wake", &["tag", "pred"]));
            let cluster = d.scope("cluster", ClusterFields::define);
            let tags = numbered(d, "tag", TAGS, |d, _| TagFields::define(d));
            let lanes = side.probe(&["win_lane"]);
            let banks = numbered(d, "bank", config.num_banks as usize, |d, bank| {
                let text = d.signal(NAMES.label, SignalKind::Text);
                d.alias(NAMES.request, issue.request);
                d.alias("lane", lanes[bank]);
                text
            });
            let object = |at: usize| ObjectTrack {
                fields: d.scope(&format!("object{at}"), ObjectFields::define),
                shown: None,
                is_stale: false,
            };
            let objects = (0..OBJECTS).map(object).collect();
            let places = numbered(d, "request", places(config), |d, _| RequestPlace {
                fields: RequestFields::define(d),
                held: None,
                is_stale: true,
                is_new: false,
            });
            Transactions {
                config: *config,
                issue: PortTrack::new(issue),
                stall: PortTrack::new(stall),
                answer,
                wake_up,
                cluster,
                tags,
                banks,
                objects,
                places,
                inside: Vec::new(),
                clusters: Vec::new(),
                cluster_shown: None,
                passes: VecDeque::new(),
                issued: None,
                stale: u64::MAX,
                serving: u64::MAX,
                text: String::new(),
                offered_from: Origin::default(),
            }
        })
    }

    /// Adds the most useful tracks to a layout, and the others folded.
    pub(super) fn layout(&self, layout: Layout) -> Layout {
        let object =
            |ObjectTrack { fields: o, .. }: &ObjectTrack| [o.text, o.phase, o.pending, o.expected, o.tx];
        let tracks = [
            self.issue.fields.text,
            self.stall.fields.text,
            self.answer.fields.text,
            self.wake_up.fields.text,
            self.cluster.text,
        ];
        layout
            .group("transactions", tracks)
            .folded("requests by tag", self.tags.iter().map(|tag| tag.text))
            .folded("lanes by bank", self.banks.clone())
            .folded("mbarrier objects", self.objects.iter().flat_map(object))
    }

    /// Returns the tracks of a request, and those that may explain why it waits.
    pub(super) fn of(&self, subject: &Subject) -> Vec<Signal> {
        let tag = self.tags.get(usize::from(subject.tag)).map(|tag| tag.text);
        let track = if subject.cluster { Some(self.cluster.text) } else { tag };
        track
            .into_iter()
            .chain([self.issue.fields.text, self.stall.fields.text, self.answer.fields.text])
            .collect()
    }

    /// Returns the lane that a bank serves in the last stage.
    pub(super) fn lane_at(&self, bank: usize) -> Option<usize> {
        let (_, lanes) = self.passes.front().filter(|(banks, _)| banks >> (bank & 63) & 1 == 1)?;
        lanes.get(bank).map(|lane| usize::from(*lane))
    }

    pub(super) fn of_bank(&self, bank: usize) -> impl Iterator<Item = Signal> {
        self.banks.get(bank).copied().into_iter()
    }

    /// Sets the instruction that makes the request offered from the next cycle on.
    pub(super) fn offer_from(&mut self, origin: &RequestOrigin<'_>) {
        let RequestOrigin { cta, warp, pc, line, text } = *origin;
        let mut own = std::mem::take(&mut self.offered_from.text);
        own.clear();
        own.push_str(text);
        self.offered_from = Origin { cta, warp, pc, line, text: own };
    }

    /// Updates the state for a cycle, even if the cycle is not written.
    pub(super) fn follow(&mut self, cycle: &Cycle<'_>, passes_at_issue: Option<u32>) {
        for gone in self.inside.extract_if(.., |inside| inside.state == RequestState::Gone) {
            self.stale |= bit(&gone.request);
            place_of(&mut self.places, gone.number).for_each(RequestPlace::clear);
        }
        if cycle.reset.is_some() {
            self.inside.clear();
            self.places.iter_mut().for_each(RequestPlace::clear);
            self.clusters.clear();
            self.passes.clear();
            self.stale = u64::MAX;
            return;
        }
        if cycle.last_stage.is_some_and(|last| last.done) {
            self.passes.pop_front();
        }
        self.passes.extend(cycle.pass_issued.map(|pass| (pass.banks, *cycle.winners())));
        if let Some(LastStage { pass, done: true, suspends: true, .. }) = cycle.last_stage {
            self.now(pass.number, RequestState::Suspended);
        }
        self.issued = cycle.pass_issued.map(|pass| {
            // After its last pass, a request is no longer at issue.
            let of = if pass.last { Some(u32::from(pass.index) + 1) } else { passes_at_issue };
            PassOf { index: pass.index, of }
        });
        if let Some((pass, of)) = cycle.pass_issued.filter(|pass| !pass.cluster).zip(self.issued) {
            self.now(pass.number, RequestState::Pass(of));
        }
        let response = cycle.warp_answer.as_ref().map(|answer| (&answer.appears, answer.taken, false));
        let wake_up = cycle.wake_up.as_ref().map(|answer| (&answer.appears, answer.taken, true));
        for (appears, taken, woken) in [response, wake_up].into_iter().flatten() {
            let request = appears.as_ref().and_then(|appears| appears.request.as_ref().ok());
            if let Some(request) = request {
                self.now(request.number, RequestState::Answered { woken });
            }
            if taken {
                let answered = |inside: &&mut Inside| inside.state == RequestState::Answered { woken };
                self.inside.iter_mut().find(answered).into_iter().for_each(|i| i.state = RequestState::Gone);
            }
        }
        if let Some(accepted) = &cycle.warp_accepted {
            let (number, request) = (accepted.number, Arc::clone(&accepted.request));
            self.stale |= bit(&request);
            let inside = Inside::new(number, request, &self.config, std::mem::take(&mut self.offered_from));
            self.inside.push(inside);
            // Only a faulty unit, which accepts more requests than it can hold, leaves no free track.
            if let Some(place) = self.places.iter_mut().find(|place| place.held.is_none()) {
                (place.held, place.is_stale, place.is_new) = (Some(number), true, true);
            }
        }
        if let Some(done) = &cycle.cluster_done
            && let Some(request) = &done.request
        {
            self.clusters.retain(|inside| inside.number != request.number);
        }
        self.clusters.extend(cycle.cluster_accepted.clone());
        if let Some(LastStage { pass, done: true, .. }) = cycle.last_stage {
            self.step_objects(cycle, &pass);
        }
    }

    fn now(&mut self, number: u64, state: RequestState) {
        if let Some(inside) = self.inside.iter_mut().find(|inside| inside.number == number) {
            inside.state = state;
            self.stale |= bit(&inside.request);
            place_of(&mut self.places, number).for_each(|place| place.is_stale = true);
        }
    }

    pub(super) fn show(&mut self, trace: &mut WaveTrace<CycleValues>, cycle: &Cycle<'_>) {
        let mut text = std::mem::take(&mut self.text);
        while self.stale != 0 {
            let tag = self.stale.trailing_zeros() as usize;
            self.stale &= self.stale - 1;
            text.clear();
            self.of_tag(tag, &mut text);
            let fields = self.tags[tag];
            trace.set_text(fields.text, &text);
            if let Some(oldest) = self.inside.iter().find(|inside| usize::from(inside.request.tag) == tag) {
                trace.set(fields.request, oldest.number.into());
                trace.set(fields.line, oldest.origin.line.into());
            }
        }
        for place in self.places.iter_mut().filter(|place| place.is_stale) {
            let held = self.inside.iter().find(|inside| Some(inside.number) == place.held);
            place.show(trace, held, &self.config);
        }
        self.show_issue(trace, cycle, &mut text);
        self.show_stall(trace, cycle, &mut text);
        self.show_answer(trace, cycle, &mut text);
        self.show_wake_up(trace, cycle, &mut text);
        let first = self.clusters.first();
        let shown = Some(first.map(|first| first.number));
        if self.cluster_shown != shown {
            self.cluster_shown = shown;
            text.clear();
            let fields = self.cluster;
            if let Some(InFlight { number, request, .. }) = first {
                // Writing to a String cannot fail.
                let _ = write!(text, "#{number} {request}");
                trace.set(fields.request, (*number).into());
                set_op(trace, [fields.op, fields.size], request.op, request.size);
                trace.set(fields.red, request.red.into());
                trace.set(fields.tag, request.tag.into());
                trace.set(fields.slot, request.slot.into());
                trace.set(fields.address, request.addr.into());
            }
            trace.set_text(fields.text, &text);
        }
        let served = cycle.pass_issued.map_or(0, |pass| pass.banks);
        let mut changed = served | self.serving;
        self.serving = served;
        if let Some(pass) = cycle.pass_issued.filter(|_| served != 0) {
            text.clear();
            numbered_request(&mut text, pass.cluster, pass.number);
            text.push_str(" lane ");
            trace.set_stem(&text);
        }
        while changed != 0 {
            let bank = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let Some(signal) = self.banks.get(bank) else { break };
            if served >> bank & 1 == 1 {
                trace.set_numbered(*signal, cycle.winners()[bank].into());
            } else {
                trace.set_text(*signal, IDLE);
            }
        }
        self.text = text;
        self.objects.iter_mut().filter(|track| track.is_stale).for_each(|track| track.show(trace));
    }

    fn of_tag(&self, tag: usize, text: &mut String) {
        for inside in self.inside.iter().filter(|inside| usize::from(inside.request.tag) == tag) {
            text.push_str(if text.is_empty() { "" } else { " + " });
            text.push_str(&inside.name);
            text.push_str(inside.state.kind().name());
            if let RequestState::Pass(pass) = inside.state {
                text.push(' ');
                pass.write(text, " of ");
            }
            text.push_str(&inside.rest);
        }
    }

    /// Returns the number of the request whose answer is offered, if one matches.
    fn answered(&self, tag: u8, woken: bool) -> Option<u64> {
        let states = [RequestState::Answered { woken }, RequestState::Gone];
        let standing = |inside: &&Inside| states.contains(&inside.state) && inside.request.tag == tag;
        self.inside.iter().find(standing).map(|inside| inside.number)
    }

    fn show_issue(&mut self, trace: &mut WaveTrace<CycleValues>, cycle: &Cycle<'_>, text: &mut String) {
        let fields = self.issue.fields;
        let Some((pass, of)) = cycle.pass_issued.zip(self.issued) else {
            return self.issue.show_idle(trace, fields.text);
        };
        self.issue.is_idle = false;
        text.clear();
        // A cycle is a few characters wide in a viewer, so the most useful text comes first.
        numbered_request(text, pass.cluster, pass.number);
        text.push('.');
        of.write(text, "/");
        text.push_str(" lanes ");
        hexadecimal(text, pass.lanes.into());
        trace.set_text(fields.text, text);
        trace.set_text(fields.kind, if pass.cluster { "cluster_pass" } else { "pass" });
        trace.set(fields.request, pass.number.into());
        let (pass, passes) = of.numbers();
        trace.set(fields.pass, pass);
        trace.set(fields.passes, passes);
    }

    fn show_stall(&mut self, trace: &mut WaveTrace<CycleValues>, cycle: &Cycle<'_>, text: &mut String) {
        let fields = self.stall.fields;
        let Some((reason, words, held)) = stall(cycle) else {
            return self.stall.show_idle(trace, fields.text);
        };
        self.stall.is_idle = false;
        text.clear();
        if let Some(held) = &held {
            text.push_str("hazard ");
            numbered_request(text, held.cluster, held.number);
            text.push_str(": ");
        }
        text.push_str(words);
        trace.set_text(fields.text, text);
        trace.set_text(fields.reason, reason);
        trace.set(fields.held_request, held.map_or(0, |held| held.number).into());
    }

    fn show_answer(&mut self, trace: &mut WaveTrace<CycleValues>, cycle: &Cycle<'_>, text: &mut String) {
        let Some(answer) = &cycle.warp_answer else {
            let fields = self.answer.fields;
            return self.answer.show_idle(trace, fields.text);
        };
        let of = self.answered(answer.tag, false);
        self.answer.name(trace, of, answer.tag, "response", text);
        match Fault::from_code(answer.fault) {
            Some(Fault::None) => {
                if let Some(lane) = (0..answer.rd.len()).find(|lane| answer.rd[*lane] != 0) {
                    // Writing to a String cannot fail.
                    let _ = write!(text, "rd[{lane}] {:x}, ", answer.rd[lane]);
                }
                if answer.pred != 0 {
                    text.push_str("pred ");
                    hexadecimal(text, answer.pred.into());
                    text.push_str(", ");
                }
                number(text, answer.passes.into());
                text.push_str(" passes");
            }
            fault => {
                let fault = fault.map_or("unknown fault", Fault::name);
                let _ = write!(text, "{fault}, lane {} @{:x}", answer.fault_lane, answer.fault_addr);
            }
        }
        trace.set_text(self.answer.fields.text, text);
    }

    fn show_wake_up(&mut self, trace: &mut WaveTrace<CycleValues>, cycle: &Cycle<'_>, text: &mut String) {
        let Some(wake_up) = &cycle.wake_up else {
            let fields = self.wake_up.fields;
            return self.wake_up.show_idle(trace, fields.text);
        };
        let (kind, words) = if wake_up.pred == 0 {
            ("limit_passed", "limit passed")
        } else {
            ("phase_complete", "phase complete")
        };
        let of = self.answered(wake_up.tag, true);
        self.wake_up.name(trace, of, wake_up.tag, kind, text);
        // Writing to a String cannot fail.
        let _ = write!(text, "{words}, pred {:x}", wake_up.pred);
        trace.set_text(self.wake_up.fields.text, text);
    }

    fn step_objects(&mut self, cycle: &Cycle<'_>, pass: &PassIssued) {
        let warp = || self.inside.iter().find(|inside| inside.number == pass.number).map(|i| i.request.op);
        let cluster = || Some(cycle.cluster_done.as_ref()?.request.as_ref()?.request.op);
        let op = if pass.cluster { cluster() } else { warp() };
        if !op.and_then(Op::from_code).is_some_and(Op::is_mbarrier) {
            return;
        }
        let (ports, mut banks) = (cycle.bank_ports(), cycle.bank_ports().written);
        while banks != 0 {
            let low = banks.trailing_zeros() as usize & !1;
            let both = banks >> low & 3;
            banks &= !(3 << low);
            let row = ports.rows[low + (both & 1 ^ 1) as usize];
            let place = (row, low);
            let track = self
                .objects
                .iter_mut()
                .min_by_key(|track| match track.shown {
                    Some(shown) if shown.place == place => (0, 0),
                    None => (1, 0),
                    Some(shown) => (2, shown.stepped),
                })
                .expect("there are tracks");
            let same = track.shown.filter(|shown| shown.place == place);
            let mut words = same.map_or([None; 2], |shown| shown.words);
            for (half, word) in words.iter_mut().enumerate().filter(|(half, _)| both >> half & 1 == 1) {
                *word = Some(ports.values[low + half]);
            }
            track.shown = Some(ShownObject { place, words, stepped: cycle.number });
            track.is_stale = true;
        }
    }
}

fn bit(request: &WarpRequest) -> u64 {
    1 << (request.tag & 63)
}

fn place_of(places: &mut [RequestPlace], number: u64) -> impl Iterator<Item = &mut RequestPlace> {
    places.iter_mut().find(|place| place.held == Some(number)).into_iter()
}

/// Returns the number of requests that a unit can hold: in the queue, at issue, in each pipeline stage,
/// suspended, and at both answer ports. Two more may have been answered in the previous cycle.
fn places(config: &Config) -> usize {
    (config.queue_depth + 1 + (config.rmw_latency + 1) + config.num_waiters + 2 + 2) as usize
}

/// Defines a scope `what` with scopes `what00`, `what01` and so on.
pub(super) fn numbered<T>(
    d: &mut Definition,
    what: &str,
    count: usize,
    define: impl Fn(&mut Definition, usize) -> T,
) -> Vec<T> {
    let one = |d: &mut Definition, at: usize| d.scope(&format!("{what}{at:02}"), |d| define(d, at));
    d.scope(what, |d| (0..count).map(|at| one(d, at)).collect())
}

/// Returns the reason of a stall or refusal: its name, its text, and the request held back.
fn stall(cycle: &Cycle<'_>) -> Option<(&'static str, &'static str, Option<AtIssue>)> {
    let pipeline = cycle.pipeline();
    let (driven, [warps, clusters]) = (cycle.driven(), cycle.queues());
    let held = pipeline.at_issue.filter(|_| pipeline.held_back);
    Some(match held {
        _ if pipeline.stalled && cycle.warp_answer.is_some() && !driven.takes_response => {
            ("response", "held: response not taken", None)
        }
        _ if pipeline.stalled && cycle.wake_up.is_some() && !driven.takes_wake_up => {
            ("wake_up", "held: wake-up not taken", None)
        }
        _ if pipeline.stalled => ("cluster_response", "held: cluster response not taken", None),
        Some(AtIssue { cluster: false, .. }) => ("hazard", "a word is still in the pipeline", held),
        Some(_) => ("cluster_hazard", "a word is still in the pipeline", held),
        None if warps.refuses => ("queue_full", "queue full: request refused", None),
        None if clusters.refuses => ("cluster_queue_full", "cluster queue full: request refused", None),
        None => return None,
    })
}
