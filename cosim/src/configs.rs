//! The named configurations of `rtl/configs.toml`.

use std::path::{Path, PathBuf};

use atoms_model::Config;
use atoms_model::config::{ConfigError, Kind, PARAMETERS};

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

/// Why a configuration is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum ConfigsError {
    /// The file cannot be read.
    #[error("cannot read `{}`; is this the root of a checkout? Else set ATOMS_RTL to the folder", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("`{}`: {source}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// What the parser says, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A table that is no configuration.
    #[error("configuration `{config}` in `{}`: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The configuration.
        config: String,
        /// What was found, and what would work.
        reason: String,
    },
    /// A parameter out of range.
    #[error("configuration `{config}`: {source}")]
    Value {
        /// The configuration.
        config: String,
        /// The parameter and its range.
        source: ConfigError,
    },
    /// No such configuration.
    #[error("no configuration `{name}`; there are {}", known.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
}

/// Folder of the RTL: `ATOMS_RTL`, else `rtl/` of the checkout this was built from.
pub fn rtl_dir() -> PathBuf {
    match std::env::var_os("ATOMS_RTL") {
        Some(dir) if !dir.is_empty() => PathBuf::from(dir),
        _ => Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("rtl"),
    }
}

/// All configurations of `configs.toml` in `rtl_dir`, in the order of the file.
///
/// # Errors
/// [`ConfigsError`], but not `Unknown`.
pub fn all(rtl_dir: &Path) -> Result<Vec<NamedConfig>, ConfigsError> {
    let path = rtl_dir.join("configs.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|source| ConfigsError::Read { path: path.clone(), source })?;
    let table: toml::Table = toml::from_str(&text)
        .map_err(|source| ConfigsError::Toml { path: path.clone(), source: source.into() })?;
    let mut configs =
        table.iter().map(|(name, value)| one(&path, name, value)).collect::<Result<Vec<_>, _>>()?;
    // The parser sorts tables by name; a reader expects the order of the file.
    configs.sort_by_key(|c| text.find(&format!("[{}]", c.name)));
    Ok(configs)
}

/// The configuration called `name`.
///
/// # Errors
/// [`ConfigsError`].
pub fn named(rtl_dir: &Path, name: &str) -> Result<NamedConfig, ConfigsError> {
    let configs = all(rtl_dir)?;
    match configs.iter().find(|c| c.name == name) {
        Some(config) => Ok(config.clone()),
        None => Err(ConfigsError::Unknown {
            name: name.to_string(),
            known: configs.into_iter().map(|c| c.name).collect(),
        }),
    }
}

fn one(path: &Path, name: &str, value: &toml::Value) -> Result<NamedConfig, ConfigsError> {
    let malformed = |reason: String| ConfigsError::Malformed {
        path: path.to_path_buf(),
        config: name.to_string(),
        reason,
    };
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
            Kind::Number(..) => value.as_integer().and_then(|v| u32::try_from(v).ok()),
            Kind::Flag => value.as_bool().map(u32::from),
            Kind::Choice(names) => {
                value.as_str().and_then(|v| names.iter().position(|n| *n == v)).map(|at| at as u32)
            }
        };
        let number = number.ok_or_else(|| {
            let expected = match parameter.kind {
                Kind::Number(low, high, _) => format!("a number, {low} to {high}"),
                Kind::Flag => "true or false".to_string(),
                Kind::Choice(names) => format!("one of {}", names.join(", ")),
            };
            malformed(format!("`{key}` is {value}: expected {expected}"))
        })?;
        (parameter.set)(&mut config, number);
    }
    config.check().map_err(|source| ConfigsError::Value { config: name.to_string(), source })?;
    Ok(NamedConfig { name: name.to_string(), about, config })
}
