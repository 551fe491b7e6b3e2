/// Groups waiting lanes by bank and picks what one pass serves (spec 4, 5). Combinational.
/// Mirror: `model/src/grouper.rs`.
///
/// Lanes are walked one after the other in the order of the winner policy; the first of each bank
/// wins it. A walk simulates many times faster than a matrix of requests per bank, at three times
/// its logic depth (docs/microarchitecture.md).
module atoms_grouper
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Lanes that wait. None keeps the unit quiet.
  input  lane_mask_t pending_i,
  input  op_e        op_i,
  /// Lanes of one address join their winner.
  input  logic       join_i,
  /// Bank of each lane's first word; for 64 and 128 bits thereby its pair or quad (spec 4.4).
  input  bank_t      bank_i [NumLanes],
  input  row_t       row_i  [NumLanes],
  /// First lane in the rotating order.
  input  lane_t      rotate_i,
  /// Lanes that get their result from this pass.
  output lane_mask_t served_o,
  /// Lanes that perform their operation: all served, but for CAST.SPIN one of each group.
  output lane_mask_t win_o,
  /// Banks taken, by the bank of the first word.
  output bank_mask_t taken_o,
  /// Winner and row per bank taken; zero elsewhere. Of joined stores the highest lane wins, since
  /// its value stays (spec 3.5).
  output lane_t      lane_o [NumBanks],
  output row_t       row_o  [NumBanks]
);
  always_comb begin
    automatic lane_t l;
    l        = '0;
    served_o = '0;
    win_o    = '0;
    taken_o  = '0;
    lane_o   = '{default: '0};
    row_o    = '{default: '0};
    if (pending_i != '0) begin
      for (int unsigned i = 0; i < NumLanes; i++) begin
        l = (WinnerPolicy == PolicyHighest)  ? lane_t'(NumLanes - 1 - i)
          : (WinnerPolicy == PolicyRotating) ? lane_t'(i) + rotate_i
                                             : lane_t'(i);
        if (pending_i[l] && !taken_o[bank_i[l]]) begin
          win_o[l]           = 1'b1;
          taken_o[bank_i[l]] = 1'b1;
          lane_o[bank_i[l]]  = l;
          row_o[bank_i[l]]   = row_i[l];
        end
      end
      served_o = win_o;
      if (op_i == OpCastSpin) served_o = pending_i;
      if (join_i) begin
        for (int unsigned j = 0; j < NumLanes; j++) begin
          if (pending_i[j] && (row_o[bank_i[j]] == row_i[j])) begin
            served_o[j] = 1'b1;
            if (op_i == OpStore) lane_o[bank_i[j]] = lane_t'(j);
          end
        end
        win_o = served_o;
      end
    end
  end
endmodule : atoms_grouper
