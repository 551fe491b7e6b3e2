//! Sweep files: the parameters to vary, and the points that result.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use atoms_model::config::PARAMETERS;
use atoms_stimulus::configs::{self, ConfigsError, NamedConfig};
use atoms_workload::{GENERATED, Generated, WorkloadError};
use serde::Deserialize;
use toml::Value;

use super::figure::{FIGURES, Figure};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepFile {
    pub about: String,
    #[serde(deserialize_with = "one_or_several")]
    pub workload: Vec<String>,
    #[serde(default = "default_config")]
    pub config: String,
    #[serde(default = "one")]
    pub seed: u64,
    /// Maximum number of points. A sweep with more points fails before the first measurement.
    #[serde(default = "default_budget")]
    pub budget: u64,
    #[serde(default)]
    pub unit: toml::Table,
    #[serde(default)]
    pub with: toml::Table,
    /// Number of points of a Sobol sequence, instead of the whole grid.
    #[serde(default)]
    pub sobol: Option<u64>,
    /// Points listed one by one, instead of a grid: parameters of unit and workload by name.
    #[serde(default)]
    pub point: Vec<toml::Table>,
    /// Search for the best points, instead of the whole grid.
    #[serde(default)]
    pub search: Option<SearchFile>,
    #[serde(default)]
    pub cost: CostMode,
    #[serde(default)]
    pub plot: Vec<PlotFile>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CostMode {
    /// Table of measured points, and formulas fitted to it. Needs no tools.
    #[default]
    Fitted,
    Mapped,
    None,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchFile {
    pub goals: Vec<String>,
    #[serde(default = "default_population")]
    pub population: usize,
    /// Number of generations after the first one, which is random.
    #[serde(default = "default_generations")]
    pub generations: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlotFile {
    /// Title: preferably the conclusion. Default: the names of the figures.
    #[serde(default)]
    pub title: Option<String>,
    /// X axis: a parameter, or a figure. With a figure, the plot shows every point and the front.
    pub x: String,
    pub y: String,
    #[serde(default)]
    pub by: Option<String>,
    /// Parameters with the values to show. Every other parameter that varies gets one curve per value.
    #[serde(default)]
    pub only: toml::Table,
}

fn default_config() -> String {
    "default".to_string()
}

fn one() -> u64 {
    1
}

fn default_budget() -> u64 {
    2000
}

fn default_population() -> usize {
    32
}

fn default_generations() -> usize {
    20
}

fn one_or_several<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::String(name) => Ok(vec![name]),
        list @ Value::Array(_) => values(&list).map_err(serde::de::Error::custom),
        _ => Err(serde::de::Error::custom("expected the name of a workload, or a list of them")),
    }
}

impl PlotFile {
    pub(crate) fn only(&self) -> impl Iterator<Item = (&str, String)> {
        self.only.iter().map(|(name, value)| {
            (name.as_str(), value.as_str().map_or_else(|| value.to_string(), str::to_string))
        })
    }

    pub(crate) fn has(&self, point: &SweepPoint) -> bool {
        self.only().all(|(name, value)| point.labels.get(name) == Some(&value))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariedOf {
    Unit,
    Workload,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varied {
    pub of: VariedOf,
    pub name: String,
    /// Values as text, at least one.
    pub values: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct SweepPoint {
    /// Configuration of the unit, in canonical form: equal points have equal names.
    pub config: NamedConfig,
    pub workload: String,
    /// Workload settings that have an effect, by name, as text.
    pub settings: BTreeMap<String, String>,
    /// Workload settings without effect at this point, by name, with the reason.
    pub idle: BTreeMap<String, WorkloadError>,
    /// Values of the parameters that vary, by name. Labels distinguish the point from others.
    pub labels: BTreeMap<String, String>,
}

impl SweepPoint {
    /// Returns the label of a parameter that has an effect at this point.
    pub(crate) fn label(&self, name: &str) -> Option<&String> {
        self.labels.get(name).filter(|_| !self.idle.contains_key(name))
    }

    pub(crate) fn unit_of_work(&self) -> &'static str {
        unit_of_work(&self.workload)
    }
}

fn unit_of_work(workload: &str) -> &'static str {
    GENERATED.iter().find(|kind| kind.name == workload).map_or("", |kind| kind.unit)
}

/// Points whose configuration breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    pub rule: String,
    pub points: u64,
}

#[derive(Clone, Debug)]
pub struct SweepPoints {
    /// Points in the order of the file. The last parameter changes fastest.
    pub points: Vec<SweepPoint>,
    pub impossible: Vec<Impossible>,
}

#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error("`{path}`: {1}", path = .0.display())]
    Toml(PathBuf, #[source] Box<toml::de::Error>),
    #[error("`{0}` in `{path}`: {2}", path = .1.display())]
    Values(String, PathBuf, String),
    #[error(
        "`{path}` has {points} points, but its budget is {budget}: use fewer values ({sizes}), `sobol = N` for a sample, or \
         `budget = {points}`", path = .path.display()
    )]
    Budget { path: PathBuf, points: u128, budget: u64, sizes: String },
    #[error("every point of `{path}` is invalid: {1}", path = .0.display())]
    None(PathBuf, String),
    #[error(transparent)]
    Config(#[from] ConfigsError),
    #[error("`{path}`: {1}", path = .0.display())]
    Workload(PathBuf, WorkloadError),
}

impl SweepFile {
    /// Reads a sweep file.
    ///
    /// # Errors
    /// [`SweepError`].
    pub fn read(path: &Path) -> Result<SweepFile, SweepError> {
        let text = fs_err::read_to_string(path)?;
        toml::from_str(&text).map_err(|error| SweepError::Toml(path.to_path_buf(), Box::new(error)))
    }

    /// Returns the parameters that are varied or fixed, those of the unit first, sorted by name.
    ///
    /// # Errors
    /// [`SweepError::Values`].
    pub fn varied(&self, path: &Path) -> Result<Vec<Varied>, SweepError> {
        let tables = [(VariedOf::Unit, &self.unit), (VariedOf::Workload, &self.with)];
        let all = tables
            .into_iter()
            .flat_map(|(of, table)| table.iter().map(move |(name, value)| (of, name, value)));
        all.map(|(of, name, value)| {
            let values = values(value)
                .map_err(|reason| SweepError::Values(name.clone(), path.to_path_buf(), reason))?;
            Ok(Varied { of, name: name.clone(), values })
        })
        .collect()
    }

    /// Returns the plots to draw. A search without plots shows its first two goals.
    pub fn plots(&self) -> Vec<PlotFile> {
        match (&self.plot[..], self.search.as_ref().map(|search| &search.goals[..])) {
            ([], Some([y, x, ..])) => {
                vec![PlotFile { title: None, x: x.clone(), y: y.clone(), by: None, only: toml::Table::new() }]
            }
            _ => self.plot.clone(),
        }
    }

    /// Returns the points that a search chooses from.
    ///
    /// # Errors
    /// [`SweepError`], also if the search is invalid or may exceed the budget.
    pub(super) fn space(
        &self,
        path: &Path,
        rtl_dir: &Path,
        search: &SearchFile,
    ) -> Result<SweepSpace, SweepError> {
        let refused =
            |what: &str, why: String| Err(SweepError::Values(what.to_string(), path.to_path_buf(), why));
        if self.sobol.is_some() || !self.point.is_empty() {
            return refused("search", "a search chooses its points; delete `sobol` and `[[point]]`".into());
        }
        if !(2..=3).contains(&search.goals.len()) {
            return refused("goals", format!("expected two or three figures, found {}", search.goals.len()));
        }
        for (at, goal) in search.goals.iter().enumerate() {
            let has_direction = |figure: &&Figure| figure.more_is_better.is_some();
            if Figure::named(goal).filter(has_direction).is_none() || search.goals[..at].contains(goal) {
                let known: Vec<_> = FIGURES.iter().filter(has_direction).map(|figure| figure.name).collect();
                return refused(
                    "goals",
                    format!("`{goal}`: expected different figures, out of {}", known.join(", ")),
                );
            }
            if self.cost == CostMode::None && Figure::named(goal).is_some_and(|figure| figure.from.is_some())
            {
                return refused(
                    "goals",
                    format!("`{goal}` needs `cost = \"fitted\"` or `cost = \"mapped\"`"),
                );
            }
        }
        let most = (search.population as u128).saturating_mul(search.generations as u128 + 1);
        if search.population < 2 {
            return refused("population", format!("{}: expected at least 2", search.population));
        }
        if most > u128::from(self.budget) {
            let why = format!(
                "{} points per generation in {} generations are up to {most} points, but `budget` is {}",
                search.population,
                search.generations + 1,
                self.budget
            );
            return refused("search", why);
        }
        let space = self.whole_space(path, rtl_dir)?;
        let sizes = space.sizes();
        if sizes.iter().all(|values| *values == 1) {
            return refused("search", "no parameter has more than one value".into());
        }
        for (name, value) in self.plot.iter().flat_map(PlotFile::only) {
            let workloads = ("workload", &space.workloads);
            let mut all = space.varied.iter().map(|v| (v.name.as_str(), &v.values)).chain([workloads]);
            match all.find(|(known, values)| *known == name && values.len() > 1) {
                None => return refused("only", format!("`{name}` does not vary in this search")),
                Some((_, values)) if !values.contains(&value) => {
                    let why = format!("no point has `{name} = {value}`; there are {}", values.join(", "));
                    return refused("only", why);
                }
                Some(_) => {}
            }
        }
        // A parameter depends on at most one other parameter, so try each value once instead of every
        // combination.
        let mut effects = Effects::default();
        for (at, values) in sizes.iter().enumerate() {
            for value in 0..*values {
                let mut choice = vec![0; sizes.len()];
                choice[at] = value;
                let (workload, settings) = space.settings(&choice);
                match space.at(workload, &settings) {
                    Ok(point) => effects.see(&settings, &point),
                    Err(SweepError::Config(ConfigsError::Value(..))) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        effects.check(path)?;
        let [first, rest @ ..] = &self.workload[..] else { return Ok(space) };
        match rest.iter().find(|other| unit_of_work(other) != unit_of_work(first)) {
            Some(other) => {
                let [a, b] = [first, other].map(|name| format!("{name} ({})", unit_of_work(name)));
                let why = format!(
                    "a search ranks points, but these workloads have different units of work: {a}, {b}; name one workload"
                );
                refused("workload", why)
            }
            None => Ok(space),
        }
    }

    fn whole_space(&self, path: &Path, rtl_dir: &Path) -> Result<SweepSpace, SweepError> {
        Ok(SweepSpace {
            base: configs::named(rtl_dir, &self.config)?,
            rtl_dir: rtl_dir.to_path_buf(),
            path: path.to_path_buf(),
            workloads: self.workload.clone(),
            varied: self.varied(path)?,
        })
    }

    /// Returns every point, with configurations of the RTL in `rtl_dir`.
    ///
    /// # Errors
    /// [`SweepError`].
    pub fn points(&self, path: &Path, rtl_dir: &Path) -> Result<SweepPoints, SweepError> {
        let space = self.whole_space(path, rtl_dir)?;
        let mut found = SweepPoints { points: Vec::new(), impossible: Vec::new() };
        let mut effects = Effects::default();
        for choice in self.choices(path, &space.varied)? {
            for workload in &self.workload {
                match space.at(workload, &choice) {
                    Ok(point) => {
                        effects.see(&choice, &point);
                        found.points.push(point);
                    }
                    Err(SweepError::Config(ConfigsError::Value(_, rule))) => {
                        match found.impossible.iter_mut().find(|one| one.rule == rule.to_string()) {
                            Some(impossible) => impossible.points += 1,
                            None => found.impossible.push(Impossible { rule: rule.to_string(), points: 1 }),
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        effects.check(path)?;
        match (&found.points[..], &found.impossible[..]) {
            ([], [first, ..]) => Err(SweepError::None(path.to_path_buf(), first.rule.clone())),
            _ => Ok(found),
        }
    }

    /// Returns the parameter values of each point: listed points, a Sobol sequence, or the grid.
    fn choices(&self, path: &Path, varied: &[Varied]) -> Result<Vec<Vec<Setting>>, SweepError> {
        let grid = varied.iter().map(|varied| varied.values.len() as u128).fold(1, u128::saturating_mul);
        let number = match (self.sobol, self.point.len()) {
            (_, stated) if stated > 0 => grid.saturating_mul(stated as u128),
            (Some(points), _) => u128::from(points).min(grid),
            (None, _) => grid,
        };
        let points = number.saturating_mul(self.workload.len() as u128);
        if points > u128::from(self.budget) {
            let size = |varied: &Varied| format!("{} {}", varied.name, varied.values.len());
            let sizes: Vec<_> = varied.iter().filter(|varied| varied.values.len() > 1).map(size).collect();
            let (path, budget) = (path.to_path_buf(), self.budget);
            return Err(SweepError::Budget { path, points, budget, sizes: sizes.join(", ") });
        }
        let pick = |indices: &mut dyn FnMut(usize, usize) -> usize| -> Vec<Setting> {
            let own = |(at, varied): (usize, &Varied)| varied.setting(indices(at, varied.values.len()));
            varied.iter().enumerate().map(own).collect()
        };
        let nth = |number: u128| {
            let mut digits = vec![0; varied.len()];
            let mut rest = number;
            for (digit, varied) in digits.iter_mut().zip(varied).rev() {
                *digit = (rest % varied.values.len() as u128) as usize;
                rest /= varied.values.len() as u128;
            }
            pick(&mut |at, _| digits[at])
        };
        let mut choices: Vec<Vec<Setting>> = match self.sobol {
            Some(points) if u128::from(points) < grid => {
                let seed = self.seed as u32 ^ (self.seed >> 32) as u32;
                let place = |number: u32, at: usize, of: usize| {
                    let share = sobol_burley::sample(number, at as u32 % SOBOL_DIMENSIONS, seed);
                    ((f64::from(share) * of as f64) as usize).min(of - 1)
                };
                (0..points as u32).map(|number| pick(&mut |at, of| place(number, at, of))).collect()
            }
            Some(_) | None => (0..grid).map(nth).collect(),
        };
        if !self.point.is_empty() {
            let stated = self.stated(path)?;
            let joined = choices.iter().flat_map(|choice| {
                stated.iter().map(move |own| choice.iter().chain(own).cloned().collect::<Vec<_>>())
            });
            choices = joined.collect();
        }
        Ok(choices)
    }

    fn stated(&self, path: &Path) -> Result<Vec<Vec<Setting>>, SweepError> {
        let setting = |number: usize, (name, value): (&String, &Value)| {
            let is_of_unit = PARAMETERS.iter().any(|parameter| parameter.name == name);
            let of = if is_of_unit { VariedOf::Unit } else { VariedOf::Workload };
            let refused = |reason| SweepError::Values(name.clone(), path.to_path_buf(), reason);
            if self.unit.contains_key(name) || self.with.contains_key(name) {
                return Err(refused("stated for single points and for all points; keep one".to_string()));
            }
            let value = text(value).map_err(refused)?;
            Ok(Setting { of, name: name.clone(), value, varies: true, point: Some(number) })
        };
        let points = self.point.iter().enumerate();
        points.map(|(number, point)| point.iter().map(|own| setting(number, own)).collect()).collect()
    }
}

#[derive(Clone, Debug)]
pub(super) struct SweepSpace {
    base: NamedConfig,
    rtl_dir: PathBuf,
    path: PathBuf,
    workloads: Vec<String>,
    varied: Vec<Varied>,
}

impl SweepSpace {
    /// Returns the number of values of each parameter. The last entry is the number of workloads.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let values = self.varied.iter().map(|varied| varied.values.len());
        values.chain([self.workloads.len()]).collect()
    }

    /// Returns the point with these indices of values.
    ///
    /// # Errors
    /// [`SweepError`], such as the rule that the point breaks.
    pub(super) fn point(&self, choice: &[usize]) -> Result<SweepPoint, SweepError> {
        let (workload, settings) = self.settings(choice);
        self.at(workload, &settings)
    }

    fn settings(&self, choice: &[usize]) -> (&str, Vec<Setting>) {
        let settings = self.varied.iter().zip(choice).map(|(varied, at)| varied.setting(*at)).collect();
        (&self.workloads[choice.last().copied().unwrap_or_default()], settings)
    }

    fn at(&self, workload: &str, settings: &[Setting]) -> Result<SweepPoint, SweepError> {
        let of = |of: VariedOf| settings.iter().filter(move |setting| setting.of == of);
        let pair = |one: &Setting| (one.name.clone(), one.value.clone());
        let changes: Vec<_> = of(VariedOf::Unit).map(|one| format!(",{}={}", one.name, one.value)).collect();
        let config = configs::named(&self.rtl_dir, &format!("{}{}", self.base.name, changes.concat()))?;
        let refused = |error| SweepError::Workload(self.path.clone(), error);
        let mut generated = Generated::named(workload).map_err(refused)?;
        for one in of(VariedOf::Workload) {
            generated.set(&one.name, &one.value).map_err(refused)?;
        }
        let reason = |one: &Setting| Some((one.name.clone(), generated.no_effect(&one.name)?));
        let idle: BTreeMap<_, _> = of(VariedOf::Workload).filter_map(reason).collect();
        let several = (self.workloads.len() > 1).then(|| ("workload".to_string(), workload.to_string()));
        Ok(SweepPoint {
            config,
            workload: workload.to_string(),
            settings: of(VariedOf::Workload).filter(|one| !idle.contains_key(&one.name)).map(pair).collect(),
            idle,
            labels: settings.iter().filter(|one| one.varies).map(pair).chain(several).collect(),
        })
    }
}

/// Workload parameters that have an effect in some point, and those without effect. The key is the number of
/// the `[[point]]` that states the parameter (`None` for `[with]`), and the name.
#[derive(Debug, Default)]
struct Effects {
    used: BTreeSet<(Option<usize>, String)>,
    idle: BTreeMap<(Option<usize>, String), WorkloadError>,
}

impl Effects {
    fn see(&mut self, settings: &[Setting], point: &SweepPoint) {
        for one in settings.iter().filter(|one| one.of == VariedOf::Workload) {
            let key = (one.point, one.name.clone());
            match point.idle.get(&one.name) {
                Some(reason) => drop(self.idle.entry(key).or_insert_with(|| reason.clone())),
                None => drop(self.used.insert(key)),
            }
        }
    }

    fn check(self, path: &Path) -> Result<(), SweepError> {
        match self.idle.into_iter().find(|(key, _)| !self.used.contains(key)) {
            Some((_, reason)) => Err(SweepError::Workload(path.to_path_buf(), reason)),
            None => Ok(()),
        }
    }
}

impl Varied {
    fn setting(&self, at: usize) -> Setting {
        let (value, varies) = (self.values[at].clone(), self.values.len() > 1);
        Setting { of: self.of, name: self.name.clone(), value, varies, point: None }
    }
}

/// Dimensions of the Sobol sequence. If there are more parameters, they share dimensions.
const SOBOL_DIMENSIONS: u32 = sobol_burley::NUM_DIMENSIONS;

#[derive(Clone, Debug)]
struct Setting {
    of: VariedOf,
    name: String,
    value: String,
    /// True if the parameter distinguishes points.
    varies: bool,
    /// Number of the `[[point]]` that states the value; `None` if the value applies to all points.
    point: Option<usize>,
}

/// Parses values: one, a list, or a range: `{ from = 1, to = 32, times = 2 }`, `{ from = 0.0, to = 2.0, by =
/// 0.5 }`.
fn values(value: &Value) -> Result<Vec<String>, String> {
    let values = match value {
        Value::Array(list) => list.iter().map(text).collect::<Result<Vec<_>, _>>()?,
        Value::Table(table) => range(table)?,
        one => vec![text(one)?],
    };
    match values.iter().enumerate().find(|(at, value)| values[..*at].contains(value)) {
        _ if values.is_empty() => Err("expected at least one value".to_string()),
        Some((_, twice)) => Err(format!("{twice} is stated twice; delete one")),
        None => Ok(values),
    }
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Ok(value.to_string()),
        other => Err(format!("{other}: expected a number, a name, true or false")),
    }
}

fn range(table: &toml::Table) -> Result<Vec<String>, String> {
    const FORM: &str = "expected { from = 1, to = 8, by = 1 } or { from = 1, to = 32, times = 2 }";
    let number = |name: &str| match table.get(name) {
        Some(Value::Integer(number)) => Some(*number as f64),
        Some(Value::Float(number)) => Some(*number),
        _ => None,
    };
    let is_whole = table.values().all(Value::is_integer);
    let known = table.keys().all(|key| ["from", "to", "by", "times"].contains(&key.as_str()));
    let (Some(from), Some(to), true) = (number("from"), number("to"), known) else {
        return Err(FORM.to_string());
    };
    let next: Box<dyn Fn(u32) -> f64> = match (number("by"), number("times")) {
        (Some(by), None) if by > 0.0 => Box::new(move |at| from + f64::from(at) * by),
        (None, Some(times)) if times > 1.0 && from > 0.0 => Box::new(move |at| from * times.powi(at as i32)),
        _ => return Err(FORM.to_string()),
    };
    // Tolerate rounding, so that the last value is not lost.
    let beyond = to + 1e-9 * to.abs().max(1.0);
    let values: Vec<_> = (0..MOST_VALUES).map(next).take_while(|value| *value <= beyond).collect();
    if values.len() == MOST_VALUES as usize || !to.is_finite() {
        return Err(format!("more than {MOST_VALUES} values"));
    }
    Ok(values
        .iter()
        .map(|value| if is_whole { format!("{value:.0}") } else { format!("{}", round(*value)) })
        .collect())
}

const MOST_VALUES: u32 = 100_000;

/// Removes rounding errors that repeated steps such as 0.1 leave in the last digits.
fn round(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}
