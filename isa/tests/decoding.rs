//! What text decodes to.

use atoms_isa::{AddressBase, Instruction, Operation, Pred, PredSource, Program, Reg, SharedResult, UReg};
use atoms_ops::{Op, Size};

fn decode(line: &str) -> Instruction {
    let text = format!(".target sm_90a\n.section .text.k,\"ax\",@progbits\n.L_x_0:\n{line}\n");
    let program =
        Program::parse("test.sass", &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    program.kernels[0].instructions[0]
}

/// Text; Ra, log2 of its scale, UR, immediate as encoded, absolute.
#[rustfmt::skip]
const ADDRESSES: &[(&str, u8, u8, u8, u32, bool)] = &[
    ("[R2]",              2,   0, 63, 0,          false),
    ("[R2+0x10]",         2,   0, 63, 0x10,       false),
    ("[R2+-0x4]",         2,   0, 63, 0xff_fffc,  false),
    ("[R2.X4]",           2,   2, 63, 0,          false),
    ("[R2.X8+0x8]",       2,   3, 63, 8,          false),
    ("[R2.X16+UR4+0x20]", 2,   4, 4,  0x20,       false),
    ("[R2.X4+URZ]",       2,   2, 63, 0,          false),
    ("[R2.reuse+UR4]",    2,   0, 4,  0,          false),
    ("[UR4+0x1000]",      255, 0, 4,  0x1000,     false),
    ("[URZ]",             255, 0, 63, 0,          false),
    ("[0x4]",             255, 0, 63, 4,          true),
    ("[RZ]",              255, 0, 63, 0,          true),
    ("[RZ+0xffffff]",     255, 0, 63, 0xff_ffff,  true),
    ("[RZ+UR4]",          255, 0, 4,  0,          false),
];

#[test]
fn shared_addresses() {
    for &(text, ra, scale, ur, imm, absolute) in ADDRESSES {
        let Operation::Shared(access) = decode(&format!("LDS R0, {text} ;")).operation else {
            panic!("{text}")
        };
        let a = access.address;
        assert_eq!(
            (a.ra, a.scale, a.ur, a.imm, a.absolute),
            (Reg(ra), scale, UReg(ur), imm, absolute),
            "{text}"
        );
    }
}

/// Text; operation, size, result, Rb, Rc.
#[rustfmt::skip]
const ACCESSES: &[(&str, Op, Size, SharedResult, u8, u8)] = &[
    ("ATOMS.ADD R1, [R0], R2",                 Op::Add,      Size::U32,  SharedResult::Reg(Reg(1)), 2,   255),
    ("ATOMS.ADD.U32 RZ, [R0], R2",             Op::Add,      Size::U32,  SharedResult::None,        2,   255),
    ("ATOMS.ADD.32 RZ, [R0], R2",              Op::Add,      Size::U32,  SharedResult::None,        2,   255),
    ("ATOMS.MAX.S32 RZ, [0x4], R7",            Op::Max,      Size::S32,  SharedResult::None,        7,   255),
    ("ATOMS.EXCH.64 R4, [R5+UR4], R2",         Op::Exch,     Size::U64,  SharedResult::Reg(Reg(4)), 2,   255),
    ("ATOMS.EXCH.U64 RZ, [R6], R4",            Op::Exch,     Size::U64,  SharedResult::None,        4,   255),
    ("ATOMS.CAS.128 R8, [R7], R8, R12",        Op::Cas,      Size::B128, SharedResult::Reg(Reg(8)), 8,   12),
    ("ATOMS.CAST R1, [R0], R2, R3",            Op::Cast,     Size::U32,  SharedResult::Reg(Reg(1)), 2,   3),
    ("ATOMS.CAST.SPIN.64 R6, [R9], R4, R6",    Op::CastSpin, Size::U64,  SharedResult::Reg(Reg(6)), 4,   6),
    ("ATOMS.CAST.SPIN P0, [R10], R2, R3",      Op::CastSpin, Size::U32,  SharedResult::Pred(0),     2,   3),
    ("ATOMS.POPC.INC.32 RZ, [R4+URZ]",         Op::PopcInc,  Size::U32,  SharedResult::None,        255, 255),
    ("LDS.U R0, [R1]",                         Op::Load,     Size::U32,  SharedResult::Reg(Reg(0)), 255, 255),
    ("LDS.U.64 R2, [R1]",                      Op::Load,     Size::U64,  SharedResult::Reg(Reg(2)), 255, 255),
    ("LDS.U.U16 R2, [R1]",                     Op::Load,     Size::U16,  SharedResult::Reg(Reg(2)), 255, 255),
    ("LDS.S8 R2, [R1]",                        Op::Load,     Size::S8,   SharedResult::Reg(Reg(2)), 255, 255),
    ("LDS.128 R4, [R1.X16]",                   Op::Load,     Size::B128, SharedResult::Reg(Reg(4)), 255, 255),
    ("STS.U8 [R1], R3",                        Op::Store,    Size::U8,   SharedResult::None,        3,   255),
    ("STS.64 [R1], RZ",                        Op::Store,    Size::U64,  SharedResult::None,        255, 255),
];

#[test]
fn shared_accesses() {
    for &(text, op, size, result, rb, rc) in ACCESSES {
        let Operation::Shared(a) = decode(&format!("{text} ;")).operation else { panic!("{text}") };
        assert_eq!((a.op, a.size, a.result, a.rb, a.rc), (op, size, result, Reg(rb), Reg(rc)), "{text}");
    }
}

#[test]
fn global_addresses() {
    for (text, base, ur, imm) in [
        ("[R2]", AddressBase::Pair(Reg(2)), None, 0),
        ("[R2.64+UR4+0x10]", AddressBase::Pair(Reg(2)), Some(UReg(4)), 0x10),
        ("desc[UR8][R2.64+-0x8]", AddressBase::Pair(Reg(2)), None, -8),
        ("[R7.U32+UR4]", AddressBase::Word(Reg(7)), Some(UReg(4)), 0),
        ("[UR4+0x4]", AddressBase::None, Some(UReg(4)), 4),
    ] {
        let Operation::Global(access) = decode(&format!("LDG.E R0, {text} ;")).operation else {
            panic!("{text}")
        };
        let a = access.address;
        assert_eq!((a.base, a.ur, a.imm), (base, ur, imm), "{text}");
    }
}

#[test]
fn guards_offsets_encodings_and_attributes() {
    let plain = decode("@!UP1 LDS R0, [R1] ;");
    assert_eq!(plain.guard, PredSource { pred: Pred::Uniform(1), negate: true });
    for line in [
        "        /*0040*/              @!UP1 LDS R0, [R1] ;    /* 0x0000000001007984 */",
        "@!UP1 LDS R0, [R1.reuse] &req={0,1} &wr=0x0 ?trans2 ;",
        "@!UP1 LDS R0 , [ R1 ]; // load",
    ] {
        assert_eq!(decode(line), plain, "{line}");
    }
}

#[test]
fn branches_by_offset() {
    let text = ".target sm_80\n.section .text.k,\"\"\n/*0000*/ NOP ;\n/*0010*/ BRA 0x0 ;\n";
    let program = Program::parse("test.sass", text).unwrap();
    let Operation::Control(atoms_isa::Control::Branch { target, .. }) =
        program.kernels[0].instructions[1].operation
    else {
        panic!()
    };
    assert_eq!(target, 0);
}
