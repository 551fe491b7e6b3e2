//! Table of instructions in `docs/sass.md`. It is derived from the code: the test tries which forms and
//! modifiers the decoder accepts.

use atoms_isa::{MNEMONICS, NAMED_MNEMONICS, Operation, Program, SpecialRegister};
use expect_test::expect_file;
use std::fmt::Write;

/// Modifiers that the test tries on every form. Modifiers for memory order and caching are omitted: a form
/// that accepts one of them accepts all.
const MODIFIERS: &[&str] = &[
    "16",
    "32",
    "64",
    "128",
    "U8",
    "S8",
    "U16",
    "S16",
    "U32",
    "S32",
    "U64",
    "S64",
    "16x2",
    "U8x4",
    "S8x4",
    "ISAT",
    "U16x2",
    "S16x2",
    "F16",
    "BF16",
    "F32",
    "F64",
    "F16x2",
    "BF16_V2",
    "RN",
    "RM",
    "RP",
    "RZ",
    "FTZ",
    "SAT",
    "NTZ",
    "TRUNC",
    "FLOOR",
    "CEIL",
    "RELU",
    "NAN",
    "BF",
    "H_AND",
    "X",
    "EX",
    "HI",
    "SX32",
    "W",
    "SH",
    "PAND",
    "ACC",
    "F4E",
    "B4E",
    "RC8",
    "ECL",
    "ECR",
    "RC16",
    "B1",
    "SUM",
    "MIN",
    "MAX",
    "AND",
    "OR",
    "XOR",
    "A1T0",
    "ART0",
    "A0TR",
    "A0T1",
    "A0TX",
    "OPTOUT",
    "RED",
    "TMASK",
    "TRYWAIT",
    "CONDITIONAL",
    "ARVCNT",
    "TRANSCNT",
    "SYNCS",
    "ZFILL",
    "BYPASS",
    "RCP",
    "RSQ",
    "SQRT",
    "EX2",
    "LG2",
    "SIN",
    "COS",
    "TANH",
    "RCP64H",
    "RSQ64H",
    "MMA",
    "BROADCAST",
    "DEFER_BLOCKING",
    "RECONVERGENT",
    "CLEAR",
    "LT",
    "EQ",
    "LE",
    "GT",
    "NE",
    "GE",
    "LTU",
    "EQU",
    "LEU",
    "GTU",
    "NEU",
    "GEU",
    "NUM",
];

/// Groups of modifiers of which a form must have exactly one. The test tries each modifier of a group in
/// place of the others.
const ALTERNATIVES: &[&[&str]] = &[
    &["RCP", "RSQ", "SQRT", "EX2", "LG2", "SIN", "COS", "TANH", "RCP64H", "RSQ64H"],
    &["GT", "LT", "EQ", "LE", "NE", "GE", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "NUM", "NAN"],
    &["AND", "OR", "XOR"],
    &["U32", "S32", "U64", "S64"],
    &["U8", "S8", "U16", "S16"],
];

fn decodes(line: &str) -> bool {
    let text = format!(".target sm_100a\n.section .text.k,\"ax\",@progbits\n.L_x_0:\n{line} ;\n");
    Program::parse("test.sass", &text)
        .is_ok_and(|program| program.kernels[0].instructions[0].operation != Operation::Unsupported)
}

/// Returns the modifiers that the decoder accepts in addition to those of a form.
fn modifiers(example: &str) -> Vec<&'static str> {
    let (mnemonic, operands) = example.split_once(' ').unwrap_or((example, ""));
    let given: Vec<_> = mnemonic.split('.').skip(1).collect();
    let alternative = |modifier: &&str| {
        ALTERNATIVES.iter().filter(|group| group.contains(modifier)).any(|group| {
            group.iter().filter(|other| given.contains(other)).any(|other| {
                let parts: Vec<_> =
                    mnemonic.split('.').map(|p| if p == *other { modifier } else { p }).collect();
                decodes(&format!("{} {operands}", parts.join(".")))
            })
        })
    };
    let takes = |modifier: &&str| {
        !given.contains(modifier)
            && (decodes(&format!("{mnemonic}.{modifier} {operands}")) || alternative(modifier))
    };
    MODIFIERS.iter().copied().filter(takes).collect()
}

/// True for cache control instructions, which accept any modifiers and operands.
fn takes_anything(name: &str) -> bool {
    decodes(&format!("{name}.ANYTHING [UR4]"))
}

fn page() -> String {
    let mut page = String::from(
        "# Machine code that runs\n\n\
         Instructions of listings that the core executes, from sm_70 on ([listings](listings.md) has the earlier ones). For\n\
         authors of kernels. `cargo regenerate` writes this page from the decoder; do not edit it.\n\n\
         A row has the forms of a mnemonic and the modifiers that they accept, alone or together. Modifiers of memory order and\n\
         caches (`.E .STRONG .GPU .CONSTANT .EF`) are accepted on all memory accesses and not listed. Any other modifier, and\n\
         each mnemonic of the list at the end, is reported before the run.\n\n\
         | mnemonic | effect | forms | other modifiers |\n|---|---|---|---|\n",
    );
    for row in MNEMONICS.iter() {
        let forms: Vec<_> =
            row.examples.iter().map(|e| format!("`{}`", e.replace('`', "").replace('|', "\\|"))).collect();
        let mut taken = Vec::new();
        if !takes_anything(&row.name) {
            for modifier in row.examples.iter().flat_map(|e| modifiers(e)) {
                if !taken.contains(&modifier) {
                    taken.push(modifier);
                }
            }
        }
        let (effect, forms) = (&row.effect, forms.join("<br>"));
        let _ = writeln!(page, "| {} | {effect} | {forms} | {} |", row.name, taken.join(" "));
    }
    let special: Vec<_> = SpecialRegister::ALL.iter().map(|r| r.name()).collect();
    let _ = writeln!(
        page,
        "\nATOMS, LDS and STS exist with the operations and sizes of the operation table (spec 3), SYNCS, ATOMS.ARRIVE and\n\
         ARRIVES with the forms of spec 6.8. Code addresses (CALL, RET, BRX, LEPC) are byte offsets in the kernel:\n\
         16 bytes for each instruction, as the offsets of the listing must say."
    );
    let _ = writeln!(page, "\nSpecial registers: {}.", special.join(", "));
    let _ = writeln!(page, "\nNot executed, only known by name: {}.", NAMED_MNEMONICS.join(", "));
    page
}

#[test]
fn every_example_is_decoded() {
    for row in MNEMONICS.iter() {
        assert!(!row.examples.is_empty(), "{}", row.name);
        for example in &row.examples {
            assert_eq!(example.split(['.', ' ']).next(), Some(row.name.as_str()), "{example}");
            assert!(decodes(example), "{example}");
        }
    }
}

#[test]
fn the_page_is_up_to_date() {
    expect_file!["../../docs/sass.md"].assert_eq(&page());
}
