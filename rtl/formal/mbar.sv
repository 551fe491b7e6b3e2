/// Result of each operation on an mbarrier object (spec 6.2 to 6.4), and on the two-word object of sm_80
/// (spec 6.2.1). The specification uses positive counts, not the negated ones of the RTL.
///
/// For an operation on plain memory, the words and banks of `atoms_alu` pass through unmodified.
///
/// Limits: `arrive_each` proves simultaneous arrivals (MergeArrive). The routing of lanes to objects is
/// proved elsewhere. Cases that PTX leaves undefined (spec 6.9) wrap here too: counts are taken modulo the
/// width of their field, and a noComplete arrive may complete the phase.
module mbar_proof
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import spec_pkg::*;
(
  input op_e        op,
  input bank_mask_t valid,
  input words_t     old, b,
  /// Words from `atoms_alu`, and the banks that it writes.
  input words_t     word,
  input bank_mask_t word_write,
  /// Any pair of banks.
  input bank_t      pair
);
  words_t     after;
  bank_mask_t write, completed;
  atoms_mbar dut (.op_i(op), .valid_i(valid), .old_i(old), .b_i(b), .word_i(word), .word_write_i(word_write),
                  .new_o(after), .write_o(write), .completed_o(completed));

  bank_t low, high;
  assign low  = {pair[BankBits-1:1], 1'b0};
  assign high = {pair[BankBits-1:1], 1'b1};

  logic [63:0] was, is, expected_word;
  logic [19:0] pending, expected, count;
  logic [20:0] tx, bytes;
  logic [30:0] pending80, expected80;
  logic        phase, complete, known;
  assign was   = {old[high], old[low]};
  assign is    = {after[high], after[low]};
  assign count = b[low][19:0];
  assign bytes = b[low][20:0];

  always_comb begin
    pending    = 20'd0 - was[62:43];
    tx         = 21'd0 - was[41:21];
    expected   = 20'd0 - was[20:1];
    phase      = was[63];
    pending80  = 31'd0 - was[62:32];
    expected80 = 31'h4000_0000 - was[30:0];
    complete   = 1'b0;
    known      = 1'b1;
    // The steps are in the order of spec 6.3.
    case (op)
      OpMbarExpectTx, OpMbarArriveExpectTx, OpMbarArriveDropExpectTx: tx = tx + bytes;
      OpMbarCompleteTx: tx = tx - bytes;
      default: ;
    endcase
    case (op)
      OpMbarArriveDrop, OpMbarArriveDropCount, OpMbarArriveDropNoComplete: expected = expected - count;
      OpMbarArriveDropExpectTx: expected = expected - 1;
      default: ;
    endcase
    case (op)
      OpMbarArrive, OpMbarArriveCount, OpMbarArriveNoComplete,
      OpMbarArriveDrop, OpMbarArriveDropCount, OpMbarArriveDropNoComplete: pending = pending - count;
      OpMbarArriveExpectTx, OpMbarArriveDropExpectTx: pending = pending - 1;
      OpMbarArriveSm80: pending80 = pending80 - 1;
      default: ;
    endcase
    // Completion of the phase (spec 6.4).
    case (op)
      OpMbarExpectTx, OpMbarCompleteTx, OpMbarArrive, OpMbarArriveCount, OpMbarArriveNoComplete, OpMbarArriveExpectTx,
      OpMbarArriveDrop, OpMbarArriveDropCount, OpMbarArriveDropNoComplete, OpMbarArriveDropExpectTx:
        complete = (pending == 0) && (tx == 0);
      OpMbarArriveSm80: complete = pending80 == 0;
      OpMbarInit: ;
      default: known = 1'b0;
    endcase
    if (complete) begin
      phase     = !phase;
      pending   = expected;
      pending80 = expected80;
    end
    expected_word = {phase, 20'd0 - pending, was[42], 21'd0 - tx, 20'd0 - expected, was[0]};
    if (MergeArrive && (op == OpMbarArrive)) {complete, expected_word} = arrive_each(was, 6'(count));
    if (op == OpMbarInit)       expected_word = {b[high], b[low]};
    if (op == OpMbarArriveSm80) expected_word = {phase, 31'd0 - pending80, was[31:0]};
  end

  always_comb begin
    if (on_object(op)) assume (word_write == '0);
    if (!on_object(op)) WordKernelResultPassesThrough: assert ((after == word) && (write == word_write) && (completed == '0));
    CompletionAtFirstBankOnly: assert (!completed[high]);
    if (known && valid[low] && valid[high]) begin
      BothWordsAreWritten:   assert (write[low] && write[high]);
      ObjectMatchesSpec:     assert (is == expected_word);
      CompletionMatchesSpec: assert (completed[low] == complete);
    end
    if (on_object(op) && !valid[low]) InvalidPairNotWritten: assert (!write[low] && !completed[low]);
    if (op inside {OpMbarInval, OpMbarTestWait, OpMbarTryWait}) QueryWritesNothing: assert (write == '0 && completed == '0);
  end
endmodule : mbar_proof
