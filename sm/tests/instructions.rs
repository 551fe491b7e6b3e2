//! Single instructions: code in, registers and predicates out.

use crate::single;

use single::{outcome, outcome_on};

const T: u32 = 1;
const F: u32 = 0;
const N: u32 = u32::MAX;

/// Test case: rule; instruction; R2 to R5; P0; expected R8, R9, P1, P2.
type Case = (&'static str, &'static str, [u32; 4], u32, [u32; 4]);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("mov",                              "MOV R8, R2 ;",                                   [5, 0, 0, 0],               F, [5, 0, F, F]),
    ("imad low word",                    "IMAD R8, R2, R3, R4 ;",                          [7, 9, 100, 0],             F, [163, 0, F, F]),
    ("imad wraps",                       "IMAD R8, R2, R3, R4 ;",                          [N, N, 5, 0],               F, [6, 0, F, F]),
    ("imad.mov takes c",                 "IMAD.MOV.U32 R8, RZ, RZ, R4 ;",                  [1, 2, 3, 4],               F, [3, 0, F, F]),
    ("imad.mov negates c",               "IMAD.MOV R8, RZ, RZ, -R4 ;",                     [1, 2, 3, 4],               F, [-3_i32 as u32, 0, F, F]),
    ("imad.iadd",                        "IMAD.IADD R8, R2, 0x1, R3 ;",                    [1, 2, 0, 0],               F, [3, 0, F, F]),
    ("imad.shl",                         "IMAD.SHL.U32 R8, R2, 0x8, RZ ;",                 [3, 0, 0, 0],               F, [24, 0, F, F]),
    ("imad.u32 by a negative",           "IMAD.U32 R8, R2, -0x80000000, RZ ;",             [3, 0, 0, 0],               F, [1 << 31, 0, F, F]),
    ("imad.x adds the carry",            "IMAD.X R8, RZ, RZ, R5, P0 ;",                    [0, 0, 0, 6],               T, [7, 0, F, F]),
    ("imad.x without a carry",           "IMAD.X R8, RZ, RZ, R5, P0 ;",                    [0, 0, 0, 6],               F, [6, 0, F, F]),
    ("imad.x adds an inverse",           "IMAD.X R8, RZ, RZ, ~R5, P0 ;",                   [0, 0, 0, 6],               T, [-6_i32 as u32, 0, F, F]),
    ("imad.wide signed",                 "IMAD.WIDE R8, R2, 0x4, R4 ;",                    [N, 0, 8, 1],               F, [4, 1, F, F]),
    ("imad.wide.u32",                    "IMAD.WIDE.U32 R8, R2, 0x4, R4 ;",                [N, 0, 8, 1],               F, [4, 5, F, F]),
    ("imad.wide carries into the pair",  "IMAD.WIDE R8, R2, R3, R4 ;",                     [1, 1, N, 0],               F, [0, 1, F, F]),
    ("imad.hi with a 64-bit addend",     "IMAD.HI.U32 R8, R2, R3, R4 ;",                   [N, 2, 2, 5],               F, [7, 0, F, F]),
    ("imad.hi signed",                   "IMAD.HI R8, R2, R3, RZ ;",                       [N, 2, 0, 0],               F, [N, 0, F, F]),
    ("iadd3",                            "IADD3 R8, R2, R3, R4 ;",                         [1, 2, 3, 0],               F, [6, 0, F, F]),
    ("iadd3 carry",                      "IADD3 R8, P1, R2, R3, RZ ;",                     [N, 1, 0, 0],               F, [0, 0, T, F]),
    ("iadd3 no carry",                   "IADD3 R8, P1, R2, R3, RZ ;",                     [N, 0, 0, 0],               F, [N, 0, F, F]),
    ("iadd3 two carries",                "IADD3 R8, P1, P2, R2, R3, R4 ;",                 [N, N, N, 0],               F, [N - 2, 0, T, T]),
    ("iadd3 one of two carries",         "IADD3 R8, P1, P2, R2, R3, R4 ;",                 [N, 1, 1, 0],               F, [1, 0, T, F]),
    ("iadd3 difference",                 "IADD3 R8, P1, R2, -R3, RZ ;",                    [5, 3, 0, 0],               F, [2, 0, T, F]),
    ("iadd3 difference borrows",         "IADD3 R8, P1, R2, -R3, RZ ;",                    [3, 5, 0, 0],               F, [-2_i32 as u32, 0, F, F]),
    ("iadd3 minus zero has a carry",     "IADD3 R8, P1, R2, -R3, RZ ;",                    [3, 0, 0, 0],               F, [3, 0, T, F]),
    ("iadd3.x",                          "IADD3.X R8, R2, ~R3, RZ, P0, !PT ;",             [5, 3, 0, 0],               T, [2, 0, F, F]),
    ("64-bit difference",                "IADD3 R8, P1, R2, -R4, RZ ;\nIADD3.X R9, R3, ~R5, RZ, P1, !PT ;", [1, 5, 2, 1], F, [N, 3, F, F]),
    ("viadd",                            "VIADD R8, R2, 0xffffffe ;",                      [2, 0, 0, 0],               F, [0x1000_0000, 0, F, F]),
    ("lop3 and",                         "LOP3.LUT R8, R2, R3, RZ, 0xc0, !PT ;",           [0xff0f, 0x0ff0, 0, 0],     F, [0x0f00, 0, F, F]),
    ("lop3 or",                          "LOP3.LUT R8, R2, R3, RZ, 0xfc, !PT ;",           [0xf000, 0x00f0, 0, 0],     F, [0xf0f0, 0, F, F]),
    ("lop3 xor of three",                "LOP3.LUT R8, R2, R3, R4, 0x96, !PT ;",           [0b1100, 0b1010, 0b1001, 0], F, [0b1111, 0, F, F]),
    ("lop3 not b",                       "LOP3.LUT R8, RZ, R3, RZ, 0x33, !PT ;",           [0, 0xff, 0, 0],            F, [!0xff, 0, F, F]),
    ("lop3 not a and b",                 "LOP3.LUT P1, RZ, R2, R3, RZ, 0xc, !PT ;",        [1, 3, 0, 0],               F, [0, 0, T, F]),
    ("lop3 predicate of zero",           "LOP3.LUT P1, RZ, R2, R3, RZ, 0xc, !PT ;",        [3, 1, 0, 0],               F, [0, 0, F, F]),
    ("plop3 true",                       "PLOP3.LUT P1, P2, PT, PT, PT, 0x80, 0x8 ;",      [0; 4],                     F, [0, 0, T, F]),
    ("plop3 not",                        "PLOP3.LUT P1, PT, P0, PT, PT, 0x8, 0x0 ;",       [0; 4],                     F, [0, 0, T, F]),
    ("plop3 not of true",                "PLOP3.LUT P1, PT, P0, PT, PT, 0x8, 0x0 ;",       [0; 4],                     T, [0, 0, F, F]),
    ("lea",                              "LEA R8, R2, R3, 0x18 ;",                         [2, 0x400, 0, 0],           F, [0x200_0400, 0, F, F]),
    ("lea carry",                        "LEA R8, P1, R2, R3, 0x1 ;",                      [0x4000_0000, 0x8000_0001, 0, 0], F, [1, 0, T, F]),
    ("lea.hi",                           "LEA.HI R8, R2, R3, R4, 0x4 ;",                   [0xf000_0000, 1, 2, 0],     F, [0x30, 0, F, F]),
    ("lea.hi.x",                         "LEA.HI.X R8, R2, R3, R4, 0x4, P0 ;",             [0xf000_0000, 1, 2, 0],     T, [0x31, 0, F, F]),
    ("lea.hi.x.sx32 of a negative",      "LEA.HI.X.SX32 R8, R2, R3, 0x1, P0 ;",            [-2_i32 as u32, 7, 0, 0],   T, [7, 0, F, F]),
    ("lea.hi.x.sx32 of a positive",      "LEA.HI.X.SX32 R8, R2, R3, 0x1, P0 ;",            [2, 7, 0, 0],               T, [8, 0, F, F]),
    ("shf.l",                            "SHF.L.U32 R8, R2, 0x2, RZ ;",                    [0xc000_0001, 0, 0, 0],     F, [4, 0, F, F]),
    ("shf.l by 32 is none",              "SHF.L.U32 R8, R2, R3, RZ ;",                     [1, 32, 0, 0],              F, [0, 0, F, F]),
    ("shf.l.u64.hi",                     "SHF.L.U64.HI R8, R2, 0x4, R4 ;",                 [0xf000_0000, 0, 1, 0],     F, [0x1f, 0, F, F]),
    ("shf.r.u32.hi",                     "SHF.R.U32.HI R8, RZ, 0x4, R2 ;",                 [0x8000_0010, 0, 0, 0],     F, [0x0800_0001, 0, F, F]),
    ("shf.r.s32.hi",                     "SHF.R.S32.HI R8, RZ, 0x1f, R2 ;",                [0x8000_0010, 0, 0, 0],     F, [N, 0, F, F]),
    ("shf.r.u32.hi by 40 is none",       "SHF.R.U32.HI R8, RZ, R3, R2 ;",                  [N, 40, 0, 0],              F, [0, 0, F, F]),
    ("shf.r.u64",                        "SHF.R.U64 R8, R2, 0x8, R3 ;",                    [0x100, 0x12, 0, 0],        F, [0x1200_0001, 0, F, F]),
    ("shf.r.w wraps",                    "SHF.R.W.U32.HI R8, RZ, R3, R2 ;",                [0x10, 36, 0, 0],           F, [1, 0, F, F]),
    ("sel true",                         "SEL R8, R2, 0x7610, P0 ;",                       [9, 0, 0, 0],               T, [9, 0, F, F]),
    ("sel false",                        "SEL R8, R2, 0x7610, P0 ;",                       [9, 0, 0, 0],               F, [0x7610, 0, F, F]),
    ("isetp signed, and its inverse",    "ISETP.LT.AND P1, P2, R2, R3, PT ;",              [N, 0, 0, 0],               F, [0, 0, T, F]),
    ("isetp unsigned",                   "ISETP.LT.U32.AND P1, P2, R2, R3, PT ;",          [N, 0, 0, 0],               F, [0, 0, F, T]),
    ("isetp and",                        "ISETP.EQ.AND P1, P2, R2, R3, P0 ;",              [1, 1, 0, 0],               F, [0, 0, F, F]),
    ("isetp or",                         "ISETP.EQ.OR P1, P2, R2, R3, P0 ;",               [1, 2, 0, 0],               T, [0, 0, T, T]),
    ("isetp xor",                        "ISETP.EQ.XOR P1, P2, R2, R3, P0 ;",              [1, 1, 0, 0],               T, [0, 0, F, T]),
    ("isetp.ex equal, low words decide", "ISETP.GE.U32.AND.EX P1, PT, R2, R3, PT, P0 ;",   [4, 4, 0, 0],               F, [0, 0, F, F]),
    ("isetp.ex equal, low word greater", "ISETP.GE.U32.AND.EX P1, PT, R2, R3, PT, P0 ;",   [4, 4, 0, 0],               T, [0, 0, T, F]),
    ("isetp.ex high words decide",       "ISETP.LT.AND.EX P1, PT, R2, R3, PT, P0 ;",       [N, 4, 0, 0],               F, [0, 0, T, F]),
    ("isetp.eq.ex",                      "ISETP.EQ.U32.AND.EX P1, PT, R2, RZ, PT, P0 ;",   [0, 0, 0, 0],               T, [0, 0, T, F]),
    ("isetp.ne.ex of unlike high words", "ISETP.NE.U32.OR.EX P1, PT, R2, RZ, !PT, !P0 ;",  [1, 0, 0, 0],               T, [0, 0, T, F]),
    ("isetp.ne.ex of like words",        "ISETP.NE.U32.OR.EX P1, PT, R2, RZ, !PT, !P0 ;",  [0, 0, 0, 0],               T, [0, 0, F, F]),
    ("isetp.u64",                        "ISETP.GE.U64.AND P1, PT, R2, R4, PT ;",          [0, 2, 1, 1],               F, [0, 0, T, F]),
    ("isetp.s64",                        "ISETP.GE.S64.AND P1, PT, R2, R4, PT ;",          [0, N, 1, 1],               F, [0, 0, F, F]),
    ("imnmx min",                        "IMNMX R8, R2, R3, PT ;",                         [N, 1, 0, 0],               F, [N, 0, F, F]),
    ("imnmx max",                        "IMNMX R8, R2, R3, !PT ;",                        [N, 1, 0, 0],               F, [1, 0, F, F]),
    ("vimnmx.u32 max",                   "VIMNMX.U32 R8, PT, PT, R2, 0x100, !PT ;",        [N, 0, 0, 0],               F, [N, 0, F, F]),
    ("prmt picks bytes",                 "PRMT R8, R2, 0x3254, R3 ;",                      [0x3322_1100, 0x7766_5544, 0, 0], F, [0x3322_5544, 0, F, F]),
    ("prmt high halves",                 "PRMT R8, R2, 0x7610, R3 ;",                      [0x3322_1100, 0x7766_5544, 0, 0], F, [0x7766_1100, 0, F, F]),
    ("prmt repeats a sign",              "PRMT R8, R2, 0x9880, RZ ;",                      [0x0000_80ff, 0, 0, 0],     F, [0xffff_ffff, 0, F, F]),
    ("popc",                             "POPC R8, R2 ;",                                  [0xf0f1, 0, 0, 0],          F, [9, 0, F, F]),
    ("flo",                              "FLO.U32 R8, R2 ;",                               [0x0001_0100, 0, 0, 0],     F, [16, 0, F, F]),
    ("flo of nothing",                   "FLO.U32 R8, R2 ;",                               [0, 0, 0, 0],               F, [N, 0, F, F]),
    ("flo signed",                       "FLO R8, R2 ;",                                   [!0x100, 0, 0, 0],          F, [8, 0, F, F]),
    ("brev",                             "BREV R8, R2 ;",                                  [1, 0, 0, 0],               F, [1 << 31, 0, F, F]),
    ("fadd keeps subnormals",            "FADD R8, R2, R3 ;",                              [1, 1, 0, 0],               F, [2, 0, F, F]),
    ("fadd.ftz flushes them",            "FADD.FTZ R8, R2, R3 ;",                          [1, 0x8000_0001, 0, 0],     F, [0, 0, F, F]),
    ("fadd has one nan",                 "FADD R8, R2, R3 ;",                              [0xffc0_1234, 0, 0, 0],     F, [0x7fff_ffff, 0, F, F]),
    ("fadd of infinities",               "FADD R8, R2, -R2 ;",                             [0x7f80_0000, 0, 0, 0],     F, [0x7fff_ffff, 0, F, F]),
    ("fadd with a float immediate",      "FADD R8, R2, 1.5 ;",                             [0x3f80_0000, 0, 0, 0],     F, [0x4020_0000, 0, F, F]),
    ("fadd of a whole number",           "FADD R8, -|R2|, 1 ;",                            [0xc000_0000, 0, 0, 0],     F, [0xbf80_0000, 0, F, F]),
    ("fadd with -INF",                   "FADD R8, R2, -INF ;",                            [0x3f80_0000, 0, 0, 0],     F, [0xff80_0000, 0, F, F]),
    ("fadd ties to even",                "FADD R8, R2, R3 ;",                              [0x4b80_0000, 0x3f80_0000, 0, 0], F, [0x4b80_0000, 0, F, F]),
    ("ffma rounds once",                 "FFMA R8, R2, R2, R3 ;",                          [0x3f80_0001, 0xbf80_0002, 0, 0], F, [0x2880_0000, 0, F, F]),
    ("fsetp of a nan",                   "FSETP.GEU.AND P1, P2, R2, R3, PT ;",             [0x7fc0_0000, 0, 0, 0],     F, [0, 0, T, F]),
    ("fmnmx drops a nan",                "FMNMX R8, R2, R3, PT ;",                         [0x7fc0_0000, 0x3f80_0000, 0, 0], F, [0x3f80_0000, 0, F, F]),
    ("mufu.rcp",                         "MUFU.RCP R8, R2 ;",                              [0x4080_0000, 0, 0, 0],     F, [0x3e80_0000, 0, F, F]),
    ("i2f.rp rounds up",                 "I2F.U32.RP R8, R2 ;",                            [0x0100_0001, 0, 0, 0],     F, [0x4b80_0001, 0, F, F]),
    ("f2i cuts off",                     "F2I.U32.TRUNC.NTZ R8, R2 ;",                     [0x403f_ffff, 0, 0, 0],     F, [2, 0, F, F]),
    ("hadd2",                            "HADD2 R8, R2, R3 ;",                             [0x3c00_0001, 0x4000_0001, 0, 0], F, [0x4200_0002, 0, F, F]),
    ("hadd2 of one half twice",          "HADD2 R8, R2, R3.H0_H0 ;",                       [0, 0x4000_3c00, 0, 0],     F, [0x3c00_3c00, 0, F, F]),
    ("hadd2 has one nan",                "HADD2 R8, R2, -R2 ;",                            [0x7c00_3c00, 0, 0, 0],     F, [0x7fff_0000, 0, F, F]),
    ("hadd2.bf16_v2",                    "HADD2.BF16_V2 R8, R2, R3 ;",                     [0x3f80_3f80, 0x3f80_0000, 0, 0], F, [0x4000_3f80, 0, F, F]),
    ("hfma2 as a move",                  "HFMA2.MMA R8, -RZ, RZ, 0, 9.5367431640625e-07 ;", [0; 4],                    F, [0x10, 0, F, F]),
    ("hfma2 by one",                     "HFMA2 R8, R2, 1, 1, R3 ;",                       [0x3c00_4000, 0x3c00_3c00, 0, 0], F, [0x4000_4200, 0, F, F]),
    ("dadd",                             "DADD R8, R2, 1 ;",                               [0, 0x3ff0_0000, 0, 0],     F, [0, 0x4000_0000, F, F]),
    ("vote.any",                         "VOTE.ANY R8, P1, P0 ;",                          [0; 4],                     T, [1, 0, T, F]),
    ("vote.any of none",                 "VOTE.ANY R8, P1, P0 ;",                          [0; 4],                     F, [0, 0, F, F]),
    ("voteu.all of one lane",            "VOTEU.ALL UR4, UP1, P0 ;\nMOV R8, UR4 ;",        [0; 4],                     T, [1, 0, F, F]),
    ("r2ur",                             "R2UR UR4, R2 ;\nIMAD.U32 R8, RZ, RZ, UR4 ;",     [77, 0, 0, 0],              F, [77, 0, F, F]),
    ("uniform arithmetic",               "UMOV UR4, 0x5 ;\nUIADD3 UR4, -UR4, 0x100000, URZ ;\nMOV R8, UR4 ;", [0; 4],  F, [0xf_fffb, 0, F, F]),
    ("uniform carry",                    "UMOV UR4, 0xffffffff ;\nUIADD3 UR4, UP1, UR4, 0x2, URZ ;\nUIADD3.X UR5, URZ, UR4, URZ, UP1, !UPT ;\nMOV R8, UR5 ;", [0; 4], F, [2, 0, F, F]),
    ("uniform branch taken",             "UISETP.NE.AND UP0, UPT, URZ, 0x1, UPT ;\nBRA.U UP0, `(.L_x_0) ;\nMOV R8, 0x1 ;\n.L_x_0:\nMOV R9, 0x2 ;", [0; 4], F, [0, 2, F, F]),
    ("uniform wide multiply-add",        "UMOV UR4, 0x4 ;\nUMOV UR6, 0xffffffff ;\nUMOV UR7, 0x1 ;\nUIMAD.WIDE UR4, UR4, 0x3, UR6 ;\nMOV R8, UR4 ;\nMOV R9, UR5 ;", [0; 4], F, [11, 2, F, F]),
    ("a guard that does not hold",       "@P0 MOV R8, 0x1 ;\n@!P0 MOV R9, 0x2 ;",          [0; 4],                     F, [0, 2, F, F]),
    ("shared sub-word accesses",         "STS [0x8], R2 ;\nLDS.S8 R8, [0xb] ;\nLDS.U16 R9, [0xa] ;", [0x8091_a2b3, 0, 0, 0], F, [0xffff_ff80, 0x8091, F, F]),
    ("shared 64-bit exchange",           "STS.64 [RZ], R2 ;\nATOMS.EXCH.64 R8, [RZ], R4 ;", [1, 2, 3, 4],              F, [1, 2, F, F]),
    ("cast gives a register",            "STS.64 [RZ], R2 ;\nATOMS.CAST.64 R8, [RZ], R2, R4 ;", [1, 2, 3, 4],          F, [1, 0, F, F]),
    ("scaled and negative addresses",    "STS [R2.X4+0x10], R3 ;\nLDS R8, [R4+-0x4] ;",    [2, 99, 0x1c, 0],           F, [99, 0, F, F]),
    ("generic load of shared memory",    "STS [0x8], R2 ;\nULDC.64 UR4, c[0x0][0x18] ;\nMOV R12, 0x8 ;\nLD.E R8, [R12.U32+UR4] ;", [42, 0, 0, 0], F, [42, 0, F, F]),
];

#[test]
fn each_instruction_does_what_it_says() {
    for (rule, lines, r, p0, expected) in CASES {
        assert_eq!(outcome(lines, *r, *p0), *expected, "{rule}: {lines}");
    }
}

#[test]
fn cast_gives_a_predicate_from_sm_100_on() {
    let lines = "STS [RZ], R2 ;\nATOMS.CAST.SPIN P1, [RZ], R2, R3 ;\nATOMS.CAST.SPIN P2, [RZ], R2, R3 ;\nLDS R8, [RZ] ;";
    assert_eq!(outcome_on("sm_100a", lines, [1, 2, 0, 0], F), [2, 0, T, F]);
}
