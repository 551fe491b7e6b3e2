//! Compiled kernels through RTL and model in lockstep, with the oracle listening, to the right answer.
//!
//! The same kernels run on the model alone in `sm/tests/kernels.rs`; answers are checked there in more
//! depth where a launch file cannot state them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use atoms_cosim::machine::{Machine, ModelMachine};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::{Failure, Session};
use atoms_cosim::trace::Sides;
use atoms_isa::Program;
use atoms_sm::{KernelError, Launch, Outcome, RunError, RunReport, SmConfig, run};
use atoms_tests::{config, lockstep_of, root};

fn folder() -> PathBuf {
    root().join("tests/kernels")
}

/// Every kernel with a launch file, and what there is of it: architecture and kind of text (`sm_80.sass`, `sm_80.ptx`).
fn listings(folder: &Path) -> Vec<(String, Vec<String>)> {
    let names: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("a plain name"))
        .collect();
    let mut kernels: Vec<_> = names
        .iter()
        .filter_map(|name| name.strip_suffix(".launch.toml"))
        .map(|kernel| {
            let text = |name: &String| {
                let text = name.strip_prefix(kernel)?.strip_prefix('.')?;
                (text.ends_with(".sass") || text.ends_with(".ptx")).then(|| text.to_string())
            };
            let mut texts: Vec<_> = names.iter().filter_map(text).collect();
            texts.sort();
            (kernel.to_string(), texts)
        })
        .collect();
    kernels.sort();
    kernels
}

/// Runs a kernel in lockstep, and the whole memory is judged at the end.
fn in_lockstep(folder: &Path, kernel: &str, text: &str, on: &str) -> RunReport {
    let machine = lockstep_of(&config(on));
    run_on(machine, folder, kernel, text, on)
        .unwrap_or_else(|e| panic!("{kernel}.{text}, configuration {on}: {e}"))
}

/// Runs a kernel on a machine of configuration `on`, with every answer and the whole memory at the end judged.
fn run_on<M: Machine + Sides>(
    machine: M,
    folder: &Path,
    kernel: &str,
    text: &str,
    on: &str,
) -> Result<RunReport, RunError<Failure>> {
    let what = format!("{kernel}.{text}, configuration {on}");
    let path = folder.join(format!("{kernel}.{text}"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let name = path.display().to_string();
    let program = Program::read(&name, &text, None).unwrap_or_else(|e| panic!("{what}: {e}"));
    let launch = Launch::from_file(&folder.join(format!("{kernel}.launch.toml")))
        .unwrap_or_else(|e| panic!("{what}: {e}"));
    let scoreboard = Scoreboard::new(machine.config(), &[]);
    let mut session = Session::new(machine, Some(scoreboard));
    session.machine_mut().watch();
    let kernel = launch.kernel(&program).unwrap_or_else(|e| panic!("{what}: {e}"));
    let report = run(kernel, &launch, &mut session, &SmConfig::default())?;
    session.judge_memory().unwrap_or_else(|e| panic!("{what}: {e}"));
    let tally = session.tally();
    let answers = tally.requests + tally.cluster_requests;
    assert_eq!(tally.judged, answers, "{what}: the oracle judged every answer");
    let undefined: Vec<_> = session.machine().watched().iter().flat_map(|watch| watch.diagnoses()).collect();
    assert!(undefined.is_empty(), "{what}: undefined use of an mbarrier object: {}", undefined[0]);
    assert_eq!(tally.requests, report.statistics.shared_requests, "{what}: every request was answered");
    assert!(tally.requests + tally.cluster_requests > 0, "{what}: the unit was used");
    Ok(report)
}

/// Every expectation of the launch file is met.
fn assert_met(report: &RunReport, what: &str) {
    for buffer in &report.buffers {
        let met = matches!(buffer.outcome, Outcome::Open | Outcome::Met { .. });
        assert!(met, "{what}: buffer {}: {:?}", buffer.name, buffer.outcome);
    }
}

/// Kernels whose launch file states what must come out.
const STATED: &[&str] = &[
    "accum_f32",
    "accum_half",
    "awbarrier",
    "cluster_counts",
    "cluster_hist",
    "cluster_mbar",
    "cpasync_mbar",
    "fences",
    "generic_addr",
    "hash_count",
    "hash_table",
    "hist_u32",
    "hist_u64",
    "lane_lock",
    "odds_and_ends",
    "pair128",
    "pipeline",
    "ring",
    "ring_lanes",
    "spin_lock_acqrel",
    "stack128",
    "subword",
    "ticket_lanes",
    "ticket_lock",
    "tma_bulk",
    "uniform_counter",
    "warp_ops",
    "wide64",
];

#[test]
fn every_kernel_runs_in_lockstep() {
    for (kernel, texts) in listings(&folder()) {
        assert!(!texts.is_empty(), "{kernel} has neither a listing nor PTX");
        for text in &texts {
            let what = format!("{kernel}.{text}");
            let report = in_lockstep(&folder(), &kernel, text, "default");
            assert_met(&report, &what);
            let stated = report.buffers.iter().any(|b| matches!(b.outcome, Outcome::Met { .. }));
            assert_eq!(stated, STATED.contains(&kernel.as_str()), "{what}: an expectation is stated");
        }
    }
}

/// The larger collection: sources, what a compiler made of them, and the right answers.
#[test]
fn every_kernel_of_the_corpus_runs_in_lockstep() {
    let folder = folder().join("corpus");
    for (kernel, texts) in listings(&folder) {
        for text in &texts {
            let what = format!("{kernel}.{text}");
            let report = in_lockstep(&folder, &kernel, text, "default");
            assert_met(&report, &what);
            let stated = report.buffers.iter().any(|b| matches!(b.outcome, Outcome::Met { .. }));
            assert!(stated, "{what}: an expectation is stated");
        }
    }
}

/// The kernel whose operands are addresses: it works on an object that nobody has made, so that no use of it is
/// defined; the sides agree about it all the same, and the oracle with them. What it does to memory:
/// `sm/tests/reach.rs`.
#[test]
fn operands_that_are_addresses() {
    let text = "kernel = \"redasync\"\ngrid = 1\nblock = 32\nshared = 512\n[[param]]\ntype = \"u32\"\nvalue = 0x480\n\
                [[param]]\ntype = \"u32\"\nvalue = 0x400\n[[param]]\ntype = \"u32\"\nvalue = 3\n";
    let launch = Launch::from_toml("redasync", text, &folder()).expect("a launch");
    for file in ["sm_90a.sass", "sm_100a.sass", "sm_90a.ptx", "sm_100a.ptx"] {
        let path = folder().join(format!("redasync.{file}"));
        let text = std::fs::read_to_string(&path).expect("it is there");
        let program = Program::read(file, &text, None).unwrap_or_else(|e| panic!("{file}: {e}"));
        let named = config("default");
        let zeros = vec![0; (named.config.bytes() / 4) as usize];
        let scoreboard = Scoreboard::new(&named.config, &zeros);
        let mut session = Session::new(lockstep_of(&named), Some(scoreboard));
        let kernel = launch.kernel(&program).unwrap_or_else(|e| panic!("{file}: {e}"));
        let report = run(kernel, &launch, &mut session, &SmConfig::default())
            .unwrap_or_else(|e| panic!("{file}: {e}"));
        session.judge_memory().unwrap_or_else(|e| panic!("{file}: {e}"));
        assert_eq!(report.statistics.copies, 3 * 32, "{file}");
        assert_eq!(
            session.tally().judged,
            session.tally().cluster_requests,
            "{file}: every answer was judged"
        );
    }
}

/// Every kernel of both folders where a warp goes to the unit in several requests, on the model with the oracle
/// behind it. Those of `too_large` alone need more than there is: of each that is what is said.
fn split_warps(on: &str, too_large: &[(&str, &[&str])]) {
    let named = config(on);
    let (mut refused, mut failed): (BTreeMap<_, BTreeSet<_>>, _) = (BTreeMap::new(), Vec::new());
    for folder in [folder(), folder().join("corpus")] {
        for (kernel, texts) in listings(&folder) {
            for text in &texts {
                let what = format!("{kernel}.{text} in `{on}`");
                match run_on(ModelMachine::new(named.config), &folder, &kernel, text, on) {
                    Ok(report) if report.as_expected() => {}
                    Ok(_) => failed.push(format!("{what}: another answer than expected")),
                    Err(RunError::Kernel(e)) if matches!(*e, KernelError::Resources { .. }) => {
                        refused.entry(kernel.clone()).or_default().insert(e.to_string());
                    }
                    Err(error) => failed.push(format!("{what}: {error}")),
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    let said = |(kernel, errors): (&String, &BTreeSet<String>)| {
        let row = too_large.iter().find(|(known, _)| known == kernel);
        row.is_some_and(|(_, why)| {
            why.len() == errors.len() && errors.iter().zip(*why).all(|(error, why)| error.contains(why))
        })
    };
    assert!(refused.len() == too_large.len() && refused.iter().all(said), "refused: {refused:#?}");
}

#[test]
fn every_kernel_runs_on_half_the_lanes() {
    const SLOTS: &[&str] = &["a cluster of 4 CTAs needs 4 CTA slots at once, and there are 3;"];
    // Rows for the last one would not help the others; from sm_90 on variables begin at 0x400.
    let offsets: &[_] = &[
        "a CTA needs 12656 bytes of shared memory, and there are 6144;",
        "a CTA needs 13680 bytes of shared memory, and there are 6144;",
    ];
    split_warps(
        "half",
        &[("bulk_multicast", SLOTS), ("cluster_hist", SLOTS), ("cluster_token", SLOTS), ("offsets", offsets)],
    );
}

#[test]
fn every_kernel_runs_on_an_eighth_of_the_lanes() {
    split_warps("narrow", &[]);
}

/// The kernels that every configuration must carry, on three generations.
fn required_kernels_on(name: &str) {
    for kernel in ["hist_u32", "hist_u64", "accum_f32"] {
        for arch in ["sm_75.sass", "sm_80.sass", "sm_90a.sass", "sm_80.ptx"] {
            let report = in_lockstep(&folder(), kernel, arch, name);
            let outcome = &report.buffer("out").expect("the answer").outcome;
            assert!(matches!(outcome, Outcome::Met { .. }), "{kernel} on {arch} in `{name}`: {outcome:?}");
        }
    }
}

macro_rules! required_kernels {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            required_kernels_on(stringify!($name));
        })*
    };
}

/// Kernels that work on mbarrier objects, each on a generation that it was compiled for.
#[test]
fn kernels_with_mbarriers_run_in_other_configurations() {
    let kernels = [
        ("awbarrier", "sm_80.sass"),
        ("cpasync_mbar", "sm_80.sass"),
        ("cluster_mbar", "sm_100a.sass"),
        ("tma_bulk", "sm_90a.ptx"),
    ];
    for name in ["rotating", "hold", "merging", "hashed", "half", "deep"] {
        for (kernel, arch) in kernels {
            let report = in_lockstep(&folder(), kernel, arch, name);
            assert_met(&report, &format!("{kernel} on {arch} in `{name}`"));
        }
    }
}

required_kernels! { rotating hold merging hashed half wide }
