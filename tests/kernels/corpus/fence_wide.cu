// fence_wide for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cuda/atomic>
// Fences of every scope between CTAs: the last CTA to arrive adds up what the others left in global memory.
extern "C" __global__ void fence_wide(const unsigned* in, unsigned* partial, unsigned* arrived, unsigned* out) {
    __shared__ unsigned sum;
    __shared__ bool last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence_system();
        if (threadIdx.x < 32) {
            unsigned v = 0;
            for (int i = threadIdx.x; i < gridDim.x; i += 32) v += ((volatile unsigned*)partial)[i];
            for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
            if (threadIdx.x == 0) {
                cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_system);
                cuda::atomic_ref<unsigned, cuda::thread_scope_system> o(out[0]);
                o.fetch_add(v, cuda::memory_order_seq_cst);
                cuda::atomic_ref<unsigned, cuda::thread_scope_device> x(out[1]);
                x.exchange(v / 3, cuda::memory_order_acq_rel);
                cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
                __threadfence_block();
                out[2] = x.load(cuda::memory_order_seq_cst) * 3 + v % 3;
            }
        }
    }
}
