//! Damaged files give an error or values, but never a panic, and print nothing on stderr.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use atoms_wave_view::{DiffOptions, DiffSides, WaveDiff, WaveFile, WaveNoteKind, WaveQuery, WaveReadFault};
use atoms_wave_write::{Definition, SignalKind};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

/// A change to a file. Positions are in 65536ths of its length.
#[derive(Clone, Debug)]
enum Damage {
    Cut(u16),
    Flip(u16, u8),
    Insert(u16, Vec<u8>),
    Remove(u16, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..20),
        prop::sample::select(vec![
            "#",
            "b",
            "$end ",
            "\n",
            "$var wire 9 ! x $end",
            "#99999999999999999999999",
            "r1e400 $"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop_oneof![
        1 => any::<u16>().prop_map(Damage::Cut),
        6 => (any::<u16>(), 1..=255_u8).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        2 => (any::<u16>(), bytes).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        2 => (any::<u16>(), 1..=30_u8).prop_map(|(at, count)| Damage::Remove(at, count)),
    ]
}

fn damaged(bytes: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for damage in damages {
        let place = |at: u16| usize::from(at) * bytes.len() / 65536;
        match damage {
            Damage::Cut(at) => bytes.truncate(place(*at)),
            Damage::Flip(at, bits) => {
                let at = place(*at);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= bits);
            }
            Damage::Insert(at, more) => {
                let at = place(*at);
                bytes.splice(at..at, more.iter().copied());
            }
            Damage::Remove(at, count) => {
                let at = place(*at);
                bytes.drain(at..(at + usize::from(*count)).min(bytes.len()));
            }
        }
    }
    bytes
}

/// Reads the whole file. Returns true if there was no error.
fn read(bytes: &[u8]) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wave");
    std::fs::write(&path, bytes).unwrap();
    let file = match WaveFile::open(&path) {
        Ok(file) => file,
        Err(error) => {
            assert!(error.to_string().len() > 20);
            return false;
        }
    };
    let mut all = file.no_slots();
    file.signals().iter().for_each(|signal| all.insert(signal.slot));
    let mut last = 0;
    let read = file.changes(&all, u64::MAX, |time, slot, value| {
        assert!(time >= last && slot.index() < file.slots());
        last = time;
        let _ = value.to_value(atoms_wave_view::ValueKind::Bits(8));
        ControlFlow::Continue(())
    });
    let numbers: Vec<_> = (0..file.signals().len()).collect();
    let _ = file.excerpt(0..u64::MAX, &numbers);
    let _ = WaveDiff::compare(DiffSides::Files(&file, &file), &DiffOptions::default());
    read.is_ok()
}

fn intact(name: &str) -> Vec<u8> {
    let bytes = std::fs::read(file(name)).unwrap();
    assert!(read(&bytes), "{name} is read as it is");
    bytes
}

// A fixed seed gives the same damages in every run. To search for new failures, change the seed and the
// number of cases.
proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_vcd_is_no_panic(damages in prop::collection::vec(damage(), 1..4)) {
        read(&damaged(&intact("gtkwave.vcd"), &damages));
    }

    #[test]
    fn a_damaged_fst_is_no_panic(damages in prop::collection::vec(damage(), 1..4)) {
        read(&damaged(&intact("gtkwave.fst"), &damages));
    }

    #[test]
    fn any_text_is_an_expression_or_an_error(text in "[a-z.\\[\\]0-9<>=!&|() '\"#äx_]{0,40}") {
        let file = WaveFile::open(file("gtkwave.vcd")).unwrap();
        if let Err(error) = WaveQuery::new(&file, &text) {
            prop_assert!(error.column <= text.chars().count());
        }
    }
}

#[test]
fn signals_are_those_declared_whatever_a_header_claims() {
    let mut bytes = intact("gtkwave.fst");
    // Header layout after type and length: two times, byte order, memory size, number of scopes, number of
    // variables.
    bytes[57..65].copy_from_slice(&0xb1a0_0000_u64.to_be_bytes());
    assert!(read(&bytes));
}

/// Truncates an FST file at every byte. Its list of signals comes last, and there is no `.hier` file.
#[test]
fn a_cut_fst_says_that_it_is_not_complete() {
    let bytes = intact("gtkwave.fst");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.fst");
    for length in 3..bytes.len() {
        std::fs::write(&path, &bytes[..length]).unwrap();
        match WaveFile::open(&path) {
            Err(error) => assert!(
                matches!(error.fault, WaveReadFault::Fst { .. })
                    && error.to_string().contains("not complete"),
                "{length} bytes: {error}"
            ),
            // All blocks are complete.
            Ok(file) => assert_eq!(file.signals().len(), 6, "{length} bytes of {}", bytes.len()),
        }
    }
}

fn all_changes(file: &WaveFile) -> Vec<(u64, String)> {
    let mut all = file.no_slots();
    file.signals().iter().for_each(|signal| all.insert(signal.slot));
    let mut found = Vec::new();
    file.changes(&all, u64::MAX, |time, slot, value| {
        found.push((time, format!("{} {value:?}", slot.index())));
        ControlFlow::Continue(())
    })
    .unwrap();
    found
}

/// A killed process leaves complete blocks and an incomplete one. The header may be that of any earlier
/// flush.
#[test]
fn our_fst_is_read_up_to_the_last_whole_block() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("killed.fst");
    let mut definition = Definition::new("top");
    let (count, text) =
        (definition.signal("count", SignalKind::Bits(16)), definition.signal("op", SignalKind::Text));
    let mut trace = definition.create(&path).unwrap();
    trace.flush().unwrap();
    let declared = std::fs::metadata(&path).unwrap().len();
    let header = std::fs::read(&path).unwrap()[..330].to_vec();
    let mut flushed = Vec::new();
    for cycle in 0..30_u64 {
        trace.set(count, cycle.into());
        trace.set_text(text, ["ADD", "CAS", "LDS"][cycle as usize % 3]);
        trace.tick().unwrap();
        if cycle % 10 == 9 {
            trace.flush().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            flushed.push((bytes.len(), all_changes(&WaveFile::open(&path).unwrap())));
        }
    }
    let bytes = std::fs::read(&path).unwrap();
    let cut = dir.path().join("cut.fst");
    for length in declared as usize..=bytes.len() {
        std::fs::write(&cut, &bytes[..length]).unwrap();
        let file = WaveFile::open(&cut).unwrap();
        let whole = flushed.iter().rev().find(|(end, _)| *end <= length);
        let expected = whole.map_or(&[][..], |(_, changes)| changes);
        assert_eq!(all_changes(&file), expected, "{length} bytes");
        let ends_in_block = length as u64 != declared && !flushed.iter().any(|(end, _)| *end == length);
        assert_eq!(file.notes().has(WaveNoteKind::Unclosed), ends_in_block, "{length} bytes");
        if ends_in_block {
            let extent =
                file.changes(&file.no_slots(), u64::MAX, |_, _, _| ControlFlow::Continue(())).unwrap();
            let last = expected.last().map(|(time, _)| *time);
            assert_eq!(extent.times.map(|(_, last)| last), last, "{length} bytes");
        }
    }
    std::fs::write(&cut, [&header, &bytes[330..]].concat()).unwrap();
    let file = WaveFile::open(&cut).unwrap();
    assert_eq!(all_changes(&file), flushed[2].1);
    assert!(file.notes().has(WaveNoteKind::Unclosed));
}

/// GTKWave's library writes the list of signals to `.hier` first, and into the FST file at the end.
#[test]
fn an_fst_that_was_not_closed_is_read_with_its_hier_file() {
    let bytes = intact("gtkwave.fst");
    let mut at = 0;
    while bytes[at] != 3 {
        at += 1 + u64::from_be_bytes(bytes[at + 1..at + 9].try_into().unwrap()) as usize;
    }
    let dir = tempfile::tempdir().unwrap();
    let [path, listed] = ["killed.fst", "killed.fst.hier"].map(|name| dir.path().join(name));
    std::fs::write(&path, [&bytes[..at], &[255], &[0; 40]].concat()).unwrap();
    let error = WaveFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("has `.hier` appended"), "{error}");
    let scope = |name: &str| [&[254, 0], name.as_bytes(), &[0, 0]].concat();
    let signal =
        |kind: u8, name: &str, bits: u8, alias: u8| [&[kind, 0], name.as_bytes(), &[0, bits, alias]].concat();
    let (event, real, reg, wire) = (0, 3, 5, 16);
    let list = [
        scope("top"),
        signal(wire, "data [7:0]", 8, 0),
        signal(wire, "alias [7:0]", 8, 1),
        scope("inner"),
        signal(reg, "flag", 1, 0),
        signal(wire, "mem[1] [3:0]", 4, 0),
        vec![255],
        signal(real, "volts", 64, 0),
        signal(event, "done", 1, 0),
        vec![255],
    ];
    std::fs::write(&listed, list.concat()).unwrap();
    let [vcd, fst] = [file("gtkwave.vcd"), path.clone()].map(|path| WaveFile::open(path).unwrap());
    let diff = WaveDiff::compare(DiffSides::Files(&vcd, &fst), &DiffOptions::default()).unwrap();
    assert!(diff.divergences.is_empty() && diff.unlike.is_empty() && diff.compared == 5, "{diff:?}");
    assert!(diff.notes[1].has(WaveNoteKind::Unclosed) && !diff.notes[0].has(WaveNoteKind::Unclosed));
    std::fs::write(&listed, list[..2].concat()).unwrap();
    let error = WaveFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("it has values of signals that it does not declare"), "{error}");
}

/// GTKWave's converter created the FST file from the VCD file.
#[test]
fn an_fst_and_the_vcd_it_was_made_from_are_equal() {
    let [vcd, fst] = ["gtkwave.vcd", "gtkwave.fst"].map(|name| WaveFile::open(file(name)).unwrap());
    let diff = WaveDiff::compare(DiffSides::Files(&vcd, &fst), &DiffOptions::default()).unwrap();
    assert!(diff.is_equal() && diff.compared == 5 && diff.points == 4, "{diff:?}");
    assert_eq!(diff.missing, [Vec::<String>::new(), Vec::new()]);
    assert_eq!(fst.unit(), vcd.unit());
    let all: Vec<_> = (0..6).collect();
    let excerpts = [&vcd, &fst].map(|file| file.excerpt(6..10, &all).unwrap());
    assert_eq!(excerpts[0].signals.len(), 6);
    for (one, other) in excerpts[0].signals.iter().zip(&excerpts[1].signals) {
        assert_eq!(one.path(), other.path());
        // FST repeats unchanged values at the start of a block.
        assert_eq!(
            (one.at(6), one.at(9), one.kind),
            (other.at(6), other.at(9), other.kind),
            "{}",
            one.path()
        );
    }
}
