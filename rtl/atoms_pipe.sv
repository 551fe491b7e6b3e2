/// Read-modify-write pipeline: reads the banks, applies the kernel, writes back.
/// Mirror: `model/src/pipe.rs`.
///
/// Stage 0 reads the banks, stage RmwLatency applies the kernel and writes. A word that an older
/// pass has written since the read is forwarded, or, without Forwarding, `hazard_o` holds the
/// younger pass back until it can be read.
module atoms_pipe
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  /// The pipeline moves.
  input  logic       advance_i,
  /// The pass at issue; enters when valid.
  input  pass_t                          pass_i,
  input  bank_mask_t                     bank_valid_i,
  input  row_t       [NumBanks-1:0]      row_i,
  input  word_t      [NumBanks-1:0]      b_i,
  input  word_t      [NumBanks-1:0]      c_i,
  input  bank_t      [NumLanes-1:0]      lane_bank_i,
  input  logic       [NumLanes-1:0][1:0] lane_byte_i,
  /// The pass at issue needs a word that is yet to be written.
  output logic       hazard_o,
  /// Bank ports. The read enable and the write enable are for `advance_i` to gate.
  output bank_mask_t                     re_o,
  output row_t       [NumBanks-1:0]      raddr_o,
  input  word_t      [NumBanks-1:0]      rdata_i,
  output bank_mask_t                     we_o,
  output row_t       [NumBanks-1:0]      waddr_o,
  output word_t      [NumBanks-1:0]      wdata_o,
  /// The pass in the last stage, for the collector: its words before the operation, and whether
  /// the comparison of the access that a bank's word belongs to held.
  output pass_t                          pass_o,
  output word_t                          old_o [NumBanks],
  output bank_mask_t                     hit_o,
  output bank_t      [NumLanes-1:0]      lane_bank_o,
  output logic       [NumLanes-1:0][1:0] lane_byte_o,
  /// Stages that hold a pass.
  output logic       [RmwLatency:0]      valid_o
);
  localparam int unsigned Last = RmwLatency;

  pass_t                          pass_q      [Last+1];
  bank_mask_t                     bank_q      [Last+1];
  row_t       [NumBanks-1:0]      row_q       [Last+1];
  word_t      [NumBanks-1:0]      b_q         [Last+1];
  word_t      [NumBanks-1:0]      c_q         [Last+1];
  bank_t      [NumLanes-1:0]      lane_bank_q [Last+1];
  logic       [NumLanes-1:0][1:0] lane_byte_q [Last+1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned s = 0; s <= Last; s++) pass_q[s] <= '0;
    end else if (advance_i) begin
      pass_q[0] <= pass_i;
      for (int unsigned s = 1; s <= Last; s++) pass_q[s] <= pass_q[s-1];
    end
    // Words move only with a pass.
    if (advance_i && pass_i.valid) begin
      bank_q[0]      <= bank_valid_i;
      row_q[0]       <= row_i;
      b_q[0]         <= b_i;
      c_q[0]         <= c_i;
      lane_bank_q[0] <= lane_bank_i;
      lane_byte_q[0] <= lane_byte_i;
    end
    for (int unsigned s = 1; s <= Last; s++) begin
      if (advance_i && pass_q[s-1].valid) begin
        bank_q[s]      <= bank_q[s-1];
        row_q[s]       <= row_q[s-1];
        b_q[s]         <= b_q[s-1];
        c_q[s]         <= c_q[s-1];
        lane_bank_q[s] <= lane_bank_q[s-1];
        lane_byte_q[s] <= lane_byte_q[s-1];
      end
    end
  end

  always_comb begin
    for (int unsigned s = 0; s <= Last; s++) valid_o[s] = pass_q[s].valid;
  end

  // Read.
  assign re_o    = pass_q[0].valid ? bank_q[0] : '0;
  assign raddr_o = row_q[0];

  // Words read, on their way to the last stage.
  word_t [NumBanks-1:0] read;
  if (RmwLatency == 1) begin : g_at_once
    assign read = rdata_i;
  end else begin : g_waiting
    word_t [NumBanks-1:0] read_q [Last-1];
    always_ff @(posedge clk_i) begin
      if (advance_i && pass_q[1].valid) read_q[0] <= rdata_i;
      for (int unsigned s = 1; s < Last - 1; s++) begin
        if (advance_i && pass_q[s+1].valid) read_q[s] <= read_q[s-1];
      end
    end
    assign read = read_q[Last-2];
  end

  // The word each bank works on: the youngest there is.
  word_t [NumBanks-1:0] old;
  bank_mask_t           write;
  word_t [NumBanks-1:0] new_word;

  if (Forwarding) begin : g_forward
    // Writes of the last RmwLatency cycles, youngest first: those that a read may have missed.
    bank_mask_t           written_q [Last];
    row_t  [NumBanks-1:0] row_written_q [Last];
    word_t [NumBanks-1:0] word_written_q [Last];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        for (int unsigned s = 0; s < Last; s++) written_q[s] <= '0;
      end else if (advance_i) begin
        written_q[0] <= write;
        for (int unsigned s = 1; s < Last; s++) written_q[s] <= written_q[s-1];
      end
      if (advance_i && (write != '0)) begin
        row_written_q[0]  <= row_q[Last];
        word_written_q[0] <= new_word;
      end
      for (int unsigned s = 1; s < Last; s++) begin
        if (advance_i && (written_q[s-1] != '0)) begin
          row_written_q[s]  <= row_written_q[s-1];
          word_written_q[s] <= word_written_q[s-1];
        end
      end
    end
    always_comb begin
      old = read;
      if (pass_q[Last].valid) begin
        for (int s = int'(Last) - 1; s >= 0; s--) begin
          if ((written_q[s] & bank_q[Last]) != '0) begin
            for (int unsigned b = 0; b < NumBanks; b++) begin
              if (written_q[s][b] && (row_written_q[s][b] == row_q[Last][b])) begin
                old[b] = word_written_q[s][b];
              end
            end
          end
        end
      end
    end
    assign hazard_o = 1'b0;
  end else begin : g_hold
    assign old = read;
    always_comb begin
      hazard_o = 1'b0;
      for (int unsigned s = 0; s < Last; s++) begin
        if (pass_q[s].valid && (pass_q[s].op != OpLoad)) begin
          for (int unsigned b = 0; b < NumBanks; b++) begin
            if (bank_valid_i[b] && bank_q[s][b] && (row_q[s][b] == row_i[b])) hazard_o = 1'b1;
          end
        end
      end
    end
  end

  // Modify: comparisons joined over the words of an access, then the kernel of each bank.
  logic [1:0] last;
  bank_mask_t equal, hit;
  assign last = last_word(pass_q[Last].size);
  always_comb begin
    equal = '0;
    for (int unsigned b = 0; b < NumBanks; b++) equal[b] = old[b] == b_q[Last][b];
    hit = equal;
    if (last[0]) begin
      for (int unsigned b = 0; b < NumBanks; b++) hit[b] = equal[b] && equal[b^1];
    end
    if (last[1]) begin
      for (int unsigned b = 0; b < NumBanks; b++) begin
        hit[b] = equal[b] && equal[b^1] && equal[b^2] && equal[b^3];
      end
    end
  end

  logic signed_order;
  assign signed_order = pass_q[Last].size == SizeS32;
  for (genvar b = 0; b < NumBanks; b++) begin : g_alu
    logic changes;
    atoms_alu u_alu (
      .op_i    (pass_q[Last].op),
      .signed_i(signed_order),
      .old_i   (old[b]),
      .b_i     (b_q[Last][b]),
      .c_i     (c_q[Last][b]),
      .hit_i   (hit[b]),
      .new_o   (new_word[b]),
      .write_o (changes)
    );
    assign write[b] = changes && bank_q[Last][b] && pass_q[Last].valid;
  end

  // Write.
  assign we_o    = write;
  assign waddr_o = row_q[Last];
  assign wdata_o = new_word;

  assign pass_o      = pass_q[Last];
  assign hit_o       = hit;
  assign lane_bank_o = lane_bank_q[Last];
  assign lane_byte_o = lane_byte_q[Last];
  always_comb begin
    for (int unsigned b = 0; b < NumBanks; b++) old_o[b] = old[b];
  end
endmodule : atoms_pipe
