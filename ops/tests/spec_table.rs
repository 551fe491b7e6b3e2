//! The operation table in `docs/spec.md`, derived from `OPS`.

use std::fmt::Write;
use std::path::PathBuf;

use atoms_ops::{Gives, OPS, Operands};
use expect_test::expect_file;

const BEGIN: &str = "<!-- operations: generated from ops/src/lib.rs -->\n";
const END: &str = "<!-- end -->";

fn table() -> String {
    let mut table = String::from(
        "| code | operation | effect on M | operands | Rd | sizes |\n\
         |---:|---|---|---|---|---|\n",
    );
    for row in OPS {
        let operands = match row.operands {
            Operands::None => "-",
            Operands::B => "Rb",
            Operands::BC => "Rb, Rc",
        };
        let gives = match row.gives {
            Gives::Nothing => "-",
            Gives::Old => "M",
            Gives::Flag => "1 if it stored, else 0",
            Gives::Together => "lanes, high word of M",
            Gives::Predicate => "predicate",
        };
        let sizes: Vec<_> = row.sizes.iter().map(|size| size.name()).collect();
        // A bar would end the cell, in a code span too.
        let effect = row.effect.replace('|', "\\|");
        let (code, sizes) = (row.op as u8, sizes.join(" "));
        let _ = writeln!(table, "| {code} | {} | {effect} | {operands} | {gives} | {sizes} |", row.name);
    }
    table
}

#[test]
fn the_operation_table_is_up_to_date() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/spec.md");
    let page = std::fs::read_to_string(&path).expect("docs/spec.md can be read");
    let (before, rest) = page.split_once(BEGIN).expect("docs/spec.md has the marker of the table");
    let (_, after) = rest.split_once(END).expect("docs/spec.md has the marker behind the table");
    let expected = format!("{before}{BEGIN}{}{END}{after}", table());
    expect_file![&path].assert_eq(&expected);
}
