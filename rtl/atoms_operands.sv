`include "atoms_assert.svh"

/// Operand buffer and crossbar: keeps the lanes' operands while their request waits and is worked
/// off, brings those of one pass to its banks, and combines those of joined lanes.
/// Mirror: `model/src/operands.rs`.
///
/// Operands are written once, when their request enters, and read in place: moving them along with
/// the request would cost two more copies of 8 Kbit.
module atoms_operands
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  /// A warp request enters the queue, with these operands.
  input  logic       enter_i,
  input  wide_t [NumLanes-1:0] enter_b_i,
  input  wide_t [NumLanes-1:0] enter_c_i,
  /// The oldest request of the warp queue goes to issue; the one there before has left.
  input  logic       take_warp_i,
  /// A cluster request goes to issue, with these operands for lane 0.
  input  logic       take_cluster_i,
  input  wide_t      cluster_b_i,
  input  wide_t      cluster_c_i,

  /// The request at issue came through the cluster port.
  input  logic       cluster_i,
  input  op_e        op_i,
  input  size_e      size_i,
  /// Lanes of one address join their winner.
  input  logic       join_i,
  /// The pass, as the grouper made it.
  input  lane_mask_t served_i,
  input  bank_mask_t taken_i,
  input  lane_t      lane_i [NumBanks],
  input  row_t       row_i  [NumBanks],
  /// The request's lanes.
  input  bank_t      lane_bank_i [NumLanes],
  input  logic [1:0] lane_byte_i [NumLanes],
  /// Banks the pass works on: every word of every access.
  output bank_mask_t             bank_valid_o,
  /// Row, winner and operands per bank; zero where the pass does nothing. For a store, C is the
  /// mask of the bits stored.
  output row_t    [NumBanks-1:0] row_o,
  output lane_t   [NumBanks-1:0] lane_o,
  output word_t   [NumBanks-1:0] b_o,
  output word_t   [NumBanks-1:0] c_o
);
  /// Requests whose operands are kept: those that wait, and the one at issue.
  localparam int unsigned Entries = QueueDepth + 1;
  typedef logic [$clog2(Entries)-1:0]           entry_t;
  /// Word `w` of lane `l` is number `MaxWords * l + w`.
  typedef logic [$clog2(MaxWords*NumLanes)-1:0] word_index_t;

  function automatic entry_t after(entry_t entry);
    after = (entry == entry_t'(Entries - 1)) ? '0 : entry + entry_t'(1);
  endfunction

  word_t [MaxWords*NumLanes-1:0] b_q [Entries];
  word_t [MaxWords*NumLanes-1:0] c_q [Entries];
  entry_t                        tail_q, next_q, work_q;
  wide_t                         cluster_b_q, cluster_c_q;

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
      if (enter_i) tail_q <= after(tail_q);
      if (take_warp_i) begin
        work_q <= next_q;
        next_q <= after(next_q);
      end
    end
  end

  /// Two operands of one address as one (MergeRed).
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
  assign last = last_word(size_i);

  // What the lanes of one bank come to together; used by joined accesses of one word.
  word_t      sum   [NumBanks];
  word_t      mask  [NumBanks];
  always_comb begin
    automatic bank_mask_t seen;
    automatic word_t      full;
    automatic bank_t      bank;
    automatic logic [4:0] shift;
    automatic word_t      b;
    b     = '0;
    bank  = '0;
    shift = '0;
    sum  = '{default: '0};
    mask = '{default: '0};
    seen = '0;
    full = (size_i == SizeU8) ? 32'h0000_00ff : (size_i == SizeU16) ? 32'h0000_ffff : '1;
    if (join_i && (op_i != OpLoad) && (last == 2'd0)) begin
      for (int unsigned l = 0; l < NumLanes; l++) begin
        if (served_i[l]) begin
          bank  = lane_bank_i[l];
          b     = cluster_i ? cluster_b_q[0] : b_q[work_q][MaxWords*l];
          shift = {lane_byte_i[l], 3'b0};
          if (op_i == OpStore) begin
            mask[bank] = mask[bank] | (full << shift);
            sum[bank]  = (sum[bank] & ~(full << shift)) | ((b & full) << shift);
          end else if (op_i == OpPopcInc) begin
            sum[bank] = sum[bank] + word_t'(1);
          end else begin
            sum[bank]  = seen[bank] ? combine(op_i, size_i, sum[bank], b) : b;
            seen[bank] = 1'b1;
          end
        end
      end
    end
  end

  always_comb begin
    automatic bank_t       first;
    automatic word_index_t word;
    first        = '0;
    word         = '0;
    bank_valid_o = '0;
    row_o        = '0;
    lane_o       = '0;
    b_o          = '0;
    c_o          = '0;
    for (int unsigned b = 0; b < NumBanks; b++) begin
      first = bank_t'(b) & ~bank_t'(last);
      if (taken_i[first]) begin
        word            = {lane_i[first], 2'(b) & last};
        bank_valid_o[b] = 1'b1;
        row_o[b]        = row_i[first];
        lane_o[b]       = lane_i[first];
        if (join_i && (last == 2'd0)) b_o[b] = sum[b];
        else b_o[b] = cluster_i ? cluster_b_q[word[1:0]] : b_q[work_q][word];
        if (op_i == OpStore) c_o[b] = (last == 2'd0) ? mask[b] : '1;
        else c_o[b] = cluster_i ? cluster_c_q[word[1:0]] : c_q[work_q][word];
      end
    end
  end
  `ATOMS_ASSERT(OperandsEnterBehindTheWork, !enter_i || (tail_q != work_q) || (work_q == next_q))
endmodule : atoms_operands
