`include "atoms_assert.svh"

/// Collects the results of a request's passes and drives the response. Mirror: `model/src/collect.rs`.
///
/// Results are collected in the register of the warp response. The next warp request cannot write this
/// register before the response is accepted, and stalls the pipeline until then. Cluster responses have room
/// reserved in `atoms_cluster_rsp` before their requests are issued, and never stall.
module atoms_collect
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic                         clk_i,
  /// Synchronous reset, active low. Drops the warp response.
  input  logic                         rst_ni,
  /// Pass in the last stage of the pipeline.
  input  pass_t                          pass_i,
  /// Word before the operation, per bank of the pass.
  input  words_t                         old_i,
  /// Banks of accesses whose comparison succeeded in every word.
  input  bank_mask_t                     hit_i,
  /// Bank address at which each lane's access begins.
  input  bank_addrs_t                    bank_addr_i,
  /// 1 if the pass is an MBAR.TRY_WAIT whose lanes all test one object.
  input  logic                         one_object_i,
  /// First bank of the tested object; meaningful with `one_object_i`.
  input  bank_t                        object_bank_i,
  /// Row of the tested object; meaningful with `one_object_i`.
  input  row_t                         object_row_i,
  /// Timeout in cycles as the request gave it; 0 means TryWaitLimit.
  input  word_t                        object_limit_i,
  /// The pass must stall, because the previous warp response is not accepted.
  output logic                         stall_o,
  /// The waiter table has a free entry.
  input  logic                         free_i,
  /// The request of the pass is suspended at the next clock edge.
  output logic                         suspend_o,
  /// Entry for the waiter table; meaningful with `suspend_o`.
  output waiter_t                      waiter_o,
  /// Cycles until the timeout; not 0.
  output logic [31:0]                  limit_o,
  /// 1 if a warp response is offered.
  output logic                         rsp_valid_o,
  /// The requester accepts the warp response at the next clock edge.
  input  logic                         rsp_ready_i,
  /// Result per lane; 0 for inactive lanes, and for all lanes after a fault.
  output wide_t      [NumLanes-1:0]    rsp_rd_o,
  /// Lanes whose compare-and-store stored, or whose phase is complete.
  output lane_mask_t                   rsp_pred_o,
  /// Tag of the answered request.
  output tag_t                         rsp_tag_o,
  /// Reason why the request touched no memory.
  output fault_e                       rsp_fault_o,
  /// Lowest faulting lane; 0 without a fault.
  output logic [4:0]                   rsp_fault_lane_o,
  /// Address of the lowest faulting lane; 0 without a fault.
  output addr_t                        rsp_fault_addr_o,
  /// Passes of the request; 0 after a fault or without active lanes.
  output passes_t                      rsp_passes_o,
  /// A cluster request that owes a response finishes in this cycle.
  output logic                         cl_valid_o,
  /// Response of the finished cluster request; meaningful with `cl_valid_o`.
  output cluster_rsp_t                 cl_rsp_o
);
  logic                  rsp_valid_q, rsp_valid_d;
  wide_t [NumLanes-1:0]  rd_q, rd_d;
  lane_mask_t            pred_q, pred_d;
  tag_t                  tag_q;
  fault_e                fault_q;
  logic [4:0]            fault_lane_q;
  addr_t                 fault_addr_q;
  passes_t               passes_q;

  lane_mask_t stored;

  function automatic lane_mask_t lanes_of(bank_mask_t banks, bank_addrs_t bank_addrs);
    /*verilator no_inline_task*/
    bank_addr_t bank_addr;
    lanes_of = '0;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      bank_addr = bank_addrs[l];
      lanes_of  = lanes_of | (lane_mask_t'(banks[bank_t'(bank_addr.bank)]) << l);
    end
  endfunction

  /// Returns the banks of objects in an odd phase, by the first bank of each object.
  function automatic bank_mask_t odd_phases(words_t old);
    /*verilator no_inline_task*/
    odd_phases = '0;
    for (int unsigned b = 0; b < NumBanks; b += 2) begin
      odd_phases = odd_phases | (bank_mask_t'(old[b+1][31]) << b);
    end
  endfunction

  always_comb begin
    stored = '0;
    if (pass_i.valid && compares(pass_i.op)) begin
      stored = lanes_of(hit_i, bank_addr_i) & pass_i.win;
    end
    if (pass_i.valid && asks_phase(pass_i.op)) begin
      stored = (lanes_of(odd_phases(old_i), bank_addr_i) ^ pass_i.asked) & pass_i.served;
    end
  end

  // A request is suspended if all its lanes test one object whose phase is not complete.
  logic suspends;
  assign suspends = pass_i.valid && pass_i.first && pass_i.last && one_object_i && (stored == '0)
                     && free_i;
  assign suspend_o = suspends && !stall_o;
  assign waiter_o  = '{mask: pass_i.served, row: object_row_i, bank: object_bank_i,
                       slot: pass_i.slot, tag: pass_i.tag};
  assign limit_o = (object_limit_i == '0) ? TryWaitLimit : object_limit_i;

  /// Writes the memory values of the lanes in `served` to their results, extended as the size requires.
  function automatic void put(output wides_t rd, input wides_t so_far, input lane_mask_t served,
                              input size_e size, input words_t old, input bank_addrs_t bank_addrs);
    /*verilator no_inline_task*/
    bank_addr_t bank_addr;
    bank_t  other;
    word_t  word [NumLanes];
    rd = so_far;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      bank_addr = bank_addrs[l];
      word[l]   = old[bank_t'(bank_addr.bank)];
    end
    if (size inside {SizeU8, SizeS8, SizeU16, SizeS16}) begin
      for (int unsigned l = 0; l < NumLanes; l++) begin
        bank_addr = bank_addrs[l];
        word[l]   = word[l] >> {bank_addr.in_word[1:0], 3'b0};
        unique case (size)
          SizeU8:  word[l] = {24'b0, word[l][7:0]};
          SizeS8:  word[l] = {{24{word[l][7]}}, word[l][7:0]};
          SizeU16: word[l] = {16'b0, word[l][15:0]};
          default: word[l] = {{16{word[l][15]}}, word[l][15:0]};
        endcase
      end
    end
    for (int unsigned l = 0; l < NumLanes; l++) rd[l][0] = served[l] ? word[l] : rd[l][0];
    if (size inside {SizeU64, SizeB128}) begin
      for (int unsigned l = 0; l < NumLanes; l++) begin
        bank_addr = bank_addrs[l];
        if (served[l]) begin
          for (int unsigned w = 1; w < MaxWords; w++) begin
            other = bank_t'(bank_addr.bank) | bank_t'(w);
            if ((w == 1) || (size == SizeB128)) rd[l][w] = old[other];
          end
        end
      end
    end
  endfunction

  /// Writes the low word of a returned state. This is 0, except for a noComplete arrive: there it is the mask
  /// of the lanes that arrived together, which is the lane alone.
  function automatic void put_low(output wides_t rd, input wides_t objects,
                                  input lane_mask_t served, input logic alone);
    /*verilator no_inline_task*/
    rd = objects;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      if (served[l]) rd[l][0] = word_t'(alone) << l;
    end
  endfunction

  function automatic void put_ones(output wides_t rd, input wides_t so_far, input lane_mask_t mask);
    /*verilator no_inline_task*/
    rd = so_far;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      if (mask[l]) rd[l][0] = word_t'(1);
    end
  endfunction

  result_e kind;
  assign kind = result_kind(pass_i.op);

  always_comb begin
    automatic wides_t so_far;
    so_far = pass_i.first ? '0 : rd_q;
    rd_d   = so_far;
    pred_d = (pass_i.first ? '0 : pred_q) | stored;
    if (pass_i.valid && !pass_i.red) begin
      unique case (kind)
        ResultOld:  put(rd_d, so_far, pass_i.served, pass_i.size, old_i, bank_addr_i);
        ResultFlag: put_ones(rd_d, so_far, stored);
        ResultState, ResultMergedArrival: begin
          put(rd_d, so_far, pass_i.served, pass_i.size, old_i, bank_addr_i);
          put_low(rd_d, rd_d, pass_i.served, kind == ResultMergedArrival);
        end
        default: ;  // no result, or a predicate
      endcase
    end
  end

  assign stall_o = pass_i.valid && !pass_i.cluster && rsp_valid_q && !rsp_ready_i;

  logic gathers;  // the pass writes the response register
  assign gathers     = pass_i.valid && !pass_i.cluster && !stall_o && !suspends;
  assign rsp_valid_d = (gathers && pass_i.last) || (rsp_valid_q && !rsp_ready_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) rsp_valid_q <= 1'b0;
    else         rsp_valid_q <= rsp_valid_d;
    if (gathers && rst_ni) begin
      rd_q         <= rd_d;
      pred_q       <= pred_d;
      tag_q        <= pass_i.tag;
      fault_q      <= pass_i.fault;
      fault_lane_q <= pass_i.fault_lane;
      fault_addr_q <= pass_i.fault_addr;
      passes_q     <= pass_i.passes;
    end
  end

  assign rsp_valid_o         = rsp_valid_q;
  assign rsp_rd_o            = rd_q;
  assign rsp_pred_o          = pred_q;
  assign rsp_tag_o           = tag_q;
  assign rsp_fault_o         = fault_q;
  assign rsp_fault_lane_o    = fault_lane_q;
  assign rsp_fault_addr_o    = fault_addr_q;
  assign rsp_passes_o        = passes_q;

  // A cluster request has one lane and one pass, so that its response is complete at once.
  assign cl_valid_o = pass_i.valid && pass_i.cluster
                      && owes_response(pass_i.op, pass_i.red, pass_i.fault);
  assign cl_rsp_o   = '{rd: rd_d[0], pred: stored[0], tag: pass_i.tag, fault: pass_i.fault,
                        fault_addr: pass_i.fault_addr};

  `ATOMS_ASSERT(SuspendNeedsFaultFreeWarp, !suspend_o || !(pass_i.cluster || (pass_i.fault != FaultNone)))
  `ATOMS_ASSERT(ClusterRequestsTakeOnePass, !(pass_i.valid && pass_i.cluster)
                                            || (pass_i.first && pass_i.last))

  `ATOMS_COVER(WarpResponseStalls, stall_o)
  `ATOMS_COVER(ClusterPassWhileWarpResponseWaits, pass_i.valid && pass_i.cluster && rsp_valid_q && !rsp_ready_i)
  `ATOMS_COVER(PostedWithoutResponse, pass_i.valid && pass_i.cluster && !cl_valid_o)
  `ATOMS_COVER(PostedFaultResponds, cl_valid_o && posted(pass_i.op, pass_i.red))
  `ATOMS_COVER(ResponseTakenAsNextPassArrives, pass_i.valid && !pass_i.cluster && !stall_o && rsp_valid_q)
  `ATOMS_COVER(MiddlePassOfRequest, pass_i.valid && !pass_i.first && !pass_i.last)
  `ATOMS_COVER(SuspensionStalledByResponse, suspends && stall_o)
  `ATOMS_COVER(SuspensionAsResponseIsTaken, suspend_o && rsp_valid_q)
  `ATOMS_COVER(TryWaitAnsweredTableFull, pass_i.valid && pass_i.first && pass_i.last && one_object_i
                                           && (stored == '0) && !free_i)
endmodule : atoms_collect
