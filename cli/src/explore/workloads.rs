//! `atoms explore workloads`: the generated workloads and their parameters.

use atoms_workload::{
    GENERATED, Generated, GeneratedKind, WorkloadParameter, WorkloadParameterKind, common_parameters,
};
use serde_json::{Value, json};

use crate::error::{CliError, Verdict};
use crate::output::outln;

pub(crate) fn workloads(name: Option<&str>, json: bool) -> Result<Verdict, CliError> {
    let one = name.map(|name| Generated::named(name).map_err(CliError::of)).transpose()?;
    let kinds: Vec<_> = one.map_or_else(|| GENERATED.iter().collect(), |one: Generated| vec![one.kind()]);
    if json {
        let common: Vec<_> = common_parameters().iter().map(as_json).collect();
        let kinds: Vec<_> = kinds.into_iter().map(kind_as_json).collect();
        outln!("{}", json!({ "workloads": kinds, "common": common }))?;
        return Ok(Verdict::Agree);
    }
    for kind in kinds {
        outln!("{}: {}\n  unit of work: {}", kind.name, kind.about, kind.unit)?;
        table(kind.parameters())?;
    }
    outln!("every workload:")?;
    table(common_parameters())?;
    Ok(Verdict::Agree)
}

fn table(parameters: &[WorkloadParameter]) -> Result<(), CliError> {
    for p in parameters {
        outln!("  {:12} {} [{}; default {}]", p.name, p.about, p.kind, p.default)?;
    }
    Ok(())
}

fn kind_as_json(kind: &GeneratedKind) -> Value {
    let parameters: Vec<_> = kind.parameters().iter().map(as_json).collect();
    json!({ "name": kind.name, "about": kind.about, "unit": kind.unit, "parameters": parameters })
}

fn as_json(p: &WorkloadParameter) -> Value {
    let mut value = json!({ "name": p.name, "about": p.about, "default": p.default });
    match p.kind {
        WorkloadParameterKind::Whole(low, high) => value["range"] = json!([low, high]),
        WorkloadParameterKind::Real(low, high) => value["range"] = json!([low, high]),
        WorkloadParameterKind::Choice(names) => value["choices"] = json!(names),
    }
    value
}
