/// Result of each operation on one word (spec 3). The specification is written independently of `atoms_alu`:
/// sums are one bit wider, comparisons use the borrow of a difference, and INC and DEC test if their result
/// is in range.
///
/// Limits: the combined comparison of wider accesses (`hit_i`) and the routing of operands to banks are
/// proved elsewhere.
module alu_proof
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input op_e        op,
  input logic       is_signed,
  input bank_mask_t valid, hit,
  input words_t     old, b, c,
  /// Any bank of the pass.
  input bank_t      at
);
  words_t     after;
  bank_mask_t write;
  atoms_alu dut (.op_i(op), .signed_i(is_signed), .valid_i(valid), .old_i(old), .b_i(b), .c_i(c), .hit_i(hit),
                 .new_o(after), .write_o(write));

  word_t       m, rb, rc;
  logic [32:0] difference;  // M - Rb, with one more bit for the borrow
  logic        less;        // M < Rb
  assign m          = old[at];
  assign rb         = b[at];
  assign rc         = c[at];
  assign difference = {is_signed && m[31], m} - {is_signed && rb[31], rb};
  assign less       = difference[32];

  logic  known, compared;
  word_t expected;
  always_comb begin
    known    = 1'b1;
    compared = 1'b0;
    expected = m;
    case (op)
      OpAdd, OpPopcInc: expected = word_t'(33'(m) + 33'(rb));
      OpMin:            expected = less ? m : rb;
      OpMax:            expected = less ? rb : m;
      OpInc:            expected = (33'(m) + 33'd1 <= 33'(rb)) ? m + 1 : '0;
      OpDec:            expected = (m - 32'd1 < rb) ? m - 1 : rb;
      OpAnd:            expected = ~(~m | ~rb);
      OpOr:             expected = ~(~m & ~rb);
      OpXor:            expected = (m | rb) - (m & rb);
      OpExch:           expected = rb;
      OpCas, OpCast, OpCastSpin: begin
        compared = 1'b1;
        expected = rc;
      end
      OpStore:          for (int i = 0; i < 32; i++) expected[i] = rc[i] ? rb[i] : m[i];
      OpLoad:           ;
      default:          known = 1'b0;  // an mbarrier operation, or an undefined code
    endcase
  end

  always_comb begin
    if (known) begin
      WriteEnableMatchesSpec: assert (write[at] == (valid[at] && (op != OpLoad) && (!compared || hit[at])));
      if (write[at]) ResultMatchesSpec: assert (after[at] == expected);
    end
    if (!valid[at]) InvalidBankNotWritten: assert (!write[at]);
  end
endmodule : alu_proof
