/// Rules of the specification that several proofs need (spec 3, 4.1, 4.7 and 6). They do not call the RTL
/// functions of the same rules, because a proof cannot find a defect in a function that it uses itself.
package spec_pkg;
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;

  function automatic logic on_object(op_e op);
    on_object = op inside {OpMbarInit, OpMbarInval, OpMbarExpectTx, OpMbarCompleteTx, OpMbarArrive, OpMbarArriveCount,
                           OpMbarArriveExpectTx, OpMbarArriveNoComplete, OpMbarArriveDrop, OpMbarArriveDropCount,
                           OpMbarArriveDropExpectTx, OpMbarArriveDropNoComplete, OpMbarTestWait, OpMbarTryWait, OpMbarArriveSm80};
  endfunction

  function automatic logic is_compare(op_e op);
    is_compare = op inside {OpCas, OpCast, OpCastSpin};
  endfunction

  /// True for a legal pair of operation and size. The specification lists sizes by operation, this function
  /// lists operations by size.
  function automatic logic is_instruction(op_e op, size_e size);
    case (size)
      SizeU8, SizeU16: is_instruction = op inside {OpLoad, OpStore};
      SizeS8, SizeS16: is_instruction = op == OpLoad;
      SizeU32:  is_instruction = op inside {OpAdd, OpMin, OpMax, OpInc, OpDec, OpAnd, OpOr, OpXor, OpExch, OpCas, OpCast,
                                            OpCastSpin, OpPopcInc, OpLoad, OpStore};
      SizeS32:  is_instruction = op inside {OpAdd, OpMin, OpMax, OpAnd, OpOr, OpXor, OpExch, OpCas, OpCast, OpCastSpin};
      SizeU64:  is_instruction = (op inside {OpExch, OpCas, OpCast, OpCastSpin, OpLoad, OpStore}) || on_object(op);
      SizeB128: is_instruction = op inside {OpExch, OpCas, OpLoad, OpStore};
      default:  is_instruction = 1'b0;
    endcase
  endfunction

  /// True if the cluster port accepts the instruction. For objects these are arrivals and transaction counts,
  /// without a result.
  function automatic logic cluster_has(op_e op, logic red);
    cluster_has = !on_object(op)
                  || (red && (op inside {OpMbarExpectTx, OpMbarCompleteTx, OpMbarArrive, OpMbarArriveCount, OpMbarArriveExpectTx,
                                         OpMbarArriveDrop, OpMbarArriveDropCount, OpMbarArriveDropExpectTx, OpMbarArriveSm80}));
  endfunction

  /// True if a cluster request gets a response: for a result, a predicate or a fault.
  function automatic logic is_answered(op_e op, logic red, fault_e fault);
    is_answered = !red || is_compare(op) || (fault != FaultNone);
  endfunction

  /// True if lanes of one address share one access.
  function automatic logic joins(op_e op, logic red);
    case (op)
      OpPopcInc, OpLoad, OpStore, OpMbarTestWait, OpMbarTryWait: joins = 1'b1;
      OpMbarArrive:                                              joins = MergeArrive;
      OpAdd, OpMin, OpMax, OpAnd, OpOr, OpXor:                   joins = MergeRed && red;
      default:                                                   joins = 1'b0;
    endcase
  endfunction

  /// Object after one more arrival. Bit 64 is 1 if the arrival completed the phase.
  function automatic logic [64:0] arrive_once(mbar_t was);
    mbar_t after;
    logic  completed;
    after         = was;
    after.pending = was.pending + 20'd1;
    completed     = (after.pending == '0) && (after.tx == '0);
    if (completed) begin
      after.pending = was.expected;
      after.phase   = !was.phase;
    end
    arrive_once = {completed, after};
  endfunction

  function automatic logic [4:0] bytes(size_e size);
    case (size)
      SizeU8, SizeS8:   bytes = 5'd1;
      SizeU16, SizeS16: bytes = 5'd2;
      SizeU64:          bytes = 5'd8;
      SizeB128:         bytes = 5'd16;
      default:          bytes = 5'd4;
    endcase
  endfunction

  /// Number of words of an access minus one. Also the mask of the word number within a bank number.
  function automatic logic [1:0] last_of(size_e size);
    last_of = (size == SizeB128) ? 2'd3 : (size == SizeU64) ? 2'd1 : 2'd0;
  endfunction
endpackage : spec_pkg
