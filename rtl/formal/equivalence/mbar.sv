/// What counts of the ports of `atoms_mbar`, at two of them: of the pairs of banks it works on, objects and operands; words from the
/// ALU that are to be written; words that are written.
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
  /// They are given the same.
  output logic       given,
  /// They drive the same, and write no other bank.
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

/// An altered `atoms_mbar` cannot be told from the RTL's.
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
