//! Where a module and its mirror choose by operation or by fault, they have the same arms in the same order.

use std::path::PathBuf;

/// A file of the checkout, from `head` on.
fn text_from(path: &str, head: &str) -> String {
    let place = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let text = std::fs::read_to_string(place).unwrap_or_else(|e| panic!("{path}: {e}"));
    let at = text.find(head).unwrap_or_else(|| panic!("{path} has no `{head}`"));
    text[at..].to_string()
}

/// Words behind `prefix` in a text, in their order.
fn words(text: &str, prefix: &str) -> Vec<String> {
    let name = |rest: &str| rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>();
    text.split(prefix).skip(1).map(name).filter(|name| name.starts_with(char::is_uppercase)).collect()
}

/// Operations of each arm of the first `unique case` behind `head`.
fn rtl_arms(path: &str, head: &str) -> Vec<Vec<String>> {
    let text = text_from(path, head);
    let case = text.split_once("unique case (op)").expect("a choice by operation").1;
    let case = case.split_once("endcase").expect("its end").0;
    let (mut arms, mut labels) = (Vec::new(), String::new());
    for line in case.lines().map(str::trim) {
        let of_label = line.starts_with("Op") && !line.contains('=') || !labels.is_empty();
        if line.starts_with("Op") || of_label {
            labels += line.split(':').next().unwrap_or_default();
            if line.contains(':') {
                arms.push(words(&labels, "Op"));
                labels.clear();
            }
        }
    }
    arms
}

/// Operations of each arm of the first `match` on an operation behind `head`; arms in succession of the same ones, told
/// apart by a condition, count as one.
fn model_arms(path: &str, head: &str) -> Vec<Vec<String>> {
    let text = text_from(path, head);
    let arms = text.split_once("match op {").expect("a choice by operation").1;
    let arms = arms.split_once("\n    }").expect("its end").0;
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut pattern = String::new();
    for line in
        arms.lines().map(str::trim).filter(|line| line.starts_with("Op::") || line.starts_with("| Op::"))
    {
        pattern += line.split("=>").next().unwrap_or_default().split(" if ").next().unwrap_or_default();
        if line.contains("=>") {
            let arm = words(&pattern, "Op::");
            pattern.clear();
            if found.last() != Some(&arm) {
                found.push(arm);
            }
        }
    }
    found
}

/// What the hardware leaves to its default, the model must name; it may stand at the end.
fn compare(rtl: (&str, &str), model: (&str, &str)) {
    let (rtl, model) = (rtl_arms(rtl.0, rtl.1), model_arms(model.0, model.1));
    assert!(rtl.len() > 3, "{rtl:?}");
    assert_eq!(model[..rtl.len()], rtl[..]);
    let named = model.iter().map(Vec::len).sum::<usize>();
    assert_eq!(named, atoms_ops::OPS.len(), "every operation once");
}

#[test]
fn kernels_have_the_same_arms() {
    compare(("rtl/atoms_alu.sv", "void work("), ("model/src/alu.rs", "fn alu("));
}

#[test]
fn changes_of_objects_have_the_same_arms() {
    compare(("rtl/atoms_mbar.sv", "change_t change("), ("model/src/mbarrier.rs", "fn of(op: Op, b: u32)"));
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
