//! Error tests: each refusal of the driver, a device or a kernel gives its own error.

use crate::support;

use atoms_cuda::{
    CompileError, DeviceAttribute, Driver, DriverError, DriverVersion, GridArgument, GridError, GridLaunch,
};
use std::path::Path;
use std::time::{Duration, Instant};
use support::{alone, context, driver, kernel, module, words};

const LIMIT: Duration = Duration::from_secs(60);

/// Runs [`alone`] with one fault of the stand-in.
#[track_caller]
fn in_trouble(trouble: &str, rest: impl FnOnce()) {
    alone(&[("ATOMS_STANDIN_TROUBLE", trouble)], rest);
}

fn store() -> String {
    module("sm_75", ".param .u64 out", STORE)
}

const STORE: &str = ".reg .b64 %rd<2>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, 1;\nst.global.u32 [%rd1], %r1;";

fn open() -> Result<Driver, DriverError> {
    Driver::open(Some(&atoms_standin::library()))
}

#[test]
fn a_device_says_what_it_is() {
    alone(&[], || {
        let driver = driver();
        assert_eq!(driver.version(), DriverVersion { major: 13, minor: 0 });
        let device = driver.devices().unwrap().remove(0);
        assert_eq!(device.name().unwrap(), "ATOMS stand-in (model)");
        for (attribute, expected) in [
            (DeviceAttribute::Major, 9),
            (DeviceAttribute::Minor, 0),
            (DeviceAttribute::ClockRate, 1_800_000),
            (DeviceAttribute::MemoryClockRate, 1_800_000),
            (DeviceAttribute::Multiprocessors, 1),
            (DeviceAttribute::KernelTimeout, 0),
            (DeviceAttribute::ComputeMode, 0),
            (DeviceAttribute::ClusterLaunch, 1),
        ] {
            assert_eq!(device.number_of(attribute).unwrap(), expected, "{attribute:?}");
        }
        assert!(!device.is_mig().unwrap());
        let context = device.context().unwrap();
        assert_eq!(context.loading_mode().unwrap(), Some("eager"));
        let memory = context.allocate(1 << 20).unwrap();
        assert_eq!(context.free_memory().unwrap(), (1 << 30) - (1 << 20));
        drop(memory);
        assert_eq!(context.free_memory().unwrap(), 1 << 30);
    });
}

#[test]
fn an_older_device_says_so() {
    alone(&[("ATOMS_STANDIN_CC", "8.6"), ("ATOMS_STANDIN_TROUBLE", "mig")], || {
        let device = driver().devices().unwrap().remove(0);
        let attributes = [DeviceAttribute::Major, DeviceAttribute::Minor, DeviceAttribute::ClusterLaunch];
        assert_eq!(attributes.map(|attribute| device.number_of(attribute).unwrap()), [8, 6, 0]);
        assert!(device.is_mig().unwrap());
        let context = device.context().unwrap();
        let kernel = kernel(&context, &module("sm_75", "", ""));
        let launch = GridLaunch { grid: [2, 1, 1], cluster: [2, 1, 1], ..GridLaunch::default() };
        let error = context.launch(&kernel, &launch, &[], LIMIT).unwrap_err();
        assert!(error.to_string().contains("CUDA_ERROR_NOT_SUPPORTED (801): clusters need"), "{error}");
    });
}

#[test]
fn no_library_is_found() {
    let error = Driver::open(Some(Path::new("/nowhere/libcuda.so.1"))).unwrap_err();
    let DriverError::NotFound { tried } = &error else { panic!("{error}") };
    assert_eq!(tried.len(), 1);
    assert!(error.to_string().contains("\n  /nowhere/libcuda.so.1: "), "{error}");
}

#[test]
fn another_library_is_no_driver() {
    let error = Driver::open(Some(Path::new("libm.so.6"))).unwrap_err();
    let missing = DriverError::EntryMissing { library: "libm.so.6".into(), version: None, entry: "cuInit" };
    assert_eq!(error, missing);
}

#[test]
fn no_device() {
    in_trouble("no-device", || {
        let error = open().unwrap_err();
        assert!(matches!(&error, DriverError::Init { code, .. } if code.number == 100), "{error}");
        assert!(error.to_string().contains("sees no GPU: CUDA_ERROR_NO_DEVICE (100)"), "{error}");
    });
}

#[test]
fn no_permission() {
    in_trouble("init=304", || {
        assert!(open().unwrap_err().to_string().contains("check the permissions of /dev/nvidia*"));
    });
}

#[test]
fn a_library_of_another_release() {
    in_trouble("init=803", || assert!(open().unwrap_err().to_string().contains("restart the machine")));
}

#[test]
fn a_stub() {
    in_trouble("init=34", || assert!(open().unwrap_err().to_string().contains("is a stub for linking")));
}

/// An unknown code without a name also gives an `Init` error.
#[test]
fn no_start_for_another_reason() {
    in_trouble("init=12345", || {
        let error = open().unwrap_err();
        assert!(matches!(error, DriverError::Init { .. }));
        assert_eq!(error.to_string(), "the driver does not start: unknown error (12345)");
    });
}

#[test]
fn no_such_setting() {
    in_trouble("hnag=1", || {
        let error = open().unwrap_err().to_string();
        assert!(error.contains("ATOMS_STANDIN_TROUBLE: unknown trouble `hnag=1`"), "{error}");
    });
}

fn in_use(mode: u32, name: &str) {
    let device = driver().devices().unwrap().remove(0);
    assert_eq!(device.number_of(DeviceAttribute::ComputeMode).unwrap(), mode);
    let error = device.context().unwrap_err();
    assert_eq!(error, DriverError::InUse { mode: Some(mode) });
    let text = error.to_string();
    assert!(text.contains(&format!("mode is {name}")) && text.contains("nvidia-smi -c"), "{error}");
}

#[test]
fn another_process_has_the_device() {
    in_trouble("exclusive", || in_use(3, "EXCLUSIVE_PROCESS"));
}

#[test]
fn the_device_is_closed() {
    in_trouble("prohibited", || in_use(2, "PROHIBITED"));
}

#[test]
fn out_of_memory() {
    in_trouble("out-of-memory", || {
        let error = context().allocate(64).unwrap_err();
        assert_eq!(error, DriverError::OutOfMemory { call: "cuMemAlloc_v2", bytes: Some(64) });
    });
}

#[test]
fn ptx_newer_than_the_driver() {
    in_trouble("old-driver", || {
        let context = context();
        let error = context.compile(&store()).unwrap_err();
        let CompileError::Refused { why, log } = &error else { panic!("{error}") };
        assert_eq!(why, "the driver (CUDA 10.1) is too old for the `.version` of this PTX");
        assert!(log.contains("PTX 8.0"), "{log}");
        context.compile(&store().replace(".version 8.0", ".version 6.4")).unwrap();
    });
}

#[test]
fn ptx_for_a_later_gpu() {
    in_trouble("old-gpu", || {
        let error = context().compile(&store()).unwrap_err();
        let CompileError::Refused { why, log } = &error else { panic!("{error}") };
        assert_eq!(why, "this GPU cannot run code for the `.target` of this PTX");
        assert!(log.contains(".target sm_75"), "{error}");
    });
}

#[test]
fn no_compiler() {
    in_trouble("link=221", || {
        let error = context().compile(&store()).unwrap_err();
        assert!(matches!(&error, CompileError::NoCompiler { code } if code.name.contains("JIT")), "{error}");
    });
}

#[test]
fn texts_that_are_no_kernel() {
    alone(&[], || {
        let context = context();
        let error = context.compile(&module("sm_75", "", "add.u32 %r1, %r2;")).unwrap_err();
        assert!(matches!(error, CompileError::Refused { .. }), "{error}");
        assert!(error.to_string().contains("line 6, column"), "{error}");
        // One invalid kernel makes the whole module invalid.
        let two = store() + ".visible .entry l()\n{\n.reg .b32 %r<4>;\nmul.lo.s32 %r1, %r2;\n}\n";
        let error = context.compile(&two).unwrap_err();
        assert!(error.to_string().contains("mul.lo.s32 has at least 3"), "{error}");
        let unknown = context.compile(&module("sm_90a", "", "wgmma.fence.sync.aligned;")).unwrap_err();
        assert!(unknown.to_string().contains("line 6: `wgmma.fence.sync.aligned` is not known"), "{unknown}");
        assert_eq!(context.compile(".version 8.0\n\0").unwrap_err(), CompileError::Nul { at: 13 });
    });
}

#[test]
fn calls_that_make_no_sense() {
    alone(&[], || {
        let context = context();
        let module = context.load(&context.compile(&store()).unwrap()).unwrap();
        assert_eq!(module.kernel("l").unwrap_err(), DriverError::NoKernel { name: "l".into() });
        assert_eq!(module.kernel("k\0").unwrap_err(), DriverError::NoKernel { name: "k\0".into() });
        let kernel = module.kernel("k").unwrap();
        let memory = context.allocate(8).unwrap();
        let length = DriverError::MemoryLength { expected: 8, found: 9 };
        assert_eq!(memory.write(&[0; 9]).unwrap_err(), length);
        assert!(matches!(context.allocate(0), Err(DriverError::Call { .. })));
        let run = |launch: GridLaunch, arguments: &[GridArgument<'_>]| {
            context.launch(&kernel, &launch, arguments, LIMIT).unwrap_err().to_string()
        };
        let (one, out) = (GridLaunch::default(), [GridArgument::Memory(&memory)]);
        #[rustfmt::skip]
        let refused = [
            ("no parameters",     run(one, &[]),                                          "the launch passes no parameters"),
            ("a short parameter", run(one, &[GridArgument::U32(1)]),                      "4 bytes of parameters; `k` has 8"),
            ("no CTA",            run(GridLaunch { grid: [0, 1, 1], ..one }, &out),       "0 CTAs of 1 threads"),
            ("many threads",      run(GridLaunch { block: [1025, 1, 1], ..one }, &out),   "1 CTAs of 1025 threads"),
            ("a huge block",      run(GridLaunch { block: [u32::MAX; 3], ..one }, &out),  "CUDA_ERROR_INVALID_VALUE"),
            ("half a cluster",    run(GridLaunch { cluster: [2, 1, 1], ..one }, &out),    "CUDA_ERROR_INVALID_CLUSTER_SIZE"),
            ("a huge cluster",    run(GridLaunch { cluster: [u32::MAX; 3], ..one }, &out), "CUDA_ERROR_INVALID_CLUSTER_SIZE"),
            ("much memory",       run(GridLaunch { dynamic_shared: 48 * 1024, ..one }, &out), "a CTA has at most 48128"),
            ("inside of memory",  run(one, &[GridArgument::U64(memory.address() + 4)]),   "inside an allocation"),
        ];
        for (rule, error, part) in refused {
            assert!(error.contains(part), "{rule}: {error}");
        }
        for (rule, body, part) in [
            (
                "threads",
                ".reqntid 32\n{ret;}",
                "CUDA_ERROR_INVALID_VALUE (1): `block`: [1, 1, 1], but kernel `k`",
            ),
            (
                "memory",
                "{.shared .b8 much[65536];\nret;}",
                "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): a CTA needs 66560",
            ),
        ] {
            let ptx = format!(".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{body}\n");
            let kernel = support::kernel(&context, &ptx);
            let error = context.launch(&kernel, &one, &[], LIMIT).unwrap_err();
            assert!(error.to_string().contains(part), "{rule}: {error}");
        }
        let other = context.device().context().unwrap();
        let error = other.launch(&kernel, &one, &out, LIMIT).unwrap_err();
        assert_eq!(error, GridError::OtherContext { what: "the kernel".into() });
        let foreign = other.allocate(8).unwrap();
        let error = context.launch(&kernel, &one, &[GridArgument::Memory(&foreign)], LIMIT).unwrap_err();
        assert_eq!(error, GridError::OtherContext { what: "argument 0".into() });
        // The refused launches did not change the context.
        context.launch(&kernel, &one, &out, LIMIT).unwrap();
        assert_eq!(words(&memory.read().unwrap())[0], 1);
    });
}

/// Launches a kernel that stores 1 `times` times, and returns the last result.
fn launches(
    context: &atoms_cuda::DeviceContext,
    times: usize,
    limit: Duration,
) -> Result<Vec<u8>, GridError> {
    let (kernel, memory) = (kernel(context, &store()), context.allocate(4)?);
    for _ in 0..times {
        memory.write(&[0; 4])?;
        context.launch(&kernel, &GridLaunch::default(), &[GridArgument::Memory(&memory)], limit)?;
    }
    Ok(memory.read()?)
}

/// Checks that every call fails at once after a kernel was left running.
#[track_caller]
fn assert_given_up(context: &atoms_cuda::DeviceContext, error: &GridError, limit: Duration, began: Instant) {
    assert_eq!(*error, GridError::TimedOut { kernel: "k".into(), limit });
    let running = DriverError::KernelRunning;
    assert_eq!(context.allocate(4).unwrap_err(), running);
    assert_eq!(context.compile(&store()).unwrap_err(), CompileError::Driver(running.clone()));
    assert_eq!(context.device().context().unwrap_err(), running);
    assert!((limit..limit + Duration::from_secs(20)).contains(&began.elapsed()), "{:?}", began.elapsed());
}

#[test]
fn a_kernel_that_hangs() {
    in_trouble("hang=2", || {
        let (context, limit) = (context(), Duration::from_millis(300));
        let began = Instant::now();
        let error = launches(&context, 3, limit).unwrap_err();
        assert_given_up(&context, &error, limit, began);
    });
}

#[test]
fn a_kernel_that_waits_for_ever() {
    alone(&[], || {
        let (context, limit) = (context(), Duration::from_millis(50));
        let kernel = kernel(&context, &module("sm_75", "", "AGAIN: bra AGAIN;"));
        let began = Instant::now();
        let error = context.launch(&kernel, &GridLaunch::default(), &[], limit).unwrap_err();
        assert_given_up(&context, &error, limit, began);
    });
}

#[test]
fn a_slow_kernel_within_its_limit() {
    in_trouble("slow=300", || {
        let began = Instant::now();
        assert_eq!(launches(&context(), 2, LIMIT).unwrap(), [1, 0, 0, 0]);
        assert!(began.elapsed() >= Duration::from_millis(600));
    });
}

#[test]
fn a_slow_kernel_past_its_limit() {
    in_trouble("slow=100000", || {
        let (context, limit) = (context(), Duration::from_millis(50));
        let began = Instant::now();
        let error = launches(&context, 1, limit).unwrap_err();
        assert_given_up(&context, &error, limit, began);
    });
}

/// Checks that every call returns the same error after a fault.
#[track_caller]
fn assert_lost(context: &atoms_cuda::DeviceContext, error: &GridError, number: u32) {
    let GridError::Driver(lost @ DriverError::ContextLost { call: "cuStreamQuery", code }) = error else {
        panic!("{error}")
    };
    assert_eq!(code.number, number);
    assert_eq!(context.allocate(4).unwrap_err(), *lost);
    assert_eq!(context.device().context().unwrap_err(), *lost);
}

#[test]
fn a_fault_to_order() {
    in_trouble("fault=2", || {
        let context = context();
        launches(&context, 1, LIMIT).unwrap();
        assert_lost(&context, &launches(&context, 1, LIMIT).unwrap_err(), 700);
    });
}

#[test]
fn an_illegal_address() {
    alone(&[], || {
        let context = context();
        let kernel = kernel(&context, &store());
        let error =
            context.launch(&kernel, &GridLaunch::default(), &[GridArgument::U64(64)], LIMIT).unwrap_err();
        assert_lost(&context, &error, 700);
        assert!(
            error.to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS (700): 4 bytes at global address 0x40"),
            "{error}"
        );
    });
}

#[test]
fn a_misaligned_address() {
    alone(&[], || {
        let context = context();
        let body = ".shared .b32 word[2];\n.reg .b32 %r<4>;\nmov.u32 %r1, word;\natom.shared.add.u32 %r2, [%r1+2], 1;";
        let kernel = kernel(&context, &module("sm_75", "", body));
        let error = context.launch(&kernel, &GridLaunch::default(), &[], LIMIT).unwrap_err();
        assert_lost(&context, &error, 716);
    });
}

#[test]
fn a_read_with_a_flipped_bit() {
    in_trouble("flip=2", || {
        let context = context();
        let memory = context.allocate(64).unwrap();
        let written: Vec<u8> = (0..64).collect();
        memory.write(&written).unwrap();
        let reads = [0; 3].map(|_| memory.read().unwrap());
        let flipped =
            |read: &Vec<u8>| read.iter().zip(&written).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        assert_eq!(reads.each_ref().map(flipped), [0, 1, 0]);
    });
}
