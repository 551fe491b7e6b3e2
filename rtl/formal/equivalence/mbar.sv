/// Comparison of two instances of `atoms_mbar` at their relevant ports: objects and operands of the bank
/// pairs of the pass, words that the ALU writes, and the words written.
module mbar_alike
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input  op_e        op[2],
  input  bank_mask_t valid[2],
  input  words_t     old[2], b[2], word[2],
  input  bank_mask_t word_write[2],
  input  words_t     after[2],
  input  bank_mask_t write[2], completed[2],
  /// True if the relevant inputs of both are equal.
  output logic       given,
  /// True if the relevant outputs of both are equal, and only banks of the pass or of the ALU are written.
  output logic       driven
);
  localparam bank_mask_t FirstOfPair = {NumBanks/2{2'b01}};
  always_comb begin
    given  = (valid[0] == valid[1]) && (word_write[0] == word_write[1])
             && ((valid[0] & FirstOfPair) == ((valid[0] >> 1) & FirstOfPair));
    driven = (write[0] == write[1]) && (completed[0] == completed[1]) && ((write[0] & ~(valid[0] | word_write[0])) == '0);
    if (valid[0] != '0) given = given && (op[0] == op[1]) && is_mbarrier(op[0]);
    if (is_mbarrier(op[0]) || is_mbarrier(op[1])) given = given && (word_write[0] == '0);
    for (int unsigned i = 0; i < NumBanks; i++) begin
      if (valid[0][i])      given  = given && (old[0][i] == old[1][i]) && (b[0][i] == b[1][i]);
      if (word_write[0][i]) given  = given && (word[0][i] == word[1][i]);
      if (write[0][i])      driven = driven && (after[0][i] == after[1][i]);
    end
  end
endmodule : mbar_alike

/// A mutant of `atoms_mbar` is equivalent to the original.
module mbar_equivalence
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input op_e        op[2],
  input bank_mask_t valid[2],
  input words_t     old[2], b[2], word[2],
  input bank_mask_t word_write[2]
);
  words_t     after[2];
  bank_mask_t write[2], completed[2];
  logic       given, driven;
  atoms_mbar gold (.op_i(op[0]), .valid_i(valid[0]), .old_i(old[0]), .b_i(b[0]), .word_i(word[0]),
                   .word_write_i(word_write[0]), .new_o(after[0]), .write_o(write[0]), .completed_o(completed[0]));
  atoms_mbar_altered gate (.op_i(op[1]), .valid_i(valid[1]), .old_i(old[1]), .b_i(b[1]), .word_i(word[1]),
                           .word_write_i(word_write[1]), .new_o(after[1]), .write_o(write[1]), .completed_o(completed[1]));
  mbar_alike alike (.*);
  always_comb begin
    assume (given);
    assert (driven);
  end
endmodule : mbar_equivalence
