/// Brings the lanes' operands to the banks of one pass, and combines those of joined lanes.
/// Combinational. Mirror: `model/src/operands.rs`.
module atoms_operands
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
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
  /// Operands by lane and word: word `w` of lane `l` is entry `MaxWords * l + w`.
  input  word_t      b_i [MaxWords*NumLanes],
  input  word_t      c_i [MaxWords*NumLanes],
  /// Banks the pass works on: every word of every access.
  output bank_mask_t             bank_valid_o,
  /// Row, winner and operands per bank; zero where the pass does nothing. For a store, C is the
  /// mask of the bits stored.
  output row_t    [NumBanks-1:0] row_o,
  output lane_t   [NumBanks-1:0] lane_o,
  output word_t   [NumBanks-1:0] b_o,
  output word_t   [NumBanks-1:0] c_o
);
  typedef logic [$clog2(MaxWords*NumLanes)-1:0] word_index_t;

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
          shift = {lane_byte_i[l], 3'b0};
          if (op_i == OpStore) begin
            mask[bank] = mask[bank] | (full << shift);
            sum[bank]  = (sum[bank] & ~(full << shift)) | ((b_i[MaxWords*l] & full) << shift);
          end else if (op_i == OpPopcInc) begin
            sum[bank] = sum[bank] + word_t'(1);
          end else begin
            sum[bank] = seen[bank] ? combine(op_i, size_i, sum[bank], b_i[MaxWords*l])
                                   : b_i[MaxWords*l];
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
        b_o[b]          = (join_i && (last == 2'd0)) ? sum[b] : b_i[word];
        c_o[b]          = (op_i != OpStore) ? c_i[word] : (last == 2'd0) ? mask[b] : '1;
      end
    end
  end
endmodule : atoms_operands
