// Assertions and situations, checked and counted while simulating. Immediate assertions only: every
// simulator takes them, and the formal reader too. They are not part of the design, so that coverage
// of its lines leaves them out.
`ifndef ATOMS_ASSERT_SVH
`define ATOMS_ASSERT_SVH

`ifdef SYNTHESIS
  `define ATOMS_ASSERT(Name, Cond)
  `define ATOMS_ASSERT_COMB(Name, Cond)
  `define ATOMS_ASSERT_STATIC(Name, Cond)
`else
  /// `Cond` holds at every clock edge out of reset.
  `define ATOMS_ASSERT(Name, Cond) \
    /*verilator coverage_off*/ \
    always_ff @(posedge clk_i) begin \
      if (rst_ni) begin \
        Name: assert (Cond) else $error("assertion failed: %s", `"Name`"); \
      end \
    end \
    /*verilator coverage_on*/
`ifdef ATOMS_WOVEN
  // What is altered on trial breaks it in reset, too, where no run could go on.
  `define ATOMS_ASSERT_COMB(Name, Cond)
`else
  /// `Cond` holds whenever signals have settled: for a module without clock.
  `define ATOMS_ASSERT_COMB(Name, Cond) \
    /*verilator coverage_off*/ \
    always_comb begin \
      Name: assert final (Cond) else $error("assertion failed: %s", `"Name`"); \
    end \
    /*verilator coverage_on*/
`endif
  /// `Cond`, of constants, holds for the configuration that is elaborated.
  `define ATOMS_ASSERT_STATIC(Name, Cond) \
    if (!(Cond)) begin : Name \
      $error("assertion failed: %s", `"Name`"); \
    end
`endif

`ifdef ATOMS_COVERAGE
  /// Counts the clock edges out of reset at which `Cond` holds: a situation that must be reached.
  /// It is a signal first: in a clocked process, Verilator 5.006 may use the result of a function
  /// before it has called it.
  `define ATOMS_COVER(Name, Cond) \
    /*verilator coverage_off*/ \
    logic Name``Holds; \
    assign Name``Holds = (Cond); \
    always_ff @(posedge clk_i) begin \
      if (rst_ni) begin \
        /*verilator coverage_on*/ \
        Name: cover (Name``Holds); \
        /*verilator coverage_off*/ \
      end \
    end \
    /*verilator coverage_on*/
`else
  `define ATOMS_COVER(Name, Cond)
`endif

`endif
