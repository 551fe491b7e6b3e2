//! Named configurations of `rtl/configs.toml`, and points derived from them.
//!
//! A point is a configuration with some parameters changed. Its name lists the changes: `small,num_banks=8`.
//! Cases, plans and command lines accept the name of a point wherever they accept that of a configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use atoms_model::Config;
use atoms_model::config::{ConfigError, PARAMETERS, Parameter, ParameterKind};
use serde_json::{Map, Value};

use crate::Profile;
pub use crate::unit::is_name;
use crate::unit::{ForeignUnit, UNIT_FILE, UnitError};

/// A configuration and its name.
#[derive(Clone, Debug)]
pub struct NamedConfig {
    /// Name as in `--config`. The name of a point lists only the parameters that differ from its base, in the
    /// order of [`PARAMETERS`]. Each point therefore has exactly one name.
    pub name: String,
    /// Purpose in one line.
    pub about: String,
    /// Values of all parameters.
    pub config: Config,
    /// Declaration of the unit, if it is not this project's.
    pub unit: Option<Arc<ForeignUnit>>,
}

impl NamedConfig {
    /// Returns the profile without the requests that the unit does not support.
    pub fn limit(&self, profile: &Profile) -> Profile {
        self.unit.as_ref().map_or_else(|| profile.clone(), |unit| unit.limit(profile))
    }
}

/// Reason why loading a configuration failed. `path` is the file with the problem.
#[derive(Debug, thiserror::Error)]
pub enum ConfigsError {
    /// A file cannot be read.
    #[error(
        "{0}; work in a checkout, or set ATOMS_RTL to the folder of the RTL, or ATOMS_CACHE to a folder that can be written"
    )]
    Read(#[from] std::io::Error),
    /// The file is not TOML. Has the parser's message with line and column.
    #[error("`{path}`: {1}", path = .0.display())]
    Toml(PathBuf, #[source] Box<toml::de::Error>),
    /// A table is not a configuration. Has its name, and a message with the problem and what would work.
    #[error("configuration `{1}` in `{path}`: {2}", path = .0.display())]
    Malformed(PathBuf, String, String),
    /// A parameter of this configuration is out of range, or conflicts with another parameter.
    #[error("configuration `{0}`: {1}")]
    Value(String, #[source] ConfigError),
    /// The text after the configuration's name is not a valid change. Has the name and a message.
    #[error("configuration `{name}`: {1}", name = .0.escape_debug())]
    Point(String, String),
    /// The declaration of the unit cannot be used.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// No configuration has this name. Has the names of all configurations.
    #[error("no configuration `{name}`; there are {known}", name = .0.escape_debug(), known = .1.join(", "))]
    Unknown(String, Vec<String>),
}

/// Returns the parameters of a configuration by name, as in `configs.toml`.
pub fn parameters(config: &Config) -> Map<String, Value> {
    let value = |p: &Parameter| {
        let number = (p.get)(config);
        match p.kind {
            ParameterKind::Number(..) => Value::from(number),
            ParameterKind::Flag => Value::from(number != 0),
            ParameterKind::Choice(names) => {
                Value::from(names.get(number as usize).copied().unwrap_or_default())
            }
        }
    };
    PARAMETERS.iter().map(|p| (p.name.to_string(), value(p))).collect()
}

/// One table of `configs.toml`.
#[derive(Debug)]
pub struct ListedConfig {
    /// Name of the table.
    pub name: String,
    /// The configuration, or the reason why it cannot be used.
    pub config: Result<NamedConfig, ConfigsError>,
}

/// Lists every table of `configs.toml` in `rtl_dir`, in the order of the file.
///
/// # Errors
/// [`ConfigsError`] if the file cannot be read. A bad table is an error in the list only.
pub fn list(rtl_dir: &Path) -> Result<Vec<ListedConfig>, ConfigsError> {
    let path = rtl_dir.join("configs.toml");
    let mut configs = parse(&path, &fs_err::read_to_string(&path)?)?;
    let declaration = rtl_dir.join(UNIT_FILE);
    if declaration.exists() {
        let unit = Arc::new(ForeignUnit::read(&declaration)?);
        configs.iter_mut().filter_map(|listed| listed.config.as_mut().ok()).for_each(|config| {
            config.unit = Some(Arc::clone(&unit));
        });
    }
    Ok(configs)
}

/// Returns the configurations embedded in this program, a copy of `rtl/configs.toml`.
pub fn built_in() -> Vec<NamedConfig> {
    let listed = parse(Path::new("configs.toml"), EMBEDDED);
    let configs: Result<_, _> = listed.into_iter().flatten().map(|listed| listed.config).collect();
    configs.expect("a test reads the embedded file")
}

fn parse(path: &Path, text: &str) -> Result<Vec<ListedConfig>, ConfigsError> {
    let table: toml::Table =
        toml::from_str(text).map_err(|error| ConfigsError::Toml(path.to_path_buf(), error.into()))?;
    let listed =
        |(name, value): (&String, _)| ListedConfig { name: name.clone(), config: one(path, name, value) };
    let mut configs: Vec<_> = table.iter().map(listed).collect();
    // The parser sorts tables by name, but readers expect the order of the file.
    configs.sort_by_key(|listed| text.find(&format!("[{}]", listed.name)));
    Ok(configs)
}

/// Returns all configurations of `configs.toml` in `rtl_dir`, in the order of the file.
///
/// # Errors
/// [`ConfigsError`] if the file cannot be read, or if any configuration cannot be used.
pub fn all(rtl_dir: &Path) -> Result<Vec<NamedConfig>, ConfigsError> {
    list(rtl_dir)?.into_iter().map(|listed| listed.config).collect()
}

/// Returns the configurations of `configs.toml` that can be used.
///
/// # Errors
/// [`ConfigsError`] if the file cannot be read.
pub fn usable(rtl_dir: &Path) -> Result<Vec<NamedConfig>, ConfigsError> {
    Ok(list(rtl_dir)?.into_iter().filter_map(|listed| listed.config.ok()).collect())
}

/// Old and new name of a configuration. Saved cases, corpora and plans contain the old name.
const RENAMED: (&str, &str) = ("half", "all_options");

/// Returns the configuration `name`, or the point `NAME,PARAMETER=VALUE,...` with the changes in any order.
/// Other configurations may be unusable. The result has the point's canonical name.
///
/// # Errors
/// [`ConfigsError`] if the name is unknown or its configuration cannot be used.
pub fn named(rtl_dir: &Path, name: &str) -> Result<NamedConfig, ConfigsError> {
    select(name, || list(rtl_dir))
}

/// Returns a configuration or point as [`named`] does, of the configurations embedded in this program. With a name
/// of the form `FILE.toml:NAME`, the configurations are those of the file; with `FILE.toml`, the file declares another
/// unit.
///
/// # Errors
/// [`ConfigsError`] if the name is unknown, its configuration cannot be used, or the file cannot be read.
pub fn embedded(name: &str) -> Result<NamedConfig, ConfigsError> {
    if name.ends_with(".toml") {
        let unit = Arc::new(ForeignUnit::read(Path::new(name))?);
        let config = embedded(&unit.config)?;
        return Ok(NamedConfig { name: unit.name.clone(), unit: Some(unit), ..config });
    }
    match name.split_once(".toml:") {
        Some((file, name)) => {
            let path = PathBuf::from(format!("{file}.toml"));
            select(name, || parse(&path, &fs_err::read_to_string(&path)?))
        }
        None => select(name, || parse(Path::new("configs.toml"), EMBEDDED)),
    }
}

/// Copy of `rtl/configs.toml`.
const EMBEDDED: &str = include_str!("../data/configs.toml");

fn select(
    name: &str,
    list: impl FnOnce() -> Result<Vec<ListedConfig>, ConfigsError>,
) -> Result<NamedConfig, ConfigsError> {
    let (base, changes) = name.split_once(',').map_or((name, None), |(base, more)| (base, Some(more)));
    if base.contains('=') {
        let expected = format!("expected the name of a configuration before it: `default,{name}`");
        return Err(ConfigsError::Point(name.to_string(), expected));
    }
    let mut configs = list()?;
    let is_listed = |name: &str| configs.iter().any(|listed| listed.name == name);
    let base = if base == RENAMED.0 && !is_listed(base) { RENAMED.1 } else { base };
    let base = match configs.iter().position(|listed| listed.name == base) {
        Some(at) => configs.swap_remove(at).config?,
        None => {
            let known = configs.into_iter().map(|listed| listed.name).collect();
            return Err(ConfigsError::Unknown(base.to_string(), known));
        }
    };
    match changes {
        None => Ok(base),
        Some(changes) => point(&base, changes),
    }
}

/// Applies `changes`, in the form `PARAMETER=VALUE,...`, to a configuration.
fn point(base: &NamedConfig, changes: &str) -> Result<NamedConfig, ConfigsError> {
    let refused = |reason: String| ConfigsError::Point(format!("{},{changes}", base.name), reason);
    let mut config = base.config;
    let mut given: Vec<(&str, &str)> = Vec::new();
    for change in changes.split(',').map(str::trim) {
        let pair = change.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        let pair = pair.filter(|(key, value)| !key.is_empty() && !value.is_empty());
        let (key, value) = pair.ok_or_else(|| {
            refused(format!("`{}`: expected PARAMETER=VALUE, such as num_banks=64", change.escape_debug()))
        })?;
        let parameter = PARAMETERS.iter().find(|p| p.name == key).ok_or_else(|| refused(unknown(key)))?;
        if let Some((_, first)) = given.iter().find(|(earlier, _)| *earlier == key) {
            return Err(refused(format!("{key} is given twice, as {first} and as {value}")));
        }
        given.push((key, value));
        let number =
            parameter.parse(value).map_err(|error| refused(error.to_string().escape_debug().to_string()))?;
        (parameter.set)(&mut config, number);
    }
    let changed: Vec<&Parameter> =
        PARAMETERS.iter().filter(|p| (p.get)(&config) != (p.get)(&base.config)).collect();
    if changed.is_empty() {
        return Ok(base.clone());
    }
    let pairs: Vec<_> = changed.iter().map(|p| format!("{}={}", p.name, p.text(&config))).collect();
    let name = format!("{},{}", base.name, pairs.join(","));
    config.check().map_err(|error| ConfigsError::Value(name.clone(), error))?;
    let instead: Vec<_> = changed
        .iter()
        .map(|p| format!("{} {} instead of {}", p.name, p.text(&config), p.text(&base.config)))
        .collect();
    let about = format!("`{}` with {}", base.name, instead.join(", "));
    Ok(NamedConfig { name, about, config, unit: base.unit.clone() })
}

fn unknown(key: &str) -> String {
    let known: Vec<_> = PARAMETERS.iter().map(|p| p.name).collect();
    let distance = |known: &&&str| strsim::levenshtein(&key.to_lowercase(), known);
    let nearest = known.iter().min_by_key(distance).copied().unwrap_or_default();
    let key = key.escape_debug();
    format!("no parameter `{key}`; the nearest is `{nearest}` of {}", known.join(", "))
}

fn one(path: &Path, name: &str, value: &toml::Value) -> Result<NamedConfig, ConfigsError> {
    let malformed = |reason: String| ConfigsError::Malformed(path.to_path_buf(), name.to_string(), reason);
    if !is_name(name) || name.contains([',', '=']) {
        return Err(malformed("expected a name of letters, digits, `_`, `-` and `.`".to_string()));
    }
    let table = value.as_table().ok_or_else(|| malformed("expected a table of parameters".to_string()))?;
    let mut config = Config::default();
    let mut about = String::new();
    for (key, value) in table {
        if key == "about" {
            about =
                value.as_str().ok_or_else(|| malformed("`about` must be a string".to_string()))?.to_string();
            continue;
        }
        let parameter = PARAMETERS.iter().find(|p| p.name == key).ok_or_else(|| malformed(unknown(key)))?;
        let text = match (parameter.kind, value) {
            (ParameterKind::Choice(_), toml::Value::String(name)) => name.clone(),
            // Other strings keep their quotation marks, so that parsing fails.
            _ => value.to_string(),
        };
        let number = parameter.parse(&text).map_err(|error| malformed(error.to_string()))?;
        (parameter.set)(&mut config, number);
    }
    config.check().map_err(|error| ConfigsError::Value(name.to_string(), error))?;
    Ok(NamedConfig { name: name.to_string(), about, config, unit: None })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn rtl_dir() -> PathBuf {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../rtl").into()
    }

    fn values(parameter: &Parameter) -> Vec<u32> {
        let number = |value: &u32| parameter.parse(&value.to_string()).is_ok();
        match parameter.kind {
            ParameterKind::Number(_, high, _) => (0..128).chain([high]).filter(number).collect(),
            ParameterKind::Flag => vec![0, 1],
            ParameterKind::Choice(names) => (0..names.len() as u32).collect(),
        }
    }

    fn name_of(base: &str, changes: &[(&'static Parameter, u32)]) -> String {
        let pairs = changes.iter().map(|(p, number)| format!(",{}={}", p.name, p.text_of(*number)));
        base.to_string() + &pairs.collect::<String>()
    }

    proptest! {
        /// The same changes in any order give one name, which leads back to the same point.
        #[test]
        fn a_point_has_one_name(
            base in select(built_in()),
            changes in proptest::sample::subsequence(PARAMETERS.iter().collect::<Vec<_>>(), 0..=PARAMETERS.len())
                .prop_flat_map(|some| some.into_iter().map(|p| (Just(p), select(values(p)))).collect::<Vec<_>>())
                .prop_shuffle(),
        ) {
            let dir = rtl_dir();
            let mut config = base.config;
            changes.iter().for_each(|(p, number)| (p.set)(&mut config, *number));
            let found = named(&dir, &name_of(&base.name, &changes));
            let Ok(found) = found else {
                prop_assert!(config.check().is_err(), "{found:?}");
                return Ok(());
            };
            prop_assert_eq!(found.config, config);
            prop_assert_eq!(found.name == base.name, config == base.config);
            let sorted = PARAMETERS.iter().filter(|p| (p.get)(&config) != (p.get)(&base.config));
            let sorted: Vec<_> = sorted.map(|p| (p, (p.get)(&config))).collect();
            prop_assert_eq!(&found.name, &name_of(&base.name, &sorted));
            prop_assert_eq!(named(&dir, &found.name).expect("its own name").name, found.name.clone());
            prop_assert!(is_name(&found.name));
        }
    }

    #[test]
    fn the_embedded_configurations_are_those_of_the_rtl() {
        let text = fs_err::read_to_string(rtl_dir().join("configs.toml")).expect("it is there");
        expect_test::expect_file!["../data/configs.toml"].assert_eq(&text);
    }

    #[test]
    fn what_is_no_point_is_refused() {
        let said = |name: &str| named(&rtl_dir(), name).expect_err(name).to_string();
        let rows = [
            ("smal,num_banks=8", "no configuration `smal`; there are default, "),
            (
                "num_banks=8",
                "configuration `num_banks=8`: expected the name of a configuration before it: `default,num_banks=8`",
            ),
            (
                "small,num_bank=8",
                "configuration `small,num_bank=8`: no parameter `num_bank`; the nearest is `num_banks` of num_lanes, ",
            ),
            (
                "small,num_banks",
                "configuration `small,num_banks`: `num_banks`: expected PARAMETER=VALUE, such as num_banks=64",
            ),
            ("small,", "configuration `small,`: ``: expected PARAMETER=VALUE"),
            ("small,num_banks=", "`num_banks=`: expected PARAMETER=VALUE"),
            ("small,num_banks=12", "num_banks is 12: expected 4 to 64, a power of two"),
            ("small,num_banks=\u{1b}[2J", "num_banks is \\u{1b}[2J: expected 4 to 64"),
            ("small,forwarding=1", "forwarding is 1: expected true or false"),
            ("small,winner_policy=low", "winner_policy is low: expected lowest or highest or rotating"),
            ("small,num_banks=8,num_banks=8", "num_banks is given twice, as 8 and as 8"),
            (
                "small,num_lanes=32",
                "configuration `small,num_lanes=32`: spin_hold is 4: expected num_lanes, 32, or more (spec 5.4)",
            ),
            ("huge,num_banks=64,num_rows=65536,num_lanes=64", "num_lanes is 64: expected 2 to 32"),
        ];
        for (name, expected) in rows {
            assert!(said(name).contains(expected), "{name}: {}", said(name));
        }
    }

    /// A library depends on the parameters, not on the configuration's name.
    #[test]
    fn names_do_not_count_towards_what_is_built() {
        let dir = rtl_dir();
        let (one, other) = (
            named(&dir, "default,bank_hash=true").expect("a point"),
            named(&dir, "hashed").expect("it is there"),
        );
        assert_ne!(one.name, other.name);
        assert_eq!(one.config.rtl_package(), other.config.rtl_package());
    }

    #[test]
    fn one_bad_table_refuses_only_what_uses_it() {
        let dir = std::env::temp_dir().join(format!("atoms-configs-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder for temporary files");
        let text = "[good]\nabout = \"fine\"\n[lanes]\nnum_lanes = 3\n[typo]\nnum_lane = 4\n[late]\nabout = \"too\"\n";
        std::fs::write(dir.join("configs.toml"), text).expect("it can be written");
        let listed = list(&dir).expect("the file is TOML");
        let usable: Vec<_> =
            listed.iter().map(|listed| (listed.name.as_str(), listed.config.is_ok())).collect();
        assert_eq!(usable, [("good", true), ("lanes", false), ("typo", false), ("late", true)]);
        assert_eq!(named(&dir, "late").expect("it is fine").about, "too");
        let error = named(&dir, "typo").expect_err("no such parameter").to_string();
        assert!(error.contains("`typo`") && error.contains("no parameter `num_lane`"), "{error}");
        assert!(all(&dir).is_err(), "all of them are asked for");
        let error = named(&dir, "other").expect_err("there is none").to_string();
        assert_eq!(error, "no configuration `other`; there are good, lanes, typo, late");
        std::fs::remove_dir_all(&dir).expect("removes");
    }

    #[test]
    fn old_names_are_read() {
        let dir = std::env::temp_dir().join(format!("atoms-renamed-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        let file = dir.join("configs.toml");
        std::fs::write(&file, "[all_options]\nabout = \"new\"").expect("it can be written");
        assert_eq!(named(&dir, "half").expect("its old name").name, "all_options");
        assert_eq!(named(&dir, "half,queue_depth=7").expect("a point").name, "all_options,queue_depth=7");
        std::fs::write(&file, "[all_options]\n[half]\nabout = \"own\"").expect("it can be written");
        assert_eq!(named(&dir, "half").expect("a configuration of this name").about, "own");
        std::fs::remove_dir_all(&dir).expect("removes");
    }
}
