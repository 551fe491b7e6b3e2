//! Runs a few instructions in one thread.

use crate::functional::{FunctionalPort, Shape};
use atoms_isa::{Arch, Program};
use atoms_sm::{Launch, SmConfig, run};
use std::path::Path;

/// Runs `lines` in one thread with R2 to R5 and P0 set. Returns R8, R9, P1 and P2.
pub(crate) fn outcome(lines: &str, r: [u32; 4], p0: u32) -> [u32; 4] {
    outcome_on("sm_80", lines, r, p0)
}

pub(crate) fn outcome_on(arch: &str, lines: &str, r: [u32; 4], p0: u32) -> [u32; 4] {
    let [a, b, c, d] = [0, 8, 16, 24].map(|at| Arch::from_name(arch).unwrap().param_base() + at);
    let text = format!(
        ".target {arch}\n.section .text.k,\"ax\",@progbits\n\
         LDC.64 R2, c[0x0][{a:#x}] ;\nLDC.64 R4, c[0x0][{b:#x}] ;\nLDC R6, c[0x0][{c:#x}] ;\n\
         LDC.64 R20, c[0x0][{d:#x}] ;\nISETP.NE.U32.AND P0, PT, R6, RZ, PT ;\n\
         {lines}\n\
         SEL R10, RZ, 0x1, !P1 ;\nSEL R11, RZ, 0x1, !P2 ;\n\
         STG.E.64 [R20.64], R8 ;\nSTG.E.64 [R20.64+0x8], R10 ;\nEXIT ;\n"
    );
    let program = Program::parse(lines, &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let scalars: String =
        r.iter().chain([&p0]).map(|v| format!("[[param]]\ntype = \"u32\"\nvalue = {v}\n")).collect();
    let launch = format!(
        "kernel = \"k\"\ngrid = 1\nblock = 1\nshared = 64\n{scalars}[[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 4\n"
    );
    let launch = Launch::from_toml("launch", &launch, Path::new("")).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let report =
        run(&program.kernels[0], &launch, &mut port, &SmConfig::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(port.clean());
    let out = report.buffer("out").unwrap();
    [0, 1, 2, 3].map(|i| out.element.read(&out.bytes, i) as u32)
}
