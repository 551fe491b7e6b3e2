// cp_groups for sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cuda_pipeline.h>
// Asynchronous copies of 4, 8 and 16 bytes in groups, some filled up with zeros.
extern "C" __global__ void cp_groups(const int4* in, int* out, int rounds) {
    __shared__ int4 a[3][64];
    __shared__ int b[3][64];
    __shared__ int2 c[64];
    __shared__ int sum[4];
    int t = threadIdx.x;
    if (t < 4) sum[t] = 0;
    __pipeline_memcpy_async(&c[t], (const int2*)in + t, 8);
    for (int r = 0; r < 2; r++) {
        __pipeline_memcpy_async(&a[r][t], &in[r * 64 + t], 16);
        __pipeline_memcpy_async(&b[r][t], (const int*)in + r * 64 + t, 4, t & 1 ? 4 : 0);
        __pipeline_commit();
    }
    for (int r = 0; r < rounds; r++) {
        if (r + 2 < rounds) {
            int s = (r + 2) % 3;
            __pipeline_memcpy_async(&a[s][t], &in[(r + 2) * 64 + t], 16, t >= 60 ? 8 : 0);
            __pipeline_memcpy_async(&b[s][t], (const int*)in + (r + 2) * 64 + t, 4);
        }
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        int4 v = a[r % 3][t ^ 1];
        atomicAdd(&sum[0], v.x + v.y);
        atomicAdd(&sum[1], v.z);
        atomicAdd(&sum[2], v.w);
        atomicAdd(&sum[3], b[r % 3][63 - t]);
        __syncthreads();
    }
    atomicAdd(&sum[t & 3], c[t ^ 2].y);
    __syncthreads();
    if (t < 4) out[t] = sum[t];
}
