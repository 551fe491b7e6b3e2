//! Races, and atomics whose scopes do not include each other, as text and JSON.

use std::fmt::Write as _;

use atoms_isa::{Kernel, Scope, SourceLine};
use atoms_sm::races::{Finding, Memory, Party, Races, Strength};
use schemars::JsonSchema;
use serde::Serialize;
use textwrap::{WordSeparator, WordSplitter, WrapAlgorithm};

use crate::grouped;

/// Largest number of pairs of instructions in the text output. JSON has all pairs.
const SHOWN: usize = 16;

#[derive(Debug)]
pub struct RacesFound<'k> {
    kernel: &'k Kernel,
    findings: Vec<Finding>,
}

impl<'k> RacesFound<'k> {
    pub fn new(kernel: &'k Kernel, races: &Races<'_>) -> Self {
        RacesFound { kernel, findings: races.findings().cloned().collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    fn line(&self, party: &Party) -> Option<&'k SourceLine> {
        self.kernel.source.get(party.pc as usize)
    }

    /// Formats each pair of instructions once, with its first occurrence.
    pub fn text(&self) -> String {
        let count = self.findings.len();
        let pairs = if count == 1 { "pair of instructions" } else { "pairs of instructions" };
        let mut text = format!("atoms: {} {pairs} that no synchronization orders:\n", grouped(count as u64));
        // Writing to a string cannot fail.
        for finding in self.findings.iter().take(SHOWN) {
            let Finding { kind, first, second, memory, address, count } = finding;
            let _ = writeln!(text, "  {kind}, at {}", place(*memory, *address));
            for party in [first, second] {
                if let Some(SourceLine { line, text: instruction, .. }) = self.line(party) {
                    let _ = writeln!(text, "    line {line}: `{instruction}`");
                }
                let _ = writeln!(
                    text,
                    "      {}, CTA {} warp {} lane {}, cycle {}",
                    what(party),
                    party.cta,
                    party.warp,
                    party.lane,
                    grouped(party.cycle)
                );
            }
            wrap(&mut text, &finding.advice());
            if *count > 1 {
                let _ = writeln!(text, "    and {} more like it", grouped(count - 1));
            }
        }
        if count > SHOWN {
            let _ = writeln!(text, "  and {} more pairs; --json prints all", count - SHOWN);
        }
        text
    }

    pub fn result(&self) -> RacesResult<'_> {
        let party = |party: &Party| {
            let line = self.line(party);
            PartyResult {
                line: line.map(|line| line.line),
                instruction: line.map(|line| line.text.as_str()),
                cta: party.cta,
                cluster: party.cluster,
                warp: party.warp,
                lane: party.lane,
                cycle: party.cycle,
                copy: party.copy,
                writes: party.writes,
                atomic: party.strength.is_atomic(),
                scope: match party.strength {
                    Strength::Strong(Some(scope)) => Some(name(scope)),
                    Strength::Strong(None) | Strength::Taken | Strength::Unsaid | Strength::Weak => None,
                },
            }
        };
        let found = self.findings.iter().map(|finding| RaceResult {
            kind: finding.kind.name(),
            what: finding.kind.to_string(),
            advice: finding.advice(),
            memory: match finding.memory {
                Memory::Global => MemoryResult::Global,
                Memory::Shared(cta) => MemoryResult::Shared(cta),
            },
            address: finding.address,
            first: party(&finding.first),
            second: party(&finding.second),
            count: finding.count,
        });
        RacesResult { pairs: self.findings.len(), found: found.collect() }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct RacesResult<'k> {
    pairs: usize,
    found: Vec<RaceResult<'k>>,
}

#[derive(Serialize, JsonSchema)]
struct RaceResult<'k> {
    kind: &'static str,
    what: String,
    advice: String,
    memory: MemoryResult,
    address: u64,
    first: PartyResult<'k>,
    second: PartyResult<'k>,
    count: u64,
}

/// Global memory, or the shared memory of a CTA.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MemoryResult {
    Global,
    Shared(u32),
}

#[derive(Serialize, JsonSchema)]
struct PartyResult<'k> {
    line: Option<u32>,
    instruction: Option<&'k str>,
    cta: u32,
    cluster: u32,
    warp: u32,
    lane: u8,
    cycle: u64,
    copy: bool,
    writes: bool,
    atomic: bool,
    scope: Option<&'static str>,
}

/// Appends words to a text, indented and wrapped at 80 columns.
fn wrap(text: &mut String, words: &str) {
    let options = textwrap::Options::new(80).initial_indent("    ").subsequent_indent("    ");
    let options = options.wrap_algorithm(WrapAlgorithm::FirstFit).word_splitter(WordSplitter::NoHyphenation);
    *text += &textwrap::fill(words, options.word_separator(WordSeparator::AsciiSpace));
    text.push('\n');
}

fn place(memory: Memory, address: u64) -> String {
    match memory {
        Memory::Global => format!("global address {address:#x}"),
        Memory::Shared(cta) => format!("shared address {address:#010x} of CTA {cta}"),
    }
}

const fn name(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => ".cta",
        Scope::Cluster => ".cluster",
        Scope::Gpu => ".gpu",
        Scope::Sys => ".sys",
    }
}

fn what(party: &Party) -> String {
    let access = if party.writes { "write" } else { "read" };
    let by = if party.copy { " by a copy" } else { "" };
    match party.strength {
        Strength::Weak | Strength::Unsaid => format!("plain {access}{by}"),
        Strength::Strong(None) | Strength::Taken => format!("atomic {access}{by}"),
        Strength::Strong(Some(scope)) => format!("atomic {access} of scope {}{by}", name(scope)),
    }
}
