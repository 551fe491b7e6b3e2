// stack_index for sm_75 sm_80 sm_86 sm_89 sm_90a sm_100a sm_120a
// A pool of free slots kept as a stack: its lock is a bit beside the count; threads take slots, use them, give them back.
extern "C" __global__ void stack_index(unsigned* out, int rounds) {
    __shared__ unsigned top, free_slot[8], busy[8], uses, clash;
    if (threadIdx.x < 8) { free_slot[threadIdx.x] = threadIdx.x; busy[threadIdx.x] = 0; }
    if (threadIdx.x == 0) { top = 8; uses = 0; clash = 0; }
    __syncthreads();
    volatile unsigned* f = free_slot;
    for (int r = 0; r < rounds; r++) {
        unsigned slot = 8;
        while (slot == 8) {
            unsigned c = atomicOr(&top, 0x80000000u);
            if (c & 0x80000000u) {
                __nanosleep(16 + (threadIdx.x * 37 & 127));
                continue;
            }
            __threadfence_block();
            if (c > 0) slot = f[--c];
            __threadfence_block();
            atomicExch(&top, c);
            if (slot == 8) __nanosleep(200 + (threadIdx.x * 53 & 255));
        }
        if (atomicAdd(&busy[slot], 1u) != 0) atomicAdd(&clash, 1u);
        atomicAdd(&uses, threadIdx.x);
        atomicSub(&busy[slot], 1u);
        bool back = false;
        do {
            unsigned c = atomicOr(&top, 0x80000000u);
            if (!(c & 0x80000000u)) {
                __threadfence_block();
                f[c++] = slot;
                __threadfence_block();
                atomicExch(&top, c);
                back = true;
            } else {
                __nanosleep(16 + (threadIdx.x * 41 & 63));
            }
        } while (!back);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned all = 0;
        for (int i = 0; i < 8; i++) all += 1u << f[i];
        out[0] = top; out[1] = uses; out[2] = clash; out[3] = all;
    }
}
