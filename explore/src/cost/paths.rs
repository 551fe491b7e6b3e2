//! Timing: scripts for OpenSTA, and what it answers.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::liberty::CellLibrary;
use super::netlist::ModulePort;
use super::tools::CostError;

/// Where a path begins, or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathEnd {
    /// At a port, which is there at 0, or has to be there at the end of the period.
    Port,
    /// At a register.
    Register,
}

impl PathEnd {
    /// As in a table.
    pub fn name(self) -> &'static str {
        match self {
            PathEnd::Port => "port",
            PathEnd::Register => "register",
        }
    }
}

/// The slowest path between ends of two kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimingPath {
    /// The period it needs, in ns: its delay, and the setup time of a register at its end.
    pub ns: f64,
    /// Where it begins.
    pub from: PathEnd,
    /// Where it ends.
    pub to: PathEnd,
    /// Its first and its last pin or port.
    pub ends: (String, String),
    /// Delay inside each instance, by its path, in the order in which it goes through them.
    pub through: Vec<(String, f64)>,
}

/// Kinds of paths, by their ends.
pub(crate) const KINDS: [(PathEnd, PathEnd); 4] = [
    (PathEnd::Register, PathEnd::Register),
    (PathEnd::Port, PathEnd::Register),
    (PathEnd::Register, PathEnd::Port),
    (PathEnd::Port, PathEnd::Port),
];

/// Load of an output, in the capacitance of an input of the smallest inverter.
const LOAD: f64 = 4.0;

/// The constraints under which ABC maps: what drives inputs, and what outputs drive, in fF as it wants it.
pub(crate) fn mapping_constraints(library: &CellLibrary) -> String {
    let load = LOAD * library.inverter.capacitance * 1000.0;
    format!("set_driving_cell {}\nset_load {load:.3} [all_outputs]\n", library.driver.name)
}

/// A script that reads netlists, and asks for the slowest path of each kind.
pub(crate) fn timing_script(
    library: &CellLibrary,
    netlists: &[String],
    top: &str,
    clock: Option<&ModulePort>,
) -> String {
    let mut text = format!("read_liberty {{{}}}\n", library.path.display());
    for netlist in netlists {
        let _ = writeln!(text, "read_verilog {{{netlist}}}");
    }
    let clock_port = clock.map_or(String::new(), |port| format!("[get_ports {{{}}}]", port.name));
    let load = LOAD * library.inverter.capacitance;
    let _ = write!(
        text,
        "link_design {top}
set_cmd_units -time ns
create_clock -name clock -period 1 {clock_port}
set inputs {{}}
foreach port [all_inputs] {{
  if {{[get_property $port full_name] ne {{{clock_name}}}}} {{ lappend inputs $port }}
}}
set outputs [all_outputs]
if {{[llength $inputs]}} {{
  set_input_delay 0 -clock clock $inputs
  set_driving_cell -lib_cell {driver} $inputs
}}
if {{[llength $outputs]}} {{
  set_output_delay 0 -clock clock $outputs
  set_load {load} $outputs
}}
set clocked [all_registers -clock_pins]
set stored [all_registers -data_pins]
proc ask {{kind from to}} {{
  puts \"== $kind\"
  if {{[llength $from] && [llength $to]}} {{
    report_checks -path_delay max -format full -digits 4 -from $from -to $to
  }}
}}
",
        clock_name = clock.map_or("", |port| &port.name),
        driver = library.driver.name,
    );
    for (from, to) in KINDS {
        let begins = match from {
            PathEnd::Port => "$inputs",
            PathEnd::Register => "$clocked",
        };
        let ends = match to {
            PathEnd::Port => "$outputs",
            PathEnd::Register => "$stored",
        };
        let _ = writeln!(text, "ask {{{} {}}} {begins} {ends}", from.name(), to.name());
    }
    text + "puts \"== end\"\n"
}

/// The paths that OpenSTA reports on [`timing_script`], slowest first.
pub(crate) fn parse_paths(report: &str, what: &str) -> Result<Vec<TimingPath>, CostError> {
    let wrong = |why: &str| CostError::Answer("OpenSTA", what.to_string(), why.to_string());
    if !report.lines().any(|line| line == "== end") {
        return Err(wrong("its report ends early"));
    }
    let mut found = Vec::new();
    for section in report.split("== ").skip(1) {
        let Some(kind) =
            KINDS.iter().find(|(from, to)| section.starts_with(&format!("{} {}\n", from.name(), to.name())))
        else {
            continue;
        };
        if let Some(path) = parse_path(section, *kind).map_err(|why| wrong(&why))? {
            found.push(path);
        }
    }
    found.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    Ok(found)
}

/// One path of a report; `None` where there is none.
fn parse_path(section: &str, (from, to): (PathEnd, PathEnd)) -> Result<Option<TimingPath>, String> {
    let labelled = |label: &str| {
        let line = section.lines().find(|line| line.trim_end().ends_with(label))?;
        line.split_whitespace().find_map(|word| word.parse::<f64>().ok())
    };
    let Some(arrival) = labelled("data arrival time") else {
        return match section.contains("Startpoint") {
            true => Err("a path has no arrival time".into()),
            false => Ok(None),
        };
    };
    // Of the end, as a negative number; ports have none.
    let setup = labelled("library setup time").unwrap_or(0.0);
    let mut points = Vec::new();
    for line in section.lines().take_while(|line| !line.contains("data arrival time")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        // `0.1573 2.2892 v u_issue/_1303_/Y (MUX2X1)`
        if let [delay, _, "^" | "v", pin, _] = words[..] {
            let delay = delay.parse::<f64>().map_err(|_| format!("`{line}` has no delay"))?;
            points.push((pin.replace('\\', ""), delay));
        }
    }
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Err("a path has no points".into());
    };
    let ends = (first.0.clone(), last.0.clone());
    let mut through: Vec<(String, f64)> = Vec::new();
    for (pin, delay) in &points {
        // Instances from the top, the cell, its pin; a port has neither.
        let mut parts = pin.rsplitn(3, '/');
        let place = match (parts.next(), parts.next(), parts.next()) {
            (_, Some(_), Some(instances)) => instances,
            _ => "",
        };
        match through.last_mut() {
            Some((before, sum)) if before == place => *sum += delay,
            _ => through.push((place.to_string(), *delay)),
        }
    }
    Ok(Some(TimingPath { ns: arrival - setup, from, to, ends, through }))
}

/// Stages of the chain on which FO4 is measured; the first and the last are not counted.
const STAGES: usize = 6;

/// A chain of inverters of which each drives four, as Verilog.
pub(crate) fn fo4_netlist(library: &CellLibrary) -> String {
    let gate = &library.inverter;
    let mut text = "module fo4 (in, out);\n  input in;\n  output out;\n".to_string();
    for stage in 0..=STAGES {
        let _ = writeln!(text, "  wire n{stage};");
    }
    for stage in 0..STAGES {
        for copy in 0..if stage == 0 { 1 } else { 4 } {
            let output = if copy == 0 { format!("n{}", stage + 1) } else { format!("x{stage}_{copy}") };
            if copy > 0 {
                let _ = writeln!(text, "  wire {output};");
            }
            let (cell, a, y) = (&gate.name, &gate.inputs[0], &gate.output);
            let input = if stage == 0 { "in".to_string() } else { format!("n{stage}") };
            let _ = writeln!(text, "  {cell} i{stage}_{copy} (.{a}({input}), .{y}({output}));");
        }
    }
    text + &format!("  assign out = n{STAGES};\nendmodule\n")
}

/// The delay of one inverter that drives four, in ns, from the report about [`fo4_netlist`]: the mean of the stages in
/// the middle, of which as many rise as fall.
pub(crate) fn parse_fo4(report: &str) -> Result<f64, CostError> {
    let section = report.split("== port port\n").nth(1).unwrap_or_default();
    let mut delays = Vec::new();
    for line in section.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [delay, _, "^" | "v", pin, _] = words[..]
            && pin.contains('/')
            && let Ok(delay) = delay.parse::<f64>()
        {
            delays.push(delay);
        }
    }
    if delays.len() != STAGES {
        let why = format!("{} stages of {STAGES}", delays.len());
        return Err(CostError::Answer("OpenSTA", "a chain of inverters".into(), why));
    }
    let inner = &delays[1..STAGES - 1];
    Ok(inner.iter().sum::<f64>() / inner.len() as f64)
}

/// A netlist of a memory for timing: a register at each of its ports, which is all that is assumed of it.
pub(crate) fn memory_netlist(library: &CellLibrary, name: &str, ports: &[ModulePort], clock: &str) -> String {
    let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    let mut text = format!("module {name} ({});\n", names.join(", "));
    let flip_flop = &library.flip_flop;
    let mut count = 0;
    for port in ports {
        let direction = if port.is_input { "input" } else { "output" };
        let range = if port.bits > 1 { format!("[{}:0] ", port.bits - 1) } else { String::new() };
        let _ = writeln!(text, "  {direction} {range}{};", port.name);
        if port.name == clock {
            continue;
        }
        for bit in 0..port.bits {
            let net = if port.bits > 1 { format!("{}[{bit}]", port.name) } else { port.name.clone() };
            let pin = if port.is_input { &flip_flop.data } else { &flip_flop.output };
            let cell = &flip_flop.name;
            let _ = writeln!(text, "  {cell} r{count} (.{}({clock}), .{pin}({net}));", flip_flop.clock);
            count += 1;
        }
    }
    text + "endmodule\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As OpenSTA 2.0.17 answers: of the linked unit, with a path through four instances and none between ports.
    const UNIT: &str = r"Warning: script.tcl, 6 set_input_delay relative to a clock defined on the same port/pin not allowed.
== register register
Startpoint: u_issue/_1995_ (rising edge-triggered flip-flop clocked by clock)
Endpoint: u_pipe/_21121_ (rising edge-triggered flip-flop clocked by clock)
Path Group: clock
Path Type: max

    Delay      Time   Description
-------------------------------------------------------------
   0.0000    0.0000   clock clock (rise edge)
   0.0000    0.0000   clock network delay (ideal)
   0.0000    0.0000 ^ u_issue/_1995_/CLK (DFFPOSX1)
   0.2902    0.2902 v u_issue/_1995_/Q (DFFPOSX1)
   0.1022    0.3924 ^ u_issue/u_grouper/_1388_/Y (INVX1)
   0.1715    0.5639 v u_issue/u_grouper/_1399_/Y (MUX2X1)
   0.1046    0.6685 v u_pipe/_16719_/Y (INVX1)
   0.0000    0.6685 v u_pipe/_21121_/D (DFFPOSX1)
             0.6685   data arrival time

   1.0000    1.0000   clock clock (rise edge)
   0.0000    1.0000   clock network delay (ideal)
   0.0000    1.0000   clock reconvergence pessimism
             1.0000 ^ u_pipe/_21121_/CLK (DFFPOSX1)
  -0.1776    0.8224   library setup time
             0.8224   data required time
-------------------------------------------------------------
             0.8224   data required time
            -0.6685   data arrival time
-------------------------------------------------------------
             0.1539   slack (MET)


== port register
No paths found.
== register port
Startpoint: g_bank[1].u_bank/r40 (rising edge-triggered flip-flop clocked by clock)
Endpoint: rsp_o[3] (output port clocked by clock)
Path Group: clock
Path Type: max

    Delay      Time   Description
-------------------------------------------------------------
   0.0000    0.0000   clock clock (rise edge)
   0.0000    0.0000   clock network delay (ideal)
   0.0000    0.0000 ^ g_bank\[1\].u_bank/r40/CLK (DFFPOSX1)
   0.9000    0.9000 v g_bank\[1\].u_bank/r40/Q (DFFPOSX1)
   0.0000    0.9000 v rsp_o[3] (out)
             0.9000   data arrival time

   1.0000    1.0000   clock clock (rise edge)
   0.0000    1.0000   output external delay
             1.0000   data required time
-------------------------------------------------------------
             1.0000   data required time
            -0.9000   data arrival time
-------------------------------------------------------------
             0.1000   slack (MET)


== port port
== end
";

    #[test]
    fn paths_are_read_slowest_first() {
        let paths = parse_paths(UNIT, "atoms_unit").expect("it is understood");
        let [out, inside] = &paths[..] else { panic!("{paths:?}") };
        assert_eq!((out.ns, out.from, out.to), (0.9, PathEnd::Register, PathEnd::Port));
        assert_eq!(out.through[0], ("g_bank[1].u_bank".to_string(), 0.9));
        assert_eq!(out.ends.1, "rsp_o[3]");
        assert!((inside.ns - 0.8461).abs() < 1e-9, "with the setup time: {}", inside.ns);
        assert_eq!((inside.from, inside.to), (PathEnd::Register, PathEnd::Register));
        let places: Vec<_> = inside.through.iter().map(|(place, _)| place.as_str()).collect();
        assert_eq!(places, ["u_issue", "u_issue/u_grouper", "u_pipe"]);
        assert!((inside.through[1].1 - 0.2737).abs() < 1e-9);
    }

    #[test]
    fn a_report_that_ends_early_is_no_answer() {
        let cut = UNIT.replace("== end\n", "");
        let error = parse_paths(&cut, "atoms_unit").expect_err("it is cut").to_string();
        assert_eq!(error, "OpenSTA said of atoms_unit what is not understood: its report ends early");
        let error = parse_paths(&UNIT.replace("0.6685   data arrival time", ""), "atoms_unit");
        assert!(error.expect_err("no arrival").to_string().contains("no arrival time"));
    }

    #[test]
    fn fo4_is_the_mean_of_the_inner_stages() {
        let mut report = "== port port\n   0.0000    0.0000 ^ in (in)\n".to_string();
        for (stage, delay) in [9.0, 0.1, 0.2, 0.1, 0.2, 9.0].into_iter().enumerate() {
            report += &format!("   {delay:.4}    1.0000 v i{stage}_0/Y (INVX1)\n");
        }
        let fo4 = parse_fo4(&report).expect("six stages");
        assert!((fo4 - 0.15).abs() < 1e-9, "{fo4}");
        assert!(parse_fo4("== port port\nNo paths found.\n").is_err());
    }
}
