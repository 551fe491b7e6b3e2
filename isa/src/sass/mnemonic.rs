//! The mnemonics of machine code text, and which of them are decoded.

use crate::index::Index;

/// What this crate does with a mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Decoded, with the modifiers that its decoder knows.
    Decoded,
    /// Known to exist; kept as [`crate::Operation::Lacking`].
    Named,
}

/// One row of the table of mnemonics.
#[derive(Clone, Copy, Debug)]
pub struct MnemonicRow {
    /// The part before the first dot.
    pub name: &'static str,
    /// What is done with it.
    pub support: Support,
    /// What it does, for the table in `docs/sass.md`; empty where it is only named.
    pub effect: &'static str,
    /// Its forms with the operands they take, without further modifiers; all are decoded.
    pub examples: &'static [&'static str],
}

const fn decoded(name: &'static str, effect: &'static str, examples: &'static [&'static str]) -> MnemonicRow {
    MnemonicRow { name, support: Support::Decoded, effect, examples }
}

const fn named(name: &'static str) -> MnemonicRow {
    MnemonicRow { name, support: Support::Named, effect: "", examples: &[] }
}

/// Every mnemonic known, in alphabetical order within each kind of support.
#[rustfmt::skip]
pub const MNEMONICS: &[MnemonicRow] = &[
    decoded("ACQBULK", "wait for the kernel before: there is none", &["ACQBULK"]),
    decoded("ACQSHMINIT", "wait for shared memory to be given: it is", &["ACQSHMINIT"]),
    decoded("ARRIVES", "mbarrier operation when the thread's copies are done", &["ARRIVES.LDGSTSBAR.64 [UR4]"]),
    decoded("ATOM", "atomic on a generic address", &["ATOM.E.ADD.STRONG.GPU PT, R0, [R2.64], R4", "ATOM.E.MIN.STRONG.GPU PT, R0, [R2.64], R4", "ATOM.E.MAX PT, R0, [R2.64], R4", "ATOM.E.INC PT, R0, [R2.64], R4", "ATOM.E.DEC PT, R0, [R2.64], R4", "ATOM.E.AND PT, R0, [R2.64], R4", "ATOM.E.OR PT, R0, [R2.64], R4", "ATOM.E.XOR PT, R0, [R2.64], R4", "ATOM.E.EXCH PT, R0, [R2.64], R4", "ATOM.E.CAS PT, R0, [R2.64], R4, R6", "ATOM.E.CAST.SPIN.STRONG.SM PT, R0, [R2.64], R4, R6", "ATOM.E.POPC.INC.32.STRONG.SM PT, RZ, [R2.64]", "ATOM.E.ARRIVE.64.STRONG.SM PT, RZ, [R2.64]"]),
    decoded("ATOMG", "atomic on a global address", &["ATOMG.E.ADD.STRONG.GPU PT, R0, [R2.64], R4", "ATOMG.E.MIN PT, R0, [R2.64], R4", "ATOMG.E.MAX PT, R0, [R2.64], R4", "ATOMG.E.INC PT, R0, [R2.64], R4", "ATOMG.E.DEC PT, R0, [R2.64], R4", "ATOMG.E.AND PT, R0, [R2.64], R4", "ATOMG.E.OR PT, R0, [R2.64], R4", "ATOMG.E.XOR PT, R0, [R2.64], R4", "ATOMG.E.EXCH PT, R0, [R2.64], R4", "ATOMG.E.CAS PT, R0, [R2.64], R4, R6"]),
    decoded("ATOMS", "atomic on a shared address", &["ATOMS.ADD R0, [R2], R4", "ATOMS.MIN R0, [R2], R4", "ATOMS.MAX R0, [R2], R4", "ATOMS.INC R0, [R2], R4", "ATOMS.DEC R0, [R2], R4", "ATOMS.AND R0, [R2], R4", "ATOMS.OR R0, [R2], R4", "ATOMS.XOR R0, [R2], R4", "ATOMS.EXCH R0, [R2], R4", "ATOMS.CAS R0, [R2], R4, R8", "ATOMS.CAST R0, [R2], R4, R8", "ATOMS.CAST.SPIN R0, [R2], R4, R8", "ATOMS.POPC.INC.32 RZ, [R2]", "ATOMS.ARRIVE.64 R0, [R2]"]),
    decoded("B2R", "what the last BAR.RED gave", &["B2R.RESULT R0, P1"]),
    decoded("BAR", "block barrier", &["BAR.SYNC 0x0", "BAR.ARV 0x1, 0x40", "BAR.RED.POPC 0x0, P1", "BAR.RED.AND 0x0, P1", "BAR.RED.OR 0x0, 0x40, P1"]),
    decoded("BMOV", "copy a convergence barrier", &["BMOV.32 R0, B1", "BMOV.32.CLEAR R0, B1", "BMOV.32 B1, R0"]),
    decoded("BMSK", "mask of ones", &["BMSK R0, R1, R2"]),
    decoded("BPT", "end the run with an error", &["BPT.TRAP 0x1"]),
    decoded("BRA", "branch; .U and .U.ANY decide once, .DIV and .CONV ask whether threads are apart or together", &["BRA `(.L_x_0)", "BRA P1, `(.L_x_0)", "BRA.U UP1, `(.L_x_0)", "BRA.U.ANY `(.L_x_0)", "BRA.DIV UR4, `(.L_x_0)", "BRA.DIV `(.L_x_0)", "BRA.CONV UR4, `(.L_x_0)"]),
    decoded("BREAK", "strike threads from a convergence barrier", &["BREAK B0", "BREAK P1, B0"]),
    decoded("BREV", "reverse bits", &["BREV R0, R1"]),
    decoded("BRX", "branch to an address in a register, from the next instruction", &["BRX R2 -0x10"]),
    decoded("BRXU", "the same, uniform", &["BRXU UR2 -0x10"]),
    decoded("BSSY", "note the threads that will meet", &["BSSY B0, `(.L_x_0)"]),
    decoded("BSYNC", "wait for the threads noted", &["BSYNC B0"]),
    decoded("CALL", "go to a subroutine; the code has put the return address into registers", &["CALL.REL.NOINC `(.L_x_0)", "CALL.ABS.NOINC R2"]),
    decoded("CCTL", "cache control: nothing to do here", &["CCTL.IVALL"]),
    decoded("CCTLL", "cache control: nothing to do here", &["CCTLL.IVALL"]),
    decoded("CCTLT", "cache control: nothing to do here", &["CCTLT.IVALL"]),
    decoded("CGAERRBAR", "order errors: nothing to do here", &["CGAERRBAR"]),
    decoded("CREDUX", "combine over the warp: as REDUX", &["CREDUX.MIN UR4, R0", "CREDUX.MAXABS.F32.NAN UR4, R0"]),
    decoded("CS2R", "read a special register, or two", &["CS2R R0, SRZ"]),
    decoded("CS2UR", "the same, uniform", &["CS2UR UR4, SRZ"]),
    decoded("DADD", "binary64 add", &["DADD R0, R2, R4"]),
    decoded("DEPBAR", "wait for the thread's copies", &["DEPBAR.LE SB0, 0x0", "DEPBAR {1,0}"]),
    decoded("DFMA", "binary64 fused multiply-add", &["DFMA R0, R2, R4, R6"]),
    decoded("DMUL", "binary64 multiply", &["DMUL R0, R2, R4"]),
    decoded("DSETP", "binary64 compare; .MIN and .MAX tell which operand", &["DSETP.GT.AND P1, P2, R2, R4, PT", "DSETP.MIN.AND P1, P2, R2, R4, PT"]),
    decoded("ELECT", "elect one lane (the lowest, chosen)", &["ELECT P1, URZ, PT"]),
    decoded("ENDCOLLECTIVE", "end of a collective region: each thread goes on behind its own", &["ENDCOLLECTIVE"]),
    decoded("ERRBAR", "order errors: nothing to do here", &["ERRBAR"]),
    decoded("EXIT", "end the thread", &["EXIT"]),
    decoded("F2F", "between float formats", &["F2F.F64.F32 R0, R2", "F2F.F32.F64 R0, R2", "F2F.F16.F32 R0, R2", "F2F.BF16.F32 R0, R2"]),
    decoded("F2FP", "two binary32 to packed halves", &["F2FP.PACK_AB R0, R1, R2"]),
    decoded("F2I", "float to integer", &["F2I R0, R2", "F2I.F64 R0, R2", "F2I.S64 R0, R2"]),
    decoded("FADD", "binary32 add", &["FADD R0, R1, R2"]),
    decoded("FCHK", "whether a division needs its long way (chosen: wherever the short one might err)", &["FCHK P1, R1, R2"]),
    decoded("FENCE", "order memory: nothing to do here", &["FENCE.VIEW.ASYNC"]),
    decoded("FFMA", "binary32 fused multiply-add", &["FFMA R0, R1, R2, R3"]),
    decoded("FLO", "find the leading one", &["FLO R0, R1"]),
    decoded("FMNMX", "binary32 minimum or maximum", &["FMNMX R0, R1, R2, PT"]),
    decoded("FMUL", "binary32 multiply", &["FMUL R0, R1, R2"]),
    decoded("FRND", "round to a whole number", &["FRND R0, R2", "FRND.F64 R0, R2"]),
    decoded("FSEL", "binary32 select", &["FSEL R0, R1, R2, P1"]),
    decoded("FSET", "binary32 compare, into a register", &["FSET.GT.AND R0, R1, R2, PT"]),
    decoded("FSETP", "binary32 compare", &["FSETP.GT.AND P1, P2, R1, R2, PT"]),
    decoded("HADD2", "packed half add", &["HADD2 R0, R1, R2"]),
    decoded("HFMA2", "packed half fused multiply-add", &["HFMA2 R0, R1, R2, R3"]),
    decoded("HMNMX2", "packed half minimum or maximum", &["HMNMX2 R0, R1, R2, PT"]),
    decoded("HMUL2", "packed half multiply", &["HMUL2 R0, R1, R2"]),
    decoded("HSET2", "packed half compare, into a register", &["HSET2.GT.AND R0, R1, R2, PT"]),
    decoded("HSETP2", "packed half compare", &["HSETP2.GT.AND P1, P2, R1, R2, PT"]),
    decoded("I2F", "integer to float", &["I2F R0, R2", "I2F.F64 R0, R2", "I2F.S64 R0, R2"]),
    decoded("I2FP", "integer to binary32", &["I2FP.F32.S32 R0, R2"]),
    decoded("I2I", "between integer types", &["I2I.U8.S32 R0, R1", "I2I.S16.S32 R0, R1"]),
    decoded("I2IP", "two integers to packed bytes or halves", &["I2IP.U8.S32.SAT R0, R1, R2, R3"]),
    decoded("IABS", "absolute value", &["IABS R0, R1"]),
    decoded("IADD", "add two", &["IADD R0, R2, R4", "IADD.X R0, P0, R2, R4, P1"]),
    decoded("IADD3", "add three, with carries", &["IADD3 R0, P1, P2, R2, R4, R6", "IADD3.X R0, R2, R4, R6, P1, P2"]),
    decoded("IDP", "dot product of bytes or halves", &["IDP.4A.U8.U8 R0, R1, R2, R3", "IDP.2A.LO.S16.S8 R0, R1, R2, R3", "IDP.2A.HI.S16.U8 R0, R1, R2, R3"]),
    decoded("IDP4A", "dot product of bytes", &["IDP4A.S8.S8 R0, R1, R2, R3"]),
    decoded("IMAD", "multiply-add", &["IMAD R0, R1, R2, R3", "IMAD.MOV.U32 R0, RZ, RZ, R3", "IMAD.IADD R0, R1, 0x1, R3", "IMAD.SHL.U32 R0, R1, 0x8, RZ", "IMAD.X R0, R1, R2, R3, P1", "IMAD.HI R0, R1, R2, R4", "IMAD.HI.U32 R0, P1, R1, R2, R4", "IMAD.WIDE R0, P1, R1, R2, R4", "IMAD.WIDE.U32.X R0, R1, R2, R4, P1"]),
    decoded("IMNMX", "minimum or maximum", &["IMNMX R0, R2, R4, PT"]),
    decoded("ISETP", "compare", &["ISETP.GT.AND P1, P2, R2, R4, PT", "ISETP.GT.AND.EX P1, P2, R2, R4, PT, P3"]),
    decoded("JMP", "branch", &["JMP `(.L_x_0)"]),
    decoded("JMX", "branch to an address in a register", &["JMX R2 0x10"]),
    decoded("JMXU", "the same, uniform", &["JMXU UR2 0x10"]),
    decoded("LD", "load from a generic address", &["LD.E R0, [R2.64]"]),
    decoded("LDC", "load from a constant bank", &["LDC R0, c[0x0][0x160]"]),
    decoded("LDCU", "load from a constant bank, uniform", &["LDCU UR4, c[0x0][0x160]"]),
    decoded("LDG", "load from a global address", &["LDG.E R0, [R2.64]"]),
    decoded("LDGDEPBAR", "the thread's copies since the last are a group", &["LDGDEPBAR"]),
    decoded("LDGSTS", "copy from global to shared memory, thread by thread", &["LDGSTS.E [R4], [R2.64]", "LDGSTS.E.ZFILL [R4], [R2.64], P1"]),
    decoded("LDL", "load from the thread's own memory", &["LDL R0, [R2]"]),
    decoded("LDS", "load from a shared address", &["LDS R0, [R2]"]),
    decoded("LEA", "shift and add", &["LEA R0, P1, R1, R2, 0x4", "LEA.HI R0, P1, R1, R2, R3, 0x4", "LEA.HI.X R0, R1, R2, R3, 0x4, P1", "LEA.HI.X.SX32 R0, R1, R2, 0x4, P1", "LEA.HI.SX32 R0, R1, R2, 0x4"]),
    decoded("LEPC", "address of code", &["LEPC R2", "LEPC R2, `(.L_x_0)"]),
    decoded("LOP3", "any bitwise function of three", &["LOP3.LUT P1, R0, R1, R2, R3, 0x80, !PT"]),
    decoded("MATCH", "the lanes that hold the same value", &["MATCH.ANY R0, R2", "MATCH.ALL P1, R0, R2"]),
    decoded("MEMBAR", "order memory: nothing to do here", &["MEMBAR.SC.GPU", "MEMBAR.ALL.CTA"]),
    decoded("MOV", "copy", &["MOV R0, R2"]),
    decoded("MUFU", "function, to nearest (chosen)", &["MUFU.RCP R0, R1"]),
    decoded("NANOSLEEP", "wait; .SYNCS no longer than for the phase last asked about", &["NANOSLEEP 0x10"]),
    decoded("NOP", "nothing", &["NOP"]),
    decoded("P2R", "predicates to a register", &["P2R R0, PR, R1, 0x7f"]),
    decoded("PLOP3", "any function of three predicates", &["PLOP3.LUT P1, P2, P3, P4, PT, 0x80, 0x8"]),
    decoded("POPC", "count ones", &["POPC R0, R1"]),
    decoded("PREEXIT", "let the next kernel start: there is none", &["PREEXIT"]),
    decoded("PRMT", "permute bytes", &["PRMT R0, R1, 0x3210, R2"]),
    decoded("PSETP", "function of three predicates", &["PSETP.AND.AND P1, P2, P3, P4, PT", "PSETP.OR.XOR P1, P2, P3, P4, PT"]),
    decoded("QSPC", "which space a generic address names", &["QSPC.E.S P1, RZ, [R2]", "QSPC.E.D P1, RZ, [R2]", "QSPC.E.G P1, RZ, [R2]", "QSPC.E.L P1, RZ, [R2]"]),
    decoded("R2P", "a register to predicates", &["R2P PR, R1, 0x7f"]),
    decoded("R2UR", "the lowest active lane's register, and which lanes differ", &["R2UR P1, UR4, R0"]),
    decoded("RED", "atomic on a global address without result", &["RED.E.ADD.STRONG.GPU [R2.64], R4", "RED.E.MIN [R2.64], R4", "RED.E.MAX [R2.64], R4", "RED.E.INC [R2.64], R4", "RED.E.DEC [R2.64], R4", "RED.E.AND [R2.64], R4", "RED.E.OR [R2.64], R4", "RED.E.XOR [R2.64], R4"]),
    decoded("REDAS", "atomic on the cluster's shared memory, then complete transactions", &["REDAS.ADD [R2.64], R4", "REDAS.MIN [R2.64], R4", "REDAS.MAX [R2.64], R4", "REDAS.INC [R2.64], R4", "REDAS.DEC [R2.64], R4", "REDAS.AND [R2.64], R4", "REDAS.OR [R2.64], R4", "REDAS.XOR [R2.64], R4"]),
    decoded("REDG", "atomic on a global address without result", &["REDG.E.ADD.STRONG.GPU [R2.64], R4", "REDG.E.MIN [R2.64], R4", "REDG.E.MAX [R2.64], R4", "REDG.E.INC [R2.64], R4", "REDG.E.DEC [R2.64], R4", "REDG.E.AND [R2.64], R4", "REDG.E.OR [R2.64], R4", "REDG.E.XOR [R2.64], R4"]),
    decoded("REDUX", "combine over the warp", &["REDUX UR4, R0"]),
    decoded("RET", "go to the address in a register, from a label", &["RET.REL.NODEC R2 `(.L_x_0)", "RET.ABS.NODEC R2 0x0"]),
    decoded("RPCMOV", "copy half of the return program counter", &["RPCMOV.32 R0, Rpc.LO", "RPCMOV.32 Rpc.HI, R0"]),
    decoded("S2R", "read a special register", &["S2R R0, SR_TID.X"]),
    decoded("S2UR", "read a special register, uniform", &["S2UR UR4, SR_CTAID.X"]),
    decoded("SEL", "select", &["SEL R0, R2, R4, P1"]),
    decoded("SGXT", "extend the low bits", &["SGXT R0, R1, 0x8"]),
    decoded("SHF", "funnel shift", &["SHF.L.U32 R0, R1, R2, R3", "SHF.R.U32 R0, R1, R2, R3"]),
    decoded("SHFL", "read another lane", &["SHFL.IDX P1, R0, R1, R2, 0x1f", "SHFL.UP P1, R0, R1, R2, RZ", "SHFL.DOWN P1, R0, R1, R2, 0x1f", "SHFL.BFLY P1, R0, R1, R2, 0x1f"]),
    decoded("ST", "store to a generic address", &["ST.E [R2.64], R4"]),
    decoded("STAS", "store to the cluster's shared memory, then complete transactions", &["STAS [R2.64], R4"]),
    decoded("STG", "store to a global address", &["STG.E [R2.64], R4"]),
    decoded("STL", "store to the thread's own memory", &["STL [R2], R4"]),
    decoded("STS", "store to a shared address", &["STS [R2], R4"]),
    decoded("SYNCS", "mbarrier object", &["SYNCS.EXCH.64 URZ, [UR4], UR6", "SYNCS.CCTL.IV [R2]", "SYNCS.CCTL.IVALL", "SYNCS.ARRIVE.TRANS64 R0, [R2], R4", "SYNCS.ARRIVE.TRANS64.ART0 R0, [R2], R4", "SYNCS.ARRIVE.TRANS64.TMASK.ART0 R0, [R2], R4", "SYNCS.PHASECHK.TRANS64 P1, [R2], R4", "SYNCS.PHASECHK.TRANS64.PRIMARY P1, P2, RZ, [R2], R4", "SYNCS.LD.64 R0, [R2]"]),
    decoded("UBLKCP", "copy a block between global and shared memory", &["UBLKCP.S.G [UR4], [UR6], UR8", "UBLKCP.S.G.MULTICAST [UR4], [UR6], UR8", "UBLKCP.G.S [UR4], [UR6], UR8", "UBLKCP.G.S.DST_G_BYTE_MASK [UR4], [UR6], UR8", "UBLKCP.S.S [UR4], [UR6], UR8"]),
    decoded("UBLKPF", "prefetch a block: nothing to do here", &["UBLKPF.L2 [UR4], UR6"]),
    decoded("UBLKRED", "work a block into global or shared memory", &["UBLKRED.G.S.ADD [UR4], [UR6], UR8", "UBLKRED.G.S.ADD.F32.RN [UR4], [UR6], UR8", "UBLKRED.S.S.ADD [UR4], [UR6], UR8"]),
    decoded("UBMSK", "as BMSK, once for the warp", &["UBMSK UR0, UR1, UR2"]),
    decoded("UBREV", "as BREV, once for the warp", &["UBREV UR0, UR1"]),
    decoded("UCGABAR_ARV", "arrive at the cluster's barrier", &["UCGABAR_ARV"]),
    decoded("UCGABAR_WAIT", "wait at the cluster's barrier", &["UCGABAR_WAIT"]),
    decoded("UF2F", "as F2F, once for the warp", &["UF2F.F64.F32 UR0, UR2", "UF2F.F32.F64 UR0, UR2", "UF2F.F16.F32 UR0, UR2", "UF2F.BF16.F32 UR0, UR2"]),
    decoded("UF2FP", "as F2FP, once for the warp", &["UF2FP.PACK_AB UR0, UR1, UR2"]),
    decoded("UF2I", "as F2I, once for the warp", &["UF2I UR0, UR2", "UF2I.F64 UR0, UR2", "UF2I.S64 UR0, UR2"]),
    decoded("UFADD", "as FADD, once for the warp", &["UFADD UR0, UR1, UR2"]),
    decoded("UFFMA", "as FFMA, once for the warp", &["UFFMA UR0, UR1, UR2, UR3"]),
    decoded("UFLO", "as FLO, once for the warp", &["UFLO UR0, UR1"]),
    decoded("UFMNMX", "as FMNMX, once for the warp", &["UFMNMX UR0, UR1, UR2, UPT"]),
    decoded("UFMUL", "as FMUL, once for the warp", &["UFMUL UR0, UR1, UR2"]),
    decoded("UFRND", "as FRND, once for the warp", &["UFRND UR0, UR2", "UFRND.F64 UR0, UR2"]),
    decoded("UFSEL", "as FSEL, once for the warp", &["UFSEL UR0, UR1, UR2, UP1"]),
    decoded("UFSET", "as FSET, once for the warp", &["UFSET.GT.AND UR0, UR1, UR2, UPT"]),
    decoded("UFSETP", "as FSETP, once for the warp", &["UFSETP.GT.AND UP1, UP2, UR1, UR2, UPT"]),
    decoded("UI2F", "as I2F, once for the warp", &["UI2F UR0, UR2", "UI2F.F64 UR0, UR2", "UI2F.S64 UR0, UR2"]),
    decoded("UI2FP", "as I2FP, once for the warp", &["UI2FP.F32.S32 UR0, UR2"]),
    decoded("UIABS", "as IABS, once for the warp", &["UIABS UR0, UR1"]),
    decoded("UIADD3", "as IADD3, once for the warp", &["UIADD3 UR0, UP1, UP2, UR2, UR4, UR6", "UIADD3.X UR0, UR2, UR4, UR6, UP1, UP2"]),
    decoded("UIDP", "as IDP, once for the warp", &["UIDP.4A.U8.U8 UR0, UR1, UR2, UR3", "UIDP.2A.LO.S16.S8 UR0, UR1, UR2, UR3", "UIDP.2A.HI.S16.U8 UR0, UR1, UR2, UR3"]),
    decoded("UIMAD", "as IMAD, once for the warp", &["UIMAD UR0, UR1, UR2, UR3", "UIMAD.MOV.U32 UR0, URZ, URZ, UR3", "UIMAD.IADD UR0, UR1, 0x1, UR3", "UIMAD.SHL.U32 UR0, UR1, 0x8, URZ", "UIMAD.X UR0, UR1, UR2, UR3, UP1", "UIMAD.HI UR0, UR1, UR2, UR4", "UIMAD.WIDE UR0, UP1, UR1, UR2, UR4", "UIMAD.WIDE.U32.X UR0, UR1, UR2, UR4, UP1"]),
    decoded("UIMNMX", "as IMNMX, once for the warp", &["UIMNMX UR0, UR2, UR4, UPT"]),
    decoded("UISETP", "as ISETP, once for the warp", &["UISETP.GT.AND UP1, UP2, UR2, UR4, UPT", "UISETP.GT.AND.EX UP1, UP2, UR2, UR4, UPT, UP3"]),
    decoded("ULDC", "load from a constant bank, uniform", &["ULDC UR4, c[0x0][0x160]"]),
    decoded("ULEA", "as LEA, once for the warp", &["ULEA UR0, UP1, UR1, UR2, 0x4", "ULEA.HI UR0, UP1, UR1, UR2, UR3, 0x4", "ULEA.HI.X UR0, UR1, UR2, UR3, 0x4, UP1", "ULEA.HI.X.SX32 UR0, UR1, UR2, 0x4, UP1", "ULEA.HI.SX32 UR0, UR1, UR2, 0x4"]),
    decoded("ULEPC", "as LEPC, once for the warp", &["ULEPC UR2", "ULEPC UR2, `(.L_x_0)"]),
    decoded("ULOP3", "as LOP3, once for the warp", &["ULOP3.LUT UP1, UR0, UR1, UR2, UR3, 0x80, !UPT"]),
    decoded("UMOV", "as MOV, once for the warp", &["UMOV UR0, UR2"]),
    decoded("UP2UR", "predicates of the warp to a register", &["UP2UR UR4, UPR, URZ, 0x7f"]),
    decoded("UPLOP3", "as PLOP3, once for the warp", &["UPLOP3.LUT UP1, UP2, UP3, UP4, UPT, 0x80, 0x8"]),
    decoded("UPOPC", "as POPC, once for the warp", &["UPOPC UR0, UR1"]),
    decoded("UPRMT", "as PRMT, once for the warp", &["UPRMT UR0, UR1, 0x3210, UR2"]),
    decoded("UPSETP", "as PSETP, once for the warp", &["UPSETP.AND.AND UP1, UP2, UP3, UP4, UPT", "UPSETP.OR.XOR UP1, UP2, UP3, UP4, UPT"]),
    decoded("UR2UP", "a register to predicates of the warp", &["UR2UP UPR, UR4, 0x7f"]),
    decoded("USEL", "as SEL, once for the warp", &["USEL UR0, UR2, UR4, UP1"]),
    decoded("USGXT", "as SGXT, once for the warp", &["USGXT UR0, UR1, 0x8"]),
    decoded("USHF", "as SHF, once for the warp", &["USHF.L.U32 UR0, UR1, UR2, UR3", "USHF.R.U32 UR0, UR1, UR2, UR3"]),
    decoded("USYNCS", "as SYNCS, once for the warp", &["USYNCS.EXCH.64 URZ, [UR4], UR6", "USYNCS.CCTL.IV [UR4]", "USYNCS.ARRIVE.TRANS64.ACT0 UR0, [UR4], UR6", "USYNCS.ARRIVE.TRANS64.ART0 UR0, [UR4], UR6", "USYNCS.PHASECHK.TRANS64 UP1, [UR4], UR6"]),
    decoded("UTMACMDFLUSH", "the thread's block copies to global memory since the last are a group", &["UTMACMDFLUSH"]),
    decoded("UVIADD", "as VIADD, once for the warp", &["UVIADD UR0, UR1, UR2"]),
    decoded("UVIMNMX", "as VIMNMX, once for the warp", &["UVIMNMX UR0, UR2, UR4, UPT"]),
    decoded("VABSDIFF", "absolute difference, plus a third", &["VABSDIFF R0, R1, R2, R3"]),
    decoded("VABSDIFF4", "absolute differences of bytes, added", &["VABSDIFF4.U8 R0, R1, R2, R3"]),
    decoded("VIADD", "add two", &["VIADD R0, R1, R2", "VIADD.S32.ISAT R0, R1, R2"]),
    decoded("VIADDMNMX", "add two, then minimum or maximum with a third", &["VIADDMNMX R0, R1, R2, R3, PT"]),
    decoded("VIMNMX", "minimum or maximum", &["VIMNMX R0, R2, R4, PT"]),
    decoded("VIMNMX3", "minimum or maximum of three", &["VIMNMX3 R0, R1, R2, R3, PT"]),
    decoded("VOTE", "mask of the lanes in which a predicate holds", &["VOTE.ANY R0, P1, P2", "VOTE.ALL P1, P2", "VOTE.EQ R0, P1, P2"]),
    decoded("VOTEU", "the same, uniform", &["VOTEU.ANY UR4, UP1, P2", "VOTEU.ALL UP1, P2", "VOTEU.EQ UR4, UP1, P2"]),
    decoded("WARPSYNC", "wait for the threads of a mask, each mask for itself", &["WARPSYNC 0xffffffff", "WARPSYNC.ALL", "WARPSYNC.EXCLUSIVE R0", "WARPSYNC.COLLECTIVE R0, `(.L_x_0)"]),
    decoded("YIELD", "let other threads of the warp run", &["YIELD"]),
    named("BGMMA"),
    named("BMMA"),
    named("CLMAD"),
    named("DMMA"),
    named("DMNMX"),
    named("F2IP"),
    named("FADD2"),
    named("FADD32I"),
    named("FFMA2"),
    named("FFMA32I"),
    named("FHADD"),
    named("FHFMA"),
    named("FMNMX3"),
    named("FMUL2"),
    named("FMUL32I"),
    named("FSWZADD"),
    named("GETLMEMBASE"),
    named("HADD2_32I"),
    named("HFMA2_32I"),
    named("HGMMA"),
    named("HMMA"),
    named("HMUL2_32I"),
    named("IADD32I"),
    named("IGMMA"),
    named("IMAD32I"),
    named("IMMA"),
    named("IMUL"),
    named("IMUL32I"),
    named("ISCADD"),
    named("ISCADD32I"),
    named("ISET"),
    named("JCAL"),
    named("KILL"),
    named("LDGMC"),
    named("LDSM"),
    named("LDT"),
    named("LDTM"),
    named("LOP"),
    named("LOP32I"),
    named("MOV32I"),
    named("MOVM"),
    named("OMMA"),
    named("PMTRIG"),
    named("QGMMA"),
    named("QMMA"),
    named("R2B"),
    named("RTT"),
    named("SETCTAID"),
    named("SETLMEMBASE"),
    named("SETMAXREG"),
    named("SHL"),
    named("SHR"),
    named("STSM"),
    named("STT"),
    named("STTM"),
    named("SUATOM"),
    named("SULD"),
    named("SURED"),
    named("SUST"),
    named("TEX"),
    named("TLD"),
    named("TLD4"),
    named("TMML"),
    named("TXD"),
    named("TXQ"),
    named("UCGABAR"),
    named("UCLEA"),
    named("UF2IP"),
    named("UFCHK"),
    named("UGETNEXTWORKID"),
    named("UIADD"),
    named("ULDS"),
    named("ULOP"),
    named("UREDGR"),
    named("USETMAXREG"),
    named("USTS"),
    named("UTCATOMSWS"),
    named("UTCBAR"),
    named("UTCCP"),
    named("UTCHMMA"),
    named("UTCIMMA"),
    named("UTCQMMA"),
    named("UTMACCTL"),
    named("UTMALDG"),
    named("UTMAPF"),
    named("UTMAREDG"),
    named("UTMASTG"),
    named("UVIADDMNMX"),
    named("UVIRTCOUNT"),
    named("VHMNMX"),
    named("WARPGROUP"),
    named("WARPGROUPSET"),
];

static INDEX: Index = {
    let mut index = Index::new();
    let mut position = 0;
    while position < MNEMONICS.len() {
        index = index.with(MNEMONICS[position].name, position);
        position += 1;
    }
    index
};

/// The row of a mnemonic, by the part before its first dot.
pub(crate) fn find(name: &str) -> Option<&'static MnemonicRow> {
    let is = |position: usize| MNEMONICS.get(position).is_some_and(|row| row.name == name);
    INDEX.find(name, is).and_then(|position| MNEMONICS.get(position))
}

/// The known mnemonic nearest to `name`.
pub(crate) fn nearest(name: &str) -> &'static str {
    crate::nearest::nearest(name, MNEMONICS.iter().map(|row| row.name)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_without_doubles() {
        for support in [Support::Decoded, Support::Named] {
            let names: Vec<_> = MNEMONICS.iter().filter(|r| r.support == support).map(|r| r.name).collect();
            assert!(names.windows(2).all(|w| w[0] < w[1]), "{names:?}");
        }
        for row in MNEMONICS.iter().filter(|r| r.support == Support::Named) {
            assert_eq!(find(row.name).map(|r| r.support), Some(Support::Named), "{} twice", row.name);
        }
    }

    #[test]
    fn a_slip_leads_to_what_was_meant() {
        for (slip, meant) in [("IMADD", "IMAD"), ("ATOM5", "ATOM"), ("lop3", "LOP3"), ("BSYNK", "BSYNC")] {
            assert_eq!(nearest(slip), meant);
        }
    }
}
