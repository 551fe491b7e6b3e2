//! What `atom` and `red` become, held against what a real assembler makes of the same lines [TOOLS].
//!
//! Compared is, in order and with modifiers and guards: every memory instruction, fence, branch, label,
//! convergence barrier and warp-wide operation, and between a loop's label and the branch back to it
//! everything. Left out are
//! - moves, wherever they stand: `MOV`, `IMAD.MOV.U32`, `UMOV`, `MOV.64`, and the multiply-adds that compilers
//!   move constants with (`HFMA2 R0, -RZ, RZ, ...`, `IMAD.U32 R0, RZ, RZ, UR4`): which of them is taken, and
//!   where, depends on what else the kernel does;
//! - arithmetic outside loops: addresses, those of the kernel's parameters among them (`IADD3`, `ULEA`,
//!   `ISCADD`, ...), and the shift and selector of a half;
//! - `HFMA2` and `XMAD` in rows that have their registers renamed, whose maker took them for moves;
//! - inside loops, adding an offset that does not fit in 24 bits to the address;
//! - `EXIT`, and `SSY` before sm_70, which the rows do not have, or only some.
//!
//! How many rows agree in every instruction, moves and addresses too, is printed beside it (`--nocapture`).

use atoms_isa::lower::{Frame, lower};
use atoms_isa::ptx::{Function, Module, snippet};
use atoms_isa::{Arch, ptx};
use serde_json::Value;
use std::collections::BTreeMap;

/// One line at one architecture.
struct Row {
    kind: String,
    target: String,
    ptx: String,
    used: bool,
    /// What the assembler makes of it, or what it says.
    expected: Result<Vec<String>, String>,
}

fn rows() -> Vec<Row> {
    let text = include_str!("../../tests/vectors/lowering_sample.json");
    rows_of(text)
}

fn rows_of(text: &str) -> Vec<Row> {
    let rows: Vec<Value> = serde_json::from_str(text).expect("the rows are readable");
    let text = |v: &Value| v.as_str().expect("a text").to_string();
    let list = |v: &Value| v.as_array().expect("a list").iter().map(text).collect::<Vec<_>>();
    let mut all = Vec::new();
    for row in &rows {
        let kind = text(&row["kind"]);
        if kind.starts_with("mbarrier") {
            continue;
        }
        for target in list(&row["targets"]) {
            let expected =
                if row["status"] == "ok" { Ok(list(&row["sass"])) } else { Err(text(&row["error"])) };
            let (used, ptx) = (kind.ends_with("/used"), text(&row["ptx"]));
            all.push(Row { kind: kind.clone(), target, ptx, used, expected });
        }
    }
    all
}

/// An empty module: loose instructions belong to none.
fn nowhere() -> Module<'static> {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n";
    Module::parse("nowhere", text).expect("an empty module")
}

fn lowered(row: &Row, module: &Module<'_>) -> Result<Vec<String>, String> {
    let arch = Arch::from_name(&row.target).expect("an architecture");
    let function: Function<'_> = snippet(&row.ptx).map_err(|e| format!("{e:?}"))?;
    let mut frame = Frame::new();
    frame.begin();
    let instruction: &ptx::Instruction<'_> = function.instructions.first().expect("an instruction");
    let sequence = lower(module, &function, instruction, row.used, arch, &mut frame);
    sequence.expect("it is lowered").map(|s| s.lines).map_err(|refusal| refusal.message)
}

/// How closely two sequences are looked at.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    /// As said above.
    Shape,
    /// Every instruction but `EXIT`.
    Everything,
}

fn guard(line: &str) -> (&str, &str) {
    match line.strip_prefix('@') {
        Some(rest) => {
            let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            (if name.starts_with('!') { "@!" } else { "@" }, rest)
        }
        None => ("", line),
    }
}

fn is_move(mnemonic: &str, operands: &str) -> bool {
    let constant = |from: &str| operands.split_once(", ").is_some_and(|(_, rest)| rest.starts_with(from));
    match mnemonic.split('.').next().unwrap_or("") {
        "MOV" | "MOV32I" | "UMOV" | "CS2R" | "S2R" | "S2UR" | "PRMT" if mnemonic != "PRMT" => true,
        "IMAD" if mnemonic.starts_with("IMAD.MOV") => true,
        "IMAD" => mnemonic == "IMAD.U32" && constant("RZ, RZ"),
        "HFMA2" => constant("-RZ, RZ"),
        _ => false,
    }
}

/// Whether an instruction adds an offset that does not fit beside the register, as some loops do in each round.
fn is_far_offset(mnemonic: &str, operands: &str) -> bool {
    let parts: Vec<_> = operands.split(", ").filter(|p| !matches!(*p, "PT" | "RZ")).collect();
    let [to, from, offset] = parts[..] else { return false };
    let digits = offset.trim_start_matches('-').trim_start_matches("0x");
    let far = i64::from_str_radix(digits, 16).is_ok_and(|n| n >= 0x80_0000);
    let plain = |r: &str| r.starts_with('R') && !r.ends_with(".CC");
    matches!(mnemonic, "IADD3" | "IADD" | "VIADD" | "IADD32I") && plain(to) && plain(from) && far
}

/// Whether an instruction counts outside loops too.
fn counts(mnemonic: &str) -> bool {
    const ALWAYS: &[&str] = &[
        "ATOM",
        "ATOMG",
        "ATOMS",
        "RED",
        "REDG",
        "LD",
        "LDG",
        "LDS",
        "ST",
        "STG",
        "STS",
        "MEMBAR",
        "ERRBAR",
        "CGAERRBAR",
        "CCTL",
        "FENCE",
        "BRA",
        "BSSY",
        "BSYNC",
        "BMOV",
        "SYNC",
        "QSPC",
        "VOTE",
        "VOTEU",
        "SHFL",
        "REDUX",
        "CREDUX",
        "POPC",
        "FLO",
        "UFLO",
    ];
    ALWAYS.contains(&mnemonic.split('.').next().unwrap_or(""))
}

/// What of a sequence is compared; labels as the number of their first mention.
fn shape(lines: &[String], look: Look, renamed: bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut number = |name: &str| {
        let at = names.iter().position(|n| n == name).unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        });
        format!("L{at}")
    };
    let target = |line: &str| {
        let last = line.rsplit([' ', '(']).next().unwrap_or("").trim_end_matches(')');
        last.starts_with('L').then(|| last.to_string())
    };
    // Loops: from a label to the last branch back to it.
    let place = |name: &str| lines.iter().position(|l| l.strip_suffix(':') == Some(name));
    let mut inside = vec![false; lines.len()];
    for (at, line) in lines.iter().enumerate() {
        let branches = guard(line).1.starts_with("BRA");
        if let Some(start) = target(line).and_then(|t| place(&t)).filter(|s| branches && *s < at) {
            inside[start..at].iter_mut().for_each(|i| *i = true);
        }
    }
    let jumps = |l: &&String| !l.ends_with(':') && !l.starts_with("SSY");
    let mentioned: Vec<String> = lines.iter().filter(jumps).filter_map(|l| target(l)).collect();
    let mut seen = Vec::new();
    for (line, inside) in lines.iter().zip(inside) {
        if let Some(label) = line.strip_suffix(':') {
            if mentioned.iter().any(|m| m == label) {
                seen.push(format!("{}:", number(label)));
            }
            continue;
        }
        let (guard, rest) = guard(line);
        let (mnemonic, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        if mnemonic == "EXIT" || mnemonic == "S2R" || mnemonic == "S2UR" {
            continue;
        }
        let taken_for_move = renamed && (mnemonic == "HFMA2" || mnemonic.starts_with("XMAD"));
        let aside = is_move(mnemonic, operands) || is_far_offset(mnemonic, operands) || taken_for_move;
        let aside = aside || mnemonic == "SSY";
        if look != Look::Everything && (aside || !(inside || counts(mnemonic))) {
            continue;
        }
        let label = target(line).map_or(String::new(), |t| format!(" {}", number(&t)));
        seen.push(format!("{guard}{mnemonic}{label}"));
    }
    seen
}

/// Rows of each kind at one architecture. Those at sm_50 lack two that need 64-bit float addition.
const COUNTS: [(&str, usize); 5] =
    [("addr", 69), ("imm", 106), ("misc", 1), ("optype", 216), ("semscope", 125)];

/// Agreement of the rows of one kind at one architecture.
#[derive(Default)]
struct Tally {
    rows: usize,
    agree: usize,
    everything: usize,
}

/// Every row agrees, and every refusal is in the assembler's words.
#[test]
fn rows_agree() {
    let module = nowhere();
    let mut table: BTreeMap<(String, String), Tally> = BTreeMap::new();
    let mut different = Vec::new();
    for row in &rows() {
        let kind = row.kind.split('/').next().unwrap_or("").to_string();
        let renamed = kind != "optype";
        let tally = table.entry((kind, row.target.clone())).or_default();
        let found = lowered(row, &module);
        let seen = |look| {
            let expected = row.expected.as_ref().map(|lines| shape(lines, look, renamed));
            let found = found.as_ref().map(|lines| shape(lines, look, renamed));
            (expected == found, format!("wants {expected:?}\n  finds {found:?}"))
        };
        let (agree, difference) = seen(Look::Shape);
        tally.rows += 1;
        tally.agree += usize::from(agree);
        tally.everything += usize::from(seen(Look::Everything).0);
        if !agree {
            different.push(format!("{} at {}, {}\n  {difference}", row.ptx, row.target, row.kind));
        }
    }
    for ((kind, target), Tally { rows, agree, everything }) in &table {
        println!("{kind:9} {target:7} {agree:4} of {rows:4}, in every instruction {everything:4}");
    }
    assert!(different.is_empty(), "{} rows differ:\n{}", different.len(), different.join("\n"));
    for ((kind, target), tally) in &table {
        let expected = COUNTS.iter().find(|(k, _)| k == kind).map_or(0, |(_, n)| *n);
        let lacking = if kind == "imm" && target == "sm_50" { 2 } else { 0 };
        assert_eq!(tally.rows, expected - lacking, "{kind} at {target}");
    }
    assert_eq!(table.len(), COUNTS.len() * 11, "eleven architectures");
}
