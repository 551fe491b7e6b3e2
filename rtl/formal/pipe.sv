/// Each pass works on the last value written to each of its words, for any distance between the passes to a
/// word and for any stalls (spec 4.5). Proved by induction over one clock, with Forwarding, and without it if
/// no pass enters during `hazard_o`.
///
/// The proof also covers the following. Each pass reaches the last stage unmodified, once and in order, after
/// RmwLatency + 1 steps. It reads and writes only its own words (spec 1.3). `hazard_o` holds a pass back for
/// at most RmwLatency steps. A comparison succeeds if all words of the access are equal (spec 3, 4.4). An
/// MBAR.TRY_WAIT at one object is detected with the object's bank and row (spec 6.3).
///
/// The proof tracks any word of a memory of `atoms_bank`, connected as in `atoms_unit`, and any pass.
///
/// Limits: `agen` and `cta_table` prove that rows lie in the memory. `issue` proves that the banks of an
/// mbarrier operation are pairs, and that no pass enters during `hazard_o`. `alu` and `mbar` prove the
/// results of operations. Here the written value is checked only for operations that move an operand.
module pipe_proof
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import spec_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        advance_i,
  input pass_t       pass_i,
  input bank_mask_t  bank_valid_i,
  input rows_t       row_i,
  input words_t      b_i, c_i,
  input bank_addrs_t bank_addr_i,
  /// The entering pass is the tracked one.
  input logic        this_i,
  /// Tracked word: any bank and any row.
  input bank_t       any_bank_i,
  input row_t        any_row_i,
  /// Tracked lane: any lane.
  input lane_t       any_lane_i
);
  localparam int unsigned Last = RmwLatency;
  localparam int unsigned Entries = Forwarding ? 2 * Last + 1 : Last + 1;
  localparam bank_mask_t  FirstOfPair = {NumBanks/2{2'b01}};

  logic                hazard_o, one_object_o;
  bank_mask_t          re_o, we_o, hit_o, completed_o;
  rows_t               raddr_o, waddr_o;
  words_t              rdata_i, wdata_o, old_o;
  pass_t               pass_o;
  bank_t               object_bank_o;
  row_t                object_row_o;
  word_t               object_limit_o;
  bank_addrs_t         bank_addr_o;
  logic       [Last:0] valid_o;
  atoms_pipe dut (.*);

  bank_t  bank;   // bank of the tracked word
  row_t   row;    // row of the tracked word
  lane_t  lane;
  words_t stored; // words of all banks in that row
  for (genvar b = 0; b < NumBanks; b++) begin : g_bank
    atoms_bank u_bank (
      .clk_i,
      .re_i(re_o[b] && advance_i), .raddr_i(raddr_o[b]), .rdata_o(rdata_i[b]),
      .we_i(we_o[b] && advance_i && rst_ni), .waddr_i(waddr_o[b]), .wdata_i(wdata_o[b])
    );
    assign stored[b] = u_bank.mem_q[was_reset ? row[$clog2(NumRows)-1:0] : any_row_i[$clog2(NumRows)-1:0]];
  end

  // Value of the tracked word: `was[s]` is the value s steps ago.
  logic           was_reset = 1'b0;
  word_t [Last:0] was;
  word_t          value, next_value;
  assign value      = was[0];
  assign next_value = (we_o[bank] && (waddr_o[bank] == row)) ? wdata_o[bank] : value;
  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    if (!was_reset) begin
      bank <= any_bank_i;
      row  <= any_row_i;
      lane <= any_lane_i;
      was  <= {Last+1{stored[any_bank_i]}};
    end else if (!rst_ni) was <= {Last+1{value}};
    else if (advance_i)   was <= {was[Last-1:0], next_value};
  end

  // The tracked pass as it entered, and its stage.
  logic  [Last:0] entered;   // stages that hold a pass
  logic  [Last:0] stage;     // stage of the tracked pass
  pass_t          pass;
  logic           works;     // the pass uses the tracked bank
  row_t           its_row;   // row of the pass in the tracked bank
  bank_mask_t     banks;     // all banks of the pass
  words_t         b, c;
  bank_addr_t     bank_addr; // bank address of the tracked lane
  logic           taken;
  logic [$clog2(Entries)-1:0] kept;   // entry of the tracked pass
  assign works = banks[bank];
  assign taken = advance_i && pass_i.valid && this_i && (stage[Last-1:0] == '0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      entered <= '0;
      stage   <= '0;
    end else if (advance_i) begin
      entered <= {entered[Last-1:0], pass_i.valid};
      stage   <= {stage[Last-1:0], taken};
    end
    if (taken) begin
      kept      <= dut.next0;
      pass      <= pass_i;
      its_row   <= row_i[bank];
      banks     <= bank_valid_i;
      b         <= b_i;
      c         <= c_i;
      bank_addr <= bank_addr_i[lane];
    end
  end

  // Entry of the pass in each stage, and of the passes after the last stage.
  typedef logic [$clog2(Entries)-1:0] entry_t;
  entry_t [Entries-1:0] at;
  for (genvar s = 0; s < Entries; s++) begin : g_at
    assign at[s] = (dut.stage0_q >= entry_t'(s)) ? dut.stage0_q - entry_t'(s) : dut.stage0_q + entry_t'(Entries - s);
  end

  // For each entry: its pass has the tracked row, its pass uses the tracked word, and the word as read.
  logic  [Entries-1:0] on_row, on_word;
  word_t [Last:0]      read;
  always_comb begin
    for (int unsigned s = 0; s < Entries; s++) begin
      on_row[s]  = dut.row_q[at[s]][bank] == row;
      on_word[s] = dut.bank_q[at[s]][bank] && on_row[s];
    end
  end
  assign read[1:0] = {rdata_i[bank], word_t'('0)};
  for (genvar s = 2; s <= Last; s++) begin : g_read
    assign read[s] = dut.g_waiting.read_q[at[s]][bank];
  end

  // Result of the comparison of the access that covers the bank, and the value written by operations without
  // arithmetic.
  logic [1:0] wide;
  logic       equal;
  word_t      moved;
  assign wide  = last_of(pass.size);
  assign moved = is_compare(pass.op) ? c[bank] : (pass.op == OpStore) ? (old_o[bank] & ~c[bank]) | (b[bank] & c[bank]) : b[bank];
  always_comb begin
    equal = is_compare(pass.op);
    for (int unsigned i = 0; i < NumBanks; i++)
      if ((bank_t'(i) | bank_t'(wide)) == (bank | bank_t'(wide))) equal = equal && (old_o[i] == b[i]);
  end

  always_comb begin
    assume (was_reset || !rst_ni);
    assume (any_row_i < NumRows);
    if (pass_i.valid) begin
      for (int unsigned i = 0; i < NumBanks; i++) assume (!bank_valid_i[i] || (row_i[i] < NumRows));
      if (on_object(pass_i.op)) assume ((bank_valid_i & FirstOfPair) == ((bank_valid_i >> 1) & FirstOfPair));
    end
    assume (!(pass_i.valid && hazard_o));
  end

  always_comb begin
    if (was_reset) begin
      if (stage[Last] && works && (its_row == row)) OldValueIsLastWritten: assert (old_o[bank] == value);
      MemoryHoldsLastValue: assert ((row < NumRows) && (stored[bank] == value));
      StageValidMatchesPasses: assert ((valid_o == entered) && (pass_o.valid == entered[Last]) && ((stage & ~entered) == '0));
      if (stage[Last]) begin
        LastStagePassMatchesEntered: assert ((pass_o == pass) && (bank_addr_o[lane] == bank_addr));
        WritesOnlyPassWords:         assert ((works || !we_o[bank]) && (waddr_o[bank] == its_row));
        if (works) begin
          HitMatchesComparison: assert (hit_o[bank] == equal);
          WriteEnableMatchesSpec:
            assert (we_o[bank] == (is_compare(pass.op) ? equal : !(pass.op inside {OpLoad, OpMbarInval, OpMbarTestWait, OpMbarTryWait})));
          if (we_o[bank] && (is_compare(pass.op) || (pass.op inside {OpExch, OpStore, OpMbarInit})))
            WriteDataMatchesOperand: assert (wdata_o[bank] == moved);
        end
        OneObjectFlagMatchesSpec:    assert (one_object_o == ((pass.op == OpMbarTryWait) && ($countones(banks) == 2)));
        if (one_object_o) OneObjectFieldsMatchPass:
          assert (banks[object_bank_o] && !object_bank_o[0]
                  && ((bank != object_bank_o) || ((object_row_o == its_row) && (object_limit_o == c[bank]))));
      end
      if (stage[0]) FirstStageReadsPassWords: assert ((re_o[bank] == works) && (raddr_o[bank] == its_row));
      if (!entered[0])    EmptyFirstStageReadsNothing: assert (re_o == '0);
      if (!entered[Last]) EmptyLastStageWritesNothing:
        assert ((we_o == '0) && (completed_o == '0) && (hit_o == '0) && !one_object_o);
    end
  end

  // Invariants of every stage that the induction needs.
  always_comb begin
    if (was_reset) begin
      StagePointerWithinEntries: assert (32'(dut.stage0_q) < Entries);
      if (stage != '0) TrackedPassIsValid: assert (pass.valid);
    end
  end
  for (genvar e = 0; e < Entries; e++) begin : g_entry
    always_comb begin
      if (was_reset && (stage != '0) && (kept == entry_t'(e)))
        TrackedPassKept: assert ((dut.pass_q[e] == pass) && (dut.bank_q[e] == banks) && (dut.row_q[e][bank] == its_row)
                                 && (dut.b_q[e] == b) && (dut.c_q[e] == c) && (dut.bank_addr_q[e][lane] == bank_addr));
    end
  end
  for (genvar s = 0; s <= Last; s++) begin : g_stage
    always_comb begin
      if (was_reset && stage[s]) StageEntryMatchesTrackedPass: assert (at[s] == kept);
      if (was_reset && entered[s]) begin
        StageRowsLieInMemory:  assert (!dut.bank_q[at[s]][bank] || (dut.row_q[at[s]][bank] < NumRows));
        MbarrierBanksArePairs: assert (!on_object(dut.pass_q[at[s]].op)
                                       || ((dut.bank_q[at[s]] & FirstOfPair) == ((dut.bank_q[at[s]] >> 1) & FirstOfPair)));
        // The word was read with its value at that time.
        if ((s != 0) && on_word[s]) ReadWordMatchesHistory: assert (read[s] == was[s]);
      end
    end
  end

  if (Forwarding) begin : g_forward
    always_comb if (was_reset) ForwardingHasNoHazard: assert (!hazard_o);
    for (genvar s = 0; s < Last; s++) begin : g_step
      always_comb begin
        if (was_reset) begin
          ForwardedWordMatchesHistory: assert (was[s] == ((dut.g_forward.written_q[s][bank] && on_row[Last+1+s])
                                                          ? dut.g_forward.word_written_q[at[Last+1+s]][bank]
                                                          : was[s+1]));
        end
      end
    end
  end else begin : g_hold
    logic [3:0] waits;   // steps since the last pass entered
    always_ff @(posedge clk_i) begin
      if (!rst_ni)                          waits <= '0;
      else if (advance_i && pass_i.valid)   waits <= '0;
      else if (advance_i && (waits < Last)) waits <= waits + 1;
    end
    always_comb if (was_reset) HazardEndsWithinLatency: assert (!hazard_o || (waits < Last));
    for (genvar s = 0; s <= Last; s++) begin : g_behind
      always_comb begin
        if (was_reset) begin
          StagesEmptyWhilePassWaits: assert ((s >= 32'(waits)) || !entered[s]);
          if ((s != 0) && entered[s] && on_word[s]) ReadWordUnchanged: assert (was[s] == value);
        end
      end
      for (genvar ahead = s + 1; ahead <= Last; ahead++) begin : g_ahead
        always_comb begin
          if (was_reset && entered[s] && entered[ahead] && on_word[s] && on_word[ahead])
            OlderPassToWordOnlyReads: assert (only_reads(dut.pass_q[at[ahead]].op));
        end
      end
    end
  end
endmodule : pipe_proof
