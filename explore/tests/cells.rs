//! Cost with the real tools if this machine has them, and the errors if it does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use atoms_explore::cost::{
    BUILT_IN, CostError, CostQuestion, CostTools, FigureOrigin, MappingGoal, ModuleCost, ToolChoice,
    UnitCost, measure, sources_hash,
};
use atoms_host::programs::CELLS;
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_verilated::{Cache, Environment};

fn rtl_dir() -> PathBuf {
    atoms_host::root().join("rtl")
}

fn config(name: &str) -> NamedConfig {
    configs::named(&rtl_dir(), name).expect("it is there")
}

/// Returns the tools; `None` if they are missing. The test is then skipped with a message.
fn tools() -> Option<CostTools> {
    CELLS.find()?;
    match CostTools::find(&Environment::from_process(), &ToolChoice::default(), &mut |_| {}) {
        Ok(tools) => Some(tools),
        Err(error) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "{error}; with CI set in the environment nothing is skipped"
            );
            // Write to stderr directly, since the test harness captures `eprintln!`.
            let _ =
                std::io::Write::write_all(&mut std::io::stderr(), format!("skipped: {error}\n").as_bytes());
            None
        }
    }
}

fn cache(folder: &Path) -> Cache {
    Cache::new(&Environment { cache: Some(folder.join("cache")), ..Environment::from_process() })
}

fn ask(
    config: &NamedConfig,
    module: &str,
    tools: &CostTools,
    cache: &Cache,
    seconds: u64,
) -> Result<UnitCost, CostError> {
    let (rtl_dir, modules) = (rtl_dir(), [module.to_string()]);
    let question = CostQuestion { modules: &modules, ..CostQuestion::whole(&rtl_dir, config) };
    let goal = MappingGoal { period_ns: 3.0, limit: Duration::from_secs(seconds) };
    measure(&question, tools, cache, goal, &|_| {})
}

fn only(cost: UnitCost) -> ModuleCost {
    let [row] = <[ModuleCost; 1]>::try_from(cost.modules).expect("one module was asked for");
    row
}

/// Maps a module from the RTL and compares its figures with the committed table.
#[test]
#[ignore = "nightly: needs OpenSTA"]
fn a_module_is_mapped_once_and_again_where_the_cache_is_damaged() {
    let Some(tools) = tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (tiny, cache) = (config("tiny"), cache(folder.path()));
    let spin =
        || only(ask(&tiny, "atoms_spin", &tools, &cache, 600).unwrap_or_else(|error| panic!("{error}")));
    let first = spin();
    assert_eq!(first.origin, FigureOrigin::Mapped);
    assert!(first.area > 0.0 && first.path.is_some(), "{first:?}");
    let again = spin();
    assert_eq!(again, ModuleCost { origin: FigureOrigin::Cached, ..first.clone() });
    let entries = fs::read_dir(folder.path().join("cache")).expect("a cache").flatten();
    let entry = entries.map(|entry| entry.path().join("mapped.json")).find(|file| file.is_file());
    fs::write(entry.expect("figures are kept"), "{}").expect("written");
    assert_eq!(spin(), first, "what is damaged is not believed");

    let table = &*BUILT_IN;
    if table.sources == sources_hash(&rtl_dir()).expect("the RTL is read") && table.tools == tools.identity {
        let point = table.points.iter().find(|point| point.name == "tiny").expect("it was measured");
        let kept = &point.modules["atoms_spin"];
        assert_eq!(Some(kept.hash.as_str()), first.hash.as_deref(), "the table is of this RTL, it says");
        assert!((kept.area - first.area).abs() < 0.1, "{kept:?} {first:?}");
    }
}

#[test]
#[ignore = "nightly: needs OpenSTA"]
fn a_module_that_takes_too_long_is_fitted_and_says_so() {
    let Some(tools) = tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    // This module is not in the table, and mapping takes far more than a second.
    let mut wide = config("default");
    wide.config.queue_depth = 7;
    let row = only(ask(&wide, "atoms_operands", &tools, &cache(folder.path()), 1).expect("it goes on"));
    match &row.origin {
        FigureOrigin::Fitted { error: Some(error), why } => {
            assert_eq!(why, "a tool ran longer than 1 s on atoms_operands");
            assert!(*error > 0.0 && row.area > 0.0);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "nightly: needs OpenSTA"]
fn an_unknown_module_is_refused_with_those_there_are() {
    let Some(tools) = tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let error = ask(&config("tiny"), "atoms_adder", &tools, &cache(folder.path()), 600).expect_err("none");
    let text = error.to_string();
    assert!(text.starts_with("no module `atoms_adder`; there are ") && text.contains("atoms_alu"), "{text}");
}

/// An environment without any tool, except scripts in `folder`.
fn bare(folder: &Path) -> Environment {
    Environment {
        verilator_root: None,
        path: folder.join("bin").into(),
        cxx: None,
        target: folder.join("target"),
        store: folder.join("store"),
        cache: None,
        cache_mb: None,
    }
}

fn script(path: &Path, body: &str) {
    fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
    fs::write(path, format!("#!/bin/sh\n{body}\n")).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

const THREE_CELLS: &str = r#"{ "modules": {
  "INV": { "attributes": { "area": "16" }, "netnames": { "A": { "attributes": { "capacitance": "0.009" } } },
    "ports": { "A": { "direction": "input", "bits": [2] }, "Y": { "direction": "output", "bits": [3] } },
    "cells": { "a": { "type": "$_NOT_", "connections": { "A": [2], "Y": [3] } } } },
  "ND": { "attributes": { "area": "24" }, "netnames": { "A": { "attributes": { "capacitance": "0.01" } } },
    "ports": { "A": { "direction": "input", "bits": [2] }, "B": { "direction": "input", "bits": [3] },
      "Y": { "direction": "output", "bits": [4] } },
    "cells": { "a": { "type": "$_NAND_", "connections": { "A": [2], "B": [3], "Y": [4] } } } },
  "DFF": { "attributes": { "area": "96" }, "netnames": { "CK": { "attributes": { "capacitance": "0.03" } } },
    "ports": { "CK": { "direction": "input", "bits": [2] }, "D": { "direction": "input", "bits": [3] },
      "Q": { "direction": "output", "bits": [4] } },
    "cells": { "a": { "type": "$_DFF_P_", "connections": { "C": [2], "D": [3], "Q": [4] } } } }
} }"#;

/// Creates a fake Yosys that reads any library as [`THREE_CELLS`], and runs `on_rtl` on RTL.
fn yosys(path: &Path, on_rtl: &str) {
    let read =
        format!("grep -q read_liberty script.ys && cat >cells.json <<'END' && exit\n{THREE_CELLS}\nEND\n");
    script(path, &format!("[ \"$1\" = -V ] && echo 'Yosys 0.70 (a stand-in)' && exit\n{read}{on_rtl}"));
}

#[test]
fn what_is_missing_is_named_with_what_installs_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let env = bare(folder.path());
    let (bin, library) = (folder.path().join("bin"), folder.path().join("cells.lib"));
    let mut choice = ToolChoice { liberty: Some(library.clone()), ..ToolChoice::default() };
    let find = |choice: &ToolChoice| {
        let error = CostTools::find(&env, choice, &mut |_| {}).expect_err("something is missing");
        (error.is_missing(), error.to_string())
    };
    let (missing, text) = find(&choice);
    assert!(
        missing && text.contains("no `sta` on PATH") && text.contains("apt-get install opensta"),
        "{text}"
    );
    script(&bin.join("sta"), "echo 2.0.17");
    let (missing, text) = find(&choice);
    assert!(missing && text.contains("qflow-tech-osu018") && text.contains("--liberty"), "{text}");
    fs::write(&library, "library(four) {}").expect("written");
    let (missing, text) = find(&choice);
    assert!(missing && text.contains("cannot install Yosys") && text.contains("ATOMS_YOSYS"), "{text}");
    choice.yosys = Some(folder.path().join("no-yosys"));
    let (missing, text) = find(&choice);
    assert!(missing && text.contains("ATOMS_YOSYS is") && text.contains("no-yosys"), "{text}");
    choice.yosys = Some(bin.join("yosys"));
    yosys(&bin.join("yosys"), "");
    let tools = CostTools::find(&env, &choice, &mut |_| {}).expect("all is there");
    assert_eq!(tools.identity.yosys, "Yosys 0.70 (a stand-in)");
    assert!(tools.identity.library.starts_with("cells "), "{:?}", tools.identity);
}

#[test]
fn a_tool_that_fails_is_shown_with_its_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = folder.path().join("bin");
    let choice = ToolChoice {
        liberty: Some(folder.path().join("cells.lib")),
        yosys: Some(bin.join("yosys")),
        sta: None,
    };
    fs::write(folder.path().join("cells.lib"), "library(four) {}").expect("written");
    yosys(&bin.join("yosys"), "echo 'ERROR: no such command: read_slang' >&2; exit 1");
    script(
        &bin.join("sta"),
        "[ \"$1\" = -version ] && echo 2 && exit\necho 'Error: script.tcl, 1 no such cell'",
    );
    let tools = CostTools::find(&bare(folder.path()), &choice, &mut |_| {}).expect("all is there");
    let fails = |tools: &CostTools| {
        ask(&config("tiny"), "atoms_spin", tools, &cache(folder.path()), 600)
            .expect_err("it fails")
            .to_string()
    };
    assert_eq!(fails(&tools), "OpenSTA failed on a chain of inverters:\nError: script.tcl, 1 no such cell");
    let stage = |stage: usize| format!("[0.{stage}, \"i{stage}_0/Y\"]");
    let report = (0..6).map(stage).collect::<Vec<_>>().join(", ");
    let report = format!("[{{\"slack\": 0.5, \"points\": [{report}]}}]");
    script(
        &bin.join("sta"),
        &format!("[ \"$1\" = -version ] && echo 2 && exit\ncat >paths.json <<'END'\n{report}\nEND"),
    );
    assert_eq!(fails(&tools), "Yosys failed on the RTL:\nERROR: no such command: read_slang");
    let library = folder.path().join("cells.lib").display().to_string();
    script(
        &bin.join("yosys"),
        "[ \"$1\" = -V ] && echo Yosys && exit\necho 'ERROR: Syntax error in line 1.' >&2; exit 1",
    );
    fs::write(folder.path().join("cells.lib"), "module none;").expect("written");
    let tools = CostTools::find(&bare(folder.path()), &choice, &mut |_| {}).expect("all is there");
    assert_eq!(fails(&tools), format!("Yosys failed on {library}:\nERROR: Syntax error in line 1."));
    script(
        &bin.join("yosys"),
        "[ \"$1\" = -V ] && echo Yosys && exit\necho '{ \"modules\": {} }' >cells.json",
    );
    assert_eq!(fails(&tools), format!("`{library}`: it has no NAND of two inputs"));
}
