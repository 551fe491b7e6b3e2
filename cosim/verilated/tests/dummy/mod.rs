//! A small design with the unit's ports, to test the binding without the unit.
//!
//! The design answers a request at once: `rsp_rd` is `req_b`, `rsp_pred` is `req_mask`. The lowest lane
//! writes `req_ra[0]` to row `req_imm` of bank `req_tag` at the clock edge. `probe_queue_count` counts clock
//! edges out of reset, `probe_wr_data` shows row 0 of every bank. The operation codes below trigger errors.

use atoms_model::port::{Field, In, Out, Probe, Shape};
use atoms_verilated::{BuildSpec, Cache, Environment, Library, Toolchain, Verilator};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) const LANES: usize = 2;
pub(crate) const BANKS: usize = 4;
pub(crate) const ROWS: usize = 8;

/// Operation codes that misbehave. `UNSETTLED` closes a combinational loop.
pub(crate) const ERROR: u8 = 31;
pub(crate) const FATAL: u8 = 30;
pub(crate) const STOP: u8 = 29;
pub(crate) const FINISH: u8 = 28;
pub(crate) const PROPERTY: u8 = 27;
pub(crate) const PRINT: u8 = 26;
pub(crate) const UNSETTLED: u8 = 25;

/// Prints a megabyte without a line break, then stops with control characters in its message.
pub(crate) const LOUD: u8 = 24;

/// Writes a shell script. Another process writes the file: a child of a parallel test would inherit our
/// descriptor, and a file that is open for writing cannot be run.
pub(crate) fn script(path: &Path, body: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\""]).arg(path).arg(body);
    assert!(shell.status().unwrap().success());
}

fn port(direction: &str, prefix: &str, suffix: &str, field: &Field) -> String {
    let name = if field.name == "rst_n" { "rst_n" } else { &format!("{prefix}{}_", field.name) };
    let suffix = if field.name == "rst_n" { "i" } else { suffix };
    let dims = match field.shape {
        Shape::Scalar(bits) => format!("[{}:0]", bits - 1),
        Shape::LaneMask => format!("[{}:0]", LANES - 1),
        Shape::BankMask => format!("[{}:0]", BANKS - 1),
        Shape::PerLane(bits) => format!("[{}:0][{}:0]", LANES - 1, bits - 1),
        Shape::PerBank(bits) => format!("[{}:0][{}:0]", BANKS - 1, bits - 1),
    };
    format!("{direction} logic {dims} {name}{suffix}")
}

pub(crate) fn unit(extra: &str) -> String {
    let mut ports = vec!["input logic clk_i".to_owned()];
    ports.extend(In::FIELDS.iter().map(|field| port("input", "", "i", field)));
    ports.extend(Out::FIELDS.iter().map(|field| port("output", "", "o", field)));
    ports.extend(Probe::FIELDS.iter().map(|field| port("output", "probe_", "o", field)));
    let mut text = format!(
        "module atoms_unit\n  import atoms_cfg_pkg::*;\n(\n  {}\n);\n{BODY}{extra}\n",
        ports.join(",\n  ")
    );
    let driven = [
        "rsp_rd",
        "rsp_pred",
        "rsp_valid",
        "rsp_tag",
        "cl_rsp_rd",
        "req_ready",
        "queue_count",
        "wr_data",
        "hazard",
    ];
    for (fields, prefix) in [(Out::FIELDS, ""), (Probe::FIELDS, "probe_")] {
        for field in fields.iter().filter(|field| !driven.contains(&field.name)) {
            let _ = writeln!(text, "  assign {prefix}{}_o = '0;", field.name);
        }
    }
    text + "endmodule\n"
}

const BODY: &str = r#"
  logic [7:0] count_q;
  logic loop;
  logic [63:0] swapped;
  assign swapped = {req_ra_i[0], req_ra_i[1]};
  assign rsp_rd_o = req_b_i;
  assign rsp_pred_o = req_mask_i;
  assign rsp_valid_o = req_valid_i;
  assign rsp_tag_o = req_tag_i;
  assign cl_rsp_rd_o = cl_b_i;
  assign req_ready_o = 1'b1;
  assign probe_queue_count_o = count_q;
  assign probe_hazard_o = loop;
  // Settles only while the operation is another one.
  assign loop = (req_op_i == 5'd25) ? !loop : 1'b0;
  for (genvar b = 0; b < BankCount; b++) begin : g_bank
    atoms_bank u_bank (
      .clk_i, .we_i(req_valid_i && rst_ni && req_tag_i == 6'(b)), .row_i(req_imm_i[2:0]),
      .data_i(req_ra_i[0]), .row0_o(probe_wr_data_o[b])
    );
  end
  always_ff @(posedge clk_i) begin
    count_q <= rst_ni ? count_q + 8'd1 : 8'd0;
    if (req_op_i == 5'd30) $fatal(1, "fatal with imm %0d", req_imm_i);
    if (req_op_i == 5'd29) $stop;
    if (req_op_i == 5'd28) $finish;
    if (req_op_i == 5'd24) begin
      for (int i = 0; i < 100000; i++) $write("0123456789");
      $fatal(1, "\033[31mred\007");
    end
    if (req_op_i == 5'd26) $display("imm is %0d", req_imm_i);
    if (rst_ni) NoOp31: assert (req_op_i != 5'd31) else $error("operation 31");
  end
  NoOp27: assert property (@(posedge clk_i) disable iff (!rst_ni) req_op_i != 5'd27) else $error("operation 27");
"#;

const BANK: &str = r"
module atoms_bank
  import atoms_cfg_pkg::*;
(
  input logic clk_i, input logic we_i, input logic [2:0] row_i, input logic [31:0] data_i,
  output logic [31:0] row0_o
);
  logic [31:0] mem_q [RowCount] /*verilator public_flat_rw*/;
  assign row0_o = mem_q[0];
  always_ff @(posedge clk_i) if (we_i) mem_q[row_i] <= data_i;
endmodule
";

/// Writes the design. Its configuration package has no banks: a generated package must replace it.
pub(crate) fn write(dir: &Path, unit: &str) {
    std::fs::write(
        dir.join("atoms.f"),
        "// dummy\natoms_cfg_pkg.sv\natoms_bank.sv // memory\natoms_unit.sv\n",
    )
    .unwrap();
    std::fs::write(dir.join("atoms_cfg_pkg.sv"), config(0)).unwrap();
    std::fs::write(dir.join("atoms_bank.sv"), BANK).unwrap();
    std::fs::write(dir.join("atoms_unit.sv"), unit).unwrap();
}

fn config(banks: usize) -> String {
    format!(
        "package atoms_cfg_pkg;\n  parameter int unsigned BankCount = {banks};\n  \
         parameter int unsigned RowCount = {ROWS};\nendpackage\n"
    )
}

fn copy_folder(from: &Path, into: &Path) {
    let to = into.join(from.file_name().unwrap());
    std::fs::create_dir(&to).unwrap();
    for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) env: Environment,
}

impl Bench {
    /// Creates a design that differs from all others by `name`, in the cache that all tests share.
    pub(crate) fn new(name: &str, extra: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &(unit(extra) + "// " + name + "\n"));
        Self { dir, env: Environment::from_process() }
    }

    /// Switches to a new cache, which has at most Verilator's runtime.
    pub(crate) fn with_own_cache(mut self) -> Self {
        let own = self.dir.path().join("cache");
        std::fs::create_dir(&own).unwrap();
        let shared = std::fs::read_dir(self.env.cache_dir()).into_iter().flatten().flatten();
        for entry in shared.filter(|entry| entry.file_name().to_string_lossy().starts_with("runtime-")) {
            copy_folder(&entry.path(), &own);
        }
        self.env.cache = Some(own);
        self
    }

    /// Switches to a new cache with a copy of the design's entry in the shared cache.
    pub(crate) fn with_own_built_cache(self) -> Self {
        let library = self.library();
        let bench = self.with_own_cache();
        copy_folder(library.path().parent().unwrap(), &bench.env.cache_dir());
        bench
    }

    pub(crate) fn spec(&self) -> BuildSpec {
        BuildSpec::from_list(self.dir.path(), "atoms.f", "atoms_unit")
            .unwrap()
            .lanes(LANES)
            .banks(BANKS)
            .generated("atoms_cfg_pkg.sv", config(BANKS))
    }

    pub(crate) fn tools(&self) -> Toolchain {
        Toolchain::find(&self.env).unwrap()
    }

    pub(crate) fn build(&self, spec: &BuildSpec) -> (Library, Vec<String>) {
        let mut steps = Vec::new();
        let library = Cache::new(&self.env)
            .library(spec, &self.tools(), &mut |step| steps.push(step.to_string()))
            .unwrap_or_else(|error| panic!("{error}"));
        (library, steps)
    }

    pub(crate) fn library(&self) -> Library {
        self.build(&self.spec()).0
    }
}

pub(crate) fn verilators(env: &Environment) -> Vec<Verilator> {
    let nowhere = Environment { path: Default::default(), ..env.clone() };
    [Verilator::find(env), Verilator::find(&nowhere)].into_iter().filter_map(Result::ok).collect()
}

/// Returns a valid input out of reset, with every bit of the wide fields used.
pub(crate) fn input(imm: u32) -> In {
    In {
        rst_n: 1,
        req_valid: 1,
        req_imm: imm,
        req_ra: std::array::from_fn(|lane| 0x0101_0101_u32.wrapping_mul(lane as u32 + imm)),
        req_b: std::array::from_fn(|lane| (u128::MAX / 7).wrapping_mul(lane as u128 + 3)),
        req_mask: !0,
        cl_b: (u128::MAX / 7).wrapping_mul(imm.into()),
        ..In::default()
    }
}

pub(crate) fn cycle(
    rtl: &mut atoms_verilated::Rtl,
    input: &In,
) -> Result<(Out, Probe), atoms_verilated::RtlError> {
    // Start with nonzero values, to find outputs that the binding does not write.
    let mut out = Out { rsp_rd: [u128::MAX; 32], rsp_pred: !0, rsp_tag: 0xff, ..Out::default() };
    let mut probe = Probe { wr_data: [!0; 64], wr_en: !0, win_lane: [0xff; 64], ..Probe::default() };
    rtl.cycle(input, &mut out, &mut probe).map(|()| (out, probe))
}
