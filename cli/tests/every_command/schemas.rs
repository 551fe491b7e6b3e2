//! JSON on stdout matches its schema in `docs/schema/`.

use std::path::Path;

use atoms_tests::test_each;
use serde_json::{Deserializer, Value};

use super::streams::{Samples, runs};
use super::{atoms, words};

/// Returns the schema of a command. Every command below `regress` prints the result of a regression.
fn schema(command: &str) -> Value {
    let name = if command.starts_with("regress") { "regress".into() } else { command.replace(' ', "-") };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/schema/{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

fn json_matches_its_schema(_: &str, samples: Samples) {
    let of_json = runs(samples).into_iter().filter(|(_, arguments)| arguments.contains(&"--json"));
    let mut seen = 0;
    for (name, arguments) in of_json {
        let output = atoms(&name, &arguments).output().expect("atoms starts");
        let schema = jsonschema::validator_for(&schema(&name)).expect("a schema");
        for value in Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
            let value = value.unwrap_or_else(|e| panic!("{name} {arguments:?}: {e}: {}", words(&output)));
            let wrong: Vec<_> =
                schema.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
            assert!(wrong.is_empty(), "{name} {arguments:?}: {wrong:#?}\n{value:#}");
            seen += 1;
        }
    }
    assert!(seen > 2, "{seen}");
}

test_each! {
    mod schemas: json_matches_its_schema;
    quick(Samples::Quick)
    #[ignore = "nightly: samples that take long"]
    slow(Samples::Slow)
}
