//! Compares lowered `atom` and `red` (spec 7.1, 7.2) with the output of a real assembler for the same lines
//! [TOOLS].
//!
//! The test compares memory instructions, fences, branches, labels, convergence barriers and warp-wide
//! operations, in order, with modifiers, guards and operands. Between a loop's label and the branch back to
//! it, the test compares every instruction. Constants, offsets, RZ, PT and negations must be equal. Register
//! numbers differ, so each operand must come from the same source (`sequence/mod.rs`). The test ignores:
//! - moves: `MOV`, `IMAD.MOV.U32`, `UMOV`, `CS2R`, and the multiply-adds with which compilers move constants
//!   (`HFMA2 R0, -RZ, RZ, ...`, `IMAD.U32 R0, RZ, RZ, UR4`). Their choice and position depend on the rest of
//!   the kernel. The moved values are tracked;
//! - arithmetic outside loops: addresses, including those of the kernel's parameters (`IADD3`, `ULEA`,
//!   `ISCADD`, ...), and the shift and selector of a half;
//! - inside loops, the addition of an offset that does not fit in 24 bits, but not the added value;
//! - `EXIT`, and `SSY` before sm_70, which not all rows contain;
//! - in rows with renamed registers, the source of a register's value. Their authors removed moves, and took
//!   `HFMA2` and `XMAD` for moves. `lowering_rows.json` has all of them;
//! - `[R.X16]` and `desc[UR]`: arithmetic and the descriptor of global memory belong to the kernel.
//!
//! With `--nocapture`, the test prints the number of rows in which every instruction agrees, including moves
//! and addresses.

use crate::sequence;

use atoms_isa::lower::{Frame, lower};
use atoms_isa::ptx::{Base, Function, Module, Operand, snippet};
use atoms_isa::{Arch, Program, ptx};
use sequence::{Look, difference, seen};
use serde_json::Value;
use std::collections::BTreeMap;

struct Row {
    kind: String,
    target: String,
    ptx: String,
    used: bool,
    expected: Result<Vec<String>, String>,
}

fn rows_of(text: &str) -> Vec<Row> {
    let rows: Vec<Value> = serde_json::from_str(text).expect("the rows are readable");
    let text = |v: &Value| v.as_str().expect("a text").to_string();
    let list = |v: &Value| v.as_array().expect("a list").iter().map(text).collect::<Vec<_>>();
    let mut all = Vec::new();
    for row in &rows {
        let kind = text(&row["kind"]);
        for target in list(&row["targets"]) {
            let expected =
                if row["status"] == "ok" { Ok(list(&row["sass"])) } else { Err(text(&row["error"])) };
            let used = kind.ends_with("/used") || kind == "mbarrier";
            let (kind, ptx) = (kind.split('/').next().unwrap_or("").into(), text(&row["ptx"]));
            all.push(Row { kind, target, ptx, used, expected });
        }
    }
    all
}

/// Returns an empty module, for loose instructions, which do not belong to a module.
fn nowhere() -> Module<'static> {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n";
    Module::parse("nowhere", text).expect("an empty module")
}

fn lowered(row: &Row, module: &Module<'_>) -> Result<Vec<String>, String> {
    let arch = Arch::from_name(&row.target).expect("an architecture");
    let function: Function<'_> = snippet(&row.ptx).map_err(|e| format!("{e:?}"))?;
    let mut frame = Frame::new();
    for operand in function.instructions.iter().flat_map(|i| &i.operands) {
        if let Operand::Address { base: Base::Symbol(symbol), .. } = operand {
            frame.place(*symbol, arch.shared_origin());
        }
    }
    frame.begin();
    let instruction: &ptx::PtxInstruction<'_> = function.instructions.first().expect("an instruction");
    let sequence = lower(module, &function, instruction, row.used, arch, &mut frame);
    sequence
        .unwrap_or_else(|| panic!("{} at {} is not lowered", row.ptx, row.target))
        .map_err(|refusal| refusal.message)
}

/// Number of rows of each kind for one architecture. sm_50 has two rows fewer, because it has no 64-bit float
/// addition.
const COUNTS: [(&str, usize); 5] =
    [("addr", 69), ("imm", 106), ("misc", 1), ("optype", 216), ("semscope", 125)];

const ROWS: usize = 1755;

#[derive(Default)]
struct Tally {
    rows: usize,
    agree: usize,
    everything: usize,
}

/// Returns the difference between a row of the sample and the lowered code. `None` if they agree.
fn differs(row: &Row, found: &Result<Vec<String>, String>, look: Look, renamed: bool) -> Option<String> {
    match (&row.expected, found) {
        (Ok(expected), Ok(found)) => {
            let mut expected = seen(expected, look, renamed);
            let mut found = seen(found, look, renamed);
            // In the kernels of these rows, the offset 32 is part of the address computation from the
            // thread's number.
            if renamed && row.ptx.contains("[%r8+32]") {
                for text in expected.texts.iter_mut().chain(&mut found.texts) {
                    *text = text.replace("+0x20]", "]");
                }
            }
            difference(&expected, &found, renamed)
        }
        (expected, found) if expected == found => None,
        (expected, found) => Some(format!("wants {expected:?}\n  finds {found:?}")),
    }
}

fn compare(rows: &[Row], renamed: impl Fn(&Row) -> bool) -> BTreeMap<(String, String), Tally> {
    let module = nowhere();
    let mut table: BTreeMap<(String, String), Tally> = BTreeMap::new();
    let mut different = Vec::new();
    for row in rows {
        let tally = table.entry((row.kind.clone(), row.target.clone())).or_default();
        let found = lowered(row, &module);
        tally.rows += 1;
        tally.everything += usize::from(differs(row, &found, Look::Everything, renamed(row)).is_none());
        match differs(row, &found, Look::Shape, renamed(row)) {
            None => tally.agree += 1,
            Some(difference) => {
                let (line, target, kind) = (&row.ptx, &row.target, &row.kind);
                different.push(format!("{line} at {target}, {kind}\n  {difference}\n  {found:#?}"));
            }
        }
    }
    assert!(different.is_empty(), "{} rows differ:\n{}", different.len(), different.join("\n"));
    table
}

fn summary(table: &BTreeMap<(String, String), Tally>) -> String {
    let line = |((kind, target), tally): (&(String, String), &Tally)| {
        let Tally { rows, agree, everything } = tally;
        format!("{kind:9} {target:7} {agree:4} of {rows:4}, in every instruction {everything:4}\n")
    };
    table.iter().map(line).collect()
}

/// Every row of the sample agrees with the lowered code, and every refusal has the assembler's wording.
#[test]
fn rows_agree() {
    let rows = rows_of(include_str!("../../tests/vectors/lowering_sample.json"));
    let rows: Vec<Row> = rows.into_iter().filter(|row| row.kind != "mbarrier").collect();
    let table = compare(&rows, |row| row.kind != "optype");
    println!("{}", summary(&table));
    for ((kind, target), tally) in &table {
        let expected = COUNTS.iter().find(|(k, _)| k == kind).map_or(0, |(_, n)| *n);
        let lacking = if kind == "imm" && target == "sm_50" { 2 } else { 0 };
        assert_eq!(tally.rows, expected - lacking, "{kind} at {target}");
    }
    assert_eq!(table.len(), COUNTS.len() * 11, "eleven architectures");
}

/// Every row of the wider cross product agrees, too; its registers are not renamed. The rows cover constants
/// of all operations, also with one address for all lanes, far and odd offsets, orders of all operations,
/// generic and global addresses, and `.noftz`. They also cover legal and illegal operations on mbarrier
/// objects, with reports and layouts. The exceptions in `docs/lowering.md` are not included. Rows that
/// initialize an object at a variable come from kernels with earlier stores to shared memory. In other
/// kernels the assembler omits FENCE.VIEW.ASYNC, and the lowering cannot know this.
#[test]
fn rows_of_the_cross_product_agree() {
    let rows = rows_of(include_str!("../../tests/vectors/lowering_rows.json"));
    let table = compare(&rows, |_| false);
    println!("{}", summary(&table));
    assert_eq!(table.values().map(|tally| tally.rows).sum::<usize>(), ROWS);
    for kind in ["addr", "imm", "mbarrier", "optype", "semscope"] {
        let archs = table.keys().filter(|(k, _)| k == kind).count();
        assert_eq!(archs, 11, "{kind}");
    }
}

/// Lowered code decodes, with the result used and unused: each row of both files from sm_70 on. Listings of
/// earlier architectures have another syntax.
#[test]
fn lowered_rows_are_decoded() {
    let module = nowhere();
    let texts = [
        include_str!("../../tests/vectors/lowering_sample.json"),
        include_str!("../../tests/vectors/lowering_rows.json"),
    ];
    let (mut decoded, mut wrong) = (0, Vec::new());
    for row in texts
        .into_iter()
        .flat_map(rows_of)
        .filter(|row| row.target.as_str() >= "sm_70" || row.target.len() > 5)
    {
        for used in [false, true] {
            let row = Row {
                used,
                kind: row.kind.clone(),
                ptx: row.ptx.clone(),
                target: row.target.clone(),
                expected: row.expected.clone(),
            };
            let Ok(lines) = lowered(&row, &module) else { continue };
            let mut text = format!(".target {}\n.section .text.k,\"ax\",@progbits\n", row.target);
            for line in &lines {
                text += &match line.strip_suffix(':') {
                    Some(label) => format!(".{label}:\n"),
                    None => format!("{} ;\n", line.replace("`(L", "`(.L")),
                };
            }
            match Program::parse("k.sass", &format!("{text}EXIT ;\n")) {
                Ok(program) if program.kernels[0].unsupported().next().is_none() => decoded += 1,
                Ok(_) => wrong.push(format!("{} at {}: not known\n{text}", row.ptx, row.target)),
                Err(error) => wrong.push(format!("{} at {}: {error}\n{text}", row.ptx, row.target)),
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows are not decoded:\n{}", wrong.len(), wrong.join("\n"));
    assert!(decoded > 7000, "{decoded}");
}
