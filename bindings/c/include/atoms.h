/* Generated from bindings/c/src by `cargo regenerate`; do not edit. */

#ifndef ATOMS_H
#define ATOMS_H

#include <stdint.h>

/*
 Inputs of the unit in one cycle (docs/ports.md). Elements of lanes that do not exist are 0.
 */
typedef struct atoms_in_t {
  uint32_t req_b[32][4];
  uint32_t req_c[32][4];
  uint32_t cl_b[4];
  uint32_t cl_c[4];
  uint32_t req_ra[32];
  uint32_t req_mask;
  uint32_t req_imm; /* 24 bits */
  uint32_t req_ur;
  uint32_t cl_addr; /* 24 bits */
  uint32_t cta_size; /* 25 bits */
  uint16_t cta_base;
  uint8_t cta_rank;
  uint8_t cta_slot; /* 4 bits */
  uint8_t cta_enable; /* 1 bit */
  uint8_t cta_valid; /* 1 bit */
  uint8_t rst_n; /* 1 bit */
  uint8_t req_valid; /* 1 bit */
  uint8_t req_op; /* 5 bits */
  uint8_t req_size; /* 4 bits */
  uint8_t req_red; /* 1 bit */
  uint8_t req_absolute; /* 1 bit */
  uint8_t req_scale; /* 3 bits */
  uint8_t req_tag; /* 6 bits */
  uint8_t req_slot; /* 4 bits */
  uint8_t rsp_ready; /* 1 bit */
  uint8_t cl_valid; /* 1 bit */
  uint8_t cl_op; /* 5 bits */
  uint8_t cl_size; /* 4 bits */
  uint8_t cl_red; /* 1 bit */
  uint8_t cl_tag; /* 6 bits */
  uint8_t cl_slot; /* 4 bits */
  uint8_t cl_rsp_ready; /* 1 bit */
  uint8_t wake_ready; /* 1 bit */
} atoms_in_t;

/*
 Outputs of the unit in one cycle, before the clock edge (docs/ports.md). Elements of lanes that do not exist are 0.
 */
typedef struct atoms_out_t {
  uint32_t rsp_rd[32][4];
  uint32_t cl_rsp_rd[4];
  uint32_t rsp_pred;
  uint32_t wake_pred;
  uint32_t rsp_fault_addr;
  uint32_t cl_rsp_fault_addr;
  uint8_t req_ready; /* 1 bit */
  uint8_t rsp_valid; /* 1 bit */
  uint8_t rsp_tag; /* 6 bits */
  uint8_t rsp_fault; /* 2 bits */
  uint8_t rsp_fault_lane; /* 5 bits */
  uint8_t rsp_passes; /* 6 bits */
  uint8_t cl_ready; /* 1 bit */
  uint8_t cl_rsp_valid; /* 1 bit */
  uint8_t cl_rsp_tag; /* 6 bits */
  uint8_t cl_rsp_pred; /* 1 bit */
  uint8_t cl_rsp_fault; /* 2 bits */
  uint8_t wake_valid; /* 1 bit */
  uint8_t wake_tag; /* 6 bits */
  uint8_t cta_ready; /* 1 bit */
  uint8_t cta_reject; /* 1 bit */
} atoms_out_t;


/*
 Version of this interface. It changes if a caller that was compiled with an older header can no longer work.
 */
#define ATOMS_ABI_VERSION 1

/*
 The event was accepted, or its judgement waits for later events.
 */
#define ATOMS_OK 0

/*
 The unit broke a clause of the specification. `atoms_verdict` has the details.
 */
#define ATOMS_REJECTED 1

/*
 The event cannot be judged: too many memories or orders are possible, or events came out of order.
 */
#define ATOMS_UNDECIDED 2

/*
 An argument is a null pointer, out of range, or does not fit the calls before.
 */
#define ATOMS_BAD_ARGUMENT -1

/*
 The handle names no object of this kind: null, freed, or never created.
 */
#define ATOMS_BAD_HANDLE -2

/*
 The caller was compiled with the header of another version.
 */
#define ATOMS_WRONG_ABI -3

/*
 A file cannot be written.
 */
#define ATOMS_IO -4

/*
 Another thread is in a call with this handle. `atoms_error(NULL)` has the message.
 */
#define ATOMS_BUSY -5

/*
 A bug in this library. The object of the handle cannot be used any more; free it.
 */
#define ATOMS_PANIC -6

/*
 Functional coverage at the pins of a unit.
 */
typedef struct AtomsCoverage AtomsCoverage;

/*
 A cycle-accurate model of the unit.
 */
typedef struct atoms_model atoms_model;

/*
 A scoreboard.
 */
typedef struct atoms_scoreboard atoms_scoreboard;

/*
 Random requests at the pins of a unit.
 */
typedef struct atoms_stimulus atoms_stimulus;

/*
 The last rejected event.
 */
typedef struct atoms_verdict_t {
  /*
   `ATOMS_REJECTED`, or `ATOMS_OK` if nothing was rejected yet.
   */
  int32_t status;
  /*
   Port of the request: 0 warp, 1 cluster, -1 if the verdict is about no request.
   */
  int32_t port;
  /*
   Number of the request on its port, from 0, in order of acceptance.
   */
  uint64_t number;
  /*
   Cycle in which the port accepted the request.
   */
  uint64_t accepted;
  /*
   Cycle of the rejected event.
   */
  uint64_t cycle;
  /*
   Tag of the request.
   */
  uint32_t tag;
  /*
   Operation code of the request.
   */
  uint32_t op;
  /*
   Lanes that are wrong, lane 0 in bit 0; the active lanes if the whole request is wrong.
   */
  uint32_t lanes;
  /*
   1 if `address` is valid.
   */
  uint32_t has_address;
  /*
   Address as the first wrong lane formed it.
   */
  uint32_t address;
  /*
   1 if `expected` is valid: the specification allows a single value.
   */
  uint32_t has_expected;
  /*
   1 if `got` is valid.
   */
  uint32_t has_got;
  /*
   Padding; always 0.
   */
  uint32_t reserved;
  /*
   Expected value of 128 bits, low word first.
   */
  uint32_t expected[4];
  /*
   Value found, 128 bits, low word first.
   */
  uint32_t got[4];
  /*
   Clause of docs/spec.md that is broken, such as `spec 4.5`; empty if undecided.
   */
  char clause[16];
  /*
   Part that is wrong: `rd`, `pred`, `fault`, `memory`, `write`, `object`, `order`, `wait`, `answer`, `passes`
   or `table`; empty if undecided.
   */
  char about[16];
} atoms_verdict_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the version of this interface, `ATOMS_ABI_VERSION` of the header that fits.
 */
uint32_t atoms_abi_version(void);

/*
 Creates a scoreboard of the unit with memory of zeros and no allocations.

 `abi_version` is `ATOMS_ABI_VERSION` of the caller's header. `config` names a configuration of rtl/configs.toml with
 optional changes (`default`, `small,num_banks=8`), or of a file (`my_configs.toml:NAME`), or
 declares another unit (`unit.toml`, docs/bring-your-own.md). `observed` is 1 if the
 testbench reports each cluster request that executes, with `atoms_cluster_executed`, and the words that each request
 writes, with `atoms_written`; otherwise 0.

 Returns null if it fails; `atoms_error(NULL)` has the reason.

 # Safety
 `config` is null or a string that ends with 0.
 */
struct atoms_scoreboard *atoms_scoreboard_new(uint32_t abi_version,
                                              const char *config,
                                              int32_t observed);

/*
 Frees a scoreboard. Later calls with this handle return `ATOMS_BAD_HANDLE`.
 */
int32_t atoms_scoreboard_free(struct atoms_scoreboard *handle);

/*
 Returns the message of the last call with this handle, of any kind, that did not return `ATOMS_OK`; with null or a
 wrong handle, of the last such call of this thread. Valid until the next call with this handle.
 */
const char *atoms_error(const void *handle);

/*
 Writes the last rejected event to `out`.

 # Safety
 `out` is null or points to an `AtomsVerdict`.
 */
int32_t atoms_verdict(const struct atoms_scoreboard *handle, struct atoms_verdict_t *out);

/*
 Returns the clause of the last rejection, such as `spec 4.5`; empty without a rejection. Valid until the next
 rejection.
 */
const char *atoms_rejected_clause(const struct atoms_scoreboard *handle);

/*
 Returns the lanes of the last rejection, lane 0 in bit 0, as `atoms_verdict` does.
 */
uint32_t atoms_rejected_lanes(const struct atoms_scoreboard *handle);

/*
 Writes a trace of all later events to a file, for `atoms check`. Call it before the first event; the file is complete
 after `atoms_scoreboard_free`.

 # Safety
 `path` is null or a string that ends with 0.
 */
int32_t atoms_record(struct atoms_scoreboard *handle,
                     const char *path);

/*
 Returns the code of an operation such as `ADD` or `CAST.SPIN`, or `ATOMS_BAD_ARGUMENT`.

 # Safety
 `name` is null or a string that ends with 0.
 */
int32_t atoms_op_code(const char *name);

/*
 Returns the code of a size such as `u32`, or `ATOMS_BAD_ARGUMENT`.

 # Safety
 `name` is null or a string that ends with 0.
 */
int32_t atoms_size_code(const char *name);

/*
 Returns the index of the word that `bank` holds in `row`: its physical byte address / 4.
 */
int64_t atoms_word_index(const struct atoms_scoreboard *handle, uint32_t row, uint32_t bank);

/*
 Sets one word of memory from outside the unit, as a backdoor write does.
 */
int32_t atoms_set_word(struct atoms_scoreboard *handle, uint64_t cycle, uint32_t word, uint32_t value);

/*
 Reports an accepted write of the CTA table.
 */
int32_t atoms_cta_write(struct atoms_scoreboard *handle,
                        uint64_t cycle,
                        uint32_t slot,
                        int32_t enable,
                        uint32_t base_row,
                        uint32_t size_bytes,
                        uint32_t rank);

/*
 Reports if the unit refused the last write of a slot (`cta_reject_o`). Optional.
 */
int32_t atoms_cta_result(struct atoms_scoreboard *handle, uint64_t cycle, uint32_t slot, int32_t refused);

/*
 Reports a request that the warp port accepted. `ra` has 32 words, one for each lane; `b` and `c` have 4 words for each
 of 32 lanes. Elements of lanes that do not exist are ignored.

 # Safety
 `ra` is null or points to 32 words, `b` and `c` are null or point to 128 words each.
 */
int32_t atoms_warp_request(struct atoms_scoreboard *handle,
                           uint64_t cycle,
                           uint32_t tag,
                           uint32_t op,
                           uint32_t size,
                           int32_t red,
                           int32_t absolute,
                           uint32_t scale,
                           uint32_t slot,
                           uint32_t mask,
                           uint32_t imm,
                           uint32_t ur,
                           const uint32_t *ra,
                           const uint32_t *b,
                           const uint32_t *c);

/*
 Reports a request that the cluster port accepted. `b` and `c` have 4 words.

 # Safety
 `b` and `c` are null or point to 4 words.
 */
int32_t atoms_cluster_request(struct atoms_scoreboard *handle,
                              uint64_t cycle,
                              uint32_t tag,
                              uint32_t op,
                              uint32_t size,
                              int32_t red,
                              uint32_t slot,
                              uint32_t addr,
                              const uint32_t *b,
                              const uint32_t *c);

/*
 Adds a word, with its final value, to those written by the request of the next `atoms_warp_response`,
 `atoms_cluster_executed` or `atoms_reset`.
 */
int32_t atoms_written(struct atoms_scoreboard *handle, uint32_t word, uint32_t value);

/*
 Reports a response of the warp port, in the cycle in which it appears. `rd` has 4 words for each of 32 lanes. `passes`
 is -1 if the unit does not state it. `observed` is 1 if the words of `atoms_written` are all that the request wrote.

 # Safety
 `rd` is null or points to 128 words.
 */
int32_t atoms_warp_response(struct atoms_scoreboard *handle,
                            uint64_t cycle,
                            uint32_t tag,
                            const uint32_t *rd,
                            uint32_t pred,
                            uint32_t fault,
                            uint32_t fault_lane,
                            uint32_t fault_addr,
                            int32_t passes,
                            int32_t observed);

/*
 Reports a response of the cluster port, in the cycle in which it appears. `rd` has 4 words.

 # Safety
 `rd` is null or points to 4 words.
 */
int32_t atoms_cluster_response(struct atoms_scoreboard *handle,
                               uint64_t cycle,
                               uint32_t tag,
                               const uint32_t *rd,
                               uint32_t pred,
                               uint32_t fault,
                               uint32_t fault_addr);

/*
 Reports that the oldest cluster request that has not executed executed in this cycle, and wrote the words of
 `atoms_written`. Only for a scoreboard created with `observed` 1.
 */
int32_t atoms_cluster_executed(struct atoms_scoreboard *handle, uint64_t cycle);

/*
 Reports that the unit suspended the MBAR.TRY_WAIT with this tag. Optional; then the exact end of the wait is judged.
 */
int32_t atoms_suspended(struct atoms_scoreboard *handle,
                        uint64_t cycle,
                        uint32_t tag);

/*
 Reports a wake-up, in the cycle in which it appears.
 */
int32_t atoms_wake_up(struct atoms_scoreboard *handle, uint64_t cycle, uint32_t tag, uint32_t pred);

/*
 Reports that in the cycles `from` to `to` no wake-up was offered and no answer was left untaken. Optional; then a wait
 that should have ended is found before the end of the run.
 */
int32_t atoms_quiet(struct atoms_scoreboard *handle,
                    uint64_t from,
                    uint64_t to);

/*
 Reports a reset. `observed` is 1 if the words of `atoms_written` are all that requests without an answer wrote. With 0,
 the words that these requests may write are unknown until `atoms_set_word`.
 */
int32_t atoms_reset(struct atoms_scoreboard *handle,
                    uint64_t cycle,
                    int32_t observed);

/*
 Adds a word of the memory at the end of the run, for `atoms_finish`.
 */
int32_t atoms_final_word(struct atoms_scoreboard *handle, uint32_t word, uint32_t value);

/*
 Judges the end of the run: requests without an answer, events not judged so far, and the words of `atoms_final_word`.
 */
int32_t atoms_finish(struct atoms_scoreboard *handle,
                     uint64_t cycle);

/*
 Returns the number of requests judged so far, or a negative status.
 */
int64_t atoms_judged(const struct atoms_scoreboard *handle);

/*
 Creates a model of the unit in its reset state, with memory of zeros. `abi_version` and `config` are those of
 `atoms_scoreboard_new`.

 Returns null if it fails; `atoms_error(NULL)` has the reason.

 # Safety
 `config` is null or a string that ends with 0.
 */
struct atoms_model *atoms_model_new(uint32_t abi_version, const char *config);

/*
 Frees a model. Later calls with this handle return `ATOMS_BAD_HANDLE`.
 */
int32_t atoms_model_free(struct atoms_model *handle);

/*
 Runs one cycle with the inputs `in`. Writes the outputs before the clock edge to `out`. A cycle with `rst_n` 0 resets
 the model; memory keeps its content.

 # Safety
 `in` is null or points to an `atoms_in_t`, `out` is null or points to an `atoms_out_t`.
 */
int32_t atoms_model_step(struct atoms_model *handle,
                         const atoms_in_t *in,
                         atoms_out_t *out);

/*
 Writes the outputs of a cycle with the inputs `in` to `out`, without a clock edge. Of the outputs, only `cta_ready`
 depends on the inputs.

 # Safety
 `in` is null or points to an `atoms_in_t`, `out` is null or points to an `atoms_out_t`.
 */
int32_t atoms_model_evaluate(struct atoms_model *handle,
                             const atoms_in_t *in,
                             atoms_out_t *out);

/*
 Returns a word of the model's memory, or a negative status. Its index is the physical byte address / 4.
 */
int64_t atoms_model_word(const struct atoms_model *handle, uint32_t word);

/*
 Sets a word of the model's memory.
 */
int32_t atoms_model_set_word(struct atoms_model *handle, uint32_t word, uint32_t value);

/*
 Creates random stimulus of `requests` warp requests, and of requests at the other ports meanwhile. Equal arguments and
 outputs give equal requests. `profile` is the name of a profile (docs/profiles.md), or the content of its file.
 `abi_version` and `config` are those of `atoms_scoreboard_new`.

 Returns null if it fails; `atoms_error(NULL)` has the reason.

 # Safety
 `config` and `profile` are null or strings that end with 0.
 */
struct atoms_stimulus *atoms_stimulus_new(uint32_t abi_version,
                                          const char *config,
                                          const char *profile,
                                          uint64_t seed,
                                          uint64_t requests);

/*
 Frees stimulus. Later calls with this handle return `ATOMS_BAD_HANDLE`.
 */
int32_t atoms_stimulus_free(struct atoms_stimulus *handle);

/*
 Writes the inputs of the next cycle to `in`, given the outputs of the cycle before. The first call ignores `out`, which
 may be null then.

 # Safety
 `out` is null or points to an `atoms_out_t`, `in` is null or points to an `atoms_in_t`.
 */
int32_t atoms_stimulus_step(struct atoms_stimulus *handle,
                            const atoms_out_t *out,
                            atoms_in_t *in);

/*
 Returns 1 if all requests have been offered, 0 if not, or a negative status. The last request may not be accepted yet,
 and requests may be in flight: step on until they are answered.
 */
int32_t atoms_stimulus_finished(const struct atoms_stimulus *handle);

/*
 Creates functional coverage without hits, of a unit after reset: the groups that its ports show. `abi_version` and
 `config` are those of `atoms_scoreboard_new`.

 Returns null if it fails; `atoms_error(NULL)` has the reason.

 # Safety
 `config` is null or a string that ends with 0.
 */
struct AtomsCoverage *atoms_coverage_new(uint32_t abi_version,
                                         const char *config);

/*
 Frees coverage. Later calls with this handle return `ATOMS_BAD_HANDLE`.
 */
int32_t atoms_coverage_free(struct AtomsCoverage *handle);

/*
 Samples the pins of the next cycle, as they are before the clock edge. Call it in every cycle.

 # Safety
 `in` is null or points to an `atoms_in_t`, `out` is null or points to an `atoms_out_t`.
 */
int32_t atoms_coverage_sample(struct AtomsCoverage *handle, const atoms_in_t *in, const atoms_out_t *out);

/*
 Writes how many bins of a group are hit, and how many the unit can hit, to `hit` and `bins`. `group` is null or empty
 for all groups.

 # Safety
 `group` is null or a string that ends with 0. `hit` and `bins` are null or point to a number.
 */
int32_t atoms_coverage_count(struct AtomsCoverage *handle,
                             const char *group,
                             uint32_t *hit,
                             uint32_t *bins);

/*
 Writes the hits to a file that `atoms cover` merges.

 # Safety
 `path` is null or a string that ends with 0.
 */
int32_t atoms_coverage_write(struct AtomsCoverage *handle, const char *path);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ATOMS_H */
