//! From the RTL to figures: Yosys elaborates the unit, maps one module after another to cells, and OpenSTA times them, each
//! alone and all together. What was found is kept by what it depends on.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use atoms_cosim::configs::NamedConfig;
use atoms_verilated::{BuildDir, BuildSpec, Cache, CachedFiles};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::liberty::{CellLibrary, READ_LIBRARY};
use super::netlist::{ElaboratedModule, Hierarchy};
use super::paths::{
    TimingPath, fo4_netlist, mapping_constraints, memory_netlist, parse_fo4, parse_paths, timing_script,
};
use super::tools::{CostError, CostTools};

/// The module that is a memory: a macro, not gates.
pub(crate) const MEMORY: &str = "atoms_bank";
/// The unit.
pub(crate) const TOP: &str = "atoms_unit";
/// Port with the clock.
const CLOCK: &str = "clk_i";
/// The longest that reading the RTL, or the library, may take.
const READING: Duration = Duration::from_secs(600);
/// Counts up when the scripts below, or the form of what is kept, change.
const VERSION: &str = "cost 2";

/// Figures of one module, its submodules left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModuleFigures {
    /// Area of the cells, in the library's unit.
    pub area: f64,
    /// Of it, that of flip-flops and latches.
    pub flip_flop_area: f64,
    /// Cells.
    pub cells: u64,
    /// The slowest path of each kind of ends, slowest first; ports are there at 0, and have to be there at the end of the
    /// period.
    pub paths: Vec<TimingPath>,
    /// Seconds that mapping and timing took.
    pub seconds: f64,
}

/// Where a figure was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    Now,
    Kept,
}

/// What is asked of the tools.
#[derive(Clone, Copy, Debug)]
pub struct MappingGoal {
    /// Period that the mapper aims at, in ns.
    pub period_ns: f64,
    /// The longest that one run of a tool may take.
    pub limit: Duration,
}

impl Default for MappingGoal {
    fn default() -> Self {
        MappingGoal { period_ns: 3.0, limit: Duration::from_secs(600) }
    }
}

/// The tools, and the cache that keeps their results.
pub(crate) struct Mapper<'c> {
    tools: &'c CostTools,
    cache: &'c Cache,
    goal: MappingGoal,
    pub(crate) library: CellLibrary,
}

impl<'c> Mapper<'c> {
    /// Reads the cells of the library.
    pub(crate) fn new(tools: &'c CostTools, cache: &'c Cache, goal: MappingGoal) -> Result<Self, CostError> {
        let kept = cache.files(&format!("cells-{}", tools.key(&[VERSION, "cells"])), |shop| {
            let what = tools.liberty.display().to_string();
            shop.write("cells.lib", fs::read(&tools.liberty)?)?;
            tools.yosys(shop, &what, READ_LIBRARY, READING)?;
            let json = fs::read_to_string(shop.dir().join("cells.json"))?;
            let library = CellLibrary::from_yosys(&json);
            let library = library.map_err(|why| CostError::Figures(tools.liberty.clone(), why))?;
            let folder = shop.folder("entry")?;
            let text = serde_json::to_string_pretty(&library).map_err(std::io::Error::from)?;
            shop.write("entry/library.json", text)?;
            Ok::<_, CostError>(folder)
        })?;
        let text = fs::read_to_string(kept.dir.join("library.json"))?;
        let library = serde_json::from_str(&text).map_err(|error| unreadable(&kept.dir, &error))?;
        Ok(Mapper { tools, cache, goal, library })
    }

    /// Elaborates the unit of `config`.
    pub(crate) fn elaborate(&self, rtl_dir: &Path, config: &NamedConfig) -> Result<Hierarchy, CostError> {
        let spec = BuildSpec::from_list(rtl_dir, "atoms.f", TOP)?;
        // The name of a configuration is no part of what it is.
        let package = config.config.rtl_package();
        let mut texts = Vec::new();
        for file in spec.files.iter().chain(&atoms_verilated::headers(rtl_dir)?) {
            let text = match file.ends_with("atoms_cfg_pkg.sv") {
                true => package.clone(),
                false => fs::read_to_string(rtl_dir.join(file))?,
            };
            texts.push((file.display().to_string(), text));
        }
        self.elaborate_texts(&texts, TOP)
    }

    /// Elaborates the module `top` of the sources `texts`, each with its name.
    pub(crate) fn elaborate_texts(
        &self,
        texts: &[(String, String)],
        top: &str,
    ) -> Result<Hierarchy, CostError> {
        let inputs: Vec<&str> = texts.iter().flat_map(|(file, text)| [file.as_str(), text]).collect();
        let inputs: Vec<&str> = [VERSION, "elaborate", top].into_iter().chain(inputs).collect();
        let kept = self.cache.files(&format!("elaborated-{}", self.tools.key(&inputs)), |shop| {
            for (file, text) in texts {
                shop.write(&format!("rtl/{file}"), text)?;
            }
            let sources = texts.iter().map(|(file, _)| file).filter(|file| !is_header(file));
            let sources: Vec<_> = sources.map(|file| format!("rtl/{file}")).collect();
            let folder = shop.folder("entry")?;
            // Cells come in the order of their names: numbers of one length keep it from point to point.
            shop.write("numbers.il", "autoidx 1000000\n")?;
            let script = format!(
                "read_rtlil numbers.il\nread_slang --threads 1 --unroll-limit 100000 -DSYNTHESIS -I rtl --keep-hierarchy --top {top} {sources}\n\
                 hierarchy -check -top {top}\nproc\nbwmuxmap\nopt_clean\ndelete t:$scopeinfo\nwrite_rtlil entry/unit.il\n",
                sources = sources.join(" "),
            );
            self.tools.yosys(shop, "the RTL", &script, READING)?;
            Ok::<_, CostError>(folder)
        })?;
        let text = fs::read_to_string(kept.dir.join("unit.il"))?;
        Ok(Hierarchy::parse(&text, top)?)
    }

    fn name_of(&self, module: &ElaboratedModule) -> String {
        let period = format!("{} ns", self.goal.period_ns);
        format!("mapped-{}", self.tools.key(&[VERSION, "map", &period, &module.hash]))
    }

    /// Figures of a module that was mapped before.
    pub(crate) fn kept(&self, module: &ElaboratedModule) -> Option<(ModuleFigures, CachedFiles)> {
        let files = self.cache.kept_files(&self.name_of(module))?;
        let figures = read_figures(&files.dir).ok()?;
        Some((figures, files))
    }

    /// Maps a module, and times it alone.
    pub(crate) fn map(
        &self,
        module: &ElaboratedModule,
    ) -> Result<(ModuleFigures, CachedFiles, Freshness), CostError> {
        let files = self.cache.files(&self.name_of(module), |shop| self.map_in(shop, module))?;
        let freshness = if files.made_now { Freshness::Now } else { Freshness::Kept };
        Ok((read_figures(&files.dir)?, files, freshness))
    }

    fn map_in(&self, shop: &BuildDir, module: &ElaboratedModule) -> Result<PathBuf, CostError> {
        let start = Instant::now();
        let name = &module.name;
        let library = &self.library;
        shop.write("module.il", &module.text)?;
        shop.write("constraints", mapping_constraints(library))?;
        let folder = shop.folder("entry")?;
        let liberty = "cells.lib";
        shop.write(liberty, fs::read(&self.tools.liberty)?)?;
        let picoseconds = self.goal.period_ns * 1000.0;
        let script = format!(
            "read_rtlil module.il\nhierarchy -top {name}\nsynth -flatten -noabc -top {name}\n\
             dfflibmap -liberty {liberty}\nabc -liberty {liberty} -constr constraints -D {picoseconds}\n\
             opt_clean\nsetundef -zero\ntee -q -o stat.json stat -liberty {liberty} -json\n\
             write_verilog -noattr -noexpr -simple-lhs entry/netlist.v\n",
        );
        self.tools.yosys(shop, name, &script, self.goal.limit)?;
        let stat = fs::read_to_string(shop.dir().join("stat.json"))?;
        let Stat { area, flip_flop_area, cells } = parse_stat(&stat, module)?;
        let paths = match cells {
            0 => Vec::new(),
            _ => {
                let clock = module.ports.iter().find(|port| port.name == CLOCK);
                let script =
                    timing_script(&self.tools.liberty, library, &["entry/netlist.v".into()], name, clock);
                parse_paths(&self.tools.sta(shop, name, &script, self.goal.limit)?, name)?
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let figures = ModuleFigures { area, flip_flop_area, cells, paths, seconds };
        let text = serde_json::to_string_pretty(&figures).map_err(std::io::Error::from)?;
        shop.write("entry/figures.json", text)?;
        Ok(folder)
    }

    /// Times all modules together, linked by the unit's own hierarchy: `netlists` are the folders of all modules but the
    /// memories, which count as registers at their ports.
    pub(crate) fn time_unit(
        &self,
        design: &Hierarchy,
        netlists: &[CachedFiles],
    ) -> Result<Vec<TimingPath>, CostError> {
        let names: Vec<String> = design.modules.iter().map(|module| self.name_of(module)).collect();
        let inputs = [VERSION, "unit"].into_iter().chain(names.iter().map(String::as_str));
        let key = self.tools.key(&inputs.collect::<Vec<_>>());
        let kept = self.cache.files(&format!("timed-{key}"), |shop| {
            let mut files: Vec<String> =
                netlists.iter().map(|files| files.dir.join("netlist.v").display().to_string()).collect();
            for module in design.modules.iter().filter(|module| module.name == MEMORY) {
                let text = memory_netlist(&self.library, &module.name, &module.ports, CLOCK);
                files.push(shop.write("memory.v", text)?.display().to_string());
            }
            let top = design.modules.first().into_iter().flat_map(|module| &module.ports);
            let clock = top.into_iter().find(|port| port.name == CLOCK);
            let script = timing_script(&self.tools.liberty, &self.library, &files, TOP, clock);
            let paths = parse_paths(&self.tools.sta(shop, TOP, &script, self.goal.limit)?, TOP)?;
            let folder = shop.folder("entry")?;
            let text = serde_json::to_string_pretty(&paths).map_err(std::io::Error::from)?;
            shop.write("entry/paths.json", text)?;
            Ok::<_, CostError>(folder)
        })?;
        let text = fs::read_to_string(kept.dir.join("paths.json"))?;
        serde_json::from_str(&text).map_err(|error| unreadable(&kept.dir, &error))
    }

    /// The delay of one inverter that drives four, in ns.
    pub(crate) fn fo4(&self) -> Result<f64, CostError> {
        let kept = self.cache.files(&format!("fo4-{}", self.tools.key(&[VERSION, "fo4"])), |shop| {
            let library = &self.library;
            shop.write("fo4.v", fo4_netlist(library))?;
            let script = timing_script(&self.tools.liberty, library, &["fo4.v".into()], "fo4", None);
            let report = self.tools.sta(shop, "a chain of inverters", &script, READING)?;
            let folder = shop.folder("entry")?;
            shop.write("entry/ns", format!("{}\n", parse_fo4(&report, library)?))?;
            Ok::<_, CostError>(folder)
        })?;
        let text = fs::read_to_string(kept.dir.join("ns"))?;
        text.trim().parse().map_err(|error| unreadable(&kept.dir, &error))
    }
}

fn is_header(file: &str) -> bool {
    file.ends_with(".svh") || file.ends_with(".vh")
}

fn read_figures(dir: &Path) -> Result<ModuleFigures, CostError> {
    let text = fs::read_to_string(dir.join("figures.json"))?;
    serde_json::from_str(&text).map_err(|error| unreadable(dir, &error))
}

fn unreadable(dir: &Path, error: &dyn std::error::Error) -> CostError {
    CostError::Figures(dir.to_path_buf(), format!("{error}; remove this folder"))
}

#[derive(Debug, PartialEq)]
struct Stat {
    area: f64,
    flip_flop_area: f64,
    cells: u64,
}

/// What `stat -json` of Yosys says of a module; its children, which are black boxes to Yosys, are no cells.
fn parse_stat(text: &str, module: &ElaboratedModule) -> Result<Stat, CostError> {
    let wrong = |why: String| CostError::Answer("Yosys", module.name.clone(), why);
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let of = &value["modules"][format!("\\{}", module.name)];
    if of["num_cells"].is_null() {
        return Err(wrong("it counts no cells".into()));
    }
    let mut cells = 0;
    for (name, count) in of["num_cells_by_type"].as_object().into_iter().flatten() {
        if name.starts_with('$') {
            return Err(wrong(format!("a cell `{name}` was not mapped: the library lacks what it needs")));
        }
        if !module.children.contains(name) {
            cells += count.as_u64().unwrap_or(0);
        }
    }
    let number = |name: &str| of[name].as_f64().unwrap_or(0.0);
    Ok(Stat { area: number("area"), flip_flop_area: number("sequential_area"), cells })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Yosys 0.70 writes it, shortened.
    const STAT: &str = r#"{
   "creator": "Yosys 0.70",
   "modules": {
      "\\atoms_issue": {
         "num_wires": 4856, "num_submodules": 0, "num_cells": 4676,
         "area": 204619.000000, "sequential_area": 98784.000000,
         "num_cells_by_type": { "AND2X2": 3645, "DFFPOSX1": 1029, "atoms_agen": 1, "atoms_spin": 1 }
      }
   },
   "design": { "num_cells": 4676, "area": 204619.0 }
}
"#;

    fn module(name: &str) -> ElaboratedModule {
        ElaboratedModule {
            name: name.into(),
            paths: vec!["u_it".into()],
            children: ["atoms_agen", "atoms_spin"].map(String::from).into(),
            memory_bits: 0,
            ports: Vec::new(),
            hash: String::new(),
            text: String::new(),
        }
    }

    #[test]
    fn figures_of_yosys_are_read() {
        let issue = module("atoms_issue");
        let stat = parse_stat(STAT, &issue).expect("it is understood");
        assert_eq!(stat, Stat { area: 204_619.0, flip_flop_area: 98_784.0, cells: 4674 });
        let error = parse_stat(STAT, &module("atoms_spin")).expect_err("it is about another").to_string();
        assert!(error.contains("Yosys said of atoms_spin") && error.contains("counts no cells"), "{error}");
        let error = parse_stat(&STAT.replace("AND2X2", "$_DLATCH_P_"), &issue);
        let error = error.expect_err("a latch is left").to_string();
        assert!(error.contains("`$_DLATCH_P_` was not mapped"), "{error}");
        assert!(parse_stat("", &issue).is_err());
    }
}
