//! Every workload in lockstep, judged by the oracle and by its own result; and what its counts must do.

use atoms_cosim::configs::{self, NamedConfig};
use atoms_cosim::rtl::{self, RtlIdentity};
use atoms_explore::certificate::certify;
use atoms_explore::measure::{
    Behind, Judged, Limits, Measurement, Trial, TrialError, estimate, measure,
};
use atoms_explore::workload::{
    GENERATED, Generated, GivenUp, Workload, WorkloadParameterKind, common_parameters,
};
use atoms_verilated::{Library, Variant};
use proptest::prelude::*;

fn config(name: &str) -> NamedConfig {
    configs::named(&configs::rtl_dir(), name).expect("a configuration of this name")
}

fn library(config: &NamedConfig) -> Library {
    rtl::library(&configs::rtl_dir(), config, Variant::Fast, &mut |_| {}).expect("the RTL builds")
}

/// A generated workload with these parameters.
fn workload(name: &str, with: &str) -> Workload {
    let mut generated = Generated::named(name).expect("there is one");
    for setting in with.split(',').filter(|setting| !setting.is_empty()) {
        let (name, value) = setting.split_once('=').expect("NAME=VALUE");
        generated.set(name, value).unwrap_or_else(|error| panic!("{setting}: {error}"));
    }
    Workload::Generated(generated)
}

fn trial<'a>(config: &'a NamedConfig, workload: &'a Workload) -> Trial<'a> {
    Trial { config, workload, seed: 1, limits: Limits { patience: 50_000, ..Limits::default() } }
}

fn estimated(config: &str, name: &str, with: &str) -> Measurement {
    let (config, workload) = (self::config(config), workload(name, with));
    estimate(&trial(&config, &workload)).unwrap_or_else(|error| panic!("{name} {with}: {error}"))
}

/// Each way of each workload, with so little to do that it fits the smallest units.
const WAYS: &[(&str, &str)] = &[
    ("contend", "at=word,contention=1,op=add"),
    ("contend", "at=word,contention=0,op=add.red"),
    ("contend", "at=bank,contention=2,op=xor"),
    ("contend", "at=bank,contention=4,op=popc.inc"),
    ("contend", "contention=3,op=min"),
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

/// A few units of work by a few warps.
const LITTLE: &str = "warps=2,lanes=4,units=3,think=5,";

/// Runs every way in lockstep, judged; the model alone, with a session and without, must count the same.
fn every_way_is_right(name: &str) {
    let config = config(name);
    let library = library(&config);
    let rtl = RtlIdentity::of(&configs::rtl_dir()).expect("the RTL has a hash");
    for (name, with) in WAYS {
        let what = format!("{name} {with} on {}", config.name);
        let workload = workload(name, &format!("{LITTLE}{with}"));
        let trial = trial(&config, &workload);
        let certificate =
            certify(&trial, &library, &rtl).unwrap_or_else(|error| panic!("{what}: {error}"));
        let certified = certificate.measurement;
        assert!(certificate.agreed && certified.checked && certified.units > 0, "{what}: {certified:?}");
        assert_eq!(certified.judged, certified.requests, "{what}: every answer is judged");
        let model = estimate(&trial).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(certificate.covers(&model), "{what}: {model:?}, certified {certified:?}");
        for behind in [Behind::Model, Behind::Rtl(&library)] {
            let measured = measure(&trial, behind, Judged::No, ()).0.unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(measured, model, "{what}");
        }
    }
}

#[test]
fn every_way_is_right_in_small() {
    every_way_is_right("small");
}

#[test]
fn every_way_is_right_in_rotating() {
    every_way_is_right("rotating");
}

#[test]
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
