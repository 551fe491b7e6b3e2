`ifndef BUG
`define BUG 0
`endif

/// Read-modify-write unit: a test object with the ports of `atoms_unit` and the atomics of a small core behind them.
///
/// ADD and CAS of u32, one lane after the other, the lowest first, each in a read and a write cycle. There is no cluster
/// port and no check of faults. The CTA table accepts every write and has no effect: slot 0 owns the whole memory.
///
/// The macro `BUG` plants one of these bugs:
///  1  a CAS that fails stores, if the CAS of the lane before stored to the same word
///  2  CAS is carried out as an exchange
///  3  a response loses its predicates while it waits
///  4  a response that is not taken at once is lost
///  5  no request is accepted after a CAS
module rmw_unit
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input  logic                 clk_i, rst_ni,
  // Warp requests and responses
  input  logic                 req_valid_i,
  output logic                 req_ready_o,
  input  logic [4:0]           req_op_i,
  input  logic [3:0]           req_size_i,
  input  logic                 req_red_i, req_absolute_i,
  input  logic [2:0]           req_scale_i,
  input  tag_t                 req_tag_i,
  input  slot_t                req_slot_i,
  input  lane_mask_t           req_mask_i,
  input  logic [23:0]          req_imm_i,
  input  addr_t                req_ur_i,
  input  addr_t [NumLanes-1:0] req_ra_i,
  input  wide_t [NumLanes-1:0] req_b_i, req_c_i,
  output logic                 rsp_valid_o,
  input  logic                 rsp_ready_i,
  output tag_t                 rsp_tag_o,
  output wide_t [NumLanes-1:0] rsp_rd_o,
  output lane_mask_t           rsp_pred_o,
  output logic [1:0]           rsp_fault_o,
  output logic [4:0]           rsp_fault_lane_o,
  output addr_t                rsp_fault_addr_o,
  output passes_t              rsp_passes_o,
  // Cluster requests and responses
  input  logic                 cl_valid_i,
  output logic                 cl_ready_o,
  input  logic [4:0]           cl_op_i,
  input  logic [3:0]           cl_size_i,
  input  logic                 cl_red_i,
  input  tag_t                 cl_tag_i,
  input  slot_t                cl_slot_i,
  input  logic [23:0]          cl_addr_i,
  input  wide_t                cl_b_i, cl_c_i,
  output logic                 cl_rsp_valid_o,
  input  logic                 cl_rsp_ready_i,
  output tag_t                 cl_rsp_tag_o,
  output wide_t                cl_rsp_rd_o,
  output logic                 cl_rsp_pred_o,
  output logic [1:0]           cl_rsp_fault_o,
  output addr_t                cl_rsp_fault_addr_o,
  // Wake-ups and CTA table
  output logic                 wake_valid_o,
  input  logic                 wake_ready_i,
  output tag_t                 wake_tag_o,
  output lane_mask_t           wake_pred_o,
  input  logic                 cta_valid_i,
  output logic                 cta_ready_o,
  input  slot_t                cta_slot_i,
  input  logic                 cta_enable_i,
  input  logic [15:0]          cta_base_i,
  input  logic [24:0]          cta_size_i,
  input  logic [7:0]           cta_rank_i,
  output logic                 cta_reject_o
);
  localparam int unsigned Bug = `BUG;
  localparam int unsigned Words = NumBanks * NumRows;
  typedef logic [$clog2(Words)-1:0] index_t;

  enum logic [1:0] {Idle, Read, Write, Respond} state_q;
  logic                  cas_q, red_q;
  lane_mask_t            left_q;                     // lanes that wait for their access
  index_t [NumLanes-1:0] index_q;                    // word of each lane
  word_t  [NumLanes-1:0] b_q, c_q;
  word_t                 old_q;
  logic                  stored_q;                   // bug 1: the lane before stored to `before_q`
  index_t                before_q;
  word_t                 memory_q [Words];
  initial memory_q = '{default: '0};

  lane_t  lane;
  index_t index;
  addr_t  common;
  logic   equal, stores;
  always_comb begin
    lane = '0;
    for (int l = int'(NumLanes) - 1; l >= 0; l--) if (left_q[l]) lane = lane_t'(l);
    index  = index_q[lane];
    equal  = (old_q == b_q[lane]) || (Bug == 2);
    stores = !cas_q || equal || ((Bug == 1) && stored_q && (before_q == index));
    common = req_ur_i + {{8{req_imm_i[23] && !req_absolute_i}}, req_imm_i};
  end

  // Not always_ff: an initial block writes the memory, too.
  always @(posedge clk_i)
    if ((state_q == Write) && stores && rst_ni) memory_q[index] <= cas_q ? c_q[lane] : old_q + b_q[lane];

  always_ff @(posedge clk_i) begin
    case (state_q)
      Idle: if (req_valid_i && req_ready_o) begin
        state_q    <= Read;
        cas_q      <= req_op_i == OpCas;
        red_q      <= req_red_i;
        left_q     <= req_mask_i;
        stored_q   <= 1'b0;
        rsp_tag_o  <= req_tag_i;
        rsp_rd_o   <= '0;
        rsp_pred_o <= '0;
        for (int l = 0; l < int'(NumLanes); l++) begin
          index_q[l] <= index_t'((common + (req_absolute_i ? '0 : req_ra_i[l]
                                           << (req_scale_i inside {2, 3, 4} ? req_scale_i : 3'd0))) >> 2);
          b_q[l] <= req_b_i[l][0];
          c_q[l] <= req_c_i[l][0];
        end
      end
      Read: begin
        old_q   <= memory_q[index];
        state_q <= (left_q == '0) ? Respond : Write;
      end
      Write: begin
        if (!red_q) rsp_rd_o[lane] <= wide_t'(old_q);
        rsp_pred_o[lane] <= cas_q && equal;
        stored_q         <= cas_q && equal;
        before_q         <= index;
        left_q[lane]     <= 1'b0;
        state_q          <= Read;
      end
      default: begin
        if (rsp_ready_i || (Bug == 4)) state_q <= Idle;
        if (Bug == 3) rsp_pred_o <= '0;
      end
    endcase
    if (!rst_ni) state_q <= Idle;
    if (!rst_ni) cas_q <= 1'b0;
  end

  assign req_ready_o = (state_q == Idle) && !((Bug == 5) && cas_q);
  assign rsp_valid_o = state_q == Respond;
  assign {rsp_fault_o, rsp_fault_lane_o, rsp_fault_addr_o, rsp_passes_o} = '0;
  assign {cl_ready_o, cl_rsp_valid_o, cl_rsp_tag_o, cl_rsp_rd_o, cl_rsp_pred_o, cl_rsp_fault_o} = '0;
  assign {cl_rsp_fault_addr_o, wake_valid_o, wake_tag_o, wake_pred_o, cta_reject_o} = '0;
  assign cta_ready_o = 1'b1;

  logic unused;
  assign unused = ^{req_size_i, req_slot_i, req_b_i, req_c_i, common, cl_valid_i, cl_op_i, cl_size_i, cl_red_i, cl_tag_i,
                    cl_slot_i, cl_addr_i, cl_b_i, cl_c_i, cl_rsp_ready_i, wake_ready_i, cta_valid_i, cta_slot_i,
                    cta_enable_i, cta_base_i, cta_size_i, cta_rank_i};
endmodule : rmw_unit
