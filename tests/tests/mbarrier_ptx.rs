//! Every legal way to write an operation on an mbarrier object in PTX, as the machine code it becomes on
//! each architecture, through RTL and model in lockstep with the oracle listening, to the right result.
//!
//! `tests/vectors/mbarrier_forms.json` holds the lines, each with the architectures on which an assembler
//! makes the same machine code of it, and that code without the loads of parameters and padding [TOOLS].
//! Operands in the lines: `%a` shared and `%ga` generic address of the object, `sm` a shared array, `%c`
//! count, `%s` state, `%par` parity, `%h` hint in nanoseconds; `%st` and `%p1` are results.

use std::collections::{BTreeMap, BTreeSet};

use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::session::Session;
use atoms_cosim::witness::Witness;
use atoms_isa::{Arch, Program};
use atoms_model::MemoryPort;
use atoms_sm::{Observer, SmConfig, run_observed};
use atoms_tests::ptx::barrier::Layout;
use atoms_tests::ptx::body::Body;
use atoms_tests::ptx::case::{Agent, Case, DATA_WORDS, Observed, Start, cases, judge};
use atoms_tests::ptx::kernel::{self, Kernel, Tail, layout};
use atoms_tests::ptx::spelling::{Operation, ROWS, Reduction, Spelling};
use atoms_tests::{config, lockstep_of};
use serde_json::Value;

/// Architectures, and how many cases are tried on each.
const ARCHITECTURES: [(&str, usize); 5] =
    [("sm_80", 200), ("sm_89", 200), ("sm_90", 2150), ("sm_100", 2150), ("sm_120", 2150)];

/// Architectures of the lines that are not run, and why.
const LEFT_OUT: &[(&str, &str)] =
    &[("sm_107", "it keeps objects in a layout that the unit does not know, and has USYNCS besides")];

use Operation::*;

/// Lines of each operation that run, by architecture in the order of [`ARCHITECTURES`]. Before sm_90 there
/// are no transactions, no try_wait, and counts only with noComplete.
#[rustfmt::skip]
const LINES: &[(Operation, [usize; 5])] = &[
    (Init,                           [ 7,  7,  7,  7,  7]),
    (Inval,                          [ 1,  1,  1,  1,  1]),
    (ExpectTx,                       [ 0,  0,  8,  8,  8]),
    (CompleteTx,                     [ 0,  0, 11, 11, 11]),
    (Arrive,                         [ 5,  5, 35, 35, 35]),
    (ArriveExpectTx,                 [ 0,  0, 35, 35, 35]),
    (ArriveNoComplete,               [11, 11, 11, 11, 11]),
    (ArriveDrop,                     [ 2,  2, 36, 36, 36]),
    (ArriveDropExpectTx,             [ 0,  0, 31, 31, 31]),
    (ArriveDropNoComplete,           [ 8,  8,  8,  8,  8]),
    (TestWait,                       [ 2,  2,  6,  6,  6]),
    (TryWait,                        [ 0,  0, 41, 41, 41]),
    (PendingCount,                   [ 1,  1,  1,  1,  1]),
    (CopyArrive,                     [ 1,  1,  1,  1,  1]),
    (CopyArriveNoinc,                [ 2,  2,  2,  2,  2]),
    (BulkCopy,                       [ 0,  0,  1,  1,  1]),
    (StoreAsync,                     [ 0,  0,  1,  1,  1]),
    (ReduceAsync(Reduction::Add),     [ 0,  0,  2,  2,  2]),
    (ReduceAsync(Reduction::AddWide), [ 0,  0,  1,  1,  1]),
    (ReduceAsync(Reduction::Dec),     [ 0,  0,  1,  1,  1]),
];

/// What [`CopyArrive`] before sm_90 comes to where threads of a warp name different objects: compilers add
/// the increments of all at the object of the highest, and the counts come out wrong, on devices as here.
fn miscompiled(case: &Case, layout: Layout) -> Vec<Vec<u64>> {
    let last = case.objects.len() - 1;
    let word = |(at, start): (usize, &Start)| {
        let mut barrier = start.reached(layout).0.expect("there is an object");
        if at == last {
            case.objects.iter().for_each(|_| barrier.increment());
        }
        barrier.arrive(1);
        barrier.word(layout)
    };
    vec![case.objects.iter().enumerate().map(word).collect()]
}

/// One line of PTX, and what it becomes on some architectures.
struct Form {
    ptx: String,
    targets: Vec<String>,
    sass: Vec<String>,
}

fn forms() -> Vec<Form> {
    let text = include_str!("../vectors/mbarrier_forms.json");
    let rows: Vec<Value> = serde_json::from_str(text).expect("the rows are readable");
    let list = |row: &Value, key: &str| -> Vec<String> {
        let items = row[key].as_array().expect("a list").iter();
        items.map(|item| item.as_str().expect("a text").to_string()).collect()
    };
    let form = |row: &Value| Form {
        ptx: row["ptx"].as_str().expect("a line").into(),
        targets: list(row, "targets"),
        sass: list(row, "sass"),
    };
    rows.iter().map(form).collect()
}

/// A line on one architecture.
struct Line {
    ptx: String,
    spelling: Spelling,
    body: Body,
}

fn lines(arch: Arch) -> Vec<Line> {
    let name = arch.to_string();
    let here = forms().into_iter().filter(|form| form.targets.contains(&name));
    here.map(|form| {
        let spelling = Spelling::parse(&form.ptx).unwrap_or_else(|e| panic!("{e}"));
        let body = Body::read(&form.sass, arch, &spelling)
            .unwrap_or_else(|e| panic!("`{}` on {name}: {e}", form.ptx));
        Line { ptx: form.ptx, spelling, body }
    })
    .collect()
}

/// Lanes that took a pending count from a state that no noComplete arrive gave (spec 6.9).
struct Misused(u32);

impl Observer for Misused {
    fn foreign_pending_count(&mut self, _cycle: u64, _pc: u32, mask: u32) {
        self.0 |= mask;
    }
}

/// What runs lines one after the other.
struct Bench {
    session: Session<Lockstep>,
    core: SmConfig,
}

impl Bench {
    fn new(name: &str) -> Bench {
        let named = config(name);
        let witness = Witness::new(&named.config, &[]);
        let mut session = Session::new(lockstep_of(&named), Some(witness));
        session.machine.watch();
        // Hints of milliseconds last long enough for somebody to arrive in between, and no longer.
        let core =
            SmConfig { longest_sleep_cycles: 3000, copy_latency_cycles: [20, 60], ..SmConfig::default() };
        Bench { session, core }
    }

    /// Runs a case; what does not belong in any run is an error.
    fn observe(&mut self, kernel: &Kernel<'_>) -> Result<Observed, String> {
        let text = kernel.listing();
        let program = Program::parse("line.sass", &text).map_err(|e| e.to_string())?;
        let code = program.kernel(kernel::NAME).expect("the listing has this kernel");
        let before = self.session.tally();
        let mut misused = Misused(0);
        let report = run_observed(code, &kernel.launch(), &mut self.session, &self.core, &mut misused)
            .map_err(|e| e.to_string())?;
        self.session.judge_memory().map_err(|e| e.to_string())?;
        let tally = self.session.tally();
        let clusters = tally.cluster_requests - before.cluster_requests;
        if tally.judged - before.judged != tally.requests - before.requests + clusters {
            return Err("the oracle has not judged every answer".into());
        }
        let undefined = self.session.machine.watched().expect("somebody watches").diagnoses();
        if let Some(diagnosis) = undefined.first() {
            return Err(format!("undefined: {diagnosis}"));
        }
        // These lines take the count of a state that has none to give; the others, of noComplete states.
        let takes = |agent: &Agent| u32::from(kernel.spelling.operation == PendingCount) << agent.thread;
        let taken = kernel.case.agents.iter().map(takes).fold(0, |mask, lane| mask | lane);
        if misused.0 != taken {
            return Err(format!(
                "counts taken of wrong states: lanes {taken:#x}, but {:#x} are named",
                misused.0
            ));
        }
        // An arrival that is added and taken away leaves nothing to see.
        let agents = kernel.case.agents.len() as u64;
        if kernel.spelling.operation == CopyArrive && clusters != agents {
            return Err(format!("{clusters} arrivals of {agents} came through the cluster port"));
        }
        Ok(Observed { answers: kernel.answers(&report), words: self.words(kernel), data: self.data(kernel) })
    }

    /// A word of a CTA's part. Parts are handed out in order of rank, from the first row on.
    fn word(&self, kernel: &Kernel<'_>, cta: u32, offset: u32) -> u32 {
        let banks = self.session.banks();
        let rows = (kernel::SHARED + kernel.arch.shared_origin()).div_ceil(4 * banks);
        self.session.word(cta * rows + offset / (4 * banks), offset / 4 % banks)
    }

    fn words(&self, kernel: &Kernel<'_>) -> Vec<Vec<u64>> {
        let object = |cta: u32, n: usize| {
            let word = |offset: u32| u64::from(self.word(kernel, cta, offset));
            word(kernel.object(n) + 4) << 32 | word(kernel.object(n))
        };
        let objects = 0..kernel.case.objects.len();
        (0..kernel.case.ctas).map(|cta| objects.clone().map(|n| object(cta, n)).collect()).collect()
    }

    fn data(&self, kernel: &Kernel<'_>) -> Vec<Vec<u32>> {
        let each = kernel.case.agents.iter().enumerate();
        each.map(|(at, agent)| {
            let word = |n: usize| self.word(kernel, agent.target, kernel.data(at) + 4 * n as u32);
            (0..DATA_WORDS).map(word).collect()
        })
        .collect()
    }
}

/// Runs every line of an architecture in every case.
fn every_line_runs(column: usize, configuration: &str) {
    let (name, tried) = ARCHITECTURES[column];
    let arch = Arch::from_name(name).expect("an architecture");
    let lines = lines(arch);
    let counting = lines.iter().find(|line| line.spelling.operation == PendingCount);
    let tail = counting.and_then(|line| Tail::of(&line.body)).expect("pending_count is among the lines");
    let mut bench = Bench::new(configuration);
    let mut failures = Vec::new();
    let (mut ran, mut cases_ran, mut apart_ran, mut remote_ran) = (BTreeMap::new(), 0, 0, 0);
    for line in &lines {
        let Line { ptx, spelling, body } = line;
        *ran.entry(spelling.operation).or_insert(0) += 1;
        for case in &cases(spelling, layout(arch)) {
            cases_ran += 1;
            apart_ran += usize::from(case.objects.len() > 1);
            remote_ran += usize::from(case.ctas > 1);
            let kernel = Kernel { arch, spelling, body, case, tail: &tail };
            let wrong = arch.number() < 90 && spelling.operation == CopyArrive && case.objects.len() > 1;
            let why = match bench.observe(&kernel) {
                // Nothing that happens after it could be believed.
                Err(why) => {
                    bench = Bench::new(configuration);
                    why
                }
                Ok(observed) if wrong => {
                    assert_eq!(observed.words, miscompiled(case, layout(arch)), "`{ptx}`, {}", case.what);
                    continue;
                }
                Ok(observed) => match judge(case, spelling, layout(arch), &observed) {
                    Ok(()) => continue,
                    Err(why) => why,
                },
            };
            failures.push(format!("`{ptx}`, {}: {why}\n{}", case.what, kernel.listing()));
        }
    }
    let first = failures.first().map_or("", String::as_str);
    assert!(
        failures.is_empty(),
        "{} of {cases_ran} cases fail on {name}, the first: {first}",
        failures.len()
    );
    for (operation, lines) in LINES {
        let ran = ran.remove(operation).unwrap_or(0);
        assert_eq!(ran, lines[column], "lines of {operation:?} on {name}");
    }
    assert!(ran.is_empty(), "operations that are not in the table: {ran:?}");
    assert_eq!(cases_ran, tried, "cases on {name}");
    let tally = bench.session.tally();
    let fields = arch.number() >= 90;
    assert!(apart_ran > 0 && fields == (remote_ran > 0), "objects apart, and in other CTAs");
    assert!(fields == (tally.wake_ups > 0 && tally.time_outs > 0), "waits end both ways");
}

macro_rules! architectures {
    ($($test:ident: $column:literal $configuration:literal,)*) => {
        $(#[test]
        fn $test() {
            every_line_runs($column, $configuration);
        })*
    };
}

architectures! {
    sm_80: 0 "default",
    sm_89: 1 "default",
    sm_90: 2 "default",
    sm_100: 3 "default",
    sm_120: 4 "default",
    sm_80_merging: 0 "merging",
    sm_90_merging: 2 "merging",
    sm_90_rotating: 2 "rotating",
    sm_100_hashed: 3 "hashed",
}

#[test]
fn every_row_of_the_specification_has_lines() {
    for row in ROWS {
        let lines = LINES.iter().find(|(operation, _)| *operation == row).map(|(_, lines)| lines);
        let lines = lines.unwrap_or_else(|| panic!("{row:?} is not in the table"));
        assert!(lines[2..].iter().all(|n| *n > 0), "{row:?} has no line on some architecture");
    }
}

#[test]
fn no_architecture_is_forgotten() {
    let forms = forms();
    let known = ARCHITECTURES.iter().map(|(name, _)| *name).chain(LEFT_OUT.iter().map(|(name, _)| *name));
    let known: BTreeSet<&str> = known.collect();
    let found: BTreeSet<&str> = forms.iter().flat_map(|form| &form.targets).map(String::as_str).collect();
    assert_eq!(found, known);
    for (column, (name, _)) in ARCHITECTURES.iter().enumerate() {
        let there = forms.iter().filter(|form| form.targets.iter().any(|t| t == name)).count();
        assert_eq!(LINES.iter().map(|(_, lines)| lines[column]).sum::<usize>(), there, "lines on {name}");
    }
}
