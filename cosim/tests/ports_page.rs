//! `docs/ports.md`: every port of `rtl/atoms_unit.sv`, and pictures of the protocol from runs of the model.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;

use atoms_cosim::case::Case;
use atoms_cosim::case::trials::run_case;
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_cosim::trace::Trace;
use atoms_model::Config;
use atoms_model::port::{Field, In, Out, Probe, Shape};
use atoms_stimulus::configs;
use atoms_wave_view::{Excerpt, ExcerptSignal, WaveValue, show_svg, show_wavedrom};
use expect_test::expect_file;

const BEGIN: &str = "<!-- ports: generated from rtl/atoms_unit.sv -->\n";
const END: &str = "<!-- end -->\n";

/// Interfaces by the prefix of their ports. Of two prefixes that match, the first one counts.
const INTERFACES: [(&str, &str); 9] = [
    ("clk_", "Clock and reset"),
    ("rst_", "Clock and reset"),
    ("req_", "Warp request"),
    ("rsp_", "Warp response"),
    ("cl_rsp_", "Cluster response"),
    ("cl_", "Cluster request"),
    ("wake_", "Wake-up"),
    ("cta_", "CTA table"),
    ("probe_", "Probe, with macro `ATOMS_PROBE`"),
];

struct Port<'t> {
    direction: &'t str,
    kind: String,
    name: String,
    meaning: String,
}

fn interface_of(port: &str) -> (&str, &str) {
    let of = INTERFACES.into_iter().find(|(prefix, _)| port.starts_with(prefix));
    of.unwrap_or_else(|| panic!("{port}: no row of INTERFACES has its prefix"))
}

fn text_of(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads the port list, which has one port per line and its `///` comment before it.
fn ports(text: &str) -> Vec<Port<'_>> {
    let header = text.split_once("\n(\n").expect("a line `(` starts the port list").1;
    let header = header.split_once("\n);").expect("a line `);` ends the port list").0;
    let (mut ports, mut meaning) = (Vec::new(), String::new());
    for line in header.lines().map(str::trim) {
        let words: Vec<_> = line.trim_end_matches(',').split_whitespace().collect();
        match &words[..] {
            ["///", more @ ..] => meaning = format!("{meaning} {}", more.join(" ")).trim_start().to_string(),
            [] | ["`ifdef", "ATOMS_PROBE"] | ["`endif"] => {}
            [direction @ ("input" | "output"), kind @ .., name]
                if !(kind.is_empty() || meaning.is_empty()) =>
            {
                let (name, kind) = ((*name).to_string(), kind.join(" "));
                ports.push(Port { direction, kind, name, meaning: std::mem::take(&mut meaning) });
            }
            _ => panic!("rtl/atoms_unit.sv: `{line}` is not `input TYPE NAME` below a `///` line"),
        }
    }
    ports
}

/// Returns the bits of a port in `default`, from the port list of the model.
fn bits(name: &str) -> u32 {
    let named = |prefix: &'static str, suffix: &'static str, fields: &'static [Field]| {
        fields.iter().map(move |field| (format!("{prefix}{}{suffix}", field.name), field.shape))
    };
    let outputs = named("", "_o", Out::FIELDS).chain(named("probe_", "_o", Probe::FIELDS));
    let mut fields = named("", "_i", In::FIELDS).chain(outputs);
    let listed = if name == "rst_ni" { "rst_n_i" } else { name };
    let Config { num_lanes, num_banks, .. } = Config::default();
    match fields.find(|(field, _)| field == listed).map(|(_, shape)| shape) {
        Some(Shape::Scalar(bits)) => bits,
        Some(Shape::LaneMask) => num_lanes,
        Some(Shape::BankMask) => num_banks,
        Some(Shape::PerLane(bits)) => num_lanes * bits,
        Some(Shape::PerBank(bits)) => num_banks * bits,
        None if name == "clk_i" => 1,
        None => panic!("{name} of rtl/atoms_unit.sv is no field of model/src/port.rs"),
    }
}

/// Returns the declarations of the types that ports have, and a table of the ports.
fn table() -> String {
    let (unit, package) = (text_of("rtl/atoms_unit.sv"), text_of("rtl/atoms_pkg.sv"));
    let ports = ports(&unit);
    let types: BTreeSet<_> =
        ports.iter().flat_map(|port| port.kind.split(' ')).filter(|word| word.ends_with("_t")).collect();
    let mut table = String::from("```systemverilog\n");
    for name in types {
        let mut lines = package.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let end = format!(" {name};");
        let line = lines.find(|line| line.starts_with("typedef logic ") && line.ends_with(&end));
        table += &line.unwrap_or_else(|| panic!("rtl/atoms_pkg.sv: no `typedef logic [...] {name};`"));
        table.push('\n');
    }
    table += "```\n\n|port||type|bits|meaning|\n|---|---|---|---:|---|\n";
    let mut interface = "";
    for Port { direction, kind, name, meaning } in &ports {
        if interface_of(name).1 != interface {
            interface = interface_of(name).1;
            writeln!(table, "|**{interface}**|||||").unwrap();
        }
        writeln!(table, "|`{name}`|{direction}|`{kind}`|{}|{meaning}|", bits(name)).unwrap();
    }
    table
}

#[test]
fn the_page_has_every_port() {
    let page = expect_file!["../../docs/ports.md"];
    let text = page.data();
    let (before, rest) = text.split_once(BEGIN).expect("docs/ports.md has the marker of the ports");
    let (_, after) = rest.split_once(END).expect("docs/ports.md has the marker behind the ports");
    page.assert_eq(&format!("{before}{BEGIN}{}{END}{after}", table()));
}

#[test]
#[should_panic(expected = "`inout wire pad_io` is not `input TYPE NAME`")]
fn a_line_that_does_not_fit_is_named() {
    ports("module m\n(\n  /// Clock.\n  input  logic clk_i,\n  /// Pad.\n  inout wire pad_io\n);\n");
}

/// Returns the name of the port that a signal in a wave of the model shows; of an array, one element.
fn port_of(signal: &ExcerptSignal) -> String {
    let scopes: Vec<_> = signal.scopes.iter().skip(1).map(String::as_str).collect();
    let name = &signal.name;
    let element = name.trim_start_matches(char::is_alphabetic).parse::<u32>();
    match (&scopes[..], element) {
        (["in"], _) if name == "rst_n" => "rst_ni".to_string(),
        ([] | ["in"], _) => format!("{name}_i"),
        (["model"], _) => format!("{name}_o"),
        (["in", array], Ok(element)) => format!("{array}_i[{element}]"),
        (["model", array], Ok(element)) => format!("{array}_o[{element}]"),
        _ => signal.path(),
    }
}

/// Draws ports in some cycles of a case, as SVG and as WaveJSON. Payload is idle while its valid is 0.
fn picture(name: &str, cycles: Range<u64>, shown: &[&str]) -> [String; 2] {
    let text = text_of(&format!("tests/vectors/{name}.json"));
    let case: Case = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let config = configs::named(&rtl_dir(), &case.config).expect("the case names a configuration").config;
    let path = std::env::temp_dir().join(format!("atoms-{name}-{}.vcd", std::process::id()));
    let mut session = Session::new(ModelMachine::new(config), Some(Scoreboard::new(&config, &[])));
    session.set_trace(Some(Trace::create(&path, session.machine(), None).expect("the wave is written")));
    run_case(&mut session, &case).expect("the oracle accepts the case");
    session.take_trace().expect("still there").finish().expect("the wave is completed");
    let file = Excerpt::read(&path, 0..u64::MAX, |_| true).expect("the wave is readable");
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(path.with_extension("gtkw")));
    let period = file.period.expect("the wave has a clock");
    let window = cycles.start * period..cycles.end * period;
    let find = |port: &str| file.signals.iter().find(|signal| port_of(signal) == port);
    let signals = shown.iter().map(|port| {
        let signal = find(port).unwrap_or_else(|| panic!("the wave has no port {port}"));
        let (interface, _) = interface_of(port);
        let is_payload = !["_valid_", "_ready_", "_reject_"].iter().any(|flag| port.contains(flag));
        let valid = ["_i", "_o"].iter().find_map(|suffix| find(&format!("{interface}valid{suffix}")));
        let value = |time| match valid.filter(|_| is_payload).and_then(|valid| valid.at(time)) {
            Some(WaveValue::Bits(valid)) if valid == "0" => Some(WaveValue::Text("-".to_string())),
            _ => signal.at(time).cloned(),
        };
        let step = if *port == "clk_i" { period / 2 } else { period };
        let times = (window.start..window.end).step_by(step as usize);
        let mut changes: Vec<_> = times.filter_map(|time| Some((time, value(time)?))).collect();
        changes.dedup_by(|(_, next), (_, value)| next == value);
        ExcerptSignal { scopes: Vec::new(), name: (*port).to_string(), changes, ..signal.clone() }
    });
    let excerpt = Excerpt { signals: signals.collect(), window: window.clone(), ..file.clone() };
    let (mut svg, mut json) = (String::new(), String::new());
    show_svg(&mut svg, &excerpt).expect("the picture is small");
    show_wavedrom(&mut json, &excerpt).expect("a string takes all");
    [svg, json]
}

#[test]
fn the_pictures_show_the_cases() {
    macro_rules! compare {
        ($case:literal, $cycles:expr, $shown:expr) => {
            let [svg, json] = picture($case, $cycles, &$shown.split(' ').collect::<Vec<_>>());
            expect_file![concat!("../../docs/images/", $case, ".svg")].assert_eq(&svg);
            expect_file![concat!("../../docs/images/", $case, ".json")].assert_eq(&json);
        };
    }
    compare!(
        "ports_cta",
        0..13,
        "clk_i rst_ni cta_valid_i cta_ready_o cta_slot_i cta_enable_i cta_base_i \
             cta_size_i cta_reject_o req_valid_i req_slot_i"
    );
    compare!(
        "ports_warp",
        0..13,
        "clk_i req_valid_i req_ready_o req_op_i req_tag_i req_mask_i probe_pass_served_o \
             rsp_valid_o rsp_ready_i rsp_tag_o rsp_passes_o rsp_rd_o[0] rsp_rd_o[1] rsp_rd_o[2]"
    );
    compare!(
        "ports_cluster",
        0..11,
        "clk_i cl_valid_i cl_ready_o cl_op_i cl_red_i cl_tag_i cl_b_i cl_rsp_valid_o \
             cl_rsp_ready_i cl_rsp_tag_o cl_rsp_rd_o cl_rsp_pred_o"
    );
    compare!(
        "ports_wait",
        0..13,
        "clk_i req_valid_i req_tag_i req_mask_i probe_wait_suspended_o rsp_valid_o rsp_tag_o wake_valid_o \
             wake_ready_i wake_tag_o wake_pred_o"
    );
}
