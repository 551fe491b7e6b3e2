//! Findings as SARIF 2.1.0 (OASIS), which editors and code review tools show beside the lines.

use std::path::Path;

use serde_json::{Value, json};

use super::{KernelFile, KernelFinding};
use crate::kernel::finding::{FindingSite, KernelFault};

/// Returns a SARIF log with one run. `strict` makes undefined uses errors.
pub fn sarif<'f, 'k: 'f>(
    file: KernelFile<'_>,
    findings: impl IntoIterator<Item = &'f KernelFinding<'k>>,
    strict: bool,
) -> Value {
    let is_text = file.is_text();
    let mut rules: Vec<(String, &str)> = Vec::new();
    let results: Vec<Value> = findings
        .into_iter()
        .map(|finding| {
            let rule = rule(finding);
            let index = rules.iter().position(|(known, _)| *known == rule).unwrap_or_else(|| {
                rules.push((rule.clone(), title(finding)));
                rules.len() - 1
            });
            let level = match finding.fault {
                _ if finding.hint => "note",
                KernelFault::Undefined if !strict => "warning",
                _ => "error",
            };
            let mut places: Vec<Value> =
                finding.sites.iter().flat_map(|site| locations(file, is_text, site)).collect();
            if places.is_empty() {
                places.push(location(file.path, None, ""));
            }
            let advice = if finding.advice.is_empty() { "" } else { "\n" };
            let mut result = json!({
                "ruleId": rule,
                "ruleIndex": index,
                "level": level,
                "message": { "text": format!("{}{advice}{}", finding.what(), finding.advice) },
            });
            let first = places.remove(0);
            result["locations"] = json!([first]);
            if !places.is_empty() {
                result["relatedLocations"] = json!(places);
            }
            result
        })
        .collect();
    let rules: Vec<_> =
        rules.iter().map(|(id, title)| json!({ "id": id, "shortDescription": { "text": title } })).collect();
    let driver = json!({ "name": "atoms", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "columnKind": "utf16CodeUnits", "results": results }],
    })
}

/// Stable name, such as `race/plain-and-atomic`.
fn rule(finding: &KernelFinding<'_>) -> String {
    let name = match finding.fault {
        KernelFault::WrongResult => String::new(),
        _ => format!("/{}", finding.name),
    };
    let id = format!("{}{name}", finding.fault.name());
    id.trim_end_matches('/').replace(", ", "-").replace(' ', "-")
}

fn title<'f>(finding: &'f KernelFinding<'_>) -> &'f str {
    match finding.fault {
        KernelFault::Race | KernelFault::Undefined => &finding.title,
        fault => fault.name(),
    }
}

/// Location in the source, if known, and in the kernel's file.
fn locations(file: KernelFile<'_>, is_text: bool, site: &FindingSite<'_>) -> Vec<Value> {
    let position = site.line.position.as_ref();
    let mut all: Vec<Value> = position
        .map(|position| location(Path::new(&*position.file), Some(position.line), &site.about()))
        .into_iter()
        .collect();
    if is_text || all.is_empty() {
        let about = format!("{} `{}`", site.about(), site.line.text);
        all.push(location(file.path, Some(site.line.line).filter(|_| is_text), about.trim_start()));
    }
    all
}

fn location(path: &Path, line: Option<u32>, message: &str) -> Value {
    let mut place = json!({ "artifactLocation": { "uri": uri(path) } });
    if let Some(line) = line {
        place["region"] = json!({ "startLine": line.max(1) });
    }
    let mut location = json!({ "physicalLocation": place });
    if !message.is_empty() {
        location["message"] = json!({ "text": message });
    }
    location
}

/// Relative to the working folder for a file below it, else absolute (RFC 3986).
fn uri(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(here).unwrap_or(path);
    let scheme = if path.is_absolute() { "file://" } else { "" };
    let safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    path.as_os_str().as_encoded_bytes().iter().fold(scheme.to_string(), |uri, byte| match byte {
        byte if safe(byte) => uri + &char::from(*byte).to_string(),
        b'\\' => uri + "/",
        byte => format!("{uri}%{byte:02X}"),
    })
}
