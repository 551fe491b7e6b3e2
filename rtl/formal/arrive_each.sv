/// Simultaneous arrivals give the same result as successive arrivals (spec 6.3, 6.4, 6.11). For every object
/// and every number of lanes, `arrive_each` of n + 1 lanes equals `arrive_each` of n lanes followed by one
/// arrival. As zero lanes change nothing, the equality holds for a whole warp.
///
/// Limits: `issue` proves which lanes are counted. With MergeArrive, `mbar` applies the count to the object.
module arrive_each_proof
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
  import spec_pkg::*;
(
  input mbar_t object,
  /// Number of lanes that have arrived: fewer than a warp.
  input lane_t lanes
);
  logic [64:0] none, some, more, once;
  assign none = arrive_each(object, 6'd0);
  assign some = arrive_each(object, 6'(lanes));
  assign more = arrive_each(object, 6'(lanes) + 6'd1);
  assign once = arrive_once(some[63:0]);

  always_comb begin
    NoArrivalChangesNothing: assert (none == {1'b0, object});
    EachArrivalIsOneStep:    assert (more == {some[64] || once[64], once[63:0]});
  end
endmodule : arrive_each_proof
