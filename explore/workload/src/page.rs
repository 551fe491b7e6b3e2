//! Generates the tables of workloads and parameters in `docs/explore.md`.

use std::fmt::Write as _;

use super::generated::{GENERATED, common_parameters};
use super::parameter::WorkloadParameter;

/// Returns `page`, a version of `docs/explore.md`, with current tables; `None` if the page lacks the markers.
pub fn with_workload_tables(page: &str) -> Option<String> {
    const BEGIN: &str = "<!-- workloads: generated from explore/workload/src -->\n";
    const END: &str = "<!-- end -->";
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{}{END}{after}", tables()))
}

fn tables() -> String {
    let mut text = String::new();
    for kind in GENERATED {
        let _ =
            write!(text, "### {}\n\n{}. Unit of work: {}.\n\n", kind.name, capital(kind.about), kind.unit);
        table(&mut text, kind.parameters());
    }
    text += "### Every generated workload\n\n";
    table(&mut text, common_parameters());
    text
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn table(text: &mut String, parameters: &[WorkloadParameter]) {
    *text += "| parameter | meaning | values | default |\n|---|---|---|---|\n";
    for WorkloadParameter { name, about, kind, default } in parameters {
        let _ = writeln!(text, "| `{name}` | {about} | {kind} | {default} |");
    }
    text.push('\n');
}
