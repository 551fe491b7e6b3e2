//! Messages and positions of problems in PTX.

use atoms_isa::ptx::{Module, snippet};
use atoms_isa::{Arch, Problem, Program, TextError};

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// An expected problem: line counted from the first line of the case, column, message, part of the help.
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

/// Columns: statements of a kernel, expected problems.
#[rustfmt::skip]
const BODIES: &[(&str, &[Said])] = &[
    // Rows on opcodes and modifiers.
    ("adx.s32 %r1, %r2, %r3;",          &[(1, 1, "unknown opcode `adx`", "the nearest known one is `add`")]),
    ("@%p1 brs L;\nL: ret;",            &[(1, 6, "unknown opcode `brs`", "`bra`")]),
    ("atoms.shared.add.u32 _, [8], 1;", &[(1, 1, "unknown opcode `atoms`", "`atom`")]),
    ("add. %r1, %r2, %r3;",             &[(1, 5, "expected a modifier, found ` `", "after the dot")]),
    // Rows on undeclared names and second declarations.
    ("add.s32 %r1, %r2, %r9;",          &[(1, 19, "register `%r9` is not declared", "the last declared one is `%r8`")]),
    ("add.s32 %rd1, %rx2, 1;",          &[(1, 15, "register `%rx2` is not declared", "the nearest declared ones are `%r0` and following")]),
    ("add.s32 %abcdef, 1, 2;",          &[(1, 9, "register `%abcdef` is not declared", "declare it first: .reg")]),
    ("mov.b32 %r9, %r9;\nmov.b32 %r9, 1;", &[(1, 9, "register `%r9` is not declared", "")]),
    ("{ .reg .b32 t; }\nmov.b32 %r1, t;", &[(2, 14, "name `t` is not declared", "declare")]),
    (".reg .pred done;\n@dane ret;",    &[(2, 2, "register `dane` is not declared", "`done`")]),
    ("bra LOPP;\nLOOP: ret;",           &[(1, 5, "label `LOPP` is not declared", "`LOOP`")]),
    ("{ IN: ret; }\nbra IN;",           &[(2, 5, "label `IN` is not declared", "inside a block")]),
    ("bra NOWHERE;",                    &[(1, 5, "label `NOWHERE` is not declared", "write the label NAME:")]),
    ("t: .branchtargets L, M;\nL: ret;",&[(1, 22, "label `M` is not declared", "")]),
    ("ld.shared.u32 %r1, [bufx+4];",    &[(1, 21, "variable `bufx` is not declared", "`buf`")]),
    ("mov.u32 %r1, buff;",              &[(1, 14, "name `buff` is not declared", "`buf`")]),
    ("mov.u32 %r1, buff+4;",            &[(1, 14, "variable `buff` is not declared", "`buf`")]),
    ("call fooo, (%r1);",               &[(1, 6, "function `fooo` is not declared", "`foo`")]),
    (".reg .b32 %r<4>;",                &[(1, 11, "a second declaration of `%r<4>`", "must differ")]),
    (".reg .b32 %r4;",                  &[(1, 11, "a second declaration of `%r4`", "must differ")]),
    (".reg .b32 b7;\n.reg .b32 b<8>;",  &[(2, 11, "a second declaration of `b<8>`", "must differ")]),
    (".reg .b32 buf;",                  &[(1, 11, "a second declaration of `buf`", "must differ")]),
    (".shared .b32 buf[4];",            &[(1, 14, "a second declaration of `buf`", "must differ")]),
    ("L: L: ret;",                      &[(1, 4, "a second label `L`", "{ } around")]),
    // Rows on missing ends.
    ("add.s32 %r1, %r2, %r3\nret;",     &[(1, 22, "expected a comma or a semicolon, found `ret`", "with ;")]),
    ("add.s32 %r1, %r2, %r3 // c\n",    &[(1, 22, "expected a comma or a semicolon, found `}`", "with ;")]),
    ("add.s32 %r1 %r2;",                &[(1, 12, "expected a comma or a semicolon, found `%r2`", "commas")]),
    ("{ ret;",                          &[(0, 1, "{ has no matching }", "}")]),
    ("/* foo\nret;",                    &[(1, 1, "comment is not closed", "*/")]),
    (".pragma \"foo;\nret;",            &[(1, 9, "string is not closed", "\""), (2, 1, "expected a semicolon, found `ret`", ";")]),
    ("ld.u32 %r1, [%rd1;\nret;",        &[(1, 18, "expected + or ], found `;`", "[%r1+4]")]),
    ("mov.b64 %rd1, {%r1, %r2;",        &[(1, 24, "expected a comma or }, found `;`", "}")]),
    // Rows on operands.
    ("add.s32 %r1, %r2, ;",             &[(1, 19, "expected an operand, found `;`", "registers (%r1)")]),
    ("mov.u32 %r1, \"x\";",             &[(1, 14, "expected an operand, found `\"`", "")]),
    ("mov.b64 %rd1, {%r1, {%r2}};",     &[(1, 21, "expected an operand, found `{`", "")]),
    ("mov.b32 %r1, 0x;",                &[(1, 14, "`0x` is not a number", "0x1f")]),
    ("mov.f32 %r1, 0f3F8;",             &[(1, 14, "`0f3F8` is not a number", "eight digits")]),
    ("mov.u32 %r1, 089;",               &[(1, 14, "`089` is not a number", "017")]),
    ("mov.u32 %r1, 12ab;",              &[(1, 14, "`12ab` is not a number", "")]),
    ("mov.u64 %rd1, 99999999999999999999;", &[(1, 15, "`99999999999999999999` does not fit in 64 bits", "")]),
    ("mov.u32 %r1, %tid.q;",            &[(1, 18, "part .q of `%tid` does not exist", ".x, .y")]),
    ("mov.u32 %r1, %laneid.x;",         &[(1, 21, "part .x of `%laneid` does not exist", "%ctaid")]),
    ("mov.u32 %r1, %r2.x;",             &[(1, 17, "part .x of a register that is not a vector", ".v2")]),
    (".reg .v2 .b32 v;\nmov.b32 v.z, 1;", &[(2, 10, "a vector of 2 has no part .z", ".x and .y")]),
    ("mov.b32 %r1, !buf;",              &[(1, 15, "! before an operand that is not a register", "!%p1")]),
    ("ld.u32 %r1, [%tid.x];",           &[(1, 14, "`%tid.x` cannot be an address", "[4]")]),
    ("ld.u32 %r1, [1.5];",              &[(1, 14, "an address is not a float", "[4]")]),
    ("ld.u32 %r1, [%r1+%r2];",          &[(1, 18, "expected a number of bytes, found `%r2`", "+16")]),
    ("ld.u32 %r1, [%r1*4];",            &[(1, 17, "expected + or ], found `*`", "")]),
    ("@%r1 ret;",                       &[(1, 2, "the guard `%r1` is not a predicate", ".pred")]),
    ("@ bra L;\nL:",                    &[(1, 3, "expected a predicate, found `bra`", "@!")]),
    ("@!buf ret;",                      &[(1, 3, "the guard `buf` is not a predicate", "@!")]),
    ("\u{e9}\u{e9} ret;\nnop;",         &[(1, 1, "expected an instruction, found `\u{e9}`", "labels NAME:"), (2, 1, "unknown opcode `nop`", "")]),
    // Rows on directives and declarations.
    (".regs .b32 %x;",                  &[(1, 1, "directive .regs is not supported", "is .reg")]),
    (".reg .q32 %x;",                   &[(1, 6, "unknown type .q32", "the nearest is .b32")]),
    (".reg %x;",                        &[(1, 6, "expected a type, found `%x`", ".b32")]),
    (".reg .b32 ;",                     &[(1, 11, "expected a name, found `;`", "letter")]),
    (".reg .b32 %y<4000000000>;",       &[(1, 11, "4000000000 registers `%y` are too many for a text of this length", "at most")]),
    (".reg .b32 %y<5000000000>;",       &[(1, 14, "expected a number of at most 32 bits, found `5000000000`", "16")]),
    (".reg .v2 .b32 %y<5>;",            &[(1, 15, "vector registers cannot be declared by their number", "one by one")]),
    (".shared .align 3 .b8 x[4];",      &[(1, 16, "an alignment of 3 bytes is illegal", "a power of two")]),
    (".shared .b8 z[];",                &[(1, 13, "`z` has no size", ".extern")]),
    (".shared .b8 z[4;",                &[(1, 16, "expected ], found `;`", "]")]),
    (".shared .b8 z[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];", &[(1, 13, "`z` has too many dimensions", "16")]),
];

#[test]
fn each_problem_of_a_body_is_named_with_its_place() {
    for (statements, said) in BODIES {
        let text = format!(
            "{HEAD}.func foo;\n.entry k(.param .u64 a) {{\n.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;\n\
             .shared .b32 buf[4];\n{{\n{statements}\n}}\nret;\n}}\n"
        );
        // An inner block may declare the names of the kernel again, so these cases have no inner block.
        let text = if said.iter().any(|s| s.2.starts_with("a second") || s.2.starts_with("{ has")) {
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

/// Columns: text that follows the three lines of `HEAD`, expected problems. Lines are counted from the first
/// line after `HEAD`.
#[rustfmt::skip]
const MODULES: &[(&str, &[Said])] = &[
    (".entry k() { ret; }\n.entry k() { ret; }\n.global .b32 k;", &[(2, 8, "a second declaration of `k`", ""), (3, 14, "a second declaration of `k`", "")]),
    (".global .b32 x;\n.global .b32 x;",   &[(2, 14, "a second declaration of `x`", "")]),
    (".entry k(.param .u32 a, .param .u32 a) { }", &[(1, 37, "a second declaration of `a`", "")]),
    (".alias a, b;",                       &[(1, 1, "directive .alias is not supported", "")]),
    (".visible .enty k() { ret; }\n.entry l() { nop; }", &[(1, 10, "directive .enty is not supported", ".entry"), (2, 14, "unknown opcode `nop`", "")]),
    (".entry k(.param .u6 x) { ret; }",    &[(1, 17, "unknown type .u6", ".u64")]),
    (".entry k(.reg .u64 x) { ret; }",     &[(1, 10, "a parameter cannot be in state space .reg", ".param .u64")]),
    (".entry k() .maxntidd 5 { ret; }",    &[(1, 12, "directive .maxntidd is not supported", ".maxntid")]),
    (".entry k() { ret;\n.visible .entry l() { ret; }", &[(1, 12, "{ has no matching }", "}")]),
    (".entry k() { ret; } }",              &[(1, 21, "a } without a matching {", "remove it")]),
    (".entry k() { ret;",                  &[(1, 12, "{ has no matching }", "}")]),
    (".section .debug { .b8 1",            &[(1, 17, "{ has no matching }", "}")]),
    (".entry k()",                         &[(1, 11, "expected a semicolon, found the end of the text", ";")]),
    ("int main() { return 0; }",           &[(1, 1, "`int` outside a function", ".entry")]),
    ("\0",                                 &[(1, 1, "character U+0000 outside a function", "")]),
    (".global .texref t;",                 &[(1, 9, "variables of type .texref are not supported", "textures")]),
    (".global .u32 x[2] = {1,2,3};",       &[(1, 14, "`x` has 2 elements, but 3 initial values", "larger")]),
    (".global .u32 x = {{1}};\n.global .q y;", &[(1, 19, "braces of initial values are nested too deeply", ""), (2, 9, "unknown type .q", "")]),
    (".global .u8 x = 1.5;",               &[(1, 17, "a float as initial value of an element that is not a float", "bits")]),
    (".global .u8 x = x;",                 &[(1, 17, "an address does not fit in an element of 8 bits", ".u64")]),
    (".global .u64 x = {nope};",           &[(1, 19, "variable `nope` is not declared", "")]),
    (".global .u64 x[2] = {1 2};",         &[(1, 24, "expected a comma or }, found `2`", "")]),
    (".global .u64 x = \"abc\";",          &[(1, 18, "expected an initial value, found `\"`", "generic(NAME)")]),
    (".global .b32 x[4000000000][2000000000] = {{1},{2}};", &[(1, 42, "too many elements without an initial value before later rows", "")]),
    (".global .attribute( .b32 x;",        &[(1, 26, "expected a comma or ), found `x`", ".managed")]),
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

/// Columns: complete text, expected problems.
#[rustfmt::skip]
const TEXTS: &[(&str, &[Said])] = &[
    ("",                                        &[(1, 1, "the text does not state its PTX version", ".version 8.0")]),
    (".version 8.0\n",                          &[(1, 1, "the text does not state its architecture", ".target sm_90")]),
    (".version 8.0\n.target debug\n",          &[(1, 1, "the text does not state its architecture", ".target sm_90")]),
    (".version 99.9\n.target sm_90\n",          &[(1, 10, "PTX version 99.9 is not known", "up to 9.5")]),
    (".version 9.6\n.target sm_90\n",           &[(1, 10, "PTX version 9.6 is not known", "up to 9.5")]),
    (".version 7.9\n.target sm_90\n",           &[(1, 10, "PTX version 7.9 is not known", "up to 9.5")]),
    (".version 0.5\n.target sm_90\n",           &[(1, 10, "PTX version 0.5 is not known", "up to 9.5")]),
    (".version 8\n.target sm_90\n",             &[(1, 10, "expected a version number", ".version 8.0")]),
    (".version 8.0\n.target sm_13\n",           &[(2, 9, "architecture `sm_13` is not supported", "sm_20 to sm_129")]),
    (".version 8.0\n.target\n.address_size 64", &[(3, 1, "expected an architecture, found `.`", "sm_90")]),
    (".version 8.0\n.target sm_90\n.address_size 32", &[(3, 15, "addresses of 32 bits are not supported", ".address_size 64")]),
];

#[test]
fn texts_that_are_no_modules() {
    for (text, said) in TEXTS {
        let error = Module::parse("test.ptx", text).expect_err(text);
        compare(text, 0, &error, said);
    }
}

/// PTX for an architecture that is too early for translation is translated for a later one, unless the early
/// one is requested.
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
        assert_eq!(problem.message, "PTX cannot be translated for sm_61");
        assert!(problem.help.contains("omit the architecture to translate for sm_70"), "{}", problem.help);
    }
}

#[test]
fn loose_instructions_with_something_wrong() {
    #[rustfmt::skip]
    let rows: &[(&str, &[Said])] = &[
        ("atm.shared.add.u32 %r1, [%r2], 1;", &[(1, 1, "unknown opcode `atm`", "`atom`")]),
        ("bra NOWHERE;",                      &[(1, 5, "label `NOWHERE` is not declared", "")]),
        ("add.s32 %r1, %r2 %r3;",             &[(1, 17, "expected a comma or a semicolon, found `%r3`", "")]),
        ("ret; }",                            &[(1, 6, "a } without a matching {", "")]),
        ("{ ret;",                            &[(1, 1, "{ has no matching }", "")]),
        (".version 8.0\n.target sm_90",       &[(1, 1, "`.` among loose instructions", "complete module")]),
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
    for part in ["unknown opcode `nope`", "unknown type .q", "label `L`", "register `%r1`", "test.ptx"] {
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
