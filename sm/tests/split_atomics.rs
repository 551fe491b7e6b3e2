//! Atomics on memory of another CTA that a GPU does not execute as one operation (spec 7.5). They are
//! reported, and updates of several CTAs get lost. With all other atomics, no update gets lost.

use std::path::Path;

use atoms_isa::Program;
use atoms_sm::{CoreEvent, Launch, Observer, SmConfig, run_observed};

use crate::functional::{FunctionalPort, Shape};

/// Collects the lanes of all reports.
#[derive(Default)]
struct Split(u32);

impl Observer for Split {
    fn observe(&mut self, _: u64, event: &CoreEvent<'_>) {
        if let CoreEvent::SplitAtomic(_, mask) = event {
            self.0 |= mask;
        }
    }
}

/// Both CTAs of a cluster execute `atom` on 8 bytes of the first CTA, at `%a`. Each thread has its own bit in
/// `%b`. Returns the reported lanes and the final 8 bytes.
fn run(atom: &str, arch: &str) -> (u32, u64) {
    let ptx = format!(
        ".version 8.6\n.target {arch}\n.address_size 64\n.visible .entry k(.param .u64 out)\n.reqnctapercluster 2, 1, 1\n{{\n\
         .reg .pred %p;\n.reg .b32 %t, %a, %n, %w;\n.reg .b64 %o, %b, %d;\n.reg .f32 %f;\n.reg .f64 %g;\n\
         .shared .align 8 .b8 word[8];\nmov.u32 %t, %tid.x;\nmov.u32 %n, %cluster_ctarank;\nmov.u32 %a, word;\n\
         setp.eq.u32 %p, %t, 0;\nmov.b64 %b, 0;\n@%p st.shared.u64 [%a], %b;\n\
         barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
         shl.b32 %n, %n, 5;\nadd.u32 %n, %n, %t;\nmov.b64 %b, 1;\nshl.b64 %b, %b, %n;\nmov.u32 %w, 0x3c003c00;\n\
         mapa.shared::cluster.u32 %a, %a, 0;\n{atom}\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
         mov.u32 %a, word;\nld.param.u64 %o, [out];\nsetp.eq.u32 %p, %n, 0;\n@%p ld.shared.u64 %b, [%a];\n\
         @%p st.global.u64 [%o], %b;\nret;\n}}\n"
    );
    let program =
        Program::read("k", &ptx, None).unwrap_or_else(|e| panic!("{atom}: {:?}", miette::Report::new(e)));
    let launch = "kernel = \"k\"\ngrid = 2\nblock = 32\ncluster = 2\n[[param]]\nname = \"out\"\ntype = \"u64\"\nzeros = 1\n";
    let launch = Launch::from_toml("k.toml", launch, Path::new("")).unwrap();
    let (mut port, mut seen) = (FunctionalPort::new(Shape::default()), Split::default());
    let report = run_observed(&program.kernels[0], &launch, &mut port, &SmConfig::default(), &mut seen)
        .unwrap_or_else(|error| panic!("{atom}: {error}"));
    let bytes = &report.buffer("out").unwrap().bytes;
    (seen.0, u64::from_le_bytes(bytes[..8].try_into().unwrap()))
}

#[test]
fn atomics_that_lose_updates_are_named() {
    for arch in ["sm_90", "sm_100"] {
        let (named, left) = run("atom.shared::cluster.or.b64 %d, [%a], %b;", arch);
        assert_eq!(named, u32::MAX, "{arch}");
        assert_ne!(left, u64::MAX, "{arch}: updates of 64 threads at once");
        for ty in ["and.b64", "xor.b64", "min.s64", "max.s64", "min.u64", "max.u64"] {
            assert_eq!(
                run(&format!("atom.shared::cluster.{ty} %d, [%a], %b;"), arch).0,
                u32::MAX,
                "{arch} {ty}"
            );
        }
        for ty in ["f16x2", "bf16x2"] {
            let atom = format!("atom.shared::cluster.add.noftz.{ty} %w, [%a], %w;");
            assert_eq!(run(&atom, arch).0, u32::MAX, "{arch} {ty}");
        }
    }
}

#[test]
fn all_others_are_whole() {
    for (atom, left) in [
        ("atom.shared::cluster.add.u64 %d, [%a], %b;", u64::MAX),
        ("atom.shared::cluster.add.u32 %w, [%a], 1;", 64),
        ("atom.shared::cluster.or.b32 %w, [%a], 5;", 5),
        ("mov.f32 %f, 0f3F800000;\natom.shared::cluster.add.f32 %f, [%a], %f;", 0x4280_0000),
        (
            "mov.f64 %g, 0d3FF0000000000000;\natom.shared::cluster.add.f64 %g, [%a], %g;",
            0x4050_0000_0000_0000,
        ),
        ("atom.shared::cluster.cas.b64 %d, [%a], 0, 7;", 7),
    ] {
        assert_eq!(run(atom, "sm_90"), (0, left), "{atom}");
    }
}
