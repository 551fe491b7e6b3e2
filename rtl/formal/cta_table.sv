/// Allocations of two CTAs never share a row, and lie in memory, whatever is written to the table and in whatever order
/// (spec 1.3). By induction over one clock.
///
/// Holes: who leaves or wakes was inside, which `atoms_unit` sees to; that a request looks up its own slot. The pair of slots
/// is any, of sixteen.
module cta_table_proof
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        valid_i,
  input slot_t       slot_i,
  input logic        enable_i,
  input logic [15:0] base_i,
  input logic [24:0] size_i,
  input logic [7:0]  rank_i,
  input logic        warp_enter_i, cluster_enter_i, leave_i, woken_i,
  input slot_t       warp_slot_i, cluster_slot_i, leave_slot_i, woken_slot_i, lookup_i,
  /// Any two slots.
  input logic [$clog2(NumCtaSlots)-1:0] one_i, other_i
);
  localparam int unsigned SlotBits = $clog2(NumCtaSlots);

  logic        ready, reject;
  allocation_t allocation;
  atoms_cta_table dut (.ready_o(ready), .reject_o(reject), .allocation_o(allocation), .*);

  logic                was_reset = 1'b0;
  logic [SlotBits-1:0] one, other;   // chosen once
  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    if (!was_reset) begin
      one   <= one_i;
      other <= other_i;
    end
  end

  /// First row behind an allocation: a row that is begun is its own.
  function automatic logic [31:0] behind(allocation_t part);
    behind = 32'(part.base) + (32'(part.size) + 32'(NumBanks * 4 - 1)) / (NumBanks * 4);
  endfunction

  /// What the two slots have been given: copies, so that the solver compares two allocations and not two of all.
  allocation_t a, b;
  always_ff @(posedge clk_i) begin
    if (!was_reset) begin
      a <= dut.allocation_q[one_i];
      b <= dut.allocation_q[other_i];
    end else if (dut.write && (slot_i == slot_t'(one))) a <= dut.written;
    else if (dut.write && (slot_i == slot_t'(other))) b <= dut.written;
  end

  always_comb begin
    if (leave_i && (32'(leave_slot_i) < NumCtaSlots)) assume (dut.inside_q[SlotBits'(leave_slot_i)] != '0);
    if (woken_i) assume ((32'(woken_slot_i) < NumCtaSlots) && (dut.inside_q[SlotBits'(woken_slot_i)] != '0));
    if (was_reset && (one != other)) begin
      IsWhatWasGiven: assert ((!dut.valid_q[one] || (a == dut.allocation_q[one]))
                              && (!dut.valid_q[other] || (b == dut.allocation_q[other])));
      if (dut.valid_q[one]) begin
        LiesInMemory: assert (behind(a) <= NumRows);
        if (dut.valid_q[other])
          SharesNoRow: assert ((behind(a) <= 32'(b.base)) || (behind(b) <= 32'(a.base)));
      end
    end
  end
endmodule : cta_table_proof
