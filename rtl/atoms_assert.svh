// Assertion and cover macros, for simulation and formal only. They use immediate assertions, which every
// simulator and the formal reader accept. Line coverage excludes them, because they are not part of the
// design.
`ifndef ATOMS_ASSERT_SVH
`define ATOMS_ASSERT_SVH

`ifdef SYNTHESIS
  `define ATOMS_ASSERT(Name, Cond)
  `define ATOMS_ASSERT_COMB(Name, Cond)
  `define ATOMS_ASSERT_STATIC(Name, Cond)
`else
  /// Asserts `Cond` at every clock edge outside reset.
  `define ATOMS_ASSERT(Name, Cond) \
    /*verilator coverage_off*/ \
    always_ff @(posedge clk_i) begin \
      if (rst_ni) begin \
        Name: assert (Cond) else $error("assertion failed: %s", `"Name`"); \
      end \
    end \
    /*verilator coverage_on*/
`ifdef ATOMS_WOVEN
  // In a build with schemata, mutants break these assertions even in reset, so that no run could continue.
  `define ATOMS_ASSERT_COMB(Name, Cond)
`else
  /// Asserts `Cond` whenever the signals have settled, for a module without a clock.
  `define ATOMS_ASSERT_COMB(Name, Cond) \
    /*verilator coverage_off*/ \
    always_comb begin \
      Name: assert final (Cond) else $error("assertion failed: %s", `"Name`"); \
    end \
    /*verilator coverage_on*/
`endif
  /// Asserts `Cond`, a constant expression, for the elaborated configuration.
  `define ATOMS_ASSERT_STATIC(Name, Cond) \
    if (!(Cond)) begin : Name \
      $error("assertion failed: %s", `"Name`"); \
    end
`endif

`ifdef ATOMS_COVERAGE
  /// Counts the clock edges outside reset at which `Cond` holds. The condition is assigned to a signal first:
  /// in a clocked process, Verilator 5.006 may use a function result before it calls the function.
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
