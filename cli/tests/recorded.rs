//! `atoms check --trace`: the wave of a recorded trace, read back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use atoms_cosim::trace::{NAMES, RequestKind, WaveRequest, wave_requests};
use atoms_wave_view::{Excerpt, WaveFile};
use serde_json::{Map, Value};

/// Length of a cycle in time units.
const CYCLE: u64 = 10;

fn atoms(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atoms"));
    command.current_dir(folder).args(arguments).output().expect("atoms can be started")
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

fn excerpt(wave: &Path) -> Excerpt {
    let file = WaveFile::open(wave).expect("a wave");
    let all: Vec<_> = (0..file.signals().len()).collect();
    file.excerpt(0..u64::MAX, &all).expect("the wave can be read")
}

/// Transactions of a track: first cycle, cycle after the last one, text, and fields.
fn track(excerpt: &Excerpt, name: &str) -> Vec<(u64, u64, String, Map<String, Value>)> {
    let tracks = excerpt.tracks(&NAMES);
    let track = tracks.iter().find(|track| track.scopes.last().is_some_and(|scope| scope == name));
    let track = track.unwrap_or_else(|| panic!("the wave has no track {name}"));
    let transactions = excerpt.transactions(track);
    transactions
        .map(|of| (of.from / CYCLE, of.to / CYCLE, excerpt.words(of.text).into(), of.json()))
        .collect()
}

/// Kinds of a request, and the cycles in which they begin, with the cycle in which the request leaves.
fn stages(request: &WaveRequest) -> Vec<(u64, Option<RequestKind>)> {
    let stages = request.stages.iter().map(|(time, of)| (time / CYCLE, Some(of.kind)));
    stages.chain(request.gone.map(|time| (time / CYCLE, None))).collect()
}

/// Writes the trace and its wave. Returns the wave and the output.
fn checked(folder: &Path, lines: &[&str]) -> (Excerpt, Output) {
    fs::write(folder.join("t.jsonl"), lines.join("\n")).expect("the folder is writable");
    let output = atoms(folder, &["check", "t.jsonl", "--trace", "w.vcd"]);
    (excerpt(&folder.join("w.vcd")), output)
}

const HEADER: &str = r#"{"atoms_trace":1,"lanes":32,"banks":32,"rows":512,"try_wait_limit":1000}"#;
const ALLOCATION: &str = r#"{"allocation":{"slot":3,"base_row":2,"size_bytes":4096}}"#;

#[test]
fn a_recorded_run_has_the_requests_of_its_wave() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut suspended = 0;
    for (profile, extension) in [("default", "vcd"), ("objects", "fst"), ("busy", "vcd")] {
        let (run, wave) = (format!("run.{extension}"), format!("wave.{extension}"));
        let cosim =
            ["cosim", "--on", "model", "--config", "small", "--requests", "400", "--profile", profile];
        let output = atoms(folder.path(), &[&cosim[..], &["--record", "t.jsonl", "--trace", &run]].concat());
        assert!(output.status.success(), "{}", words(&output));
        let output = atoms(folder.path(), &["check", "t.jsonl", "--trace", &wave]);
        assert!(output.status.success(), "{}", words(&output));
        // The oracle counts cycles from 1.
        let requests = |path: &str, later: u64| {
            let requests = wave_requests(&excerpt(&folder.path().join(path))).expect("fields");
            let mut found = BTreeMap::new();
            for request in &requests {
                let (time, of) = &request.stages[0];
                let what =
                    format!("{}.{} red {} lanes {:x} @{:x}", of.op, of.size, of.red, of.lanes, of.address);
                assert_eq!(found.insert(time / CYCLE + later, (what, of.slot)), None, "{profile}");
            }
            (found, requests)
        };
        let (of_run, _) = requests(&run, 1);
        let (of_trace, rows) = requests(&wave, 0);
        assert!(of_run.len() >= 400, "{profile}: {} requests", of_run.len());
        let text = fs::read_to_string(folder.path().join("t.jsonl")).expect("a trace");
        let other = of_trace.iter().find(|(cycle, what)| of_run.get(cycle) != Some(what));
        assert_eq!(other, None, "{profile}");
        // The trace does not have the cycles of requests that a reset drops.
        let resets = text.lines().filter(|line| line.contains("\"reset\":"));
        let dropped: usize = resets.map(|line| line.matches("\"op\"").count()).sum();
        let missing = of_run.len() - of_trace.len();
        assert!(missing <= dropped, "{profile}: {missing} missing, {dropped} dropped");
        // The number of a request is its line.
        let lines: Vec<_> = text.lines().collect();
        for row in &rows {
            let (_, of) = &row.stages[0];
            let line = lines[of.request as usize - 1];
            assert!(line.contains(&format!("\"op\":\"{}\"", of.op)), "{profile} line {}: {line}", of.request);
        }
        let is_suspended =
            |of: &&WaveRequest| stages(of).iter().any(|(_, kind)| *kind == Some(RequestKind::Suspended));
        suspended += rows.iter().filter(is_suspended).count();
    }
    assert!(suspended > 0);
}

#[test]
fn a_rejected_request_is_marked() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [
        HEADER,
        ALLOCATION,
        r#"{"request":{"op":"ADD","size":"u32","slot":3,"mask":1,"ra":8,"b":5},"response":{"rd":0},"number":0,"accepted":100,"answered":109}"#,
        r#"{"request":{"op":"LDS","size":"u32","slot":3,"cluster":true,"absolute":true,"imm":8,"mask":1},"response":{"rd":5},"number":0,"accepted":98,"answered":110}"#,
        r#"{"request":{"op":"ADD","size":"u32","slot":3,"mask":6,"ra":8,"b":1},"response":{"lanes":[{"lane":1,"rd":5},{"lane":2,"rd":5}]},"number":1,"accepted":101,"answered":120}"#,
        r#"{"request":{"op":"LDS","size":"u32","slot":3,"mask":1,"ra":8},"response":{"rd":7},"number":2,"accepted":102,"answered":130}"#,
    ];
    let (wave, output) = checked(folder.path(), &lines);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let (first, second) =
        words(&output).split_once('\n').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("lines");
    assert!(first.starts_with("t.jsonl: rejected; line 5: lanes 1 and 2"), "{first}");
    assert_eq!(second, "  wave  w.vcd (atoms wave show w.vcd --window 111..123)\n");

    let verdict = track(&wave, "verdict");
    let [(101, _, text, fields)] = &verdict[..] else { panic!("{verdict:?}") };
    assert!(text.starts_with("line 5: lanes 1 and 2") && text.ends_with("(spec 4.5)"), "{text}");
    let field = |name: &str| fields[name].clone();
    assert_eq!(
        [field("request"), field("lanes"), field("address"), field("got")],
        [5, 6, 8, 5].map(Value::from)
    );
    assert_eq!(field("clause"), "spec_4.5");

    let cycles =
        |name: &str| track(&wave, name).into_iter().map(|(from, to, ..)| (from, to)).collect::<Vec<_>>();
    assert_eq!(cycles("warp00"), [(100, 109), (109, 110)]);
    assert_eq!(cycles("warp01"), [(101, 120), (120, 121)]);
    assert_eq!(cycles("cluster00"), [(98, 110), (110, 111)]);
    let answered = &track(&wave, "warp01")[1].2;
    assert_eq!(answered, "#5 ADD.u32 answered, slot 3 lanes 6 @8, rd[1] 5");
    let slot = track(&wave, "slot03");
    assert_eq!(slot[0].2, "4096 bytes from row 2, rank 0");
    // Line 6 is not judged, and not shown.
    let requests = wave_requests(&wave).expect("fields");
    assert_eq!(requests.iter().map(|of| of.stages[0].1.request).collect::<Vec<_>>(), [3, 5]);

    let shown = words(&atoms(folder.path(), &["wave", "show", "w.vcd", "--window", "111..123"]));
    assert!(shown.contains("txn.verdict.text") && shown.contains("╷115"), "{shown}");
    let json = atoms(folder.path(), &["check", "t.jsonl", "--trace", "w.fst", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((&json["accepted"], &json["wave"]), (&false.into(), &"w.fst".into()));
}

#[test]
fn a_suspended_wait_lasts_until_its_wake_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [
        HEADER,
        ALLOCATION,
        r#"{"request":{"op":"MBAR.INIT","size":"u64","slot":3,"lanes":[{"lane":0,"ra":"0x80","b":"0x7ffff000001ffffc"}]},"response":{},"accepted":20,"number":0,"answered":25}"#,
        r#"{"wait":{"op":"MBAR.TRY_WAIT","size":"u64","slot":3,"mask":3,"ra":"0x80"},"number":1,"accepted":40}"#,
        r#"{"suspended":{"number":1,"cycle":46}}"#,
        r#"{"request":{"op":"MBAR.ARRIVE","size":"u64","slot":3,"mask":3,"ra":"0x80"},"response":{"lanes":[{"lane":0,"rd":"0x7ffff00000000000"},{"lane":1,"rd":"0x7ffff80000000000"}]},"number":2,"accepted":44,"answered":2000000}"#,
        r#"{"wake":{"number":1,"pred":3,"cycle":2000002}}"#,
        r#"{"wait":{"op":"MBAR.TRY_WAIT","size":"u64","slot":3,"mask":1,"ra":"0x80"},"number":3,"accepted":2000010}"#,
        r#"{"request":{"op":"MBAR.TRY_WAIT","size":"u64","slot":3,"mask":1,"ra":"0x80"},"response":{"pred":1},"number":3,"answered":2000015}"#,
        r#"{"reset":[]}"#,
        r#"{"end":true}"#,
    ];
    let (wave, output) = checked(folder.path(), &lines);
    assert_eq!(words(&output).lines().last(), Some("  wave  w.vcd (atoms wave show w.vcd)"));
    let requests: BTreeMap<_, _> =
        wave_requests(&wave).expect("fields").iter().map(|of| (of.stages[0].1.request, stages(of))).collect();
    let [queued, suspended, answered] =
        [RequestKind::Queued, RequestKind::Suspended, RequestKind::Answered].map(Some);
    assert_eq!(requests[&4], [(40, queued), (46, suspended), (2_000_002, answered), (2_000_003, None)]);
    assert_eq!(requests[&6], [(44, queued), (2_000_000, answered), (2_000_001, None)]);
    assert_eq!(requests[&8], [(2_000_010, queued), (2_000_015, answered), (2_000_016, None)]);
    assert_eq!(requests.len(), 4);
    let reset = track(&wave, "reset");
    assert_eq!((reset[0].0, reset[0].1, &*reset[0].2), (2_000_016, 2_000_017, "reset, 0 requests dropped"));
    assert_eq!(track(&wave, "slot03")[0].1, 2_000_016);
    // The wave skips most cycles without changes.
    let bytes = fs::metadata(folder.path().join("w.vcd")).expect("a wave").len();
    assert!(bytes < 100_000, "{bytes} bytes");
}

#[test]
fn without_cycles_each_line_takes_one_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = include_str!("cmd/lost_update.jsonl");
    let lines: Vec<_> = text.lines().collect();
    let (wave, output) = checked(folder.path(), &lines);
    let told = words(&output);
    let step = "  wave  w.vcd (atoms wave show w.vcd --window 0..4)\n        line 6 has no cycle (`accepted` or `answered`), so each line takes one step of time\n";
    assert!(told.ends_with(step), "{told}");
    let requests = wave_requests(&wave).expect("fields");
    assert_eq!(
        requests.iter().map(stages).collect::<Vec<_>>(),
        [[(1, Some(RequestKind::Answered)), (2, None)]]
    );
    assert_eq!(track(&wave, "verdict")[0].0, 1);
    let time = wave.signals.iter().find(|signal| signal.name == "time").expect("a signal");
    assert!(format!("{:?}", time.changes).contains("steps:_line_6_has_no_cycle"), "{:?}", time.changes);
}
