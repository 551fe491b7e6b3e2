/// Allocations of two CTAs never share a row, and lie in memory, whatever is written to the table and in whatever order. A
/// write is refused if it breaks one of these rules and never else; a slot looks up what it was given last, and is written only
/// while none of its requests is inside (spec 1.3). By induction over one clock.
///
/// Refusals are stated for four slots at most: with sixteen, the solver finds no end in two minutes.
///
/// Holes: who leaves or wakes was inside, and no more are inside than the unit has room for, which `atoms_unit` sees to; that
/// a request looks up its own slot is `issue`'s. The pair of slots is any, of sixteen.
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
  localparam int unsigned RowBytes = NumBanks * 4;

  /// Requests that can be inside: in both queues, at issue, in the pipeline and suspended.
  localparam int unsigned Room = QueueDepth + ClusterQueueDepth + 1 + (RmwLatency + 1) + NumWaiters;

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

  /// First byte of an allocation in memory, and the first byte behind it. A row that is begun is its own.
  function automatic logic [31:0] begins(allocation_t part);
    begins = 32'(part.base) * RowBytes;
  endfunction
  function automatic logic [31:0] ends(allocation_t part);
    ends = begins(part) + 32'(part.size);
  endfunction

  /// True if a slot may not have this allocation: not a slot, not in memory, or between rows of another slot's.
  function automatic logic refuses(slot_t slot, allocation_t part);
    refuses = (32'(slot) >= NumCtaSlots) || (ends(part) > NumRows * RowBytes);
    for (int unsigned s = 0; s < NumCtaSlots; s++)
      if (dut.valid_q[s] && (slot_t'(s) != slot) && (ends(part) > begins(dut.allocation_q[s]))
          && (ends(dut.allocation_q[s]) > begins(part))) refuses = 1'b1;
  endfunction

  // What is offered, and what the two slots have: copies, so that the solver compares two allocations and not two of all.
  allocation_t offered, given, a, b;
  logic        taken, refused, was_refused;
  assign offered = '{size: size_i, base: base_i, rank: rank_i, valid: 1'b1};
  assign taken   = valid_i && ready;
  assign refused = enable_i && ((NumCtaSlots <= 4) ? refuses(slot_i, offered) : dut.refused);
  assign given   = (enable_i && !refused) ? offered : '0;
  always_ff @(posedge clk_i) begin
    was_refused <= rst_ni && taken && refused;
    if (taken && (slot_i == slot_t'(one)))   a <= given;
    if (taken && (slot_i == slot_t'(other))) b <= given;
    if (!rst_ni) begin
      a.valid <= 1'b0;
      b.valid <= 1'b0;
    end
  end

  // Requests of `one` inside.
  logic [7:0] residents, enters, leaves;
  assign enters = 8'(warp_enter_i && (warp_slot_i == slot_t'(one))) + 8'(cluster_enter_i && (cluster_slot_i == slot_t'(one)));
  assign leaves = 8'(leave_i && (leave_slot_i == slot_t'(one))) + 8'(woken_i && (woken_slot_i == slot_t'(one)));
  always_ff @(posedge clk_i) residents <= rst_ni ? residents + enters - leaves : '0;

  always_comb begin
    if (leave_i && (32'(leave_slot_i) < NumCtaSlots)) assume (dut.inside_q[SlotBits'(leave_slot_i)] != '0);
    if (woken_i) assume ((32'(woken_slot_i) < NumCtaSlots) && (dut.inside_q[SlotBits'(woken_slot_i)] != '0));
    assume ((32'(one_i) < NumCtaSlots) && (32'(other_i) < NumCtaSlots));
    if (was_reset) begin
      assume ((leaves <= residents) && (residents + enters <= Room));
      RejectMatchesSpec:          assert (reject == was_refused);
      InsideCountMatchesRequests: assert ((8'(dut.inside_q[one]) == residents) && (residents <= Room));
      ChosenSlotsExist:           assert ((32'(one) < NumCtaSlots) && (32'(other) < NumCtaSlots));
      if (slot_i == slot_t'(one))       WriteReadyIffSlotIdle: assert (ready == (residents == '0));
      if (32'(slot_i) >= NumCtaSlots)   MissingSlotWriteReady: assert (ready);
      if (lookup_i == slot_t'(one))     LookupMatchesSlotAllocation:
        assert ((allocation.valid == a.valid) && (!a.valid || (allocation == a)));
      if (32'(lookup_i) >= NumCtaSlots) MissingSlotHasNoAllocation: assert (!allocation.valid);
      TableHoldsLastWrite: assert ((dut.valid_q[one] == a.valid) && (!a.valid || (a == dut.allocation_q[one]))
                                   && (dut.valid_q[other] == b.valid) && (!b.valid || (b == dut.allocation_q[other])));
      if (a.valid) AllocationLiesInMemory: assert (ends(a) <= NumRows * RowBytes);
      if ((one != other) && a.valid && b.valid)
        AllocationsShareNoRow: assert ((ends(a) <= begins(b)) || (ends(b) <= begins(a)));
    end
  end
endmodule : cta_table_proof
