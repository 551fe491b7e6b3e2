//! Listings of real kernels: all of them parse, and no random change causes a panic.

use atoms_isa::Program;
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::LazyLock;

static LISTINGS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels");
    let mut listings: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "sass"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    listings.sort();
    listings
});

fn bare(text: &str) -> String {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("/* 0x"))
        .map(|line| line.split("/* 0x").next().unwrap_or(line).trim_end().to_string() + "\n")
        .collect()
}

#[test]
fn every_listing_is_read_and_decoded() {
    assert!(LISTINGS.len() >= 12);
    for (name, text) in LISTINGS.iter() {
        let program = Program::parse(name, text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
        for kernel in &program.kernels {
            let lacking: Vec<_> = kernel.unsupported().map(|i| &kernel.source[i].text).collect();
            assert!(lacking.is_empty(), "{name}: {lacking:?}");
            assert!(kernel.instructions.len() > 10, "{name}");
        }
    }
}

#[test]
fn encodings_change_nothing() {
    for (name, text) in LISTINGS.iter() {
        let with = Program::parse(name, text).unwrap();
        let without = Program::parse(name, &bare(text)).unwrap();
        for (a, b) in with.kernels.iter().zip(&without.kernels) {
            assert_eq!(a.instructions, b.instructions, "{name}");
        }
    }
}

/// Generates a change to a text: position as a fraction of the length, number of bytes to delete, text to
/// insert.
fn change() -> impl Strategy<Value = (f64, usize, String)> {
    let piece = prop_oneof![
        Just(String::new()),
        "[\\[\\](){}`,;.@!|~+*/&?:'\" -]{1,3}",
        "[A-Z0-9.]{1,8}",
        Just("/*".to_string()),
        Just("0x".to_string()),
        Just("R254".to_string()),
        Just("\u{e9}\u{4e2d}".to_string()),
        "\\PC{0,6}",
    ];
    (0.0..1.0, 0_usize..12, piece)
}

fn changed(text: &str, changes: &[(f64, usize, String)]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (place, delete, insert) in changes {
        let at = (place * text.len() as f64) as usize;
        let end = (at + delete).min(text.len());
        text.splice(at..end, insert.chars());
    }
    text.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A changed text parses to a program, or to problems with positions inside the text.
    #[test]
    fn no_change_to_a_listing_brings_a_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        let (name, text) = &LISTINGS[which.index(LISTINGS.len())];
        let text = changed(text, &changes);
        if let Err(error) = Program::parse(name, &text) {
            prop_assert!(!error.problems.is_empty());
            for problem in &error.problems {
                prop_assert!(problem.span.offset() + problem.span.len() <= text.len());
                prop_assert!(problem.line >= 1 && problem.column >= 1);
                prop_assert!(!problem.help.is_empty());
            }
            let _ = format!("{:?}", miette::Report::new(error));
        }
    }

    /// Random text after a known mnemonic causes no panic.
    #[test]
    fn no_operands_bring_a_panic(row in any::<prop::sample::Index>(), rest in "[.A-Z0-9]{0,6} ?[-A-Z0-9x\\[\\].,+|~! ()`_]{0,30}") {
        let named = atoms_isa::NAMED_MNEMONICS.iter().copied();
        let names: Vec<_> = atoms_isa::MNEMONICS.iter().map(|row| row.name.as_str()).chain(named).collect();
        let name = names[row.index(names.len())];
        let text = format!(".target sm_80\n.section .text.k,\"\"\n{name}{rest} ;\n");
        let _ = Program::parse("test.sass", &text);
    }
}
