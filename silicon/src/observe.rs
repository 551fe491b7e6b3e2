//! Decodes the output bytes of a launch to requests, responses and memory snapshots.

use atoms_ops::{Op, Size};
use atoms_oracle::{Allocation, Geometry, Response, SerialRequest};
use atoms_record::{Exchange, TraceEvent, TraceHeader, TraceWriter};

use crate::bytes::{low, number, value_at};
use crate::instruction::{LaneResult, Meaning};
use crate::program::{LANES, ProgramStep, Reading, Steps, TestProgram};
use crate::programs::draw::{DrawnCase, DrawnRequest};

pub const fn geometry(words: u32) -> Geometry {
    Geometry { lanes: LANES as u32, banks: 32, rows: words.div_ceil(32), xor_hash: false }
}

#[derive(Clone, Debug)]
pub struct Observed {
    pub step: usize,
    /// Request as drawn. For a step with an mbarrier state as operand, Rb holds this state.
    pub asked: DrawnRequest,
    /// Result per lane; zero for lanes without a result.
    pub result: [u128; LANES],
    pub before: Vec<u32>,
    pub after: Vec<u32>,
    /// First word of each mbarrier object that is live before the step. A GPU keeps live objects outside
    /// shared memory, so words read from there have no meaning.
    pub live_before: Vec<u32>,
    pub live_after: Vec<u32>,
}

/// Decodes the cases of a launch to their steps.
///
/// # Errors
/// Wrong size of the input or output.
pub fn cases(steps: &Steps, input: &[u8], output: &[u8]) -> Result<Vec<Vec<Observed>>, String> {
    let (of_input, of_output, cases) = (steps.input_bytes(), steps.output_bytes(), steps.cases as usize);
    for (name, found, each) in [("input", input.len(), of_input), ("output", output.len(), of_output)] {
        if found != each * cases || each == 0 {
            return Err(format!("the {name} has {found} bytes; expected {cases} cases of {each} bytes"));
        }
    }
    let of_case = |(input, output)| one(steps, DrawnCase::unpack(steps, input), output);
    Ok(input.chunks_exact(of_input).zip(output.chunks_exact(of_output)).map(of_case).collect())
}

fn one(steps: &Steps, case: DrawnCase, output: &[u8]) -> Vec<Observed> {
    let mut before = case.memory;
    let mut observed: Vec<Observed> = Vec::new();
    let mut live: Vec<u32> = Vec::new();
    for (step, (mut request, of)) in case.requests.into_iter().zip(&steps.steps).enumerate() {
        let results = steps.results(step);
        let each = of.result_bytes();
        let result = std::array::from_fn(|lane| number(&output[results.start + lane * each..][..each]));
        let after: Vec<u32> = output[results.end..][..4 * steps.words as usize]
            .chunks_exact(4)
            .map(|word| number(word) as u32)
            .collect();
        if let Some(of) = of.state_of {
            request.b = observed[of].result;
        }
        let live_before = live.clone();
        let named = (0..LANES).filter(|lane| request.active[*lane]).map(|lane| request.offset[lane] / 4);
        match of.meaning {
            Meaning::Init => live.extend(named),
            Meaning::Unit { op: Op::MbarInval, .. } => named.for_each(|word| live.retain(|l| *l != word)),
            _ => {}
        }
        observed.push(Observed {
            step,
            asked: request,
            result,
            live_before,
            live_after: live.clone(),
            before: std::mem::replace(&mut before, after.clone()),
            after,
        });
    }
    observed
}

impl Observed {
    pub fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..LANES).filter(|lane| self.asked.active[*lane])
    }

    pub fn value(&self, memory: &[u32], lane: usize, bytes: u32) -> u128 {
        value_at(memory, self.asked.offset[lane], bytes)
    }

    /// True if an active lane that accesses `bytes` bytes touches this word.
    pub fn names(&self, word: u32, bytes: u32) -> bool {
        self.lanes().any(|lane| {
            let first = self.asked.offset[lane] / 4;
            (first..first + bytes.div_ceil(4)).contains(&word)
        })
    }

    /// Returns the words that changed or that a lane addressed, with their new values. For operations that
    /// only read (`reads`), returns only the changed words: none may change. Words of live objects are left
    /// out.
    pub fn written(&self, bytes: u32, reads: bool) -> Vec<(u32, u32)> {
        let named = |word: u32| !reads && self.names(word, bytes);
        let changed = |word: u32| self.before[word as usize] != self.after[word as usize];
        let words = (0..self.after.len() as u32).filter(|word| self.is_seen(*word));
        words.filter(|w| changed(*w) || named(*w)).map(|w| (w, self.after[w as usize])).collect()
    }

    /// True if the word is outside all mbarrier objects that are live before or after the step, so that the
    /// captured value has a meaning.
    pub fn is_seen(&self, word: u32) -> bool {
        !within(&self.live_before, word) && !self.is_hidden_after(word)
    }

    /// True if the word belongs to an object that is live after the step.
    pub(crate) fn is_hidden_after(&self, word: u32) -> bool {
        within(&self.live_after, word)
    }

    /// True if the word belongs to an object that this step invalidated.
    pub(crate) fn is_released(&self, word: u32) -> bool {
        within(&self.live_before, word) && !self.is_hidden_after(word)
    }

    /// Words with a known value before the step: all words outside live objects.
    pub(crate) fn known_before(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.before.iter().copied()).filter(|(word, _)| !within(&self.live_before, *word))
    }

    fn known_after(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.after.iter().copied()).filter(|(word, _)| !self.is_hidden_after(*word))
    }

    /// True if a lane addresses an object that is live before or after the step.
    pub(crate) fn is_of_objects(&self) -> bool {
        self.lanes().any(|lane| !self.is_seen(self.asked.offset[lane] / 4))
    }

    /// Converts the step to one request and response of the unit. `None` for `pending_count` and retry loops,
    /// which are not a single operation.
    pub fn request(&self, step: &ProgramStep) -> Option<(SerialRequest, Response)> {
        let (op, size) = match step.meaning {
            Meaning::Unit { op, size } => (op, size),
            Meaning::Init => (Op::MbarInit, Size::U64),
            Meaning::PendingCount | Meaning::Loop { .. } => return None,
        };
        let b = match op {
            Op::MbarInit => self.asked.b.map(word_of_count),
            // The unit takes the parity in bit 31. A state holds the parity in bit 63 (spec 6.8).
            Op::MbarTestWait | Op::MbarTryWait if step.state_of.is_some() => {
                self.asked.b.map(|state| state >> 32)
            }
            Op::MbarTestWait | Op::MbarTryWait => self.asked.b.map(|parity| (parity & 1) << 31),
            _ => self.asked.b,
        };
        // For a noComplete arrive, the compiled code builds the state from the response of the unit (spec
        // 6.8).
        let together = matches!(op, Op::MbarArriveNoComplete | Op::MbarArriveDropNoComplete);
        let mask = (0..LANES).filter(|lane| self.asked.active[*lane]).fold(0, |mask, lane| mask | 1 << lane);
        let request = SerialRequest {
            op: op as u8,
            size: size as u8,
            red: step.answer != LaneResult::Register || together,
            mask,
            ra: self.asked.offset,
            b,
            c: if op == Op::MbarTryWait { [0; LANES] } else { self.asked.c },
            ..SerialRequest::default()
        };
        let mut response = Response::default();
        for lane in self.lanes() {
            match step.answer {
                LaneResult::Register if !together => response.rd[lane] = self.result[lane],
                LaneResult::Predicate => response.pred |= u32::from(self.result[lane] != 0) << lane,
                LaneResult::Register | LaneResult::Nothing => {}
            }
            // PTX returns no predicate for CAS. The returned value tells if CAS has stored.
            if op == Op::Cas && self.result[lane] == self.asked.b[lane] & low(8 * size.bytes()) {
                response.pred |= 1 << lane;
            }
        }
        Some((request, response))
    }
}

fn within(objects: &[u32], word: u32) -> bool {
    objects.iter().any(|first| (*first..first + 2).contains(&word))
}

/// Word that `mbarrier.init` writes for a count (spec 6.2).
pub(crate) const fn word_of_count(count: u128) -> u128 {
    let left = (1u128 << 20) - (count & 0xf_ffff);
    let left = left & 0xf_ffff;
    left << 43 | left << 1
}

/// Writes the requests of a program as a trace (`docs/trace-format.md`): for each case the initial memory,
/// then the requests in order. A step that is not an operation of the unit is written as the memory after the
/// step.
///
/// # Errors
/// Errors of the writer, and wrong sizes of the output.
pub fn write_trace<W: std::io::Write>(
    writer: W,
    program: &TestProgram,
    outputs: &[Vec<u8>],
) -> std::io::Result<W> {
    let words = program.launches.iter().find_map(|launch| match &launch.reading {
        Reading::Steps(steps) => Some(steps.words),
        Reading::Times(_) => None,
    });
    let words = words.unwrap_or(0);
    let header = TraceHeader { geometry: geometry(words), try_wait_limit: None, spin_hold: None, unit: None };
    let mut trace = TraceWriter::new(writer, &header)?;
    let allocation = Some(Allocation { base_row: 0, size_bytes: 4 * words, rank: 0 });
    trace.write(&TraceEvent::Allocation { slot: 0, allocation })?;
    for (launch, output) in program.launches.iter().zip(outputs) {
        let Reading::Steps(steps) = &launch.reading else { continue };
        for case in cases(steps, &launch.input, output).map_err(std::io::Error::other)? {
            if let Some(first) = case.first() {
                trace.write(&TraceEvent::Init(first.known_before().collect()))?;
            }
            for observed in &case {
                match observed.request(&steps.steps[observed.step]) {
                    Some((request, response)) => {
                        let (bytes, reads) = reach(&request);
                        let after = (!observed.is_of_objects()).then(|| observed.written(bytes, reads));
                        let response = Some(response);
                        let exchange = Exchange { request, response, after, moment: None, accepted: None };
                        trace.write(&TraceEvent::Request(Box::new(exchange)))?;
                    }
                    None => trace.write(&TraceEvent::Init(observed.known_after().collect()))?,
                }
            }
        }
    }
    trace.into_inner()
}

/// Returns the bytes that one lane accesses, and true if the operation only reads.
pub(crate) fn reach(request: &SerialRequest) -> (u32, bool) {
    let bytes = Size::from_code(request.size).map_or(4, Size::bytes);
    (bytes, Op::from_code(request.op).is_some_and(Op::only_reads))
}
