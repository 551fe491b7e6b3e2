//! Table of measured points, stored as a file. Estimates of other points are fitted to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use atoms_cosim::rtl::TOP;
use atoms_model::Config;
use atoms_model::config::PARAMETERS;
use atoms_verilated::{BuildSpec, hash, headers};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::fit::{ChainFit, Fit};
use super::formulas::{CHAINS, FORMULAS, Formula, Term, values, written};
use super::mapping::CellFigures;
use super::tools::{CostError, ToolIdentity};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellTable {
    pub tools: ToolIdentity,
    /// Period that the mapper aimed at, in ns.
    pub period_ns: f64,
    /// Area of a NAND2 of the library, in the library's unit.
    pub nand2_area: f64,
    /// Delay of an inverter that drives four inverters (FO4), in ns.
    pub fo4_ns: f64,
    /// [`sources_hash`] of the RTL that was measured.
    pub sources: String,
    #[serde(default, rename = "point")]
    pub points: Vec<CellPoint>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellPoint {
    pub name: String,
    pub parameters: BTreeMap<String, u32>,
    /// Period that the whole unit needs, in ns; `None` if not all of its modules were mapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_ns: Option<f64>,
    pub modules: BTreeMap<String, CellFigures>,
}

/// Table embedded in the program. It was measured with Debian's library, possibly with older RTL than this
/// program's.
pub static BUILT_IN: LazyLock<CellTable> = LazyLock::new(|| {
    let text = include_str!("../../data/cells.toml");
    toml::from_str(text).expect("a test reads the committed table")
});

/// Returns a hash of the RTL in `rtl_dir` as elaboration reads it. Parameters, comments and white space do
/// not affect the hash.
///
/// # Errors
/// When a source cannot be read.
pub fn sources_hash(rtl_dir: &Path) -> Result<String, CostError> {
    let mut files = BuildSpec::from_list(rtl_dir, "atoms.f", TOP)?.files;
    files.retain(|file| !file.ends_with("atoms_cfg_pkg.sv"));
    files.extend(headers(rtl_dir)?);
    let mut texts = Vec::new();
    for file in files {
        let text = fs::read_to_string(rtl_dir.join(&file))?;
        let code = |line: &str| {
            line.split("//").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let lines: Vec<String> = text.lines().map(code).filter(|line| !line.is_empty()).collect();
        texts.extend([file.display().to_string(), lines.join("\n")]);
    }
    Ok(hash(texts)[..16].to_string())
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fitted {
    pub(crate) value: f64,
    /// Leave-one-out error, as in [`Fit::left_out_error`].
    pub(crate) error: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedFormula {
    /// Name of a module, or `unit` for the timing path through all modules.
    pub of: String,
    /// `area`, in gate equivalents, or `path`, in FO4.
    pub figure: &'static str,
    pub formula: String,
    /// Number of points fitted to. Points with an equal module count once.
    pub points: usize,
    /// Root mean square of the relative errors, where each point is predicted from all other points.
    pub left_out_error: Option<f64>,
}

impl CellTable {
    /// Reads a table and checks the configuration of each point.
    ///
    /// # Errors
    /// [`CostError::Figures`] with the error and its position.
    pub fn read(path: &Path) -> Result<Self, CostError> {
        let wrong = |why: String| CostError::Figures(path.to_path_buf(), why);
        let table: Self =
            toml::from_str(&fs::read_to_string(path)?).map_err(|error| wrong(error.to_string()))?;
        for point in &table.points {
            point.config().map_err(|why| wrong(format!("point `{}`: {why}", point.name)))?;
        }
        Ok(table)
    }

    pub fn to_text(&self) -> String {
        let mut text = "# Figures of modules mapped to standard cells (docs/cost.md), written by the example `cells` of atoms-explore.\n\
                        # Areas are in the library's unit, um^2.\n"
            .to_string();
        // Write the tables by hand: the serializer would put each figure on its own line.
        let head =
            toml::Table::try_from(CellTable { points: Vec::new(), ..self.clone() }).unwrap_or_default();
        let mut head: Vec<_> = head.iter().filter(|(name, _)| *name != "point").collect();
        head.sort_by_key(|(_, value)| value.is_table());
        for (name, value) in head {
            text += &format!("{name} = {value}\n");
        }
        for point in &self.points {
            text += &format!("\n[[point]]\nname = {:?}\n", point.name);
            let parameters: Vec<_> =
                point.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            text += &format!("parameters = {{ {} }}\n", parameters.join(", "));
            if let Some(path) = point.path_ns {
                text += &format!("path_ns = {path:.4}\n");
            }
            text += "[point.modules]\n";
            for (module, CellFigures { area, flip_flop_area, path, hash }) in &point.modules {
                text += &format!("{module} = {{ area = {area:.1}, flip_flop_area = {flip_flop_area:.1}, ");
                if let Some((ns, from, to)) = path {
                    text += &format!("path = [{ns:.4}, \"{}\", \"{}\"], ", from.name(), to.name());
                }
                text += &format!("hash = \"{hash}\" }}\n");
            }
        }
        text
    }

    /// Adds points to the table. For an existing point, new figures replace old ones, and other modules keep
    /// theirs.
    ///
    /// # Errors
    /// [`CostError::Figures`] if the library, a tool, the period or the RTL differs from the table's.
    pub fn record(&mut self, path: &Path, of: &CellTable) -> Result<(), CostError> {
        if !self.points.is_empty() {
            let differs = [
                ("tools or library", self.tools != of.tools),
                ("period", self.period_ns != of.period_ns),
                ("RTL", self.sources != of.sources),
            ];
            if let Some((what, _)) = differs.iter().find(|(_, differs)| *differs) {
                let why = format!("the table was measured with different {what}; name a new file");
                return Err(CostError::Figures(path.to_path_buf(), why));
            }
        }
        for new in &of.points {
            match self.points.iter_mut().find(|point| point.parameters == new.parameters) {
                Some(point) => {
                    point.modules.extend(new.modules.clone());
                    point.path_ns = new.path_ns.or(point.path_ns);
                }
                None => self.points.push(new.clone()),
            }
        }
        let points = std::mem::take(&mut self.points);
        *self = CellTable { points, ..of.clone() };
        Ok(())
    }

    /// Returns the figures of a measured point with equal values of the parameters that the module depends
    /// on.
    pub(crate) fn measured(&self, module: &str, config: &Config) -> Option<&CellFigures> {
        let formula = formula(module)?;
        let same = |point: &&CellPoint| {
            PARAMETERS
                .iter()
                .filter(|p| formula.parameters.contains(&p.name))
                .all(|p| point.parameters.get(p.name) == Some(&(p.get)(config)))
        };
        self.points.iter().filter(same).find_map(|point| point.modules.get(module))
    }

    /// Returns the unit path of a measured point with equal values of all parameters.
    pub(crate) fn measured_path(&self, config: &Config) -> Option<f64> {
        let of = parameters_of(config);
        self.points.iter().find(|point| point.parameters == of)?.path_ns
    }

    /// Estimates the area of a module in gate equivalents.
    pub(crate) fn area(&self, module: &str, config: &Config) -> Option<Fitted> {
        let formula = formula(module)?;
        self.fitted(formula.area, config, &self.area_points(formula))
    }

    /// Estimates the slowest path of a module alone, in FO4.
    pub(crate) fn path(&self, module: &str, config: &Config) -> Option<Fitted> {
        let formula = formula(module)?;
        self.fitted(formula.path, config, &self.path_points(formula))
    }

    /// Estimates the slowest path of the unit, in FO4.
    pub(crate) fn unit_path(&self, config: &Config) -> Option<Fitted> {
        let fit = ChainFit::of(&self.unit_points())?;
        Some(Fitted { value: fit.at(&self.chains(config))?, error: fit.left_out_error })
    }

    /// Adds up the module paths of each chain in [`CHAINS`], in FO4; `None` if a module has no path.
    fn chains(&self, config: &Config) -> Vec<Option<f64>> {
        let alone = |module: &&str| match self.measured(module, config).map(|figures| &figures.path) {
            Some(Some((ns, ..))) => Some(ns / self.fo4_ns),
            _ => Some(self.path(module, config)?.value),
        };
        CHAINS.iter().map(|chain| chain.iter().map(alone).sum()).collect()
    }

    pub fn formulas(&self) -> Vec<FittedFormula> {
        let of = |of: &str, figure, terms: &[&str], points: Vec<(Vec<f64>, f64)>| {
            let Fit { coefficients, left_out_error } = Fit::of(&points)?;
            let formula = written(terms.iter().copied(), &coefficients);
            Some(FittedFormula { of: of.to_string(), figure, formula, points: points.len(), left_out_error })
        };
        let names = |terms: &[Term]| terms.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let each = FORMULAS.iter().flat_map(|formula| {
            [
                of(formula.module, "area", &names(formula.area), self.area_points(formula)),
                of(formula.module, "path", &names(formula.path), self.path_points(formula)),
            ]
        });
        each.chain([self.unit_formula()]).flatten().collect()
    }

    fn unit_formula(&self) -> Option<FittedFormula> {
        let points = self.unit_points();
        let fit = ChainFit::of(&points)?;
        let names = CHAINS.iter().map(|chain| chain.join(" + "));
        let sums =
            names.zip(&fit.beside).filter_map(|(name, beside)| Some(format!("{name} {:+.1}", (*beside)?)));
        Some(FittedFormula {
            of: "unit".to_string(),
            figure: "path",
            formula: format!("max({})", sums.collect::<Vec<_>>().join(", ")),
            points: points.len(),
            left_out_error: fit.left_out_error,
        })
    }

    fn fitted(&self, terms: &[Term], config: &Config, points: &[(Vec<f64>, f64)]) -> Option<Fitted> {
        let fit = Fit::of(points)?;
        Some(Fitted { value: fit.at(&values(terms, config)), error: fit.left_out_error })
    }

    /// Returns the points for the fit of a module's area. Points with an equal module count once.
    fn area_points(&self, formula: &Formula) -> Vec<(Vec<f64>, f64)> {
        self.points_of(formula, formula.area, |figures| Some(figures.area / self.nand2_area))
    }

    fn path_points(&self, formula: &Formula) -> Vec<(Vec<f64>, f64)> {
        self.points_of(formula, formula.path, |figures| Some(figures.path?.0 / self.fo4_ns))
    }

    fn points_of(
        &self,
        formula: &Formula,
        terms: &[Term],
        figure: impl Fn(&CellFigures) -> Option<f64>,
    ) -> Vec<(Vec<f64>, f64)> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for point in &self.points {
            let Some(figures) = point.modules.get(formula.module).filter(|of| seen.insert(of.hash.clone()))
            else {
                continue;
            };
            if let (Ok(config), Some(figure)) = (point.config(), figure(figures)) {
                found.push((values(terms, &config), figure));
            }
        }
        found.retain(|(_, figure)| *figure > 0.0);
        found
    }

    fn unit_points(&self) -> Vec<(Vec<Option<f64>>, f64)> {
        let each = self
            .points
            .iter()
            .filter_map(|point| Some((self.chains(&point.config().ok()?), point.path_ns? / self.fo4_ns)));
        each.collect()
    }
}

fn formula(module: &str) -> Option<&'static Formula> {
    FORMULAS.iter().find(|formula| formula.module == module)
}

pub(crate) fn parameters_of(config: &Config) -> BTreeMap<String, u32> {
    PARAMETERS.iter().map(|p| (p.name.to_string(), (p.get)(config))).collect()
}

impl CellPoint {
    /// Builds the configuration of the point.
    ///
    /// # Errors
    /// When a parameter is unknown, or the configuration is invalid.
    pub fn config(&self) -> Result<Config, String> {
        let mut config = Config::default();
        for (name, value) in &self.parameters {
            let parameter = PARAMETERS.iter().find(|p| p.name == name);
            let parameter = parameter.ok_or_else(|| format!("there is no parameter `{name}`"))?;
            (parameter.set)(&mut config, *value);
        }
        config.check().map_err(|error| error.to_string())?;
        Ok(config)
    }
}
