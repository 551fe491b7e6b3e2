//! The order of lanes and exact cycles are judged only in recordings that declare this project's unit (spec
//! 4.2, 5.4, 6.12).

use std::io::Cursor;

use atoms_record::check_trace;

/// Header fields: four lanes and four banks, with a limit of 1000 cycles and a `spin_hold` of 4.
const SHAPE: &str = r#""atoms_trace":1,"lanes":4,"banks":4,"rows":64,"try_wait_limit":1000,"spin_hold":4"#;

/// Message about a recording of these lines; `accepted` if there is none. `policy` declares this project's
/// unit.
fn judged(policy: Option<&str>, lines: &[String]) -> String {
    let unit = policy.map_or(String::new(), |policy| format!(r#","unit":{{"winner_policy":"{policy}"}}"#));
    let allocation = r#"{"allocation":{"slot":0,"base_row":0,"size_bytes":1024}}"#;
    let text = format!("{{{SHAPE}{unit}}}\n{allocation}\n{}\n", lines.join("\n"));
    check_trace(Cursor::new(text)).map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

/// A wait of `lanes`, accepted in cycle 40 and suspended in cycle 45. `limit` is one limit, or a list with
/// one per lane.
fn suspended(lanes: u32, limit: &str) -> Vec<String> {
    [
        // The object at byte 0x80 expects one arrival.
        r#"{"init":[[32,"0x1ffffe"],[33,"0x7ffff800"]]}"#.to_owned(),
        format!(
            r#"{{"wait":{{"op":"MBAR.TRY_WAIT","size":"u64","mask":{lanes},"ra":"0x80","c":{limit}}},"number":1,"accepted":40}}"#
        ),
        r#"{"suspended":{"number":1,"cycle":45}}"#.to_owned(),
    ]
    .to_vec()
}

/// The only arrival, performed in this cycle; it completes the phase.
fn arrives(cycle: u64) -> String {
    let answered = cycle + 1;
    format!(
        r#"{{"request":{{"op":"MBAR.ARRIVE","size":"u64","red":true,"mask":1,"ra":"0x80"}},"response":{{}},"after":[[33,"0xfffff800"]],"number":2,"answered":{answered}}}"#
    )
}

fn wakes(pred: u32, cycle: u64) -> String {
    format!(r#"{{"wake":{{"number":1,"pred":{pred},"cycle":{cycle}}}}}"#)
}

fn quiet(from: u64, to: u64) -> String {
    format!(r#"{{"quiet":[{from},{to}]}}"#)
}

/// Ends of a wait with a limit of 10 cycles, whose last cycle is 55.
#[rustfmt::skip]
#[test]
fn a_wait_ends_in_its_cycle() {
    let cases: &[(&str, Vec<String>, &str)] = &[
        // what                              lines                                   message of our unit
        ("its limit ends",                   vec![quiet(46, 56), wakes(0, 57)],      "accepted"),
        ("one cycle early",                  vec![quiet(46, 55), wakes(0, 56)],      "line 7: wait 1 of lane 0 at 0x80 was woken in cycle 56, too early: its limit ends in cycle 55, and the wake-up must be offered 2 cycles later (spec 6.12)"),
        ("one cycle late",                   vec![quiet(46, 57), wakes(0, 58)],      "line 6: wait 1 of lane 0 at 0x80 has no wake-up in cycle 57: its limit ended in cycle 55, and the wake-up must be offered 2 cycles later (spec 6.12)"),
        ("completed in time",                vec![arrives(50), wakes(1, 52)],        "accepted"),
        ("told one cycle early",             vec![arrives(50), wakes(1, 51)],        "line 7: wait 1 of lane 0 at 0x80 was woken in cycle 51, too early: its phase completes in cycle 50, and the wake-up must be offered 2 cycles later (spec 6.12)"),
        ("told one cycle late",              vec![arrives(50), quiet(46, 52)],       "line 7: wait 1 of lane 0 at 0x80 has no wake-up in cycle 52: its phase completed in cycle 50, and the wake-up must be offered 2 cycles later (spec 6.12)"),
        ("completed in the last cycle",      vec![arrives(55), wakes(1, 57)],        "accepted"),
        ("it, told that the limit passed",   vec![arrives(55), wakes(0, 57)],        "line 7: wait 1 of lane 0 timed out in cycle 57, but needed a wake-up: the phase of parity 0 of the object at 0x80 was complete by cycle 56, before its limit passed; the object is phase 1, expected 1, pending 1, tx 0 (0xfffff800001ffffe) (spec 6.3)"),
        ("completed one cycle later",        vec![arrives(56), wakes(0, 57)],        "accepted"),
        ("it, told that it is complete",     vec![arrives(56), wakes(1, 58)],        "line 7: wait 1 of lane 0 at 0x80 was woken for a completion in cycle 56, but its limit ended in cycle 55 (spec 6.12)"),
    ];
    for (what, lines, says) in cases {
        let lines: Vec<String> = suspended(1, "10").into_iter().chain(lines.iter().cloned()).collect();
        assert_eq!(&judged(Some("lowest"), &lines), says, "{what}");
        assert_eq!(judged(None, &lines), "accepted", "{what}, of a unit that is not ours");
    }
}

#[test]
fn limits_have_32_bits() {
    for (limit, cut) in
        [(70_000, 70_000 - 65_536), (65_536, 65_535), (0x8000_0001, 1), (u64::from(u32::MAX), 65_535)]
    {
        let ends = |cycles: u64| {
            let lines = suspended(1, &limit.to_string()).into_iter().chain([wakes(0, 45 + cycles + 2)]);
            judged(Some("lowest"), &lines.collect::<Vec<_>>())
        };
        assert_eq!(ends(limit), "accepted", "{limit}");
        let said = ends(cut);
        let expected = format!("too early: its limit ends in cycle {}, and", 45 + limit);
        assert!(said.contains(&expected) && said.ends_with("(spec 6.12)"), "{limit}: {said}");
    }
    // The request uses the limit of the configuration.
    let lines = |cycle| suspended(1, "0").into_iter().chain([wakes(0, cycle)]).collect::<Vec<_>>();
    assert_eq!(judged(Some("lowest"), &lines(1047)), "accepted");
    assert!(judged(Some("lowest"), &lines(1046)).contains("its limit ends in cycle 1045"));
}

/// The limit of the lane that wins first applies (spec 6.10): lane 0 has 10 cycles, lane 1 has 20.
#[test]
fn rotation_says_which_limit_counts() {
    let load = r#"{"request":{"op":"LDS","size":"u32","mask":1,"ra":4},"response":{},"after":[]}"#.to_owned();
    let after = |requests: usize, wake: u64| {
        let lines = vec![load.clone(); requests].into_iter().chain(suspended(3, "[10,20]"));
        judged(Some("rotating"), &lines.chain([wakes(0, wake)]).collect::<Vec<_>>())
    };
    assert_eq!((after(0, 57), after(1, 67)), ("accepted".to_owned(), "accepted".to_owned()));
    assert!(after(1, 57).contains("its limit ends in cycle 65"), "{}", after(1, 57));
}

#[test]
fn what_must_not_be_suspended_is_found() {
    let mut complete = suspended(1, "10");
    complete[0] = r#"{"init":[[32,"0x1ffffe"],[33,"0xfffff800"]]}"#.to_owned();
    let says = "line 5: wait 1 of lane 0 was suspended in cycle 45, although the phase of parity 0 of the object at 0x80 was complete; the \
                object is phase 1, expected 1, pending 1, tx 0 (0xfffff800001ffffe) (spec 6.3)";
    for policy in [Some("lowest"), None] {
        assert_eq!(judged(policy, &complete), says);
    }
    let none = [r#"{"suspended":{"number":7,"cycle":45}}"#.to_owned()];
    let says = "line 3: a suspension in cycle 45 is for wait 7, but no MBAR.TRY_WAIT with this number is unanswered (spec 6.3)";
    assert_eq!(judged(Some("lowest"), &none), says);
}

/// A CAST.SPIN of `lanes` on word 0, which holds `old`. The lanes of `matching` compare with this value.
/// `stores` is the lane that stores, if any.
fn spin(lanes: &[u32], matching: &[u32], old: u32, stores: Option<u32>) -> String {
    let asks: Vec<String> = lanes
        .iter()
        .map(|lane| {
            let compare = if matching.contains(lane) { old } else { old + 100 };
            format!(r#"{{"lane":{lane},"b":{compare},"c":{}}}"#, old + 1)
        })
        .collect();
    let stored = stores.map_or(String::new(), |lane| format!(r#"{{"lane":{lane},"rd":1,"pred":1}}"#));
    let after = stores.map_or(String::new(), |_| format!("[0,{}]", old + 1));
    format!(
        r#"{{"request":{{"op":"CAST.SPIN","size":"u32","lanes":[{}]}},"response":{{"lanes":[{stored}]}},"after":[{after}]}}"#,
        asks.join(",")
    )
}

/// Priority lanes of a group in successive requests after reset, for four lanes and a `spin_hold` of 4 (spec
/// 5.4).
const PRIORITY_LANES: [u32; 36] = [
    0, 1, 2, 3, 0, 0, 0, 0, 0, 1, 2, 3, 1, 1, 1, 1, 0, 1, 2, 3, 2, 2, 2, 2, 0, 1, 2, 3, 3, 3, 3, 3, 0, 1, 2,
    3,
];

#[test]
fn the_priority_lane_is_selected() {
    let all = [0, 1, 2, 3];
    let lines = |selected: &[u32]| -> Vec<String> {
        (0..).zip(selected).map(|(old, lane)| spin(&all, &all, old, Some(*lane))).collect()
    };
    assert_eq!(judged(Some("lowest"), &lines(&PRIORITY_LANES)), "accepted");
    for wrong in 0..PRIORITY_LANES.len() {
        let mut selected = PRIORITY_LANES;
        selected[wrong] ^= 1;
        let (line, lane, right) = (wrong + 3, selected[wrong], PRIORITY_LANES[wrong]);
        let says = format!(
            "line {line}: lane {lane} reports a store in bank group 0, where lane {right} at 0x0 is selected (spec 5.4)"
        );
        assert_eq!(judged(Some("lowest"), &lines(&selected)), says);
        // While priority stays at one lane, the bounds require that lane in one of four requests.
        if wrong % 8 >= 4 {
            assert_eq!(judged(None, &lines(&selected[..=wrong])), "accepted", "request {wrong}");
        }
    }
}

#[test]
fn the_policy_selects_where_the_priority_lane_does_not_ask() {
    for (policy, selected) in [("lowest", 1), ("highest", 3), ("rotating", 1)] {
        for lane in [1, 2, 3] {
            let said = judged(Some(policy), &[spin(&[1, 2, 3], &[1, 2, 3], 0, Some(lane))]);
            assert_eq!(said == "accepted", lane == selected, "{policy}, lane {lane}: {said}");
        }
    }
    // Rotation starts at lane 2 after two requests on another bank, which do not move the counter of bank 0.
    let other = spin(&[0], &[], 0, None).replace(r#""lane":0,"#, r#""lane":0,"ra":4,"#);
    for lane in [1, 2, 3] {
        let lines = [other.clone(), other.clone(), spin(&[1, 2, 3], &[1, 2, 3], 0, Some(lane))];
        let said = judged(Some("rotating"), &lines);
        assert_eq!(said == "accepted", lane == 2, "lane {lane}: {said}");
    }
}

/// Only the selected lane compares (spec 5.1, 5.3). All other lanes fail, for any value in memory.
#[test]
fn what_is_not_selected_fails_fast() {
    let right = spin(&[0, 1, 2], &[1, 2], 0, None);
    assert_eq!(
        judged(Some("lowest"), std::slice::from_ref(&right)),
        "accepted",
        "lane 0 is selected and fails"
    );
    let instead = spin(&[0, 1, 2], &[1, 2], 0, Some(1));
    let says = "line 3: lane 1 reports a store in bank group 0, where lane 0 at 0x0 is selected (spec 5.4)";
    assert_eq!(judged(Some("lowest"), std::slice::from_ref(&instead)), says);
    let nobody = spin(&[0, 1, 2], &[0], 0, None);
    let says = "line 3: lane 0 is selected in bank group 0 and its compare matches at 0x0, so it must store (spec 5.4)";
    assert_eq!(judged(Some("lowest"), std::slice::from_ref(&nobody)), says);
    for lines in [right, instead, nobody] {
        assert_eq!(judged(None, &[lines]), "accepted");
    }
}

#[test]
fn only_requests_to_the_group_move_its_counter() {
    let all = [0, 1, 2, 3];
    let cast = r#"{"request":{"op":"CAST","size":"u32","b":7,"mask":1},"response":{},"after":[]}"#.to_owned();
    let fault = r#"{"request":{"op":"CAST.SPIN","size":"u32","ra":2,"mask":1},"response":{"fault":"misaligned address","fault_addr":2},"after":[]}"#;
    let second = spin(&all, &all, 1, Some(1));
    let lines = [spin(&all, &all, 0, Some(0)), cast, fault.to_owned(), second];
    assert_eq!(judged(Some("lowest"), &lines), "accepted");
    let reset = r#"{"reset":[],"after":[]}"#.to_owned();
    let allocation = r#"{"allocation":{"slot":0,"base_row":0,"size_bytes":1024}}"#.to_owned();
    let behind = |lane| {
        [spin(&all, &all, 0, Some(0)), reset.clone(), allocation.clone(), spin(&all, &all, 1, Some(lane))]
    };
    assert_eq!(judged(Some("lowest"), &behind(0)), "accepted", "a reset takes the counter back");
    assert!(judged(Some("lowest"), &behind(1)).starts_with("line 6: lane 1 reports"));
}

/// A request whose response was dropped by a reset has moved the counter too, because it ran (spec 5.4).
#[test]
fn a_request_without_a_response_moves_the_counter() {
    let all = [0, 1, 2, 3];
    let lost = r#"{"lost":{"op":"CAST.SPIN","size":"u32","cluster":true,"mask":1},"after":[]}"#;
    let other = lost.replace("CAST.SPIN", "CAST");
    for (line, lane) in [(lost.to_owned(), 2), (other, 1)] {
        for selected in 0..4 {
            let lines = [spin(&all, &all, 0, Some(0)), line.clone(), spin(&all, &all, 1, Some(selected))];
            let said = judged(Some("lowest"), &lines);
            assert_eq!(said == "accepted", selected == lane, "{line} lane {selected}: {said}");
        }
    }
}

/// The order of lanes is judged in recordings too (spec 4.2, 6.11).
#[test]
fn lanes_of_one_word_go_in_the_declared_order() {
    let exchange = |first: u32| {
        let (got, last) = if first == 0 { ([0, 10], 11) } else { ([11, 0], 10) };
        let [zero, one] = got;
        format!(
            r#"{{"request":{{"op":"EXCH","size":"u32","b":[10,11],"mask":3}},"response":{{"lanes":[{{"lane":0,"rd":{zero}}},{{"lane":1,"rd":{one}}}]}},"after":[[0,{last}]]}}"#
        )
    };
    assert_eq!(judged(Some("lowest"), &[exchange(0)]), "accepted");
    assert_eq!(judged(Some("highest"), &[exchange(1)]), "accepted");
    assert!(
        judged(Some("lowest"), &[exchange(1)])
            .ends_with("lane 0 goes first and the others in ascending order (spec 4.2)")
    );
    assert_eq!(judged(None, &[exchange(1)]), "accepted");
}
