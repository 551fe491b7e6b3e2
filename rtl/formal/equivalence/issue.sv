/// A mutant of `atoms_issue` is equivalent to the original. Its submodules are replaced by free signals: the proof
/// assumes what their own files prove.
///
/// Relevant inputs: every field of a request that enters or is taken; a hazard while a request is at issue.
///
/// Relevant outputs: every field of the pass (`counts_pkg`), and bank addresses of waiting lanes. For the
/// banks of the pass also rows, operand B except for loads, and operand C for operations that read it.
module issue_equivalence
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import counts_pkg::*;
(
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 advance_i,
  input logic                 warp_valid_i,
  input warp_req_t            warp_i,
  input logic                 warp_enter_i,
  input wide_t [NumLanes-1:0] warp_enter_b_i, warp_enter_c_i,
  input logic                 cluster_valid_i,
  input cluster_req_t         cluster_i,
  input logic                 cluster_room_i,
  input allocation_t          allocation_i,
  // Inputs of both instances; they may differ where they are irrelevant.
  input logic                 hazard_i[2]
);
  logic        warp_pop[2], cluster_pop[2], cluster_owes[2], valid[2];
  slot_t       lookup[2];
  pass_t       pass[2];
  bank_mask_t  bank_valid[2];
  rows_t       row[2];
  lanes_t      lane[2];
  words_t      b[2], c[2];
  bank_addrs_t bank_addr[2];
  lane_mask_t  pending[2];
  lane_t       rotate[2];
  atoms_issue gold (
    .clk_i, .rst_ni, .advance_i, .warp_valid_i, .warp_i, .warp_enter_i, .warp_enter_b_i, .warp_enter_c_i, .cluster_valid_i,
    .cluster_i, .cluster_room_i, .allocation_i, .hazard_i(hazard_i[0]), .warp_pop_o(warp_pop[0]), .cluster_pop_o(cluster_pop[0]),
    .cluster_owes_o(cluster_owes[0]), .lookup_o(lookup[0]), .pass_o(pass[0]), .bank_valid_o(bank_valid[0]), .row_o(row[0]),
    .lane_o(lane[0]), .b_o(b[0]), .c_o(c[0]), .bank_addr_o(bank_addr[0]), .valid_o(valid[0]), .pending_o(pending[0]),
    .rotate_o(rotate[0])
  );
  atoms_issue_altered gate (
    .clk_i, .rst_ni, .advance_i, .warp_valid_i, .warp_i, .warp_enter_i, .warp_enter_b_i, .warp_enter_c_i, .cluster_valid_i,
    .cluster_i, .cluster_room_i, .allocation_i, .hazard_i(hazard_i[1]), .warp_pop_o(warp_pop[1]), .cluster_pop_o(cluster_pop[1]),
    .cluster_owes_o(cluster_owes[1]), .lookup_o(lookup[1]), .pass_o(pass[1]), .bank_valid_o(bank_valid[1]), .row_o(row[1]),
    .lane_o(lane[1]), .b_o(b[1]), .c_o(c[1]), .bank_addr_o(bank_addr[1]), .valid_o(valid[1]), .pending_o(pending[1]),
    .rotate_o(rotate[1])
  );

  logic agen_given, agen_driven, grouper_given, grouper_driven, spin_given, spin_driven, operands_given, operands_driven;
  agen_alike u_agen_alike (
    .en('{gold.look, gate.look}), .meta('{gold.meta, gate.meta}), .ra('{warp_i.ra, warp_i.ra}),
    .offset('{gold.take_cluster, gate.take_cluster}), .allocation('{allocation_i, allocation_i}),
    .bank_addr('{gold.bank_addr_d, gate.bank_addr_d}), .fault('{gold.fault_d, gate.fault_d}),
    .fault_lane('{gold.fault_lane_d, gate.fault_lane_d}), .fault_addr('{gold.fault_addr_d, gate.fault_addr_d}),
    .given(agen_given), .driven(agen_driven)
  );
  grouper_alike u_grouper_alike (
    .pending, .op('{gold.op_q, gate.op_q}), .coalesce('{gold.coalesce, gate.coalesce}), .bank_addr, .rotate,
    .priority_lane('{gold.priority_lane, gate.priority_lane}), .served('{gold.served, gate.served}), .win('{gold.win, gate.win}),
    .taken('{gold.taken, gate.taken}), .lane('{gold.lane, gate.lane}), .row('{gold.row, gate.row}),
    .given(grouper_given), .driven(grouper_driven)
  );
  spin_alike u_spin_alike (
    .en('{gold.spins, gate.spins}), .fire('{gold.spin_fire, gate.spin_fire}), .taken('{gold.taken, gate.taken}), .priority_lane('{gold.priority_lane, gate.priority_lane}),
    .given(spin_given), .driven(spin_driven)
  );
  operands_alike u_operands_alike (
    .enter('{warp_enter_i, warp_enter_i}), .enter_b('{warp_enter_b_i, warp_enter_b_i}),
    .enter_c('{warp_enter_c_i, warp_enter_c_i}), .take_warp(warp_pop), .take_cluster(cluster_pop),
    .cluster_b('{cluster_i.b, cluster_i.b}), .cluster_c('{cluster_i.c, cluster_i.c}),
    .cluster('{gold.cluster_q, gate.cluster_q}), .op('{gold.op_q, gate.op_q}), .size('{gold.size_q, gate.size_q}),
    .coalesce('{gold.coalesce, gate.coalesce}), .served('{gold.served, gate.served}), .taken('{gold.taken, gate.taken}),
    .lane('{gold.lane, gate.lane}), .row('{gold.row, gate.row}), .bank_addr, .bank_valid, .row_out(row), .lane_out(lane),
    .b, .c, .asked('{gold.asked, gate.asked}), .given(operands_given), .driven(operands_driven)
  );

  logic was_reset = 1'b0, popped;   // a cluster request has been taken
  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    popped    <= rst_ni && (popped || cluster_pop[0]);
  end
  always_comb begin
    assume (was_reset || !rst_ni);
    assume (!agen_given || agen_driven);
    assume (!grouper_given || grouper_driven);
    assume (!operands_given || operands_driven);
    if (was_reset) begin
      // The priority lanes come from registers, so the inputs of earlier cycles are relevant.
      assume (spin_driven);
      if (rst_ni) assert (spin_given && operands_given);
    end
  end

  // Assume equal relevant inputs. Until a cluster request is taken, there is room for one cluster response.
  always_comb begin
    if (was_reset) assume (popped || cluster_room_i);
    if (valid[0]) assume (hazard_i[0] == hazard_i[1]);
  end

  // Relevant outputs and registers are equal.
  always_comb begin
    if (was_reset) begin
      assert ((warp_pop[0] == warp_pop[1]) && (cluster_pop[0] == cluster_pop[1]) && (cluster_owes[0] == cluster_owes[1])
              && (lookup[0] == lookup[1]) && (valid[0] == valid[1]) && (pass[0].valid == pass[1].valid)
              && (pending[0] == pending[1]) && (rotate[0] == rotate[1]));
      assert ((gold.turn_q == gate.turn_q) && (!popped || (gold.no_room_q == gate.no_room_q)) && (valid[0] || (pending[0] == '0)));
      if (valid[0]) begin
        assert ((counting(pass[0]) == counting(pass[1])) && (bank_valid[0] == bank_valid[1])
                && works_on(pass[0], bank_addr[0], bank_valid[0])
                && ((pending[0] == '0) || legal(gold.op_q, gold.size_q))
                && (!gold.cluster_q || ((pending[0] <= lane_mask_t'(1)) && ((pending[0] == '0) || cluster_legal(gold.op_q, gold.red_q)))));
        for (int unsigned l = 0; l < NumLanes; l++) begin
          if (pending[0][l]) assert ((bank_addr[0][l] == bank_addr[1][l])
                                     && ((bank_addr[0][l].bank[1:0] & last_word(gold.size_q)) == '0));
        end
        for (int unsigned i = 0; i < NumBanks; i++) begin
          assert (lane[0][i] == lane[1][i]);
          if (bank_valid[0][i]) begin
            assert (row[0][i] == row[1][i]);
            if (takes_b(gold.op_q)) assert (b[0][i] == b[1][i]);
            if (takes_c(gold.op_q)) assert (c[0][i] == c[1][i]);
          end
        end
      end
    end
  end
endmodule : issue_equivalence
