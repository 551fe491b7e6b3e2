//! Cost of the unit at one point: the sum of its modules, and the slowest path through all of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use atoms_cosim::rtl::TOP;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::{Cache, CachedFiles};
use rayon::prelude::*;
use serde::Serialize;

use super::formulas::FORMULAS;
use super::mapping::{CellFigures, MEMORY, Mapper, MappingGoal};
use super::netlist::{ElaboratedModule, Hierarchy};
use super::paths::{PathEnd, TimingPath};
use super::table::{BUILT_IN, CellPoint, CellTable, Fitted, parameters_of, sources_hash};
use super::tools::{CostError, CostTools, ToolIdentity};

/// Origin of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FigureOrigin {
    /// Mapped and timed by this call.
    Mapped,
    /// Mapped and timed earlier on this machine, for a module of equal structure; read from the cache.
    Cached,
    /// From the built-in table, at a point with the same relevant parameters.
    Table,
    /// From a formula that is fitted to other points.
    Fitted {
        /// Root mean square of the relative errors, where each point of the table is predicted from all other
        /// points. `None` for too few points.
        error: Option<f64>,
        /// Reason why the figure was not measured.
        why: String,
    },
}

/// Cost of one module, without its submodules.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModuleCost {
    /// Module name. If instances differ in their parameters, the name of an instance is appended.
    pub module: String,
    /// Number of instances in the unit.
    pub instances: usize,
    /// Area of all instances, in the library's unit.
    pub area: f64,
    /// Area of all instances in gate equivalents.
    pub gate_equivalents: f64,
    /// Share of flip-flops in the area; `None` if the area is from a formula (origin `fitted`).
    pub flip_flop_share: Option<f64>,
    /// Slowest path of the module alone; `None` if no gates lie between its ports and registers.
    pub path: Option<ModulePath>,
    /// Origin of the figures.
    pub origin: FigureOrigin,
    /// First digits of the hash of the module's structure; `None` if the area is from a formula.
    pub hash: Option<String>,
}

/// Slowest path of a module alone. Inputs arrive at 0; outputs are due at the end of the period.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModulePath {
    /// Minimum period in ns.
    pub ns: f64,
    /// Minimum period in FO4.
    pub fo4: f64,
    /// Start and end of the path; `None` if the period is from a formula.
    pub between: Option<(PathEnd, PathEnd)>,
}

/// Memories of the unit. They are macros without gates, and no sum of areas includes them.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MemoryCost {
    /// Number of memories.
    pub instances: u32,
    /// Bits of all memories.
    pub bits: u64,
    /// Assumed gate equivalents per bit.
    pub gate_equivalents_per_bit: f64,
    /// Assumed area of all memories, in gate equivalents.
    pub gate_equivalents: f64,
}

/// Slowest path of the unit, through all modules.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UnitPath {
    /// Minimum period in ns.
    pub ns: f64,
    /// Minimum period in FO4.
    pub fo4: f64,
    /// Maximum clock frequency in MHz.
    pub mhz: f64,
    /// Modules on the path, in order, and the delay of each in ns; empty if the path was not timed here.
    pub through: Vec<(String, f64)>,
    /// Origin of the path.
    pub origin: FigureOrigin,
}

/// Cost of the unit at one point.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UnitCost {
    /// Name of the configuration.
    pub config: String,
    /// Tools and library of the measurement, or of the table for an estimate.
    pub tools: ToolIdentity,
    /// Target period of the mapper, in ns.
    pub period_ns: f64,
    /// Area of a NAND2 (one gate equivalent), in the library's unit.
    pub nand2_area: f64,
    /// Delay in ns of an inverter that drives four inverters: one FO4.
    pub fo4_ns: f64,
    /// Modules with gates, in the order in which a request visits them.
    pub modules: Vec<ModuleCost>,
    /// Sum of the module areas, in the library's unit.
    pub area: f64,
    /// Sum of the module areas in gate equivalents.
    pub gate_equivalents: f64,
    /// Share of the area that is from formulas (origin `fitted`), from 0 to 1.
    pub fitted_share: f64,
    /// Memories of the unit, not included in `area`.
    pub memory: MemoryCost,
    /// Slowest path; `None` if only some modules were requested.
    pub path: Option<UnitPath>,
    /// True if the table was measured with other RTL.
    pub table_is_stale: bool,
    /// [`sources_hash`] of the RTL.
    pub sources: String,
}

/// Default gate equivalents per bit of memory: an assumption (docs/cost.md).
pub const MEMORY_BIT: f64 = 1.0;

#[derive(Clone, Copy, Debug)]
pub struct CostQuestion<'q> {
    pub rtl_dir: &'q Path,
    pub config: &'q NamedConfig,
    /// Names of the modules to measure; empty for all.
    pub modules: &'q [String],
    pub gate_equivalents_per_bit: f64,
    /// Table that estimates are fitted to.
    pub table: &'q CellTable,
}

impl<'q> CostQuestion<'q> {
    /// Creates a question about all modules of a configuration, with memory at [`MEMORY_BIT`] and the
    /// built-in table.
    pub fn whole(rtl_dir: &'q Path, config: &'q NamedConfig) -> CostQuestion<'q> {
        let table = &BUILT_IN;
        CostQuestion { rtl_dir, config, modules: &[], gate_equivalents_per_bit: MEMORY_BIT, table }
    }

    fn wanted<M>(&self, all: Vec<M>, name: impl Fn(&M) -> &str) -> Result<Vec<M>, CostError> {
        if let Some(unknown) = self.modules.iter().find(|asked| all.iter().all(|of| name(of) != **asked)) {
            let known = all.iter().map(|of| name(of).to_string()).collect();
            return Err(CostError::NoModule(unknown.clone(), known));
        }
        let is_wanted =
            |of: &M| self.modules.is_empty() || self.modules.iter().any(|asked| asked == name(of));
        Ok(all.into_iter().filter(is_wanted).collect())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum CostStep {
    Elaborating,
    Mapping { done: usize, total: usize, current: Vec<String> },
    Timing,
}

/// Measures the unit. Cached results are reused, and an estimate replaces a module that exceeds the time
/// limit.
///
/// # Errors
/// [`CostError`] if a tool fails.
pub fn measure(
    question: &CostQuestion<'_>,
    tools: &CostTools,
    cache: &Cache,
    goal: MappingGoal,
    progress: &(dyn Fn(&CostStep) + Sync),
) -> Result<UnitCost, CostError> {
    let mapper = Mapper::new(tools, cache, goal)?;
    let units = Units { nand2_area: mapper.library.nand2.area, fo4_ns: mapper.fo4()? };
    progress(&CostStep::Elaborating);
    let design = mapper.elaborate(question.rtl_dir, question.config)?;
    let gates = design.modules.iter().filter(|module| module.name != MEMORY).collect();
    let wanted = question.wanted(gates, |module| &module.name)?;
    let (mut modules, mut netlists) = (Vec::new(), Vec::new());
    for (module, outcome) in wanted.iter().zip(map_all(&mapper, &wanted, progress)?) {
        match outcome {
            Ok((figures, files)) => {
                modules.extend(figures.map(|figures| mapped(module, &figures, &files, units)));
                netlists.push(files);
            }
            Err(why) => modules.push(known(question, units, &module.name, module.paths.len(), &why)),
        }
    }
    let path = if !question.modules.is_empty() {
        None
    } else {
        let timed = if netlists.len() == wanted.len() {
            progress(&CostStep::Timing);
            mapper.time_unit(&design, &netlists)
        } else {
            Err(CostError::TooLong("one of its modules".into(), goal.limit))
        };
        match timed {
            Ok(path) => path.map(|path| timed_path(&path, &design, &modules, units)),
            Err(error @ CostError::TooLong(..)) => known_path(question, units, &error.to_string()),
            Err(error) => return Err(error),
        }
    };
    UnitCost::of(question, tools.identity.clone(), goal.period_ns, units, modules, path)
}

/// Maps the module `top` of `files` with its submodules. The module need not be part of the unit. List
/// packages first.
///
/// # Errors
/// [`CostError`] if a tool fails, or a module exceeds the time limit.
pub fn measure_source(
    files: &[PathBuf],
    top: &str,
    tools: &CostTools,
    cache: &Cache,
    goal: MappingGoal,
) -> Result<Vec<ModuleCost>, CostError> {
    let mapper = Mapper::new(tools, cache, goal)?;
    let read = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, fs_err::read_to_string(file)?))
    };
    let texts = files.iter().map(read).collect::<Result<Vec<_>, CostError>>()?;
    let design = mapper.elaborate_texts(&texts, top)?;
    let units = Units { nand2_area: mapper.library.nand2.area, fo4_ns: mapper.fo4()? };
    let mut rows = Vec::new();
    for module in &design.modules {
        let (figures, files) = mapper.map(module)?;
        rows.extend(figures.map(|figures| mapped(module, &figures, &files, units)));
    }
    Ok(rows)
}

/// Estimates the cost from the table, without any tool.
///
/// # Errors
/// [`CostError`] if the RTL cannot be read or a module is unknown.
pub fn estimate(question: &CostQuestion<'_>) -> Result<UnitCost, CostError> {
    let table = question.table;
    let names = question.wanted(FORMULAS.iter().map(|formula| formula.module).collect(), |name| name)?;
    let (units, why) = (Units { nand2_area: table.nand2_area, fo4_ns: table.fo4_ns }, "not requested");
    let modules = names.into_iter().map(|name| known(question, units, name, 1, why)).collect();
    let path = if question.modules.is_empty() { known_path(question, units, why) } else { None };
    UnitCost::of(question, table.tools.clone(), table.period_ns, units, modules, path)
}

impl UnitCost {
    /// Adds up `modules` and sorts them into the order in which a request visits them.
    fn of(
        question: &CostQuestion<'_>,
        tools: ToolIdentity,
        period_ns: f64,
        Units { nand2_area, fo4_ns }: Units,
        mut modules: Vec<ModuleCost>,
        path: Option<UnitPath>,
    ) -> Result<Self, CostError> {
        let config = &question.config.config;
        let (bits, per_bit) = (8 * config.bytes(), question.gate_equivalents_per_bit);
        let memory = MemoryCost {
            instances: config.num_banks,
            bits,
            gate_equivalents_per_bit: per_bit,
            gate_equivalents: per_bit * bits as f64,
        };
        // Use `fold`, since `sum` of an empty iterator is -0.
        let area = modules.iter().fold(0.0, |sum, row| sum + row.area);
        let is_fitted = |row: &&ModuleCost| matches!(row.origin, FigureOrigin::Fitted { .. });
        let fitted = modules.iter().filter(is_fitted).fold(0.0, |sum, row| sum + row.area);
        let gate_equivalents = modules.iter().fold(0.0, |sum, row| sum + row.gate_equivalents);
        let place = |row: &ModuleCost| FORMULAS.iter().position(|formula| formula.module == row.module);
        modules.sort_by_key(|row| place(row).unwrap_or(usize::MAX));
        let sources = sources_hash(question.rtl_dir)?;
        Ok(UnitCost {
            config: question.config.name.clone(),
            tools,
            period_ns,
            nand2_area,
            fo4_ns,
            modules,
            area,
            gate_equivalents,
            fitted_share: if area > 0.0 { fitted / area } else { 0.0 },
            memory,
            path,
            table_is_stale: question.table.sources != sources,
            sources,
        })
    }

    /// Returns the measured figures as a table with one point, for [`CellTable::record`].
    pub fn to_table(&self, config: &NamedConfig) -> CellTable {
        let measured =
            |module: &&ModuleCost| matches!(module.origin, FigureOrigin::Mapped | FigureOrigin::Cached);
        let figures = |module: &ModuleCost| {
            let path = module.path.as_ref().and_then(|path| Some((path.ns, path.between?)));
            let path = path.map(|(ns, (from, to))| (ns, from, to));
            let flip_flop_area = module.flip_flop_share.unwrap_or(0.0) * module.area;
            let hash = module.hash.clone().unwrap_or_default();
            (module.module.clone(), CellFigures { area: module.area, flip_flop_area, path, hash })
        };
        let timed = self.path.as_ref().filter(|path| !matches!(path.origin, FigureOrigin::Fitted { .. }));
        let point = CellPoint {
            name: self.config.clone(),
            parameters: parameters_of(&config.config),
            path_ns: timed.map(|path| path.ns),
            modules: self.modules.iter().filter(measured).map(figures).collect(),
        };
        CellTable {
            tools: self.tools.clone(),
            period_ns: self.period_ns,
            nand2_area: self.nand2_area,
            fo4_ns: self.fo4_ns,
            sources: self.sources.clone(),
            points: vec![point],
        }
    }

    /// Returns the relative error of the area, if the errors of all fitted modules add up. `None` if one is
    /// unknown.
    pub fn area_error(&self) -> Option<f64> {
        let error = |module: &ModuleCost| match module.origin {
            FigureOrigin::Fitted { error, .. } => Some(module.area * error?),
            FigureOrigin::Mapped | FigureOrigin::Cached | FigureOrigin::Table => Some(0.0),
        };
        Some(self.modules.iter().map(error).sum::<Option<f64>>()? / self.area.max(f64::MIN_POSITIVE))
    }

    pub fn largest(&self) -> Option<&ModuleCost> {
        self.modules.iter().max_by(|a, b| a.area.total_cmp(&b.area))
    }
}

type Outcome = Result<(Option<CellFigures>, CachedFiles), String>;

/// Maps modules on all cores, the largest first. The results are in the order of `modules`.
fn map_all(
    mapper: &Mapper<'_>,
    modules: &[&ElaboratedModule],
    progress: &(dyn Fn(&CostStep) + Sync),
) -> Result<Vec<Outcome>, CostError> {
    let mut open: Vec<(usize, &ElaboratedModule)> = modules.iter().copied().enumerate().collect();
    open.sort_by_key(|(_, module)| std::cmp::Reverse(module.text.len()));
    let (done, current) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    let current = || current.lock().unwrap_or_else(PoisonError::into_inner);
    let map = |(place, module): (usize, &ElaboratedModule)| {
        current().insert(module.name.clone());
        let names = current().iter().cloned().collect();
        progress(&CostStep::Mapping {
            done: done.load(Ordering::Relaxed),
            total: modules.len(),
            current: names,
        });
        let outcome = match mapper.map(module) {
            Ok(mapped) => Ok(mapped),
            Err(error @ CostError::TooLong(..)) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        current().remove(&module.name);
        done.fetch_add(1, Ordering::Relaxed);
        Ok((place, outcome))
    };
    // One module per task, so that rayon starts the largest first.
    let mut outcomes: Vec<_> = open.into_par_iter().with_max_len(1).map(map).collect::<Result<_, _>>()?;
    outcomes.sort_by_key(|(place, _)| *place);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Area of a NAND2 and FO4 delay of the library. Figures in these units are comparable across libraries.
#[derive(Clone, Copy)]
struct Units {
    nand2_area: f64,
    fo4_ns: f64,
}

impl Units {
    fn module(
        self,
        module: &str,
        instances: usize,
        figures: &CellFigures,
        origin: FigureOrigin,
    ) -> ModuleCost {
        let area = figures.area * instances as f64;
        ModuleCost {
            module: module.to_string(),
            instances,
            area,
            gate_equivalents: area / self.nand2_area,
            flip_flop_share: Some(figures.flip_flop_area / figures.area),
            path: figures.path.map(|(ns, from, to)| ModulePath {
                ns,
                fo4: ns / self.fo4_ns,
                between: Some((from, to)),
            }),
            origin,
            hash: Some(figures.hash.clone()),
        }
    }

    fn path(self, ns: f64, through: Vec<(String, f64)>, origin: FigureOrigin) -> UnitPath {
        UnitPath { ns, fo4: ns / self.fo4_ns, mhz: 1000.0 / ns, through, origin }
    }
}

fn mapped(module: &ElaboratedModule, figures: &CellFigures, files: &CachedFiles, units: Units) -> ModuleCost {
    let origin = if files.made_now { FigureOrigin::Mapped } else { FigureOrigin::Cached };
    units.module(&module.name, module.paths.len(), figures, origin)
}

/// Returns the figures of a module from the table, or an estimate. `why` says why the module was not mapped.
fn known(question: &CostQuestion<'_>, units: Units, name: &str, instances: usize, why: &str) -> ModuleCost {
    let (table, config) = (question.table, &question.config.config);
    if let Some(figures) = table.measured(name, config) {
        let (area_ratio, ns_ratio) = (units.nand2_area / table.nand2_area, units.fo4_ns / table.fo4_ns);
        let figures = CellFigures {
            area: figures.area * area_ratio,
            flip_flop_area: figures.flip_flop_area * area_ratio,
            path: figures.path.map(|(ns, from, to)| (ns * ns_ratio, from, to)),
            hash: figures.hash.clone(),
        };
        return units.module(name, instances, &figures, FigureOrigin::Table);
    }
    let area = table.area(name, config);
    let gate_equivalents = area.map_or(0.0, |fitted| fitted.value) * instances as f64;
    let unknown = match gate_equivalents > 0.0 {
        true => "",
        false => ", and the table has no point of this module: its area counts as 0",
    };
    ModuleCost {
        module: name.to_string(),
        instances,
        area: gate_equivalents * units.nand2_area,
        gate_equivalents,
        flip_flop_share: None,
        path: table.path(name, config).map(|Fitted { value: fo4, .. }| ModulePath {
            ns: fo4 * units.fo4_ns,
            fo4,
            between: None,
        }),
        origin: FigureOrigin::Fitted {
            error: area.and_then(|fitted| fitted.error),
            why: format!("{why}{unknown}"),
        },
        hash: None,
    }
}

fn timed_path(path: &TimingPath, design: &Hierarchy, modules: &[ModuleCost], units: Units) -> UnitPath {
    let module_at = |instance: &str| {
        let named = |module: &&ElaboratedModule| module.paths.iter().any(|path| path == instance);
        design.modules.iter().find(named).map_or(TOP, |module| &module.name).to_string()
    };
    let through = path.through().into_iter().filter(|(_, ns)| *ns > 0.0);
    let through = through.map(|(instance, ns)| (module_at(instance), ns)).collect();
    let fresh = modules.iter().any(|row| row.origin == FigureOrigin::Mapped);
    units.path(path.ns(), through, if fresh { FigureOrigin::Mapped } else { FigureOrigin::Cached })
}

/// Returns the unit path from the table, or an estimate. `why` says why the path was not timed.
fn known_path(question: &CostQuestion<'_>, units: Units, why: &str) -> Option<UnitPath> {
    let (table, config) = (question.table, &question.config.config);
    if let Some(ns) = table.measured_path(config) {
        return Some(units.path(ns / table.fo4_ns * units.fo4_ns, Vec::new(), FigureOrigin::Table));
    }
    let Fitted { value: fo4, error } = table.unit_path(config)?;
    let origin = FigureOrigin::Fitted { error, why: why.to_string() };
    Some(units.path(fo4 * units.fo4_ns, Vec::new(), origin))
}
