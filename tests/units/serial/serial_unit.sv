`ifndef BUG
`define BUG 0
`endif

/// Serial atomic unit: a test object with the ports of `atoms_unit` and another design behind them.
///
/// One request is carried out at a time, one lane at a time, the highest lane first. Each access waits 0 to 7 cycles.
/// Operations: ADD, MIN, MAX, INC, DEC, AND, OR, XOR, EXCH, CAS, LDS and STS, of 32 bits and, for the last four, 64 bits.
/// All others are illegal instructions. `rsp_passes_o` is 0.
///
/// The macro `BUG` plants one of these bugs:
///  1  the second of two successive lanes on one address works on the value before the first: a lost update
///  2  MIN of u32 compares as two's complement
///  3  CAS of u64 compares only the low word
///  4  the predicate of CAS is inverted for the highest lane
///  5  the response names the highest faulting lane instead of the lowest
///  6  a response whose request waited for the response port has the tag of the response before it
///  7  a posted cluster request that takes the last entry of the queue is lost
///  8  INC wraps one above the limit
///  9  the first row of slot 1 is ignored
/// 10  results of inactive lanes are those of an earlier request instead of 0
module serial_unit
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input  logic                 clk_i, rst_ni,
  // Warp requests and responses
  input  logic                 req_valid_i,
  output logic                 req_ready_o,
  input  logic [4:0]           req_op_i,
  input  logic [3:0]           req_size_i,
  input  logic                 req_red_i, req_absolute_i,
  input  logic [2:0]           req_scale_i,
  input  tag_t                 req_tag_i,
  input  slot_t                req_slot_i,
  input  lane_mask_t           req_mask_i,
  input  logic [23:0]          req_imm_i,
  input  addr_t                req_ur_i,
  input  addr_t [NumLanes-1:0] req_ra_i,
  input  wide_t [NumLanes-1:0] req_b_i, req_c_i,
  output logic                 rsp_valid_o,
  input  logic                 rsp_ready_i,
  output tag_t                 rsp_tag_o,
  output wide_t [NumLanes-1:0] rsp_rd_o,
  output lane_mask_t           rsp_pred_o,
  output logic [1:0]           rsp_fault_o,
  output logic [4:0]           rsp_fault_lane_o,
  output addr_t                rsp_fault_addr_o,
  output passes_t              rsp_passes_o,
  // Cluster requests and responses
  input  logic                 cl_valid_i,
  output logic                 cl_ready_o,
  input  logic [4:0]           cl_op_i,
  input  logic [3:0]           cl_size_i,
  input  logic                 cl_red_i,
  input  tag_t                 cl_tag_i,
  input  slot_t                cl_slot_i,
  input  logic [23:0]          cl_addr_i,
  input  wide_t                cl_b_i, cl_c_i,
  output logic                 cl_rsp_valid_o,
  input  logic                 cl_rsp_ready_i,
  output tag_t                 cl_rsp_tag_o,
  output wide_t                cl_rsp_rd_o,
  output logic                 cl_rsp_pred_o,
  output logic [1:0]           cl_rsp_fault_o,
  output addr_t                cl_rsp_fault_addr_o,
  // Wake-ups and CTA table
  output logic                 wake_valid_o,
  input  logic                 wake_ready_i,
  output tag_t                 wake_tag_o,
  output lane_mask_t           wake_pred_o,
  input  logic                 cta_valid_i,
  output logic                 cta_ready_o,
  input  slot_t                cta_slot_i,
  input  logic                 cta_enable_i,
  input  logic [15:0]          cta_base_i,
  input  logic [24:0]          cta_size_i,
  input  logic [7:0]           cta_rank_i,
  output logic                 cta_reject_o
);
  localparam int unsigned Bug = `BUG;
  localparam int unsigned Words = NumBanks * NumRows;
  localparam int unsigned Requests = 2;                 // entries of the cluster queue
  localparam int unsigned Answers = ClusterResponses;   // room for cluster responses (spec 4.7)
  typedef logic [$clog2(Words)-1:0] index_t;            // number of a word in memory
  typedef logic [63:0]              pair_t;

  typedef struct packed {
    logic [4:0]           op;
    logic [3:0]           size;
    logic                 red;
    tag_t                 tag;
    slot_t                slot;
    lane_mask_t           mask;
    addr_t [NumLanes-1:0] addr;
    pair_t [NumLanes-1:0] b, c;
  } warp_t;
  typedef struct packed {
    logic [4:0]  op;
    logic [3:0]  size;
    logic        red;
    tag_t        tag;
    slot_t       slot;
    logic [23:0] addr;
    pair_t       b, c;
  } cluster_t;

  logic                       warp_valid_q, waited_q;   // waited: the response port was not free (bug 6)
  warp_t                      warp_q;
  cluster_t [Requests-1:0]    cluster_q, cluster_d;     // entry 0 is the oldest
  logic [1:0]                 requests_q, requests_d;   // number of entries
  cluster_rsp_t [Answers-1:0] answers_q, answers_d;     // entry 0 is the oldest
  logic [3:0]                 owed_q, owed_d;           // number of entries
  allocation_t                table_q [NumCtaSlots];
  word_t                      memory_q [Words];
  initial memory_q = '{default: '0};

  // The request that is carried out
  enum logic [1:0] {Idle, Check, Access} state_q;
  logic                       serves_cluster_q;         // the request came through the cluster port
  lane_mask_t                 left_q;                   // lanes that wait for their access
  logic [2:0]                 delay_q;                  // cycles until the next access
  logic [15:0]                lfsr_q;
  cluster_rsp_t               result_q;                 // of a cluster request; the faults also of a warp request
  logic [4:0]                 fault_lane_q;
  logic                       before_valid_q;           // bug 1: the access before, of the same request
  addr_t                      before_addr_q;
  pair_t                      before_old_q;

  /// Returns 1 if the unit has the operation in this size.
  function automatic logic known(logic [4:0] op, logic [3:0] size);
    case (op)
      OpAdd, OpMin, OpMax, OpAnd, OpOr, OpXor: known = size inside {SizeU32, SizeS32};
      OpInc, OpDec:                            known = size == SizeU32;
      OpExch, OpCas:                           known = size inside {SizeU32, SizeS32, SizeU64};
      OpLoad, OpStore:                         known = size inside {SizeU32, SizeU64};
      default:                                 known = 1'b0;
    endcase
  endfunction

  /// Returns 1 if a cluster request without a fault gets no response (spec 4.7).
  function automatic logic silent(logic [4:0] op, logic red);
    silent = red && !(op inside {OpCas, OpCast, OpCastSpin});
  endfunction

  function automatic logic below(word_t a, word_t b, logic as_signed);
    below = as_signed ? $signed(a) < $signed(b) : a < b;
  endfunction

  /// Returns the value that the operation leaves in memory. The high word has a meaning only in 64 bits.
  function automatic pair_t new_value(logic [4:0] op, logic as_signed, pair_t m, pair_t b, pair_t c);
    word_t old, value;
    old   = m[31:0];
    value = b[31:0];
    case (op)
      OpAdd:           new_value = {32'd0, old + value};
      OpMin:           new_value = below(value, old, as_signed || (Bug == 2)) ? b : m;
      OpMax:           new_value = below(old, value, as_signed) ? b : m;
      OpInc:           new_value = (Bug == 8 ? old > value : old >= value) ? '0 : {32'd0, old + 32'd1};
      OpDec:           new_value = ((old == '0) || (old > value)) ? b : {32'd0, old - 32'd1};
      OpAnd:           new_value = m & b;
      OpOr:            new_value = m | b;
      OpXor:           new_value = m ^ b;
      OpExch, OpStore: new_value = b;
      default:         new_value = c;   // CAS
    endcase
  endfunction

  /// Returns the row after the last row of an allocation.
  function automatic int unsigned end_row(logic [15:0] base, logic [24:0] bytes);
    end_row = 32'(base) + (32'(bytes) + 4 * NumBanks - 1) / (4 * NumBanks);
  endfunction

  // The request that is carried out, from either port
  logic [4:0]           op;
  logic [3:0]           size;
  logic                 red, wide;
  slot_t                slot;
  lane_mask_t           mask;
  addr_t [NumLanes-1:0] addr;
  allocation_t          allocation;
  always_comb begin
    {op, size, red, slot} = {warp_q.op, warp_q.size, warp_q.red, warp_q.slot};
    mask = warp_q.mask;
    addr = warp_q.addr;
    if (serves_cluster_q) begin
      {op, size, red, slot} = {cluster_q[0].op, cluster_q[0].size, cluster_q[0].red, cluster_q[0].slot};
      mask    = lane_mask_t'(1);
      addr[0] = {8'h0, cluster_q[0].addr};
    end
    wide       = size == SizeU64;
    allocation = '0;
    for (int s = 0; s < int'(NumCtaSlots); s++) if (slot == slot_t'(s)) allocation = table_q[s];
  end

  // Faults of all lanes (spec 2.4, 3.3). The lowest lane comes last in the loop, so that it is reported.
  fault_e     fault, lane_fault;
  logic [4:0] fault_lane;
  addr_t      fault_addr;
  always_comb begin
    {fault_lane, fault_addr} = '0;
    fault      = FaultNone;
    lane_fault = FaultNone;
    for (int l = int'(NumLanes) - 1; l >= 0; l--) begin
      if (!known(op, size)) lane_fault = FaultIllegal;
      else if ((addr[l][1:0] != '0) || (wide && addr[l][2])) lane_fault = FaultMisaligned;
      else if (!allocation.valid || (!serves_cluster_q && (addr[l][31:24] != allocation.rank))
               || (25'(addr[l][23:0]) + (wide ? 25'd8 : 25'd4) > allocation.size)) lane_fault = FaultOutOfRange;
      else lane_fault = FaultNone;
      if (mask[l] && (lane_fault != FaultNone) && ((Bug != 5) || (fault == FaultNone))) begin
        fault      = lane_fault;
        fault_lane = 5'(l);
        fault_addr = addr[l];
      end
    end
  end

  // The access of the highest lane that is left
  lane_t  lane;
  index_t index;
  pair_t  old, b, c, value;
  logic   hit, writes, done;
  always_comb begin
    lane = '0;
    for (int l = 0; l < int'(NumLanes); l++) if (left_q[l]) lane = lane_t'(l);
    b     = serves_cluster_q ? cluster_q[0].b : warp_q.b[lane];
    c     = serves_cluster_q ? cluster_q[0].c : warp_q.c[lane];
    index = index_t'(addr[lane][23:2]);
    if ((Bug != 9) || (slot != slot_t'(1))) index = index + index_t'(NumBanks * 32'(allocation.base));
    old   = {wide ? memory_q[index | index_t'(1)] : 32'd0, memory_q[index]};
    if ((Bug == 1) && before_valid_q && (before_addr_q == addr[lane])) old = before_old_q;
    hit    = (op == OpCas) && (old[31:0] == b[31:0]) && (!wide || (Bug == 3) || (old[63:32] == b[63:32]));
    value  = new_value(op, size == SizeS32, old, b, c);
    done   = (state_q == Access) && (left_q == '0);
    writes = (state_q == Access) && !done && (delay_q == '0) && (op != OpLoad) && ((op != OpCas) || hit) && rst_ni;
  end

  // Not always_ff: an initial block writes the memory, too.
  always @(posedge clk_i) begin
    if (writes) memory_q[index] <= value[31:0];
    if (writes && wide) memory_q[index | index_t'(1)] <= value[63:32];
  end

  // Queues of cluster requests and responses
  logic room, finishes;
  assign room     = owed_q < 4'(Answers);
  assign finishes = done && serves_cluster_q;
  always_comb begin
    {cluster_d, requests_d} = {cluster_q, requests_q};
    {answers_d, owed_d}     = {answers_q, owed_q};
    if (finishes) begin
      cluster_d  = cluster_d >> $bits(cluster_t);
      requests_d = requests_d - 2'd1;
    end
    if (cl_valid_i && cl_ready_o && !((Bug == 7) && (requests_q == 2'd1) && silent(cl_op_i, cl_red_i))) begin
      cluster_d[requests_d[0]] = '{op: cl_op_i, size: cl_size_i, red: cl_red_i, tag: cl_tag_i, slot: cl_slot_i,
                                   addr: cl_addr_i, b: cl_b_i[1:0], c: cl_c_i[1:0]};
      requests_d = requests_d + 2'd1;
    end
    if (cl_rsp_valid_o && cl_rsp_ready_i) begin
      answers_d = answers_d >> $bits(cluster_rsp_t);
      owed_d    = owed_d - 4'd1;
    end
    if (finishes && (!silent(op, red) || (result_q.fault != FaultNone))) begin
      answers_d[$clog2(Answers)'(owed_d)] = result_q;
      owed_d = owed_d + 4'd1;
    end
  end

  // If both ports have a request, the port that was not served last goes first.
  logic warp_waits, cluster_waits;
  assign warp_waits    = warp_valid_q && !rsp_valid_o;
  assign cluster_waits = (requests_q != '0) && (room || silent(cluster_q[0].op, cluster_q[0].red));

  always_ff @(posedge clk_i) begin
    lfsr_q    <= {lfsr_q[14:0], lfsr_q[15] ^ lfsr_q[13] ^ lfsr_q[12] ^ lfsr_q[10]};
    cluster_q <= cluster_d;
    answers_q <= answers_d;

    if (req_valid_i && req_ready_o) begin
      warp_valid_q <= 1'b1;
      {warp_q.op, warp_q.size, warp_q.red} <= {req_op_i, req_size_i, req_red_i};
      {warp_q.tag, warp_q.slot, warp_q.mask} <= {req_tag_i, req_slot_i, req_mask_i};
      for (int l = 0; l < int'(NumLanes); l++) begin
        warp_q.addr[l] <= (req_absolute_i ? '0 : req_ra_i[l] << (req_scale_i inside {2, 3, 4} ? req_scale_i : 3'd0))
                          + {{8{req_imm_i[23] && !req_absolute_i}}, req_imm_i} + req_ur_i;
        warp_q.b[l]    <= req_b_i[l][1:0];
        warp_q.c[l]    <= req_c_i[l][1:0];
      end
    end
    if (rsp_valid_o && rsp_ready_i) rsp_valid_o <= 1'b0;
    if (rsp_valid_o && !rsp_ready_i && warp_valid_q) waited_q <= 1'b1;

    case (state_q)
      Idle: if (warp_waits || cluster_waits) begin
        serves_cluster_q <= cluster_waits && !(warp_waits && serves_cluster_q);
        state_q          <= Check;
      end

      Check: begin
        // A posted request that faults owes a response: without room it goes back to its queue.
        state_q        <= (serves_cluster_q && (fault != FaultNone) && !room) ? Idle : Access;
        result_q       <= '{rd: '0, pred: 1'b0, tag: cluster_q[0].tag, fault: fault, fault_addr: fault_addr};
        fault_lane_q   <= fault_lane;
        left_q         <= (fault == FaultNone) ? mask : '0;
        delay_q        <= lfsr_q[2:0];
        before_valid_q <= 1'b0;
        if (!serves_cluster_q && (Bug != 10)) rsp_rd_o <= '0;
        if (!serves_cluster_q) rsp_pred_o <= '0;
      end

      default: if (done) begin
        state_q <= Idle;
        if (!serves_cluster_q) begin
          {warp_valid_q, waited_q, rsp_valid_o} <= 3'b001;
          rsp_fault_o      <= result_q.fault;
          rsp_fault_lane_o <= fault_lane_q;
          rsp_fault_addr_o <= result_q.fault_addr;
          if (!((Bug == 6) && waited_q)) rsp_tag_o <= warp_q.tag;
        end
      end else if (delay_q != '0) begin
        delay_q <= delay_q - 3'd1;
      end else begin
        delay_q        <= lfsr_q[2:0];
        left_q[lane]   <= 1'b0;
        before_valid_q <= 1'b1;
        before_addr_q  <= addr[lane];
        before_old_q   <= old;
        if (serves_cluster_q) begin
          result_q.rd   <= (red || (op == OpStore)) ? '0 : wide_t'(old);
          result_q.pred <= hit;
        end else begin
          rsp_rd_o[lane]   <= (red || (op == OpStore)) ? '0 : wide_t'(old);
          rsp_pred_o[lane] <= hit ^ ((Bug == 4) && (op == OpCas) && (lane == '1));
        end
      end
    endcase

    {requests_q, owed_q} <= {requests_d, owed_d};
    if (!rst_ni) begin
      {warp_valid_q, waited_q, rsp_valid_o, requests_q, owed_q, serves_cluster_q} <= '0;
      state_q <= Idle;
      lfsr_q  <= 16'hace1;
    end
  end

  // CTA table (spec 1.3)
  logic refused;
  always_comb begin
    cta_ready_o = !(warp_valid_q && (warp_q.slot == cta_slot_i));
    for (int r = 0; r < int'(Requests); r++)
      if ((2'(r) < requests_q) && (cluster_q[r].slot == cta_slot_i)) cta_ready_o = 1'b0;
    refused = (32'(cta_slot_i) >= NumCtaSlots) || (end_row(cta_base_i, cta_size_i) > NumRows);
    for (int s = 0; s < int'(NumCtaSlots); s++)
      if (table_q[s].valid && (slot_t'(s) != cta_slot_i)
          && (32'(cta_base_i) < end_row(table_q[s].base, table_q[s].size))
          && (32'(table_q[s].base) < end_row(cta_base_i, cta_size_i))) refused = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    cta_reject_o <= rst_ni && cta_valid_i && cta_ready_o && cta_enable_i && refused;
    for (int s = 0; s < int'(NumCtaSlots); s++) begin
      if (!rst_ni) table_q[s] <= '0;
      else if (cta_valid_i && cta_ready_o && (cta_slot_i == slot_t'(s)))
        table_q[s] <= '{valid: cta_enable_i && !refused, base: cta_base_i, size: cta_size_i, rank: cta_rank_i};
    end
  end

  assign req_ready_o    = !warp_valid_q;
  assign rsp_passes_o   = '0;
  assign cl_ready_o     = requests_q < 2'(Requests);
  assign cl_rsp_valid_o = owed_q != '0;
  assign {cl_rsp_rd_o, cl_rsp_pred_o, cl_rsp_tag_o, cl_rsp_fault_o, cl_rsp_fault_addr_o} = answers_q[0];
  assign {wake_valid_o, wake_tag_o, wake_pred_o} = '0;

  logic unused;
  assign unused = ^{wake_ready_i, req_b_i, req_c_i, cl_b_i, cl_c_i};
endmodule : serial_unit
