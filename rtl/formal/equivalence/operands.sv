/// Comparison of two instances of `atoms_operands` at their relevant ports.
///
/// Relevant inputs: operands of requests that enter; for a pass, all inputs, but only winners and rows of
/// taken banks, and bank addresses of served lanes. Relevant outputs for the banks of the pass: operand B
/// except for loads, operand C for operations that read it. `asked` is relevant for operations that test a
/// phase.
module operands_alike
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import counts_pkg::*;
(
  input  logic                 enter[2],
  input  wide_t [NumLanes-1:0] enter_b[2], enter_c[2],
  input  logic                 take_warp[2], take_cluster[2],
  input  wide_t                cluster_b[2], cluster_c[2],
  input  logic                 cluster[2],
  input  op_e                  op[2],
  input  size_e                size[2],
  input  logic                 coalesce[2],
  input  lane_mask_t           served[2],
  input  bank_mask_t           taken[2],
  input  lanes_t               lane[2],
  input  rows_t                row[2],
  input  bank_addrs_t          bank_addr[2],
  input  bank_mask_t           bank_valid[2],
  input  rows_t                row_out[2],
  input  lanes_t               lane_out[2],
  input  words_t               b[2], c[2],
  input  lane_mask_t           asked[2],
  /// True if the relevant inputs of both are equal.
  output logic                 given,
  /// True if the relevant outputs of both are equal, given equal inputs since reset.
  output logic                 driven
);
  logic [1:0] last;
  assign last = last_word(size[0]);
  always_comb begin
    given = (enter[0] == enter[1]) && (take_warp[0] == take_warp[1]) && (take_cluster[0] == take_cluster[1])
            && (taken[0] == taken[1]) && (!enter[0] || ((enter_b[0] == enter_b[1]) && (enter_c[0] == enter_c[1])))
            && (!take_cluster[0] || ((cluster_b[0] == cluster_b[1]) && (cluster_c[0] == cluster_c[1])));
    if (taken[0] != '0) begin
      given = given && (cluster[0] == cluster[1]) && (op[0] == op[1]) && (size[0] == size[1])
              && (coalesce[0] == coalesce[1]) && (served[0] == served[1]) && legal(op[0], size[0])
              // A cluster request has one lane, and tests no phase.
              && (!cluster[0] || ((served[0] == lane_mask_t'(1)) && !asks_phase(op[0])));
    end
    for (int unsigned l = 0; l < NumLanes; l++) begin
      if ((taken[0] != '0) && served[0][l]) given = given && (bank_addr[0][l] == bank_addr[1][l]) && taken[0][bank_t'(bank_addr[0][l].bank)];
    end
    for (int unsigned i = 0; i < NumBanks; i++) begin
      given = given && (lane[0][i] == lane[1][i]);
      if (taken[0][i]) given = given && (row[0][i] == row[1][i]) && served[0][lane[0][i]]
                               && (bank_t'(bank_addr[0][lane[0][i]].bank) == bank_t'(i)) && ((2'(i) & last) == '0);
    end

    driven = bank_valid[0] == bank_valid[1];
    if ((taken[0] != '0) && asks_phase(op[0])) driven = driven && (((asked[0] ^ asked[1]) & served[0]) == '0);
    for (int unsigned i = 0; i < NumBanks; i++) begin
      driven = driven && (bank_valid[0][i] == taken[0][bank_t'(i) & ~bank_t'(last)]) && (lane_out[0][i] == lane_out[1][i]);
      if (bank_valid[0][i]) begin
        driven = driven && (row_out[0][i] == row_out[1][i]);
        if (takes_b(op[0])) driven = driven && (b[0][i] == b[1][i]);
        if (takes_c(op[0])) driven = driven && (c[0][i] == c[1][i]);
      end
    end
  end
endmodule : operands_alike

/// A mutant of `atoms_operands` is equivalent to the original.
module operands_equivalence
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import counts_pkg::*;
(
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 enter[2],
  input wide_t [NumLanes-1:0] enter_b[2], enter_c[2],
  input logic                 take_warp[2], take_cluster[2],
  input wide_t                cluster_b[2], cluster_c[2],
  input logic                 cluster[2],
  input op_e                  op[2],
  input size_e                size[2],
  input lane_mask_t           served[2],
  input bank_mask_t           taken[2],
  input lanes_t               lane[2],
  input rows_t                row[2],
  input bank_addrs_t          bank_addr[2],
  input logic                 red
);
  localparam int unsigned Entries = QueueDepth + 1;
  logic       coalesce[2];
  bank_mask_t bank_valid[2];
  rows_t      row_out[2];
  lanes_t     lane_out[2];
  words_t     b[2], c[2];
  lane_mask_t asked[2];
  logic       given, driven;
  atoms_operands gold (
    .clk_i, .rst_ni, .enter_i(enter[0]), .enter_b_i(enter_b[0]), .enter_c_i(enter_c[0]), .take_warp_i(take_warp[0]),
    .take_cluster_i(take_cluster[0]), .cluster_b_i(cluster_b[0]), .cluster_c_i(cluster_c[0]), .cluster_i(cluster[0]),
    .op_i(op[0]), .size_i(size[0]), .coalesce_i(coalesce[0]), .served_i(served[0]), .taken_i(taken[0]), .lane_i(lane[0]),
    .row_i(row[0]), .bank_addr_i(bank_addr[0]), .bank_valid_o(bank_valid[0]), .row_o(row_out[0]), .lane_o(lane_out[0]),
    .b_o(b[0]), .c_o(c[0]), .asked_o(asked[0])
  );
  atoms_operands_altered gate (
    .clk_i, .rst_ni, .enter_i(enter[1]), .enter_b_i(enter_b[1]), .enter_c_i(enter_c[1]), .take_warp_i(take_warp[1]),
    .take_cluster_i(take_cluster[1]), .cluster_b_i(cluster_b[1]), .cluster_c_i(cluster_c[1]), .cluster_i(cluster[1]),
    .op_i(op[1]), .size_i(size[1]), .coalesce_i(coalesce[1]), .served_i(served[1]), .taken_i(taken[1]), .lane_i(lane[1]),
    .row_i(row[1]), .bank_addr_i(bank_addr[1]), .bank_valid_o(bank_valid[1]), .row_o(row_out[1]), .lane_o(lane_out[1]),
    .b_o(b[1]), .c_o(c[1]), .asked_o(asked[1])
  );
  operands_alike alike (.*);
  // Both operations are equal if the pass has lanes. Without lanes `coalesce` has no effect.
  assign coalesce[0] = coalesces(op[0], red);
  assign coalesce[1] = coalesces(op[1], red);

  logic was_reset = 1'b0, begun = 1'b0, worked;   // a warp request has been taken
  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    begun     <= 1'b1;
    worked    <= rst_ni && (worked || take_warp[0]);
  end
  logic stored;
  always_comb begin
    stored = (gold.cluster_b_q == gate.cluster_b_q) && (gold.cluster_c_q == gate.cluster_c_q) && (gold.tail_q == gate.tail_q);
    for (int unsigned e = 0; e < Entries; e++) stored = stored && (gold.b_q[e] == gate.b_q[e]) && (gold.c_q[e] == gate.c_q[e]);
    assume (begun || stored);
    assert (!begun || stored);
    assume (was_reset || !rst_ni);
    assume (given);
    if (was_reset) begin
      // A pass of the warp queue follows a request that was taken from the queue.
      if ((taken[0] != '0) && !cluster[0]) assume (worked);
      assert (driven);
      assert ((gold.next_q == gate.next_q) && (!worked || (gold.work_q == gate.work_q)));
      assert ((32'(gold.tail_q) < Entries) && (32'(gold.next_q) < Entries) && (!worked || (32'(gold.work_q) < Entries)));
    end
  end
endmodule : operands_equivalence
