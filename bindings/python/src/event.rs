//! Events of the ports, read from keyword arguments or from columns of a batch.

use atoms_oracle::{Geometry, Response, SerialRequest};
use atoms_scoreboard::arguments;
use atoms_scoreboard::{ClusterResponse, PortScoreboard, PortVerdict, WarpResponse};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::array::{Array, LANES, is_array, memory, narrow, value_error, wide};

macro_rules! names {
    ($(#[$attribute:meta])* $type:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum $type {
            $($variant,)*
        }

        impl $type {
            const ALL: &[$type] = &[$($type::$variant,)*];

            fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }

            fn of_name(name: &str) -> Option<Self> {
                $type::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}

names! {
    /// Kind of event, in the order in which events of one cycle are reported.
    Kind {
        CtaResult = "cta_result",
        WarpResponse = "warp_response",
        ClusterResponse = "cluster_response",
        Suspended = "suspended",
        WakeUp = "wake_up",
        Quiet = "quiet",
        Reset = "reset",
        Executed = "executed",
        CtaWrite = "cta_write",
        WarpRequest = "warp_request",
        ClusterRequest = "cluster_request",
        SetWords = "set_words",
        Finish = "finish",
    }
}

names! {
    /// Argument of an event, or column of a batch.
    Column {
        Absolute = "absolute",
        Addr = "addr",
        B = "b",
        BaseRow = "base_row",
        C = "c",
        Cycle = "cycle",
        Enable = "enable",
        Fault = "fault",
        FaultAddr = "fault_addr",
        FaultLane = "fault_lane",
        First = "first",
        Imm = "imm",
        Mask = "mask",
        Op = "op",
        Passes = "passes",
        Pred = "pred",
        Ra = "ra",
        Rank = "rank",
        Rd = "rd",
        Red = "red",
        Refused = "refused",
        Scale = "scale",
        Size = "size",
        SizeBytes = "size_bytes",
        Slot = "slot",
        Tag = "tag",
        Ur = "ur",
        Words = "words",
        Written = "written",
    }
}

impl Kind {
    /// Columns that are required, and those that are optional.
    fn columns(self) -> (&'static [Column], &'static [Column]) {
        use Column::*;
        match self {
            Kind::CtaResult => (&[Cycle, Slot, Refused], &[]),
            Kind::WarpResponse => (&[Cycle, Tag], &[Rd, Pred, Fault, FaultLane, FaultAddr, Passes, Written]),
            Kind::ClusterResponse => (&[Cycle, Tag], &[Rd, Pred, Fault, FaultAddr]),
            Kind::Suspended => (&[Cycle, Tag], &[]),
            Kind::WakeUp => (&[Cycle, Tag, Pred], &[]),
            Kind::Quiet => (&[Cycle, First], &[]),
            Kind::Reset | Kind::Executed => (&[Cycle], &[Written]),
            Kind::CtaWrite => (&[Cycle, Slot, BaseRow, SizeBytes], &[Rank, Enable]),
            Kind::WarpRequest => {
                (&[Cycle, Tag, Op, Size, Ra], &[B, C, Mask, Red, Absolute, Scale, Slot, Imm, Ur])
            }
            Kind::ClusterRequest => (&[Cycle, Tag, Op, Size, Addr], &[B, C, Red, Slot]),
            Kind::SetWords => (&[Cycle, Words], &[]),
            Kind::Finish => (&[Cycle], &[Words]),
        }
    }

    fn parse(name: &str) -> PyResult<Self> {
        Kind::of_name(name).ok_or_else(|| {
            let known = Kind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            value_error(format!("no kind of event is called `{name}`; expected one of {known}"))
        })
    }
}

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
    event(&Source { kind: Kind::parse(kind)?, geometry, values: Values::Arguments(arguments) })
}

/// Columns of events of one kind.
pub(crate) struct Batch<'py> {
    kind: Kind,
    columns: [Option<Array<'py>>; Column::ALL.len()],
    rows: usize,
}

/// Place of an event in the order of judgement, and its row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventPlace {
    cycle: u64,
    kind: Kind,
    batch: usize,
    row: usize,
}

impl<'py> Batch<'py> {
    /// Reads a dictionary of arrays, a structured array, or a data frame.
    pub(crate) fn new(kind: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let of = Kind::parse(kind)?;
        let names = value.call_method0("keys").or_else(|_| value.getattr("dtype")?.getattr("names"));
        let names = names.and_then(|names| {
            names.try_iter()?.map(|name| name?.extract::<String>()).collect::<PyResult<Vec<_>>>()
        });
        let expected = "expected a dictionary of arrays, a structured array or a data frame";
        let names = names.map_err(|_| value_error(format!("`{kind}`: {expected}")))?;
        let (required, optional) = of.columns();
        let wrong = |name: &str, what: &str| {
            let list = |columns: &[Column]| {
                columns.iter().map(|column| column.name()).collect::<Vec<_>>().join(", ")
            };
            let [required, optional] = [required, optional].map(list);
            let expected = format!("expected {required}, and optionally {optional}");
            value_error(format!("`{kind}`: column `{name}` is {what}; {expected}"))
        };
        let mut columns = [const { None }; Column::ALL.len()];
        let mut first: Option<(&str, usize)> = None;
        for name in &names {
            let known = |column: &Column| required.contains(column) || optional.contains(column);
            let column = Column::of_name(name).filter(known).ok_or_else(|| wrong(name, "unknown"))?;
            let array = Array::new(&format!("{kind}: {name}"), &value.get_item(name)?)?;
            let (other, rows) = *first.get_or_insert((name, array.rows()));
            if array.rows() != rows {
                return Err(value_error(format!(
                    "`{kind}`: column `{other}` has {rows} rows, column `{name}` {}",
                    array.rows()
                )));
            }
            columns[column as usize] = Some(array);
        }
        if let Some(missing) = required.iter().find(|column| columns[**column as usize].is_none()) {
            return Err(wrong(missing.name(), "missing"));
        }
        Ok(Batch { kind: of, columns, rows: first.map_or(0, |(_, rows)| rows) })
    }

    /// Converts the event of a row. Returns its cycle and the event.
    fn event(&self, geometry: Geometry, row: usize) -> PyResult<(u64, Event)> {
        event(&Source { kind: self.kind, geometry, values: Values::Row(&self.columns, row) })
    }
}

/// Returns the places of all events in the order of judgement.
///
/// # Errors
/// An event cannot be converted.
pub(crate) fn in_order(batches: &[Batch<'_>], geometry: Geometry) -> PyResult<Vec<EventPlace>> {
    let mut places = Vec::new();
    for (number, batch) in batches.iter().enumerate() {
        for row in 0..batch.rows {
            let (cycle, _) = batch.event(geometry, row)?;
            places.push(EventPlace { cycle, kind: batch.kind, batch: number, row });
        }
    }
    places.sort_unstable();
    Ok(places)
}

/// Converts the event of a place. Returns its cycle and the event.
pub(crate) fn at(batches: &[Batch<'_>], geometry: Geometry, place: EventPlace) -> PyResult<(u64, Event)> {
    batches[place.batch].event(geometry, place.row)
}

/// Values of an event, and what is needed to check them.
struct Source<'a, 'py> {
    kind: Kind,
    geometry: Geometry,
    values: Values<'a, 'py>,
}

enum Values<'a, 'py> {
    Arguments(&'a Bound<'py, PyDict>),
    Row(&'a [Option<Array<'py>>], usize),
}

impl<'a, 'py> Source<'a, 'py> {
    fn number(&self, name: Column, otherwise: u64) -> PyResult<u64> {
        match &self.values {
            Values::Arguments(_) => match self.argument(name)? {
                Some(value) => value.extract().map_err(|_| {
                    self.wrong(&format!(
                        "`{}` is {value}; expected an integer that is not negative",
                        name.name()
                    ))
                }),
                None => Ok(otherwise),
            },
            Values::Row(_, row) => self.column(name).map_or(Ok(otherwise), |column| column.number(*row)),
        }
    }

    fn at_most(&self, name: Column, most: u8) -> PyResult<u8> {
        arguments::number(name.name(), self.number(name, 0)?, most).map_err(|text| self.wrong(&text))
    }

    fn word(&self, name: Column, otherwise: u32) -> PyResult<u32> {
        let value = self.number(name, otherwise.into())?;
        u32::try_from(value).map_err(|_| self.wrong(&arguments::range(name.name(), value, u32::MAX)))
    }

    fn flag(&self, name: Column, otherwise: bool) -> PyResult<bool> {
        match self.number(name, otherwise.into())? {
            value @ 0..=1 => Ok(value == 1),
            value => Err(self.wrong(&arguments::range(name.name(), value, 1))),
        }
    }

    /// Code of an operation or a size; single events can have its name.
    fn code(&self, name: Column, most: u8, of: fn(&str) -> Result<u8, String>) -> PyResult<u8> {
        let text = match &self.values {
            Values::Arguments(_) => self.argument(name)?.and_then(|value| value.cast_into::<PyString>().ok()),
            Values::Row(..) => None,
        };
        match text {
            Some(text) => of(&text.to_cow()?).map_err(|text| self.wrong(&text)),
            None => self.at_most(name, most),
        }
    }

    fn narrow(&self, name: Column) -> PyResult<[u32; LANES]> {
        match &self.values {
            Values::Arguments(_) => {
                self.argument(name)?.map_or(Ok([0; LANES]), |value| narrow(name.name(), &value))
            }
            Values::Row(_, row) => {
                self.column(name).map_or(Ok([0; LANES]), |column| column.narrow(Some(*row)))
            }
        }
    }

    /// Mask of the lanes for which `ra` has an address: all lanes if it is a packed integer.
    fn lanes_given(&self) -> PyResult<u32> {
        let lanes = match &self.values {
            Values::Arguments(_) => match self.argument(Column::Ra)? {
                Some(value) if is_array(&value)? => value.len()?,
                _ => LANES,
            },
            Values::Row(..) => {
                self.column(Column::Ra).and_then(|ra| ra.shape().get(1).copied()).unwrap_or(LANES)
            }
        };
        Ok(1_u32.checked_shl(lanes as u32).unwrap_or(0).wrapping_sub(1))
    }

    fn wide(&self, name: Column) -> PyResult<[u128; LANES]> {
        match &self.values {
            Values::Arguments(_) => {
                self.argument(name)?.map_or(Ok([0; LANES]), |value| wide(name.name(), &value))
            }
            Values::Row(_, row) => self.column(name).map_or(Ok([0; LANES]), |column| column.wide(Some(*row))),
        }
    }

    /// Words of memory that exist.
    fn words(&self, name: Column) -> PyResult<Option<Vec<(u32, u32)>>> {
        let value = match &self.values {
            Values::Arguments(_) => self.argument(name)?,
            Values::Row(..) if self.column(name).is_some() => {
                return Err(self.wrong(&format!(
                    "`{}` cannot be a column; report these events one by one",
                    name.name()
                )));
            }
            Values::Row(..) => None,
        };
        let Some(value) = value else { return Ok(None) };
        let words = memory(name.name(), &value)?;
        let known = words.iter().try_for_each(|(word, _)| arguments::word(&self.geometry, *word));
        known.map_err(|text| self.wrong(&text))?;
        Ok(Some(words))
    }

    /// An argument that is not None.
    fn argument(&self, name: Column) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.values {
            Values::Arguments(values) => Ok(values.get_item(name.name())?.filter(|value| !value.is_none())),
            Values::Row(..) => Ok(None),
        }
    }

    fn column(&self, name: Column) -> Option<&'a Array<'py>> {
        match &self.values {
            Values::Arguments(_) => None,
            Values::Row(columns, _) => columns[name as usize].as_ref(),
        }
    }

    fn wrong(&self, text: &str) -> PyErr {
        match &self.values {
            Values::Arguments(_) => value_error(text),
            Values::Row(_, row) => value_error(format!("{}, row {row}: {text}", self.kind.name())),
        }
    }
}

fn event(of: &Source<'_, '_>) -> PyResult<(u64, Event)> {
    let fault = || arguments::fault(of.number(Column::Fault, 0)?).map_err(|text| of.wrong(&text));
    let event = match of.kind {
        Kind::CtaWrite => Event::CtaWrite(AllocationWrite {
            slot: of.at_most(Column::Slot, 15)?,
            enable: of.flag(Column::Enable, true)?,
            base: u16::try_from(of.word(Column::BaseRow, 0)?)
                .map_err(|_| of.wrong("`base_row` has more than 16 bits"))?,
            size: of.word(Column::SizeBytes, 0)?,
            rank: of.at_most(Column::Rank, 255)?,
        }),
        Kind::CtaResult => Event::CtaResult {
            slot: of.at_most(Column::Slot, 15)?,
            refused: of.flag(Column::Refused, false)?,
        },
        Kind::WarpRequest => {
            let request = SerialRequest {
                op: of.code(Column::Op, 31, arguments::op_code)?,
                size: of.code(Column::Size, 15, arguments::size_code)?,
                red: of.flag(Column::Red, false)?,
                cluster: false,
                slot: of.at_most(Column::Slot, 15)?,
                mask: of.word(Column::Mask, of.lanes_given()?)?,
                absolute: of.flag(Column::Absolute, false)?,
                scale: of.at_most(Column::Scale, 7)?,
                imm: of.word(Column::Imm, 0)?,
                ur: of.word(Column::Ur, 0)?,
                ra: of.narrow(Column::Ra)?,
                b: of.wide(Column::B)?,
                c: of.wide(Column::C)?,
            };
            Event::WarpRequest { tag: of.at_most(Column::Tag, 255)?, request: Box::new(request) }
        }
        Kind::WarpResponse => Event::WarpResponse(Box::new(WarpResponse {
            tag: of.at_most(Column::Tag, 255)?,
            response: Response {
                rd: of.wide(Column::Rd)?,
                pred: of.word(Column::Pred, 0)?,
                fault: fault()?,
                fault_lane: of.at_most(Column::FaultLane, 31)?,
                fault_addr: of.word(Column::FaultAddr, 0)?,
            },
            passes: u32::try_from(of.number(Column::Passes, u64::MAX)?).ok(),
            written: of.words(Column::Written)?,
        })),
        Kind::ClusterRequest => Event::ClusterRequest(ClusterRequest {
            op: of.code(Column::Op, 31, arguments::op_code)?,
            size: of.code(Column::Size, 15, arguments::size_code)?,
            red: of.flag(Column::Red, false)?,
            tag: of.at_most(Column::Tag, 255)?,
            slot: of.at_most(Column::Slot, 15)?,
            addr: of.word(Column::Addr, 0)?,
            b: of.wide(Column::B)?[0],
            c: of.wide(Column::C)?[0],
        }),
        Kind::ClusterResponse => Event::ClusterResponse(ClusterResponse {
            tag: of.at_most(Column::Tag, 255)?,
            rd: of.wide(Column::Rd)?[0],
            pred: of.flag(Column::Pred, false)?,
            fault: fault()? as u8,
            fault_addr: of.word(Column::FaultAddr, 0)?,
        }),
        Kind::Executed => Event::Executed(of.words(Column::Written)?.unwrap_or_default()),
        Kind::Suspended => Event::Suspended { tag: of.at_most(Column::Tag, 255)? },
        Kind::WakeUp => Event::WakeUp { tag: of.at_most(Column::Tag, 255)?, pred: of.word(Column::Pred, 0)? },
        Kind::Quiet => Event::Quiet { first: of.number(Column::First, 0)? },
        Kind::Reset => Event::Reset(of.words(Column::Written)?),
        Kind::SetWords => Event::SetWords(of.words(Column::Words)?.unwrap_or_default()),
        Kind::Finish => Event::Finish(of.words(Column::Words)?.unwrap_or_default()),
    };
    Ok((of.number(Column::Cycle, 0)?, event))
}
