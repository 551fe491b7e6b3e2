//! Timing: scripts for OpenSTA, and what it answers.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::liberty::CellLibrary;
use super::netlist::ModulePort;
use super::tools::CostError;

/// Where a path begins, or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

/// Period of the clock of [`timing_script`], in ns. A path's delay is this minus its slack.
const PERIOD: f64 = 1.0;

/// Load of an output, in the capacitance of an input of the smallest inverter.
const LOAD: f64 = 4.0;

/// The constraints under which ABC maps: what drives inputs, and what outputs drive, in fF as it wants it.
pub(crate) fn mapping_constraints(library: &CellLibrary) -> String {
    let load = LOAD * library.inverter.capacitance * 1000.0;
    format!("set_driving_cell {}\nset_load {load:.3} [all_outputs]\n", library.driver.name)
}

/// A script that reads netlists, and asks for the slowest path of each kind.
pub(crate) fn timing_script(
    liberty: &Path,
    library: &CellLibrary,
    netlists: &[String],
    top: &str,
    clock: Option<&ModulePort>,
) -> String {
    let mut text = format!("read_liberty {{{}}}\n", liberty.display());
    for netlist in netlists {
        let _ = writeln!(text, "read_verilog {{{netlist}}}");
    }
    let clock_port = clock.map_or(String::new(), |port| format!("[get_ports {{{}}}]", port.name));
    let load = LOAD * library.inverter.capacitance;
    let _ = write!(
        text,
        "link_design {top}
set_cmd_units -time ns
create_clock -name clock -period {PERIOD} {clock_port}
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
proc ask {{from to begins ends}} {{
  if {{![llength $begins] || ![llength $ends]}} {{ return }}
  foreach path [find_timing_paths -path_delay max -from $begins -to $ends] {{
    puts \"path $from $to [get_property $path slack]\"
    foreach point [get_property $path points] {{
      puts \"point [get_property $point arrival] [get_property [get_property $point pin] full_name]\"
    }}
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
        let _ = writeln!(text, "ask {} {} {begins} {ends}", from.name(), to.name());
    }
    text + "puts end\n"
}

/// Reads the paths that [`timing_script`] prints, slowest first.
pub(crate) fn parse_paths(report: &str, what: &str) -> Result<Vec<TimingPath>, CostError> {
    let wrong = |why: String| CostError::Answer("OpenSTA", what.to_string(), why);
    let mut found: Vec<TimingPath> = Vec::new();
    let mut arrival_before = 0.0;
    for line in report.lines() {
        let number = |word: &str| word.parse::<f64>().map_err(|_| wrong(format!("`{line}` has no number")));
        let end = |word: &str| {
            let ends = [PathEnd::Port, PathEnd::Register];
            ends.into_iter()
                .find(|end| end.name() == word)
                .ok_or_else(|| wrong(format!("`{line}` has no kind")))
        };
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["end"] => {
                found.sort_by(|a, b| b.ns.total_cmp(&a.ns));
                return Ok(found);
            }
            ["path", from, to, slack] => {
                arrival_before = 0.0;
                let (from, to) = (end(from)?, end(to)?);
                let ends = (String::new(), String::new());
                found.push(TimingPath { ns: PERIOD - number(slack)?, from, to, ends, through: Vec::new() });
            }
            ["point", arrival, pin] => {
                let path = found.last_mut().ok_or_else(|| wrong(format!("`{line}` belongs to no path")))?;
                let (arrival, pin) = (number(arrival)?, pin.replace('\\', ""));
                path.add(arrival - arrival_before, pin);
                arrival_before = arrival;
            }
            _ => {}
        }
    }
    Err(wrong("its report ends early".into()))
}

impl TimingPath {
    /// Appends a pin, and the delay from the pin before.
    fn add(&mut self, delay: f64, pin: String) {
        // Instances from the top, the cell, its pin; a port has neither.
        let mut parts = pin.rsplitn(3, '/');
        let instance = match (parts.next(), parts.next(), parts.next()) {
            (_, Some(_), Some(instances)) => instances,
            _ => "",
        };
        match self.through.last_mut() {
            Some((before, sum)) if before == instance => *sum += delay,
            _ => self.through.push((instance.to_string(), delay)),
        }
        if self.ends.0.is_empty() {
            self.ends.0.clone_from(&pin);
        }
        self.ends.1 = pin;
    }
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

/// Computes the delay of one inverter that drives four, in ns, from the report about [`fo4_netlist`]: the mean of the
/// inner stages, of which as many rise as fall.
pub(crate) fn parse_fo4(report: &str, library: &CellLibrary) -> Result<f64, CostError> {
    let arrival = |line: &str| {
        let (arrival, pin) = line.strip_prefix("point ")?.split_once(' ')?;
        pin.ends_with(&format!("/{}", library.inverter.output)).then(|| arrival.parse::<f64>().ok()).flatten()
    };
    let arrivals: Vec<f64> = report.lines().filter_map(arrival).collect();
    if arrivals.len() != STAGES {
        let why = format!("{} stages of {STAGES}", arrivals.len());
        return Err(CostError::Answer("OpenSTA", "a chain of inverters".into(), why));
    }
    Ok((arrivals[STAGES - 2] - arrivals[0]) / (STAGES - 2) as f64)
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
    use crate::cost::liberty::{LibraryFlipFlop, LibraryGate};

    /// Answer of OpenSTA 2.0.17 about a linked unit: a path through three instances, and none between ports.
    const UNIT: &str = r"Warning: script.tcl, 6 set_input_delay relative to a clock defined on the same port/pin not allowed.
path register register 1.539e-01
point 2.902e-01 u_issue/_1995_/Q
point 2.902e-01 u_issue/u_grouper/_1388_/A
point 3.924e-01 u_issue/u_grouper/_1388_/Y
point 3.924e-01 u_issue/u_grouper/_1399_/A
point 5.639e-01 u_issue/u_grouper/_1399_/Y
point 5.639e-01 u_pipe/_16719_/A
point 6.685e-01 u_pipe/_16719_/Y
point 6.685e-01 u_pipe/_21121_/D
path register port 1.000e-01
point 9.000e-01 g_bank\[1\].u_bank/r40/Q
point 9.000e-01 rsp_o[3]
end
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
    fn a_report_that_cannot_be_read_is_an_error() {
        for (from, to, why) in [
            ("\nend\n", "\n", "its report ends early"),
            ("1.539e-01", "inf?", "`path register register inf?` has no number"),
            ("path register port", "path register latch", "`path register latch 1.000e-01` has no kind"),
            (
                "path register register 1.539e-01\n",
                "",
                "`point 2.902e-01 u_issue/_1995_/Q` belongs to no path",
            ),
        ] {
            let error = parse_paths(&UNIT.replace(from, to), "atoms_unit").expect_err(why).to_string();
            assert_eq!(error, format!("OpenSTA said of atoms_unit what is not understood: {why}"));
        }
    }

    #[test]
    fn fo4_is_the_mean_of_the_inner_stages() {
        let gate = LibraryGate {
            name: "INVX1".into(),
            area: 1.0,
            inputs: vec!["A".into()],
            capacitance: 0.1,
            output: "Y".into(),
        };
        let flip_flop = LibraryFlipFlop {
            name: "DFF".into(),
            area: 1.0,
            clock: "CLK".into(),
            data: "D".into(),
            output: "Q".into(),
        };
        let library = CellLibrary { nand2: gate.clone(), inverter: gate.clone(), driver: gate, flip_flop };
        let mut report = "path port port -18.6\npoint 0.0 in\n".to_string();
        let mut arrival = 0.0;
        for (stage, delay) in [9.0, 0.1, 0.2, 0.1, 0.2, 9.0].into_iter().enumerate() {
            report += &format!("point {arrival:e} i{stage}_0/A\n");
            arrival += delay;
            report += &format!("point {arrival:e} i{stage}_0/Y\n");
        }
        let fo4 = parse_fo4(&(report + "end\n"), &library).expect("six stages");
        assert!((fo4 - 0.15).abs() < 1e-9, "{fo4}");
        assert!(parse_fo4("end\n", &library).is_err());
    }
}
