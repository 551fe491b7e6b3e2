/// `atoms_unit` and the cycle-accurate model get the same random requests. Compares all outputs in every cycle, and measures
/// coverage.
///
/// Plusargs: +profile=NAME, +seed=N, +coverage=FILE; +bug inverts one output bit of the unit.
module model;
  import atoms_cfg_pkg::NumLanes;
  import atoms_dpi_pkg::*;

  bit         clk, rst_n;
  atoms_in_t  pins;
  atoms_out_t found, expected;
  int         cycle, idle;
  Model       reference; Stimulus stimulus; Coverage coverage;
  always #5 clk = !clk;

  atoms_unit dut (
    .clk_i(clk), .rst_ni(rst_n && pins.rst_n), .req_valid_i(pins.req_valid), .req_ready_o(found.req_ready),
    .req_op_i(pins.req_op), .req_size_i(pins.req_size), .req_red_i(pins.req_red), .req_absolute_i(pins.req_absolute),
    .req_scale_i(pins.req_scale), .req_tag_i(pins.req_tag), .req_slot_i(pins.req_slot),
    .req_mask_i(pins.req_mask[NumLanes-1:0]), .req_imm_i(pins.req_imm), .req_ur_i(pins.req_ur),
    .req_ra_i(pins.req_ra[NumLanes-1:0]), .req_b_i(pins.req_b[NumLanes-1:0]), .req_c_i(pins.req_c[NumLanes-1:0]),
    .rsp_valid_o(found.rsp_valid), .rsp_ready_i(pins.rsp_ready), .rsp_tag_o(found.rsp_tag),
    .rsp_rd_o(found.rsp_rd[NumLanes-1:0]), .rsp_pred_o(found.rsp_pred[NumLanes-1:0]), .rsp_fault_o(found.rsp_fault),
    .rsp_fault_lane_o(found.rsp_fault_lane), .rsp_fault_addr_o(found.rsp_fault_addr), .rsp_passes_o(found.rsp_passes),
    .cl_valid_i(pins.cl_valid), .cl_ready_o(found.cl_ready), .cl_op_i(pins.cl_op), .cl_size_i(pins.cl_size),
    .cl_red_i(pins.cl_red), .cl_tag_i(pins.cl_tag), .cl_slot_i(pins.cl_slot), .cl_addr_i(pins.cl_addr),
    .cl_b_i(pins.cl_b), .cl_c_i(pins.cl_c), .cl_rsp_valid_o(found.cl_rsp_valid), .cl_rsp_ready_i(pins.cl_rsp_ready),
    .cl_rsp_tag_o(found.cl_rsp_tag), .cl_rsp_rd_o(found.cl_rsp_rd), .cl_rsp_pred_o(found.cl_rsp_pred),
    .cl_rsp_fault_o(found.cl_rsp_fault), .cl_rsp_fault_addr_o(found.cl_rsp_fault_addr),
    .wake_valid_o(found.wake_valid), .wake_ready_i(pins.wake_ready), .wake_tag_o(found.wake_tag),
    .wake_pred_o(found.wake_pred[NumLanes-1:0]), .cta_valid_i(pins.cta_valid), .cta_ready_o(found.cta_ready),
    .cta_slot_i(pins.cta_slot), .cta_enable_i(pins.cta_enable), .cta_base_i(pins.cta_base), .cta_size_i(pins.cta_size),
    .cta_rank_i(pins.cta_rank), .cta_reject_o(found.cta_reject)
  );

  initial begin
    automatic string profile = "default";
    automatic longint unsigned seed = 1;
    void'($value$plusargs("profile=%s", profile));
    void'($value$plusargs("seed=%d", seed));
    reference = new("default");
    stimulus = new("default", profile, seed, 2000);
    coverage = new("default");
    if (!reference.valid() || !coverage.valid() || !stimulus.valid()) $fatal(1, "%s", stimulus.message());
    repeat (3) @(posedge clk);
    #1 rst_n = 1'b1;                                       // the end of the first reset
  end

  always @(posedge clk) if (rst_n) begin                   // values before the edge
    automatic atoms_out_t seen = found ^ (atoms_out_t'($test$plusargs("bug") && cycle == 500));
    automatic atoms_in_t  next;
    if (!reference.step(pins, expected)) $fatal(1, "%s", reference.message());
    if (seen != expected) $fatal(1, "cycle %0d: the unit has %h, the model %h", cycle, seen, expected);
    if (!coverage.sample(pins, seen)) $fatal(1, "%s", coverage.message());
    if (!stimulus.step(seen, next)) $fatal(1, "%s", stimulus.message());
    pins  <= next;
    cycle <= cycle + 1;
    idle  <= stimulus.finished() ? idle + 1 : 0;
    if (idle == 3000) begin
      automatic string file;
      automatic int unsigned hit, total;
      void'(coverage.count("", hit, total));
      $display("the unit equals the model in %0d cycles; %0d of %0d bins hit", cycle, hit, total);
      if ($value$plusargs("coverage=%s", file) && !coverage.write(file)) $fatal(1, "%s", coverage.message());
      $finish;
    end
  end
endmodule : model
