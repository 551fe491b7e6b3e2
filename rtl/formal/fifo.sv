/// FIFO order: each entry leaves once, unmodified, after all earlier entries and before all later ones.
/// Proved by induction over one clock.
///
/// Limits: a queue of three entries of eight bits. A requester must accept the entry that it is shown; this is
/// not a property of the queue.
module fifo_proof (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       valid_i,
  input logic [7:0] data_i,
  input logic       pop_i,
  /// The offered entry is the tracked one.
  input logic       this_i
);
  localparam int unsigned Depth = 3;
  logic       ready_o, valid_o;
  logic [7:0] data_o;
  logic [1:0] count_o;
  atoms_fifo #(.T(logic [7:0]), .Depth(Depth)) dut (.*);

  logic       was_reset = 1'b0, tracked = 1'b0;
  logic [7:0] entry;
  logic [1:0] ahead;   // entries before the tracked one
  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    if (!rst_ni) tracked <= 1'b0;
    else if (!tracked) begin
      if (valid_i && ready_o && this_i) begin
        tracked <= 1'b1;
        entry  <= data_i;
        ahead <= count_o - 2'(pop_i);
      end
    end else if (pop_i) begin
      ahead <= ahead - 1;
      if (ahead == '0) tracked <= 1'b0;
    end
  end

  /// Index of the entry that is `further` places after the head.
  function automatic logic [1:0] place(logic [1:0] head, logic [1:0] further);
    logic [2:0] sum;
    sum   = 3'(head) + 3'(further);
    place = (sum >= 3'(Depth)) ? 2'(sum - 3'(Depth)) : 2'(sum);
  endfunction

  always_comb begin
    assume (was_reset || !rst_ni);
    assume (!pop_i || valid_o);
    if (was_reset) begin
      FifoCountWithinDepth:
        assert ((count_o <= 2'(Depth)) && (dut.head_q < 2'(Depth)) && (dut.tail_q == place(dut.head_q, count_o)));
      ReadyAndValidMatchCount: assert ((ready_o == (count_o != 2'(Depth))) && (valid_o == (count_o != '0)));
      if (tracked) begin
        TrackedEntryKept: assert ((ahead < count_o) && (dut.entry_q[place(dut.head_q, ahead)] == entry));
        if (ahead == '0) TrackedEntryAtHead: assert (valid_o && (data_o == entry));
      end
    end
  end
endmodule : fifo_proof
