//! Waves of a session, read back from their files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use atoms_cosim::campaign::Campaign;
use atoms_cosim::case::Case;
use atoms_cosim::case::trials::run_case;
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::session::Session;
use atoms_cosim::trace::{
    NAMES, RequestKind, RequestTransaction, Trace, WaveRequest, WaveRequestError, lacks_fields, wave_requests,
};
use atoms_isa::Program;
use atoms_model::mbarrier::MbarObject;
use atoms_ops::{Op, Size};
use atoms_sm::{Launch, SmConfig, run};
use atoms_stimulus::Profile;
use atoms_stimulus::configs;
use atoms_stimulus::request::{AllocationWrite, Lane, WarpRequest};
use atoms_tests::{config, lockstep_of, root};
use atoms_wave_view::{Excerpt, PipelineRequest};
use atoms_wave_write::{Definition, SignalKind};
use expect_test::expect_file;
use serde_json::json;
use wellen::simple::{Waveform, read};

fn first_wave(name: &str) -> (PathBuf, Waveform) {
    let case: Case =
        serde_json::from_str(include_str!("../vectors/first_wave.json")).expect("the case is readable");
    wave_of(name, &case)
}

fn wave_of(name: &str, case: &Case) -> (PathBuf, Waveform) {
    let path = std::env::temp_dir().join(format!("atoms-{name}-{}.vcd", std::process::id()));
    let mut session = Session::new(lockstep_of(&config(&case.config)), None);
    session.set_trace(Some(Trace::create(&path, session.machine(), None).expect("the wave is written")));
    run_case(&mut session, case).expect("the case agrees");
    session.take_trace().expect("still there").finish().expect("the wave is completed");
    let wave = read(&path).expect("the wave is readable");
    (path, wave)
}

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
    let operations = values(&mut wave, &["atoms", "in", "req_op"]);
    assert_eq!(operations, ["-", "STS", "ADD", "CAST.SPIN", "LDS", "-"], "an idle port has none");
    let faults = values(&mut wave, &["atoms", "rtl", "rsp_fault"]);
    assert_eq!(faults.last().map(String::as_str), Some("misaligned_address"));
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}

/// The track of a request shows its states, and the tracks of issue and stalls the reasons for its latency.
#[test]
fn transactions_are_followed_from_port_to_answer() {
    let (path, mut wave) = first_wave("transactions");
    let mut track = |path: &[&str]| values(&mut wave, &[&["atoms", "txn"], path].concat());
    let add = track(&["tag", "tag02", "text"]);
    let state = |text: &String| Some(text.strip_prefix("#1_ADD.u32_")?.split(',').next()?.to_string());
    let states: Vec<_> = add.iter().filter_map(state).collect();
    assert_eq!(states, ["queued", "pass_1_of_3", "pass_2_of_3", "pass_3_of_3", "answered"], "{add:?}");
    assert_eq!(add[1], "#1_ADD.u32_queued,_slot_0_lanes_f_@0");
    let stall = track(&["stall", "text"]);
    assert!(stall.iter().any(|text| text == "hazard_#1:_a_word_is_still_in_the_pipeline"), "{stall:?}");
    assert!(track(&["answer", "text"]).contains(&"#3_misaligned_address,_lane_2_@9".to_string()));
    let bank = track(&["bank", "bank00", "text"]);
    assert_eq!(bank[..4], ["-", "#0_lane_0", "-", "#1_lane_0"], "{bank:?}");
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}

fn stages(request: &WaveRequest) -> Vec<String> {
    let stage = |(time, of): &(u64, RequestTransaction)| {
        format!("{} {}/{} at {}", of.kind.name(), of.pass, of.passes, time / 10)
    };
    request.stages.iter().map(stage).collect()
}

/// VCD and FST give programs the same transaction fields.
#[test]
fn transactions_are_read_from_their_fields() {
    let case: Case =
        serde_json::from_str(include_str!("../vectors/first_wave.json")).expect("the case is readable");
    for format in ["vcd", "fst"] {
        let path = std::env::temp_dir().join(format!("atoms-fields-{}.{format}", std::process::id()));
        let mut session = Session::new(lockstep_of(&config(&case.config)), None);
        session.set_trace(Some(Trace::create(&path, session.machine(), None).expect("the wave is written")));
        run_case(&mut session, &case).expect("the case agrees");
        session.take_trace().expect("still there").finish().expect("the wave is completed");
        let excerpt = Excerpt::read(&path, 0..u64::MAX, |_| true).expect("the wave is readable");
        let requests = wave_requests(&excerpt).expect("it has requests");
        let first: Vec<_> = requests.iter().map(|request| &request.stages[0].1).collect();
        let names: Vec<_> =
            first.iter().map(|r| format!("{} {}.{} {}", r.request, r.op, r.size, r.tag)).collect();
        assert_eq!(names, ["0 STS.u32 1", "1 ADD.u32 2", "2 CAST.SPIN.u32 3", "3 LDS.u32 4"], "{format}");
        let add = &requests[1];
        assert_eq!(
            stages(add),
            ["queued 0/0 at 2", "pass 1/3 at 6", "pass 2/3 at 9", "pass 3/3 at 12", "answered 0/0 at 16"],
            "{format}"
        );
        assert_eq!(
            [first[1].lanes, first[1].address, first[1].slot, first[1].red, first[1].line],
            [0xf, 0, 0, 0, 0]
        );
        assert_eq!(add.gone, Some(170), "{format}");
        assert_eq!(requests[3].gone, None, "its answer stands at the port as the wave ends");
        // A request without an answer in the window is not retired.
        let konata: Vec<_> = requests.into_iter().map(PipelineRequest::from).collect();
        let ends: Vec<_> =
            konata.iter().map(|request| request.end.map(|(_, is_retired)| is_retired)).collect();
        assert_eq!(ends, [Some(true), Some(true), Some(true), None], "{format}");
        assert_eq!((&konata[1].title[..], &konata[1].detail[..]), ("#1 ADD.u32 tag 2", "slot 0 lanes f @0"));
        let tracks = excerpt.tracks(&NAMES);
        let fields = |scope: &str| {
            let track = tracks.iter().find(|track| track.scopes == [scope]).expect("a track");
            excerpt.transactions(track).map(|of| serde_json::Value::from(of.json())).collect::<Vec<_>>()
        };
        let pass = json!({ "kind": "pass", "request": 1, "pass": 2, "passes": 3, "lanes": 2, "banks": 1 });
        assert!(fields("issue").contains(&pass), "{:?}", fields("issue"));
        assert_eq!(fields("stall")[0], json!({ "reason": "hazard", "held_request": 1 }));
        assert_eq!(fields("answer")[3]["fault"], "misaligned_address");
        let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
    }
}

/// Every request has fields, also if requests in flight share a tag or several are suspended.
#[test]
fn every_request_of_a_wave_has_fields() {
    let config = configs::named(&rtl_dir(), "small").expect("a configuration");
    let profile = Profile::named("objects").expect("a profile");
    let campaign = Campaign { config, profile, seed: 4, requests: 2_000, until: 700 };
    let path = std::env::temp_dir().join(format!("atoms-requests-{}.vcd", std::process::id()));
    let mut session = Session::new(ModelMachine::new(campaign.config.config), None);
    session.set_trace(Some(Trace::create(&path, session.machine(), None).expect("the wave is written")));
    let tally = session.run(&mut campaign.stimulus(), campaign.until, |_| {}).expect("the model runs");
    session.take_trace().expect("still there").finish().expect("the wave is completed");
    let excerpt = Excerpt::read(&path, 0..u64::MAX, |_| true).expect("the wave is readable");
    let mut requests = wave_requests(&excerpt).expect("it has requests");
    requests.sort_by_key(|request| request.stages[0].1.request);
    let numbers: Vec<_> = requests.iter().map(|request| request.stages[0].1.request).collect();
    assert_eq!(numbers, (0..requests.len() as u64).collect::<Vec<_>>(), "each once, and none is missing");
    let is_answered = |request: &&WaveRequest| {
        request.stages.last().is_some_and(|(_, stage)| stage.kind == RequestKind::Answered)
    };
    let answered: Vec<_> = requests.iter().filter(is_answered).collect();
    let gone = answered.iter().filter(|request| request.gone.is_some()).count() as u64;
    assert!((gone..=answered.len() as u64).contains(&tally.requests), "{gone} are gone, {tally:?}");
    let is_suspended =
        |request: &&WaveRequest| request.stages.iter().any(|(_, stage)| stage.kind == RequestKind::Suspended);
    assert!(requests.iter().filter(is_suspended).count() > 3, "take another seed");
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}

/// A wave of an earlier version opens and shows its texts, but the export refuses it.
#[test]
fn transactions_without_fields_are_not_exported() {
    let path = std::env::temp_dir().join(format!("atoms-earlier-{}.vcd", std::process::id()));
    let mut definition = Definition::new("atoms");
    let tag = definition.scope("txn", |d| d.scope("tag", |d| d.signal("tag00", SignalKind::Text)));
    let mut trace = definition.create(&path).expect("the wave is written");
    trace.set_text(tag, "#4 ADD.u32 queued, slot 0 lanes 3 @40");
    trace.tick().expect("it is written");
    trace.finish().expect("it is written");
    let excerpt = Excerpt::read(&path, 0..u64::MAX, |_| true).expect("the wave is readable");
    assert!(lacks_fields(&excerpt));
    assert!(matches!(wave_requests(&excerpt), Err(WaveRequestError::Earlier)));
    let _ = std::fs::remove_file(&path);
}

#[test]
fn a_window_is_all_that_is_written() {
    let path = std::env::temp_dir().join(format!("atoms-window-{}.vcd", std::process::id()));
    let case: Case =
        serde_json::from_str(include_str!("../vectors/first_wave.json")).expect("the case is readable");
    let mut session = Session::new(lockstep_of(&config(&case.config)), None);
    let trace = Trace::create(&path, session.machine(), None).expect("the wave is written");
    session.set_trace(Some(trace.within(9..13)));
    run_case(&mut session, &case).expect("the case agrees");
    let trace = session.take_trace().expect("still there");
    assert_eq!(trace.cycles(), 4);
    trace.finish().expect("the wave is completed");
    let mut wave = read(&path).expect("the wave is readable");
    assert_eq!(wave.time_table().iter().copied().min(), Some(90));
    assert_eq!(wave.time_table().iter().copied().max(), Some(130));
    let add = values(&mut wave, &["atoms", "txn", "tag", "tag02", "text"]);
    assert_eq!(add[0], "#1_ADD.u32_pass_2_of_3,_slot_0_lanes_f_@0");
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}

fn sampled(path: &Path, cycles: Range<u64>) -> BTreeMap<String, Vec<String>> {
    let mut wave = read(path).expect("the wave is readable");
    let hierarchy = wave.hierarchy();
    let signals: Vec<_> = hierarchy
        .all_vars()
        .map(|var| (hierarchy[var].full_name(hierarchy), hierarchy[var].signal_ref()))
        .collect();
    wave.load_signals(&signals.iter().map(|(_, signal)| *signal).collect::<Vec<_>>());
    let times = wave.time_table().to_vec();
    let mut all = BTreeMap::new();
    for (name, signal) in signals {
        let signal = wave.get_signal(signal).expect("the signal is loaded");
        let changes: Vec<_> =
            signal.iter_changes().map(|(at, value)| (times[at as usize], value.to_string())).collect();
        let at = |cycle: u64| changes.iter().rev().find(|(time, _)| *time <= 10 * cycle + 9);
        let value = |cycle: u64| at(cycle).map_or_else(String::new, |(_, value)| value.clone());
        all.insert(name, cycles.clone().map(value).collect());
    }
    all
}

/// A window shows requests that have waited since before the window, and objects that changed before it.
#[test]
fn a_window_equals_the_same_cycles_of_the_whole_wave() {
    let config = configs::named(&rtl_dir(), "small").expect("a configuration");
    let profile = Profile::named("objects").expect("a profile");
    let campaign = Campaign { config, profile, seed: 4, requests: 2_000, until: 700 };
    let wave = |name: &str, window: Range<u64>| {
        let path = std::env::temp_dir().join(format!("atoms-{name}-{}.vcd", std::process::id()));
        let mut session = Session::new(ModelMachine::new(campaign.config.config), None);
        let trace = Trace::create(&path, session.machine(), None).expect("the wave is written");
        session.set_trace(Some(trace.within(window)));
        session.run(&mut campaign.stimulus(), campaign.until, |_| {}).expect("the model runs");
        session.take_trace().expect("still there").finish().expect("the wave is completed");
        path
    };
    let window = 650..690;
    let (whole, part) = (wave("whole", 0..u64::MAX), wave("part", window.clone()));
    let [expected, found] = [&whole, &part].map(|path| sampled(path, window.clone()));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (name, values) in &expected {
        // Field values are undefined while their track is idle.
        let (scope, _) = name.rsplit_once('.').expect("a signal has a scope");
        let state = ["text", "kind"].iter().find_map(|state| expected.get(&format!("{scope}.{state}")));
        for (at, value) in values.iter().enumerate() {
            if name.contains(".txn.") && state.is_some_and(|state| state[at] == "-") {
                continue;
            }
            assert_eq!(&found[name][at], value, "{name} in cycle {}", window.start + at as u64);
        }
    }
    let shows = |name: &str, text: &str| {
        let mut all = found.iter().filter(|(full, _)| full.contains(name));
        all.any(|(_, values)| values.iter().any(|value| value.contains(text)))
    };
    assert!(shows("txn.tag", "suspended") && shows("txn.object0.text", "row"), "take another seed");
    for path in [whole, part] {
        let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
    }
}

/// A request of a kernel names its warp and the line of the kernel's text.
#[test]
fn a_request_names_the_instruction_that_made_it() {
    let path = std::env::temp_dir().join(format!("atoms-origin-{}.vcd", std::process::id()));
    let listing = root().join("tests/kernels/hist_u32.sm_90a.sass");
    let text = std::fs::read_to_string(&listing).expect("the kernel is readable");
    let program = Program::read("hist_u32", &text, None).expect("the kernel is understood");
    let launch = Launch::from_file(&root().join("tests/kernels/hist_u32.launch.toml")).expect("it is read");
    let mut session = Session::new(ModelMachine::new(config("default").config), None);
    session.set_trace(Some(Trace::create(&path, session.machine(), None).expect("the wave is written")));
    let kernel = launch.kernel(&program).expect("the kernel is there");
    run(kernel, &launch, &mut session, &SmConfig::default()).expect("the kernel runs");
    session.take_trace().expect("still there").finish().expect("the wave is completed");
    let mut wave = read(&path).expect("the wave is readable");
    let of_first_warp = values(&mut wave, &["atoms", "txn", "tag", "tag00", "text"]);
    let add = of_first_warp.iter().find(|text| text.contains("ATOMS"));
    let add =
        add.unwrap_or_else(|| panic!("no text of the track names an ATOMS instruction: {of_first_warp:#?}"));
    let (line, instruction) =
        add.split_once("line_").and_then(|(_, rest)| rest.split_once(":_")).expect("its line");
    let line: usize = line.parse().expect("a number");
    let written = text.lines().nth(line - 1).expect("the listing has that line");
    assert!(
        written.contains(&instruction.replace('_', " ")),
        "line {line} is `{written}`, the track says `{add}`"
    );
    assert!(add.contains(",_cta_0_warp_0_pc_"), "{add}");
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}

#[test]
fn mbarrier_objects_are_shown_as_numbers() {
    let ask = |op: Op, tag, b: &[u64]| {
        let lanes: Vec<_> = b.iter().map(|b| Lane { b: u128::from(*b), ..Lane::default() }).collect();
        let (op, size, mask) = (op as u8, Size::U64 as u8, (1 << b.len()) - 1);
        WarpRequest { op, size, tag, mask, lanes, ..WarpRequest::default() }
    };
    let case = Case {
        config: "small".to_string(),
        allocations: vec![AllocationWrite { enable: true, size: 128, ..AllocationWrite::default() }],
        warps: vec![
            ask(Op::MbarInit, 1, &[MbarObject::init(3).encode()]),
            ask(Op::MbarTryWait, 2, &[0]),
            ask(Op::MbarExpectTx, 3, &[64]),
            ask(Op::MbarArrive, 4, &[0, 0, 0]),
            ask(Op::MbarCompleteTx, 5, &[64]),
        ],
        ..Case::default()
    };
    let (path, mut wave) = wave_of("objects", &case);
    let mut track = |path: &[&str]| values(&mut wave, &[&["atoms", "txn"], path].concat());
    let bits = |track: Vec<String>| -> Vec<u32> {
        track.iter().filter_map(|bits| u32::from_str_radix(bits, 2).ok()).collect()
    };
    assert_eq!(track(&["object0", "text"]).last().map(String::as_str), Some("row_0_banks_0_1"));
    assert_eq!(bits(track(&["object0", "expected"])), [3]);
    assert_eq!(bits(track(&["object0", "pending"])), [3, 2, 1, 0, 3]);
    assert_eq!(bits(track(&["object0", "tx"])), [0, 64, 0]);
    assert_eq!(bits(track(&["object0", "phase"])), [0, 1]);
    assert!(
        track(&["tag", "tag02", "text"])
            .contains(&"#1_MBAR.TRY_WAIT.u64_suspended,_slot_0_lanes_1_@0".to_string())
    );
    assert!(track(&["wake_up", "text"]).contains(&"#1_phase_complete,_pred_1".to_string()));
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}

#[test]
fn the_committed_wave_is_the_one_the_readme_makes() {
    let (path, _) = first_wave("committed");
    let made = std::fs::read_to_string(&path).expect("the wave is readable");
    expect_file!["../../waves/first_wave.vcd"].assert_eq(&made);
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
}
