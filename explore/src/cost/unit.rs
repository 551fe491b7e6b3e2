//! What the unit costs at one point: its modules added up, and the slowest path through all of them.

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

/// Where a figure comes from.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FigureOrigin {
    /// Mapped and timed by this call.
    Mapped,
    /// Mapped and timed earlier on this machine, of the same structure.
    Cached,
    /// From the built-in table, at a point with the same relevant parameters.
    Table,
    /// From a formula that is fitted to other points.
    Fitted {
        /// Root mean square of the relative errors of predictions of each point of the table from all others; `None`
        /// where there are too few.
        error: Option<f64>,
        /// Why it was not measured.
        why: String,
    },
}

/// A module of the unit, submodules left out.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModuleCost {
    /// Its name; that of the instance behind it, where instances differ in their parameters.
    pub module: String,
    /// How often it is in the unit.
    pub instances: usize,
    /// Area of all of them, in the library's unit.
    pub area: f64,
    /// The same in gate equivalents.
    pub gate_equivalents: f64,
    /// Share of flip-flops in the area; `None` of a fitted one.
    pub flip_flop_share: Option<f64>,
    /// Its slowest path alone.
    pub path: Option<ModulePath>,
    /// Where its figures come from.
    pub origin: FigureOrigin,
    /// First digits of the hash of its structure; `None` of a fitted one.
    pub hash: Option<String>,
}

/// The slowest path of a module alone: ports are there at 0, and have to be there at the end of the period.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ModulePath {
    /// The period that it needs.
    pub ns: f64,
    /// The same in inverters that drive four.
    pub fo4: f64,
    /// Where it begins and ends; `None` of a fitted one.
    pub between: Option<(PathEnd, PathEnd)>,
}

/// The memories of the unit, which are macros: no gates, and not in any sum of areas.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MemoryCost {
    /// How many.
    pub instances: u32,
    /// Bits of all of them.
    pub bits: u64,
    /// Gate equivalents of a bit: assumed.
    pub gate_equivalents_per_bit: f64,
    /// Area by that assumption, in gate equivalents.
    pub gate_equivalents: f64,
}

/// The slowest path of the unit, through all modules.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UnitPath {
    /// The period that it needs.
    pub ns: f64,
    /// The same in inverters that drive four.
    pub fo4: f64,
    /// The clock that this allows.
    pub mhz: f64,
    /// The modules it goes through, in order, and what each adds in ns; empty where it was not timed here.
    pub through: Vec<(String, f64)>,
    /// Where it comes from.
    pub origin: FigureOrigin,
}

/// What the unit costs at one point.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UnitCost {
    /// Name of the configuration.
    pub config: String,
    /// Tools and library: those that measured it, or those of the table.
    pub tools: ToolIdentity,
    /// Period that the mapper aimed at, in ns.
    pub period_ns: f64,
    /// Area of a NAND2: one gate equivalent.
    pub nand2_area: f64,
    /// Delay of an inverter that drives four, in ns: one FO4.
    pub fo4_ns: f64,
    /// The modules with gates, in the order of a request.
    pub modules: Vec<ModuleCost>,
    /// Area of the modules added up.
    pub area: f64,
    /// The same in gate equivalents.
    pub gate_equivalents: f64,
    /// Share of the area that is fitted.
    pub fitted_share: f64,
    /// The memories.
    pub memory: MemoryCost,
    /// The slowest path; `None` where some modules alone were asked for.
    pub path: Option<UnitPath>,
    /// The table that figures are fitted to is of other RTL than this.
    pub table_is_stale: bool,
    /// [`sources_hash`] of the RTL.
    pub sources: String,
}

/// Gate equivalents that a bit of memory is taken for where no other value is given: an assumption (docs/cost.md).
pub const MEMORY_BIT: f64 = 1.0;

/// What is asked about a point.
#[derive(Clone, Copy, Debug)]
pub struct CostQuestion<'q> {
    /// Folder of the RTL.
    pub rtl_dir: &'q Path,
    /// The point.
    pub config: &'q NamedConfig,
    /// Modules to look at; empty for all.
    pub modules: &'q [String],
    /// Gate equivalents that a bit of memory is taken for.
    pub gate_equivalents_per_bit: f64,
    /// From which figures are fitted that are not measured.
    pub table: &'q CellTable,
}

impl<'q> CostQuestion<'q> {
    /// All modules of a point, with memory at [`MEMORY_BIT`] and the built-in table.
    pub fn whole(rtl_dir: &'q Path, config: &'q NamedConfig) -> CostQuestion<'q> {
        let table = &BUILT_IN;
        CostQuestion { rtl_dir, config, modules: &[], gate_equivalents_per_bit: MEMORY_BIT, table }
    }

    /// The modules that are asked for, of `all` that there are.
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

/// How far a measurement has come.
#[derive(Clone, Debug, PartialEq)]
pub enum CostStep {
    /// Yosys reads the RTL.
    Elaborating,
    /// Progress: modules done, of total, and the modules being mapped.
    Mapping {
        /// Modules done.
        done: usize,
        /// Modules in all.
        total: usize,
        /// Modules being mapped.
        current: Vec<String>,
    },
    /// OpenSTA times all modules together.
    Timing,
}

/// Measures the unit: what is in the cache is not measured again, and what takes longer than the limit is fitted.
///
/// # Errors
/// [`CostError`]: what a tool could not do.
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

/// Maps the module `top` of `files`, which need not be the unit's, with its submodules. Packages come first.
///
/// # Errors
/// [`CostError`]: what a tool could not do; also where a module takes longer than the limit.
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

/// What the table says of the unit: needs no tool.
///
/// # Errors
/// [`CostError`] when the RTL cannot be read, or a module is unknown.
pub fn estimate(question: &CostQuestion<'_>) -> Result<UnitCost, CostError> {
    let table = question.table;
    let names = question.wanted(FORMULAS.iter().map(|formula| formula.module).collect(), |name| name)?;
    let (units, why) = (Units { nand2_area: table.nand2_area, fo4_ns: table.fo4_ns }, "not asked for");
    let modules = names.into_iter().map(|name| known(question, units, name, 1, why)).collect();
    let path = if question.modules.is_empty() { known_path(question, units, why) } else { None };
    UnitCost::of(question, table.tools.clone(), table.period_ns, units, modules, path)
}

impl UnitCost {
    /// Adds up `modules`, which are put into the order of a request.
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
        // `sum` of nothing is -0.
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

    /// The point as a table, for [`CellTable::record`]: what was measured of it.
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

    /// Gives the relative error of the area if the errors of all fitted modules add up; `None` if one is unknown.
    pub fn area_error(&self) -> Option<f64> {
        let error = |module: &ModuleCost| match module.origin {
            FigureOrigin::Fitted { error, .. } => Some(module.area * error?),
            FigureOrigin::Mapped | FigureOrigin::Cached | FigureOrigin::Table => Some(0.0),
        };
        Some(self.modules.iter().map(error).sum::<Option<f64>>()? / self.area.max(f64::MIN_POSITIVE))
    }

    /// The module with the largest area.
    pub fn largest(&self) -> Option<&ModuleCost> {
        self.modules.iter().max_by(|a, b| a.area.total_cmp(&b.area))
    }
}

/// A module's figures, and the folder with its netlist; or why it has none.
type Outcome = Result<(Option<CellFigures>, CachedFiles), String>;

/// Maps modules on all cores, the largest first; gives them in their order.
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
    // One at a time per thread, so that the largest are begun first.
    let mut outcomes: Vec<_> = open.into_par_iter().with_max_len(1).map(map).collect::<Result<_, _>>()?;
    outcomes.sort_by_key(|(place, _)| *place);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Area of a NAND2 gate and FO4 delay of the library. Results in these units carry over to another library.
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

/// A module as it was mapped.
fn mapped(module: &ElaboratedModule, figures: &CellFigures, files: &CachedFiles, units: Units) -> ModuleCost {
    let origin = if files.made_now { FigureOrigin::Mapped } else { FigureOrigin::Cached };
    units.module(&module.name, module.paths.len(), figures, origin)
}

/// A module of which the table knows, or its formula; `why` it was not mapped.
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
        false => ", and the table has no point of it: it counts as nothing",
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

/// The path as it was timed through all modules.
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

/// The path that the table knows, or its formula; `why` it was not timed.
fn known_path(question: &CostQuestion<'_>, units: Units, why: &str) -> Option<UnitPath> {
    let (table, config) = (question.table, &question.config.config);
    if let Some(ns) = table.measured_path(config) {
        return Some(units.path(ns / table.fo4_ns * units.fo4_ns, Vec::new(), FigureOrigin::Table));
    }
    let Fitted { value: fo4, error } = table.unit_path(config)?;
    let origin = FigureOrigin::Fitted { error, why: why.to_string() };
    Some(units.path(fo4 * units.fo4_ns, Vec::new(), origin))
}
