/// Comparison of two instances of `atoms_spin` at their relevant ports: banks of a pass that leaves, and the
/// priority lanes while `en_i`.
module spin_alike
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input  logic       en[2], fire[2],
  input  bank_mask_t taken[2],
  input  lanes_t     priority_lane[2],
  /// True if the relevant inputs of both are equal.
  output logic       given,
  /// True if the relevant outputs of both are equal, given equal inputs since reset.
  output logic       driven
);
  always_comb begin
    given  = (fire[0] == fire[1]) && (!fire[0] || (taken[0] == taken[1]));
    driven = 1'b1;
    for (int unsigned b = 0; b < NumBanks; b++) begin
      if (en[0] && en[1]) driven = driven && (priority_lane[0][b] == priority_lane[1][b]);
    end
  end
endmodule : spin_alike

/// A mutant of `atoms_spin` is equivalent to the original.
module spin_equivalence
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input logic       en[2], fire[2],
  input bank_mask_t taken[2]
);
  lanes_t priority_lane[2];
  logic   given, driven;
  atoms_spin gold (.clk_i, .rst_ni, .en_i(en[0]), .fire_i(fire[0]), .taken_i(taken[0]), .priority_lane_o(priority_lane[0]));
  atoms_spin_altered gate (.clk_i, .rst_ni, .en_i(en[1]), .fire_i(fire[1]), .taken_i(taken[1]), .priority_lane_o(priority_lane[1]));
  spin_alike alike (.*);

  logic was_reset = 1'b0;
  always_ff @(posedge clk_i) was_reset <= was_reset || !rst_ni;
  always_comb begin
    assume (was_reset || !rst_ni);
    assume (given);
    if (was_reset) assert (driven);
    for (int unsigned b = 0; b < NumBanks; b++) begin
      if (was_reset) assert (gold.turn_q[b] == gate.turn_q[b]);
    end
  end
endmodule : spin_equivalence
