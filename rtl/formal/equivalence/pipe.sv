/// A mutant of `atoms_pipe` is equivalent to the original. `atoms_alu` and `atoms_mbar` are replaced by free signals:
/// the proof assumes what their own files prove.
///
/// Relevant inputs of the pass at issue: every field (`counts_pkg`), and bank addresses of served lanes. For
/// its banks also rows, operand B except for loads, and operand C for operations that read it. Words read are
/// relevant for the banks of the pass in stage 1. The same holds for the outputs.
module pipe_equivalence
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import counts_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        advance_i,
  // A request is at issue. During a hazard its pass is not valid.
  input logic        issue_i,
  // Inputs of both instances; they may differ where they are irrelevant.
  input pass_t       pass_i[2],
  input bank_mask_t  bank_valid_i,
  input rows_t       row_i[2],
  input words_t      b_i[2], c_i[2], rdata_i[2],
  input bank_addrs_t bank_addr_i[2],
  // Any entry of the ring, any bank and any lane: a lemma compares registers and outputs only there.
  input logic [$clog2(Forwarding ? 2*RmwLatency+1 : RmwLatency+1)-1:0] entry,
  input bank_t                           bank,
  input lane_t                           lane,
  // Selects the lemma; the lemmas are proved one after the other.
  output logic [5:0] lemma
);
  localparam int unsigned Last = RmwLatency;
  localparam int unsigned Entries = Forwarding ? 2 * Last + 1 : Last + 1;
  typedef logic [$clog2(Entries)-1:0] entry_t;

  logic                hazard[2], one_object[2];
  bank_mask_t          re[2], we[2], hit[2], completed[2];
  rows_t               raddr[2], waddr[2];
  words_t              wdata[2], old[2];
  pass_t               pass[2];
  bank_t               object_bank[2];
  row_t                object_row[2];
  word_t               object_limit[2];
  bank_addrs_t         bank_addr[2];
  logic       [Last:0] valid[2];

  atoms_pipe gold (
    .clk_i, .rst_ni, .advance_i, .bank_valid_i,
    .pass_i(pass_i[0]), .row_i(row_i[0]), .b_i(b_i[0]), .c_i(c_i[0]), .bank_addr_i(bank_addr_i[0]), .rdata_i(rdata_i[0]),
    .hazard_o(hazard[0]), .re_o(re[0]), .raddr_o(raddr[0]), .we_o(we[0]), .waddr_o(waddr[0]), .wdata_o(wdata[0]),
    .pass_o(pass[0]), .old_o(old[0]), .hit_o(hit[0]), .completed_o(completed[0]), .one_object_o(one_object[0]),
    .object_bank_o(object_bank[0]), .object_row_o(object_row[0]), .object_limit_o(object_limit[0]),
    .bank_addr_o(bank_addr[0]), .valid_o(valid[0])
  );
  atoms_pipe_altered gate (
    .clk_i, .rst_ni, .advance_i, .bank_valid_i,
    .pass_i(pass_i[1]), .row_i(row_i[1]), .b_i(b_i[1]), .c_i(c_i[1]), .bank_addr_i(bank_addr_i[1]), .rdata_i(rdata_i[1]),
    .hazard_o(hazard[1]), .re_o(re[1]), .raddr_o(raddr[1]), .we_o(we[1]), .waddr_o(waddr[1]), .wdata_o(wdata[1]),
    .pass_o(pass[1]), .old_o(old[1]), .hit_o(hit[1]), .completed_o(completed[1]), .one_object_o(one_object[1]),
    .object_bank_o(object_bank[1]), .object_row_o(object_row[1]), .object_limit_o(object_limit[1]),
    .bank_addr_o(bank_addr[1]), .valid_o(valid[1])
  );

  // Stage of each entry; the numbers continue after the last stage.
  logic [7:0] stage[Entries];
  for (genvar e = 0; e < Entries; e++) begin : g_stage
    assign stage[e] = (gold.stage0_q >= entry_t'(e)) ? 8'(gold.stage0_q) - 8'(e) : 8'(gold.stage0_q) + 8'(Entries - e);
  end

  // The proof goes from registers with equal relevant values, or from reset, to such registers.
  logic begun = 1'b0, alike;
  always_ff @(posedge clk_i) begun <= 1'b1;

  logic alu_given, alu_driven, mbar_given, mbar_driven;
  alu_alike u_alu_alike (
    .op('{gold.pass.op, gate.pass.op}), .is_signed('{gold.pass.size == SizeS32, gate.pass.size == SizeS32}),
    .valid('{gold.for_mbar ? '0 : gold.working, gate.for_mbar ? '0 : gate.working}),
    .old('{gold.old, gate.old}), .b('{gold.b_q[gold.last], gate.b_q[gate.last]}), .c('{gold.c_q[gold.last], gate.c_q[gate.last]}),
    .hit('{gold.hit, gate.hit}), .after('{gold.alu_word, gate.alu_word}), .write('{gold.alu_write, gate.alu_write}),
    .given(alu_given), .driven(alu_driven)
  );
  mbar_alike u_mbar_alike (
    .op('{gold.pass.op, gate.pass.op}), .valid('{gold.for_mbar ? gold.working : '0, gate.for_mbar ? gate.working : '0}),
    .old('{gold.old, gate.old}), .b('{gold.b_q[gold.last], gate.b_q[gate.last]}),
    .word('{gold.alu_word, gate.alu_word}), .word_write('{gold.alu_write, gate.alu_write}),
    .after('{gold.new_word, gate.new_word}), .write('{gold.write, gate.write}), .completed('{gold.completed, gate.completed}),
    .given(mbar_given), .driven(mbar_driven)
  );
  always_comb begin
    assume (begun || !alu_given || alu_driven);
    assume (begun || !mbar_given || mbar_driven);
  end

  // Assume equal relevant inputs.
  always_comb if (!begun) begin
    assume ((pass_i[0].valid == pass_i[1].valid) && (issue_i || !pass_i[0].valid));
    if (issue_i) begin
      assume (counting(pass_i[0]) == counting(pass_i[1]));
      assume (works_on(pass_i[0], bank_addr_i[0], bank_valid_i));
      for (int unsigned l = 0; l < NumLanes; l++) begin
        if (pass_i[0].served[l]) assume (bank_addr_i[0][l] == bank_addr_i[1][l]);
      end
    end
    for (int unsigned b = 0; b < NumBanks; b++) begin
      if (issue_i && bank_valid_i[b]) begin
        assume (row_i[0][b] == row_i[1][b]);
        if (takes_b(pass_i[0].op)) assume (b_i[0][b] == b_i[1][b]);
        if (takes_c(pass_i[0].op)) assume (c_i[0][b] == c_i[1][b]);
      end
      for (int unsigned e = 0; e < Entries; e++) begin
        if ((stage[e] == 1) && valid[0][1] && gold.bank_q[e][b]) assume (rdata_i[0][b] == rdata_i[1][b]);
      end
    end
  end

  // Relevant outputs are equal: per bank, per lane, and the rest.
  bank_mask_t drive_old, drive_write, drive_bank;
  lane_mask_t drive_lane;
  logic       drive;
  always_comb begin
    drive = (valid[0] == valid[1]) && (completed[0] == completed[1]) && (pass[0].valid == pass[1].valid)
            && (one_object[0] == one_object[1]) && (!issue_i || (hazard[0] == hazard[1])) && (!valid[0][0] || (re[0] == re[1]))
            && (!pass[0].valid || ((counting(pass[0]) == counting(pass[1])) && works_on(pass[0], bank_addr[0], gold.working)))
            && (!one_object[0] || ((object_bank[0] == object_bank[1]) && (object_row[0] == object_row[1])
                                   && (object_limit[0] == object_limit[1])));
    for (int unsigned l = 0; l < NumLanes; l++) begin
      drive_lane[l] = !(pass[0].valid && pass[0].served[l]) || (bank_addr[0][l] == bank_addr[1][l]);
    end
    for (int unsigned b = 0; b < NumBanks; b++) begin
      drive_old[b]   = !gold.working[b] || ((old[0][b] == old[1][b])
                                            && (!compares(pass[0].op) || (hit[0][b] == hit[1][b])));
      drive_write[b] = (we[0][b] == we[1][b]) && (!we[0][b] || ((waddr[0][b] == waddr[1][b]) && (wdata[0][b] == wdata[1][b])));
      drive_bank[b]  = !(valid[0][0] && re[0][b]) || (raddr[0][b] == raddr[1][b]);
    end
  end

  // Relevant registers are equal: per entry, per bank, per lane, and the rest.
  logic [Entries-1:0] hold_pass;
  bank_mask_t         hold_bank[Entries], hold_written[Entries];
  lane_mask_t         hold_lane[Entries];
  logic               hold;
  assign hold = (valid[0] == valid[1]) && (32'(gold.stage0_q) < Entries) && (gold.stage0_q == gate.stage0_q);
  for (genvar e = 0; e < Entries; e++) begin : g_entry
    logic       here;   // a pass is in a stage
    pass_t      entered;
    bank_mask_t banks, read, written;
    assign here    = (stage[e] <= Last) && valid[0][stage[e]];
    assign entered = gold.pass_q[e];
    assign banks   = here ? gold.bank_q[e] : '0;
    always_comb begin
      hold_pass[e] = !here || (entered.valid && (counting(entered) == counting(gate.pass_q[e]))
                               && (banks == gate.bank_q[e]) && works_on(entered, gold.bank_addr_q[e], banks));
      for (int unsigned l = 0; l < NumLanes; l++) begin
        hold_lane[e][l] = !(here && entered.served[l]) || (gold.bank_addr_q[e][l] == gate.bank_addr_q[e][l]);
      end
      for (int unsigned b = 0; b < NumBanks; b++) begin
        hold_written[e][b] = written[b];
        hold_bank[e][b] = read[b]
                          && (!banks[b] || ((gold.row_q[e][b] == gate.row_q[e][b])
                                            && (!takes_b(entered.op) || (gold.b_q[e][b] == gate.b_q[e][b]))
                                            && (!takes_c(entered.op) || (gold.c_q[e][b] == gate.c_q[e][b]))));
      end
    end
    if (RmwLatency > 1) begin : g_read
      always_comb begin
        for (int unsigned b = 0; b < NumBanks; b++) begin
          read[b] = !(banks[b] && (stage[e] > 1)) || (gold.g_waiting.read_q[e][b] == gate.g_waiting.read_q[e][b]);
        end
      end
    end else begin : g_at_once
      assign read = '1;
    end
    if (Forwarding) begin : g_written
      always_comb begin
        written = '1;
        for (int unsigned s = 0; s < Last; s++) begin
          // `written_q[s]` has the banks written s + 1 steps ago. The value is irrelevant if stages s + 1 and later
          // are empty: younger passes read the banks after the write.
          for (int unsigned b = 0; b < NumBanks; b++) begin
            if ((stage[e] == 8'(Last + 1 + s)) && ((valid[0] >> (s + 1)) != '0))
              written[b] = (gold.g_forward.written_q[s][b] == gate.g_forward.written_q[s][b])
                           && (!gold.g_forward.written_q[s][b]
                               || ((gold.row_q[e][b] == gate.row_q[e][b])
                                   && (gold.g_forward.word_written_q[e][b] == gate.g_forward.word_written_q[e][b])));
          end
        end
      end
    end else begin : g_held
      assign written = '1;
    end
  end
  always_comb begin
    alike = hold && (hold_pass == '1);
    for (int unsigned e = 0; e < Entries; e++) alike = alike && (hold_bank[e] == '1) && (hold_written[e] == '1) && (hold_lane[e] == '1);
  end

  always_comb begin
    assume (begun || alike || !rst_ni);
    assume (32'(entry) < Entries);
    lemma[0] = begun || !alike || (drive_old == '1);
    lemma[1] = begun || !alike || (drive_write == '1);
    lemma[2] = begun || !alike || (drive && (drive_bank == '1) && (drive_lane == '1));
    lemma[3] = !begun || (hold && hold_pass[entry] && hold_lane[entry][lane]);
    lemma[4] = !begun || hold_bank[entry][bank];
    lemma[5] = !begun || (hold_written[entry][bank]);
  end
endmodule : pipe_equivalence
