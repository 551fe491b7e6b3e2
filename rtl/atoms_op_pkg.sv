// Generated from the operation table, ops/src/lib.rs: edit that file, not this one.
/// Operations, sizes and faults as port codes, and what the operation table says of each operation.
package atoms_op_pkg;
  import atoms_cfg_pkg::*;

  /// Operation (spec 3). Codes from 16 on are the mbarrier operations of spec 6; 15 and 31 are free.
  typedef enum logic [4:0] {
    OpAdd                      = 5'd0,
    OpMin                      = 5'd1,
    OpMax                      = 5'd2,
    OpInc                      = 5'd3,
    OpDec                      = 5'd4,
    OpAnd                      = 5'd5,
    OpOr                       = 5'd6,
    OpXor                      = 5'd7,
    OpExch                     = 5'd8,
    OpCas                      = 5'd9,
    OpCast                     = 5'd10,
    OpCastSpin                 = 5'd11,
    OpPopcInc                  = 5'd12,
    OpLoad                     = 5'd13,
    OpStore                    = 5'd14,
    OpMbarInit                 = 5'd16,
    OpMbarInval                = 5'd17,
    OpMbarExpectTx             = 5'd18,
    OpMbarCompleteTx           = 5'd19,
    OpMbarArrive               = 5'd20,
    OpMbarArriveCount          = 5'd21,
    OpMbarArriveExpectTx       = 5'd22,
    OpMbarArriveNoComplete     = 5'd23,
    OpMbarArriveDrop           = 5'd24,
    OpMbarArriveDropCount      = 5'd25,
    OpMbarArriveDropExpectTx   = 5'd26,
    OpMbarArriveDropNoComplete = 5'd27,
    OpMbarTestWait             = 5'd28,
    OpMbarTryWait              = 5'd29,
    OpMbarArriveSm80           = 5'd30
  } op_e;

  /// Width and signedness: log2 of the bytes in bits 2:0, signedness in bit 3.
  typedef enum logic [3:0] {
    SizeU8   = 4'd0,
    SizeU16  = 4'd1,
    SizeU32  = 4'd2,
    SizeU64  = 4'd3,
    SizeB128 = 4'd4,
    SizeS8   = 4'd8,
    SizeS16  = 4'd9,
    SizeS32  = 4'd10
  } size_e;

  /// Reason why a request touched no memory.
  typedef enum logic [1:0] {
    FaultNone       = 2'd0,
    FaultIllegal    = 2'd1,
    FaultMisaligned = 2'd2,
    FaultOutOfRange = 2'd3
  } fault_e;

  /// Result that a request returns to each lane.
  typedef enum logic [2:0] {
    ResultNothing       = 3'd0,
    ResultOld           = 3'd1,
    ResultFlag          = 3'd2,
    ResultMergedArrival = 3'd3,
    ResultPredicate     = 3'd4,
    ResultState         = 3'd5
  } result_e;

  /// Returns 1 if operation and size are a legal instruction (spec 3, both columns of sizes).
  function automatic logic legal(op_e op, size_e size);
    unique case (op)
      OpAdd, OpMin, OpMax, OpAnd, OpOr, OpXor: legal = size inside {SizeU32, SizeS32};
      OpInc, OpDec, OpPopcInc: legal = size inside {SizeU32};
      OpExch, OpCas: legal = size inside {SizeU32, SizeS32, SizeU64, SizeB128};
      OpCast, OpCastSpin: legal = size inside {SizeU32, SizeS32, SizeU64};
      OpLoad: legal = size inside {SizeU8, SizeU16, SizeU32, SizeU64, SizeB128, SizeS8, SizeS16};
      OpStore: legal = size inside {SizeU8, SizeU16, SizeU32, SizeU64, SizeB128};
      OpMbarInit, OpMbarInval, OpMbarExpectTx, OpMbarCompleteTx, OpMbarArrive, OpMbarArriveCount,
      OpMbarArriveExpectTx, OpMbarArriveNoComplete, OpMbarArriveDrop, OpMbarArriveDropCount,
      OpMbarArriveDropExpectTx, OpMbarArriveDropNoComplete, OpMbarTestWait, OpMbarTryWait,
      OpMbarArriveSm80: legal = size inside {SizeU64};
      default: legal = 1'b0;
    endcase
  endfunction

  /// Returns 1 if the cluster port accepts the operation (spec 6.7, 7.5). `red` is 1 if no result is
  /// wanted. Operations on mbarrier objects are legal only without a result, and some never.
  function automatic logic cluster_legal(op_e op, logic red);
    unique case (op)
      OpMbarExpectTx, OpMbarCompleteTx, OpMbarArrive, OpMbarArriveCount, OpMbarArriveExpectTx,
      OpMbarArriveDrop, OpMbarArriveDropCount, OpMbarArriveDropExpectTx,
      OpMbarArriveSm80: cluster_legal = red;
      OpMbarInit, OpMbarInval, OpMbarArriveNoComplete, OpMbarArriveDropNoComplete, OpMbarTestWait,
      OpMbarTryWait: cluster_legal = 1'b0;
      default: cluster_legal = 1'b1;
    endcase
  endfunction

  /// Returns 1 if one pass serves all lanes of one address: operands are merged, or the result shared.
  function automatic logic coalesces(op_e op, logic red);
    unique case (op)
      OpPopcInc, OpLoad, OpStore, OpMbarTestWait, OpMbarTryWait: coalesces = 1'b1;
      OpMbarArrive: coalesces = MergeArrive;
      OpAdd, OpMin, OpMax, OpAnd, OpOr, OpXor: coalesces = MergeRed && red;
      default: coalesces = 1'b0;
    endcase
  endfunction

  /// Returns the kind of result of an operation.
  function automatic result_e result_kind(op_e op);
    unique case (op)
      OpAdd, OpMin, OpMax, OpInc, OpDec, OpAnd, OpOr, OpXor, OpExch, OpCas, OpLoad, OpMbarInit,
      OpMbarArriveSm80: result_kind = ResultOld;
      OpCast, OpCastSpin: result_kind = ResultFlag;
      OpMbarArriveNoComplete, OpMbarArriveDropNoComplete: result_kind = ResultMergedArrival;
      OpMbarTestWait, OpMbarTryWait: result_kind = ResultPredicate;
      OpMbarArrive, OpMbarArriveCount, OpMbarArriveExpectTx, OpMbarArriveDrop,
      OpMbarArriveDropCount, OpMbarArriveDropExpectTx: result_kind = ResultState;
      default: result_kind = ResultNothing;
    endcase
  endfunction

  /// Returns 1 if the operation works on an mbarrier object.
  function automatic logic is_mbarrier(op_e op);
    is_mbarrier = op inside {[OpMbarInit:OpMbarArriveSm80]};
  endfunction

  /// Returns 1 if the operation never changes memory.
  function automatic logic only_reads(op_e op);
    only_reads = op inside {OpLoad, OpMbarInval, OpMbarTestWait, OpMbarTryWait};
  endfunction

  /// Returns 1 for compare-and-store operations.
  function automatic logic compares(op_e op);
    compares = op inside {[OpCas:OpCastSpin]};
  endfunction

  /// Returns 1 if the operation tests if a phase of an mbarrier object is complete.
  function automatic logic asks_phase(op_e op);
    asks_phase = op inside {OpMbarTestWait, OpMbarTryWait};
  endfunction

  /// Returns 1 if each lane arrives once at an mbarrier object, without an operand.
  function automatic logic arrives_once(op_e op);
    arrives_once = op inside {OpMbarArrive, OpMbarArriveDrop, OpMbarArriveSm80};
  endfunction

  /// Returns 1 if lanes without a result merge their operands (with MergeRed).
  function automatic logic merges_operands(op_e op);
    merges_operands = op inside {[OpAdd:OpMax], [OpAnd:OpXor]};
  endfunction

  /// Returns 1 if the operation reads operand C.
  function automatic logic reads_c(op_e op);
    reads_c = op inside {[OpCas:OpCastSpin], OpMbarTryWait};
  endfunction
endpackage : atoms_op_pkg
