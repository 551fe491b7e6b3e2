//! Reads written files with an independent reader.

use atoms_wave_write::{Deferred, Definition, Signal, SignalKind, WaveError, WaveValues};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use wellen::{SignalValueRef, VarType};

/// Changes of each signal by full name: time and value, numbers as binary digits.
type Changes = HashMap<String, Vec<(u64, String)>>;

fn read(path: &Path) -> (wellen::simple::Waveform, Changes) {
    let mut wave = wellen::simple::read(path).unwrap();
    let vars: Vec<_> = wave.hierarchy().all_vars().map(|var| wave.hierarchy()[var].clone()).collect();
    let refs: Vec<_> = vars.iter().map(|var| var.signal_ref()).collect();
    wave.load_signals(&refs);
    let times = wave.time_table().to_vec();
    let mut changes = Changes::new();
    for var in &vars {
        let signal = wave.get_signal(var.signal_ref());
        let of_signal = signal.iter().flat_map(|signal| signal.iter_changes()).map(|(at, value)| {
            let text = match value {
                SignalValueRef::Event => "event".to_owned(),
                SignalValueRef::String(text) => text.to_owned(),
                other => other.to_bit_string().unwrap(),
            };
            (times[at as usize], text)
        });
        changes.insert(var.full_name(wave.hierarchy()), of_signal.collect());
    }
    (wave, changes)
}

fn at<'a>(changes: &'a Changes, name: &str, cycle: u64) -> Option<&'a str> {
    changes[name].iter().rev().find(|(time, _)| *time <= cycle * 10).map(|(_, value)| value.as_str())
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Returns the lowest `width` bits of `bytes` as digits. The least significant byte is first.
fn digits(bytes: &[u8], width: u32) -> String {
    (0..width as usize)
        .rev()
        .map(|bit| if bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1) { '1' } else { '0' })
        .collect()
}

macro_rules! in_each_format {
    ($name:ident) => {
        mod $name {
            #[test]
            fn vcd() {
                super::$name("vcd");
            }

            #[test]
            fn fst() {
                super::$name("fst");
            }
        }
    };
}

in_each_format!(every_value_of_every_width_is_read_back);
in_each_format!(differences_are_flagged_and_counted);
in_each_format!(what_is_deferred_is_set_in_its_cycle);
in_each_format!(changes_are_what_would_be_found);
in_each_format!(a_side_that_is_not_set_does_not_differ);
in_each_format!(the_file_is_whole_after_every_flush_and_on_drop);
in_each_format!(a_trace_can_start_late_and_have_gaps);

fn every_value_of_every_width_is_read_back(extension: &str) {
    const WIDTHS: [u32; 13] = [1, 2, 7, 8, 9, 31, 32, 33, 64, 127, 128, 129, 1000];
    const TEXTS: [&str; 6] = ["ADD", "CAST.SPIN", "illegal instruction", "", "S32", r"\040\\n"];
    const STEMS: [&str; 3] = ["ADD", "", "#1 lane "];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("new/folder/all.{extension}"));
    let mut definition = Definition::new("top");
    let numbers: Vec<Signal> = definition.scope("numbers", |d| {
        WIDTHS.iter().map(|width| d.signal(&format!("n{width}"), SignalKind::Bits(*width))).collect()
    });
    let text = definition.signal("text", SignalKind::Text);
    let event = definition.signal("event", SignalKind::Event);
    let late = definition.signal("late", SignalKind::Bits(4));

    let mut trace = definition.create(&path).unwrap();
    let mut random = Random(88_172_645_463_325_252);
    let mut expected: Vec<(Vec<String>, String, bool)> = Vec::new();
    let mut stem = "";
    let mut values = vec![vec![0_u8; 128]; WIDTHS.len()];
    for cycle in 0..500 {
        for ((signal, width), value) in numbers.iter().zip(WIDTHS).zip(&mut values) {
            match random.next() % 4 {
                0 => value.fill(0),
                1 => value.iter_mut().for_each(|byte| *byte = random.next() as u8),
                2 => value[random.next() as usize % 128] ^= 1 << (random.next() % 8),
                _ => {} // stays
            }
            if width <= 128 && random.next().is_multiple_of(2) {
                let low: [u8; 16] = value[..16].try_into().unwrap();
                trace.set(*signal, u128::from_le_bytes(low));
            } else {
                trace.set_bytes(*signal, value);
            }
        }
        let word = TEXTS[random.next() as usize % TEXTS.len()];
        let number = random.next() as u32 >> (random.next() % 32);
        let shown = match random.next() % 4 {
            0 => {
                stem = STEMS[random.next() as usize % STEMS.len()];
                trace.set_stem(stem);
                trace.set_numbered(text, number);
                format!("{stem}{number}")
            }
            // Use the stem of an earlier cycle.
            1 => {
                trace.set_numbered(text, number);
                format!("{stem}{number}")
            }
            _ => {
                trace.set_text(text, word);
                if word.is_empty() { "-".to_owned() } else { word.to_owned() }
            }
        };
        let happens = random.next().is_multiple_of(3);
        if happens {
            trace.emit(event);
        }
        if cycle == 250 {
            trace.set(late, 9);
        }
        let written = values.iter().zip(WIDTHS).map(|(value, width)| digits(value, width)).collect();
        expected.push((written, shown.replace(' ', "_"), happens));
        assert_eq!(trace.cycle(), cycle);
        trace.tick().unwrap();
    }
    trace.finish().unwrap();

    let (wave, changes) = read(&path);
    for (cycle, (numbers, text, happens)) in expected.iter().enumerate() {
        let cycle = cycle as u64;
        for (number, width) in numbers.iter().zip(WIDTHS) {
            assert_eq!(
                at(&changes, &format!("top.numbers.n{width}"), cycle),
                Some(number.as_str()),
                "{cycle}"
            );
        }
        assert_eq!(at(&changes, "top.text", cycle), Some(text.as_str()));
        let event = changes["top.event"].iter().any(|(time, _)| *time == cycle * 10);
        assert_eq!(event, *happens, "{cycle}");
        assert_eq!(at(&changes, "top.late", cycle), Some(if cycle < 250 { "xxxx" } else { "1001" }));
    }
    for (name, changes) in &changes {
        for pair in changes.windows(2) {
            assert!(pair[0].1 != pair[1].1 || name == "top.event", "{name} is written without a change");
        }
    }
    // One extra edge ends the last cycle.
    assert_eq!(changes["top.clk"].len(), 1001);
    assert_eq!(*wave.time_table().last().unwrap(), 5000, "the last cycle has its length");

    let kind = |name: &str| {
        let var = wave.hierarchy().lookup_var(&["top"], name).unwrap();
        wave.hierarchy()[var].var_type()
    };
    assert_eq!([kind("text"), kind("event"), kind("clk")], [VarType::String, VarType::Event, VarType::Wire]);
}

fn differences_are_flagged_and_counted(extension: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("diff.{extension}"));
    let mut definition = Definition::new("top");
    let side = |d: &mut Definition, name: &str| {
        d.scope(name, |d| {
            [
                d.signal("a", SignalKind::Bits(8)),
                d.signal("op", SignalKind::Text),
                d.signal("w", SignalKind::Bits(200)),
            ]
        })
    };
    let (rtl, model) = (side(&mut definition, "rtl"), side(&mut definition, "model"));
    let pairs: Vec<_> = rtl.into_iter().zip(model).map(|(rtl, model)| [rtl, model]).collect();
    let diff = definition.compare("diff", &pairs);
    assert_eq!(diff.flags.len(), 3);
    let mut trace = definition.create(&path).unwrap();

    #[rustfmt::skip]
    let cases = [
        // rtl          model           flags           pairs  cycles so far
        ((1, "ADD", 5), (1, "ADD", 5), ["0", "0", "0"], 0,     0),
        ((2, "ADD", 5), (1, "ADD", 5), ["1", "0", "0"], 1,     1),
        ((2, "CAS", 5), (1, "ADD", 6), ["1", "1", "1"], 3,     2),
        ((2, "CAS", 5), (1, "ADD", 6), ["1", "1", "1"], 3,     3),
        ((2, "CAS", 5), (2, "CAS", 5), ["0", "0", "0"], 0,     3),
        ((2, "CAS", 5), (2, "CAS", 7), ["0", "0", "1"], 1,     4),
    ];
    for (left, right, ..) in cases {
        for (signals, (a, op, w)) in [(rtl, left), (model, right)] {
            trace.set(signals[0], a);
            trace.set_text(signals[1], op);
            trace.set_bytes(signals[2], &[0, 0, w]);
        }
        trace.tick().unwrap();
    }
    drop(trace);

    let (_, changes) = read(&path);
    for (cycle, (_, _, flags, pairs, cycles)) in cases.into_iter().enumerate() {
        let cycle = cycle as u64;
        for (name, flag) in ["a", "op", "w"].into_iter().zip(flags) {
            assert_eq!(at(&changes, &format!("top.diff.{name}"), cycle), Some(flag), "{name} in {cycle}");
        }
        let number = |name| u64::from_str_radix(at(&changes, name, cycle).unwrap(), 2).unwrap();
        assert_eq!(number("top.diff.any"), u64::from(pairs > 0));
        assert_eq!(number("top.diff.pairs_differing"), pairs);
        assert_eq!(number("top.diff.cycles_differing"), cycles);
    }
}

fn a_side_that_is_not_set_does_not_differ(extension: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("half.{extension}"));
    let mut definition = Definition::new("top");
    let (a, b) = (definition.signal("a", SignalKind::Bits(4)), definition.signal("b", SignalKind::Bits(4)));
    definition.compare("diff", &[[a, b]]);
    let mut trace = definition.create(&path).unwrap();
    trace.set(a, 3);
    trace.tick().unwrap();
    trace.set(b, 4);
    trace.tick().unwrap();
    drop(trace);
    let (_, changes) = read(&path);
    assert_eq!(changes["top.diff.a"], [(0, "0".to_owned()), (10, "1".to_owned())]);
}

fn the_file_is_whole_after_every_flush_and_on_drop(extension: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("part.{extension}"));
    let mut definition = Definition::new("top");
    let count = definition.signal("count", SignalKind::Bits(16));
    let mut trace = definition.create(&path).unwrap();
    for cycle in 0..20_u64 {
        trace.set(count, cycle.into());
        trace.tick().unwrap();
        trace.set(count, 0xffff); // the cycle has not ended: this value must not be visible
        trace.flush().unwrap();
        let (_, changes) = read(&path);
        assert_eq!(changes["top.count"].last(), Some(&(cycle * 10, format!("{cycle:016b}"))));
    }
    drop(trace);
    let (wave, _) = read(&path);
    assert_eq!(wave.time_table().last(), Some(&200));
}

fn a_trace_can_start_late_and_have_gaps(extension: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("late.{extension}"));
    let mut definition = Definition::new("top");
    let count = definition.signal("count", SignalKind::Bits(16));
    let mut trace = definition.create(&path).unwrap();
    for cycle in [400, 401, 500] {
        trace.skip_to(cycle);
        trace.set(count, cycle.into());
        trace.tick().unwrap();
    }
    trace.finish().unwrap();
    let (wave, changes) = read(&path);
    assert_eq!(wave.time_table(), [4000, 4005, 4010, 4015, 5000, 5005, 5010]);
    assert_eq!(changes["top.count"].iter().map(|(time, _)| *time).collect::<Vec<_>>(), [4000, 4010, 5000]);
}

/// Computes two signals from bytes. Sets other signals, which form a pair, from numbers.
struct Parts {
    byte: Signal,
    wide: Signal,
    numbers: [Signal; 2],
}

impl Deferred for Parts {
    type Cycle = (u8, Vec<(usize, Option<u128>)>);

    fn set(&mut self, values: &mut WaveValues, (byte, numbers): &Self::Cycle) {
        values.set(self.byte, (*byte).into());
        values.set_changed(self.wide, u128::from(*byte) << 80);
        let byte = values.get(self.byte).unwrap_or(0);
        for (at, number) in numbers {
            values.set(self.numbers[*at], number.map_or(0, |number| number + byte));
        }
    }
}

fn what_is_deferred_is_set_in_its_cycle(extension: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("deferred.{extension}"));
    let mut definition = Definition::new("top");
    let [byte, first, second] =
        ["byte", "first", "second"].map(|n| definition.signal(n, SignalKind::Bits(8)));
    let wide = definition.signal("wide", SignalKind::Bits(88));
    definition.compare("diff", &[[first, second]]);
    let mut trace = definition.create_with(&path, Parts { byte, wide, numbers: [first, second] }).unwrap();
    *trace.defer() = (1, vec![(0, Some(4)), (1, None)]);
    trace.tick().unwrap();
    trace.tick().unwrap();
    // Deferred values take effect in order: before `set` here, after `set` in the next cycle.
    *trace.defer() = (2, vec![(1, Some(7)), (0, Some(7))]);
    trace.set(first, 8);
    trace.tick().unwrap();
    trace.set(first, 1);
    *trace.defer() = (3, vec![(0, Some(6))]);
    trace.tick().unwrap();
    trace.finish().unwrap();
    let (_, changes) = read(&path);
    let values = |name: &str| -> Vec<_> {
        let number = |(time, digits): &(u64, String)| (*time, u8::from_str_radix(digits, 2).unwrap());
        changes[name].iter().map(number).collect()
    };
    assert_eq!(values("top.byte"), [(0, 1), (20, 2), (30, 3)]);
    let above = |byte: &str| format!("{byte}{}", "0".repeat(80));
    let wide = [(0, "00000001"), (20, "00000010"), (30, "00000011")];
    assert_eq!(changes["top.wide"], wide.map(|(time, byte)| (time, above(byte))));
    assert_eq!(values("top.first"), [(0, 5), (20, 8), (30, 9)]);
    assert_eq!(values("top.second"), [(0, 0), (20, 9)]);
    assert_eq!(values("top.diff.first"), [(0, 1), (30, 0)]);
}

struct Found;

impl Deferred for Found {
    type Cycle = Vec<(Signal, Sides, u128)>;

    fn set(&mut self, values: &mut WaveValues, changes: &Self::Cycle) {
        for (signal, sides, value) in changes {
            match sides {
                Sides::One => values.set_changed(*signal, *value),
                Sides::Both => values.set_pair_changed(*signal, *value),
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Sides {
    One,
    Both,
}

/// Setting every signal in every cycle gives the same file as setting only known changes.
fn changes_are_what_would_be_found(extension: &str) {
    const WIDTHS: [u32; 6] = [1, 2, 32, 64, 65, 128];
    let mut definition = Definition::new("top");
    let side = |d: &mut Definition, name: &str| {
        d.scope(name, |d| WIDTHS.map(|width| d.signal(&format!("s{width}"), SignalKind::Bits(width))))
    };
    let inputs = side(&mut definition, "in");
    let sides = ["rtl", "model"].map(|name| side(&mut definition, name));
    let pairs: Vec<_> = sides[0].iter().zip(sides[1]).map(|(left, right)| [*left, right]).collect();
    definition.compare("diff", &pairs);
    let dir = tempfile::tempdir().unwrap();
    let paths = ["all", "changes"].map(|name| dir.path().join(format!("{name}.{extension}")));
    let mut all = definition.create(&paths[0]).unwrap();
    let mut changes = definition.create_with(&paths[1], Found).unwrap();
    let mut random = Random(7);
    let mut before = [0; WIDTHS.len()];
    let mut apart = true;
    for cycle in 0..400_u32 {
        let mut now = before;
        for (value, width) in now.iter_mut().zip(WIDTHS) {
            if random.next().is_multiple_of(4) {
                let drawn = u128::from(random.next()) << 64 | u128::from(random.next());
                *value = drawn >> (128 - width) >> (random.next() % u64::from(width));
            }
        }
        // In some consecutive cycles, the sides differ.
        let differs = cycle % 50 > 46;
        let on_side = |at: usize, side: usize| now[at] ^ u128::from(differs && side == 1);
        let mut found = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            all.set(*input, now[at]);
            if cycle == 0 {
                changes.set(*input, now[at]);
            } else if now[at] != before[at] {
                found.push((*input, Sides::One, now[at]));
            }
        }
        for at in 0..WIDTHS.len() {
            let alike = !(apart || differs);
            for (number, side) in sides.iter().enumerate() {
                all.set(side[at], on_side(at, number));
                if !alike {
                    changes.set(side[at], on_side(at, number));
                }
            }
            if alike && now[at] != before[at] {
                found.push((sides[0][at], Sides::Both, now[at]));
            }
        }
        *changes.defer() = found;
        all.tick().unwrap();
        changes.tick().unwrap();
        (before, apart) = (now, differs);
    }
    all.finish().unwrap();
    changes.finish().unwrap();
    let [all, changes] = paths.map(|path| read(&path).1);
    assert_eq!(all, changes);
    assert!(all["top.diff.cycles_differing"].len() > 20, "sides differ in some cycles");
}

/// The reader of a pipe closes it early. The caller gets the error once.
#[test]
fn a_file_that_fails_later_is_reported_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe.vcd");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo starts").success());
    let reader = std::thread::spawn({
        let path = path.clone();
        move || File::open(path).unwrap().read_exact(&mut [0; 16]).unwrap()
    });
    let mut definition = Definition::new("top");
    let count = definition.signal("count", SignalKind::Bits(32));
    let mut trace = definition.create(&path).unwrap();
    reader.join().unwrap();
    let cycle = |cycle: u128| {
        trace.set(count, cycle);
        trace.tick().err()
    };
    let error = (0..1_000_000).find_map(cycle).expect("the pipe is broken");
    assert_eq!(error.to_string(), format!("cannot write trace to `{}`", path.display()));
    let WaveError::WaveTrace { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(source.kind(), std::io::ErrorKind::BrokenPipe);
    trace.finish().expect("it was said already");
}

/// `set_changed` accepts only numbers.
#[test]
fn a_text_is_no_change() {
    struct Text(Signal);

    impl Deferred for Text {
        type Cycle = ();

        fn set(&mut self, values: &mut WaveValues, (): &()) {
            values.set_changed(self.0, 1);
        }
    }

    let dir = tempfile::tempdir().unwrap();
    let mut definition = Definition::new("top");
    let text = definition.signal("text", SignalKind::Text);
    let mut trace = definition.create_with(dir.path().join("wave.vcd"), Text(text)).unwrap();
    trace.set_text(text, "ADD");
    trace.tick().unwrap();
    trace.defer();
    trace.tick().unwrap();
    let WaveError::WaveTrace { source, .. } = trace.finish().unwrap_err() else {
        panic!("no error of a trace")
    };
    assert_eq!(source.to_string(), "the thread that writes the wave panicked");
}

#[test]
fn an_error_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let definition = Definition::new("top");
    let error = definition.create(dir.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot write trace to `{}`", dir.path().display()));
    assert!(matches!(error, WaveError::WaveTrace { .. }));
    let full = Path::new("/dev/full");
    if full.exists() {
        let error = definition.create(full).unwrap_err();
        assert_eq!(error.to_string(), "cannot write trace to `/dev/full`");
    }
}
