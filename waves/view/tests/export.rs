//! Export to other viewers: content, and validity of the formats.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use atoms_wave_view::{
    Excerpt, ExcerptSignal, PipelineRequest, ValueKind, WaveValue, write_konata, write_perfetto,
};
use serde_json::{Value, json};

use crate::NAMES;

fn text(text: &str) -> WaveValue {
    WaveValue::Text(text.to_owned())
}

fn bits(digits: &str) -> WaveValue {
    WaveValue::Bits(digits.to_owned())
}

/// A signal with values by cycle. A cycle has 10 time units.
fn signal(path: &str, kind: ValueKind, changes: &[(u64, WaveValue)]) -> ExcerptSignal {
    let mut scopes: Vec<_> = path.split('.').map(str::to_owned).collect();
    let name = scopes.pop().expect("a path has a name");
    let changes = changes.iter().map(|(cycle, value)| (cycle * 10, value.clone())).collect();
    ExcerptSignal { scopes, name, kind, changes }
}

/// Twenty cycles: two overlapping requests with one tag, a request that a reset drops, and a difference.
fn fixture() -> Excerpt {
    let half = |cycle: u64| [(cycle * 10, bits("1")), (cycle * 10 + 5, bits("0"))];
    let clock = ExcerptSignal {
        changes: (0..20).flat_map(half).collect(),
        ..signal("u.clk", ValueKind::Bits(1), &[])
    };
    let words = |texts: &[(u64, &str)]| texts.iter().map(|(at, of)| (*at, text(of))).collect::<Vec<_>>();
    let number = |at: u64, value: u32| (at, bits(&format!("{value:032b}")));
    let tag0 = [
        (0, "-"),
        (2, "#4_ADD.u32_queued"),
        (4, "#4_ADD.u32_pass_1_of_2"),
        (5, "#4_ADD.u32_pass_2_of_2"),
        (8, "#4_ADD.u32_answered_+_#6_CAS.u64.RED_queued"),
        (9, "#6_CAS.u64.RED_queued"),
        (11, "#6_CAS.u64.RED_pass_1_of_1"),
        (13, "#6_CAS.u64.RED_suspended"),
    ];
    let tag1 = [(0, "-"), (3, "#5_MBAR.EXPECT_TX.u64_queued"), (7, "-")];
    Excerpt {
        window: 0..200,
        unit: "1 ns".into(),
        period: Some(10),
        signals: vec![
            clock,
            signal("u.rtl.stall", ValueKind::Bits(1), &[(0, bits("x")), (3, bits("1")), (5, bits("0"))]),
            signal("u.rtl.word", ValueKind::Bits(32), &[(0, bits("1"))]),
            signal("u.model.stall", ValueKind::Bits(1), &[(0, bits("0"))]),
            signal("u.diff.any", ValueKind::Bits(1), &[(0, bits("0")), (4, bits("1")), (5, bits("0"))]),
            signal("u.txn.tag.tag00.text", ValueKind::Text, &words(&tag0)),
            signal("u.txn.tag.tag00.request", ValueKind::Bits(32), &[number(2, 4), number(9, 6)]),
            signal("u.txn.tag.tag01.text", ValueKind::Text, &words(&tag1)),
            signal("u.txn.tag.tag01.op", ValueKind::Text, &words(&[(3, "MBAR.EXPECT_TX")])),
            signal("u.txn.object0.text", ValueKind::Text, &[(0, text("-"))]),
            signal(
                "u.txn.object0.tx",
                ValueKind::Bits(4),
                &[(0, bits("xxxx")), (6, bits("0101")), (7, bits("1111"))],
            ),
            signal("u.txn.done", ValueKind::Event, &[(12, WaveValue::Event)]),
        ],
        joined_words: true,
        ..Excerpt::default()
    }
}

fn requests() -> Vec<PipelineRequest> {
    let request =
        |number, thread, title: &str, detail: &str, stages: &[(u64, &str)], end: Option<(u64, bool)>| {
            PipelineRequest {
                number,
                thread,
                title: format!("#{number} {title} tag {thread}"),
                detail: detail.to_owned(),
                stages: stages.iter().map(|(cycle, stage)| (cycle * 10, (*stage).to_owned())).collect(),
                end: end.map(|(cycle, is_retired)| (cycle * 10, is_retired)),
            }
        };
    vec![
        request(6, 0, "CAS.u64.RED", "", &[(8, "Q"), (11, "P1"), (13, "W")], None),
        request(5, 1, "MBAR.EXPECT_TX.u64", "slot 0 lanes 1 @0", &[(3, "Q")], Some((7, false))),
        request(
            4,
            0,
            "ADD.u32",
            "slot 0 lanes 3 @40",
            &[(2, "Q"), (4, "P1"), (5, "P2"), (8, "A")],
            Some((9, true)),
        ),
    ]
}

fn konata(excerpt: &Excerpt) -> String {
    let mut out = Vec::new();
    write_konata(excerpt, &NAMES, requests(), &mut out).expect("memory can be written");
    String::from_utf8(out).expect("it is text")
}

fn perfetto(excerpt: &Excerpt) -> (u64, Vec<Value>) {
    let mut out = Vec::new();
    let slices = write_perfetto(excerpt, &NAMES, &mut out).expect("memory can be written");
    let file: Value = serde_json::from_slice(&out).expect("it is JSON");
    (slices, file["traceEvents"].as_array().expect("a list of events").clone())
}

#[test]
fn requests_are_instructions_of_konata() {
    let log = konata(&fixture());
    assert_eq!(
        log,
        "Kanata\t0004\nC=\t0\n\
         C\t2\nI\t0\t4\t0\nL\t0\t0\t#4 ADD.u32 tag 0\nL\t0\t1\tslot 0 lanes 3 @40\nS\t0\t0\tQ\n\
         C\t1\nI\t1\t5\t1\nL\t1\t0\t#5 MBAR.EXPECT_TX.u64 tag 1\nL\t1\t1\tslot 0 lanes 1 @0\nS\t1\t0\tQ\n\
         C\t1\nE\t0\t0\tQ\nS\t0\t0\tP1\nL\t0\t1\t sides differ from cycle 4 to 4\nL\t1\t1\t sides differ from cycle 4 to 4\n\
         C\t1\nE\t0\t0\tP1\nS\t0\t0\tP2\n\
         C\t2\nE\t1\t0\tQ\nR\t1\t0\t1\n\
         C\t1\nE\t0\t0\tP2\nS\t0\t0\tA\nI\t2\t6\t0\nL\t2\t0\t#6 CAS.u64.RED tag 0\nS\t2\t0\tQ\n\
         C\t1\nE\t0\t0\tA\nR\t0\t0\t0\n\
         C\t2\nE\t2\t0\tQ\nS\t2\t0\tP1\n\
         C\t2\nE\t2\t0\tP1\nS\t2\t0\tW\n"
    );
    assert_eq!(check_kanata(&log), Ok(Checked { instructions: 3, retired: 1, flushed: 1 }));
}

#[derive(Debug, PartialEq)]
struct Checked {
    instructions: usize,
    retired: usize,
    flushed: usize,
}

/// Checks a log by its format description alone: commands and arguments, identifiers in order, stages that
/// end as they started, nothing after the end of an instruction.
fn check_kanata(log: &str) -> Result<Checked, String> {
    let mut lines = log.lines();
    if lines.next() != Some("Kanata\t0004") {
        return Err("no header".into());
    }
    let mut instructions = Vec::<Option<BTreeMap<u64, String>>>::new();
    let (mut retired, mut flushed) = (BTreeSet::new(), 0);
    for (number, line) in (2..).zip(lines) {
        let wrong = |what: &str| format!("line {number}: {what}: {line}");
        let parts: Vec<&str> = line.split('\t').collect();
        let figure = |at: usize| {
            parts.get(at).and_then(|part| part.parse::<u64>().ok()).ok_or_else(|| wrong("no number"))
        };
        match parts[0] {
            "C=" if number == 2 && parts.len() == 2 => _ = figure(1)?,
            "C" if parts.len() == 2 && figure(1)? > 0 => {}
            "I" if parts.len() == 4 => {
                figure(2)?;
                figure(3)?;
                if figure(1)? != instructions.len() as u64 {
                    return Err(wrong("identifiers are not in order"));
                }
                instructions.push(Some(BTreeMap::new()));
            }
            command @ ("L" | "S" | "E" | "R") if parts.len() == 4 => {
                let entry =
                    instructions.get_mut(figure(1)? as usize).ok_or_else(|| wrong("no such instruction"))?;
                let stages = entry.as_mut().ok_or_else(|| wrong("the instruction has ended"))?;
                match command {
                    "L" if figure(2)? > 1 => return Err(wrong("no such text")),
                    "S" => match stages.insert(figure(2)?, parts[3].to_owned()) {
                        Some(_) => return Err(wrong("the stage before has not ended")),
                        None if parts[3].is_empty() => return Err(wrong("a stage without a name")),
                        None => {}
                    },
                    "E" if stages.remove(&figure(2)?).as_deref() != Some(parts[3]) => {
                        return Err(wrong("another stage is at work"));
                    }
                    "R" => {
                        if !stages.is_empty() {
                            return Err(wrong("a stage has not ended"));
                        }
                        match figure(3)? {
                            0 if retired.insert(figure(2)?) => {}
                            1 => flushed += 1,
                            _ => return Err(wrong("retired twice, or neither retired nor flushed")),
                        }
                        *entry = None;
                    }
                    _ => {}
                }
            }
            _ => return Err(wrong("no such command")),
        }
    }
    Ok(Checked { instructions: instructions.len(), retired: retired.len(), flushed })
}

#[test]
fn the_check_of_logs_finds_what_is_wrong() {
    let log = konata(&fixture());
    for (find, replace) in [
        ("Kanata", "Konata"),
        ("I\t1\t", "I\t2\t"),
        ("E\t0\t0\tQ\n", ""),
        ("E\t0\t0\tQ\n", "E\t0\t0\tP1\n"),
        ("R\t0\t0\t0\n", "R\t0\t0\t0\nS\t0\t0\tQ\n"),
        ("C\t2\n", "C\t-2\n"),
        ("R\t1\t0\t1\n", "R\t1\t0\t2\n"),
    ] {
        assert!(log.contains(find), "{find}");
        assert!(check_kanata(&log.replacen(find, replace, 1)).is_err(), "{find} for {replace} is not found");
    }
}

#[test]
fn tracks_are_threads_of_perfetto() {
    let (slices, events) = perfetto(&fixture());
    check_trace_events(&events);
    let of = |ph: &str| events.iter().filter(|event| event["ph"] == ph).collect::<Vec<_>>();
    assert_eq!(of("X").len() as u64 + 1, slices, "an event of the wave counts too");
    let processes: Vec<_> = of("M")
        .iter()
        .filter(|event| event["name"] == "process_name")
        .map(|event| event["args"]["name"].as_str().expect("a name"))
        .collect();
    // The clock and signals that are never set are omitted.
    assert_eq!(processes, ["rtl", "diff", "txn"]);
    let shown: Vec<_> = of("X")
        .iter()
        .map(|event| format!("{} {} {}", event["ts"], event["dur"], event["name"].as_str().expect("a name")))
        .collect();
    assert_eq!(
        shown,
        [
            "0.03 0.02 stall",
            "0.04 0.01 any",
            "0.02 0.02 #4 ADD.u32 queued",
            "0.04 0.01 #4 ADD.u32 pass 1 of 2",
            "0.05 0.03 #4 ADD.u32 pass 2 of 2",
            "0.08 0.01 #4 ADD.u32 answered + #6 CAS.u64.RED queued",
            "0.09 0.02 #6 CAS.u64.RED queued",
            "0.11 0.02 #6 CAS.u64.RED pass 1 of 1",
            "0.13 0.07 #6 CAS.u64.RED suspended",
            "0.03 0.04 #5 MBAR.EXPECT_TX.u64 queued",
        ]
    );
    let add = of("X").into_iter().find(|event| event["name"] == "#4 ADD.u32 queued").expect("it is there");
    assert_eq!(add["args"], json!({ "cycle": 2, "request": 4 }));
    // The tx-count of an object is signed. An unknown value is not a number.
    let counted: Vec<_> =
        of("C").iter().map(|event| event["args"]["value"].as_i64().expect("a number")).collect();
    assert_eq!(counted, [5, -1]);
    let differences: Vec<_> = of("i").into_iter().filter(|event| event["name"] == "sides differ").collect();
    assert_eq!(differences.len(), 1);
    assert_eq!(
        (differences[0]["s"].as_str(), differences[0]["args"]["cycle"].as_u64()),
        (Some("g"), Some(4))
    );
}

/// Checks rules of the format: processes and threads have names, and slices of a thread do not overlap.
fn check_trace_events(events: &[Value]) {
    let named = |what: &str| -> BTreeSet<(u64, u64)> {
        let named = events.iter().filter(|event| event["ph"] == "M" && event["name"] == what);
        named
            .map(|event| {
                (event["pid"].as_u64().expect("a process"), event["tid"].as_u64().expect("a thread"))
            })
            .collect()
    };
    let (processes, threads) = (named("process_name"), named("thread_name"));
    let mut ends = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let place = (event["pid"].as_u64().expect("a process"), event["tid"].as_u64().expect("a thread"));
        assert!(processes.contains(&(place.0, 0)) && threads.contains(&place), "{event} is nowhere");
        let (from, lasts) = (event["ts"].as_f64().expect("a time"), event["dur"].as_f64().expect("a time"));
        let end = ends.insert(place, from + lasts).unwrap_or(0.0);
        assert!(lasts > 0.0 && from > end - 1e-9, "{event} begins before the one before it ends at {end}");
    }
}

#[test]
fn the_first_wave_is_exported() {
    let wave = Path::new(env!("CARGO_MANIFEST_DIR")).join("../first_wave.vcd");
    let excerpt = Excerpt::read(wave, 0..u64::MAX, |_| true).expect("it is whole");
    let (slices, events) = perfetto(&excerpt);
    check_trace_events(&events);
    assert!(slices > 50, "{slices}");
    assert!(events.iter().any(|event| event["name"].as_str().is_some_and(|name| name.contains("CAST.SPIN"))));
}
