//! Every workload in lockstep, checked by the oracle and by its own expected result; and laws of its
//! counters.

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::rtl::{self, RtlIdentity};
use atoms_explore::certificate::certify;
use atoms_explore::measure::{
    Behind, Judging, Measurement, Trial, TrialError, TrialLimits, estimate, measure,
};
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_verilated::{Library, Variant};
use atoms_workload::{GENERATED, Generated, GivenUp, Workload, WorkloadParameterKind, common_parameters};
use proptest::prelude::*;

fn config(name: &str) -> NamedConfig {
    configs::named(&rtl_dir(), name).expect("a configuration of this name")
}

fn library(config: &NamedConfig) -> Library {
    rtl::library(&rtl_dir(), config, Variant::Fast, &mut |_| {}).expect("the RTL builds")
}

fn workload(name: &str, with: &str) -> Workload {
    let mut generated = Generated::named(name).expect("there is one");
    for setting in with.split(',').filter(|setting| !setting.is_empty()) {
        let (name, value) = setting.split_once('=').expect("NAME=VALUE");
        generated.set(name, value).unwrap_or_else(|error| panic!("{setting}: {error}"));
    }
    Workload::Generated(generated)
}

fn trial<'a>(config: &'a NamedConfig, workload: &'a Workload) -> Trial<'a> {
    Trial {
        config,
        workload,
        seed: 1,
        limits: TrialLimits { watchdog_cycles: 50_000, ..TrialLimits::default() },
    }
}

fn estimated(config: &str, name: &str, with: &str) -> Measurement {
    let (config, workload) = (self::config(config), workload(name, with));
    estimate(&trial(&config, &workload)).unwrap_or_else(|error| panic!("{name} {with}: {error}"))
}

const WAYS: &[(&str, &str)] = &[
    ("contend", "at=word,contention=1,op=add"),
    ("contend", "at=word,contention=0,op=add.red"),
    ("contend", "at=bank,contention=2,op=xor"),
    ("contend", "at=bank,contention=4,op=popc.inc"),
    ("contend", "contention=3,op=min"),
    ("contend", "contention=2,op=min.red"),
    ("contend", "contention=3,op=xor.red"),
    ("contend", "contention=2,op=mbar.arrive"),
    ("contend", "at=bank,contention=2,op=mbar.test_wait"),
    ("contend", "contention=2,op=exch"),
    ("contend", "contention=2,op=cas"),
    ("contend", "contention=2,op=cas.miss"),
    ("contend", "contention=2,op=lds"),
    ("histogram", "bins=16,spread=uniform,method=popc.inc"),
    ("histogram", "bins=16,spread=zipf,s=1.2,method=add"),
    ("histogram", "bins=8,spread=image,run=2,method=add.return,copies=2,padding=1"),
    ("reduction", "meet=unit"),
    ("reduction", "meet=warp,contention=4"),
    ("accumulate", "method=cas,of=f32,contention=0"),
    ("accumulate", "method=cast,of=f16x2,contention=2"),
    ("accumulate", "method=cast.spin,of=u64,contention=3"),
    ("accumulate", "method=cast.spin,of=f32,contention=0"),
    ("accumulate", "method=add,of=f16x2,contention=5"),
    ("spin-lock", "method=cas"),
    ("spin-lock", "method=cast,contention=4,backoff=7"),
    ("spin-lock", "method=cast.spin,contention=2"),
    ("spin-lock", "method=exch"),
    ("ticket-lock", "contention=0"),
    ("ticket-lock", "contention=4,backoff=5"),
    ("hash-insert", "method=cas,slots=30,keys=9"),
    ("hash-insert", "method=cast,slots=32"),
    ("hash-insert", "method=cast.spin,slots=32,keys=20"),
    ("queue", "consumers=1,capacity=4"),
    ("queue", "consumers=0,capacity=12,warps=1"),
    ("pipeline", "depth=2,consumers=1"),
    ("pipeline", "depth=3,consumers=1,arrive=all,wait=9"),
];

const LITTLE: &str = "warps=2,lanes=4,units=3,think=5,";

/// Runs every method in lockstep with the oracle. The model alone, with and without a session, must count the
/// same.
fn every_way_is_right(name: &str) {
    let config = config(name);
    let library = library(&config);
    let rtl = RtlIdentity::of(&rtl_dir()).expect("the RTL has a hash");
    for (name, with) in WAYS {
        let what = format!("{name} {with} on {}", config.name);
        let workload = workload(name, &format!("{LITTLE}{with}"));
        let trial = trial(&config, &workload);
        let certificate = certify(&trial, &library, &rtl).unwrap_or_else(|error| panic!("{what}: {error}"));
        let certified = certificate.measurement;
        assert!(certificate.agreed && certified.checked && certified.units > 0, "{what}: {certified:?}");
        assert_eq!(certified.judged, certified.requests, "{what}: every answer is judged");
        let model = estimate(&trial).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(certificate.covers(&model), "{what}: {model:?}, certified {certified:?}");
        for behind in [Behind::Model, Behind::Rtl(&library)] {
            let measured =
                measure(&trial, behind, Judging::No, ()).0.unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(measured, model, "{what}");
        }
    }
}

#[test]
fn every_way_is_right_in_small() {
    every_way_is_right("small");
}

#[test]
#[ignore = "nightly: another configuration"]
fn every_way_is_right_in_rotating() {
    every_way_is_right("rotating");
}

#[test]
#[ignore = "nightly: another configuration"]
fn every_way_is_right_in_hold() {
    every_way_is_right("hold");
}

#[test]
fn every_workload_and_choice_has_a_way() {
    for kind in GENERATED {
        let ways: Vec<_> = WAYS.iter().filter(|(name, _)| *name == kind.name).collect();
        assert!(!ways.is_empty(), "{}", kind.name);
        for parameter in kind.parameters() {
            let WorkloadParameterKind::Choice(choices) = parameter.kind else { continue };
            for choice in choices {
                let default = parameter.default.to_string() == *choice;
                let setting = format!("{}={choice}", parameter.name);
                let named = |with: &str| with.split(',').any(|part| part == setting);
                assert!(default || ways.iter().any(|(_, with)| named(with)), "{}: {setting}", kind.name);
            }
        }
    }
}

/// Lanes of one warp that share a word store one after another. Of n lanes, n - 1 fail first, then n - 2, and
/// so on.
#[test]
fn a_loop_around_a_compare_retries_as_often_as_it_must() {
    for of in ["f32", "f16x2", "u64"] {
        for lanes in [1_u32, 2, 4, 8, 16, 32] {
            for contention in [1, lanes, 0] {
                let n = if contention == 0 { lanes } else { contention };
                let (groups, units) = (u64::from(lanes / n), 5);
                let run = |method: &str| {
                    let with = format!(
                        "warps=1,lanes={lanes},units={units},contention={contention},of={of},method={method}"
                    );
                    estimated("default", "accumulate", &with)
                };
                let (n, what) = (u64::from(n), format!("{of}, {lanes} lanes, {contention}"));
                if of == "u64" && groups > 16 {
                    continue; // 16 pairs of banks: different words conflict, too
                }
                let (cas, cast, spin) = (run("cas"), run("cast"), run("cast.spin"));
                for (method, found) in [("cas", cas), ("cast", cast), ("cast.spin", spin)] {
                    assert_eq!(found.units, groups * n * units, "{method}: {what}");
                    assert_eq!(found.retries, groups * units * n * (n - 1) / 2, "{method}: {what}");
                }
                assert_eq!(cas.requests, units * (1 + n), "{what}: CAS loads once");
                assert_eq!(cast.requests, units * 2 * n, "{what}: CAST loads each time");
                assert_eq!(spin.requests, cast.requests, "{what}");
                // One pass per lane of the word; CAST.SPIN always takes one (spec 5.2).
                if n == u64::from(lanes) {
                    assert_eq!(cas.passes, units * (1 + n * (n + 1) / 2), "{what}");
                    assert_eq!(cast.passes, units * (n + n * (n + 1) / 2), "{what}");
                    assert_eq!(spin.passes, units * 2 * n, "{what}");
                }
            }
        }
    }
}

#[test]
fn more_contention_gives_more_retries() {
    let cases = [
        ("accumulate", "method=cas,warps=8"),
        ("accumulate", "method=cast,warps=8"),
        ("accumulate", "method=cast.spin,warps=8"),
        ("spin-lock", "method=cas,warps=4,units=8"),
        ("spin-lock", "method=cast.spin,warps=4,units=8"),
        ("ticket-lock", "warps=4,units=8"),
    ];
    for (name, with) in cases {
        let run = |contention: u32| {
            let m = estimated("default", name, &format!("units=16,{with},contention={contention}"));
            m.retries_per_success().expect("lanes succeed")
        };
        let retries: Vec<_> = [1, 2, 8, 32, 128].map(run).into();
        assert!(retries[0] < 1e-9, "{name} {with}: a thread alone is never kept waiting: {retries:?}");
        assert!(retries.windows(2).all(|pair| pair[0] < pair[1]), "{name} {with}: {retries:?}");
    }
}

#[test]
fn contenders_take_a_pass_each() {
    for at in ["word", "bank"] {
        for k in [1, 2, 4, 8, 16, 32] {
            let with = format!("at={at},contention={k},op=add,units=10,warps=4");
            let found = estimated("default", "contend", &with);
            assert_eq!(found.passes, found.requests * k, "{with}");
        }
    }
    let joined = estimated("default", "contend", "at=word,contention=32,op=popc.inc");
    assert_eq!(joined.passes, joined.requests, "POPC.INC joins lanes of a word (spec 4.1)");
    let hashed = estimated("hashed", "contend", "at=bank,contention=32,op=add,warps=1");
    assert_eq!(hashed.passes, hashed.requests * 32, "one bank, wherever the hash has put the words");
    let merged = estimated("merging", "reduction", "meet=unit");
    let plain = estimated("default", "reduction", "meet=unit");
    assert_eq!((merged.passes, plain.passes), (merged.requests, 32 * plain.requests));
}

#[test]
fn copies_of_a_histogram_take_conflicts_away() {
    let passes = |with: &str| estimated("default", "histogram", &format!("bins=64,method=add,{with}")).passes;
    let skewed = passes("spread=zipf,s=2");
    assert!(passes("spread=uniform") < skewed);
    assert!(passes("spread=zipf,s=2,copies=4,padding=1") < skewed);
    assert!(passes("spread=uniform,run=8") > passes("spread=uniform"), "neighbours meet one bin");
}

#[test]
fn the_same_work_is_done_in_every_configuration() {
    // Retries depend on timing. The work and its result, which the workload checks, do not.
    for (name, with) in [("histogram", "spread=zipf"), ("accumulate", "method=cas"), ("queue", "")] {
        let units = |config: &str| estimated(config, name, &format!("{with},units=20,lanes=16")).units;
        assert_eq!(units("default"), units("deep"), "{name}");
        assert_eq!(units("default"), units("all_options"), "{name}");
    }
    let seeds = |seed| {
        let (config, workload) = (config("default"), workload("histogram", "spread=zipf,method=add"));
        estimate(&Trial { seed, ..trial(&config, &workload) }).expect("it is right").cycles
    };
    assert_eq!(seeds(1), seeds(1));
    assert_ne!(seeds(1), seeds(2));
}

#[test]
fn thinking_and_computing_take_time() {
    let cycles = |with: &str| estimated("default", "accumulate", &format!("units=20,{with}")).cycles;
    assert!(cycles("warps=1,compute=50") > cycles("warps=1,compute=4") + 20 * 2 * 46 - 1);
    let thinks = cycles("warps=1,think=100,contention=1");
    let spent = thinks - cycles("warps=1,think=0,contention=1");
    assert!((1000..3200).contains(&spent), "20 times about 100 cycles: {spent}");
}

#[test]
fn what_cannot_be_is_said_before_anything_runs() {
    #[rustfmt::skip]
    let cases = [
        ("default", "accumulate",  "warps=0",                "`warps` must be a whole number from 1 to 64, not `0`"),
        ("default", "accumulate",  "method=casp",            "`method` must be one of cas, cast, cast.spin, add, not `casp`"),
        ("default", "accumulate",  "method=add,of=u64",      "method=add adds words of 32 bits; set `of` to f32 or f16x2"),
        ("default", "histogram",   "s=nan",                  "`s` must be a number from 0 to 4, not `nan`"),
        ("default", "histogram",   "colour=red",             "workload histogram has no parameter `colour`; it has bins, spread, s, run, method, copies, padding, warps, lanes, units, think, compute"),
        ("default", "histogram",   "spread=image,s=2",       "`s` of workload histogram has no effect: set `spread=zipf`, or leave out `s`"),
        ("default", "histogram",   "padding=0",              "`padding` of workload histogram has no effect: set `copies` to 2 or more, or leave out `padding`"),
        ("default", "contend",     "compute=4",              "`compute` of workload contend has no effect: choose a workload whose requests depend on answers, or leave out `compute`"),
        ("default", "histogram",   "compute=9,bins=16",      "`compute` of workload histogram has no effect: choose a workload whose requests depend on answers, or leave out `compute`"),
        ("default", "reduction",   "compute=9",              "`compute` of workload reduction has no effect: set `meet=warp`, or leave out `compute`"),
        ("default", "accumulate",  "compute=9,method=add",   "`compute` of workload accumulate has no effect: set `method` to cas, cast or cast.spin, or leave out `compute`"),
        ("default", "queue",       "backoff=9,consumers=0",  "`backoff` of workload queue has no effect: set `consumers` to 1 or more, or leave out `backoff`"),
        ("default", "accumulate",  "units=4,warps=1,units=4", "`units` is given twice, as 4 and as 4; leave one out"),
        ("small",   "histogram",   "bins=16,lanes=8",        "8 lanes take part, but the unit has 4; use fewer `lanes`, or 0 for all"),
        ("small",   "histogram",   "bins=33",                "the bins end at byte 132 of shared memory, but the unit has 128 bytes; use fewer `bins` or `copies`"),
        ("default", "queue",       "warps=4,consumers=4",    "4 consumers of 4 warps leave no producer; use fewer `consumers` or more `warps`"),
        ("default", "queue",       "consumers=0,units=99",   "25344 elements, but the queue has room for 256; increase `capacity` or `consumers`, or use fewer `units`"),
        ("default", "queue",       "warps=8,consumers=7,units=3", "224 lanes take 96 elements, so some lanes get none; use fewer `consumers` or more `units`"),
        ("default", "hash-insert", "slots=100",              "16384 different keys do not fit a table of 100 slots; increase `slots`, or use fewer `keys`, `warps`, `lanes` or `units`"),
        ("default", "pipeline",    "warps=1",                "4 consumers of 1 warps leave no producer; use fewer `consumers` or more `warps`"),
    ];
    for (config, name, with, message) in cases {
        let mut generated = Generated::named(name).expect("there is one");
        let settings = with.split(',').filter_map(|setting| setting.split_once('='));
        let said = match generated.set_all(settings) {
            Err(error) => error.to_string(),
            Ok(()) => {
                let (config, workload) = (self::config(config), Workload::Generated(generated));
                let error = estimate(&trial(&config, &workload)).expect_err(with);
                assert!(!error.is_finding(), "{with}");
                error.to_string()
            }
        };
        assert_eq!(said, message, "{name} {with}");
    }
    let error = Generated::named("histgram").expect_err("there is none").to_string();
    assert!(error.starts_with("no workload `histgram`; there are contend, histogram, "), "{error}");
}

#[test]
fn a_run_that_is_too_long_says_where_it_was() {
    let (config, workload) = (config("default"), workload("ticket-lock", "units=1000"));
    let limits = TrialLimits { cycles: 3000, ..TrialLimits::default() };
    for behind in [None, Some(Behind::Model)] {
        let trial = Trial { limits, ..trial(&config, &workload) };
        let error = match behind {
            None => estimate(&trial),
            Some(behind) => measure(&trial, behind, Judging::No, ()).0,
        };
        let error = error.expect_err("3000 cycles are too few");
        let TrialError::GivenUp(given_up) = &error else { panic!("{error}") };
        let GivenUp::Limit { cycles, warps, .. } = &**given_up else { panic!("{error}") };
        assert_eq!((*cycles, warps.len()), (3000, 8));
        assert!(warps[1].contains("wait to enter, the first with ticket"), "{error}");
    }
}

fn any_value(parameter: WorkloadParameterKind, name: &str) -> BoxedStrategy<String> {
    match parameter {
        WorkloadParameterKind::Whole(low, high) => {
            let high = match name {
                "units" => 6,
                "think" | "backoff" | "compute" | "wait" => high.min(60),
                _ => high,
            };
            prop_oneof![low..=high, low..=high.min(low + 40)].prop_map(|n: u32| n.to_string()).boxed()
        }
        WorkloadParameterKind::Real(low, high) => (low..=high).prop_map(|n: f64| n.to_string()).boxed(),
        WorkloadParameterKind::Choice(names) => {
            prop::sample::select(names.to_vec()).prop_map(String::from).boxed()
        }
    }
}

fn any_workload() -> impl Strategy<Value = (String, Vec<(&'static str, String)>)> {
    prop::sample::select((0..GENERATED.len()).collect::<Vec<_>>()).prop_flat_map(|at| {
        let kind = &GENERATED[at];
        let all = kind.parameters().iter().chain(common_parameters());
        let values: Vec<_> = all.map(|p| any_value(p.kind, p.name).prop_map(|text| (p.name, text))).collect();
        (Just(kind.name.to_string()), values)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn results_are_right_or_it_is_said_why_not(
        (name, settings) in any_workload(),
        config in prop::sample::select(vec!["default", "small", "all_options", "narrow", "short", "hashed"]),
        seed in any::<u64>(),
    ) {
        let mut generated = Generated::named(&name).expect("there is one");
        for (name, value) in &settings {
            generated.set(name, value).expect("it is of the range");
        }
        let (config, workload) = (self::config(config), Workload::Generated(generated));
        let limits = TrialLimits { cycles: 300_000, ..TrialLimits::default() };
        match estimate(&Trial { config: &config, workload: &workload, seed, limits }) {
            Ok(found) => prop_assert!(found.units > 0 && found.tries >= found.retries),
            Err(TrialError::Workload(error)) => {
                let advice = ["use ", "reduce ", "increase ", "set "];
                prop_assert!(advice.iter().any(|one| error.to_string().contains(one)), "{}", error);
            },
            Err(TrialError::GivenUp(given_up)) => {
                prop_assert!(matches!(*given_up, GivenUp::Limit { .. }), "{}", given_up);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}

/// Settings under which a parameter is tested. Other parameters are tested with defaults.
const WITH: &[(&str, &str, &str)] = &[
    ("contend", "at", "contention=4,op=popc.inc"),
    ("histogram", "s", "spread=zipf"),
    ("histogram", "s", "spread=image"),
    ("histogram", "padding", "copies=4"),
    ("histogram", "padding", "copies=1"),
    ("reduction", "compute", "meet=unit"),
    ("reduction", "compute", "meet=warp"),
    ("accumulate", "of", "contention=1"),
    ("accumulate", "compute", "method=add"),
    ("accumulate", "compute", "method=cas"),
    ("queue", "backoff", "consumers=0,capacity=1000"),
    ("queue", "backoff", "consumers=3"),
    ("pipeline", "lanes", "arrive=all"),
    ("pipeline", "consumers", "think=40"),
];

#[test]
fn parameters_have_an_effect_unless_they_are_refused() {
    let config = config("default");
    for kind in GENERATED {
        for parameter in kind.parameters().iter().chain(common_parameters()) {
            let values: Vec<String> = match parameter.kind {
                WorkloadParameterKind::Whole(..) if parameter.name == "units" => vec!["1".into(), "2".into()],
                WorkloadParameterKind::Whole(low, high) => [1, 2, 7, 30, 900, 2000]
                    .iter()
                    .filter(|n| (low..=high).contains(*n))
                    .map(u32::to_string)
                    .collect(),
                WorkloadParameterKind::Real(low, high) => vec![low.to_string(), high.to_string()],
                WorkloadParameterKind::Choice(names) => names.iter().map(ToString::to_string).collect(),
            };
            let mut with: Vec<&str> = WITH
                .iter()
                .filter(|row| (row.0, row.1) == (kind.name, parameter.name))
                .map(|row| row.2)
                .collect();
            if with.is_empty() {
                with.push("");
            }
            for with in with {
                let measured = |value: &String| {
                    let with = format!("warps=8,units=2,{with},{}={value}", parameter.name);
                    let workload = workload(kind.name, &with);
                    let Workload::Generated(generated) = &workload else { panic!("it is generated") };
                    let refused = generated.no_effect(parameter.name).is_some();
                    Some((refused, estimate(&trial(&config, &workload)).ok()?))
                };
                let found: Vec<_> = values.iter().filter_map(measured).collect();
                let (refused, first) = found.first().expect("a value that fits");
                let alike = found.iter().all(|(_, counts)| counts == first);
                assert_eq!(alike, *refused, "{} {} {with}: {found:?}", kind.name, parameter.name);
            }
        }
    }
}

/// The RTL of another configuration serves as RTL with a bug.
#[test]
fn rtl_that_differs_gets_no_certificate() {
    let (config, other) = (config("default"), library(&self::config("rotating")));
    let rtl = RtlIdentity::of(&rtl_dir()).expect("the RTL has a hash");
    let workload = workload("contend", "op=exch,contention=4,units=3");
    let error = certify(&trial(&config, &workload), &other, &rtl).expect_err("lanes go in another order");
    assert!(error.is_finding() && error.to_string().contains("mismatch"), "{error}");
    assert!(matches!(error, TrialError::Run(_)), "{error}");
}

/// `measure` returns the listener, which has seen every cycle of the run.
#[test]
fn a_listener_sees_every_cycle() {
    struct Cycles(u64);
    impl atoms_monitor::Listener for Cycles {
        fn cycle(&mut self, _: &atoms_monitor::Cycle<'_>) {
            self.0 += 1;
        }
    }
    let (config, workload) = (config("default"), workload("queue", "units=4"));
    let (found, Cycles(seen)) = measure(&trial(&config, &workload), Behind::Model, Judging::No, Cycles(0));
    assert_eq!(found.expect("it is right").cycles, seen);
}
