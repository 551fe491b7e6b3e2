// math for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Exact and fast functions of floats, rounded to whole numbers and counted.
extern "C" __global__ void math(const float* in, int* out, int n) {
    __shared__ int h[64], odd;
    int t = threadIdx.x;
    if (t < 64) h[t] = 0;
    if (t == 0) odd = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) {
        float x = in[i];
        float e = expf(x * 0.25f), l = logf(e) * 4.0f;
        atomicAdd(&h[(int)rintf(l) & 63], 1);
        float s = sinpif(x), c = cospif(x), one = s * s + c * c;
        float sf = __sinf(x * 0.1f), cf = __cosf(x * 0.1f);
        float q = __expf(x * 0.25f) / e, r = __fdividef(x, 8.0f) - x * 0.125f, z = rsqrtf(x + 1.0f) * sqrtf(x + 1.0f);
        float w = powf(x + 1.0f, 2.0f) - (x + 1.0f) * (x + 1.0f), g = exp2f(log2f(x + 1.0f)) - (x + 1.0f);
        bool good = fabsf(one - 1.0f) < 1e-5f && fabsf(sf * sf + cf * cf - 1.0f) < 1e-4f && fabsf(q - 1.0f) < 1e-4f
            && fabsf(r) < 1e-4f && fabsf(z - 1.0f) < 1e-5f && fabsf(w) < 0.05f && fabsf(g) < 0.01f
            && fabsf(tanhf(x * 0.01f) - x * 0.01f) < 0.1f
            && fabsf(fabsf(atan2f(s, c)) - 3.14159265f * fabsf(x - 2.0f * rintf(x * 0.5f))) < 1e-3f;
        if (!good) atomicAdd(&odd, 1);
    }
    __syncthreads();
    if (t < 64) out[t] = h[t];
    if (t == 0) out[64] = odd;
}
