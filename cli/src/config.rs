//! `atoms config`: the named configurations.

use atoms_cosim::configs::{self, ListedConfig, NamedConfig};
use atoms_model::config::{PARAMETERS, ParameterKind};
use serde_json::{Map, Value, json};

use crate::args::{ConfigArgs, ConfigCommand};
use crate::error::{CliError, Verdict};
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
        ConfigCommand::Show { name, json } => {
            let config = crate::machine::config(name)?;
            if *json {
                outln!("{}", as_json(&config))?;
            } else {
                outln!("{}: {}", config.name, config.about)?;
                let value = as_json(&config);
                for p in PARAMETERS {
                    let value = value["parameters"][p.name].to_string();
                    outln!("  {:14} {:9} {}", p.name, value.trim_matches('"'), p.summary)?;
                }
            }
        }
    }
    Ok(Verdict::Agree)
}

fn as_json(config: &NamedConfig) -> Value {
    let parameters: Map<_, _> = PARAMETERS
        .iter()
        .map(|p| {
            let number = (p.get)(&config.config);
            let value = match p.kind {
                ParameterKind::Number(..) => json!(number),
                ParameterKind::Flag => json!(number != 0),
                ParameterKind::Choice(names) => json!(names.get(number as usize)),
            };
            (p.name.to_string(), value)
        })
        .collect();
    json!({ "name": config.name, "about": config.about, "parameters": parameters })
}
