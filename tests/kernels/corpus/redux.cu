// redux for sm_80 sm_89 sm_90a sm_100a sm_120a
// One atomic a warp after a reduction of the whole warp.
extern "C" __global__ void redux(const int* in, int* out, int n) {
    __shared__ int sum, least, most, bits, odd;
    __shared__ unsigned all, usum, ubig;
    if (threadIdx.x == 0) { sum = 0; least = 0x7fffffff; most = 0x80000000; bits = 0; odd = 0; all = ~0u; usum = ubig = 0; }
    __syncthreads();
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        unsigned mask = __ballot_sync(~0u, i < n);
        if (i < n) {
            int v = in[i];
            int s = __reduce_add_sync(mask, v), a = __reduce_min_sync(mask, v), b = __reduce_max_sync(mask, v);
            unsigned o = __reduce_or_sync(mask, (unsigned)v), x = __reduce_xor_sync(mask, (unsigned)v), d = __reduce_and_sync(mask, (unsigned)v);
            unsigned um = __reduce_max_sync(mask, (unsigned)v);
            if ((threadIdx.x & 31) == __ffs(mask) - 1) {
                atomicAdd(&sum, s); atomicMin(&least, a); atomicMax(&most, b);
                atomicOr(&bits, (int)o); atomicXor(&odd, (int)x); atomicAnd(&all, d);
                atomicMax(&ubig, um);
            }
            atomicAdd(&usum, 3u);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = sum; out[1] = least; out[2] = most; out[3] = bits; out[4] = odd; out[5] = all; out[6] = usum; out[7] = ubig;
    }
}
