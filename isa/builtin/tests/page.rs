//! Tables of `docs/builtins.md`, derived from the behavior of the code.

use atoms_builtin::{
    Builtin, BuiltinOp, BuiltinRefusal, Call, Dialect, Hint, MemoryOrder, NameForm, ObjectType, PtxTarget,
    ThreadScope, atom_text, expand, membar_text, parse,
};
use expect_test::expect_file;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

fn target(name: &str) -> PtxTarget {
    name.parse().unwrap()
}

/// Returns the PTX lines of a call for one cell of a table, or `refused`.
fn cell(call: &Call, arch: &str, dialect: Dialect) -> String {
    match expand(call, target(arch), dialect) {
        Ok(expansion) => {
            let lines: Vec<_> = expansion.lines.iter().map(|line| format!("`{line}`")).collect();
            lines.join(" ")
        }
        Err(refusal) => match refusal.number {
            Some(number) => format!("refused, {number}"),
            None => "refused".into(),
        },
    }
}

fn names() -> String {
    let mut table = String::from("| builtin | identifiers |\n|---|---|\n");
    let mut groups: Vec<(String, Vec<String>, Vec<Option<u16>>)> = Vec::new();
    for builtin in Builtin::all() {
        let (family, rest) = match builtin {
            Builtin::Nvvm { op, .. } => (format!("`__nvvm_atom_*_gen_*` {}", op.ptx()), String::new()),
            Builtin::Nv { op, .. } => {
                let base = Builtin::Nv { op, form: NameForm::Generic }.to_string();
                (format!("`{base}*`"), builtin.to_string()[base.len()..].to_owned())
            }
            Builtin::ThreadFence => ("`__nv_atomic_thread_fence`".into(), String::new()),
            Builtin::Cuda { .. } => {
                ("functions `atomic*`".into(), builtin.to_string()["atomic".len()..].into())
            }
            Builtin::CudaFence { .. } => ("functions `__threadfence*`".into(), String::new()),
        };
        let name = match builtin {
            Builtin::Nvvm { .. } => builtin.to_string()["__nvvm_atom_".len()..].to_owned(),
            _ => rest,
        };
        match groups.iter_mut().find(|(known, ..)| *known == family) {
            Some((_, names, ids)) => {
                names.push(name);
                ids.push(builtin.id());
            }
            None => groups.push((family, vec![name], vec![builtin.id()])),
        }
    }
    for (family, names, ids) in groups {
        let names: Vec<_> = names.iter().filter(|n| !n.is_empty()).map(|n| format!("`{n}`")).collect();
        let mut ids: Vec<u16> = ids.into_iter().flatten().collect();
        ids.sort_unstable();
        let ranges = ids.chunk_by(|a, b| a + 1 == *b).map(|range| match range {
            [only] => only.to_string(),
            range => format!("{}-{}", range[0], range[range.len() - 1]),
        });
        let ranges = ranges.collect::<Vec<_>>().join(", ");
        let ranges = if ranges.is_empty() { "-".into() } else { ranges };
        let separator = if names.is_empty() { "" } else { ": " };
        let _ = writeln!(table, "| {family}{separator}{} | {ranges} |", names.join(" "));
    }
    table
}

fn orders() -> String {
    let mut table = String::new();
    for dialect in [Dialect::Nvvm, Dialect::Current] {
        let _ = write!(
            table,
            "\n`{dialect}`:\n\n| order | load | store | fetch_or | fence |\n|---|---|---|---|---|\n"
        );
        for (number, order) in MemoryOrder::ALL.iter().enumerate() {
            let _ = write!(table, "| {number} {order}");
            for name in [
                "__nv_atomic_load_n",
                "__nv_atomic_store_n",
                "__nv_atomic_fetch_or",
                "__nv_atomic_thread_fence",
            ] {
                let call = Call {
                    ty: Some(ObjectType::U32),
                    order: (*order).into(),
                    scope: ThreadScope::Device.into(),
                    ..Call::new(parse(name).unwrap())
                };
                let _ = write!(table, " | {}", cell(&call, "sm_80", dialect));
            }
            table.push_str(" |\n");
        }
    }
    table.push('\n');
    table
}

fn scopes() -> String {
    let mut table = String::from("| scope | sm_60 (nvvm) | sm_89 | sm_90 |\n|---|---|---|---|\n");
    for (number, scope) in ThreadScope::ALL.iter().enumerate() {
        let fence = Call { scope: (*scope).into(), ..Call::new(parse("__nv_atomic_thread_fence").unwrap()) };
        let _ = writeln!(
            table,
            "| {number} {scope} | {} | {} | {} |",
            cell(&fence, "sm_60", Dialect::Nvvm),
            cell(&fence, "sm_89", Dialect::Current),
            cell(&fence, "sm_90", Dialect::Current)
        );
    }
    table
}

/// Returns one word that tells how an operation on a type is implemented.
fn fate(op: BuiltinOp, form: NameForm, ty: ObjectType, arch: &str) -> &'static str {
    let call =
        Call { ty: Some(ty), order: MemoryOrder::Relaxed.into(), ..Call::new(Builtin::Nv { op, form }) };
    match expand(&call, target(arch), Dialect::Current) {
        Err(_) => "no",
        Ok(expansion) if expansion.lines.iter().any(|line| line.ends_with(':')) => "loop",
        Ok(expansion) if expansion.lines.iter().any(|line| line.contains(", -4;")) => "word",
        Ok(_) => match op {
            BuiltinOp::Load => "ld",
            BuiltinOp::Store => "st",
            _ => "atom",
        },
    }
}

fn types() -> String {
    let columns: &[(&str, BuiltinOp, NameForm)] = &[
        ("load", BuiltinOp::Load, NameForm::Generic),
        ("load_n", BuiltinOp::Load, NameForm::Value),
        ("store", BuiltinOp::Store, NameForm::Generic),
        ("store_n", BuiltinOp::Store, NameForm::Value),
        ("exchange", BuiltinOp::Exchange, NameForm::Generic),
        ("exchange_n", BuiltinOp::Exchange, NameForm::Value),
        ("compare_exchange", BuiltinOp::CompareExchange, NameForm::Generic),
        ("compare_exchange_n", BuiltinOp::CompareExchange, NameForm::Value),
        ("fetch_add", BuiltinOp::Add, NameForm::Generic),
        ("fetch_sub", BuiltinOp::Sub, NameForm::Generic),
        ("fetch_min, max", BuiltinOp::Min, NameForm::Generic),
        ("fetch_and, or, xor", BuiltinOp::Xor, NameForm::Generic),
    ];
    let heads: Vec<_> = columns.iter().map(|(name, ..)| *name).collect();
    let mut table = format!("| type | {} |\n|---{}|\n", heads.join(" | "), "|---".repeat(columns.len()));
    for ty in ObjectType::ALL
        .iter()
        .copied()
        .filter(|ty| !matches!(ty, ObjectType::F16x2 | ObjectType::F16x4 | ObjectType::Bf16x2))
    {
        let _ = write!(table, "| {ty}");
        for (_, op, form) in columns {
            let fates = ["sm_75", "sm_90", "sm_100"].map(|arch| fate(*op, *form, ty, arch));
            let one = fates.iter().all(|f| *f == fates[0]);
            let _ = write!(table, " | {}", if one { fates[0].to_owned() } else { fates.join(" ") });
        }
        table.push_str(" |\n");
    }
    table
}

fn diagnostics() -> String {
    #[rustfmt::skip]
    const CASES: &[(&str, &str, &str, &str, &str, &str, &str)] = &[
        // Columns: refused case, builtin, object type, type of the other arguments, order, scope, target.
        ("no such operation for the target", "__nvvm_atom_add_gen_f2", "", "", "0", "3", "sm_89"),
        ("no such operation on the type", "__nv_atomic_fetch_and", "f32", "", "0", "3", "sm_80"),
        ("an order beyond 5", "__nv_atomic_load_4", "", "", "6", "3", "sm_80"),
        ("a scope beyond 4", "__nv_atomic_load_4", "", "", "0", "5", "sm_80"),
        ("a fetch of other than 4 or 8 bytes", "__nv_atomic_fetch_add_2_u", "", "", "0", "3", "sm_80"),
        ("an order that a store does not have", "__nv_atomic_store_4", "", "", "2", "3", "sm_80"),
        ("an order that a load does not have", "__nv_atomic_load_4", "", "", "3", "3", "sm_80"),
        ("a compare-and-swap with other types", "__nv_atomic_compare_exchange", "u32", "f32", "0", "3", "sm_80"),
        ("an exchange with other types", "__nv_atomic_exchange", "u32", "f32", "0", "3", "sm_80"),
        ("half precision before sm_90", "__nv_atomic_load", "f16", "", "0", "3", "sm_89"),
        ("a 128-bit load or store before sm_70", "__nv_atomic_load_16", "", "", "0", "3", "sm_69"),
        ("a 16-bit store before sm_70", "__nv_atomic_store_2", "", "", "0", "3", "sm_69"),
        ("another 128-bit access before sm_70", "__nv_atomic_exchange_16", "", "", "0", "3", "sm_69"),
        ("a width that no object has", "__nv_atomic_load_3", "", "", "0", "3", "sm_80"),
    ];
    let mut rows = BTreeMap::new();
    for (what, name, ty, operand, order, scope, arch) in CASES {
        let refusal = parse(name).and_then(|builtin| {
            let read = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
            let call = Call {
                ty: read(ty),
                operand: read(operand),
                order: order.parse().unwrap(),
                scope: scope.parse().unwrap(),
                ..Call::new(builtin)
            };
            expand(&call, target(arch), Dialect::Nvvm)
        });
        let refusal = refusal.unwrap_err();
        rows.insert(
            refusal.number.unwrap(),
            format!("{what} | {} | {}", refusal.message.replace('|', "\\|"), refusal.help),
        );
    }
    assert_eq!(rows.len(), CASES.len(), "each case has a number of its own");
    let mut table = String::from("| number | refused | for example | help |\n|---:|---|---|---|\n");
    for (number, row) in rows {
        let _ = writeln!(table, "| {number} | {row} |");
    }
    table
}

fn words() -> String {
    let cell = |text: Result<String, BuiltinRefusal>| text.map_or("none".into(), |text| format!("`{text}`"));
    let mut table = String::from("| bits 23:16 | atomic | with a hint |\n|---|---|---|\n");
    for number in 0..=0x0e {
        let of = |hint| cell(atom_text(number << 16, 4, hint));
        let _ = writeln!(table, "| {number:#04x} | {} | {} |", of(Hint::Absent), of(Hint::L2));
    }
    table.push_str("\n| bits 7:4 | scope |\n|---|---|\n");
    for scope in 0..=3 {
        let _ =
            writeln!(table, "| {scope} | {} |", cell(atom_text(0x0001_0000 | scope << 4, 4, Hint::Absent)));
    }
    table.push_str("\n| operand | barrier |\n|---|---|\n");
    for operand in 0..=4 {
        let _ = writeln!(table, "| {operand} | {} |", cell(membar_text(operand).map(String::from)));
    }
    table
}

#[test]
fn the_page_is_up_to_date() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/builtins.md");
    let page = std::fs::read_to_string(&path).expect("docs/builtins.md can be read");
    let mut expected = page.clone();
    for (marker, table) in [
        ("<!-- names: ", names()),
        ("<!-- orders: ", orders()),
        ("<!-- scopes: ", scopes()),
        ("<!-- types: ", types()),
        ("<!-- diagnostics: ", diagnostics()),
        ("<!-- words: ", words()),
    ] {
        let begin = expected.find(marker).unwrap_or_else(|| panic!("the page has no {marker}"));
        let begin = begin + expected[begin..].find("-->\n").expect("the marker ends its line") + 4;
        let end = begin + expected[begin..].find("<!-- end -->").expect("the table has an end");
        expected.replace_range(begin..end, &table);
    }
    expect_file![&path].assert_eq(&expected);
}
