/// A pass serves at most one lane on each bank, except coalesced lanes. A pass serves some lane while lanes
/// wait, so that NumLanes passes serve every lane (spec 4.1 to 4.3).
///
/// Coalesced lanes are those in the row of the first lane of their bank. For coalesced stores the lowest lane
/// is the winner (spec 3.5). CAST.SPIN serves every lane and selects exactly one lane on each bank (spec 5.1
/// to 5.3).
///
/// Limits: `issue` proves that a served lane waits no more, and `spin` the fairness of the priority lane.
module grouper_proof
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input lane_mask_t  pending,
  input op_e         op,
  input logic        joined,
  input bank_addrs_t bank_addr,
  input lane_t       rotate,
  input lanes_t      priority_lane,
  /// Any two lanes of the request.
  input lane_t       one, other,
  /// Any bank of the unit.
  input bank_t       any_bank
);
  lane_mask_t served, win;
  bank_mask_t taken;
  lanes_t     lane;
  rows_t      row;
  atoms_grouper dut (.pending_i(pending), .op_i(op), .coalesce_i(joined), .bank_addr_i(bank_addr), .rotate_i(rotate),
                     .priority_lane_i(priority_lane), .served_o(served), .win_o(win), .taken_o(taken), .lane_o(lane), .row_o(row));

  bank_t bank;
  lane_t winner;
  logic  same_bank, same_row, spin, priority_waits, by_priority;
  lane_t wished;
  assign bank           = bank_t'(bank_addr[one].bank);
  assign winner         = lane[bank];
  assign same_bank      = bank == bank_t'(bank_addr[other].bank);
  assign same_row       = bank_addr[one].row == bank_addr[other].row;
  assign by_priority    = (op == OpCastSpin) && priority_waits;
  assign spin           = (op == OpCastSpin) && !joined;
  assign wished         = priority_lane[bank];
  assign priority_waits = pending[wished] && (bank_t'(bank_addr[wished].bank) == bank);

  /// Position of a lane in the order of the winner policy: position 0 wins first.
  function automatic lane_t turn(lane_t number);
    case (WinnerPolicy)
      PolicyHighest:  turn = lane_t'(NumLanes - 1) - number;
      PolicyRotating: turn = number - rotate;
      default:        turn = number;
    endcase
  endfunction

  // `early`: a lane at or before `one` in that order is served on its bank. `asked`: a lane waits for
  // `any_bank`.
  logic early, asked;
  always_comb begin
    early = 1'b0;
    asked = 1'b0;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      if (served[l] && (bank_t'(bank_addr[l].bank) == bank) && (turn(lane_t'(l)) <= turn(one))) early = 1'b1;
      if (pending[l] && (bank_t'(bank_addr[l].bank) == any_bank)) asked = 1'b1;
    end
  end

  always_comb begin
    BankTakenIffLaneWaits: assert (taken[any_bank] == asked);
    if (!asked) NoWinnerOnUntakenBank: assert (lane[any_bank] == '0);
    if (!spin) ServedLanesWinExceptSpin: assert (served == win);
    ServedLanesArePending: assert ((served & ~pending) == '0 && (win & ~served) == '0);
    if (pending != '0) PassServesSomeLane: assert (served != '0);
    if (pending[one]) begin
      BankOfPendingLaneTaken: assert (taken[bank]);
      WinnerWaitsForBank:     assert (pending[winner] && (bank_t'(bank_addr[winner].bank) == bank));
      WinnerIsServed:         assert (served[winner] && win[winner]);
      RowMatchesWinner:       assert (row[bank] == row_t'(bank_addr[winner].row));
      if (spin) begin
        SpinServesAllLanes:           assert (served[one]);
        PriorityLaneWins:             assert (!priority_waits || (winner == wished));
      end
      if (joined && (op == OpStore)) begin
        JoinedStoreRowIsFirstInOrder: assert (early);
        JoinedStoreWinnerIsLowest:    assert (!served[one] || (winner <= one));
      end else if (!by_priority) WinnerIsFirstInOrder: assert (turn(winner) <= turn(one));
    end
    if ((one != other) && win[one] && win[other] && same_bank) OneWinnerPerBankUnlessJoined: assert (joined && same_row);
    if (joined && pending[one] && pending[other] && same_bank && same_row)
      JoinedLanesServedTogether: assert (served[one] == served[other]);
  end
endmodule : grouper_proof
