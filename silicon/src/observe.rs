//! From the bytes that a launch wrote to requests, responses and the memory between them.

use atoms_ops::{Op, Size};
use atoms_oracle::{Allocation, Geometry, Response, SerialRequest};
use atoms_record::{Exchange, TraceEvent, TraceHeader, TraceWriter};

use crate::bytes::{low, number, value_at};
use crate::instruction::{LaneResult, Meaning};
use crate::program::{LANES, ProgramStep, Reading, Steps, TestProgram};
use crate::programs::draw::{DrawnCase, DrawnRequest};

/// The memory of a case, as the oracle sees it.
pub const fn geometry(words: u32) -> Geometry {
    Geometry { lanes: LANES as u32, banks: 32, rows: words.div_ceil(32), xor_hash: false }
}

/// One step of a case: what was asked, what came back.
#[derive(Clone, Debug)]
pub struct Observed {
    pub step: usize,
    /// What was asked for; Rb of a step that takes a state is that state.
    pub asked: DrawnRequest,
    /// By lane: what was read back; zero where nothing was.
    pub result: [u128; LANES],
    /// Memory before.
    pub before: Vec<u32>,
    /// Memory after.
    pub after: Vec<u32>,
    /// First word of each mbarrier object that was live before. A GPU keeps live objects outside of shared memory, and
    /// what a load reads of them means nothing.
    pub live_before: Vec<u32>,
    /// First word of each mbarrier object that is live afterwards.
    pub live_after: Vec<u32>,
}

/// The cases of a launch, each as its steps.
///
/// # Errors
/// What is wrong with the sizes of input or output.
pub fn cases(steps: &Steps, input: &[u8], output: &[u8]) -> Result<Vec<Vec<Observed>>, String> {
    let (of_input, of_output, cases) = (steps.input_bytes(), steps.output_bytes(), steps.cases as usize);
    for (name, found, each) in [("input", input.len(), of_input), ("output", output.len(), of_output)] {
        if found != each * cases || each == 0 {
            return Err(format!("{found} bytes of {name}, and {cases} cases of {each} bytes were expected"));
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
    /// Lanes that took part.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..LANES).filter(|lane| self.asked.active[*lane])
    }

    /// The value in `memory` at a lane's address.
    pub fn value(&self, memory: &[u32], lane: usize, bytes: u32) -> u128 {
        value_at(memory, self.asked.offset[lane], bytes)
    }

    /// Whether an access of some lane, of so many bytes, reaches this word.
    pub fn names(&self, word: u32, bytes: u32) -> bool {
        self.lanes().any(|lane| {
            let first = self.asked.offset[lane] / 4;
            (first..first + bytes.div_ceil(4)).contains(&word)
        })
    }

    /// Words that differ afterwards, or that a lane named, with their values afterwards; of loads and what only reads,
    /// just those that differ, since none may. Those of live objects are left out.
    pub fn written(&self, bytes: u32, reads: bool) -> Vec<(u32, u32)> {
        let named = |word: u32| !reads && self.names(word, bytes);
        let changed = |word: u32| self.before[word as usize] != self.after[word as usize];
        let words = (0..self.after.len() as u32).filter(|word| self.is_seen(*word));
        words.filter(|w| changed(*w) || named(*w)).map(|w| (w, self.after[w as usize])).collect()
    }

    /// True if this word belongs to no live object, before and afterwards.
    pub fn is_seen(&self, word: u32) -> bool {
        !within(&self.live_before, word) && !self.is_hidden_after(word)
    }

    /// True if a word belongs to an object that is live afterwards.
    pub(crate) fn is_hidden_after(&self, word: u32) -> bool {
        within(&self.live_after, word)
    }

    /// True if a word belongs to an object that this step invalidated.
    pub(crate) fn is_released(&self, word: u32) -> bool {
        within(&self.live_before, word) && !self.is_hidden_after(word)
    }

    /// Words that were read before and mean something, with their values.
    pub(crate) fn known_before(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.before.iter().copied()).filter(|(word, _)| !within(&self.live_before, *word))
    }

    /// Words that were read afterwards and mean something, with their values.
    fn known_after(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.after.iter().copied()).filter(|(word, _)| !self.is_hidden_after(*word))
    }

    /// True if a lane names an object that is live before or afterwards.
    pub(crate) fn is_of_objects(&self) -> bool {
        self.lanes().any(|lane| !self.is_seen(self.asked.offset[lane] / 4))
    }

    /// As one request of the unit with its response; nothing for what is no operation of it.
    pub fn request(&self, step: &ProgramStep) -> Option<(SerialRequest, Response)> {
        let (op, size) = match step.meaning {
            Meaning::Unit { op, size } => (op, size),
            Meaning::Init => (Op::MbarInit, Size::U64),
            Meaning::PendingCount | Meaning::Loop { .. } => return None,
        };
        let b = match op {
            Op::MbarInit => self.asked.b.map(word_of_count),
            // Bit 31 is the parity asked about: that of a state is in its bit 63 (spec 6.8).
            Op::MbarTestWait | Op::MbarTryWait if step.state_of.is_some() => {
                self.asked.b.map(|state| state >> 32)
            }
            Op::MbarTestWait | Op::MbarTryWait => self.asked.b.map(|parity| (parity & 1) << 31),
            _ => self.asked.b,
        };
        // The state of a noComplete arrive is put together by code behind the unit's answer (spec 6.8).
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
            // CAS has no predicate in PTX: whether it stored follows from what it returned.
            if op == Op::Cas && self.result[lane] == self.asked.b[lane] & low(8 * size.bytes()) {
                response.pred |= 1 << lane;
            }
        }
        Some((request, response))
    }
}

/// True if a word is one of the two of an object.
fn within(objects: &[u32], word: u32) -> bool {
    objects.iter().any(|first| (*first..first + 2).contains(&word))
}

/// The word that `mbarrier.init` writes for a count (spec 6.2).
pub(crate) const fn word_of_count(count: u128) -> u128 {
    let left = (1u128 << 20) - (count & 0xf_ffff);
    let left = left & 0xf_ffff;
    left << 43 | left << 1
}

/// Writes the requests of a program as a trace (`docs/trace-format.md`): of each case the memory, then request after
/// request. Steps that are no operation of the unit appear as the memory that they left.
///
/// # Errors
/// Of the writer, or what is wrong with the sizes of the output.
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

/// Bytes that a request accesses, and whether it only reads.
pub(crate) fn reach(request: &SerialRequest) -> (u32, bool) {
    let bytes = Size::from_code(request.size).map_or(4, Size::bytes);
    (bytes, Op::from_code(request.op).is_some_and(Op::only_reads))
}
