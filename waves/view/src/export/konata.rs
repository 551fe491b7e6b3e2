//! Writes a pipeline log for Konata. Each request is an instruction. Source: [KANATA].

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Slice, cycle, differences};
use crate::{Excerpt, WaveNames};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineRequest {
    pub number: u64,
    pub thread: u64,
    pub title: String,
    /// Tooltip; may be empty.
    pub detail: String,
    /// Start time and name of each stage; at least one stage.
    pub stages: Vec<(u64, String)>,
    /// Time at which the request leaves, and true if it retires or false if it is flushed. `None` if it is
    /// still in flight at the end.
    pub end: Option<(u64, bool)>,
}

impl PipelineRequest {
    fn begin(&self) -> u64 {
        self.stages.first().map_or(0, |(time, _)| *time)
    }
}

/// Writes the requests as a log, with a note at each difference of the sides.
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
    // Lines by cycle; within a cycle, in the order of creation.
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
            // A request that leaves in this cycle was still present when its answer differed.
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
