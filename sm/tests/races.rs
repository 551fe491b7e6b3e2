//! Race detection in whole kernels on the model: no races in correct kernels, and planted races are found.

use atoms_isa::Program;
use atoms_model::{Config, Unit};
use atoms_sm::races::{Finding, RaceChecks, RaceKind, Races, Text};
use atoms_sm::{Launch, SmConfig, run_observed};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels")
}

fn listing(kernel: &str, arch: &str) -> String {
    let path = folder().join(format!("{kernel}.{arch}.sass"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

struct Found {
    finding: Finding,
    texts: [String; 2],
    lines: [u32; 2],
}

/// Runs a listing. Returns the end of the run, and the findings.
fn check(name: &str, text: &str, launch: &Launch) -> (Result<(), String>, Vec<Found>) {
    let program = Program::parse(name, text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    check_program(&program, Text::Machine, launch)
}

fn check_ptx(name: &str, text: &str, launch: &Launch) -> (Result<(), String>, Vec<Found>) {
    let program =
        Program::from_ptx(name, text, None).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    check_program(&program, Text::Ptx, launch)
}

fn check_program(program: &Program, text: Text, launch: &Launch) -> (Result<(), String>, Vec<Found>) {
    let kernel = launch.kernel(program).unwrap();
    let mut port = Unit::new(Config::default());
    let mut races = Races::new(kernel, text);
    let ended = run_observed(kernel, launch, &mut port, &SmConfig::default(), &mut races);
    let found = |f: &Finding| {
        let places = [f.first.pc, f.second.pc].map(|pc| &kernel.source[pc as usize]);
        Found { finding: f.clone(), texts: places.map(|s| s.text.clone()), lines: places.map(|s| s.line) }
    };
    let found = races.findings().filter(|f| RaceChecks::ALL.includes(f.kind)).map(found).collect();
    (ended.map(drop).map_err(|e| e.to_string()), found)
}

fn launch(kernel: &str) -> Launch {
    Launch::from_file(&folder().join(format!("{kernel}.launch.toml"))).unwrap()
}

fn shown(found: &Found) -> String {
    let Finding { kind, first, second, .. } = &found.finding;
    format!("{kind}\n   {}\n   {}\n   {first:?}\n   {second:?}", found.texts[0], found.texts[1])
}

/// Failures and races of a kernel's file. `None` if the file is not a kernel.
fn wrong_with(path: &Path) -> Option<Vec<String>> {
    let name = path.file_name()?.to_str()?;
    let (kernel, rest) = name.split_once('.')?;
    let launch = path.with_file_name(format!("{kernel}.launch.toml"));
    if !launch.exists() {
        return None;
    }
    let launch = || Launch::from_file(&launch).unwrap();
    let (ended, found) = match rest.rsplit_once('.')?.1 {
        "sass" => check(name, &std::fs::read_to_string(path).unwrap(), &launch()),
        "ptx" => check_ptx(name, &std::fs::read_to_string(path).unwrap(), &launch()),
        _ => return None,
    };
    let failed = ended.err().map(|error| format!("{name}: {error}"));
    let races = found.iter().map(|f| format!("{name}: {}", shown(f)));
    Some(failed.into_iter().chain(races).collect())
}

/// Compiled kernels with a race, and an instruction of the race.
const RACY: [(&str, &str); 4] = [
    // The `ld.volatile` that polls the phase is relaxed, and no fence follows before the data is read.
    ("awbarrier.sm_75.ptx", "st.shared.f32 [%r2], %f1"),
    // In every other round, `cp.async.mbarrier.arrive.noinc` is the only arrival, which does not release the reads
    // of the round before.
    ("cpasync_mbar.sm_80.ptx", "cp.async.cg.shared.global"),
    ("cpasync_mbar.sm_90a.ptx", "cp.async.cg.shared.global"),
    ("cpasync_mbar.sm_100a.ptx", "cp.async.cg.shared.global"),
];

#[test]
fn nothing_is_found_in_correct_kernels() {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let results: Vec<Vec<String>> = files.filter_map(|path| wrong_with(&path)).collect();
    let racy = |text: &&String| RACY.iter().any(|(file, what)| text.starts_with(file) && text.contains(what));
    let (known, wrong): (Vec<_>, Vec<_>) = results.iter().flatten().partition(racy);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(known.len(), RACY.len(), "{known:#?}");
    assert!(results.len() > 130, "{} kernels", results.len());
}

/// Kernels of the corpus with a race in their source or in the compiled code.
const RACY_IN_CORPUS: [&str; 7] = [
    // Hints: a CTA writes to its memory before another CTA's copy does, and only the first CTA passes a fence.
    "bulk_multicast",
    "bulk_reduce",
    // The compiler's store to the next CTA is plain, although the source says volatile.
    "cluster_token",
    // Several threads store back a word that all of them have read.
    "generic_pick",
    // PTX only: one lane counts out the whole warp after `match`, which orders no memory.
    "last_out",
    "lib_pipeline",
    // Words are cleared after the loop without a barrier before.
    "offsets",
];

#[test]
fn in_the_corpus_no_more_is_found_than_is_known() {
    let files = std::fs::read_dir(folder().join("corpus")).unwrap().map(|entry| entry.unwrap().path());
    let results: Vec<Vec<String>> = files.filter_map(|path| wrong_with(&path)).collect();
    let kernel = |text: &String| text.split('.').next().unwrap_or_default().to_string();
    let found: BTreeSet<String> = results.iter().flatten().map(kernel).collect();
    assert_eq!(found, RACY_IN_CORPUS.iter().map(|name| name.to_string()).collect());
    assert!(results.len() > 250, "{} kernels", results.len());
}

enum Plant {
    /// Replaces the nth line with this text by a NOP, or by an empty line in PTX. Counts from 0.
    Drop(&'static str, usize),
    /// Replaces the first text by the second in all lines.
    Put(&'static str, &'static str),
}

fn planted(text: &str, plant: &Plant) -> String {
    let mut changed = 0;
    let mut count = 0;
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            // Leave comments and sections alone: their branches and calls are not code.
            let code = line.starts_with('\t') || line.trim_start().starts_with("/*");
            match plant {
                Plant::Drop(what, nth) if code && line.contains(what) => {
                    count += 1;
                    if count - 1 != *nth {
                        return line.to_string();
                    }
                    changed += 1;
                    line.find("*/").map_or(String::new(), |at| format!("{} NOP ;", &line[..at + 2]))
                }
                Plant::Put(what, with) if code && line.contains(what) => {
                    changed += 1;
                    line.replace(what, with)
                }
                _ => line.to_string(),
            }
        })
        .collect();
    assert!(changed > 0, "nothing to plant in");
    lines.join("\n")
}

/// Kernel, architecture, planted change, and a pair of instructions that must be found.
type Row = (&'static str, &'static str, Plant, (RaceKind, &'static str, &'static str));

#[test]
fn planted_races_are_found() {
    use Plant::{Drop, Put};
    const TRUE: &str = "ISETP.EQ.AND P0, PT, RZ, RZ, PT";
    #[rustfmt::skip]
    let rows: Vec<Row> = vec![
        // Missing barrier between clearing and counting, or between counting and reading.
        ("hist_u32", "sm_80", Drop("BAR.SYNC", 0), (RaceKind::PlainAndAtomic, "STS", "ATOMS.POPC.INC")),
        ("hist_u32", "sm_90a", Drop("BAR.SYNC", 1), (RaceKind::PlainAndAtomic, "ATOMS.POPC.INC", "LDS")),
        ("hist_u64", "sm_75", Drop("BAR.SYNC", 0), (RaceKind::PlainAndAtomic, "STS", "ATOMS.CAST.SPIN")),
        ("accum_f32", "sm_100a", Drop("BAR.SYNC", 1), (RaceKind::PlainAndAtomic, "LDS", "ATOMS.CAST.SPIN")),
        ("accum_half", "sm_80", Drop("BAR.SYNC", 0), (RaceKind::PlainAndAtomic, "STS.U16", "ATOM.E.CAS")),
        ("exch64_list", "sm_80", Drop("BAR.SYNC", 1), (RaceKind::PlainAndAtomic, "LDS.64", "ATOMS.EXCH.64")),
        // Counting without atomics.
        ("hist_u32", "sm_80", Put("ATOMS.POPC.INC.32 RZ, [R2.X4+URZ]", "STS [R2.X4+URZ], R4"), (RaceKind::Plain, "STS", "STS")),
        // The lock is released without a fence before.
        ("spin_lock", "sm_75", Drop("MEMBAR.SC.CTA", 1), (RaceKind::Plain, "STS", "LDS")),
        ("spin_lock", "sm_90a", Drop("MEMBAR.SC.CTA", 1), (RaceKind::Plain, "STS", "LDS")),
        ("spin_lock_acqrel", "sm_80", Drop("MEMBAR.ALL.CTA", 0), (RaceKind::Plain, "STS", "LDS")),
        // The lock is not taken.
        ("spin_lock", "sm_80", Drop("@P2 BRA", 1), (RaceKind::Plain, "STS", "LDS")),
        // Missing release, or missing wait, at a barrier object.
        ("awbarrier", "sm_80", Drop("MEMBAR.ALL.CTA", 0), (RaceKind::Plain, "STS", "LDS")),
        ("awbarrier", "sm_80", Drop("@!P2 BRA", 0), (RaceKind::Plain, "STS", "LDS")),
        ("awbarrier", "sm_90a", Put("SYNCS.PHASECHK.TRANS64 P2, [UR4], R3", "ISETP.EQ.AND P2, PT, RZ, RZ, PT"), (RaceKind::Plain, "STS", "LDS")),
        ("awbarrier", "sm_90a", Drop("BAR.SYNC", 0), (RaceKind::PlainAndAtomic, "SYNCS.EXCH", "SYNCS.ARRIVE")),
        // Copies without a wait.
        ("cpasync_mbar", "sm_80", Drop("@!P0 BRA `(.L_x_2)", 0), (RaceKind::Plain, "LDGSTS", "LDS.128")),
        ("cpasync_mbar", "sm_100a", Put("SYNCS.PHASECHK.TRANS64 P0, [UR5], R2", TRUE), (RaceKind::Plain, "LDGSTS", "LDS.128")),
        ("tma_bulk", "sm_90a", Put("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R8+URZ], R3", TRUE), (RaceKind::Plain, "UBLKCP", "LDS")),
        ("cluster_mbar", "sm_90a", Put("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR7], R2", TRUE), (RaceKind::Plain, "STAS", "LDS")),
        ("cluster_mbar", "sm_90a", Drop("UCGABAR_WAIT", 0), (RaceKind::PlainAndAtomic, "SYNCS.EXCH", "SYNCS.ARRIVE")),
        // Warps that leave first do not release their stores; or the last warp does not wait.
        ("corpus/last_out", "sm_80", Drop("MEMBAR.ALL.CTA", 0), (RaceKind::Plain, "STS", "LDS")),
        ("corpus/last_out", "sm_90a", Drop("MEMBAR.ALL.CTA", 0), (RaceKind::Plain, "STS", "LDS")),
        ("corpus/last_out", "sm_120a", Drop("MEMBAR.SC.CTA", 0), (RaceKind::Plain, "STS", "LDS")),
        ("corpus/last_out", "sm_90a", Drop("@P0 BRA", 0), (RaceKind::Plain, "STS", "LDS")),
        // Cluster: missing release, missing acquire, plain flag, and too narrow scope.
        ("corpus/cluster_handoff", "sm_90a", Drop("MEMBAR.ALL.GPU", 2), (RaceKind::Plain, "ST.E", "LDS")),
        ("corpus/cluster_handoff", "sm_100a", Drop("CCTL.IVALL", 1), (RaceKind::Plain, "ST.E", "LDS")),
        ("corpus/cluster_handoff", "sm_120a", Put("LD.E.STRONG.GPU", "LD.E"), (RaceKind::PlainAndAtomic, "LD.E", "ST.E.STRONG.GPU")),
        ("corpus/cluster_handoff", "sm_90a", Put("STRONG.GPU", "STRONG.SM"), (RaceKind::Scope, "LD.E.STRONG.SM", "ST.E.STRONG.SM")),
        ("corpus/cluster_float", "sm_90a", Drop("MEMBAR.ALL.GPU", 0), (RaceKind::PlainAndAtomic, "STS", "ATOM.E.CAST.SPIN")),
        ("corpus/cluster_float", "sm_100a", Put("ATOM.E.CAST.SPIN.STRONG.SM PT, R9, [R10], R8, R9", "ST.E [R10], R9"), (RaceKind::PlainAndAtomic, "ATOMS.CAST.SPIN", "ST.E")),
        ("cluster_hist", "sm_90a", Put("STRONG.GPU", "STRONG.SM"), (RaceKind::Scope, "ATOM", "ATOM")),
        // Missing wait for blocks that are reduced into another CTA, or multicast to several CTAs.
        ("corpus/bulk_reduce", "sm_90a", Put("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR5], R4", TRUE), (RaceKind::PlainAndAtomic, "UBLKRED", "LDS")),
        ("corpus/bulk_multicast", "sm_100a", Put("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R2", TRUE), (RaceKind::Plain, "UBLKCP.S.G.MULTICAST", "LDS")),
        // A plain store replaces the compare-and-store that confirms a load, a part of a load, or a test.
        ("corpus/accum_bf16", "sm_75", Put("ATOMS.CAS R13, [R16], R6, R13", "STS [R16], R13"), (RaceKind::Plain, "LDS.U.U16", "STS")),
        ("corpus/half_cas", "sm_90a", Put("ATOMS.CAS R9, [R14], R7, R9", "STS [R14], R9"), (RaceKind::Plain, "LDS.U16", "STS")),
        ("corpus/list_tagged", "sm_90a", Put("ATOMS.CAS.64 R4, [R11], R4, R6", "STS.64 [R11], R6"), (RaceKind::Plain, "LDS.64", "STS.64")),
        ("corpus/graph", "sm_75", Put("ATOMS.CAS R9, [R8.X4+0x100], R8, R9", "STS [R8.X4+0x100], R9"), (RaceKind::Plain, "LDS.U", "STS")),
        ("corpus/ring_mpmc", "sm_90a", Put("ATOMS.CAS R5, [R7], R4, R5", "LDS R5, [R7]"), (RaceKind::Plain, "STS", "LDS")),
        // A slot is passed on before its value is stored, or before the slot is free.
        ("corpus/ring_mpmc", "sm_90a", Drop("MEMBAR.SC.CTA", 2), (RaceKind::Plain, "STS", "LDS")),
        ("corpus/ring_mpmc", "sm_80", Drop("MEMBAR.SC.CTA", 1), (RaceKind::Plain, "STS", "LDS")),
        // The first test of a phase does not wait; or threads leave objects without a release.
        ("corpus/lib_barrier", "sm_80", Put("LOP3.LUT P0, RZ, R6, 0x80000000, R11, 0x48, !PT", TRUE), (RaceKind::Plain, "STS", "LDS")),
        ("corpus/lib_barrier", "sm_80", Drop("MEMBAR.ALL.CTA", 5), (RaceKind::Plain, "STS", "LDS")),
        ("corpus/lib_pipeline", "sm_90a", Drop("MEMBAR", 0), (RaceKind::PlainAndAtomic, "SYNCS", "SYNCS")),
    ];
    let mut missed = Vec::new();
    let step = if atoms_host::is_nightly() { 1 } else { 2 };
    for (kernel, arch, plant, (kind, one, other)) in rows.into_iter().step_by(step) {
        let what = match &plant {
            Drop(what, nth) => format!("{kernel} on {arch} without `{what}` {nth}"),
            Put(what, with) => format!("{kernel} on {arch} with `{with}` for `{what}`"),
        };
        // A racy kernel may run forever.
        let mut launch = launch(kernel);
        launch.cycle_budget = Some(launch.cycle_budget.unwrap_or(30_000));
        let (_, found) = check(&what, &planted(&listing(kernel, arch), &plant), &launch);
        let pair = |lines: &[String; 2]| {
            let [first, second] = lines;
            (first.contains(one) && second.contains(other)) || (first.contains(other) && second.contains(one))
        };
        if !found.iter().any(|f| f.finding.kind == kind && pair(&f.texts)) {
            missed.push(format!("{what}: {:#?}", found.iter().map(shown).collect::<Vec<_>>()));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Kernel, planted change in its PTX, and a pair of lines that must be found.
type PtxRow = (&'static str, Plant, (RaceKind, &'static str, &'static str));

#[test]
fn races_planted_in_ptx_are_found_by_line() {
    use Plant::{Drop, Put};
    #[rustfmt::skip]
    let rows: Vec<PtxRow> = vec![
        ("hist_u32.sm_80.ptx", Drop("bar.sync", 0), (RaceKind::PlainAndAtomic, "st.shared", "atom.shared.add")),
        ("hist_u32.sm_80.ptx", Drop("bar.sync", 1), (RaceKind::PlainAndAtomic, "atom.shared.add", "ld.shared")),
        // Two CTAs count in one word of global memory.
        ("hist_u32.sm_80.ptx", Put("atom.global.add", "atom.relaxed.cta.global.add"), (RaceKind::Scope, "atom.relaxed.cta", "atom.relaxed.cta")),
        ("spin_lock_acqrel.sm_80.ptx", Put("st.release.cta", "st.relaxed.cta"), (RaceKind::Plain, "st.shared.u32", "ld.shared.u32")),
        ("spin_lock_acqrel.sm_90a.ptx", Put("cas.acquire.cta", "cas.relaxed.cta"), (RaceKind::Plain, "st.shared.u32", "ld.shared.u32")),
        ("ring_lanes.sm_70.ptx", Put("st.release", "st.relaxed"), (RaceKind::Plain, "st.shared", "ld.shared")),
        ("pipeline.sm_80.ptx", Drop("cp.async.wait_group", 0), (RaceKind::Plain, "cp.async.ca", "ld.shared.v4.u32")),
        ("pipeline.sm_80.ptx", Put("cp.async.wait_group 2", "cp.async.wait_group 3"), (RaceKind::Plain, "cp.async.ca", "ld.shared.v4.u32")),
        ("pipeline.sm_80.ptx", Drop("cp.async.wait_all", 0), (RaceKind::Plain, "cp.async.ca", "ld.shared.v2.u64")),
        // The next stage is filled while the previous one is still being copied to global memory.
        ("corpus/bulk_both.sm_120a.ptx", Drop("cp.async.bulk.wait_group.read", 0), (RaceKind::Plain, "cp.async.bulk.global", "cp.async.bulk.shared")),
        ("cluster_counts.sm_90.ptx", Drop("barrier.cluster.wait", 0), (RaceKind::PlainAndAtomic, "st.shared.u32", "atom.shared::cluster")),
        ("cluster_counts.sm_90.ptx", Put("arrive.release", "arrive.relaxed"), (RaceKind::PlainAndAtomic, "atom.shared::cluster", "ld.shared::cluster")),
        ("cluster_counts.sm_90.ptx", Put("red.add", "red.relaxed.cta.add"), (RaceKind::Scope, "red.relaxed.cta", "red.relaxed.cta")),
        ("corpus/last_out.sm_80.ptx", Put("atom.add.acq_rel.cta", "atom.add.release.cta"), (RaceKind::Plain, "st.shared", "ld.shared")),
        ("corpus/last_out.sm_120a.ptx", Put("atom.add.acq_rel.cta", "atom.add.acquire.cta"), (RaceKind::Plain, "st.shared", "ld.shared")),
        ("corpus/cluster_handoff.sm_90a.ptx", Put("ld.acquire.gpu", "ld.relaxed.gpu"), (RaceKind::Plain, "st", "ld.shared")),
        ("corpus/cluster_handoff.sm_120a.ptx", Put("st.release.gpu", "st.relaxed.gpu"), (RaceKind::Plain, "st", "ld.shared")),
        ("awbarrier.sm_100a.ptx", Put("mbarrier.arrive.shared", "mbarrier.arrive.relaxed.cta.shared"), (RaceKind::Plain, "st.shared", "ld.shared")),
    ];
    let mut missed = Vec::new();
    for (file, plant, (kind, one, other)) in rows {
        let (what, nth) = match &plant {
            Drop(what, nth) => (*what, *nth),
            Put(what, _) => (*what, 0),
        };
        let text = planted(&std::fs::read_to_string(folder().join(file)).unwrap(), &plant);
        let (_, found) = check_ptx(file, &text, &launch(file.split(".sm").next().unwrap()));
        let line = |number: u32| text.lines().nth(number as usize - 1).unwrap().to_string();
        let pairs: Vec<_> = found.iter().map(|f| (f.finding.kind, f.lines.map(line))).collect();
        let met = |(k, [first, second]): &(RaceKind, [String; 2])| {
            *k == kind
                && ((first.contains(one) && second.contains(other))
                    || (first.contains(other) && second.contains(one)))
        };
        if !pairs.iter().any(met) {
            missed.push(format!("{file}, `{what}` {nth}: {pairs:#?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Two CTAs add to one word of global memory, each with a different instruction.
fn two_atomics(first: &str, second: &str) -> Vec<Found> {
    let text = format!(
        "\t.target sm_80\n\t.section .text.both,\"ax\",@progbits\n\
         /*0000*/ S2R R0, SR_CTAID.X ;\n\
         /*0010*/ ISETP.NE.AND P0, PT, R0, RZ, PT ;\n\
         /*0020*/ IMAD.MOV.U32 R2, RZ, RZ, c[0x0][0x160] ;\n\
         /*0030*/ IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x164] ;\n\
         /*0040*/ IMAD.MOV.U32 R4, RZ, RZ, 0x1 ;\n\
         /*0050*/ @P0 {first} ;\n\
         /*0060*/ @!P0 {second} ;\n\
         /*0070*/ EXIT ;\n"
    );
    let launch = "kernel = 'both'\ngrid = 2\nblock = 32\n[[param]]\nname = 'out'\ntype = 'u32'\nzeros = 1\n";
    check("both", &text, &Launch::from_toml("both", launch, &folder()).unwrap()).1
}

#[test]
fn atomics_of_too_narrow_a_scope_are_found() {
    let red = |scope: &str| format!("RED.E.ADD.STRONG.{scope} [R2.64], R4");
    let kinds = |one: &str, other: &str| -> Vec<RaceKind> {
        two_atomics(one, other).iter().map(|f| f.finding.kind).collect()
    };
    assert_eq!(kinds(&red("GPU"), &red("GPU")), []);
    assert_eq!(kinds(&red("GPU"), &red("SYS")), []);
    assert_eq!(kinds(&red("GPU"), &red("SM")), [RaceKind::Scope]);
    assert_eq!(kinds(&red("SM"), &red("SM")), [RaceKind::Scope]);
    assert_eq!(kinds(&red("GPU"), "STG.E [R2.64], R0"), [RaceKind::PlainAndAtomic]);
    let Found { finding, texts: lines, .. } = two_atomics(&red("GPU"), &red("SM")).remove(0);
    assert_eq!((finding.first.cta, finding.second.cta), (0, 1));
    assert!(lines[0].contains("STRONG.SM") && lines[1].contains("STRONG.GPU"), "{lines:?}");
    // One record stands for the 32 lanes that came first, so each of the 32 later lanes counts once.
    assert_eq!(finding.count, 32);
}

/// Warp 0 counts in the first of four words. Warp 1 loads all four words, and stores the sum of two of its
/// registers.
fn wide_load(one: &str, other: &str) -> Vec<Found> {
    let text = format!(
        "\t.target sm_80\n\t.section .text.wide,\"ax\",@progbits\n\
         /*0000*/ S2R R0, SR_TID.X ;\n\
         /*0010*/ ISETP.GE.AND P0, PT, R0, 0x20, PT ;\n\
         /*0020*/ IMAD.MOV.U32 R2, RZ, RZ, c[0x0][0x160] ;\n\
         /*0030*/ IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x164] ;\n\
         /*0040*/ @!P0 ATOMS.POPC.INC.32 RZ, [URZ] ;\n\
         /*0050*/ @!P0 EXIT ;\n\
         /*0060*/ LDS.128 R4, [RZ] ;\n\
         /*0070*/ IADD3 R8, {one}, {other}, RZ ;\n\
         /*0080*/ STG.E [R2.64], R8 ;\n\
         /*0090*/ EXIT ;\n"
    );
    let launch = "kernel = 'wide'\ngrid = 1\nblock = 64\n[[param]]\nname = 'out'\ntype = 'u32'\nzeros = 1\n";
    check("wide", &text, &Launch::from_toml("wide", launch, &folder()).unwrap()).1
}

#[test]
fn words_of_a_wide_load_that_nothing_reads_are_no_race() {
    let kinds =
        |one, other| -> Vec<RaceKind> { wide_load(one, other).iter().map(|f| f.finding.kind).collect() };
    assert_eq!(kinds("R5", "R7"), []);
    assert_eq!(kinds("R4", "R7"), [RaceKind::PlainAndAtomic]);
}

/// One thread copies data to global memory, waits, and loads the copied data.
fn copied_and_loaded(wait: &str) -> Vec<RaceKind> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry back(.param .u64 out)\n{{\n\
         .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.shared .align 16 .b8 s[16];\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r1, 5;\nst.shared.u32 [s], %r1;\nfence.proxy.async.shared::cta;\n\
         cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 16;\ncp.async.bulk.commit_group;\n\
         {wait} 0;\nst.shared.u32 [s], %r1;\nld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1+16], %r2;\nret;\n}}\n"
    );
    let launch = "kernel = 'back'\ngrid = 1\nblock = 1\n[[param]]\nname = 'out'\ntype = 'u32'\nzeros = 8\n";
    let launch = Launch::from_toml("back", launch, &folder()).unwrap();
    check_ptx("back.ptx", &text, &launch).1.iter().map(|f| f.finding.kind).collect()
}

#[test]
fn a_wait_for_reads_is_none_for_writes() {
    assert_eq!(copied_and_loaded("cp.async.bulk.wait_group"), []);
    assert_eq!(copied_and_loaded("cp.async.bulk.wait_group.read"), [RaceKind::Plain]);
}
