//! Runs of kernels, lowering, and measurements.

use std::path::{Path, PathBuf};

use atoms_builtin::{LoweredInstruction, lower_text};
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::internals::Depth;
use atoms_cosim::rtl::{self, RtlIdentity};
use atoms_explore::certificate::certify;
use atoms_explore::measure::{Trial, TrialLimits, estimate};
use atoms_explore::report::TrialReport;
use atoms_isa::{Arch, Program};
use atoms_run::kernel::source::{self, Wanted};
use atoms_run::kernel::{Checks, KernelJob};
use atoms_run::{Implementation, Setup};
use atoms_sm::Launch;
use atoms_sm::races::RaceChecks;
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_workload::{Generated, KernelUnit, KernelWorkload, Workload};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::array::value_error;

fn wrong(error: impl std::error::Error) -> PyErr {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    value_error(text)
}

/// Text of a kernel, and its name: the text itself if it has a line break, else a file.
fn kernel_text(kernel: &str, arch: Option<Arch>, wanted: Wanted) -> PyResult<(String, String)> {
    if kernel.contains('\n') {
        return Ok(("the kernel".into(), kernel.into()));
    }
    Ok((kernel.into(), source::read(Path::new(kernel), arch, wanted).map_err(wrong)?))
}

/// A launch: a launch file, or its content as a dictionary. Also returns the text.
fn launch_of(value: &Bound<'_, PyAny>) -> PyResult<(Launch, String)> {
    if let Ok(content) = value.cast::<PyDict>() {
        let content: toml::Table = pythonize::depythonize(content)?;
        let text = toml::to_string(&content).map_err(wrong)?;
        return Ok((Launch::from_toml("the launch", &text, Path::new("")).map_err(wrong)?, text));
    }
    let path: PathBuf = value.extract()?;
    let text = std::fs::read_to_string(&path)
        .map_err(|error| value_error(format!("{}: {error}", path.display())))?;
    Ok((Launch::from_file(&path).map_err(wrong)?, text))
}

fn program(kernel: &str, arch: Option<Arch>) -> PyResult<(Program, String)> {
    let (name, text) = kernel_text(kernel, arch, Wanted::Code)?;
    Ok((Program::read(&name, &text, arch).map_err(wrong)?, text))
}

fn implementation(on: &str, config: &NamedConfig) -> PyResult<(Implementation, Option<RtlIdentity>)> {
    let library = || {
        let folder = rtl_dir();
        let identity = RtlIdentity::of(&folder).map_err(wrong)?;
        let library = rtl::library(&folder, config, Depth::Ports.variant(), &mut |_| {}).map_err(wrong)?;
        PyResult::Ok((library, Some(identity)))
    };
    Ok(match on {
        "model" => (Implementation::Model, None),
        "lockstep" => library().map(|(library, rtl)| (Implementation::Lockstep(library), rtl))?,
        "rtl" => library().map(|(library, rtl)| (Implementation::Rtl(library), rtl))?,
        _ => return Err(value_error(format!("`on` is {on}; expected model, lockstep or rtl"))),
    })
}

#[pyfunction]
pub(crate) fn run<'py>(
    python: Python<'py>,
    kernel: &str,
    launch: &Bound<'py, PyAny>,
    config: &str,
    arch: Option<&str>,
    on: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (launch, _) = launch_of(launch)?;
    let arch = arch.map(|name| {
        Arch::from_name(name).ok_or_else(|| value_error(format!("unknown architecture `{name}`")))
    });
    let (program, _) = program(kernel, arch.transpose()?.or(launch.arch))?;
    let kernel = launch.kernel(&program).map_err(wrong)?;
    let config = configs::embedded(config).map_err(wrong)?;
    let (implementation, rtl) = python.detach(|| implementation(on, &config))?;
    let checks =
        Checks { undefined: !matches!(implementation, Implementation::Rtl(_)), races: RaceChecks::ALL };
    let setup = Setup::new(&config, implementation);
    let job = KernelJob { setup: &setup, kernel, launch: &launch, checks, schedule: None };
    let run = python.detach(|| job.run()).map_err(wrong)?;
    let report = run.outcome.as_ref().map_err(|failure| PyRuntimeError::new_err(failure.to_string()))?;
    let result = pythonize::pythonize(python, &run.result(report, program.forward_of, rtl.as_ref()))?;
    let numpy = python.import("numpy")?;
    for (buffer, to) in report.buffers.iter().zip(result.get_item("buffers")?.try_iter()?) {
        let bytes = PyBytes::new(python, &buffer.bytes);
        let dtype = match buffer.element.name() {
            "bf16" => "<u2".to_owned(),
            name => format!("<{}{}", name[..1].replace('s', "i"), buffer.element.bytes()),
        };
        to?.set_item("data", numpy.call_method1("frombuffer", (bytes, dtype))?.call_method0("copy")?)?;
    }
    Ok(result)
}

#[pyfunction]
pub(crate) fn lower<'py>(
    python: Python<'py>,
    ptx: &str,
    arches: Vec<String>,
    unused: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let is_path = !ptx.contains(char::is_whitespace);
    let (name, text) =
        if is_path { kernel_text(ptx, None, Wanted::Ptx)? } else { ("the PTX".into(), ptx.into()) };
    let lowered = python.detach(|| lower_text(&name, &text, &arches, unused)).map_err(wrong)?;
    let results: Vec<_> = lowered.iter().flat_map(LoweredInstruction::results).collect();
    Ok(pythonize::pythonize(python, &results)?)
}

#[pyfunction]
pub(crate) fn explore<'py>(
    python: Python<'py>,
    workload: &str,
    config: &str,
    settings: Vec<(String, String)>,
    launch: Option<&Bound<'py, PyAny>>,
    seed: u64,
    on: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let workload = match launch {
        None => {
            let mut generated = Generated::named(workload).map_err(wrong)?;
            generated.set_all(settings.iter().map(|(name, value)| (&name[..], &value[..]))).map_err(wrong)?;
            Workload::Generated(generated)
        }
        Some(launch) => {
            let (launch, launch_text) = launch_of(launch)?;
            let (program, text) = program(workload, launch.arch)?;
            let kernel = launch.kernel(&program).map_err(wrong)?.clone();
            let unit = KernelUnit::default();
            Workload::Kernel(Box::new(KernelWorkload::new(kernel, launch, unit, [&text, &launch_text])))
        }
    };
    let config = configs::embedded(config).map_err(wrong)?;
    let trial = Trial { config: &config, workload: &workload, seed, limits: TrialLimits::default() };
    let failed = |error: atoms_explore::measure::TrialError| PyRuntimeError::new_err(error.to_string());
    let (measurement, certificate, on) = python.detach(|| match implementation(on, &config)? {
        (Implementation::Lockstep(library), Some(rtl)) => {
            let certificate = certify(&trial, &library, &rtl).map_err(failed)?;
            Ok((certificate.measurement, Some(certificate), "lockstep"))
        }
        (Implementation::Model, _) => Ok((estimate(&trial).map_err(failed)?, None, "model")),
        _ => Err(value_error(format!("`on` is {on}; expected model or lockstep"))),
    })?;
    let certificate = certificate.as_ref();
    let report =
        TrialReport { trial: &trial, on, measurement: &measurement, certificate, gpu: None, rtl: None };
    Ok(pythonize::pythonize(python, &report.result())?)
}
