/* The scoreboard from C: two lanes add to one word, and the unit loses one of the updates. Prints the verdict.
 *
 *   cc bindings/c/example/scoreboard.c -I bindings/c/include -L target/release -latoms -o target/scoreboard
 *   LD_LIBRARY_PATH=target/release target/scoreboard
 */
#include <stdio.h>
#include <stdlib.h>

#include "atoms.h"

static void check(atoms_scoreboard *scoreboard, int32_t status) {
    if (status != ATOMS_OK) {
        fprintf(stderr, "status %d: %s\n", (int)status, atoms_error(scoreboard));
        exit(2);
    }
}

int main(void) {
    atoms_scoreboard *scoreboard = atoms_scoreboard_new(ATOMS_ABI_VERSION, "default", 0);
    if (!scoreboard) {
        fprintf(stderr, "%s\n", atoms_error(NULL));
        return 2;
    }
    /* Slot 0 has 1 KiB from row 0. Lanes 0 and 1 add 5 and 7 to the word at byte address 0x40. */
    uint32_t ra[32] = {0x40, 0x40}, b[128] = {[0] = 5, [4] = 7}, c[128] = {0}, rd[128] = {0};
    uint32_t add = (uint32_t)atoms_op_code("ADD"), u32 = (uint32_t)atoms_size_code("u32");
    check(scoreboard, atoms_cta_write(scoreboard, 1, 0, 1, 0, 1024, 0));
    check(scoreboard, atoms_warp_request(scoreboard, 2, 9, add, u32, 0, 0, 0, 0, 3, 0, 0, ra, b, c));

    /* Both lanes get 0, the value before: one update was lost. */
    if (atoms_warp_response(scoreboard, 8, 9, rd, 0, 0, 0, 0, 2, 0) != ATOMS_REJECTED) {
        fprintf(stderr, "the lost update is not found\n");
        return 1;
    }
    atoms_verdict_t verdict;
    check(scoreboard, atoms_verdict(scoreboard, &verdict));
    printf("%s\n", atoms_error(scoreboard));
    printf("clause %s, about %s, lanes %#x at %#x\n", verdict.clause, verdict.about, (unsigned)verdict.lanes,
           (unsigned)verdict.address);
    check(scoreboard, atoms_scoreboard_free(scoreboard));
    return 0;
}
