/// Lanes that arrive together leave what they leave one after the other (spec 6.3, 6.4, 6.11): for every
/// object and every number of lanes, `arrive_each` of one lane more is one more arrival.
/// Together with no lane changing nothing, it is so for all of a warp.
///
/// Holes: which lanes are counted is `issue`'s; that they count in the object is `mbar`'s with MergeArrive.
module arrive_each_proof
  import atoms_cfg_pkg::*;
  import atoms_pkg::*;
  import spec_pkg::*;
(
  input mbar_t object,
  /// Lanes that have arrived: fewer than a warp.
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
