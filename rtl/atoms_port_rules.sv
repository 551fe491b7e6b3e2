`include "atoms_assert.svh"

/// Rules that the unit relies on at its ports (spec 4.8). They are checked in simulation and not synthesized.
///
/// The payload of a warp request is compared only when the request is accepted, with its value in the first
/// cycle. The operands of a warp exceed a thousand bytes, too much to compare in every cycle of a waiting
/// request.
module atoms_port_rules
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input logic         clk_i,
  /// Synchronous reset, active low. Forgets all requests.
  input logic         rst_ni,

  /// A warp request is offered.
  input logic         req_valid_i,
  /// The unit is ready to accept the warp request.
  input logic         req_ready_i,
  /// Warp request without operands B and C.
  input warp_req_t    req_i,
  /// Operand B of the warp request, per lane.
  input wides_t       req_b_i,
  /// Operand C of the warp request, per lane.
  input wides_t       req_c_i,

  /// A cluster request is offered.
  input logic         cl_valid_i,
  /// The unit is ready to accept the cluster request.
  input logic         cl_ready_i,
  /// Cluster request with its operands.
  input cluster_req_t cl_i,

  /// A CTA table write is offered.
  input logic         cta_valid_i,
  /// The unit is ready to accept the table write.
  input logic         cta_ready_i,
  /// CTA slot to write.
  input slot_t        cta_slot_i,
  /// 1 gives the slot an allocation, 0 removes it.
  input logic         cta_enable_i,
  /// First row of the allocation.
  input logic [15:0]  cta_base_i,
  /// Size of the allocation in bytes.
  input logic [24:0]  cta_size_i,
  /// Rank of the CTA in its cluster.
  input logic [7:0]   cta_rank_i,

  /// The response port answers a warp request in this cycle.
  input logic         rsp_taken_i,
  /// Tag of the request answered at the response port.
  input tag_t         rsp_tag_i,
  /// The wake-up port answers a warp request in this cycle.
  input logic         wake_taken_i,
  /// Tag of the request answered at the wake-up port.
  input tag_t         wake_tag_i
);
`ifndef SYNTHESIS
  /*verilator coverage_off*/
  localparam int unsigned Tags = 2 ** $bits(tag_t);
  typedef logic [7:0] count_t;
  typedef struct packed {
    slot_t       slot;
    logic        enable;
    logic [15:0] base;
    logic [24:0] size;
    logic [7:0]  rank;
  } cta_write_t;

  logic         req_waits_q, cl_waits_q, cta_waits_q;
  /// One-element arrays: a simulator copies them only when they are written. It copies wide registers in
  /// every cycle.
  warp_req_t    req_q [1];
  wides_t       req_b_q [1], req_c_q [1];
  cluster_req_t cl_q;
  cta_write_t   cta, cta_q;
  logic         req_taken;
  tag_t         tag;
  /// Warp requests of each tag that were accepted, and that were answered at each port. The counters may
  /// wrap; their differences stay small.
  count_t       entered_q [Tags], answered_q [Tags], woken_q [Tags];
  /// The last request of the tag is an MBAR.TRY_WAIT.
  logic         waits_q [Tags];
  count_t       present;

  assign cta       = '{slot: cta_slot_i, enable: cta_enable_i, base: cta_base_i, size: cta_size_i, rank: cta_rank_i};
  assign req_taken = req_valid_i && req_ready_i;

  assign tag       = req_i.meta.tag;
  // A request that is answered at this clock edge is no longer in flight.
  assign present   = entered_q[tag] - answered_q[tag] - woken_q[tag]
                     - count_t'(rsp_taken_i && (rsp_tag_i == tag)) - count_t'(wake_taken_i && (wake_tag_i == tag));

  always_ff @(posedge clk_i) begin
    req_waits_q <= rst_ni && req_valid_i && !req_ready_i;
    cl_waits_q  <= rst_ni && cl_valid_i && !cl_ready_i;
    cta_waits_q <= rst_ni && cta_valid_i && !cta_ready_i;
    if (!req_waits_q && req_valid_i && !req_ready_i) begin
      req_q[0]   <= req_i;
      req_b_q[0] <= req_b_i;
      req_c_q[0] <= req_c_i;
    end
    if (!cl_waits_q)  cl_q  <= cl_i;
    if (!cta_waits_q) cta_q <= cta;

    if (req_taken) begin
      entered_q[tag] <= entered_q[tag] + 8'd1;
      waits_q[tag]   <= req_i.meta.op == OpMbarTryWait;
    end
    if (rsp_taken_i)  answered_q[rsp_tag_i] <= answered_q[rsp_tag_i] + 8'd1;
    if (wake_taken_i) woken_q[wake_tag_i]   <= woken_q[wake_tag_i] + 8'd1;
    if (!rst_ni) begin
      entered_q  <= '{default: '0};
      answered_q <= '{default: '0};
      woken_q    <= '{default: '0};
    end

    if (rst_ni && req_waits_q && req_taken) begin
      WarpPayloadStableUntilReady: assert (req_i == req_q[0] && req_b_i == req_b_q[0] && req_c_i == req_c_q[0])
      else $error("assertion failed: WarpPayloadStableUntilReady");
    end
  end
  /*verilator coverage_on*/

  `ATOMS_ASSERT(WarpValidStableUntilReady, !req_waits_q || req_valid_i)
  `ATOMS_ASSERT(ClusterOfferStableUntilReady, !cl_waits_q || (cl_valid_i && (cl_i == cl_q)))
  `ATOMS_ASSERT(CtaOfferStableUntilReady, !cta_waits_q || (cta_valid_i && (cta == cta_q)))
  `ATOMS_ASSERT(TryWaitTagUnique, !req_taken || (present == '0)
                || ((req_i.meta.op != OpMbarTryWait) && !waits_q[tag]))
`endif
endmodule : atoms_port_rules
