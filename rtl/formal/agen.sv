/// Every address of a request that touches memory lies in the allocation of its CTA, is aligned, and maps to
/// the specified bank and row (spec 1.2, 1.3, 2.1 to 2.4, 3.3, 6.7). For a faulting request, the lowest
/// faulting lane and the fault are reported.
///
/// The specification is written independently of `atoms_agen`, with wider addresses, and with products
/// instead of shifts.
///
/// Limits: `cta_table` proves that the allocation is that of the request's CTA. `issue` proves
/// that operations use only the words of their lanes' accesses.
module agen_proof
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import spec_pkg::*;
(
  input req_meta_t            meta,
  input addr_t [NumLanes-1:0] ra,
  input logic                 offset,
  input allocation_t          allocation,
  /// Any lane of the request.
  input lane_t                at
);
  bank_addrs_t bank_addr;
  fault_e      fault;
  logic [4:0]  fault_lane;
  addr_t       fault_addr;
  atoms_agen dut (.en_i(1'b1), .meta_i(meta), .ra_i(ra), .offset_i(offset), .allocation_i(allocation),
                  .bank_addr_o(bank_addr), .fault_o(fault), .fault_lane_o(fault_lane), .fault_addr_o(fault_addr));

  /// True if an access of this size may begin at this address.
  function automatic logic aligned(size_e size, addr_t where);
    case (size)
      SizeU8, SizeS8:   aligned = 1'b1;
      SizeU16, SizeS16: aligned = !where[0];
      SizeU64:          aligned = where[2:0] == '0;
      SizeB128:         aligned = where[3:0] == '0;
      default:          aligned = where[1:0] == '0;
    endcase
  endfunction

  /// Effective address of a lane, modulo 2^32.
  function automatic addr_t address(req_meta_t of, addr_t register);
    logic [63:0] scaled, immediate;
    case (of.scale)
      3'd2:    scaled = 64'(register) * 4;
      3'd3:    scaled = 64'(register) * 8;
      3'd4:    scaled = 64'(register) * 16;
      default: scaled = 64'(register);
    endcase
    immediate = 64'(of.imm);
    if (!of.absolute && of.imm[23]) immediate = immediate - 64'd16777216;
    if (of.absolute) scaled = '0;
    address = addr_t'(scaled + (64'(of.ur) + immediate));
  endfunction

  /// Reason why a lane may not touch memory.
  function automatic fault_e why(req_meta_t of, addr_t where, logic inner, allocation_t part);
    logic [63:0] start, width;
    start = 64'(where[23:0]);
    width = 64'(bytes(of.size));
    if (!is_instruction(of.op, of.size) || (inner && !cluster_has(of.op, of.red))) why = FaultIllegal;
    else if (!aligned(of.size, where))                                             why = FaultMisaligned;
    else if (!part.valid || (start + width > 64'(part.size))
             || (!inner && (where[31:24] != part.rank)))                           why = FaultOutOfRange;
    else                                                                           why = FaultNone;
  endfunction

  logic [63:0] word, row, bank;  // word number, row and bank in memory; a row spans all banks
  bank_addr_t  place;
  addr_t       where;
  fault_e      reason;
  assign where  = address(meta, ra[at]);
  assign reason = why(meta, where, offset, allocation);
  assign place  = bank_addr[at];
  assign word   = 64'(where[23:0]) / 4 + 64'(allocation.base) * NumBanks;
  assign row    = word / NumBanks;
  assign bank   = word % NumBanks;

  lane_t first;
  assign first = lane_t'(fault_lane);

  always_comb begin
    if (meta.mask[at] && (fault == FaultNone)) begin
      NoFaultMissed:      assert (reason == FaultNone);
      RowMatchesAddress:  assert (64'(place.row) == (row & 64'hffff));
      ByteMatchesAddress: assert (place.in_word == 8'(where[1:0]));
      // With a bank hash, the row swizzles the bank above a quad; this mapping is its own inverse.
      BankMatchesAddress: assert (64'(place.bank) == (BankHash ? bank ^ (row % (NumBanks / 4)) * 4 : bank));
    end
    if (fault == FaultNone) FaultFieldsZeroWithoutFault: assert ((fault_lane == '0) && (fault_addr == '0));
    if (fault != FaultNone) begin
      FaultLaneTakesPart:      assert (meta.mask[first] && (32'(fault_lane) < NumLanes));
      FaultReasonMatchesSpec:  assert (fault == why(meta, fault_addr, offset, allocation));
      FaultAddressMatchesLane: assert (fault_addr == address(meta, ra[first]));
      if (at < first && meta.mask[at]) FaultLaneIsLowest: assert (reason == FaultNone);
    end
  end
endmodule : agen_proof
