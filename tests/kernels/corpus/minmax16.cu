// minmax16 for sm_75 sm_80 sm_90a sm_100a sm_120a
#include <cuda/atomic>
// Least and greatest of bytes and halves, signed and unsigned, by atomics of the library: one object of each kind for
// each thread number modulo 8.
template <class T> __device__ void both(const T* in, T* out, int n) {
    __shared__ T least[8], greatest[8];
    int t = threadIdx.x;
    if (t < 8) least[t] = greatest[t] = in[t];
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) {
        cuda::atomic_ref<T, cuda::thread_scope_block>(least[i & 7]).fetch_min(in[i]);
        cuda::atomic_ref<T, cuda::thread_scope_block>(greatest[i & 7]).fetch_max(in[i]);
    }
    __syncthreads();
    if (t < 8) out[t] = least[t];
    else if (t < 16) out[t] = greatest[t & 7];
}
extern "C" __global__ void minmax16(const short* a, const unsigned short* b, const signed char* c, const unsigned char* d,
                                    short* to_a, unsigned short* to_b, signed char* to_c, unsigned char* to_d, int n) {
    both(a, to_a, n);
    both(b, to_b, n);
    both(c, to_c, n);
    both(d, to_d, n);
}
