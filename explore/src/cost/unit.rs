//! What the unit costs at one point: its modules added up, and the slowest path through all of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use atoms_cosim::configs::NamedConfig;
use atoms_verilated::{Cache, CachedFiles};
use rayon::prelude::*;
use serde::Serialize;

use super::formulas::FORMULAS;
use super::mapping::{Freshness, MEMORY, Mapper, MappingGoal, ModuleFigures, TOP};
use super::netlist::{ElaboratedModule, Hierarchy};
use super::paths::{PathEnd, TimingPath};
use super::table::{BUILT_IN, CellFigures, CellPoint, CellTable, Fitted, parameters_of, sources_hash};
use super::tools::{CostError, CostTools, ToolIdentity};

/// Where a figure comes from.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FigureOrigin {
    /// Mapped and timed by this call.
    Mapped,
    /// Mapped and timed earlier on this machine, of the same structure.
    Cached,
    /// Measured elsewhere, and in the table for a point that is equal in all that matters.
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
}

/// How far a measurement has come.
#[derive(Clone, Debug, PartialEq)]
pub enum CostStep {
    /// Yosys reads the RTL.
    Elaborating,
    /// So many modules of so many are done, and these are being mapped.
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
    let fo4_ns = mapper.fo4()?;
    progress(&CostStep::Elaborating);
    let design = mapper.elaborate(question.rtl_dir, question.config)?;
    let wanted = wanted(&design, question.modules)?;
    let measured = map_all(&mapper, &wanted, progress)?;
    let mut unit =
        Account::new(question, tools.identity.clone(), mapper.library.nand2.area, fo4_ns, goal.period_ns)?;
    let mut netlists = Vec::new();
    for (module, outcome) in wanted.iter().zip(measured) {
        match outcome {
            Outcome::Measured(figures, files, freshness) => {
                unit.add_measured(module, &figures, freshness);
                netlists.push(files);
            }
            Outcome::TooLong(why) => unit.add_known(&module.name, module.paths.len(), &why),
        }
    }
    if question.modules.is_empty() {
        let all = netlists.len() == wanted.len();
        let timed = if all {
            progress(&CostStep::Timing);
            mapper.time_unit(&design, &netlists)
        } else {
            Err(CostError::TooLong("one of its modules".into(), goal.limit))
        };
        match timed {
            Ok(paths) => unit.set_path(&design, &paths),
            Err(error @ CostError::TooLong(..)) => unit.fit_path(&error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(unit.cost)
}

/// Maps a module that is not the unit's, alone, with those inside it: `top` of these sources, packages first.
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
    let fo4_ns = mapper.fo4()?;
    let mut rows = Vec::new();
    for module in &design.modules {
        let (figures, _, freshness) = mapper.map(module)?;
        rows.extend(row(module, &figures, freshness, mapper.library.nand2.area, fo4_ns));
    }
    Ok(rows)
}

/// What the table says of the unit: needs no tool.
///
/// # Errors
/// [`CostError`] when the RTL cannot be read, or a module is unknown.
pub fn estimate(question: &CostQuestion<'_>) -> Result<UnitCost, CostError> {
    let table = question.table;
    let names: Vec<&str> = FORMULAS.iter().map(|formula| formula.module).collect();
    if let Some(unknown) = question.modules.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(CostError::NoModule(unknown.clone(), names.iter().map(ToString::to_string).collect()));
    }
    let mut unit =
        Account::new(question, table.tools.clone(), table.nand2_area, table.fo4_ns, table.period_ns)?;
    for name in names {
        if question.modules.is_empty() || question.modules.iter().any(|module| module == name) {
            unit.add_known(name, 1, "not asked for");
        }
    }
    if question.modules.is_empty() {
        unit.fit_path("not asked for");
    }
    Ok(unit.cost)
}

impl UnitCost {
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

/// The modules to map: those named, or all but memories.
fn wanted<'d>(design: &'d Hierarchy, names: &[String]) -> Result<Vec<&'d ElaboratedModule>, CostError> {
    let all: Vec<_> = design.modules.iter().filter(|module| module.name != MEMORY).collect();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|module| module.name != **name)) {
        let known = all.iter().map(|module| module.name.clone()).collect();
        return Err(CostError::NoModule(unknown.clone(), known));
    }
    let is_named = |module: &&ElaboratedModule| names.is_empty() || names.contains(&module.name);
    Ok(all.into_iter().filter(is_named).collect())
}

enum Outcome {
    Measured(ModuleFigures, CachedFiles, Freshness),
    TooLong(String),
}

/// Maps modules on all cores, the largest first; gives them in their order.
fn map_all(
    mapper: &Mapper<'_>,
    modules: &[&ElaboratedModule],
    progress: &(dyn Fn(&CostStep) + Sync),
) -> Result<Vec<Outcome>, CostError> {
    let kept = |module: &&ElaboratedModule| {
        mapper.kept(module).map(|(figures, files)| Outcome::Measured(figures, files, Freshness::Kept))
    };
    let mut outcomes: Vec<Option<Outcome>> = modules.iter().map(kept).collect();
    let mut open: Vec<(usize, &ElaboratedModule)> =
        modules.iter().copied().enumerate().filter(|(place, _)| outcomes[*place].is_none()).collect();
    open.sort_by_key(|(_, module)| std::cmp::Reverse(module.text.len()));
    let (done, current) = (AtomicUsize::new(modules.len() - open.len()), Mutex::new(BTreeSet::new()));
    let current = || current.lock().unwrap_or_else(PoisonError::into_inner);
    let tell = || {
        let current = current().iter().cloned().collect();
        progress(&CostStep::Mapping { done: done.load(Ordering::Relaxed), total: modules.len(), current });
    };
    let map = |(place, module): (usize, &ElaboratedModule)| {
        current().insert(module.name.clone());
        tell();
        let outcome = match mapper.map(module) {
            Ok((figures, files, freshness)) => Outcome::Measured(figures, files, freshness),
            Err(error @ CostError::TooLong(..)) => Outcome::TooLong(error.to_string()),
            Err(error) => return Err(error),
        };
        current().remove(&module.name);
        done.fetch_add(1, Ordering::Relaxed);
        Ok((place, outcome))
    };
    // One at a time per thread, so that the largest are begun first.
    let mapped: Vec<_> = open.into_par_iter().with_max_len(1).map(map).collect::<Result<_, _>>()?;
    for (place, outcome) in mapped {
        outcomes[place] = Some(outcome);
    }
    Ok(outcomes.into_iter().flatten().collect())
}

/// A module as it was mapped; nothing where it has no cells of its own.
fn row(
    module: &ElaboratedModule,
    figures: &ModuleFigures,
    freshness: Freshness,
    nand2_area: f64,
    fo4_ns: f64,
) -> Option<ModuleCost> {
    let instances = module.paths.len();
    let area = figures.area * instances as f64;
    let slowest = figures.paths.first();
    (figures.cells > 0).then(|| ModuleCost {
        module: module.name.clone(),
        instances,
        area,
        gate_equivalents: area / nand2_area,
        flip_flop_share: Some(figures.flip_flop_area / figures.area),
        path: slowest.map(|path| ModulePath {
            ns: path.ns,
            fo4: path.ns / fo4_ns,
            between: Some((path.from, path.to)),
        }),
        origin: match freshness {
            Freshness::Now => FigureOrigin::Mapped,
            Freshness::Kept => FigureOrigin::Cached,
        },
        hash: module.hash.get(..12).map(String::from),
    })
}

/// A cost that is being added up.
struct Account<'q> {
    question: &'q CostQuestion<'q>,
    cost: UnitCost,
}

impl<'q> Account<'q> {
    fn new(
        question: &'q CostQuestion<'q>,
        tools: ToolIdentity,
        nand2_area: f64,
        fo4_ns: f64,
        period_ns: f64,
    ) -> Result<Self, CostError> {
        let config = &question.config.config;
        let bits = 8 * config.bytes();
        let per_bit = question.gate_equivalents_per_bit;
        let memory = MemoryCost {
            instances: config.num_banks,
            bits,
            gate_equivalents_per_bit: per_bit,
            gate_equivalents: per_bit * bits as f64,
        };
        let sources = sources_hash(question.rtl_dir)?;
        let table_is_stale = question.table.sources != sources;
        let cost = UnitCost {
            config: question.config.name.clone(),
            tools,
            period_ns,
            nand2_area,
            fo4_ns,
            modules: Vec::new(),
            area: 0.0,
            gate_equivalents: 0.0,
            fitted_share: 0.0,
            memory,
            path: None,
            table_is_stale,
            sources,
        };
        Ok(Self { question, cost })
    }

    fn add_measured(&mut self, module: &ElaboratedModule, figures: &ModuleFigures, freshness: Freshness) {
        let UnitCost { nand2_area, fo4_ns, .. } = self.cost;
        if let Some(row) = row(module, figures, freshness, nand2_area, fo4_ns) {
            self.add(row);
        }
    }

    /// Adds a module of which the table knows, or its formula.
    fn add_known(&mut self, name: &str, instances: usize, why: &str) {
        let (table, config) = (self.question.table, &self.question.config.config);
        let to_own = self.cost.nand2_area / table.nand2_area * instances as f64;
        let to_ns = self.cost.fo4_ns / table.fo4_ns;
        if let Some(figures) = table.measured(name, config) {
            let fo4_ns = self.cost.fo4_ns;
            let path = figures.path.map(|(ns, from, to)| ModulePath {
                ns: ns * to_ns,
                fo4: ns * to_ns / fo4_ns,
                between: Some((from, to)),
            });
            return self.add(ModuleCost {
                module: name.to_string(),
                instances,
                area: figures.area * to_own,
                gate_equivalents: figures.area * to_own / self.cost.nand2_area,
                flip_flop_share: Some(figures.flip_flop_area / figures.area),
                path,
                origin: FigureOrigin::Table,
                hash: Some(figures.hash.clone()),
            });
        }
        let area = table.area(name, config);
        let path = table.path(name, config).map(|fitted| ModulePath {
            ns: fitted.value * self.cost.fo4_ns,
            fo4: fitted.value,
            between: None,
        });
        let error = area.and_then(|fitted| fitted.error);
        let gate_equivalents = area.map_or(0.0, |fitted| fitted.value) * instances as f64;
        let unknown = if gate_equivalents > 0.0 {
            ""
        } else {
            ", and the table has no point of it: it counts as nothing"
        };
        self.add(ModuleCost {
            module: name.to_string(),
            instances,
            area: gate_equivalents * self.cost.nand2_area,
            gate_equivalents,
            flip_flop_share: None,
            path,
            origin: FigureOrigin::Fitted { error, why: format!("{why}{unknown}") },
            hash: None,
        });
    }

    fn add(&mut self, row: ModuleCost) {
        let cost = &mut self.cost;
        let fitted = cost.fitted_share * cost.area
            + if matches!(row.origin, FigureOrigin::Fitted { .. }) { row.area } else { 0.0 };
        cost.area += row.area;
        cost.gate_equivalents += row.gate_equivalents;
        cost.fitted_share = if cost.area > 0.0 { fitted / cost.area } else { 0.0 };
        let place = |name: &str| FORMULAS.iter().position(|formula| formula.module == name);
        cost.modules.push(row);
        cost.modules.sort_by_key(|row| place(&row.module).unwrap_or(usize::MAX));
    }

    /// The path as it was timed through all modules.
    fn set_path(&mut self, design: &Hierarchy, paths: &[TimingPath]) {
        let Some(slowest) = paths.first() else { return };
        let module_at = |instance: &str| {
            let named = |module: &&ElaboratedModule| module.paths.iter().any(|path| path == instance);
            design.modules.iter().find(named).map_or(TOP, |module| &module.name).to_string()
        };
        let through = slowest.through.iter().filter(|(_, ns)| *ns > 0.0);
        let through = through.map(|(instance, ns)| (module_at(instance), *ns)).collect();
        let fresh = self.cost.modules.iter().any(|row| row.origin == FigureOrigin::Mapped);
        let origin = if fresh { FigureOrigin::Mapped } else { FigureOrigin::Cached };
        self.put_path(slowest.ns, through, origin);
    }

    fn fit_path(&mut self, why: &str) {
        let (table, config) = (self.question.table, &self.question.config.config);
        if let Some(ns) = table.measured_path(config) {
            self.put_path(ns / table.fo4_ns * self.cost.fo4_ns, Vec::new(), FigureOrigin::Table);
        } else if let Some(Fitted { value, error }) = table.unit_path(config) {
            let origin = FigureOrigin::Fitted { error, why: why.to_string() };
            self.put_path(value * self.cost.fo4_ns, Vec::new(), origin);
        }
    }

    fn put_path(&mut self, ns: f64, through: Vec<(String, f64)>, origin: FigureOrigin) {
        let fo4 = ns / self.cost.fo4_ns;
        self.cost.path = Some(UnitPath { ns, fo4, mhz: 1000.0 / ns, through, origin });
    }
}
