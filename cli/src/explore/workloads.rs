//! `atoms explore workloads`: the generated workloads and their parameters.

use atoms_workload::{
    GENERATED, Generated, GeneratedKind, WorkloadParameter, WorkloadParameterKind, WorkloadValue,
    common_parameters,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::error::{CliError, Verdict};
use crate::output::{outln, print_json};

pub(crate) fn workloads(name: Option<&str>, json: bool) -> Result<Verdict, CliError> {
    let one = name.map(Generated::named).transpose()?;
    let kinds: Vec<_> = one.map_or_else(|| GENERATED.iter().collect(), |one: Generated| vec![one.kind()]);
    if json {
        let common = common_parameters().iter().map(ParameterResult::of).collect();
        let workloads = kinds.into_iter().map(KindResult::of).collect();
        print_json(&WorkloadsResult { workloads, common })?;
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

#[derive(Serialize, JsonSchema)]
pub(crate) struct WorkloadsResult {
    workloads: Vec<KindResult>,
    common: Vec<ParameterResult>,
}

#[derive(Serialize, JsonSchema)]
struct KindResult {
    name: &'static str,
    about: &'static str,
    unit: &'static str,
    parameters: Vec<ParameterResult>,
}

impl KindResult {
    fn of(kind: &GeneratedKind) -> Self {
        let parameters = kind.parameters().iter().map(ParameterResult::of).collect();
        KindResult { name: kind.name, about: kind.about, unit: kind.unit, parameters }
    }
}

#[derive(Serialize, JsonSchema)]
struct ParameterResult {
    name: &'static str,
    about: &'static str,
    default: WorkloadValue,
    #[serde(flatten)]
    values: ParameterValues,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum ParameterValues {
    Whole { range: (u32, u32) },
    Real { range: (f64, f64) },
    Choice { choices: &'static [&'static str] },
}

impl ParameterResult {
    fn of(p: &WorkloadParameter) -> Self {
        let values = match p.kind {
            WorkloadParameterKind::Whole(low, high) => ParameterValues::Whole { range: (low, high) },
            WorkloadParameterKind::Real(low, high) => ParameterValues::Real { range: (low, high) },
            WorkloadParameterKind::Choice(choices) => ParameterValues::Choice { choices },
        };
        ParameterResult { name: p.name, about: p.about, default: p.default, values }
    }
}
