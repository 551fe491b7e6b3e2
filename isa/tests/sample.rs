//! Machine code that the vendor's tools printed: every line must decode
//! (`tests/vectors/lowering_sample.json`).

use atoms_isa::Program;
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(serde::Deserialize)]
struct Row {
    ptx: String,
    targets: Vec<String>,
    #[serde(default)]
    sass: Vec<String>,
}

fn rows() -> Vec<Row> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/lowering_sample.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Converts the lines of a sample to a kernel. The sample numbers registers in order of appearance, so a pair
/// may begin at an odd number. Therefore each register number is multiplied by four.
fn listing(target: &str, body: &[String]) -> String {
    let spread = |line: &str| -> String {
        let guard = if line.starts_with('@') { line.find(' ').map_or(0, |at| at + 1) } else { 0 };
        let operands = line[guard..].find(' ').map_or(line.len(), |at| guard + at);
        let (head, mut rest) = line.split_at(operands);
        let mut out = head.to_string();
        while let Some(at) = rest.find('R') {
            let (before, after) = rest.split_at(at + 1);
            out += before;
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            let word = before.len() >= 2 && before.as_bytes()[before.len() - 2].is_ascii_alphanumeric();
            let uniform = before.ends_with("UR");
            match digits.parse::<u32>() {
                Ok(number) if uniform || !word => {
                    out += &(number * 4 % if uniform { 60 } else { 240 }).to_string()
                }
                _ => out += &digits,
            }
            rest = &after[digits.len()..];
        }
        out + rest
    };
    let mut text = format!(".target {target}\n.section .text.k,\"ax\",@progbits\n");
    for line in body {
        match line.strip_suffix(':') {
            Some(label) => text += &format!(".{label}:\n"),
            None => {
                let line = spread(line);
                let at = line.rfind(" L").filter(|at| line[at + 2..].bytes().all(|b| b.is_ascii_digit()));
                match at {
                    Some(at) => text += &format!("{} `(.{}) ;\n", &line[..at], &line[at + 1..]),
                    None => text += &format!("{line} ;\n"),
                }
            }
        }
    }
    text + "EXIT ;\n"
}

#[test]
fn every_line_is_decoded() {
    let mut lacking = BTreeSet::new();
    let mut lines = 0;
    for row in rows().iter().filter(|row| !row.sass.is_empty()) {
        for target in
            row.targets.iter().filter(|t| t[3..].trim_end_matches('a').parse::<u32>().unwrap() >= 70)
        {
            let text = listing(target, &row.sass);
            let program = Program::parse(&row.ptx, &text)
                .unwrap_or_else(|e| panic!("{target} {}:\n{text}\n{:?}", row.ptx, miette::Report::new(e)));
            let kernel = &program.kernels[0];
            lines += kernel.instructions.len() - 1;
            lacking.extend(kernel.unsupported().map(|i| kernel.mnemonic(i).to_string()));
        }
    }
    assert!(lines > 7000, "{lines}");
    assert!(lacking.is_empty(), "{lacking:?}");
}
