//! The launch file: what a kernel is started with and what should come out.

mod element;
mod error;
mod expectation;
mod formula;
mod param;
mod read;

pub use element::Element;
pub use error::LaunchError;
pub use expectation::{Expectation, Order, Outcome};
pub(crate) use param::{MOST_ALIGN, buffer_address, leaves};
pub use param::{Param, ParamKind};

use atoms_isa::ptx::Directives;
use atoms_isa::{Arch, Kernel, Program, SourceLine};
use error::params_text;
use read::RawParam;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What a kernel is started with; of the default, grid, block and cluster are still to be given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    pub kernel: String,
    /// Architecture, where the launch insists on one.
    pub arch: Option<Arch>,
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// CTAs of a cluster in x, y, z; the grid is a multiple of it.
    pub cluster: [u32; 3],
    /// All CTAs of the grid are there at once, and may wait for each other.
    pub cooperative: bool,
    /// Bytes of static shared memory of a CTA. A listing of code alone does not say them; where the launch file does
    /// not either, a CTA gets 48 KiB, the most it may declare, or its share of all there is.
    pub shared: Option<u32>,
    /// Bytes of shared memory of a CTA after the static ones.
    pub dynamic_shared: u32,
    /// Cycles after which the run is given up.
    pub cycle_budget: Option<u64>,
    /// Parameters, in order of declaration.
    pub params: Vec<Param>,
    /// Buffers that are no parameters: those point to them.
    pub pointed_to: Vec<Param>,
    /// Files that parameters and expectations were read from.
    pub files: Vec<PathBuf>,
}

/// Bytes of parameters a kernel may have. Source: [PTX] kernel function parameters.
const MOST_PARAM_BYTES: u32 = 32764;

/// Threads of a CTA.
const MOST_THREADS: u64 = 1024;

/// CTAs of a grid in one direction, and threads of a CTA. Source: [PTX] %nctaid.
const MOST_IN_ONE_DIRECTION: u32 = (1 << 31) - 1;

/// CTAs of a grid that are carried out: each takes some hundred cycles, so that even these take days.
const MOST_CTAS: u64 = 1 << 24;

/// CTAs a cluster may have, with the launch attribute that allows the larger sizes. Source: [PTX] cluster dimensions.
const MOST_CLUSTER_CTAS: u64 = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLaunch {
    kernel: String,
    arch: Option<String>,
    grid: toml::Value,
    block: toml::Value,
    cluster: Option<toml::Value>,
    #[serde(default)]
    cooperative: bool,
    shared: Option<u32>,
    dynamic_shared: Option<u32>,
    cycle_budget: Option<u64>,
    #[serde(default)]
    param: Vec<RawParam>,
    /// Buffers that are no parameters.
    #[serde(default)]
    buffer: Vec<RawParam>,
}

impl Launch {
    /// Reads a launch file; files it names are relative to it.
    ///
    /// # Errors
    /// [`LaunchError::Read`], [`LaunchError::Syntax`] or [`LaunchError::Value`].
    pub fn from_file(path: &Path) -> Result<Launch, LaunchError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| LaunchError::Read { path: path.into(), source })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Launch::from_toml(&path.display().to_string(), &text, folder)
    }

    /// Reads the text of a launch file; `name` is for messages, files it names are relative to
    /// `folder`.
    ///
    /// # Errors
    /// [`LaunchError::Read`], [`LaunchError::Syntax`] or [`LaunchError::Value`].
    pub fn from_toml(name: &str, text: &str, folder: &Path) -> Result<Launch, LaunchError> {
        let raw: RawLaunch = toml::from_str(text)
            .map_err(|source| LaunchError::Syntax { name: name.into(), source: Box::new(source) })?;
        let arch = match raw.arch {
            None => None,
            Some(name) => Some(Arch::from_name(&name).ok_or_else(|| {
                let message = format!("no architecture `{name}`");
                LaunchError::value("arch", message, "write sm_75, sm_80, sm_90a, ...")
            })?),
        };
        let all = raw.param.iter().chain(&raw.buffer);
        let files = all.flat_map(RawParam::files).map(|file| folder.join(file)).collect();
        let (grid, block) = (extent("grid", &raw.grid)?, extent("block", &raw.block)?);
        let cluster = raw.cluster.map_or(Ok([1; 3]), |value| extent("cluster", &value))?;
        let (params, pointed_to) =
            read::read_all(raw.param, raw.buffer, folder, &scalars(grid, block, cluster))?;
        let launch = Launch {
            kernel: raw.kernel,
            arch,
            grid,
            block,
            cluster,
            cooperative: raw.cooperative,
            shared: raw.shared,
            dynamic_shared: raw.dynamic_shared.unwrap_or(0),
            cycle_budget: raw.cycle_budget,
            params,
            pointed_to,
            files,
        };
        let threads = product(launch.block);
        if threads > MOST_THREADS {
            let found = format!("{threads} threads in a CTA");
            return Err(LaunchError::too_many("block", found, MOST_THREADS));
        }
        launch.check_cluster()?;
        let bytes =
            launch.param_offsets().last().map_or(0, |at| at + launch.params.last().map_or(0, Param::bytes));
        if bytes > MOST_PARAM_BYTES {
            let found = format!("parameters of {bytes} bytes");
            return Err(LaunchError::too_many("param", found, MOST_PARAM_BYTES.into()));
        }
        let ctas = product(launch.grid);
        if ctas > MOST_CTAS {
            return Err(LaunchError::too_many("grid", format!("{ctas} CTAs"), MOST_CTAS));
        }
        Ok(launch)
    }

    /// The kernel of `program` that this launch is for.
    ///
    /// # Errors
    /// [`LaunchError::Unread`] or [`LaunchError::Unfit`].
    pub fn kernel<'p>(&self, program: &'p Program) -> Result<&'p Kernel, LaunchError> {
        if let Some(wanted) = self.arch
            && wanted != program.arch
        {
            return Err(LaunchError::Unfit(format!(
                "the launch is for {wanted}, the listing for {}; drop `arch` to run either",
                program.arch
            )));
        }
        if let Some(unread) = program.unread.iter().find(|unread| unread.name == self.kernel) {
            return Err(LaunchError::Unread(Box::new(unread.clone())));
        }
        program.kernel(&self.kernel).ok_or_else(|| {
            let known: Vec<&str> = program.kernels.iter().map(|k| k.name.as_str()).collect();
            let (name, known) = (&self.kernel, known.join(", "));
            LaunchError::Unfit(format!("no kernel `{name}` in the listing; there is {known}"))
        })
    }

    /// The launch as the kernel asks for it: what the text says about threads and clusters is checked, and
    /// used where the launch names no cluster.
    ///
    /// # Errors
    /// [`LaunchError::Value`] where the launch differs from what the kernel requires.
    pub(crate) fn fitted(&self, kernel: &Kernel) -> Result<Launch, LaunchError> {
        let Directives { max_threads, threads, cluster } = kernel.directives;
        let mut launch = self.clone();
        if let Some(required) = threads.filter(|required| *required != self.block) {
            let message =
                format!("{:?}, and kernel `{}` is for CTAs of {required:?}", self.block, kernel.name);
            return Err(LaunchError::value("block", message, "it has .reqntid"));
        }
        let most: Option<u64> = max_threads.map(|most| most.iter().map(|n| u64::from(*n)).product());
        if let Some(most) = most.filter(|most| u64::from(self.threads()) > *most) {
            let message = format!("{} threads, and kernel `{}` is for {most}", self.threads(), kernel.name);
            return Err(LaunchError::value("block", message, "at most that many: it has .maxntid"));
        }
        if let Some(required) = cluster.filter(|required| *required != self.cluster) {
            if self.cluster != [1; 3] {
                let message = format!(
                    "{:?}, and kernel `{}` is for clusters of {required:?}",
                    self.cluster, kernel.name
                );
                return Err(LaunchError::value("cluster", message, "it has .reqnctapercluster"));
            }
            launch.cluster = required;
            launch.check_cluster()?;
        }
        Ok(launch)
    }

    /// Threads of a CTA.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// CTAs of the grid.
    pub fn ctas(&self) -> u32 {
        self.grid.iter().product()
    }

    /// CTAs of a cluster.
    pub fn cluster_ctas(&self) -> u32 {
        self.cluster.iter().product()
    }

    fn check_cluster(&self) -> Result<(), LaunchError> {
        let ctas = product(self.cluster);
        if ctas > MOST_CLUSTER_CTAS {
            let found = format!("{ctas} CTAs in a cluster");
            return Err(LaunchError::too_many("cluster", found, MOST_CLUSTER_CTAS));
        }
        let [grid, cluster] = [self.grid, self.cluster];
        if grid.into_iter().zip(cluster).any(|(all, some)| all % some != 0) {
            let message = format!("clusters of {cluster:?} CTAs do not fill a grid of {grid:?}");
            let help = "in x, y and z the grid is a multiple of the cluster";
            return Err(LaunchError::value("cluster", message, help));
        }
        Ok(())
    }

    /// Index in the grid of the CTA with this rank in this cluster, and its number; both count x first.
    pub(crate) fn cta_of(&self, cluster: u32, rank: u32) -> ([u32; 3], u32) {
        let [x, y, _] = self.grid;
        let [cx, cy, _] = self.cluster;
        let (clusters_x, clusters_y) = (x / cx, y / cy);
        let first =
            [cluster % clusters_x, cluster / clusters_x % clusters_y, cluster / clusters_x / clusters_y];
        let inside = [rank % cx, rank / cx % cy, rank / cx / cy];
        let index = std::array::from_fn(|i| first[i] * self.cluster[i] + inside[i]);
        let [ix, iy, iz] = index;
        (index, ix + x * (iy + y * iz))
    }

    /// Byte offset of each parameter from the first: aligned, in order.
    pub fn param_offsets(&self) -> Vec<u32> {
        param::place(&self.params, 0).map(|(at, _)| at).collect()
    }

    /// Checks that every parameter byte that the kernel reads at a fixed offset is given.
    pub(crate) fn check_params(
        &self,
        kernel: &Kernel,
        reads: &[(usize, u32, u32)],
    ) -> Result<(), LaunchError> {
        let Kernel { name, .. } = kernel;
        let given: Vec<(&str, u32, u32)> = param::place(&self.params, 0)
            .map(|(at, param)| (param.name.as_str(), at, param.bytes()))
            .collect();
        let gives = |found: String| {
            let given = params_text(given.iter().copied());
            let help = "list every parameter in order of declaration, with its type";
            Err(LaunchError::Unfit(format!("kernel `{name}` {found}, and the launch gives {given}; {help}")))
        };
        if let Some(declared) = &kernel.params {
            let places = declared.iter().map(|d| (d.offset, d.bytes));
            if !places.eq(given.iter().map(|(_, at, bytes)| (*at, *bytes))) {
                let declared = declared.iter().map(|d| (d.name.as_str(), d.offset, d.bytes));
                return gives(format!("declares {}", params_text(declared)));
            }
        }
        let base = kernel.arch.param_base();
        for (index, offset, bytes) in reads.iter().copied().filter(|(_, offset, _)| *offset >= base) {
            let (first, last) = (offset - base, offset - base + bytes - 1);
            let inside = |byte: u32| given.iter().any(|(_, at, bytes)| (*at..at + bytes).contains(&byte));
            if !(first..=last).all(inside) {
                let SourceLine { line, text, .. } = &kernel.source[index];
                return gives(format!(
                    "reads bytes {first} to {last} of its parameters (line {line}: `{text}`)"
                ));
            }
        }
        Ok(())
    }

    /// All buffers: parameters and fields first, then those that are only pointed to.
    pub fn buffers(&self) -> impl Iterator<Item = &Param> {
        let leaves = param::leaves(&self.params, 0).into_iter().map(|(_, param)| param);
        leaves.chain(&self.pointed_to).filter(|p| matches!(p.kind, ParamKind::Buffer { .. }))
    }
}

/// Names that formulas may use besides parameters.
fn scalars(grid: [u32; 3], block: [u32; 3], cluster: [u32; 3]) -> [(&'static str, u64); 11] {
    let [[gx, gy, gz], [bx, by, bz], [cx, cy, cz]] = [grid, block, cluster].map(|of| of.map(u64::from));
    [
        ("grid.x", gx),
        ("grid.y", gy),
        ("grid.z", gz),
        ("block.x", bx),
        ("block.y", by),
        ("block.z", bz),
        ("cluster.x", cx),
        ("cluster.y", cy),
        ("cluster.z", cz),
        ("ctas", product(grid)),
        ("threads", product(block)),
    ]
}

/// Everything in x, y and z; as many as can be told, if it is more.
fn product(extent: [u32; 3]) -> u64 {
    extent.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

/// A number, or up to three of them.
fn extent(at: &str, value: &toml::Value) -> Result<[u32; 3], LaunchError> {
    let wrong = |message: String| {
        let help = format!("write a number from 1 to {MOST_IN_ONE_DIRECTION}, or [x, y, z]");
        LaunchError::value(at, message, help)
    };
    let values = match value {
        toml::Value::Array(values) if (1..=3).contains(&values.len()) => values.as_slice(),
        toml::Value::Integer(_) => std::slice::from_ref(value),
        other => return Err(wrong(format!("found {other}"))),
    };
    let mut extent = [1; 3];
    for (slot, value) in extent.iter_mut().zip(values) {
        let number = value.as_integer().and_then(|n| u32::try_from(n).ok());
        let number = number.filter(|n| (1..=MOST_IN_ONE_DIRECTION).contains(n));
        *slot = number.ok_or_else(|| wrong(format!("found {value}")))?;
    }
    Ok(extent)
}
