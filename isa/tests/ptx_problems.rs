//! Messages and positions of problems in PTX.

use atoms_isa::ptx::{Module, snippet};
use atoms_isa::{Arch, Problem, Program, TextError};

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Line counted from the first of the case, column, message, part of the help.
type Said = (u32, u32, &'static str, &'static str);

fn compare(text: &str, before: u32, error: &TextError, said: &[Said]) {
    let found: Vec<_> = error
        .problems
        .iter()
        .map(|p| (p.line.saturating_sub(before), p.column, p.message.as_str()))
        .collect();
    let expected: Vec<_> = said.iter().map(|s| (s.0, s.1, s.2)).collect();
    assert_eq!(found, expected, "{text}");
    for (problem, said) in error.problems.iter().zip(said) {
        assert!(problem.help.contains(said.3), "{text}\n{}", problem.help);
    }
}

/// Statements of a kernel, and the expected problems.
#[rustfmt::skip]
const BODIES: &[(&str, &[Said])] = &[
    // Opcodes and modifiers.
    ("adx.s32 %r1, %r2, %r3;",          &[(1, 1, "unknown opcode `adx`", "the nearest known one is `add`")]),
    ("@%p1 brs L;\nL: ret;",            &[(1, 6, "unknown opcode `brs`", "`bra`")]),
    ("atoms.shared.add.u32 _, [8], 1;", &[(1, 1, "unknown opcode `atoms`", "`atom`")]),
    ("add. %r1, %r2, %r3;",             &[(1, 5, "` ` where a modifier should be", "after the dot")]),
    // Names.
    ("add.s32 %r1, %r2, %r9;",          &[(1, 19, "register `%r9` is not declared", "the last one declared is `%r8`")]),
    ("add.s32 %rd1, %rx2, 1;",          &[(1, 15, "register `%rx2` is not declared", "the nearest ones declared are `%r0` and following")]),
    ("add.s32 %abcdef, 1, 2;",          &[(1, 9, "register `%abcdef` is not declared", "declare it first: .reg")]),
    ("mov.b32 %r9, %r9;\nmov.b32 %r9, 1;", &[(1, 9, "register `%r9` is not declared", "")]),
    ("{ .reg .b32 t; }\nmov.b32 %r1, t;", &[(2, 14, "name `t` is not declared", "declare")]),
    (".reg .pred done;\n@dane ret;",    &[(2, 2, "register `dane` is not declared", "`done`")]),
    ("bra LOPP;\nLOOP: ret;",           &[(1, 5, "label `LOPP` is not declared", "`LOOP`")]),
    ("{ IN: ret; }\nbra IN;",           &[(2, 5, "label `IN` is not declared", "inside a block")]),
    ("bra NOWHERE;",                    &[(1, 5, "label `NOWHERE` is not declared", "put NAME:")]),
    ("t: .branchtargets L, M;\nL: ret;",&[(1, 22, "label `M` is not declared", "")]),
    ("ld.shared.u32 %r1, [bufx+4];",    &[(1, 21, "variable `bufx` is not declared", "`buf`")]),
    ("mov.u32 %r1, buff;",              &[(1, 14, "name `buff` is not declared", "`buf`")]),
    ("mov.u32 %r1, buff+4;",            &[(1, 14, "variable `buff` is not declared", "`buf`")]),
    ("call fooo, (%r1);",               &[(1, 6, "function `fooo` is not declared", "`foo`")]),
    (".reg .b32 %r<4>;",                &[(1, 11, "a second `%r<4>`", "names differ")]),
    (".reg .b32 %r4;",                  &[(1, 11, "a second `%r4`", "names differ")]),
    (".reg .b32 b7;\n.reg .b32 b<8>;",  &[(2, 11, "a second `b<8>`", "names differ")]),
    (".reg .b32 buf;",                  &[(1, 11, "a second `buf`", "names differ")]),
    (".shared .b32 buf[4];",            &[(1, 14, "a second `buf`", "names differ")]),
    ("L: L: ret;",                      &[(1, 4, "a second label `L`", "{ } around")]),
    // Missing ends.
    ("add.s32 %r1, %r2, %r3\nret;",     &[(1, 22, "`ret` where a comma or a semicolon should be", "with ;")]),
    ("add.s32 %r1, %r2, %r3 // c\n",    &[(1, 22, "`}` where a comma or a semicolon should be", "with ;")]),
    ("add.s32 %r1 %r2;",                &[(1, 12, "`%r2` where a comma or a semicolon should be", "commas")]),
    ("{ ret;",                          &[(0, 1, "{ is not closed", "}")]),
    ("/* foo\nret;",                    &[(1, 1, "comment is not closed", "*/")]),
    (".pragma \"foo;\nret;",            &[(1, 9, "string is not closed", "\""), (2, 1, "`ret` where a semicolon should be", ";")]),
    ("ld.u32 %r1, [%rd1;\nret;",        &[(1, 18, "`;` where + or ] should be", "[%r1+4]")]),
    ("mov.b64 %rd1, {%r1, %r2;",        &[(1, 24, "`;` where a comma or } should be", "}")]),
    // Operands.
    ("add.s32 %r1, %r2, ;",             &[(1, 19, "`;` where an operand should be", "registers (%r1)")]),
    ("mov.u32 %r1, \"x\";",             &[(1, 14, "`\"` where an operand should be", "")]),
    ("mov.b64 %rd1, {%r1, {%r2}};",     &[(1, 21, "`{` where an operand should be", "")]),
    ("mov.b32 %r1, 0x;",                &[(1, 14, "`0x` is not a number", "0x1f")]),
    ("mov.f32 %r1, 0f3F8;",             &[(1, 14, "`0f3F8` is not a number", "eight digits")]),
    ("mov.u32 %r1, 089;",               &[(1, 14, "`089` is not a number", "017")]),
    ("mov.u32 %r1, 12ab;",              &[(1, 14, "`12ab` is not a number", "")]),
    ("mov.u64 %rd1, 99999999999999999999;", &[(1, 15, "`99999999999999999999` does not fit in 64 bits", "")]),
    ("mov.u32 %r1, %tid.q;",            &[(1, 18, "no part .q of `%tid`", ".x, .y")]),
    ("mov.u32 %r1, %laneid.x;",         &[(1, 21, "no part .x of `%laneid`", "%ctaid")]),
    ("mov.u32 %r1, %r2.x;",             &[(1, 17, "a part .x of a register that is no vector", ".v2")]),
    (".reg .v2 .b32 v;\nmov.b32 v.z, 1;", &[(2, 10, "no part .z of a vector of 2", ".x and .y")]),
    ("mov.b32 %r1, !buf;",              &[(1, 15, "! before what is no register", "!%p1")]),
    ("ld.u32 %r1, [%tid.x];",           &[(1, 14, "`%tid.x` cannot be an address", "[4]")]),
    ("ld.u32 %r1, [1.5];",              &[(1, 14, "an address is no float", "[4]")]),
    ("ld.u32 %r1, [%r1+%r2];",          &[(1, 18, "`%r2` where a number of bytes should be", "+16")]),
    ("ld.u32 %r1, [%r1*4];",            &[(1, 17, "`*` where + or ] should be", "")]),
    ("@%r1 ret;",                       &[(1, 2, "the guard `%r1` is no predicate", ".pred")]),
    ("@ bra L;\nL:",                    &[(1, 3, "`bra` where a predicate should be", "@!")]),
    ("@!buf ret;",                      &[(1, 3, "the guard `buf` is no predicate", "@!")]),
    ("\u{e9}\u{e9} ret;\nnop;",         &[(1, 1, "`\u{e9}` where an instruction should be", "labels NAME:"), (2, 1, "unknown opcode `nop`", "")]),
    // Directives and declarations.
    (".regs .b32 %x;",                  &[(1, 1, "directive .regs is not one that is read here", "is .reg")]),
    (".reg .q32 %x;",                   &[(1, 6, "no such type as .q32", "the nearest is .b32")]),
    (".reg %x;",                        &[(1, 6, "`%x` where a type should be", ".b32")]),
    (".reg .b32 ;",                     &[(1, 11, "`;` where a name should be", "letter")]),
    (".reg .b32 %y<4000000000>;",       &[(1, 11, "4000000000 registers `%y` are more than a text of this length can use", "at most")]),
    (".reg .b32 %y<5000000000>;",       &[(1, 14, "`5000000000` where a number of 32 bits should be", "16")]),
    (".reg .v2 .b32 %y<5>;",            &[(1, 15, "vector registers declared by their number", "one by one")]),
    (".shared .align 3 .b8 x[4];",      &[(1, 16, "an alignment of 3 bytes", "powers of two")]),
    (".shared .b8 z[];",                &[(1, 13, "`z` has no size", ".extern")]),
    (".shared .b8 z[4;",                &[(1, 16, "`;` where ] should be", "]")]),
    (".shared .b8 z[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];", &[(1, 13, "`z` has too many dimensions", "16")]),
];

#[test]
fn each_problem_of_a_body_is_named_with_its_place() {
    for (statements, said) in BODIES {
        let text = format!(
            "{HEAD}.func foo;\n.entry k(.param .u64 a) {{\n.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;\n\
             .shared .b32 buf[4];\n{{\n{statements}\n}}\nret;\n}}\n"
        );
        // An inner block may declare the kernel's names again, so these cases omit the inner block.
        let text = if said.iter().any(|s| s.2.starts_with("a second") || s.2.starts_with("{ is")) {
            text.replacen("[4];\n{\n", "[4];\n\n", 1).replacen("\n}\nret;\n}\n", "\n\nret;\n}\n", 1)
        } else {
            text
        };
        let error = Module::parse("test.ptx", &text).expect_err(statements);
        let said: Vec<_> = said.iter().map(|s| if s.0 == 0 { (0, 25, s.2, s.3) } else { *s }).collect();
        let before = if said[0].0 == 0 { 5 } else { 8 };
        compare(&text, before, &error, &said);
    }
}

/// Text after a head of three lines, and the expected problems. Lines are counted from the first one after
/// the head.
#[rustfmt::skip]
const MODULES: &[(&str, &[Said])] = &[
    (".entry k() { ret; }\n.entry k() { ret; }\n.global .b32 k;", &[(2, 8, "a second `k`", ""), (3, 14, "a second `k`", "")]),
    (".global .b32 x;\n.global .b32 x;",   &[(2, 14, "a second `x`", "")]),
    (".entry k(.param .u32 a, .param .u32 a) { }", &[(1, 37, "a second `a`", "")]),
    (".alias a, b;",                       &[(1, 1, "directive .alias is not one that is read here", "")]),
    (".visible .enty k() { ret; }\n.entry l() { nop; }", &[(1, 10, "directive .enty is not one that is read here", ".entry"), (2, 14, "unknown opcode `nop`", "")]),
    (".entry k(.param .u6 x) { ret; }",    &[(1, 17, "no such type as .u6", ".u64")]),
    (".entry k(.reg .u64 x) { ret; }",     &[(1, 10, "a parameter in state space .reg", ".param .u64")]),
    (".entry k() .maxntidd 5 { ret; }",    &[(1, 12, "directive .maxntidd is not one that is read here", ".maxntid")]),
    (".entry k() { ret;\n.visible .entry l() { ret; }", &[(1, 12, "{ is not closed", "}")]),
    (".entry k() { ret; } }",              &[(1, 21, "a } without its {", "remove it")]),
    (".entry k() { ret;",                  &[(1, 12, "{ is not closed", "}")]),
    (".section .debug { .b8 1",            &[(1, 17, "{ is not closed", "}")]),
    (".entry k()",                         &[(1, 11, "the end of the text where a semicolon should be", ";")]),
    ("int main() { return 0; }",           &[(1, 1, "`int` outside a function", ".entry")]),
    ("\0",                                 &[(1, 1, "character U+0000 outside a function", "")]),
    (".global .texref t;",                 &[(1, 9, "variables of type .texref are not read here", "textures")]),
    (".global .u32 x[2] = {1,2,3};",       &[(1, 14, "3 initial values for the 2 elements of `x`", "larger")]),
    (".global .u32 x = {{1}};\n.global .q y;", &[(1, 19, "too many braces inside each other", ""), (2, 9, "no such type as .q", "")]),
    (".global .u8 x = 1.5;",               &[(1, 17, "a float in an element that is none", "bits")]),
    (".global .u8 x = x;",                 &[(1, 17, "an address in an element of 8 bits", ".u64")]),
    (".global .u64 x = {nope};",           &[(1, 19, "variable `nope` is not declared", "")]),
    (".global .u64 x[2] = {1 2};",         &[(1, 24, "`2` where a comma or } should be", "")]),
    (".global .u64 x = \"abc\";",          &[(1, 18, "`\"` where an initial value should be", "generic(NAME)")]),
    (".global .b32 x[4000000000][2000000000] = {{1},{2}};", &[(1, 42, "too many initial values that are not written", "")]),
    (".global .attribute( .b32 x;",        &[(1, 26, "`x` where a comma or ) should be", ".managed")]),
    (".target sm_80",                      &[(1, 1, "a second .target", "split")]),
];

#[test]
fn each_problem_of_a_module_is_named_with_its_place() {
    for (module, said) in MODULES {
        let text = format!("{HEAD}{module}");
        let error = Module::parse("test.ptx", &text).expect_err(module);
        compare(&text, 3, &error, said);
    }
}

/// Whole texts, and the expected problems.
#[rustfmt::skip]
const TEXTS: &[(&str, &[Said])] = &[
    ("",                                        &[(1, 1, "the text does not name its version of PTX", ".version 8.0")]),
    (".version 8.0\n",                          &[(1, 1, "the text does not name its architecture", ".target sm_90")]),
    (".version 8.0\n.target debug\n",          &[(1, 1, "the text does not name its architecture", ".target sm_90")]),
    (".version 99.9\n.target sm_90\n",          &[(1, 10, "there is no PTX version 99.9", "up to 9.5")]),
    (".version 9.6\n.target sm_90\n",           &[(1, 10, "there is no PTX version 9.6", "up to 9.5")]),
    (".version 7.9\n.target sm_90\n",           &[(1, 10, "there is no PTX version 7.9", "up to 9.5")]),
    (".version 0.5\n.target sm_90\n",           &[(1, 10, "there is no PTX version 0.5", "up to 9.5")]),
    (".version 8\n.target sm_90\n",             &[(1, 10, "no version number", ".version 8.0")]),
    (".version 8.0\n.target sm_13\n",           &[(2, 9, "architecture `sm_13` is not one of those read here", "sm_20 to sm_129")]),
    (".version 8.0\n.target\n.address_size 64", &[(3, 1, "`.` where an architecture should be", "sm_90")]),
    (".version 8.0\n.target sm_90\n.address_size 32", &[(3, 15, "addresses of 32 bits", ".address_size 64")]),
];

#[test]
fn texts_that_are_no_modules() {
    for (text, said) in TEXTS {
        let error = Module::parse("test.ptx", text).expect_err(text);
        compare(text, 0, &error, said);
    }
}

/// PTX for an architecture without translation runs on a later one, unless this architecture is requested.
#[test]
fn earlier_targets_go_forward() {
    let translated = |target: &str, asked: Option<&str>| {
        let text = format!(".version 4.3\n.target {target}\n.entry k() {{ ret; }}");
        let arch = asked.map(|name| Arch::from_name(name).expect(name));
        let program = Program::from_ptx("test.ptx", &text, arch).map_err(|e| e.problems[0].clone())?;
        assert!(program.kernels.iter().all(|kernel| kernel.arch == program.arch));
        Ok((program.arch.to_string(), program.forward_of.map(|arch| arch.to_string())))
    };
    for target in ["sm_20", "sm_30", "sm_37", "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62"] {
        assert_eq!(translated(target, None), Ok(("sm_70".into(), Some(target.into()))));
    }
    assert_eq!(translated("sm_52", Some("sm_90a")), Ok(("sm_90a".into(), None)));
    assert_eq!(translated("sm_72", None), Ok(("sm_72".into(), None)));
    for target in ["sm_52", "sm_80"] {
        let problem: Problem = translated(target, Some("sm_61")).expect_err(target);
        assert_eq!(problem.message, "PTX is not translated for sm_61");
        assert!(problem.help.contains("name none, and it runs as sm_70"), "{}", problem.help);
    }
}

#[test]
fn loose_instructions_with_something_wrong() {
    #[rustfmt::skip]
    let rows: &[(&str, &[Said])] = &[
        ("atm.shared.add.u32 %r1, [%r2], 1;", &[(1, 1, "unknown opcode `atm`", "`atom`")]),
        ("bra NOWHERE;",                      &[(1, 5, "label `NOWHERE` is not declared", "")]),
        ("add.s32 %r1, %r2 %r3;",             &[(1, 17, "`%r3` where a comma or a semicolon should be", "")]),
        ("ret; }",                            &[(1, 6, "a } without its {", "")]),
        ("{ ret;",                            &[(1, 1, "{ is not closed", "")]),
        (".version 8.0\n.target sm_90",       &[(1, 1, "`.` among loose instructions", "whole module")]),
    ];
    for (text, said) in rows {
        compare(text, 0, &snippet(text).expect_err(text), said);
    }
}

#[test]
fn all_problems_are_reported_together() {
    let text = format!(
        "{HEAD}.entry k() {{\nnope;\nret;\n.reg .q r;\nbra L;\n}}\n.entry l() {{ add.s32 %r1, 1, 2; }}\n"
    );
    let error = Module::parse("test.ptx", &text).unwrap_err();
    assert_eq!(error.problems.iter().map(|p| p.line).collect::<Vec<_>>(), [5, 7, 8, 10]);
    let report = format!("{:?}", miette::Report::new(error));
    for part in ["unknown opcode `nope`", "no such type as .q", "label `L`", "register `%r1`", "test.ptx"] {
        assert!(report.contains(part), "{report}");
    }
}

#[test]
fn reading_stops_after_some_hundreds_of_problems() {
    let text = format!("{HEAD}.entry k() {{\n{}\n}}", "nope;\n".repeat(5000));
    let error = Module::parse("test.ptx", &text).unwrap_err();
    assert_eq!(error.problems.len(), 200);
    assert!(error.to_string().ends_with("reading stopped here"), "{error}");
    let listing = format!(".target sm_80\n.section .text.k,\"ax\"\n{}", "NOPE ;\n".repeat(5000));
    assert_eq!(atoms_isa::Program::parse("test.sass", &listing).unwrap_err().problems.len(), 200);
}
