/// Two units of different configurations in one simulation, each with its scoreboard.
///
/// `atoms rtl package NAME --prefix left_ --output FOLDER` writes the RTL of a configuration with other names of packages
/// and modules.
module two;
  logic clk = 1'b0, rst_n = 1'b0;
  always #5 clk = !clk;
  longint unsigned cycle = 0;
  always @(posedge clk) cycle <= cycle + 1;
  initial begin
    repeat (3) @(posedge clk);
    #1 rst_n = 1'b1;
  end

  logic left_done, right_done;
  left_bench #("small") left(.*, .done(left_done));
  right_bench #("small,num_banks=8") right(.*, .done(right_done));
  always @(posedge clk)
    if (left_done && right_done) begin
      $display("both scoreboards accept 200 requests");
      $finish;
    end
endmodule : two

/// Driver and monitor of one unit: sends additions of all lanes to few words.
`define ATOMS_BENCH(SIDE)                                                                                             \
module SIDE``bench #(parameter string Config = "") (                                                                  \
  input logic clk, input logic rst_n, input longint unsigned cycle, output logic done                                 \
);                                                                                                                    \
  import SIDE``atoms_cfg_pkg::*;                                                                                      \
  import SIDE``atoms_op_pkg::*;                                                                                       \
  import SIDE``atoms_pkg::*;                                                                                          \
  import atoms_dpi_pkg::Scoreboard;                                                                                   \
  logic req_valid = 1'b0, req_ready, rsp_valid, cta_valid = 1'b1, cta_ready;                                          \
  tag_t req_tag, rsp_tag;                                                                                             \
  addr_t [NumLanes-1:0] req_ra;                                                                                       \
  wide_t [NumLanes-1:0] req_b, rsp_rd;                                                                                \
  logic [1:0] rsp_fault;                                                                                              \
  passes_t rsp_passes;                                                                                                \
  int sent = 0;                                                                                                       \
  Scoreboard scoreboard;                                                                                              \
  /* verilator lint_off PINCONNECTEMPTY */                                                                            \
  SIDE``atoms_unit dut (                                                                                              \
    .clk_i(clk), .rst_ni(rst_n), .req_valid_i(req_valid), .req_ready_o(req_ready), .req_op_i(5'(OpAdd)),              \
    .req_size_i(4'(SizeU32)), .req_red_i(1'b0), .req_absolute_i(1'b0), .req_scale_i(3'd0), .req_tag_i(req_tag),       \
    .req_slot_i('0), .req_mask_i('1), .req_imm_i('0), .req_ur_i('0), .req_ra_i(req_ra), .req_b_i(req_b),              \
    .req_c_i('0), .rsp_valid_o(rsp_valid), .rsp_ready_i(1'b1), .rsp_tag_o(rsp_tag), .rsp_rd_o(rsp_rd),                \
    .rsp_pred_o(), .rsp_fault_o(rsp_fault), .rsp_fault_lane_o(), .rsp_fault_addr_o(), .rsp_passes_o(rsp_passes),      \
    .cl_valid_i(1'b0), .cl_ready_o(), .cl_op_i('0), .cl_size_i('0), .cl_red_i(1'b0), .cl_tag_i('0), .cl_slot_i('0),   \
    .cl_addr_i('0), .cl_b_i('0), .cl_c_i('0), .cl_rsp_valid_o(), .cl_rsp_ready_i(1'b1), .cl_rsp_tag_o(),              \
    .cl_rsp_rd_o(), .cl_rsp_pred_o(), .cl_rsp_fault_o(), .cl_rsp_fault_addr_o(), .wake_valid_o(),                     \
    .wake_ready_i(1'b1), .wake_tag_o(), .wake_pred_o(), .cta_valid_i(cta_valid && rst_n), .cta_ready_o(cta_ready),    \
    .cta_slot_i('0), .cta_enable_i(1'b1), .cta_base_i('0), .cta_size_i(25'd128), .cta_rank_i('0), .cta_reject_o()     \
  );                                                                                                                  \
  function automatic void check(bit accepted);                                                                        \
    if (!accepted) $fatal(1, "%m: %s", scoreboard.message());                                                         \
  endfunction                                                                                                         \
  initial begin                                                                                                       \
    scoreboard = new(Config);                                                                                         \
    if (!scoreboard.valid()) $fatal(1, "%s", scoreboard.message());                                                   \
  end                                                                                                                 \
  always @(posedge clk) done <= scoreboard != null && scoreboard.judged() == 200;                                      \
  always @(posedge clk) if (rst_n) begin                                                                              \
    if (rsp_valid)                                                                                                    \
      check(scoreboard.warp_response(cycle, rsp_tag, 4096'(rsp_rd), 0, rsp_fault, 0, 0, 32'(rsp_passes)));            \
    if (cta_valid && cta_ready) begin                                                                                 \
      check(scoreboard.cta_write(cycle, 0, 1'b1, 0, 128, 0));                                                         \
      cta_valid <= 1'b0;                                                                                              \
    end                                                                                                               \
    if (req_valid && req_ready)                                                                                       \
      check(scoreboard.warp_request(cycle, req_tag, 5'(OpAdd), 4'(SizeU32), 1'b0, 1'b0, 0, 0, 32'(lane_mask_t'('1)),  \
                                    0, 0, 1024'(req_ra), 4096'(req_b), 0));                                           \
    if (!req_valid || req_ready) begin                                                                                \
      req_valid <= !cta_valid && sent < 200;                                                                          \
      sent <= sent + 32'(!cta_valid && sent < 200);                                                                   \
      req_tag <= tag_t'(sent);                                                                                        \
      for (int lane = 0; lane < NumLanes; lane++) begin                                                               \
        req_ra[lane] <= 4 * 32'($urandom_range(0, 15));                                                               \
        req_b[lane] <= 128'($urandom_range(0, 99));                                                                   \
      end                                                                                                             \
    end                                                                                                               \
  end                                                                                                                 \
endmodule

`ATOMS_BENCH(left_)
`ATOMS_BENCH(right_)
