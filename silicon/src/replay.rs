//! Programs of a capture on our own core, against whatever stands behind a memory port.

use atoms_isa::{Arch, Program as Module};
use atoms_model::MemoryPort;
use atoms_sm::{Element, Param, ParamKind, RunError, SmConfig};

use crate::program::{ENTRY, ProgramLaunch, TestProgram};

/// Why a program could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError<E: std::error::Error + 'static> {
    /// Its text is not read here.
    #[error("the PTX is not read here: {0}")]
    Ptx(String),
    /// The core gave up, or the port did.
    #[error("the run ended early")]
    Run(#[source] RunError<E>),
}

/// The architecture with this number.
pub fn arch(number: u32) -> Option<Arch> {
    Arch::from_name(&format!("sm_{number}"))
}

/// Output of each launch of `program`, compiled for `arch`. After an error the port is of no further use: CTAs may still
/// have their allocations.
///
/// # Errors
/// [`ReplayError`], of the first launch that fails.
pub fn run<P: MemoryPort>(
    program: &TestProgram,
    arch: Option<Arch>,
    port: &mut P,
) -> Result<Vec<Vec<u8>>, ReplayError<P::Error>> {
    let module = Module::from_ptx(&program.name, &program.ptx, arch)
        .map_err(|error| ReplayError::Ptx(first_problem(&error)))?;
    let kernel =
        module.kernel(ENTRY).ok_or_else(|| ReplayError::Ptx(format!("there is no kernel `{ENTRY}`")))?;
    let outputs = program.launches.iter().map(|launch| {
        let report = atoms_sm::run(kernel, &started(launch), port, &SmConfig::default());
        let mut report = report.map_err(ReplayError::Run)?;
        Ok(report.buffers.pop().map_or_else(Vec::new, |output| output.bytes))
    });
    outputs.collect()
}

fn first_problem(error: &atoms_isa::TextError) -> String {
    error.problems.first().map_or_else(|| error.to_string(), |p| format!("{} ({})", p.message, p.help))
}

fn started(launch: &ProgramLaunch) -> atoms_sm::Launch {
    let buffer = |name: &str, bytes: Vec<u8>| Param {
        name: name.into(),
        kind: ParamKind::Buffer { element: Element::U8, bytes, expect: None },
    };
    atoms_sm::Launch {
        kernel: ENTRY.into(),
        grid: [launch.ctas, 1, 1],
        block: [launch.threads, 1, 1],
        cluster: [launch.cluster, 1, 1],
        params: vec![
            buffer("input", launch.input.clone()),
            buffer("output", vec![0; launch.output_bytes as usize]),
        ],
        ..atoms_sm::Launch::default()
    }
}
