// votes for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Barriers that count and vote, warps that wait for each other on a word, ballots, shuffles of every mode.
extern "C" __global__ void votes(const int* in, int* out, int n) {
    __shared__ int stage, total;
    __shared__ unsigned masks[8];
    int t = threadIdx.x, w = t / 32, lane = t & 31;
    if (t == 0) { stage = 0; total = 0; }
    __syncthreads();
    int counted = 0;
    for (int i = t; i < n; i += blockDim.x) {
        counted += __syncthreads_count(in[i] > 10);
        if (__syncthreads_or(in[i] == 999)) atomicAdd(&total, 1);
        if (__syncthreads_and(in[i] < 5000)) atomicAdd(&total, 100);
    }
    unsigned m = __ballot_sync(~0u, in[t] & 1);
    int any = __any_sync(~0u, in[t] > 250), every = __all_sync(~0u, in[t] >= 0);
    if (lane == 0) masks[w] = m;
    int v = in[t];
    int r = __shfl_sync(~0u, v, (lane * 7 + 3) & 31) + __shfl_xor_sync(~0u, v, 5, 8) * 2 + __shfl_up_sync(~0u, v, 2, 16) * 3
        + __shfl_down_sync(~0u, v, 3) * 5;
    // The warps take their turns by a word that the last one wrote.
    if (lane == 0) {
        while (*(volatile int*)&stage != w) { }
        __threadfence_block();
        *(volatile int*)&stage = w + 1;
    }
    __syncwarp();
    unsigned same;
    int pred;
    same = __match_all_sync(~0u, w, &pred);
    __syncthreads();
    out[t] = r;
    out[128 + t] = counted + any * 100000 + every * 200000 + pred * 400000 + (same == ~0u) * 800000;
    if (t == 0) { out[256] = stage; out[257] = total; }
    if (t < 4) out[258 + t] = masks[t];
}
