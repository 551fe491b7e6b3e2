`include "atoms_assert.svh"

/// Queue of cluster responses, and the room reserved for them. Mirror: `model/src/cluster_rsp.rs`.
///
/// Room is reserved when a request that owes a response leaves its queue. Every response therefore fits. A
/// response that is not accepted holds back only requests that owe a response.
module atoms_cluster_rsp
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Clock: registers change at its rising edge.
  input  logic         clk_i,
  /// Synchronous reset, active low. Empties the queue and forgets the owed responses.
  input  logic         rst_ni,
  /// 1 if one more response than the owed ones fits. Depends on registers only.
  output logic         room_o,
  /// A request that owes a response goes to issue. Allowed only with `room_o`.
  input  logic         reserve_i,
  /// A request that owes a response finishes in this cycle.
  input  logic         valid_i,
  /// Response of the finished request; meaningful with `valid_i`.
  input  cluster_rsp_t rsp_i,
  /// `rsp_o` holds the oldest response.
  output logic         valid_o,
  /// The requester accepts the response at the next clock edge.
  input  logic         ready_i,
  /// Oldest response, stable until it is accepted.
  output cluster_rsp_t rsp_o,
  /// Number of responses owed: those reserved at issue and not yet accepted.
  output logic [7:0]   owed_o
);
  typedef logic [$clog2(ClusterResponses)-1:0]   place_of_rsp_t;
  typedef logic [$clog2(ClusterResponses+1)-1:0] count_t;

  function automatic place_of_rsp_t after(place_of_rsp_t place);
    after = (place == place_of_rsp_t'(ClusterResponses - 1)) ? '0 : place + place_of_rsp_t'(1);
  endfunction

  cluster_rsp_t  entry_q [ClusterResponses];
  place_of_rsp_t head_q, head_d, tail_q, tail_d;
  count_t        held_q, held_d;   // responses in the queue
  count_t        owed_q, owed_d;   // those, and the reserved ones
  logic          pop;

  assign valid_o = held_q != '0;
  assign rsp_o   = entry_q[head_q];
  assign pop     = valid_o && ready_i;
  assign room_o  = owed_q != count_t'(ClusterResponses);
  assign owed_o  = 8'(owed_q);

  always_comb begin
    head_d = pop ? after(head_q) : head_q;
    tail_d = valid_i ? after(tail_q) : tail_q;
    held_d = held_q + count_t'(valid_i) - count_t'(pop);
    owed_d = owed_q + count_t'(reserve_i) - count_t'(pop);
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && rst_ni) entry_q[tail_q] <= rsp_i;
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      held_q <= '0;
      owed_q <= '0;
    end else begin
      head_q <= head_d;
      tail_q <= tail_d;
      held_q <= held_d;
      owed_q <= owed_d;
    end
  end

  `ATOMS_ASSERT(ClusterResponseHasReservedRoom, !valid_i || (held_q != owed_q))
  `ATOMS_ASSERT(ClusterReserveNeedsRoom, !reserve_i || room_o)

  `ATOMS_COVER(ClusterResponsesFull, held_q == count_t'(ClusterResponses))
  `ATOMS_COVER(ClusterRoomExhausted, !room_o)
  `ATOMS_COVER(ClusterReserveWithPop, reserve_i && pop)
  `ATOMS_COVER(ClusterHeadWraps, pop && (head_q == place_of_rsp_t'(ClusterResponses - 1)))
endmodule : atoms_cluster_rsp
