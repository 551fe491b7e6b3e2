//! Runs the programs of a capture on the project's own core, with any memory port.

use atoms_isa::{Arch, Program as Module};
use atoms_model::MemoryPort;
use atoms_sm::{Element, Param, ParamKind, RunError, SmConfig};

use crate::program::{ENTRY, ProgramLaunch, TestProgram};

#[derive(Debug, thiserror::Error)]
pub enum ReplayError<E: std::error::Error + 'static> {
    #[error("this project does not support the PTX: {0}")]
    Ptx(String),
    #[error("the run on the core failed")]
    Run(#[source] RunError<E>),
}

pub fn arch(number: u32) -> Option<Arch> {
    Arch::from_name(&format!("sm_{number}"))
}

/// Runs `program`, compiled for `arch`, and returns the output of each launch. After an error the port must
/// not be reused, because CTAs may still hold allocations.
///
/// # Errors
/// [`ReplayError`] of the first launch that fails.
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
