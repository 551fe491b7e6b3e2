/// A mutant of `atoms_collect` is equivalent to the original.
///
/// Relevant ports: every field of a valid pass (`counts_pkg`); bank addresses of served lanes, words of their
/// accesses, and `hit` for comparisons; the object if `one_object_i`; a valid response.
module collect_equivalence
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import counts_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  // Inputs of both instances; they may differ where they are irrelevant.
  input pass_t       pass_i[2],
  input words_t      old_i[2],
  input bank_mask_t  hit_i[2],
  input bank_addrs_t bank_addr_i[2],
  input logic        one_object_i,
  input bank_t       object_bank_i[2],
  input row_t        object_row_i[2],
  input word_t       object_limit_i[2],
  input logic        free_i,
  input logic        rsp_ready_i
);
  logic         stall[2], suspend[2], rsp_valid[2], cl_valid[2];
  waiter_t      waiter[2];
  logic [31:0]  limit[2];
  wides_t       rd[2];
  lane_mask_t   pred[2];
  tag_t         tag[2];
  fault_e       fault[2];
  logic [4:0]   fault_lane[2];
  addr_t        fault_addr[2];
  passes_t      passes[2];
  cluster_rsp_t cl_rsp[2];
  atoms_collect gold (
    .clk_i, .rst_ni, .one_object_i, .free_i, .rsp_ready_i,
    .pass_i(pass_i[0]), .old_i(old_i[0]), .hit_i(hit_i[0]), .bank_addr_i(bank_addr_i[0]), .object_bank_i(object_bank_i[0]),
    .object_row_i(object_row_i[0]), .object_limit_i(object_limit_i[0]), .stall_o(stall[0]), .suspend_o(suspend[0]),
    .waiter_o(waiter[0]), .limit_o(limit[0]), .rsp_valid_o(rsp_valid[0]), .rsp_rd_o(rd[0]), .rsp_pred_o(pred[0]),
    .rsp_tag_o(tag[0]), .rsp_fault_o(fault[0]), .rsp_fault_lane_o(fault_lane[0]), .rsp_fault_addr_o(fault_addr[0]),
    .rsp_passes_o(passes[0]), .cl_valid_o(cl_valid[0]), .cl_rsp_o(cl_rsp[0])
  );
  atoms_collect_altered gate (
    .clk_i, .rst_ni, .one_object_i, .free_i, .rsp_ready_i,
    .pass_i(pass_i[1]), .old_i(old_i[1]), .hit_i(hit_i[1]), .bank_addr_i(bank_addr_i[1]), .object_bank_i(object_bank_i[1]),
    .object_row_i(object_row_i[1]), .object_limit_i(object_limit_i[1]), .stall_o(stall[1]), .suspend_o(suspend[1]),
    .waiter_o(waiter[1]), .limit_o(limit[1]), .rsp_valid_o(rsp_valid[1]), .rsp_rd_o(rd[1]), .rsp_pred_o(pred[1]),
    .rsp_tag_o(tag[1]), .rsp_fault_o(fault[1]), .rsp_fault_lane_o(fault_lane[1]), .rsp_fault_addr_o(fault_addr[1]),
    .rsp_passes_o(passes[1]), .cl_valid_o(cl_valid[1]), .cl_rsp_o(cl_rsp[1])
  );

  logic was_reset = 1'b0, begun = 1'b0;
  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    begun     <= 1'b1;
  end
  always_comb assume (was_reset || !rst_ni);

  // Assume equal relevant inputs.
  always_comb begin
    assume (pass_i[0].valid == pass_i[1].valid);
    assume (!one_object_i || (pass_i[0].valid && (pass_i[0].op == OpMbarTryWait)));
    if (one_object_i) begin
      assume ((object_bank_i[0] == object_bank_i[1]) && (object_row_i[0] == object_row_i[1])
              && (object_limit_i[0] == object_limit_i[1]));
    end
    if (pass_i[0].valid) begin
      assume (counting(pass_i[0]) == counting(pass_i[1]));
      // Only legal instructions touch memory. A cluster request is one pass of lane 0.
      assume ((pass_i[0].served == '0) || legal(pass_i[0].op, pass_i[0].size));
      assume (!compares(pass_i[0].op) || ((pass_i[0].win & ~pass_i[0].served) == '0));
      assume (!pass_i[0].cluster || ((pass_i[0].served <= lane_mask_t'(1)) && pass_i[0].first && pass_i[0].last));
      // Without MergeArrive, a pass has at most one arrival per object (`grouper`).
      for (int unsigned l = 0; l < NumLanes; l++) begin
        for (int unsigned m = 0; m < l; m++) begin
          if ((pass_i[0].op == OpMbarArrive) && !MergeArrive && pass_i[0].served[l] && pass_i[0].served[m])
            assume (bank_t'(bank_addr_i[0][l].bank) != bank_t'(bank_addr_i[0][m].bank));
        end
      end
      for (int unsigned l = 0; l < NumLanes; l++) begin
        if (pass_i[0].served[l]) begin
          assume (bank_addr_i[0][l] == bank_addr_i[1][l]);
          for (int unsigned b = 0; b < NumBanks; b++) begin
            if (words_of(bank_addr_i[0][l], pass_i[0].size)[b])
              assume ((old_i[0][b] == old_i[1][b]) && (!compares(pass_i[0].op) || (hit_i[0][b] == hit_i[1][b])));
          end
        end
      end
    end
  end

  // Relevant outputs and registers are equal.
  logic alike;
  assign alike = (rd[0] == rd[1]) && (pred[0] == pred[1]) && (tag[0] == tag[1]) && (fault[0] == fault[1])
                 && (fault_lane[0] == fault_lane[1]) && (fault_addr[0] == fault_addr[1]) && (passes[0] == passes[1]);
  always_comb begin
    // Registers without reset start with equal values.
    assume (begun || alike);
    assert (!begun || alike);
    if (was_reset) begin
      assert ((stall[0] == stall[1]) && (suspend[0] == suspend[1]) && (rsp_valid[0] == rsp_valid[1])
              && (cl_valid[0] == cl_valid[1]));
      if (suspend[0])  assert ((waiter[0] == waiter[1]) && (limit[0] == limit[1]));
      if (cl_valid[0]) assert (cl_rsp[0] == cl_rsp[1]);
    end
  end
endmodule : collect_equivalence
