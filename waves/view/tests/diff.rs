//! Comparison of waves: differences, their times, and their causes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use atoms_wave_view::{
    DiffError, DiffOptions, DiffSides, PairingError, SignalPattern, SignalRename, WaveDiff, WaveFile,
    WaveValue,
};
use atoms_wave_write::{Definition, SignalKind};

/// Writes and opens a wave with `changes` and a clock `clk` that rises at 10 n.
fn wave(dir: &Path, name: &str, declarations: &str, changes: &[(u64, &str)], end: u64) -> WaveFile {
    let mut text =
        format!("$timescale 1 ns $end\n$scope module top $end\n$var wire 1 ! clk $end\n{declarations}\n");
    text += "$upscope $end\n$enddefinitions $end\n";
    for time in 0..=end {
        let clock = if time % 10 == 0 { "1!\n" } else { "0!\n" };
        let changes: Vec<_> = changes.iter().filter(|(at, _)| *at == time).collect();
        if time % 5 == 0 || !changes.is_empty() {
            writeln!(text, "#{time}").unwrap();
        }
        if time % 5 == 0 {
            text += clock;
        }
        changes.iter().for_each(|(_, change)| writeln!(text, "{change}").unwrap());
    }
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    WaveFile::open(path).unwrap()
}

const SIGNALS: &str = "$var wire 4 a state $end $var wire 8 b count $end $scope module sub $end $var wire 1 c flag $end \
                       $upscope $end $var string 1 d name $end";

fn clocked() -> DiffOptions {
    DiffOptions { clock: Some("clk".to_owned()), ..DiffOptions::default() }
}

fn bits(digits: &str) -> Option<WaveValue> {
    Some(WaveValue::Bits(digits.to_owned()))
}

/// Returns for each divergence: left path, first time, number of occurrences, and time of healing.
fn brief(diff: &WaveDiff) -> Vec<(&str, u64, u64, Option<u64>)> {
    diff.divergences.iter().map(|d| (d.paths[0].as_str(), d.first, d.times, d.heals)).collect()
}

#[test]
fn the_earliest_difference_has_the_others_as_followers() {
    let dir = tempfile::tempdir().unwrap();
    let common = [(0, "b1 a"), (0, "b0 b"), (0, "0c"), (0, "sIDLE d"), (20, "b10 b"), (30, "b11 a")];
    let left = wave(dir.path(), "l.vcd", SIGNALS, &common, 100);
    let mut other = common.to_vec();
    other[5] = (30, "b111 a"); // a difference in cycle 3
    other.extend([(40, "b1010 b"), (50, "1c"), (60, "0c"), (70, "1c"), (80, "0c")]);
    let right = wave(dir.path(), "r.vcd", SIGNALS, &other, 100);
    for options in [clocked(), DiffOptions::default()] {
        let diff = WaveDiff::compare(DiffSides::Files(&left, &right), &options).unwrap();
        assert!(!diff.is_equal());
        assert_eq!((diff.compared, diff.period, diff.span, diff.uncovered), (5, Some(10), (0, 100), false));
        assert_eq!(
            brief(&diff),
            [("top.state", 30, 1, None), ("top.count", 40, 1, None), ("top.sub.flag", 50, 2, Some(80))]
        );
        assert_eq!(diff.divergences[0].values, [bits("0011"), bits("0111")]);
        assert_eq!(diff.divergences[2].duration, 20);
        let [cause] = &diff.causes[..] else { panic!("{:?}", diff.causes) };
        assert_eq!(
            (cause.first, &cause.roots[..], &cause.followers[..]),
            (30, &[0][..], &[(1, 40), (2, 50)][..])
        );
        assert_eq!((cause.heals, cause.stays, cause.times), (None, true, 1));
    }
    assert_eq!(WaveDiff::compare(DiffSides::Files(&left, &left), &clocked()).unwrap().points, 10);
}

#[test]
fn what_heals_is_told_apart_and_gathered_where_it_comes_again() {
    let dir = tempfile::tempdir().unwrap();
    let common = [(0, "b1 a"), (0, "b0 b"), (0, "0c"), (0, "sIDLE d")];
    let left = wave(dir.path(), "l.vcd", SIGNALS, &common, 200);
    // Two glitches of the flag (the counter follows the first one), then a permanent difference.
    let glitches =
        [(20, "1c"), (30, "b1 b"), (40, "0c"), (40, "b0 b"), (60, "1c"), (70, "0c"), (150, "sRUN d")];
    let right = wave(dir.path(), "r.vcd", SIGNALS, &[&common[..], &glitches].concat(), 200);
    let diff = WaveDiff::compare(DiffSides::Files(&left, &right), &clocked()).unwrap();
    assert_eq!(
        brief(&diff),
        [("top.sub.flag", 20, 2, Some(70)), ("top.count", 30, 1, Some(40)), ("top.name", 150, 1, None)]
    );
    let causes: Vec<_> = diff.causes.iter().map(|c| (c.first, c.times, c.heals, c.stays, c.last)).collect();
    assert_eq!(causes, [(20, 2, Some(40), false, 60), (150, 1, None, true, 150)]);
    assert_eq!((&diff.causes[0].roots[..], &diff.causes[0].followers[..]), (&[0][..], &[(1, 30)][..]));
}

#[test]
fn between_edges_only_every_change_sees_a_difference() {
    let dir = tempfile::tempdir().unwrap();
    let left = wave(dir.path(), "l.vcd", SIGNALS, &[(0, "b1 a"), (0, "0c")], 100);
    let right = wave(dir.path(), "r.vcd", SIGNALS, &[(0, "b1 a"), (0, "0c"), (42, "1c"), (44, "0c")], 100);
    let sides = DiffSides::Files(&left, &right);
    assert!(WaveDiff::compare(sides, &clocked()).unwrap().is_equal());
    let diff = WaveDiff::compare(sides, &DiffOptions::default()).unwrap();
    assert_eq!(brief(&diff), [("top.sub.flag", 42, 1, Some(44))]);
    // The sample at an edge has the values before the edge, independent of the order in the file.
    let late = wave(dir.path(), "e.vcd", SIGNALS, &[(0, "b1 a"), (0, "0c"), (50, "1c"), (60, "0c")], 100);
    let diff = WaveDiff::compare(DiffSides::Files(&left, &late), &clocked()).unwrap();
    assert_eq!(brief(&diff), [("top.sub.flag", 50, 1, Some(60))]);
}

#[test]
fn renames_shifts_and_patterns_bring_together_what_belongs_together() {
    let dir = tempfile::tempdir().unwrap();
    let changes = [(0, "b1 a"), (0, "0c"), (40, "b11 a"), (60, "1c")];
    let left = wave(dir.path(), "l.vcd", SIGNALS, &changes, 100);
    let text = std::fs::read_to_string(left.path()).unwrap();
    let renamed = text.replace("module top", "module tb $end $scope module dut").replace("state", "fsm");
    let renamed = renamed.replace("$enddefinitions", "$upscope $end $enddefinitions");
    let path = dir.path().join("r.vcd");
    std::fs::write(&path, &renamed).unwrap();
    let right = WaveFile::open(&path).unwrap();
    let sides = DiffSides::Files(&left, &right);
    let rename = |old: &str, new: &str| SignalRename { old: old.to_owned(), new: new.to_owned() };
    let error = WaveDiff::compare(sides, &clocked()).unwrap_err();
    assert!(matches!(error, DiffError::Pairing(PairingError::Nothing { .. })), "{error}");
    let scopes = DiffOptions { renames: vec![rename("top", "tb.dut")], ..clocked() };
    let diff = WaveDiff::compare(sides, &scopes).unwrap();
    assert_eq!(diff.missing, [vec!["top.state".to_owned()], vec!["tb.dut.fsm".to_owned()]]);
    assert!(diff.is_equal() && diff.compared == 4);
    let both = DiffOptions { renames: vec![rename("state", "fsm"), rename("top", "tb.dut")], ..clocked() };
    assert_eq!(WaveDiff::compare(sides, &both).unwrap().compared, 5);
    let unused = DiffOptions { renames: vec![rename("top", "tb.dut"), rename("nothing", "x")], ..clocked() };
    let error = WaveDiff::compare(sides, &unused).unwrap_err().to_string();
    assert!(error.starts_with("no signal of the left side has `nothing` in its path"), "{error}");

    let shift = |line: &str| {
        line.strip_prefix('#').map(|time| format!("#{}", (time.parse::<u64>().unwrap() + 30) * 1000))
    };
    let later: Vec<_> = text.lines().map(|line| shift(line).unwrap_or_else(|| line.to_owned())).collect();
    std::fs::write(&path, later.join("\n").replace("1 ns", "1 ps") + "\n").unwrap();
    let right = WaveFile::open(&path).unwrap();
    let sides = DiffSides::Files(&left, &right);
    let diff = WaveDiff::compare(sides, &DiffOptions { shift: -30, ..DiffOptions::default() }).unwrap();
    assert!(diff.is_equal(), "{diff:?}");
    assert_eq!((diff.unit.unwrap().to_string().as_str(), diff.span), ("1 ps", (0, 100_000)));
    let late = WaveDiff::compare(sides, &DiffOptions::default()).unwrap();
    assert_eq!((late.uncovered, late.span), (true, (30_000, 100_000)));
    assert_eq!(late.divergences[0].first, 40_000, "the left side changes, the right one later");

    let flag = DiffOptions { only: vec![SignalPattern::new("sub")], ..DiffOptions::default() };
    assert_eq!(WaveDiff::compare(sides, &flag).unwrap().compared, 1);
    let rest = DiffOptions { ignore: vec![SignalPattern::new("sub")], ..DiffOptions::default() };
    assert_eq!(WaveDiff::compare(sides, &rest).unwrap().compared, 4);
    let none = DiffOptions { only: vec![SignalPattern::new("nothing")], ..DiffOptions::default() };
    let error = WaveDiff::compare(sides, &none).unwrap_err().to_string();
    assert_eq!(error, "5 signals are on both sides, and the patterns select none of them");
    let clock = DiffOptions { clock: Some("clkk".to_owned()), ..DiffOptions::default() };
    let error = WaveDiff::compare(sides, &clock).unwrap_err().to_string();
    assert_eq!(error, "clock: there is no signal `clkk`; there is top.clk");
}

#[test]
fn a_window_and_an_end_that_comes_early_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let left = wave(dir.path(), "l.vcd", SIGNALS, &[(0, "b1 a"), (50, "b11 a")], 200);
    let right = wave(dir.path(), "r.vcd", SIGNALS, &[(0, "b1 a"), (50, "b10 a"), (60, "b11 a")], 100);
    let sides = DiffSides::Files(&left, &right);
    let of = |from, to| DiffOptions { window: Some(from..to), ..clocked() };
    let whole = WaveDiff::compare(sides, &clocked()).unwrap();
    assert_eq!((whole.uncovered, whole.sides, whole.span), (true, [(0, 200), (0, 100)], (0, 100)));
    assert_eq!(brief(&whole), [("top.state", 50, 1, Some(60))]);
    assert!(WaveDiff::compare(sides, &of(70, 90)).unwrap().is_equal());
    assert_eq!(WaveDiff::compare(sides, &of(0, 60)).unwrap().divergences[0].heals, None);
    let error = WaveDiff::compare(sides, &of(150, 160)).unwrap_err();
    assert!(matches!(error, DiffError::Apart(Some((0, _)), Some((0, 100)))), "{error}");
}

fn vcd(dir: &Path, name: &str, declarations: &str, values: &str) -> WaveFile {
    let path = dir.join(name);
    std::fs::write(&path, format!("$timescale 1 ns $end {declarations} $enddefinitions $end\n{values}\n"))
        .unwrap();
    WaveFile::open(path).unwrap()
}

#[rustfmt::skip]
const EDGES: &[(&str, &[u64])] = &[
    // times, and clock values                   times of the sampled data
    ("0=0 5=1 6 10=0 15=1 16 20=0 25=1 26 30",  &[0, 10, 20]),
    ("0=x 5=1 10=0 15=1 20",                    &[0, 10]),
    ("0=z 3 5=1 10=0 15=1 20=0",                &[3, 10]),
    // A clock without a value is x.
    ("0 5=1 10=0 15=1 20",                      &[0, 10]),
    // A clock that is 1 at the first time does not rise there: there is no earlier value.
    ("0=1 5=0 10=1 15=0 20=1",                  &[5, 15]),
    ("30=1 35=0 40=1 45=0 50",                  &[35]),
    // x to 1 is an edge; 0 to x and 1 to 1 are not.
    ("0=0 5=x 10=1 15=1 20=0 25=1",             &[5, 20]),
];

#[test]
fn each_rising_edge_has_one_sample_of_the_values_in_front_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let declarations = "$var wire 1 ! clk $end $var string 1 d data $end";
    for (steps, sampled) in EDGES {
        let wave = |name: &str, wrong: Option<&str>| {
            let step = |step: &str| {
                let (time, clock) = step.split_once('=').unwrap_or((step, ""));
                let data = if wrong == Some(step) { "wrong" } else { time };
                let clock = if clock.is_empty() { String::new() } else { format!("{clock}!") };
                format!("#{time}\n{clock}\ns{data} d\n")
            };
            vcd(dir.path(), name, declarations, &steps.split(' ').map(step).collect::<String>())
        };
        let right = wave("r.vcd", None);
        for step in steps.split(' ') {
            let left = wave("l.vcd", Some(step));
            let diff = WaveDiff::compare(DiffSides::Files(&left, &right), &clocked()).unwrap();
            let time = step.split('=').next().unwrap().parse().unwrap();
            assert_eq!(
                (diff.points, diff.divergences.len()),
                (sampled.len() as u64, usize::from(sampled.contains(&time))),
                "{steps}: {step}"
            );
        }
    }
}

#[test]
fn a_sample_belongs_to_the_cycle_before_its_edge() {
    let dir = tempfile::tempdir().unwrap();
    let declarations = "$var wire 1 ! clk $end $var wire 1 d d $end";
    let clock = |values: [&str; 3]| {
        let [first, second, last] = values;
        format!("#0 0! {first} #5 1! #6 {second} #10 0! #15 1! #20 0! #25 1! #26 {last} #30")
    };
    let left = vcd(dir.path(), "l.vcd", declarations, &clock(["1d", "0d", ""]));
    let right = vcd(dir.path(), "r.vcd", declarations, &clock(["0d", "", "1d"]));
    let sides = DiffSides::Files(&left, &right);
    let diff = WaveDiff::compare(sides, &clocked()).unwrap();
    assert_eq!((brief(&diff), diff.points), (vec![("d", 0, 1, Some(10))], 3));
    // The sample of the edge at 15 belongs to cycle 1, times 10 to 19.
    for (window, points) in [(10..20, 1), (0..15, 2), (0..14, 1), (5..25, 2)] {
        let options = DiffOptions { window: Some(window.clone()), ..clocked() };
        assert_eq!(WaveDiff::compare(sides, &options).unwrap().points, points, "{window:?}");
    }
    // A side is needed up to the time just before an edge.
    for (end, points) in [(25, 3), (24, 3), (23, 2)] {
        let values = format!("#0 0! 0d #5 1! #15 0! #{end} 0!");
        let short = vcd(dir.path(), "s.vcd", declarations, &values);
        let diff = WaveDiff::compare(DiffSides::Files(&left, &short), &clocked()).unwrap();
        assert_eq!(diff.points, points, "{end}");
    }
    for (window, clock) in [(Some(5..14), "clk"), (None, "d")] {
        let options = DiffOptions { window, clock: Some(clock.to_owned()), ..DiffOptions::default() };
        let error = WaveDiff::compare(sides, &options).unwrap_err();
        assert!(matches!(&error, DiffError::NoEdge(path) if path == clock), "{error}");
    }
}

/// A scope `t` with two signals `a`, a signal `a.b`, and a scope `a` with a signal `b`. Codes are their
/// indices.
const NAMESAKES: &str = "$scope module t $end $var wire 1 0 a $end $upscope $end \
    $scope module t $end $var wire 1 1 a $end $var wire 1 2 \\a.b $end \
    $scope module a $end $var wire 1 3 b $end $upscope $end $upscope $end";

/// Writes and opens a wave in which one signal is 1 and all others are 0.
fn namesakes(dir: &Path, name: &str, declarations: &str, one: Option<usize>) -> WaveFile {
    let values: Vec<_> = (0..4).map(|code| format!("{}{code}", u8::from(one == Some(code)))).collect();
    vcd(dir, name, declarations, &format!("#0 {} #10", values.join(" ")))
}

#[test]
fn signals_are_paired_by_scopes_name_and_order_of_declaration() {
    let dir = tempfile::tempdir().unwrap();
    let left = namesakes(dir.path(), "l.vcd", NAMESAKES, None);
    // The same signals with other codes, and with a duplicate declaration.
    let swapped = NAMESAKES.replace("1 2 \\a.b", "1 3 \\a.b").replace("1 3 b", "1 2 b");
    let twice = NAMESAKES.replace("$var wire 1 3 b $end", "$var wire 1 3 b $end $var wire 1 3 b $end");
    for (declarations, codes) in [(NAMESAKES, [0, 1, 2, 3]), (&swapped, [0, 1, 3, 2]), (&twice, [0, 1, 2, 3])]
    {
        let compare = |one: Option<usize>| {
            let right = namesakes(dir.path(), "r.vcd", declarations, one);
            WaveDiff::compare(DiffSides::Files(&left, &right), &DiffOptions::default()).unwrap()
        };
        let equal = compare(None);
        assert_eq!((equal.is_equal(), equal.compared, equal.missing), (true, 4, [vec![], vec![]]));
        for (code, path) in codes.into_iter().zip(["t.a#1", "t.a#2", "t.\\a.b", "t.a.b"]) {
            assert_eq!(brief(&compare(Some(code))), [(path, 0, 1, None)], "{declarations}");
        }
    }
}

#[test]
fn different_numbers_of_namesakes_are_refused_unless_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let two = namesakes(dir.path(), "l.vcd", NAMESAKES, None);
    let one = namesakes(dir.path(), "r.vcd", &NAMESAKES.replace("1 1 a", "1 1 c"), None);
    for (sides, expected) in [
        (DiffSides::Files(&two, &one), "the left side has t.a#1, t.a#2, the right side has t.a: expected"),
        (DiffSides::Files(&one, &two), "the left side has t.a, the right side has t.a#1, t.a#2: expected"),
    ] {
        let error = WaveDiff::compare(sides, &DiffOptions::default()).unwrap_err();
        assert!(matches!(error, DiffError::Pairing(PairingError::Namesakes(..))), "{error}");
        assert!(error.to_string().starts_with(expected), "{error}");
        let options = DiffOptions { only: vec![SignalPattern::new("b")], ..DiffOptions::default() };
        assert_eq!(WaveDiff::compare(sides, &options).unwrap().compared, 2);
    }
}

const VECTORS: &str =
    "$scope module t $end $var wire 2 q q [1:0] $end $var wire 3 d d [0:2] $end $upscope $end";
const BITS: &str = "$scope module t $end $var wire 1 1 q [1] $end $var wire 1 0 q [0] $end \
    $var wire 1 a d[0] $end $var wire 1 b d[1] $end $var wire 1 c d[2] $end $upscope $end";

#[test]
fn a_vector_is_compared_with_signals_that_are_its_bits() {
    let dir = tempfile::tempdir().unwrap();
    let vectors = vcd(dir.path(), "v.vcd", VECTORS, "#0 b01 q bz d #10 b11 q #20 b110 d #30");
    let equal = "#0 01 10 za zb zc #10 11 #20 1a 1b 0c #30";
    for (values, differs) in [
        (equal, None),
        (&equal.replace("11", "x1"), Some(("t.q[1]", 10, "1", "x"))),
        (&equal.replace("0c", "1c"), Some(("t.d[2]", 20, "0", "1"))),
        (&equal.replace("1a 1b", "1b"), Some(("t.d[0]", 20, "1", "z"))),
    ] {
        let bits_only = vcd(dir.path(), "b.vcd", BITS, values);
        for swapped in [false, true] {
            let files = if swapped { (&bits_only, &vectors) } else { (&vectors, &bits_only) };
            let diff =
                WaveDiff::compare(DiffSides::Files(files.0, files.1), &DiffOptions::default()).unwrap();
            assert_eq!((diff.compared, &diff.missing), (5, &[vec![], vec![]]));
            let found = diff.divergences.first().map(|d| (&d.paths, d.first, &d.values));
            let Some((path, time, vector, bit)) = differs else {
                assert_eq!(found, None, "{values}");
                continue;
            };
            let (paths, mut expected) = ([path, path].map(str::to_owned), [bits(vector), bits(bit)]);
            if swapped {
                expected.reverse();
            }
            assert_eq!((found, diff.divergences.len()), (Some((&paths, time, &expected)), 1), "{values}");
        }
    }
    let bits_only = vcd(dir.path(), "b.vcd", &BITS.replace("d[2]", "e"), equal);
    let sides = DiffSides::Files(&vectors, &bits_only);
    let diff = WaveDiff::compare(sides, &DiffOptions::default()).unwrap();
    assert_eq!(
        (diff.compared, diff.missing[0].join(" "), diff.missing[1].join(" ")),
        (2, "t.d".into(), "t.d[0] t.d[1] t.e".into())
    );
    for (pattern, compared) in [("q", 2), ("q[1]", 1)] {
        let only = DiffOptions { only: vec![SignalPattern::new(pattern)], ..DiffOptions::default() };
        assert_eq!(WaveDiff::compare(sides, &only).unwrap().compared, compared, "{pattern}");
    }
    let ignore = DiffOptions { ignore: vec![SignalPattern::new("q[1]")], ..DiffOptions::default() };
    assert_eq!(WaveDiff::compare(sides, &ignore).unwrap().compared, 1);
}

/// A wave without changes up to the end of the window still covers the window.
#[test]
fn a_window_goes_on_where_one_side_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let wave = |name: &str, values: &str| {
        let path = dir.path().join(name);
        let head = "$scope module top $end $var wire 1 a s $end $upscope $end $enddefinitions $end";
        std::fs::write(&path, format!("{head}\n#0\n0a\n{values}#200\n1a\n")).unwrap();
        WaveFile::open(path).unwrap()
    };
    let (left, right) = (wave("l.vcd", ""), wave("r.vcd", "#50\n1a\n"));
    let options = DiffOptions { window: Some(0..100), ..DiffOptions::default() };
    for sides in [DiffSides::Files(&left, &right), DiffSides::Files(&right, &left)] {
        assert_eq!(brief(&WaveDiff::compare(sides, &options).unwrap()), [("top.s", 50, 1, None)]);
    }
}

#[test]
fn two_scopes_of_one_file_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("both.vcd");
    let mut definition = Definition::new("atoms");
    let mut side = |name: &str| {
        definition.scope(name, |d| [d.signal("a", SignalKind::Bits(9)), d.signal("op", SignalKind::Text)])
    };
    let sides = [side("rtl"), side("model")];
    definition.scope("model", |d| d.signal("more", SignalKind::Bits(1)));
    let mut trace = definition.create(&path).unwrap();
    for cycle in 0..50_u64 {
        for (side, signals) in sides.iter().enumerate() {
            let wrong = side == 1 && (20..23).contains(&cycle);
            trace.set(signals[0], u128::from(cycle) + u128::from(wrong));
            trace.set_text(signals[1], if wrong && cycle == 22 { "CAS" } else { "ADD" });
        }
        trace.tick().unwrap();
    }
    trace.finish().unwrap();
    let file = WaveFile::open(&path).unwrap();
    let diff = WaveDiff::compare(DiffSides::Scopes(&file, ["rtl", "atoms.model"]), &clocked()).unwrap();
    assert_eq!(brief(&diff), [("atoms.rtl.a", 200, 1, Some(230)), ("atoms.rtl.op", 220, 1, Some(230))]);
    assert_eq!(diff.divergences[0].paths[1], "atoms.model.a");
    assert_eq!(diff.missing[1], ["atoms.model.more"]);
    let error =
        WaveDiff::compare(DiffSides::Scopes(&file, ["rtl", "dut"]), &clocked()).unwrap_err().to_string();
    assert_eq!(error, "there is no scope `dut` in it; it has atoms, rtl, model");
}

/// A VCD of random changes by time step. `{n}` stands for the code of signal `n`.
struct Dump {
    steps: Vec<(u64, Vec<String>)>,
}

/// Declarations of the signals; signal 0 is the clock.
const DECLARED: [&str; 8] =
    ["wire 1", "wire 1", "wire 4", "wire 33", "wire 70", "string 1", "real 1", "wire 4"];

/// Time steps between changes of the last signal.
const RARE: u64 = 2500;

fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

fn change(state: &mut u64, signal: usize) -> String {
    let width = [1, 1, 4, 33, 70, 0, 0, 4][signal];
    let mut digit = || ["0", "1", "1", "0", "x", "z"][random(state, 6) as usize];
    match width {
        0 if signal == 5 => format!("sT{} {{{signal}}}", random(state, 1000)),
        0 => format!("r{}.5 {{{signal}}}", random(state, 1000)),
        1 => format!("{}{{{signal}}}", digit()),
        _ => {
            let digits: String = (0..width).map(|_| digit()).collect();
            format!("b{} {{{signal}}}", &digits[random(state, width) as usize..])
        }
    }
}

impl Dump {
    fn random(state: &mut u64, steps: u64) -> Self {
        let reals = random(state, 2) == 0;
        let mut time = 0;
        let steps = (0..steps).map(|step| {
            let mut changes = vec![format!("{}{{0}}", step & 1)];
            if step % RARE == 0 {
                changes.push(change(state, 7));
            }
            for _ in 0..random(state, 12) {
                // A rare real number, which ends the skipping of identical text.
                let kinds = if reals && random(state, 2000) == 0 { 6 } else { 5 };
                let signal = 1 + random(state, kinds) as usize;
                changes.push(change(state, signal));
            }
            time += 1 + random(state, 9);
            (time, changes)
        });
        Dump { steps: steps.collect() }
    }

    fn altered(&self, state: &mut u64) -> Self {
        let mut steps = self.steps.clone();
        for _ in 0..random(state, 4) {
            let at = random(state, steps.len() as u64 - 1) as usize;
            let signal = random(state, 6) as usize;
            match random(state, 10) {
                // This difference lasts through identical text.
                7..=9 => steps[at - at % RARE as usize].1.push(change(state, 7)),
                0 => steps[at].1.push(change(state, signal)),
                1 => drop(steps.remove(at)),
                2 => steps[at].1.push("$comment\n#7\n1{1}\n$end".to_owned()),
                3 => steps.iter_mut().skip(at).for_each(|(_, changes)| {
                    changes.retain(|change| !change.ends_with("{4}"));
                }),
                4 => steps.truncate(steps.len() - random(state, 20) as usize),
                5 => steps[at].1.clear(),
                _ => steps[at].1 = steps[at].1.iter().cloned().rev().collect(),
            }
        }
        Dump { steps }
    }

    /// Writes the VCD. `order` is the order of declarations and codes.
    fn write(&self, path: &Path, order: [usize; 8]) -> WaveFile {
        let mut text = "$timescale 1 ns $end\n$scope module top $end\n".to_owned();
        let mut codes = [' '; 8];
        for (code, signal) in ('!'..).zip(order) {
            let name = if signal == 0 { "clk".to_owned() } else { format!("s{signal}") };
            writeln!(text, "$var {} {code} {name} $end", DECLARED[signal]).unwrap();
            codes[signal] = code;
        }
        text += "$upscope $end\n$enddefinitions $end\n";
        for (time, changes) in &self.steps {
            writeln!(text, "#{time}").unwrap();
            for change in changes {
                let mut parts = change.split('{');
                text += parts.next().unwrap();
                for part in parts {
                    let (signal, behind) = part.split_once('}').unwrap();
                    write!(text, "{}{behind}", codes[signal.parse::<usize>().unwrap()]).unwrap();
                }
                text.push('\n');
            }
        }
        std::fs::write(path, text).unwrap();
        WaveFile::open(path).unwrap()
    }
}

/// Skipping identical text (equal codes) gives the same result as a full comparison (different codes).
#[test]
fn what_is_passed_over_changes_nothing() {
    const STEPS: u64 = 12_000;
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let (mut differ, mut refused) = (0, 0);
    for seed in 1..=24 {
        let state = &mut (seed * 77);
        let mut dump = Dump::random(state, STEPS);
        let mut other = dump.altered(state);
        if seed % 4 == 0 {
            let at = random(state, STEPS - 100) as usize;
            // The first three are accepted with a note.
            let wrong = ["b {3}", "b0b1 {3}", "#1\n1{1}", "b1111111 {2}", "1?extra", "bad", "b12 {3}"];
            let wrong = wrong[random(state, 7) as usize].to_owned();
            other.steps[at].1.push(wrong.clone());
            if seed % 8 == 0 {
                dump.steps[at].1.push(wrong);
            }
        }
        let left = dump.write(&path("left.vcd"), [0, 1, 2, 3, 4, 5, 6, 7]);
        let twin = other.write(&path("twin.vcd"), [0, 1, 2, 3, 4, 5, 6, 7]);
        let stranger = other.write(&path("other.vcd"), [1, 0, 2, 3, 4, 5, 6, 7]);
        let last = dump.steps.last().unwrap().0;
        let window = Some(random(state, last)..random(state, 2 * last));
        for (clock, window) in
            [(None, None), (Some("clk"), None), (None, window.clone()), (Some("clk"), window)]
        {
            let options = DiffOptions { clock: clock.map(str::to_owned), window, ..DiffOptions::default() };
            let compare = |right: &WaveFile| match WaveDiff::compare(DiffSides::Files(&left, right), &options)
            {
                Ok(diff) => Ok(diff),
                Err(error) => Err(error.to_string().replace("twin.vcd", "other.vcd")),
            };
            let (passed_over, in_full) = (compare(&twin), compare(&stranger));
            assert_eq!(passed_over, in_full, "seed {seed}, {options:?}");
            differ += usize::from(in_full.as_ref().is_ok_and(|diff| !diff.divergences.is_empty()));
            refused += usize::from(in_full.is_err());
        }
    }
    assert!(differ > 15 && refused > 8, "{differ} {refused}");
}

fn long_wave(path: &Path, cycles: u64, wrong: Option<u64>) {
    let mut definition = Definition::new("top");
    let widths = [1, 1, 1, 4, 8, 32, 32];
    let signals: Vec<_> = (0..349)
        .map(|at| definition.signal(&format!("s{at}"), SignalKind::Bits(widths[at % widths.len()])))
        .collect();
    let mut trace = definition.create(path).unwrap();
    let mut random = 88_172_645_463_325_252_u64;
    for cycle in 0..cycles {
        for _ in 0..40 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let at = (random >> 32) as usize % signals.len();
            let flip = u64::from(wrong == Some(cycle));
            trace.set(signals[at], u128::from((random ^ flip) & ((1 << widths[at % widths.len()]) - 1)));
        }
        trace.tick().unwrap();
    }
    trace.finish().unwrap();
}

/// Compares 100,000 edges of 350 signals no slower than two threads read the files. Prints the times.
#[test]
fn a_hundred_thousand_edges_take_as_long_as_reading_them() {
    const CYCLES: u64 = 100_000;
    let dir = tempfile::tempdir().unwrap();
    let paths: [PathBuf; 2] = ["a.vcd", "b.vcd"].map(|name| dir.path().join(name));
    long_wave(&paths[0], CYCLES, None);
    long_wave(&paths[1], CYCLES, Some(CYCLES / 2));
    let files = [0, 1].map(|at: usize| WaveFile::open(&paths[at]).unwrap());
    let mut best = [f64::MAX; 2];
    for _ in 0..5 {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for file in &files {
                scope.spawn(|| {
                    let mut all = file.no_slots();
                    file.signals().iter().for_each(|signal| all.insert(signal.slot));
                    let mut bytes = 0;
                    file.changes(&all, u64::MAX, |_, _, value| {
                        bytes += usize::from(value != atoms_wave_view::RawValue::Event);
                        std::ops::ControlFlow::Continue(())
                    })
                    .unwrap();
                    assert!(bytes > 0);
                });
            }
        });
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let diff = WaveDiff::compare(DiffSides::Files(&files[0], &files[1]), &clocked()).unwrap();
        best[1] = best[1].min(start.elapsed().as_secs_f64());
        assert_eq!((diff.points, diff.compared), (CYCLES, 350));
        assert_eq!(diff.causes[0].first, CYCLES / 2 * 10);
    }
    let mb = files.iter().map(WaveFile::bytes).sum::<u64>() as f64 / 1e6;
    println!(
        "wave diff of {CYCLES} edges of 350 signals, {mb:.0} MB: {:.2} s; reading both at once: {:.2} s; ratio {:.2}",
        best[1],
        best[0],
        best[1] / best[0]
    );
    assert!(best[1] < best[0], "comparing takes {:.2} of reading", best[1] / best[0]);
}
