// divide for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Quotients and remainders of 32 and 64 bits with and without sign, high halves of products, quotients of floats.
typedef unsigned long long u64;
typedef long long s64;
extern "C" __global__ void divide(const s64* a, const s64* b, s64* out, float* f, double* d) {
    __shared__ s64 sum[4];
    int t = threadIdx.x;
    if (t < 4) sum[t] = 0;
    __syncthreads();
    s64 x = a[t], y = b[t];
    int i = (int)x, j = (int)y | 1;
    unsigned u = (unsigned)x, v = (unsigned)y | 1;
    y |= 1;
    out[t * 10] = x / y;
    out[t * 10 + 1] = x % y;
    out[t * 10 + 2] = (s64)((u64)x / (u64)y);
    out[t * 10 + 3] = (s64)((u64)x % (u64)y);
    out[t * 10 + 4] = (s64)(i / j) << 32 | (unsigned)(i % j);
    out[t * 10 + 5] = (s64)(u / v) << 32 | (unsigned)(u % v);
    out[t * 10 + 6] = (s64)__umul64hi((u64)x, (u64)y);
    out[t * 10 + 7] = __mul64hi(x, y);
    out[t * 10 + 8] = (s64)__umulhi(u, v) << 32 | (unsigned)__mulhi(i, j);
    out[t * 10 + 9] = x * y + i;
    f[t] = (float)i / (float)j;
    f[32 + t] = sqrtf((float)u);
    f[64 + t] = __frcp_rn((float)j);
    f[96 + t] = fmaf((float)i, 0.125f, -(float)v);
    d[t] = (double)x / (double)y;
    d[32 + t] = sqrt((double)u);
    atomicAdd((u64*)&sum[t & 3], (u64)(x / 1000));
    __syncthreads();
    if (t < 4) out[320 + t] = sum[t] / 7;
}
