//! Konata's log of a pipeline: each request of a warp is an instruction. Source: [KANATA].
//!
//! Stages are those that the tracks of tags tell: `Q` queued, `P1`, `P2`, ... from the issue of a pass to the next,
//! `W` suspended, `A` its answer stands at a port. A request that goes without an answer, in a reset, is flushed.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Slice, TRACKS, cycle, differences, slices};
use crate::excerpt::spaced;
use crate::{Excerpt, ExcerptSignal};

/// A request from when it is seen first to when it is seen no more.
struct Request<'a> {
    number: u64,
    /// The thread that it is of: its tag.
    thread: usize,
    title: String,
    detail: &'a str,
    /// Cycle and stage.
    stages: Vec<(u64, String)>,
    /// Cycle in which it is gone; `None` when it is inside at the end.
    gone: Option<u64>,
}

/// A request as a track shows it: `#12 ADD.u32 pass 1 of 2, slot 0 lanes f @40`, with `_` for spaces.
struct Shown<'a> {
    number: u64,
    op: &'a str,
    stage: String,
    detail: &'a str,
}

/// The stage of an answer.
const ANSWER: &str = "A";

/// Writes the log, and gives the number of requests in it.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_konata(excerpt: &Excerpt, out: &mut impl Write) -> io::Result<u64> {
    let mut requests = requests(excerpt);
    requests.sort_by_key(|request| (request.stages[0].0, request.number));
    // Lines by cycle, in the order in which they are made within one.
    let mut lines: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut add = |cycle: u64, line: String| lines.entry(cycle).or_default().push(line);
    let mut retired = 0;
    for (id, request) in requests.iter().enumerate() {
        let begun = request.stages[0].0;
        add(begun, format!("I\t{id}\t{}\t{}", request.number, request.thread));
        add(begun, format!("L\t{id}\t0\t{}", request.title));
        if !request.detail.is_empty() {
            add(begun, format!("L\t{id}\t1\t{}", spaced(request.detail)));
        }
        for (at, (cycle, stage)) in request.stages.iter().enumerate() {
            add(*cycle, format!("S\t{id}\t0\t{stage}"));
            let next = request.stages.get(at + 1).map(|(next, _)| *next).or(request.gone);
            if let Some(next) = next {
                add(next, format!("E\t{id}\t0\t{stage}"));
            }
        }
    }
    for Slice { from, to, .. } in differences(excerpt) {
        let from = cycle(excerpt, from);
        for (id, request) in requests.iter().enumerate() {
            // One that goes in this cycle was there when its answer differed.
            if request.stages[0].0 <= from && request.gone.is_none_or(|gone| gone >= from) {
                let text = format!("sides differ from cycle {from} to {}", cycle(excerpt, to - 1));
                add(from, format!("L\t{id}\t1\t {text}"));
            }
        }
    }
    let mut gone: Vec<_> = requests.iter().enumerate().filter_map(|(id, r)| Some((r.gone?, id, r))).collect();
    gone.sort_by_key(|(cycle, id, _)| (*cycle, *id));
    for (cycle, id, request) in gone {
        let answered = request.stages.last().is_some_and(|(_, stage)| stage == ANSWER);
        add(cycle, format!("R\t{id}\t{retired}\t{}", u8::from(!answered)));
        retired += u64::from(answered);
    }
    let mut now = cycle(excerpt, excerpt.window.start);
    write!(out, "Kanata\t0004\nC=\t{now}\n")?;
    for (cycle, lines) in lines {
        if cycle > now {
            writeln!(out, "C\t{}", cycle - now)?;
            now = cycle;
        }
        for line in lines {
            writeln!(out, "{line}")?;
        }
    }
    Ok(requests.len() as u64)
}

fn requests(excerpt: &Excerpt) -> Vec<Request<'_>> {
    let is_tag = |signal: &&ExcerptSignal| {
        signal.name.starts_with("tag") && signal.scopes.iter().any(|scope| scope == TRACKS)
    };
    let mut found = Vec::new();
    for signal in excerpt.signals.iter().filter(is_tag) {
        let thread = signal.name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
        // Those of this tag that are inside.
        let mut inside: Vec<Request<'_>> = Vec::new();
        for slice in slices(excerpt, signal) {
            let now = cycle(excerpt, slice.from);
            let shown: Vec<_> = slice.text().into_iter().flat_map(shown).collect();
            let is_shown = |number: u64| shown.iter().any(|shown| shown.number == number);
            found.extend(
                inside
                    .extract_if(.., |request| !is_shown(request.number))
                    .map(|request| Request { gone: Some(now), ..request }),
            );
            for Shown { number, op, stage, detail } in shown {
                match inside.iter_mut().find(|request| request.number == number) {
                    Some(request) => {
                        if request.stages.last().is_some_and(|(_, last)| *last != stage) {
                            request.stages.push((now, stage));
                        }
                    }
                    None => inside.push(Request {
                        number,
                        thread,
                        title: format!("#{number} {op} tag {thread}"),
                        detail,
                        stages: vec![(now, stage)],
                        gone: None,
                    }),
                }
            }
        }
        found.append(&mut inside);
    }
    found
}

/// The requests that a track shows at a time.
fn shown(text: &str) -> impl Iterator<Item = Shown<'_>> {
    text.split("_+_#").filter_map(|request| {
        let (head, detail) = request.split_once(",_").unwrap_or((request, ""));
        let (number, rest) = head.trim_start_matches('#').split_once('_')?;
        // Names of operations have `_` in them, too.
        let stages = [("queued", "Q"), ("pass", "P"), ("suspended", "W"), ("answered", ANSWER)];
        let (at, word, stage) =
            stages.iter().find_map(|(word, stage)| Some((rest.rfind(&format!("_{word}"))?, word, stage)))?;
        let behind = rest[at + 1 + word.len()..].trim_start_matches('_');
        let pass: String = behind.chars().take_while(char::is_ascii_digit).collect();
        Some(Shown { number: number.parse().ok()?, op: &rest[..at], stage: format!("{stage}{pass}"), detail })
    })
}
