//! Checks `summary.json` against the published schema.

use atoms_regress::report::json::{self, RegressionResult};
use atoms_regress::report::summary::Summary;
use serde_json::{Value, json};

use super::fixture;

/// Published schema. Another test compares this file with the schema of the types.
const PUBLISHED: &str = include_str!("../../../docs/schema/cover.json");

#[test]
fn summaries_are_valid_and_others_are_not() {
    let schema: Value = serde_json::from_str(PUBLISHED).expect("the published schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    for regression in [fixture::failing(), fixture::passing()] {
        let value: Value = serde_json::from_str(&json::pretty(&regression.summary)).expect("it is JSON");
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
    let sound = serde_json::to_value(fixture::failing().summary).expect("it serializes");
    let broken: [(&str, Value); 5] = [
        ("/seed", json!("7")),
        ("/totals/work", json!(null)),
        ("/buckets/0/status", json!("timed out")),
        ("/coverage/groups/0/counts/0", json!(-1)),
        ("/rtl_coverage/files/0/lines/0", json!([1])),
    ];
    for (place, value) in broken {
        let mut summary = sound.clone();
        *summary.pointer_mut(place).expect("it is there") = value;
        assert!(!validator.is_valid(&summary), "{place} is broken, and still valid");
    }
}

#[test]
fn a_summary_survives_its_file() {
    let summary = fixture::failing().summary;
    let text = json::pretty(&summary);
    assert_eq!(serde_json::from_str::<Summary>(&text).expect("it reads what it wrote"), summary);
    assert_eq!(text, json::pretty(&summary));
    assert!(text.ends_with("}\n"));
}

#[test]
fn the_command_line_prints_summary_timing_and_page() {
    let regression = fixture::passing();
    let (summary, timing) = (&regression.summary, &regression.timing);
    let text = RegressionResult { summary, timing, page: "out/report.html" }.json();
    let value: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(value["summary"], serde_json::to_value(&regression.summary).expect("it serializes"));
    assert_eq!(value["timing"]["jobs"], 16);
    assert_eq!(value["page"], "out/report.html");
}
