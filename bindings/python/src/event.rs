//! Events of the ports, read from keyword arguments or from columns of a batch.

use atoms_oracle::{Geometry, Response, SerialRequest};
use atoms_scoreboard::arguments;
use atoms_scoreboard::{ClusterResponse, PortScoreboard, PortVerdict, WarpResponse};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::array::{Array, LANES, is_array, memory, narrow, value_error, wide};

/// Kinds of events in the order in which events of one cycle are reported, with their columns, required ones first, and
/// the number of required columns.
const KINDS: [(&str, usize, &[&str]); 13] = [
    ("cta_result", 3, &["cycle", "slot", "refused"]),
    (
        "warp_response",
        2,
        &["cycle", "tag", "rd", "pred", "fault", "fault_lane", "fault_addr", "passes", "written"],
    ),
    ("cluster_response", 2, &["cycle", "tag", "rd", "pred", "fault", "fault_addr"]),
    ("suspended", 2, &["cycle", "tag"]),
    ("wake_up", 3, &["cycle", "tag", "pred"]),
    ("quiet", 2, &["cycle", "first"]),
    ("reset", 1, &["cycle", "written"]),
    ("executed", 1, &["cycle", "written"]),
    ("cta_write", 4, &["cycle", "slot", "base_row", "size_bytes", "rank", "enable"]),
    (
        "warp_request",
        5,
        &[
            "cycle", "tag", "op", "size", "ra", "b", "c", "mask", "red", "absolute", "scale", "slot", "imm",
            "ur",
        ],
    ),
    ("cluster_request", 5, &["cycle", "tag", "op", "size", "addr", "b", "c", "red", "slot"]),
    ("set_words", 2, &["cycle", "words"]),
    ("finish", 1, &["cycle", "words"]),
];

/// An event of a port.
pub(crate) enum Event {
    CtaWrite(AllocationWrite),
    CtaResult { slot: u8, refused: bool },
    WarpRequest { tag: u8, request: Box<SerialRequest> },
    WarpResponse(Box<WarpResponse>),
    ClusterRequest(ClusterRequest),
    ClusterResponse(ClusterResponse),
    Executed(Vec<(u32, u32)>),
    Suspended { tag: u8 },
    WakeUp { tag: u8, pred: u32 },
    Quiet { first: u64 },
    Reset(Option<Vec<(u32, u32)>>),
    SetWords(Vec<(u32, u32)>),
    Finish(Vec<(u32, u32)>),
}

impl Event {
    pub(crate) fn report(self, scoreboard: &mut PortScoreboard, cycle: u64) -> Result<(), Box<PortVerdict>> {
        match self {
            Event::CtaWrite(write) => scoreboard.table_write(cycle, &write),
            Event::CtaResult { slot, refused } => scoreboard.table_result(cycle, slot, refused),
            Event::WarpRequest { tag, request } => scoreboard.warp_request(cycle, tag, *request),
            Event::WarpResponse(found) => scoreboard.warp_response(cycle, *found),
            Event::ClusterRequest(request) => scoreboard.cluster_request(cycle, &request),
            Event::ClusterResponse(found) => scoreboard.cluster_response(cycle, found),
            Event::Executed(written) => scoreboard.executed(cycle, &written),
            Event::Suspended { tag } => scoreboard.suspended(cycle, tag),
            Event::WakeUp { tag, pred } => scoreboard.wake_up(cycle, tag, pred),
            Event::Quiet { first } => scoreboard.quiet(first, cycle),
            Event::Reset(written) => scoreboard.reset(cycle, written.as_deref()),
            Event::SetWords(words) => scoreboard.set_words(cycle, &words),
            Event::Finish(words) => scoreboard.finish(cycle, &words),
        }
    }
}

/// Reads one event from keyword arguments. Returns its cycle and the event.
pub(crate) fn single(
    kind: &str,
    geometry: Geometry,
    arguments: &Bound<'_, PyDict>,
) -> PyResult<(u64, Event)> {
    event(&Source { kind, geometry, values: Values::Arguments(arguments) })
}

/// Reads a batch of events of one kind: a dictionary of arrays, a structured array, or a data frame.
///
/// Adds (cycle, order in the cycle, event) to `events`.
pub(crate) fn batch(
    kind: &str,
    geometry: Geometry,
    value: &Bound<'_, PyAny>,
    events: &mut Vec<((u64, usize), Event)>,
) -> PyResult<()> {
    let Some(order) = KINDS.iter().position(|(name, ..)| *name == kind) else {
        let known = KINDS.map(|(name, ..)| name).join(", ");
        return Err(value_error(format!("no kind of event is called `{kind}`; expected one of {known}")));
    };
    let (_, required, known) = KINDS[order];
    let names = value.call_method0("keys").or_else(|_| value.getattr("dtype")?.getattr("names"));
    let names = names.and_then(|names| {
        names.try_iter()?.map(|name| name?.extract::<String>()).collect::<PyResult<Vec<_>>>()
    });
    let expected = "expected a dictionary of arrays, a structured array or a data frame";
    let names = names.map_err(|_| value_error(format!("`{kind}`: {expected}")))?;
    let unknown = names.iter().map(String::as_str).find(|name| !known.contains(name));
    let missing = known[..required].iter().copied().find(|name| !names.iter().any(|there| there == name));
    if let Some(wrong) = unknown.or(missing) {
        let what = if unknown.is_some() { "unknown" } else { "missing" };
        return Err(value_error(format!(
            "`{kind}`: column `{wrong}` is {what}; expected {}, and optionally {}",
            known[..required].join(", "),
            known[required..].join(", ")
        )));
    }
    let mut columns = Vec::new();
    for name in &names {
        columns.push((name.as_str(), Array::new(&format!("{kind}: {name}"), &value.get_item(name)?)?));
    }
    let rows = columns.iter().map(|(_, column)| column.rows()).collect::<Vec<_>>();
    if let Some(at) = rows.iter().position(|length| *length != rows[0]) {
        return Err(value_error(format!(
            "`{kind}`: column `{}` has {} rows, column `{}` {}",
            names[0], rows[0], names[at], rows[at]
        )));
    }
    for row in 0..rows[0] {
        let (cycle, event) = event(&Source { kind, geometry, values: Values::Row(&columns, row) })?;
        events.push(((cycle, order), event));
    }
    Ok(())
}

/// Values of an event, and what is needed to check them.
struct Source<'a, 'py> {
    kind: &'a str,
    geometry: Geometry,
    values: Values<'a, 'py>,
}

enum Values<'a, 'py> {
    Arguments(&'a Bound<'py, PyDict>),
    Row(&'a [(&'a str, Array)], usize),
}

impl<'a, 'py> Source<'a, 'py> {
    fn number(&self, name: &str, otherwise: u64) -> PyResult<u64> {
        match &self.values {
            Values::Arguments(_) => match self.argument(name)? {
                Some(value) => value.extract().map_err(|_| {
                    self.wrong(&format!("`{name}` is {value}; expected an integer that is not negative"))
                }),
                None => Ok(otherwise),
            },
            Values::Row(_, row) => self.column(name).map_or(Ok(otherwise), |column| column.number(*row)),
        }
    }

    fn at_most(&self, name: &str, most: u8) -> PyResult<u8> {
        arguments::number(name, self.number(name, 0)?, most).map_err(|text| self.wrong(&text))
    }

    fn word(&self, name: &str, otherwise: u32) -> PyResult<u32> {
        let value = self.number(name, otherwise.into())?;
        u32::try_from(value).map_err(|_| self.wrong(&arguments::range(name, value, u32::MAX)))
    }

    fn flag(&self, name: &str, otherwise: bool) -> PyResult<bool> {
        match self.number(name, otherwise.into())? {
            value @ 0..=1 => Ok(value == 1),
            value => Err(self.wrong(&arguments::range(name, value, 1))),
        }
    }

    /// Code of an operation or a size; single events can have its name.
    fn code(&self, name: &str, most: u8, of: fn(&str) -> Result<u8, String>) -> PyResult<u8> {
        let text = match &self.values {
            Values::Arguments(_) => self.argument(name)?.and_then(|value| value.cast_into::<PyString>().ok()),
            Values::Row(..) => None,
        };
        match text {
            Some(text) => of(&text.to_cow()?).map_err(|text| self.wrong(&text)),
            None => self.at_most(name, most),
        }
    }

    fn narrow(&self, name: &str) -> PyResult<[u32; LANES]> {
        match &self.values {
            Values::Arguments(_) => self.argument(name)?.map_or(Ok([0; LANES]), |value| narrow(name, &value)),
            Values::Row(_, row) => {
                self.column(name).map_or(Ok([0; LANES]), |column| column.narrow(Some(*row)))
            }
        }
    }

    /// Mask of the lanes for which `ra` has an address: all lanes if it is a packed integer.
    fn lanes_given(&self) -> PyResult<u32> {
        let lanes = match &self.values {
            Values::Arguments(_) => match self.argument("ra")? {
                Some(value) if is_array(&value)? => value.len()?,
                _ => LANES,
            },
            Values::Row(..) => self.column("ra").and_then(|ra| ra.shape().get(1).copied()).unwrap_or(LANES),
        };
        Ok(1_u32.checked_shl(lanes as u32).unwrap_or(0).wrapping_sub(1))
    }

    fn wide(&self, name: &str) -> PyResult<[u128; LANES]> {
        match &self.values {
            Values::Arguments(_) => self.argument(name)?.map_or(Ok([0; LANES]), |value| wide(name, &value)),
            Values::Row(_, row) => self.column(name).map_or(Ok([0; LANES]), |column| column.wide(Some(*row))),
        }
    }

    /// Words of memory that exist.
    fn words(&self, name: &str) -> PyResult<Option<Vec<(u32, u32)>>> {
        let value = match &self.values {
            Values::Arguments(_) => self.argument(name)?,
            Values::Row(..) if self.column(name).is_some() => {
                return Err(
                    self.wrong(&format!("`{name}` cannot be a column; report these events one by one"))
                );
            }
            Values::Row(..) => None,
        };
        let Some(value) = value else { return Ok(None) };
        let words = memory(name, &value)?;
        let known = words.iter().try_for_each(|(word, _)| arguments::word(&self.geometry, *word));
        known.map_err(|text| self.wrong(&text))?;
        Ok(Some(words))
    }

    /// An argument that is not None.
    fn argument(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.values {
            Values::Arguments(values) => Ok(values.get_item(name)?.filter(|value| !value.is_none())),
            Values::Row(..) => Ok(None),
        }
    }

    fn column(&self, name: &str) -> Option<&'a Array> {
        match &self.values {
            Values::Arguments(_) => None,
            Values::Row(columns, _) => columns.iter().find(|(of, _)| *of == name).map(|(_, column)| column),
        }
    }

    fn wrong(&self, text: &str) -> PyErr {
        match &self.values {
            Values::Arguments(_) => value_error(text),
            Values::Row(_, row) => value_error(format!("{}, row {row}: {text}", self.kind)),
        }
    }
}

fn event(of: &Source<'_, '_>) -> PyResult<(u64, Event)> {
    let fault = || arguments::fault(of.number("fault", 0)?).map_err(|text| of.wrong(&text));
    let event = match of.kind {
        "cta_write" => Event::CtaWrite(AllocationWrite {
            slot: of.at_most("slot", 15)?,
            enable: of.flag("enable", true)?,
            base: u16::try_from(of.word("base_row", 0)?)
                .map_err(|_| of.wrong("`base_row` has more than 16 bits"))?,
            size: of.word("size_bytes", 0)?,
            rank: of.at_most("rank", 255)?,
        }),
        "cta_result" => {
            Event::CtaResult { slot: of.at_most("slot", 15)?, refused: of.flag("refused", false)? }
        }
        "warp_request" => {
            let request = SerialRequest {
                op: of.code("op", 31, arguments::op_code)?,
                size: of.code("size", 15, arguments::size_code)?,
                red: of.flag("red", false)?,
                cluster: false,
                slot: of.at_most("slot", 15)?,
                mask: of.word("mask", of.lanes_given()?)?,
                absolute: of.flag("absolute", false)?,
                scale: of.at_most("scale", 7)?,
                imm: of.word("imm", 0)?,
                ur: of.word("ur", 0)?,
                ra: of.narrow("ra")?,
                b: of.wide("b")?,
                c: of.wide("c")?,
            };
            Event::WarpRequest { tag: of.at_most("tag", 255)?, request: Box::new(request) }
        }
        "warp_response" => Event::WarpResponse(Box::new(WarpResponse {
            tag: of.at_most("tag", 255)?,
            response: Response {
                rd: of.wide("rd")?,
                pred: of.word("pred", 0)?,
                fault: fault()?,
                fault_lane: of.at_most("fault_lane", 31)?,
                fault_addr: of.word("fault_addr", 0)?,
            },
            passes: u32::try_from(of.number("passes", u64::MAX)?).ok(),
            written: of.words("written")?,
        })),
        "cluster_request" => Event::ClusterRequest(ClusterRequest {
            op: of.code("op", 31, arguments::op_code)?,
            size: of.code("size", 15, arguments::size_code)?,
            red: of.flag("red", false)?,
            tag: of.at_most("tag", 255)?,
            slot: of.at_most("slot", 15)?,
            addr: of.word("addr", 0)?,
            b: of.wide("b")?[0],
            c: of.wide("c")?[0],
        }),
        "cluster_response" => Event::ClusterResponse(ClusterResponse {
            tag: of.at_most("tag", 255)?,
            rd: of.wide("rd")?[0],
            pred: of.flag("pred", false)?,
            fault: fault()? as u8,
            fault_addr: of.word("fault_addr", 0)?,
        }),
        "executed" => Event::Executed(of.words("written")?.unwrap_or_default()),
        "suspended" => Event::Suspended { tag: of.at_most("tag", 255)? },
        "wake_up" => Event::WakeUp { tag: of.at_most("tag", 255)?, pred: of.word("pred", 0)? },
        "quiet" => Event::Quiet { first: of.number("first", 0)? },
        "reset" => Event::Reset(of.words("written")?),
        "set_words" => Event::SetWords(of.words("words")?.unwrap_or_default()),
        "finish" => Event::Finish(of.words("words")?.unwrap_or_default()),
        other => return Err(value_error(format!("no kind of event is called `{other}`"))),
    };
    Ok((of.number("cycle", 0)?, event))
}
