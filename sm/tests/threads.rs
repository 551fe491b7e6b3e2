//! Divergence and reconvergence of threads.

use crate::functional;

use atoms_isa::Program;
use atoms_sm::{Launch, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::path::Path;

/// Runs `lines` and returns the results. R0 is the number of the thread, R8 its result.
fn results(lines: &str, threads: u32) -> Vec<u32> {
    let text = format!(
        ".target sm_80\n.section .text.k,\"ax\",@progbits\n\
         S2R R0, SR_TID.X ;\nIMAD.MOV.U32 R21, RZ, RZ, 0x4 ;\nIMAD.WIDE.U32 R20, R0, R21, c[0x0][0x160] ;\n\
         {lines}\nSTG.E [R20.64], R8 ;\nEXIT ;\n"
    );
    let program = Program::parse(lines, &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let launch = format!(
        "kernel = \"k\"\ngrid = 1\nblock = {threads}\nshared = 512\ncycle_budget = 20000\n\
         [[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = {threads}\n"
    );
    let launch = Launch::from_toml("launch", &launch, Path::new("")).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let report =
        run(&program.kernels[0], &launch, &mut port, &SmConfig::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(port.clean());
    let out = report.buffer("out").unwrap();
    (0..threads as usize).map(|i| out.element.read(&out.bytes, i) as u32).collect()
}

#[test]
fn apart_until_bsync() {
    let lines = "ISETP.GE.AND P0, PT, R0, 0x8, PT ;\nBSSY B0, `(.L_x_1) ;\n@P0 BRA `(.L_x_0) ;\n\
                 VOTE.ANY R9, PT, PT ;\n.L_x_0:\nBSYNC B0 ;\n.L_x_1:\nVOTE.ANY R8, PT, PT ;\n\
                 @!P0 LOP3.LUT R8, R8, R9, RZ, 0x3c, !PT ;";
    let expected: Vec<u32> = (0..32).map(|t| if t < 8 { !0xff } else { !0 }).collect();
    assert_eq!(results(lines, 32), expected);
}

#[test]
fn apart_until_warpsync_with_ended_threads() {
    let lines = "ISETP.GE.AND P0, PT, R0, 0x1c, PT ;\n@P0 EXIT ;\nISETP.GE.AND P1, PT, R0, 0x4, PT ;\n\
                 @P1 BRA `(.L_x_0) ;\nNOP ;\nNOP ;\n.L_x_0:\nWARPSYNC 0xffffffff ;\nVOTE.ANY R8, PT, PT ;";
    let expected: Vec<u32> = (0..32).map(|t| if t < 28 { 0x0fff_ffff } else { 0 }).collect();
    assert_eq!(results(lines, 32), expected);
}

#[test]
fn break_leaves_the_others_to_meet() {
    // Threads below 8 leave the loop with BREAK. The others reconverge at BSYNC without them.
    let lines = "ISETP.LT.AND P0, PT, R0, 0x8, PT ;\nBSSY B0, `(.L_x_1) ;\n@!P0 BRA `(.L_x_0) ;\nBREAK B0 ;\n\
                 VOTE.ANY R8, PT, PT ;\nBRA `(.L_x_2) ;\n.L_x_0:\nBSYNC B0 ;\n.L_x_1:\nVOTE.ANY R8, PT, PT ;\n.L_x_2:\n\
                 NOP ;";
    let expected: Vec<u32> = (0..32).map(|t| if t < 8 { 0xff } else { !0xff }).collect();
    assert_eq!(results(lines, 32), expected);
}

#[test]
fn a_spinning_split_does_not_keep_the_others_from_running() {
    // Thread 0 polls in a loop for the store of thread 1, from which it has diverged.
    let lines = "ISETP.NE.AND P0, PT, R0, RZ, PT ;\n@!P0 STS [RZ], RZ ;\nISETP.EQ.AND P1, PT, R0, 0x1, PT ;\n\
                 BSSY B0, `(.L_x_3) ;\n@P0 BRA `(.L_x_1) ;\n\
                 .L_x_0:\nLDS R8, [RZ] ;\nISETP.EQ.AND P2, PT, R8, RZ, PT ;\n@P2 BRA `(.L_x_0) ;\nBRA `(.L_x_2) ;\n\
                 .L_x_1:\nMOV R8, 0x7 ;\n@P1 STS [RZ], R8 ;\n.L_x_2:\nBSYNC B0 ;\n.L_x_3:\nNOP ;";
    assert_eq!(results(lines, 32), vec![7; 32]);
}

#[test]
fn block_barriers_do_not_wait_for_ended_threads() {
    // 80 threads: the last warp is not full, and all threads of the second warp end before the barrier.
    let lines = "SHF.R.U32.HI R9, RZ, 0x5, R0 ;\nISETP.EQ.AND P0, PT, R9, 0x1, PT ;\n@P0 EXIT ;\nISETP.EQ.AND P1, PT, R0, 0x40, PT ;\n\
                 MOV R8, 0x9 ;\n@P1 STS [RZ], R8 ;\nBAR.SYNC 0x0 ;\nLDS R8, [RZ] ;";
    let expected: Vec<u32> = (0..80).map(|t| if (32..64).contains(&t) { 0 } else { 9 }).collect();
    assert_eq!(results(lines, 80), expected);
}

#[test]
fn a_barrier_for_some_warps() {
    // Warp 0 arrives without waiting. Warps 1 and 2 wait for 96 threads.
    let lines = "SHF.R.U32.HI R9, RZ, 0x5, R0 ;\nISETP.NE.AND P0, PT, R9, RZ, PT ;\nMOV R8, 0x5 ;\n@!P0 STS [RZ], R8 ;\n\
                 @!P0 BAR.ARV 0x1, 0x60 ;\n@P0 BAR.SYNC 0x1, 0x60 ;\nLDS R8, [RZ] ;";
    assert_eq!(results(lines, 96), vec![5; 96]);
}

/// 128 threads store their number and read the number of the mirrored thread. The last warp is late. One
/// register packs the number of the barrier and the thread count; a count of 0 means the whole CTA.
#[test]
fn operands_of_a_barrier_in_one_register() {
    let late = "ISETP.GE.AND P0, PT, R0, 0x60, PT ;\nSEL R8, RZ, 0x64, !P0 ;\n\
                .L_x_0:\nIADD3 R8, R8, -0x1, RZ ;\nISETP.GT.AND P1, PT, R8, RZ, PT ;\n@P1 BRA `(.L_x_0) ;\n\
                SHF.L.U32 R10, R0, 0x2, RZ ;\nSTS [R10], R0 ;\n";
    let mirror = "LOP3.LUT R9, R0, MASK, RZ, 0x3c, !PT ;\nSHF.L.U32 R9, R9, 0x2, RZ ;\nLDS R8, [R9] ;";
    let whole = [
        "MOV R4, RZ ;\nBAR.SYNC R4, R4 ;",
        "MOV R4, 0x3 ;\nBAR.SYNC.DEFER_BLOCKING R4, R4 ;",
        "MOV R4, 0x800007 ;\nBAR.SYNC R4, R4 ;",
        "BAR.SYNC RZ, RZ ;",
        "MOV R4, 0x5 ;\nBAR.RED.POPC R4, R4, PT ;",
        "MOV R4, 0x5 ;\nMOV R5, RZ ;\nBAR.SYNC R4, R5 ;",
        "UMOV UR4, 0x800001 ;\nBAR.SYNC UR4, UR4 ;",
    ];
    let halves = "SHF.R.U32.HI R4, RZ, 0x6, R0 ;\nIADD3 R4, R4, 0x400001, RZ ;\nBAR.SYNC R4, R4 ;";
    for (barrier, mask) in whole.into_iter().map(|barrier| (barrier, 127)).chain([(halves, 63)]) {
        let lines = format!("{late}{barrier}\n{}", mirror.replace("MASK", &format!("{mask:#x}")));
        let expected: Vec<u32> = (0..128).map(|t| t ^ mask).collect();
        assert_eq!(results(&lines, 128), expected, "{barrier}");
    }
}

/// Warp 0 arrives without waiting, with a packed operand. Warp 1 waits.
#[test]
fn an_arrival_with_a_packed_operand() {
    let lines = "LOP3.LUT R9, R0, 0x20, RZ, 0xc0, !PT ;\nISETP.NE.AND P0, PT, R9, RZ, PT ;\nMOV R8, 0x5 ;\nMOV R4, 0x400002 ;\n\
                 @!P0 STS [RZ], R8 ;\n@!P0 BAR.ARV R4, R4 ;\n@P0 BAR.SYNC R4, R4 ;\nLDS R8, [RZ] ;";
    assert_eq!(results(lines, 64), vec![5; 64]);
}

#[test]
fn shuffles_and_reductions() {
    for (lines, expect) in [
        ("SHFL.IDX PT, R8, R0, 0x3, 0x1f ;", (|_| 3) as fn(u32) -> u32),
        ("SHFL.BFLY PT, R8, R0, 0x1, 0x1f ;", |t| t ^ 1),
        ("SHFL.UP PT, R8, R0, 0x2, RZ ;", |t| if t < 2 { t } else { t - 2 }),
        ("SHFL.DOWN PT, R8, R0, 0x2, 0x1f ;", |t| if t > 29 { t } else { t + 2 }),
        ("REDUX.SUM UR4, R0 ;\nMOV R8, UR4 ;", |_| 496),
        ("REDUX.MAX.S32 UR4, R0 ;\nMOV R8, UR4 ;", |_| 31),
        ("ELECT P0, URZ, PT ;\nSEL R8, RZ, 0x1, !P0 ;", |t| u32::from(t == 0)),
        ("S2R R8, SR_LTMASK ;", |t| (1 << t) - 1),
        ("S2R R8, SR_GTMASK ;", |t| if t == 31 { 0 } else { u32::MAX << (t + 1) }),
    ] {
        assert_eq!(results(lines, 32), (0..32).map(expect).collect::<Vec<_>>(), "{lines}");
    }
}
