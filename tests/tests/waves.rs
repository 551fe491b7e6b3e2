//! What a wave of a session shows when it is read back.

use std::path::PathBuf;

use atoms_cosim::campaign::run_case;
use atoms_cosim::case::Case;
use atoms_cosim::session::Session;
use atoms_cosim::trace::Trace;
use atoms_tests::{config, lockstep_of};
use expect_test::expect_file;
use wellen::simple::{Waveform, read};

/// The wave of `tests/vectors/first_wave.json`.
fn first_wave(name: &str) -> (PathBuf, Waveform) {
    let path = std::env::temp_dir().join(format!("atoms-{name}-{}.vcd", std::process::id()));
    let case: Case =
        serde_json::from_str(include_str!("../vectors/first_wave.json")).expect("the case is readable");
    let mut session = Session::new(lockstep_of(&config(&case.config)), None);
    session.set_trace(Some(Trace::create(&path, session.machine(), None).expect("the wave is written")));
    run_case(&mut session, &case).expect("the case agrees");
    session.take_trace().expect("still there").finish().expect("the wave is completed");
    let wave = read(&path).expect("the wave is readable");
    (path, wave)
}

/// Every value of the signal at `path`, in order of time.
fn values(wave: &mut Waveform, path: &[&str]) -> Vec<String> {
    let hierarchy = wave.hierarchy();
    let (scopes, name) = path.split_at(path.len() - 1);
    let variable = hierarchy.lookup_var(scopes, name[0]).unwrap_or_else(|| panic!("no signal {path:?}"));
    let signal = hierarchy[variable].signal_ref();
    wave.load_signals(&[signal]);
    let signal = wave.get_signal(signal).expect("the signal is loaded");
    signal.iter_changes().map(|(_, value)| value.to_string()).collect()
}

#[test]
fn sides_that_agree_show_no_difference() {
    let (path, mut wave) = first_wave("agree");
    assert_eq!(values(&mut wave, &["atoms", "diff", "any"]), ["0"]);
    for side in ["rtl", "model"] {
        let answers = values(&mut wave, &["atoms", side, "rsp_tag"]);
        assert_eq!(answers.len(), 5, "{side} gives every answer: {answers:?}");
    }
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}

#[test]
fn operations_are_shown_by_name() {
    let (path, mut wave) = first_wave("names");
    assert_eq!(values(&mut wave, &["atoms", "in", "req_op"]), ["ADD", "STS", "ADD", "CAST.SPIN", "LDS"]);
    let faults = values(&mut wave, &["atoms", "rtl", "rsp_fault"]);
    assert_eq!(faults, ["none", "misaligned_address"]);
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}

#[test]
fn the_committed_wave_is_the_one_the_readme_makes() {
    let (path, _) = first_wave("committed");
    let made = std::fs::read_to_string(&path).expect("the wave is readable");
    expect_file!["../../waves/first_wave.vcd"].assert_eq(&made);
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}
