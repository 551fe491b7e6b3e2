//! Invalid numbers and contradicting options.

use std::any::TypeId;

use clap::Parser as _;

use super::{atoms, commands, sample, words};
use crate::args::Cli;

/// Options that accept 0.
const MAY_BE_ZERO: &[&str] = &["seed", "settle", "shard", "end", "alone", "older", "cycle"];

/// Values that every numeric option rejects.
const NEVER: &[&str] =
    &["-1", "-5", "-0.5", "", "x", "nan", "inf", "1e300", "99999999999999999999", "0x10", "1,000"];

#[test]
fn every_number_has_a_range() {
    let whole = [TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<usize>()];
    let mut seen = 0;
    for (name, definition) in commands() {
        for option in definition.get_arguments() {
            let parsed = option.get_value_parser().type_id();
            let is_whole = whole.iter().any(|kind| parsed == *kind);
            if !is_whole && parsed != TypeId::of::<f64>() {
                let other =
                    [TypeId::of::<u8>(), TypeId::of::<u16>(), TypeId::of::<i32>(), TypeId::of::<i64>()];
                assert!(!other.iter().any(|kind| parsed == *kind), "{name} {option}: test this type too");
                continue;
            }
            seen += 1;
            let zero = (!MAY_BE_ZERO.contains(&option.get_id().as_str())).then_some("0");
            let part = is_whole.then_some("1.5");
            for value in NEVER.iter().copied().chain(zero).chain(part) {
                // The option precedes the sample, so that parsing fails at its value first.
                let mut line = vec!["atoms"];
                line.extend(name.split_whitespace());
                let long = option.get_long().map(|long| format!("--{long}"));
                match &long {
                    Some(long) => line.extend([long.as_str(), value]),
                    None => line.extend(["folder", value]),
                }
                let error = Cli::try_parse_from(&line).expect_err("no command takes it").to_string();
                let told =
                    error.contains(&format!("invalid value '{value}' for '")) && error.contains("expected a");
                assert!(
                    told || value.is_empty() && error.contains("a value is required"),
                    "{line:?}: {error}"
                );
            }
        }
    }
    assert!(seen >= 15, "only {seen} numeric options were found");
}

/// Contradicting or ignored options are refused with these messages.
#[test]
fn options_that_mean_nothing_together_are_refused() {
    let case: &[&str] = &["--case", "case.json"];
    let cases: &[(&str, &[&str], &str)] = &[
        ("cosim", &[case, &["--on", "model"]].concat(), "cannot be used with"),
        ("cosim", &[case, &["--until", "5"]].concat(), "cannot be used with"),
        ("cosim", &[case, &["--on-fail", "report"]].concat(), "cannot be used with"),
        ("cosim", &[case, &["--seed", "5"]].concat(), "cannot be used with"),
        ("cosim", &["--no-oracle", "--record", "r.jsonl"], "cannot be used with"),
        ("cosim", &["--window", "5..9"], "required"),
        ("cosim", &["--trace", "w.vcd", "--window", "9..5"], "the window is empty"),
        ("cosim", &["--trace", "w.vcd", "--window", "5-9"], "such as 1200..1300"),
        ("cosim", &["--on", "model", "--on-fail", "report"], "--on-fail is for lockstep"),
        (
            "run",
            &["racy.ptx", "--launch", "racy.toml", "--check", "off,strict"],
            "only one of off, warn and undefined",
        ),
        (
            "run",
            &["racy.ptx", "--launch", "racy.toml", "--check", "strict", "--on", "rtl"],
            "the RTL does not report undefined uses",
        ),
        ("run", &["racy.ptx", "--launch", "racy.toml", "--seed", "5"], "required"),
        ("run", &["racy.ptx", "--orders", "5"], "required"),
        (
            "run",
            &["racy.ptx", "--launch", "racy.toml", "--orders", "5", "--dump", "out=f"],
            "cannot be used with",
        ),
        ("run", &["racy.ptx", "--launch", "racy.toml", "--orders", "5", "--on", "rtl"], "runs on the model"),
        ("lower", &["--builtins", "--arch", "sm_90"], "cannot be used with"),
        ("lower", &["--builtins", "--unused"], "cannot be used with"),
        ("lower", &["--weak"], "required"),
        ("bench", &["--kernel", "racy.ptx"], "required"),
        ("bench", &["--kernel", "racy.ptx", "--launch", "racy.toml", "--ops", "CAS"], "cannot be used with"),
        ("bench", &["--kernel", "racy.ptx", "--launch", "racy.toml", "--waves"], "cannot be used with"),
        ("regress", &["plan.toml", "--list", "--json"], "cannot be used with"),
        ("regress", &["plan.toml", "--list", "--output", "x"], "cannot be used with"),
        ("regress", &["plan.toml", "--shards", "2"], "for --executor slurm"),
        ("regress", &["plan.toml", "--smoke", "--nightly"], "cannot be used with"),
    ];
    for (name, arguments, told) in cases {
        let output = atoms(name, arguments).output().expect("atoms starts");
        let text = words(&output);
        assert_eq!(output.status.code(), Some(2), "{name} {arguments:?}: {text}");
        assert!(text.contains(told) && output.stdout.is_empty(), "{name} {arguments:?}: {text}");
    }
}

/// Exactly the operations that `--ops` names are issued, at both ports, although some requests are illegal.
#[test]
fn exactly_the_named_operations_are_issued() {
    let lists: &[(&str, &[&str])] = &[
        ("CAS", &["CAS"]),
        ("add,POPC.INC", &["ADD", "POPC.INC"]),
        ("MBAR.ARRIVE", &["MBAR.ARRIVE"]),
        ("MBAR.INIT,MBAR.TRY_WAIT,MBAR.COMPLETE_TX", &["MBAR.INIT", "MBAR.TRY_WAIT", "MBAR.COMPLETE_TX"]),
    ];
    for (list, named) in lists {
        let arguments = ["--on", "model", "--requests", "3000", "--ops", list, "--record", "ops.jsonl"];
        let output = atoms("cosim", &arguments).output().expect("atoms starts");
        assert_eq!(output.status.code(), Some(0), "{list}: {}", words(&output));
        let text = std::fs::read_to_string(super::folder().join("ops.jsonl")).expect("a recording");
        let mut counts = std::collections::BTreeMap::new();
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            if let Some(request) = value.get("request") {
                *counts.entry(request["op"].to_string()).or_insert(0) += 1;
            }
        }
        let issued: Vec<_> = counts.keys().map(|op| op.trim_matches('"')).collect();
        let mut named = named.to_vec();
        named.sort_unstable();
        assert_eq!(issued, named, "{list}: {counts:?}");
        assert!(counts.values().sum::<u32>() >= 3000, "{list}: {counts:?}");
    }
}

/// Every sample can be parsed, so the tests above fail only because of the number.
#[test]
fn samples_can_be_parsed() {
    for (name, _) in super::SAMPLES {
        let line = ["atoms"].into_iter().chain(name.split_whitespace()).chain(sample(name).iter().copied());
        Cli::try_parse_from(line).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
