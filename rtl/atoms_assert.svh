// Promises, checked while simulating. Immediate assertions only: every simulator takes them, and
// the formal reader too.
`ifndef ATOMS_ASSERT_SVH
`define ATOMS_ASSERT_SVH

`ifdef SYNTHESIS
  `define ATOMS_ASSERT(Name, Cond)
`else
  /// `Cond` holds at every clock edge out of reset.
  `define ATOMS_ASSERT(Name, Cond) \
    always_ff @(posedge clk_i) begin \
      if (rst_ni) begin \
        Name: assert (Cond) else $error("broken promise: %s", `"Name`"); \
      end \
    end
`endif

`endif
