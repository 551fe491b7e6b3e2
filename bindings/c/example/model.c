/* The cycle-accurate model under random requests, from C. Replace the model by your unit, or compare both in each cycle.
 *
 *   cc bindings/c/example/model.c -I bindings/c/include -L target/release -latoms -o target/model
 *   LD_LIBRARY_PATH=target/release target/model
 */
#include <stdio.h>
#include <stdlib.h>

#include "atoms.h"

static void check(const void *handle, int failed) {
    if (failed) {
        fprintf(stderr, "%s\n", atoms_error(handle));
        exit(1);
    }
}

int main(void) {
    atoms_model *model = atoms_model_new(ATOMS_ABI_VERSION, "default");
    check(NULL, !model);
    atoms_stimulus *stimulus = atoms_stimulus_new(ATOMS_ABI_VERSION, "default", "busy", 1, 1000);
    check(NULL, !stimulus);
    atoms_in_t in;
    atoms_out_t out = {0};
    unsigned accepted = 0, answered = 0, cycles = 0;
    while (!atoms_stimulus_finished(stimulus) || accepted < 1000 || answered < accepted) {
        check(stimulus, atoms_stimulus_step(stimulus, &out, &in));
        check(model, atoms_model_step(model, &in, &out));
        accepted += in.req_valid & out.req_ready;
        answered += out.rsp_valid & in.rsp_ready;
        cycles++;
    }
    printf("%u requests, %u answers, %u cycles\n", accepted, answered, cycles);
    check(model, atoms_model_free(model));
    check(stimulus, atoms_stimulus_free(stimulus));
    return 0;
}
