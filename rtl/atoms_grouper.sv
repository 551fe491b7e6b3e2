`include "atoms_assert.svh"

/// Groups waiting lanes by bank and selects the lanes that one pass serves (spec 4, 5). Combinational.
/// Mirror: `model/src/grouper.rs`.
///
/// The lanes are walked in reverse order of the winner policy, and each lane takes its bank. The first lane
/// of the policy comes last and keeps the bank. No lane has to check if its bank is free, which keeps the
/// logic shallow. The walk also simulates many times faster than a matrix of requests per bank
/// (docs/microarchitecture.md).
module atoms_grouper
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Lanes that wait for a pass. With no lane the outputs are 0, and nothing toggles.
  input  lane_mask_t pending_i,
  /// Operation of the request at issue.
  input  op_e        op_i,
  /// 1 if lanes of one address share the pass of their winner.
  input  logic       coalesce_i,
  /// Bank address of each lane's access. The bank is that of the first word, so that a 64-bit or 128-bit
  /// access is grouped by its pair or quad of banks (spec 4.4).
  input  bank_addrs_t bank_addr_i,
  /// First lane in the order of the rotating winner policy.
  input  lane_t      rotate_i,
  /// Priority lane of each bank. CAST.SPIN selects this lane if it waits on the bank (spec 5.4).
  input  lanes_t     priority_lane_i,
  /// Lanes that get their result from this pass.
  output lane_mask_t served_o,
  /// Lanes that perform their operation: all served lanes. For CAST.SPIN, one lane of each group.
  output lane_mask_t win_o,
  /// Banks of the pass, by the first word of each access.
  output bank_mask_t taken_o,
  /// Winner of each bank in `taken_o`; elsewhere 0. For coalesced stores the lowest lane wins, since its
  /// value stays in memory (spec 3.5).
  output lanes_t     lane_o,
  /// Row of the winner's access, per bank in `taken_o`; elsewhere meaningless.
  output rows_t      row_o
);
  /// Finds the winners of all banks: lane and row per bank, and the mask of the winning lanes.
  function automatic void walk(output bank_mask_t taken, output lanes_t lane, output rows_t row,
                               output lane_mask_t win, input lane_mask_t pending,
                               input bank_addrs_t bank_addrs, input lane_t rotate, input logic spin,
                               input lanes_t priority_lane);
    /*verilator no_inline_task*/
    lane_t             l;
    bank_addr_t        bank_addr;
    lane_t             winner [2*NumBanks];
    logic [BankBits:0] slot;  // the upper half collects lanes that do not wait
    for (int unsigned b = 0; b < NumBanks; b++) winner[b] = '0;
    for (int unsigned i = 0; i < NumLanes; i++) begin
      l = (WinnerPolicy == PolicyHighest)  ? lane_t'(i)
        : (WinnerPolicy == PolicyRotating) ? rotate - lane_t'(i + 1)
                                           : lane_t'(NumLanes - 1 - i);
      bank_addr    = bank_addrs[l];
      slot         = {!pending[l], bank_t'(bank_addr.bank)};
      winner[slot] = l;
    end
    if (spin) begin
      for (int unsigned b = 0; b < NumBanks; b++) begin
        l         = priority_lane[b];
        bank_addr = bank_addrs[l];
        if (pending[l] && (bank_t'(bank_addr.bank) == bank_t'(b))) winner[b] = l;
      end
    end
    taken = '0;
    for (int unsigned j = 0; j < NumLanes; j++) begin
      bank_addr = bank_addrs[j];
      taken     = taken | (bank_mask_t'(pending[j]) << bank_t'(bank_addr.bank));
    end
    win = '0;
    for (int unsigned b = 0; b < NumBanks; b++) begin
      lane[b]   = winner[b];
      bank_addr = bank_addrs[winner[b]];
      row[b]    = row_t'(bank_addr.row);
      win       = win | (lane_mask_t'(taken[b]) << winner[b]);
    end
  endfunction

  /// Finds the lanes that wait for the row that their bank works on. If `lowest`, also the lowest such lane
  /// of each bank.
  function automatic void coalesce_rows(output lane_mask_t served, output lanes_t lane,
                                    input lane_mask_t pending, input bank_addrs_t bank_addrs,
                                    input rows_t row, input lanes_t winner, input logic lowest);
    /*verilator no_inline_task*/
    bank_t  bank;
    bank_addr_t bank_addr;
    served = '0;
    lane   = winner;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      bank_addr = bank_addrs[l];
      bank      = bank_t'(bank_addr.bank);
      served    = served | (lane_mask_t'(row[bank] == row_t'(bank_addr.row)) << l);
    end
    served = served & pending;
    if (lowest) begin
      for (int l = int'(NumLanes) - 1; l >= 0; l--) begin
        bank_addr = bank_addrs[l];
        if (served[l]) lane[bank_t'(bank_addr.bank)] = lane_t'(l);
      end
    end
  endfunction

  always_comb begin
    automatic lanes_t winner;
    winner   = '{default: '0};
    served_o = '0;
    win_o    = '0;
    taken_o  = '0;
    lane_o   = '{default: '0};
    row_o    = '0;
    if (pending_i != '0) begin
      walk(taken_o, winner, row_o, win_o, pending_i, bank_addr_i, rotate_i,
           op_i == OpCastSpin, priority_lane_i);
      served_o = win_o;
      lane_o   = winner;
      if (op_i == OpCastSpin) served_o = pending_i;
      if (coalesce_i) begin
        coalesce_rows(served_o, lane_o, pending_i, bank_addr_i, row_o, winner, op_i == OpStore);
        win_o = served_o;
      end
    end
  end

  `ATOMS_ASSERT_COMB(WinnersAreServed, (win_o & ~served_o) == '0)
endmodule : atoms_grouper
