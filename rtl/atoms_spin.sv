`include "atoms_assert.svh"

/// Priority lane of CAST.SPIN on each bank (spec 5.4). Mirror: `model/src/spin.rs`.
///
/// A counter a bank, moved by the CAST.SPIN passes on it and by nothing else. SpinHold of them go from
/// lane to lane, which ends a loop of one warp soon; the next SpinHold stay with one lane, which no
/// period of requests can avoid, whichever the warps and however many CAST.SPINs their loops have
/// (docs/microarchitecture.md).
module atoms_spin
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic       clk_i,
  /// Synchronous, active low. Lane 0 is the priority lane of every bank.
  input  logic       rst_ni,
  /// The request at issue, or the last one there, is a CAST.SPIN. Low keeps the output at zero.
  input  logic       en_i,
  /// Its pass leaves issue.
  input  logic       fire_i,
  /// Banks of that pass, by the bank of the first word.
  input  bank_mask_t taken_i,
  /// Priority lane of each bank. The lane need not wait on the bank.
  output lanes_t     priority_lane_o
);
  spin_turns_t turn_q, turn_d;

  /// Priority lane of each bank, from the counter of the bank.
  function automatic void prioritize(output lanes_t priority_lane, input spin_turns_t turn);
    /*verilator no_inline_task*/
    for (int unsigned b = 0; b < NumBanks; b++) begin
      priority_lane[b] = turn[b].hold ? turn[b].lane : lane_t'(turn[b].step);
    end
  endfunction

  /// The counters after a pass on these banks.
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
