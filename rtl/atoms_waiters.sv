`include "atoms_assert.svh"

/// Table of the requests suspended in MBAR.TRY_WAIT, until wake-up or timeout.
/// Mirror: `model/src/waiters.rs`.
///
/// A request is suspended in the same cycle in which its pass tests the object in the last stage. Objects
/// change only in that stage, so no completion can fall between the test and the suspension. An entry stays
/// occupied until its wake-up moves to the port. No wake-up is therefore lost, however long the port is
/// blocked.
module atoms_waiters
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic       clk_i,
  /// Synchronous reset, active low. Empties the table.
  input  logic       rst_ni,
  /// A request is suspended. Allowed only with `free_o`.
  input  logic       enter_i,
  /// Request that is suspended; meaningful with `enter_i`.
  input  waiter_t    waiter_i,
  /// Cycles until the timeout of that request; not 0.
  input  logic [31:0] limit_i,
  /// 1 if the table has a free entry.
  output logic       free_o,
  /// First banks of the objects that complete a phase at the next clock edge.
  input  bank_mask_t completed_i,
  /// Row per bank of the pass in the last stage, which completes these objects.
  input  rows_t      row_i,
  /// 1 if a wake-up is offered.
  output logic       wake_valid_o,
  /// The requester accepts the wake-up at the next clock edge.
  input  logic       wake_ready_i,
  /// Tag of the answered request.
  output tag_t       wake_tag_o,
  /// Lanes whose phase is complete: all active lanes, or no lane after a timeout.
  output lane_mask_t wake_pred_o,
  /// A wake-up moves to the port; its request is no longer in flight.
  output logic       leave_o,
  /// CTA slot of the request whose wake-up moves to the port.
  output slot_t      leave_slot_o,
  /// Entries that hold a suspended request.
  output logic [NumWaiters-1:0] suspended_o,
  /// Entries that are woken or timed out, and not yet answered.
  output logic [NumWaiters-1:0] ready_o
);
  localparam int unsigned PlaceBits = NumWaiters > 1 ? $clog2(NumWaiters) : 1;
  typedef logic [PlaceBits-1:0]  index_t;
  typedef logic [NumWaiters-1:0] places_mask_t;

  places_mask_t suspended_q, woken_q, expired_q, suspended_d, woken_d, expired_d;
  waiter_t      waiter_q [NumWaiters];
  logic [NumWaiters-1:0][31:0] left_q, left_d;   // cycles left to wait
  index_t       last_q;                   // entry answered last
  logic         wake_valid_q, wake_valid_d;
  tag_t         wake_tag_q;
  lane_mask_t   wake_pred_q;

  places_mask_t ready, taken, wakes, expires;
  assign ready  = woken_q | expired_q;
  assign taken  = suspended_q | ready;
  assign free_o = taken != '1;

  // The lowest free entry, and the next entry to answer: round robin, starting after the last one.
  index_t vacant, next;
  logic   answer;
  always_comb begin
    vacant = '0;
    next   = '0;
    if (enter_i) begin
      for (int unsigned p = 0; p < NumWaiters; p++) begin
        if (!taken[NumWaiters-1-p]) vacant = index_t'(NumWaiters - 1 - p);
      end
    end
    if (ready != '0) begin
      for (int unsigned p = 0; p < NumWaiters; p++) begin
        if (ready[NumWaiters-1-p]) next = index_t'(NumWaiters - 1 - p);
      end
      for (int unsigned p = 0; p < NumWaiters; p++) begin
        if (ready[NumWaiters-1-p] && (NumWaiters - 1 - p > 32'(last_q))) begin
          next = index_t'(NumWaiters - 1 - p);
        end
      end
    end
  end

  // If completion and timeout coincide, completion wins: the request gets one answer.
  always_comb begin
    wakes   = '0;
    expires = '0;
    left_d  = left_q;
    if (suspended_q != '0) begin
      for (int unsigned p = 0; p < NumWaiters; p++) begin
        wakes[p] = suspended_q[p] && completed_i[waiter_q[p].bank]
                     && (row_i[waiter_q[p].bank] == waiter_q[p].row);
        expires[p] = suspended_q[p] && !wakes[p] && (left_q[p] == 32'd1);
        left_d[p]  = left_q[p] - 32'd1;
      end
    end
    if (enter_i) left_d[vacant] = limit_i;
  end

  assign answer       = (ready != '0) && (!wake_valid_q || wake_ready_i);
  assign leave_o      = answer;
  assign leave_slot_o = waiter_q[next].slot;

  always_comb begin
    suspended_d  = suspended_q & ~(wakes | expires);
    woken_d      = woken_q | wakes;
    expired_d    = expired_q | expires;
    wake_valid_d = answer || (wake_valid_q && !wake_ready_i);
    if (enter_i) suspended_d[vacant] = 1'b1;
    if (answer) begin
      woken_d[next]   = 1'b0;
      expired_d[next] = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      suspended_q  <= '0;
      woken_q      <= '0;
      expired_q    <= '0;
      last_q       <= '0;
      wake_valid_q <= 1'b0;
    end else begin
      suspended_q  <= suspended_d;
      woken_q      <= woken_d;
      expired_q    <= expired_d;
      wake_valid_q <= wake_valid_d;
      if (answer) begin
        last_q      <= next;
        wake_tag_q  <= waiter_q[next].tag;
        wake_pred_q <= woken_q[next] ? waiter_q[next].mask : '0;
      end
      if (enter_i) waiter_q[vacant] <= waiter_i;
      if (enter_i || (suspended_q != '0)) left_q <= left_d;
    end
  end

  assign wake_valid_o = wake_valid_q;
  assign wake_tag_o   = wake_tag_q;
  assign wake_pred_o  = wake_pred_q;
  assign suspended_o  = suspended_q;
  assign ready_o      = ready;

`ifndef SYNTHESIS
  // The limit is at least 1 and a request times out at 1, so a count of 0 is an error.
  logic overdue;
  /*verilator coverage_off*/
  always_comb begin
    overdue = 1'b0;
    if (suspended_q != '0) begin
      for (int unsigned p = 0; p < NumWaiters; p++) begin
        if (suspended_q[p] && (left_q[p] == '0)) overdue = 1'b1;
      end
    end
  end
  /*verilator coverage_on*/
  `ATOMS_ASSERT(WaiterLimitNotExceeded, !overdue)
`endif

  `ATOMS_ASSERT(WaiterEnterNeedsFreePlace, !enter_i || free_o)
  `ATOMS_ASSERT(WaiterStatesExclusive, ((suspended_q & ready) == '0) && ((woken_q & expired_q) == '0))
  `ATOMS_ASSERT(WaiterWakeUpNeedsCompletion, (wakes == '0) || (completed_i != '0))

`ifdef ATOMS_COVERAGE
  /*verilator coverage_off*/
  logic in_time;   // a request is woken in the cycle of its timeout
  always_comb begin
    in_time = 1'b0;
    for (int unsigned p = 0; p < NumWaiters; p++) begin
      if (wakes[p] && (left_q[p] == 32'd1)) in_time = 1'b1;
    end
  end
  /*verilator coverage_on*/
`endif
  `ATOMS_COVER(TableFull, taken == '1)
  `ATOMS_COVER(AllWaitersSuspended, suspended_q == '1)
  `ATOMS_COVER(LastPlaceTaken, enter_i && (vacant == index_t'(NumWaiters - 1)))
  `ATOMS_COVER(EnterDuringAnswer, enter_i && answer)
  `ATOMS_COVER(EnterDuringTimeout, enter_i && (expires != '0))
  `ATOMS_COVER(EnterWithLimitOfOneCycle, enter_i && (limit_i == 32'd1))
  `ATOMS_COVER(CompletionInLastCycle, in_time)
  `ATOMS_COVER(WakeUpAndTimeoutTogether, (wakes != '0) && (expires != '0))
  `ATOMS_COVER(WakeUpOfSomeWaiters, (wakes != '0) && ((suspended_q & ~wakes) != '0))
  `ATOMS_COVER(WakeUpOfSeveralWaiters, $countones(wakes) > 1)
  `ATOMS_COVER(TimeoutOfSeveralWaiters, $countones(expires) > 1)
  `ATOMS_COVER(AnswerStalled, (ready != '0) && !answer)
  `ATOMS_COVER(AllWaitersStalled, (ready == '1) && !answer)
  `ATOMS_COVER(AnswerInRoundRobinOrder, answer && ($countones(ready) > 1) && (next > last_q))
  `ATOMS_COVER(AnswerOrderWraps, answer && (next < last_q))
endmodule : atoms_waiters
