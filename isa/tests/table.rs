//! The table of instructions in `docs/sass.md`, derived from the code.

use atoms_isa::{MNEMONICS, SpecialRegister, Support};
use std::fmt::Write;
use std::path::PathBuf;

fn page() -> String {
    let mut page = String::from(
        "# Machine code that runs\n\n\
         Which instructions of `nvdisasm` listings (sm_70 and later) the core carries out. This page is written by\n\
         `UPDATE_DOCS=1 cargo test -p atoms-isa --test table`; do not edit it.\n\n\
         A mnemonic below is decoded with the modifiers that compiled kernels use; another modifier, like a\n\
         mnemonic of the second list, is reported before anything runs, with all others of its kind.\n\n\
         | mnemonic | what it does |\n|---|---|\n",
    );
    for row in MNEMONICS.iter().filter(|r| r.support == Support::Decoded) {
        let _ = writeln!(page, "| {} | {} |", row.name, row.effect);
    }
    let named: Vec<_> = MNEMONICS.iter().filter(|r| r.support == Support::Named).map(|r| r.name).collect();
    let special: Vec<_> = SpecialRegister::ALL.iter().map(|r| r.name()).collect();
    let _ = writeln!(
        page,
        "\nATOMS, LDS and STS exist with the operations and sizes of the operation table (spec 3), SYNCS, ATOMS.ARRIVE and\n\
         ARRIVES with the forms of spec 6.8. LDGSTS with a predicate, REDAS of 64 bits but ADD, and UBLKCP other than from global\n\
         to shared memory are not decoded."
    );
    let _ = writeln!(page, "\nSpecial registers: {}.", special.join(", "));
    let _ = writeln!(page, "\nKnown by name only: {}.", named.join(", "));
    page
}

#[test]
fn the_page_is_up_to_date() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/sass.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page(),
        "docs/sass.md is out of date: UPDATE_DOCS=1 cargo test -p atoms-isa --test table"
    );
}
