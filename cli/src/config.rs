//! `atoms config`: the named configurations.

use atoms_cosim::configs::{self, NamedConfig};
use atoms_model::config::{Kind, PARAMETERS};
use serde_json::{Map, Value, json};

use crate::args::{ConfigArgs, ConfigCommand};
use crate::error::{CliError, Verdict};

pub(crate) fn config(args: &ConfigArgs) -> Result<Verdict, CliError> {
    match &args.command {
        ConfigCommand::List { json } => {
            let all = configs::all(&configs::rtl_dir()).map_err(CliError::of)?;
            if *json {
                println!("{}", Value::Array(all.iter().map(as_json).collect()));
            } else {
                let width = all.iter().map(|c| c.name.len()).max().unwrap_or(0);
                for config in &all {
                    println!("{:width$}  {}", config.name, config.about);
                }
            }
        }
        ConfigCommand::Show { name, json } => {
            let config = crate::machine::config(name)?;
            if *json {
                println!("{}", as_json(&config));
            } else {
                println!("{}: {}", config.name, config.about);
                for p in PARAMETERS {
                    println!("  {:14} {:9} {}", p.name, value(&config, p.name).trim_matches('"'), p.summary);
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
                Kind::Number(..) => json!(number),
                Kind::Flag => json!(number != 0),
                Kind::Choice(names) => json!(names.get(number as usize)),
            };
            (p.name.to_string(), value)
        })
        .collect();
    json!({ "name": config.name, "about": config.about, "parameters": parameters })
}
