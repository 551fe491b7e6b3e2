// bits_ops for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Or, and, exclusive or in 32 and 64 bits; the bit that a thread sets first is its own; ballots.
typedef unsigned long long u64;
extern "C" __global__ void bits_ops(const unsigned* in, u64* out, int n) {
    __shared__ unsigned any, all, odd, first;
    __shared__ u64 wany, wall, wodd, seen[4];
    if (threadIdx.x == 0) { any = 0; all = ~0u; odd = 0; first = 0; wany = 0; wall = ~0ull; wodd = 0; }
    if (threadIdx.x < 4) seen[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned v = in[i];
        u64 w = (u64)v << (i & 31);
        atomicOr(&any, v);
        atomicAnd(&all, v | 0xff00u);
        atomicXor(&odd, v);
        atomicOr(&wany, w);
        atomicAnd(&wall, ~w);
        atomicXor(&wodd, w);
        u64 bit = 1ull << (v & 63);
        u64 old = atomicOr(&seen[v >> 6 & 3], bit);
        unsigned b = __ballot_sync(__activemask(), !(old & bit));
        if ((threadIdx.x & 31) == __ffs(__activemask()) - 1) atomicAdd(&first, (unsigned)__popc(b));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = any; out[1] = all; out[2] = odd; out[3] = first;
        out[4] = wany; out[5] = wall; out[6] = wodd;
        u64 c = 0;
        for (int k = 0; k < 4; k++) c += __popcll(seen[k]);
        out[7] = c; out[8] = __clzll(seen[0]) + 64 * __ffsll(seen[3]);
        out[9] = __brevll(seen[1]); out[10] = __funnelshift_l(any, odd, 7); out[11] = __byte_perm(any, odd, 0x5140);
    }
}
