/// The priority lane of each bank is the one that the specification computes from the number of CAST.SPIN
/// passes on the bank since reset (spec 5.4). Proved by induction over one clock, for any bank and any lane.
///
/// No other pass moves the priority lane. A lane that competes in every pass has priority in one of the first
/// SpinHold + NumLanes passes. A lane that competes at least once in any SpinHold passes has priority in one
/// of the first 2 * SpinHold * NumLanes passes.
///
/// Limits: `grouper` proves that a waiting priority lane is selected. The assertion `PriorityMovesOnSpinOnly`
/// checks that only CAST.SPIN passes are counted.
module spin_proof
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input logic       en_i,
  input logic       fire_i,
  input bank_mask_t taken_i,
  /// The tracked lane competes for a word of the tracked bank in this pass.
  input logic       asks_i,
  /// Tracked bank and lane: any bank and any lane.
  input bank_t      any_bank_i,
  input lane_t      any_lane_i
);
  localparam logic [15:0] Hold = SpinHold, Lanes = NumLanes, Period = 2 * SpinHold * NumLanes;
  lanes_t priority_lane_o;
  atoms_spin dut (.*);

  logic        was_reset = 1'b0;
  bank_t       bank;
  logic [15:0] lane;
  logic [15:0] count;      // passes on the bank, modulo the period
  logic [15:0] unlucky;    // successive passes in which the lane competed without priority
  logic [15:0] since;      // passes since the lane first competed without being selected
  logic [15:0] silent;     // successive passes in which the lane did not compete
  logic        passes, prioritized, selected;
  assign passes      = fire_i && taken_i[bank];
  assign prioritized = 16'(priority_lane_o[bank]) == lane;
  assign selected    = prioritized && asks_i;

  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    if (!was_reset) begin
      bank <= any_bank_i;
      lane <= 16'(any_lane_i);
    end
    if (!rst_ni) begin
      count   <= '0;
      unlucky <= '0;
      since   <= '0;
      silent  <= '0;
    end else if (passes) begin
      count   <= (count == Period - 1) ? '0 : count + 1;
      unlucky <= (asks_i && !prioritized) ? unlucky + 1 : '0;
      since   <= selected ? '0 : (asks_i || (since != '0)) ? since + 1 : '0;
      silent  <= asks_i ? '0 : silent + 1;
    end
  end

  // Passes until the lane has priority; 0 if it has priority now. Priority comes at its turn among all lanes,
  // or when priority stays at this lane.
  logic [15:0] step, to_turn, to_priority, begins, to_end;
  logic        holds;
  always_comb begin
    step        = count % Hold;
    holds       = (count / Hold) % 2 == 1;
    begins      = 2 * Hold * lane + Hold;    // count at which priority starts to stay at this lane
    to_turn     = (lane + Lanes - count % Lanes) % Lanes;
    to_priority = holds ? ((count / (2 * Hold) == lane) ? '0 : Hold - step + lane)
                        : (step + to_turn < Hold)       ? to_turn
                        : (count / (2 * Hold) == lane)  ? Hold - step
                                                        : 2 * Hold - step + lane;
    to_end      = (count < begins + Hold) ? begins + Hold - count : begins + Hold + Period - count;
  end

  always_comb begin
    assume (was_reset || !rst_ni);
    assume (!fire_i || en_i);
    // Once the lane has competed, it competes at least once in any `Hold` successive passes.
    if (passes && (since != '0)) assume (asks_i || (silent + 1 < Hold));
    if (was_reset) begin
      if (en_i) PriorityLaneMatchesCount:
        assert (16'(priority_lane_o[bank]) == (holds ? count / (2 * Hold) : count % Lanes));
      if (passes && asks_i && !prioritized) PersistentLaneSelectedInTime: assert (unlucky + 1 < Hold + Lanes);
      if (passes && !selected) RecurringLaneSelectedInTime: assert (since + 1 < Period);
    end
  end

  // Invariants that the induction needs.
  always_comb begin
    if (was_reset) begin
      TurnMatchesPassCount:          assert ((16'(dut.turn_q[bank]) == count) && (count < Period) && (lane < Lanes));
      PriorityWithinPersistentBound: assert ((unlucky < Hold + Lanes) && (unlucky + to_priority < Hold + Lanes));
      if (since != '0) begin
        PriorityWithinRecurringBound: assert ((since < Period) && (since + to_end <= Period));
        SilentWhilePriorityHeld:
          assert ((silent <= since) && ((count < begins) || (count >= begins + Hold) || (silent >= count - begins)));
      end
    end
  end
endmodule : spin_proof
