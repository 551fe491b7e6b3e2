//! Coverage waivers (`coverage-waivers.toml`) and the coverage gate.
//!
//! ```toml
//! [[waiver]]
//! bin = "conflict[cas.*, 32]"              # a bin by its name; `*` stands for anything
//! reason = "..."
//!
//! [[waiver]]
//! cover = "atoms_pipe.HazardWithStage[*]"  # a cover property by its name
//! reason = "..."
//!
//! [[waiver]]
//! line = { file = "atoms_alu.sv", text = "default: ;" }
//! reason = "..."
//! ```
//!
//! A line waiver gives the text of the line, without surrounding spaces and trailing comment, since line
//! numbers change with every edit. If several lines have this text, `below = "..."` gives the text of an
//! earlier line. The waiver then applies to the first matching line after the first line with that text. If
//! the text of a waived line changes, the waiver becomes an error and must be reviewed.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use atoms_model::Config;
use fs_err as fs;
use serde::Deserialize;

use super::renamed;
use super::rtl::{RtlItem, RtlMap};
use crate::coverage::summary::Gate;
use atoms_coverage::{Map, Model};

#[derive(Debug, thiserror::Error)]
pub enum WaiverError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not valid TOML, or a waiver is invalid. The text says what is wrong and what would be
    /// valid.
    #[error("`{path}`: {1}", path = .0.display())]
    Malformed(PathBuf, String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Bins whose name matches the pattern.
    Bin(String),
    /// Cover properties whose name matches the pattern.
    Cover(String),
    Line {
        /// File name in `rtl/`.
        file: String,
        /// Text of the line, without surrounding spaces and trailing comment.
        text: String,
        /// Text of an earlier line, required if `text` is not unique.
        below: Option<String>,
    },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Bin(pattern) => write!(f, "bin {pattern}"),
            Target::Cover(pattern) => write!(f, "cover {pattern}"),
            Target::Line { file, text, .. } => write!(f, "line `{text}` of rtl/{file}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiver {
    pub target: Target,
    pub reason: String,
    /// Line number of the waiver in the waiver file.
    pub at: usize,
    /// Line number in the RTL file; `None` for bins and cover properties.
    line: Option<u32>,
}

impl Waiver {
    pub fn excuses_bin(&self, name: &str) -> bool {
        matches!(&self.target, Target::Bin(pattern) if matches_glob(pattern, name))
    }

    pub fn excuses(&self, item: &RtlItem) -> bool {
        match (&self.target, item) {
            (Target::Cover(pattern), RtlItem::Cover(name)) => matches_glob(pattern, name),
            (Target::Line { file, .. }, RtlItem::Line { file: other, line }) => {
                file == other && self.line == Some(*line)
            }
            _ => false,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waivers {
    pub list: Vec<Waiver>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawList {
    #[serde(default)]
    waiver: Vec<toml::Spanned<RawWaiver>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWaiver {
    bin: Option<String>,
    cover: Option<String>,
    line: Option<RawLine>,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLine {
    file: String,
    text: String,
    below: Option<String>,
}

impl Waivers {
    /// # Errors
    /// [`WaiverError`].
    pub fn read(path: &Path, rtl_dir: &Path, model: &Model) -> Result<Self, WaiverError> {
        let text = fs::read_to_string(path)?;
        let mut sources = BTreeMap::new();
        for entry in fs::read_dir(rtl_dir)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "sv" || extension == "svh") {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                sources.insert(name, fs::read_to_string(&path)?);
            }
        }
        Waivers::parse(&text, &sources, model)
            .map_err(|problem| WaiverError::Malformed(path.to_path_buf(), problem))
    }

    /// Parses waivers for the RTL `sources` (text by file name) and the bins of `model`.
    ///
    /// # Errors
    /// The text says which waiver is wrong and what would be valid.
    pub fn parse(text: &str, sources: &BTreeMap<String, String>, model: &Model) -> Result<Self, String> {
        let raw: RawList = toml::from_str(text).map_err(|error| format!("waivers: {error}"))?;
        let mut list: Vec<Waiver> = Vec::new();
        for raw in raw.waiver {
            let before = text.get(..raw.span().start).unwrap_or_default();
            let at = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
            let waiver = Waiver::new(raw.into_inner(), at, sources, model)
                .map_err(|problem| format!("waiver on line {at}: {problem}"))?;
            let same = |other: &&Waiver| other.target == waiver.target;
            if let Some(other) = list.iter().find(same) {
                let Waiver { target, at: before, .. } = other;
                return Err(format!("waiver on line {at}: {target} is already waived on line {before}"));
            }
            list.push(waiver);
        }
        Ok(Waivers { list })
    }

    pub fn bin(&self, name: &str) -> Option<&Waiver> {
        self.list.iter().find(|waiver| waiver.excuses_bin(name))
    }

    pub fn item(&self, item: &RtlItem) -> Option<&Waiver> {
        self.list.iter().find(|waiver| waiver.excuses(item))
    }

    /// Checks the coverage gate. Every bin of `model` that one of `configs` can hit must be hit or waived. If
    /// `rtl` was measured, so must every line and cover property.
    ///
    /// A waiver is stale if all its targets were hit, or if it names a cover property that does not exist. A
    /// stale waiver does not fail the gate, since another seed may need it.
    pub fn gate(&self, model: &Model, map: &Map, configs: &[Config], rtl: Option<&RtlMap>) -> Gate {
        let mut tally = vec![Use::default(); self.list.len()];
        let mut missing = Vec::new();
        for group in &model.groups {
            for at in 0..group.len() {
                let values = group.values(at);
                if configs.iter().any(|config| (group.reachable)(config, &values)) {
                    let name = group.bin_name(at);
                    let hit = map.hits(group.first + at) > 0;
                    if !self.judge(&mut tally, hit, |waiver| waiver.excuses_bin(&name)) {
                        missing.push(name);
                    }
                }
            }
        }
        for (item, times) in rtl.into_iter().flat_map(RtlMap::items) {
            if !self.judge(&mut tally, times > 0, |waiver| waiver.excuses(&item)) {
                missing.push(item.to_string());
            }
        }
        let stale = self.list.iter().zip(&tally).filter(|(waiver, tally)| match waiver.target {
            // A bin or line that no configuration of the plan has does not make its waiver stale.
            Target::Bin(_) | Target::Line { .. } => tally.named > 0 && tally.excused == 0,
            Target::Cover(_) => rtl.is_some() && tally.excused == 0,
        });
        let stale = stale.map(|(waiver, _)| format!("{} (line {})", waiver.target, waiver.at)).collect();
        Gate { passed: missing.is_empty(), missing, stale }
    }

    /// Counts the uses of each matching waiver. Returns true if the target is hit or waived.
    fn judge(&self, tally: &mut [Use], hit: bool, names: impl Fn(&Waiver) -> bool) -> bool {
        let mut excused = hit;
        for (waiver, tally) in self.list.iter().zip(tally) {
            if names(waiver) {
                tally.named += 1;
                if !hit {
                    tally.excused += 1;
                    excused = true;
                }
            }
        }
        excused
    }
}

/// Number of targets that a waiver names, and of those that were not hit.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    named: u64,
    excused: u64,
}

impl Waiver {
    fn new(
        raw: RawWaiver,
        at: usize,
        sources: &BTreeMap<String, String>,
        model: &Model,
    ) -> Result<Self, String> {
        let reason = raw.reason.unwrap_or_default().trim().to_string();
        if reason.is_empty() {
            return Err("it has no `reason`: say why the target need not be covered".to_string());
        }
        let mut line = None;
        let target = match (raw.bin, raw.cover, raw.line) {
            (Some(pattern), None, None) => {
                check_bin(&pattern, model)?;
                Target::Bin(pattern)
            }
            (None, Some(pattern), None) => {
                let pattern = renamed::current(pattern);
                check_cover(&pattern, sources)?;
                Target::Cover(pattern)
            }
            (None, None, Some(RawLine { file, text, below })) => {
                let [text, below] = [Some(text), below].map(|line| line.map(|line| bare(&line).to_string()));
                let text = text.unwrap_or_default();
                line = Some(find_line(&file, &text, below.as_deref(), sources)?);
                Target::Line { file, text, below }
            }
            _ => return Err("expected one of `bin`, `cover` and `line`".to_string()),
        };
        Ok(Waiver { target, reason, at, line })
    }
}

/// Strips surrounding spaces and the trailing comment from a line.
fn bare(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code).trim()
}

fn find_line(
    file: &str,
    text: &str,
    below: Option<&str>,
    sources: &BTreeMap<String, String>,
) -> Result<u32, String> {
    let Some(source) = sources.get(file) else {
        let known = sources.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>();
        return Err(format!("no file `{file}` in rtl/; there are {}", known.join(", ")));
    };
    if text.is_empty() {
        return Err("`text` is empty: expected the text of a line".to_string());
    }
    let with = |wanted: &str| {
        let lines = source.lines().zip(1_u32..).filter(move |(line, _)| bare(line) == wanted);
        lines.map(|(_, number)| number).collect::<Vec<_>>()
    };
    let lines = with(text);
    let (Some(first), below) = (lines.first(), below) else {
        return Err(format!("no line of rtl/{file} is `{text}`"));
    };
    let Some(below) = below else {
        if lines.len() > 1 {
            let numbers = lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            return Err(format!(
                "`{text}` is on lines {numbers} of rtl/{file}: say which with `below`, the text of an earlier line"
            ));
        }
        return Ok(*first);
    };
    let Some(start) = with(below).first().copied() else {
        return Err(format!("no line of rtl/{file} is `{below}`"));
    };
    let found = lines.iter().find(|line| **line > start);
    found.copied().ok_or_else(|| format!("no line below line {start} of rtl/{file} is `{text}`"))
}

fn check_bin(pattern: &str, model: &Model) -> Result<(), String> {
    let group = pattern.split('[').next().unwrap_or(pattern);
    let groups = model.groups.iter().filter(|candidate| matches_glob(group, candidate.name));
    let mut known = false;
    for group in groups {
        known = true;
        if (0..group.len()).any(|at| matches_glob(pattern, &group.bin_name(at))) {
            return Ok(());
        }
    }
    let names = || model.groups.iter().map(|group| group.name).collect::<Vec<_>>().join(", ");
    match model.groups.iter().find(|candidate| matches_glob(group, candidate.name)) {
        Some(group) if known && !group.is_empty() => Err(format!(
            "no bin matches `{pattern}`; bins of this group have names such as `{}`",
            group.bin_name(0)
        )),
        _ => Err(format!("no bin matches `{pattern}`; the groups are {}", names())),
    }
}

/// Checks the label against the sources. Instance and loop indices are not checked, since they depend on the
/// configuration.
fn check_cover(pattern: &str, sources: &BTreeMap<String, String>) -> Result<(), String> {
    let Some((module, label)) = pattern.split_once('.') else {
        return Err(format!("`{pattern}` is not a cover property: expected `module.Label`"));
    };
    let [module, label] = [module, label].map(|name| name.split('[').next().unwrap_or(name));
    let labels = |source: &str| {
        let uses = source.split("`ATOMS_COVER(").skip(1);
        let label = |text: &str| text.split(',').next().unwrap_or_default().trim().to_string();
        uses.map(label).collect::<Vec<_>>()
    };
    let mut there = Vec::new();
    for (file, source) in sources {
        let name = file.split('.').next().unwrap_or(file);
        if matches_glob(module, name) {
            there.extend(labels(source).into_iter().map(|label| (name.to_string(), label)));
        }
    }
    if there.iter().any(|(_, candidate)| matches_glob(label, candidate)) {
        return Ok(());
    }
    let names: Vec<_> = there.iter().map(|(module, label)| format!("{module}.{label}")).collect();
    Err(match names.is_empty() {
        true => format!("no module `{module}` has cover properties"),
        false => format!("no cover property matches `{pattern}`; there are {}", names.join(", ")),
    })
}

/// Returns true if `name` matches `pattern`, where `*` matches any text.
fn matches_glob(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(behind) = name.strip_prefix(first) else { return false };
    let mut ends = behind.char_indices().map(|(at, _)| at).chain([behind.len()]);
    ends.any(|at| matches_glob(rest, &behind[at..]))
}

#[cfg(test)]
mod tests;
