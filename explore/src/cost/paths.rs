//! Timing: scripts for OpenSTA, and parsers of its output.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::liberty::CellLibrary;
use super::netlist::ModulePort;
use super::tools::CostError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PathEnd {
    /// Port. Inputs arrive at 0; outputs are due at the end of the period.
    Port,
    Register,
}

impl PathEnd {
    pub fn name(self) -> &'static str {
        match self {
            PathEnd::Port => "port",
            PathEnd::Register => "register",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimingPath {
    /// Slack in ns, against [`PERIOD`].
    slack: f64,
    /// Arrival in ns and full pin or port name of each point, such as `u_issue/u_grouper/_1388_/A`.
    points: Vec<(f64, String)>,
}

const CLOCK: &str = "clk_i";

/// Clock period of [`timing_script`], in ns.
const PERIOD: f64 = 1.0;

/// Load of an output, in units of the input capacitance of the smallest inverter.
const LOAD: f64 = 4.0;

/// Writes the constraints for ABC: driving cell of inputs, and load of outputs in fF.
pub(crate) fn mapping_constraints(library: &CellLibrary) -> String {
    let load = LOAD * library.inverter.capacitance * 1000.0;
    format!("set_driving_cell {}\nset_load {load:.3} [all_outputs]\n", library.driver.name)
}

/// Writes a script that reads netlists and reports the slowest path of `top` in `paths.json`. The report is
/// empty if no gates lie between ports and registers.
pub(crate) fn timing_script(liberty: &Path, library: &CellLibrary, netlists: &[String], top: &str) -> String {
    let mut text = format!("read_liberty {{{}}}\n", liberty.display());
    for netlist in netlists {
        let _ = writeln!(text, "read_verilog {{{netlist}}}");
    }
    let load = LOAD * library.inverter.capacitance;
    let driver = &library.driver.name;
    let _ = write!(
        text,
        r#"link_design {top}
set_cmd_units -time ns
create_clock -name clock -period {PERIOD} [get_ports -quiet {CLOCK}]
set inputs {{}}
foreach port [all_inputs] {{
  if {{[get_property $port full_name] ne "{CLOCK}"}} {{ lappend inputs $port }}
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
set begins [concat $inputs [all_registers -clock_pins]]
set ends [concat $outputs [all_registers -data_pins]]
set paths {{}}
if {{[llength $begins] && [llength $ends]}} {{
  foreach path [find_timing_paths -path_delay max -from $begins -to $ends] {{
    set points {{}}
    foreach point [get_property $path points] {{
      set name [string map {{\\ ""}} [get_property [get_property $point pin] full_name]]
      lappend points "\[[get_property $point arrival], \"$name\"\]"
    }}
    lappend paths "{{\"slack\": [get_property $path slack], \"points\": \[[join $points ,]\]}}"
  }}
}}
set report [open paths.json w]
puts $report "\[[join $paths ,]\]"
close $report
"#
    );
    text
}

pub(crate) fn parse_path(report: &str, what: &str) -> Result<Option<TimingPath>, CostError> {
    let paths: Vec<TimingPath> = serde_json::from_str(report)
        .map_err(|error| CostError::Answer("OpenSTA", what.to_string(), error.to_string()))?;
    match paths.iter().find(|path| path.points.is_empty()) {
        Some(_) => Err(CostError::Answer("OpenSTA", what.to_string(), "a path has no points".into())),
        None => Ok(paths.into_iter().min_by(|a, b| a.slack.total_cmp(&b.slack))),
    }
}

impl TimingPath {
    /// Returns the minimum period in ns: delay, plus setup time of a register at the end.
    pub(crate) fn ns(&self) -> f64 {
        PERIOD - self.slack
    }

    pub(crate) fn ends(&self) -> (PathEnd, PathEnd) {
        // A register's pin has the register's name and a slash before it.
        let end = |point: Option<&(f64, String)>| match point {
            Some((_, name)) if name.contains('/') => PathEnd::Register,
            _ => PathEnd::Port,
        };
        (end(self.points.first()), end(self.points.last()))
    }

    /// Returns the delay inside each instance, in the order of the path.
    pub(crate) fn through(&self) -> Vec<(&str, f64)> {
        let mut through: Vec<(&str, f64)> = Vec::new();
        let mut arrival_before = 0.0;
        for (arrival, name) in &self.points {
            let delay = arrival - arrival_before;
            arrival_before = *arrival;
            // A pin is named `INSTANCE/CELL/PIN`. A port has no slash.
            let instance = name.rsplitn(3, '/').nth(2).unwrap_or_default();
            match through.last_mut() {
                Some((before, sum)) if *before == instance => *sum += delay,
                _ => through.push((instance, delay)),
            }
        }
        through
    }
}

/// Stages of the inverter chain for FO4. The first and the last stage are not counted.
const STAGES: usize = 6;

pub(crate) fn fo4_netlist(library: &CellLibrary) -> String {
    let (cell, pins) = (&library.inverter.name, &library.inverter.pins);
    let mut text = "module fo4 (in, out);\n  input in;\n  output out;\n".to_string();
    for stage in 0..STAGES {
        let input = if stage == 0 { "in".to_string() } else { format!("n{stage}") };
        for copy in 0..if stage == 0 { 1 } else { 4 } {
            let output = if copy == 0 { format!("n{}", stage + 1) } else { format!("x{stage}_{copy}") };
            let (a, y) = (&pins["A"], &pins["Y"]);
            let _ =
                writeln!(text, "  wire {output};\n  {cell} i{stage}_{copy} (.{a}({input}), .{y}({output}));");
        }
    }
    text + &format!("  assign out = n{STAGES};\nendmodule\n")
}

/// Computes FO4 in ns from the path through [`fo4_netlist`]: the mean delay of the inner stages. Half of
/// these stages have a rising output, half a falling one.
pub(crate) fn fo4(path: Option<&TimingPath>, library: &CellLibrary) -> Result<f64, CostError> {
    let output = format!("/{}", library.inverter.pins["Y"]);
    let stages = path.iter().flat_map(|path| &path.points).filter(|(_, name)| name.ends_with(&output));
    let arrivals: Vec<f64> = stages.map(|(arrival, _)| *arrival).collect();
    if arrivals.len() != STAGES {
        let why = format!("the path has {} stages, expected {STAGES}", arrivals.len());
        return Err(CostError::Answer("OpenSTA", "a chain of inverters".into(), why));
    }
    Ok((arrivals[STAGES - 2] - arrivals[0]) / (STAGES - 2) as f64)
}

/// Writes a netlist that models a memory for timing: a flip-flop at each port bit, and no other logic.
pub(crate) fn memory_netlist(library: &CellLibrary, name: &str, ports: &[ModulePort]) -> String {
    let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    let mut text = format!("module {name} ({});\n", names.join(", "));
    let (cell, pins) = (&library.flip_flop.name, &library.flip_flop.pins);
    for ModulePort { name, is_input, bits } in ports {
        let (direction, pin) = if *is_input { ("input", "D") } else { ("output", "Q") };
        let (clock, pin) = (&pins["C"], &pins[pin]);
        let range = if *bits > 1 { format!("[{}:0] ", bits - 1) } else { String::new() };
        let _ = writeln!(text, "  {direction} {range}{name};");
        for bit in (0..*bits).filter(|_| name != CLOCK) {
            let net = if *bits > 1 { format!("{name}[{bit}]") } else { name.clone() };
            let _ = writeln!(text, "  {cell} {name}_{bit} (.{clock}({CLOCK}), .{pin}({net}));");
        }
    }
    text + "endmodule\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::liberty::LibraryCell;

    /// Report of OpenSTA 2.0.17 for a linked unit. The path passes through three instances.
    const UNIT: &str = r#"[{"slack": 1.539e-01, "points": [
        [2.902e-01, "u_issue/_1995_/Q"],
        [2.902e-01, "u_issue/u_grouper/_1388_/A"],
        [3.924e-01, "u_issue/u_grouper/_1388_/Y"],
        [3.924e-01, "u_issue/u_grouper/_1399_/A"],
        [5.639e-01, "u_issue/u_grouper/_1399_/Y"],
        [5.639e-01, "u_pipe/_16719_/A"],
        [6.685e-01, "u_pipe/_16719_/Y"],
        [6.685e-01, "u_pipe/_21121_/D"]]},
    {"slack": 1.000e-01, "points": [[9.000e-01, "g_bank[1].u_bank/r40/Q"], [9.000e-01, "rsp_o[3]"]]}]"#;

    fn path(report: &str) -> TimingPath {
        parse_path(report, "atoms_unit").expect("it is understood").expect("there is one")
    }

    #[test]
    fn the_slowest_path_is_read() {
        let out = path(UNIT);
        assert_eq!((out.ns(), out.ends()), (0.9, (PathEnd::Register, PathEnd::Port)));
        assert_eq!(out.through(), [("g_bank[1].u_bank", 0.9), ("", 0.0)]);
        let inside = path(&UNIT.replace("1.000e-01", "2"));
        assert!((inside.ns() - 0.8461).abs() < 1e-9, "with the setup time: {}", inside.ns());
        assert_eq!(inside.ends(), (PathEnd::Register, PathEnd::Register));
        let places: Vec<_> = inside.through().iter().map(|(place, _)| *place).collect();
        assert_eq!(places, ["u_issue", "u_issue/u_grouper", "u_pipe"]);
        assert!((inside.through()[1].1 - 0.2737).abs() < 1e-9);
        assert_eq!(parse_path("[]", "atoms_unit").expect("it is understood"), None);
    }

    #[test]
    fn a_report_that_cannot_be_read_is_an_error() {
        for (from, to, why) in [
            ("rsp_o[3]\"]]", "rsp_o[3]\"]", "expected `,` or `]`"),
            ("1.000e-01, \"points\": [", "1.000e-01, \"points\": [], \"more\": [", "a path has no points"),
            ("1.539e-01", "inf?", "expected value at line 1 column 12"),
            ("\"slack\": 1.539e-01, ", "", "missing field `slack`"),
        ] {
            assert!(UNIT.contains(from), "{from}");
            let error = parse_path(&UNIT.replace(from, to), "atoms_unit").expect_err(why).to_string();
            let wanted = format!("cannot understand the output of OpenSTA for atoms_unit: {why}");
            assert!(error.starts_with(&wanted), "{error}");
        }
    }

    #[test]
    fn fo4_is_the_mean_of_the_inner_stages() {
        let pins = ["A", "Y", "C", "D", "Q"].map(|pin| (pin.to_string(), pin.to_string())).into();
        let cell = LibraryCell { name: "INVX1".into(), area: 1.0, capacitance: 0.1, pins };
        let library = CellLibrary {
            nand2: cell.clone(),
            inverter: cell.clone(),
            driver: cell.clone(),
            flip_flop: cell,
        };
        let mut points = vec![(0.0, "in".to_string())];
        let mut arrival = 0.0;
        for (stage, delay) in [9.0, 0.1, 0.2, 0.1, 0.2, 9.0].into_iter().enumerate() {
            points.push((arrival, format!("i{stage}_0/A")));
            arrival += delay;
            points.push((arrival, format!("i{stage}_0/Y")));
        }
        let found = fo4(Some(&TimingPath { slack: -18.6, points }), &library).expect("six stages");
        assert!((found - 0.15).abs() < 1e-9, "{found}");
        assert!(fo4(None, &library).is_err());
    }
}
