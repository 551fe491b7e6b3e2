//! Verilator's messages about a wrapper: differences between its ports and those of the module in it.

use crate::BuildError;
use crate::build::SOURCE_DIR;

/// Checks the messages `said` about the file of the wrapper `top`, whose only instance is `module`. Messages
/// about other files are left alone.
pub(crate) fn check(said: &str, top: &str, module: &str) -> Result<(), BuildError> {
    let place = format!(": {SOURCE_DIR}/{top}.sv:");
    let mut differences = String::new();
    for (code, message) in said.lines().filter_map(|line| line.split_once(&place)) {
        // Line and column precede the text.
        let text = message.splitn(3, ':').last().unwrap_or_default().trim();
        let port = text.split('\'').nth(1).unwrap_or_default();
        let after = |word: &str| text.split_once(word)?.1.split_whitespace().next();
        let is_about = |texts: [&str; 2]| texts.iter().any(|begin| text.starts_with(begin));
        let difference = if is_about(["Cannot find file containing module", "Can't resolve module"]) {
            return Err(BuildError::NoModule(module.to_owned()));
        } else if is_about(["Pin not found", "Instance attempts to connect"]) {
            format!("port {port} is missing")
        } else if code == "%Warning-PINMISSING" && !port.starts_with("probe_") {
            format!("port {port} is not in the port list")
        } else if code.starts_with("%Warning-WIDTH") {
            match (after(" expects "), after(" generates ")) {
                (Some(found), Some(expected)) => format!("port {port} has {found} bits; expected {expected}"),
                _ => text.to_owned(),
            }
        } else if code.starts_with("%Error") {
            text.to_owned()
        } else {
            continue;
        };
        differences += &format!("  {difference}\n");
    }
    if differences.is_empty() { Ok(()) } else { Err(BuildError::UnitPorts(module.to_owned(), differences)) }
}
