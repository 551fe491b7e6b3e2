/// Comparison of two instances of `atoms_grouper` at their relevant ports: bank addresses of waiting lanes,
/// and priority lanes for CAST.SPIN only. Relevant outputs include `win` for comparisons only, and the rows
/// of taken banks.
module grouper_alike
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import counts_pkg::*;
(
  input  lane_mask_t  pending[2],
  input  op_e         op[2],
  input  logic        coalesce[2],
  input  bank_addrs_t bank_addr[2],
  input  lane_t       rotate[2],
  input  lanes_t      priority_lane[2],
  input  lane_mask_t  served[2], win[2],
  input  bank_mask_t  taken[2],
  input  lanes_t      lane[2],
  input  rows_t       row[2],
  /// True if the relevant inputs of both are equal.
  output logic        given,
  /// True if the relevant outputs of both are equal. Winning lanes must be served, served lanes must wait,
  /// and their banks must be taken.
  output logic        driven
);
  always_comb begin
    given  = pending[0] == pending[1];
    driven = (served[0] == served[1]) && (taken[0] == taken[1]) && ((served[0] & ~pending[0]) == '0);
    if (pending[0] != '0) begin
      given  = given && (op[0] == op[1]) && (coalesce[0] == coalesce[1]) && (rotate[0] == rotate[1])
               && !(coalesce[0] && compares(op[0]));
    end
    if ((pending[0] == '0) || compares(op[0])) driven = driven && (win[0] == win[1]) && ((win[0] & ~served[0]) == '0);
    for (int unsigned l = 0; l < NumLanes; l++) begin
      if (pending[0][l]) given  = given && (bank_addr[0][l] == bank_addr[1][l]);
      if (served[0][l])  driven = driven && taken[0][bank_t'(bank_addr[0][l].bank)];
    end
    for (int unsigned b = 0; b < NumBanks; b++) begin
      if ((pending[0] != '0) && (op[0] == OpCastSpin)) given = given && (priority_lane[0][b] == priority_lane[1][b]);
      driven = driven && (lane[0][b] == lane[1][b]) && (!taken[0][b] || (row[0][b] == row[1][b]));
      // The winner of a taken bank is a lane that is served there.
      driven = driven && (!taken[0][b] || (served[0][lane[0][b]] && (bank_t'(bank_addr[0][lane[0][b]].bank) == bank_t'(b))));
    end
  end
endmodule : grouper_alike

/// A mutant of `atoms_grouper` is equivalent to the original.
module grouper_equivalence
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input lane_mask_t  pending[2],
  input op_e         op[2],
  input logic        coalesce[2],
  input bank_addrs_t bank_addr[2],
  input lane_t       rotate[2],
  input lanes_t      priority_lane[2]
);
  lane_mask_t served[2], win[2];
  bank_mask_t taken[2];
  lanes_t     lane[2];
  rows_t      row[2];
  logic       given, driven;
  atoms_grouper gold (.pending_i(pending[0]), .op_i(op[0]), .coalesce_i(coalesce[0]), .bank_addr_i(bank_addr[0]),
                      .rotate_i(rotate[0]), .priority_lane_i(priority_lane[0]), .served_o(served[0]), .win_o(win[0]),
                      .taken_o(taken[0]), .lane_o(lane[0]), .row_o(row[0]));
  atoms_grouper_altered gate (.pending_i(pending[1]), .op_i(op[1]), .coalesce_i(coalesce[1]), .bank_addr_i(bank_addr[1]),
                              .rotate_i(rotate[1]), .priority_lane_i(priority_lane[1]), .served_o(served[1]), .win_o(win[1]),
                              .taken_o(taken[1]), .lane_o(lane[1]), .row_o(row[1]));
  grouper_alike alike (.*);
  always_comb begin
    assume (given);
    assert (driven);
  end
endmodule : grouper_equivalence
