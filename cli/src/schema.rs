//! Schemas of the `--json` results, derived from the result types and compared with `docs/schema/`.

use atoms_builtin::{BuiltinResult, LoweredResult};
use atoms_explore::cost::{ModuleCost, UnitCost};
use atoms_explore::report::ExploreRunResult;
use atoms_faults::mutate::MutationResult;
use atoms_regress::report::json::RegressionResult;
use atoms_regress::report::summary::Summary;
use atoms_run::kernel::orders::OrdersResult;
use atoms_run::kernel::result;
use atoms_run::result as cosim;
use atoms_silicon::report::CaptureReport;
use atoms_wave_view::{DiffResult, InfoResult, SignalResult, WaveLane};
use expect_test::expect_file;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema};

use crate::explore::{run as explore_run, sweep as explore_sweep};
use crate::{bench, check, config, explore, regress::repro, wave};

/// WaveJSON, which `atoms wave show` prints unless it lists or searches.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for its schema")]
struct WaveJson<'e> {
    signal: Vec<WaveLane<'e>>,
    head: WaveHead,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "for its schema")]
struct WaveHead {
    /// First cycle, and cycles between two columns.
    tick: String,
}

/// Lists each command with its result types. For a list result, these are the element types.
macro_rules! schemas {
    ($($command:literal: $($result:ty),+;)*) => {
        [$(($command, {
            let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
            let results: Vec<Schema> = vec![$(generator.subschema_for::<$result>()),+];
            let definitions = generator.take_definitions(true);
            (results, definitions)
        })),*]
    };
}

#[test]
fn the_schemas_are_those_of_the_types() {
    let schemas = schemas! {
        "run": result::RunResult<'_>, result::RunFailureResult<'_>, result::InterruptedResult, OrdersResult<'_>;
        "cosim": cosim::CosimResult<'_>, cosim::CosimFailureResult<'_>, cosim::CaseResult;
        "lower": Vec<LoweredResult<'_>>, Vec<BuiltinResult<'_>>, Vec<String>;
        "check": check::CheckResult<'_>, CaptureReport;
        "silicon-report": CaptureReport;
        "regress": RegressionResult<'_>;
        "mutate": MutationResult<'_>;
        "cover": Summary;
        "repro": repro::ReproResult<'_>;
        "wave-info": InfoResult<'_>, Vec<SignalResult>;
        "wave-diff": DiffResult<'_>;
        "wave-show": wave::search::QueryResult<'_>, wave::transactions::TransactionResult<'_, String>, WaveJson<'_>;
        "wave-at": wave::at::WaveAtResult<'_>, wave::at::NoRegisterResult;
        "wave-cause": wave::cause::WaveCauseResult<'_>;
        "explore-run": ExploreRunResult<'_>, explore_run::FindingResult<'_>;
        "explore-workloads": explore::workloads::WorkloadsResult;
        "explore-sweep": explore_sweep::SweepResult<'_>, explore_sweep::ShardResult;
        "explore-cost": UnitCost, Vec<ModuleCost>;
        "explore-calibrate": explore::calibrate::CalibrateResult<'_>;
        "bench": bench::BenchResult<'_>;
        "config-list": Vec<config::ConfigResult>;
        "config-show": config::ConfigResult;
    };
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema"))
        .expect("the schema folder exists");
    assert!(files.count() <= schemas.len(), "a file of `docs/schema` belongs to no command");
    for (command, (results, definitions)) in schemas {
        let mut schema = match <[Schema; 1]>::try_from(results) {
            Ok([result]) => result,
            Err(results) => json_schema!({ "anyOf": results }),
        };
        schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        schema
            .insert("title".into(), format!("Result of `atoms {} --json`", command.replace('-', " ")).into());
        schema.insert("$defs".into(), definitions.into());
        expect_file![format!("../../docs/schema/{command}.json")]
            .assert_eq(&format!("{:#}\n", schema.as_value()));
    }
}
