//! Measures area and timing of the RTL. Yosys elaborates the unit and maps each module to cells; OpenSTA
//! times the modules, alone and together. The cache keeps each result under the hash of its inputs.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use atoms_cosim::rtl::TOP;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::{BuildDir, BuildSpec, Cache, CachedFiles};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::liberty::{CellLibrary, READ_LIBRARY};
use super::netlist::{ElaboratedModule, Hierarchy};
use super::paths::{
    PathEnd, TimingPath, fo4, fo4_netlist, mapping_constraints, memory_netlist, parse_path, timing_script,
};
use super::tools::{CostError, CostTools, ENTRY};

/// Memory module. Memory is a macro, so this module is not mapped to gates.
pub(crate) const MEMORY: &str = "atoms_bank";
const READING: Duration = Duration::from_secs(600);

/// Figures of one module without its submodules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellFigures {
    /// Area, in the library's unit.
    pub area: f64,
    pub flip_flop_area: f64,
    /// Slowest path of the module alone in ns, and its two ends. `None` if no gates lie between ports and
    /// registers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<(f64, PathEnd, PathEnd)>,
    pub hash: String,
}

#[derive(Clone, Copy, Debug)]
pub struct MappingGoal {
    /// Period that the mapper aims at, in ns.
    pub period_ns: f64,
    /// Time limit of one run of a tool.
    pub limit: Duration,
}

impl Default for MappingGoal {
    fn default() -> Self {
        MappingGoal { period_ns: 3.0, limit: Duration::from_secs(600) }
    }
}

pub(crate) struct Mapper<'c> {
    tools: &'c CostTools,
    cache: &'c Cache,
    goal: MappingGoal,
    pub(crate) library: CellLibrary,
}

impl<'c> Mapper<'c> {
    pub(crate) fn new(tools: &'c CostTools, cache: &'c Cache, goal: MappingGoal) -> Result<Self, CostError> {
        let (library, _) = tools.kept(cache, "cells", &[], |shop| {
            shop.write("cells.lib", fs::read(&tools.liberty)?)?;
            tools.yosys(shop, &tools.liberty.display().to_string(), READ_LIBRARY, READING)?;
            let library = CellLibrary::from_yosys(&fs::read_to_string(shop.dir().join("cells.json"))?);
            library.map_err(|why| CostError::Figures(tools.liberty.clone(), why))
        })?;
        Ok(Mapper { tools, cache, goal, library })
    }

    pub(crate) fn elaborate(&self, rtl_dir: &Path, config: &NamedConfig) -> Result<Hierarchy, CostError> {
        let spec = BuildSpec::from_list(rtl_dir, "atoms.f", TOP)?;
        // The name of a configuration does not affect the hash.
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

    /// Elaborates the module `top`. `texts` are pairs of file name and source text.
    pub(crate) fn elaborate_texts(
        &self,
        texts: &[(String, String)],
        top: &str,
    ) -> Result<Hierarchy, CostError> {
        let inputs = texts.iter().flat_map(|(file, text)| [file.as_str(), text]);
        let inputs: Vec<&str> = [top].into_iter().chain(inputs).collect();
        let (design, _): (String, _) = self.tools.kept(self.cache, "elaborated", &inputs, |shop| {
            for (file, text) in texts {
                shop.write(&format!("rtl/{file}"), text)?;
            }
            let sources = texts.iter().map(|(file, _)| file).filter(|file| !is_header(file));
            let sources: Vec<_> = sources.map(|file| format!("rtl/{file}")).collect();
            // Start the numbers in generated names at 1000000. Yosys sorts cells by name, and numbers of
            // equal length keep the order of cells equal in all configurations.
            shop.write("numbers.il", "autoidx 1000000\n")?;
            let script = format!(
                "read_rtlil numbers.il\nread_slang --threads 1 --unroll-limit 100000 -DSYNTHESIS -I rtl --keep-hierarchy --top {top} {sources}\n\
                 hierarchy -check -top {top}\nproc\nbwmuxmap\nopt_clean\ndelete t:$scopeinfo\nwrite_rtlil unit.il\n",
                sources = sources.join(" "),
            );
            self.tools.yosys(shop, "the RTL", &script, READING)?;
            Ok(fs::read_to_string(shop.dir().join("unit.il"))?)
        })?;
        Hierarchy::parse(&design, top)
    }

    /// Maps a module and times it alone. Returns its figures and the folder with its `netlist.v`. The figures
    /// are `None` if the module has no cells of its own.
    pub(crate) fn map(
        &self,
        module: &ElaboratedModule,
    ) -> Result<(Option<CellFigures>, CachedFiles), CostError> {
        let period = self.period();
        self.tools.kept(self.cache, "mapped", &[&period, &module.hash], |shop| self.map_in(shop, module))
    }

    fn period(&self) -> String {
        format!("{} ns", self.goal.period_ns)
    }

    fn map_in(&self, shop: &BuildDir, module: &ElaboratedModule) -> Result<Option<CellFigures>, CostError> {
        let name = &module.name;
        shop.write("module.il", &module.text)?;
        shop.write("constraints", mapping_constraints(&self.library))?;
        let liberty = "cells.lib";
        shop.write(liberty, fs::read(&self.tools.liberty)?)?;
        let picoseconds = self.goal.period_ns * 1000.0;
        let script = format!(
            "read_rtlil module.il\nhierarchy -top {name}\nsynth -flatten -noabc -top {name}\n\
             dfflibmap -liberty {liberty}\nabc -liberty {liberty} -constr constraints -D {picoseconds}\n\
             opt_clean\nsetundef -zero\ntee -q -o stat.json stat -liberty {liberty} -json\n\
             write_verilog -noattr -noexpr -simple-lhs {ENTRY}/netlist.v\n",
        );
        self.tools.yosys(shop, name, &script, self.goal.limit)?;
        let stat = parse_stat(&fs::read_to_string(shop.dir().join("stat.json"))?, module)?;
        if stat.cells(module) == 0 {
            return Ok(None);
        }
        let path = self.time(shop, name, name, &[format!("{ENTRY}/netlist.v")], self.goal.limit)?;
        let path = path.map(|path| {
            let (from, to) = path.ends();
            (path.ns(), from, to)
        });
        let hash = module.hash[..12].to_string();
        Ok(Some(CellFigures { area: stat.area, flip_flop_area: stat.sequential_area, path, hash }))
    }

    /// Times `top` in these netlists and returns its slowest path. `what` names the design in messages.
    fn time(
        &self,
        shop: &BuildDir,
        what: &str,
        top: &str,
        netlists: &[String],
        limit: Duration,
    ) -> Result<Option<TimingPath>, CostError> {
        let script = timing_script(&self.tools.liberty, &self.library, netlists, top);
        self.tools.sta(shop, what, &script, limit)?;
        parse_path(&fs::read_to_string(shop.dir().join("paths.json"))?, what)
    }

    /// Times all modules together, linked by the hierarchy of the unit. `netlists` are the folders of all
    /// modules except memories. Memories are modelled as registers at their ports.
    pub(crate) fn time_unit(
        &self,
        design: &Hierarchy,
        netlists: &[CachedFiles],
    ) -> Result<Option<TimingPath>, CostError> {
        let period = self.period();
        let hashes = design.modules.iter().map(|module| module.hash.as_str());
        let inputs: Vec<&str> = [period.as_str()].into_iter().chain(hashes).collect();
        let timed = self.tools.kept(self.cache, "timed", &inputs, |shop| {
            let mut files: Vec<String> =
                netlists.iter().map(|files| files.dir.join("netlist.v").display().to_string()).collect();
            for module in design.modules.iter().filter(|module| module.name == MEMORY) {
                let text = memory_netlist(&self.library, &module.name, &module.ports);
                files.push(shop.write("memory.v", text)?.display().to_string());
            }
            self.time(shop, TOP, TOP, &files, self.goal.limit)
        })?;
        Ok(timed.0)
    }

    /// Measures the FO4 delay in ns: an inverter that drives four inverters.
    pub(crate) fn fo4(&self) -> Result<f64, CostError> {
        let timed = self.tools.kept(self.cache, "fo4", &[], |shop| {
            shop.write("fo4.v", fo4_netlist(&self.library))?;
            let path = self.time(shop, "a chain of inverters", "fo4", &["fo4.v".to_string()], READING)?;
            fo4(path.as_ref(), &self.library)
        })?;
        Ok(timed.0)
    }
}

fn is_header(file: &str) -> bool {
    file.ends_with(".svh") || file.ends_with(".vh")
}

#[derive(Deserialize)]
struct Stat {
    modules: BTreeMap<String, ModuleStat>,
}

/// Entry of one module. Yosys omits the areas of a module without cells.
#[derive(Debug, PartialEq, Deserialize)]
struct ModuleStat {
    #[serde(default)]
    area: f64,
    #[serde(default)]
    sequential_area: f64,
    num_cells_by_type: BTreeMap<String, u64>,
}

impl ModuleStat {
    /// Counts the module's own cells. Yosys also counts child modules, which are black boxes.
    fn cells(&self, module: &ElaboratedModule) -> u64 {
        let types = self.num_cells_by_type.iter();
        types.filter(|(name, _)| !module.children.contains(*name)).map(|(_, count)| count).sum()
    }
}

fn parse_stat(text: &str, module: &ElaboratedModule) -> Result<ModuleStat, CostError> {
    let wrong = |why: String| CostError::Answer("Yosys", module.name.clone(), why);
    let mut stat: Stat = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let stat = stat.modules.remove(&format!("\\{}", module.name));
    let stat = stat.ok_or_else(|| wrong("it has no cell counts of this module".into()))?;
    match stat.num_cells_by_type.keys().find(|name| name.starts_with('$')) {
        Some(name) => Err(wrong(format!("cell `{name}` was not mapped: the library has no cell for it"))),
        None => Ok(stat),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of Yosys 0.70, shortened.
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
            ports: Vec::new(),
            hash: String::new(),
            text: String::new(),
        }
    }

    #[test]
    fn figures_of_yosys_are_read() {
        let issue = module("atoms_issue");
        let stat = parse_stat(STAT, &issue).expect("it is understood");
        assert_eq!((stat.area, stat.sequential_area, stat.cells(&issue)), (204_619.0, 98_784.0, 4674));
        let error = parse_stat(STAT, &module("atoms_spin")).expect_err("it is about another").to_string();
        assert!(
            error.contains("output of Yosys for atoms_spin") && error.contains("has no cell counts"),
            "{error}"
        );
        let error = parse_stat(&STAT.replace("AND2X2", "$_DLATCH_P_"), &issue);
        let error = error.expect_err("a latch is left").to_string();
        assert!(error.contains("`$_DLATCH_P_` was not mapped"), "{error}");
        assert!(parse_stat("", &issue).is_err());
    }
}
