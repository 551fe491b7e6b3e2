//! Vector atomics on global memory: each element is computed, and the result is the old vector.

use crate::functional;

use atoms_isa::Program;
use atoms_sm::{Launch, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::path::Path;

/// Runs one thread. Checks `data` after the run, and the words that the body stores at %rd2.
fn outcome(body: &str, before: &[u32], after: &[u32], old: &[u32]) -> Result<(), String> {
    let text = format!(
        ".version 9.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data, .param .u64 old)\n{{\n\
         .reg .b16 %h<17>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n.reg .pred %p<3>;\n.shared .align 16 .b8 s[64];\n\
         ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [old];\n{body}\nret;\n}}\n"
    );
    let program = Program::from_ptx("k.ptx", &text, None).map_err(|e| e.to_string())?;
    let launch = format!(
        "kernel = \"k\"\ngrid = 1\nblock = 1\ncycle_budget = 20000\n\
         [[param]]\nname = \"data\"\ntype = \"u32\"\nvalues = {before:?}\nexpect = {{ values = {after:?} }}\n\
         [[param]]\nname = \"old\"\ntype = \"u32\"\nzeros = {}\nexpect = {{ values = {old:?} }}\n",
        old.len()
    );
    let launch = Launch::from_toml("k.toml", &launch, Path::new("")).map_err(|e| e.to_string())?;
    let mut port = FunctionalPort::new(Shape::default());
    let report =
        run(&program.kernels[0], &launch, &mut port, &SmConfig::default()).map_err(|e| e.to_string())?;
    match report.as_expected() {
        true => Ok(()),
        false => Err(format!(
            "{:?} {:?}",
            report.buffer("data").map(|b| &b.outcome),
            report.buffer("old").map(|b| &b.outcome)
        )),
    }
}

const fn f(value: f32) -> u32 {
    value.to_bits()
}

/// Packs two binary16 values: 1.0 is 0x3c00, 2.0 0x4000, 3.0 0x4200, -1.0 0xbc00.
const fn halves(low: u32, high: u32) -> u32 {
    high << 16 | low
}

/// Test case: rule, body, data before, data after, words stored.
type Row<'a> = (&'a str, &'a str, &'a [u32], &'a [u32], &'a [u32]);

#[test]
fn every_element_is_computed() {
    let subnormal = 1;
    #[rustfmt::skip]
    let rows: &[Row] = &[
        ("floats are added, subnormals flushed", "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f00000001;\n\
          atom.global.v2.f32.add {%f3,%f4}, [%rd1], {%f1,%f2};\nst.global.v2.f32 [%rd2], {%f4,%f3};",
         &[f(2.0), subnormal], &[f(3.0), 0], &[subnormal, f(2.0)]),
        ("or kept", "mov.f32 %f2, 0f00000001;\natom.global.v2.f32.add.noftz {%f3,%f4}, [%rd1], {%f2,%f2};\n\
          st.global.v2.f32 [%rd2], {%f3,%f4};",
         &[f(0.0), subnormal], &[1, 2], &[0, subnormal]),
        ("four floats, the destination one of the operands", "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;\n\
          atom.global.v4.f32.add {%f1,%f2,%f3,_}, [%rd1+16], {%f1,%f2,%f1,%f2};\nst.global.v2.f32 [%rd2], {%f1,%f2};\nst.global.f32 [%rd2+8], %f3;",
         &[7, 7, 7, 7, f(1.0), f(2.0), f(3.0), f(4.0)], &[7, 7, 7, 7, f(2.0), f(4.0), f(4.0), f(6.0)], &[f(1.0), f(2.0), f(3.0)]),
        ("halves are put together and taken apart", "mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x4000;\n\
          atom.global.v4.f16.add.noftz {%h3,%h4,%h5,%h6}, [%rd1], {%h1,%h2,%h2,%h1};\nst.global.v4.b16 [%rd2], {%h6,%h5,%h4,%h3};",
         &[halves(0x3c00, 0x3c00), halves(0x4000, 0x4000)], &[halves(0x4000, 0x4200), halves(0x4400, 0x4200)],
         &[halves(0x4000, 0x4000), halves(0x3c00, 0x3c00)]),
        ("eight halves", "mov.b16 %h1, 0x3f80; mov.b16 %h2, 0xbf80;\n\
          atom.global.v8.bf16.max.noftz {%h9,%h10,%h11,%h12,%h13,%h14,%h15,%h16}, [%rd1], {%h1,%h2,%h1,%h2,%h1,%h2,%h1,%h2};\n\
          cvt.u32.u16 %r1, %h16;\nst.global.u32 [%rd2], %r1;",
         &[0, 0, 0, halves(0x4000, 0xc000)], &[halves(0x3f80, 0), halves(0x3f80, 0), halves(0x3f80, 0), halves(0x4000, 0xbf80)], &[0xc000]),
        ("pairs of halves", "mov.b32 %r1, 0x3c00bc00; mov.b32 %r2, 0xbc003c00;\n\
          atom.global.v2.f16x2.min.noftz {%r3,%r4}, [%rd1], {%r1,%r2};\nst.global.v2.b32 [%rd2], {%r3,%r4};",
         &[0, 0], &[halves(0xbc00, 0), halves(0, 0xbc00)], &[0, 0]),
        ("without a result", "mov.f32 %f1, 0f3F800000;\nred.global.v2.f32.add [%rd1], {%f1,2.0};\nmov.u32 %r1, 5;\nst.global.u32 [%rd2], %r1;",
         &[f(1.0), f(1.0)], &[f(2.0), f(3.0)], &[5]),
        ("at a generic address", "mov.f32 %f1, 0f3F800000;\natom.v2.f32.add {%f2,%f3}, [%rd1], {%f1,%f1};\nst.global.v2.f32 [%rd2], {%f2,%f3};",
         &[f(1.0), f(4.0)], &[f(2.0), f(5.0)], &[f(1.0), f(4.0)]),
    ];
    for (rule, body, before, after, old) in rows {
        assert_eq!(outcome(body, before, after, old), Ok(()), "{rule}");
    }
}

/// Vector atomics exist only for global memory, but a generic address can point to other memory.
#[test]
fn a_vector_in_shared_memory_is_an_error() {
    let body = "cvta.shared.u64 %rd3, 0;\nmov.f32 %f1, 0f3F800000;\nred.v2.f32.add [%rd3], {%f1,%f1};";
    let error = outcome(body, &[0], &[0], &[0]).expect_err("shared memory has no vectors");
    assert!(error.contains("a vector atomic at"), "{error}");
}
