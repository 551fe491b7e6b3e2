//! Sweeps: points of a file, stored results, and the report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::rtl::RtlIdentity;
use atoms_explore::cost::{CostError, CostQuestion, UnitCost, estimate};
use atoms_explore::report::{DrawnPlot, SweepReport, check_folder, check_plots, file, plots};
use atoms_explore::sweep::{
    Certify, FIGURES, Measured, PointStore, Searched, SweepFile, SweepPoints, SweepRun, SweepRunError,
    search, sweep,
};
use atoms_stimulus::configs::NamedConfig;
use roxmltree::Document;

const SWEEP: &str = r#"
about = "Do more banks help a histogram?"
workload = "histogram"
config = "small"
seed = 5
[unit]
num_banks = { from = 4, to = 16, times = 2 }
[with]
spread = ["uniform", "zipf"]
bins = 16
units = 8
[[plot]]
x = "num_banks"
y = "throughput"
by = "spread"
"#;

fn plan(text: &str) -> SweepFile {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}"))
}

fn points(text: &str) -> SweepPoints {
    plan(text).points(Path::new("test.toml"), &rtl_dir()).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    let found = toml::from_str::<SweepFile>(text).map_err(|error| error.to_string());
    let found = found
        .and_then(|plan| plan.points(Path::new("test.toml"), &rtl_dir()).map_err(|error| error.to_string()));
    found.err().unwrap_or_else(|| panic!("it is accepted: {text}"))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sweeps").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn fitted(config: &NamedConfig) -> Result<UnitCost, CostError> {
    let rtl_dir = rtl_dir();
    estimate(&CostQuestion::whole(&rtl_dir, config))
}

fn with_run<T>(text: &str, store: &Path, certify: Certify, of: impl FnOnce(&SweepRun<'_>) -> T) -> T {
    let store = PointStore::new(store).expect("the program can be read");
    let rtl_dir = rtl_dir();
    of(&SweepRun {
        seed: plan(text).seed,
        rtl_dir: &rtl_dir,
        certify,
        cost: Some(&fitted),
        jobs: 2,
        store: &store,
        interrupt: None,
    })
}

fn measured(text: &str, store: &Path, certify: Certify) -> Vec<Measured> {
    with_run(text, store, certify, |run| {
        sweep(run, points(text).points, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
    })
}

fn found(text: &str, store: &Path, certify: Certify) -> Result<Searched, SweepRunError> {
    let plan = plan(text);
    let goals = plan.search.clone().expect("a search");
    with_run(text, store, certify, |run| search(run, &plan, Path::new("test.toml"), &goals, &mut |_| {}))
}

#[test]
fn a_grid_has_every_point_once() {
    let SweepPoints { points, impossible } = points(SWEEP);
    let names: Vec<_> =
        points.iter().map(|point| format!("{} {}", point.config.name, point.settings["spread"])).collect();
    assert_eq!(
        names,
        [
            "small uniform",
            "small zipf",
            "small,num_banks=8 uniform",
            "small,num_banks=8 zipf",
            "small,num_banks=16 uniform",
            "small,num_banks=16 zipf",
        ]
    );
    assert!(impossible.is_empty());
    let labels: Vec<_> = points[2].labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(labels, ["num_banks=8", "spread=uniform"], "only what varies");
}

#[test]
fn a_sample_is_spread_over_the_grid_and_the_same_again() {
    let text = "about = \"a\"\nworkload = \"contend\"\nsobol = 64\n[unit]\nqueue_depth = { from = 1, to = 16, by = 1 }\n\
                [with]\nwarps = { from = 1, to = 64, by = 1 }\n";
    let names = |text: &str| -> Vec<String> {
        let of = |p: &atoms_explore::sweep::SweepPoint| format!("{} {}", p.config.name, p.settings["warps"]);
        points(text).points.iter().map(of).collect()
    };
    let once = names(text);
    assert_eq!(once.len(), 64);
    assert_eq!(once, names(text));
    assert_ne!(once, names(&text.replace("sobol", "seed = 2\nsobol")));
    assert!(once.iter().collect::<BTreeSet<_>>().len() > 55, "{once:?}");
    let depths: BTreeSet<_> = points(text).points.iter().map(|p| p.labels["queue_depth"].clone()).collect();
    assert_eq!(depths.len(), 16, "each value of a parameter is met");
}

#[test]
fn stated_points_share_what_is_fixed() {
    let text = "about = \"a\"\nworkload = [\"contend\", \"reduction\"]\nconfig = \"small\"\n[with]\nwarps = 2\n\
                [[point]]\nnum_banks = 8\n[[point]]\nnum_banks = 16\nunits = 3\n";
    let points = points(text).points;
    let names: Vec<_> =
        points.iter().map(|p| format!("{} {} {:?}", p.workload, p.config.name, p.settings)).collect();
    assert_eq!(names.len(), 4);
    assert_eq!(names[0], "contend small,num_banks=8 {\"warps\": \"2\"}");
    assert_eq!(names[3], "reduction small,num_banks=16 {\"units\": \"3\", \"warps\": \"2\"}");
}

#[test]
fn points_that_cannot_be_are_left_out_with_the_rule() {
    let text = "about = \"a\"\nworkload = \"contend\"\nconfig = \"small\"\n[unit]\nnum_lanes = [4, 8]\nqueue_depth = [1, 2]\n";
    let SweepPoints { points, impossible } = points(text);
    assert_eq!(points.len(), 2);
    let rules: Vec<_> = impossible.iter().map(|one| (one.rule.as_str(), one.points)).collect();
    assert_eq!(rules, [("spin_hold is 4: expected num_lanes, 8, or more (spec 5.4)", 2)]);
    let none = refused(&text.replace("[4, 8]", "[8, 16]"));
    assert!(none.starts_with("every point of `test.toml` is invalid: spin_hold is 4"), "{none}");
}

#[test]
fn what_is_no_sweep_is_refused() {
    let head = "about = \"a\"\nworkload = \"contend\"\n";
    let rows = [
        ("workload = \"contend\"\n".to_string(), "missing field `about`"),
        (format!("{head}[units]\n"), "unknown field `units`"),
        (format!("{head}[unit]\nnum_bank = 4\n"), "no parameter `num_bank`; the nearest is `num_banks`"),
        (
            format!("{head}[unit]\nnum_banks = []\n"),
            "`num_banks` in `test.toml`: expected at least one value",
        ),
        (format!("{head}[unit]\nnum_banks = [8, 8]\n"), "8 is stated twice; delete one"),
        (format!("{head}[unit]\nnum_banks = {{ from = 1 }}\n"), "expected { from = 1, to = 8, by = 1 }"),
        (format!("{head}[unit]\nnum_banks = {{ from = 1, to = 9, times = 1 }}\n"), "expected { from = 1"),
        (format!("{head}[with]\nthink = {{ from = 0, to = 1e9, by = 1 }}\n"), "more than 100000 values"),
        (
            format!("{head}budget = 10\n[with]\nthink = {{ from = 0, to = 50, by = 1 }}\n"),
            "`test.toml` has 51 points, but its budget is 10: use fewer values (think 51), `sobol = N` for a sample, or `budget = 51`",
        ),
        (format!("{head}config = \"defaul\"\n"), "no configuration `defaul`"),
        (
            format!("{head}[with]\nwarps = 1\n[[point]]\nwarps = 2\n"),
            "`warps` in `test.toml`: stated for single points and for all points; keep one",
        ),
        (
            format!("{head}[with]\nwarp = 1\n"),
            "`test.toml`: workload contend has no parameter `warp`; it has",
        ),
        (head.replace("contend", "contnd"), "`test.toml`: no workload `contnd`; there are contend,"),
        (
            head.replace("\"contend\"", "[\"contend\", \"queue\", \"contend\"]"),
            "contend is stated twice; delete one",
        ),
        (
            head.replace("contend", "histogram") + "[with]\ns = [0, 1, 2]\nunits = 16\n",
            "`test.toml`: `s` of workload histogram has no effect: set `spread=zipf`, or leave out `s`",
        ),
        (
            head.replace("contend", "histogram") + "[[point]]\nspread = \"zipf\"\ns = 1\n[[point]]\ns = 2\n",
            "`test.toml`: `s` of workload histogram has no effect: set `spread=zipf`, or leave out `s`",
        ),
    ];
    for (text, expected) in rows {
        let said = refused(&text);
        assert!(said.contains(expected), "{text}: {said}");
    }
}

/// A second sweep reuses stored results. Another seed, or an incomplete file, means a new measurement.
#[test]
fn measurements_are_kept() {
    let store = folder("kept");
    let first = measured(SWEEP, &store, Certify::None);
    assert!(first.iter().all(|one| !one.kept && !one.certified));
    let again = measured(SWEEP, &store, Certify::None);
    assert!(again.iter().all(|one| one.kept));
    let outcomes = |all: &[Measured]| all.iter().map(|one| one.outcome.clone()).collect::<Vec<_>>();
    assert_eq!(outcomes(&first), outcomes(&again));
    let other = measured(&SWEEP.replace("seed = 5", "seed = 6"), &store, Certify::None);
    assert!(other.iter().all(|one| !one.kept));
    for entry in std::fs::read_dir(&store).expect("a folder").take(1) {
        let path = entry.expect("a file").path();
        let text = std::fs::read(&path).expect("it can be read");
        std::fs::write(&path, &text[..text.len() / 2]).expect("writes");
    }
    let both = [SWEEP.to_string(), SWEEP.replace("seed = 5", "seed = 6")];
    let kept =
        both.iter().flat_map(|text| measured(text, &store, Certify::None)).filter(|one| one.kept).count();
    assert_eq!(kept, 11);
}

#[test]
fn figures_that_need_a_cost_are_those_without_a_value_where_there_is_none() {
    let measured = measured(SWEEP, &folder("needs-cost"), Certify::None);
    let mut outcome = measured.into_iter().next().expect("a point").outcome.expect("it is measured");
    let values = FIGURES.iter().map(|figure| (figure.of)(&outcome).is_some()).collect::<Vec<_>>();
    outcome.cost = None;
    for (figure, had) in FIGURES.iter().zip(values) {
        assert_eq!(figure.from.is_some(), had && (figure.of)(&outcome).is_none(), "{}", figure.name);
    }
}

#[test]
fn certified_points_are_those_of_the_model() {
    let store = folder("certified");
    let text = SWEEP.replace("to = 16", "to = 8");
    let estimates = measured(&text, &store, Certify::None);
    let certified = measured(&text, &store, Certify::All);
    assert!(certified.iter().all(|one| one.certified && !one.kept), "the model's word is no certificate");
    for (estimate, certified) in estimates.iter().zip(&certified) {
        let of = |one: &Measured| {
            one.outcome
                .clone()
                .map(|o| (o.measurement.cycles, o.measurement.units, o.measurement.passes, o.usage))
        };
        assert_eq!(of(estimate), of(certified));
        assert!(certified.outcome.as_ref().is_ok_and(|o| o.measurement.judged > 0), "the oracle was asked");
    }
    assert!(measured(&text, &store, Certify::None).iter().all(|one| one.kept && one.certified));
}

#[test]
fn the_report_says_what_was_found() {
    let out = folder("report");
    let measured = measured(SWEEP, &out.join("store"), Certify::None);
    let rtl = RtlIdentity::of(&rtl_dir()).expect("the RTL of the checkout");
    let plan = plan(SWEEP);
    let report = report_of(&plan, &rtl, &measured);
    let findings = report.write(&out).expect("it is written");
    assert!(findings[0].starts_with("uniform is best at num banks 4: up to "), "{findings:?}");
    let page = std::fs::read_to_string(out.join(file::PAGE)).expect("a page");
    assert!(page.contains(&findings[0]) && !page.contains("<script") && !page.contains(" src="), "{page}");
    assert!(page.contains("0</b> of 6 points certified"), "what is not certified says so");
    assert_eq!(page.matches("href=\"#point-").count(), 6, "each mark leads to its point");
    assert!(page.contains(
        "atoms explore run histogram --with bins=16,spread=zipf,units=8 --config small,num_banks=8 --seed 5 --on model"
    ));
    for name in ["throughput-num_banks-spread", "cycles", "banks"] {
        let svg = std::fs::read_to_string(out.join(format!("{name}.svg"))).expect("a plot");
        assert!(Document::parse(&svg).is_ok(), "{name}");
    }
    for one in &measured {
        let outcome = one.outcome.as_ref().expect("it is measured");
        let all: u64 = outcome.usage.stack.values().sum();
        assert_eq!(all, outcome.measurement.cycles, "the stack has every cycle once");
        let served: u64 = outcome.usage.served_over_time.iter().flatten().sum();
        assert!(served >= outcome.measurement.passes, "each pass serves a word at least");
    }
    let mut table = csv::Reader::from_path(out.join(file::CSV)).expect("a table");
    let head = table.headers().expect("a head").clone();
    for name in ["config", "num_banks", "try_wait_limit", "with.spread", "throughput", "cycles", "certified"]
    {
        assert!(head.iter().any(|own| own == name), "no column `{name}` in {head:?}");
    }
    assert_eq!(table.records().count(), 6);
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join(file::JSON)).expect("a file")).expect("JSON");
    assert_eq!(json["points"][5]["parameters"]["num_banks"], 16);
    assert_eq!(json["points"][5]["certified"], false);
    assert!(json["points"][5]["figures"]["throughput"].as_f64().is_some_and(|value| value > 0.0));
    let odd = SweepFile { plot: vec![serde_plot("thruput", "num_banks")], ..plan.clone() };
    let error =
        SweepReport { plots: &odd.plot, ..report }.write(&out).expect_err("no such figure").to_string();
    assert!(error.contains("no figure `thruput`; there are throughput, cycles"), "{error}");
}

fn serde_plot(y: &str, x: &str) -> atoms_explore::sweep::PlotFile {
    toml::from_str(&format!("x = \"{x}\"\ny = \"{y}\"\n")).expect("a plot")
}

fn report_of<'a>(plan: &'a SweepFile, rtl: &'a RtlIdentity, measured: &'a [Measured]) -> SweepReport<'a> {
    SweepReport {
        about: &plan.about,
        file: "test.toml",
        seed: plan.seed,
        rtl,
        measured,
        impossible: &[],
        plots: &plan.plot,
    }
}

fn drawn(text: &str, name: &str) -> Vec<DrawnPlot> {
    let (plan, measured) = (plan(text), measured(text, &folder(name), Certify::None));
    let rtl = RtlIdentity::of(&rtl_dir()).expect("the RTL of the checkout");
    let report = report_of(&plan, &rtl, &measured);
    plots(&report).unwrap_or_else(|error| panic!("{error}"))
}

fn texts(plot: &DrawnPlot) -> Vec<String> {
    let document = Document::parse(&plot.svg).expect("it is XML");
    let texts =
        document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    texts.map(|node| node.text().unwrap_or_default().trim().to_string()).collect()
}

fn marks(plot: &DrawnPlot) -> usize {
    plot.svg.matches("href=\"#point-").count()
}

const QUEUE: &str = r#"
about = "How deep should the queue be?"
workload = ["contend", "accumulate"]
config = "small"
[unit]
queue_depth = [1, 2]
num_banks = 8
[with]
warps = [2, 4]
units = 8
"#;

#[test]
fn plots_show_each_value_of_a_parameter_that_they_do_not_name() {
    let text = QUEUE.replace("[\"contend\", \"accumulate\"]", "\"contend\"");
    let text = format!(
        "{text}contention = 4\nop = [\"add\", \"popc.inc\"]\n[[plot]]\nx = \"queue_depth\"\ny = \"cycles\"\n"
    );
    let plot = drawn(&text, "free").swap_remove(0);
    assert_eq!(marks(&plot), 8, "every point");
    let texts = texts(&plot);
    for wanted in [
        "add, warps 2",
        "popc.inc, warps 4",
        "contend on small, contention 4, num banks 8, units 8; seed 1",
        "cycles by queue depth",
    ] {
        assert!(texts.iter().any(|text| text == wanted), "no `{wanted}` in {texts:?}");
    }
    assert!(plot.findings[0].starts_with("popc.inc, warps 2 is best"), "{:?}", plot.findings);
}

#[test]
fn parameters_that_vary_along_a_curve_are_named() {
    let text = "about = \"a\"\nworkload = \"contend\"\nconfig = \"small\"\n[with]\nunits = 4\n[[point]]\nnum_banks = 4\nnum_rows = 16\n\
                [[point]]\nnum_banks = 8\nnum_rows = 8\n[[plot]]\nx = \"num_banks\"\ny = \"cycles\"\ntitle = \"t\"\n";
    let texts = texts(&drawn(text, "along")[0]);
    assert_eq!(texts[..2], ["t", "contend on small, units 4; seed 1; also varies: num rows"]);
}

#[test]
fn workloads_with_different_units_of_work_are_not_ranked() {
    let text = format!(
        "{QUEUE}[[plot]]\nx = \"queue_depth\"\ny = \"throughput\"\nby = \"workload\"\nonly = {{ warps = 4 }}\n\
         [[plot]]\nx = \"queue_depth\"\ny = \"cycles\"\nby = \"warps\"\ntitle = \"Cycles\"\n\
         [[plot]]\nx = \"area\"\ny = \"throughput\"\n"
    );
    let plots = drawn(&text, "units");
    let names: Vec<_> = plots.iter().map(|plot| plot.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "throughput-queue_depth-workload-warps-4",
            "cycles-queue_depth-warps-workload-accumulate",
            "cycles-queue_depth-warps-workload-contend",
            "throughput-area-workload-accumulate",
            "throughput-area-workload-contend",
            "cycles",
            "banks-contend",
            "banks-accumulate",
        ]
    );
    assert_eq!(plots[..5].iter().map(marks).collect::<Vec<_>>(), [4; 5]);
    let together = texts(&plots[0]).join(" ");
    assert!(together.contains("accumulate: one value added"), "{together}");
    assert!(
        together.contains("accumulate, contend on small, num banks 8, units 8, warps 4; seed 1"),
        "{together}"
    );
    assert_eq!(
        texts(&plots[1])[..2],
        ["Cycles: accumulate", "accumulate on small, num banks 8, units 8; seed 1"]
    );
    for finding in plots.iter().flat_map(|plot| &plot.findings) {
        assert!(finding.starts_with("With "), "{finding}");
        let [a, b] = ["contend", "accumulate"].map(|workload| finding.contains(workload));
        assert!(a != b, "about one workload: {finding}");
    }
    let search = QUEUE.replace(
        "[unit]",
        "[search]\ngoals = [\"throughput\", \"area\"]\npopulation = 4\ngenerations = 1\n[unit]",
    );
    let error =
        found(&search, &folder("units search"), Certify::None).expect_err("two units of work").to_string();
    assert_eq!(
        error,
        "`workload` in `test.toml`: a search ranks points, but these workloads have different units of work: \
         contend (one operation of a lane), accumulate (one value added); name one workload"
    );
    // Both workloads count added values.
    assert!(found(&search.replace("contend", "reduction"), &folder("one unit"), Certify::None).is_ok());
}

#[test]
fn the_cycles_of_many_points_are_those_of_each_unit_of_work() {
    let text =
        QUEUE.replace("[2, 4]", "{ from = 1, to = 6, by = 1 }").replace("seed", "cost = \"none\"\nseed");
    let plots = drawn(&text, "stack");
    let cycles = plots.iter().find(|plot| plot.name == "cycles").expect("it is drawn");
    assert_eq!(texts(cycles)[0], "Where the cycles of the 8 best points for each unit of work went");
}

#[test]
fn plots_that_cannot_be_drawn_are_refused_before_anything_runs() {
    let head = "about = \"a\"\nworkload = \"histogram\"\n[with]\nwarps = { from = 1, to = 8, by = 1 }\nrun = [1, 2, 4]\n\
                spread = [\"uniform\", \"zipf\"]\nthink = [0, 8]\n";
    let rows = [
        (
            "x = \"think\"\ny = \"cycles\"\nby = \"spread\"\n",
            "the plot of `cycles` by `think` has 48 curves, and 12 at most are shown: `warps` has 8 values, `run` has 3 values, \
             `spread` has 2 values; take one value, as in `only = { warps = 1 }`",
        ),
        ("x = \"think\"\ny = \"cycles\"\nonly = { spread = \"zipf\", warps = 2 }\n", ""),
        ("x = \"area\"\ny = \"throughput\"\n", ""),
        (
            "x = \"spread\"\ny = \"cycles\"\n",
            "`x = \"spread\"`: its values are not numbers; use it as `by`, and a parameter with numbers as `x`",
        ),
        (
            "x = \"warps\"\ny = \"cycles\"\nonly = { run = 3, spread = \"zipf\" }\n",
            "no point has the values of `only = { run = 3, spread = \"zipf\" }`",
        ),
        (
            "x = \"bins\"\ny = \"cycles\"\n",
            "`bins` does not vary in this sweep; these parameters vary: run, spread, think, warps",
        ),
    ];
    for (plot, expected) in rows {
        let plan = plan(&format!("{head}[[plot]]\n{plot}"));
        let points = plan.points(Path::new("test.toml"), &rtl_dir()).expect("points").points;
        let said = check_plots(&plan.plot, &points).err().map_or_else(String::new, |error| error.to_string());
        assert_eq!(said, expected, "{plot}");
    }
    // The default plot shows every point.
    let text =
        head.replace("8, by", "4, by").replace("[with]", "config = \"small\"\n[with]\nbins = 8\nunits = 2");
    let plots = drawn(&text, "by default");
    assert_eq!((plots[0].name.as_str(), marks(&plots[0])), ("throughput-area", 48));
}

#[test]
fn settings_without_effect_are_left_out_of_a_point() {
    let text = SWEEP.replace("bins = 16", "bins = 16\ns = [0.5, 1.5]").replace("to = 16", "to = 8");
    let all = points(&text).points;
    let said =
        |p: &atoms_explore::sweep::SweepPoint| format!("{:?} {:?}", p.settings.get("s"), p.labels.get("s"));
    assert_eq!(said(&all[0]), "None Some(\"0.5\")");
    assert_eq!(said(&all[1]), "Some(\"0.5\") Some(\"0.5\")");
    let plot = drawn(&text, "idle").swap_remove(0);
    assert_eq!(marks(&plot), 6, "one curve without `s`, and two with it");
    let flat = text.replace("x = \"num_banks\"", "x = \"s\"").replace("times = 2", "times = 4");
    assert_eq!(marks(&drawn(&flat, "flat")[0]), 4, "what `s` does not change is a line along it");
}

#[test]
fn a_point_that_cannot_be_set_up_does_not_end_the_sweep() {
    let text = SWEEP.replace("bins = 16", "bins = [16, 60000]");
    let measured = measured(&text, &folder("failing"), Certify::None);
    let (good, bad): (Vec<_>, Vec<_>) = measured.iter().partition(|one| one.outcome.is_ok());
    assert_eq!((good.len(), bad.len()), (6, 6));
    let reason = bad[0].outcome.as_ref().expect_err("it does not fit");
    assert!(reason.contains("the bins end at byte"), "{reason}");
}

/// A space of 216 points, of which the search measures a part.
const SEARCH: &str = r#"
about = "What gives most for its area?"
workload = "contend"
config = "small"
budget = 300
[unit]
num_banks = [4, 8, 16]
queue_depth = [1, 2, 4, 8]
rmw_latency = [1, 2, 3]
forwarding = [false, true]
merge_red = [false, true]
[with]
op = "add.red"
contention = 2
units = 8
[search]
goals = ["throughput_per_second", "area"]
population = 16
generations = 6
"#;

fn goals_of(one: &Measured) -> (f64, f64) {
    let outcome = one.outcome.as_ref().expect("it is measured");
    let cost = outcome.cost.as_ref().expect("it has a cost");
    (outcome.units_per_microsecond().expect("it has a clock"), cost.area_kge)
}

/// True if the point is Pareto-optimal: no other point is better in one goal and at least as good in both.
fn is_best(one: &Measured, all: &[Measured]) -> bool {
    let (rate, area) = goals_of(one);
    all.iter().map(goals_of).all(|(r, a)| !(r >= rate && a <= area && (r > rate || a < area)))
}

/// The search finds most of the exact front, and certifies the points on it.
#[test]
fn a_search_finds_the_front() {
    let store = folder("search");
    let (grid, _) = SEARCH.split_once("[search]").expect("a search");
    let all = measured(grid, &store, Certify::None);
    let front: Vec<_> = all.iter().filter(|one| is_best(one, &all)).map(goals_of).collect();
    let Searched { measured, .. } = found(SEARCH, &store, Certify::None).expect("it finds something");
    assert!(measured.len() < all.len() && measured.len() >= 16, "{} of {}", measured.len(), all.len());
    let best: Vec<_> = measured.iter().filter(|one| is_best(one, &measured)).map(goals_of).collect();
    let met = front.iter().filter(|point| best.contains(point)).count();
    assert!(4 * met >= 3 * front.len(), "{met} of {} points of the front: {front:?}, {best:?}", front.len());
    let again = found(SEARCH, &store, Certify::None).expect("it finds something").measured;
    let names = |all: &[Measured]| all.iter().map(|one| one.point.config.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&measured), names(&again), "a seed gives the same search");
    assert!(again.iter().all(|one| one.kept));
}

#[test]
#[ignore = "nightly: builds the RTL of each point"]
fn a_search_certifies_its_front() {
    let text = SEARCH
        .replace("num_banks = [4, 8, 16]", "num_lanes = [2, 4]")
        .replace("[1, 2, 3]", "1")
        .replace("[1, 2, 4, 8]", "1");
    let text = text.replace("forwarding = [false, true]", "forwarding = false");
    let text =
        text.replace("throughput_per_second", "throughput").replace("contention = 2", "contention = 1");
    let text = text.replace("generations = 6", "generations = 1");
    let store = folder("certified front");
    let Searched { measured, .. } = found(&text, &store, Certify::All).expect("it finds something");
    let certified: Vec<bool> = measured.iter().map(|one| one.certified).collect();
    let best: Vec<bool> = measured.iter().map(|one| is_best(one, &measured)).collect();
    assert_eq!(certified, best, "those on the front, and no other");
    assert!(best.contains(&true) && best.contains(&false));
    let plan = plan(&text);
    let rtl = RtlIdentity::of(&rtl_dir()).expect("the RTL of the checkout");
    let (about, plots) = (&plan.about, plan.plots());
    let report = SweepReport {
        about,
        file: "test.toml",
        seed: 1,
        rtl: &rtl,
        measured: &measured,
        impossible: &[],
        plots: &plots,
    };
    let findings = report.write(&store).expect("it is written");
    let said =
        format!("{} of {} points are Pareto-optimal: from ", best.iter().filter(|b| **b).count(), best.len());
    assert!(findings[0].starts_with(&said), "{findings:?}");
    let svg = std::fs::read_to_string(store.join("throughput-area.svg")).expect("a plot");
    assert_eq!(svg.matches("href=\"#point-").count(), best.len(), "every point once");
    let table = std::fs::read_to_string(store.join(file::CSV)).expect("a table");
    assert!(table.lines().next().is_some_and(|head| head.contains("throughput_per_second,area,")), "{table}");
}

#[test]
fn a_report_overwrites_no_foreign_file() {
    let out = folder("foreign");
    assert!(check_folder(&out).is_ok(), "no folder");
    std::fs::create_dir_all(&out).expect("a folder");
    let put = |name: &str, text: &str| std::fs::write(out.join(name), text).expect("it is written");
    put("sweep.toml", "");
    put("slurm-1.log", "");
    assert!(check_folder(&out).is_ok(), "files that a report leaves alone");
    for name in ["report.html", "points.csv", "points.json", "drawing.svg"] {
        put(name, "{}");
        let said = check_folder(&out).expect_err(name).to_string();
        assert!(said.contains(name) && said.contains("--out"), "{said}");
        std::fs::remove_file(out.join(name)).expect("it is there");
    }
    put("points.json", r#"{ "points": [], "impossible": [] }"#);
    put("report.html", "");
    assert!(check_folder(&out).is_ok(), "an earlier report");
}

#[test]
fn a_search_without_sense_is_refused() {
    let rows = [
        ("budget = 300", "budget = 100", "up to 112 points, but `budget` is 100"),
        ("population = 16", "population = 1", "`population` in `test.toml`: 1: expected at least 2"),
        ("\"area\"]", "\"aera\"]", "`aera`: expected different figures, out of throughput, cycles,"),
        ("\"area\"]", "\"requests\"]", "`requests`: expected different figures, out of"),
        (
            "\"area\"]",
            "\"throughput_per_second\"]",
            "`throughput_per_second`: expected different figures, out of",
        ),
        (", \"area\"]", "]", "expected two or three figures, found 1"),
        (
            "budget = 300",
            "budget = 300\ncost = \"none\"",
            "`throughput_per_second` needs `cost = \"fitted\"`",
        ),
        ("budget = 300", "budget = 300\nsobol = 10", "a search chooses its points"),
        ("units = 8", "units = 8\ncompute = [4, 8]", "`compute` of workload contend has no effect"),
        (
            "[search]",
            "[[plot]]\nx = \"area\"\ny = \"throughput\"\nonly = { num_banks = 5 }\n[search]",
            "no point has `num_banks = 5`; there are 4, 8, 16",
        ),
        (
            "[search]",
            "[[plot]]\nx = \"area\"\ny = \"throughput\"\nonly = { units = 8 }\n[search]",
            "`units` does not vary in this search",
        ),
    ];
    for (from, to, expected) in rows {
        let error = found(&SEARCH.replace(from, to), &folder("senseless"), Certify::None);
        let said = error.expect_err(to).to_string();
        assert!(said.contains(expected), "{to}: {said}");
    }
}
