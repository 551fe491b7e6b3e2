//! What two waves differ in, from where on, and what follows what.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use atoms_waves::{
    Definition, DiffError, DiffOptions, DiffSides, PairingError, SignalKind, SignalPattern, SignalRename,
    WaveDiff, WaveFile, WaveValue,
};

/// Writes a wave of a clock `clk`, which rises at 10 n, and of what `changes` adds; opens it.
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

/// Path on the left, since when it differs, how often, and since when it no longer does.
fn brief(diff: &WaveDiff) -> Vec<(&str, u64, u64, Option<u64>)> {
    diff.divergences.iter().map(|d| (d.paths[0].as_str(), d.first, d.times, d.heals)).collect()
}

#[test]
fn the_earliest_difference_has_the_others_as_followers() {
    let dir = tempfile::tempdir().unwrap();
    let common = [(0, "b1 a"), (0, "b0 b"), (0, "0c"), (0, "sIDLE d"), (20, "b10 b"), (30, "b11 a")];
    let left = wave(dir.path(), "l.vcd", SIGNALS, &common, 100);
    let mut other = common.to_vec();
    other[5] = (30, "b111 a"); // a fault in cycle 3
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
    assert_eq!(WaveDiff::compare(DiffSides::Files(&left, &left), &clocked()).unwrap().points, 11);
}

#[test]
fn what_heals_is_told_apart_and_gathered_where_it_comes_again() {
    let dir = tempfile::tempdir().unwrap();
    let common = [(0, "b1 a"), (0, "b0 b"), (0, "0c"), (0, "sIDLE d")];
    let left = wave(dir.path(), "l.vcd", SIGNALS, &common, 200);
    // Two glitches of the flag with the counter behind, one of it alone, then a fault that stays.
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
    // At the edge counts what stood in front of it, whatever comes first in the file.
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

    // 30 ns later, in another unit.
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
    assert_eq!(error, "5 signals are on both sides, and the patterns choose none of them");
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

/// That a wave has no point in time up to the end of the window is no end of it.
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

/// Writes 350 signals over `cycles`, of which about 40 change in a cycle.
/// A dump of random changes, point in time by point in time, with `{n}` for the code of signal `n`.
struct Dump {
    steps: Vec<(u64, Vec<String>)>,
}

/// What signals are declared as: the first one is the clock.
const DECLARED: [&str; 8] =
    ["wire 1", "wire 1", "wire 4", "wire 33", "wire 70", "string 1", "real 1", "wire 4"];

/// Points in time between changes of the last one.
const RARE: u64 = 2500;

/// A number below `below`, of a simple generator.
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
                // A real number now and then, which is not passed over.
                let kinds = if reals && random(state, 2000) == 0 { 6 } else { 5 };
                let signal = 1 + random(state, kinds) as usize;
                changes.push(change(state, signal));
            }
            time += 1 + random(state, 9);
            (time, changes)
        });
        Dump { steps: steps.collect() }
    }

    /// With a few things another way, some of which last.
    fn altered(&self, state: &mut u64) -> Self {
        let mut steps = self.steps.clone();
        for _ in 0..random(state, 4) {
            let at = random(state, steps.len() as u64 - 1) as usize;
            let signal = random(state, 6) as usize;
            match random(state, 10) {
                // What differs lasts while the text is the same.
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

    /// Writes it with the signals declared, and their codes given, in this order.
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

/// Where two dumps have the same codes, text that is the same is passed over; where they have not, all is compared.
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
            let wrong = ["b {3}", "b1111111 {2}", "1?extra", "bad", "#1\n1{1}", "b12 {3}"];
            let wrong = wrong[random(state, 6) as usize].to_owned();
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

/// 100,000 edges of 350 signals, faster than reading the two files with a thread each. Prints the figures.
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
                        bytes += usize::from(value != atoms_waves::RawValue::Event);
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
