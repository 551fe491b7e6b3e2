/// Any one suspended request is answered exactly once: with its lanes if its object completed a phase in one of the cycles
/// that it may wait, the last included, else with none, after exactly as many; its wake-up stands at the port until it is
/// taken, and every answer that goes to another brings its turn closer (spec 6.10). There is a free place as long as fewer
/// requests are in the table than it has places (spec 6.3), and an answer in every cycle in which a request is ready and the
/// port is free. By induction over one clock.
///
/// Holes: that an object which completes is shown to `atoms_waiters` in that cycle, and that a request does not suspend
/// itself where its phase is complete already, is `atoms_pipe`'s and `atoms_collect`'s.
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
  /// The request that enters is the one.
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
  logic [31:0] left;      // cycles that it may still wait
  lane_mask_t  answer;    // what it is to be told
  place_t      place;
  logic        was_reset = 1'b0;

  logic completes, is_answered;
  assign completes   = completed_i[request.bank] && (row_i[request.bank] == request.row);
  assign is_answered = leave_o && (dut.next == place);

  // Requests in the table; a wake-up stands at the port.
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

  /// Answers to others before that of `place`, if all are ready.
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
      // In the table as long as it is to be, and as what.
      if (state == Waits) begin
        WaitingRequestIsSuspended: assert (suspended_o[place] && !ready_o[place]);
        CyclesLeftMatchLimit:      assert ((dut.left_q[place] == left) && (left != '0));
      end
      if (state == Complete) CompletedRequestIsWoken: assert (ready_o[place] && dut.woken_q[place] && !suspended_o[place]);
      if (state == TimedOut) ExpiredRequestTimesOut:  assert (ready_o[place] && !dut.woken_q[place] && !suspended_o[place]);
      if ((state == Waits) || ready) WaiterMatchesRequest: assert (dut.waiter_q[place] == request);
      if (state == Complete) CompletedAnswerHasAllLanes: assert (answer == request.mask);
      if (state == TimedOut) TimeoutAnswerHasNoLane:     assert (answer == '0);
      // At the port, until it is taken.
      if (state == AtPort) WakeUpStableUntilTaken: assert (wake_valid_o && (wake_tag_o == request.tag) && (wake_pred_o == answer));
      // Its place is not given to another request.
      if (((state == Waits) || ready) && enter_i) OccupiedPlaceNotReused: assert (dut.vacant != place);
      if (ready && leave_o && !is_answered) AnswerTurnComesCloser: assert (behind(dut.next) < behind(dut.last_q));
      if (ready && is_answered) LeaveSlotMatchesRequest: assert (leave_slot_o == request.slot);
    end
  end
endmodule : waiters_proof
