`include "atoms_assert.svh"

/// The shared-memory atomic unit. Mirror: `model/src/unit.rs`.
///
/// Warp requests and cluster requests wait in one queue each, run in passes, and get one response per
/// request. Responses are in order, except wake-ups. A posted cluster request gets no response (spec 4.7).
/// docs/microarchitecture.md describes the pipeline.
module atoms_unit
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic clk_i,
  /// Synchronous reset, active low. The banks keep their content.
  input  logic rst_ni,

  /// Warp port: one instruction of one warp is offered.
  input  logic                      req_valid_i,
  /// Warp port: ready. Depends on registers only.
  output logic                      req_ready_o,
  /// Operation code, as `op_e`; may be illegal.
  input  logic [4:0]                req_op_i,
  /// Size code, as `size_e`; may be illegal.
  input  logic [3:0]                req_size_i,
  /// 1 if Rd is RZ: no result is wanted.
  input  logic                      req_red_i,
  /// 1 for the absolute form: Ra is ignored and the immediate is zero-extended.
  input  logic                      req_absolute_i,
  /// log2 of the scale factor on Ra: 0, 2, 3 or 4; other codes act as 0.
  input  logic [2:0]                req_scale_i,
  /// Request tag; the response returns it.
  input  tag_t                      req_tag_i,
  /// CTA slot of the warp.
  input  slot_t                     req_slot_i,
  /// Active lanes, after the guard.
  input  lane_mask_t                req_mask_i,
  /// Immediate of the address, in bytes.
  input  logic [23:0]               req_imm_i,
  /// Uniform register of the address, in bytes.
  input  addr_t                     req_ur_i,
  /// Register Ra per lane, before scaling.
  input  addr_t      [NumLanes-1:0] req_ra_i,
  /// Operand B per lane; word 0 has the lowest address.
  input  wide_t      [NumLanes-1:0] req_b_i,
  /// Operand C per lane; word 0 has the lowest address.
  input  wide_t      [NumLanes-1:0] req_c_i,

  /// Response port: a warp response is offered.
  output logic                      rsp_valid_o,
  /// Response port: the requester accepts the response at the next clock edge.
  input  logic                      rsp_ready_i,
  /// Tag of the request.
  output tag_t                      rsp_tag_o,
  /// Result per lane; 0 for inactive lanes, and for all lanes after a fault.
  output wide_t      [NumLanes-1:0] rsp_rd_o,
  /// Lanes whose compare-and-store stored, or whose phase is complete.
  output lane_mask_t                rsp_pred_o,
  /// Reason why the request touched no memory, as `fault_e`.
  output logic [1:0]                rsp_fault_o,
  /// Lowest faulting lane; 0 without a fault.
  output logic [4:0]                rsp_fault_lane_o,
  /// Address of the lowest faulting lane; 0 without a fault.
  output addr_t                     rsp_fault_addr_o,
  /// Passes of the request; 0 after a fault or without active lanes.
  output passes_t                   rsp_passes_o,

  /// Cluster port: a request of one lane is offered, addressed by its offset in the owner's allocation.
  input  logic                      cl_valid_i,
  /// Cluster port: ready. Depends on registers only.
  output logic                      cl_ready_o,
  /// Operation code, as `op_e`; may be illegal.
  input  logic [4:0]                cl_op_i,
  /// Size code, as `size_e`; may be illegal.
  input  logic [3:0]                cl_size_i,
  /// 1 if no result is wanted. Such a request is posted, except a compare-and-store: without a fault it gets
  /// no response (spec 4.7).
  input  logic                      cl_red_i,
  /// Request tag; the response returns it.
  input  tag_t                      cl_tag_i,
  /// CTA slot of the owner.
  input  slot_t                     cl_slot_i,
  /// Offset in the owner's allocation, in bytes.
  input  logic [23:0]               cl_addr_i,
  /// Operand B of the request.
  input  wide_t                     cl_b_i,
  /// Operand C of the request.
  input  wide_t                     cl_c_i,

  /// Cluster response port: a response is offered.
  output logic                      cl_rsp_valid_o,
  /// Cluster response port: the requester accepts the response at the next clock edge.
  input  logic                      cl_rsp_ready_i,
  /// Tag of the request.
  output tag_t                      cl_rsp_tag_o,
  /// Result of the request; 0 after a fault.
  output wide_t                     cl_rsp_rd_o,
  /// 1 if the compare-and-store stored.
  output logic                      cl_rsp_pred_o,
  /// Reason why the request touched no memory, as `fault_e`.
  output logic [1:0]                cl_rsp_fault_o,
  /// Faulting address; 0 without a fault.
  output addr_t                     cl_rsp_fault_addr_o,

  /// Wake-up port: a wake-up is offered. It answers a suspended MBAR.TRY_WAIT, instead of a warp response.
  output logic                      wake_valid_o,
  /// Wake-up port: the requester accepts the wake-up at the next clock edge.
  input  logic                      wake_ready_i,
  /// Tag of the request.
  output tag_t                      wake_tag_o,
  /// Lanes whose phase is complete: all active lanes, or no lane after a timeout.
  output lane_mask_t                wake_pred_o,

  /// CTA table: a write of one slot's allocation is offered.
  input  logic                      cta_valid_i,
  /// CTA table: ready. High if no request of slot `cta_slot_i` is in flight.
  output logic                      cta_ready_o,
  /// CTA slot to write.
  input  slot_t                     cta_slot_i,
  /// 1 gives the slot an allocation, 0 removes it.
  input  logic                      cta_enable_i,
  /// First row of the allocation.
  input  logic [15:0]               cta_base_i,
  /// Size of the allocation in bytes.
  input  logic [24:0]               cta_size_i,
  /// Rank of the CTA in its cluster.
  input  logic [7:0]                cta_rank_i,
  /// The write accepted in the previous cycle was refused, and left the slot without an allocation.
  output logic                      cta_reject_o
`ifdef ATOMS_PROBE
  ,
  /// Probe (internal signals of this cycle, for simulation only): banks written at the next clock edge.
  output bank_mask_t                probe_wr_en_o,
  /// Banks of the pass at issue, if the pass can leave.
  output bank_mask_t                probe_win_valid_o,
  /// First banks of the objects that complete a phase at the next clock edge.
  output bank_mask_t                probe_completed_o,
  /// Word that the last stage writes, per bank; elsewhere 0.
  output word_t      [NumBanks-1:0] probe_wr_data_o,
  /// Lanes that the pass at issue serves, if the pass can leave.
  output lane_mask_t                probe_pass_served_o,
  /// Lanes of the request at issue that wait for a pass.
  output lane_mask_t                probe_issue_pending_o,
  /// Entries of the waiter table that hold a suspended request.
  output logic [31:0]               probe_wait_suspended_o,
  /// Entries of the waiter table that are woken or timed out, and not yet answered.
  output logic [31:0]               probe_wait_ready_o,
  /// Row of the word in `probe_wr_data_o`; elsewhere 0.
  output logic [NumBanks-1:0][15:0] probe_wr_row_o,
  /// Stages of the pipeline that hold a pass.
  output logic [15:0]               probe_pipe_valid_o,
  /// Operation code of the request at issue; 0 without a request.
  output logic [7:0]                probe_issue_op_o,
  /// Tag of the request at issue; 0 without a request.
  output logic [7:0]                probe_issue_tag_o,
  /// Winner per bank of the pass at issue, if the pass can leave; elsewhere 0.
  output logic [NumBanks-1:0][7:0]  probe_win_lane_o,
  /// Requests in the warp queue.
  output logic [7:0]                probe_queue_count_o,
  /// Requests in the cluster queue.
  output logic [7:0]                probe_cl_count_o,
  /// 1 if a request is at issue.
  output logic                      probe_issue_valid_o,
  /// 1 if the request at issue came through the cluster port.
  output logic                      probe_issue_cluster_o,
  /// A pass enters the pipeline at the next clock edge.
  output logic                      probe_pass_fire_o,
  /// 1 if the pass at issue is the last pass of its request.
  output logic                      probe_pass_last_o,
  /// Number of the pass at issue within its request, from 0.
  output logic [7:0]                probe_pass_index_o,
  /// The pass at issue waits for a word that an older pass has yet to write.
  output logic                      probe_hazard_o,
  /// The pipeline stalls because a response is not accepted.
  output logic                      probe_stall_o,
  /// First lane in the order of the rotating winner policy.
  output logic [7:0]                probe_rotate_o,
  /// The request in the last stage is suspended at the next clock edge.
  output logic                      probe_wait_enter_o,
  /// A cluster request finishes in this cycle.
  output logic                      probe_cl_done_o,
  /// The finished cluster request owes a response.
  output logic                      probe_cl_owes_o,
  /// Number of cluster responses owed: those reserved at issue and not yet accepted.
  output logic [7:0]                probe_cl_owed_o
`endif
);
  warp_req_t    warp_in, warp_head;
  cluster_req_t cluster_in, cluster_head;
  logic         warp_valid, warp_pop, cluster_valid, cluster_pop;
  logic [$clog2(QueueDepth+1)-1:0]        warp_count;
  logic [$clog2(ClusterQueueDepth+1)-1:0] cluster_count;

  assign warp_in = '{
    meta: '{mask: req_mask_i, ur: req_ur_i, imm: req_imm_i, slot: req_slot_i, tag: req_tag_i,
            scale: req_scale_i, absolute: req_absolute_i, red: req_red_i,
            size: size_e'(req_size_i), op: op_e'(req_op_i)},
    ra: req_ra_i
  };
  assign cluster_in = '{addr: cl_addr_i, slot: cl_slot_i, tag: cl_tag_i, red: cl_red_i,
                        size: size_e'(cl_size_i), op: op_e'(cl_op_i), c: cl_c_i, b: cl_b_i};

  atoms_fifo #(.T(warp_req_t), .Depth(QueueDepth)) u_warp_queue (
    .clk_i, .rst_ni,
    .valid_i(req_valid_i), .ready_o(req_ready_o), .data_i(warp_in),
    .valid_o(warp_valid), .data_o(warp_head), .pop_i(warp_pop), .count_o(warp_count)
  );
  atoms_fifo #(.T(cluster_req_t), .Depth(ClusterQueueDepth)) u_cluster_queue (
    .clk_i, .rst_ni,
    .valid_i(cl_valid_i), .ready_o(cl_ready_o), .data_i(cluster_in),
    .valid_o(cluster_valid), .data_o(cluster_head), .pop_i(cluster_pop), .count_o(cluster_count)
  );

  logic                           advance, stall, hazard, issue_valid;
  logic                           cluster_room, cluster_owes;
  slot_t                          lookup;
  allocation_t                    allocation;
  pass_t                          issue_pass;
  bank_mask_t                     issue_banks;
  rows_t                          issue_row;
  lanes_t                         issue_lane;
  words_t                         issue_b, issue_c;
  bank_addrs_t                    issue_bank_addr;
  lane_mask_t                     issue_pending;
  lane_t                          issue_rotate;

  assign advance = !stall;

  atoms_issue u_issue (
    .clk_i, .rst_ni, .advance_i(advance),
    .warp_valid_i(warp_valid), .warp_i(warp_head), .warp_pop_o(warp_pop),
    .warp_enter_i(req_valid_i && req_ready_o), .warp_enter_b_i(req_b_i), .warp_enter_c_i(req_c_i),
    .cluster_valid_i(cluster_valid), .cluster_i(cluster_head), .cluster_pop_o(cluster_pop),
    .cluster_room_i(cluster_room), .cluster_owes_o(cluster_owes),
    .lookup_o(lookup), .allocation_i(allocation), .hazard_i(hazard),
    .pass_o(issue_pass), .bank_valid_o(issue_banks), .row_o(issue_row), .lane_o(issue_lane),
    .b_o(issue_b), .c_o(issue_c), .bank_addr_o(issue_bank_addr),
    .valid_o(issue_valid), .pending_o(issue_pending), .rotate_o(issue_rotate)
  );

  bank_mask_t                     re, we, hit;
  rows_t                          raddr, waddr;
  words_t                         rdata, wdata;
  pass_t                          done_pass;
  words_t                         done_old;
  bank_addrs_t                    done_bank_addr;
  bank_mask_t                     done_completed, completed;
  logic                           one_object;
  bank_t                          object_bank;
  row_t                           object_row;
  word_t                          object_limit;
  logic       [RmwLatency:0]      stage_valid;

  atoms_pipe u_pipe (
    .clk_i, .rst_ni, .advance_i(advance),
    .pass_i(issue_pass), .bank_valid_i(issue_banks), .row_i(issue_row),
    .b_i(issue_b), .c_i(issue_c),
    .bank_addr_i(issue_bank_addr), .hazard_o(hazard),
    .re_o(re), .raddr_o(raddr), .rdata_i(rdata), .we_o(we), .waddr_o(waddr), .wdata_o(wdata),
    .pass_o(done_pass), .old_o(done_old), .hit_o(hit),
    .completed_o(done_completed), .one_object_o(one_object), .object_bank_o(object_bank),
    .object_row_o(object_row), .object_limit_o(object_limit),
    .bank_addr_o(done_bank_addr), .valid_o(stage_valid)
  );

  for (genvar b = 0; b < NumBanks; b++) begin : g_bank
    atoms_bank u_bank (
      .clk_i,
      .re_i(re[b] && advance), .raddr_i(raddr[b]), .rdata_o(rdata[b]),
      .we_i(we[b] && advance && rst_ni), .waddr_i(waddr[b]), .wdata_i(wdata[b])
    );
  end

  fault_e       rsp_fault;
  logic         cluster_rsp_valid;
  cluster_rsp_t cluster_rsp, cl_rsp;
  logic [7:0]   cluster_owed;
  logic     waiter_free, suspend, woken;
  waiter_t waiter;
  logic [31:0] wait_limit;
  slot_t    woken_slot;
  logic [NumWaiters-1:0] suspended, wake_ready;
  assign rsp_fault_o         = rsp_fault;
  assign cl_rsp_rd_o         = cl_rsp.rd;
  assign cl_rsp_pred_o       = cl_rsp.pred;
  assign cl_rsp_tag_o        = cl_rsp.tag;
  assign cl_rsp_fault_o      = cl_rsp.fault;
  assign cl_rsp_fault_addr_o = cl_rsp.fault_addr;

  atoms_collect u_collect (
    .clk_i, .rst_ni,
    .pass_i(done_pass), .old_i(done_old), .hit_i(hit),
    .bank_addr_i(done_bank_addr), .one_object_i(one_object), .object_bank_i(object_bank),
    .object_row_i(object_row), .object_limit_i(object_limit),
    .stall_o(stall), .free_i(waiter_free), .suspend_o(suspend), .waiter_o(waiter),
    .limit_o(wait_limit),
    .rsp_valid_o, .rsp_ready_i, .rsp_rd_o, .rsp_pred_o, .rsp_tag_o, .rsp_fault_o(rsp_fault),
    .rsp_fault_lane_o, .rsp_fault_addr_o, .rsp_passes_o,
    .cl_valid_o(cluster_rsp_valid), .cl_rsp_o(cluster_rsp)
  );

  atoms_cluster_rsp u_cluster_rsp (
    .clk_i, .rst_ni,
    .room_o(cluster_room), .reserve_i(cluster_owes),
    .valid_i(cluster_rsp_valid), .rsp_i(cluster_rsp),
    .valid_o(cl_rsp_valid_o), .ready_i(cl_rsp_ready_i), .rsp_o(cl_rsp), .owed_o(cluster_owed)
  );

  assign completed = advance ? done_completed : '0;

  atoms_waiters u_waiters (
    .clk_i, .rst_ni,
    .enter_i(suspend), .waiter_i(waiter), .limit_i(wait_limit), .free_o(waiter_free),
    .completed_i(completed), .row_i(waddr),
    .wake_valid_o, .wake_ready_i, .wake_tag_o, .wake_pred_o,
    .leave_o(woken), .leave_slot_o(woken_slot),
    .suspended_o(suspended), .ready_o(wake_ready)
  );

  atoms_cta_table u_cta_table (
    .clk_i, .rst_ni,
    .valid_i(cta_valid_i), .ready_o(cta_ready_o), .slot_i(cta_slot_i), .enable_i(cta_enable_i),
    .base_i(cta_base_i), .size_i(cta_size_i), .rank_i(cta_rank_i), .reject_o(cta_reject_o),
    .warp_enter_i(req_valid_i && req_ready_o), .warp_slot_i(req_slot_i),
    .cluster_enter_i(cl_valid_i && cl_ready_o), .cluster_slot_i(cl_slot_i),
    .leave_i(done_pass.valid && done_pass.last && advance && !suspend),
    .leave_slot_i(done_pass.slot), .woken_i(woken), .woken_slot_i(woken_slot),
    .lookup_i(lookup), .allocation_o(allocation)
  );

  atoms_port_rules u_port_rules (
    .clk_i, .rst_ni,
    .req_valid_i, .req_ready_i(req_ready_o), .req_i(warp_in), .req_b_i, .req_c_i,
    .cl_valid_i, .cl_ready_i(cl_ready_o), .cl_i(cluster_in),
    .cta_valid_i, .cta_ready_i(cta_ready_o), .cta_slot_i, .cta_enable_i, .cta_base_i, .cta_size_i,
    .cta_rank_i,
    .rsp_taken_i(rsp_valid_o && rsp_ready_i), .rsp_tag_i(rsp_tag_o),
    .wake_taken_i(wake_valid_o && wake_ready_i), .wake_tag_i(wake_tag_o)
  );

`ifdef ATOMS_PROBE
  bank_mask_t fired_banks;
  assign fired_banks           = issue_pass.valid ? issue_banks : '0;
  assign probe_wr_en_o         = advance ? we : '0;
  assign probe_win_valid_o     = fired_banks;
  assign probe_pass_served_o   = issue_pass.valid ? issue_pass.served : '0;
  assign probe_issue_pending_o = issue_pending;
  assign probe_pipe_valid_o    = 16'(stage_valid);
  assign probe_issue_op_o      = issue_valid ? 8'(issue_pass.op) : '0;
  assign probe_issue_tag_o     = issue_valid ? 8'(issue_pass.tag) : '0;
  assign probe_queue_count_o   = 8'(warp_count);
  assign probe_cl_count_o      = 8'(cluster_count);
  assign probe_issue_valid_o   = issue_valid;
  assign probe_issue_cluster_o = issue_valid && issue_pass.cluster;
  assign probe_pass_fire_o     = issue_pass.valid && advance;
  assign probe_pass_last_o     = issue_valid && issue_pass.last;
  assign probe_pass_index_o    = issue_valid ? 8'(issue_pass.passes) - 8'(issue_pending != '0) : '0;
  assign probe_hazard_o        = issue_valid && hazard;
  assign probe_stall_o         = stall;
  assign probe_rotate_o        = 8'(issue_rotate);
  assign probe_completed_o     = completed;
  assign probe_wait_suspended_o   = 32'(suspended);
  assign probe_wait_ready_o    = 32'(wake_ready);
  assign probe_wait_enter_o    = suspend;
  assign probe_cl_done_o       = done_pass.valid && done_pass.cluster;
  assign probe_cl_owes_o       = cluster_rsp_valid;
  assign probe_cl_owed_o       = cluster_owed;

  typedef logic [NumBanks/2-1:0][1:0][15:0] rows16_t;
  typedef logic [NumBanks/4-1:0][3:0][7:0]  lanes8_t;

  /// Masks the written words and rows with the written banks, and packs the rows as the port needs them.
  function automatic void mask_writes(output words_t data_masked, output rows16_t row_masked,
                                      input bank_mask_t mask, input words_t data,
                                      input rows_t row);
    /*verilator no_inline_task*/
    for (int unsigned b = 0; b < NumBanks; b++) data_masked[b] = data[b] & {WordBits{mask[b]}};
    for (int unsigned b = 0; b < NumBanks / 2; b++) begin
      row_masked[b] = {16'(row[2*b+1]) & {16{mask[2*b+1]}}, 16'(row[2*b]) & {16{mask[2*b]}}};
    end
  endfunction

  function automatic void pack_lanes(output lanes8_t packed_lanes, input lanes_t lane);
    /*verilator no_inline_task*/
    for (int unsigned b = 0; b < NumBanks / 4; b++) begin
      packed_lanes[b] = {8'(lane[4*b+3]), 8'(lane[4*b+2]), 8'(lane[4*b+1]), 8'(lane[4*b])};
    end
  endfunction

  always_comb begin
    mask_writes(probe_wr_data_o, probe_wr_row_o, we, wdata, waddr);
    if (issue_pass.valid) pack_lanes(probe_win_lane_o, issue_lane);
    else                  probe_win_lane_o = '0;
  end
`endif

  `ATOMS_ASSERT(FaultTouchesNoMemory, !(done_pass.valid && (done_pass.fault != FaultNone))
                                      || (we == '0))

  `ATOMS_COVER(BothQueuesFull, !req_ready_o && !cl_ready_o)
  `ATOMS_COVER(CompletionStalled, stall && (done_completed != '0))
  `ATOMS_COVER(WriteStalled, stall && (we != '0))
  `ATOMS_COVER(WakeUpDuringStall, woken && stall)
  `ATOMS_COVER(CtaWriteWaitsForWaitersOnly, cta_valid_i && !cta_ready_o && (suspended != '0)
      && !issue_valid && (stage_valid == '0) && (warp_count == '0) && (cluster_count == '0))
endmodule : atoms_unit
