/// Issue makes the right passes of each request. Proved by induction over one clock.
///
/// Order: a request that leaves its queue finishes before the next one is taken. Its passes carry its tag and
/// other fields. Every lane is served in exactly one pass. A request without lanes or with a fault has one
/// pass, which serves no lane (spec 2.4, 2.6, 4.1, 4.6).
///
/// Words: a pass uses only words of its lanes' accesses, and all words of the accesses that win (spec 1.3,
/// 4.4).
///
/// Operands: each word gets the operand that came with the request (spec 3, 3.5, 4.1, 6.5, 6.11). Each stored
/// byte comes from the lowest lane that stores it. An arrival or POPC.INC gets the number of lanes. Merged
/// lanes get their combined operands.
///
/// Progress: a pass leaves in every cycle without hazard and stall, so that n lanes need at most n such
/// cycles. The head of a queue is taken within NumLanes + 3 such cycles. At the cluster port the bound is 2 *
/// NumLanes + 1, given room for the response.
///
/// Limits: `agen` proves that the accesses lie in the allocation, `grouper` the order of the lanes, `pipe`
/// the length of a hazard, and `fifo` the queues. Here a queue is only a count, and its head is any request.
module issue_proof
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import spec_pkg::*;
(
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 advance_i,
  input warp_req_t            warp_i,
  input logic                 warp_enter_i,
  input wide_t [NumLanes-1:0] warp_enter_b_i, warp_enter_c_i,
  input logic                 cluster_valid_i,
  input cluster_req_t         cluster_i,
  input logic                 cluster_room_i,
  input allocation_t          allocation_i,
  input logic                 hazard_i,
  /// The entering warp request is the tracked one.
  input logic                 this_i,
  /// Tracked word of the operands: any word of any lane.
  input logic [LaneBits+1:0]  any_word_i,
  /// Any lane, any bank, and any byte of the bank's word.
  input lane_t                any_lane,
  input bank_t                bank,
  input logic [1:0]           any_byte
);
  localparam int unsigned Entries = QueueDepth + 1;

  logic        warp_valid_i, warp_pop_o, cluster_pop_o, cluster_owes_o, valid_o;
  slot_t       lookup_o;
  pass_t       pass_o;
  bank_mask_t  bank_valid_o;
  rows_t       row_o;
  lanes_t      lane_o;
  words_t      b_o, c_o;
  bank_addrs_t bank_addr_o;
  lane_mask_t  pending_o;
  lane_t       rotate_o;
  atoms_issue dut (.*);

  // Number of requests in the warp queue.
  logic [7:0] count;
  assign warp_valid_i = count != '0;

  // The request at issue, as it was when taken.
  logic        was_reset = 1'b0, here;
  logic        cluster, red;
  op_e         op;
  size_e       size;
  tag_t        tag;
  slot_t       slot;
  fault_e      fault;
  logic [4:0]  fault_lane;
  addr_t       fault_addr;
  lane_t       rotate;    // number of finished requests
  bank_addrs_t bank_addr;
  lane_mask_t  left;      // lanes that no pass has served
  passes_t     passes;    // passes that have served lanes
  logic        begun;     // a pass has left
  logic        pop, leaves;
  assign pop    = warp_pop_o || cluster_pop_o;
  assign leaves = pass_o.valid && advance_i;

  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    if (!rst_ni) begin
      count  <= '0;
      here   <= 1'b0;
      rotate <= '0;
    end else begin
      rotate <= rotate + lane_t'(leaves && pass_o.last);
      count  <= count + 8'(warp_enter_i) - 8'(warp_pop_o);
      here   <= pop || (here && !(leaves && pass_o.last));
    end
    if (leaves) begin
      left   <= left & ~pass_o.served;
      passes <= passes + passes_t'(left != '0);
      begun  <= 1'b1;
    end
    if (pop) begin
      cluster    <= cluster_pop_o;
      red        <= cluster_pop_o ? cluster_i.red : warp_i.meta.red;
      op         <= cluster_pop_o ? cluster_i.op : warp_i.meta.op;
      size       <= cluster_pop_o ? cluster_i.size : warp_i.meta.size;
      tag        <= cluster_pop_o ? cluster_i.tag : warp_i.meta.tag;
      slot       <= cluster_pop_o ? cluster_i.slot : warp_i.meta.slot;
      fault      <= dut.fault_d;
      fault_lane <= dut.fault_lane_d;
      fault_addr <= dut.fault_addr_d;
      bank_addr  <= dut.bank_addr_d;
      left       <= (dut.fault_d != FaultNone) ? '0 : cluster_pop_o ? lane_mask_t'(1) : warp_i.meta.mask;
      passes     <= '0;
      begun      <= 1'b0;
    end
  end

  // One word of the operands of one tracked request.
  typedef logic [$clog2(Entries)-1:0] entry_t;
  logic                tracked, taken;   // the request is queued; the request is at issue
  logic [7:0]          ahead;            // older requests in the queue
  logic [LaneBits+1:0] which;
  word_t               b, c, other_b;    // `other_b`: word 0 of operand B of the other lane, in a pair
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tracked <= 1'b0;
      taken   <= 1'b0;
    end else if (!tracked && !taken) begin
      if (warp_enter_i && this_i) begin
        tracked <= 1'b1;
        ahead   <= count - 8'(warp_pop_o);
        which   <= any_word_i;
        b       <= warp_enter_b_i[any_word_i[LaneBits+1:2]][any_word_i[1:0]];
        c       <= warp_enter_c_i[any_word_i[LaneBits+1:2]][any_word_i[1:0]];
        other_b <= warp_enter_b_i[~any_word_i[LaneBits+1:2]][0];
      end
    end else if (tracked && warp_pop_o) begin
      ahead <= ahead - 1;
      if (ahead == '0) begin
        tracked <= 1'b0;
        taken   <= 1'b1;
      end
    end else if (taken && leaves && pass_o.last) taken <= 1'b0;
  end

  // The tracked word of a cluster request, which uses lane 0. Then the tracked word of the request at issue,
  // if `known`.
  logic [1:0] cluster_which;
  word_t      cluster_b, cluster_c, its_b, its_c;
  logic       known;
  lane_t      its_lane;
  logic [1:0] its_word;
  always_ff @(posedge clk_i) if (cluster_pop_o) begin
    cluster_which <= any_word_i[1:0];
    cluster_b     <= cluster_i.b[any_word_i[1:0]];
    cluster_c     <= cluster_i.c[any_word_i[1:0]];
  end
  assign known                = here && (cluster || taken);
  assign {its_lane, its_word} = cluster ? {lane_t'(0), cluster_which} : which;
  assign its_b                = cluster ? cluster_b : b;
  assign its_c                = cluster ? cluster_c : c;

  /// Merges the operands of two lanes (MergeRed).
  function automatic word_t merged(op_e op, size_e size, word_t x, word_t y);
    logic less;
    less = (size == SizeS32) ? $signed(x) < $signed(y) : x < y;
    case (op)
      OpMin:   merged = less ? x : y;
      OpMax:   merged = less ? y : x;
      OpAnd:   merged = x & y;
      OpOr:    merged = x | y;
      OpXor:   merged = x ^ y;
      default: merged = x + y;
    endcase
  endfunction

  /// Entry that is `further` places after `entry`.
  function automatic entry_t behind(entry_t entry, logic [7:0] further);
    behind = (8'(entry) + further >= 8'(Entries)) ? entry_t'(8'(entry) + further - 8'(Entries)) : entry_t'(8'(entry) + further);
  endfunction
  entry_t next, of_it;
  assign next  = dut.u_operands.next_q;
  assign of_it = taken ? dut.u_operands.work_q : behind(next, ahead);

  // Cycles in which a pass could leave, counted while the head of a queue waits.
  logic       moves;
  logic [7:0] warp_waits, cluster_waits, rest, before_warp, before_cluster;
  assign moves          = advance_i && !hazard_i;
  assign rest           = !here ? 8'd0 : (left == '0) ? 8'd1 : 8'($countones(left));
  assign before_warp    = rest + (dut.turn_q ? 8'd0 : dut.no_room_q ? 8'd2 : 8'd3);
  assign before_cluster = rest + (dut.turn_q ? 8'(NumLanes + 1) : 8'd0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !warp_valid_i || warp_pop_o) warp_waits <= '0;
    else                                        warp_waits <= warp_waits + 8'(moves);
    if (!rst_ni || !cluster_valid_i || !cluster_room_i || cluster_pop_o) cluster_waits <= '0;
    else                                                                 cluster_waits <= cluster_waits + 8'(moves);
  end

  bank_t first, wide;    // first bank of the winner's access, and its number of words minus one
  lane_t winner;
  assign wide   = bank_t'(last_of(size));
  assign first  = bank & ~wide;
  assign winner = lane_o[bank];

  // Number of the pass's lanes whose access begins on the bank, and the lowest of them whose access covers
  // the byte.
  logic [5:0] number;
  logic       has_byte, merges;
  lane_t      of_byte;
  assign merges = joins(op, red) && (op inside {OpAdd, OpMin, OpMax, OpAnd, OpOr, OpXor}) && (number == 2);
  always_comb begin
    number   = '0;
    has_byte = 1'b0;
    of_byte  = '0;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      if (pass_o.served[l] && (bank_t'(bank_addr[l].bank) == bank)) begin
        number = number + 1;
        if (!has_byte && (any_byte >= bank_addr[l].in_word[1:0])
            && (5'(any_byte) < 5'(bank_addr[l].in_word[1:0]) + bytes(size))) begin
          has_byte = 1'b1;
          of_byte  = lane_t'(l);
        end
      end
    end
  end

  always_comb begin
    assume (was_reset || !rst_ni);
    assume (!warp_enter_i || (count < 8'(QueueDepth)));
    if (was_reset) begin
      // Requests are taken one by one, and only from queues that are not empty.
      OneRequestTakenPerCycle: assert (!(warp_pop_o && cluster_pop_o) && (!pop || advance_i));
      PopNeedsQueuedRequest: assert ((!warp_pop_o || warp_valid_i) && (!cluster_pop_o || cluster_valid_i));
      PopOnlyAfterLastPass: assert (!pop || !here || (leaves && pass_o.last));
      ValidMatchesRequestAtIssue: assert ((valid_o == here) && (!pass_o.valid || here));
      PassLeavesWithoutHazard: assert (hazard_i || (pass_o.valid == here));
      if (warp_pop_o)    WarpAddressInputsMatchRequest: assert ((dut.meta == warp_i.meta) && (lookup_o == warp_i.meta.slot));
      if (cluster_pop_o) ClusterAddressInputsMatchRequest:
        assert ((dut.meta.imm == cluster_i.addr) && dut.meta.absolute && (dut.meta.ur == '0)
                && (dut.meta.op == cluster_i.op) && (dut.meta.size == cluster_i.size)
                && (dut.meta.red == cluster_i.red) && (lookup_o == cluster_i.slot));
      HazardBlocksPass: assert (!hazard_i || !pass_o.valid);
      ClusterOwesMatchesSpec: assert (cluster_owes_o == (cluster_pop_o && is_answered(cluster_i.op, cluster_i.red, dut.fault_d)));
      if (cluster_owes_o) OwedResponseHasRoom: assert (cluster_room_i);
      PendingMatchesUnservedLanes: assert (pending_o == (here ? left : '0));
      RotationCountsRequests: assert (rotate_o == rotate);
      if (here) begin
        PassFieldsMatchRequest: assert ((pass_o.tag == tag) && (pass_o.slot == slot) && (pass_o.op == op) && (pass_o.size == size)
                                        && (pass_o.red == red) && (pass_o.cluster == cluster) && (pass_o.fault == fault)
                                        && (pass_o.fault_lane == fault_lane) && (pass_o.fault_addr == fault_addr)
                                        && (bank_addr_o == bank_addr));
        FirstFlagOnFirstPassOnly: assert (pass_o.first == !begun);
        LastFlagOnLastPassOnly: assert (pass_o.last == ((left & ~pass_o.served) == '0));
        ServedLanesArePending: assert (((pass_o.served & ~left) == '0) && ((pass_o.win & ~pass_o.served) == '0));
        PassServesLaneIffPending: assert ((left == '0) == (pass_o.served == '0));
        PassCountMatchesPasses: assert (pass_o.passes == passes + passes_t'(left != '0));
        ClusterRequestsTakeOnePass: assert (!cluster || (pass_o.first && pass_o.last));
        FaultedRequestServesNoLane: assert ((fault == FaultNone) || (left == '0));
        if (left != '0) ServedRequestIsLegal: assert (is_instruction(op, size) && (!cluster || cluster_has(op, red)));
        PassesBoundedByLanes: assert (32'(passes) + 32'($countones(left)) <= NumLanes);
        if (bank_valid_o[bank]) begin
          BankWinnerIsServed: assert (pass_o.served[winner]);
          BankMatchesWinner: assert (bank_t'(bank_addr[winner].bank) == first);
          RowMatchesWinner: assert (row_o[bank] == row_t'(bank_addr[winner].row));
          MbarrierBanksArePairs: assert (!on_object(op) || bank_valid_o[bank ^ bank_t'(1)]);
          BankWinnerIsInWinMask: assert (pass_o.win[winner]);
        end
        if (pass_o.win[any_lane] && (bank_t'(bank_addr[any_lane].bank) == first)) begin
          WinnerUsesAllAccessWords: assert (bank_valid_o[bank] && (row_o[bank] == row_t'(bank_addr[any_lane].row)));
          UnjoinedBankHasOneWinner: assert (joins(op, red) || (winner == any_lane));
        end
      end
      WarpHeadTakenInTime: assert (!warp_valid_i || (32'(warp_waits) + 32'(before_warp) <= NumLanes + 3));
      ClusterHeadTakenInTime:
        assert (!cluster_valid_i || !cluster_room_i || (32'(cluster_waits) + 32'(before_cluster) <= 2 * NumLanes + 1));
      if (known && bank_valid_o[bank] && (winner == its_lane) && ((2'(bank) & 2'(wide)) == its_word)) begin
        if (!(op inside {OpPopcInc, OpLoad, OpMbarInval, OpMbarArrive, OpMbarArriveDrop, OpMbarArriveSm80, OpMbarTestWait,
                         OpMbarTryWait}) && !((op == OpStore) && (wide == '0)))
          OperandBMatchesRequest: assert (b_o[bank] == (merges ? merged(op, size, its_b, other_b) : its_b));
        if (is_compare(op) || ((op == OpMbarTryWait) && (its_word == '0))) OperandCMatchesRequest: assert (c_o[bank] == its_c);
      end
      if (here && bank_valid_o[bank]) begin
        if (op == OpStore) begin
          StoreMaskMatchesBytes: assert (c_o[bank][8*any_byte +: 8] == (((wide != '0) || has_byte) ? '1 : '0));
          if ((wide == '0) && known && has_byte && (of_byte == its_lane) && (its_word == '0))
            JoinedStoreKeepsLowestLane:
              assert (b_o[bank][8*any_byte +: 8] == its_b[8*(any_byte - bank_addr[of_byte].in_word[1:0]) +: 8]);
        end
        if ((bank == first) && (op inside {OpPopcInc, OpMbarArrive, OpMbarArriveDrop, OpMbarArriveSm80}))
          LaneCountMatchesBank: assert (b_o[bank] == word_t'(number));
      end
      if (known && !cluster && (its_word == '0) && pass_o.served[its_lane] && (op inside {OpMbarTestWait, OpMbarTryWait}))
        AskedPhaseMatchesOperand: assert (pass_o.asked[its_lane] == its_b[31]);
      if (taken) OperandEntryMatchesRequest: assert (here && !cluster && (of_it == dut.u_operands.work_q));
      if (tracked || taken)
        WarpOperandsKept: assert ((dut.u_operands.b_q[of_it][which] == b) && (dut.u_operands.c_q[of_it][which] == c)
                                  && (dut.u_operands.b_q[of_it][{~which[LaneBits+1:2], 2'd0}] == other_b));
    end
  end

  // Invariants that the induction needs.
  always_comb begin
    if (was_reset) begin
      if (here && cluster)
        ClusterOperandsKept: assert ((dut.u_operands.cluster_b_q[cluster_which] == cluster_b)
                                     && (dut.u_operands.cluster_c_q[cluster_which] == cluster_c));
      if (here) begin
        PassRegisterMatchesCount: assert ((dut.passes_q == passes) && (begun || (passes == '0)));
        BegunRequestHasLanesLeft: assert (!begun || (left != '0));
        ClusterRequestHasOneLane: assert (!cluster || ((left & ~lane_mask_t'(1)) == '0 && !begun));
        SpinTakesOnePass: assert ((op != OpCastSpin) || !begun);
      end
      CountAndEntriesWithinDepth:
        assert ((count <= 8'(QueueDepth)) && (8'(next) < 8'(Entries)) && (8'(dut.u_operands.work_q) < 8'(Entries)));
      TailMatchesCount: assert (dut.u_operands.tail_q == behind(next, count));
      WorkEntryAtOrBeforeNext: assert ((dut.u_operands.work_q == next) || (behind(dut.u_operands.work_q, 8'd1) == next));
      if (here && !cluster) WarpWorkEntryBeforeNext: assert (behind(dut.u_operands.work_q, 8'd1) == next);
      if (tracked) TrackedRequestIsQueued: assert (!taken && (ahead < count));
    end
  end
  for (genvar l = 0; l < NumLanes; l++) begin : g_lane
    always_comb begin
      if (was_reset && here && left[l])
        AccessIsAligned: assert (((bank_t'(bank_addr[l].bank) & wide) == '0)
                                 && (!(size inside {SizeU16, SizeS16}) || !bank_addr[l].in_word[0]));
    end
  end
endmodule : issue_proof
