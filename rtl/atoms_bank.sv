`include "atoms_assert.svh"

/// One bank of shared memory: a synchronous memory with one read and one write port.
/// Mirror: `model/src/bank.rs`.
///
/// A read in the cycle of a write to the same row gives the old word; `atoms_pipe` forwards.
module atoms_bank
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic  clk_i,
  /// Reads `raddr_i`; the word stands at `rdata_o` from the next cycle until the next read.
  input  logic  re_i,
  /// Row read, below NumRows.
  input  row_t  raddr_i,
  /// Word read last.
  output word_t rdata_o,
  /// Writes `wdata_i` to `waddr_i`.
  input  logic  we_i,
  /// Row written, below NumRows.
  input  row_t  waddr_i,
  /// Word written.
  input  word_t wdata_i
);
  localparam int unsigned RowBits = $clog2(NumRows);

  // Public so that a harness can load and compare the content.
  word_t mem_q [NumRows] /*verilator public_flat_rw*/;

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_o <= mem_q[raddr_i[RowBits-1:0]];
    if (we_i) mem_q[waddr_i[RowBits-1:0]] <= wdata_i;
  end

  // Of the configuration: an assertion of each write, in 32 banks, takes 8 % of a simulation's time.
  `ATOMS_ASSERT_STATIC(BankRowNumberFits16Bits, NumRows <= 2 ** 16)
endmodule : atoms_bank
