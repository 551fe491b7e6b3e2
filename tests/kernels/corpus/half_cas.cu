// half_cas for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cuda_fp16.h>
// The half-float and byte atomics one writes by hand: compare-and-swap of 16 bits, and of the word around a byte.
__device__ __half fetch_add(__half* p, __half v) {
    unsigned short* a = (unsigned short*)p;
    unsigned short old = *(volatile unsigned short*)a, seen;
    do {
        seen = old;
        old = atomicCAS(a, seen, __half_as_ushort(__hadd(__ushort_as_half(seen), v)));
    } while (old != seen);
    return __ushort_as_half(old);
}
__device__ void byte_max(unsigned char* p, unsigned char v) {
    unsigned* word = (unsigned*)((size_t)p & ~(size_t)3);
    unsigned shift = ((size_t)p & 3) * 8;
    unsigned old = *word;
    while (((old >> shift) & 255) < v) {
        unsigned next = (old & ~(255u << shift)) | ((unsigned)v << shift);
        unsigned seen = atomicCAS(word, old, next);
        if (seen == old) break;
        old = seen;
    }
}
extern "C" __global__ void half_cas(const unsigned char* in, float* sums, unsigned char* most, int n) {
    __shared__ __half s[10];
    __shared__ __align__(4) unsigned char m[16];
    if (threadIdx.x < 10) s[threadIdx.x] = __ushort_as_half(0);
    if (threadIdx.x < 16) m[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        fetch_add(&s[i % 10], __float2half((float)(in[i] & 15)));
        byte_max(&m[i & 15], in[i]);
    }
    __syncthreads();
    if (threadIdx.x < 10) sums[threadIdx.x] = __half2float(s[threadIdx.x]);
    if (threadIdx.x < 16) most[threadIdx.x] = m[threadIdx.x];
}
