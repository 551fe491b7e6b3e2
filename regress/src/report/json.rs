//! JSON: `summary.json`, its schema, and what the command line prints.

use serde::Serialize;

use crate::report::summary::Summary;
use crate::run::timing::Timing;

/// The text of `summary.json`: the same bytes for the same summary.
pub fn pretty(summary: &Summary) -> String {
    text(summary)
}

/// What `--json` prints: the object `summary`, the object `timing`, and the path of the page as
/// `page`.
pub fn command(summary: &Summary, timing: &Timing, page: &str) -> String {
    #[derive(Serialize)]
    struct Command<'a> {
        summary: &'a Summary,
        timing: &'a Timing,
        page: &'a str,
    }
    text(&Command { summary, timing, page })
}

fn text(value: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(value).expect("keys are strings and nothing fails to serialize");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;

    /// Of the types and their documentation. It is derived for this test only: programs need no schema.
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let mut schema = schemars::schema_for!(Summary);
        schema.insert("title".into(), "summary.json of an ATOMS regression".into());
        expect_file!["../../../docs/summary.schema.json"].assert_eq(&text(&schema));
    }
}
