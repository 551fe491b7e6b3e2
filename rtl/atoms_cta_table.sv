`include "atoms_assert.svh"

/// The allocation of shared memory that each CTA slot owns. Mirror: `model/src/cta_table.rs`.
///
/// The table enforces the two rules of isolation (spec 1.3). Allocations of different slots never share a
/// row, and an allocation never changes while a request of its slot is in flight.
module atoms_cta_table
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic        clk_i,
  /// Synchronous reset, active low. Removes all allocations.
  input  logic        rst_ni,
  /// A table write is offered.
  input  logic        valid_i,
  /// 1 if a write of `slot_i` is accepted: no request of that slot is in flight.
  output logic        ready_o,
  /// CTA slot to write.
  input  slot_t       slot_i,
  /// 1 gives the slot an allocation, 0 removes it.
  input  logic        enable_i,
  /// First row of the allocation.
  input  logic [15:0] base_i,
  /// Size of the allocation in bytes.
  input  logic [24:0] size_i,
  /// Rank of the CTA in its cluster.
  input  logic [7:0]  rank_i,
  /// The write accepted in the previous cycle was refused, and left the slot without an allocation.
  output logic        reject_o,
  /// A warp request enters the unit.
  input  logic        warp_enter_i,
  /// CTA slot of that warp request.
  input  slot_t       warp_slot_i,
  /// A cluster request enters the unit.
  input  logic        cluster_enter_i,
  /// CTA slot of that cluster request.
  input  slot_t       cluster_slot_i,
  /// A request has made its last access and leaves the pipeline. It may still owe a response.
  input  logic        leave_i,
  /// CTA slot of that request.
  input  slot_t       leave_slot_i,
  /// The wake-up or timeout of a suspended request moves to the wake-up port.
  input  logic        woken_i,
  /// CTA slot of that suspended request.
  input  slot_t       woken_slot_i,
  /// CTA slot to look up.
  input  slot_t       lookup_i,
  /// Allocation of slot `lookup_i`; not valid for a slot that does not exist.
  output allocation_t allocation_o
);
  localparam int unsigned SlotBits = NumCtaSlots > 1 ? $clog2(NumCtaSlots) : 1;
  localparam int unsigned RowBytesLog2 = BankBits + 2;
  /// Maximum number of requests of one slot in flight: both queues, issue, every pipeline stage, and the
  /// waiters.
  localparam int unsigned MaxInside = QueueDepth + ClusterQueueDepth + RmwLatency + 2 + NumWaiters;
  localparam int unsigned InsideBits = $clog2(MaxInside + 1);
  typedef logic [SlotBits-1:0]   index_t;
  typedef logic [InsideBits-1:0] inside_t;
  /// Row number, wide enough for allocations that extend beyond the memory.
  typedef logic [24:0]           rows_t;

  logic    [NumCtaSlots-1:0] valid_q;
  allocation_t               allocation_q [NumCtaSlots];  // meaningless without `valid_q`
  inside_t [NumCtaSlots-1:0] inside_q, inside_d;
  logic    reject_q;

  function automatic logic exists(slot_t slot);
    exists = 32'(slot) < NumCtaSlots;
  endfunction

  function automatic rows_t end_row(logic [15:0] base, logic [24:0] size);
    logic [24:0] whole;
    whole   = size >> RowBytesLog2;
    end_row = rows_t'(base) + whole + rows_t'((whole << RowBytesLog2) != size);
  endfunction

  assign ready_o  = !exists(slot_i) || (inside_q[index_t'(slot_i)] == '0);
  assign reject_o = reject_q;

  always_comb begin
    allocation_o       = allocation_q[index_t'(lookup_i)];
    allocation_o.valid = exists(lookup_i) && valid_q[index_t'(lookup_i)];
  end

  always_comb begin
    inside_d = inside_q;
    if (warp_enter_i && exists(warp_slot_i)) begin
      inside_d[index_t'(warp_slot_i)] = inside_d[index_t'(warp_slot_i)] + inside_t'(1);
    end
    if (cluster_enter_i && exists(cluster_slot_i)) begin
      inside_d[index_t'(cluster_slot_i)] = inside_d[index_t'(cluster_slot_i)] + inside_t'(1);
    end
    if (leave_i && exists(leave_slot_i)) begin
      inside_d[index_t'(leave_slot_i)] = inside_d[index_t'(leave_slot_i)] - inside_t'(1);
    end
    // A suspended request has touched memory, so its slot exists.
    if (woken_i) begin
      inside_d[index_t'(woken_slot_i)] = inside_d[index_t'(woken_slot_i)] - inside_t'(1);
    end
  end

  logic  write, refused;
  allocation_t written;
  assign write = valid_i && ready_o;

  always_comb begin
    refused = 1'b0;
    written = '{size: size_i, base: base_i, rank: rank_i, valid: 1'b1};
    if (write && enable_i) begin
      refused = !exists(slot_i) || (end_row(base_i, size_i) > rows_t'(NumRows));
      for (int unsigned s = 0; s < NumCtaSlots; s++) begin
        if (valid_q[s] && (slot_t'(s) != slot_i)
            && (rows_t'(base_i) < end_row(allocation_q[s].base, allocation_q[s].size))
            && (rows_t'(allocation_q[s].base) < end_row(base_i, size_i))) refused = 1'b1;
      end
    end
    if (refused || !enable_i) written = '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reject_q <= 1'b0;
      valid_q  <= '0;
      inside_q <= '0;
    end else begin
      reject_q <= refused;
      inside_q <= inside_d;
      if (write && exists(slot_i)) valid_q[index_t'(slot_i)] <= written.valid;
    end
    if (write && exists(slot_i)) allocation_q[index_t'(slot_i)] <= written;
  end

  `ATOMS_ASSERT(CtaLeaveNeedsRequestInFlight,
                !(leave_i && exists(leave_slot_i)) || (inside_q[index_t'(leave_slot_i)] != '0))
  `ATOMS_ASSERT(CtaWakeUpNeedsRequestInFlight,
                !woken_i || (exists(woken_slot_i) && (inside_q[index_t'(woken_slot_i)] != '0)))
  `ATOMS_ASSERT(CtaAllocationKeptWhileInUse,
                !(write && exists(slot_i)) || (inside_q[index_t'(slot_i)] == '0))

  `ATOMS_COVER(WriteWaits, valid_i && !ready_o)
  `ATOMS_COVER(WriteWithOtherSlotsInFlight, write && (inside_q != '0))
  `ATOMS_COVER(EnterAsSlotIsWritten, write && warp_enter_i && (warp_slot_i == slot_i))
  `ATOMS_COVER(WarpAndClusterEnterSameSlot, warp_enter_i && cluster_enter_i && (warp_slot_i == cluster_slot_i))
  `ATOMS_COVER(LeaveAndWakeUpOfSameSlot, leave_i && woken_i && (leave_slot_i == woken_slot_i))
  `ATOMS_COVER(EnterAndLeaveOfSameSlot, warp_enter_i && leave_i && (warp_slot_i == leave_slot_i))
endmodule : atoms_cta_table
