//! Writes the summary and the reports at the end of a run.

use std::io::{self, Write};
use std::path::Path;

use fs_err as fs;

use crate::coverage::waivers::Waivers;
use crate::report::command::to_be_pasted;
use crate::report::html::{Page, page};
use crate::report::json;
use crate::report::junit::Junit;
use crate::report::summarize::summarize;
use crate::report::summary::{Summary, TrendPoint};
use crate::run::session::SessionError;
use crate::run::store::{self, RunCheckpoint, RunHeader};
use crate::run::worker::Context;
use crate::whole_file::write_whole;
use atoms_coverage::corpus::Corpus;

/// Maximum number of earlier runs in the trend of a report.
const TREND: usize = 60;

/// Writes the summary and the reports of the run in `dir`. `place` is the final path of the output folder;
/// the history of runs is in the parent folder of `place`.
///
/// # Errors
/// [`SessionError`].
pub fn finish(
    context: &Context,
    header: &RunHeader,
    checkpoint: &RunCheckpoint,
    dir: &Path,
    place: &Path,
) -> Result<Summary, SessionError> {
    let settings = &context.tests.settings;
    let state = &checkpoint.state;
    let waivers = match context.tests.waivers(&header.plan) {
        Some(path) => Waivers::read(&path, &context.rtl_dir, &context.model)?,
        None => Waivers::default(),
    };
    let model = &context.model;
    let configs: Vec<_> = context.tests.configs.iter().map(|config| config.config).collect();
    let rtl = settings.rtl_coverage.variant().has_coverage().then_some(&state.rtl);
    let gate = settings.gate.then(|| waivers.gate(model, &state.hits, &configs, rtl));
    let mut summary = summarize(context, header, checkpoint, &waivers, gate);

    let mut corpus = Corpus::new(model.bins());
    for find in &state.corpus {
        corpus.add(&find.episode, &find.hits, "");
    }
    corpus.minimise();
    summary.corpus = corpus.entries().len() as u64;
    write_whole(&dir.join("corpus.json"), corpus.write(model).as_bytes())?;

    write_whole(&dir.join("summary.json"), json::pretty(&summary).as_bytes())?;
    store::replace(&dir.join("timing.json"), &checkpoint.timing)?;
    if let Some(rtl) = rtl {
        let mut lcov = Vec::new();
        let path = dir.join("coverage.info");
        rtl.lcov(&context.rtl_dir, &mut lcov)?;
        write_whole(&path, &lcov)?;
    }
    let shown = to_be_pasted(&summary, place);
    junit(&shown, checkpoint, dir)?;
    html(context, &shown, checkpoint, dir, place)?;
    if checkpoint.complete {
        remember(&summary, checkpoint, place)?;
    }
    Ok(summary)
}

fn junit(summary: &Summary, checkpoint: &RunCheckpoint, dir: &Path) -> Result<(), SessionError> {
    let mut junit = Junit::default();
    let mut durations = store::durations(dir)?;
    for result in store::results(dir)? {
        let took = durations.next().transpose()?;
        junit.add(&result?, took.map(|took| took.ms / 1e3));
    }
    let xml = junit.finish(summary, &checkpoint.timing)?;
    Ok(write_whole(&dir.join("junit.xml"), xml.as_bytes())?)
}

fn html(
    context: &Context,
    summary: &Summary,
    checkpoint: &RunCheckpoint,
    dir: &Path,
    place: &Path,
) -> Result<(), SessionError> {
    let mut sources = Vec::new();
    for file in summary.rtl_coverage.iter().flat_map(|rtl| &rtl.files) {
        let name = Path::new(&file.name);
        let path = context.rtl_dir.join(name.strip_prefix("rtl").unwrap_or(name));
        // Generated sources are missing here; the page then omits their text.
        if let Ok(text) = fs::read_to_string(&path) {
            sources.push((file.name.clone(), text));
        }
    }
    let beside =
        ["summary.json", "junit.xml", "results.jsonl", "timing.jsonl", "corpus.json", "coverage.info"];
    let files: Vec<_> =
        beside.into_iter().filter(|name| dir.join(name).is_file()).map(str::to_string).collect();
    let history = history(place, checkpoint.timing.started)?;
    let text = page(&Page {
        summary,
        timing: &checkpoint.timing,
        history: &history,
        sources: &sources,
        files: &files,
    });
    Ok(write_whole(&dir.join("report.html"), text.as_bytes())?)
}

/// Reads earlier runs that began before `before`, oldest first.
fn history(place: &Path, before: u64) -> io::Result<Vec<TrendPoint>> {
    let path = place.with_file_name("history.jsonl");
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path)?;
    // Skip lines that a full disk has truncated.
    let points = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut points: Vec<TrendPoint> = points.filter(|point: &TrendPoint| point.started < before).collect();
    let extra = points.len().saturating_sub(TREND);
    points.drain(..extra);
    Ok(points)
}

/// Appends a finished run to the history, unless the history has the run already.
fn remember(summary: &Summary, checkpoint: &RunCheckpoint, place: &Path) -> io::Result<()> {
    let path = place.with_file_name("history.jsonl");
    let point = TrendPoint::of(summary, &checkpoint.timing);
    let next = point.started.saturating_add(1);
    let known = history(place, next)?;
    if known.iter().any(|known| known.started == point.started && known.plan == point.plan) {
        return Ok(());
    }
    let mut line = serde_json::to_vec(&point)?;
    line.push(b'\n');
    fs::OpenOptions::new().create(true).append(true).open(&path)?.write_all(&line)
}
