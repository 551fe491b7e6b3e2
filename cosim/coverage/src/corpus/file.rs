//! A corpus as a file: JSON with one episode a line.
//!
//! The file names bins, so that a corpus stays valid when the coverage model changes. It lists each group
//! with the names of its values, and bins as numbers within that group, in spans such as `0-5 7`. Each bin is
//! listed only at the first episode that hits it.

use std::collections::BTreeMap;
use std::fmt::Write;

use bitvec::vec::BitVec;
use serde::{Deserialize, Serialize};

use super::{Corpus, KeptEpisode};
use crate::episode::Episode;
use crate::{Group, Model};

/// Version of the format. Increase it when older files can no longer be read.
pub const FORMAT: u32 = 1;

/// Highest number of bins read for a group, so that a bad file cannot exhaust memory.
const MOST_BINS: usize = 1 << 20;

/// Reason why a corpus cannot be read, with advice for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CorpusError(String);

impl From<serde_json::Error> for CorpusError {
    fn from(error: serde_json::Error) -> Self {
        // The file was truncated: its writer was interrupted, or the disk was full.
        CorpusError(match error.is_eof() {
            true => format!(
                "the corpus file is truncated in line {}: restore it, or delete it; the next run then builds a new one",
                error.line()
            ),
            false => format!("not a corpus: {error}"),
        })
    }
}

#[derive(Clone, Debug)]
pub struct Read {
    pub corpus: Corpus,
    /// Bins that the coverage model no longer has.
    pub unknown_bins: usize,
    /// Episodes left out because the coverage model no longer has any of their bins.
    pub dropped: usize,
}

#[derive(Deserialize)]
struct Version {
    format: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: u32,
    groups: Vec<Legend>,
    entries: Vec<Line>,
}

/// Names of a group's dimensions and values when the corpus was saved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Legend {
    name: String,
    dimensions: Vec<(String, Vec<String>)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    episode: Episode,
    found_by: String,
    bins: BTreeMap<String, String>,
}

impl Legend {
    fn of(group: &Group) -> Legend {
        let dimensions = group.dimensions.iter().map(|d| (d.name.to_string(), d.values.clone()));
        Legend { name: group.name.to_string(), dimensions: dimensions.collect() }
    }

    /// Returns the number of combinations of values, at most [`MOST_BINS`].
    fn len(&self) -> usize {
        let counts = self.dimensions.iter().map(|(_, values)| values.len());
        counts.fold(1, usize::saturating_mul).min(MOST_BINS)
    }

    /// Maps bin `at` of the saved group to the bin of `group` with the same names. None if there is no such
    /// bin.
    fn bin(&self, mut at: usize, group: &Group) -> Option<usize> {
        if self.dimensions.len() != group.dimensions.len() {
            return None;
        }
        // Look up values by dimension name, because dimensions may have been reordered.
        let mut names = BTreeMap::new();
        for (dimension, values) in self.dimensions.iter().rev() {
            names.insert(dimension.as_str(), values.get(at % values.len())?.as_str());
            at /= values.len();
        }
        group.dimensions.iter().try_fold(0, |bin, dimension| {
            let name = names.get(dimension.name)?;
            let value = dimension.values.iter().position(|value| value == name)?;
            Some(bin * dimension.values.len() + value)
        })
    }
}

/// Formats increasing numbers as spans, such as `0-5 7`.
fn spans(numbers: impl Iterator<Item = usize>) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => spans.push((number, number)),
        }
    }
    let texts = spans.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// Parses increasing spans. None if the text is malformed or a number is not below `bins`.
fn numbers(spans: &str, bins: usize) -> Option<Vec<usize>> {
    let mut numbers: Vec<usize> = Vec::new();
    for span in spans.split_whitespace() {
        let (first, last) = span.split_once('-').unwrap_or((span, span));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= bins || numbers.last().is_some_and(|before| *before >= first) {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

impl Corpus {
    /// Formats the corpus as JSON. The same corpus and model always give the same text.
    pub fn write(&self, model: &Model) -> String {
        let mut written = BitVec::<usize>::repeat(false, model.bins());
        let lines: Vec<_> = self.entries.iter().map(|entry| entry.line(model, &mut written)).collect();
        let used = |group: &&Group| lines.iter().any(|line| line.bins.contains_key(group.name));
        let groups = model.groups.iter().filter(used).map(Legend::of);
        let array = |items: Vec<String>| match items.is_empty() {
            true => "[]".to_string(),
            false => format!("[\n{}\n]", items.join(",\n")),
        };
        let mut text = format!("{{\"format\":{FORMAT},\n\"groups\":");
        // Serialization cannot fail: the data is plain and all keys are strings.
        let json = |item: Result<String, serde_json::Error>| item.unwrap_or_default();
        let groups = groups.map(|group| json(serde_json::to_string(&group))).collect();
        let lines = lines.iter().map(|line| json(serde_json::to_string(line))).collect();
        let _ = write!(text, "{},\n\"entries\":{}}}\n", array(groups), array(lines));
        text
    }

    /// Reads a corpus for `model`.
    ///
    /// # Errors [`CorpusError`] if the text is truncated, has another format version, or is not a corpus.
    pub fn read(text: &str, model: &Model) -> Result<Read, CorpusError> {
        let version: Version = serde_json::from_str(text)?;
        if version.format != FORMAT {
            let found = version.format;
            return Err(CorpusError(format!(
                "the corpus has format {found}, but this version of ATOMS reads format {FORMAT}"
            )));
        }
        let file: File = serde_json::from_str(text)?;
        let mut read = Read { corpus: Corpus::new(model.bins()), unknown_bins: 0, dropped: 0 };
        for (entry, line) in file.entries.into_iter().enumerate() {
            let mut hit = BitVec::repeat(false, model.bins());
            for (group, spans) in line.bins {
                let Some(legend) = file.groups.iter().find(|legend| legend.name == group) else {
                    return Err(CorpusError(format!(
                        "episode {entry} of the corpus has bins of group `{group}`, which the file does not list"
                    )));
                };
                let bins = legend.len();
                let Some(numbers) = numbers(&spans, bins) else {
                    return Err(CorpusError(format!(
                        "episode {entry} of the corpus, group `{group}`: `{spans}` is not a list of bins \
                         below {bins}, such as `0-5 7`"
                    )));
                };
                let known = model.groups.iter().find(|known| known.name == group);
                for at in numbers {
                    match known.and_then(|group| Some((group.first, legend.bin(at, group)?))) {
                        Some((first, bin)) => hit.set(first + bin, true),
                        None => read.unknown_bins += 1,
                    }
                }
            }
            if hit.any() {
                read.corpus.covered |= &hit;
                let Line { episode, found_by, .. } = line;
                read.corpus.entries.push(KeptEpisode { episode, found_by, hit });
            } else {
                read.dropped += 1;
            }
        }
        Ok(read)
    }
}

impl KeptEpisode {
    /// Formats the entry with those of its bins that are not in `written`, and adds them to `written`.
    fn line(&self, model: &Model, written: &mut BitVec) -> Line {
        let new = self.hit.clone() & !written.clone();
        *written |= &self.hit;
        let mut bins = BTreeMap::new();
        for group in &model.groups {
            let own = new.get(group.first..group.first + group.len());
            let spans = own.map_or_else(String::new, |own| spans(own.iter_ones()));
            if !spans.is_empty() {
                bins.insert(group.name.to_string(), spans);
            }
        }
        Line { episode: self.episode.clone(), found_by: self.found_by.clone(), bins }
    }
}
