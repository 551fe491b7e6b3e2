/// Each suspended request is answered exactly once. Proved by induction over one clock.
///
/// The answer has all lanes of the request if its object completes a phase within the limit, including the
/// last cycle. Otherwise the answer has no lane and comes after exactly the limit. A wake-up stays at the
/// port until it is accepted. Every answer to another request brings the turn of a ready request closer (spec
/// 6.10).
///
/// An entry is free while the table holds fewer requests than entries (spec 6.3). An answer leaves in every
/// cycle in which a request is ready and the port is free.
///
/// Limits: `atoms_pipe` must report each completion in its cycle. `atoms_collect` must not suspend a request
/// whose phase is already complete. Both are proved elsewhere.
module waiters_proof
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        enter_i,
  input waiter_t     waiter_i,
  input logic [31:0] limit_i,
  input bank_mask_t  completed_i,
  input rows_t       row_i,
  input logic        wake_ready_i,
  /// The entering request is the tracked one.
  input logic        this_i
);
  localparam int unsigned PlaceBits = $clog2(NumWaiters);
  typedef logic [PlaceBits-1:0] place_t;

  logic                  free_o, wake_valid_o, leave_o;
  tag_t                  wake_tag_o;
  lane_mask_t            wake_pred_o;
  slot_t                 leave_slot_o;
  logic [NumWaiters-1:0] suspended_o, ready_o;
  atoms_waiters dut (.*);

  typedef enum logic [2:0] { Unseen, Waits, Complete, TimedOut, AtPort, Answered } state_t;
  state_t      state = Unseen;
  waiter_t     request;
  logic [31:0] left;      // cycles until the timeout
  lane_mask_t  answer;    // expected lanes of the answer
  place_t      place;
  logic        was_reset = 1'b0;

  logic completes, is_answered;
  assign completes   = completed_i[request.bank] && (row_i[request.bank] == request.row);
  assign is_answered = leave_o && (dut.next == place);

  logic [7:0] held;
  logic       stands;
  always_ff @(posedge clk_i) begin
    held   <= rst_ni ? held + 8'(enter_i) - 8'(leave_o) : '0;
    stands <= rst_ni && (leave_o || (stands && !wake_ready_i));
  end

  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    if (!rst_ni) state <= Unseen;
    else begin
      case (state)
        Unseen: if (enter_i && this_i) begin
          state   <= Waits;
          request <= waiter_i;
          left    <= limit_i;
          place   <= dut.vacant;
        end
        Waits: begin
          left <= left - 1;
          if (completes) begin
            state  <= Complete;
            answer <= request.mask;
          end else if (left == 32'd1) begin
            state  <= TimedOut;
            answer <= '0;
          end
        end
        Complete, TimedOut: if (is_answered) state <= AtPort;
        AtPort: if (wake_ready_i) state <= Answered;
        default: ;
      endcase
    end
  end

  /// Number of answers to other requests before that of `place`, if all entries are ready.
  function automatic place_t behind(place_t last);
    behind = place - last - 1'b1;
  endfunction

  logic ready;
  assign ready = (state == Complete) || (state == TimedOut);

  always_comb begin
    assume (was_reset || !rst_ni);
    assume (!enter_i || (free_o && (limit_i != '0)));
    if (was_reset) begin
      TakenPlacesMatchCount:   assert ((8'($countones(dut.taken)) == held) && (free_o == (held < 8'(NumWaiters))));
      WakeUpAndLeaveMatchSpec: assert ((wake_valid_o == stands) && (leave_o == ((ready_o != '0) && (!stands || wake_ready_i))));
      // The tracked request is in the table while it waits, in the right state.
      if (state == Waits) begin
        WaitingRequestIsSuspended: assert (suspended_o[place] && !ready_o[place]);
        CyclesLeftMatchLimit:      assert ((dut.left_q[place] == left) && (left != '0));
      end
      if (state == Complete) CompletedRequestIsWoken: assert (ready_o[place] && dut.woken_q[place] && !suspended_o[place]);
      if (state == TimedOut) ExpiredRequestTimesOut:  assert (ready_o[place] && !dut.woken_q[place] && !suspended_o[place]);
      if ((state == Waits) || ready) WaiterMatchesRequest: assert (dut.waiter_q[place] == request);
      if (state == Complete) CompletedAnswerHasAllLanes: assert (answer == request.mask);
      if (state == TimedOut) TimeoutAnswerHasNoLane:     assert (answer == '0);
      if (state == AtPort) WakeUpStableUntilTaken: assert (wake_valid_o && (wake_tag_o == request.tag) && (wake_pred_o == answer));
      if (((state == Waits) || ready) && enter_i) OccupiedPlaceNotReused: assert (dut.vacant != place);
      if (ready && leave_o && !is_answered) AnswerTurnComesCloser: assert (behind(dut.next) < behind(dut.last_q));
      if (ready && is_answered) LeaveSlotMatchesRequest: assert (leave_slot_o == request.slot);
    end
  end
endmodule : waiters_proof
