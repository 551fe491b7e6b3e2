//! `atoms config`: the named configurations.

use atoms_cosim::embedded::rtl_dir;
use atoms_model::config::PARAMETERS;
use atoms_stimulus::configs::{self, ListedConfig, NamedConfig, parameters};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{ConfigCommand, point};
use crate::machine;
use crate::output::error::{CliError, Verdict};
use crate::output::{outln, print_json};

pub(crate) fn config(command: &ConfigCommand) -> Result<Verdict, CliError> {
    match command {
        ConfigCommand::List { json } => {
            let all = configs::list(&rtl_dir())?;
            if *json {
                let each = |ListedConfig { name, config }: &ListedConfig| match config {
                    Ok(config) => ConfigResult::of(config),
                    Err(error) => ConfigResult::Unusable { name: name.clone(), error: error.to_string() },
                };
                print_json(&all.iter().map(each).collect::<Vec<_>>())?;
            } else {
                let width = all.iter().map(|listed| listed.name.len()).max().unwrap_or(0);
                for ListedConfig { name, config } in &all {
                    match config {
                        Ok(config) => outln!("{name:width$}  {}", config.about)?,
                        Err(error) => outln!("{name:width$}  cannot be used: {error}")?,
                    }
                }
            }
        }
        ConfigCommand::Show { name, set, json } => {
            let config = machine::config(&point(name, set))?;
            if *json {
                print_json(&ConfigResult::of(&config))?;
            } else {
                outln!("{}: {}", config.name, config.about)?;
                for p in PARAMETERS {
                    outln!("  {:14} {:9} {}", p.name, p.text(&config.config), p.summary)?;
                }
            }
        }
    }
    Ok(Verdict::Agree)
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ConfigResult {
    Usable { name: String, about: String, parameters: Map<String, Value> },
    Unusable { name: String, error: String },
}

impl ConfigResult {
    fn of(config: &NamedConfig) -> Self {
        let (name, about) = (config.name.clone(), config.about.clone());
        ConfigResult::Usable { name, about, parameters: parameters(&config.config) }
    }
}
