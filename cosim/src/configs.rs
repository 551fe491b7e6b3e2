//! The named configurations of `rtl/configs.toml`.

use std::path::{Path, PathBuf};

use atoms_model::Config;
use atoms_model::config::{ConfigError, PARAMETERS, ParameterKind};
use atoms_verilated::checkout;

use crate::embedded;

/// A configuration with its name.
#[derive(Clone, Debug)]
pub struct NamedConfig {
    /// Name, as in `--config`.
    pub name: String,
    /// What it is for, in one line.
    pub about: String,
    /// Its parameters.
    pub config: Config,
}

/// Why a configuration is not to be had. A path is that of the file that it is about.
#[derive(Debug, thiserror::Error)]
pub enum ConfigsError {
    /// The file cannot be read.
    #[error("{0}; work in a checkout, or set ATOMS_RTL to the folder of the RTL")]
    Read(#[from] std::io::Error),
    /// The RTL that the program carries cannot be unpacked.
    #[error(
        "cannot unpack the RTL of this program: {0}; set ATOMS_CACHE to a folder that can be written, or ATOMS_RTL to one \
         with RTL"
    )]
    Unpack(std::io::Error),
    /// The file is no TOML: what the parser says, with line and column.
    #[error("`{path}`: {1}", path = .0.display())]
    Toml(PathBuf, #[source] Box<toml::de::Error>),
    /// A table that is no configuration: its name, what was found, and what would work.
    #[error("configuration `{1}` in `{path}`: {2}", path = .0.display())]
    Malformed(PathBuf, String, String),
    /// A parameter of this configuration is out of range.
    #[error("configuration `{0}`: {1}")]
    Value(String, #[source] ConfigError),
    /// No configuration has this name; those there are.
    #[error("no configuration `{0}`; there are {known}", known = .1.join(", "))]
    Unknown(String, Vec<String>),
}

/// Folder of the RTL in use: `ATOMS_RTL`; else `rtl/` of the checkout around the working folder; else where the
/// RTL that the program carries is unpacked; else, in a program without, `rtl/` of the working folder. Absolute.
pub fn rtl_dir() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    match std::env::var_os("ATOMS_RTL") {
        Some(dir) if !dir.is_empty() => here.join(dir),
        _ => checkout(&here)
            .map(|root| root.join("rtl"))
            .or_else(|| {
                let folder = embedded::folder()?;
                // What hinders it, `list` says.
                let _ = embedded::unpack(&folder);
                Some(folder)
            })
            .unwrap_or_else(|| here.join("rtl")),
    }
}

/// What `configs.toml` has under one name.
#[derive(Debug)]
pub struct ListedConfig {
    /// The name.
    pub name: String,
    /// The configuration, or why it cannot be used.
    pub config: Result<NamedConfig, ConfigsError>,
}

/// Everything in `configs.toml` in `rtl_dir`, in the order of the file.
///
/// # Errors
/// [`ConfigsError`], but not `Unknown`; about one table only within the list.
pub fn list(rtl_dir: &Path) -> Result<Vec<ListedConfig>, ConfigsError> {
    if embedded::folder().is_some_and(|folder| folder == rtl_dir) {
        embedded::unpack(rtl_dir).map_err(ConfigsError::Unpack)?;
    }
    let path = rtl_dir.join("configs.toml");
    let text = fs_err::read_to_string(&path)?;
    let table: toml::Table =
        toml::from_str(&text).map_err(|error| ConfigsError::Toml(path.clone(), error.into()))?;
    let listed =
        |(name, value): (&String, _)| ListedConfig { name: name.clone(), config: one(&path, name, value) };
    let mut configs: Vec<_> = table.iter().map(listed).collect();
    // The parser sorts tables by name; a reader expects the order of the file.
    configs.sort_by_key(|listed| text.find(&format!("[{}]", listed.name)));
    Ok(configs)
}

/// All configurations of `configs.toml` in `rtl_dir`, in the order of the file.
///
/// # Errors
/// [`ConfigsError`], but not `Unknown`: one that cannot be used is an error here.
pub fn all(rtl_dir: &Path) -> Result<Vec<NamedConfig>, ConfigsError> {
    list(rtl_dir)?.into_iter().map(|listed| listed.config).collect()
}

/// As [`all`], without those that cannot be used.
///
/// # Errors
/// [`ConfigsError`] about the file.
pub fn usable(rtl_dir: &Path) -> Result<Vec<NamedConfig>, ConfigsError> {
    Ok(list(rtl_dir)?.into_iter().filter_map(|listed| listed.config.ok()).collect())
}

/// The configuration called `name`, whether or not others can be used.
///
/// # Errors
/// [`ConfigsError`].
pub fn named(rtl_dir: &Path, name: &str) -> Result<NamedConfig, ConfigsError> {
    let mut configs = list(rtl_dir)?;
    match configs.iter().position(|listed| listed.name == name) {
        Some(at) => configs.swap_remove(at).config,
        None => {
            let known = configs.into_iter().map(|listed| listed.name).collect();
            Err(ConfigsError::Unknown(name.to_string(), known))
        }
    }
}

fn one(path: &Path, name: &str, value: &toml::Value) -> Result<NamedConfig, ConfigsError> {
    let malformed = |reason: String| ConfigsError::Malformed(path.to_path_buf(), name.to_string(), reason);
    let table = value.as_table().ok_or_else(|| malformed("expected a table of parameters".to_string()))?;
    let mut config = Config::default();
    let mut about = String::new();
    for (key, value) in table {
        if key == "about" {
            about =
                value.as_str().ok_or_else(|| malformed("`about` must be a text".to_string()))?.to_string();
            continue;
        }
        let parameter = PARAMETERS.iter().find(|p| p.name == key).ok_or_else(|| {
            let known: Vec<_> = PARAMETERS.iter().map(|p| p.name).collect();
            malformed(format!("no parameter `{key}`; there are about, {}", known.join(", ")))
        })?;
        let number = match parameter.kind {
            ParameterKind::Number(..) => value.as_integer().and_then(|v| u32::try_from(v).ok()),
            ParameterKind::Flag => value.as_bool().map(u32::from),
            ParameterKind::Choice(names) => {
                value.as_str().and_then(|v| names.iter().position(|n| *n == v)).map(|at| at as u32)
            }
        };
        let number = number.ok_or_else(|| {
            let expected = match parameter.kind {
                ParameterKind::Number(low, high, _) => format!("a number, {low} to {high}"),
                ParameterKind::Flag => "true or false".to_string(),
                ParameterKind::Choice(names) => format!("one of {}", names.join(", ")),
            };
            malformed(format!("`{key}` is {value}: expected {expected}"))
        })?;
        (parameter.set)(&mut config, number);
    }
    config.check().map_err(|error| ConfigsError::Value(name.to_string(), error))?;
    Ok(NamedConfig { name: name.to_string(), about, config })
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
