//! Tracks of a wave, and the requests that they show.

use std::fmt::Write as _;
use std::sync::Arc;

use atoms_model::Config;
use atoms_model::mbarrier::MbarObject;
use atoms_ops::{Op, Size};
use atoms_stimulus::request::{WarpRequest, write_op};
use atoms_wave_write::{Signal, WaveTrace};

use super::fields::{AnswerFields, ObjectFields, RequestFields};
use super::requests::RequestKind;
use super::{CycleValues, IDLE};

/// A track that is idle in most cycles.
#[derive(Debug)]
pub(super) struct PortTrack<F> {
    pub(super) fields: F,
    /// True if the wave shows the track as idle. False before the first cycle.
    pub(super) is_idle: bool,
}

impl<F> PortTrack<F> {
    pub(super) fn new(fields: F) -> Self {
        PortTrack { fields, is_idle: false }
    }

    pub(super) fn show_idle(&mut self, trace: &mut WaveTrace<CycleValues>, text: Signal) {
        if !std::mem::replace(&mut self.is_idle, true) {
            trace.set_text(text, IDLE);
        }
    }
}

/// Track of one request inside, with all fields. Requests with the same tag have different tracks.
#[derive(Debug)]
pub(super) struct RequestPlace {
    pub(super) fields: RequestFields,
    pub(super) held: Option<u64>,
    /// True if the wave does not show the state of `held` yet.
    pub(super) is_stale: bool,
    /// True if the wave does not show the other fields of `held` yet.
    pub(super) is_new: bool,
}

/// Instruction that made a request. Line 0 means that no kernel made it.
#[derive(Debug, Default)]
pub(super) struct Origin {
    pub(super) cta: u32,
    pub(super) warp: u32,
    pub(super) pc: u32,
    pub(super) line: u32,
    pub(super) text: String,
}

#[derive(Debug)]
pub(super) struct Inside {
    pub(super) number: u64,
    pub(super) request: Arc<WarpRequest>,
    pub(super) state: RequestState,
    /// Text before the state, kept because the text of the track changes with every pass.
    pub(super) name: String,
    pub(super) rest: String,
    pub(super) address: u32,
    pub(super) origin: Origin,
}

/// Index of a pass, and the number of passes if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PassOf {
    pub(super) index: u8,
    pub(super) of: Option<u32>,
}

impl PassOf {
    /// Writes both numbers, with `before_of` between them.
    pub(super) fn write(self, text: &mut String, before_of: &str) {
        number(text, u64::from(self.index) + 1);
        if let Some(of) = self.of {
            text.push_str(before_of);
            number(text, u64::from(of));
        }
    }

    /// Returns the number of the pass, from 1, and the number of passes, or 0 if it is not known.
    pub(super) fn numbers(self) -> (u128, u128) {
        (u128::from(self.index) + 1, self.of.unwrap_or(0).into())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestState {
    Queued,
    Pass(PassOf),
    Suspended,
    /// The answer is offered, at the response port or at the wake-up port.
    Answered {
        woken: bool,
    },
    Gone,
}

impl RequestState {
    pub(super) fn kind(self) -> RequestKind {
        match self {
            RequestState::Queued => RequestKind::Queued,
            RequestState::Pass(_) => RequestKind::Pass,
            RequestState::Suspended => RequestKind::Suspended,
            RequestState::Answered { .. } | RequestState::Gone => RequestKind::Answered,
        }
    }
}

#[derive(Debug)]
pub(super) struct ObjectTrack {
    pub(super) fields: ObjectFields,
    pub(super) shown: Option<ShownObject>,
    /// True if `shown` is not written yet.
    pub(super) is_stale: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ShownObject {
    /// Row, and the lower of the two banks.
    pub(super) place: (u16, usize),
    /// Low and high word. `None` until a write to the word is seen.
    pub(super) words: [Option<u32>; 2],
    /// Cycle of the last operation on the object.
    pub(super) stepped: u64,
}

impl PortTrack<AnswerFields> {
    /// Starts the text of an answer, and sets `kind` and `request`. `of` is `None` if no request matches.
    pub(super) fn name(
        &mut self,
        trace: &mut WaveTrace<CycleValues>,
        of: Option<u64>,
        tag: u8,
        kind: &str,
        text: &mut String,
    ) {
        self.is_idle = false;
        text.clear();
        text.push_str(if of.is_some() { "#" } else { "tag " });
        number(text, of.unwrap_or(tag.into()));
        text.push(' ');
        trace.set_text(self.fields.kind, if of.is_some() { kind } else { "unmatched" });
        of.into_iter().for_each(|number| trace.set(self.fields.request, number.into()));
    }
}

impl RequestPlace {
    pub(super) fn clear(&mut self) {
        self.is_stale |= self.held.take().is_some();
    }

    pub(super) fn show<T: Default>(
        &mut self,
        trace: &mut WaveTrace<T>,
        held: Option<&Inside>,
        config: &Config,
    ) {
        let fields = &self.fields;
        self.is_stale = false;
        let Some(inside) = held else { return trace.set_text(fields.kind, IDLE) };
        trace.set_text(fields.kind, inside.state.kind().name());
        let (pass, passes) = match inside.state {
            RequestState::Pass(pass) => pass.numbers(),
            RequestState::Queued
            | RequestState::Suspended
            | RequestState::Answered { .. }
            | RequestState::Gone => (0, 0),
        };
        trace.set(fields.pass, pass);
        trace.set(fields.passes, passes);
        if !std::mem::take(&mut self.is_new) {
            return;
        }
        let request = &*inside.request;
        trace.set(fields.request, inside.number.into());
        set_op(trace, [fields.op, fields.size], request.op, request.size);
        trace.set(fields.red, request.red.into());
        trace.set(fields.tag, request.tag.into());
        trace.set(fields.slot, request.slot.into());
        trace.set(fields.lanes, (request.mask & config.lane_mask()).into());
        trace.set(fields.address, inside.address.into());
        let Origin { cta, warp, pc, line, text } = &inside.origin;
        trace.set(fields.cta, (*cta).into());
        trace.set(fields.warp, (*warp).into());
        trace.set(fields.pc, (*pc).into());
        trace.set(fields.line, (*line).into());
        trace.set_text(fields.instruction, text);
    }
}

impl ObjectTrack {
    pub(super) fn show(&mut self, trace: &mut WaveTrace<CycleValues>) {
        self.is_stale = false;
        let Some(ShownObject { place: (row, low), words, .. }) = self.shown else { return };
        let fields = self.fields;
        trace.set_text(fields.text, &format!("row {row} banks {low} {}", low + 1));
        trace.set(fields.row, row.into());
        trace.set(fields.bank, low as u128);
        if let [Some(low), Some(high)] = words {
            let object = MbarObject::decode(u64::from(high) << 32 | u64::from(low));
            trace.set(fields.phase, object.phase.into());
            trace.set(fields.pending, object.pending.into());
            trace.set(fields.expected, object.expected.into());
            trace.set(fields.tx, u128::from(object.tx as u32));
        }
    }
}

impl Inside {
    pub(super) fn new(number: u64, request: Arc<WarpRequest>, config: &Config, origin: Origin) -> Self {
        let lanes = request.mask & config.lane_mask();
        let address = request.lane(lanes.trailing_zeros() as usize).ra;
        let address = request.address_form().address(address);
        let mut name = format!("#{number} ");
        // Writing to a String cannot fail.
        let _ = write_op(&mut name, request.op, request.size);
        name.push_str(if request.red { ".RED " } else { " " });
        let mut rest = format!(", slot {} lanes {lanes:x} @{address:x}", request.slot);
        if let Origin { cta, warp, pc, line: line @ 1.., text } = &origin {
            let _ = write!(rest, ", cta {cta} warp {warp} pc {pc} line {line}: {text}");
        }
        Inside { number, request, state: RequestState::Queued, name, rest, address, origin }
    }
}

/// Appends a number in decimal, without the cost of `write!`: each cycle writes several numbers.
pub(super) fn number(text: &mut String, number: u64) {
    text.push_str(itoa::Buffer::new().format(number));
}

pub(super) fn hexadecimal(text: &mut String, number: u64) {
    let digits = (64 - number.leading_zeros()).div_ceil(4).max(1);
    text.extend(
        (0..digits).rev().map(|digit| char::from(b"0123456789abcdef"[(number >> (4 * digit) & 15) as usize])),
    );
}

/// Sets operation and size by name, or by code if they have no name.
pub(super) fn set_op<T: Default>(
    trace: &mut WaveTrace<T>,
    [op, size]: [Signal; 2],
    op_code: u8,
    size_code: u8,
) {
    match Op::from_code(op_code) {
        Some(known) => trace.set_text(op, known.name()),
        None => trace.set_text(op, &format!("op {op_code}")),
    }
    match Size::from_code(size_code) {
        Some(known) => trace.set_text(size, known.name()),
        None => trace.set_text(size, &format!("size {size_code}")),
    }
}

/// Appends a request in the form that tracks use.
pub(super) fn numbered_request(text: &mut String, cluster: bool, number: u64) {
    text.push_str(if cluster { "cluster #" } else { "#" });
    self::number(text, number);
}
