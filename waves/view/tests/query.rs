//! Queries: cycles in which expressions hold, and errors.

use std::ops::ControlFlow;
use std::ops::Range;

use atoms_wave_view::{WaveFile, WaveQuery};
use atoms_wave_write::{Definition, SignalKind};

/// 40 cycles of two sides.
fn wave(dir: &tempfile::TempDir) -> WaveFile {
    let path = dir.path().join("a.vcd");
    let mut definition = Definition::new("top");
    let op = definition.signal("req_op", SignalKind::Text);
    let done = definition.signal("done", SignalKind::Event);
    let wide = definition.signal("wide", SignalKind::Bits(200));
    let late = definition.signal("late", SignalKind::Bits(4));
    let sides = ["rtl", "model"].map(|side| {
        definition.scope(side, |d| {
            [d.signal("passes", SignalKind::Bits(6)), d.signal("stall", SignalKind::Bits(1))]
        })
    });
    let mut trace = definition.create(&path).unwrap();
    for cycle in 0..40_u64 {
        trace.set_text(op, if cycle % 10 < 5 { "CAS.SPIN" } else { "not now" });
        if cycle == 7 {
            trace.emit(done);
        }
        let mut bytes = [0; 25];
        bytes[20] = u8::from(cycle >= 30);
        trace.set_bytes(wide, &bytes);
        if cycle == 20 {
            trace.set(late, 3);
        }
        for side in sides {
            trace.set(side[0], u128::from(cycle % 12));
            trace.set(side[1], u128::from(cycle / 4 % 2));
        }
        if cycle == 25 {
            trace.set(sides[1][0], 63);
        }
        trace.tick().unwrap();
    }
    trace.finish().unwrap();
    WaveFile::open(path).unwrap()
}

fn cycles(file: &WaveFile, text: &str, window: Range<u64>) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    let query = WaveQuery::new(file, text).unwrap_or_else(|error| panic!("{error}"));
    let clock = file.clock().unwrap();
    query
        .cycles(clock.as_ref(), window, &mut |cycles| {
            found.push(cycles);
            ControlFlow::Continue(())
        })
        .unwrap();
    found
}

#[rustfmt::skip]
const HOLDS: &[(&str, &[(u64, u64)])] = &[
    // expression                                       cycles, end exclusive
    ("req_op == CAS.SPIN",                              &[(0, 5), (10, 15), (20, 25), (30, 35)]),
    ("op == 'not now' && rtl.passes > 0xa",             &[(35, 36)]),
    ("op == CAS.SPIN && rtl.passes > 4",                &[(10, 12), (20, 24), (30, 35)]),
    ("rtl.passes != model.passes",                      &[(25, 26)]),
    ("model.passes == 63 || done",                      &[(7, 8), (25, 26)]),
    ("rtl.passes >= 3 && rtl.passes <= 0b100",          &[(3, 5), (15, 17), (27, 29), (39, 40)]),
    ("rose(rtl.stall)",                                 &[(4, 5), (12, 13), (20, 21), (28, 29), (36, 37)]),
    ("fell(rtl.stall) && !(rtl.passes < 1)",            &[(8, 9), (16, 17), (32, 33)]),
    ("changed(op)",                                     &[(5, 6), (10, 11), (15, 16), (20, 21), (25, 26), (30, 31), (35, 36)]),
    ("late < 4",                                        &[(20, 40)]),
    ("late >= 4",                                       &[]),
    ("late < 3 || late > 3",                            &[]),
    ("late <= 3 && late >= 3",                          &[(20, 40)]),
    ("wide > 340282366920938463463374607431768211455",  &[(30, 40)]),
    ("!rtl.stall && top.rtl.passes == 0",               &[(0, 1), (24, 25)]),
];

#[test]
fn expressions_hold_in_the_cycles_in_which_they_should() {
    let dir = tempfile::tempdir().unwrap();
    let file = wave(&dir);
    for (text, expected) in HOLDS {
        let expected: Vec<_> = expected.iter().map(|(from, to)| *from..*to).collect();
        assert_eq!(cycles(&file, text, 0..u64::MAX), expected, "{text}");
    }
    assert_eq!(cycles(&file, "late < 4", 25..30).first(), Some(&(25..30)));
    assert_eq!(cycles(&file, "op == CAS.SPIN", 12..22), [12..15, 20..22]);
}

#[test]
fn without_a_clock_times_are_found_and_the_search_can_end() {
    let dir = tempfile::tempdir().unwrap();
    let file = wave(&dir);
    let query = WaveQuery::new(&file, "op == CAS.SPIN").unwrap();
    let mut found = Vec::new();
    let mut take = |times| {
        found.push(times);
        if found.len() < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    query.cycles(None, 0..u64::MAX, &mut take).unwrap();
    assert_eq!(found, [0..50, 100..150]);
}

fn vcd(dir: &tempfile::TempDir, text: &str) -> WaveFile {
    let path = dir.path().join("a.vcd");
    std::fs::write(&path, text).unwrap();
    WaveFile::open(path).unwrap()
}

fn holds(file: &WaveFile, cases: &[(&str, &[(u64, u64)])]) {
    for (text, expected) in cases {
        let expected: Vec<_> = expected.iter().map(|(from, to)| *from..*to).collect();
        assert_eq!(cycles(file, text, 0..u64::MAX), expected, "{text}");
    }
}

#[test]
fn without_a_clock_edges_and_events_are_at_one_time() {
    let dir = tempfile::tempdir().unwrap();
    let declarations =
        "$var wire 1 ! a $end $var event 1 e done $end $var real 64 r volts $end $enddefinitions $end";
    let file = vcd(&dir, &format!("{declarations}\n#0 0! rnan r #10 1! 1e #20 rnan r #30 0! #45\n"));
    holds(
        &file,
        &[
            ("rose(a)", &[(10, 11)]),
            ("fell(a)", &[(30, 31)]),
            ("changed(a)", &[(10, 11), (30, 31)]),
            ("!changed(a)", &[(0, 10), (11, 30), (31, 46)]),
            ("changed(a) || a", &[(10, 31)]),
            ("a", &[(10, 30)]),
            ("done", &[(10, 11)]),
            ("changed(volts)", &[]),
        ],
    );
    assert_eq!(cycles(&file, "rose(a)", 11..40), []);
}

/// Names that contain operator characters, and vectors.
const NAMED: &str = "$scope module t $end $var wire 1 1 a|b $end $var wire 1 2 \\a>b $end $var wire 1 3 \\a\\b $end \
    $var wire 1 4 a/b $end $var wire 1 5 3x $end $var wire 8 6 v [7:0] $end $var wire 4 7 w|w [0:3] $end \
    $var wire 1 8 m [2] $end $var wire 3 9 m [2:0] $end $var string 1 s op $end $upscope $end $enddefinitions $end
#0 01 02 03 04 05 b00001000 6 b1000 7 08 b0 9 sA s
#10 11 12 13 14 15 bx1 6 b0001 7 18 sB s
#20
";

#[test]
fn names_with_symbols_are_quoted_and_bits_are_selected() {
    let dir = tempfile::tempdir().unwrap();
    let file = vcd(&dir, NAMED);
    let (early, late): (&[_], &[_]) = (&[(0, 10)], &[(10, 21)]);
    holds(
        &file,
        &[
            ("`a|b`", late),
            ("`t.a|b` && `a>b` == 1", late),
            ("`a\\b`", late),
            ("!`a/b` && !a/b", early),
            ("rose(`3x`)", &[(10, 11)]),
            ("v[3]", early),
            ("v[0]", late),
            ("v[7] == 0", early),
            ("`v`[3] && `v[3]` && t.v[3]", early),
            ("changed(v[0])", &[(10, 11)]),
            ("`w|w`[0]", early),
            ("`w|w`[3] && `w|w` == 1", late),
            ("m[2] && op == B", late),
        ],
    );
    for (text, column, problem) in [
        ("v[8]", 0, "`t.v` has no bit 8"),
        ("v[-1] == 1", 0, "`t.v` has no bit -1"),
        ("1 == op[1]", 5, "`t.op` has no bit 1"),
        ("`a|b", 0, "a name without its closing `"),
        ("`a|c` == 1", 0, "there is no signal `a|c`; there is t.a|b"),
        ("op == `A`", 6, "there is no signal `A`"),
    ] {
        let error = WaveQuery::new(&file, text).map(drop).unwrap_err();
        assert!(error.problem.contains(problem), "{text}: {}", error.problem);
        assert_eq!(error.column, column, "{error}");
    }
}

#[rustfmt::skip]
const CLOCKED: &[&str] = &[
    // Edges at 5, 15 and 25.
    "#0 0! 1d #5 1! #6 0d #10 0! #15 1! #20 0! #25 1! #26 1d #30",
    "#0 x! 1d #5 1! #6 0d #10 0! #15 1! #20 0! #25 1! #26 1d #30",
    "#0 1d #5 1! #6 0d #10 0! #15 1! #20 0! #25 1! #26 1d #30",
    // Edges at 8, 18 and 28. A 1 at the first time is not an edge; otherwise, the period would be 8.
    "#0 1! 1d #3 0! #8 1! 0d #13 0! #18 1! #23 0! #28 1! 1d",
];

#[test]
fn each_rising_edge_is_one_sample() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.vcd");
    let head = "$timescale 1 ns $end $var wire 1 ! clk $end $var wire 1 d d $end $enddefinitions $end";
    for values in CLOCKED {
        std::fs::write(&path, format!("{head}\n{values}\n")).unwrap();
        let file = WaveFile::open(&path).unwrap();
        assert_eq!(file.clock().unwrap().map(|clock| clock.period), Some(10), "{values}");
        for (text, window, expected) in
            [("d", 0..9, &[0][..]), ("!d", 0..9, &[1, 2]), ("d", 0..1, &[0]), ("!d", 1..2, &[1])]
        {
            let found: Vec<u64> = cycles(&file, text, window).into_iter().flatten().collect();
            assert_eq!(found, expected, "{text} of {values}");
        }
    }
}

#[rustfmt::skip]
const WRONG: &[(&str, usize, &str)] = &[
    // expression                   column  problem
    ("",                            0,      "expected a signal or a value, found the end"),
    ("rtl.passes >",                12,     "expected a signal or a value, found the end"),
    ("(rtl.passes > 1",             0,      "this parenthesis is not closed"),
    ("rtl.passes > 1)",             14,     "expected &&, || or the end, found `)`"),
    ("passes > 1",                  0,      "`passes` matches 2 signals: top.rtl.passes, top.model.passes; write more of the path"),
    ("rtl.pases > 1",               0,      "there is no signal `rtl.pases`; there is top.rtl.passes, top.model.passes"),
    ("rtl.passes == FIVE",          14,     "there is no signal `FIVE`"),
    ("op",                          0,      "a text is not true or false"),
    ("op == 3",                     0,      "a text cannot be compared with a number"),
    ("op == CSA.SPIN",              6,      "`top.req_op` is never `CSA.SPIN`; its values are: CAS.SPIN, not_now"),
    ("done || 'not ever' != op",    8,      "`top.req_op` is never `not_ever`; its values are: CAS.SPIN, not_now"),
    ("op < CAS",                    3,      "texts can be compared only with == and !="),
    ("rtl.passes == 0xg",           14,     "expected a number such as 12, 0x1f or 0b101"),
    ("rising(rtl.stall)",           0,      "there is no `rising(..)`; there are rose, fell and changed"),
    ("rose(op)",                    5,      "a text cannot rise or fall; use changed(..)"),
    ("op == 'CAS",                  6,      "a text without its closing '"),
    ("rtl.passes = 3",              11,     "found `=`"),
    ("rtl.stall & done",            10,     "found `&`"),
];

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = wave(&dir);
    for (text, column, problem) in WRONG {
        let error = WaveQuery::new(&file, text).map(drop).unwrap_err();
        assert!(error.problem.contains(problem), "{text}: {}", error.problem);
        assert_eq!(error.column, *column, "{error}");
    }
    let deep = format!("{}done", "!(".repeat(100_000));
    let error = WaveQuery::new(&file, &deep).map(drop).unwrap_err();
    assert!(error.problem.ends_with("nested more than 64 deep"), "{}", error.problem);
    let shown = WaveQuery::new(&file, "op < CAS").map(drop).unwrap_err().to_string();
    assert_eq!(shown, "texts can be compared only with == and !=\n  op < CAS\n     ^");
}
