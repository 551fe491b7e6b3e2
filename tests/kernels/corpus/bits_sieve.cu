// bits_sieve for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// A sieve in a bit set: multiples are cleared, the primes counted and listed in order.
extern "C" __global__ void bits_sieve(int* primes, unsigned* count) {
    __shared__ unsigned bits[32], before[33];
    int t = threadIdx.x;
    if (t < 32) bits[t] = 0xffffffffu;
    __syncthreads();
    if (t == 0) atomicAnd(&bits[0], ~3u);
    for (int p = 2 + t; p * p < 1024; p += blockDim.x)
        for (int m = p * p; m < 1024; m += p) atomicAnd(&bits[m >> 5], ~(1u << (m & 31)));
    __syncthreads();
    if (t < 32) {
        unsigned own = __popc(bits[t]), sum = own;
        for (int d = 1; d < 32; d <<= 1) {
            unsigned up = __shfl_up_sync(~0u, sum, d);
            if (t >= d) sum += up;
        }
        before[t] = sum - own;
        if (t == 31) before[32] = sum;
    }
    __syncthreads();
    for (int v = t; v < 1024; v += blockDim.x) {
        unsigned w = bits[v >> 5], below = (1u << (v & 31)) - 1;
        if (w >> (v & 31) & 1) primes[before[v >> 5] + __popc(w & below)] = v;
    }
    if (t == 0) { count[0] = before[32]; count[1] = 1023 - (31 * 32 + __clz(bits[31])) ; count[2] = __ffs(bits[1]) + 31; count[3] = __brev(bits[0]); }
}
