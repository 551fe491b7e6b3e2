`include "atoms_assert.svh"

/// The request at issue: takes a request from the queues and makes its passes, one per cycle.
/// Mirror: `model/src/issue.rs`.
module atoms_issue
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic         clk_i,
  /// Synchronous reset, active low. Drops the request at issue.
  input  logic         rst_ni,
  /// The pipeline moves. 0 freezes all registers of this module except the operand buffer's.
  input  logic         advance_i,
  /// The warp queue is not empty.
  input  logic         warp_valid_i,
  /// Oldest request of the warp queue.
  input  warp_req_t    warp_i,
  /// The warp request moves to issue at the next clock edge.
  output logic         warp_pop_o,
  /// A warp request enters the warp queue.
  input  logic         warp_enter_i,
  /// Operand B of the entering request, per lane.
  input  wide_t [NumLanes-1:0] warp_enter_b_i,
  /// Operand C of the entering request, per lane.
  input  wide_t [NumLanes-1:0] warp_enter_c_i,
  /// The cluster queue is not empty.
  input  logic         cluster_valid_i,
  /// Oldest request of the cluster queue.
  input  cluster_req_t cluster_i,
  /// The cluster request moves to issue at the next clock edge.
  output logic         cluster_pop_o,
  /// The cluster response queue has room for one more response.
  input  logic         cluster_room_i,
  /// The cluster request that moves to issue owes a response.
  output logic         cluster_owes_o,
  /// CTA slot of the request that may move to issue.
  output slot_t        lookup_o,
  /// Allocation of slot `lookup_o`.
  input  allocation_t  allocation_i,
  /// The pass at issue needs a word that an older pass has yet to write.
  input  logic         hazard_i,
  /// Next pass. If `pass_o.valid` and `advance_i` are 1, the pass leaves at the next clock edge.
  output pass_t                        pass_o,
  /// Banks that the pass uses: every word of every access.
  output bank_mask_t                   bank_valid_o,
  /// Row per used bank.
  output rows_t                        row_o,
  /// Winner per used bank.
  output lanes_t                       lane_o,
  /// Operand B per used bank.
  output words_t                       b_o,
  /// Operand C per used bank; for a store, the mask of the bits stored.
  output words_t                       c_o,
  /// Bank address at which each lane's access begins.
  output bank_addrs_t                  bank_addr_o,
  /// 1 if a request is at issue.
  output logic         valid_o,
  /// Lanes of the request at issue that wait for a pass.
  output lane_mask_t   pending_o,
  /// First lane in the order of the rotating winner policy.
  output lane_t        rotate_o
);
  // Registers: the request, and its progress.
  logic       valid_q, valid_d, first_q, first_d, cluster_q, red_q;
  op_e        op_q;
  size_e      size_q;
  tag_t       tag_q;
  slot_t      slot_q;
  fault_e     fault_q;
  logic [4:0] fault_lane_q;
  addr_t      fault_addr_q;
  lane_mask_t pending_q, pending_d;
  passes_t    passes_q, passes_d;
  lane_t      rotate_q, rotate_d;
  bank_addrs_t bank_addr_q;

  logic       coalesce, last, fire, spins, spin_fire;
  lane_mask_t served, win, asked;
  bank_mask_t taken;
  lanes_t     lane, priority_lane;
  rows_t      row;

  assign coalesce  = coalesces(op_q, red_q);
  assign last      = (pending_q & ~served) == '0;
  assign fire      = valid_q && !hazard_i;
  assign spins     = op_q == OpCastSpin;
  assign spin_fire = fire && advance_i && spins;

  atoms_grouper u_grouper (
    .pending_i(pending_q),
    .op_i (op_q),
    .coalesce_i (coalesce),
    .bank_addr_i (bank_addr_q),
    .rotate_i (rotate_q),
    .priority_lane_i (priority_lane),
    .served_o (served),
    .win_o    (win),
    .taken_o  (taken),
    .lane_o (lane),
    .row_o (row)
  );

  atoms_spin u_spin (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .en_i            (spins),
    .fire_i          (spin_fire),
    .taken_i         (taken),
    .priority_lane_o (priority_lane)
  );

  atoms_operands u_operands (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .enter_i        (warp_enter_i),
    .enter_b_i      (warp_enter_b_i),
    .enter_c_i      (warp_enter_c_i),
    .take_warp_i    (warp_pop_o),
    .take_cluster_i (cluster_pop_o),
    .cluster_b_i    (cluster_i.b),
    .cluster_c_i    (cluster_i.c),
    .cluster_i (cluster_q),
    .op_i (op_q),
    .size_i (size_q),
    .coalesce_i (coalesce),
    .served_i (served),
    .taken_i (taken),
    .lane_i (lane),
    .row_i (row),
    .bank_addr_i (bank_addr_q),
    .bank_valid_o (bank_valid_o),
    .row_o (row_o),
    .lane_o (lane_o),
    .b_o (b_o),
    .c_o (c_o),
    .asked_o (asked)
  );

  assign pass_o = '{
    served:     served,
    win:        win,
    asked:      asked,
    fault_addr: fault_addr_q,
    fault_lane: fault_lane_q,
    fault:      fault_q,
    passes:     passes_q + passes_t'(pending_q != '0),
    slot:       slot_q,
    tag:        tag_q,
    first:      first_q,
    last:       last,
    cluster:    cluster_q,
    red:        red_q,
    size:       size_q,
    op:         op_q,
    valid:      fire
  };
  assign bank_addr_o = bank_addr_q;
  assign valid_o     = valid_q;
  assign pending_o   = pending_q;
  assign rotate_o    = rotate_q;

  // The next request: the ports take turns if both queues have one.
  logic      look, load, take_cluster, cluster_may;
  req_meta_t meta;
  bank_addrs_t bank_addr_d;
  fault_e     fault_d;
  logic [4:0] fault_lane_d;
  addr_t      fault_addr_d;
  logic       turn_q, turn_d;  // 1 if the last request came from the cluster queue: next is the warp queue
  logic       no_room, no_room_q, no_room_d;  // the posted request at the head faults, and its response has no room

  // Without room for its response a cluster request waits in its queue, and warp requests overtake it. A
  // posted request owes a response only if its address faults. The address check costs one cycle.
  assign cluster_may    = cluster_valid_i
                          && (cluster_room_i || (posted(cluster_i.op, cluster_i.red) && !no_room_q));
  assign take_cluster   = cluster_may && !(warp_valid_i && turn_q);
  assign look           = (!valid_q || (fire && last)) && (warp_valid_i || cluster_may);
  assign no_room        = look && take_cluster && !cluster_room_i && (fault_d != FaultNone);
  assign load           = look && !no_room;
  assign cluster_owes_o = cluster_pop_o && owes_response(cluster_i.op, cluster_i.red, fault_d);
  assign warp_pop_o    = load && !take_cluster && advance_i;
  assign cluster_pop_o = load && take_cluster && advance_i;

  always_comb begin
    meta = warp_i.meta;
    if (take_cluster) begin
      // A cluster request acts as a warp request of lane 0 alone, with the offset as an absolute address.
      meta = '{mask: lane_mask_t'(1), ur: '0, imm: cluster_i.addr, slot: cluster_i.slot,
               tag: cluster_i.tag, scale: '0, absolute: 1'b1, red: cluster_i.red,
               size: cluster_i.size, op: cluster_i.op};
    end
  end
  assign lookup_o = meta.slot;

  atoms_agen u_agen (
    .en_i        (look),
    .meta_i      (meta),
    .ra_i        (warp_i.ra),
    .offset_i    (take_cluster),
    .allocation_i (allocation_i),
    .bank_addr_o (bank_addr_d),
    .fault_o     (fault_d),
    .fault_lane_o(fault_lane_d),
    .fault_addr_o(fault_addr_d)
  );

  // Progress of the request at issue, or start of the next one.
  always_comb begin
    valid_d   = load || (valid_q && !(fire && last));
    first_d   = load || (first_q && !fire);
    turn_d    = load ? take_cluster : turn_q;
    no_room_d = no_room || (no_room_q && !cluster_pop_o);
    rotate_d  = rotate_q + lane_t'(fire && last);
    pending_d = pending_q;
    passes_d  = passes_q;
    if (fire) begin
      pending_d = pending_q & ~served;
      passes_d  = pass_o.passes;
    end
    if (load) begin
      pending_d = (fault_d == FaultNone) ? meta.mask : '0;
      passes_d  = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q   <= 1'b0;
      pending_q <= '0;
      turn_q    <= 1'b0;
      no_room_q <= 1'b0;
      rotate_q  <= '0;
    end else if (advance_i) begin
      valid_q   <= valid_d;
      first_q   <= first_d;
      turn_q    <= turn_d;
      no_room_q <= no_room_d;
      rotate_q  <= rotate_d;
      pending_q <= pending_d;
      passes_q  <= passes_d;
      if (load) begin
        cluster_q    <= take_cluster;
        op_q         <= meta.op;
        size_q       <= meta.size;
        red_q        <= meta.red;
        tag_q        <= meta.tag;
        slot_q       <= meta.slot;
        fault_q      <= fault_d;
        fault_lane_q <= fault_lane_d;
        fault_addr_q <= fault_addr_d;
        bank_addr_q  <= bank_addr_d;
      end
    end
  end

  `ATOMS_ASSERT(IssueServesEachLaneOnce, (served & ~pending_q) == '0)
  `ATOMS_ASSERT(IssueServesSomeLane, !valid_q || (pending_q == '0) || (served != '0))
  `ATOMS_ASSERT(SpinTakesOnePass, !(valid_q && spins) || last)

  `ATOMS_COVER(WarpTurnWhileClusterWaits, warp_pop_o && cluster_valid_i)
  `ATOMS_COVER(ClusterTurnWhileWarpWaits, cluster_pop_o && warp_valid_i)
  `ATOMS_COVER(WarpOvertakesBlockedCluster, warp_pop_o && cluster_valid_i && !cluster_may)
  `ATOMS_COVER(PostedTakenWithoutResponseRoom, cluster_pop_o && !cluster_room_i)
  `ATOMS_COVER(PostedFaultWaitsForRoom, no_room && advance_i)
  `ATOMS_COVER(RequestsBackToBack, load && valid_q && advance_i)
  `ATOMS_COVER(HeldByHazard, valid_q && hazard_i)
  `ATOMS_COVER(HeldByHazardAndStall, valid_q && hazard_i && !advance_i)
  `ATOMS_COVER(HeldByHazardBetweenPasses, valid_q && hazard_i && !first_q)
  `ATOMS_COVER(HeldByStall, fire && !advance_i)
  `ATOMS_COVER(RequestWithoutLanes, fire && (pending_q == '0) && (fault_q == FaultNone))
  `ATOMS_COVER(OnePassPerLane, fire && last && (passes_q == passes_t'(NumLanes - 1)))
  `ATOMS_COVER(LanesShareRead, fire && (op_q == OpLoad) && ($countones(served) > $countones(taken)))
  `ATOMS_COVER(LanesShareStore, fire && (op_q == OpStore) && ($countones(served) > $countones(taken)))
  `ATOMS_COVER(LanesMergeOperands, fire && merges_operands(op_q)
                                   && ($countones(served) > $countones(taken)))
  `ATOMS_COVER(LanesMergeArrivals, fire && (op_q == OpMbarArrive)
                                   && ($countones(served) > $countones(taken)))
  `ATOMS_COVER(SpinLanesNotSelected, fire && spins && (served != win))
  `ATOMS_COVER(RotationWraps, fire && last && advance_i && (rotate_q == '1))
endmodule : atoms_issue
