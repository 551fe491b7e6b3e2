//! Compares the dialect `current` with the output of a real compiler, row by row (spec 8.5).
//!
//! `tests/vectors/nvvm_sample.json` is a given sample of the compiler's output. `nvvm_shapes.json` was
//! compiled for this project with the same release. A row is {key, targets, status, ptx or error}. The key
//! contains the name, the type, the order (for a compare-and-swap also the order on failure) and the scope.

use atoms_builtin::{
    Argument, BuiltinRefusal, Call, CasStrength, Dialect, Expansion, ObjectPlace, PtxTarget, expand, parse,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Replaces names that the compiler may select freely: registers (numbered by order of appearance within
/// their kind), labels, the shared array. Also removes white space that has no meaning.
fn canonical(lines: &[String]) -> Vec<String> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut rename = |kind: &str, name: &str| {
        if let Some(known) = names.get(name) {
            return known.clone();
        }
        let count = counts.entry(kind.into()).or_default();
        *count += 1;
        let new = format!("{kind}{count}");
        names.insert(name.into(), new.clone());
        new
    };
    lines
        .iter()
        .map(|line| {
            let mut out = String::new();
            let mut rest = line.as_str();
            while let Some(c) = rest.chars().next() {
                let word = |more: fn(char) -> bool| {
                    rest.char_indices().skip(1).find(|(_, c)| !more(*c)).map_or(rest.len(), |(i, _)| i)
                };
                let end = match c {
                    '%' | '$' | '_' => word(|c| c.is_ascii_alphanumeric() || c == '_'),
                    c if c.is_ascii_alphanumeric() || c == '.' => {
                        word(|c| c.is_ascii_alphanumeric() || "._".contains(c))
                    }
                    c => c.len_utf8(),
                };
                let (token, after) = rest.split_at(end);
                rest = after;
                let kind = token.trim_end_matches(|c: char| c.is_ascii_digit());
                match c {
                    '%' if kind.len() < token.len() => out.push_str(&rename(kind, token)),
                    '$' => out.push_str(&rename("$L", token)),
                    '_' if token.starts_with("_ZZ") => out.push_str(&rename("array", token)),
                    ' ' if !out.ends_with(|c: char| c.is_ascii_alphanumeric())
                        || !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "%$_[{-".contains(c)) => {
                    }
                    _ => out.push_str(token),
                }
            }
            out
        })
        .collect()
}

fn call(key: &str) -> Result<Call, BuiltinRefusal> {
    let parts: Vec<&str> = key.split('|').collect();
    let (name, place) = match parts[0].strip_suffix("_smem") {
        Some(name) => (name, ObjectPlace::Shared),
        None => (parts[0], ObjectPlace::Generic),
    };
    let builtin = match name {
        name if name.starts_with("atomic") => parse(name)?,
        name if name.starts_with("threadfence") => parse(&format!("__{name}"))?,
        name => {
            parse(&format!("__nv_atomic_{}", name.trim_end_matches("_weak").trim_end_matches("_rt_scope")))?
        }
    };
    let mut call = Call { place, ..Call::new(builtin) };
    if name.ends_with("_weak") {
        call.strength = CasStrength::Weak;
    }
    if let Some(ty) = parts.get(1).filter(|ty| !ty.is_empty()) {
        call.ty = Some(ty.parse()?);
    }
    let operand = |text: &str| if text == "rt" { "runtime".to_owned() } else { text.to_owned() };
    if let Some(orders) = parts.get(2) {
        let (order, failure) = orders.split_once(',').unwrap_or((orders, "0"));
        call.order = operand(order).parse()?;
        call.failure = operand(failure).parse()?;
    }
    if let Some(scope) = parts.get(3) {
        call.scope = operand(scope).parse::<Argument<_>>()?;
    }
    Ok(call)
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

fn difference(wanted: &[String], got: &[String]) -> String {
    let mut text = String::new();
    for i in 0..wanted.len().max(got.len()) {
        let (w, g) = (wanted.get(i).map_or("", |l| l), got.get(i).map_or("", |l| l));
        let _ = writeln!(text, "  {} {w:<52} {g}", if w == g { ' ' } else { '!' });
    }
    text
}

fn mismatch(row: &Value, got: &Result<Expansion, BuiltinRefusal>) -> Option<String> {
    match (row["status"].as_str().unwrap(), got) {
        ("ok", Ok(expansion)) => {
            let (wanted, got) = (canonical(&strings(&row["ptx"])), canonical(&expansion.lines));
            (wanted != got).then(|| difference(&wanted, &got))
        }
        ("error", Err(refusal)) => {
            let wanted = row["error"].as_str().unwrap();
            (refusal.message != wanted).then(|| format!("  wanted {wanted}\n  got    {}\n", refusal.message))
        }
        (_, Ok(expansion)) => Some(format!("  wanted {}\n  got\n{expansion}", row["error"])),
        (_, Err(refusal)) => Some(format!("  refused: {refusal}\n")),
    }
}

/// Compares every row of a file for each of its targets. Prints the number of matches by family and target,
/// and fails on any mismatch.
#[allow(clippy::print_stdout)] // prints for people
fn run(path: PathBuf) {
    let rows: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut tally: BTreeMap<(String, u16), (usize, usize)> = BTreeMap::new();
    let mut misses = Vec::new();
    for row in &rows {
        let key = row["key"].as_str().unwrap();
        for target in strings(&row["targets"]) {
            let target: PtxTarget = target.parse().unwrap();
            let got = call(key).and_then(|call| expand(&call, target, Dialect::Current));
            let family = key.split('|').next().unwrap().split('_').next().unwrap();
            let entry = tally.entry((family.into(), target.number())).or_default();
            entry.1 += 1;
            match mismatch(row, &got) {
                None => entry.0 += 1,
                Some(text) => misses.push(format!("{key} for {target}\n{text}")),
            }
        }
    }
    for ((family, target), (hits, all)) in &tally {
        println!("{family:<12} sm_{target:<4} {hits:>5} of {all}");
    }
    let (hits, all) = tally.values().fold((0, 0), |(h, a), (hits, all)| (h + hits, a + all));
    println!("together     {hits} of {all}");
    assert!(
        rows.len() > 100 && hits == all,
        "{hits} of {all}\n{}",
        misses[..misses.len().min(12)].join("\n")
    );
}

#[test]
fn the_sample_is_reproduced() {
    run(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/nvvm_sample.json"));
}

/// Tests the texts and messages that the sample does not contain, with one row of the same compiler for each.
#[test]
fn shapes_beyond_the_sample_are_reproduced() {
    run(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/nvvm_shapes.json"));
}

/// Operands that are not literals, and literals out of range, are refused in the compiler's wording.
#[test]
fn operands_that_are_no_literals_are_refused() {
    #[rustfmt::skip]
    const CASES: &[(&str, &str, &str, &str, &str, &str)] = &[
        ("fetch_add", "u32", "runtime", "0", "3", "atomic operation's memory order argument is not an integer literal."),
        ("fetch_add", "u32", "0", "0", "runtime", "atomic operation's scope argument is not an integer literal."),
        ("fetch_and", "f32", "runtime", "0", "3", "For a logical atomic operation, the first argument cannot be any floating-point types."),
        ("load_n", "u32", "5", "0", "5", "invalid thread scope value for atomic operations."),
        ("load_n", "u32", "-1", "0", "3", "invalid memory order value for atomic operations."),
        ("store_n", "u32", "6", "0", "3", "invalid memory order value for atomic operations."),
        ("compare_exchange_n", "u32", "0", "runtime", "3", "atomic operation's memory order argument is not an integer literal."),
        ("compare_exchange_n", "u32", "0", "6", "3", "invalid memory order value for atomic operations."),
        ("compare_exchange_n", "u32", "0", "0", "7", "invalid thread scope value for atomic operations."),
        ("thread_fence", "u32", "runtime", "0", "3", "atomic operation's memory order argument is not an integer literal."),
        ("thread_fence", "u32", "6", "0", "3", "invalid memory order value for atomic operations."),
        ("thread_fence", "u32", "5", "0", "5", "invalid thread scope value for atomic operations."),
    ];
    for (name, ty, order, failure, scope, message) in CASES {
        let call = Call {
            ty: Some(ty.parse().unwrap()),
            order: order.parse().unwrap(),
            failure: failure.parse().unwrap(),
            scope: scope.parse().unwrap(),
            ..Call::new(parse(&format!("__nv_atomic_{name}")).unwrap())
        };
        for target in ["sm_75", "sm_90", "sm_100"] {
            let refusal = expand(&call, target.parse().unwrap(), Dialect::Current).unwrap_err();
            assert_eq!(refusal.message, *message, "{name} {order} {failure} {scope} for {target}");
            assert!(!refusal.help.is_empty());
        }
    }
}

/// A name with width and class means the same call as the generic name with this type.
#[test]
fn sized_names_are_the_value_forms() {
    #[rustfmt::skip]
    const CASES: &[(&str, &str, &str)] = &[
        ("__nv_atomic_fetch_add_4_u", "__nv_atomic_fetch_add", "u32"),
        ("__nv_atomic_fetch_sub_8_f", "__nv_atomic_fetch_sub", "f64"),
        ("__nv_atomic_fetch_max_4_s", "__nv_atomic_fetch_max", "s32"),
        ("__nv_atomic_fetch_xor_8", "__nv_atomic_fetch_xor", "u64"),
        ("__nv_atomic_fetch_add_2_u", "__nv_atomic_fetch_add", "u16"),
        ("__nv_atomic_load_1", "__nv_atomic_load_n", "u8"),
        ("__nv_atomic_store_8", "__nv_atomic_store_n", "u64"),
        ("__nv_atomic_exchange_16", "__nv_atomic_exchange_n", "u128"),
        ("__nv_atomic_compare_exchange_2", "__nv_atomic_compare_exchange_n", "u16"),
    ];
    for (sized, plain, ty) in CASES {
        let sized = Call::new(parse(sized).unwrap());
        let plain = Call { ty: Some(ty.parse().unwrap()), ..Call::new(parse(plain).unwrap()) };
        for target in ["sm_75", "sm_90", "sm_100"] {
            let target = target.parse().unwrap();
            let (a, b) = (expand(&sized, target, Dialect::Current), expand(&plain, target, Dialect::Current));
            assert_eq!(a, b, "{} for {target}", sized.builtin);
        }
    }
}

/// The `__nvvm_atom_*` builtins expand to the same PTX as the `atomic*` functions.
#[test]
fn older_builtins_are_the_functions() {
    #[rustfmt::skip]
    const CASES: &[(&str, &str, &str)] = &[
        ("__nvvm_atom_cta_add_gen_i", "atomicAdd_block", "int"),
        ("__nvvm_atom_add_gen_f", "atomicAdd", "float"),
        ("__nvvm_atom_sys_min_gen_ull", "atomicMin_system", "unsigned long long"),
        ("__nvvm_atom_cas_gen_us", "atomicCAS", "unsigned short"),
        ("__nvvm_atom_inc_gen_ui", "atomicInc", "unsigned"),
    ];
    for (builtin, function, ty) in CASES {
        let builtin = Call::new(parse(builtin).unwrap());
        let function = Call { ty: Some(ty.parse().unwrap()), ..Call::new(parse(function).unwrap()) };
        for target in ["sm_75", "sm_90", "sm_100"] {
            let target = target.parse().unwrap();
            let (a, b) =
                (expand(&builtin, target, Dialect::Current), expand(&function, target, Dialect::Current));
            assert!(a.is_ok());
            assert_eq!(a, b, "{} for {target}", builtin.builtin);
        }
    }
}
