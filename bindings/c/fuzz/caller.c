/* Calls the functions of atoms.h in random sequences: requests and responses as of a unit, and a model under stimulus, mixed
 * with wrong calls. Aborts if a status is undocumented or ATOMS_PANIC, a failed call leaves no message, a call takes a minute,
 * or memory exceeds 3 GiB.
 *
 *   caller SECONDS SEED      CPU time; sequence N has seed SEED + N. With 0 seconds, runs one sequence
 */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "atoms.h"

enum { BOARDS = 4, WORDS = 8, QUEUE = 12 };

/* A request to one word, whose lane 0 adds `add`. */
typedef struct {
    uint32_t tag, word, add;
} request;

typedef struct {
    atoms_scoreboard *handle;
    uint64_t cycle;
    int observed;
    uint32_t memory[WORDS];
    request warp[QUEUE], cluster[QUEUE];
    unsigned warps, clusters;
} board;

static board boards[BOARDS];
static atoms_scoreboard *freed;
static uint64_t state, seed, calls, judged, statuses[9];
static uint32_t *ra, *b, *c, *rd, add, u32, try_wait, u64_;
static char path[] = "/tmp/atoms-caller-XXXXXX";

static _Noreturn void fail(const char *what, long long value) {
    fprintf(stderr, "%s: %lld, in the sequence of seed %" PRIu64 " after %" PRIu64 " calls\n", what, value, seed, calls);
    abort();
}

static void too_slow(int signal) { fail("a call takes a minute of CPU time: signal", signal); }

static uint32_t rnd(uint32_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}

/* A number that is often out of range. */
static uint32_t any(uint32_t limit) {
    switch (rnd(8)) {
    case 0: return limit;
    case 1: return UINT32_MAX - rnd(2);
    case 2: return rnd(UINT32_MAX);
    default: return rnd(limit);
    }
}

static uint32_t *array(uint32_t *words) { return rnd(8) ? words : NULL; }

/* Notes the status of a call. Reads the message of a failed call to its end. */
static int32_t check(const atoms_scoreboard *handle, int64_t status) {
    static const struct itimerval minute = {{0, 0}, {60, 0}};
    if (calls++ % 16 == 0) setitimer(ITIMER_PROF, &minute, NULL);
    if (status < ATOMS_BUSY || status > ATOMS_UNDECIDED) fail("a status is undocumented, or means a bug", status);
    statuses[status - ATOMS_PANIC]++;
    if (status != ATOMS_OK) {
        const char *text = atoms_error(handle);
        if (!text || !strlen(text)) fail("no message for status", status);
    }
    return (int32_t)status;
}

static int32_t check_number(const atoms_scoreboard *handle, int64_t number) {
    return check(handle, number < 0 ? number : ATOMS_OK);
}

static const char *config(void) {
    static const char *const names[] = {"default", "small", "tiny", "small,num_banks=8", "rotating", "merging", "hashed",
                                        "all_options", "narrow", "", "nothing", "tiny,num_banks=3", "tiny,num_rows=",
                                        "no/such.toml:x", "/dev/null.toml:x", "\xff\xfe", "default,,=", NULL};
    return names[rnd(3) ? rnd(9) : rnd(sizeof names / sizeof *names)];
}

static void allocate(board *of) {
    check(of->handle, atoms_cta_write(of->handle, of->cycle, 0, 1, 0, 4 * WORDS, 0));
}

static void create(board *of) {
    memset(of, 0, sizeof *of);
    of->observed = (int)rnd(2);
    of->handle = atoms_scoreboard_new(rnd(32) ? ATOMS_ABI_VERSION : rnd(9), config(), rnd(32) ? of->observed : (int)any(2));
    calls++;
    if (!of->handle) return;
    if (!rnd(4)) check(of->handle, atoms_record(of->handle, rnd(4) ? path : rnd(2) ? "/dev/full" : "/no/such/folder"));
    allocate(of);
}

static void destroy(board *of) {
    int64_t number = atoms_judged(of->handle);
    judged += number > 0 ? (uint64_t)number : 0;
    check(of->handle, atoms_scoreboard_free(of->handle));
    freed = of->handle;
    of->handle = NULL;
}

/* Resets the unit and sets all words, so that all later requests are judged. */
static void restart(board *of) {
    of->warps = of->clusters = 0;
    check(of->handle, atoms_reset(of->handle, ++of->cycle, (int)rnd(2)));
    allocate(of);
    for (uint32_t word = 0; word < WORDS; word++)
        check(of->handle, atoms_set_word(of->handle, of->cycle, word, of->memory[word]));
}

static int32_t ask(board *of, int cluster, int posted) {
    request one = {rnd(rnd(4) ? 256 : 2), rnd(WORDS), rnd(3)};
    memset(ra, 0, 128), memset(b, 0, 512), memset(c, 0, 512);
    ra[0] = 4 * one.word, b[0] = one.add;
    uint64_t cycle = of->cycle += rnd(3);
    if (cluster ? !posted && of->clusters == QUEUE : of->warps == QUEUE) return ATOMS_OK;
    if (!cluster) {
        of->warp[of->warps++] = one;
        return atoms_warp_request(of->handle, cycle, one.tag, add, u32, 0, 0, 0, 0, 1, 0, 0, ra, b, c);
    }
    int32_t status = atoms_cluster_request(of->handle, cycle, one.tag, add, u32, posted, 0, ra[0], b, c);
    if (!posted) of->cluster[of->clusters++] = one;
    if (posted || of->observed) of->memory[one.word] += one.add;
    if (of->observed && !status) {
        check(of->handle, atoms_written(of->handle, one.word, of->memory[one.word]));
        status = atoms_cluster_executed(of->handle, of->cycle += 1);
    }
    return status;
}

static int32_t answer(board *of, int cluster) {
    unsigned *count = cluster ? &of->clusters : &of->warps;
    request *queue = cluster ? of->cluster : of->warp, one = queue[0];
    if (!*count) return ATOMS_OK;
    memmove(queue, queue + 1, --*count * sizeof *queue);
    if (!rnd(200)) one.tag ^= 1;
    memset(rd, 0, 512);
    rd[0] = of->memory[one.word] - (cluster && of->observed ? one.add : 0) + !rnd(100);
    uint64_t cycle = of->cycle += rnd(3);
    if (!(cluster && of->observed)) of->memory[one.word] += one.add;
    if (cluster) return atoms_cluster_response(of->handle, cycle, one.tag, rd, 0, !rnd(200), 0);
    if (of->observed) check(of->handle, atoms_written(of->handle, one.word, of->memory[one.word]));
    int32_t passes = rnd(100) ? 1 - 2 * (int)rnd(2) : (int)any(3);
    return atoms_warp_response(of->handle, cycle, one.tag, rd, 0, !rnd(200), 0, 0, passes, of->observed);
}

/* An MBAR.TRY_WAIT, suspended or not, and often a wake-up. */
static void wait_at_barrier(board *of) {
    uint32_t tag = 200 + rnd(4);
    memset(ra, 0, 128), memset(b, 0, 512);
    b[0] = rnd(2) << 31;
    check(of->handle, atoms_warp_request(of->handle, of->cycle, tag, try_wait, u64_, 0, 0, 0, 0, 1, 0, 0, ra, b, c));
    if (rnd(2)) check(of->handle, atoms_suspended(of->handle, of->cycle += 2, tag));
    if (rnd(4)) check(of->handle, atoms_wake_up(of->handle, of->cycle += rnd(2000), tag, rnd(2)));
}

/* Any function with any arguments. */
static int wild(board *of) {
    atoms_scoreboard *one = of->handle;
    if (!rnd(4)) one = rnd(2) ? freed : (atoms_scoreboard *)(uintptr_t)(rnd(2) ? any(9) : 1 | (uint64_t)rnd(9) << rnd(60));
    uint64_t now = of->cycle += rnd(5000) * !rnd(9), cycle = rnd(50) ? now : rnd(2) ? now - 1 : UINT64_MAX - rnd(9);
    atoms_verdict_t verdict;
    for (int at = 0; at < 128; at++) b[at] = any(9), c[at] = any(3), rd[at] = any(9), ra[at & 31] = 4 * any(WORDS);
    const char *const names[] = {"ADD", "u32", "", "\x80", NULL};
    switch (rnd(24)) {
    case 0: return check_number(NULL, atoms_op_code(names[rnd(5)])), check_number(NULL, atoms_size_code(names[rnd(5)]));
    case 1: return check_number(one, atoms_word_index(one, any(8), any(4)));
    case 2: return check(one, atoms_set_word(one, cycle, any(WORDS), any(9)));
    case 3: return check(one, atoms_cta_write(one, cycle, any(3), (int)any(2), any(4), any(64), rnd(9) ? 0 : any(256)));
    case 4: return check(one, atoms_cta_result(one, cycle, any(3), (int)any(2)));
    case 5: case 6: case 7:
        return check(one, atoms_warp_request(one, cycle, any(256), any(32), any(8), (int)rnd(3) / 2, !rnd(9), any(8) * !rnd(4),
                                             any(3), any(5), rnd(4) ? 0 : any(64), 4 * any(3), array(ra), array(b), array(c)));
    case 8: case 9:
        return check(one, atoms_cluster_request(one, cycle, any(256), any(32), any(8), (int)any(2), any(2), 4 * any(WORDS),
                                                array(b), array(c)));
    case 10: return check(one, atoms_written(one, any(WORDS), any(9)));
    case 11: case 12:
        return check(one, atoms_warp_response(one, cycle, rnd(2) ? of->warp[0].tag : any(256), array(rd), any(4), any(4),
                                              any(32), any(99), (int)any(4), (int)any(2)));
    case 13: case 14:
        return check(one, atoms_cluster_response(one, cycle, rnd(2) ? of->cluster[0].tag : any(256), array(rd), any(2), any(4),
                                                 any(99)));
    case 15: return check(one, atoms_cluster_executed(one, cycle));
    case 16: return check(one, atoms_suspended(one, cycle, any(256)));
    case 17: return check(one, atoms_wake_up(one, cycle, any(256), any(4)));
    case 18: return check(one, atoms_quiet(one, rnd(2) ? now : rnd(3) ? 0 : UINT64_MAX, cycle));
    case 19: return check(one, atoms_reset(one, cycle, (int)any(2)));
    case 20: return check(one, atoms_final_word(one, any(WORDS), any(9)));
    case 21: return rnd(4) ? 0 : check(one, atoms_finish(one, cycle));
    case 22:
        check_number(one, atoms_judged(one));
        if (!atoms_rejected_clause(one)) fail("no clause", 0);
        atoms_rejected_lanes(one);
        return check(one, atoms_record(one, rnd(2) ? path : rnd(2) ? NULL : "\xff"));
    default: return check(one, atoms_verdict(one, rnd(8) ? &verdict : NULL));
    }
}

/* Many calls of one kind, which no unit causes. */
static void flood(board *of) {
    uint32_t kind = rnd(9), count = 1U << (8 + rnd(10));
    if (kind == 8) ask(of, 1, 0);
    for (uint32_t at = 0; at < count; at++) {
        of->cycle++;
        of->warps = of->clusters = 0;
        switch (kind) {
        case 0: check(of->handle, atoms_written(of->handle, at, at)); break;
        case 1: check(of->handle, atoms_final_word(of->handle, at % WORDS, at)); break;
        case 2: case 3: case 4: check(of->handle, ask(of, kind > 2, kind > 3)); break;
        case 5: wait_at_barrier(of); break;
        case 6: check(of->handle, atoms_quiet(of->handle, of->cycle, of->cycle)); break;
        case 7: check(of->handle, atoms_cta_write(of->handle, of->cycle, at % 2, (int)rnd(2), 0, 32, 0)); break;
        default: check(of->handle, atoms_set_word(of->handle, of->cycle, at % WORDS, at));
        }
    }
}

static void flip(void *bytes, size_t size) { ((unsigned char *)bytes)[rnd((uint32_t)size)] ^= (unsigned char)(1U << rnd(8)); }

/* A model under random stimulus, with bits of pins inverted, null pointers, and handles of another kind. */
static void drive(void) {
    static const char *const profiles[] = {"default", "resets", "retry_loops", "objects", "red = 1.0", "red = 2", "", "\xff", NULL};
    const char *name = config();
    void *handles[] = {atoms_model_new(rnd(32) ? ATOMS_ABI_VERSION : rnd(9), name),
                       atoms_stimulus_new(ATOMS_ABI_VERSION, rnd(9) ? name : config(), profiles[rnd(9)], any(9), any(99))};
    atoms_in_t *in = calloc(1, sizeof *in);
    atoms_out_t *out = calloc(1, sizeof *out);
    uint32_t noise = rnd(2) ? 0 : 1 + rnd(64);
    for (uint32_t left = rnd(400); left; left--) {
        void *model = handles[noise && !rnd(99)], *stimulus = handles[!noise || rnd(99)];
        check(stimulus, atoms_stimulus_step(stimulus, noise && !rnd(99) ? NULL : out, noise && !rnd(99) ? NULL : in));
        if (noise && !rnd(noise)) flip(in, sizeof *in);
        if (!rnd(9)) check(model, atoms_model_evaluate(model, in, out));
        check(model, atoms_model_step(model, noise && !rnd(99) ? NULL : in, noise && !rnd(99) ? NULL : out));
        if (noise && !rnd(noise)) flip(out, sizeof *out);
        if (!rnd(9)) check(model, atoms_model_set_word(model, any(WORDS), any(9)));
        check_number(model, atoms_model_word(model, any(WORDS)));
        check_number(stimulus, atoms_stimulus_finished(stimulus));
    }
    check(handles[0], atoms_model_free(handles[0]));
    check(handles[1], atoms_stimulus_free(handles[1]));
    check(handles[0], atoms_model_free(handles[0]));
    free(in), free(out);
}

static void end(board *of) {
    while (of->warps | of->clusters) check(of->handle, answer(of, of->clusters && (!of->warps || rnd(2))));
    for (uint32_t word = 0; word < WORDS; word++) check(of->handle, atoms_final_word(of->handle, word, of->memory[word]));
    check(of->handle, atoms_finish(of->handle, ++of->cycle));
}

static void step(board *of, uint32_t wrong) {
    int32_t status = ATOMS_OK;
    if (!of->handle) create(of);
    if (!of->handle) return;
    uint32_t kind = rnd(400);
    if (rnd(100) < wrong) status = wild(of);
    else if (kind < 180) status = check(of->handle, ask(of, rnd(3) == 0, !rnd(8)));
    else if (kind < 360) status = check(of->handle, answer(of, rnd(3) == 0));
    else if (kind < 375) wait_at_barrier(of);
    else if (kind < 385) check(of->handle, atoms_quiet(of->handle, of->cycle + 1, of->cycle + 1));
    else if (kind < 392) restart(of);
    else if (kind < 395) end(of);
    else if (kind < 396) rnd(32) ? (void)0 : flood(of);
    else if (kind < 397) drive();
    else destroy(of);
    if (of->handle && status == ATOMS_REJECTED) {
        atoms_verdict_t verdict;
        check(of->handle, atoms_verdict(of->handle, &verdict));
        if (verdict.status != ATOMS_REJECTED || strncmp(verdict.clause, "spec ", 5) || verdict.clause[15] || verdict.about[15])
            fail("the verdict is no rejection", verdict.status);
        if (rnd(4)) restart(of);
    } else if (of->handle && status == ATOMS_UNDECIDED && !rnd(8)) {
        destroy(of);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: caller SECONDS SEED\n"), 2;
    double seconds = strtod(argv[1], NULL);
    uint64_t first = strtoull(argv[2], NULL, 10);
    signal(SIGPROF, too_slow);
    close(mkstemp(path));
    ra = calloc(32, 4), b = calloc(128, 4), c = calloc(128, 4), rd = calloc(128, 4);
    add = (uint32_t)atoms_op_code("ADD"), u32 = (uint32_t)atoms_size_code("u32");
    try_wait = (uint32_t)atoms_op_code("MBAR.TRY_WAIT"), u64_ = (uint32_t)atoms_size_code("u64");
    for (seed = first; seed == first || (double)clock() / CLOCKS_PER_SEC < seconds; seed++) {
        state = seed * 0x9e3779b97f4a7c15U ^ 0xd1b54a32d192ed03U;
        uint32_t wrong = rnd(2) ? rnd(4) : rnd(60), length = 100 + rnd(2000);
        for (uint32_t at = 0; at < length; at++) {
            step(&boards[rnd(BOARDS)], wrong);
        }
        for (board *of = boards; of < boards + BOARDS; of++) {
            if (of->handle) destroy(of);
        }
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        if (usage.ru_maxrss > 3 << 20) fail("too much memory, in KiB", usage.ru_maxrss);
    }
    unlink(path);
    free(ra), free(b), free(c), free(rd);
    printf("seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64 " calls: %" PRIu64 " ok, %" PRIu64 " rejected, %" PRIu64 " undecided, %"
           PRIu64 " wrong calls; %" PRIu64 " requests judged\n", first, seed - 1, calls, statuses[6], statuses[7], statuses[8],
           statuses[1] + statuses[2] + statuses[3] + statuses[4] + statuses[5], judged);
    return 0;
}
