//! Zero-fill of shared memory ranges: UMEMSETS.64 and `st.bulk`.

use crate::functional;

use atoms_isa::{Arch, Program};
use atoms_model::{Config, MemoryPort, Unit};
use atoms_sm::{Launch, RunReport, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::path::Path;

/// Bytes before the range.
const FIRST: u32 = 24;

/// 64 threads store ones to 512 bytes, the warps fill a range with zeros, and the threads read all bytes.
const MACHINE: &str = ".target sm_100a\n.section .text.k,\"ax\",@progbits\n\
    S2R R0, SR_TID.X ;\nLDC.64 R4, c[0x0][0x380] ;\nLDCU UR5, c[0x0][0x388] ;\nMOV R6, 0xffffffff ;\n\
    MOV R7, 0xffffffff ;\nMOV R2, 0x400 ;\nLEA R1, R0, R2, 0x3 ;\nSTS.64 [R1], R6 ;\nBAR.SYNC 0x0 ;\n\
    UMOV UR4, 0x410 ;\nUSHF.R.U32.HI UR5, URZ, 0x3, UR5 ;\nUMEMSETS.64 [UR4+0x8], URZ, UR5 ;\nBAR.SYNC 0x0 ;\n\
    LDS.64 R6, [R1] ;\nIMAD.WIDE.U32 R8, R0, 0x8, R4 ;\nSTG.E.64 [R8.64], R6 ;\nEXIT ;\n";

/// The same in PTX. `guard` selects the threads that fill, and `address` is the start of the range.
fn ptx(guard: &str, address: &str) -> String {
    format!(
        ".version 9.0\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u32 bytes)\n{{\n.reg .pred %p;\n.reg .b32 %r<4>;\n\
         .reg .b64 %rd<6>;\n.shared .align 16 .b8 s[512];\nld.param.u64 %rd0, [out];\n\
         ld.param.u32 %r3, [bytes];\ncvt.u64.u32 %rd5, %r3;\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %p, %r0, 40;\n\
         mov.u32 %r1, s;\nshl.b32 %r2, %r0, 3;\nadd.u32 %r2, %r1, %r2;\nmov.u64 %rd1, -1;\n\
         st.shared.u64 [%r2], %rd1;\nbar.sync 0;\ncvt.u64.u32 %rd4, %r1;\ncvta.shared.u64 %rd3, %rd4;\n\
         {guard} st.bulk{address}, %rd5, 0;\nbar.sync 0;\nld.shared.u64 %rd1, [%r2];\n\
         mul.wide.u32 %rd2, %r0, 8;\nadd.u64 %rd0, %rd0, %rd2;\nst.global.u64 [%rd0], %rd1;\nret;\n}}\n"
    )
}

fn run_on<P: MemoryPort>(text: &str, bytes: u32, port: &mut P) -> Result<RunReport, String> {
    let program = Program::read("k", text, Arch::from_name("sm_100a")).unwrap_or_else(|e| panic!("{e}"));
    let launch = format!(
        "kernel = \"k\"\ngrid = 1\nblock = 64\nshared = 512\n[[param]]\nname = \"out\"\ntype = \"u64\"\nzeros = 64\n\
         [[param]]\ntype = \"u32\"\nvalue = {bytes}\n"
    );
    let launch = Launch::from_toml("launch", &launch, Path::new("")).unwrap();
    run(&program.kernels[0], &launch, port, &SmConfig::default()).map_err(|e| e.to_string())
}

fn texts() -> [String; 4] {
    let shared = ".weak.shared::cta [%r1+24]";
    [MACHINE.into(), ptx("", shared), ptx("@%p", shared), ptx("@%p", " [%rd3+24]")]
}

#[test]
fn the_range_is_zero_and_nothing_else() {
    let narrow = Shape { lanes: 8, banks: 8, rows: 2048, slots: 2, seed: 3 };
    for (text, bytes) in texts().iter().flat_map(|text| [0, 8, 256, 264, 488].map(|bytes| (text, bytes))) {
        let expected: Vec<u64> = (0..64)
            .map(|word| if (FIRST..FIRST + bytes).contains(&(8 * word)) { 0 } else { u64::MAX })
            .collect();
        let mut ports = [Shape::default(), narrow].map(FunctionalPort::new);
        let [wide, narrow] = &mut ports;
        let reports = [
            run_on(text, bytes, wide),
            run_on(text, bytes, narrow),
            run_on(text, bytes, &mut Unit::new(Config::default())),
        ];
        for report in reports {
            let report = report.unwrap_or_else(|e| panic!("{text}: {e}"));
            let out = report.buffer("out").unwrap();
            let found: Vec<u64> = (0..64).map(|i| out.element.read(&out.bytes, i)).collect();
            assert_eq!(found, expected, "{bytes} bytes: {text}");
        }
        assert!(ports.iter().all(FunctionalPort::clean));
    }
}

/// Threads that execute the instruction together share its words.
#[test]
fn each_request_stores_a_word_for_each_lane() {
    for (text, requests) in texts().iter().zip([2 + 4 + 2, 2 + 4 + 2, 2 + 33 + 2, 2 + 33 + 2]) {
        let report = run_on(text, 264, &mut Unit::new(Config::default())).unwrap();
        assert_eq!(report.statistics.shared_requests, requests, "{text}");
    }
}

#[test]
fn a_range_beyond_the_allocation_ends_the_run() {
    for text in texts() {
        let error = run_on(&text, 496, &mut Unit::new(Config::default())).unwrap_err();
        assert!(error.contains("0x00000600") && error.contains("1536 bytes"), "{error}");
    }
}

/// Rows: statement, architecture, part of the message with its help.
#[test]
fn what_is_refused() {
    let refused = |statement: &str, arch: &str| {
        let text = ptx("", "").replace("st.bulk, %rd5, 0;", statement);
        let error = Program::read("k.ptx", &text, Arch::from_name(arch)).unwrap_err();
        format!("{} {}", error.problems[0].message, error.problems[0].help)
    };
    for (statement, arch, said) in [
        ("st.bulk.shared::cta [%r1], %rd5, 0;", "sm_90", "requires sm_100"),
        (
            "st.bulk.shared::cta [%r1], 12, 0;",
            "sm_100",
            "a size of 12 bytes is illegal the size is a multiple of 8",
        ),
        ("st.bulk.shared::cta [%r1], 16, 1;", "sm_100", "st.bulk stores zeros"),
        ("add.rn.f32x2 %rd1, %rd1, %rd1;", "sm_90", "requires sm_100"),
        ("max.f32 %r1, %r1, %r1, %r1;", "sm_90", "requires sm_100"),
        ("min.xorsign.abs.f32 %r1, %r1, %r1;", "sm_80", "requires sm_86"),
        ("min.abs.f32 %r1, %r1, %r1;", "sm_100", "`.abs` and `.xorsign` must be used together"),
        ("cvt.rn.satfinite.e4m3x2.f32 %r1, %r1, %r1;", "sm_86", "requires sm_89"),
        ("cvt.pack.sat.u4.s32.b32 %r1, %r1, %r1, %r1;", "sm_70", "requires sm_75"),
        ("cvt.pack.sat.u8.s32.b32 %r1, %r1, %r1, %r1;", "sm_70", "requires sm_72"),
        ("cp.async.bulk.prefetch.L2.global [%rd0], 16;", "sm_80", "sm_90"),
    ] {
        let found = refused(statement, arch);
        assert!(found.contains(said), "{statement} for {arch}: {found}");
    }
}

/// PTX that the vendor's assembler refuses is not executed as another instruction.
#[test]
fn what_is_lacking() {
    for statement in [
        "add.sat.f32x2 %rd1, %rd1, %rd1;",
        "mad.rn.f32x2 %rd1, %rd1, %rd1, %rd1;",
        "min.f32x2 %rd1, %rd1, %rd1;",
        "cvt.rn.e4m3x2.f32 %r1, %r1, %r1;",
        "cvt.satfinite.e4m3x2.f32 %r1, %r1, %r1;",
        "cvt.pack.sat.u8.s32 %r1, %r1, %r1;",
        "cvt.pack.sat.u16.s32.b32 %r1, %r1, %r1, %r1;",
        "cvt.pack.u16.s32 %r1, %r1, %r1;",
        "min.abs.s32 %r1, %r1, %r1;",
    ] {
        let text = ptx("", "").replace("st.bulk, %rd5, 0;", statement);
        let program = Program::read("k.ptx", &text, None).unwrap_or_else(|e| panic!("{statement}: {e}"));
        assert_eq!(program.kernels[0].unsupported().count(), 1, "{statement}");
    }
}
