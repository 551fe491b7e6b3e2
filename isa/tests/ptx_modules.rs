//! PTX of real kernels: all of it parses, and the parsed form agrees with simple counts of words in the text.

use crate::common;

use atoms_isa::ptx::{Base, Function, Module, Operand, PtxInstruction, RegId, Type, snippet};
use common::{check_function, kernels};

/// Returns the statements of a text without a PTX parser: parts that end in a semicolon and are not
/// directives, without comments, labels and braces.
fn statements(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let code = code.join("\n");
    let body = code.split_once(")\n{").map_or(code.as_str(), |(_, body)| body);
    let pieces = body.split(';').map(|piece| {
        let piece = piece.rsplit_once(":\n").map_or(piece, |(_, after)| after);
        piece.trim_start_matches(['{', '}', ' ', '\n', '\t']).trim_end().to_string()
    });
    pieces.filter(|piece| !piece.is_empty() && !piece.starts_with('.') && piece.len() > 1).collect()
}

/// Returns the registers that a text names, in order: all words that begin with `%`.
fn named(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '.')));
    words.filter(|word| word.starts_with('%')).map(String::from).collect()
}

fn resolved(function: &Function<'_>, instruction: &PtxInstruction<'_>) -> Vec<String> {
    let name = |id: RegId| function.registers[id.0 as usize].name.to_string();
    fn registers(operand: &Operand<'_>, name: &dyn Fn(RegId) -> String, found: &mut Vec<String>) {
        match operand {
            Operand::Register(id) | Operand::Not(id) => found.push(name(*id)),
            Operand::Address { base: Base::Register(id), .. } => found.push(name(*id)),
            Operand::Special(name) => found.push(format!("%{name}")),
            Operand::Vector(inner) | Operand::List(inner) => {
                inner.iter().for_each(|o| registers(o, name, found));
            }
            Operand::Pair(inner) => inner.iter().for_each(|o| registers(o, name, found)),
            _ => {}
        }
    }
    let mut found: Vec<_> = instruction.guard.iter().map(|g| name(g.register)).collect();
    instruction.operands.iter().for_each(|operand| registers(operand, &name, &mut found));
    found.retain(|name| name.starts_with('%'));
    found
}

fn compare(function: &Function<'_>, name: &str, text: &str) {
    let texts: Vec<_> = function.instructions.iter().map(|i| i.text.to_string()).collect();
    assert_eq!(texts, statements(text), "{name}");
    for instruction in &function.instructions {
        assert_eq!(resolved(function, instruction), named(instruction.text), "{name}: {}", instruction.text);
        let line = text.lines().nth(instruction.line as usize - 1).unwrap();
        assert!(line.contains(instruction.text.lines().next().unwrap()), "{name}: {}", instruction.line);
        let dots = instruction.text.split_whitespace().find(|w| !w.starts_with('@')).unwrap();
        let words = [&[instruction.opcode], instruction.modifiers.as_slice()].concat();
        assert_eq!(words.join("."), dots, "{name}");
    }
}

#[test]
fn every_module_is_read_and_says_what_its_text_says() {
    // Only texts that a compiler wrote, because the counts rely on the layout of these.
    let compiled = |(_, text): &(String, String)| text.contains("Compiler Build ID");
    let modules: Vec<_> = kernels("ptx").into_iter().filter(compiled).collect();
    assert_eq!(modules.len(), 57);
    for (name, text) in &modules {
        let module = Module::parse(name, text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
        let [function] = module.functions.as_slice() else { panic!("{name}") };
        assert!(function.entry && function.defined && name.contains(function.name));
        assert!(name.contains(&format!(".{}.", module.target)) && module.version == (9, 5), "{name}");
        check_function(function, 1, 0, text.len());
        assert_eq!(function.params, text.matches(".param .").count(), "{name}");
        assert_eq!(function.variables.len() - function.params, text.matches("\t.shared .").count(), "{name}");
        assert_eq!(function.labels.len(), text.lines().filter(|l| l.ends_with(':')).count(), "{name}");
        compare(function, name, text);
        let predicate = |id: RegId| function.registers[id.0 as usize].ty == Some(Type::Pred);
        assert!(
            function.instructions.iter().all(|i| i.guard.is_none_or(|g| predicate(g.register))),
            "{name}"
        );
        let branches = function.instructions.iter().filter(|i| i.opcode == "bra");
        for branch in branches {
            let [Operand::Label(label)] = branch.operands.as_slice() else {
                panic!("{name}: {}", branch.text)
            };
            assert!(branch.text.ends_with(function.labels[label.0 as usize].name));
        }
    }
}

/// The expected numbers of instructions of these kernels were counted by hand.
#[test]
fn known_kernels_have_known_sizes() {
    for (name, instructions, registers, shared) in [
        ("hist_u32.sm_100a.ptx", 147, 15 + 2 + 82 + 19, 1024),
        ("cpasync_mbar.sm_90a.ptx", 62, 6 + 47 + 12 + 1, 4096 + 16),
        ("tma_bulk.sm_100a.ptx", 98, 10 + 52 + 8 + 2, 4096 + 64),
        ("awbarrier.sm_75.ptx", 136, 20 + 3 + 93 + 5, 8 + 1024),
    ] {
        let (path, text) = kernels("ptx").into_iter().find(|(path, _)| path.ends_with(name)).unwrap();
        let module = Module::parse(&path, &text).unwrap();
        let function = &module.functions[0];
        assert_eq!(
            (function.instructions.len(), function.registers.len()),
            (instructions, registers),
            "{name}"
        );
        let bytes: u64 = function.variables[function.params..].iter().filter_map(|v| v.bytes()).sum();
        assert_eq!(bytes, shared, "{name}");
    }
}

/// Every line that was given to an assembler parses. The assembler refused some of them, but all are well
/// formed.
#[test]
fn every_sample_is_read() {
    let lowering: serde_json::Value =
        serde_json::from_str(include_str!("../../tests/vectors/lowering_sample.json")).unwrap();
    let rows = lowering.as_array().unwrap();
    assert_eq!(rows.len(), 2443);
    let mut texts: Vec<String> = rows.iter().map(|row| row["ptx"].as_str().unwrap().into()).collect();
    let builtins: serde_json::Value =
        serde_json::from_str(include_str!("../../tests/vectors/nvvm_sample.json")).unwrap();
    let lines = builtins.as_array().unwrap().iter().filter_map(|row| row["ptx"].as_array());
    texts.extend(lines.map(|lines| lines.iter().map(|l| l.as_str().unwrap()).collect::<Vec<_>>().join("\n")));
    assert!(texts.len() > 3000, "{}", texts.len());
    for text in &texts {
        let function = snippet(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        check_function(&function, 0, 0, text.len());
        let texts: Vec<_> = function.instructions.iter().map(|i| i.text.to_string()).collect();
        assert_eq!(texts, statements(text), "{text}");
        for instruction in &function.instructions {
            assert_eq!(resolved(&function, instruction), named(instruction.text), "{text}");
        }
    }
}
