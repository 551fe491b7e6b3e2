// float_minmax for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Least and greatest floats by atomics on integers.
__device__ __forceinline__ float fetch_max(float* p, float v) {
    return v >= 0 ? __int_as_float(atomicMax((int*)p, __float_as_int(v)))
                  : __uint_as_float(atomicMin((unsigned*)p, __float_as_uint(v)));
}
__device__ __forceinline__ unsigned ordered(float v) {
    unsigned b = __float_as_uint(v);
    return b ^ ((int)b < 0 ? 0xffffffffu : 0x80000000u);
}
__device__ __forceinline__ float unordered(unsigned b) {
    return __uint_as_float(b ^ ((int)b < 0 ? 0x80000000u : 0xffffffffu));
}
extern "C" __global__ void float_minmax(const float* in, float* out, int n) {
    __shared__ float most[32];
    __shared__ unsigned least[32];
    int t = threadIdx.x;
    if (t < 32) { most[t] = -__int_as_float(0x7f800000); least[t] = 0xffffffffu; }
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) {
        fetch_max(&most[i & 31], in[i]);
        atomicMin(&least[i & 31], ordered(in[i]));
    }
    __syncthreads();
    if (t < 32) {
        out[t] = most[t];
        out[32 + t] = unordered(least[t]);
        float m = fmaxf(most[t], unordered(least[t]));
        for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
        out[64 + t] = fminf(m, 1000.0f) + fabsf(most[t]) * -0.25f;
    }
}
