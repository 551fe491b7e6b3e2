//! The trace format: the documented example, round trips, and messages for bad lines.

use std::io::{BufReader, Cursor, Read, repeat};

use atoms_oracle::{Allocation, Geometry, GoesFirst, RequestTiming, Response};
use atoms_record::{
    DeclaredUnit, Exchange, MAX_LINE_BYTES, RecordingError, TraceEvent, TraceHeader, TraceReader,
    TraceSummary, TraceWriter, check_trace,
};
use proptest::prelude::*;
use serial::{Machine, active, heard, request, value};

use crate::serial;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/trace-format.md");
const HEADER: &str = r#"{"atoms_trace":1,"lanes":32,"banks":32,"rows":512}"#;
const ALLOCATION: Allocation = Allocation { base_row: 0, size_bytes: 512, rank: 0 };

/// Example number `number` of the document, from 1.
fn example_of(number: usize) -> String {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    document.split("```jsonl\n").nth(number).unwrap().split("```").next().unwrap().to_owned()
}

fn example() -> String {
    example_of(1)
}

fn check(text: &str) -> Result<TraceSummary, RecordingError> {
    check_trace(Cursor::new(text))
}

#[test]
fn a_line_may_be_just_so_long() {
    let blank = |bytes: u64| repeat(b' ').take(bytes - 1).chain(&b"\n"[..]);
    let header = format!("{HEADER}\n");
    let text = header.as_bytes().chain(blank(MAX_LINE_BYTES)).chain(blank(MAX_LINE_BYTES + 1));
    let said = check_trace(BufReader::new(text)).unwrap_err().to_string();
    assert_eq!(said, "line 3: longer than 67108864 bytes; split it up");
}

#[test]
fn the_documented_example_is_accepted() {
    let summary = check(&example()).unwrap();
    assert_eq!(
        summary,
        TraceSummary { lines: 20, requests: 5, lanes: 9, faults: 1, unseen: 2, wakes: 0, final_words: 2 }
    );
}

#[test]
fn any_change_to_the_documented_example_is_found_in_its_line() {
    #[rustfmt::skip]
    let changes = [
        (r#""lane":19,"rd":7"#,          r#""lane":19,"rd":6"#,      7,  "one update was lost"),
        (r#""after":[[16,8]]"#,          r#""after":[[16,9]]"#,      7,  "leaves 0x8"),
        (r#"[{"lane":4,"rd":10}]"#,      r#"[{"lane":4,"rd":12}]"#,  12, "none of the 2 values"),
        (r#"[{"lane":4,"rd":10}]"#,      r#"[{"lane":4,"rd":11}]"#,  20, "word 16 (byte 0x40) holds 0xa; after all requests it must hold 0xb"),
        (r#""fault_lane":5"#,            r#""fault_lane":6"#,        18, "for lane 5 at 0x3e"),
        (r#"{"final":[[16,10],[48,98]]}"#, r#"{"final":[[48,97]]}"#, 20, "word 48"),
    ];
    for (from, to, line, says) in changes {
        let text = example();
        assert!(text.contains(from), "{from}");
        let error = check(&text.replace(from, to)).unwrap_err();
        let message = error.to_string();
        assert!(error.is_verdict() && message.starts_with(&format!("line {line}: ")), "{message}");
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn the_documented_wait_is_accepted_and_any_change_to_it_found() {
    let summary = check(&example_of(2)).unwrap();
    assert_eq!(
        summary,
        TraceSummary { lines: 13, requests: 2, lanes: 3, wakes: 1, ..TraceSummary::default() }
    );
    #[rustfmt::skip]
    let changes = [
        (r#""rd":"0x7ffff80000000000""#,  r#""rd":"0x7fffe80000000000""#,   10, "no order of the lanes leads there"),
        (r#"[[33,"0xfffff000"]]"#,        r#"[[33,"0x00000000"]]"#,         10, "the phase did not advance"),
        (r#""pred":3,"cycle":54"#,        r#""pred":0,"cycle":54"#,         12, "timed out too early"),
        (r#""pred":3,"cycle":54"#,        r#""pred":0,"cycle":1040"#,       12, "but needed a wake-up"),
        (r#""mask":3,"ra":"0x80"},"number"#, r#""mask":3,"ra":"0x88"},"number"#, 13, "too early"),
        (r#""quiet":[41,53]"#,            r#""quiet":[41,57]"#,             11, "is still suspended"),
        (r#"{"wake":{"number":1"#,        r#"{"wake":{"number":3"#,         12, "is for wait 3"),
        (r#"{"wake":{"number":1,"pred":3,"cycle":54}}"#, "",                13, "was never answered"),
    ];
    for (from, to, line, says) in changes {
        let text = example_of(2);
        assert!(text.contains(from), "{from}");
        let error = check(&text.replacen(from, to, 1)).unwrap_err();
        let message = error.to_string();
        assert!(error.is_verdict() && message.starts_with(&format!("line {line}: ")), "{message}");
        assert!(message.contains(says), "{message}");
    }
    let text = example_of(2).replace(r#","number":2,"answered":52"#, "");
    assert_eq!(
        check(&text).unwrap_err().to_string(),
        "line 10: a wait is unanswered, so the `request` needs `number` and `answered`"
    );
}

/// Effects of a reset are judged only if they are certain.
#[test]
fn the_documented_reset_is_accepted_and_what_it_cannot_leave_is_found() {
    let text = example_of(3);
    let summary = check(&text).unwrap();
    assert_eq!((summary.requests, summary.wakes), (2, 0));
    #[rustfmt::skip]
    let changes = [
        // No single dropped request accesses all written words.
        (r#""after":[[0,1]]"#, r#""after":[[2,1]]"#,       6, "word 2"),
        (r#""after":[[0,1]]"#, r#""after":[[0,1],[1,1]]"#, 6, "word 0"),
        // A request that only reads writes nothing.
        (r#"{"op":"ADD","size":"u32","b":1,"mask":3}"#, r#"{"op":"LDS","size":"u32","mask":3}"#, 6, "word 0"),
        // A reset keeps memory, but drops allocations.
        (r#""response":{"rd":1}"#, r#""response":{}"#,     8, "0x1"),
        ("{\"allocation\":{\"slot\":0,\"base_row\":0,\"size_bytes\":4096}}\n{\"request\":{\"op\":\"LDS\"", "{\"request\":{\"op\":\"LDS\"", 7, "address out of range"),
    ];
    for (from, to, line, says) in changes {
        assert!(text.contains(from), "{from}");
        let message = check(&text.replace(from, to)).unwrap_err().to_string();
        assert!(message.starts_with(&format!("line {line}: ")) && message.contains(says), "{message}");
    }
    // Without the reset, the wait is still in flight.
    let kept: String =
        text.lines().filter(|line| !line.contains("reset")).map(|line| format!("{line}\n")).collect();
    let message = check(&kept.replace(
        r#""response":{"rd":1},"after":[]"#,
        r#""response":{},"after":[],"number":2,"answered":60"#,
    ));
    assert!(message.unwrap_err().to_string().starts_with("line 8: "));
}

#[rustfmt::skip]
const MALFORMED: &[(&str, &str, &str)] = &[
    // rule                      text after the header, or all of it              message
    ("an empty trace",           "",                                              "line 1: the trace is empty; it must begin with a header such as {\"atoms_trace\":1,\"lanes\":32,\"banks\":32,\"rows\":512}"),
    ("no header",                r#"{"note":"hello"}"#,                           "line 1: the header has no `atoms_trace`; it must look like {\"atoms_trace\":1,\"lanes\":32,\"banks\":32,\"rows\":512}"),
    ("another version",          r#"{"atoms_trace":2,"lanes":32}"#,               "line 1: version 2 of the format: expected 1"),
    ("too many lanes",           r#"{"atoms_trace":1,"lanes":64,"banks":32,"rows":1}"#, "line 1: 64 lanes: expected 1 to 32"),
    ("odd banks",                r#"{"atoms_trace":1,"lanes":32,"banks":12,"rows":1}"#, "line 1: 12 banks: expected a power of two"),
    ("too much memory",          r#"{"atoms_trace":1,"lanes":32,"banks":32,"rows":"0xffffffff"}"#, "line 1: 4294967295 rows of 32 banks: expected 1 to 8388608"),
    ("a hold of nothing",        r#"{"atoms_trace":1,"lanes":32,"banks":32,"rows":1,"spin_hold":0}"#, "line 1: `spin_hold` is 0: expected 1 or more"),
    ("an unknown policy",        r#"{"atoms_trace":1,"lanes":32,"banks":32,"rows":1,"unit":{"winner_policy":"none"}}"#, "unknown variant `none`, expected one of `lowest`, `highest`, `rotating`"),
    ("not JSON",                 "H what is this",                                "line 2: column 1: expected value"),
    ("an unknown field",         r#"H {"inti":[[0,1]]}"#,                         "line 2: column 7: unknown field `inti`, expected one of `atoms_trace`, `lanes`, `banks`, `rows`, `xor_hash`, `try_wait_limit`, `spin_hold`, `unit`, `allocation`, `part`, `init`, `request`, `response`, `after`, `wait`, `number`, `accepted`, `answered`, `oldest_unanswered`, `suspended`, `wake`, `quiet`, `lost`, `reset`, `end`, `final`, `verdict`, `undecided`, `note`"),
    ("a line of nothing",        "H {}",                                          "line 2: the line has no main field: expected one of `allocation`, `init`, `request`, `wait`, `suspended`, `wake`, `quiet`, `lost`, `reset`, `end`, `final`, `verdict` or `note`"),
    ("two things",               r#"H {"init":[],"final":[]}"#,                   "line 2: the line has several main fields: expected one of `allocation`, `init`, `request`, `wait`, `suspended`, `wake`, `quiet`, `lost`, `reset`, `end`, `final`, `verdict` or `note`"),
    ("a second header",          r#"H {"atoms_trace":1}"#,                        "line 2: a second header; write each trace to a separate file"),
    ("a hold in the middle",     r#"H {"spin_hold":4}"#,                          "line 2: `spin_hold` belongs in a line with `atoms_trace`"),
    ("a response alone",         r#"H {"response":{}}"#,                          "line 2: `response` belongs in a line with `request`"),
    ("a request alone",          r#"H {"request":{"op":"ADD","size":"u32","mask":1}}"#, "line 2: the `request` has no `response`"),
    ("no lanes",                 r#"H {"request":{"op":"ADD","size":"u32"},"response":{}}"#, "line 2: the request has neither `lanes` nor a `mask`: which lanes are active?"),
    ("an unknown operation",     r#"H {"request":{"op":"SUB","size":"u32","mask":1},"response":{}}"#, "line 2: operation `SUB`: expected a numeric code or one of ADD, MIN,"),
    ("an unknown size",          r#"H {"request":{"op":"ADD","size":"f32","mask":1},"response":{}}"#, "line 2: size `f32`: expected a numeric code or one of u8, u16,"),
    ("an unknown fault",         r#"H {"request":{"op":"ADD","size":"u32","mask":1},"response":{"fault":"oops"}}"#, "line 2: fault `oops`: expected a numeric code or one of none,"),
    ("a lane too many",          r#"H {"request":{"op":"ADD","size":"u32","lanes":[{"lane":32}]},"response":{}}"#, "line 2: lane 32: expected 0 to 31, as the header has 32 lanes"),
    ("a number too large",       r#"H {"request":{"op":"ADD","size":"u32","ra":"0x1_0000_0000","mask":1},"response":{}}"#, "line 2: `ra` is 0x100000000: expected 32 bits"),
    ("a list too long",          r#"H {"request":{"op":"ADD","size":"u32","b":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"mask":1},"response":{}}"#, "line 2: `b` is a list of 33: expected one of up to 32"),
    ("a list for a number",      r#"H {"init":[[[],0]]}"#,                        "invalid type: sequence, expected an integer or a string"),
    ("a negative number",        r#"H {"init":[[0,-1]]}"#,                        "line 2: column 15: -0x1: expected 32 bits without a sign, as a number or a string such as \"0x1f\""),
    ("an immediate too large",   r#"H {"request":{"op":"ADD","size":"u32","imm":16777216,"mask":1},"response":{}}"#, "line 2: column 50: 0x1000000: expected 24 bits, -0x800000 to 0xffffff, as a number or a string"),
    ("a word beyond the memory", r#"H {"init":[[16384,1]]}"#,                     "line 2: word 16384: expected at most 16383"),
    ("half a moment",            r#"H {"request":{"op":"ADD","size":"u32","mask":1},"response":{},"number":1}"#, "line 2: `number` and `answered` must both be present or both be absent"),
    ("a moment of nothing",      r#"H {"init":[],"answered":1}"#,                 "line 2: `answered` belongs in a line with `request`"),
    ("a wait without a number",  r#"H {"wait":{"op":"ADD","size":"u32","mask":1},"accepted":1}"#, "line 2: the `wait` has no `number`"),
    ("quiet the wrong way",      r#"H {"quiet":[5,4]}"#,                          "line 2: quiet from 5 to 4: expected the first cycle and the last"),
    ("half an allocation",              r#"H {"allocation":{"slot":1,"base_row":0}}"#,         "line 2: the allocation has no `size_bytes`; a slot without one is `\"unassigned\":true`"),
];

/// A response may omit zeros, set all lanes at once, and override single lanes.
#[test]
fn a_response_may_be_short() {
    let lines = [
        r#"{"allocation":{"slot":0,"base_row":0,"size_bytes":512}}"#,
        r#"{"quiet":[5,5]}"#,
        r#"{"init":[[1,7],[3,7]]}"#,
        r#"{"request":{"op":"ADD","size":"u32","b":1,"lanes":[{"lane":1,"ra":4},{"lane":3,"ra":12}]},"response":{"rd":7}}"#,
        r#"{"request":{"op":"CAS","size":"u32","b":8,"c":2,"lanes":[{"lane":1,"ra":4}]},"response":{"lanes":[{"lane":1,"rd":8,"pred":1}]}}"#,
        r#"{"request":{"op":"CAS","size":"u32","b":8,"c":2,"lanes":[{"lane":1,"ra":12}]},"response":{"rd":8,"pred":2}}"#,
        r#"{"request":{"op":"CAS","size":"u32","b":8,"c":2,"lanes":[{"lane":1,"ra":12}]},"response":{"pred":2,"lanes":[{"lane":1,"rd":2,"pred":0}]}}"#,
        r#"{"final":[[1,2],[3,2]]}"#,
    ];
    let text = format!("{HEADER}\n{}\n", lines.join("\n"));
    check(&text).unwrap();
}

/// Addresses and operands are written in hexadecimal, counts in decimal.
#[test]
fn lanes_and_words_are_written_as_decimal_numbers() {
    let geometry = Geometry { lanes: 32, banks: 32, rows: 4, xor_hash: false };
    let header = TraceHeader { geometry, try_wait_limit: None, spin_hold: None, unit: None };
    let mut writer = TraceWriter::new(Vec::new(), &header).unwrap();
    writer.write(&TraceEvent::Init(vec![(20, 30)])).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    assert_eq!(text.lines().last(), Some(r#"{"init":[[20,"0x1e"]]}"#));
}

#[test]
fn malformed_lines_are_told_what_would_work() {
    for (rule, text, says) in MALFORMED {
        let text = match text.strip_prefix("H ") {
            Some(line) => format!("{HEADER}\n{line}\n"),
            None => (*text).to_owned(),
        };
        let error = check(&text).expect_err(rule);
        assert!(!error.is_verdict(), "{rule}");
        assert!(error.to_string().contains(says), "{rule}: {error}");
    }
}

#[test]
fn an_undecided_trace_is_no_verdict() {
    let mut text = format!("{HEADER}\n{}\n", r#"{"allocation":{"slot":0,"base_row":0,"size_bytes":512}}"#);
    for word in 0..4 {
        let b: Vec<String> = (0..32).map(|lane| lane.to_string()).collect();
        text += &format!(
            r#"{{"request":{{"op":"EXCH","size":"u32","red":true,"mask":"0xffffffff","ra":{},"b":[{}]}},"response":{{}}}}{}"#,
            word * 4,
            b.join(","),
            "\n"
        );
    }
    text += r#"{"request":{"op":"LDS","size":"b128","mask":1},"response":{}}"#;
    let error = check(&text).unwrap_err();
    assert!(matches!(error, RecordingError::Undecided { line: 7, .. }), "{error}");
    assert!(!error.is_verdict());
}

#[test]
fn a_failing_reader_is_reported_with_its_line() {
    struct Fails;
    impl std::io::Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let header = Cursor::new(format!("{HEADER}\n"));
    let error = check_trace(std::io::BufReader::new(std::io::Read::chain(header, Fails))).unwrap_err();
    assert!(matches!(error, RecordingError::Read { line: 2, .. }), "{error}");
}

#[test]
fn a_recorded_verdict_counts() {
    let found = "line 2: the scoreboard that recorded this trace found: cycle 7: late (spec 4.6)";
    for (more, is_verdict) in [("", true), (",\"undecided\":true", false)] {
        let text = format!("{HEADER}\n{{\"verdict\":\"cycle 7: late (spec 4.6)\"{more}}}\n");
        let error = check(&text).unwrap_err();
        assert_eq!((error.is_verdict(), error.to_string()), (is_verdict, found.to_owned()), "{more}");
    }
}

fn response() -> impl Strategy<Value = Response> {
    let fault = prop::sample::select(atoms_ops::Fault::ALL.to_vec());
    (prop::collection::vec(value(), 32), any::<u32>(), fault, any::<u8>(), any::<u32>()).prop_map(
        |(rd, pred, fault, lane, addr)| {
            let (fault_lane, fault_addr) =
                if fault == atoms_ops::Fault::None { (0, 0) } else { (lane, addr) };
            Response { rd: rd.try_into().unwrap(), pred, fault, fault_lane, fault_addr }
        },
    )
}

#[test]
fn recordings_of_older_versions_are_read() {
    let event = |key: &str| {
        let text = format!("{HEADER}\n{{\"{key}\":{{\"slot\":0,\"base_row\":0,\"size_bytes\":512}}}}\n");
        let mut read = TraceReader::new(text.as_bytes()).expect("a header");
        read.next().expect("a line").expect("an allocation").1
    };
    assert_eq!(event("part"), event("allocation"));
}

proptest! {
    /// Written events read back unchanged, even meaningless ones.
    #[test]
    fn a_trace_reads_back_as_written(
        req in request(ALLOCATION, 32, 30), resp in response(), slot in any::<u8>(), ur in any::<u32>(),
        after in prop::option::of(prop::collection::vec((any::<u32>(), any::<u32>()), 0..4)),
        moment in prop::option::of((any::<u64>(), any::<u64>(), any::<Option<u64>>())),
        limit in any::<Option<u64>>(), spin_hold in prop::option::of(1u32..), (number, cycle, pred) in any::<(u64, u64, u32)>(),
        words in prop::collection::vec((0u32..128, any::<u32>()), 0..4), xor_hash in any::<bool>(),
        policy in prop::option::of(prop::sample::select(vec![GoesFirst::Lowest, GoesFirst::Highest, GoesFirst::Rotating])),
    ) {
        let geometry = Geometry { lanes: 32, banks: 32, rows: 4, xor_hash };
        let mut req = req;
        (req.slot, req.ur) = (slot, ur);
        // Operands of inactive lanes are not recorded.
        for lane in (0..32).filter(|lane| req.mask >> lane & 1 == 0) {
            (req.ra[lane], req.b[lane], req.c[lane]) = (0, 0, 0);
        }
        let moment = moment
            .map(|(number, answered, oldest_unanswered)| RequestTiming { number, answered, oldest_unanswered });
        let unit = policy.map(|winner_policy| DeclaredUnit {
            winner_policy,
            merge_red: xor_hash,
            merge_arrive: !xor_hash,
        });
        let header = TraceHeader { geometry, try_wait_limit: limit, spin_hold, unit };
        let mut writer = TraceWriter::new(Vec::new(), &header).unwrap();
        let after = after.clone();
        let exchange = Exchange { request: req.clone(), response: Some(resp), after, moment, accepted: limit };
        let events = [
            TraceEvent::Allocation { slot, allocation: Some(ALLOCATION) },
            TraceEvent::Allocation { slot, allocation: None },
            TraceEvent::Init(words.clone()),
            TraceEvent::Request(Box::new(exchange)),
            TraceEvent::Final(words.clone()),
            TraceEvent::Wait { number, accepted: cycle, request: Box::new(req.clone()) },
            TraceEvent::Suspended { number, cycle },
            TraceEvent::Wake { number, pred, cycle },
            TraceEvent::Quiet { from: cycle / 2, to: cycle },
            TraceEvent::Reset { dropped: vec![req], written: words },
            TraceEvent::End,
            TraceEvent::Verdict { undecided: xor_hash, text: "cycle 7: \"too late\"".to_owned() },
        ];
        for event in &events {
            writer.write(event).unwrap();
        }
        let text = writer.into_inner().unwrap();

        let reader = TraceReader::new(text.as_slice()).unwrap();
        prop_assert_eq!(reader.header(), &header);
        let read: Vec<TraceEvent> = reader.map(|event| event.unwrap().1).collect();
        prop_assert_eq!(&read[..], &events);
    }

    /// The recording of a correct serial machine is accepted from its file.
    #[test]
    fn a_recorded_machine_is_accepted(
        requests in prop::collection::vec((request(ALLOCATION, 32, 3), any::<bool>()), 1..6),
    ) {
        let geometry = Geometry { lanes: 32, banks: 32, rows: 4, xor_hash: false };
        let mut machine = Machine::new(geometry, ALLOCATION);
        let header = TraceHeader { geometry, try_wait_limit: None, spin_hold: None, unit: None };
        let mut writer = TraceWriter::new(Vec::new(), &header).unwrap();
        writer.write(&TraceEvent::Allocation { slot: 0, allocation: Some(ALLOCATION) }).unwrap();
        for (req, seen) in &requests {
            let (resp, written) = machine.run(req, &active(req, &geometry));
            let after: Vec<(u32, u32)> = written.iter().map(|&w| (w, machine.word(w))).collect();
            let response = heard(req, &resp).cloned();
            let exchange =
                Exchange { request: req.clone(), response, after: seen.then_some(after), moment: None, accepted: Some(3) };
            writer.write(&TraceEvent::Request(Box::new(exchange))).unwrap();
        }
        let all: Vec<(u32, u32)> = (0..128).map(|w| (w, machine.word(w))).collect();
        writer.write(&TraceEvent::Final(all)).unwrap();
        let text = writer.into_inner().unwrap();
        match check_trace(text.as_slice()) {
            Ok(summary) => prop_assert_eq!(summary.requests, requests.len() as u64),
            Err(error) => prop_assert!(matches!(error, RecordingError::Undecided { .. }), "{}", error),
        }
    }

    /// No input makes the reader panic.
    #[test]
    fn arbitrary_lines_are_survived(line in r#"[{}\[\]":,a-z0-9_. -]{0,60}"#) {
        let _ = check(&format!("{HEADER}\n{line}\n"));
    }
}
