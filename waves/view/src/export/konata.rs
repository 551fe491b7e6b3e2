//! Konata's log of a pipeline: each request is an instruction. Source: [KANATA].

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Slice, cycle, differences};
use crate::{Excerpt, WaveNames};

/// A request as Konata shows it, from when it is seen first to when it is seen no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineRequest {
    /// Number of the request.
    pub number: u64,
    /// Thread that it is of.
    pub thread: u64,
    /// Text at its line.
    pub title: String,
    /// Text that is shown of a chosen request; may be empty.
    pub detail: String,
    /// Time at which each stage begins, and the name of the stage; at least one.
    pub stages: Vec<(u64, String)>,
    /// Time at which the request is gone, and true if it is retired, false if it is flushed; `None` if it is inside
    /// at the end.
    pub end: Option<(u64, bool)>,
}

impl PipelineRequest {
    /// Time at which it is seen first.
    fn begin(&self) -> u64 {
        self.stages.first().map_or(0, |(time, _)| *time)
    }
}

/// Writes the log.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_konata(
    excerpt: &Excerpt,
    names: &WaveNames,
    mut requests: Vec<PipelineRequest>,
    out: &mut impl Write,
) -> io::Result<()> {
    requests.sort_by_key(|request| (request.begin(), request.number));
    let cycle = |time| cycle(excerpt, time);
    // Lines by cycle, in the order in which they are made within one.
    let mut lines: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut add = |time: u64, line: String| lines.entry(cycle(time)).or_default().push(line);
    for (id, request) in requests.iter().enumerate() {
        let begin = request.begin();
        add(begin, format!("I\t{id}\t{}\t{}", request.number, request.thread));
        add(begin, format!("L\t{id}\t0\t{}", request.title));
        if !request.detail.is_empty() {
            add(begin, format!("L\t{id}\t1\t{}", request.detail));
        }
        let ends =
            request.stages.iter().skip(1).map(|(time, _)| *time).chain(request.end.map(|(time, _)| time));
        let mut ends = ends.map(Some).chain([None]);
        for (time, stage) in &request.stages {
            add(*time, format!("S\t{id}\t0\t{stage}"));
            if let Some(end) = ends.next().flatten() {
                add(end, format!("E\t{id}\t0\t{stage}"));
            }
        }
    }
    for Slice { from, to, .. } in differences(excerpt, names) {
        for (id, request) in requests.iter().enumerate() {
            // One that goes in this cycle was there when its answer differed.
            if request.begin() <= from && request.end.is_none_or(|(end, _)| end >= from) {
                let text = format!("sides differ from cycle {} to {}", cycle(from), cycle(to - 1));
                add(from, format!("L\t{id}\t1\t {text}"));
            }
        }
    }
    let mut gone: Vec<_> = requests.iter().enumerate().filter_map(|(id, r)| Some((r.end?, id))).collect();
    gone.sort_by_key(|((end, _), id)| (*end, *id));
    let mut retired = 0;
    for ((end, is_retired), id) in gone {
        add(end, format!("R\t{id}\t{retired}\t{}", u8::from(!is_retired)));
        retired += u64::from(is_retired);
    }
    let mut now = cycle(excerpt.window.start);
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
    Ok(())
}
