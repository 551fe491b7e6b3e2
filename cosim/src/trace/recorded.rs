//! Wave of a recorded trace: requests from acceptance to answer, suspended waits, CTA table, and verdict.
//!
//! A request has the number of its line. Lines are in order of execution, so a bounded number of changes
//! waits for the earlier cycles of later lines. The trace is read twice: to count the tracks, and to write.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use atoms_model::Config;
use atoms_ops::Fault;
use atoms_oracle::{Allocation, Rejection, Response, SerialRequest};
use atoms_record::{Exchange, RecordingError, TraceEvent, TraceReader};
use atoms_stimulus::request::{Lane, WarpRequest};
use atoms_wave_write::SignalKind::Text;
use atoms_wave_write::{Definition, Layout, Signal, WaveError, WaveTrace};

use super::fields::{RequestFields, ResponseFields, SlotFields, VerdictFields};
use super::tracks::{Inside, Origin, RequestPlace, RequestState};
use super::transactions::numbered;
use super::{IDLE, NAMES};

/// Maximum number of unanswered requests of a port. Each has a track.
const MOST_ROWS: usize = 1024;
/// Maximum number of changes that wait for their cycle. A request has three. A change whose cycle is already
/// written moves to the next one.
const MOST_PENDING: usize = 1 << 14;
/// Cycles without a change that a wave shows. It skips the rest of a longer pause.
const MOST_IDLE: u64 = 100;
/// Last cycle of a wave, so that times have 64 bits.
const LAST_CYCLE: u64 = 1 << 60;

/// Cycles that the command of a report shows before and after a rejected line, and at most of the line.
const AROUND: [u64; 3] = [2, 2, 8];

/// Result of writing the wave of a recorded trace.
#[derive(Clone, Debug)]
pub struct RecordedWave {
    /// First line with a request without a cycle. Then the time is the order of the lines, one step each.
    pub undated_line: Option<u64>,
    /// Requests without the cycle of their answer. Each lasts one cycle.
    pub unanswered: u64,
    /// Cycles, or steps, of the line that the oracle rejects.
    pub rejected: Option<Range<u64>>,
}

/// Reason why the wave of a trace cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordedWaveError {
    /// The trace cannot be opened.
    #[error("cannot open the trace again")]
    Open(#[from] io::Error),
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] RecordingError),
    /// A file cannot be written.
    #[error(transparent)]
    Wave(#[from] WaveError),
    /// Too many requests overlap. Contains the line of the last one.
    #[error("line {0}: a wave shows at most {MOST_ROWS} unanswered requests of a port")]
    Overlap(u64),
}

impl RecordedWave {
    /// Writes the wave `file` of the trace at `trace`, and its GTKWave save file. `error` is that of
    /// [`check_trace`](atoms_record::check_trace). The wave ends with the line that the oracle rejects.
    ///
    /// # Errors
    /// [`RecordedWaveError`].
    pub fn write(
        trace: &Path,
        file: &Path,
        error: Option<&RecordingError>,
    ) -> Result<Self, RecordedWaveError> {
        let verdict = match error {
            Some(
                RecordingError::Rejected { line, rejection } | RecordingError::Undecided { line, rejection },
            ) => Some((*line, &**rejection)),
            Some(RecordingError::Read { .. } | RecordingError::Malformed { .. }) | None => None,
        };
        let mut plan = Timeline { verdict, ..Timeline::default() };
        plan.follow(trace)?;
        let (undated_line, by_order) = (plan.undated_line, plan.undated_line.is_some());
        if by_order {
            plan = Timeline { verdict, by_order, undated_line, ..Timeline::default() };
            plan.follow(trace)?;
        }
        let tracks = Some(RecordedTracks::create(file, &plan)?);
        let mut timeline = Timeline { verdict, by_order, tracks, ..Timeline::default() };
        timeline.follow(trace)?;
        if let Some(mut tracks) = timeline.tracks {
            tracks.trace.tick()?;
            tracks.trace.finish()?;
        }
        Ok(RecordedWave { undated_line, unanswered: plan.unanswered, rejected: plan.rejected })
    }

    /// Returns lines for a report: the command that shows the `wave` around the rejected line, and how times
    /// of the wave differ from those of the unit.
    pub fn lines(&self, wave: &str) -> Vec<String> {
        let [before, after, most] = AROUND;
        let window = self.rejected.as_ref().map_or_else(String::new, |of| {
            let from = of.start.max(of.end.saturating_sub(most)).saturating_sub(before);
            format!(" --window {from}..{}", of.end + after)
        });
        let times = match (self.undated_line, self.unanswered) {
            (Some(line), _) => format!(
                "line {line} has no cycle (`accepted` or `answered`), so each line takes one step of time"
            ),
            (None, 0) => String::new(),
            (None, requests) => format!("{requests} requests without `answered` in the trace last one cycle"),
        };
        let command = format!("wave  {wave} (atoms wave show {wave}{window})");
        [command].into_iter().chain((!times.is_empty()).then(|| format!("      {times}"))).collect()
    }
}

#[derive(Debug)]
enum Change {
    Enter(Box<SerialRequest>),
    State(RequestState, Option<Box<Response>>),
    Leave,
    Slot(u8, Option<Allocation>),
    /// Text of the track of resets.
    Reset(String),
    /// The oracle rejects the line. Contains the number of the request.
    Verdict(u64),
}

/// A request in a row.
#[derive(Debug)]
struct Occupant {
    port: usize,
    row: usize,
    inside: Inside,
    response: Option<Box<Response>>,
}

#[derive(Debug, Default)]
struct Timeline<'a> {
    verdict: Option<(u64, &'a Rejection)>,
    /// True if each line takes one step, because a request has no cycle.
    by_order: bool,
    undated_line: Option<u64>,
    unanswered: u64,
    rejected: Option<Range<u64>>,
    config: Config,
    /// First cycle in which a request was accepted.
    first: Option<u64>,
    /// Latest cycle of the lines so far; of a request, its acceptance.
    latest: u64,
    /// Lines of unanswered waits, by number of the wait.
    waits: BTreeMap<u64, u64>,
    /// Changes with their line, by cycle and age.
    pending: BTreeMap<(u64, u64), (u64, Change)>,
    age: u64,
    /// Cycle of the last change.
    reached: u64,
    /// Requests in flight, by line.
    inside: HashMap<u64, Occupant>,
    /// Rows of both ports: true while a request occupies the row.
    taken: [Vec<bool>; 2],
    /// CTA slots that have had an allocation.
    slots: BTreeSet<u8>,
    tracks: Option<RecordedTracks>,
}

impl Timeline<'_> {
    /// Reads the trace to its end, to the line of the verdict, or to the first request without a cycle.
    fn follow(&mut self, path: &Path) -> Result<(), RecordedWaveError> {
        let mut trace = TraceReader::new(BufReader::new(File::open(path)?))?;
        self.config.num_lanes = trace.header().geometry.lanes;
        while let Some((line, event)) = trace.next_event()? {
            let (request, cycles) = self.event(line, event);
            if self.undated_line.is_some() && !self.by_order {
                return Ok(());
            }
            if self.verdict.is_some_and(|(rejected, _)| rejected == line) {
                self.push(cycles.start, line, Change::Verdict(request));
                self.rejected = Some(cycles);
                break;
            }
            while self.pending.len() > MOST_PENDING {
                self.step()?;
            }
        }
        while !self.pending.is_empty() {
            self.step()?;
        }
        Ok(())
    }

    fn push(&mut self, cycle: u64, line: u64, change: Change) {
        self.age += 1;
        self.pending.insert((cycle, self.age), (line, change));
    }

    /// Returns the cycle of an event; by order, the next step.
    fn at(&mut self, cycle: u64) -> u64 {
        let at = if self.by_order { self.latest + 1 } else { cycle.min(LAST_CYCLE) };
        self.latest = self.latest.max(at);
        at
    }

    /// Schedules the changes of a line. Returns the number of the request, and the cycles of the line.
    fn event(&mut self, line: u64, event: TraceEvent) -> (u64, Range<u64>) {
        let mut number = line;
        let at = match event {
            TraceEvent::Request(exchange) => {
                let Exchange { request, response, moment, accepted, .. } = *exchange;
                let wait = moment.filter(|_| !request.cluster);
                let wait = wait.and_then(|moment| self.waits.remove(&moment.number));
                let answered = moment.map(|moment| moment.answered);
                if accepted.or(answered).is_none() {
                    self.undated_line.get_or_insert(line);
                }
                let from = self.at(wait.and(answered).or(accepted).or(answered).unwrap_or(0));
                let to = answered.filter(|_| !self.by_order).unwrap_or(from).clamp(from, LAST_CYCLE);
                self.unanswered += u64::from(answered.is_none());
                number = wait.unwrap_or(line);
                if wait.is_none() {
                    self.push(from, line, Change::Enter(Box::new(request)));
                }
                self.leave(to, number, RequestState::Answered { woken: false }, response);
                return (number, from..to + 1);
            }
            TraceEvent::Lost { request, .. } => {
                let at = self.at(self.latest);
                self.push(at, line, Change::Enter(request));
                self.leave(at, line, RequestState::Queued, None);
                at
            }
            TraceEvent::Wait { number, accepted, request } => {
                let at = self.at(accepted);
                self.waits.insert(number, line);
                self.push(at, line, Change::Enter(request));
                at
            }
            TraceEvent::Suspended { number: of, cycle } => {
                let at = self.at(cycle);
                number = self.waits.get(&of).copied().unwrap_or(line);
                self.push(at, number, Change::State(RequestState::Suspended, None));
                at
            }
            TraceEvent::Wake { number: of, pred, cycle } => {
                let at = self.at(cycle);
                number = self.waits.remove(&of).unwrap_or(line);
                let response = Response { pred, ..Response::default() };
                self.leave(at, number, RequestState::Answered { woken: true }, Some(response));
                at
            }
            TraceEvent::Quiet { to, .. } => self.at(to),
            TraceEvent::Allocation { slot, allocation } => {
                self.slots.insert(slot);
                self.push(self.latest + 1, line, Change::Slot(slot, allocation));
                self.latest + 1
            }
            TraceEvent::Reset { dropped, .. } => {
                let at = self.at(self.latest + 1);
                let waits = std::mem::take(&mut self.waits).into_values();
                waits.for_each(|wait| self.push(at, wait, Change::Leave));
                let slots = self.slots.clone().into_iter();
                slots.for_each(|slot| self.push(at, line, Change::Slot(slot, None)));
                self.push(at, line, Change::Reset(format!("reset, {} requests dropped", dropped.len())));
                self.push(at + 1, line, Change::Reset(IDLE.into()));
                at
            }
            TraceEvent::Init(_) | TraceEvent::Final(_) | TraceEvent::End | TraceEvent::Verdict { .. } => {
                self.latest
            }
        };
        (number, at..at + 1)
    }

    fn leave(&mut self, cycle: u64, line: u64, state: RequestState, response: Option<Response>) {
        self.push(cycle, line, Change::State(state, response.map(Box::new)));
        self.push(cycle + 1, line, Change::Leave);
    }

    /// Applies the earliest change.
    fn step(&mut self) -> Result<(), RecordedWaveError> {
        let Some(((cycle, _), (line, change))) = self.pending.pop_first() else { return Ok(()) };
        self.reached = self.reached.max(cycle);
        self.tracks.iter_mut().try_for_each(|tracks| tracks.advance(self.reached))?;
        match (change, &mut self.tracks) {
            (Change::Enter(request), _) => {
                let port = usize::from(request.cluster);
                let rows = &mut self.taken[port];
                let row = rows.iter().position(|taken| !taken).unwrap_or(rows.len());
                if row == MOST_ROWS {
                    return Err(RecordedWaveError::Overlap(line));
                }
                rows.resize(rows.len().max(row + 1), false);
                rows[row] = true;
                self.first.get_or_insert(self.reached);
                let inside = Inside::new(line, warp_request(&request), &self.config, Origin::default());
                self.inside.insert(line, Occupant { port, row, inside, response: None });
            }
            (Change::State(state, response), _) => {
                if let Some(of) = self.inside.get_mut(&line) {
                    (of.inside.state, of.response) = (state, response);
                }
            }
            (Change::Leave, tracks) => {
                if let Some(Occupant { port, row, .. }) = self.inside.remove(&line) {
                    self.taken[port][row] = false;
                    tracks.iter_mut().for_each(|tracks| tracks.show(port, row, None));
                }
            }
            (Change::Slot(slot, allocation), Some(tracks)) => tracks.slot(slot, allocation),
            (Change::Reset(text), Some(tracks)) => tracks.trace.set_text(tracks.reset, &text),
            (Change::Verdict(number), Some(tracks)) => {
                self.verdict.iter().for_each(|(line, rejection)| tracks.verdict(*line, number, rejection));
            }
            (Change::Slot(..) | Change::Reset(_) | Change::Verdict(_), None) => {}
        }
        if let Some((tracks, of)) = self.tracks.as_mut().zip(self.inside.get(&line)) {
            tracks.show(of.port, of.row, Some(of));
        }
        Ok(())
    }
}

/// Track of one request at a time.
#[derive(Debug)]
struct RecordedRow {
    text: Signal,
    place: RequestPlace,
    fields: ResponseFields,
}

#[derive(Debug)]
struct RecordedTracks {
    trace: WaveTrace,
    config: Config,
    rows: [Vec<RecordedRow>; 2],
    slots: BTreeMap<u8, SlotFields>,
    reset: Signal,
    verdict: VerdictFields,
}

impl RecordedTracks {
    /// Creates the wave and its save file, with the tracks that `plan` needs.
    fn create(path: &Path, plan: &Timeline<'_>) -> Result<Self, WaveError> {
        let mut definition = Definition::new("atoms");
        let time = definition.signal("time", Text);
        let fields = |d: &mut Definition| (RequestFields::define(d), ResponseFields::define(d));
        let row = |text: Signal, (request, fields): (RequestFields, ResponseFields)| {
            let place = RequestPlace { fields: request, held: None, is_stale: false, is_new: false };
            RecordedRow { text, place, fields }
        };
        let (rows, slots, reset, verdict) = definition.scope(NAMES.transactions, |d| {
            let [warps, clusters] = plan.taken.each_ref().map(Vec::len);
            let requests = numbered(d, "request", warps, |d, _| fields(d));
            let warps = numbered(d, "warp", warps, |d, at| {
                let text = d.signal(NAMES.label, Text);
                let (of, response) = requests[at];
                let lanes = [("request", of.request), ("lanes", of.lanes), ("pred", response.pred)];
                let access = [("op", of.op), ("size", of.size), ("slot", of.slot), ("address", of.address)];
                let all = lanes.into_iter().chain(access).chain([("fault", response.fault)]);
                all.for_each(|(name, signal)| d.alias(name, signal));
                row(text, requests[at])
            });
            let clusters =
                numbered(d, "cluster", clusters, |d, _| row(d.signal(NAMES.label, Text), fields(d)));
            let slot =
                |d: &mut Definition, slot: u8| (slot, d.scope(&format!("slot{slot:02}"), SlotFields::define));
            let slots = d.scope("slot", |d| plan.slots.iter().map(|at| slot(d, *at)).collect());
            let reset = d.scope("reset", |d| d.signal(NAMES.label, Text));
            ([warps, clusters], slots, reset, d.scope("verdict", VerdictFields::define))
        });
        let mut tracks = RecordedTracks {
            trace: definition.create(path)?,
            config: plan.config,
            rows,
            slots,
            reset,
            verdict,
        };
        let line = plan.undated_line.map(|line| format!("steps: line {line} has no cycle"));
        tracks.trace.set_text(time, line.as_deref().unwrap_or("cycles"));
        [verdict.text, reset].into_iter().for_each(|text| tracks.trace.set_text(text, IDLE));
        plan.slots.iter().for_each(|slot| tracks.slot(*slot, None));
        for (port, taken) in plan.taken.iter().enumerate() {
            (0..taken.len()).for_each(|row| tracks.show(port, row, None));
        }
        let [warps, clusters] = tracks.rows.each_ref().map(|rows| rows.iter().map(|row| row.text));
        let slots = tracks.slots.values().map(|slot| slot.text);
        let verdict = plan.rejected.iter().map(|_| verdict.text);
        let layout = Layout::new().group("verdict", verdict).group("warp requests", warps);
        let layout = layout.group("cluster requests", clusters).group("CTA table", slots.chain([reset]));
        let marker = plan.rejected.as_ref().map(|cycles| cycles.start).or(plan.first);
        marker.into_iter().fold(layout, Layout::marker).write(&definition, path)?;
        Ok(tracks)
    }

    /// Ends the cycles before `cycle`.
    fn advance(&mut self, cycle: u64) -> Result<(), WaveError> {
        while self.trace.cycle() < cycle {
            self.trace.tick()?;
            if cycle - self.trace.cycle() > MOST_IDLE {
                self.trace.skip_to(cycle - MOST_IDLE / 2);
            }
        }
        Ok(())
    }

    fn show(&mut self, port: usize, row: usize, occupant: Option<&Occupant>) {
        // A trace that grows while it is read may need more rows than planned.
        let Some(RecordedRow { text, place, fields }) = self.rows[port].get_mut(row) else { return };
        place.is_new = occupant.is_some();
        place.show(&mut self.trace, occupant.map(|of| &of.inside), &self.config);
        let Some(Occupant { inside: Inside { name, state, rest, .. }, response, .. }) = occupant else {
            return self.trace.set_text(*text, IDLE);
        };
        let mut words = format!("{name}{}{rest}", state.kind().name());
        let Response { rd, pred, fault, fault_lane, fault_addr } = *response.clone().unwrap_or_default();
        if fault != Fault::None {
            words += &format!(", {fault} lane {fault_lane} @{fault_addr:x}");
        } else if let Some(lane) = rd.iter().position(|rd| *rd != 0) {
            words += &format!(", rd[{lane}] {:x}", rd[lane]);
        }
        if pred != 0 {
            words += &format!(", pred {pred:x}");
        }
        self.trace.set_text(*text, &words);
        self.trace.set(fields.fault, fault as u128);
        self.trace.set(fields.fault_lane, fault_lane.into());
        self.trace.set(fields.fault_addr, fault_addr.into());
        self.trace.set(fields.pred, pred.into());
    }

    fn slot(&mut self, slot: u8, allocation: Option<Allocation>) {
        let Some(fields) = self.slots.get(&slot) else { return };
        let Some(Allocation { base_row, size_bytes, rank }) = allocation else {
            return self.trace.set_text(fields.text, IDLE);
        };
        self.trace.set_text(fields.text, &format!("{size_bytes} bytes from row {base_row}, rank {rank}"));
        self.trace.set(fields.base_row, base_row.into());
        self.trace.set(fields.size_bytes, size_bytes.into());
        self.trace.set(fields.rank, rank.into());
    }

    fn verdict(&mut self, line: u64, request: u64, rejection: &Rejection) {
        let (of, values) = (self.verdict, rejection.wrong_values().copied().unwrap_or_default());
        self.trace.set_text(of.text, &format!("line {line}: {rejection}"));
        self.trace.set_text(of.clause, rejection.clause());
        self.trace.set(of.request, request.into());
        self.trace.set(of.lanes, values.lanes.into());
        let address = values.address.map(u128::from);
        for (field, value) in [(of.address, address), (of.expected, values.expected), (of.got, values.got)] {
            value.into_iter().for_each(|value| self.trace.set(field, value));
        }
    }
}

fn warp_request(of: &SerialRequest) -> Arc<WarpRequest> {
    let SerialRequest { op, size, red, slot, mask, absolute, scale, imm, ur, .. } = *of;
    let lanes = of.ra.iter().map(|ra| Lane { ra: *ra, ..Lane::default() }).collect();
    Arc::new(WarpRequest { op, size, red, absolute, scale, tag: 0, slot, mask, imm, ur, lanes })
}
