/// The ATOMS scoreboard, cycle-accurate model, random stimulus and coverage for SystemVerilog testbenches, over DPI. Link
/// with libatoms (bindings/c).
///
/// `Scoreboard` needs only the ports of the unit. Call it from monitors, in the order of the clock cycles, with values
/// as sampled at the clock edge. In one cycle, report in this order: results of CTA table writes, responses and
/// wake-ups that appear, executed cluster requests, accepted CTA table writes, accepted requests.
package atoms_dpi_pkg;

  /// Version of the interface of libatoms that this package fits.
  parameter int unsigned AbiVersion = 1;

  /// Result of a call: the event is accepted (or judged later), rejected, or undecided; negative after a wrong call.
  typedef enum int {
    Accepted    = 0,
    Rejected    = 1,
    Undecided   = 2,
    BadArgument = -1,
    BadHandle   = -2,
    WrongAbi    = -3,
    BadFile     = -4,
    Busy        = -5,
    Panic       = -6
  } verdict_e;

  // Generated from the ports of the model by `cargo regenerate`.
  /// Inputs of the unit in one cycle (docs/ports.md). Elements of lanes that do not exist are 0.
  typedef struct packed {
    bit [6:0] pad_wake_ready; bit wake_ready;
    bit [6:0] pad_cl_rsp_ready; bit cl_rsp_ready;
    bit [3:0] pad_cl_slot; bit [3:0] cl_slot;
    bit [1:0] pad_cl_tag; bit [5:0] cl_tag;
    bit [6:0] pad_cl_red; bit cl_red;
    bit [3:0] pad_cl_size; bit [3:0] cl_size;
    bit [2:0] pad_cl_op; bit [4:0] cl_op;
    bit [6:0] pad_cl_valid; bit cl_valid;
    bit [6:0] pad_rsp_ready; bit rsp_ready;
    bit [3:0] pad_req_slot; bit [3:0] req_slot;
    bit [1:0] pad_req_tag; bit [5:0] req_tag;
    bit [4:0] pad_req_scale; bit [2:0] req_scale;
    bit [6:0] pad_req_absolute; bit req_absolute;
    bit [6:0] pad_req_red; bit req_red;
    bit [3:0] pad_req_size; bit [3:0] req_size;
    bit [2:0] pad_req_op; bit [4:0] req_op;
    bit [6:0] pad_req_valid; bit req_valid;
    bit [6:0] pad_rst_n; bit rst_n;
    bit [6:0] pad_cta_valid; bit cta_valid;
    bit [6:0] pad_cta_enable; bit cta_enable;
    bit [3:0] pad_cta_slot; bit [3:0] cta_slot;
    bit [7:0] cta_rank;
    bit [15:0] cta_base;
    bit [6:0] pad_cta_size; bit [24:0] cta_size;
    bit [7:0] pad_cl_addr; bit [23:0] cl_addr;
    bit [31:0] req_ur;
    bit [7:0] pad_req_imm; bit [23:0] req_imm;
    bit [31:0] req_mask;
    bit [31:0][31:0] req_ra;
    bit [127:0] cl_c;
    bit [127:0] cl_b;
    bit [31:0][127:0] req_c;
    bit [31:0][127:0] req_b;
  } atoms_in_t;

  /// Outputs of the unit in one cycle, before the clock edge (docs/ports.md). Elements of lanes that do not exist are 0.
  typedef struct packed {
    bit [6:0] pad_cta_reject; bit cta_reject;
    bit [6:0] pad_cta_ready; bit cta_ready;
    bit [1:0] pad_wake_tag; bit [5:0] wake_tag;
    bit [6:0] pad_wake_valid; bit wake_valid;
    bit [5:0] pad_cl_rsp_fault; bit [1:0] cl_rsp_fault;
    bit [6:0] pad_cl_rsp_pred; bit cl_rsp_pred;
    bit [1:0] pad_cl_rsp_tag; bit [5:0] cl_rsp_tag;
    bit [6:0] pad_cl_rsp_valid; bit cl_rsp_valid;
    bit [6:0] pad_cl_ready; bit cl_ready;
    bit [1:0] pad_rsp_passes; bit [5:0] rsp_passes;
    bit [2:0] pad_rsp_fault_lane; bit [4:0] rsp_fault_lane;
    bit [5:0] pad_rsp_fault; bit [1:0] rsp_fault;
    bit [1:0] pad_rsp_tag; bit [5:0] rsp_tag;
    bit [6:0] pad_rsp_valid; bit rsp_valid;
    bit [6:0] pad_req_ready; bit req_ready;
    bit [31:0] cl_rsp_fault_addr;
    bit [31:0] rsp_fault_addr;
    bit [31:0] wake_pred;
    bit [31:0] rsp_pred;
    bit [127:0] cl_rsp_rd;
    bit [31:0][127:0] rsp_rd;
  } atoms_out_t;

  // End of generated text.

  import "DPI-C" function int unsigned atoms_abi_version();
  import "DPI-C" function chandle atoms_scoreboard_new(input int unsigned abi_version, input string config_name,
                                                       input int observed);
  import "DPI-C" function int atoms_scoreboard_free(input chandle handle);
  import "DPI-C" function string atoms_error(input chandle handle);
  import "DPI-C" function string atoms_rejected_clause(input chandle handle);
  import "DPI-C" function int unsigned atoms_rejected_lanes(input chandle handle);
  import "DPI-C" function int atoms_record(input chandle handle, input string path);
  import "DPI-C" function longint atoms_word_index(input chandle handle, input int unsigned row,
                                                   input int unsigned bank);
  import "DPI-C" function int atoms_set_word(input chandle handle, input longint unsigned cycle,
                                             input int unsigned word, input int unsigned value);
  import "DPI-C" function int atoms_cta_write(input chandle handle, input longint unsigned cycle,
                                              input int unsigned slot, input int enable,
                                              input int unsigned base_row, input int unsigned size_bytes,
                                              input int unsigned rank);
  import "DPI-C" function int atoms_cta_result(input chandle handle, input longint unsigned cycle,
                                               input int unsigned slot, input int refused);
  import "DPI-C" function int atoms_warp_request(input chandle handle, input longint unsigned cycle,
                                                 input int unsigned tag, input int unsigned op,
                                                 input int unsigned size, input int red, input int absolute,
                                                 input int unsigned scale, input int unsigned slot,
                                                 input int unsigned mask, input int unsigned imm,
                                                 input int unsigned ur, input bit [1023:0] ra,
                                                 input bit [4095:0] b, input bit [4095:0] c);
  import "DPI-C" function int atoms_cluster_request(input chandle handle, input longint unsigned cycle,
                                                    input int unsigned tag, input int unsigned op,
                                                    input int unsigned size, input int red,
                                                    input int unsigned slot, input int unsigned addr,
                                                    input bit [127:0] b, input bit [127:0] c);
  import "DPI-C" function int atoms_written(input chandle handle, input int unsigned word,
                                            input int unsigned value);
  import "DPI-C" function int atoms_warp_response(input chandle handle, input longint unsigned cycle,
                                                  input int unsigned tag, input bit [4095:0] rd,
                                                  input int unsigned pred, input int unsigned fault,
                                                  input int unsigned fault_lane, input int unsigned fault_addr,
                                                  input int passes, input int observed);
  import "DPI-C" function int atoms_cluster_response(input chandle handle, input longint unsigned cycle,
                                                     input int unsigned tag, input bit [127:0] rd,
                                                     input int unsigned pred, input int unsigned fault,
                                                     input int unsigned fault_addr);
  import "DPI-C" function int atoms_cluster_executed(input chandle handle, input longint unsigned cycle);
  import "DPI-C" function int atoms_suspended(input chandle handle, input longint unsigned cycle,
                                              input int unsigned tag);
  import "DPI-C" function int atoms_wake_up(input chandle handle, input longint unsigned cycle,
                                            input int unsigned tag, input int unsigned pred);
  import "DPI-C" function int atoms_quiet(input chandle handle, input longint unsigned first,
                                          input longint unsigned last);
  import "DPI-C" function int atoms_reset(input chandle handle, input longint unsigned cycle, input int observed);
  import "DPI-C" function int atoms_final_word(input chandle handle, input int unsigned word,
                                               input int unsigned value);
  import "DPI-C" function int atoms_finish(input chandle handle, input longint unsigned cycle);
  import "DPI-C" function longint atoms_judged(input chandle handle);
  import "DPI-C" function chandle atoms_model_new(input int unsigned abi_version, input string config_name);
  import "DPI-C" function int atoms_model_free(input chandle handle);
  import "DPI-C" function int atoms_model_step(input chandle handle, input atoms_in_t pins, output atoms_out_t outputs);
  import "DPI-C" function int atoms_model_evaluate(input chandle handle, input atoms_in_t pins,
                                                   output atoms_out_t outputs);
  import "DPI-C" function longint atoms_model_word(input chandle handle, input int unsigned word);
  import "DPI-C" function int atoms_model_set_word(input chandle handle, input int unsigned word,
                                                   input int unsigned value);
  import "DPI-C" function chandle atoms_stimulus_new(input int unsigned abi_version, input string config_name,
                                                     input string profile, input longint unsigned seed,
                                                     input longint unsigned requests);
  import "DPI-C" function int atoms_stimulus_free(input chandle handle);
  import "DPI-C" function int atoms_stimulus_step(input chandle handle, input atoms_out_t outputs,
                                                  output atoms_in_t pins);
  import "DPI-C" function int atoms_stimulus_finished(input chandle handle);
  import "DPI-C" function chandle atoms_coverage_new(input int unsigned abi_version, input string config_name);
  import "DPI-C" function int atoms_coverage_free(input chandle handle);
  import "DPI-C" function int atoms_coverage_sample(input chandle handle, input atoms_in_t pins, input atoms_out_t outputs);
  import "DPI-C" function int atoms_coverage_count(input chandle handle, input string group, output int unsigned hit,
                                                   output int unsigned total);
  import "DPI-C" function int atoms_coverage_write(input chandle handle, input string path);

  /// Object of the library.
  virtual class Handle;
    protected chandle handle;
    /// Result of the last call.
    verdict_e result;

    function new(chandle made);
      handle = made;
      result = (handle == null) ? BadArgument : Accepted;
    endfunction

    /// True if the object exists. Otherwise `message` has the reason.
    function bit valid();
      return handle != null;
    endfunction

    /// Text of the last rejection or error.
    function string message();
      return atoms_error(handle);
    endfunction

    protected function bit note(int status);
      result = verdict_e'(status);
      return status == 0;
    endfunction
  endclass

  /// A scoreboard of one unit, whose memory starts as zeros. Each function returns 1 if the event is accepted or judged
  /// later. After a rejection, `result`, `message`, `clause` and `lanes` have the reason.
  class Scoreboard extends Handle;
    /// `config_name` is a configuration of rtl/configs.toml such as `default` or `small,num_banks=8`. `observed` is 1 if
    /// the testbench calls `executed` for each cluster request, and `written` for each word.
    function new(string config_name, bit observed = 1'b0);
      super.new(atoms_scoreboard_new(AbiVersion, config_name, int'(observed)));
    endfunction

    /// Clause of docs/spec.md that is broken, such as `spec 4.5`; empty without a rejection.
    function string clause();
      return atoms_rejected_clause(handle);
    endfunction

    /// Lanes that are wrong, lane 0 in bit 0.
    function int unsigned lanes();
      return atoms_rejected_lanes(handle);
    endfunction

    /// Number of requests judged so far.
    function longint judged();
      return atoms_judged(handle);
    endfunction

    /// Writes a trace for `atoms check`; the file is complete after `free`.
    function bit record(string path);
      return note(atoms_record(handle, path));
    endfunction

    /// Completes the trace and frees the scoreboard.
    function bit free();
      return note(atoms_scoreboard_free(handle));
    endfunction

    /// Index of the word that a bank holds in a row: its byte address / 4.
    function int unsigned word_index(int unsigned row, int unsigned bank);
      return 32'(atoms_word_index(handle, row, bank));
    endfunction

    function bit set_word(longint unsigned cycle, int unsigned word, int unsigned value);
      return note(atoms_set_word(handle, cycle, word, value));
    endfunction

    function bit cta_write(longint unsigned cycle, bit [3:0] slot, bit enable, bit [15:0] base_row,
                           bit [24:0] size_bytes, bit [7:0] rank);
      return note(atoms_cta_write(handle, cycle, 32'(slot), int'(enable), 32'(base_row), 32'(size_bytes), 32'(rank)));
    endfunction

    function bit cta_result(longint unsigned cycle, bit [3:0] slot, bit refused);
      return note(atoms_cta_result(handle, cycle, 32'(slot), int'(refused)));
    endfunction

    /// `ra` has 32 bits and `b` and `c` have 128 bits for each lane, lane 0 lowest. Zero-extend them for fewer lanes.
    function bit warp_request(longint unsigned cycle, bit [5:0] tag, bit [4:0] op, bit [3:0] size, bit red,
                              bit absolute, bit [2:0] scale, bit [3:0] slot, bit [31:0] mask, bit [23:0] imm,
                              bit [31:0] ur, bit [1023:0] ra, bit [4095:0] b, bit [4095:0] c);
      return note(atoms_warp_request(handle, cycle, 32'(tag), 32'(op), 32'(size), int'(red), int'(absolute), 32'(scale),
                                     32'(slot), mask, 32'(imm), ur, ra, b, c));
    endfunction

    function bit cluster_request(longint unsigned cycle, bit [5:0] tag, bit [4:0] op, bit [3:0] size, bit red,
                                 bit [3:0] slot, bit [23:0] addr, bit [127:0] b, bit [127:0] c);
      return note(atoms_cluster_request(handle, cycle, 32'(tag), 32'(op), 32'(size), int'(red), 32'(slot), 32'(addr),
                                        b, c));
    endfunction

    /// Adds a word that the request of the next response, `executed` or `reset` wrote.
    function bit written(int unsigned word, int unsigned value);
      return note(atoms_written(handle, word, value));
    endfunction

    /// `passes` is -1 if the unit does not state it. `observed` is 1 if the words of `written` are all.
    function bit warp_response(longint unsigned cycle, bit [5:0] tag, bit [4095:0] rd, bit [31:0] pred,
                               bit [1:0] fault, bit [4:0] fault_lane, bit [31:0] fault_addr, int passes = -1,
                               bit observed = 1'b0);
      return note(atoms_warp_response(handle, cycle, 32'(tag), rd, pred, 32'(fault), 32'(fault_lane), fault_addr,
                                      passes, int'(observed)));
    endfunction

    function bit cluster_response(longint unsigned cycle, bit [5:0] tag, bit [127:0] rd, bit pred, bit [1:0] fault,
                                  bit [31:0] fault_addr);
      return note(atoms_cluster_response(handle, cycle, 32'(tag), rd, 32'(pred), 32'(fault), fault_addr));
    endfunction

    function bit executed(longint unsigned cycle);
      return note(atoms_cluster_executed(handle, cycle));
    endfunction

    function bit suspended(longint unsigned cycle, bit [5:0] tag);
      return note(atoms_suspended(handle, cycle, 32'(tag)));
    endfunction

    function bit wake_up(longint unsigned cycle, bit [5:0] tag, bit [31:0] pred);
      return note(atoms_wake_up(handle, cycle, 32'(tag), pred));
    endfunction

    /// No wake-up was offered and no answer was left untaken in the cycles `first` to `last`.
    function bit quiet(longint unsigned first, longint unsigned last);
      return note(atoms_quiet(handle, first, last));
    endfunction

    function bit reset(longint unsigned cycle, bit observed = 1'b0);
      return note(atoms_reset(handle, cycle, int'(observed)));
    endfunction

    /// Adds a word of the memory at the end.
    function bit final_word(int unsigned word, int unsigned value);
      return note(atoms_final_word(handle, word, value));
    endfunction

    /// Judges the end of the run.
    function bit finish(longint unsigned cycle);
      return note(atoms_finish(handle, cycle));
    endfunction
  endclass

  /// Cycle-accurate model of `atoms_unit`, in its reset state, with memory of zeros. Call one function per clock cycle. A
  /// function returns 0 if a pin or an index is out of range; `message` has the reason.
  class Model extends Handle;
    function new(string config_name);
      super.new(atoms_model_new(AbiVersion, config_name));
    endfunction

    function bit free();
      return note(atoms_model_free(handle));
    endfunction

    /// Runs one cycle. `outputs` are those before the clock edge. A cycle with `rst_n` 0 resets the model, not its memory.
    function bit step(atoms_in_t pins, output atoms_out_t outputs);
      return note(atoms_model_step(handle, pins, outputs));
    endfunction

    /// Gives the outputs of a cycle without a clock edge. Of the outputs, only `cta_ready` depends on `pins`.
    function bit evaluate(atoms_in_t pins, output atoms_out_t outputs);
      return note(atoms_model_evaluate(handle, pins, outputs));
    endfunction

    /// A word of memory. Its index is the physical byte address / 4.
    function int unsigned word(int unsigned index);
      return 32'(atoms_model_word(handle, index));
    endfunction

    function bit set_word(int unsigned index, int unsigned value);
      return note(atoms_model_set_word(handle, index, value));
    endfunction
  endclass

  /// Random stimulus of `requests` warp requests, and of requests at the other ports meanwhile.
  class Stimulus extends Handle;
    /// `profile` is the name of a profile (docs/profiles.md), or the content of its file.
    function new(string config_name, string profile = "default", longint unsigned seed = 1,
                 longint unsigned requests = 1000);
      super.new(atoms_stimulus_new(AbiVersion, config_name, profile, seed, requests));
    endfunction

    function bit free();
      return note(atoms_stimulus_free(handle));
    endfunction

    /// Gives the inputs of the next cycle. `outputs` are those of the cycle before; the first call ignores them.
    function bit step(atoms_out_t outputs, output atoms_in_t pins);
      return note(atoms_stimulus_step(handle, outputs, pins));
    endfunction

    /// True if all requests have been offered. Requests may still be in flight.
    function bit finished();
      return atoms_stimulus_finished(handle) == 1;
    endfunction
  endclass

  /// Functional coverage of a unit after reset: the groups of docs/coverage.md that its ports show.
  class Coverage extends Handle;
    function new(string config_name);
      super.new(atoms_coverage_new(AbiVersion, config_name));
    endfunction

    function bit free();
      return note(atoms_coverage_free(handle));
    endfunction

    /// Samples the pins of the next cycle, as they are before the clock edge. Call it in every cycle.
    function bit sample(atoms_in_t pins, atoms_out_t outputs);
      return note(atoms_coverage_sample(handle, pins, outputs));
    endfunction

    /// Gives the number of bins hit, and of all bins that the unit can hit. `group` is empty for all groups.
    function bit count(string group, output int unsigned hit, output int unsigned total);
      return note(atoms_coverage_count(handle, group, hit, total));
    endfunction

    /// Writes the hits to a file that `atoms cover` merges.
    function bit write(string path);
      return note(atoms_coverage_write(handle, path));
    endfunction
  endclass

endpackage : atoms_dpi_pkg
