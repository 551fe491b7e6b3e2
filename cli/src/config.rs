//! `atoms config`: the named configurations.

use atoms_cosim::configs::{self, ConfigsError, ListedConfig, NamedConfig};
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
                let bad =
                    |name: &str, error: &ConfigsError| json!({ "name": name, "error": error.to_string() });
                let each = |ListedConfig { name, config }: &ListedConfig| {
                    config.as_ref().map_or_else(|e| bad(name, e), as_json)
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
                for p in PARAMETERS {
                    outln!("  {:14} {:9} {}", p.name, value(&config, p.name).trim_matches('"'), p.summary)?;
                }
            }
        }
    }
    Ok(Verdict::Agree)
}

fn value(config: &NamedConfig, name: &str) -> String {
    as_json(config)["parameters"][name].to_string()
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
