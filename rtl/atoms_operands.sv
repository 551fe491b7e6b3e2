`include "atoms_assert.svh"

/// Operand buffer and crossbar. The module keeps the lanes' operands from entry of a request until its last
/// pass. It routes the operands of one pass to the banks, and merges those of coalesced lanes.
/// Mirror: `model/src/operands.rs`.
///
/// Operands are written once, when their request enters, and read in place. Moving them along with the
/// request would cost two more copies of 8 Kbit.
module atoms_operands
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic       clk_i,
  /// Synchronous reset, active low. Empties the buffer.
  input  logic       rst_ni,
  /// A warp request enters the warp queue.
  input  logic       enter_i,
  /// Operand B of the entering request, per lane.
  input  wide_t [NumLanes-1:0] enter_b_i,
  /// Operand C of the entering request, per lane.
  input  wide_t [NumLanes-1:0] enter_c_i,
  /// The oldest warp request moves to issue. The request that was at issue has left.
  input  logic       take_warp_i,
  /// A cluster request moves to issue.
  input  logic       take_cluster_i,
  /// Operand B of that cluster request, used for lane 0.
  input  wide_t      cluster_b_i,
  /// Operand C of that cluster request, used for lane 0.
  input  wide_t      cluster_c_i,

  /// 1 if the request at issue came through the cluster port.
  input  logic       cluster_i,
  /// Operation of the request at issue.
  input  op_e        op_i,
  /// Size of the request at issue.
  input  size_e      size_i,
  /// 1 if lanes of one address share the pass of their winner.
  input  logic       coalesce_i,
  /// Lanes that the pass serves.
  input  lane_mask_t served_i,
  /// Banks of the pass, by the first word of each access.
  input  bank_mask_t taken_i,
  /// Winner of each bank in `taken_i`; elsewhere 0.
  input  lanes_t     lane_i,
  /// Row of each bank in `taken_i`.
  input  rows_t      row_i,
  /// Bank address at which each lane's access begins.
  input  bank_addrs_t bank_addr_i,
  /// Banks that the pass uses: every word of every access.
  output bank_mask_t bank_valid_o,
  /// Row per used bank; elsewhere meaningless.
  output rows_t      row_o,
  /// Winner per used bank; elsewhere 0.
  output lanes_t     lane_o,
  /// Operand B per used bank; elsewhere meaningless, and also for operations without operand B. For POPC.INC
  /// and for arrivals without an operand, the number of lanes.
  output words_t     b_o,
  /// Operand C per used bank; elsewhere meaningless. For a store, the mask of the bits stored.
  output words_t     c_o,
  /// Lanes that test the odd phase of an mbarrier object; 0 for other operations.
  output lane_mask_t asked_o
);
  /// Number of requests whose operands are kept: those in the queue, and the one at issue.
  localparam int unsigned Entries = QueueDepth + 1;
  typedef logic [$clog2(Entries)-1:0]           entry_t;
  /// Word `w` of lane `l` has the index `MaxWords * l + w`.
  typedef logic [$clog2(MaxWords*NumLanes)-1:0] word_index_t;
  typedef word_t [MaxWords*NumLanes-1:0]        operands_t;
  typedef lane_mask_t [NumBanks-1:0]            bank_lanes_t;

  function automatic entry_t after(entry_t entry);
    after = (entry == entry_t'(Entries - 1)) ? '0 : entry + entry_t'(1);
  endfunction

  operands_t                     b_q [Entries];
  operands_t                     c_q [Entries];
  entry_t                        tail_q, next_q, work_q, tail_d, next_d, work_d;
  wide_t                         cluster_b_q, cluster_c_q;

  always_comb begin
    tail_d = enter_i ? after(tail_q) : tail_q;
    next_d = take_warp_i ? after(next_q) : next_q;
    work_d = take_warp_i ? next_q : work_q;
  end

  always_ff @(posedge clk_i) begin
    if (enter_i) begin
      b_q[tail_q] <= enter_b_i;
      c_q[tail_q] <= enter_c_i;
    end
    if (take_cluster_i) begin
      cluster_b_q <= cluster_b_i;
      cluster_c_q <= cluster_c_i;
    end
    if (!rst_ni) begin
      tail_q <= '0;
      next_q <= '0;
      work_q <= '0;
    end else begin
      tail_q <= tail_d;
      next_q <= next_d;
      work_q <= work_d;
    end
  end

  /// Merges two operands of one address into one (MergeRed).
  function automatic word_t combine(op_e op, size_e size, word_t a, word_t b);
    unique case (op)
      OpMin:   combine = ((size == SizeS32) ? $signed(b) < $signed(a) : b < a) ? b : a;
      OpMax:   combine = ((size == SizeS32) ? $signed(b) > $signed(a) : b > a) ? b : a;
      OpAnd:   combine = a & b;
      OpOr:    combine = a | b;
      OpXor:   combine = a ^ b;
      default: combine = a + b;
    endcase
  endfunction

  logic [1:0] last;
  logic       together;  // coalesced accesses of one word, whose operands are merged
  assign last     = last_word(size_i);
  assign together = coalesce_i && (last == 2'd0);

  /// Merged operands of some lanes for one word. For a store, the stored bits and their mask.
  typedef struct packed {
    word_t mask;
    word_t value;
  } part_t;

  /// Merges two parts. If two stores write the same byte, the earlier lane wins.
  function automatic part_t joined(op_e op, size_e size, part_t earlier, part_t later);
    joined = later;
    if (op == OpStore) begin
      joined.mask  = earlier.mask | later.mask;
      joined.value = (later.value & ~earlier.mask) | earlier.value;
    end else if (MergeRed) begin
      joined.value = combine(op, size, earlier.value, later.value);
    end
  endfunction

  function automatic void lanes_of_banks(output bank_lanes_t lanes, input lane_mask_t served,
                                         input bank_addrs_t bank_addrs);
    /*verilator no_inline_task*/
    bank_addr_t bank_addr;
    lanes = '0;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      bank_addr = bank_addrs[l];
      if (served[l]) lanes[bank_t'(bank_addr.bank)][l] = 1'b1;
    end
  endfunction

  /// Merges the operands of the lanes of each bank: a tree of depth log2(NumLanes).
  function automatic void gather(output words_t value, output words_t mask, input op_e op,
                                 input size_e size, input bank_lanes_t lanes, input lanes_t lane,
                                 input bank_addrs_t bank_addrs, input operands_t operands);
    /*verilator no_inline_task*/
    part_t      own  [NumLanes];
    part_t      part [NumLanes];
    lane_mask_t some;                   // parts that hold an operand
    word_t      full;
    logic [4:0] shift;
    bank_addr_t bank_addr;
    full = (size == SizeU8) ? 32'h0000_00ff : (size == SizeU16) ? 32'h0000_ffff : '1;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      bank_addr    = bank_addrs[l];
      shift        = (op == OpStore) ? {bank_addr.in_word[1:0], 3'b0} : '0;
      own[l].mask  = full << shift;
      own[l].value = (operands[word_index_t'(MaxWords * l)] & full) << shift;
    end
    for (int unsigned i = 0; i < NumBanks; i++) begin
      part[0] = own[lane[i]];
      if ((lanes[i] & (lanes[i] - lane_mask_t'(1))) != '0) begin
        for (int unsigned l = 0; l < NumLanes; l++) part[l] = own[l];
        some = lanes[i];
        for (int unsigned parts = NumLanes / 2; parts > 0; parts /= 2) begin
          for (int unsigned p = 0; p < parts; p++) begin
            part[p] = (some[2*p] && some[2*p+1]) ? joined(op, size, part[2*p], part[2*p+1])
                                                 : some[2*p] ? part[2*p] : part[2*p+1];
            some[p] = some[2*p] || some[2*p+1];
          end
        end
      end
      value[i] = part[0].value;
      mask[i]  = part[0].mask;
    end
  endfunction

  function automatic void count(output words_t number, input bank_lanes_t lanes);
    /*verilator no_inline_task*/
    for (int unsigned i = 0; i < NumBanks; i++) number[i] = word_t'($countones(lanes[i]));
  endfunction

  /// Returns the lanes that test the odd phase: bit 31 of operand B (spec 6.8).
  function automatic lane_mask_t odd(operands_t operands);
    /*verilator no_inline_task*/
    word_t word;
    odd = '0;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      word = operands[word_index_t'(MaxWords * l)];
      odd  = odd | (lane_mask_t'(word[31]) << l);
    end
  endfunction

  /// Copies each winner to all banks of its access. `wide` is the number of words of an access minus one.
  function automatic void spread(output bank_mask_t valid, output rows_t row, output lanes_t lane,
                                 input bank_mask_t taken, input rows_t first_row,
                                 input lanes_t first_lane, input logic [1:0] wide);
    /*verilator no_inline_task*/
    bank_t first;
    valid = '0;
    for (int unsigned i = 0; i < NumBanks; i++) begin
      first   = bank_t'(i) & ~bank_t'(wide);
      valid   = valid | (bank_mask_t'(taken[first]) << i);
      row[i]  = first_row[first];
      lane[i] = first_lane[first];
    end
  endfunction

  /// Reads one operand of each bank's winner.
  function automatic void fetch(output words_t words, input operands_t operands,
                                input lanes_t lane, input logic [1:0] wide);
    /*verilator no_inline_task*/
    word_index_t word;
    for (int unsigned i = 0; i < NumBanks; i++) begin
      word     = {lane[i], 2'(i) & wide};
      words[i] = operands[word];
    end
  endfunction

  always_comb begin
    automatic bank_lanes_t lanes;
    automatic words_t      value, mask;
    lanes        = '0;
    value        = '0;
    mask         = '0;
    bank_valid_o = taken_i;
    row_o        = row_i;
    lane_o       = lane_i;
    b_o          = '0;
    c_o          = '0;
    asked_o      = '0;
    if (taken_i != '0) begin
      if (last != 2'd0) spread(bank_valid_o, row_o, lane_o, taken_i, row_i, lane_i, last);
      if (op_i != OpLoad) begin
        if (together || arrives_once(op_i)) lanes_of_banks(lanes, served_i, bank_addr_i);
        if ((op_i == OpPopcInc) || arrives_once(op_i)) begin
          count(b_o, lanes);
        end else if (together && cluster_i) begin
          gather(value, mask, op_i, size_i, lanes, lane_i, bank_addr_i, operands_t'(cluster_b_q));
          b_o = value;
        end else if (together) begin
          gather(value, mask, op_i, size_i, lanes, lane_i, bank_addr_i, b_q[work_q]);
          b_o = value;
        end else if (cluster_i) fetch(b_o, operands_t'(cluster_b_q), lane_o, last);
        else                    fetch(b_o, b_q[work_q], lane_o, last);
      end
      if (op_i == OpStore) c_o = together ? mask : '1;
      if (asks_phase(op_i)) asked_o = odd(b_q[work_q]);
      if (reads_c(op_i)) begin
        if (cluster_i) fetch(c_o, operands_t'(cluster_c_q), lane_o, last);
        else           fetch(c_o, c_q[work_q], lane_o, last);
      end
    end
  end

  `ATOMS_ASSERT(OperandsAtIssueNotOverwritten, !enter_i || (tail_q != work_q) || (work_q == next_q))

  `ATOMS_COVER(EnterAndTakeTogether, enter_i && take_warp_i)
  `ATOMS_COVER(LastFreeEntryFilled, enter_i && (after(tail_q) == work_q))
  `ATOMS_COVER(TailWraps, enter_i && (tail_q == entry_t'(Entries - 1)))
  `ATOMS_COVER(StoresShareWord, (op_i == OpStore) && (size_i inside {SizeU8, SizeU16})
                                && ($countones(served_i) > $countones(taken_i)))
endmodule : atoms_operands
