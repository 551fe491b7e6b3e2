//! Process that calls the driver. It reads program numbers from standard input, one per line, and writes
//! capture entries to standard output. A kernel that hangs or faults makes the context unusable, and with the
//! context the process. Then [`supervisor`](crate::supervise::supervisor) starts another worker.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use atoms_cuda::{
    Cubin, Device, DeviceAttribute, DeviceContext, Driver, DriverError, GridArgument, GridError, GridLaunch,
};

use crate::capture::{
    self, Bytes, CaptureEntry, CaptureHeader, Code, ProgramOutcome, ProgramRecord, VERSION,
};
use crate::program::{ENTRY, ProgramLaunch, TestProgram};

#[derive(Clone, Debug)]
pub struct WorkerTarget {
    /// Path of the driver's library. `None` for the library of the system.
    pub driver: Option<PathBuf>,
    pub device: usize,
    /// Time limit for a launch. The longest launch of the catalogue takes tens of milliseconds.
    pub launch_limit: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error("there is no device {asked}; the driver has {}", count(*devices))]
    NoDevice { asked: usize, devices: usize },
    #[error("the parent process of this worker has ended")]
    Pipe(#[from] std::io::Error),
}

fn count(devices: usize) -> String {
    match devices {
        1 => "one, device 0".into(),
        n => format!("{n}, devices 0 to {}", n - 1),
    }
}

/// Writes a header, then runs the requested programs until the input ends or the GPU is lost.
///
/// # Errors
/// [`WorkerError`].
pub fn work(
    target: &WorkerTarget,
    header: (u64, String),
    programs: &[TestProgram],
    input: impl BufRead,
    mut output: impl Write,
) -> Result<(), WorkerError> {
    let driver = Driver::open(target.driver.as_deref())?;
    let devices = driver.devices()?;
    let device = devices
        .get(target.device)
        .ok_or(WorkerError::NoDevice { asked: target.device, devices: devices.len() })?;
    let context = device.context()?;
    let (seed, date) = header;
    let header = CaptureHeader {
        atoms_capture: VERSION,
        kit: env!("CARGO_PKG_VERSION").into(),
        date,
        seed,
        device: described(device)?,
        driver: driver.version().to_string(),
        loading: context.loading_mode()?.map(Into::into),
    };
    let device = header.device.clone();
    capture::write_entry(&mut output, &CaptureEntry::Header(header))?;
    let disassembler = find("nvdisasm");
    for line in input.lines() {
        let Some(program) = line?.trim().parse().ok().and_then(|n: usize| programs.get(n)) else { continue };
        let started = Instant::now();
        let (outcome, code) = match unfit(program, &device) {
            Some(reason) => (ProgramOutcome::Skipped(reason), None),
            None => ask(&context, program, target.launch_limit, disassembler.as_deref()),
        };
        let seconds = started.elapsed().as_secs_f64();
        let record = ProgramRecord { program: program.clone(), outcome, code, seconds };
        capture::write_entry(&mut output, &CaptureEntry::Record(Box::new(record)))?;
    }
    Ok(())
}

fn described(device: &Device) -> Result<capture::DeviceRecord, DriverError> {
    let number = |attribute| device.number_of(attribute);
    Ok(capture::DeviceRecord {
        name: device.name()?,
        compute_capability: [number(DeviceAttribute::Major)?, number(DeviceAttribute::Minor)?],
        multiprocessors: number(DeviceAttribute::Multiprocessors)?,
        clock_khz: number(DeviceAttribute::ClockRate)?,
        memory_clock_khz: number(DeviceAttribute::MemoryClockRate)?,
        clusters: number(DeviceAttribute::ClusterLaunch)? != 0,
        mig: device.is_mig()?,
        kernel_timeout: number(DeviceAttribute::KernelTimeout)? != 0,
    })
}

/// Returns the reason why a device cannot run a program, or `None` if it can.
fn unfit(program: &TestProgram, device: &capture::DeviceRecord) -> Option<String> {
    let clusters = program.launches.iter().any(|launch| launch.cluster > 1);
    if device.arch() < program.since {
        Some(format!("the program needs sm_{} or later, and this GPU is sm_{}", program.since, device.arch()))
    } else if clusters && !device.clusters {
        Some("this GPU cannot launch clusters".into())
    } else {
        None
    }
}

fn ask(
    context: &DeviceContext,
    program: &TestProgram,
    limit: Duration,
    disassembler: Option<&Path>,
) -> (ProgramOutcome, Option<Code>) {
    let cubin = match context.compile(&program.ptx) {
        Ok(cubin) => cubin,
        Err(error) => return (ProgramOutcome::Failed(error.to_string()), None),
    };
    let outputs = run(context, program, &cubin, limit);
    let outcome = match outputs {
        Ok(outputs) => ProgramOutcome::Outputs(outputs),
        Err(GridError::TimedOut { limit, .. }) => ProgramOutcome::TimedOut(limit.as_secs()),
        Err(error) => ProgramOutcome::Failed(error.to_string()),
    };
    let sass = disassembler.and_then(|program| disassembled(program, &cubin));
    (outcome, Some(sass.map_or_else(|| Code::Cubin(cubin.bytes().to_vec()), Code::Sass)))
}

fn run(
    context: &DeviceContext,
    program: &TestProgram,
    cubin: &Cubin,
    limit: Duration,
) -> Result<Vec<Bytes>, GridError> {
    let module = context.load(cubin)?;
    let kernel = module.kernel(ENTRY)?;
    let one = |launch: &ProgramLaunch| {
        let input = context.allocate(launch.input.len())?;
        let output = context.allocate(launch.output_bytes as usize)?;
        input.write(&launch.input)?;
        output.write(&vec![0; launch.output_bytes as usize])?;
        let grid = GridLaunch {
            grid: [launch.ctas, 1, 1],
            block: [launch.threads, 1, 1],
            cluster: [launch.cluster, 1, 1],
            ..GridLaunch::default()
        };
        let arguments = [GridArgument::Memory(&input), GridArgument::Memory(&output)];
        context.launch(&kernel, &grid, &arguments, limit)?;
        Ok(Bytes(output.read()?))
    };
    program.launches.iter().map(one).collect()
}

fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Returns the output of the disassembler. `None` if it fails, as an old disassembler does for new code.
fn disassembled(program: &Path, cubin: &Cubin) -> Option<String> {
    let file = std::env::temp_dir().join(format!("atoms-capture-{}.cubin", std::process::id()));
    std::fs::write(&file, cubin.bytes()).ok()?;
    let output = Command::new(program).arg("-c").arg(&file).output();
    let _ = std::fs::remove_file(&file);
    let output = output.ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}
