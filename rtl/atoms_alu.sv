/// Combinational read-modify-write kernels, one a bank, all on the operation of one pass.
/// Mirror: `model/src/alu.rs`, same arm order.
///
/// Holds no state. `atoms_pipe` hands it the youngest value of each word, and keeps every other
/// writer off the word until `new_o` is written. Wider operations only move and compare, so a word
/// each is enough: `hit_i` joins the comparisons of their words. The mbarrier operations, which
/// work on pairs of words, get a kernel of their own beside this one.
///
/// The choice of the operation stands outside the loop over the banks, so that a simulator makes it
/// once; hardware is the same either way.
module atoms_alu
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input  op_e                   op_i,
  /// MIN and MAX order as two's complement.
  input  logic                  signed_i,
  /// Banks of the pass; the others keep quiet, and `new_o` means nothing there.
  input  bank_mask_t            valid_i,
  /// Word read from the bank.
  input  word_t [NumBanks-1:0]  old_i,
  /// Operand B: addend, bound or new value; what the lanes come to where they are joined.
  input  word_t [NumBanks-1:0]  b_i,
  /// Operand C: the new value of CAS and CAST; the bits stored by a store.
  input  word_t [NumBanks-1:0]  c_i,
  /// Every word of the access equals its operand B.
  input  bank_mask_t            hit_i,
  /// Word to write.
  output word_t [NumBanks-1:0]  new_o,
  /// Banks that must be written.
  output bank_mask_t            write_o
);
  always_comb begin
    new_o   = old_i;
    write_o = valid_i;
    if (valid_i != '0) begin
      unique case (op_i)
        OpAdd, OpPopcInc:
          for (int unsigned b = 0; b < NumBanks; b++) new_o[b] = old_i[b] + b_i[b];
        OpMin:
          if (signed_i) begin
            for (int unsigned b = 0; b < NumBanks; b++)
              new_o[b] = ($signed(b_i[b]) < $signed(old_i[b])) ? b_i[b] : old_i[b];
          end else begin
            for (int unsigned b = 0; b < NumBanks; b++)
              new_o[b] = (b_i[b] < old_i[b]) ? b_i[b] : old_i[b];
          end
        OpMax:
          if (signed_i) begin
            for (int unsigned b = 0; b < NumBanks; b++)
              new_o[b] = ($signed(b_i[b]) > $signed(old_i[b])) ? b_i[b] : old_i[b];
          end else begin
            for (int unsigned b = 0; b < NumBanks; b++)
              new_o[b] = (b_i[b] > old_i[b]) ? b_i[b] : old_i[b];
          end
        OpInc:
          for (int unsigned b = 0; b < NumBanks; b++)
            new_o[b] = (old_i[b] >= b_i[b]) ? '0 : old_i[b] + word_t'(1);
        OpDec:
          for (int unsigned b = 0; b < NumBanks; b++)
            new_o[b] = ((old_i[b] == '0) || (old_i[b] > b_i[b])) ? b_i[b] : old_i[b] - word_t'(1);
        OpAnd:  new_o = old_i & b_i;
        OpOr:   new_o = old_i | b_i;
        OpXor:  new_o = old_i ^ b_i;
        OpExch: new_o = b_i;
        OpCas, OpCast, OpCastSpin: begin
          new_o   = c_i;
          write_o = valid_i & hit_i;
        end
        OpLoad:  write_o = '0;
        OpStore: new_o = (old_i & ~c_i) | (b_i & c_i);
        default: write_o = '0;  // never issued (spec 3.3)
      endcase
    end
  end
endmodule : atoms_alu
