`include "atoms_assert.svh"

/// Address generator: forms every lane's address, checks it, and finds its bank. Combinational.
/// Mirror: `model/src/agen.rs`.
module atoms_agen
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  /// Operand isolation: 0 keeps the adders from toggling, and makes the outputs meaningless.
  input  logic                 en_i,
  /// Fields of the request that all its lanes share.
  input  req_meta_t            meta_i,
  /// Register Ra per lane, before scaling.
  input  addr_t [NumLanes-1:0] ra_i,
  /// 1 if the request came through the cluster port. Its address is already an offset inside the allocation,
  /// without a rank in the top byte (spec 6.7, 7.5).
  input  logic                 offset_i,
  /// Allocation of the request's CTA slot.
  input  allocation_t          allocation_i,
  /// Bank address at which each lane's access begins. Meaningless for inactive lanes, and for all lanes after
  /// a fault.
  output bank_addrs_t          bank_addr_o,
  /// Reason why no lane may touch memory; FaultNone if all may.
  output fault_e               fault_o,
  /// Lowest faulting lane; 0 without a fault.
  output logic [4:0]           fault_lane_o,
  /// Address of the lowest faulting lane; 0 without a fault.
  output addr_t                fault_addr_o
);
  logic [31:0] base;    // common to all lanes: uniform register plus immediate
  logic [4:0]  bytes;   // bytes of the access
  logic [2:0]  shift;   // log2 of the scale factor on Ra
  logic        room;        // the allocation is large enough for one access
  logic [24:0] last_start;  // last offset at which an access may begin, given `room`

  always_comb begin
    base  = meta_i.ur + {meta_i.absolute ? 8'h0 : {8{meta_i.imm[23]}}, meta_i.imm};
    bytes = 5'd1 << meta_i.size[2:0];
    shift = (meta_i.scale inside {3'd2, 3'd3, 3'd4}) ? meta_i.scale : 3'd0;
    // Computed once for all lanes, in parallel with the address adders. A check of the end address would
    // follow the adder of each lane.
    room       = allocation_i.valid && (25'(bytes) <= allocation_i.size);
    last_start = allocation_i.size - 25'(bytes);
  end

  /// Computes the bank addresses of all lanes, and the lanes whose address is misaligned or out of range.
  function automatic void locate(output bank_addrs_t bank_addr, output lane_mask_t misaligned,
                                 output lane_mask_t outside, input addrs_t addrs,
                                 input logic [4:0] width, input logic offset,
                                 input logic [15:0] first_row, input logic [7:0] rank,
                                 input logic fits, input logic [24:0] last);
    /*verilator no_inline_task*/
    addr_t       addr;
    logic [21:0] row;
    bank_t       bank;
    bank_addr  = '0;
    misaligned = '0;
    outside    = '0;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      addr         = addrs[l];
      row          = 22'(addr[23:2] >> BankBits) + 22'(first_row);
      bank         = addr[BankBits+1:2] ^ (BankHash ? bank_t'((row & 22'(NumBanks / 4 - 1)) << 2) : '0);
      bank_addr[l] = '{row: row[15:0], bank: 8'(bank), in_word: 8'(addr[1:0])};
      misaligned   = misaligned | (lane_mask_t'((addr[4:0] & (width - 5'd1)) != '0) << l);
      outside      = outside | (lane_mask_t'((25'(addr[23:0]) > last)
                                           || (!offset && (addr[31:24] != rank))) << l);
    end
    if (!fits) outside = '1;
  endfunction

  typedef struct packed {
    lane_t lane;
    addr_t addr;
    logic  misaligned;
  } faulty_t;

  /// Returns the lowest lane of a mask: a tree of depth log2(NumLanes). The result is meaningless for an
  /// empty mask.
  function automatic faulty_t lowest(lane_mask_t mask, addrs_t addrs, lane_mask_t misaligned);
    /*verilator no_inline_task*/
    faulty_t    lane [NumLanes];
    lane_mask_t some;
    some = mask;
    for (int unsigned l = 0; l < NumLanes; l++) begin
      lane[l] = '{lane: lane_t'(l), addr: addrs[l], misaligned: misaligned[l]};
    end
    for (int unsigned pairs = NumLanes / 2; pairs > 0; pairs /= 2) begin
      for (int unsigned p = 0; p < pairs; p++) begin
        lane[p] = some[2*p] ? lane[2*p] : lane[2*p+1];
        some[p] = some[2*p] || some[2*p+1];
      end
    end
    lowest = lane[0];
  endfunction

  function automatic void add(output addrs_t addrs, input addrs_t ra, input logic [2:0] scale,
                              input logic absolute, input addr_t common);
    /*verilator no_inline_task*/
    for (int unsigned l = 0; l < NumLanes; l++) begin
      addrs[l] = (absolute ? '0 : ra[l] << scale) + common;
    end
  endfunction

  always_comb begin
    automatic addrs_t     addrs;
    automatic lane_mask_t misaligned, outside, faulty;
    automatic logic       is_legal;
    automatic faulty_t    first;
    addrs        = '0;
    misaligned   = '0;
    outside      = '0;
    faulty       = '0;
    first        = '0;
    is_legal     = legal(meta_i.op, meta_i.size)
                   && (!offset_i || cluster_legal(meta_i.op, meta_i.red));
    bank_addr_o  = '0;
    fault_o      = FaultNone;
    fault_lane_o = '0;
    fault_addr_o = '0;
    if (en_i) begin
      add(addrs, ra_i, shift, meta_i.absolute, base);
      locate(bank_addr_o, misaligned, outside, addrs, bytes, offset_i, allocation_i.base,
             allocation_i.rank, room, last_start);
      faulty = meta_i.mask & (is_legal ? misaligned | outside : '1);
      if (faulty != '0) begin
        first        = lowest(faulty, addrs, misaligned);
        fault_lane_o = 5'(first.lane);
        fault_addr_o = first.addr;
        if (!is_legal)              fault_o = FaultIllegal;
        else if (first.misaligned)  fault_o = FaultMisaligned;
        else                        fault_o = FaultOutOfRange;
      end
    end
  end

  `ATOMS_ASSERT_COMB(FaultLaneTakesPart, (fault_o == FaultNone) || meta_i.mask[lane_t'(fault_lane_o)])
endmodule : atoms_agen
