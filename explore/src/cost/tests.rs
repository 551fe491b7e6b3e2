//! Tests of the table, its formulas, and the estimate of a point that was not measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use atoms_host::programs::CELLS;
use atoms_model::Config;
use atoms_model::config::{PARAMETERS, Parameter, ParameterKind};
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::{Cache, Environment};

use super::formulas::FORMULAS;
use super::mapping::Mapper;
use super::*;

fn rtl_dir() -> PathBuf {
    atoms_host::root().join("rtl")
}

fn named(name: &str, config: Config) -> NamedConfig {
    NamedConfig { name: name.into(), about: String::new(), config, unit: None }
}

fn question<'q>(config: &'q NamedConfig, table: &'q CellTable, rtl_dir: &'q Path) -> CostQuestion<'q> {
    CostQuestion { table, ..CostQuestion::whole(rtl_dir, config) }
}

fn small(num_lanes: u32, num_banks: u32) -> Config {
    Config { num_lanes, num_banks, num_rows: 8, ..Config::default() }
}

/// Builds a table that follows known formulas: area of `atoms_alu` is 500 gate equivalents per bank plus 100;
/// its path is 10 FO4 plus log2(banks). The path of `atoms_agen` is 5 FO4 per lane; the unit's path is 7 FO4
/// longer.
fn table() -> CellTable {
    let point = |lanes: u32, banks: u32| {
        let config = small(lanes, banks);
        let area = 24.0 * (500.0 * f64::from(banks) + 100.0);
        let path = Some((0.2 * (10.0 + f64::from(banks).log2()), PathEnd::Port, PathEnd::Port));
        let figures = CellFigures { area, flip_flop_area: 0.0, path, hash: format!("alu of {banks}") };
        let path = Some((0.2 * 5.0 * f64::from(lanes), PathEnd::Port, PathEnd::Port));
        let agen = CellFigures { path, hash: format!("agen of {lanes}, {banks}"), ..figures.clone() };
        CellPoint {
            name: format!("{lanes} lanes, {banks} banks"),
            parameters: super::table::parameters_of(&config),
            path_ns: Some(0.2 * (5.0 * f64::from(lanes) + 7.0)),
            modules: [("atoms_alu".to_string(), figures), ("atoms_agen".to_string(), agen)].into(),
        }
    };
    let identity = |name: &str| name.to_string();
    CellTable {
        tools: ToolIdentity {
            yosys: identity("Yosys"),
            opensta: identity("2.0.17"),
            library: identity("cells"),
        },
        period_ns: 3.0,
        nand2_area: 24.0,
        fo4_ns: 0.2,
        sources: sources_hash(&rtl_dir()).expect("the RTL is read"),
        points: vec![point(2, 4), point(4, 4), point(4, 8), point(8, 16)],
    }
}

#[test]
#[ignore = "nightly: the table is measured again once for several changes of the RTL"]
fn the_built_in_table_is_of_this_rtl() {
    let ours = sources_hash(&rtl_dir()).expect("the RTL is read");
    assert_eq!(BUILT_IN.sources, ours, "run the example `cells` on explore/data/cells.toml");
}

#[test]
fn a_point_that_was_not_measured_is_fitted_and_says_so() {
    let (config, table, rtl_dir) = (named("large", small(32, 32)), table(), rtl_dir());
    let cost = estimate(&question(&config, &table, &rtl_dir)).expect("no tool is needed");
    let alu = cost.modules.iter().find(|row| row.module == "atoms_alu").expect("it is there");
    assert!((alu.gate_equivalents - 16_100.0).abs() < 1.0, "{}", alu.gate_equivalents);
    let path = alu.path.as_ref().expect("it has one");
    assert!((path.fo4 - 15.0).abs() < 0.01, "{path:?}");
    assert!(
        matches!(alu.origin, FigureOrigin::Fitted { error: Some(error), .. } if error < 0.01),
        "{:?}",
        alu.origin
    );
    let unit = cost.path.as_ref().expect("all were asked for");
    assert!((unit.ns - 33.4).abs() < 0.1 && (unit.mhz - 29.94).abs() < 0.1, "{unit:?}");
    assert!(!cost.table_is_stale);
    assert_eq!((cost.memory.instances, cost.memory.bits), (32, 32 * 32 * 8));
}

#[test]
fn a_point_that_is_equal_in_what_matters_is_taken_from_the_table() {
    let (table, rtl_dir) = (table(), rtl_dir());
    let config = named("deeper", Config { queue_depth: 9, ..small(2, 8) });
    let cost = estimate(&question(&config, &table, &rtl_dir)).expect("no tool is needed");
    let alu = cost.modules.iter().find(|row| row.module == "atoms_alu").expect("it is there");
    assert_eq!(alu.origin, FigureOrigin::Table, "it depends on banks alone");
    let origin = cost.path.expect("all were asked for").origin;
    assert!(matches!(origin, FigureOrigin::Fitted { .. }), "the unit depends on everything: {origin:?}");
}

#[test]
fn figures_carry_over_to_another_library_in_gates_and_inverters() {
    let (config, rtl_dir) = (named("same", small(2, 4)), rtl_dir());
    let at = |table: &CellTable| estimate(&question(&config, table, &rtl_dir)).expect("no tool is needed");
    let mut faster = table();
    faster.nand2_area /= 10.0;
    faster.points.iter_mut().flat_map(|point| point.modules.values_mut()).for_each(|of| of.area /= 10.0);
    assert_eq!(at(&table()).gate_equivalents, at(&faster).gate_equivalents);
}

#[test]
fn other_rtl_makes_the_table_stale() {
    let (config, table) = (named("same", small(2, 4)), table());
    let copy = tempfile::tempdir().expect("a folder");
    for entry in
        std::fs::read_dir(rtl_dir()).expect("the RTL").flatten().filter(|entry| entry.path().is_file())
    {
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).expect("a copy");
    }
    let stale =
        || estimate(&question(&config, &table, copy.path())).expect("no tool is needed").table_is_stale;
    let change = |from: &str, to: &str| {
        let path = copy.path().join("atoms_alu.sv");
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(text.contains(from), "{from}");
        std::fs::write(path, text.replacen(from, to, 1)).expect("written");
    };
    change("module atoms_alu", "// a comment\n\nmodule   atoms_alu // another");
    assert!(!stale(), "comments and space are no structure");
    change("old[i] + b[i]", "old[i] - b[i]");
    assert!(stale());
}

#[test]
fn a_table_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cells.toml");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("written");
        CellTable::read(&path)
    };
    let text = table().to_text();
    assert_eq!(read(&text).expect("it is one").to_text(), text);
    for (from, to, told) in [
        ("num_lanes = 2", "num_lanes = 3", "point `2 lanes, 4 banks`: num_lanes is 3: expected 2 to 32"),
        ("num_lanes = 2", "num_lane = 2", "there is no parameter `num_lane`"),
        ("nand2_area", "nand_area", "unknown field `nand_area`"),
        ("[[point]]", "[[point]", "TOML parse error at line"),
    ] {
        let error = read(&table().to_text().replacen(from, to, 1)).expect_err(told).to_string();
        assert!(error.contains(told) && error.contains("cells.toml"), "{error}");
    }
}

#[test]
fn a_table_holds_one_library_and_one_rtl() {
    let path = Path::new("cells.toml");
    let (mut into, new) = (table(), CellTable { points: vec![table().points.remove(1)], ..table() });
    let mut more = new.clone();
    more.points[0].path_ns = None;
    let alu = more.points[0].modules.remove("atoms_alu").expect("it is there");
    more.points[0].modules.insert("atoms_mbar".into(), alu);
    into.record(path, &more).expect("it is of the same");
    assert_eq!(into.points.len(), 4, "a point that is there gets more modules");
    assert_eq!(into.points[1].modules.len(), 3);
    assert_eq!(into.points[1].path_ns, table().points[1].path_ns, "and keeps its path");
    let other = CellTable { sources: "other".into(), ..new.clone() };
    let error = into.record(path, &other).expect_err("other RTL").to_string();
    assert_eq!(error, "`cells.toml`: the table was measured with different RTL; name a new file");
    let mut empty = CellTable { points: Vec::new(), sources: String::new(), ..table() };
    empty.record(path, &new).expect("it is empty");
    assert_eq!((empty.points.len(), empty.sources), (1, table().sources));
}

/// The committed table has enough points of every module to compute the error of its formula.
#[test]
fn the_committed_table_fits_every_module() {
    let formulas = BUILT_IN.formulas();
    for formula in FORMULAS {
        let [area, path] = ["area", "path"].map(|figure| {
            formulas.iter().find(|fitted| fitted.of == formula.module && fitted.figure == figure)
        });
        let area = area.unwrap_or_else(|| panic!("{} was never measured", formula.module));
        assert!(path.is_some() || formula.module == "atoms_unit", "{} has no path", formula.module);
        if !formula.parameters.is_empty() {
            assert!(area.points >= 3, "{}: {} points", formula.module, area.points);
        }
    }
    let points = BUILT_IN.points.iter().filter(|point| point.path_ns.is_some()).count();
    assert!(points >= 3, "the whole unit was timed at {points} points");
    assert_eq!(
        CellTable::clone(&BUILT_IN).to_text(),
        include_str!("../../data/cells.toml"),
        "as the example `cells` writes it"
    );
}

fn tools(choice: ToolChoice) -> Option<(CostTools, Cache)> {
    let env = Environment::from_process();
    CELLS.find()?;
    let tools = CostTools::find(&env, &choice, &mut |_| {});
    assert!(tools.is_ok() || std::env::var_os("CI").is_none(), "{tools:?}");
    Some((tools.ok()?, Cache::new(&env)))
}

#[test]
#[ignore = "nightly: needs OpenSTA"]
fn cells_are_found_however_their_functions_are_written() {
    let liberty = atoms_host::root().join("explore/tests/functions.lib");
    let choice = ToolChoice { liberty: Some(liberty), ..ToolChoice::default() };
    let Some((tools, cache)) = tools(choice) else { return };
    let library = Mapper::new(&tools, &cache, MappingGoal::default()).expect("the library is read").library;
    let found = [library.nand2, library.inverter, library.driver, library.flip_flop].map(|cell| cell.name);
    assert_eq!(found, ["ND", "INV", "INV2", "DFF"]);
}

/// A table entry applies to all points with equal values of the parameters that [`FORMULAS`] lists for the
/// module, so these lists must be exact.
#[test]
#[ignore = "nightly: elaborates the RTL thirty times"]
fn a_module_depends_on_the_parameters_of_its_formula_alone() {
    let Some((tools, cache)) = tools(ToolChoice::default()) else { return };
    let mapper = Mapper::new(&tools, &cache, MappingGoal::default()).expect("the library is read");
    let structures = |config: Config| -> BTreeMap<String, String> {
        let design = mapper.elaborate(&rtl_dir(), &named("varied", config)).expect("it is elaborated");
        design.modules.into_iter().map(|module| (module.name, fingerprint(&module.text))).collect()
    };
    let plain = Config { num_cta_slots: 4, spin_hold: 8, ..small(4, 8) };
    // Some parameters affect the RTL only if an option is on.
    let merging = Config { merge_red: true, merge_arrive: true, bank_hash: true, forwarding: false, ..plain };
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for base in [plain, merging] {
        let usual = structures(base);
        let varied = |parameter: &Parameter| {
            let mut config = base;
            let value = match (parameter.kind, (parameter.get)(&base)) {
                (ParameterKind::Number(_, _, true), value) => 2 * value,
                (ParameterKind::Number(..), value) => value + 1,
                (ParameterKind::Flag | ParameterKind::Choice(_), value) => u32::from(value == 0),
            };
            (parameter.set)(&mut config, value);
            structures(config)
        };
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = PARAMETERS.iter().map(|p| scope.spawn(|| varied(p))).collect();
            threads.into_iter().map(|thread| thread.join().expect("it is elaborated")).collect()
        });
        for (parameter, varied) in PARAMETERS.iter().zip(all) {
            for formula in FORMULAS.iter().filter(|of| varied[of.module] != usual[of.module]) {
                found.entry(formula.module).or_default().push(parameter.name);
            }
        }
    }
    let mut missing = Vec::new();
    for formula in FORMULAS {
        for name in found.get(formula.module).into_iter().flatten() {
            if !formula.parameters.contains(name) {
                missing.push(format!("{} depends on {name}", formula.module));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(found["atoms_alu"].contains(&"num_banks"), "the parameters reach the RTL");
}

/// Returns the sorted lines of a module without the names that Yosys generated. Their numbers depend on other
/// modules.
fn fingerprint(text: &str) -> String {
    let word =
        |word: &str| if word.trim_matches('"').starts_with("$n") { "$".into() } else { word.to_string() };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = text.lines().map(line).collect();
    lines.sort();
    lines.join("\n")
}
