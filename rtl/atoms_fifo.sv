`include "atoms_assert.svh"

/// First-in first-out queue. Mirror: `model/src/fifo.rs`.
///
/// An entry pushed in one cycle is visible at the head in the next cycle. `ready_o` depends on registers
/// only, so that no combinational path connects the inputs of one port to the outputs of the other.
module atoms_fifo #(
  /// Type of an entry.
  parameter type         T     = logic,
  /// Number of entries, at least 1.
  parameter int unsigned Depth = 2,
  /// Width of the fill count in bits.
  localparam int unsigned CountBits = $clog2(Depth + 1)
) (
  /// Clock: registers change at its rising edge.
  input  logic                 clk_i,
  /// Synchronous reset, active low. Empties the queue.
  input  logic                 rst_ni,
  /// 1 if `data_i` is offered.
  input  logic                 valid_i,
  /// 1 if the queue accepts an entry. Depends on registers only.
  output logic                 ready_o,
  /// Entry offered; meaningful with `valid_i`.
  input  T                     data_i,
  /// 1 if the queue is not empty.
  output logic                 valid_o,
  /// Oldest entry; meaningless without `valid_o`.
  output T                     data_o,
  /// Removes the oldest entry. Allowed only with `valid_o`.
  input  logic                 pop_i,
  /// Number of entries in the queue.
  output logic [CountBits-1:0] count_o
);
  localparam int unsigned PtrBits = Depth > 1 ? $clog2(Depth) : 1;
  typedef logic [PtrBits-1:0]   ptr_t;
  typedef logic [CountBits-1:0] count_t;

  function automatic ptr_t after(ptr_t ptr);
    after = (ptr == ptr_t'(Depth - 1)) ? '0 : ptr + ptr_t'(1);
  endfunction

  T       entry_q [Depth];
  ptr_t   head_q, head_d, tail_q, tail_d;
  count_t count_q, count_d;
  logic   push;

  assign ready_o = count_q != count_t'(Depth);
  assign valid_o = count_q != '0;
  assign data_o  = entry_q[head_q];
  assign count_o = count_q;
  assign push    = valid_i && ready_o;

  always_comb begin
    head_d  = pop_i ? after(head_q) : head_q;
    tail_d  = push ? after(tail_q) : tail_q;
    count_d = count_q + count_t'(push) - count_t'(pop_i);
  end

  always_ff @(posedge clk_i) begin
    if (push) entry_q[tail_q] <= data_i;
    if (!rst_ni) begin
      head_q  <= '0;
      tail_q  <= '0;
      count_q <= '0;
    end else begin
      head_q  <= head_d;
      tail_q  <= tail_d;
      count_q <= count_d;
    end
  end

  `ATOMS_ASSERT(FifoPopNeedsEntry, !pop_i || valid_o)

  `ATOMS_COVER(OfferedWhileFull, valid_i && !ready_o)
  `ATOMS_COVER(OfferedAndPoppedWhileFull, valid_i && !ready_o && pop_i)
  `ATOMS_COVER(PushedAndPopped, push && pop_i)
  `ATOMS_COVER(PushedIntoEmpty, push && (count_q == '0))
  `ATOMS_COVER(PushedToFull, push && !pop_i && (count_q == count_t'(Depth - 1)))
  `ATOMS_COVER(PoppedToEmpty, pop_i && !push && (count_q == count_t'(1)))
  `ATOMS_COVER(HeadWraps, pop_i && (head_q == ptr_t'(Depth - 1)))
  `ATOMS_COVER(TailWraps, push && (tail_q == ptr_t'(Depth - 1)))
endmodule : atoms_fifo
