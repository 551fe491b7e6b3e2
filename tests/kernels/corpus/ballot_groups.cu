// ballot_groups for sm_80 sm_90a sm_100a sm_120a
// Votes, shuffles and reductions of three groups of lanes at once, each with a mask of its own.
extern "C" __global__ void ballot_groups(unsigned* out) {
    __shared__ unsigned sums[3];
    unsigned t = threadIdx.x;
    if (t < 3) sums[t] = 0;
    __syncwarp();
    unsigned m = __match_any_sync(~0u, t % 3);
    out[t] = __ballot_sync(m, t & 4);
    out[32 + t] = __shfl_sync(m, t * 7, 31 - __clz(m));
    out[64 + t] = __reduce_max_sync(m, t);
    out[96 + t] = __any_sync(m, t == 30) + 2 * __all_sync(m, t < 31);
    unsigned sum = __reduce_add_sync(m, t);
    if (t == __ffs(m) - 1) atomicAdd(&sums[t % 3], sum);
    __syncwarp();
    out[128 + t] = sums[t % 3];
}
