/// Address generator: forms every lane's address, checks it, and finds its bank. Combinational.
/// Mirror: `model/src/agen.rs`.
module atoms_agen
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
(
  /// Operand isolation: low keeps the adders quiet, and the outputs mean nothing.
  input  logic                 en_i,
  /// The request; every lane's fields of it.
  input  req_meta_t            meta_i,
  /// Register Ra per lane.
  input  addr_t [NumLanes-1:0] ra_i,
  /// The address is an offset inside the part already: no rank in its top byte (spec 6.7, 7.5).
  input  logic                 offset_i,
  /// The part of the request's slot.
  input  part_t                part_i,
  /// Bank of the access's first word, per lane.
  output bank_t                bank_o [NumLanes],
  /// Row of the access, per lane.
  output row_t                 row_o  [NumLanes],
  /// Byte inside the first word, per lane.
  output logic [1:0]           byte_o [NumLanes],
  /// Why no lane may touch memory, if so; the lowest such lane, and its address.
  output fault_e               fault_o,
  output logic [4:0]           fault_lane_o,
  output addr_t                fault_addr_o
);
  logic [31:0] base;       // what all lanes add: uniform register and immediate
  logic [4:0]  bytes;      // of the access
  logic        is_legal;

  always_comb begin
    base     = meta_i.ur + {meta_i.absolute ? 8'h0 : {8{meta_i.imm[23]}}, meta_i.imm};
    bytes    = 5'd1 << meta_i.size[2:0];
    is_legal = legal(meta_i.op, meta_i.size);
  end

  always_comb begin
    automatic addr_t       scaled, addr;
    automatic logic [21:0] word, row;
    automatic fault_e      fault;
    scaled       = '0;
    addr         = '0;
    word         = '0;
    row          = '0;
    fault        = FaultNone;
    fault_o      = FaultNone;
    fault_lane_o = '0;
    fault_addr_o = '0;
    bank_o       = '{default: '0};
    row_o        = '{default: '0};
    byte_o       = '{default: '0};
    if (en_i) begin
      // From the highest lane down, so that the lowest fault is the one that stays.
      for (int l = int'(NumLanes) - 1; l >= 0; l--) begin
        unique case (meta_i.scale)
          3'd2:    scaled = ra_i[l] << 2;
          3'd3:    scaled = ra_i[l] << 3;
          3'd4:    scaled = ra_i[l] << 4;
          default: scaled = ra_i[l];
        endcase
        addr = (meta_i.absolute ? '0 : scaled) + base;
        word = addr[23:2];
        row  = (word >> BankBits) + 22'(part_i.base);

        bank_o[l] = word[BankBits-1:0]
                  ^ (BankHash ? bank_t'((row & 22'(NumBanks / 4 - 1)) << 2) : '0);
        row_o[l]  = row[15:0];
        byte_o[l] = addr[1:0];

        fault = FaultNone;
        if (!is_legal) fault = FaultIllegal;
        else if ((addr[4:0] & (bytes - 5'd1)) != '0) fault = FaultMisaligned;
        else if (!part_i.valid || (!offset_i && (addr[31:24] != part_i.rank))
                 || (25'(addr[23:0]) + 25'(bytes) > part_i.size)) fault = FaultOutOfRange;
        if (meta_i.mask[l] && (fault != FaultNone)) begin
          fault_o      = fault;
          fault_lane_o = 5'(l);
          fault_addr_o = addr;
        end
      end
    end
  end
endmodule : atoms_agen
