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
}

const fn decoded(name: &'static str, effect: &'static str) -> MnemonicRow {
    MnemonicRow { name, support: Support::Decoded, effect }
}

const fn named(name: &'static str) -> MnemonicRow {
    MnemonicRow { name, support: Support::Named, effect: "" }
}

/// Every mnemonic known, in alphabetical order within each kind of support.
pub const MNEMONICS: &[MnemonicRow] = &[
    decoded("ARRIVES", "mbarrier operation when the thread's copies are done: LDGSTSBAR"),
    decoded("ATOM", "atomic on a generic address"),
    decoded("ATOMG", "atomic on a global address"),
    decoded("ATOMS", "atomic on a shared address"),
    decoded("BAR", "block barrier: SYNC, ARV"),
    decoded("BMOV", "copy a convergence barrier"),
    decoded("BRA", "branch; .U and .U.ANY decide once"),
    decoded("BREAK", "strike threads from a convergence barrier"),
    decoded("BREV", "reverse bits"),
    decoded("BSSY", "note the threads that will meet"),
    decoded("BSYNC", "wait for the threads noted"),
    decoded("CCTL", "cache control: nothing to do here"),
    decoded("CGAERRBAR", "order errors: nothing to do here"),
    decoded("CREDUX", "combine over the warp: as REDUX"),
    decoded("CS2R", "read a special register"),
    decoded("DADD", "binary64 add"),
    decoded("DFMA", "binary64 fused multiply-add"),
    decoded("DMUL", "binary64 multiply"),
    decoded("ELECT", "elect one lane (the lowest, chosen)"),
    decoded("ERRBAR", "order errors: nothing to do here"),
    decoded("EXIT", "end the thread"),
    decoded("F2I", "binary32 to integer, towards zero"),
    decoded("FADD", "binary32 add"),
    decoded("FENCE", "order memory, VIEW.ASYNC: nothing to do here"),
    decoded("FFMA", "binary32 fused multiply-add"),
    decoded("FLO", "find the leading one"),
    decoded("FMNMX", "binary32 minimum or maximum"),
    decoded("FMUL", "binary32 multiply"),
    decoded("FSEL", "binary32 select"),
    decoded("FSETP", "binary32 compare"),
    decoded("HADD2", "packed half add; .BF16_V2"),
    decoded("HFMA2", "packed half fused multiply-add; .MMA, .BF16_V2"),
    decoded("HMUL2", "packed half multiply"),
    decoded("I2F", "integer to binary32"),
    decoded("IABS", "absolute value"),
    decoded("IADD", "add two"),
    decoded("IADD3", "add three, with carries; .X"),
    decoded("IMAD", "multiply-add: MOV, SHL, IADD, X, WIDE, HI"),
    decoded("IMNMX", "minimum or maximum"),
    decoded("ISETP", "compare; .EX, .U64, .S64"),
    decoded("LD", "load from a generic address"),
    decoded("LDC", "load from a constant bank"),
    decoded("LDCU", "load from a constant bank, uniform"),
    decoded("LDG", "load from a global address"),
    decoded("LDGSTS", "copy from global to shared memory, thread by thread"),
    decoded("LDS", "load from a shared address"),
    decoded("LEA", "shift and add; .HI, .HI.X, .HI.X.SX32"),
    decoded("LOP3", "any bitwise function of three"),
    decoded("MEMBAR", "order memory: nothing to do here"),
    decoded("MOV", "copy"),
    decoded("MUFU", "RCP, to nearest (chosen)"),
    decoded("NANOSLEEP", "wait; .SYNCS no longer than for the phase last asked about"),
    decoded("NOP", "nothing"),
    decoded("PLOP3", "any function of three predicates"),
    decoded("POPC", "count ones"),
    decoded("PRMT", "permute bytes"),
    decoded("QSPC", "which space a generic address names"),
    decoded("R2UR", "the lowest active lane's register, and which lanes differ; .OR"),
    decoded("RED", "atomic on a global address without result"),
    decoded("REDAS", "atomic on the cluster's shared memory, then complete transactions"),
    decoded("REDG", "atomic on a global address without result"),
    decoded("REDUX", "combine over the warp"),
    decoded("RPCMOV", "copy half of the return program counter"),
    decoded("S2R", "read a special register"),
    decoded("S2UR", "read a special register, uniform"),
    decoded("SEL", "select"),
    decoded("SHF", "funnel shift"),
    decoded("SHFL", "read another lane"),
    decoded("ST", "store to a generic address"),
    decoded("STAS", "store to the cluster's shared memory, then complete transactions"),
    decoded("STG", "store to a global address"),
    decoded("STS", "store to a shared address"),
    decoded("SYNCS", "mbarrier object: EXCH, CCTL, ARRIVE, PHASECHK"),
    decoded("UBLKCP", "copy a block from global to shared memory: S.G"),
    decoded("UBREV", "reverse bits"),
    decoded("UCGABAR_ARV", "arrive at the cluster's barrier"),
    decoded("UCGABAR_WAIT", "wait at the cluster's barrier"),
    decoded("UFLO", "find the leading one"),
    decoded("UIADD3", "add three, with carries; .X"),
    decoded("UIMAD", "multiply-add"),
    decoded("UISETP", "compare"),
    decoded("ULDC", "load from a constant bank, uniform"),
    decoded("ULEA", "shift and add"),
    decoded("ULOP3", "any bitwise function of three"),
    decoded("UMOV", "copy"),
    decoded("UPLOP3", "any function of three predicates"),
    decoded("UPOPC", "count ones"),
    decoded("UPRMT", "permute bytes"),
    decoded("USEL", "select"),
    decoded("USHF", "funnel shift"),
    decoded("VIADD", "add two"),
    decoded("VIMNMX", "minimum or maximum"),
    decoded("VOTE", "mask of the lanes in which a predicate holds"),
    decoded("VOTEU", "the same, uniform"),
    decoded("WARPSYNC", "wait for the threads of a mask"),
    decoded("YIELD", "let other threads of the warp run"),
    named("ACQBULK"),
    named("ACQSHMINIT"),
    named("B2R"),
    named("BMMA"),
    named("BMSK"),
    named("BPT"),
    named("BRX"),
    named("BRXU"),
    named("CALL"),
    named("CCTLL"),
    named("CCTLT"),
    named("DEPBAR"),
    named("DMMA"),
    named("DSETP"),
    named("ENDCOLLECTIVE"),
    named("F2F"),
    named("F2FP"),
    named("F2IP"),
    named("FADD2"),
    named("FADD32I"),
    named("FCHK"),
    named("FFMA2"),
    named("FFMA32I"),
    named("FMNMX3"),
    named("FMUL2"),
    named("FMUL32I"),
    named("FRND"),
    named("FSET"),
    named("FSWZADD"),
    named("GETLMEMBASE"),
    named("HADD2_32I"),
    named("HFMA2_32I"),
    named("HGMMA"),
    named("HMMA"),
    named("HMNMX2"),
    named("HMUL2_32I"),
    named("HSET2"),
    named("HSETP2"),
    named("I2FP"),
    named("I2I"),
    named("I2IP"),
    named("IADD32I"),
    named("IDP"),
    named("IDP4A"),
    named("IGMMA"),
    named("IMAD32I"),
    named("IMMA"),
    named("IMUL"),
    named("IMUL32I"),
    named("ISCADD"),
    named("ISCADD32I"),
    named("ISET"),
    named("JCAL"),
    named("JMP"),
    named("JMX"),
    named("JMXU"),
    named("KILL"),
    named("LDGDEPBAR"),
    named("LDGMC"),
    named("LDL"),
    named("LDSM"),
    named("LDT"),
    named("LDTM"),
    named("LEPC"),
    named("LOP"),
    named("LOP32I"),
    named("MATCH"),
    named("MOV32I"),
    named("MOVM"),
    named("P2R"),
    named("PMTRIG"),
    named("PREEXIT"),
    named("PSETP"),
    named("QMMA"),
    named("R2B"),
    named("R2P"),
    named("RET"),
    named("RTT"),
    named("SETCTAID"),
    named("SETLMEMBASE"),
    named("SGXT"),
    named("SHL"),
    named("SHR"),
    named("STL"),
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
    named("UBLKPF"),
    named("UBLKRED"),
    named("UBMSK"),
    named("UCLEA"),
    named("UF2FP"),
    named("UIABS"),
    named("UIMNMX"),
    named("ULOP"),
    named("UP2UR"),
    named("UPSETP"),
    named("UR2UP"),
    named("USETMAXREG"),
    named("USGXT"),
    named("USYNCS"),
    named("UTCATOMSWS"),
    named("UTCBAR"),
    named("UTCCP"),
    named("UTCHMMA"),
    named("UTCIMMA"),
    named("UTCQMMA"),
    named("UTMACCTL"),
    named("UTMACMDFLUSH"),
    named("UTMALDG"),
    named("UTMAPF"),
    named("UTMAREDG"),
    named("UTMASTG"),
    named("UVIADD"),
    named("UVIMNMX"),
    named("VABSDIFF"),
    named("VABSDIFF4"),
    named("VHMNMX"),
    named("VIADDMNMX"),
    named("VIMNMX3"),
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
