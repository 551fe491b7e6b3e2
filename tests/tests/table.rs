//! Lists that exist once per language are equal: operations, sizes, faults, parameters and ports. The legal
//! pairs of operation and size are those of spec 3.

use std::collections::BTreeMap;

use atoms_model::Config;
use atoms_model::config::PARAMETERS;
use atoms_model::port::{Field, In, Out, Probe, Shape};
use atoms_ops::{Fault, OPS, Size, legal};
use atoms_oracle::{Allocation, Checker, Geometry, Rejection, Response, SerialRequest};
use atoms_tests::{all_configs, text_of};

/// Returns the bits and the values of an enum in `rtl/atoms_op_pkg.sv`, in declaration order.
fn rtl_enum(name: &str) -> (u32, Vec<(String, u32)>) {
    let text = text_of("rtl/atoms_op_pkg.sv");
    let (before, _) = text.split_once(&format!("}} {name};")).unwrap_or_else(|| panic!("no enum {name}"));
    let (head, body) = before.rsplit_once('{').expect("an enum has a body");
    let range = head.rsplit_once('[').expect("an enum has a range").1;
    let high: u32 = range.split(':').next().expect("a range").trim().parse().expect("a number");
    let value = |line: &str| {
        let line = line.split("//").next()?.trim().trim_end_matches(',');
        let (name, code) = line.split_once('=')?;
        let code = code.trim().split_once("'d").expect("codes are written as 5'd0").1;
        Some((name.trim().to_string(), code.parse().expect("a decimal code")))
    };
    (high + 1, body.lines().filter_map(value).collect())
}

fn bits_of(fields: &[Field], name: &str) -> u32 {
    match fields.iter().find(|field| field.name == name).map(|field| field.shape) {
        Some(Shape::Scalar(bits)) => bits,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn op_e_is_the_operation_table() {
    let expected: Vec<_> = OPS.iter().map(|row| (row.op.rtl_name().to_string(), row.op as u32)).collect();
    assert_eq!(rtl_enum("op_e"), (bits_of(In::FIELDS, "req_op"), expected));
    assert_eq!(bits_of(In::FIELDS, "cl_op"), bits_of(In::FIELDS, "req_op"));
}

#[test]
fn size_e_is_the_list_of_sizes() {
    let expected: Vec<_> = Size::ALL.iter().map(|size| (size.rtl_name().to_string(), *size as u32)).collect();
    assert_eq!(rtl_enum("size_e"), (bits_of(In::FIELDS, "req_size"), expected));
    assert_eq!(bits_of(In::FIELDS, "cl_size"), bits_of(In::FIELDS, "req_size"));
}

#[test]
fn fault_e_is_the_list_of_faults() {
    let expected: Vec<_> =
        Fault::ALL.iter().map(|fault| (fault.rtl_name().to_string(), *fault as u32)).collect();
    assert_eq!(rtl_enum("fault_e"), (bits_of(Out::FIELDS, "rsp_fault"), expected));
}

/// The oracle has its own table of legal pairs. It must demand `illegal instruction` for every other pair,
/// and reject it for a legal pair. The proofs compare the RTL with a third table, in
/// `rtl/formal/spec_pkg.sv`.
#[test]
fn the_oracle_finds_the_same_pairs_legal() {
    let geometry = Geometry { lanes: 2, banks: 4, rows: 2, xor_hash: false };
    let wrong_fault = |rejection: &Rejection| rejection.about() == "fault";
    for op in 0..=u8::MAX {
        for size in 0..=u8::MAX {
            let mut checker = Checker::new(geometry);
            checker.set_allocation(0, Some(Allocation { base_row: 0, size_bytes: 32, rank: 0 }));
            let request = SerialRequest { op, size, mask: 1, ..SerialRequest::default() };
            let illegal = Response { fault: Fault::Illegal, ..Response::default() };
            let verdict = checker.request(&request, &illegal, Some(&[]));
            if legal(op, size) {
                assert!(verdict.as_ref().is_err_and(wrong_fault), "op {op}, size {size}: {verdict:?}");
            } else {
                assert_eq!(verdict, Ok(()), "op {op}, size {size}");
                let done = checker.request(&request, &Response::default(), None);
                assert!(done.as_ref().is_err_and(wrong_fault), "op {op}, size {size}: {done:?}");
            }
        }
    }
}

#[test]
fn the_default_configuration_is_that_of_the_parameter_list() {
    let default = all_configs().into_iter().find(|named| named.name == "default");
    assert_eq!(default.map(|named| named.config), Some(Config::default()));
}

#[test]
fn parameters_have_the_names_of_the_list() {
    let text = text_of("rtl/atoms_cfg_pkg.sv");
    let declared: Vec<_> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("parameter "))
        .map(|line| line.split('=').next().expect("a value").split_whitespace().last().expect("a name"))
        .collect();
    let listed: Vec<_> = PARAMETERS.iter().map(|parameter| parameter.rtl_name).collect();
    assert_eq!(declared, listed);
}

/// Every configuration is valid, has a description, and differs from all others.
#[test]
fn every_configuration_is_one() {
    let configs = all_configs();
    for (at, named) in configs.iter().enumerate() {
        assert_eq!(named.config.check(), Ok(()), "{}", named.name);
        assert!(!named.about.is_empty(), "{} says what it is for", named.name);
        let twin = configs[..at].iter().find(|other| other.config == named.config);
        assert!(twin.is_none(), "{} is {twin:?}", named.name);
    }
}

/// Every parameter differs from its default in some configuration. Otherwise no test would use it.
#[test]
fn every_parameter_is_turned_on() {
    let (configs, default) = (all_configs(), Config::default());
    for parameter in PARAMETERS {
        let turned = configs.iter().any(|named| (parameter.get)(&named.config) != (parameter.get)(&default));
        assert!(turned, "no configuration changes {}", parameter.name);
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}

fn rtl_ports() -> BTreeMap<String, Direction> {
    let text = text_of("rtl/atoms_unit.sv");
    let header = text.split_once("module atoms_unit").expect("the module").1;
    let header = header.split_once("\n);").expect("the end of its header").0;
    header
        .lines()
        .filter_map(|line| {
            let line = line.split("//").next()?.trim();
            let direction = match line.split_whitespace().next()? {
                "input" => Direction::In,
                "output" => Direction::Out,
                _ => return None,
            };
            let name = line.trim_end_matches(',').split_whitespace().last()?;
            Some((name.to_string(), direction))
        })
        .collect()
}

#[test]
fn ports_are_the_fields_of_the_port_list() {
    let mut listed = BTreeMap::from([("clk_i".to_string(), Direction::In)]);
    let mut list = |name: String, direction| assert!(listed.insert(name, direction).is_none(), "twice");
    for field in In::FIELDS {
        let name = if field.name == "rst_n" { "rst_ni".to_string() } else { format!("{}_i", field.name) };
        list(name, Direction::In);
    }
    for field in Out::FIELDS {
        list(format!("{}_o", field.name), Direction::Out);
    }
    for field in Probe::FIELDS {
        list(format!("probe_{}_o", field.name), Direction::Out);
    }
    let ports = rtl_ports();
    for (name, direction) in &listed {
        assert_eq!(ports.get(name), Some(direction), "{name} of the port list, in rtl/atoms_unit.sv");
    }
    for (name, direction) in &ports {
        assert_eq!(listed.get(name), Some(direction), "{name} of rtl/atoms_unit.sv, in the port list");
    }
}

/// Every port has a `///` comment in the line before it, and every module has an assertion.
#[test]
fn modules_describe_their_ports_and_assert() {
    for file in text_of("rtl/atoms.f").lines().filter(|line| line.ends_with(".sv")) {
        let text = text_of(&format!("rtl/{file}"));
        let Some((_, module)) = text.split_once("\nmodule ") else { continue };
        let (header, body) = module.split_once("\n);").expect("the end of its header");
        let mut before = "";
        for line in header.lines().map(str::trim) {
            let port = line.starts_with("input ") || line.starts_with("output ");
            assert!(!port || before.starts_with("///"), "{file}: no `///` line before `{line}`");
            before = line;
        }
        assert!(body.contains("`ATOMS_ASSERT"), "{file} asserts nothing");
    }
}

#[test]
fn the_fusesoc_core_lists_the_sources_of_the_file_list() {
    let sources = |text: &str| -> Vec<String> {
        let names = text.lines().map(|line| line.trim().trim_start_matches("- "));
        names.filter(|name| name.ends_with(".sv") && !name.starts_with("//")).map(str::to_string).collect()
    };
    let list = sources(include_str!("../../rtl/atoms.f"));
    assert!(!list.is_empty());
    assert_eq!(sources(include_str!("../../rtl/atoms.core")), list);
}

/// Runs Verilator with the sources and options of the core's `lint` target, waivers first as FuseSoC does.
#[test]
fn the_fusesoc_core_lints_without_a_warning() {
    let core = text_of("rtl/atoms.core");
    let (_, options) = core.split_once("verilator_options: [").expect("the lint target has options");
    let (options, _) = options.split_once(']').expect("they end");
    let options: Vec<_> = options.split(',').map(|option| option.trim().trim_matches('"')).collect();
    let environment = atoms_verilated::Environment::from_process();
    let tools = atoms_cosim::rtl::toolchain(&environment, &mut |_| {}).expect("a Verilator");
    let rtl = atoms_cosim::embedded::rtl_dir();
    let mut command = tools.verilator.command();
    command.args(["--lint-only", "--top-module", "atoms_unit"]).args(options).arg("lint/verilator.vlt");
    command.args(text_of("rtl/atoms.f").lines().filter(|line| line.ends_with(".sv")));
    let output = command.current_dir(rtl).output().expect("Verilator runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}
