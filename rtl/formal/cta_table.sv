/// Allocations of two CTAs never share a row, and lie in memory, after any sequence of table writes. Proved
/// by induction over one clock.
///
/// A write is refused only if it breaks one of these rules. A lookup returns the last allocation of the slot.
/// A slot is written only while none of its requests is in flight (spec 1.3).
///
/// The refusal is specified here for up to four slots only: for sixteen slots the solver does not finish in
/// two minutes.
///
/// Limits: `atoms_unit` ensures that only requests in flight leave or wake, and that at most `Room` requests
/// are in flight. `issue` proves that a request looks up its own slot. The proof covers any two of sixteen
/// slots.
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
  /// Any two slots; tracked from the first cycle on.
  input logic [$clog2(NumCtaSlots)-1:0] one_i, other_i
);
  localparam int unsigned SlotBits = $clog2(NumCtaSlots);
  localparam int unsigned RowBytes = NumBanks * 4;

  /// Maximum number of requests in flight: in both queues, at issue, in the pipeline and suspended.
  localparam int unsigned Room = QueueDepth + ClusterQueueDepth + 1 + (RmwLatency + 1) + NumWaiters;

  logic        ready, reject;
  allocation_t allocation;
  atoms_cta_table dut (.ready_o(ready), .reject_o(reject), .allocation_o(allocation), .*);

  logic                was_reset = 1'b0;
  logic [SlotBits-1:0] one, other;   // chosen in the first cycle
  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    if (!was_reset) begin
      one   <= one_i;
      other <= other_i;
    end
  end

  /// First byte of an allocation in memory, and first byte after it. A row that is partly used belongs to the
  /// allocation.
  function automatic logic [31:0] begins(allocation_t part);
    begins = 32'(part.base) * RowBytes;
  endfunction
  function automatic logic [31:0] ends(allocation_t part);
    ends = begins(part) + 32'(part.size);
  endfunction

  /// True if a slot may not have this allocation. The slot does not exist, the allocation exceeds the memory,
  /// or it shares a row with another slot.
  function automatic logic refuses(slot_t slot, allocation_t part);
    refuses = (32'(slot) >= NumCtaSlots) || (ends(part) > NumRows * RowBytes);
    for (int unsigned s = 0; s < NumCtaSlots; s++)
      if (dut.valid_q[s] && (slot_t'(s) != slot) && (ends(part) > begins(dut.allocation_q[s]))
          && (ends(dut.allocation_q[s]) > begins(part))) refuses = 1'b1;
  endfunction

  // The offered allocation, and copies of those of the two slots. With copies the solver compares two
  // allocations, not two of all slots.
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
