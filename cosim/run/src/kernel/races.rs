//! Races, and atomics whose scopes do not include each other, as text and JSON.

use std::fmt::Write as _;

use atoms_isa::{Kernel, Scope, SourceLine};
use atoms_sm::races::{Finding, Memory, Party, RaceChecks, RaceKind, Races, Strength};
use schemars::JsonSchema;
use serde::Serialize;
use textwrap::{WordSeparator, WordSplitter, WrapAlgorithm};

use crate::grouped;
use crate::kernel::finding::{FindingSite, KernelFault, KernelFinding};

const IDLE_FENCE: &str = "a proxy fence that orders nothing: no bulk copy uses what threads accessed before";

/// Largest number of pairs of instructions in the text output. JSON has all pairs.
const SHOWN: usize = 16;

#[derive(Debug)]
pub struct RacesFound<'k> {
    kernel: &'k Kernel,
    /// Errors, then hints.
    findings: Vec<Finding>,
    /// Proxy fences that order nothing, by instruction.
    idle_fences: Vec<u32>,
}

impl<'k> RacesFound<'k> {
    /// Takes the findings of these checks.
    pub fn new(kernel: &'k Kernel, races: &Races<'_>, checks: RaceChecks) -> Self {
        let findings = races.findings().filter(|finding| checks.includes(finding.kind));
        let mut findings: Vec<_> = findings.cloned().collect();
        findings.sort_by_key(|finding| finding.kind.is_hint());
        let idle_fences = if checks.proxies { races.idle_fences().collect() } else { Vec::new() };
        RacesFound { kernel, findings, idle_fences }
    }

    /// Errors, then hints.
    pub(crate) fn reported(&self) -> impl Iterator<Item = KernelFinding<'k>> {
        let pairs = self.findings.iter().map(|finding| self.pair(finding));
        let fences = self.idle_fences.iter().filter_map(|pc| self.line(*pc)).map(|line| KernelFinding {
            fault: KernelFault::Race,
            name: "idle fence".into(),
            hint: true,
            title: IDLE_FENCE.into(),
            at: String::new(),
            advice: String::new(),
            sites: vec![FindingSite { line, act: String::new(), threads: String::new(), party: None }],
        });
        pairs.chain(fences)
    }

    fn pair(&self, finding: &Finding) -> KernelFinding<'k> {
        let Finding { kind, first, second, memory, address, .. } = finding;
        let sites = [(false, first), (true, second)];
        let sites = sites.into_iter().take(if first == second { 1 } else { 2 });
        let site = |(is_second, party): (bool, &Party)| {
            let Party { pc, cta, warp, lane, cycle, .. } = party;
            let act = act(*kind, is_second, party);
            let threads = format!("CTA {cta} warp {warp} lane {lane}, cycle {}", grouped(*cycle));
            Some(FindingSite { line: self.line(*pc)?, act, threads, party: Some(*party) })
        };
        let at = match (kind, memory) {
            (RaceKind::ArrivedTwice, Memory::Shared(cta)) => format!("block barrier {address} of CTA {cta}"),
            (_, Memory::Shared(cta)) => {
                let variable = u32::try_from(*address).ok().and_then(|at| self.kernel.shared_variable(at));
                let variable = variable.map_or(String::new(), |name| format!(" ({name})"));
                format!("shared address {address:#010x}{variable} of CTA {cta}")
            }
            (_, Memory::Global) => format!("global address {address:#x}"),
        };
        KernelFinding {
            fault: KernelFault::Race,
            name: kind.name().into(),
            hint: kind.is_hint(),
            title: kind.to_string(),
            at,
            advice: finding.advice(),
            sites: sites.filter_map(site).collect(),
        }
    }

    /// True if there is neither an error nor a hint.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Number of errors and hints.
    pub(crate) fn count(&self) -> usize {
        self.findings.len() + self.idle_fences.len()
    }

    /// True if a finding is an error, not only a hint.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| !finding.kind.is_hint())
    }

    fn has_hints(&self) -> bool {
        !self.idle_fences.is_empty() || self.findings.iter().any(|finding| finding.kind.is_hint())
    }

    fn line(&self, pc: u32) -> Option<&'k SourceLine> {
        self.kernel.source.get(pc as usize)
    }

    /// Formats each pair of instructions once, with its first occurrence. Hints follow the errors.
    pub fn text(&self) -> String {
        let errors = self.findings.iter().filter(|finding| !finding.kind.is_hint()).count();
        let (errors, hints) = self.findings.split_at(errors);
        let mut text = String::new();
        if !errors.is_empty() {
            let word = if errors.len() == 1 { "error" } else { "errors" };
            text += &format!("atoms: {} {word} in the order of accesses:\n", grouped(errors.len() as u64));
            self.pairs(&mut text, errors);
        }
        if !self.has_hints() {
            return text;
        }
        text += "atoms: hints; they may be no bugs:\n";
        self.pairs(&mut text, hints);
        for pc in &self.idle_fences {
            let _ = writeln!(text, "  {IDLE_FENCE}");
            let _ = self.line(*pc).map(|line| writeln!(text, "    {line}"));
        }
        text
    }

    fn pairs(&self, text: &mut String, findings: &[Finding]) {
        // Writing to a string cannot fail.
        for finding in findings.iter().take(SHOWN) {
            let pair = self.pair(finding);
            let _ = writeln!(text, "  {}", pair.what());
            for site in &pair.sites {
                let _ = writeln!(text, "    {}\n      {}", site.line, site.about());
            }
            wrap(text, &pair.advice);
            if finding.count > 1 {
                let _ = writeln!(text, "    and {} more accesses of this pair", grouped(finding.count - 1));
            }
        }
        if findings.len() > SHOWN {
            let _ = writeln!(text, "  and {} more pairs; --json prints all", findings.len() - SHOWN);
        }
    }

    pub fn result(&self) -> RacesResult<'_> {
        let party = |party: &Party| {
            let line = self.line(party.pc);
            PartyResult {
                line: line.map(|line| line.line),
                instruction: line.map(|line| line.text.as_str()),
                source: line.and_then(|line| line.position.as_ref()).map(ToString::to_string),
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
            hint: finding.kind.is_hint(),
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
        let idle_fences = self.idle_fences.iter().filter_map(|pc| self.line(*pc));
        RacesResult {
            pairs: self.findings.len(),
            found: found.collect(),
            idle_fences: idle_fences.map(|line| line.line).collect(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct RacesResult<'k> {
    pairs: usize,
    found: Vec<RaceResult<'k>>,
    /// Lines of proxy fences that order nothing. Hints.
    idle_fences: Vec<u32>,
}

#[derive(Serialize, JsonSchema)]
struct RaceResult<'k> {
    kind: &'static str,
    /// True if the finding need not be a bug. Hints do not change the exit status.
    hint: bool,
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
    /// Line of the source, such as `kernel.cu:12`, if the file has line information.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
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

const fn name(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => ".cta",
        Scope::Cluster => ".cluster",
        Scope::Gpu => ".gpu",
        Scope::Sys => ".sys",
    }
}

/// Describes the first or second party of a finding.
fn act(kind: RaceKind, is_second: bool, party: &Party) -> String {
    let access = if party.writes { "write" } else { "read" };
    let by = if party.copy { " by a copy" } else { "" };
    match (kind, party.strength) {
        (RaceKind::ArrivedTwice, _) => "arrival".into(),
        (RaceKind::EarlyExit, _) if is_second => "end of the CTA".into(),
        (_, Strength::Weak | Strength::Unsaid) => format!("plain {access}{by}"),
        (_, Strength::Strong(None) | Strength::Taken) => format!("atomic {access}{by}"),
        (_, Strength::Strong(Some(scope))) => format!("atomic {access} of scope {}{by}", name(scope)),
    }
}
