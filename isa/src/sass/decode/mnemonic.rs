//! Table of mnemonics. Each row has the effect, the supported forms and the decoder of an instruction.

use super::args::Args;
use super::direct::{Jump, control};
use super::{
    Decoded, arith, barrier, convert, copy, direct, float, global, half, logic, preds, shared, video, warp,
};
use crate::kernel::compute::{ComputeOp, FloatOp, IntOp, Path};
use crate::kernel::control::{Control, GroupKind};
use crate::kernel::instruction::Operation;
use crate::kernel::memory::{GlobalOp, Space};
use crate::kernel::number::Type;
use atoms_ops::Op;
use std::collections::HashMap;
use std::sync::LazyLock;

type Decoder = fn(&mut Args<'_, '_>) -> Decoded<Operation>;

#[derive(Debug)]
pub struct MnemonicRow {
    pub name: String,
    /// Effect of the instruction, for the table in `docs/sass.md`.
    pub effect: String,
    /// Forms of the instruction with their operands, without the modifiers that are optional. The decoder
    /// supports all of them.
    pub examples: Vec<String>,
    pub(super) path: Path,
    pub(super) decode: Decoder,
}

/// Datapaths on which a mnemonic exists. If both exist, the uniform instruction has the same name with a U
/// before it.
const VECTOR: &[Path] = &[Path::Vector];
const UNIFORM: &[Path] = &[Path::Uniform];
const BOTH: &[Path] = &[Path::Vector, Path::Uniform];

type Row = (&'static str, &'static [Path], Decoder, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("ACQBULK", VECTOR, direct::nop, "no effect: there is no previous kernel", &["ACQBULK"]),
    ("ACQSHMINIT", VECTOR, direct::nop, "no effect: shared memory is allocated", &["ACQSHMINIT"]),
    ("ARRIVES", VECTOR, copy::arrival, "mbarrier operation when the thread's copies are done", &["ARRIVES.LDGSTSBAR.64 [UR4]"]),
    ("ATOM", VECTOR, |a| global::atomic(a, Space::Generic, true), "atomic on a generic address", &["ATOM.E.ADD.STRONG.GPU PT, R0, [R2.64], R4", "ATOM.E.MIN.STRONG.GPU PT, R0, [R2.64], R4", "ATOM.E.MAX PT, R0, [R2.64], R4", "ATOM.E.INC PT, R0, [R2.64], R4", "ATOM.E.DEC PT, R0, [R2.64], R4", "ATOM.E.AND PT, R0, [R2.64], R4", "ATOM.E.OR PT, R0, [R2.64], R4", "ATOM.E.XOR PT, R0, [R2.64], R4", "ATOM.E.EXCH PT, R0, [R2.64], R4", "ATOM.E.CAS PT, R0, [R2.64], R4, R6", "ATOM.E.CAST.SPIN.STRONG.SM PT, R0, [R2.64], R4, R6", "ATOM.E.POPC.INC.32.STRONG.SM PT, RZ, [R2.64]", "ATOM.E.ARRIVE.64.STRONG.SM PT, RZ, [R2.64]"]),
    ("ATOMG", VECTOR, |a| global::atomic(a, Space::Global, true), "atomic on a global address", &["ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R4", "ATOMG.E.MIN PT, R0, [R2.64], R4", "ATOMG.E.MAX PT, R0, [R2.64], R4", "ATOMG.E.INC PT, R0, [R2.64], R4", "ATOMG.E.DEC PT, R0, [R2.64], R4", "ATOMG.E.AND PT, R0, [R2.64], R4", "ATOMG.E.OR PT, R0, [R2.64], R4", "ATOMG.E.XOR PT, R0, [R2.64], R4", "ATOMG.E.EXCH PT, R0, [R2.64], R4", "ATOMG.E.CAS PT, R0, [R2.64], R4, R6"]),
    ("ATOMS", VECTOR, shared::atomic, "atomic on a shared address", &["ATOMS.ADD R0, [R2], R4", "ATOMS.MIN R0, [R2], R4", "ATOMS.MAX R0, [R2], R4", "ATOMS.INC R0, [R2], R4", "ATOMS.DEC R0, [R2], R4", "ATOMS.AND R0, [R2], R4", "ATOMS.OR R0, [R2], R4", "ATOMS.XOR R0, [R2], R4", "ATOMS.EXCH R0, [R2], R4", "ATOMS.CAS R0, [R2], R4, R8", "ATOMS.CAST R0, [R2], R4, R8", "ATOMS.CAST.SPIN R0, [R2], R4, R8", "ATOMS.POPC.INC.32 RZ, [R2]", "ATOMS.ARRIVE.64 R0, [R2]"]),
    ("B2R", VECTOR, warp::barrier_result, "result of the last BAR.RED", &["B2R.RESULT R0, P1"]),
    ("BAR", VECTOR, direct::bar, "block barrier", &["BAR.SYNC 0x0", "BAR.ARV 0x1, 0x40", "BAR.RED.POPC 0x0, P1", "BAR.RED.AND 0x0, P1", "BAR.RED.OR 0x0, 0x40, P1"]),
    ("BMOV", VECTOR, direct::bmov, "copy a convergence barrier", &["BMOV.32 R0, B1", "BMOV.32.CLEAR R0, B1", "BMOV.32 B1, R0"]),
    ("BMSK", BOTH, logic::mask, "mask of ones", &["BMSK R0, R1, R2"]),
    ("BPT", VECTOR, direct::trap, "end the run with an error", &["BPT.TRAP 0x1"]),
    ("BRA", VECTOR, direct::branch, "branch; .U and .U.ANY: one decision for all threads; .DIV and .CONV: branch if threads are diverged or converged", &["BRA `(.L_x_0)", "BRA P1, `(.L_x_0)", "BRA.U UP1, `(.L_x_0)", "BRA.U.ANY `(.L_x_0)", "BRA.DIV UR4, `(.L_x_0)", "BRA.DIV `(.L_x_0)", "BRA.CONV UR4, `(.L_x_0)"]),
    ("BREAK", VECTOR, direct::break_barrier, "remove threads from a convergence barrier", &["BREAK B0", "BREAK P1, B0"]),
    ("BREV", BOTH, |a| a.plain::<1>(ComputeOp::int(IntOp::Brev, Type::B32), Type::B32), "reverse bits", &["BREV R0, R1"]),
    ("BRX", VECTOR, |a| direct::jump(a, Jump::Next), "branch to an address in a register, from the next instruction", &["BRX R2 -0x10"]),
    ("BRXU", UNIFORM, |a| direct::jump(a, Jump::Next), "the same, uniform", &["BRXU UR2 -0x10"]),
    ("BSSY", VECTOR, direct::set_barrier, "set up a reconvergence barrier", &["BSSY B0, `(.L_x_0)"]),
    ("BSYNC", VECTOR, direct::sync_barrier, "wait at the reconvergence barrier", &["BSYNC B0"]),
    ("CALL", VECTOR, |a| direct::jump(a, Jump::Plain), "call a subroutine; other instructions store the return address in registers", &["CALL.REL.NOINC `(.L_x_0)", "CALL.ABS.NOINC R2"]),
    ("CCTL", VECTOR, direct::cache_control, "cache control: no effect", &["CCTL.IVALL"]),
    ("CCTLL", VECTOR, direct::no_effect, "cache control: no effect", &["CCTLL.IVALL"]),
    ("CCTLT", VECTOR, direct::no_effect, "cache control: no effect", &["CCTLT.IVALL"]),
    ("CGAERRBAR", VECTOR, direct::order, "order errors: no effect", &["CGAERRBAR"]),
    ("CREDUX", VECTOR, warp::redux, "reduction over the active lanes, as REDUX", &["CREDUX.MIN UR4, R0", "CREDUX.MAXABS.F32.NAN UR4, R0"]),
    ("CS2R", VECTOR, |a| warp::special(a, true), "read a special register, or a pair of them", &["CS2R R0, SRZ"]),
    ("CS2UR", UNIFORM, |a| warp::special(a, true), "the same, uniform", &["CS2UR UR4, SRZ"]),
    ("DADD", VECTOR, |a| float::double::<2>(a, FloatOp::Add), "binary64 add", &["DADD R0, R2, R4"]),
    ("DEPBAR", VECTOR, direct::depbar, "wait for the thread's copies", &["DEPBAR.LE SB0, 0x0", "DEPBAR {1,0}"]),
    ("DFMA", VECTOR, |a| float::double::<3>(a, FloatOp::Fma), "binary64 fused multiply-add", &["DFMA R0, R2, R4, R6"]),
    ("DMUL", VECTOR, |a| float::double::<2>(a, FloatOp::Mul), "binary64 multiply", &["DMUL R0, R2, R4"]),
    ("DSETP", VECTOR, float::dsetp, "binary64 compare; .MIN and .MAX: predicate of which operand is selected", &["DSETP.GT.AND P1, P2, R2, R4, PT", "DSETP.MIN.AND P1, P2, R2, R4, PT"]),
    ("ELECT", VECTOR, warp::elect, "elect one active lane (the lowest; project choice)", &["ELECT P1, URZ, PT"]),
    ("ENDCOLLECTIVE", VECTOR, |_| control(Control::EndCollective), "end of a collective region: each thread continues after the region that it entered", &["ENDCOLLECTIVE"]),
    ("ERRBAR", VECTOR, direct::order, "order errors: no effect", &["ERRBAR"]),
    ("EXIT", VECTOR, direct::exit, "end the thread", &["EXIT"]),
    ("F2F", BOTH, convert::between_floats, "between float formats", &["F2F.F64.F32 R0, R2", "F2F.F32.F64 R0, R2", "F2F.F16.F32 R0, R2", "F2F.BF16.F32 R0, R2"]),
    ("F2FP", BOTH, convert::pack_halves, "convert two binary32 to packed halves; convert halves or binary32 to 8-bit floats, and back", &["F2FP.PACK_AB R0, R1, R2", "F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R0, R1, R2, R3", "F2FP.SATFINITE.E5M2.F16.UNPACK_B_MERGE_C R0, R1, R2", "F2FP.F16.E4M3.UNPACK_B R0, R1"]),
    ("F2I", BOTH, convert::to_int, "float to integer", &["F2I R0, R2", "F2I.F64 R0, R2", "F2I.S64 R0, R2"]),
    ("FADD", BOTH, |a| float::arithmetic::<2>(a, FloatOp::Add), "binary32 add", &["FADD R0, R1, R2"]),
    ("FADD2", VECTOR, |a| float::packed::<2>(a, FloatOp::Add), "two binary32 adds; an operand with .F32 or a number is used for both", &["FADD2 R0, R2.F32x2.HI_LO, R4.F32x2.HI_LO"]),
    ("FCHK", VECTOR, float::check, "predicate: a binary32 division needs the slow path (project choice: wherever the short sequence may be wrong)", &["FCHK P1, R1, R2"]),
    ("FENCE", VECTOR, direct::view_fence, "order memory: no effect", &["FENCE.VIEW.ASYNC"]),
    ("FFMA", BOTH, |a| float::arithmetic::<3>(a, FloatOp::Fma), "binary32 fused multiply-add", &["FFMA R0, R1, R2, R3"]),
    ("FFMA2", VECTOR, |a| float::packed::<3>(a, FloatOp::Fma), "two binary32 fused multiply-adds", &["FFMA2 R0, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO"]),
    ("FLO", BOTH, logic::flo, "find the leading one", &["FLO R0, R1"]),
    ("FMNMX", BOTH, float::fmnmx::<2>, "binary32 minimum or maximum", &["FMNMX R0, R1, R2, PT", "FMNMX.XORSIGN R0, |R1|, |R2|, PT"]),
    ("FMNMX3", VECTOR, float::fmnmx::<3>, "binary32 minimum or maximum of three", &["FMNMX3 R0, R1, R2, R3, PT"]),
    ("FMUL", BOTH, |a| float::arithmetic::<2>(a, FloatOp::Mul), "binary32 multiply", &["FMUL R0, R1, R2"]),
    ("FMUL2", VECTOR, |a| float::packed::<2>(a, FloatOp::Mul), "two binary32 multiplies", &["FMUL2 R0, R2.F32x2.HI_LO, R4.F32x2.HI_LO"]),
    ("FRND", BOTH, convert::round, "round to a whole number", &["FRND R0, R2", "FRND.F64 R0, R2"]),
    ("FSEL", BOTH, float::fsel, "binary32 select", &["FSEL R0, R1, R2, P1"]),
    ("FSET", BOTH, float::fset, "binary32 compare, into a register", &["FSET.GT.AND R0, R1, R2, PT"]),
    ("FSETP", BOTH, float::fsetp, "binary32 compare", &["FSETP.GT.AND P1, P2, R1, R2, PT"]),
    ("HADD2", VECTOR, |a| half::arithmetic::<2>(a, FloatOp::Add), "packed half add", &["HADD2 R0, R1, R2"]),
    ("HFMA2", VECTOR, |a| half::arithmetic::<3>(a, FloatOp::Fma), "packed half fused multiply-add", &["HFMA2 R0, R1, R2, R3"]),
    ("HMNMX2", VECTOR, half::hmnmx2, "packed half minimum or maximum", &["HMNMX2 R0, R1, R2, PT"]),
    ("HMUL2", VECTOR, |a| half::arithmetic::<2>(a, FloatOp::Mul), "packed half multiply", &["HMUL2 R0, R1, R2"]),
    ("HSET2", VECTOR, half::hset2, "packed half compare, into a register", &["HSET2.GT.AND R0, R1, R2, PT"]),
    ("HSETP2", VECTOR, half::hsetp2, "packed half compare", &["HSETP2.GT.AND P1, P2, R1, R2, PT"]),
    ("I2F", BOTH, convert::to_float, "integer to float", &["I2F R0, R2", "I2F.F64 R0, R2", "I2F.S64 R0, R2"]),
    ("I2FP", BOTH, convert::to_float, "integer to binary32", &["I2FP.F32.S32 R0, R2"]),
    ("I2I", VECTOR, convert::between_ints, "between integer types", &["I2I.U8.S32 R0, R1", "I2I.S16.S32 R0, R1"]),
    ("I2IP", VECTOR, video::pack, "convert two integers to packed bytes or halves", &["I2IP.U8.S32.SAT R0, R1, R2, R3"]),
    ("IABS", BOTH, |a| a.plain::<1>(ComputeOp::int(IntOp::Abs, Type::S32), Type::B32), "absolute value", &["IABS R0, R1"]),
    ("IADD", VECTOR, arith::sum::<2>, "add two", &["IADD R0, R2, R4", "IADD.X R0, P0, R2, R4, P1"]),
    ("IADD3", BOTH, arith::sum::<3>, "add three, with carries", &["IADD3 R0, P1, P2, R2, R4, R6", "IADD3.X R0, R2, R4, R6, P1, P2"]),
    ("IDP", BOTH, video::dot, "dot product of bytes or halves", &["IDP.4A.U8.U8 R0, R1, R2, R3", "IDP.2A.LO.S16.S8 R0, R1, R2, R3", "IDP.2A.HI.S16.U8 R0, R1, R2, R3"]),
    ("IDP4A", VECTOR, video::dot_of_bytes, "dot product of bytes", &["IDP4A.S8.S8 R0, R1, R2, R3"]),
    ("IMAD", BOTH, arith::imad, "multiply-add", &["IMAD R0, R1, R2, R3", "IMAD.MOV.U32 R0, RZ, RZ, R3", "IMAD.IADD R0, R1, 0x1, R3", "IMAD.SHL.U32 R0, R1, 0x8, RZ", "IMAD.X R0, R1, R2, R3, P1", "IMAD.HI R0, R1, R2, R4", "IMAD.HI.U32 R0, P1, R1, R2, R4", "IMAD.WIDE R0, P1, R1, R2, R4", "IMAD.WIDE.U32.X R0, R1, R2, R4, P1"]),
    ("IMNMX", BOTH, arith::imnmx, "minimum or maximum", &["IMNMX R0, R2, R4, PT"]),
    ("ISETP", BOTH, arith::isetp, "compare", &["ISETP.GT.AND P1, P2, R2, R4, PT", "ISETP.GT.AND.EX P1, P2, R2, R4, PT, P3"]),
    ("JMP", VECTOR, |a| direct::jump(a, Jump::Plain), "branch", &["JMP `(.L_x_0)"]),
    ("JMX", VECTOR, |a| direct::jump(a, Jump::Plain), "branch to an address in a register", &["JMX R2 0x10"]),
    ("JMXU", UNIFORM, |a| direct::jump(a, Jump::Plain), "the same, uniform", &["JMXU UR2 0x10"]),
    ("LD", VECTOR, |a| global::access(a, Space::Generic, GlobalOp::Load), "load from a generic address", &["LD.E R0, [R2.64]"]),
    ("LDC", VECTOR, global::constant, "load from a constant bank", &["LDC R0, c[0x0][0x160]"]),
    ("LDCU", UNIFORM, global::constant, "load from a constant bank, uniform", &["LDCU UR4, c[0x0][0x160]"]),
    ("LDG", VECTOR, |a| global::access(a, Space::Global, GlobalOp::Load), "load from a global address", &["LDG.E R0, [R2.64]"]),
    ("LDGDEPBAR", VECTOR, |_| control(Control::EndGroup(GroupKind::Threads)), "close the group of the thread's copies since the last LDGDEPBAR", &["LDGDEPBAR"]),
    ("LDGSTS", VECTOR, copy::thread_copy, "copy from global to shared memory, thread by thread", &["LDGSTS.E [R4], [R2.64]", "LDGSTS.E.ZFILL [R4], [R2.64], P1"]),
    ("LDL", VECTOR, |a| shared::local(a, Op::Load), "load from private memory of the thread", &["LDL R0, [R2]"]),
    ("LDS", VECTOR, |a| shared::access(a, Op::Load), "load from a shared address", &["LDS R0, [R2]"]),
    ("LEA", BOTH, arith::lea, "shift and add", &["LEA R0, P1, R1, R2, 0x4", "LEA.HI R0, P1, R1, R2, R3, 0x4", "LEA.HI.X R0, R1, R2, R3, 0x4, P1", "LEA.HI.X.SX32 R0, R1, R2, 0x4, P1", "LEA.HI.SX32 R0, R1, R2, 0x4"]),
    ("LEPC", BOTH, logic::program_counter, "address of code", &["LEPC R2", "LEPC R2, `(.L_x_0)"]),
    ("LOP3", BOTH, logic::lop3, "any bitwise function of three operands", &["LOP3.LUT P1, R0, R1, R2, R3, 0x80, !PT"]),
    ("MATCH", VECTOR, warp::matching, "mask of the lanes that hold the same value", &["MATCH.ANY R0, R2", "MATCH.ALL P1, R0, R2"]),
    ("MEMBAR", VECTOR, direct::membar, "order memory: no effect", &["MEMBAR.SC.GPU", "MEMBAR.ALL.CTA"]),
    ("MOV", BOTH, logic::mov, "copy", &["MOV R0, R2"]),
    ("MUFU", VECTOR, float::mufu, "function of the multi-function unit, rounded to nearest (project choice)", &["MUFU.RCP R0, R1"]),
    ("NANOSLEEP", VECTOR, direct::sleep, "sleep; .SYNCS: wake up when the phase completes that the thread tested last", &["NANOSLEEP 0x10"]),
    ("NOP", VECTOR, direct::nop, "nothing", &["NOP"]),
    ("P2R", VECTOR, |a| preds::to_register(a, "PR"), "copy predicates to a register", &["P2R R0, PR, R1, 0x7f"]),
    ("PLOP3", BOTH, logic::plop3, "any function of three predicates", &["PLOP3.LUT P1, P2, P3, P4, PT, 0x80, 0x8"]),
    ("POPC", BOTH, |a| a.plain::<1>(ComputeOp::int(IntOp::Popc, Type::B32), Type::B32), "count ones", &["POPC R0, R1"]),
    ("PREEXIT", VECTOR, direct::nop, "no effect: there is no next kernel", &["PREEXIT"]),
    ("PRMT", BOTH, logic::prmt, "permute bytes", &["PRMT R0, R1, 0x3210, R2"]),
    ("PSETP", BOTH, logic::psetp, "function of three predicates", &["PSETP.AND.AND P1, P2, P3, P4, PT", "PSETP.OR.XOR P1, P2, P3, P4, PT"]),
    ("QSPC", VECTOR, global::query, "test which memory a generic address belongs to", &["QSPC.E.S P1, RZ, [R2]", "QSPC.E.D P1, RZ, [R2]", "QSPC.E.G P1, RZ, [R2]", "QSPC.E.L P1, RZ, [R2]"]),
    ("R2P", VECTOR, |a| preds::from_register(a, "PR"), "copy a register to predicates", &["R2P PR, R1, 0x7f"]),
    ("R2UR", VECTOR, warp::to_uniform, "copy the register of the lowest active lane to a uniform register; predicate of the lanes that differ", &["R2UR P1, UR4, R0"]),
    ("RED", VECTOR, |a| global::atomic(a, Space::Global, false), "atomic on a global address without result", &["RED.E.ADD.STRONG.GPU [R2.64], R4", "RED.E.MIN [R2.64], R4", "RED.E.MAX [R2.64], R4", "RED.E.INC [R2.64], R4", "RED.E.DEC [R2.64], R4", "RED.E.AND [R2.64], R4", "RED.E.OR [R2.64], R4", "RED.E.XOR [R2.64], R4"]),
    ("REDAS", VECTOR, copy::reduction, "atomic on the cluster's shared memory, then complete transactions", &["REDAS.ADD [R2.64], R4", "REDAS.MIN [R2.64], R4", "REDAS.MAX [R2.64], R4", "REDAS.INC [R2.64], R4", "REDAS.DEC [R2.64], R4", "REDAS.AND [R2.64], R4", "REDAS.OR [R2.64], R4", "REDAS.XOR [R2.64], R4"]),
    ("REDG", VECTOR, |a| global::atomic(a, Space::Global, false), "atomic on a global address without result", &["REDG.E.ADD.STRONG.GPU [R2.64], R4", "REDG.E.MIN [R2.64], R4", "REDG.E.MAX [R2.64], R4", "REDG.E.INC [R2.64], R4", "REDG.E.DEC [R2.64], R4", "REDG.E.AND [R2.64], R4", "REDG.E.OR [R2.64], R4", "REDG.E.XOR [R2.64], R4"]),
    ("REDUX", VECTOR, warp::redux, "reduction over the active lanes", &["REDUX UR4, R0"]),
    ("RET", VECTOR, |a| direct::jump(a, Jump::Return), "branch to an address in a register, relative to a label", &["RET.REL.NODEC R2 `(.L_x_0)", "RET.ABS.NODEC R2 0x0"]),
    ("RPCMOV", VECTOR, direct::rpcmov, "copy half of the return program counter", &["RPCMOV.32 R0, Rpc.LO", "RPCMOV.32 Rpc.HI, R0"]),
    ("S2R", VECTOR, |a| warp::special(a, false), "read a special register", &["S2R R0, SR_TID.X"]),
    ("S2UR", UNIFORM, |a| warp::special(a, false), "read a special register, uniform", &["S2UR UR4, SR_CTAID.X"]),
    ("SEL", BOTH, logic::sel, "select", &["SEL R0, R2, R4, P1"]),
    ("SETMAXREG", BOTH, direct::set_registers, "change the number of registers of a thread: always granted", &["SETMAXREG.DEALLOC.CTAPOOL 0x18", "SETMAXREG.TRY_ALLOC.CTAPOOL P1, 0xe8"]),
    ("SGXT", BOTH, logic::extend, "extend the low bits", &["SGXT R0, R1, 0x8"]),
    ("SHF", BOTH, logic::shf, "funnel shift", &["SHF.L.U32 R0, R1, R2, R3", "SHF.R.U32 R0, R1, R2, R3"]),
    ("SHFL", VECTOR, warp::shfl, "read another lane", &["SHFL.IDX P1, R0, R1, R2, 0x1f", "SHFL.UP P1, R0, R1, R2, RZ", "SHFL.DOWN P1, R0, R1, R2, 0x1f", "SHFL.BFLY P1, R0, R1, R2, 0x1f"]),
    ("ST", VECTOR, |a| global::access(a, Space::Generic, GlobalOp::Store), "store to a generic address", &["ST.E [R2.64], R4"]),
    ("STAS", VECTOR, copy::store, "store to the cluster's shared memory, then complete transactions", &["STAS [R2.64], R4"]),
    ("STG", VECTOR, |a| global::access(a, Space::Global, GlobalOp::Store), "store to a global address", &["STG.E [R2.64], R4"]),
    ("STL", VECTOR, |a| shared::local(a, Op::Store), "store to private memory of the thread", &["STL [R2], R4"]),
    ("STS", VECTOR, |a| shared::access(a, Op::Store), "store to a shared address", &["STS [R2], R4"]),
    ("SYNCS", VECTOR, barrier::decode, "mbarrier object", &["SYNCS.EXCH.64 URZ, [UR4], UR6", "SYNCS.CCTL.IV [R2]", "SYNCS.CCTL.IVALL", "SYNCS.CCTL.WB [R2]", "SYNCS.ARRIVE.TRANS64 R0, [R2], R4", "SYNCS.ARRIVE.TRANS64.ART0 R0, [R2], R4", "SYNCS.ARRIVE.TRANS64.TMASK.ART0 R0, [R2], R4", "SYNCS.PHASECHK.TRANS64 P1, [R2], R4", "SYNCS.PHASECHK.TRANS64.PRIMARY P1, P2, RZ, [R2], R4", "SYNCS.LD.64 R0, [R2]", "SYNCS.LD.64.WATCH R0, [R2]"]),
    ("UBLKCP", VECTOR, copy::bulk, "copy a block between global and shared memory", &["UBLKCP.S.G [UR4], [UR6], UR8", "UBLKCP.S.G.MULTICAST [UR4], [UR6], UR8", "UBLKCP.G.S [UR4], [UR6], UR8", "UBLKCP.G.S.DST_G_BYTE_MASK [UR4], [UR6], UR8", "UBLKCP.S.S [UR4], [UR6], UR8"]),
    ("UBLKPF", VECTOR, direct::no_effect, "prefetch a block: no effect", &["UBLKPF.L2 [UR4], UR6"]),
    ("UBLKRED", VECTOR, copy::bulk_reduce, "read-modify-write a block in global or shared memory", &["UBLKRED.G.S.ADD [UR4], [UR6], UR8", "UBLKRED.G.S.ADD.F32.RN [UR4], [UR6], UR8", "UBLKRED.S.S.ADD [UR4], [UR6], UR8"]),
    ("UCGABAR_ARV", VECTOR, |_| control(Control::ClusterArrive), "arrive at the cluster's barrier", &["UCGABAR_ARV"]),
    ("UCGABAR_WAIT", VECTOR, |_| control(Control::ClusterWait), "wait at the cluster's barrier", &["UCGABAR_WAIT"]),
    ("ULDC", UNIFORM, global::constant, "load from a constant bank, uniform", &["ULDC UR4, c[0x0][0x160]"]),
    ("UMEMSETS", UNIFORM, shared::fill, "store zeros to a range of shared memory, words of 64 bits", &["UMEMSETS.64 [UR4], URZ, UR5"]),
    ("UP2UR", UNIFORM, |a| preds::to_register(a, "UPR"), "copy uniform predicates to a uniform register", &["UP2UR UR4, UPR, URZ, 0x7f"]),
    ("UR2UP", UNIFORM, |a| preds::from_register(a, "UPR"), "copy a uniform register to uniform predicates", &["UR2UP UPR, UR4, 0x7f"]),
    ("USYNCS", UNIFORM, barrier::decode, "as SYNCS, once for the warp", &["USYNCS.EXCH.64 URZ, [UR4], UR6", "USYNCS.CCTL.IV [UR4]", "USYNCS.ARRIVE.TRANS64.ACT0 UR0, [UR4], UR6", "USYNCS.ARRIVE.TRANS64.ART0 UR0, [UR4], UR6", "USYNCS.PHASECHK.TRANS64 UP1, [UR4], UR6"]),
    ("UTMACCTL", VECTOR, direct::prefetch_map, "prefetch a tensor map: no effect", &["UTMACCTL.PF [UR4]"]),
    ("UTMACMDFLUSH", VECTOR, |_| control(Control::EndGroup(GroupKind::Bulk)), "close the group of the thread's block copies to global memory since the last UTMACMDFLUSH", &["UTMACMDFLUSH"]),
    ("UVIADD", UNIFORM, arith::viadd, "as VIADD, once for the warp", &["UVIADD UR0, UR1, UR2"]),
    ("VABSDIFF", VECTOR, video::vabsdiff, "absolute difference plus a third operand", &["VABSDIFF R0, R1, R2, R3"]),
    ("VABSDIFF4", VECTOR, video::vabsdiff4, "absolute differences of bytes; .ACC adds them to a third operand", &["VABSDIFF4.U8 R0, R1, R2, R3", "VABSDIFF4.U8.ACC R0, R1, R2, R3"]),
    ("VIADD", VECTOR, arith::viadd, "add two", &["VIADD R0, R1, R2", "VIADD.S32.ISAT R0, R1, R2"]),
    ("VIADDMNMX", VECTOR, |a| video::min_max(a, IntOp::AddMinMax), "add two operands, then minimum or maximum with a third", &["VIADDMNMX R0, R1, R2, R3, PT"]),
    ("VIMNMX", BOTH, arith::vimnmx, "minimum or maximum", &["VIMNMX R0, R2, R4, PT"]),
    ("VIMNMX3", VECTOR, |a| video::min_max(a, IntOp::MinMax3), "minimum or maximum of three", &["VIMNMX3 R0, R1, R2, R3, PT"]),
    ("VOTE", VECTOR, warp::vote, "mask of the lanes in which a predicate holds", &["VOTE.ANY R0, P1, P2", "VOTE.ALL P1, P2", "VOTE.EQ R0, P1, P2"]),
    ("VOTEU", UNIFORM, warp::vote, "the same, uniform", &["VOTEU.ANY UR4, UP1, P2", "VOTEU.ALL UP1, P2", "VOTEU.EQ UR4, UP1, P2"]),
    ("WARPSYNC", VECTOR, direct::warpsync, "wait for the threads of a mask; threads with different masks do not wait for each other", &["WARPSYNC 0xffffffff", "WARPSYNC.ALL", "WARPSYNC.EXCLUSIVE R0", "WARPSYNC.COLLECTIVE R0, `(.L_x_0)"]),
    ("YIELD", VECTOR, |_| control(Control::Yield), "let other threads of the warp run", &["YIELD"]),
];

/// Mnemonics that exist but are not decoded, in alphabetical order. An instruction with such a mnemonic
/// becomes [`crate::Operation::Unsupported`].
#[rustfmt::skip]
pub const NAMED_MNEMONICS: &[&str] = &[
    "BGMMA", "BMMA", "CLMAD", "DMMA", "DMNMX", "F2IP", "FADD32I", "FFMA32I", "FHADD", "FHFMA", "FMUL32I",
    "FSWZADD", "GETLMEMBASE", "HADD2_32I", "HFMA2_32I", "HGMMA", "HMMA", "HMUL2_32I", "IADD32I", "IGMMA",
    "IMAD32I", "IMMA", "IMUL", "IMUL32I", "ISCADD", "ISCADD32I", "ISET", "JCAL", "KILL", "LDGMC", "LDSM",
    "LDT", "LDTM", "LOP", "LOP32I", "MOV32I", "MOVM", "OMMA", "PMTRIG", "QGMMA", "QMMA", "R2B", "RTT",
    "SETCTAID", "SETLMEMBASE", "SHL", "SHR", "STSM", "STT", "STTM", "SUATOM", "SULD", "SURED", "SUST",
    "TEX", "TLD", "TLD4", "TMML", "TXD", "TXQ", "UCGABAR", "UCLEA", "UF2IP", "UFCHK", "UGETNEXTWORKID",
    "UIADD", "ULDS", "ULOP", "UREDGR", "USTS", "UTCATOMSWS", "UTCBAR", "UTCCP", "UTCHMMA", "UTCIMMA",
    "UTCQMMA", "UTMALDG", "UTMAPF", "UTMAREDG", "UTMASTG", "UVIADDMNMX", "UVIRTCOUNT", "VHMNMX",
    "WARPGROUP", "WARPGROUPSET",
];

pub static MNEMONICS: LazyLock<Vec<MnemonicRow>> = LazyLock::new(|| {
    let row = |(name, paths, decode, effect, examples): &Row, path: Path| {
        if (*paths, path) == (BOTH, Path::Uniform) {
            let uniform = |form: &&str| {
                format!(
                    "U{}",
                    form.replace(" R", " UR").replace("|R", "|UR").replace(" P", " UP").replace("!P", "!UP")
                )
            };
            let (name, effect) = (format!("U{name}"), format!("as {name}, once for the warp"));
            return MnemonicRow {
                name,
                effect,
                examples: examples.iter().map(uniform).collect(),
                path,
                decode: *decode,
            };
        }
        let examples = examples.iter().map(ToString::to_string).collect();
        MnemonicRow { name: name.to_string(), effect: effect.to_string(), examples, path, decode: *decode }
    };
    let each = ROWS.iter().flat_map(|entry| entry.1.iter().map(move |path| row(entry, *path)));
    let mut all: Vec<_> = each.collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
});

static INDEX: LazyLock<HashMap<&str, &MnemonicRow>> =
    LazyLock::new(|| MNEMONICS.iter().map(|row| (row.name.as_str(), row)).collect());

pub(super) fn find(name: &str) -> Option<&'static MnemonicRow> {
    INDEX.get(name).copied()
}

pub(super) fn nearest(name: &str) -> &'static str {
    let decoded = MNEMONICS.iter().map(|row| row.name.as_str());
    crate::nearest::nearest(name, decoded.chain(NAMED_MNEMONICS.iter().copied())).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_without_doubles() {
        let rows: Vec<_> = ROWS.iter().map(|row| row.0).collect();
        let decoded: Vec<_> = MNEMONICS.iter().map(|row| row.name.as_str()).collect();
        for names in [&rows, &decoded, &NAMED_MNEMONICS.to_vec()] {
            assert!(names.windows(2).all(|w| w[0] < w[1]), "{names:?}");
        }
        for name in NAMED_MNEMONICS {
            assert!(find(name).is_none(), "{name} twice");
        }
    }

    #[test]
    fn a_slip_leads_to_what_was_meant() {
        for (slip, meant) in [("IMADD", "IMAD"), ("ATOM5", "ATOM"), ("lop3", "LOP3"), ("BSYNK", "BSYNC")] {
            assert_eq!(nearest(slip), meant);
        }
    }
}
