// topk for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// The greatest element of each class with the place where it stands, value and place in 64 bits; a sorted list by odd
// and even exchanges.
typedef unsigned long long u64;
extern "C" __global__ void topk(const unsigned* in, unsigned* best, unsigned* sorted, int n) {
    __shared__ u64 top[16];
    __shared__ unsigned key[64];
    int t = threadIdx.x;
    if (t < 16) top[t] = 0;
    if (t < 64) key[t] = in[t];
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) atomicMax(&top[in[i] & 15], (u64)in[i] << 32 | (unsigned)~i);
    for (int pass = 0; pass < 64; pass++) {
        int at = 2 * t + (pass & 1);
        if (t < 32 && at + 1 < 64 && key[at] > key[at + 1]) {
            unsigned x = key[at];
            key[at] = key[at + 1];
            key[at + 1] = x;
        }
        __syncthreads();
    }
    if (t < 16) { best[2 * t] = (unsigned)(top[t] >> 32); best[2 * t + 1] = ~(unsigned)top[t]; }
    if (t < 64) sorted[t] = key[t];
}
