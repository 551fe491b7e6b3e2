// int_minmax for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Least and greatest of all four integer types, with and without use of the old value.
extern "C" __global__ void int_minmax(const int* in, const long long* wide, long long* out, int n) {
    __shared__ int smin, smax;
    __shared__ unsigned umin, umax, beaten;
    __shared__ long long lmin, lmax;
    __shared__ unsigned long long ulmin, ulmax;
    if (threadIdx.x == 0) {
        smin = 0x7fffffff; smax = 0x80000000; umin = ~0u; umax = 0; beaten = 0;
        lmin = 0x7fffffffffffffffll; lmax = -lmin - 1; ulmin = ~0ull; ulmax = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicMin(&smin, in[i]);
        int before = atomicMax(&smax, in[i]);
        if (before < in[i]) atomicMax(&beaten, 1u);
        atomicMin(&umin, (unsigned)in[i]);
        unsigned u = atomicMax(&umax, (unsigned)in[i]);
        if (u == 0xdeadbeef) out[9] = 1;
        atomicMin(&lmin, wide[i]);
        atomicMax(&lmax, wide[i]);
        atomicMin(&ulmin, (unsigned long long)wide[i]);
        unsigned long long w = atomicMax(&ulmax, (unsigned long long)wide[i]);
        if (w == 0xdeadbeefull) out[10] = 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = smin; out[1] = smax; out[2] = umin; out[3] = umax;
        out[4] = lmin; out[5] = lmax; out[6] = (long long)ulmin; out[7] = (long long)ulmax;
        out[8] = beaten;
    }
}
