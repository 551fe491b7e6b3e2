//! Calibration: constants fitted to published and artificial measurements, and errors for unusable tables.

use std::collections::BTreeSet;

use atoms_cosim::embedded::rtl_dir;
use atoms_explore::calibrate::{
    Calibration, CostLaw, FigureResidual, FittedConstant, GpuConstant, GpuProfile, GpuTime, Metric, PassRule,
    Provenance, RoundCounts, calibrate, published, read_measurements,
};
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_workload::Generated;
use expect_test::expect_file;

fn all_published() -> Vec<Calibration> {
    calibrate(&published(), &rtl_dir(), None).expect("every configuration is there")
}

fn gpu<'a>(all: &'a [Calibration], name: &str) -> &'a Calibration {
    all.iter().find(|one| one.gpu == name).unwrap_or_else(|| panic!("no {name}"))
}

fn figure<'a>(of: &'a Calibration, name: &str) -> &'a FigureResidual {
    of.residuals.iter().find(|one| one.of.figure == name).unwrap_or_else(|| panic!("no {name}"))
}

fn constant(of: &Calibration, constant: GpuConstant) -> &FittedConstant {
    let found = of.constants.iter().find(|one| one.constant == constant);
    found.unwrap_or_else(|| panic!("{} is not fitted", constant.name()))
}

fn fitted(table: &str) -> Calibration {
    let measurements = read_measurements(table.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let mut found = calibrate(&measurements, &rtl_dir(), None).expect("`default` is there");
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// `docs/calibration.md` shows the residual of every figure with a prediction. `cargo regenerate` updates it.
#[test]
fn the_page_has_the_residuals() {
    const BEGIN: &str = "<!-- residuals: generated from explore/data/silicon.csv -->\n```text\n";
    const END: &str = "```\n<!-- end -->";
    let page = expect_file!["../../docs/calibration.md"];
    let old = page.data();
    let (before, rest) = old.split_once(BEGIN).expect("docs/calibration.md has the first marker");
    let (_, after) = rest.split_once(END).expect("and the second");
    let shown: Vec<_> = all_published().iter().map(ToString::to_string).collect();
    let shown = shown.join("\n");
    let predicted = shown.lines().filter(|line| !line.contains(" none: ")).map(|line| format!("{line}\n"));
    page.assert_eq(&format!("{before}{BEGIN}{}{END}{after}", predicted.collect::<String>()));
}

#[test]
fn no_figure_is_lost() {
    let all = all_published();
    let residuals: Vec<_> = all.iter().flat_map(|one| &one.residuals).collect();
    assert_eq!(residuals.len(), published().len());
    for one in &residuals {
        assert!(
            one.predicted[0].is_some() || one.why_not.is_some(),
            "{}: neither figure nor reason",
            one.of.figure
        );
        assert!(!one.of.source.is_empty(), "{} has a source", one.of.figure);
    }
    let predicted = residuals.iter().filter(|one| one.predicted[0].is_some());
    let anchors: BTreeSet<u32> = predicted.filter_map(|one| one.of.anchor).collect();
    assert_eq!(anchors, (1..=10).collect());
}

/// Remembered figures are marked, and no constant of a GPU with sources depends on them.
#[test]
fn what_is_remembered_is_marked() {
    let all = all_published();
    assert_eq!(constant(gpu(&all, "v100"), GpuConstant::Pass).mark, Provenance::R);
    for name in ["b300", "a100"] {
        for one in &gpu(&all, name).constants {
            assert_eq!(one.mark, Provenance::S, "{name}: {}", one.constant.name());
        }
    }
}

#[test]
fn cas_has_half_the_rate_and_a_bank_conflict_its_share() {
    let all = all_published();
    let b300 = gpu(&all, "b300");
    for (name, expected) in [("cas-to-add", 0.5), ("bank-8-way-to-1", 0.125)] {
        let found = figure(b300, name).predicted[CostLaw::Unit as usize].expect("it is predicted");
        assert!((found / expected - 1.0).abs() < 1e-3, "{name}: {found}");
    }
}

fn counts(with: &str) -> RoundCounts {
    let mut workload = Generated::named("contend").expect("there is one");
    for setting in ["warps=1", "units=4"].into_iter().chain(with.split_whitespace()) {
        let (name, value) = setting.split_once('=').expect("NAME=VALUE");
        workload.set(name, value).expect("it can be this");
    }
    RoundCounts::of(&workload, &default_unit(), 1).expect("it runs")
}

fn default_unit() -> NamedConfig {
    configs::named(&rtl_dir(), "default").expect("it is there")
}

#[test]
fn each_rule_counts_passes_as_its_model_does() {
    #[rustfmt::skip]
    const CASES: &[(&str, &str, [f64; 3])] = &[
        // rule                                          workload                  unit, GPGPU-Sim, gem5
        ("32 lanes at one word",                         "contention=32",             [32.0, 1.0, 32.0]),
        ("32 lanes at words of their own",               "",                          [1.0, 1.0, 1.0]),
        ("8 words on a bank",                            "at=bank contention=8",      [8.0, 8.0, 8.0]),
        ("a load is broadcast",                          "op=lds contention=32",      [1.0, 1.0, 1.0]),
        ("POPC.INC is merged, which gem5 does not know", "op=popc.inc contention=32", [1.0, 1.0, 32.0]),
    ];
    for (rule, with, expected) in CASES {
        let counts = counts(with);
        let found = PassRule::ALL.map(|rule| counts.passes_per_request(rule));
        assert_eq!(found, *expected, "{rule}");
    }
}

#[test]
fn made_up_constants_are_found() {
    // True constants: 30 cycles per round trip, 3 per pass, 5 per pass of CAS. Each figure is off by 1 %.
    let mut table = "workload,metric,value,tolerance\n".to_string();
    let mut up = false;
    let mut row = |workload: &str, metric: &str, value: f64| {
        up = !up;
        table += &format!("{workload},{metric},{},2\n", value * if up { 1.01 } else { 0.99 });
    };
    for n in [1, 2, 8, 32] {
        row(&format!("contend contention={n}"), "latency", 30.0 + 3.0 * f64::from(n));
        row(&format!("contend op=cas contention={n}"), "latency", 30.0 + 5.0 * f64::from(n));
        row(&format!("contend at=bank contention={n}"), "throughput", 32.0 / (3.0 * f64::from(n)));
    }
    let found = fitted(&table);
    for (of, expected) in [(GpuConstant::Atom, 30.0), (GpuConstant::Pass, 3.0), (GpuConstant::CasPass, 2.0)] {
        let FittedConstant { value, error, .. } = constant(&found, of);
        let error = error.expect("it is determined");
        assert!(
            (value - expected).abs() < 2.0 * error && error < 0.2 * expected,
            "{of:?}: {value} +- {error}"
        );
    }
    assert_eq!(found.doubts, Vec::<String>::new());
    assert!(found.residuals.iter().all(|one| one.is_within(CostLaw::Unit) == Some(true)), "{found}");
    let [unit, _, gem5, _] = &found.laws[..] else { panic!("four laws") };
    assert_eq!((unit.figures, unit.within), (12, 12));
    assert_eq!(unit.mean_error, gem5.mean_error, "without merging, gem5 counts as the unit does");
    // A rule that merges lanes at one word cannot fit these figures.
    assert!(found.laws[CostLaw::GpgpuSim as usize].mean_error > Some(20.0), "{found}");
}

#[test]
fn what_is_not_told_apart_is_named_with_what_would_tell() {
    let found = fitted("workload,metric,value\ncontend,latency,44\ncontend op=xor,latency,45\n");
    assert_eq!(found.doubts.len(), 1, "{found}");
    let doubt = &found.doubts[0];
    assert!(doubt.starts_with("atom and pass cannot be told apart: "), "{doubt}");
    assert!(doubt.contains(" = 44.4"), "{doubt}");
    assert!(doubt.contains("; the ") && doubt.contains(" would determine atom to +- "), "{doubt}");
    let error = constant(&found, GpuConstant::Atom).error;
    assert_eq!(error, None);
    assert!(found.profile().cycles.is_empty(), "no time follows from constants that are not known");
    // The contention is too small to determine the time of a pass.
    let found = fitted("workload,metric,value\ncontend,latency,44\ncontend contention=2,latency,45.5\n");
    assert!(
        found.doubts.iter().any(
            |doubt| doubt.starts_with("pass is hardly determined, since the effect of atom is similar: ")
        ),
        "{found}"
    );
}

/// If warps wait for the unit, round trips do not affect the time.
#[test]
fn a_constant_that_never_counts_is_named() {
    let busy = "workload,metric,value\ncontend warps=64 contention=32,latency,2048\ncontend warps=64 contention=16,latency,1024\n";
    let found = fitted(busy);
    let doubt = "atom is not determined: it affects no figure, since other times are longer; the ";
    assert!(found.doubts.len() == 1 && found.doubts[0].starts_with(doubt), "{found}");
    assert!((constant(&found, GpuConstant::Pass).value - 1.0).abs() < 1e-6, "{found}");
}

#[test]
fn tables_that_cannot_be_used_say_why() {
    #[rustfmt::skip]
    const CASES: &[(&str, &str)] = &[
        ("", "column `workload` is missing; required columns: workload, metric, value; optional columns: figure"),
        ("workload,value\ncontend,4\n", "column `metric` is missing; "),
        ("workload,metric,value,sourse\n", "column `sourse` is unknown; "),
        ("workload,metric,value\n", "the file has no measurement; "),
        ("workload,metric,value\ncontend,latency,44\ncontent,latency,44\n", "line 3: no workload `content`; there are contend, "),
        ("workload,metric,value\ncontend op=nand,latency,44\n", "line 2: `op` must be one of add, "),
        ("workload,metric,value\ncontend op,latency,44\n", "line 2: `op`: expected NAME=VALUE, such as op=cas"),
        ("workload,metric,value\ncontend op=cas op=add,latency,44\n", "line 2: `op` is given twice, as cas and as add; leave one out"),
        ("workload,metric,value\nhistogram s=2,latency,44\n", "line 2: `s` of workload histogram has no effect: set `spread=zipf`, or leave out `s`"),
        ("workload,metric,value\ncontend,speed,44\n", "line 2: unknown variant `speed`, expected one of `latency`, `throughput`, `passes`"),
        ("workload,metric,value\ncontend,latency,4x4\n", "line 2: value is `4x4`: invalid float literal"),
        ("workload,metric,value\ncontend,latency,\n", "line 2: value is ``: cannot parse float from empty string"),
        ("workload,metric,value\ncontend,latency,-1\n", "line 2: value is -1: expected 0.000001 to 1000000000"),
        ("workload,metric,value\ncontend,latency,NaN\n", "line 2: value is NaN: expected 0.000001 to 1000000000"),
        ("workload,metric,value,tolerance\ncontend,latency,1,0\n", "line 2: tolerance is 0: expected 0.000001 to 1000000000"),
        ("workload,metric,value\n,latency,44\n", "line 2: expected a `workload`, or a reason in `left_out`"),
        ("workload,metric,value\ncontend + contend,throughput,44\n", "line 2: `contend + contend`: a sequence of workloads needs metric `latency`"),
        ("workload,metric,value\ncontend,latency\n", "CSV error: record 1 (line: 2, byte: 22): found record with 2 fields, but the previous record has 3 fields"),
    ];
    for (table, expected) in CASES {
        let said = read_measurements(table.as_bytes()).expect_err(table).to_string();
        assert!(said.starts_with(expected), "{table}: {said}");
    }
}

#[test]
fn too_few_figures_give_no_constants() {
    let found = fitted("workload,metric,value\ncontend,latency,44\n");
    let why = "1 figure cannot determine 2 constants (atom, pass): add measurements";
    assert_eq!(found.too_few.as_deref(), Some(why));
    assert_eq!(found.residuals[0].why_not.as_deref(), Some("too few figures"));
    // A workload that the unit does not support affects only its own figure.
    let table = "workload,metric,value\ncontend,latency,44\ncontend contention=32,latency,75\ncontend warps=64 at=bank contention=1000,latency,1\n";
    let found = fitted(table);
    assert_eq!(found.too_few, None);
    let why = found.residuals[2].why_not.as_deref().expect("it does not fit into memory");
    assert!(why.contains("of shared memory"), "{why}");
}

/// Predictions from a profile reproduce the fitted measurements.
#[test]
fn a_profile_gives_times() {
    let table = "workload,metric,value\ncontend,latency,44\ncontend contention=32,latency,106\n";
    let profile = fitted(table).profile();
    let read = GpuProfile::from_text(&profile.to_text()).expect("it was written so");
    assert_eq!(read.gpu, "gpu");
    let time = |with| read.time(&counts(with));
    let close = |found: Result<GpuTime, String>, expected: f64| {
        let found = found.expect("its constants are known").cycles;
        assert!((found / expected - 1.0).abs() < 1e-6, "{found}, not {expected}");
    };
    close(time(""), 4.0 * 44.0);
    close(time("contention=32"), 4.0 * 106.0);
    // 64 warps wait for the unit, so their round trips overlap.
    close(time("warps=64 contention=32"), 4.0 * 64.0 * 64.0);
    let unknown = time("op=cas").expect_err("nothing is known of CAS");
    assert_eq!(unknown, "the workload needs constant `cas_pass` of gpu, which is not known");
    let ratios = fitted(
        "workload,metric,value,baseline\ncontend at=bank contention=2,latency,1.5,contend\ncontend at=bank contention=8,latency,4.5,contend\n",
    );
    let said = ratios.profile().time(&counts("")).expect_err("no figure is in cycles");
    assert_eq!(
        said,
        "the constants of gpu are not in cycles, but in multiples of the time of `contend`, since every fitted figure is a ratio"
    );
    assert_eq!(ratios.residuals[0].of.metric, Metric::Latency);
}

#[test]
fn a_time_has_a_range_and_says_where_nothing_was_measured() {
    const FEW: &str = "workload,metric,value\ncontend,latency,44\ncontend contention=8,latency,56\n";
    let time = |table: &str, with| fitted(table).profile().time(&counts(with)).expect("it is in cycles");
    let inside = time(FEW, "contention=8");
    let (low, high) = inside.range.expect("errors are known");
    // Each of the two measurements may be off by 5 %. The constants may be off by more, since they are
    // differences.
    assert!(low < 0.95 * inside.cycles && inside.cycles < high && high < 1.5 * inside.cycles, "{inside:?}");
    assert_eq!(inside.outside, [""; 0]);
    // The law misses the third measurement by a quarter, so the range is wider than with two measurements.
    let wild = time(&format!("{FEW}contend contention=16,latency,120\n"), "contention=8");
    let wide = |time: &GpuTime| time.range.map_or(0.0, |(low, high)| (high - low) / time.cycles);
    assert!(wide(&wild) > 1.2 * wide(&inside), "{wild:?} beside {inside:?}");
    let beyond = time(FEW, "contention=32").outside;
    assert_eq!(beyond, ["`pass` counts 32.0 times in a round, in measurements at most 8.0"]);
    let saturated = ["warps keep the unit busy in every cycle, as in no fitted measurement"];
    assert_eq!(time(FEW, "warps=64 contention=8").outside, saturated);
    let full = format!("{FEW}contend at=bank contention=32,throughput,0.6\n");
    assert_eq!(time(&full, "warps=64 contention=8").outside, [""; 0]);
    // A profile of an earlier version has neither errors nor counts.
    let text = fitted(FEW).profile().to_text();
    let old: String =
        text.lines().take_while(|line| *line != "[errors]").map(|line| format!("{line}\n")).collect();
    let old = old.replace("residual", "# residual");
    let old = GpuProfile::from_text(&old).expect("it is still read").time(&counts("contention=32"));
    assert!(old.is_ok_and(|time| time.range.is_none() && time.outside.is_empty()));
}
