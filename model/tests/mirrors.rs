//! A module and its mirror list operations and faults in the same arms, in the same order.

use std::path::PathBuf;

/// Text of a file of the checkout, starting at `head`.
fn text_from(path: &str, head: &str) -> String {
    let place = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let text = std::fs::read_to_string(place).unwrap_or_else(|e| panic!("{path}: {e}"));
    let at = text.find(head).unwrap_or_else(|| panic!("{path} has no `{head}`"));
    text[at..].to_string()
}

/// Capitalized words after each `prefix` in a text, in order.
fn words(text: &str, prefix: &str) -> Vec<String> {
    let name = |rest: &str| rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>();
    text.split(prefix).skip(1).map(name).filter(|name| name.starts_with(char::is_uppercase)).collect()
}

/// Operation names in each arm of the first `unique case` after `head`, without `prefix`.
fn rtl_arms(path: &str, head: &str, prefix: &str) -> Vec<Vec<String>> {
    let text = text_from(path, head);
    let case = text.split_once("unique case (op)").expect("a choice by operation").1;
    let case = case.split_once("endcase").expect("its end").0;
    let (mut arms, mut labels) = (Vec::new(), String::new());
    for line in case.lines().map(str::trim) {
        let of_label = line.starts_with("Op") && !line.contains('=') || !labels.is_empty();
        if line.starts_with("Op") || of_label {
            labels += line.split(':').next().unwrap_or_default();
            if line.contains(':') {
                arms.push(words(&labels, prefix));
                labels.clear();
            }
        }
    }
    arms
}

/// Operation names in each arm of the first `match` after `head`. Successive arms with the same operations,
/// which differ only in their conditions, count as one.
fn model_arms(path: &str, head: &str, of: &str) -> Vec<Vec<String>> {
    let text = text_from(path, head);
    let arms = text.split_once("match op {").expect("a choice by operation").1;
    let arms = arms.split_once("\n    }").expect("its end").0;
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut pattern = String::new();
    for line in arms.lines().map(str::trim).filter(|line| line.trim_start_matches("| ").starts_with(of)) {
        pattern += line.split("=>").next().unwrap_or_default().split(" if ").next().unwrap_or_default();
        if line.contains("=>") {
            let arm = words(&pattern, of);
            pattern.clear();
            if found.last() != Some(&arm) {
                found.push(arm);
            }
        }
    }
    found
}

/// Compares the arms. Operations that the RTL leaves to its default must be listed in the model, at the end.
fn compare(rtl: (&str, &str, &str), model: (&str, &str, &str), mbarrier: bool) {
    let (rtl, model) = (rtl_arms(rtl.0, rtl.1, rtl.2), model_arms(model.0, model.1, model.2));
    assert!(rtl.len() > 3, "{rtl:?}");
    assert_eq!(model[..rtl.len()], rtl[..]);
    let named = model.iter().map(Vec::len).sum::<usize>();
    let of_kind = atoms_ops::Op::ALL.iter().filter(|op| op.is_mbarrier() == mbarrier).count();
    assert_eq!(named, of_kind, "every operation once");
}

#[test]
fn kernels_have_the_same_arms() {
    let rtl = ("rtl/atoms_alu.sv", "void work(", "Op");
    compare(rtl, ("model/src/alu.rs", "fn alu(", "WordOp::"), false);
}

#[test]
fn changes_of_objects_have_the_same_arms() {
    let rtl = ("rtl/atoms_mbar.sv", "change_t change(", "OpMbar");
    compare(rtl, ("model/src/mbarrier.rs", "fn of(op: Op, b: u32)", "MbarOp::"), true);
}

#[test]
fn addresses_fault_in_the_same_order() {
    let rtl = text_from("rtl/atoms_agen.sv", "if (!is_legal)");
    let rtl = rtl.split_once("`ATOMS_ASSERT").expect("assertions behind it").0;
    let model = text_from("model/src/agen.rs", "pub(crate) fn agen(");
    let faults = ["Illegal", "Misaligned", "OutOfRange"];
    assert_eq!(words(rtl, "Fault"), faults);
    assert_eq!(words(&model, "Fault::"), faults);
}
