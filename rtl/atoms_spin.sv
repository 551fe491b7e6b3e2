`include "atoms_assert.svh"

/// Priority lane of CAST.SPIN on each bank (spec 5.4). Mirror: `model/src/spin.rs`.
///
/// Each bank has a counter, which advances with every CAST.SPIN pass on the bank. During SpinHold passes
/// priority moves from lane to lane, which soon ends a loop of a single warp. During the next SpinHold passes
/// priority stays at one lane. No periodic pattern of requests can avoid that lane, for any warps and any
/// number of CAST.SPINs in their loops (docs/microarchitecture.md).
module atoms_spin
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic       clk_i,
  /// Synchronous reset, active low. Makes lane 0 the priority lane of every bank.
  input  logic       rst_ni,
  /// The request at issue, or the last one that was there, is a CAST.SPIN. 0 keeps the output at zero.
  input  logic       en_i,
  /// The CAST.SPIN pass leaves issue at the next clock edge.
  input  logic       fire_i,
  /// Banks of the CAST.SPIN pass, by the first word of each access.
  input  bank_mask_t taken_i,
  /// Priority lane of each bank. This lane need not wait on the bank.
  output lanes_t     priority_lane_o
);
  spin_turns_t turn_q, turn_d;

  function automatic void prioritize(output lanes_t priority_lane, input spin_turns_t turn);
    /*verilator no_inline_task*/
    for (int unsigned b = 0; b < NumBanks; b++) begin
      priority_lane[b] = turn[b].hold ? turn[b].lane : lane_t'(turn[b].step);
    end
  endfunction

  function automatic void move(output spin_turns_t after, input spin_turns_t turn,
                               input bank_mask_t taken);
    /*verilator no_inline_task*/
    for (int unsigned b = 0; b < NumBanks; b++) after[b] = spin_turn_t'(turn[b] + taken[b]);
  endfunction

  always_comb begin
    priority_lane_o = '{default: '0};
    if (en_i) prioritize(priority_lane_o, turn_q);
  end

  always_comb begin
    turn_d = '{default: '0};
    if (fire_i) move(turn_d, turn_q, taken_i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q <= '{default: '0};
    end else if (fire_i) begin
      turn_q <= turn_d;
    end
  end

  `ATOMS_ASSERT(PriorityMovesOnSpinOnly, !fire_i || en_i)
endmodule : atoms_spin
