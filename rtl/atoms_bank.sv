`include "atoms_assert.svh"

/// One bank of shared memory: a synchronous memory with one read port and one write port.
/// Mirror: `model/src/bank.rs`.
///
/// A read and a write of the same row in one cycle return the old word; `atoms_pipe` forwards the new one.
module atoms_bank
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic  clk_i,
  /// Read enable. The word at `raddr_i` is on `rdata_o` from the next cycle until the next read.
  input  logic  re_i,
  /// Row to read, below NumRows.
  input  row_t  raddr_i,
  /// Word of the last read.
  output word_t rdata_o,
  /// Write enable for `wdata_i` and `waddr_i`.
  input  logic  we_i,
  /// Row to write, below NumRows.
  input  row_t  waddr_i,
  /// Word that is written.
  input  word_t wdata_i
);
  localparam int unsigned RowBits = $clog2(NumRows);

  // Public, so that a harness can load and compare the content.
  word_t mem_q [NumRows] /*verilator public_flat_rw*/;

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_o <= mem_q[raddr_i[RowBits-1:0]];
    if (we_i) mem_q[waddr_i[RowBits-1:0]] <= wdata_i;
  end

  // A check of the configuration only. An assertion on each write, in 32 banks, would take 8 % of simulation
  // time.
  `ATOMS_ASSERT_STATIC(BankRowNumberFits16Bits, NumRows <= 2 ** 16)
endmodule : atoms_bank
