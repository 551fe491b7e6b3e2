//! Launch file: grid, parameters and expected results of a kernel.

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
use atoms_isa::{Arch, Kernel, Program};
use error::params_text;
use read::RawParam;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Launch of a kernel. In the default value, grid, block and cluster are zero and must be set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    pub kernel: String,
    /// Required architecture. `None` accepts any.
    pub arch: Option<Arch>,
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per CTA in x, y, z.
    pub block: [u32; 3],
    /// CTAs per cluster in x, y, z. The grid must be a multiple of the cluster.
    pub cluster: [u32; 3],
    /// True if all CTAs of the grid must be resident together, because they may wait for each other.
    pub cooperative: bool,
    /// Static shared memory per CTA in bytes. A listing of code alone does not state this size. If the launch
    /// file does not either, a CTA gets 48 KiB, the most it may declare, or its share of the memory.
    pub shared: Option<u32>,
    /// Dynamic shared memory per CTA, in bytes. It follows the static memory.
    pub dynamic_shared: u32,
    /// Limit for the run, in cycles.
    pub cycle_budget: Option<u64>,
    pub params: Vec<Param>,
    /// Buffers that are not parameters, but the target of pointers in parameters.
    pub pointed_to: Vec<Param>,
    /// Files from which parameters and expectations were read.
    pub files: Vec<PathBuf>,
}

/// Limit for the size of all parameters, in bytes. Source: [PTX] kernel function parameters.
const MOST_PARAM_BYTES: u32 = 32764;

/// Limit for threads per CTA.
const MOST_THREADS: u64 = 1024;

/// Limit for CTAs and threads in one direction. Source: [PTX] %nctaid.
const MOST_IN_ONE_DIRECTION: u32 = (1 << 31) - 1;

/// Limit for CTAs per grid. Each takes hundreds of cycles, so a grid of this size takes days.
const MOST_CTAS: u64 = 1 << 24;

/// Limit for CTAs per cluster, with the launch attribute for large clusters. Source: [PTX] cluster
/// dimensions.
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
    #[serde(default)]
    buffer: Vec<RawParam>,
}

impl Launch {
    /// Reads a launch file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// [`LaunchError::Read`], [`LaunchError::Syntax`] or [`LaunchError::Value`].
    pub fn from_file(path: &Path) -> Result<Launch, LaunchError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| LaunchError::Read { path: path.into(), source })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Launch::from_toml(&path.display().to_string(), &text, folder)
    }

    /// Parses the text of a launch file. `name` is for messages. Paths in the file are relative to `folder`.
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

    /// Finds the kernel of this launch in `program`.
    ///
    /// # Errors
    /// [`LaunchError::Unread`] or [`LaunchError::Unfit`].
    pub fn kernel<'p>(&self, program: &'p Program) -> Result<&'p Kernel, LaunchError> {
        if let Some(wanted) = self.arch
            && wanted != program.arch
        {
            return Err(LaunchError::Unfit(format!(
                "the launch is for {wanted}, but the listing is for {}; remove `arch` from the launch to \
                 run it",
                program.arch
            )));
        }
        if let Some(unread) = program.unread.iter().find(|unread| unread.name == self.kernel) {
            return Err(LaunchError::Unread(Box::new(unread.clone())));
        }
        program.kernel(&self.kernel).ok_or_else(|| {
            let known: Vec<&str> = program.kernels.iter().map(|k| k.name.as_str()).collect();
            let (name, known) = (&self.kernel, known.join(", "));
            LaunchError::Unfit(format!("the listing has no kernel `{name}`; it has {known}"))
        })
    }

    /// Checks the launch against the thread and cluster directives of the kernel, and takes the cluster from
    /// the kernel if the launch sets none.
    ///
    /// # Errors
    /// [`LaunchError::Value`] if the launch differs from the directives.
    pub(crate) fn fitted(&self, kernel: &Kernel) -> Result<Launch, LaunchError> {
        let Directives { max_threads, threads, cluster } = kernel.directives;
        let mut launch = self.clone();
        if let Some(required) = threads.filter(|required| *required != self.block) {
            let message =
                format!("{:?}, but kernel `{}` requires CTAs of {required:?}", self.block, kernel.name);
            return Err(LaunchError::value("block", message, "the kernel declares .reqntid"));
        }
        let most: Option<u64> = max_threads.map(|most| most.iter().map(|n| u64::from(*n)).product());
        if let Some(most) = most.filter(|most| u64::from(self.threads()) > *most) {
            let message =
                format!("{} threads, but kernel `{}` allows at most {most}", self.threads(), kernel.name);
            return Err(LaunchError::value("block", message, "the kernel declares .maxntid"));
        }
        if let Some(required) = cluster.filter(|required| *required != self.cluster) {
            if self.cluster != [1; 3] {
                let message = format!(
                    "{:?}, but kernel `{}` requires clusters of {required:?}",
                    self.cluster, kernel.name
                );
                return Err(LaunchError::value("cluster", message, "the kernel declares .reqnctapercluster"));
            }
            launch.cluster = required;
            launch.check_cluster()?;
        }
        Ok(launch)
    }

    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub fn ctas(&self) -> u32 {
        self.grid.iter().product()
    }

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
            let help = "the grid must be a multiple of the cluster in x, y and z";
            return Err(LaunchError::value("cluster", message, help));
        }
        Ok(())
    }

    /// Returns index and number in the grid of the CTA with `rank` in `cluster`. Ranks and numbers count x
    /// first.
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

    /// Byte offset of each aligned parameter from the first one, in order.
    pub fn param_offsets(&self) -> Vec<u32> {
        param::place(&self.params, 0).map(|(at, _)| at).collect()
    }

    /// Checks that the launch sets every parameter byte that the kernel reads at a fixed offset.
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
            Err(LaunchError::Unfit(format!("kernel `{name}` {found}, but the launch has {given}; {help}")))
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
                let line = &kernel.source[index];
                return gives(format!("reads bytes {first} to {last} of its parameters ({line})"));
            }
        }
        Ok(())
    }

    /// All buffers: first parameters and fields, then those that are only targets of pointers.
    pub fn buffers(&self) -> impl Iterator<Item = &Param> {
        let leaves = param::leaves(&self.params, 0).into_iter().map(|(_, param)| param);
        leaves.chain(&self.pointed_to).filter(|p| matches!(p.kind, ParamKind::Buffer { .. }))
    }
}

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

fn product(extent: [u32; 3]) -> u64 {
    extent.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

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
