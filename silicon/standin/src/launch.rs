//! Runs a launch on the core and the model.

use crate::settings::Settings;
use crate::status::{
    ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION, INVALID_CLUSTER_SIZE, INVALID_PC, INVALID_VALUE, LAUNCH_FAILED,
    LAUNCH_OUT_OF_RESOURCES, MISALIGNED_ADDRESS, NOT_SUPPORTED, Refusal,
};
use atoms_isa::{Kernel, KernelParam};
use atoms_model::{Config, Unit};
use atoms_ops::Fault;
use atoms_sm::{Element, KernelError, Launch, Param, ParamKind, RunError, SmConfig};
use std::collections::{BTreeMap, BTreeSet};

/// Largest cluster in CTAs, without and with the attribute for larger clusters.
const CLUSTERS: [u64; 2] = [8, 16];

pub(crate) struct Extent {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: [u32; 3],
    pub(crate) shared_bytes: u32,
    /// True if the kernel may be launched in clusters of more than 8 CTAs.
    pub(crate) any_cluster: bool,
}

pub(crate) enum Ending {
    /// The kernel finished. Holds address and new content of each allocation that the kernel received.
    Done(Vec<(u64, Vec<u8>)>),
    Never,
    Fault(Refusal),
}

/// Shared memory available to a CTA, in bytes.
pub(crate) fn shared_bytes(settings: &Settings) -> u32 {
    let Config { num_rows, num_banks, .. } = Config::default();
    num_rows * num_banks * 4 - settings.arch.shared_origin()
}

/// Runs `kernel` with the packed `arguments`, which may contain addresses of `memory`.
pub(crate) fn run(
    kernel: &Kernel,
    extent: &Extent,
    arguments: &[u8],
    memory: &BTreeMap<u64, Vec<u8>>,
    settings: &Settings,
) -> Result<Ending, Refusal> {
    extent.check(settings)?;
    let declared = kernel.params.as_deref().unwrap_or_default();
    let params: Vec<Param> =
        declared.iter().map(|declared| parameter(declared, arguments, memory)).collect::<Result<_, _>>()?;
    let mut given = BTreeSet::new();
    for (declared, param) in declared.iter().zip(&params) {
        if matches!(param.kind, ParamKind::Buffer { .. }) && !given.insert(word(declared, arguments)) {
            let reason =
                format!("parameter `{}` is the same allocation as an earlier parameter", declared.name);
            return Err(Refusal::new(NOT_SUPPORTED, reason));
        }
    }
    let launch = Launch {
        kernel: kernel.name.clone(),
        grid: extent.grid,
        block: extent.block,
        cluster: extent.cluster,
        dynamic_shared: extent.shared_bytes,
        params,
        ..Launch::default()
    };
    let mut unit = Unit::new(Config::default());
    match atoms_sm::run(kernel, &launch, &mut unit, &SmConfig::default()) {
        Ok(report) => {
            let buffers = declared.iter().zip(&launch.params);
            let buffers = buffers.filter(|(_, param)| matches!(param.kind, ParamKind::Buffer { .. }));
            let addresses = buffers.map(|(declared, _)| word(declared, arguments));
            Ok(Ending::Done(addresses.zip(report.buffers.into_iter().map(|buffer| buffer.bytes)).collect()))
        }
        Err(RunError::Kernel(error)) => ending(&error),
        Err(RunError::Port(never)) => match never {},
    }
}

impl Extent {
    fn check(&self, settings: &Settings) -> Result<(), Refusal> {
        let product = |of: [u32; 3]| of.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        let (ctas, threads, cluster) = (product(self.grid), product(self.block), product(self.cluster));
        if !(1..=1 << 24).contains(&ctas) || !(1..=1024).contains(&threads) {
            let reason =
                format!("{ctas} CTAs of {threads} threads; expected 1 to 2^24 CTAs of 1 to 1024 threads");
            return Err(Refusal::new(INVALID_VALUE, reason));
        }
        if self.cluster == [1; 3] {
            return Ok(());
        }
        if settings.capability < (9, 0) {
            return Err(Refusal::new(NOT_SUPPORTED, "clusters need compute capability 9.0"));
        }
        let fills = self.grid.iter().zip(self.cluster).all(|(all, some)| some != 0 && all % some == 0);
        if !fills || cluster > CLUSTERS[usize::from(self.any_cluster)] {
            let reason =
                format!("clusters of {:?} CTAs do not fit a grid of {:?} CTAs", self.cluster, self.grid);
            return Err(Refusal::new(INVALID_CLUSTER_SIZE, reason));
        }
        Ok(())
    }
}

pub(crate) fn parameter_bytes(kernel: &Kernel) -> usize {
    kernel.params.iter().flatten().last().map_or(0, |last| (last.offset + last.bytes) as usize)
}

/// Bytes of a parameter. `arguments` must be long enough for all parameters.
fn bytes<'a>(declared: &KernelParam, arguments: &'a [u8]) -> &'a [u8] {
    &arguments[declared.offset as usize..][..declared.bytes as usize]
}

fn word(declared: &KernelParam, arguments: &[u8]) -> u64 {
    bytes(declared, arguments).iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn parameter(
    declared: &KernelParam,
    arguments: &[u8],
    memory: &BTreeMap<u64, Vec<u8>>,
) -> Result<Param, Refusal> {
    let scalar = |element| ParamKind::Scalar { element, bits: word(declared, arguments) };
    let kind = match declared.bytes {
        1 => scalar(Element::U8),
        2 => scalar(Element::U16),
        4 => scalar(Element::U32),
        8 => {
            let value = word(declared, arguments);
            match memory.range(..=value).next_back() {
                Some((start, content)) if *start == value => {
                    ParamKind::Buffer { element: Element::U8, bytes: content.clone(), expect: None }
                }
                Some((start, content)) if value - start < content.len() as u64 => {
                    let reason = format!(
                        "parameter `{}` is {value:#x}, inside an allocation; expected its first address",
                        declared.name
                    );
                    return Err(Refusal::new(NOT_SUPPORTED, reason));
                }
                _ => scalar(Element::U64),
            }
        }
        // The alignment is derived from the offset, up to 16 bytes. No parameter has a larger alignment.
        _ => {
            let align = 16_u32.min(1 << declared.offset.trailing_zeros().min(4));
            ParamKind::Array { element: Element::U8, bytes: bytes(declared, arguments).to_vec(), align }
        }
    };
    Ok(Param { name: declared.name.clone(), kind })
}

/// Converts an error of the core to the end of the kernel, or to a refusal of the launch.
fn ending(error: &KernelError) -> Result<Ending, Refusal> {
    let status = match error {
        KernelError::Unsupported { .. } => return Err(Refusal::new(NOT_SUPPORTED, error.to_string())),
        KernelError::Launch(_) => return Err(Refusal::new(INVALID_VALUE, error.to_string())),
        KernelError::Resources { .. } | KernelError::AllocationRefused { .. } => {
            return Err(Refusal::new(LAUNCH_OUT_OF_RESOURCES, error.to_string()));
        }
        KernelError::Budget { .. } | KernelError::Deadlock { .. } => {
            return Ok(Ending::Never);
        }
        KernelError::Fault { fault: Fault::Misaligned, .. } => MISALIGNED_ADDRESS,
        KernelError::Fault { fault: Fault::Illegal, .. } | KernelError::Operand { .. } => ILLEGAL_INSTRUCTION,
        KernelError::Fault { .. } | KernelError::Access { .. } => ILLEGAL_ADDRESS,
        KernelError::RanOff { .. } => INVALID_PC,
        KernelError::StrayResponse { .. } => LAUNCH_FAILED,
    };
    Ok(Ending::Fault(Refusal::new(status, error.to_string())))
}
