//! Conversion between the fields of a trace line and events.

use atoms_ops::{Fault, Op, Size};
use atoms_oracle::{Allocation, Geometry, MAX_LANES, MAX_WORDS, RequestTiming, Response, SerialRequest};
use serde::{Deserialize, Serialize};

use crate::number::{Count, Hex, Immediate, NameOrCode, Number, Pair, PerLane};
use crate::{DeclaredUnit, Exchange, TRACE_VERSION, TraceEvent, TraceHeader};

pub(crate) const HEADER: &str = r#"{"atoms_trace":1,"lanes":32,"banks":32,"rows":512}"#;

/// Kinds of lines, each named by its main field, and the other fields that are allowed.
const KINDS: &[(&str, &[&str])] = &[
    ("atoms_trace", &["lanes", "banks", "rows", "xor_hash", "try_wait_limit", "spin_hold", "unit"]),
    ("allocation", &[]),
    ("init", &[]),
    ("request", &["response", "after", "accepted", "number", "answered", "oldest_unanswered"]),
    ("wait", &["number", "accepted"]),
    ("suspended", &[]),
    ("wake", &[]),
    ("quiet", &[]),
    ("lost", &["after"]),
    ("reset", &["after"]),
    ("end", &[]),
    ("final", &[]),
    ("verdict", &["undecided"]),
];

/// A JSON object with required fields, and optional fields that are omitted if they have their default
/// value.
trait Object {
    /// Names of the optional fields that are present.
    fn given(&self) -> Vec<&'static str>;
}

macro_rules! object {
    ($(#[$attribute:meta])* $type:ident { $($field:ident: $of:ty),* ; $($(#[$optional_attribute:meta])* $optional:ident: $optional_of:ty,)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $type {
            $($field: $of,)*
            $($(#[$optional_attribute])* #[serde(skip_serializing_if = "Option::is_none")] $optional: Option<$optional_of>,)*
        }

        impl Object for $type {
            fn given(&self) -> Vec<&'static str> {
                let given = [$(self.$optional.is_some().then_some(stringify!($optional)),)*];
                given.into_iter().flatten().map(|name| name.trim_start_matches("r#")).collect()
            }
        }
    };
}

object! { #[derive(Default)] Line { ;
    atoms_trace: Count<u32>,
    lanes: Count<u32>,
    banks: Count<u32>,
    rows: Count<u32>,
    xor_hash: bool,
    try_wait_limit: Count<u64>,
    spin_hold: Count<u32>,
    unit: DeclaredUnit,
    #[serde(alias = "part")] allocation: AllocationLine,
    init: Vec<Pair>,
    request: RequestLine,
    response: ResponseLine,
    after: Vec<Pair>,
    wait: RequestLine,
    number: Count<u64>,
    accepted: Count<u64>,
    answered: Count<u64>,
    oldest_unanswered: Count<u64>,
    suspended: SuspendedLine,
    wake: WakeLine,
    quiet: (Count<u64>, Count<u64>),
    lost: RequestLine,
    reset: Vec<RequestLine>,
    end: bool,
    r#final: Vec<Pair>,
    verdict: String,
    undecided: bool,
    note: String,
} }

object! { AllocationLine { slot: Count<u8>;
    base_row: Count<u32>,
    size_bytes: Count<u32>,
    rank: Count<u8>,
    unassigned: bool,
} }

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuspendedLine {
    number: Count<u64>,
    cycle: Count<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WakeLine {
    number: Count<u64>,
    pred: Hex<u32>,
    cycle: Count<u64>,
}

object! { RequestLine { op: NameOrCode, size: NameOrCode;
    red: bool,
    cluster: bool,
    slot: Count<u8>,
    mask: Hex<u32>,
    absolute: bool,
    scale: Count<u8>,
    imm: Immediate,
    ur: Hex<u32>,
    ra: PerLane,
    b: PerLane,
    c: PerLane,
    lanes: Vec<LaneOperands>,
} }

object! { LaneOperands { lane: Count<u32>;
    ra: Hex<u32>,
    b: Hex<u128>,
    c: Hex<u128>,
} }

object! { ResponseLine { ;
    fault: NameOrCode,
    fault_lane: Count<u8>,
    fault_addr: Hex<u32>,
    rd: PerLane,
    pred: Hex<u32>,
    lanes: Vec<LaneResult>,
} }

object! { LaneResult { lane: Count<u32>;
    rd: Hex<u128>,
    pred: Count<u8>,
} }

fn unless_zero<T: Default + PartialEq, const HEX: bool>(value: T) -> Option<Number<T, HEX>> {
    (value != T::default()).then_some(Number(value))
}

fn pairs(words: &[(u32, u32)]) -> Vec<Pair> {
    words.iter().map(|&(word, value)| (Number(word), Number(value))).collect()
}

impl Line {
    /// Converts an event, and drops lanes that are not in `lane_mask` from requests.
    pub(crate) fn of(event: &TraceEvent, lane_mask: u32) -> Line {
        let empty = Line::default();
        match event {
            TraceEvent::Allocation { slot, allocation } => {
                Line { allocation: Some(AllocationLine::of(*slot, *allocation)), ..empty }
            }
            TraceEvent::Init(words) => Line { init: Some(pairs(words)), ..empty },
            TraceEvent::Final(words) => Line { r#final: Some(pairs(words)), ..empty },
            TraceEvent::Request(exchange) => {
                let Exchange { request, response, after, moment, accepted } = &**exchange;
                Line {
                    request: Some(RequestLine::of(request, lane_mask)),
                    response: response.as_ref().map(ResponseLine::of),
                    after: after.as_deref().map(pairs),
                    accepted: accepted.map(Number),
                    number: moment.map(|moment| Number(moment.number)),
                    answered: moment.map(|moment| Number(moment.answered)),
                    oldest_unanswered: moment.and_then(|moment| moment.oldest_unanswered).map(Number),
                    ..empty
                }
            }
            TraceEvent::Wait { number, accepted, request } => Line {
                wait: Some(RequestLine::of(request, lane_mask)),
                number: Some(Number(*number)),
                accepted: Some(Number(*accepted)),
                ..empty
            },
            TraceEvent::Suspended { number, cycle } => {
                let suspended = SuspendedLine { number: Number(*number), cycle: Number(*cycle) };
                Line { suspended: Some(suspended), ..empty }
            }
            TraceEvent::Wake { number, pred, cycle } => {
                let wake = WakeLine { number: Number(*number), pred: Number(*pred), cycle: Number(*cycle) };
                Line { wake: Some(wake), ..empty }
            }
            TraceEvent::Quiet { from, to } => Line { quiet: Some((Number(*from), Number(*to))), ..empty },
            TraceEvent::Lost { request, written } => {
                Line { lost: Some(RequestLine::of(request, lane_mask)), after: Some(pairs(written)), ..empty }
            }
            TraceEvent::Reset { dropped, written } => Line {
                reset: Some(dropped.iter().map(|request| RequestLine::of(request, lane_mask)).collect()),
                after: Some(pairs(written)),
                ..empty
            },
            TraceEvent::End => Line { end: Some(true), ..empty },
            TraceEvent::Verdict { undecided, text } => {
                Line { verdict: Some(text.clone()), undecided: undecided.then_some(true), ..empty }
            }
        }
    }
}

impl From<&TraceHeader> for Line {
    fn from(header: &TraceHeader) -> Line {
        let Geometry { lanes, banks, rows, xor_hash } = header.geometry;
        Line {
            atoms_trace: Some(Number(TRACE_VERSION)),
            lanes: Some(Number(lanes)),
            banks: Some(Number(banks)),
            rows: Some(Number(rows)),
            xor_hash: Some(xor_hash),
            try_wait_limit: header.try_wait_limit.map(Number),
            spin_hold: header.spin_hold.map(Number),
            unit: header.unit,
            ..Line::default()
        }
    }
}

impl AllocationLine {
    fn of(slot: u8, allocation: Option<Allocation>) -> AllocationLine {
        AllocationLine {
            slot: Number(slot),
            base_row: allocation.map(|allocation| Number(allocation.base_row)),
            size_bytes: allocation.map(|allocation| Number(allocation.size_bytes)),
            rank: allocation.map(|allocation| Number(allocation.rank)),
            unassigned: allocation.is_none().then_some(true),
        }
    }

    fn event(self) -> Result<TraceEvent, String> {
        let slot = self.slot.0;
        if self.unassigned == Some(true) {
            return match self.given()[..] {
                ["unassigned"] => Ok(TraceEvent::Allocation { slot, allocation: None }),
                _ => Err("an unassigned slot has no `base_row`, `size_bytes` or `rank`".to_owned()),
            };
        }
        let missing = |field: &str| {
            format!("the allocation has no `{field}`; a slot without one is `\"unassigned\":true`")
        };
        let allocation = Allocation {
            base_row: self.base_row.ok_or_else(|| missing("base_row"))?.0,
            size_bytes: self.size_bytes.ok_or_else(|| missing("size_bytes"))?.0,
            rank: self.rank.unwrap_or_default().0,
        };
        Ok(TraceEvent::Allocation { slot, allocation: Some(allocation) })
    }
}

impl RequestLine {
    /// Converts a request, without the lanes that are not in `lane_mask`.
    fn of(req: &SerialRequest, lane_mask: u32) -> RequestLine {
        let operands = |lane: usize| LaneOperands {
            lane: Number(lane as u32),
            ra: unless_zero(req.ra[lane]),
            b: unless_zero(req.b[lane]),
            c: unless_zero(req.c[lane]),
        };
        let active = (0..MAX_LANES).filter(|lane| req.mask & lane_mask & 1 << lane != 0);
        RequestLine {
            op: NameOrCode::of(req.op, Op::from_code(req.op).map(Op::name)),
            size: NameOrCode::of(req.size, Size::from_code(req.size).map(Size::name)),
            red: req.red.then_some(true),
            cluster: req.cluster.then_some(true),
            slot: unless_zero(req.slot),
            absolute: req.absolute.then_some(true),
            scale: unless_zero(req.scale),
            imm: unless_zero(req.imm & 0xff_ffff).map(|imm: Hex<u32>| Immediate(imm.0)),
            ur: unless_zero(req.ur),
            lanes: Some(active.map(operands).collect()),
            mask: None,
            ra: None,
            b: None,
            c: None,
        }
    }

    /// Converts the line to a request of a warp with `lanes` lanes.
    fn request(&self, lanes: u32) -> Result<SerialRequest, String> {
        if self.lanes.is_none() && self.mask.is_none() {
            return Err("the request has neither `lanes` nor a `mask`: which lanes are active?".to_owned());
        }
        let mut req = SerialRequest {
            op: code(&self.op, "operation", &Op::ALL, Op::name, |op| op as u8)?,
            size: code(&self.size, "size", &Size::ALL, Size::name, |size| size as u8)?,
            red: self.red.unwrap_or_default(),
            cluster: self.cluster.unwrap_or_default(),
            slot: self.slot.unwrap_or_default().0,
            mask: self.mask.unwrap_or_default().0,
            absolute: self.absolute.unwrap_or_default(),
            scale: self.scale.unwrap_or_default().0,
            imm: self.imm.unwrap_or_default().0,
            ur: self.ur.unwrap_or_default().0,
            ..SerialRequest::default()
        };
        fill(&mut req.ra, &self.ra, "ra")?;
        fill(&mut req.b, &self.b, "b")?;
        fill(&mut req.c, &self.c, "c")?;
        for operands in self.lanes.iter().flatten() {
            let lane = lane(operands.lane, lanes)?;
            if self.mask.is_none() {
                req.mask |= 1 << lane;
            }
            req.ra[lane] = operands.ra.map_or(req.ra[lane], |ra| ra.0);
            req.b[lane] = operands.b.map_or(req.b[lane], |b| b.0);
            req.c[lane] = operands.c.map_or(req.c[lane], |c| c.0);
        }
        Ok(req)
    }
}

impl ResponseLine {
    fn of(resp: &Response) -> ResponseLine {
        let faulted = resp.fault != Fault::None;
        let given = (0..MAX_LANES).filter(|&lane| resp.rd[lane] != 0 || resp.pred >> lane & 1 == 1);
        let result = |lane| LaneResult {
            lane: Number(lane as u32),
            rd: unless_zero(resp.rd[lane]),
            pred: unless_zero((resp.pred >> lane & 1) as u8),
        };
        ResponseLine {
            fault: faulted.then(|| NameOrCode::Name(resp.fault.name().to_owned())),
            fault_lane: faulted.then_some(Number(resp.fault_lane)),
            fault_addr: faulted.then_some(Number(resp.fault_addr)),
            lanes: Some(given.map(result).collect()),
            rd: None,
            pred: None,
        }
    }

    /// Converts the line to a response of a request with these active lanes.
    fn response(&self, active: u32) -> Result<Response, String> {
        let fault = match &self.fault {
            None => 0,
            Some(fault) => code(fault, "fault", &Fault::ALL, Fault::name, |fault| fault as u8)?,
        };
        let mut resp = Response {
            fault: Fault::from_code(fault)
                .ok_or_else(|| format!("fault {fault}: expected a code 0 to {}", Fault::ALL.len() - 1))?,
            fault_lane: self.fault_lane.unwrap_or_default().0,
            fault_addr: self.fault_addr.unwrap_or_default().0,
            pred: self.pred.unwrap_or_default().0,
            ..Response::default()
        };
        fill(&mut resp.rd, &self.rd, "rd")?;
        if let Some(PerLane::Every(_)) = self.rd {
            // A result for "every lane" applies to active lanes only: other lanes get no results.
            (0..MAX_LANES).filter(|lane| active >> lane & 1 == 0).for_each(|lane| resp.rd[lane] = 0);
        }
        // Accept results in lanes that do not exist: they are for the oracle to reject, and not an error of
        // format.
        for result in self.lanes.iter().flatten() {
            let lane = lane(result.lane, MAX_LANES as u32)?;
            resp.rd[lane] = result.rd.map_or(resp.rd[lane], |rd| rd.0);
            match result.pred {
                None => {}
                Some(Number(pred @ 0..=1)) => resp.pred = resp.pred & !(1 << lane) | u32::from(pred) << lane,
                Some(Number(pred)) => {
                    return Err(format!("`pred` of lane {lane} is {pred}: expected 0 or 1"));
                }
            }
        }
        Ok(resp)
    }
}

impl NameOrCode {
    fn of(code: u8, name: Option<&str>) -> NameOrCode {
        name.map_or(NameOrCode::Code(code), |name| NameOrCode::Name(name.to_owned()))
    }
}

fn code<T: Copy>(
    given: &NameOrCode,
    what: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    code: impl Fn(T) -> u8,
) -> Result<u8, String> {
    let text = match given {
        NameOrCode::Code(code) => return Ok(*code),
        NameOrCode::Name(text) => text,
    };
    all.iter().find(|value| name(**value) == text).map(|value| code(*value)).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|value| name(*value)).collect();
        format!("{what} `{text}`: expected a numeric code or one of {}", names.join(", "))
    })
}

fn lane(lane: Count<u32>, lanes: u32) -> Result<usize, String> {
    let Number(lane) = lane;
    let last = lanes.saturating_sub(1);
    let expected = || format!("lane {lane}: expected 0 to {last}, as the header has {lanes} lanes");
    (lane < lanes).then_some(lane as usize).ok_or_else(expected)
}

fn fill<T: TryFrom<u128>>(
    to: &mut [T; MAX_LANES],
    from: &Option<PerLane>,
    field: &str,
) -> Result<(), String> {
    let list = match from {
        None => return Ok(()),
        Some(PerLane::Every(every)) => &[*every; MAX_LANES],
        Some(PerLane::Each(each)) => &each[..],
    };
    if list.len() > MAX_LANES {
        return Err(format!("`{field}` is a list of {}: expected one of up to {MAX_LANES}", list.len()));
    }
    for (to, Number(value)) in to.iter_mut().zip(list) {
        let expected = || format!("`{field}` is {value:#x}: expected {} bits", 8 * size_of::<T>());
        *to = T::try_from(*value).map_err(|_| expected())?;
    }
    Ok(())
}

impl Line {
    /// Name of the line's main field; `None` for a line that has only a note.
    fn kind(&self) -> Result<Option<&'static str>, String> {
        let given: Vec<_> = self.given().into_iter().filter(|field| *field != "note").collect();
        let mut kinds = KINDS.iter().filter(|(kind, _)| given.contains(kind));
        let (kind, beside) = match (kinds.next(), kinds.next()) {
            (Some(kind), None) => *kind,
            (None, _) if given.is_empty() && self.note.is_some() => return Ok(None),
            (None, _) if given.is_empty() => {
                return Err(format!("the line has no main field: expected {}", expected_kinds()));
            }
            (None, _) => ("", &[][..]),
            (Some(_), Some(_)) => {
                return Err(format!("the line has several main fields: expected {}", expected_kinds()));
            }
        };
        if let Some(stray) = given.iter().find(|field| **field != kind && !beside.contains(field)) {
            let homes = KINDS.iter().filter(|(_, beside)| beside.contains(stray));
            let homes: Vec<_> = homes.map(|(kind, _)| format!("`{kind}`")).collect();
            return Err(format!("`{stray}` belongs in a line with {}", homes.join(" or ")));
        }
        Ok(Some(kind))
    }

    pub(crate) fn header(&self) -> Result<TraceHeader, String> {
        let missing = |field: &str| format!("the header has no `{field}`; it must look like {HEADER}");
        let Number(version) = self.atoms_trace.ok_or_else(|| missing("atoms_trace"))?;
        if version != TRACE_VERSION {
            return Err(format!("version {version} of the format: expected {TRACE_VERSION}"));
        }
        self.kind()?;
        let Number(lanes) = self.lanes.ok_or_else(|| missing("lanes"))?;
        if !(1..=MAX_LANES as u32).contains(&lanes) {
            return Err(format!("{lanes} lanes: expected 1 to {MAX_LANES}"));
        }
        let Number(banks) = self.banks.ok_or_else(|| missing("banks"))?;
        if !banks.is_power_of_two() {
            return Err(format!("{banks} banks: expected a power of two"));
        }
        let Number(rows) = self.rows.ok_or_else(|| missing("rows"))?;
        let most = MAX_WORDS / u64::from(banks);
        if !(1..=most).contains(&u64::from(rows)) {
            return Err(format!("{rows} rows of {banks} banks: expected 1 to {most}"));
        }
        let spin_hold = self.spin_hold.map(|requests| requests.0);
        if spin_hold == Some(0) {
            return Err("`spin_hold` is 0: expected 1 or more".to_owned());
        }
        let geometry = Geometry { lanes, banks, rows, xor_hash: self.xor_hash.unwrap_or_default() };
        let try_wait_limit = self.try_wait_limit.map(|cycles| cycles.0);
        Ok(TraceHeader { geometry, try_wait_limit, spin_hold, unit: self.unit })
    }

    /// Converts a line after the header; `None` for a line that has only a note.
    pub(crate) fn event(self, geometry: &Geometry) -> Result<Option<TraceEvent>, String> {
        let Some(kind) = self.kind()? else { return Ok(None) };
        let missing = |field: &str| format!("the `{kind}` has no `{field}`");
        let memory = |words: Vec<Pair>| {
            let last = geometry.words().saturating_sub(1);
            match words.iter().find(|(word, _)| word.0 > last) {
                Some((word, _)) => Err(format!("word {}: expected at most {last}", word.0)),
                None => Ok(unpaired(words)),
            }
        };
        Ok(Some(if let Some(allocation) = self.allocation {
            allocation.event()?
        } else if let Some(words) = self.init {
            TraceEvent::Init(memory(words)?)
        } else if let Some(words) = self.r#final {
            TraceEvent::Final(memory(words)?)
        } else if let Some(request) = self.wait {
            let Number(number) = self.number.ok_or_else(|| missing("number"))?;
            let Number(accepted) = self.accepted.ok_or_else(|| missing("accepted"))?;
            TraceEvent::Wait { number, accepted, request: Box::new(request.request(geometry.lanes)?) }
        } else if let Some(SuspendedLine { number, cycle }) = self.suspended {
            TraceEvent::Suspended { number: number.0, cycle: cycle.0 }
        } else if let Some(WakeLine { number, pred, cycle }) = self.wake {
            TraceEvent::Wake { number: number.0, pred: pred.0, cycle: cycle.0 }
        } else if let Some((Number(from), Number(to))) = self.quiet {
            if from > to {
                return Err(format!("quiet from {from} to {to}: expected the first cycle and the last"));
            }
            TraceEvent::Quiet { from, to }
        } else if let Some(request) = self.lost {
            let request = Box::new(request.request(geometry.lanes)?);
            TraceEvent::Lost { request, written: unpaired(self.after.unwrap_or_default()) }
        } else if let Some(dropped) = self.reset {
            let dropped = dropped.iter().map(|request| request.request(geometry.lanes));
            let dropped = dropped.collect::<Result<_, String>>()?;
            TraceEvent::Reset { dropped, written: unpaired(self.after.unwrap_or_default()) }
        } else if let Some(request) = self.request {
            let moment = match (self.number, self.answered, self.oldest_unanswered) {
                (Some(Number(number)), Some(Number(answered)), oldest) => Some(RequestTiming {
                    number,
                    answered,
                    oldest_unanswered: oldest.map(|accepted| accepted.0),
                }),
                (None, None, None) => None,
                _ => return Err("`number` and `answered` must both be present or both be absent".to_owned()),
            };
            let request = request.request(geometry.lanes)?;
            if self.response.is_none() && !request.is_posted() {
                return Err(format!(
                    "{}; only a posted request, with `cluster` and `red`, has no response",
                    missing("response")
                ));
            }
            let response = self.response.map(|response| response.response(request.mask)).transpose()?;
            let accepted = self.accepted.map(|accepted| accepted.0);
            let after = self.after.map(unpaired);
            TraceEvent::Request(Box::new(Exchange { request, response, after, moment, accepted }))
        } else if let Some(text) = self.verdict {
            TraceEvent::Verdict { undecided: self.undecided.unwrap_or_default(), text }
        } else if self.atoms_trace.is_some() {
            return Err("a second header; write each trace to a separate file".to_owned());
        } else {
            TraceEvent::End
        }))
    }
}

fn expected_kinds() -> String {
    let kinds: Vec<_> = KINDS.iter().skip(1).map(|(kind, _)| format!("`{kind}`")).collect();
    format!("one of {} or `note`", kinds.join(", "))
}

fn unpaired(words: Vec<Pair>) -> Vec<(u32, u32)> {
    words.into_iter().map(|(word, value)| (word.0, value.0)).collect()
}
