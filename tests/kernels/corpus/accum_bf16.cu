// accum_bf16 for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cuda_bf16.h>
#include <cuda_fp16.h>
// Sums in the three small float types, single and in pairs. All sums are exact.
extern "C" __global__ void accum_bf16(const int* in, float* out, int n) {
    __shared__ __nv_bfloat16 b[8];
    __shared__ __nv_bfloat162 bb[8];
    __shared__ __half h[8];
    __shared__ __half2 hh[8];
    if (threadIdx.x < 8) {
        b[threadIdx.x] = __float2bfloat16(0.f);
        bb[threadIdx.x] = __floats2bfloat162_rn(0.f, 0.f);
        h[threadIdx.x] = __float2half(0.f);
        hh[threadIdx.x] = __float2half2_rn(0.f);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = (float)in[i];
        atomicAdd(&b[i & 7], __float2bfloat16(v));
        atomicAdd(&bb[i & 7], __floats2bfloat162_rn(v, -v));
        atomicAdd(&h[i & 7], __float2half(v * 0.5f));
        atomicAdd(&hh[i & 7], __floats2half2_rn(v, 2.0f));
    }
    __syncthreads();
    if (threadIdx.x < 8) {
        int t = threadIdx.x;
        out[t] = __bfloat162float(b[t]);
        out[8 + t] = __low2float(bb[t]) - __high2float(bb[t]);
        out[16 + t] = __half2float(__hadd(h[t], h[t]));
        __half2 m = __hmul2(hh[t], __floats2half2_rn(2.0f, 0.5f));
        out[24 + t] = __low2float(m) + __high2float(m);
        out[32 + t] = __half2float(__hfma(h[t], __float2half(2.0f), __float2half(1.0f)));
        out[40 + t] = __hgt(h[t], __float2half(0.f)) ? 1.0f : __hlt(h[t], __float2half(0.f)) ? -1.0f : 0.0f;
    }
}
