/// Combinational read-modify-write kernel of one bank. Mirror: `model/src/alu.rs`, same arm order.
///
/// Holds no state. `atoms_pipe` hands it the youngest value of the word, and keeps every other
/// writer off the word until `new_o` is written. Wider operations only move and compare, so a word
/// each is enough: `hit_i` joins the comparisons of their words. The mbarrier operations, which
/// work on pairs, get a kernel of their own beside this one.
module atoms_alu
  import atoms_pkg::*;
(
  input  op_e   op_i,
  /// MIN and MAX order as two's complement.
  input  logic  signed_i,
  /// Word read from the bank.
  input  word_t old_i,
  /// Operand B: addend, bound or new value; what the lanes come to where they are joined.
  input  word_t b_i,
  /// Operand C: the new value of CAS and CAST; the bits stored by a store.
  input  word_t c_i,
  /// Every word of the access equals its operand B.
  input  logic  hit_i,
  /// Word to write. Equal to `old_i` when `write_o` is low.
  output word_t new_o,
  /// The word must be written.
  output logic  write_o
);
  always_comb begin
    new_o   = old_i;
    write_o = 1'b1;
    unique case (op_i)
      OpAdd:     new_o = old_i + b_i;
      OpMin:     new_o = (signed_i ? $signed(b_i) < $signed(old_i) : b_i < old_i) ? b_i : old_i;
      OpMax:     new_o = (signed_i ? $signed(b_i) > $signed(old_i) : b_i > old_i) ? b_i : old_i;
      OpInc:     new_o = (old_i >= b_i) ? '0 : old_i + word_t'(1);
      OpDec:     new_o = ((old_i == '0) || (old_i > b_i)) ? b_i : old_i - word_t'(1);
      OpAnd:     new_o = old_i & b_i;
      OpOr:      new_o = old_i | b_i;
      OpXor:     new_o = old_i ^ b_i;
      OpExch:    new_o = b_i;
      OpCas, OpCast, OpCastSpin: begin
        write_o = hit_i;
        new_o   = hit_i ? c_i : old_i;
      end
      OpPopcInc: new_o = old_i + b_i;
      OpLoad:    write_o = 1'b0;
      OpStore:   new_o = (old_i & ~c_i) | (b_i & c_i);
      default:   write_o = 1'b0;  // never issued (spec 3.3)
    endcase
  end
endmodule : atoms_alu
