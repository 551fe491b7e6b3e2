//! Coverage of the table of `docs/sass.md`: each form and each modifier occurs in a listing of
//! `tests/kernels`, or in a list of exceptions with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Reason, and forms or modifiers without a listing: `MNEMONIC.MODIFIER`, or a form without its operands.
#[rustfmt::skip]
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "Disassemblers leave the default out.",
        "ATOM.32 ATOM.U32 ATOMG.32 ATOMG.U32 ATOMS.U32 CS2UR.32 DADD.RN DFMA.RN DMUL.RN F2F.RN F2FP.RN \
         F2I.F32 F2I.S32 FADD.RN FADD2.RN FFMA.RN FFMA2.RN FLO.S32 FMUL.RN FMUL2.RN FRND.F32 I2F.F32 I2F.RN I2F.S32 I2FP.RN IMAD.S32 \
         IMNMX.S32 ISETP.S32 LD.32 LDC.32 LDCU.32 LDG.32 LDGSTS.32 LDL.32 LDS.32 MATCH.U32 RED.32 RED.U32 \
         REDAS.32 REDAS.U32 REDG.32 REDG.U32 REDUX.AND S2R.32 S2UR.32 SGXT.S32 ST.32 STAS.32 STG.32 STL.32 \
         STS.32 UBLKRED.32 UBLKRED.U32 UF2F.RN UF2FP.RN UF2I.F32 UF2I.S32 UFADD.RN UFFMA.RN UFLO.S32 UFMUL.RN \
         UFRND.F32 UI2F.F32 UI2F.RN UI2F.S32 UI2FP.RN UIMAD.S32 UISETP.S32 ULDC.32 USGXT.S32 UVIADD.32 \
         UVIADD.S32 VABSDIFF.S32 VIADD.32 VIADDMNMX.S32 VIMNMX3.S32",
    ),
    (
        "Disassemblers write another name of the size.",
        "ATOM.U64 ATOMG.U64 ATOMS.U64 LDL.16 LDL.S32 LDL.U32 LDL.U64 LDS.16 LDS.S32 LDS.U32 LDS.U64 RED.U64 \
         REDG.U64 STL.16 STL.S32 STL.U32 STL.U64 STS.16 STS.S32 STS.U32 STS.U64 UBLKRED.64",
    ),
    (
        "Disassemblers write `BF16x2`.",
        "ATOM.BF16_V2 ATOMG.BF16_V2 RED.BF16_V2 REDG.BF16_V2",
    ),
    (
        "The reader ignores the rounding of a load or a store; no instruction has one.",
        "LD.RN LDG.RN LDGSTS.RN ST.RN STG.RN",
    ),
    (
        "The PTX for it is not translated: calls through registers.",
        "ULEPC",
    ),
    (
        "`ptxas` 13.5 emits it; `forms.rs`, `ptx_rows.rs` and `fill.rs` run it.",
        "F2FP.F16.E4M3.UNPACK_B F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C F2FP.SATFINITE.E5M2.F16.UNPACK_B_MERGE_C \
         FADD2 FADD2.FTZ FADD2.RM FADD2.RP FADD2.RZ FFMA2 FFMA2.FTZ FFMA2.RM FFMA2.RP FFMA2.RZ FMNMX.XORSIGN \
         FMNMX3 FMNMX3.FTZ FMNMX3.NAN FMUL2 FMUL2.FTZ FMUL2.RM FMUL2.RP FMUL2.RZ I2IP.S16 I2IP.S8 I2IP.U16 \
         I2IP.U8.S32.SAT UBLKPF.L2 UMEMSETS.64 USETMAXREG.DEALLOC.CTAPOOL USETMAXREG.TRY_ALLOC.CTAPOOL \
         UTMACCTL.PF",
    ),
    (
        "Code before sm_70 has it; `ptxas` 13.5 emits `PLOP3`.",
        "PSETP.AND PSETP.AND.AND PSETP.OR PSETP.OR.XOR PSETP.XOR",
    ),
    (
        "`ptxas` 13.5 takes the instruction of the vector datapath, at -O0, -O1 and -O3.",
        "UF2F.F32.F64 UF2F.F64.F32 UF2F.FTZ UF2F.SAT UF2FP.BF16 UF2FP.F16 UF2FP.F16.E4M3.UNPACK_B UF2FP.F32 \
         UF2FP.PACK_AB UF2FP.RELU UF2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C \
         UF2FP.SATFINITE.E5M2.F16.UNPACK_B_MERGE_C UFMNMX.XORSIGN \
         UF2FP.RM UF2FP.RP UF2FP.RZ UF2I.F64 UF2I.F64 UF2I.S64 UF2I.S64 UF2I.U64 UFADD.RM UFADD.RP UFADD.RZ \
         UFFMA.RM UFFMA.RP UFFMA.RZ UFMNMX UFMNMX.FTZ UFMNMX.NAN UFMUL.RM UFMUL.RP UFMUL.RZ UFRND.F64 \
         UFRND.F64 UFSEL.FTZ UFSET.BF UFSET.EQ UFSET.EQU UFSET.FTZ UFSET.GE UFSET.GEU UFSET.GT.AND UFSET.GTU \
         UFSET.LE UFSET.LEU UFSET.LT UFSET.LTU UFSET.NAN UFSET.NE UFSET.NEU UFSET.NUM UFSET.OR UFSET.XOR \
         UI2F.F64 UI2F.F64 UI2F.S64 UI2F.S64 UI2F.U64 UI2FP.RM UI2FP.RP UI2FP.S64 UI2FP.U64 UIABS \
         UIDP.2A.HI.S16.U8 UIDP.2A.LO.S16.S8 UIDP.4A.U8.U8 UIDP.S8 UIDP.U16 UIDP.U8 UIMAD.IADD UIMAD.MOV.U32 \
         UIMAD.SHL.U32 UIMNMX.RELU UIMNMX.S32 UIMNMX.U32 ULDC.128 ULDC.S16 ULEA.HI.X.SX32 UP2UR UP2UR.B1 \
         UPLOP3.LUT UPRMT.B4E UPRMT.ECL UPRMT.ECR UPRMT.F4E UPRMT.RC16 UPRMT.RC8 UR2UP USEL.64 UVIADD.16x2 \
         UVIADD.S16x2 UVIADD.U8x4 UVIMNMX.S16x2 UVIMNMX.S64 UVIMNMX.S8x4 UVIMNMX.U16x2 UVIMNMX.U64 \
         UVIMNMX.U8x4",
    ),
    (
        "`ptxas` 13.5 does not emit it from any source here.",
        "ACQSHMINIT ATOM.E.ARRIVE.64.STRONG.SM ATOM.E.POPC.INC.32.STRONG.SM BRXU CCTLL.IVALL CCTLT.IVALL \
         F2F.FTZ F2F.SAT F2FP.RM F2FP.RP FSEL.FTZ FSET.FTZ HADD2.MMA HADD2.RELU HFMA2.F32 HMNMX2.MMA \
         HMUL2.F32 HMUL2.MMA HMUL2.RELU HSET2.MMA HSETP2.H_AND HSETP2.MMA I2FP.RM I2FP.RP I2FP.S64 I2FP.U64 \
         I2I.U32 IADD3.64 IDP4A.S8.S8 IDP4A.U8 IMNMX.RELU JMP JMX JMXU LDC.128 LDCU.S16 P2R.B1 R2UR.BROADCAST R2UR.OR \
         SETMAXREG.DEALLOC.CTAPOOL SETMAXREG.TRY_ALLOC.CTAPOOL SYNCS.CCTL.IVALL SYNCS.CCTL.WB SYNCS.CONDITIONAL \
         SYNCS.LD.64 SYNCS.LD.64.WATCH SYNCS.PHASECHK.TRANS64.PRIMARY \
         UPSETP.AND UPSETP.AND.AND UPSETP.OR UPSETP.OR.XOR UPSETP.XOR \
         USYNCS.ARRIVE.TRANS64.ACT0 USYNCS.ARRIVE.TRANS64.ART0 USYNCS.CCTL.IV USYNCS.CONDITIONAL \
         USYNCS.EXCH.64 USYNCS.OPTOUT USYNCS.PHASECHK.TRANS64 USYNCS.TMASK USYNCS.TRYWAIT VABSDIFF4.S8 \
         VIADD.S16x2 VIMNMX.S64 VIMNMX.U64 VOTEU.EQ",
    ),
];

/// Combinations of modifiers in listings, by mnemonic.
type Shown = BTreeMap<String, BTreeSet<BTreeSet<String>>>;

fn listings(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut listings(&path));
        } else if path.extension().is_some_and(|e| e == "sass") {
            found.push(path);
        }
    }
    found
}

/// Parses mnemonic and modifiers of a line such as `/*0010*/ @!P0 FADD.FTZ R1, R2, R3 ;`.
fn instruction(line: &str) -> Option<(&str, BTreeSet<String>)> {
    let (offset, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let rest = rest.trim_start().trim_start_matches('{').trim_start();
    let rest = if rest.starts_with('@') { rest.split_once(' ')?.1.trim_start() } else { rest };
    let name = rest.split([' ', ';']).next().filter(|name| name.starts_with(char::is_alphabetic))?;
    let (mnemonic, modifiers) = name.split_once('.').unwrap_or((name, ""));
    let modifiers = modifiers.split('.').filter(|m| !m.is_empty()).map(String::from).collect();
    offset.bytes().all(|b| b.is_ascii_hexdigit()).then_some((mnemonic, modifiers))
}

fn shown() -> Shown {
    let mut shown = Shown::new();
    for path in listings(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if ["sm_5", "sm_6"].iter().any(|early| name.contains(early)) {
            continue;
        }
        for (mnemonic, modifiers) in read_to_string(&path).unwrap().lines().filter_map(instruction) {
            shown.entry(mnemonic.into()).or_default().insert(modifiers);
        }
    }
    shown
}

/// Reads the table of the page: forms without operands, and modifiers with their mnemonic.
fn table() -> BTreeSet<String> {
    let page = read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sass.md")).unwrap();
    let mut names = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let columns: Vec<_> = row.split(" |").collect();
        let [name, _, forms, modifiers, ..] = columns[..] else { panic!("{row}") };
        let name = name.trim_start_matches("| ");
        names.extend(
            forms
                .split("<br>")
                .map(|form| form.trim().trim_matches('`').split(' ').next().unwrap().to_string()),
        );
        names.extend(modifiers.split_whitespace().map(|modifier| format!("{name}.{modifier}")));
    }
    names
}

fn is_shown(shown: &Shown, name: &str) -> bool {
    let mut parts = name.split('.');
    let sets = parts.next().and_then(|mnemonic| shown.get(mnemonic));
    let wanted: BTreeSet<_> = parts.map(String::from).collect();
    sets.is_some_and(|sets| sets.iter().any(|set| wanted.is_subset(set)))
}

#[test]
fn each_form_stands_in_a_listing_or_is_an_exception() {
    let (shown, table) = (shown(), table());
    assert!(table.len() > 800, "{} names read from docs/sass.md", table.len());
    let missing: BTreeSet<_> = table.into_iter().filter(|name| !is_shown(&shown, name)).collect();
    let excepted: BTreeSet<_> =
        EXCEPTIONS.iter().flat_map(|(_, names)| names.split_whitespace()).map(String::from).collect();
    let unexplained: Vec<_> = missing.difference(&excepted).collect();
    assert!(unexplained.is_empty(), "in no listing, and no exception: {unexplained:?}");
    let needless: Vec<_> = excepted.difference(&missing).collect();
    assert!(needless.is_empty(), "exceptions that a listing contains, or that are no forms: {needless:?}");
}
