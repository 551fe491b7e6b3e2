/// Each warp request gets one answer after its last pass. Proved by induction over one clock, for any lane.
///
/// A request is suspended if all its lanes test one object whose phase is complete for no lane, and a table
/// entry is free. Every other request gets a response, which stays at the port until it is accepted (spec
/// 4.6, 6.3).
///
/// The response has the request's tag. Each lane gets the value that its pass read, in the width of the
/// access, after the arrivals of earlier lanes of the pass. A lane without a pass gets 0 (spec 2.6, 3, 3.2,
/// 3.5, 6.5, 6.6, 6.11).
///
/// A cluster request that owes a response gets it in the cycle of its pass, and never stalls. A warp request
/// stalls only while a response is not accepted (spec 4.7).
///
/// Limits: `issue` and `pipe` prove that the passes of a request are consecutive and complete. `agen` proves
/// legal operations and aligned accesses. `pipe` proves the comparisons and the detection of one object.
module collect_proof
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import spec_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input pass_t       pass_i,
  input words_t      old_i,
  input bank_mask_t  hit_i,
  input bank_addrs_t bank_addr_i,
  input logic        one_object_i,
  input bank_t       object_bank_i,
  input row_t        object_row_i,
  input word_t       object_limit_i,
  input logic        free_i,
  input logic        rsp_ready_i,
  /// Tracked lane: any lane.
  input lane_t       any_lane_i
);
  logic                 stall_o, suspend_o, rsp_valid_o, cl_valid_o;
  waiter_t              waiter_o;
  logic [31:0]          limit_o;
  wide_t [NumLanes-1:0] rsp_rd_o;
  lane_mask_t           rsp_pred_o;
  tag_t                 rsp_tag_o;
  fault_e               rsp_fault_o;
  logic [4:0]           rsp_fault_lane_o;
  addr_t                rsp_fault_addr_o;
  passes_t              rsp_passes_o;
  cluster_rsp_t         cl_rsp_o;
  atoms_collect dut (.*);

  /// Words that a lane reads, from the first byte of its access. For an arrival, the high word of the object.
  function automatic wide_t reads(pass_t pass, lane_t lane, words_t old, bank_mask_t hit, bank_addrs_t bank_addr);
    word_t      word;
    logic       stored;
    bank_addr_t where;
    where  = bank_addr[lane];
    word   = old[bank_t'(where.bank)];
    stored = hit[bank_t'(where.bank)] && pass.win[lane];
    reads  = '0;
    if (pass.served[lane] && !pass.red) begin
      case (pass.op)
        OpAdd, OpMin, OpMax, OpInc, OpDec, OpAnd, OpOr, OpXor, OpExch, OpCas, OpLoad, OpMbarInit,
        OpMbarArriveSm80:
          case (pass.size)
            SizeU8:   reads[0] = word_t'(word[8*where.in_word[1:0] +: 8]);
            SizeS8:   reads[0] = word_t'($signed(word[8*where.in_word[1:0] +: 8]));
            SizeU16:  reads[0] = word_t'(word[16*where.in_word[1] +: 16]);
            SizeS16:  reads[0] = word_t'($signed(word[16*where.in_word[1] +: 16]));
            SizeU64:  reads = wide_t'({old[bank_t'(where.bank) + 1], word});
            SizeB128: reads = {old[bank_t'(where.bank) + 3], old[bank_t'(where.bank) + 2],
                               old[bank_t'(where.bank) + 1], word};
            default:  reads[0] = word;
          endcase
        OpCast, OpCastSpin: reads[0] = word_t'(stored);
        OpMbarArrive, OpMbarArriveCount, OpMbarArriveExpectTx, OpMbarArriveDrop, OpMbarArriveDropCount,
        OpMbarArriveDropExpectTx: reads[1] = old[bank_t'(where.bank) + 1];
        OpMbarArriveNoComplete, OpMbarArriveDropNoComplete: begin
          reads[0][lane] = 1'b1;
          reads[1]       = old[bank_t'(where.bank) + 1];
        end
        default: ;
      endcase
    end
  endfunction

  /// True if the lane stored, or if its phase is complete.
  function automatic logic holds(pass_t pass, lane_t lane, words_t old, bank_mask_t hit, bank_addr_t where);
    case (pass.op)
      OpCas, OpCast, OpCastSpin:     holds = pass.win[lane] && hit[bank_t'(where.bank)];
      OpMbarTestWait, OpMbarTryWait: holds = pass.served[lane] && (old[bank_t'(where.bank) + 1][31] != pass.asked[lane]);
      default:                       holds = 1'b0;
    endcase
  endfunction

  // The request that is being collected (`open`), and the offered response (`stands`).
  logic       was_reset = 1'b0, open = 1'b0, stands = 1'b0;
  lane_t      lane;
  tag_t       open_tag;
  pass_t      final_pass;   // last pass of the response
  wide_t      rd;           // result of the tracked lane
  logic       pred;
  logic       comes, waits, some_holds;
  wide_t      now_rd;
  logic       now_pred;
  assign comes    = pass_i.valid && !pass_i.cluster && !(stands && !rsp_ready_i);
  assign now_rd   = reads(pass_i, lane, old_i, hit_i, bank_addr_i);
  assign now_pred = holds(pass_i, lane, old_i, hit_i, bank_addr_i[lane]);
  always_comb begin
    some_holds = 1'b0;
    for (int unsigned l = 0; l < NumLanes; l++)
      some_holds = some_holds || holds(pass_i, lane_t'(l), old_i, hit_i, bank_addr_i[l]);
  end
  assign waits = comes && one_object_i && !some_holds && free_i && pass_i.first && pass_i.last;

  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    if (!was_reset) lane <= any_lane_i;
    if (!rst_ni) begin
      open   <= 1'b0;
      stands <= 1'b0;
    end else begin
      stands <= (comes && pass_i.last && !waits) || (stands && !rsp_ready_i);
      if (comes) begin
        open     <= !pass_i.last;
        open_tag <= pass_i.tag;
        if (!waits) begin
          final_pass <= pass_i;
          rd         <= (pass_i.first ? '0 : rd) | (pass_i.served[lane] ? now_rd : '0);
          pred       <= (!pass_i.first && pred) || now_pred;
        end
      end
    end
  end

  // Lanes that the passes of the open request have served.
  lane_mask_t served;
  always_ff @(posedge clk_i) if (comes) served <= (pass_i.first ? '0 : served) | pass_i.served;

  always_comb begin
    assume (was_reset || !rst_ni);
    // The passes of a request are consecutive, and serve each lane once.
    if (pass_i.valid) begin
      if (pass_i.cluster) assume (pass_i.first && pass_i.last && ((pass_i.served & ~lane_mask_t'(1)) == '0));
      else begin
        assume (pass_i.first != open);
        if (open) assume ((pass_i.tag == open_tag) && ((pass_i.served & served) == '0));
      end
      assume ((pass_i.win & ~pass_i.served) == '0);
      if (pass_i.served != '0) assume ((pass_i.fault == FaultNone) && is_instruction(pass_i.op, pass_i.size));
      for (int unsigned l = 0; l < NumLanes; l++)
        if (pass_i.served[l]) assume (((bank_t'(bank_addr_i[l].bank) & bank_t'(last_of(pass_i.size))) == '0)
                                      && (!(pass_i.size inside {SizeU16, SizeS16}) || !bank_addr_i[l].in_word[0]));
    end
    if (one_object_i) assume ((pass_i.op == OpMbarTryWait) && !pass_i.cluster && (pass_i.fault == FaultNone));
    if (was_reset) begin
      StallOnlyByUntakenResponse: assert (stall_o == (pass_i.valid && !pass_i.cluster && rsp_valid_o && !rsp_ready_i));
      SuspendMatchesSpec: assert (suspend_o == waits);
      ResponseValidUntilTaken: assert (rsp_valid_o == stands);
      if (suspend_o) begin
        WaiterMatchesRequest:
          assert ((waiter_o.tag == pass_i.tag) && (waiter_o.slot == pass_i.slot) && (waiter_o.mask == pass_i.served)
                  && (waiter_o.bank == object_bank_i) && (waiter_o.row == object_row_i));
        WaiterLimitMatchesRequest: assert (limit_o == ((object_limit_i == '0) ? TryWaitLimit : object_limit_i));
      end
      if (stands) begin
        ResponseFieldsMatchRequest: assert ((rsp_tag_o == final_pass.tag) && (rsp_fault_o == final_pass.fault)
                                            && (rsp_fault_lane_o == final_pass.fault_lane)
                                            && (rsp_fault_addr_o == final_pass.fault_addr) && (rsp_passes_o == final_pass.passes));
        ResponseOnlyAfterLastPass: assert (!open);
      end
      // The result is right during collection, and then at the port.
      if (open || stands) LaneResultMatchesPasses: assert ((rsp_rd_o[lane] == rd) && (rsp_pred_o[lane] == pred));
      if (open && !served[lane]) UnservedLaneHasZeroResult: assert ((rd == '0) && !pred);
      ClusterResponseIffOwed:
        assert (cl_valid_o == (pass_i.valid && pass_i.cluster && is_answered(pass_i.op, pass_i.red, pass_i.fault)));
      if (cl_valid_o) begin
        ClusterResponseTagMatchesRequest: assert ((cl_rsp_o.tag == pass_i.tag) && (cl_rsp_o.fault == pass_i.fault)
                                                  && (cl_rsp_o.fault_addr == pass_i.fault_addr));
        ClusterResponseDataMatchesPass: assert ((cl_rsp_o.rd == reads(pass_i, '0, old_i, hit_i, bank_addr_i))
                                                && (cl_rsp_o.pred == holds(pass_i, '0, old_i, hit_i, bank_addr_i[0])));
      end
    end
  end
endmodule : collect_proof
