/// Types and rules that several modules share.
///
/// Functions that loop over all lanes or banks are defined in the modules that use them, with
/// `verilator no_inline_task`. Verilator then makes each a C++ function, whose loops a compiler can vectorize.
/// This halves the simulation time per cycle; other tools ignore the comment. These functions build masks
/// with shifts, because a write of one indexed bit would prevent vectorization.
package atoms_pkg;
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;

  /// Bits in a shared-memory word; a bank is one word wide (spec 1.2).
  parameter int unsigned WordBits = 32;
  /// Words in the widest access (128 bits).
  parameter int unsigned MaxWords = 4;
  /// Entries of the cluster port's request queue.
  parameter int unsigned ClusterQueueDepth = 2;
  /// Capacity for cluster responses. Large enough to accept a request that owes a response in every cycle, if
  /// each response is accepted in the cycle in which it becomes valid.
  parameter int unsigned ClusterResponses = RmwLatency + 4;

  parameter int unsigned LaneBits = $clog2(NumLanes);
  parameter int unsigned BankBits = $clog2(NumBanks);

  /// Winner policies, as in `WinnerPolicy` (spec 4.2).
  parameter int unsigned PolicyLowest   = 0;
  parameter int unsigned PolicyHighest  = 1;
  parameter int unsigned PolicyRotating = 2;

  typedef logic [WordBits-1:0]               word_t;
  /// Operand or result of one lane; word 0 has the lowest address.
  typedef logic [MaxWords-1:0][WordBits-1:0] wide_t;
  typedef logic [LaneBits-1:0]               lane_t;
  typedef logic [BankBits-1:0]               bank_t;
  /// Row of a bank, below NumRows. A whole word, so that an array of rows is an array of words, which
  /// simulators process several at a time. Synthesis removes the upper bits, which are always zero.
  typedef logic [WordBits-1:0]               row_t;
  typedef logic [NumLanes-1:0]               lane_mask_t;
  typedef logic [NumBanks-1:0]               bank_mask_t;
  typedef logic [31:0]                       addr_t;
  typedef logic [5:0]                        tag_t;
  typedef logic [3:0]                        slot_t;
  /// Passes of one request: 0 to NumLanes.
  typedef logic [5:0]                        passes_t;

  /// Fields of a request that all its lanes share.
  typedef struct packed {
    lane_mask_t  mask;      // active lanes (spec 2.6)
    addr_t       ur;        // uniform register of the address
    logic [23:0] imm;       // immediate of the address
    slot_t       slot;
    tag_t        tag;       // returned with the response
    logic [2:0]  scale;     // log2 of the factor on Ra: 0, 2, 3 or 4 (spec 2.2)
    logic        absolute;  // Ra is ignored, the immediate is zero-extended (spec 2.1)
    logic        red;       // no result is wanted
    size_e       size;
    op_e         op;
  } req_meta_t;

  /// Warp request in the queue. Its operands are in `atoms_operands`.
  typedef struct packed {
    req_meta_t                meta;
    addr_t     [NumLanes-1:0] ra;
  } warp_req_t;

  /// Cluster request in the queue: one lane, addressed by an offset in bytes.
  typedef struct packed {
    logic [23:0] addr;
    slot_t       slot;
    tag_t        tag;
    logic        red;
    size_e       size;
    op_e         op;
    wide_t       c;
    wide_t       b;
  } cluster_req_t;

  /// Allocation of shared memory that a CTA slot owns.
  typedef struct packed {
    logic [24:0] size;   // bytes
    logic [15:0] base;   // first row, the same in every bank
    logic [7:0]  rank;   // rank of the CTA in its cluster
    logic        valid;
  } allocation_t;

  /// Bank address at which a lane's access begins. A whole word, as for `row_t`.
  typedef struct packed {
    logic [15:0] row;
    logic [7:0]  bank;      // bank of the first word
    logic [7:0]  in_word;   // byte within that word
  } bank_addr_t;

  // Arrays with one element per lane or per bank.
  typedef bank_addr_t [NumLanes-1:0] bank_addrs_t;
  typedef addr_t  [NumLanes-1:0] addrs_t;
  typedef wide_t  [NumLanes-1:0] wides_t;
  typedef word_t  [NumBanks-1:0] words_t;
  typedef row_t   [NumBanks-1:0] rows_t;
  typedef lane_t                 lanes_t [NumBanks];

  /// Counter of one bank for the priority lane of CAST.SPIN (spec 5.4). The fields form one number, with
  /// `step` at the low end.
  typedef struct packed {
    lane_t                       lane;   // priority lane if `hold` is 1
    logic                        hold;   // if 0, the priority lane is `step` modulo NumLanes
    logic [$clog2(SpinHold)-1:0] step;
  } spin_turn_t;
  typedef spin_turn_t            spin_turns_t [NumBanks];

  /// mbarrier object, sm_90 and later (spec 6.2). Counts are stored negated.
  typedef struct packed {
    logic        phase;      // parity of the phase
    logic [19:0] pending;    // minus the arrivals that the phase still waits for
    logic        lock;       // 0 at rest
    logic [20:0] tx;         // minus the transactions that the phase still waits for
    logic [19:0] expected;   // minus the arrivals expected in every phase
    logic        version;    // layout version: 0
  } mbar_t;

  /// Response of the cluster port, as it waits in `atoms_cluster_rsp`.
  typedef struct packed {
    wide_t  rd;
    logic   pred;
    tag_t   tag;
    fault_e fault;
    addr_t  fault_addr;
  } cluster_rsp_t;

  typedef struct packed {
    lane_mask_t  mask;       // active lanes
    row_t        row;        // row of the object
    bank_t       bank;       // first bank of the object
    slot_t       slot;
    tag_t        tag;
  } waiter_t;

  /// Fields of a pass that move through the pipeline, without the data words.
  typedef struct packed {
    lane_mask_t  served;      // lanes that get their result from this pass
    lane_mask_t  win;         // lanes that perform their operation; fewer only for CAST.SPIN
    lane_mask_t  asked;       // lanes that test the odd phase of an mbarrier object
    addr_t       fault_addr;
    logic [4:0]  fault_lane;
    fault_e      fault;
    passes_t     passes;      // passes of the request so far, including this one
    slot_t       slot;
    tag_t        tag;
    logic        first;       // first pass of its request
    logic        last;        // last pass of its request
    logic        cluster;     // the request came through the cluster port
    logic        red;
    size_e       size;
    op_e         op;
    logic        valid;
  } pass_t;

  /// Returns 1 for a posted cluster request, which wants neither a result nor a predicate (spec 4.7).
  function automatic logic posted(op_e op, logic red);
    posted = red && !compares(op);
  endfunction

  /// Returns 1 if a cluster request owes a response. A posted request owes one only after a fault.
  function automatic logic owes_response(op_e op, logic red, fault_e fault);
    owes_response = !posted(op, red) || (fault != FaultNone);
  endfunction

  /// Returns the object after `lanes` arrivals, one by one. Bit 64 is 1 if a phase was completed. Only with
  /// MergeArrive can one pass hold several arrivals.
  ///
  /// Let p be the pending and e the expected arrivals; a field of zero means 2^20, more than a warp has. The
  /// first p arrivals complete the phase, and every further e arrivals complete another phase. After the
  /// first p, fewer than a warp of arrivals remain. The loop therefore subtracts e * 2^k at once, for every k
  /// below LaneBits, largest first. The rest is the number of arrivals in the last phase. Counts are negated:
  /// the carry of an addition means that enough lanes have arrived, and the sum is the new rest.
  function automatic logic [64:0] arrive_each(mbar_t object, logic [5:0] lanes);
    logic [20:0]       sum;       // pending, still negated, and its carry
    logic [LaneBits:0] left;      // likewise of expected
    lane_t             rest;      // arrivals left after the completions so far
    logic              fits, completed, few;
    mbar_t             after;
    sum       = {1'b0, object.pending} + 21'(lanes);
    completed = (object.tx == '0) && sum[20];
    rest      = lane_t'(sum);
    few       = object.expected[19:LaneBits] == '1;   // at most a warp is expected
    fits      = 1'b0;
    for (int k = int'(LaneBits) - 1; k >= 0; k--) begin
      left = {1'b0, object.expected[LaneBits-1:0]} + (LaneBits+1)'(rest >> k);
      fits = few && left[LaneBits];
      if (fits) rest = rest + lane_t'(object.expected << k);
    end
    after = object;
    if (completed) begin
      after.phase   = !object.phase ^ fits;   // `fits` of the last iteration: an odd number of further completions
      after.pending = object.expected + 20'(rest);
    end else begin
      after.pending = sum[19:0];
    end
    arrive_each = {completed, after};
  endfunction

  /// Returns the number of words of an access minus one. Also the mask of the word number within a bank
  /// number.
  function automatic logic [1:0] last_word(size_e size);
    unique case (size)
      SizeB128: last_word = 2'd3;
      SizeU64:  last_word = 2'd1;
      default:  last_word = 2'd0;
    endcase
  endfunction
endpackage : atoms_pkg
