//! Decoded form of machine code text.

use atoms_isa::{
    AddressBase, AsyncOp, BarrierAccess, BarrierOperand, BarrierResult, BulkCopy, BulkMask, BulkWay, Control,
    GlobalOp, Instruction, Operation, Ordering, Path, Pred, PredSource, Program, ProxySpace, Reduction, Reg,
    Scope, Semantics, SharedResult, Source, UReg, Value, WarpOp, WideOp,
};
use atoms_ops::{Op, Size};

fn decode(line: &str) -> Instruction {
    let text = format!(".target sm_90a\n.section .text.k,\"ax\",@progbits\n.L_x_0:\n{line}\n");
    let program =
        Program::parse("test.sass", &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    program.kernels[0].instructions[0]
}

const Z: u8 = UReg::URZ.0;

/// Columns: text of the address, register Ra, log2 of the scale factor of Ra, uniform register, immediate as
/// encoded, true if absolute.
#[rustfmt::skip]
const ADDRESSES: &[(&str, u8, u8, u8, u32, bool)] = &[
    ("[R2]",              2,   0, Z,  0,          false),
    ("[R2+0x10]",         2,   0, Z,  0x10,       false),
    ("[R2+-0x4]",         2,   0, Z,  0xff_fffc,  false),
    ("[R2.X4]",           2,   2, Z,  0,          false),
    ("[R2.X8+0x8]",       2,   3, Z,  8,          false),
    ("[R2.X16+UR4+0x20]", 2,   4, 4,  0x20,       false),
    ("[R2.X4+URZ]",       2,   2, Z,  0,          false),
    ("[R2.reuse+UR4]",    2,   0, 4,  0,          false),
    ("[UR4+0x1000]",      255, 0, 4,  0x1000,     false),
    ("[URZ]",             255, 0, Z,  0,          false),
    ("[0x4]",             255, 0, Z,  4,          true),
    ("[RZ]",              255, 0, Z,  0,          true),
    ("[RZ+0xffffff]",     255, 0, Z,  0xff_ffff,  true),
    ("[RZ+UR4]",          255, 0, 4,  0,          false),
    ("[R5 - 64]",         5,   0, Z,  0xff_ffc0,  false),
    ("[R8 + 12]",         8,   0, Z,  12,         false),
    ("[ R12 + 0x1c ]",    12,  0, Z,  0x1c,       false),
    ("[R5-0x40]",         5,   0, Z,  0xff_ffc0,  false),
];

fn reg(number: u8) -> Reg {
    if number == 255 { Reg::RZ } else { Reg(number.into()) }
}

#[test]
fn shared_addresses() {
    for &(text, ra, scale, ur, imm, absolute) in ADDRESSES {
        let Operation::Shared(access) = decode(&format!("LDS R0, {text} ;")).operation else {
            panic!("{text}")
        };
        let a = access.address;
        assert_eq!(
            (a.ra, a.scale, a.ur, a.imm, a.absolute),
            (reg(ra), scale, UReg(ur), imm, absolute),
            "{text}"
        );
    }
}

/// Columns: text of the instruction, operation, size, result, Rb, Rc. The suffixes are those of spec 3.1.
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
    ("ATOMS.POPC.INC.32 RZ, [R4+URZ]",         Op::PopcInc,  Size::U32,  SharedResult::None,        255, 255),
    ("ATOMS.ARRIVE.64 R4, [R4+URZ]",           Op::MbarArriveSm80, Size::U64, SharedResult::Reg(Reg(4)), 255, 255),
    ("ATOMS.ARRIVE.64 RZ, [URZ]",              Op::MbarArriveSm80, Size::U64, SharedResult::None,  255, 255),
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
        assert_eq!((a.op, a.size, a.result, a.rb, a.rc), (op, size, result, reg(rb), reg(rc)), "{text}");
    }
}

const R5: BarrierOperand = BarrierOperand::Word(Source::plain(Value::Reg(Reg(5))));

/// Columns: text of the instruction, operation, result, operand B (spec 6.8).
#[rustfmt::skip]
const BARRIERS: &[(&str, Op, BarrierResult, BarrierOperand)] = &[
    ("SYNCS.EXCH.64 R2, [R0], R4",                             Op::MbarInit,                 BarrierResult::Pair(Reg(2)), BarrierOperand::Pair(Source::pair(Value::Reg(Reg(4))))),
    ("SYNCS.LD.64 R2, [R0+URZ]",                               Op::Load,                     BarrierResult::Pair(Reg(2)), BarrierOperand::Whole),
    ("SYNCS.LD.64.WATCH R2, [R0+URZ]",                         Op::Load,                     BarrierResult::Pair(Reg(2)), BarrierOperand::Whole),
    ("SYNCS.CCTL.IV [R2+URZ]",                                 Op::MbarInval,                BarrierResult::None,         BarrierOperand::None),
    ("SYNCS.ARRIVE.TRANS64.A1T0 R2, [R0], RZ",                 Op::MbarArrive,               BarrierResult::Pair(Reg(2)), BarrierOperand::None),
    ("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [UR10], RZ",           Op::MbarArrive,               BarrierResult::None,         BarrierOperand::None),
    ("SYNCS.ARRIVE.TRANS64.ART0 RZ, [R2+URZ], R5",             Op::MbarArriveCount,          BarrierResult::None,         R5),
    ("SYNCS.ARRIVE.TRANS64 R6, [R6+URZ], R5",                  Op::MbarArriveExpectTx,       BarrierResult::Pair(Reg(6)), R5),
    ("SYNCS.ARRIVE.TRANS64.RED RZ, [R2+URZ], R5",              Op::MbarArriveExpectTx,       BarrierResult::None,         R5),
    ("SYNCS.ARRIVE.TRANS64.RED.A0TR RZ, [R2], R5",             Op::MbarExpectTx,             BarrierResult::None,         R5),
    ("SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ, [UR4], RZ",            Op::MbarExpectTx,             BarrierResult::None,         BarrierOperand::One),
    ("SYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [R2], R5",             Op::MbarCompleteTx,           BarrierResult::None,         R5),
    ("SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0 R6, [R2], RZ",          Op::MbarArriveDrop,           BarrierResult::Pair(Reg(6)), BarrierOperand::None),
    ("SYNCS.ARRIVE.TRANS64.RED.OPTOUT.ART0 RZ, [R0], R5",      Op::MbarArriveDropCount,      BarrierResult::None,         R5),
    ("SYNCS.ARRIVE.TRANS64.OPTOUT RZ, [R2], R5",               Op::MbarArriveDropExpectTx,   BarrierResult::None,         R5),
    ("SYNCS.ARRIVE.TRANS64.TMASK.ART0 R2, [R0], R5",           Op::MbarArriveNoComplete,     BarrierResult::Pair(Reg(2)), R5),
    ("SYNCS.ARRIVE.TRANS64.TMASK.OPTOUT.ART0 R6, [R2], R5",    Op::MbarArriveDropNoComplete, BarrierResult::Pair(Reg(6)), R5),
    ("SYNCS.PHASECHK.TRANS64 P0, [R2+UR5], R5",                Op::MbarTestWait,             BarrierResult::Pred(Pred::Thread(0)), R5),
    ("SYNCS.PHASECHK.TRANS64.TRYWAIT P3, [UR7], R5",           Op::MbarTryWait,              BarrierResult::Pred(Pred::Thread(3)), R5),
    ("SYNCS.PHASECHK.TRANS64.CONDITIONAL P3, [UR7], R5",       Op::MbarTestWait,             BarrierResult::Pred(Pred::Thread(3)), R5),
];

const UR5: BarrierOperand = BarrierOperand::Word(Source::plain(Value::Uniform(UReg(5))));

/// Columns as in `BARRIERS`, for USYNCS, which the warp executes once.
#[rustfmt::skip]
const UNIFORM_BARRIERS: &[(&str, Op, BarrierResult, BarrierOperand)] = &[
    ("USYNCS.EXCH.64 URZ, [UR6], UR4",                         Op::MbarInit,                 BarrierResult::None,                   BarrierOperand::Pair(Source::pair(Value::Uniform(UReg(4))))),
    ("USYNCS.CCTL.IV [UR4+0x10]",                              Op::MbarInval,                BarrierResult::None,                   BarrierOperand::None),
    ("USYNCS.ARRIVE.TRANS64.ACT0 UR4, [UR4+0x10], UR5",        Op::MbarArriveCount,          BarrierResult::UniformPair(UReg(4)),   BarrierOperand::Active),
    ("USYNCS.ARRIVE.TRANS64.OPTOUT.ACT0 URZ, [UR4], UR5",      Op::MbarArriveDropCount,      BarrierResult::None,                   BarrierOperand::Active),
    ("USYNCS.ARRIVE.TRANS64.ART0 UR4, [UR4], UR5",             Op::MbarArriveCount,          BarrierResult::UniformPair(UReg(4)),   UR5),
    ("USYNCS.ARRIVE.TRANS64.RED.A0TR URZ, [UR4], UR5",         Op::MbarExpectTx,             BarrierResult::None,                   UR5),
    ("USYNCS.ARRIVE.TRANS64.RED.A0TX URZ, [UR4], UR5",         Op::MbarCompleteTx,           BarrierResult::None,                   UR5),
    ("USYNCS.PHASECHK.TRANS64.TRYWAIT UP0, [UR4], UR5",        Op::MbarTryWait,              BarrierResult::Pred(Pred::Uniform(0)), UR5),
];

#[test]
fn barrier_accesses() {
    for (text, op, result, b) in BARRIERS {
        let Operation::Barrier(a) = decode(&format!("{text} ;")).operation else { panic!("{text}") };
        assert_eq!((a.op, a.path, &a.result, &a.b), (*op, Path::Vector, result, b), "{text}");
        assert_eq!(a.reported, None, "{text}");
    }
    for (text, op, result, b) in UNIFORM_BARRIERS {
        let Operation::Barrier(a) = decode(&format!("{text} ;")).operation else { panic!("{text}") };
        assert_eq!((a.op, a.path, &a.result, &a.b), (*op, Path::Uniform, result, b), "{text}");
    }
    for (text, complete, reported) in [
        ("SYNCS.PHASECHK.TRANS64.PRIMARY P0, P1, RZ, [R4], R5", Pred::Thread(0), Pred::Thread(1)),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT.PRIMARY P0, PT, RZ, [R4], R5", Pred::Thread(0), Pred::PT),
        ("USYNCS.PHASECHK.TRANS64.PRIMARY UP2, UP3, URZ, [UR4], UR5", Pred::Uniform(2), Pred::Uniform(3)),
    ] {
        let Operation::Barrier(a) = decode(&format!("{text} ;")).operation else { panic!("{text}") };
        assert_eq!((a.result, a.reported), (BarrierResult::Pred(complete), Some(reported)), "{text}");
    }
    // Forms that no assembler emits, or whose results are unknown, are unsupported.
    for text in [
        "SYNCS.ARRIVE.TRANS64.ACT0 R2, [R4], R5",
        "USYNCS.LD.64 UR2, [UR4]",
        "USYNCS.PHASECHK.TRANS64 P0, [UR4], UR5",
        "SYNCS.PHASECHK.TRANS64.PRIMARY P0, P1, R2, [R4], R5",
        "USYNCS.ARRIVE.TRANS64.ACT0.ART0 UR4, [UR4], UR5",
    ] {
        assert_eq!(decode(&format!("{text} ;")).operation, Operation::Unsupported, "{text}");
    }
    let Operation::Barrier(a) = decode("@!UP0 SYNCS.EXCH.64 URZ, [UR6+0x8], UR4 ;").operation else {
        panic!()
    };
    let BarrierAccess { op, path, result, reported: None, address, b } = a else { panic!() };
    assert_eq!((op, path, result), (Op::MbarInit, Path::Uniform, BarrierResult::None));
    assert_eq!((address.ra, address.ur, address.imm), (Reg::RZ, UReg(6), 8));
    assert_eq!(b, BarrierOperand::Pair(Source::pair(Value::Uniform(UReg(4)))));
    assert_eq!(decode("SYNCS.CCTL.IVALL ;").operation, Operation::Control(Control::Fence));
    assert_eq!(decode("SYNCS.CCTL.WB [UR6+0x8] ;").operation, Operation::Control(Control::Nop));
}

#[test]
fn copies_and_what_ends_them() {
    for (text, size) in [
        ("LDGSTS.E [R7], [R4.64]", Size::U32),
        ("LDGSTS.E.64 [R7+0x10], [R4.64+0x8]", Size::U64),
        ("LDGSTS.E.BYPASS.128 [R7], desc[UR8][R4.64]", Size::B128),
        ("LDGSTS.E.BYPASS.LTC128B.128 [R7], [R4.64]", Size::B128),
    ] {
        let Operation::ThreadCopy(copy) = decode(&format!("{text} ;")).operation else { panic!("{text}") };
        assert_eq!(
            (copy.size, copy.shared.ra, copy.global.base),
            (size, Reg(7), AddressBase::Pair(Reg(4))),
            "{text}"
        );
    }
    for (suffix, op) in
        [("", Op::MbarArriveSm80), (".ARVCNT", Op::MbarArrive), (".TRANSCNT", Op::MbarCompleteTx)]
    {
        let text = format!("ARRIVES.LDGSTSBAR.64{suffix} [UR4+0x1000] ;");
        let Operation::CopyArrival(arrival) = decode(&text).operation else { panic!("{text}") };
        assert_eq!((arrival.op, arrival.address.ur, arrival.address.imm), (op, UReg(4), 0x1000));
    }
    let (to, from, size) = (UReg(8), UReg(6), UReg(4));
    let bulk = BulkCopy { way: BulkWay::ToShared, reduction: None, mask: None, to, from, size };
    let reduction = |op, size| Some(Reduction { op, size });
    for (text, expected) in [
        ("UBLKCP.S.G", bulk),
        ("UBLKCP.S.G.MULTICAST", BulkCopy { mask: Some(BulkMask::Ctas), ..bulk }),
        (
            "UBLKCP.G.S.DST_G_BYTE_MASK",
            BulkCopy { way: BulkWay::ToGlobal, mask: Some(BulkMask::Bytes), ..bulk },
        ),
        (
            "UBLKRED.S.S.MAX",
            BulkCopy {
                way: BulkWay::AmongShared,
                reduction: reduction(GlobalOp::Atomic(Op::Max), Size::U32),
                ..bulk
            },
        ),
        (
            "UBLKRED.S.S.ADD.U64",
            BulkCopy {
                way: BulkWay::AmongShared,
                reduction: reduction(GlobalOp::Wide(WideOp::Add64), Size::U64),
                ..bulk
            },
        ),
        (
            "UBLKRED.G.S.MIN.S64",
            BulkCopy {
                way: BulkWay::ToGlobal,
                reduction: reduction(GlobalOp::Wide(WideOp::MinS64), Size::U64),
                ..bulk
            },
        ),
    ] {
        let text = format!("{text} [UR8], [UR6], UR4 ;");
        assert_eq!(decode(&text).operation, Operation::BulkCopy(expected), "{text}");
    }
    for (text, op, size) in [
        ("STAS [R6.64], R3", AsyncOp::Plain(Op::Store), Size::U32),
        ("STAS.64 [R6.64], R4", AsyncOp::Plain(Op::Store), Size::U64),
        ("STAS.128 [R6.64], R4", AsyncOp::Plain(Op::Store), Size::B128),
        ("REDAS.ADD [R6.64], R3", AsyncOp::Plain(Op::Add), Size::U32),
        ("REDAS.MIN.S32 [R6.64], R3", AsyncOp::Plain(Op::Min), Size::S32),
        ("REDAS.DEC [R6.64], R3", AsyncOp::Plain(Op::Dec), Size::U32),
        ("REDAS.ADD.64 [R6.64], R4", AsyncOp::Add64, Size::U64),
    ] {
        let Operation::Async(a) = decode(&format!("{text} ;")).operation else { panic!("{text}") };
        assert_eq!((a.op, a.size, a.addresses), (op, size, Reg(6)), "{text}");
    }
}

/// Forms whose meaning is unknown, or for which the unit has no operation, are unsupported.
#[test]
fn forms_that_are_not_decoded() {
    for text in [
        "REDAS.MIN.64 [R6.64], R4",
        "LDG.E.ENL2.256 R8, R12, desc[UR4][R2.64]",
        "UBLKCP.T.S [UR8], [UR6], UR4",
        "UBLKRED.S.S.MIN.U64 [UR8], [UR6], UR4",
        "UBLKRED.S.G.ADD [UR8], [UR6], UR4",
        "UBLKRED.G.S.EXCH [UR8], [UR6], UR4",
        "ATOMG.E.ADD.S8 PT, R0, [R2.64], R4",
        "FMNMX.XORSIGN R0, R1, R2, PT",
        "SYNCS.ARRIVE.TRANS64.TMASK R2, [R0], R5",
        "ARRIVES.LDGSTSBAR.32 [UR4]",
        "SYNCS.ARRIVE.TRANS64 RZ, [R0], -R5",
        "FENCE.PROXY [R4]",
        "RPCMOV.64 R4, Rpc",
    ] {
        assert_eq!(decode(&format!("{text} ;")).operation, Operation::Unsupported, "{text}");
    }
}

#[test]
fn values_for_the_warp_and_from_the_return_pc() {
    let src = Source::plain(Value::Reg(Reg(0)));
    let to_uniform = |dst, differs, accumulate| {
        Operation::Warp(WarpOp::ToUniform { dst: UReg(dst), differs, accumulate, src })
    };
    for (text, operation) in [
        ("R2UR UR4, R0", to_uniform(4, Pred::PT, false)),
        ("R2UR.BROADCAST UR4, R0", to_uniform(4, Pred::PT, false)),
        ("R2UR P1, UR4, R0", to_uniform(4, Pred::Thread(1), false)),
        ("R2UR.OR P1, UR5, R0", to_uniform(5, Pred::Thread(1), true)),
        ("R2UR P1, URZ, R0", to_uniform(Z, Pred::Thread(1), false)),
        ("RPCMOV.32 Rpc.HI, R0", Operation::Control(Control::RegToReturnPc { high: true, src })),
        ("RPCMOV.32 R3, Rpc.LO", Operation::Control(Control::ReturnPcToReg { dst: Reg(3), high: false })),
        ("UCGABAR_ARV", Operation::Control(Control::ClusterArrive)),
        ("UCGABAR_WAIT", Operation::Control(Control::ClusterWait)),
        ("FENCE.VIEW.ASYNC.S", Operation::Control(Control::ProxyFence(ProxySpace::Cluster))),
        ("NANOSLEEP.SYNCS R0", Operation::Control(Control::Sleep { nanoseconds: src, watch: true })),
        ("NANOSLEEP R0", Operation::Control(Control::Sleep { nanoseconds: src, watch: false })),
    ] {
        assert_eq!(decode(&format!("{text} ;")).operation, operation, "{text}");
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
fn generic_atomics_without_an_operand() {
    for (text, op, size) in [
        ("ATOM.E.ARRIVE.64.STRONG.SM PT, RZ, [R2.64+URZ]", Op::MbarArriveSm80, Size::U64),
        ("ATOM.E.POPC.INC.32.STRONG.SM PT, RZ, [R2.64+URZ]", Op::PopcInc, Size::U32),
    ] {
        let Operation::Global(a) = decode(&format!("{text} ;")).operation else { panic!("{text}") };
        assert_eq!((a.op, a.size, a.rb, a.dst), (GlobalOp::Atomic(op), size, Reg::RZ, Reg::RZ), "{text}");
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

/// Columns: fence in PTX, its operation in the core, its order with cluster scope.
#[rustfmt::skip]
const FENCES: &[(&str, Operation, Option<Semantics>)] = &[
    ("acquire.cluster",                                                      FENCE, Some(Semantics::Acquire)),
    ("acquire.sync_restrict::shared::cluster.cluster",                       FENCE, Some(Semantics::AcquireShared)),
    ("release.sync_restrict::shared::cta.cluster",                           FENCE, Some(Semantics::ReleaseShared)),
    ("proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",  FENCE, Some(Semantics::AcquireProxy)),
    ("proxy.async::generic.release.sync_restrict::shared::cta.cluster",      FENCE, Some(Semantics::ReleaseProxy)),
    // The space decides if the fence is an acquire or a release.
    ("acquire.sync_restrict::shared::cta.cluster",                           Operation::Unsupported, None),
    ("release.sync_restrict::shared::cta.gpu",                               Operation::Unsupported, None),
    ("proxy.async::generic.release.cluster",                                 Operation::Unsupported, None),
    ("mbarrier_init.release.cluster",                                        Operation::Control(Control::InitFence), None),
];

const FENCE: Operation = Operation::Control(Control::Fence);

#[test]
fn fences_of_ptx() {
    for (fence, operation, order) in FENCES {
        let head = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() {\n";
        let text = format!("{head}.reg .pred %p;\nfence.{fence};\n@%p fence.{fence};\nret;\n}}\n");
        let program = Program::from_ptx("test.ptx", &text, None).unwrap_or_else(|e| panic!("{fence}: {e}"));
        for found in &program.kernels[0].instructions[..2] {
            let order = order.map(|semantics| Ordering { semantics, scope: Scope::Cluster });
            assert_eq!((found.operation, found.ordering), (*operation, order), "{fence}");
        }
    }
}
