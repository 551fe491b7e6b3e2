//! Text generated from the operation table: the operation package of the RTL, and the table in
//! `docs/spec.md`.

use std::fmt::Write as _;

use crate::{ClusterUse, Coalescing, Fault, OPS, Op, OpRow, Operands, ResultKind, Size};

/// Maximum line length of the generated RTL, in columns.
const WIDTH: usize = 100;

/// Appends an enum of port codes.
fn rtl_enum(text: &mut String, doc: &str, ty: &str, bits: u32, values: &[(&str, u8)]) {
    let widest = values.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let values: Vec<_> =
        values.iter().map(|(name, code)| format!("    {name:widest$} = {bits}'d{code}")).collect();
    let _ = write!(text, "\n  /// {doc}\n  typedef enum logic [{}:0] {{\n", bits - 1);
    let _ = write!(text, "{}\n  }} {ty};\n", values.join(",\n"));
}

/// Joins names with commas, in lines of at most [`WIDTH`] columns that begin at `indent`. `end` follows the
/// last name.
fn rtl_names(names: &[&str], indent: usize, end: &str) -> String {
    let mut lines = vec![" ".repeat(indent)];
    for (at, name) in names.iter().enumerate() {
        let word = format!("{name}{}", if at + 1 == names.len() { end } else { "," });
        let line = lines.last_mut().expect("there is a line");
        match line.trim_start().is_empty() {
            true => line.push_str(&word),
            false if line.len() + 1 + word.len() <= WIDTH => *line += &format!(" {word}"),
            false => lines.push(" ".repeat(indent) + &word),
        }
    }
    lines.join("\n")
}

/// Appends a function of an operation. It returns `value` for the operations of each arm, and `default` for
/// all others.
fn rtl_case(text: &mut String, doc: &[&str], head: &str, arms: &[(String, Vec<Op>)], default: &str) {
    let name = head.split([' ', '(']).nth(1).unwrap_or(head);
    text.push('\n');
    for line in doc {
        let _ = writeln!(text, "  /// {line}");
    }
    let _ = write!(text, "  function automatic {head};\n    unique case (op)\n");
    for (value, ops) in arms.iter().filter(|(_, ops)| !ops.is_empty()) {
        let names: Vec<_> = ops.iter().map(|op| op.rtl_name()).collect();
        let _ = writeln!(text, "{}", rtl_names(&names, 6, &format!(": {name} = {value};")));
    }
    let _ = write!(text, "      default: {name} = {default};\n    endcase\n  endfunction\n");
}

/// Operations whose row fulfils `wanted`, in order of code.
fn ops_with(wanted: impl Fn(&OpRow) -> bool) -> Vec<Op> {
    OPS.iter().filter(|row| wanted(row)).map(|row| row.op).collect()
}

/// Formats operations for an `inside` expression. Three or more successive codes become a range.
fn rtl_ranges(ops: &[Op]) -> String {
    let runs = ops.chunk_by(|a, b| *a as u8 + 1 == *b as u8).map(|run| match run {
        [first, .., last] if run.len() > 2 => format!("[{}:{}]", first.rtl_name(), last.rtl_name()),
        run => run.iter().map(|op| op.rtl_name()).collect::<Vec<_>>().join(", "),
    });
    runs.collect::<Vec<_>>().join(", ")
}

/// Kinds of results, in order of their codes in the RTL. The first kind is the default of the generated
/// function.
const RESULTS: [ResultKind; 6] = {
    use ResultKind::{Flag, MergedArrival, Nothing, Old, Predicate, State};
    [Nothing, Old, Flag, MergedArrival, Predicate, State]
};

/// Text of `rtl/atoms_op_pkg.sv`.
pub fn rtl_package() -> String {
    let mut text = String::from(
        "// Generated from the operation table, ops/src/lib.rs: edit that file, not this one.\n\
         /// Operations, sizes and faults as port codes, and what the operation table says of each operation.\n\
         package atoms_op_pkg;\n  import atoms_cfg_pkg::*;\n",
    );
    let text_of = &mut text;
    let doc =
        "Operation (spec 3). Codes from 16 on are the mbarrier operations of spec 6; 15 and 31 are free.";
    rtl_enum(text_of, doc, "op_e", 5, &Op::ALL.map(|op| (op.rtl_name(), op as u8)));
    let doc = "Width and signedness: log2 of the bytes in bits 2:0, signedness in bit 3.";
    rtl_enum(text_of, doc, "size_e", 4, &Size::ALL.map(|size| (size.rtl_name(), size as u8)));
    let doc = "Reason why a request touched no memory.";
    rtl_enum(text_of, doc, "fault_e", 2, &Fault::ALL.map(|fault| (fault.rtl_name(), fault as u8)));
    let doc = "Result that a request returns to each lane.";
    let results = RESULTS.map(|kind| format!("Result{kind:?}"));
    let codes: Vec<_> = results.iter().zip(0..).map(|(name, code)| (name.as_str(), code)).collect();
    rtl_enum(text_of, doc, "result_e", 3, &codes);

    let mut legal: Vec<(String, Vec<Op>)> = Vec::new();
    for row in OPS {
        let sizes: Vec<_> = row.sizes.iter().map(|size| size.rtl_name()).collect();
        let value = format!("size inside {{{}}}", sizes.join(", "));
        match legal.iter_mut().find(|(same, _)| *same == value) {
            Some((_, ops)) => ops.push(row.op),
            None => legal.push((value, vec![row.op])),
        }
    }
    let doc = ["Returns 1 if operation and size are a legal instruction (spec 3, both columns of sizes)."];
    rtl_case(text_of, &doc, "logic legal(op_e op, size_e size)", &legal, "1'b0");

    let cluster = |used| ops_with(move |row| row.cluster == used);
    let arms = [
        ("red".to_string(), cluster(ClusterUse::NoResult)),
        ("1'b0".to_string(), cluster(ClusterUse::Never)),
    ];
    let doc = [
        "Returns 1 if the cluster port accepts the operation (spec 6.7, 7.5). `red` is 1 if no result is",
        "wanted. Operations on mbarrier objects are legal only without a result, and some never.",
    ];
    rtl_case(text_of, &doc, "logic cluster_legal(op_e op, logic red)", &arms, "1'b1");

    let merged = |by| ops_with(move |row| row.coalescing == by);
    let arms = [
        ("1'b1".to_string(), merged(Coalescing::Always)),
        ("MergeArrive".to_string(), merged(Coalescing::MergeArrive)),
        ("MergeRed && red".to_string(), merged(Coalescing::MergeRed)),
    ];
    let doc =
        ["Returns 1 if one pass serves all lanes of one address: operands are merged, or the result shared."];
    rtl_case(text_of, &doc, "logic coalesces(op_e op, logic red)", &arms, "1'b0");

    let arms: Vec<_> = RESULTS
        .map(|kind| (format!("Result{kind:?}"), ops_with(|row| row.result == kind)))
        .into_iter()
        .skip(1)
        .collect();
    rtl_case(
        text_of,
        &["Returns the kind of result of an operation."],
        "result_e result_kind(op_e op)",
        &arms,
        &results[0],
    );

    type Set = (&'static str, &'static str, fn(&OpRow) -> bool);
    const SETS: [Set; 7] = [
        ("is_mbarrier", "Returns 1 if the operation works on an mbarrier object.", |row| {
            row.op.is_mbarrier()
        }),
        ("only_reads", "Returns 1 if the operation never changes memory.", |row| row.op.only_reads()),
        ("compares", "Returns 1 for compare-and-store operations.", |row| row.op.compares()),
        (
            "asks_phase",
            "Returns 1 if the operation tests if a phase of an mbarrier object is complete.",
            |row| row.op.asks_phase(),
        ),
        (
            "arrives_once",
            "Returns 1 if each lane arrives once at an mbarrier object, without an operand.",
            |row| row.op.arrives_once(),
        ),
        (
            "merges_operands",
            "Returns 1 if lanes without a result merge their operands (with MergeRed).",
            |row| row.coalescing == Coalescing::MergeRed,
        ),
        ("reads_c", "Returns 1 if the operation reads operand C.", |row| row.operands == Operands::BC),
    ];
    for (name, doc, wanted) in SETS {
        let ops = rtl_ranges(&ops_with(wanted));
        let _ = write!(text, "\n  /// {doc}\n  function automatic logic {name}(op_e op);\n");
        let _ = write!(text, "    {name} = op inside {{{ops}}};\n  endfunction\n");
    }
    text + "endpackage : atoms_op_pkg\n"
}

/// Operation table for `docs/spec.md`, in Markdown.
pub fn spec_table() -> String {
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
        let result = match row.result {
            ResultKind::Nothing => "-",
            ResultKind::Old => "M",
            ResultKind::Flag => "1 if it stored, else 0",
            ResultKind::State => "high word of M",
            ResultKind::MergedArrival => "lanes, high word of M",
            ResultKind::Predicate => "predicate",
        };
        let sizes: Vec<_> = row.sizes.iter().map(|size| size.name()).collect();
        // A bar ends a table cell even inside a code span.
        let effect = row.effect.replace('|', "\\|");
        let (code, sizes) = (row.op as u8, sizes.join(" "));
        let _ = writeln!(table, "| {code} | {} | {effect} | {operands} | {result} | {sizes} |", row.name);
    }
    table
}

/// Replaces the operation table in `page`, the text of `docs/spec.md`. Returns `None` if the markers are
/// missing.
pub fn with_spec_table(page: &str) -> Option<String> {
    const BEGIN: &str = "<!-- operations: generated from ops/src/lib.rs -->\n";
    const END: &str = "<!-- end -->";
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{}{END}{after}", spec_table()))
}
