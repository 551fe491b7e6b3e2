`include "atoms_assert.svh"

/// Combinational read-modify-write kernels, one per bank, all for the operation of one pass.
/// Mirror: `model/src/alu.rs`, same arm order.
///
/// The module has no state. `atoms_pipe` supplies the youngest value of each word, and lets no other pass
/// write the word until `new_o` is written. Wider operations only move and compare, so that one kernel per
/// word is enough: `hit_i` combines the comparisons of all words. The mbarrier operations work on pairs of
/// words, and have their own kernel.
///
/// The case on the operation is outside the loop over the banks, so that a simulator evaluates it once. The
/// hardware is the same either way.
module atoms_alu
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Operation of the pass (spec 3), on plain memory.
  input  op_e                   op_i,
  /// 1 if MIN and MAX compare as two's complement.
  input  logic                  signed_i,
  /// Banks of the pass. For all other banks `new_o` is meaningless and `write_o` is 0.
  input  bank_mask_t            valid_i,
  /// Word read, per bank; the youngest value.
  input  words_t                old_i,
  /// Operand B: addend, bound or new value. For coalesced lanes, their merged operand.
  input  words_t                b_i,
  /// Operand C: the new value of CAS and CAST. For a store, the mask of the bits stored.
  input  words_t                c_i,
  /// 1 if every word of the access equals the same word of operand B.
  input  bank_mask_t            hit_i,
  /// Word to write, per bank.
  output words_t                new_o,
  /// Banks that must be written; a subset of `valid_i`.
  output bank_mask_t            write_o
);
  function automatic void work(output words_t result, input op_e op, input logic is_signed,
                               input words_t old, input words_t b, input words_t c);
    /*verilator no_inline_task*/
    result = old;
    unique case (op)
      OpAdd, OpPopcInc:
        for (int unsigned i = 0; i < NumBanks; i++) result[i] = old[i] + b[i];
      OpMin:
        if (is_signed) begin
          for (int unsigned i = 0; i < NumBanks; i++)
            result[i] = ($signed(b[i]) < $signed(old[i])) ? b[i] : old[i];
        end else begin
          for (int unsigned i = 0; i < NumBanks; i++)
            result[i] = (b[i] < old[i]) ? b[i] : old[i];
        end
      OpMax:
        if (is_signed) begin
          for (int unsigned i = 0; i < NumBanks; i++)
            result[i] = ($signed(b[i]) > $signed(old[i])) ? b[i] : old[i];
        end else begin
          for (int unsigned i = 0; i < NumBanks; i++)
            result[i] = (b[i] > old[i]) ? b[i] : old[i];
        end
      OpInc:
        for (int unsigned i = 0; i < NumBanks; i++)
          result[i] = (old[i] >= b[i]) ? '0 : old[i] + word_t'(1);
      OpDec:
        for (int unsigned i = 0; i < NumBanks; i++)
          result[i] = ((old[i] == '0) || (old[i] > b[i])) ? b[i] : old[i] - word_t'(1);
      OpAnd:
        for (int unsigned i = 0; i < NumBanks; i++) result[i] = old[i] & b[i];
      OpOr:
        for (int unsigned i = 0; i < NumBanks; i++) result[i] = old[i] | b[i];
      OpXor:
        for (int unsigned i = 0; i < NumBanks; i++) result[i] = old[i] ^ b[i];
      OpExch: result = b;
      OpCas, OpCast, OpCastSpin: result = c;
      OpStore:
        for (int unsigned i = 0; i < NumBanks; i++)
          result[i] = (old[i] & ~c[i]) | (b[i] & c[i]);
      default: ;  // loads; no other operation gets here (spec 3.3)
    endcase
  endfunction

  always_comb begin
    new_o   = old_i;
    write_o = '0;
    if ((valid_i != '0) && (op_i != OpLoad)) begin
      work(new_o, op_i, signed_i, old_i, b_i, c_i);
      write_o = compares(op_i) ? valid_i & hit_i : valid_i;
    end
  end

  `ATOMS_ASSERT_COMB(AluWritesOnlyPassBanks, (write_o & ~valid_i) == '0)
endmodule : atoms_alu
