/// Each response of the cluster port fits the queue, and reaches the port once, unmodified and in order,
/// however long earlier responses are not accepted (spec 4.7). The number owed equals the reserved responses
/// that are not yet accepted. Proved by induction over one clock.
///
/// Limits: `issue` proves that room is reserved only if there is some, and `collect` that each response has
/// reserved room. The proof uses five responses.
module cluster_rsp_proof
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  input logic         clk_i,
  input logic         rst_ni,
  input logic         reserve_i,
  input logic         valid_i,
  input cluster_rsp_t rsp_i,
  input logic         ready_i,
  /// The arriving response is the tracked one.
  input logic         this_i
);
  localparam int unsigned Places = ClusterResponses;
  logic         room_o, valid_o;
  cluster_rsp_t rsp_o;
  logic [7:0]   owed_o;
  atoms_cluster_rsp dut (.*);

  logic         was_reset = 1'b0, tracked = 1'b0;
  cluster_rsp_t response;
  logic [7:0]   coming, here, ahead;   // reserved; in the queue; in the queue before the tracked one
  logic         taken;
  assign taken = valid_o && ready_i;
  always_ff @(posedge clk_i) begin
    was_reset <= was_reset || !rst_ni;
    if (!rst_ni) begin
      tracked <= 1'b0;
      coming  <= '0;
      here    <= '0;
    end else begin
      coming <= coming + 8'(reserve_i) - 8'(valid_i);
      here   <= here + 8'(valid_i) - 8'(taken);
      if (!tracked) begin
        if (valid_i && this_i) begin
          tracked  <= 1'b1;
          response <= rsp_i;
          ahead    <= here - 8'(taken);
        end
      end else if (taken) begin
        ahead <= ahead - 1;
        if (ahead == '0) tracked <= 1'b0;
      end
    end
  end

  /// Index of the entry that is `further` places after the head.
  function automatic logic [7:0] place(logic [7:0] head, logic [7:0] further);
    place = (head + further >= 8'(Places)) ? head + further - 8'(Places) : head + further;
  endfunction

  always_comb begin
    assume (was_reset || !rst_ni);
    assume (!reserve_i || room_o);
    assume (!valid_i || (coming != '0));
    if (was_reset) begin
      CountsAndHeadWithinCapacity: assert ((coming <= 8'(Places)) && (here <= 8'(Places)) && (8'(dut.head_q) < 8'(Places)));
      OwedCountMatchesReserved: assert ((owed_o == coming + here) && (owed_o <= 8'(Places)) && (room_o == (owed_o != 8'(Places))));
      HeldCountMatchesResponses: assert ((8'(dut.held_q) == here) && (valid_o == (here != '0))
                                         && (8'(dut.tail_q) == place(8'(dut.head_q), here)));
      if (tracked) begin
        TrackedResponseKept: assert ((ahead < here) && (dut.entry_q[$clog2(Places)'(place(8'(dut.head_q), ahead))] == response));
        if (ahead == '0) TrackedResponseAtPort: assert (valid_o && (rsp_o == response));
      end
    end
  end
endmodule : cluster_rsp_proof
