/// Types and the rules that several modules share.
///
/// Functions that loop over all lanes or banks stand in the modules that use them and carry
/// `verilator no_inline_task`: Verilator then makes a C++ function of each, whose loops a compiler
/// turns into vector code. That halves the time of a simulated cycle; no other tool sees it. Masks
/// are put together with shifts there, since a bit written by its number would stay scalar.
package atoms_pkg;
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;

  /// Bits in a shared-memory word; a bank is one word wide (spec 1.2).
  parameter int unsigned WordBits = 32;
  /// Words in the widest access.
  parameter int unsigned MaxWords = 4;
  /// Requests that wait at the cluster port.
  parameter int unsigned ClusterQueueDepth = 2;
  /// Responses of the cluster port that there is room for: as many as are owed when a request that
  /// owes one is taken in every cycle, and its response in the cycle in which it is valid.
  parameter int unsigned ClusterResponses = RmwLatency + 4;

  parameter int unsigned LaneBits = $clog2(NumLanes);
  parameter int unsigned BankBits = $clog2(NumBanks);

  /// Winner policies, as in `WinnerPolicy` (spec 4.2).
  parameter int unsigned PolicyLowest   = 0;
  parameter int unsigned PolicyHighest  = 1;
  parameter int unsigned PolicyRotating = 2;

  typedef logic [WordBits-1:0]               word_t;
  /// Operand or result of one lane; word 0 at the lowest address.
  typedef logic [MaxWords-1:0][WordBits-1:0] wide_t;
  typedef logic [LaneBits-1:0]               lane_t;
  typedef logic [BankBits-1:0]               bank_t;
  /// Row of a bank, below NumRows. A whole word, so that arrays of rows are arrays of words, which
  /// simulators move many at a time; hardware drops the bits that are always zero.
  typedef logic [WordBits-1:0]               row_t;
  typedef logic [NumLanes-1:0]               lane_mask_t;
  typedef logic [NumBanks-1:0]               bank_mask_t;
  typedef logic [31:0]                       addr_t;
  typedef logic [5:0]                        tag_t;
  typedef logic [3:0]                        slot_t;
  /// Passes of one request: 0 to NumLanes.
  typedef logic [5:0]                        passes_t;

  /// What a request says once for all its lanes.
  typedef struct packed {
    lane_mask_t  mask;      // lanes that take part (spec 2.6)
    addr_t       ur;        // uniform register of the address
    logic [23:0] imm;       // immediate of the address
    slot_t       slot;      // CTA slot
    tag_t        tag;       // given back with the response
    logic [2:0]  scale;     // log2 of the factor on Ra: 0, 2, 3 or 4 (spec 2.2)
    logic        absolute;  // Ra does not count, the immediate is zero-extended (spec 2.1)
    logic        red;       // no result wanted
    size_e       size;
    op_e         op;
  } req_meta_t;

  /// A warp request as it waits in the queue; its operands wait in `atoms_operands`.
  typedef struct packed {
    req_meta_t                meta;
    addr_t     [NumLanes-1:0] ra;
  } warp_req_t;

  /// A cluster request as it waits in the queue: one lane, one offset.
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

  /// The allocation of shared memory that a CTA slot owns.
  typedef struct packed {
    logic [24:0] size;   // bytes
    logic [15:0] base;   // first row, in every bank
    logic [7:0]  rank;   // rank of the CTA in its cluster
    logic        valid;
  } allocation_t;

  /// Bank address: where a lane's access begins. A whole word, as `row_t` is.
  typedef struct packed {
    logic [15:0] row;
    logic [7:0]  bank;      // bank of the first word
    logic [7:0]  in_word;   // byte inside that word
  } bank_addr_t;

  // One of each for every lane or bank.
  typedef bank_addr_t [NumLanes-1:0] bank_addrs_t;
  typedef addr_t  [NumLanes-1:0] addrs_t;
  typedef wide_t  [NumLanes-1:0] wides_t;
  typedef word_t  [NumBanks-1:0] words_t;
  typedef row_t   [NumBanks-1:0] rows_t;
  typedef lane_t                 lanes_t [NumBanks];

  /// Counter of one bank that gives the priority lane of CAST.SPIN (spec 5.4). One number, `step` at the low end.
  typedef struct packed {
    lane_t                       lane;   // priority lane while `hold` is high
    logic                        hold;   // low: the priority lane is `step` modulo NumLanes
    logic [$clog2(SpinHold)-1:0] step;
  } spin_turn_t;
  typedef spin_turn_t            spin_turns_t [NumBanks];

  /// An mbarrier object, sm_90 and later (spec 6.2): counts are kept negated.
  typedef struct packed {
    logic        phase;      // parity
    logic [19:0] pending;    // -arrivals that the phase still waits for
    logic        lock;       // 0 at rest
    logic [20:0] tx;         // -transactions that the phase still waits for
    logic [19:0] expected;   // -arrivals expected in every phase
    logic        version;    // of the layout: 0
  } mbar_t;

  /// A response of the cluster port.
  typedef struct packed {
    wide_t  rd;
    logic   pred;
    tag_t   tag;
    fault_e fault;
    addr_t  fault_addr;
  } cluster_rsp_t;

  /// A request that is suspended in MBAR.TRY_WAIT.
  typedef struct packed {
    lane_mask_t  mask;       // lanes that take part
    row_t        row;        // of the object
    bank_t       bank;       // first bank of the object
    slot_t       slot;
    tag_t        tag;
  } waiter_t;

  /// What a pass carries through the pipeline besides its words.
  typedef struct packed {
    lane_mask_t  served;      // lanes that get their result from this pass
    lane_mask_t  win;         // lanes that perform their operation; fewer only for CAST.SPIN
    lane_mask_t  asked;       // lanes that ask about the odd phase of an mbarrier object
    addr_t       fault_addr;
    logic [4:0]  fault_lane;
    fault_e      fault;
    passes_t     passes;      // passes of the request up to and with this one
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

  /// Whether a cluster request is posted (spec 4.7): neither a result nor a predicate is wanted.
  function automatic logic posted(op_e op, logic red);
    posted = red && !compares(op);
  endfunction

  /// Whether a cluster request owes a response: a posted one only to say that it faults.
  function automatic logic owes_response(op_e op, logic red, fault_e fault);
    owes_response = !posted(op, red) || (fault != FaultNone);
  endfunction

  /// The object after `lanes` arrivals, one at a time; bit 64 says that a phase was completed. Only
  /// with MergeArrive do several arrive in one pass.
  ///
  /// The first p arrivals complete the phase, and every further e complete another one, where p
  /// arrivals were pending and e are expected; zero stands for 2^20, which no warp reaches. Less than
  /// a warp is left after the first p, so e is taken off 2^k times at once, for every k that fits a
  /// lane number: what stays is the arrivals of the last phase. Counts are negated, so that a carry
  /// out of an addition says that as many have arrived, and the sum is the rest.
  function automatic logic [64:0] arrive_each(mbar_t object, logic [5:0] lanes);
    logic [20:0]       sum;       // pending, still negated, and its carry
    logic [LaneBits:0] left;      // likewise of expected
    lane_t             rest;      // arrivals after the completions so far
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
      after.phase   = !object.phase ^ fits;   // the last step makes the number of them odd
      after.pending = object.expected + 20'(rest);
    end else begin
      after.pending = sum[19:0];
    end
    arrive_each = {completed, after};
  endfunction

  /// Words an access covers, less one: also the mask of its word number in a bank number.
  function automatic logic [1:0] last_word(size_e size);
    unique case (size)
      SizeB128: last_word = 2'd3;
      SizeU64:  last_word = 2'd1;
      default:  last_word = 2'd0;
    endcase
  endfunction
endpackage : atoms_pkg
