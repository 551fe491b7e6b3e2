//! Kernels from PTX to their output, with the stand-in driver.

use crate::support;

use atoms_cuda::{GridArgument, GridLaunch};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;
use support::{alone, context, kernel, module, words};

const LIMIT: Duration = Duration::from_secs(60);

/// Kernel: histogram in shared memory, with 64 threads per CTA and 32 bins. Each key adds `step` to its bin;
/// the kernel also adds the low word of `more`.
const COUNT: &str = "
.version 6.3
.target sm_75
.address_size 64
.visible .entry k(.param .u64 keys, .param .u32 step, .param .u64 out, .param .u64 more)
{
    .shared .align 4 .b8 bins[128];
    .reg .pred %p<2>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    ld.param.u64 %rd1, [keys];
    ld.param.u32 %r1, [step];
    ld.param.u64 %rd2, [out];
    ld.param.u64 %rd3, [more];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    setp.lt.u32 %p1, %r2, 32;
    mov.u32 %r4, bins;
    shl.b32 %r5, %r2, 2;
    add.u32 %r6, %r4, %r5;
    mov.u32 %r7, 0;
    @%p1 st.shared.u32 [%r6], %r7;
    bar.sync 0;
    mad.lo.u32 %r8, %r3, 64, %r2;
    mul.wide.u32 %rd4, %r8, 4;
    add.u64 %rd5, %rd1, %rd4;
    ld.global.u32 %r9, [%rd5];
    and.b32 %r9, %r9, 31;
    shl.b32 %r9, %r9, 2;
    add.u32 %r10, %r4, %r9;
    atom.shared.add.u32 %r11, [%r10], %r1;
    bar.sync 0;
    @!%p1 bra END;
    ld.shared.u32 %r12, [%r6];
    cvt.u32.u64 %r13, %rd3;
    add.u32 %r12, %r12, %r13;
    mad.lo.u32 %r14, %r3, 32, %r2;
    mul.wide.u32 %rd6, %r14, 4;
    add.u64 %rd7, %rd2, %rd6;
    st.global.u32 [%rd7], %r12;
END:
    ret;
}
";

fn counts() {
    let context = context();
    let keys: Vec<u32> = (0..128).map(|i: u32| i * i + i / 5).collect();
    let (input, out) = (context.allocate(4 * keys.len()).unwrap(), context.allocate(4 * 64).unwrap());
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    input.write(&bytes).unwrap();
    let launch = GridLaunch { grid: [2, 1, 1], block: [64, 1, 1], ..GridLaunch::default() };
    let arguments = [
        GridArgument::Memory(&input),
        GridArgument::U32(3),
        GridArgument::U64(out.address()),
        GridArgument::U64(0x5_0000_0007),
    ];
    context.launch(&kernel(&context, COUNT), &launch, &arguments, LIMIT).unwrap();
    let mut expected = [7; 64];
    for (at, key) in keys.iter().enumerate() {
        expected[at / 64 * 32 + (key & 31) as usize] += 3;
    }
    assert_eq!(words(&out.read().unwrap()), expected);
    assert_eq!(input.read().unwrap(), bytes);
}

#[test]
fn histogram_on_8_0() {
    alone(&[("ATOMS_STANDIN_CC", "8.0")], counts);
}

#[test]
fn histogram_on_9_0() {
    alone(&[], counts);
}

#[test]
fn histogram_on_10_0() {
    alone(&[("ATOMS_STANDIN_CC", "10.0")], counts);
}

#[test]
fn histogram_on_12_0() {
    alone(&[("ATOMS_STANDIN_CC", "12.0")], counts);
}

#[test]
fn the_systems_driver_is_found() {
    let folder = tempfile::tempdir().unwrap();
    symlink(atoms_standin::library(), folder.path().join("libcuda.so.1")).unwrap();
    alone(&[("LD_LIBRARY_PATH", folder.path().to_str().unwrap())], || {
        let driver = atoms_cuda::Driver::open(None).unwrap();
        assert_eq!(driver.library(), "libcuda.so.1");
        assert_eq!(driver.devices().unwrap()[0].name().unwrap(), "ATOMS stand-in (model)");
    });
}

#[test]
fn clocks_advance() {
    alone(&[], || {
        let context = context();
        let body = "
            .reg .b64 %rd<8>;
            ld.param.u64 %rd1, [out];
            mov.u64 %rd2, %clock64;
            mov.u64 %rd3, %globaltimer;
            bar.sync 0;
            mov.u64 %rd4, %clock64;
            mov.u64 %rd5, %globaltimer;
            sub.u64 %rd4, %rd4, %rd2;
            sub.u64 %rd5, %rd5, %rd3;
            st.global.u64 [%rd1], %rd4;
            st.global.u64 [%rd1+8], %rd5;";
        let out = context.allocate(16).unwrap();
        let kernel = kernel(&context, &module("sm_75", ".param .u64 out", body));
        context.launch(&kernel, &GridLaunch::default(), &[GridArgument::Memory(&out)], LIMIT).unwrap();
        let words = words(&out.read().unwrap());
        assert!(words[0] > 0 && words[2] > 0 && words[1] == 0 && words[3] == 0, "{words:?}");
    });
}

#[test]
fn clusters_and_dynamic_shared_memory_reach_the_kernel() {
    alone(&[], || {
        let context = context();
        let body = "
            .reg .b32 %r<8>;
            .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [out];
            mov.u32 %r1, %ctaid.x;
            mul.wide.u32 %rd2, %r1, 16;
            add.u64 %rd1, %rd1, %rd2;
            mov.u32 %r2, %cluster_ctarank;
            mov.u32 %r3, %cluster_nctarank;
            mov.u32 %r4, %dynamic_smem_size;
            mov.u32 %r5, %clusterid.x;
            st.global.u32 [%rd1], %r2;
            st.global.u32 [%rd1+4], %r3;
            st.global.u32 [%rd1+8], %r4;
            st.global.u32 [%rd1+12], %r5;";
        let out = context.allocate(64).unwrap();
        let kernel = kernel(&context, &module("sm_90", ".param .u64 out", body));
        let launch =
            GridLaunch { grid: [4, 1, 1], cluster: [2, 1, 1], dynamic_shared: 1024, ..GridLaunch::default() };
        context.launch(&kernel, &launch, &[GridArgument::Memory(&out)], LIMIT).unwrap();
        assert_eq!(words(&out.read().unwrap()), [0, 2, 1024, 0, 1, 2, 1024, 0, 0, 2, 1024, 1, 1, 2, 1024, 1]);
        let alone = GridLaunch { cluster: [1; 3], ..launch };
        context.launch(&kernel, &alone, &[GridArgument::Memory(&out)], LIMIT).unwrap();
        assert_eq!(words(&out.read().unwrap())[..4], [0, 1, 1024, 0]);
        // 16 CTAs per cluster: more than every device supports.
        let many = GridLaunch { grid: [16, 1, 1], cluster: [16, 1, 1], dynamic_shared: 0, ..launch };
        let out = context.allocate(256).unwrap();
        context.launch(&kernel, &many, &[GridArgument::Memory(&out)], LIMIT).unwrap();
        assert_eq!(words(&out.read().unwrap())[60..], [15, 16, 0, 0]);
    });
}

/// The driver accepts all PTX kernels of the corpus.
#[test]
fn compiled_modules_are_taken() {
    alone(&[], || {
        let context = context();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels");
        let mut taken = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().is_some_and(|name| name.ends_with(".sm_90a.ptx")) {
                let ptx = fs::read_to_string(&path).unwrap();
                let cubin =
                    context.compile(&ptx).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                context.load(&cubin).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                taken += 1;
            }
        }
        assert!(taken >= 5, "{taken}");
    });
}
