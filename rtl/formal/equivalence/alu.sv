/// Comparison of two instances of `atoms_alu` at their relevant ports: the operation, and the words written.
/// Per bank of the pass: the old word, operand B except for loads, operand C for operations that store it,
/// and `hit` for comparisons.
module alu_alike
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input  op_e        op[2],
  input  logic       is_signed[2],
  input  bank_mask_t valid[2],
  input  words_t     old[2], b[2], c[2],
  input  bank_mask_t hit[2],
  input  words_t     after[2],
  input  bank_mask_t write[2],
  /// True if the relevant inputs of both are equal.
  output logic       given,
  /// True if the relevant outputs of both are equal, and only banks of the pass are written.
  output logic       driven
);
  always_comb begin
    given  = valid[0] == valid[1];
    driven = (write[0] == write[1]) && ((write[0] & ~valid[0]) == '0);
    if (valid[0] != '0) given = given && (op[0] == op[1]) && (is_signed[0] == is_signed[1]);
    for (int unsigned i = 0; i < NumBanks; i++) begin
      if (valid[0][i]) begin
        given = given && (old[0][i] == old[1][i]);
        if (op[0] != OpLoad)                          given = given && (b[0][i] == b[1][i]);
        if (compares(op[0]) || (op[0] == OpStore))    given = given && (c[0][i] == c[1][i]);
        if (compares(op[0]))                          given = given && (hit[0][i] == hit[1][i]);
      end
      if (write[0][i]) driven = driven && (after[0][i] == after[1][i]);
    end
  end
endmodule : alu_alike

/// A mutant of `atoms_alu` is equivalent to the original.
module alu_equivalence
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input op_e        op[2],
  input logic       is_signed[2],
  input bank_mask_t valid[2],
  input words_t     old[2], b[2], c[2],
  input bank_mask_t hit[2]
);
  words_t     after[2];
  bank_mask_t write[2];
  logic       given, driven;
  atoms_alu gold (.op_i(op[0]), .signed_i(is_signed[0]), .valid_i(valid[0]), .old_i(old[0]), .b_i(b[0]), .c_i(c[0]),
                  .hit_i(hit[0]), .new_o(after[0]), .write_o(write[0]));
  atoms_alu_altered gate (.op_i(op[1]), .signed_i(is_signed[1]), .valid_i(valid[1]), .old_i(old[1]), .b_i(b[1]), .c_i(c[1]),
                          .hit_i(hit[1]), .new_o(after[1]), .write_o(write[1]));
  alu_alike alike (.*);
  always_comb begin
    assume (given);
    assert (driven);
  end
endmodule : alu_equivalence
