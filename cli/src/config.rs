//! `atoms config`: the named configurations.

use atoms_cosim::configs::{self, ListedConfig, NamedConfig, parameters};
use atoms_model::config::PARAMETERS;
use serde_json::{Value, json};

use crate::args::{ConfigArgs, ConfigCommand, point};
use crate::error::{CliError, Verdict};
use crate::machine;
use crate::output::outln;

pub(crate) fn config(args: &ConfigArgs) -> Result<Verdict, CliError> {
    match &args.command {
        ConfigCommand::List { json } => {
            let all = configs::list(&configs::rtl_dir()).map_err(CliError::of)?;
            if *json {
                let each = |ListedConfig { name, config }: &ListedConfig| match config {
                    Ok(config) => as_json(config),
                    Err(error) => json!({ "name": name, "error": error.to_string() }),
                };
                outln!("{}", Value::Array(all.iter().map(each).collect()))?;
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
                outln!("{}", as_json(&config))?;
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

fn as_json(config: &NamedConfig) -> Value {
    json!({ "name": config.name, "about": config.about, "parameters": parameters(&config.config) })
}
