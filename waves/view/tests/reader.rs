//! Compares the reader with other readers, on our files and on files of other programs. Malformed files give
//! the right line.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use atoms_wave_view::{
    DiffOptions, DiffSides, Excerpt, FileSignal, SignalLookupError, ValueKind, WaveDiff, WaveFile,
    WaveFormat, WaveNotes, WaveReadFault, WaveValue,
};

/// Changes by path: time and value, numbers with all digits.
type Changes = BTreeMap<String, Vec<(u64, String)>>;

fn shown(value: &WaveValue) -> String {
    match value {
        WaveValue::Bits(digits) => digits.clone(),
        WaveValue::Text(text) => format!("text {text}"),
        WaveValue::Real(number) => format!("real {number}"),
        WaveValue::Event => "event".to_owned(),
    }
}

fn changes(file: &WaveFile) -> Result<Changes, atoms_wave_view::WaveReadError> {
    let mut all = file.no_slots();
    file.signals().iter().for_each(|signal| all.insert(signal.slot));
    let mut found = Changes::new();
    file.signals().iter().for_each(|signal| drop(found.insert(signal.path(), Vec::new())));
    file.changes(&all, u64::MAX, |time, slot, value| {
        for signal in file.signals().iter().filter(|signal| signal.slot == slot) {
            let value = shown(&value.to_value(signal.kind));
            found.get_mut(&signal.path()).unwrap().push((time, value));
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn written(text: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.vcd");
    std::fs::write(&path, text).unwrap();
    (dir, path)
}

/// Reads the changes with the crate `wellen`, which omits repeated values.
fn by_wellen(path: &Path) -> Changes {
    let mut wave = wellen::simple::read(path).unwrap();
    let vars: Vec<_> = wave.hierarchy().all_vars().map(|var| wave.hierarchy()[var].clone()).collect();
    let refs: Vec<_> = vars.iter().map(|var| var.signal_ref()).collect();
    wave.load_signals(&refs);
    let times = wave.time_table().to_vec();
    let of_var = |var: &wellen::Var| {
        let changes = wave.get_signal(var.signal_ref()).into_iter().flat_map(|signal| signal.iter_changes());
        let changes = changes.map(|(at, value)| (times[at as usize], shown_by_wellen(value)));
        (var.full_name(wave.hierarchy()), changes.collect())
    };
    vars.iter().map(of_var).collect()
}

fn in_order_by_wellen(path: &Path) -> Vec<Vec<(u64, String)>> {
    let mut wave = wellen::simple::read(path).unwrap();
    let refs: Vec<_> = wave.hierarchy().all_vars().map(|var| wave.hierarchy()[var].signal_ref()).collect();
    wave.load_signals(&refs);
    let times = wave.time_table().to_vec();
    let of_var = |signal| {
        let changes = wave.get_signal(signal).into_iter().flat_map(|signal| signal.iter_changes());
        changes.map(|(at, value)| (times[at as usize], shown_by_wellen(value))).collect()
    };
    refs.into_iter().map(of_var).collect()
}

fn shown_by_wellen(value: wellen::SignalValueRef<'_>) -> String {
    match value {
        wellen::SignalValueRef::Event => "event".to_owned(),
        wellen::SignalValueRef::String(text) => format!("text {text}"),
        wellen::SignalValueRef::Real(number) => format!("real {number}"),
        other => other.to_bit_string().unwrap(),
    }
}

/// Removes repeated values, and values that a later value of the same time replaces.
fn without_repetitions(changes: Changes) -> Changes {
    let once = |changes: Vec<(u64, String)>| {
        let mut kept: Vec<(u64, String)> = Vec::new();
        for (time, value) in changes {
            if kept.last().is_none_or(|(_, last)| *last != value || value == "event") {
                kept.push((time, value));
            }
        }
        kept
    };
    changes.into_iter().map(|(path, changes)| (path, once(changes))).collect()
}

fn first_wave() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../first_wave.vcd")
}

#[test]
fn our_wave_is_read_as_wellen_reads_it() {
    let file = WaveFile::open(first_wave()).unwrap();
    assert_eq!((file.format(), file.unit().unwrap().to_string().as_str()), (WaveFormat::Vcd, "1 ns"));
    let ours = without_repetitions(changes(&file).unwrap());
    let theirs = by_wellen(&first_wave());
    assert!(ours.len() > 100 && ours["atoms.clk"].len() >= 30);
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (path, changes) in &theirs {
        assert_eq!(ours[path], *changes, "{path}");
    }
    assert_eq!(file.clock().unwrap().map(|clock| clock.period), Some(10));
}

/// A file with features of other writers: aliases, escaped names, arrays, reals, events, texts, `x` and `z`,
/// uppercase digits, no time unit, values outside `$dumpvars`, `$dumpoff`, unknown declarations.
const FOREIGN: &str = "\
$date today \u{e4} $end
$scope module top $end
$attrbegin misc 02 state 1 $end
$var wire 8 ! data [7:0] $end
$var wire 8 ! alias[7:0] $end
$scope vhdl_architecture inner $end
$var reg 1 \" \\a.b+c $end
$var wire 4 # mem [1] [3:0] $end
$upscope $end
$var real 64 $ volts $end
$var event 1 % done $end
$var string 1 & state $end
$upscope $end
$enddefinitions $end
b1 !
#0
$dumpvars
bX !
x\"
b0z1 #
r-1.5e3 $
sIDLE &
$end
$comment 1! is no change $end
#5
1\" b101 !
1%
#5 b110 !
#7
$dumpoff
bx !
x\"
$end
#9
$dumpon
B111 !
0 \"
$end
1% sRUN &
#12
";

#[test]
fn what_other_programs_write_is_read() {
    let (_dir, path) = written(FOREIGN);
    let file = WaveFile::open(&path).unwrap();
    assert_eq!((file.unit(), file.slots(), file.signals().len()), (None, 6, 7));
    let found = changes(&file).unwrap();
    let of = |changes: &[(u64, &str)]| -> Vec<_> {
        changes.iter().map(|(time, value)| (*time, (*value).to_owned())).collect()
    };
    let data = [
        (0, "00000001"),
        (0, "xxxxxxxx"),
        (5, "00000101"),
        (5, "00000110"),
        (7, "xxxxxxxx"),
        (9, "00000111"),
    ];
    let expected = Changes::from([
        ("top.data".to_owned(), of(&data)),
        ("top.alias".to_owned(), of(&data)),
        ("top.inner.\\a.b+c".to_owned(), of(&[(0, "x"), (5, "1"), (7, "x"), (9, "0")])),
        ("top.inner.mem[1]".to_owned(), of(&[(0, "00z1")])),
        ("top.volts".to_owned(), of(&[(0, "real -1500")])),
        ("top.done".to_owned(), of(&[(5, "event"), (9, "event")])),
        ("top.state".to_owned(), of(&[(0, "text IDLE"), (9, "text RUN")])),
    ]);
    assert_eq!(found, expected);
    let extent = file.changes(&file.no_slots(), u64::MAX, |_, _, _| ControlFlow::Continue(())).unwrap();
    assert_eq!((extent.times, extent.cut_in_line), (Some((0, 12)), None));
}

/// Two signals with equal names, and scopes and names that contain points.
const PATHS: &str = "$scope module t $end $var wire 1 ! a $end $var wire 1 1 a $end $var wire 1 2 \\a.b $end \
    $scope module a $end $var wire 1 3 b $end $upscope $end $upscope $end \
    $scope module r $end $scope module \\s.u $end $var wire 1 4 c $end $upscope $end \
    $var wire 1 5 \\s.u.c $end $var wire 1 6 x_s.v $end $upscope $end $enddefinitions $end\n#0\n";

#[test]
fn each_signal_has_its_own_path_and_ambiguous_names_are_refused() {
    let (_dir, path) = written(PATHS);
    let file = WaveFile::open(&path).unwrap();
    let paths: Vec<_> = file.signals().iter().map(FileSignal::path).collect();
    let expected = ["t.a#1", "t.a#2", "t.\\a.b", "t.a.b", "r.\\s.u .c", "r.\\s.u.c", "r.\\x_s.v"];
    assert_eq!(paths, expected);
    for (at, path) in paths.iter().enumerate() {
        assert_eq!(file.lookup(path), Ok(at), "{path}");
    }
    for (name, at) in [("a#2", 1), ("\\a.b", 2), ("\\x_s.v", 6), ("x_s.v", 6), ("s.v", 6)] {
        assert_eq!(file.lookup(name), Ok(at), "{name}");
    }
    for (name, candidates) in
        [("a", [0, 1]), ("t.a", [0, 1]), ("a.b", [2, 3]), ("s.u.c", [4, 5]), ("r.s.u.c", [4, 5])]
    {
        let paths = candidates.map(|at| paths[at].clone()).to_vec();
        assert_eq!(file.lookup(name), Err(SignalLookupError::Ambiguous { name: name.to_owned(), paths }));
    }
    for name in ["", ".", "b.", ".b", "#1", "a#3", "u.c", "a.b#1"] {
        let found = file.lookup(name);
        assert!(matches!(found, Err(SignalLookupError::Unknown { .. })), "{name}: {found:?}");
    }
    let excerpt = Excerpt::read(&path, 0..9, |_| true).unwrap();
    assert_eq!(excerpt.signals.iter().map(|signal| signal.path()).collect::<Vec<_>>(), paths);
}

#[test]
fn an_excerpt_begins_with_the_values_that_hold_there() {
    let (_dir, path) = written(FOREIGN);
    let excerpt = Excerpt::read(&path, 6..9, |signal| signal.name != "volts").unwrap();
    assert_eq!((excerpt.window, excerpt.unit.as_str(), excerpt.period), (6..9, "1 unit", None));
    let of = |name: &str| excerpt.signals.iter().find(|signal| signal.name == name).unwrap().clone();
    let bits = |digits: &str| WaveValue::Bits(digits.to_owned());
    assert_eq!(of("alias").changes, [(6, bits("00000110")), (7, bits("xxxxxxxx"))]);
    assert_eq!(of("alias").kind, ValueKind::Bits(8));
    assert_eq!(of("state").changes, [(6, WaveValue::Text("IDLE".to_owned()))]);
    assert_eq!(of("done").changes, [], "an event does not last");
    assert_eq!(excerpt.signals.len(), 6);
    let whole = Excerpt::read(&path, 0..u64::MAX, |_| true).unwrap();
    assert_eq!(whole.window, 0..13, "to the end, the last point in time included");
}

#[test]
fn an_excerpt_that_does_not_fit_says_how_large_it_would_be() {
    let mut text = "$timescale 1 ns $end $var wire 65536 ! wide $end $enddefinitions $end\n".to_owned();
    for time in 0..5000 {
        text += &format!("#{time} b{} !\n", 1 + time % 2 * 9);
    }
    let (_dir, path) = written(text);
    let error = Excerpt::read(&path, 0..u64::MAX, |_| true).unwrap_err();
    let WaveReadFault::TooLarge { signals: 1, changes: 5000, bytes, .. } = error.fault else {
        panic!("{error}")
    };
    assert!((5000 * 65536..5000 * 66000).contains(&bytes), "{bytes}");
    assert!(
        error.to_string().ends_with(
            "312 MiB in memory, more than the limit of 256 MiB; choose a narrower window or fewer signals"
        ),
        "{error}"
    );
    let narrow = Excerpt::read(&path, 4000..4010, |_| true).unwrap();
    assert_eq!(narrow.signals[0].changes.len(), 10, "what is before the window takes no memory");
}

#[rustfmt::skip]
const MALFORMED: &[(&str, &str)] = &[
    ("",                                        "it is empty"),
    (" \n\t",                                   "it is empty"),
    ("module top;",                             "neither VCD, which begins with `$`, nor FST: it begins with `m`"),
    ("\u{1f}\u{1}\u{2}",                        "it begins with `\\x1f`"),
    ("$var wire 1 ! a $end\n",                  "line 1: the file ends before $enddefinitions"),
    ("$scope module top",                       "line 1: the file ends in $scope, before its $end"),
    ("$timescale 3 parsec $end",                "line 1: $timescale `3parsec`: expected 1, 10 or 100 of s, ms"),
    ("$timescale 1 ns $end\n1!",                "line 2: expected a declaration, such as $var, found `1!`"),
    ("$upscope $end",                           "$upscope without an open $scope"),
    ("$var wire many ! a $end",                 "a $var of `many` bits"),
    ("$var wire 4294967295 ! a $end",           "a $var of `4294967295` bits: expected a number, at most 16777216"),
    ("$var wire 1 ! $end",                      "line 1: a $var without a name"),
    ("$dumpports $end",                         "line 1: extended VCD is not supported"),
    ("$var port 1 <0 a $end\n$var port [0:22] <1 b $end", "line 2: extended VCD is not supported"),
];

/// Values after the declaration of a signal `!` of 4 bits, and the expected error.
#[rustfmt::skip]
const MALFORMED_VALUES: &[(&str, &str)] = &[
    ("#10\nb12 !\n",                            "line 3: `2` in a number: expected digits 0, 1, x, z"),
    ("#10\nb11111 !\n",                         "line 3: a value of 5 digits for a signal of 4 bits"),
    ("#10\nb1 \"\n",                            "line 3: a value of `\"`, a code that no $var declares"),
    ("#1x\n",                                   "line 2: `#1x`: expected a time"),
    ("#99999999999999999999\n",                 "expected a time"),
    ("#0\nr1.5.2 !\n",                          "line 3: `1.5.2`: expected a floating-point number"),
    ("#1.x\n",                                  "line 2: `#1.x`: expected a time"),
    ("#.5\n",                                   "line 2: `#.5`: expected a time"),
    ("#0\nb0b0b1 !\n",                          "line 3: `b` in a number: expected digits 0, 1, x, z"),
    ("#0\n\u{7}\u{8}garbage here\n",            "line 3: expected a time (#1200), a change"),
    ("#0\n$var wire 1 ! a $end\n",              "line 3: `$var` after $enddefinitions"),
    ("#0\npDU 0 6 !\n",                         "line 3: extended VCD is not supported"),
    ("$dumpports pD 6 6 ! $end\n",              "line 2: extended VCD is not supported"),
];

#[test]
fn what_is_malformed_is_named_with_its_line() {
    for (text, expected) in MALFORMED {
        let (_dir, path) = written(text);
        let error = WaveFile::open(&path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot read wave `{}`: ", path.display())), "{error}");
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
    for (values, expected) in MALFORMED_VALUES {
        let (_dir, path) = written(format!("$var wire 4 ! a $end $enddefinitions $end\n{values}"));
        let error = changes(&WaveFile::open(&path).unwrap()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
    let folder = tempfile::tempdir().unwrap();
    let error = WaveFile::open(folder.path()).unwrap_err();
    assert!(matches!(error.fault, WaveReadFault::NoFile), "{error}");
    assert!(matches!(WaveFile::open("no/such.vcd").unwrap_err().fault, WaveReadFault::Io(_)));
    let (_dir, path) = written([0x1f, 0x8b, 8, 0]);
    assert!(matches!(WaveFile::open(path).unwrap_err().fault, WaveReadFault::Gzip));
}

type Expected = &'static [(u64, &'static str)];

/// Declarations, values, expected notes, and expected changes of the signal.
#[rustfmt::skip]
const LENIENT: &[(&str, &str, &[&str], Expected)] = &[
    ("$timescale 244 ns $end",  "#0 0! #2 1!",
     &["line 1: $timescale is not 1, 10 or 100 of a unit: all times are multiplied by its number"],
     &[(0, "0000"), (488, "0001")]),
    ("$timescale 1000 ps $end", "#0 0! #2 1!",
     &["line 1: $timescale is not 1, 10 or 100 of a unit: all times are multiplied by its number"],
     &[(0, "0000"), (2, "0001")]),
    ("$timescale 1 ns $end",    "#0 0!\n#3.0 1!\n#4.75 0!\n#5. 1!",
     &["line 3 and 2 more: a time has a fraction, which is ignored"],
     &[(0, "0000"), (3, "0001"), (4, "0000"), (5, "0001")]),
    ("$timescale 1 ns $end",    "#10 b1 !\n#9 b10 !\n#10 b11 ! #11 b100 !",
     &["line 3: time goes back: the changes there are read at the latest time so far"],
     &[(10, "0001"), (10, "0010"), (10, "0011"), (11, "0100")]),
    ("$timescale 1 ns $end",    "#0 b1 ! #5\nb !\nB ! #6 bx !",
     &["line 3 and 1 more: a vector without digits is read as 0"],
     &[(0, "0001"), (5, "0000"), (5, "0000"), (6, "xxxx")]),
    ("$timescale 1 ns $end",    "#0 b0b00 ! #1 b0b1010 ! #2 b0Bx ! #3 b0b !",
     &["line 2: a vector without digits is read as 0", "line 2 and 3 more: a second prefix `0b` before the digits is ignored"],
     &[(0, "0000"), (1, "1010"), (2, "xxxx"), (3, "0000")]),
];

fn is_as_wellen_reads_it(path: &Path, about: &str) {
    let file = WaveFile::open(path).unwrap_or_else(|error| panic!("{about}: {error}"));
    let ours = without_repetitions(changes(&file).unwrap());
    let ours: Vec<_> = file.signals().iter().map(|signal| ours[&signal.path()].clone()).collect();
    assert_eq!(ours, in_order_by_wellen(path), "{about}");
}

/// Files of other programs that once were rejected or misread, and similar files: declarations and values.
#[rustfmt::skip]
const OTHERS: &[(&str, &str)] = &[
    ("$timescale 244 ns $end $var wire 1 ! a $end",         "#0\n0!\n"),
    ("$var wire 1 ! a $end",                                "#0\n0!\n#3.0\n1!\n"),
    ("$var wire 1 ! a $end",                                "#0\nb1 !\n#5\nb !\n#6\nb1 !\n"),
    ("$var wire 4 ! a $end",                                "#0\nb0b00 !\n#1\nb0b101 !\n"),
    ("$var wire 1 ! a $end",                                "#0\n0!\n#10\n1!"),
    ("$var wire 9 ! a $end",                                "#0\nb0 !\n#10\nb101 !"),
    ("$var string 1 ! s $end",                              "#0\nsSTATE_IDLE !\n#10\nsSTATE_RUN !\n#50\n"),
    ("$var string 1 ! s $end",                              "#0\nsqueue\\040full !\n#10\nsit\\'s\\q\\04 !\n#20\n"),
    ("$var wire 1 ! a $end",                                "#0\n0!\n#10\n1!\n#30\n0!\n#45\n"),
    ("$var wire 1 ! clk $end",                              "#0\n0!\n#1\n1!\n#2\n0!\n#4000000000000000000\n1!\n"),
    ("$var wire 1 ! a $end $var wire 1 \" a $end",          "#0\n0!\n1\"\n#10\n1!\n0\"\n"),
    ("$var wire 1 ! clk $end $var wire 1 \" d $end",        "#0\n0!\n0\"\n#5\n1!\n#6\n1\"\n#30\n"),
];

#[test]
fn files_of_other_programs_are_read_as_wellen_reads_them() {
    for (declarations, values) in OTHERS {
        let text =
            format!("$scope module t $end\n{declarations}\n$upscope $end\n$enddefinitions $end\n{values}");
        let (_dir, path) = written(&text);
        is_as_wellen_reads_it(&path, &text);
    }
}

fn random_dump(seed: u64) -> String {
    let mut state = seed;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = ["$timescale 1 ns $end\n", "$timescale\n\t10ps\n$end\n$date a b $end\n", ""]
        [random(3) as usize]
        .to_owned();
    // Single-letter codes, or codes that are prefixes of other codes.
    let codes =
        [["!", "\"", "#", "$", "%", "&", "'"], ["a", "aa", "aaa", "b", "ab", "0", "x1"]][random(2) as usize];
    let mut signals = Vec::new();
    for (at, code) in codes.iter().take(1 + random(7) as usize).enumerate() {
        let width = [1, 1, 2, 8, 33, 70, 0][random(7) as usize];
        let (kind, bits) = match width {
            0 => [("string", 1), ("real", 64), ("event", 1)][random(3) as usize],
            _ => (["wire", "reg", "integer", "logic"][random(4) as usize], width),
        };
        let scope = random(3) == 0;
        let range = if width > 1 { format!(" [{}:0]", width - 1) } else { String::new() };
        text += &if scope { format!("$scope module sub{at} $end\n") } else { String::new() };
        text += &format!("$var {kind} {bits} {code} s{at}{range} $end\n");
        text += if scope { "$upscope $end\n" } else { "" };
        signals.push((*code, kind, width));
    }
    text += "$enddefinitions $end\n";
    let (mut time, dumps) = (random(3), random(2) == 0);
    for step in 0..random(30) {
        text += &format!("#{time}{}\n", if random(9) == 0 { ".0" } else { "" });
        text += if dumps && step == 0 { "$dumpvars\n" } else { "" };
        for (code, kind, width) in &signals {
            let value = match (*kind, *width) {
                ("string", _) => {
                    ["sIDLE ", "sA_B ", r"squeue\040full ", r"sit\'s ", "s "][random(5) as usize].to_owned()
                }
                ("real", _) => format!("r{}.{} ", random(100), random(4) * 25),
                ("event", _) => "1".to_owned(),
                (_, 1) => format!(
                    "{}{}",
                    ["", "b", ""][random(3) as usize],
                    ["0", "1", "x", "z"][random(4) as usize]
                ),
                (_, width) => {
                    let mut digits = ["b", "B", "b0b"][random(3) as usize].to_owned();
                    for _ in 0..=random(width) {
                        digits.push(['0', '1', '0', '1', 'x', 'z', 'X', 'Z'][random(8) as usize]);
                    }
                    digits
                }
            };
            if random(3) > 0 {
                let between = if value.starts_with(['b', 'B']) { " " } else { "" };
                text += &format!("{value}{between}{code}{}", ["\n", "\r\n", "\n\n"][random(3) as usize]);
            }
        }
        text += if dumps && step == 0 { "$end\n" } else { "" };
        text += if random(9) == 0 { "$comment 1! $end\n" } else { "" };
        time += 1 + random(20);
    }
    text + &format!("#{time}\n")
}

#[test]
fn random_dumps_are_read_as_wellen_reads_them() {
    for seed in 1..=200 {
        let text = random_dump(seed);
        let (_dir, path) = written(&text);
        is_as_wellen_reads_it(&path, &text);
    }
}

/// VCD contains escapes; FST contains the characters.
#[test]
fn texts_of_vcd_and_fst_are_the_same() {
    let values = "#0\nsqueue\\040full !\n#10\nsit\\'s !\n#20\nsSTATE_RUN !\n";
    let (dir, path) = written(format!(
        "$scope module t $end $var string 1 ! s $end $upscope $end $enddefinitions $end\n{values}"
    ));
    let fst = dir.path().join("a.fst");
    let mut writer = wavefst::FstWriter::builder(std::fs::File::create(&fst).unwrap()).build().unwrap();
    writer.begin_scope(wavefst::ScopeType::VcdModule, "t", None).unwrap();
    let kind = (wavefst::VarType::GenString, wavefst::VarDir::Implicit);
    let signal = writer.add_variable(kind.0, kind.1, "s".to_owned(), wavefst::GeomEntry::Variable).unwrap();
    writer.end_scope().unwrap();
    writer.write_header(wavefst::Header::default()).unwrap();
    let texts = [(0, "queue full"), (10, "it's"), (20, "STATE_RUN")];
    for (time, text) in texts {
        writer.emit_change(time, signal, wavefst::SignalValue::Bytes(text.as_bytes().into())).unwrap();
    }
    writer.finish().unwrap();
    let files = [&path, &fst].map(|path| WaveFile::open(path).unwrap());
    let expected = texts.map(|(time, text)| (time, format!("text {text}")));
    for file in &files {
        assert_eq!(changes(file).unwrap()["t.s"], expected, "{:?}", file.format());
    }
    is_as_wellen_reads_it(&fst, "FST");
    // Compare with identical text, and with the other format.
    let twin = path.with_extension("other");
    std::fs::write(&twin, std::fs::read_to_string(&path).unwrap() + "#30\nsX !\n#40\n").unwrap();
    for other in [&WaveFile::open(&twin).unwrap(), &files[1]] {
        let diff = WaveDiff::compare(DiffSides::Files(&files[0], other), &DiffOptions::default()).unwrap();
        assert_eq!((diff.compared, diff.divergences.len()), (1, 0));
    }
    let mut excerpt = files[0].excerpt(0..u64::MAX, &[0]).unwrap();
    let before = excerpt.clone();
    excerpt.separate_words();
    assert_eq!(excerpt, before, "`_` of another program stays");
}

#[test]
fn departures_from_the_format_are_read_with_a_note() {
    for (declarations, values, notes, expected) in LENIENT {
        let (_dir, path) =
            written(format!("{declarations} $var wire 4 ! a $end $enddefinitions $end\n{values}\n"));
        let file = WaveFile::open(&path).unwrap();
        let found = changes(&file).unwrap();
        let found: Vec<_> = found["a"].iter().map(|(time, value)| (*time, value.as_str())).collect();
        assert_eq!(found, *expected, "{values}");
        let shown = |notes: &WaveNotes| notes.iter().map(ToString::to_string).collect::<Vec<_>>();
        let excerpt = Excerpt::read(&path, 0..u64::MAX, |_| true).unwrap();
        assert_eq!(shown(&excerpt.notes), *notes, "{values}");
        // The other file has one more change, so that all earlier text is identical.
        let other = path.with_extension("other");
        std::fs::write(&other, std::fs::read_to_string(&path).unwrap() + "#99999 1!\n").unwrap();
        let other = WaveFile::open(&other).unwrap();
        let diff = WaveDiff::compare(DiffSides::Files(&file, &other), &DiffOptions::default()).unwrap();
        assert_eq!(diff.notes.each_ref().map(shown), [notes, notes].map(|notes| notes.to_vec()), "{values}");
        assert_eq!(diff.divergences, [], "{values}");
    }
}

/// Files without an end of the last line: true if the last change is read. `"` is a prefix of the code `""`.
#[rustfmt::skip]
const ENDS: &[(&str, bool)] = &[
    ("1!",          true),
    ("1!\n",        true),
    ("b1 !",        true),
    ("b1 !\r\n",    true),
    ("$dumpall 1!\n$end", true),
    ("1\"\"",       true),
    ("1\"",         false),
    ("b1 \"",       false),
    ("1",           false),
    ("b1",          false),
    ("b1 ",         false),
    ("#20",         false),
    ("$dumpall",    false),
    ("$comment 1!", false),
];

#[test]
fn a_last_change_that_is_whole_needs_no_end_of_its_line() {
    let head = "$var wire 4 ! a $end $var wire 4 \" b $end $var wire 4 \"\" c $end $enddefinitions $end";
    for (end, read) in ENDS {
        let (_dir, path) = written(format!("{head}\n#0 0! 0\" 0\"\"\n#10\n{end}"));
        let file = WaveFile::open(&path).unwrap();
        let extent = file.changes(&file.no_slots(), u64::MAX, |_, _, _| ControlFlow::Continue(())).unwrap();
        assert_eq!(extent.cut_in_line, (!read).then_some(4), "{end}");
        assert_eq!(extent.times, Some((0, 10)), "{end}");
        let ones = changes(&file)
            .unwrap()
            .into_values()
            .flatten()
            .filter(|change| *change == (10, "0001".to_owned()));
        assert_eq!(ones.count(), usize::from(*read), "{end}");
    }
}

#[test]
fn a_file_that_was_cut_is_read_up_to_there() {
    let whole = std::fs::read(first_wave()).unwrap();
    let at = whole.len() * 3 / 4;
    let at = at
        + whole[at..].windows(4).position(|bytes| bytes.starts_with(b"\nb") && bytes[3] != b' ').unwrap()
        + 3;
    let (_dir, path) = written(&whole[..at]);
    let file = WaveFile::open(path).unwrap();
    let mut all = file.no_slots();
    file.signals().iter().for_each(|signal| all.insert(signal.slot));
    let extent = file.changes(&all, u64::MAX, |_, _, _| ControlFlow::Continue(())).unwrap();
    let text = std::str::from_utf8(&whole[..at]).unwrap();
    let last = text.lines().filter_map(|line| line.strip_prefix('#')).next_back().unwrap().parse().unwrap();
    let line = 1 + whole[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!(extent.cut_in_line, Some(line));
    assert_eq!(extent.times.map(|(_, last)| last), Some(last));
}
