//! Constructs of PTX and the form to which they are parsed, row by row.

use atoms_isa::Program;
use atoms_isa::ptx::{
    Base, Function, Initial, LabelId, Module, Operand, PtxGuard, PtxInstruction, RegId, StateSpace, Symbol,
    Type, Variable, snippet,
};

const HEAD: &str = ".version 8.0\n.target sm_90a\n.address_size 64\n";

fn module(text: &str) -> Module<'_> {
    Module::parse("test.ptx", text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Parses statements in a kernel with these declarations (index in parentheses): registers %p0..%p3 (0..3),
/// %r0..%r7 (4..11), %rd0..%rd3 (12..15), %f0, %f1 (16, 17), p, q (18, 19), v.x, v.y (20, 21); variables n, a
/// parameter (0), and s, an array (1). `g` and `f` are declared outside the function.
fn body<T>(statements: &str, see: impl FnOnce(&Function<'_>) -> T) -> T {
    let text = format!(
        "{HEAD}.global .b32 g[4];\n.func f(.param .b32 x);\n.entry k(.param .u32 n)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<2>; .reg .pred p, q; .reg .v2 .f32 v;\n\
         .shared .align 4 .b8 s[16];\n{statements}\n}}\n"
    );
    let module = module(&text);
    see(module.kernel("k").unwrap())
}

fn r(number: u32) -> Operand<'static> {
    Operand::Register(RegId(number))
}

fn at(base: Base, offset: i64) -> Operand<'static> {
    Operand::Address { base, offset }
}

const S: Symbol = Symbol::Local(1);
const REG: Base = Base::Register(RegId(5));

/// Columns: text of the operands, expected parsed operands.
#[test]
fn operands() {
    let pair = |a, b| Operand::Pair(Box::new([a, b]));
    let symbol = |symbol, offset| Operand::Symbol { symbol, offset };
    #[rustfmt::skip]
    let rows: Vec<(&str, Operand<'static>)> = vec![
        ("%r1",                     r(5)),
        ("p",                       r(18)),
        ("!%p1",                    Operand::Not(RegId(1))),
        ("! q",                     Operand::Not(RegId(19))),
        ("_",                       Operand::Sink),
        ("7",                       Operand::Integer(7)),
        ("-7",                      Operand::Integer(-7)),
        ("0x1F",                    Operand::Integer(31)),
        ("0X1fU",                   Operand::Integer(31)),
        ("-0x80000000",             Operand::Integer(-0x8000_0000)),
        ("017",                     Operand::Integer(15)),
        ("0b101",                   Operand::Integer(5)),
        ("5U",                      Operand::Integer(5)),
        ("0",                       Operand::Integer(0)),
        ("18446744073709551615",    Operand::Integer(-1)),
        ("0f3F800000",              Operand::Single(0x3f80_0000)),
        ("-0f3F800000",             Operand::Single(0xbf80_0000)),
        ("0dBFF0000000000000",      Operand::Double(0xbff0_0000_0000_0000)),
        ("1.5",                     Operand::Double(1.5_f64.to_bits())),
        ("-2.5e-3",                 Operand::Double((-2.5e-3_f64).to_bits())),
        ("1e9",                     Operand::Double(1e9_f64.to_bits())),
        ("1e+9",                    Operand::Double(1e9_f64.to_bits())),
        ("WARP_SZ",                 Operand::Integer(32)),
        ("%tid.x",                  Operand::Special("tid.x")),
        ("%laneid",                 Operand::Special("laneid")),
        ("%clock64",                Operand::Special("clock64")),
        ("%lanemask_lt",            Operand::Special("lanemask_lt")),
        ("%cluster_ctaid.z",        Operand::Special("cluster_ctaid.z")),
        ("%envreg3",                Operand::Special("envreg3")),
        ("v.y",                     r(21)),
        ("v.g",                     r(21)),
        ("v",                       Operand::Vector(vec![r(20), r(21)])),
        ("{%r1, _, 3, s}",          Operand::Vector(vec![r(5), Operand::Sink, Operand::Integer(3), symbol(S, 0)])),
        ("{ %r1 }",                 Operand::Vector(vec![r(5)])),
        ("%p1|%p2",                 pair(r(1), r(2))),
        ("%r1 | p",                 pair(r(5), r(18))),
        ("_|%p1",                   pair(Operand::Sink, r(1))),
        ("[%r1]",                   at(REG, 0)),
        ("[ %r1 + 16 ]",            at(REG, 16)),
        ("[%r1+-4]",                at(REG, -4)),
        ("[%r1-4]",                 at(REG, -4)),
        ("[%r1+0x10]",              at(REG, 16)),
        ("[s]",                     at(Base::Symbol(S), 0)),
        ("[s+8]",                   at(Base::Symbol(S), 8)),
        ("[g+-8]",                  at(Base::Symbol(Symbol::Module(0)), -8)),
        ("[n]",                     at(Base::Symbol(Symbol::Local(0)), 0)),
        ("[16]",                    at(Base::None, 16)),
        ("[-16]",                   at(Base::None, -16)),
        ("[%r1, {%r2, %r3}]",       Operand::List(vec![at(REG, 0), Operand::Vector(vec![r(6), r(7)])])),
        ("s",                       symbol(S, 0)),
        ("s+4",                     symbol(S, 4)),
        ("g + 4",                   symbol(Symbol::Module(0), 4)),
        ("f",                       symbol(Symbol::Function(0), 0)),
        ("k",                       symbol(Symbol::Function(1), 0)),
        ("LATER",                   Operand::Label(LabelId(0))),
        ("%r1.b3",                  Operand::Name("%r1.b3")),
        ("(%r1, s)",                Operand::List(vec![r(5), symbol(S, 0)])),
        ("()",                      Operand::List(vec![])),
    ];
    for (text, operand) in rows {
        body(&format!("mov.b32 %r0, {text} , %r1;\nLATER: ret;"), |k| {
            assert_eq!(k.instructions[0].operands, [r(4), operand, r(5)], "{text}");
            assert_eq!(k.instructions[0].text, format!("mov.b32 %r0, {text} , %r1"));
        });
    }
}

/// Columns: statement, guard, opcode, modifiers, number of operands, text of the instruction.
#[test]
fn instructions() {
    let guard = |register, negate| Some(PtxGuard { register: RegId(register), negate });
    #[rustfmt::skip]
    let rows = [
        ("ret;", None, "ret", vec![], 0, "ret"),
        ("ret ;", None, "ret", vec![], 0, "ret"),
        ("bar.sync 0;", None, "bar", vec!["sync"], 1, "bar.sync 0"),
        ("@%p1 ret;", guard(1, false), "ret", vec![], 0, "@%p1 ret"),
        ("@!%p1 trap;", guard(1, true), "trap", vec![], 0, "@!%p1 trap"),
        ("@! q  exit\t;", guard(19, true), "exit", vec![], 0, "@! q  exit"),
        ("atom.shared::cta.add.u32 _,[%r1],1;", None, "atom", vec!["shared::cta", "add", "u32"], 3, "atom.shared::cta.add.u32 _,[%r1],1"),
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[%rd1],%r2,[%r3];", None, "cp",
         vec!["async", "bulk", "shared::cluster", "global", "mbarrier::complete_tx::bytes"], 4,
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[%rd1],%r2,[%r3]"),
        ("ld.global.L2::128B.u32 %r1,[%rd1].unified , %rd2 ;", None, "ld", vec!["global", "L2::128B", "u32", "unified"], 3,
         "ld.global.L2::128B.u32 %r1,[%rd1].unified , %rd2"),
        ("mov .u32 %r1, /* a ; b */ %r2 // c ;\n;", None, "mov", vec!["u32"], 2, "mov .u32 %r1, /* a ; b */ %r2"),
        ("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%rd2], 128;", None, "tensormap",
         vec!["cp_fenceproxy", "global", "shared::cta", "tensormap::generic", "release", "gpu", "sync", "aligned"], 3,
         "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%rd2], 128"),
    ];
    for (text, guard, opcode, modifiers, operands, shown) in rows {
        body(text, |k| {
            let [i] = k.instructions.as_slice() else { panic!("{text}") };
            assert_eq!((i.guard, i.opcode, &i.modifiers, i.text), (guard, opcode, &modifiers, shown));
            assert_eq!((i.operands.len(), i.line), (operands, 10), "{text}");
        });
    }
}

#[test]
fn blocks_have_names_of_their_own() {
    let wait = "{ .reg .pred P1; .reg .b32 %r<2>;\nLAB_WAIT: mov.b32 %r1, %r2; @P1 bra DONE; bra LAB_WAIT; DONE: }\n";
    body(&format!("{wait}{wait}bra OUT; {{ bra OUT; OUT: }} OUT: ret;"), |k| {
        let names: Vec<_> = k.registers[22..].iter().map(|r| (&*r.name, r.ty)).collect();
        let block = [("P1", Some(Type::Pred)), ("%r0", Some(Type::B32)), ("%r1", Some(Type::B32))];
        assert_eq!(names, [block, block].concat());
        // %r1 is declared in the block, %r2 in the function.
        assert_eq!(k.instructions[0].operands, [r(24), r(6)]);
        assert_eq!(k.instructions[3].operands, [r(27), r(6)]);
        let labels: Vec<_> = k.labels.iter().map(|l| (l.name, l.at)).collect();
        assert_eq!(
            labels,
            [("LAB_WAIT", 0), ("DONE", 3), ("LAB_WAIT", 3), ("DONE", 6), ("OUT", 8), ("OUT", 8)]
        );
        let targets: Vec<_> = k.instructions.iter().filter(|i| i.opcode == "bra").map(target).collect();
        assert_eq!(targets, [1, 0, 3, 2, 5, 4]);
    });
}

fn target(branch: &PtxInstruction<'_>) -> u32 {
    let [Operand::Label(LabelId(label))] = branch.operands.as_slice() else { panic!("{branch:?}") };
    *label
}

#[test]
fn calls_and_tables() {
    let text = "{ .param .b32 a; .param .b32 b;\ncall.uni (b), f, (a);\ncall f;\ncall (b), %rd1, (a), proto;\n\
                proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]) .noreturn;\n\
                ts: .branchtargets L1,\n L2, L1; brx.idx.uni %r1, ts; cs: .calltargets f; call %rd1, cs; L1: L2: }";
    body(text, |k| {
        let local = |n| Operand::Symbol { symbol: Symbol::Local(n), offset: 0 };
        let f = Operand::Symbol { symbol: Symbol::Function(0), offset: 0 };
        let list = |n| Operand::List(vec![local(n)]);
        let expected = [
            vec![list(3), f.clone(), list(2)],
            vec![f],
            vec![list(3), r(13), list(2), Operand::Name("proto")],
            vec![r(5), Operand::Targets(0)],
            vec![r(13), Operand::Name("cs")],
        ];
        let found: Vec<_> = k.instructions.iter().map(|i| i.operands.clone()).collect();
        assert_eq!(found, expected);
        assert_eq!(k.branch_targets, [[LabelId(0), LabelId(1), LabelId(0)]]);
        assert!(k.labels.iter().all(|l| l.at == 5));
    });
}

/// Columns: declaration outside functions, state space, type, number of elements, alignment, initial values,
/// true if external.
#[test]
fn variables() {
    use Initial::Bits;
    let address = |offset, generic| Initial::Address { symbol: "base", offset, generic };
    #[rustfmt::skip]
    let rows = [
        (".global .b32 x;",                          StateSpace::Global, Type::B32, Some(1), 4, vec![], false),
        (".shared .align 128 .b8 x[4096];",          StateSpace::Shared, Type::B8, Some(4096), 128, vec![], false),
        (".extern .shared .align 16 .b8 x[];",       StateSpace::Shared, Type::B8, None, 16, vec![], true),
        (".const .b16 x[2][3];",                     StateSpace::Const, Type::B16, Some(6), 2, vec![], false),
        (".visible .global .v4 .f32 x;",             StateSpace::Global, Type::F32, Some(4), 16, vec![], false),
        (".weak .global .v2 .f32 x[3];",             StateSpace::Global, Type::F32, Some(6), 8, vec![], false),
        (".common .global .u64 x;",                  StateSpace::Global, Type::U64, Some(1), 8, vec![], false),
        (".global .attribute(.managed) .s32 x;",     StateSpace::Global, Type::S32, Some(1), 4, vec![], false),
        (".global .attribute(.unified(1,2)) .s32 x;",StateSpace::Global, Type::S32, Some(1), 4, vec![], false),
        (".global .u32 x = 7;",                      StateSpace::Global, Type::U32, Some(1), 4, vec![Bits(7)], false),
        (".global .b8 x[4] = {1, -1, 0x1ff};",       StateSpace::Global, Type::B8, Some(4), 1, vec![Bits(1), Bits(255), Bits(255)], false),
        (".global .b8 x[] = {1, 2, 3};",             StateSpace::Global, Type::B8, Some(3), 1, vec![Bits(1), Bits(2), Bits(3)], false),
        (".global .u32 x[2][2] = {{1}, {2, 3}};",    StateSpace::Global, Type::U32, Some(4), 4, vec![Bits(1), Bits(0), Bits(2), Bits(3)], false),
        (".global .u32 x[][2] = {{1}, {2}};",        StateSpace::Global, Type::U32, Some(4), 4, vec![Bits(1), Bits(0), Bits(2), Bits(0)], false),
        (".global .u32 x[2] = {};",                  StateSpace::Global, Type::U32, Some(2), 4, vec![], false),
        (".const .f32 x[3] = {0f3F800000, 0.5, -2};",StateSpace::Const, Type::F32, Some(3), 4, vec![Bits(0x3f80_0000), Bits(0x3f00_0000), Bits(0xc000_0000)], false),
        (".const .f64 x = 0d3FF0000000000000;",      StateSpace::Const, Type::F64, Some(1), 8, vec![Bits(0x3ff0_0000_0000_0000)], false),
        (".global .u64 x[3] = {base, base+4, generic(base)+-8};",
                                                     StateSpace::Global, Type::U64, Some(3), 8, vec![address(0, false), address(4, false), address(-8, true)], false),
        (".global .b32 x[4000000000][2];",           StateSpace::Global, Type::B32, Some(8_000_000_000), 4, vec![], false),
    ];
    for (text, space, ty, count, align, initial, external) in rows {
        let text = format!("{HEAD}.global .b8 base[64];\n{text}");
        let module = module(&text);
        let expected = Variable { name: "x", space, ty, count, align, initial, external, line: 5 };
        assert_eq!(module.variables[1], expected, "{text}");
    }
}

#[test]
fn headers_of_functions() {
    let text = format!(
        "{HEAD}.extern .func (.param .b32 r) later(.param .b64 a, .param .align 8 .b8 b[16]) .noreturn;\n\
         .visible .entry k(\n.param .u64 .ptr .global .align 16 a,\n.param .align 8 .b8 b[16], .param .u32 .ptr c\n)\n\
         .maxntid 256, 2 .reqntid 128 .minnctapersm 2 .maxnctapersm 3 .maxnreg 64 .explicitcluster\n\
         .reqnctapercluster 2, 2, 1 .maxclusterrank 8 .blocksareclusters .pragma \"nounroll\", \"x\";\n{{ call later; ret; }}\n\
         .func (.param .b32 r) later(.param .b64 a, .param .align 8 .b8 b[16]) {{ call later; ret; }}\n\
         .entry empty() {{ }}\n.func none {{ }}\n"
    );
    let module = module(&text);
    let names: Vec<_> = module.functions.iter().map(|f| (f.name, f.entry, f.defined, f.line)).collect();
    let expected = [
        ("later", false, true, 12),
        ("k", true, true, 5),
        ("empty", true, true, 13),
        ("none", false, true, 14),
    ];
    assert_eq!(names, expected);
    let [later, k, ..] = module.functions.as_slice() else { panic!() };
    assert_eq!((later.params, later.results, later.variables.len()), (2, 1, 3));
    assert_eq!(later.variables[2].name, "r");
    assert_eq!(later.instructions[0].operands, k.instructions[0].operands);
    let d = k.directives;
    assert_eq!(d.max_threads, Some([256, 2, 1]));
    assert_eq!((d.threads, d.cluster), (Some([128, 1, 1]), Some([2, 2, 1])));
    let params: Vec<_> = k.variables.iter().map(|v| (v.name, v.ty, v.count, v.align)).collect();
    assert_eq!(
        params,
        [("a", Type::U64, Some(1), 8), ("b", Type::B8, Some(16), 8), ("c", Type::U32, Some(1), 4)]
    );
}

#[test]
fn what_says_nothing_about_code_is_skipped() {
    let text = ".version 7.0\n.target sm_50, texmode_independent, debug\n\
        .file 1 \"/a;b{.cu\", 1699, 20\n.pragma \"x\";\n\
        .entry k() {\n$L__func_begin0:\n.loc 1 5 3, function_name $L__info_string0+4, inlined_at 1 2 3\n\
        .loc 1 6 3\n.pragma \"nounroll\", \"y\";\n.file 2 \"b\"\n@@DWARF x y z\nret;\n$L__tmp0: }\n\
        .section .debug_str, \"MS\", @progbits\n.b8 1, 2\n.b64 $L__x\n@@DWARF .b8 1\n\
        .section .debug_abbrev\n{\n.b8 1 // } {\n.b8 \"}\"\n/* } */\n$L__a:\n}\n.section .debug_loc { }\n;\n.entry l() { exit; }\n";
    let module = module(text);
    assert_eq!((module.version, module.target.to_string()), ((7, 0), "sm_50".into()));
    let names: Vec<_> = module.functions.iter().map(|f| (f.name, f.instructions.len())).collect();
    assert_eq!(names, [("k", 1), ("l", 1)]);
    assert_eq!(module.functions[0].labels.len(), 2);
}

#[test]
fn instructions_have_the_position_of_the_last_loc_directive() {
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n\
        .func f() {\n.loc 2 7 1\nmembar.cta;\nret;\n}\n\
        .entry k() {\n.reg .b32 %r<3>;\nmov.u32 %r1, 1;\n.loc 1 5 3, function_name $s+4, inlined_at 2 9 3\n\
        mov.u32 %r1, 1;\nmov.u32 %r2, 1;\ncall f;\n.loc 3 1 1\nexit;\n}\n\
        .file 1 \"/src/kernel.cu\", 1699, 20\n.file 2 \"include\\f.cuh\"\n";
    let program = Program::read("k.ptx", text, None).unwrap();
    let kernel = program.kernel("k").unwrap();
    let found: Vec<_> = kernel.source.iter().map(ToString::to_string).collect();
    assert_eq!(found[0], "line 11: `mov.u32 %r1, 1`");
    assert_eq!(found[1], "line 13 (kernel.cu:5): `mov.u32 %r1, 1`");
    assert_eq!(found[2], "line 14 (kernel.cu:5): `mov.u32 %r2, 1`");
    assert!(found.contains(&"line 6 (f.cuh:7): `membar.cta`".into()), "{found:?}");
    assert_eq!(kernel.source[1].position.as_ref().map(|p| (&*p.file, p.line)), Some(("/src/kernel.cu", 5)));
    assert_eq!(kernel.source.last().unwrap().position, None, "file 3 is not declared");
}

#[test]
fn registers_of_a_family_are_told_from_others() {
    let text = format!(
        "{HEAD}.entry k() {{ .reg .b32 %r<3>, %r1x, %r1_<12>, a; mov.b32 %r2, %r1x; mov.b32 a, %r1_11; }}"
    );
    let module = module(&text);
    let k = &module.functions[0];
    assert_eq!(k.instructions[0].operands, [r(2), r(3)]);
    assert_eq!(k.instructions[1].operands, [r(16), r(15)]);
    assert_eq!(k.registers[15].name, "%r1_11");
}

#[test]
fn loose_instructions() {
    let function = snippet("atom.shared.add.u32 %r4, [%r8], %r1; @%p1 st.shared.u32 [sm+16], %r4").unwrap();
    let names: Vec<_> = function.registers.iter().map(|r| (&*r.name, r.ty)).collect();
    assert_eq!(names, [("%r4", None), ("%r8", None), ("%r1", None), ("%p1", None)]);
    let [sm] = function.variables.as_slice() else { panic!("{:?}", function.variables) };
    assert_eq!((sm.name, sm.space, sm.align, sm.count), ("sm", StateSpace::Shared, 16, None));
    assert_eq!(function.instructions[1].operands[0], at(Base::Symbol(Symbol::Local(0)), 16));

    let text = "L: mov.u32 %r1, sm; mov.u32 %r2, sm+4; mov.u32 %r3, %tid.x; mov.b32 %v.x, %r3; @%p1 bra L; bra END; call foo, (%r1); \
                { .reg .pred p; setp.eq.u32 p, %r1, %r2; @p bra END; }\nEND:";
    let function = snippet(text).unwrap();
    let symbol = |offset| Operand::Symbol { symbol: Symbol::Local(0), offset };
    assert_eq!(function.instructions[0].operands[1], symbol(0));
    assert_eq!(function.instructions[1].operands[1], symbol(4));
    assert_eq!(function.instructions[2].operands[1], Operand::Special("tid.x"));
    assert_eq!(function.instructions[6].operands[0], Operand::Name("foo"));
    let branches: Vec<_> = function.instructions.iter().filter(|i| i.opcode == "bra").map(target).collect();
    assert_eq!(branches, [0, 1, 1]);
    assert_eq!(function.labels[1].at, function.instructions.len() as u32);
    let declared: Vec<_> = function.registers.iter().filter(|r| r.ty.is_some()).map(|r| &*r.name).collect();
    assert_eq!(declared, ["p"]);
    assert!(function.registers.iter().any(|r| r.name == "%v.x"));
    let later = snippet("mov.u32 %r1, sm; ld.shared.u32 %r2, [sm+4];").unwrap();
    assert_eq!((later.variables.len(), &later.instructions[0].operands[1]), (1, &symbol(0)));
    assert!(snippet("").unwrap().instructions.is_empty());
}
