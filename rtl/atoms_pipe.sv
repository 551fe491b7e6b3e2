`include "atoms_assert.svh"

/// Read-modify-write pipeline: reads the banks, applies the kernels, writes back.
/// Mirror: `model/src/pipe.rs`.
///
/// Stage 0 reads the banks; stage RmwLatency applies the kernels and writes. A word that an older pass has
/// written since the read is forwarded. Without Forwarding, `hazard_o` holds the younger pass back until the
/// word can be read.
///
/// Passes do not move between registers. Each pass stays in one entry of a ring, and the index of stage 0
/// advances. A stage thus costs storage but no copying. After the last stage, the ring keeps the passes whose
/// writes may have to be forwarded.
module atoms_pipe
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic       clk_i,
  /// Synchronous reset, active low. Empties all stages.
  input  logic       rst_ni,
  /// The pipeline moves at the next clock edge; 0 freezes every stage.
  input  logic       advance_i,
  /// Pass at issue; enters the pipeline if valid.
  input  pass_t                          pass_i,
  /// Banks that the pass at issue uses.
  input  bank_mask_t                     bank_valid_i,
  /// Row per bank in `bank_valid_i`.
  input  rows_t                          row_i,
  /// Operand B per bank in `bank_valid_i`.
  input  words_t                         b_i,
  /// Operand C per bank in `bank_valid_i`.
  input  words_t                         c_i,
  /// Bank address at which each lane's access begins, for the pass at issue.
  input  bank_addrs_t                    bank_addr_i,
  /// The pass at issue needs a word that an older pass has yet to write. Always 0 with Forwarding.
  output logic       hazard_o,
  /// Banks to read. The caller must gate these with `advance_i`.
  output bank_mask_t                     re_o,
  /// Row to read, per bank in `re_o`.
  output rows_t                          raddr_o,
  /// Words read at the last clock edge at which the pipeline moved.
  input  words_t                         rdata_i,
  /// Banks to write. The caller must gate these with `advance_i`.
  output bank_mask_t                     we_o,
  /// Row of the pass in the last stage, per bank that it uses.
  output rows_t                          waddr_o,
  /// Word to write, per bank in `we_o`.
  output words_t                         wdata_o,
  /// Pass in the last stage; `pass_o.valid` is 0 if the stage is empty.
  output pass_t                          pass_o,
  /// Word before the operation, per bank of the pass in the last stage.
  output words_t                         old_o,
  /// Banks of accesses whose comparison succeeded in every word.
  output bank_mask_t                     hit_o,
  /// First banks of the mbarrier objects that complete a phase in the last stage.
  output bank_mask_t                     completed_o,
  /// 1 if the pass in the last stage is an MBAR.TRY_WAIT whose lanes all test one object.
  output logic                           one_object_o,
  /// First bank of the tested object; meaningful with `one_object_o`.
  output bank_t                          object_bank_o,
  /// Row of the tested object; meaningful with `one_object_o`.
  output row_t                           object_row_o,
  /// Timeout in cycles as the request gave it; 0 means TryWaitLimit.
  output word_t                          object_limit_o,
  /// Bank address at which each lane's access begins, for the pass in the last stage.
  output bank_addrs_t                    bank_addr_o,
  /// Stages that hold a pass. Bit 0 reads the banks, bit RmwLatency writes them.
  output logic       [RmwLatency:0]      valid_o
);
  localparam int unsigned Last = RmwLatency;
  /// Entries of the ring: one per stage, and one per older pass whose writes are forwarded.
  localparam int unsigned Entries = Forwarding ? 2 * Last + 1 : Last + 1;
  typedef logic [$clog2(Entries)-1:0] entry_t;

  /// Returns the entry that was filled `back` cycles before `entry`.
  function automatic entry_t older(entry_t entry, int unsigned back);
    older = (32'(entry) >= back) ? entry - entry_t'(back)
                                 : entry_t'(32'(entry) + Entries - back);
  endfunction

  logic       [Last:0]            valid_q;   // one bit per stage
  entry_t                         stage0_q;  // entry of stage 0
  pass_t                          pass_q      [Entries];
  bank_mask_t                     bank_q      [Entries];
  rows_t                          row_q       [Entries];
  words_t                         b_q         [Entries];
  words_t                         c_q         [Entries];
  bank_addrs_t                    bank_addr_q [Entries];

  entry_t next0, last;  // entry of the pass that enters, and entry of the last stage
  logic   last_valid;
  assign next0      = (stage0_q == entry_t'(Entries - 1)) ? '0 : stage0_q + entry_t'(1);
  assign last       = older(stage0_q, Last);
  assign last_valid = valid_q[Last];

  logic [Last:0] valid_d;
  assign valid_d = {valid_q[Last-1:0], pass_i.valid};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q  <= '0;
      stage0_q <= '0;
    end else if (advance_i) begin
      valid_q  <= valid_d;
      stage0_q <= next0;
    end
    if (advance_i && pass_i.valid) begin
      pass_q[next0]      <= pass_i;
      bank_q[next0]      <= bank_valid_i;
      row_q[next0]       <= row_i;
      b_q[next0]         <= b_i;
      c_q[next0]         <= c_i;
      bank_addr_q[next0] <= bank_addr_i;
    end
  end

  assign valid_o = valid_q;

  assign re_o    = valid_q[0] ? bank_q[stage0_q] : '0;
  assign raddr_o = row_q[stage0_q];

  // Words read, delayed until their pass reaches the last stage.
  words_t read;
  if (RmwLatency == 1) begin : g_at_once
    assign read = rdata_i;
  end else begin : g_waiting
    words_t read_q [Entries];
    always_ff @(posedge clk_i) begin
      if (advance_i && valid_q[1]) read_q[older(stage0_q, 1)] <= rdata_i;
    end
    assign read = read_q[last];
  end

  // The youngest value of each word that the last stage works on.
  words_t     old, alu_word, new_word;
  bank_mask_t working, alu_write, write, completed;
  assign working = last_valid ? bank_q[last] : '0;

`ifdef ATOMS_COVERAGE
  /// Returns the banks in which two passes use the same row.
  function automatic bank_mask_t same_rows(rows_t row, rows_t row_other);
    /*verilator no_inline_task*/
    /*verilator coverage_block_off*/
    same_rows = '0;
    for (int unsigned b = 0; b < NumBanks; b++) begin
      same_rows = same_rows | (bank_mask_t'(row[b] == row_other[b]) << b);
    end
  endfunction
`endif

  if (Forwarding) begin : g_forward
    // Writes of the last RmwLatency cycles, youngest first. A read may have missed these writes.
    typedef bank_mask_t [Last-1:0] written_t;
    written_t   written_q;
    words_t     word_written_q [Entries];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        written_q <= '0;
      end else if (advance_i) begin
        written_q <= written_t'({written_q, write});
      end
      if (advance_i && (write != '0)) word_written_q[last] <= new_word;
    end
    /// Selects the younger of two words, for every bank.
    function automatic void forward(output words_t youngest, input words_t word,
                                    input words_t word_written, input bank_mask_t written,
                                    input rows_t row, input rows_t row_written);
      /*verilator no_inline_task*/
      for (int unsigned b = 0; b < NumBanks; b++) begin
        youngest[b] = (written[b] && (row_written[b] == row[b])) ? word_written[b] : word[b];
      end
    endfunction

    always_comb begin
      automatic entry_t entry;
      entry = '0;
      old   = read;
      for (int s = int'(Last) - 1; s >= 0; s--) begin
        if ((written_q[s] & working) != '0) begin
          entry = older(last, s + 1);
          forward(old, old, word_written_q[entry], written_q[s], row_q[last], row_q[entry]);
        end
      end
    end
    assign hazard_o = 1'b0;
`ifdef ATOMS_COVERAGE
    /*verilator coverage_off*/
    bank_mask_t met [Last];   // banks whose word was written s + 1 cycles ago
    bank_mask_t forwarded, superseded;
    always_comb begin
      for (int unsigned s = 0; s < Last; s++) begin
        met[s] = written_q[s] & working & same_rows(row_q[last], row_q[older(last, s + 1)]);
      end
      forwarded  = '0;
      superseded = '0;
      for (int unsigned s = 0; s < Last; s++) begin
        superseded = superseded | (forwarded & met[s]);
        forwarded  = forwarded | met[s];
      end
    end
    /*verilator coverage_on*/
`endif
    for (genvar s = 0; s < Last; s++) begin : g_source
      `ATOMS_COVER(Forwards, met[s] != '0)
    end
    `ATOMS_COVER(ForwardsYoungerOfTwoWrites, superseded != '0)
    `ATOMS_COVER(ForwardsPartOfAccess, (last_word(pass.size) != '0)
                                       && (forwarded != '0) && (forwarded != working))
    `ATOMS_COVER(ForwardsMbarrierObject, for_mbar && (forwarded != '0))
    `ATOMS_COVER(ForwardsWhileStalled, (forwarded != '0) && !advance_i)
  end else begin : g_hold
    assign old = read;
    /// Returns 1 if two passes use the same word.
    function automatic logic meet(bank_mask_t banks, rows_t row, rows_t row_other);
      /*verilator no_inline_task*/
      bank_mask_t same;
      same = '0;
      for (int unsigned b = 0; b < NumBanks; b++) begin
        same = same | (bank_mask_t'(row[b] == row_other[b]) << b);
      end
      meet = (banks & same) != '0;
    endfunction

    logic [Last-1:0] wait_for;
    for (genvar s = 0; s < Last; s++) begin : g_stage
      entry_t     entry;
      bank_mask_t banks;
      assign entry = older(stage0_q, s);
      assign banks = bank_valid_i & bank_q[entry];
      always_comb begin
        wait_for[s] = 1'b0;
        if (valid_q[s] && (banks != '0) && !only_reads(pass_q[entry].op)) begin
          wait_for[s] = meet(banks, row_i, row_q[entry]);
        end
      end
      `ATOMS_COVER(HazardWithStage, wait_for[s])
      `ATOMS_COVER(ReaderCausesNoHazard, valid_q[s] && only_reads(pass_q[entry].op)
                                         && meet(banks, row_i, row_q[entry]))
    end
    assign hazard_o = wait_for != '0;
    `ATOMS_COVER(HazardWithSeveralStages, $countones(wait_for) > 1)
    `ATOMS_COVER(HazardHoldsLoad, hazard_o && (pass_i.op == OpLoad))
    `ATOMS_COVER(HazardHoldsStore, hazard_o && (pass_i.op == OpStore))
    `ATOMS_COVER(HazardHoldsMbarrier, hazard_o && is_mbarrier(pass_i.op))
  end

  // Modify: combine the comparisons of all words of an access, then apply the kernels.
  pass_t      pass;
  bank_mask_t hit;
  assign pass = pass_q[last];

  /// Returns the banks of accesses that compare equal in every word. `wide` is the number of words of an
  /// access minus one.
  function automatic bank_mask_t compare(words_t word, words_t b, logic [1:0] wide);
    /*verilator no_inline_task*/
    bank_mask_t equal, pair, quad;
    equal = '0;
    pair  = '0;
    quad  = '0;
    for (int unsigned i = 0; i < NumBanks; i++) begin
      equal = equal | (bank_mask_t'(word[i] == b[i]) << i);
    end
    for (int unsigned i = 0; i < NumBanks; i++) begin
      pair = pair | (bank_mask_t'(equal[i] && equal[i^1]) << i);
    end
    for (int unsigned i = 0; i < NumBanks; i++) begin
      quad = quad | (bank_mask_t'(pair[i] && pair[i^2]) << i);
    end
    compare = (wide == 2'd3) ? quad : (wide == 2'd1) ? pair : equal;
  endfunction

  always_comb begin
    hit = '0;
    if (last_valid && compares(pass.op)) begin
      hit = compare(old, b_q[last], last_word(pass.size));
    end
  end

  logic for_mbar;
  assign for_mbar = is_mbarrier(pass.op);

  atoms_alu u_alu (
    .op_i    (pass.op),
    .signed_i(pass.size == SizeS32),
    .valid_i (for_mbar ? '0 : working),
    .old_i   (old),
    .b_i     (b_q[last]),
    .c_i     (c_q[last]),
    .hit_i   (hit),
    .new_o   (alu_word),
    .write_o (alu_write)
  );

  atoms_mbar u_mbar (
    .op_i        (pass.op),
    .valid_i     (for_mbar ? working : '0),
    .old_i       (old),
    .b_i         (b_q[last]),
    .word_i      (alu_word),
    .word_write_i(alu_write),
    .new_o       (new_word),
    .write_o     (write),
    .completed_o (completed)
  );

  assign we_o    = write;
  assign waddr_o = row_q[last];
  assign wdata_o = new_word;

  always_comb begin
    pass_o       = pass;
    pass_o.valid = last_valid;
  end
  assign old_o       = old;
  assign hit_o       = hit;
  assign bank_addr_o = bank_addr_q[last];
  assign completed_o = completed;

  always_comb begin
    automatic bank_mask_t rest;
    rest           = '0;
    one_object_o   = 1'b0;
    object_bank_o  = '0;
    object_row_o   = '0;
    object_limit_o = '0;
    if ((pass.op == OpMbarTryWait) && (working != '0)) begin
      // Two banks are left: the mask is empty after removing its lowest bit twice.
      rest         = working & (working - bank_mask_t'(1));
      one_object_o = (rest & (rest - bank_mask_t'(1))) == '0;
      for (int unsigned b = 0; b < NumBanks; b += 2) if (working[b]) object_bank_o = bank_t'(b);
      object_row_o   = row_q[last][object_bank_o];
      object_limit_o = c_q[last][object_bank_o];
    end
  end

  `ATOMS_ASSERT(PipeWritesOnlyReadBanks, (write & ~working) == '0)

`ifndef SYNTHESIS
  /*verilator coverage_off*/
  // Invariants of mbarrier operations, checked outside the kernels that perform them (spec 6.4).
  logic nothing_left, phase_kept;

  function automatic void judge(output logic left_nothing, output logic kept_phase, input op_e op,
                                input bank_mask_t written, input bank_mask_t complete,
                                input words_t before_step, input words_t after_step);
    /*verilator no_inline_task*/
    mbar_t was, is;
    left_nothing = 1'b1;
    kept_phase   = 1'b1;
    for (int unsigned b = 0; b < NumBanks; b += 2) begin
      was = {before_step[b+1], before_step[b]};
      is  = {after_step[b+1], after_step[b]};
      if (complete[b] && (op != OpMbarArriveSm80)) begin
        if (is.tx != '0) left_nothing = 1'b0;
        // An MBAR.ARRIVE may hold further arrivals after the completion.
        if ((op != OpMbarArrive) && (is.pending != is.expected)) left_nothing = 1'b0;
      end
      if (written[b] && !complete[b] && (op != OpMbarInit) && (is.phase != was.phase)) begin
        kept_phase = 1'b0;
      end
    end
  endfunction

  always_comb begin
    nothing_left = 1'b1;
    phase_kept   = 1'b1;
    if (for_mbar && (write != '0)) begin
      judge(nothing_left, phase_kept, pass.op, write, completed, old, new_word);
    end
  end
  /*verilator coverage_on*/
  `ATOMS_ASSERT(PhaseCompletionResetsCounts, nothing_left)
  `ATOMS_ASSERT(PhaseChangesOnCompletionOnly, phase_kept)
  `ATOMS_ASSERT(MbarrierBanksArePairs, !(last_valid && for_mbar)
                || ((working & {NumBanks/2{2'b01}}) == ((working >> 1) & {NumBanks/2{2'b01}})))
`endif

  for (genvar s = 0; s <= Last; s++) begin : g_stalled
    `ATOMS_COVER(StalledInStage, valid_q[s] && !advance_i)
  end
  `ATOMS_COVER(AllStagesFull, valid_q == '1)
  `ATOMS_COVER(CompareHitsSomeBanks, (hit != '0) && (hit != working))
  `ATOMS_COVER(CompletesSeveralPhases, $countones(completed) > 1)
`ifdef ATOMS_COVERAGE
  /*verilator coverage_off*/
  // Stages whose pass uses an object that completes its phase now, and those of them that hold an
  // MBAR.TRY_WAIT.
  logic [Last-1:0] follows, waits;
  always_comb begin
    automatic entry_t entry;
    for (int unsigned s = 0; s < Last; s++) begin
      entry      = older(stage0_q, s);
      follows[s] = valid_q[s] && (completed != '0)
                   && ((bank_q[entry] & completed & same_rows(row_q[last], row_q[entry])) != '0);
      waits[s]   = follows[s] && (pass_q[entry].op == OpMbarTryWait);
    end
  end
  /*verilator coverage_on*/
  `ATOMS_COVER(CompletionBeforePassToObject, follows != '0)
  `ATOMS_COVER(CompletionBeforeTryWaitOnObject, waits != '0)
`endif
endmodule : atoms_pipe
