/// A mutant of `atoms_waiters` is equivalent to the original.
///
/// Relevant ports: a request that enters, rows of objects that complete, the slot of a request that leaves,
/// an offered wake-up. Relevant registers: the occupied entries, and the limits of suspended requests.
module waiters_equivalence
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        enter_i,
  // Inputs of both instances; they may differ where they are irrelevant.
  input waiter_t     waiter_i[2],
  input logic [31:0] limit_i[2],
  input bank_mask_t  completed_i,
  input rows_t       row_i[2],
  input logic        wake_ready_i
);
  logic                  free[2], wake_valid[2], leave[2];
  tag_t                  wake_tag[2];
  lane_mask_t            wake_pred[2];
  slot_t                 leave_slot[2];
  logic [NumWaiters-1:0] suspended[2], ready[2];
  atoms_waiters gold (
    .clk_i, .rst_ni, .enter_i, .waiter_i(waiter_i[0]), .limit_i(limit_i[0]), .free_o(free[0]), .completed_i, .row_i(row_i[0]),
    .wake_valid_o(wake_valid[0]), .wake_ready_i, .wake_tag_o(wake_tag[0]), .wake_pred_o(wake_pred[0]), .leave_o(leave[0]),
    .leave_slot_o(leave_slot[0]), .suspended_o(suspended[0]), .ready_o(ready[0])
  );
  atoms_waiters_altered gate (
    .clk_i, .rst_ni, .enter_i, .waiter_i(waiter_i[1]), .limit_i(limit_i[1]), .free_o(free[1]), .completed_i, .row_i(row_i[1]),
    .wake_valid_o(wake_valid[1]), .wake_ready_i, .wake_tag_o(wake_tag[1]), .wake_pred_o(wake_pred[1]), .leave_o(leave[1]),
    .leave_slot_o(leave_slot[1]), .suspended_o(suspended[1]), .ready_o(ready[1])
  );

  logic was_reset = 1'b0;
  always_ff @(posedge clk_i) was_reset <= was_reset || !rst_ni;
  always_comb begin
    assume (was_reset || !rst_ni);
    // A request enters only if an entry is free.
    if (enter_i) assume (free[0] && (waiter_i[0] == waiter_i[1]) && (limit_i[0] == limit_i[1]));
    for (int unsigned b = 0; b < NumBanks; b++) begin
      if (completed_i[b]) assume (row_i[0][b] == row_i[1][b]);
    end
    if (was_reset) begin
      assert ((free[0] == free[1]) && (wake_valid[0] == wake_valid[1]) && (leave[0] == leave[1])
              && (suspended[0] == suspended[1]) && (ready[0] == ready[1]));
      if (wake_valid[0]) assert ((wake_tag[0] == wake_tag[1]) && (wake_pred[0] == wake_pred[1]));
      if (leave[0])      assert (leave_slot[0] == leave_slot[1]);
      assert ((gold.woken_q == gate.woken_q) && (gold.expired_q == gate.expired_q) && (gold.last_q == gate.last_q));
      for (int unsigned p = 0; p < NumWaiters; p++) begin
        if (suspended[0][p] || ready[0][p]) assert (gold.waiter_q[p] == gate.waiter_q[p]);
        if (suspended[0][p])                assert (gold.left_q[p] == gate.left_q[p]);
      end
    end
  end
endmodule : waiters_equivalence
