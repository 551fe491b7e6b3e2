/// Groups waiting lanes by bank and picks what one pass serves (spec 4, 5). Combinational.
/// Mirror: `model/src/grouper.rs`.
///
/// Lanes are walked one after the other against the order of the winner policy; each takes its
/// bank, so that the first in that order keeps it. No lane has to look whether its bank is still
/// free: that keeps the logic shallow, and the walk simulates many times faster than a matrix of
/// requests per bank (docs/microarchitecture.md).
module atoms_grouper
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Lanes that wait. None keeps the unit quiet.
  input  lane_mask_t pending_i,
  input  op_e        op_i,
  /// Lanes of one address join their winner.
  input  logic       join_i,
  /// Place of each lane's access. Its bank is that of the first word; for 64 and 128 bits thereby
  /// its pair or quad (spec 4.4).
  input  places_t    place_i,
  /// First lane in the rotating order.
  input  lane_t      rotate_i,
  /// Lanes that get their result from this pass.
  output lane_mask_t served_o,
  /// Lanes that perform their operation: all served, but for CAST.SPIN one of each group.
  output lane_mask_t win_o,
  /// Banks taken, by the bank of the first word.
  output bank_mask_t taken_o,
  /// Winner and its row per bank taken; elsewhere the winner is 0 and the row means nothing. Of
  /// joined stores the highest lane wins, since its value stays (spec 3.5).
  output lanes_t     lane_o,
  output rows_t      row_o
);
  /// The lane that wins each bank, and the banks that are won.
  function automatic void walk(output lanes_t lane, output bank_mask_t taken,
                               input lane_mask_t pending, input places_t places,
                               input lane_t rotate);
    /*verilator no_inline_task*/
    lane_t             l;
    place_t            place;
    lane_t             winner [2*NumBanks];
    logic [BankBits:0] slot;  // lanes that do not wait take what is no bank
    for (int unsigned b = 0; b < NumBanks; b++) winner[b] = '0;
    for (int unsigned i = 0; i < NumLanes; i++) begin
      l = (WinnerPolicy == PolicyHighest)  ? lane_t'(i)
        : (WinnerPolicy == PolicyRotating) ? rotate - lane_t'(i + 1)
                                           : lane_t'(NumLanes - 1 - i);
      place        = places[l];
      slot         = {!pending[l], bank_t'(place.bank)};
      winner[slot] = l;
    end
    for (int unsigned b = 0; b < NumBanks; b++) lane[b] = winner[b];
    taken = '0;
    for (int unsigned j = 0; j < NumLanes; j++) begin
      place = places[j];
      taken = taken | (bank_mask_t'(pending[j]) << bank_t'(place.bank));
    end
  endfunction

  /// The row that each bank's winner works on.
  function automatic void rows_of(output rows_t row, input lanes_t lane, input places_t places);
    /*verilator no_inline_task*/
    place_t place;
    for (int unsigned b = 0; b < NumBanks; b++) begin
      place  = places[lane[b]];
      row[b] = row_t'(place.row);
    end
  endfunction

  /// Winners of the banks taken.
  function automatic lane_mask_t winners(lanes_t lane, bank_mask_t taken);
    /*verilator no_inline_task*/
    winners = '0;
    for (int unsigned b = 0; b < NumBanks; b++) begin
      winners = winners | (lane_mask_t'(taken[b]) << lane[b]);
    end
  endfunction

  /// Lanes whose row is the one that their bank works on.
  function automatic lane_mask_t joiners(rows_t row, places_t places);
    /*verilator no_inline_task*/
    place_t place;
    joiners = '0;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      place   = places[l];
      joiners = joiners | (lane_mask_t'(row[bank_t'(place.bank)] == row_t'(place.row)) << l);
    end
  endfunction

  /// The highest lane of a mask in each bank; 0 if there is none.
  function automatic void highest(output lanes_t lane, input lane_mask_t mask,
                                  input places_t places);
    /*verilator no_inline_task*/
    place_t            place;
    lane_t             winner [2*NumBanks];
    logic [BankBits:0] slot;  // other lanes take what is no bank
    for (int unsigned b = 0; b < NumBanks; b++) winner[b] = '0;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      place        = places[l];
      slot         = {!mask[l], bank_t'(place.bank)};
      winner[slot] = lane_t'(l);
    end
    for (int unsigned b = 0; b < NumBanks; b++) lane[b] = winner[b];
  endfunction

  always_comb begin
    served_o = '0;
    win_o    = '0;
    taken_o  = '0;
    lane_o   = '{default: '0};
    row_o    = '0;
    if (pending_i != '0) begin
      walk(lane_o, taken_o, pending_i, place_i, rotate_i);
      rows_of(row_o, lane_o, place_i);
      if (join_i) begin
        win_o = pending_i & joiners(row_o, place_i);
        if (op_i == OpStore) highest(lane_o, win_o, place_i);
      end else begin
        win_o = winners(lane_o, taken_o);
      end
      served_o = (op_i == OpCastSpin) ? pending_i : win_o;
    end
  end
endmodule : atoms_grouper
