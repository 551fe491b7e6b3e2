/// Self-checking bench of `atoms_unit`: random driver, monitor, and the ATOMS scoreboard over DPI.
///
/// Plusargs: +requests=N, +seed=N, +trace=FILE writes a trace for `atoms check`, +bug=N alters what the monitor sees,
/// +silent leaves out the calls of the scoreboard, to measure their time; +warp sends no cluster requests.
module bench;
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import atoms_dpi_pkg::Scoreboard;

  logic clk = 1'b0;
  logic rst_n = 1'b0;
  always #5 clk = !clk;

  logic                req_valid = 1'b0, req_ready, req_red, req_absolute;
  logic [4:0]          req_op;
  logic [3:0]          req_size;
  logic [2:0]          req_scale;
  tag_t                req_tag, rsp_tag, cl_tag, cl_rsp_tag, wake_tag;
  slot_t               req_slot, cl_slot, cta_slot;
  lane_mask_t          req_mask, rsp_pred, wake_pred;
  logic [23:0]         req_imm, cl_addr;
  addr_t               req_ur, rsp_fault_addr, cl_rsp_fault_addr;
  addr_t [NumLanes-1:0] req_ra;
  wide_t [NumLanes-1:0] req_b, req_c, rsp_rd;
  logic                rsp_valid, cl_valid = 1'b0, cl_ready, cl_red, cl_rsp_valid, cl_rsp_pred, wake_valid;
  logic [1:0]          rsp_fault, cl_rsp_fault;
  logic [4:0]          rsp_fault_lane, cl_op;
  passes_t             rsp_passes;
  logic [3:0]          cl_size;
  wide_t               cl_b, cl_c, cl_rsp_rd;
  logic                cta_valid = 1'b0, cta_ready, cta_enable, cta_reject;
  logic [15:0]         cta_base;
  logic [24:0]         cta_size;
  logic [7:0]          cta_rank;

  atoms_unit dut (
    .clk_i(clk), .rst_ni(rst_n),
    .req_valid_i(req_valid), .req_ready_o(req_ready), .req_op_i(req_op), .req_size_i(req_size), .req_red_i(req_red),
    .req_absolute_i(req_absolute), .req_scale_i(req_scale), .req_tag_i(req_tag), .req_slot_i(req_slot),
    .req_mask_i(req_mask), .req_imm_i(req_imm), .req_ur_i(req_ur), .req_ra_i(req_ra), .req_b_i(req_b),
    .req_c_i(req_c),
    .rsp_valid_o(rsp_valid), .rsp_ready_i(1'b1), .rsp_tag_o(rsp_tag), .rsp_rd_o(rsp_rd), .rsp_pred_o(rsp_pred),
    .rsp_fault_o(rsp_fault), .rsp_fault_lane_o(rsp_fault_lane), .rsp_fault_addr_o(rsp_fault_addr),
    .rsp_passes_o(rsp_passes),
    .cl_valid_i(cl_valid), .cl_ready_o(cl_ready), .cl_op_i(cl_op), .cl_size_i(cl_size), .cl_red_i(cl_red),
    .cl_tag_i(cl_tag), .cl_slot_i(cl_slot), .cl_addr_i(cl_addr), .cl_b_i(cl_b), .cl_c_i(cl_c),
    .cl_rsp_valid_o(cl_rsp_valid), .cl_rsp_ready_i(1'b1), .cl_rsp_tag_o(cl_rsp_tag), .cl_rsp_rd_o(cl_rsp_rd),
    .cl_rsp_pred_o(cl_rsp_pred), .cl_rsp_fault_o(cl_rsp_fault), .cl_rsp_fault_addr_o(cl_rsp_fault_addr),
    .wake_valid_o(wake_valid), .wake_ready_i(1'b1), .wake_tag_o(wake_tag), .wake_pred_o(wake_pred),
    .cta_valid_i(cta_valid), .cta_ready_o(cta_ready), .cta_slot_i(cta_slot), .cta_enable_i(cta_enable),
    .cta_base_i(cta_base), .cta_size_i(cta_size), .cta_rank_i(cta_rank), .cta_reject_o(cta_reject)
  );

  // Words of the banks, read through the hierarchy.
  logic [31:0] words [NumBanks][NumRows];
  for (genvar bank = 0; bank < NumBanks; bank++) begin : g_words
    always_comb
      for (int row = 0; row < NumRows; row++) words[bank][row] = dut.g_bank[bank].u_bank.mem_q[row];
  end

  int unsigned     requests = 2000, seed = 1, bug = 0, driven = 0, answers = 0, idle = 0;
  longint unsigned cycle = 0;
  bit              judging, clusters, table_pending = 1'b0;
  slot_t           table_slot;
  Scoreboard       scoreboard;

  /// Word of 32 random bits.
  function automatic logic [31:0] random();
    return 32'($urandom());
  endfunction

  /// Draws a warp request: operations of 32 bits, waits and arrivals, on few words.
  task automatic draw_warp();
    automatic int unsigned kind = 32'($urandom_range(0, 9));
    automatic bit object = kind > 7;
    automatic logic [31:0] address = 32'h80 + 8 * (random() & 1);
    req_op = object ? 5'($urandom_range(int'(OpMbarExpectTx), int'(OpMbarTryWait))) : 5'($urandom_range(int'(OpAdd), int'(OpStore)));
    req_size = object ? 4'(SizeU64) : 4'(SizeU32);
    req_red = 1'($urandom_range(0, 3) == 0);
    req_absolute = 1'b0;
    req_scale = 3'd0;
    req_tag = tag_t'(driven);
    req_slot = slot_t'($urandom_range(0, 1));
    req_mask = lane_mask_t'(random());
    req_imm = 24'd0;
    req_ur = 32'd0;
    for (int lane = 0; lane < NumLanes; lane++) begin
      req_ra[lane] = object ? address : 4 * (random() & 15);
      req_b[lane] = {96'd0, object ? (random() & 32'h3 | address << 31 | 32'(driven[0]) << 31) : (random() & 32'h7)};
      // The limit of a wait, in cycles; a new value for a compare-and-store.
      req_c[lane] = {96'd0, object ? 32'd50 : (random() & 32'h7)};
    end
  endtask

  task automatic draw_cluster();
    cl_op = 5'($urandom_range(int'(OpAdd), int'(OpXor)));
    cl_size = 4'(SizeU32);
    cl_red = 1'($urandom_range(0, 1));
    cl_tag = tag_t'(random());
    cl_slot = slot_t'($urandom_range(0, 1));
    cl_addr = 24'(4 * (random() & 15));
    cl_b = {96'd0, random() & 32'h7};
    cl_c = 128'd0;
  endtask

  // The driver. Signals change with the clock edge, for the next cycle.
  always @(posedge clk) begin
    if (rst_n) begin
      if (cta_valid && cta_ready) begin
        cta_valid <= (cta_slot == 0);
        cta_slot <= cta_slot + 1'b1;
        cta_base <= 16'd16;
      end
      if (!req_valid || req_ready) begin
        req_valid <= 1'b0;
        if (!cta_valid && driven < requests && random() % 4 != 0) begin
          draw_warp();
          driven <= driven + 1;
          req_valid <= 1'b1;
        end
      end
      if (!cl_valid || cl_ready) begin
        cl_valid <= 1'b0;
        if (clusters && !cta_valid && driven < requests && random() % 8 == 0) begin
          draw_cluster();
          cl_valid <= 1'b1;
        end
      end
    end
  end

  task automatic check(bit accepted);
    if (accepted) return;
    $display("%s: %s", scoreboard.result.name(), scoreboard.message());
    $display("clause %s, lanes %b", scoreboard.clause(), scoreboard.lanes());
    void'(scoreboard.free());
    $fatal(1, "the scoreboard rejects the unit");
  endtask

  /// True if the planted bug `number` takes effect at this answer.
  function automatic bit planted(int unsigned number);
    return bug == number && answers > 200;
  endfunction

  // The monitor, before the clock edge.
  always @(negedge clk) begin
    automatic logic [4095:0] rd = 4096'(rsp_rd);
    automatic logic [31:0] pred = 32'(rsp_pred);
    cycle <= cycle + 1;
    if (rst_n && judging) begin
      if (table_pending) check(scoreboard.cta_result(cycle, table_slot, cta_reject ^ (bug == 8)));
      if (rsp_valid) begin
        if (planted(1) && rsp_rd[0] != 0) rd[0] = !rd[0];
        if (planted(2) && pred != 0) pred = 32'd0;
        if (!planted(5))
          check(scoreboard.warp_response(cycle, planted(6) ? rsp_tag + 1'b1 : rsp_tag, rd, pred,
                                         planted(3) ? 2'd2 : rsp_fault, rsp_fault_lane, rsp_fault_addr,
                                         32'(rsp_passes) + 32'(planted(4))));
      end
      if (cl_rsp_valid)
        check(scoreboard.cluster_response(cycle, cl_rsp_tag, 128'(cl_rsp_rd) ^ 128'(planted(7)), cl_rsp_pred, cl_rsp_fault,
                                          cl_rsp_fault_addr));
      if (wake_valid)
        check(scoreboard.wake_up(cycle, wake_tag, planted(9) ? 32'(wake_pred) ^ 32'd1 : 32'(wake_pred)));
      else check(scoreboard.quiet(cycle, cycle));
      if (cta_valid && cta_ready)
        check(scoreboard.cta_write(cycle, cta_slot, cta_enable, cta_base, cta_size, cta_rank));
      if (req_valid && req_ready)
        check(scoreboard.warp_request(cycle, req_tag, req_op, req_size, req_red, req_absolute, req_scale, req_slot,
                                      32'(req_mask), req_imm, req_ur, 1024'(req_ra), 4096'(req_b), 4096'(req_c)));
      if (cl_valid && cl_ready)
        check(scoreboard.cluster_request(cycle, cl_tag, cl_op, cl_size, cl_red, cl_slot, cl_addr, cl_b, cl_c));
    end
    answers <= answers + 32'(rsp_valid);
    table_pending <= cta_valid && cta_ready;
    table_slot <= cta_slot;
    // All waits end within 50 cycles.
    idle <= (rst_n && driven == requests && !req_valid && !cl_valid) ? idle + 1 : 0;
    if (idle == 400) finish();
  end

  task automatic finish();
    if (!judging) $finish;
    else judge_end();
  endtask

  task automatic judge_end();
    for (int row = 0; row < NumRows; row++)
      for (int bank = 0; bank < NumBanks; bank++)
        check(scoreboard.final_word(scoreboard.word_index(row, bank), words[bank][row] ^ 32'(bug == 10)));
    check(scoreboard.finish(cycle));
    $display("%0d requests judged in %0d cycles", scoreboard.judged(), cycle);
    if (!scoreboard.free()) $fatal(1, "the trace is not complete: %s", scoreboard.message());
    $finish;
  endtask

  initial begin
    automatic string trace;
    void'($value$plusargs("requests=%d", requests));
    void'($value$plusargs("seed=%d", seed));
    void'($value$plusargs("bug=%d", bug));
    judging = !$test$plusargs("silent");
    clusters = !$test$plusargs("warp");
    void'($urandom(seed));
    scoreboard = new("default");
    if (!scoreboard.valid()) $fatal(1, "%s", scoreboard.message());
    if ($value$plusargs("trace=%s", trace)) check(scoreboard.record(trace));
    cta_valid = 1'b1;
    cta_enable = 1'b1;
    cta_slot = 0;
    cta_base = 0;
    cta_size = 25'd2048;
    cta_rank = 0;
    repeat (3) @(posedge clk);
    #1 rst_n = 1'b1;
  end
endmodule : bench
