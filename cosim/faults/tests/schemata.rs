//! Tests the source parser and the inserted switches.

use std::fs;
use std::path::Path;

use atoms_faults::schemata::{DataFlow, MutationOperator, Schemata, SiteKind, SwitchProcess};

const WEAVE: SwitchProcess<'_> = SwitchProcess {
    top: "top",
    clock: "clk_i",
    set: "set_i",
    close: "1'b0",
    site: "site_i",
    value: "value_i",
    meanwhile: "value_i",
    from: "12'd0",
    to: "12'd0",
};

fn one(text: &str) -> [(String, String); 1] {
    [("top.sv".to_owned(), text.to_owned())]
}

fn schemata(items: &str) -> Schemata {
    let text = format!(
        "module top (input logic clk_i, input logic a, input logic b, output logic y);\n{items}\nendmodule\n"
    );
    WEAVE.apply(&one(&text)).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the sources of the checkout, in the order of `atoms.f`.
fn sources() -> Vec<(String, String)> {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    let read =
        |name: &str| fs::read_to_string(rtl.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let list = read("atoms.f");
    list.lines().filter(|line| line.ends_with(".sv")).map(|name| (name.to_owned(), read(name))).collect()
}

type Sites = &'static [(SiteKind, &'static str)];

#[rustfmt::skip]
const SITES: &[(&str, &str, Sites)] = &[
    // rule                                 item                                           sites
    ("operands before their operator",      "assign y = a && !b;",                         &[(SiteKind::Condition, "a"), (SiteKind::Condition, "b"), (SiteKind::Logic("&&"), "a && !b"), (SiteKind::Value, "a && !b")]),
    ("what binds more comes first",         "assign y = a | b & a;",                       &[(SiteKind::Mask("&"), "b & a"), (SiteKind::Mask("|"), "a | b & a"), (SiteKind::Value, "a | b & a")]),
    ("a condition chooses",                 "assign y = a ? 1'b1 : b;",                    &[(SiteKind::Condition, "a"), (SiteKind::Fill, "1'b1"), (SiteKind::Value, "a ? 1'b1 : b")]),
    ("bounds of a range are constant",      "assign y = x[3:0] == 4'd2;",                  &[(SiteKind::Number, "4'd2"), (SiteKind::Condition, "x[3:0] == 4'd2"), (SiteKind::Value, "x[3:0] == 4'd2")]),
    ("an index is not",                     "assign y = x[3];",                            &[(SiteKind::Number, "3"), (SiteKind::Value, "x[3]")]),
    ("a register can keep its value",       "always_ff @(posedge clk_i) y <= a;",          &[(SiteKind::Statement, "y <= a;"), (SiteKind::Value, "a")]),
    ("what always has a value cannot",      "always_comb y = a;",                          &[(SiteKind::Value, "a")]),
    ("what has one from before can",        "always_comb begin y = a; if (b) y = 1'b0; end", &[(SiteKind::Value, "a"), (SiteKind::Condition, "b"), (SiteKind::Fill, "1'b0"), (SiteKind::Statement, "y = 1'b0;"), (SiteKind::Value, "1'b0")]),
    ("a loop's header is constant",         "always_comb for (int i = 0; i < 4; i++) y = a;", &[(SiteKind::Value, "a")]),
    ("a label is constant",                 "always_comb case (a) 1'b0: y = b; default: ; endcase", &[(SiteKind::Statement, "y = b;"), (SiteKind::Value, "b")]),
    ("verification is no part of it",       "`ifndef SYNTHESIS\nassign y = a && b;\n`endif",  &[]),
    ("the probe is none either",            "`ifdef ATOMS_PROBE\nassign y = a && b;\n`endif", &[]),
    ("nor is what a macro asserts",         "`ATOMS_ASSERT(Name, a && (b == \")\"))",         &[]),
    ("an enumeration is not made of bits",  "typedef enum logic { A, B } e; e z; assign z = a;", &[]),
    ("an unpacked array is not either",     "typedef logic t [4]; t z; assign z = a;",        &[]),
];

#[test]
fn sites_are_what_can_be_altered() {
    for (rule, item, expected) in SITES {
        let found: Vec<_> = schemata(item).sites.into_iter().map(|site| (site.kind, site.text)).collect();
        let found: Vec<_> = found.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        assert_eq!(found, *expected, "{rule}");
    }
}

#[test]
fn a_site_is_on_the_line_of_its_operator() {
    let found = schemata("assign y = a\n  && b;\nassign z = b\n  ? a\n  : b;");
    let lines: Vec<_> = found.sites.iter().map(|site| (site.kind, site.line)).collect();
    assert_eq!(lines[..3], [(SiteKind::Condition, 2), (SiteKind::Condition, 3), (SiteKind::Logic("&&"), 3)]);
    assert_eq!(lines[4], (SiteKind::Condition, 4));
}

/// Every operator has its own switch value, and a flip is one of the operators.
#[test]
fn operators_differ_from_each_other_and_from_the_text() {
    for site in WEAVE.apply(&sources()).expect("the checkout's RTL").sites {
        let mut values: Vec<u8> = site.operators().into_iter().map(|(value, _)| value).collect();
        assert!(values.iter().all(|value| (1..16).contains(value)), "{site:?}");
        let number = values.len();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), number, "{site:?}");
        if let Some((value, operator)) = site.flip(0) {
            assert!(site.operators().contains(&(value, operator)), "{site:?}");
        }
        if let Some([on, off]) = site.constants() {
            let named =
                |value| site.operators().into_iter().find(|(known, _)| *known == value).map(|(_, is)| is);
            assert_eq!(
                [named(on), named(off)],
                [Some(MutationOperator::AlwaysTrue), Some(MutationOperator::AlwaysFalse)]
            );
        }
    }
}

#[test]
fn the_whole_design_is_understood() {
    let sources = sources();
    let schemata = WEAVE.apply(&sources).unwrap_or_else(|error| panic!("{error}"));
    assert!(schemata.sites.len() > 1000, "{} sites", schemata.sites.len());
    for (name, text) in &sources {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines = text.lines().count();
        for site in schemata.sites.iter().filter(|site| site.file == *name) {
            assert!(
                words.contains(&site.text) && (1..=lines).contains(&site.line),
                "{name}:{}: `{}`",
                site.line,
                site.text
            );
        }
    }
}

#[test]
fn what_is_not_understood_says_where() {
    let error = WEAVE.apply(&one("module top;\n  assign y = ;\nendmodule")).expect_err("no expression");
    assert_eq!(error.to_string(), "top.sv: line 2: expected an expression, found `;`");
    let error = WEAVE.apply(&one("module top;\n  assign y = a;\n")).expect_err("no end");
    assert_eq!(error.to_string(), "top.sv: line 3: expected an item of a module, found the end of the file");
    let error = WEAVE.apply(&one("module top;\n`ifdef A\nendmodule")).expect_err("no end");
    assert_eq!(error.to_string(), "top.sv: line 3: expected `endif, found the end of the file");
    let error = WEAVE.apply(&one("module top;\n`else\nendmodule")).expect_err("no beginning");
    assert_eq!(error.to_string(), "top.sv: line 2: expected `ifdef before it, found `else");
}

const FLOW: &str = "\
module part (input logic in_i, output logic out_o);
  logic held_q;
  assign out_o = held_q;
  always_ff @(posedge clk_i) begin
    if (in_i) held_q <= other_q;
  end
endmodule
module top;
  function automatic logic twice(logic value);
    twice = value ^ value;
  endfunction
  part u_part (.in_i(twice(a)), .out_o(b));
  assign y = b;
  assign z = c;
endmodule
";

#[test]
fn distances_go_back_over_instances_functions_and_conditions() {
    let flow = DataFlow::read(&one(FLOW)).expect("it is understood");
    let found: Vec<_> =
        flow.distances("top", "y").into_iter().map(|((_, line), steps)| (line, steps)).collect();
    // Connections and copies count 2, assignments 10, a condition 5 more. The condition on line 5 controls
    // the register.
    assert_eq!(found, [(3, 6), (5, 8), (10, 20), (12, 4), (13, 2)]);
    assert!(flow.distances("top", "nowhere").is_empty());
}

fn altered(item: &str, text: &str, by: MutationOperator) -> String {
    let source = format!("module top (input logic clk_i);\n{item}\nendmodule\n");
    let schemata = WEAVE.apply(&one(&source)).unwrap_or_else(|error| panic!("{error}"));
    let mut sites = schemata.sites.iter();
    let site = sites.find(|site| site.text == text && site.operators().iter().any(|(_, one)| *one == by));
    let site = site.unwrap_or_else(|| panic!("`{text}` of `{item}` cannot be {by}"));
    site.altered_source(&source, by).lines().nth(1).unwrap_or_default().to_owned()
}

#[rustfmt::skip]
const ALTERED: &[(&str, &str, MutationOperator, &str)] = &[
    // item                                   site           operator                   becomes
    ("assign y = a ? b : c;",                 "a",           MutationOperator::Negated,         "assign y = !(a) ? b : c;"),
    ("assign y = a ? b : c;",                 "a",           MutationOperator::AlwaysTrue,      "assign y = 1'b1 ? b : c;"),
    ("assign y = a && b || c;",               "a && b",      MutationOperator::Operator("||"),  "assign y = ((a) || (b)) || c;"),
    ("assign y = a && b || c;",               "a && b",      MutationOperator::AlwaysFalse,     "assign y = 1'b0 || c;"),
    ("assign y = a && b || c;",               "a && b || c", MutationOperator::SecondOnly,      "assign y = (c);"),
    ("assign y = a < b;",                     "a < b",       MutationOperator::Operator("<="),  "assign y = ((a) <= (b));"),
    ("assign y = a + b;",                     "a + b",       MutationOperator::OneLess,         "assign y = (a + b - 1'b1);"),
    ("assign y = a == 4'd2;",                 "4'd2",        MutationOperator::OneMore,         "assign y = a == (4'd2 + 1'b1);"),
    ("assign y = a & ~b;",                    "~b",          MutationOperator::NotComplemented, "assign y = a & (b);"),
    ("assign y = a >> b;",                    "a >> b",      MutationOperator::NotShifted,      "assign y = (a);"),
    ("assign y = '1;",                        "'1",          MutationOperator::Inverted,        "assign y = '0;"),
    ("assign y = a;",                         "a",           MutationOperator::Inverted,        "assign y = ~(a);"),
    ("always_ff @(posedge clk_i) y <= a;",    "y <= a;",     MutationOperator::Dropped,         "always_ff @(posedge clk_i) ;"),
];

#[test]
fn an_altered_source_is_one_text() {
    for (item, text, by, expected) in ALTERED {
        assert_eq!(altered(item, text, *by), *expected);
    }
}
