`include "atoms_assert.svh"

/// Combinational mbarrier kernels, one per pair of banks, all for the operation of one pass (spec 6).
/// Mirror: `model/src/mbarrier.rs`.
///
/// The module has no state. `atoms_pipe` supplies the youngest value of each word, as for `atoms_alu`. The
/// operation that performs the last arrival or transaction therefore completes the phase, whichever port it
/// comes from (spec 6.4). Counts wrap at the width of their fields where PTX leaves them undefined (spec
/// 6.9).
module atoms_mbar
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Operation of the pass (spec 6).
  input  op_e        op_i,
  /// Banks of the pass, in pairs; 0 if the operation is not an mbarrier operation.
  input  bank_mask_t valid_i,
  /// Word read, per bank; the youngest value.
  input  words_t     old_i,
  /// Operand B. For operations without an operand, the number of lanes that arrive together.
  input  words_t     b_i,
  /// Words from `atoms_alu`, passed on if the operation is not an mbarrier operation.
  input  words_t     word_i,
  /// Banks that `atoms_alu` writes.
  input  bank_mask_t word_write_i,
  /// Word to write, per bank.
  output words_t     new_o,
  /// Banks that must be written.
  output bank_mask_t write_o,
  /// First banks of the objects that complete a phase in this pass.
  output bank_mask_t completed_o
);
  /// Transactions, arrivals and dropped expected arrivals of one lane.
  typedef struct packed {
    logic [20:0] tx;
    logic [19:0] arrive;
    logic [19:0] drop;
  } change_t;

  function automatic change_t change(op_e op, logic [20:0] b);
    change = '{default: '0};
    unique case (op)
      OpMbarExpectTx:   change.tx = b;
      OpMbarCompleteTx: change.tx = -b;
      OpMbarArrive, OpMbarArriveCount, OpMbarArriveNoComplete: change.arrive = 20'(b);
      OpMbarArriveExpectTx: begin
        change.tx     = b;
        change.arrive = 20'd1;
      end
      OpMbarArriveDrop, OpMbarArriveDropCount, OpMbarArriveDropNoComplete: begin
        change.arrive = 20'(b);
        change.drop   = 20'(b);
      end
      OpMbarArriveDropExpectTx: begin
        change.tx     = b;
        change.arrive = 20'd1;
        change.drop   = 20'd1;
      end
      default: ;
    endcase
  endfunction

  /// Returns the object after a change. Bit 64 is 1 if the change completed the phase. Counts are negated, so
  /// that arrivals are added and expected transactions subtracted.
  function automatic logic [64:0] apply(mbar_t object, change_t by);
    mbar_t after;
    logic  completed;
    after          = object;
    after.tx       = object.tx - by.tx;
    after.expected = object.expected + by.drop;
    after.pending  = object.pending + by.arrive;
    completed      = (after.pending == '0) && (after.tx == '0);
    if (completed) begin
      after.phase   = !object.phase;
      after.pending = after.expected;
    end
    apply = {completed, after};
  endfunction

  /// Performs one arrival at an object of two words (spec 6.2.1). The high word counts up, and its carry
  /// flips the phase in bit 31.
  function automatic logic [64:0] arrive_sm80(word_t low, word_t high);
    word_t next;
    logic  completed;
    next      = high + 32'd1;
    completed = next[31] != high[31];
    if (completed) next[30:0] = 31'(low + 32'h4000_0000);
    arrive_sm80 = {completed, next, low};
  endfunction

  function automatic void work(output words_t result, output bank_mask_t completed, input op_e op,
                               input bank_mask_t valid, input words_t old, input words_t b);
    /*verilator no_inline_task*/
    logic [64:0] after;
    logic        together;   // lanes that arrive together do so in one step
    result    = old;
    completed = '0;
    after     = '0;
    together  = MergeArrive && (op == OpMbarArrive);
    for (int unsigned i = 0; i < NumBanks; i += 2) begin
      if (valid[i]) begin
        unique case (op)
          OpMbarInit:       after = {1'b0, b[i+1], b[i]};
          OpMbarArriveSm80: after = arrive_sm80(old[i], old[i+1]);
          default:          after = apply({old[i+1], old[i]}, change(op, 21'(b[i])));
        endcase
        if (together) after = arrive_each({old[i+1], old[i]}, 6'(b[i]));
        result[i]   = after[31:0];
        result[i+1] = after[63:32];
        completed   = completed | (bank_mask_t'(after[64]) << i);
      end
    end
  endfunction

  always_comb begin
    new_o       = word_i;
    write_o     = word_write_i;
    completed_o = '0;
    if ((valid_i != '0) && is_mbarrier(op_i) && !only_reads(op_i)) begin
      work(new_o, completed_o, op_i, valid_i, old_i, b_i);
      write_o = valid_i;
    end
  end

  `ATOMS_ASSERT_COMB(CompletedObjectsAreWritten,
                     (completed_o & ~(write_o & {NumBanks/2{2'b01}})) == '0)
endmodule : atoms_mbar
