//! Record of a bundle: `bundle.json`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use atoms_model::Config;
use atoms_model::config::{PARAMETERS, ParameterKind};
use atoms_stimulus::configs::{NamedConfig, is_name};
use atoms_stimulus::unit::{ForeignUnit, UNIT_FILE};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::checksum;
use crate::triage::error::BundleError;
use crate::triage::layout::{FAILURES, FORMAT, FORMAT_WITH_TEXT, file};
use crate::triage::signature::Signature;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleRecord {
    pub format: u32,
    pub atoms: String,
    /// Signature of the minimized case, or the raw signature if there is none.
    pub key: Signature,
    /// Signature of the original failure.
    pub raw: Signature,
    /// Cycle of the failure in the original run.
    pub cycle: u64,
    /// True if the bundle has a minimized case.
    pub case: bool,
    pub test: String,
    pub index: u64,
    pub seed: u64,
    pub config: String,
    /// Parameters of the configuration, so that later changes of named configurations do not matter.
    pub parameters: Map<String, Value>,
    pub rtl: String,
    pub verilator: String,
    /// Likeliest cause, as a line of the RTL; `None` if none was searched or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspect: Option<String>,
    /// SHA-256 of the other files that a replay reads, by name.
    pub files: BTreeMap<String, String>,
}

impl BundleRecord {
    /// # Errors
    /// [`BundleError`] if the record is missing, truncated, damaged or of another format.
    pub fn read(folder: &Path) -> Result<BundleRecord, BundleError> {
        let path = folder.join(file::RECORD);
        if !folder.is_dir() {
            return Err(BundleError::Unreadable(format!(
                "`{}` is not a folder; expected a bundle folder below `failures/` of a regression",
                folder.display()
            )));
        }
        if !path.exists() && folder.join(FAILURES).is_dir() {
            return Err(BundleError::Unreadable(format!(
                "`{}` holds a regression; its bundles are the folders in `{}`",
                folder.display(),
                folder.join(FAILURES).display()
            )));
        }
        let mut value: Value = read_json(&path)?;
        let foreign = |reason: String| BundleError::Foreign(path.clone(), reason);
        match value.get("format").and_then(Value::as_u64) {
            Some(found) if [FORMAT_WITH_TEXT, FORMAT].map(u64::from).contains(&found) => {}
            Some(found) => {
                return Err(BundleError::Unreadable(format!(
                    "`{}` has format {found}, this version reads {FORMAT_WITH_TEXT} and {FORMAT}; use the atoms that wrote it",
                    path.display()
                )));
            }
            None => return Err(foreign("it has no `format`".to_string())),
        }
        let text = fs::read(&path).map_err(BundleError::NotWhole)?;
        checksum::opened(&text).map_err(|broken| foreign(broken.to_string()))?;
        value.as_object_mut().map(|object| object.remove("sum"));
        let record: BundleRecord =
            serde_json::from_value(value).map_err(|error| foreign(error.to_string()))?;
        // The name appears in command lines.
        if !is_name(&record.config) {
            let name = record.config.escape_debug();
            return Err(foreign(format!("`{name}` is not the name of a configuration or a point")));
        }
        Ok(record)
    }

    /// # Errors
    /// [`BundleError::Foreign`] with the parameter that is missing, unknown or out of range.
    pub fn config(&self, folder: &Path) -> Result<NamedConfig, BundleError> {
        let foreign = |reason: String| BundleError::Foreign(folder.join(file::RECORD), reason);
        if let Some(name) = self.parameters.keys().find(|name| PARAMETERS.iter().all(|p| p.name != *name)) {
            return Err(foreign(format!("this version has no parameter `{name}`")));
        }
        let mut config = Config::default();
        for p in PARAMETERS {
            let value = self.parameters.get(p.name);
            let value = value.ok_or_else(|| foreign(format!("parameter `{}` is missing", p.name)))?;
            let text = match (p.kind, value) {
                (ParameterKind::Choice(_), Value::String(name)) => name.clone(),
                // Other strings keep their quotation marks, so that `parse` rejects them.
                _ => value.to_string(),
            };
            let number = p.parse(&text).map_err(|error| foreign(error.to_string()))?;
            (p.set)(&mut config, number);
        }
        config.check().map_err(|error| foreign(error.to_string()))?;
        let declaration = folder.join(file::RTL).join(UNIT_FILE);
        let unit = declaration.exists().then(|| ForeignUnit::read(&declaration).map(Arc::new)).transpose();
        let unit = unit.map_err(|error| foreign(error.to_string()))?;
        let about = format!("configuration `{}` of a bundle", self.config);
        Ok(NamedConfig { name: self.config.clone(), about, config, unit })
    }
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, BundleError> {
    let text = fs::read_to_string(path).map_err(BundleError::NotWhole)?;
    serde_json::from_str(&text).map_err(|error| match error.is_eof() {
        true => BundleError::Unreadable(format!("`{}` is cut short; copy the bundle again", path.display())),
        false => BundleError::Foreign(path.to_path_buf(), error.to_string()),
    })
}

pub(crate) fn json(value: &impl Serialize) -> String {
    // Cannot fail: all map keys are text.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
