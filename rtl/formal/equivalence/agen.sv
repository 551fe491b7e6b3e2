/// Comparison of two instances of `atoms_agen` at their relevant ports, those whose values can have an effect. All
/// ports are relevant while the module is enabled, except bank addresses of inactive lanes and of faulting requests.
module agen_alike
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
  import counts_pkg::*;
(
  input  logic                 en[2],
  input  req_meta_t            meta[2],
  input  addr_t [NumLanes-1:0] ra[2],
  input  logic                 offset[2],
  input  allocation_t          allocation[2],
  input  bank_addrs_t          bank_addr[2],
  input  fault_e               fault[2],
  input  logic [4:0]           fault_lane[2],
  input  addr_t                fault_addr[2],
  /// True if the relevant inputs of both are equal.
  output logic                 given,
  /// True if the relevant outputs of both are equal, and accesses to memory are legal and aligned.
  output logic                 driven
);
  always_comb begin
    given  = (en[0] == en[1]) && (!en[0] || ((meta[0] == meta[1]) && (meta[0].absolute || (ra[0] == ra[1]))
             && (offset[0] == offset[1]) && (allocation[0] == allocation[1])));
    driven = !en[0] || ((fault[0] == fault[1]) && (fault_lane[0] == fault_lane[1]) && (fault_addr[0] == fault_addr[1]));
    if (en[0] && (fault[0] == FaultNone) && (meta[0].mask != '0)) begin
      driven = driven && legal(meta[0].op, meta[0].size)
               && (!offset[0] || cluster_legal(meta[0].op, meta[0].red));
      for (int unsigned l = 0; l < NumLanes; l++) begin
        if (meta[0].mask[l])
          driven = driven && (bank_addr[0][l] == bank_addr[1][l])
                   && ((bank_addr[0][l].bank[1:0] & last_word(meta[0].size)) == '0);
      end
    end
  end
endmodule : agen_alike

/// A mutant of `atoms_agen` is equivalent to the original.
module agen_equivalence
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;
(
  input logic                 en[2],
  input req_meta_t            meta[2],
  input addr_t [NumLanes-1:0] ra[2],
  input logic                 offset[2],
  input allocation_t          allocation[2]
);
  bank_addrs_t bank_addr[2];
  fault_e      fault[2];
  logic [4:0]  fault_lane[2];
  addr_t       fault_addr[2];
  logic        given, driven;
  atoms_agen gold (.en_i(en[0]), .meta_i(meta[0]), .ra_i(ra[0]), .offset_i(offset[0]), .allocation_i(allocation[0]),
                   .bank_addr_o(bank_addr[0]), .fault_o(fault[0]), .fault_lane_o(fault_lane[0]),
                   .fault_addr_o(fault_addr[0]));
  atoms_agen_altered gate (.en_i(en[1]), .meta_i(meta[1]), .ra_i(ra[1]), .offset_i(offset[1]),
                           .allocation_i(allocation[1]), .bank_addr_o(bank_addr[1]), .fault_o(fault[1]),
                           .fault_lane_o(fault_lane[1]), .fault_addr_o(fault_addr[1]));
  agen_alike alike (.*);
  always_comb begin
    assume (given);
    assert (driven);
  end
endmodule : agen_equivalence
