// accum_f64 for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Sums of doubles, and the least and greatest by a compare-and-swap loop.
__device__ void fetch_max(double* p, double v) {
    unsigned long long* a = (unsigned long long*)p;
    unsigned long long old = *a, seen;
    do {
        seen = old;
        if (__longlong_as_double(seen) >= v) break;
        old = atomicCAS(a, seen, (unsigned long long)__double_as_longlong(v));
    } while (old != seen);
}
extern "C" __global__ void accum_f64(const double* in, double* out, double* ends, int n) {
    __shared__ double s[16];
    __shared__ double most, least;
    if (threadIdx.x < 16) s[threadIdx.x] = 0.0;
    if (threadIdx.x == 0) { most = -1e300; least = -1e300; }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&s[i & 15], in[i]);
        fetch_max(&most, in[i]);
        fetch_max(&least, -in[i]);
    }
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x];
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int k = 0; k < 16; k++) sum = fma(s[k], 0.5, sum);
        ends[0] = most;
        ends[1] = -least;
        ends[2] = sum / 8.0;
        ends[3] = sqrt(most * most);
        ends[4] = (double)(long long)(most / 3.0);
        ends[5] = rint(least / 7.0);
    }
}
