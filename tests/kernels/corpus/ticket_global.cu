// ticket_global for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cuda/atomic>
// A ticket lock in shared memory with acquire and release, one thread a warp; a second lock in global memory among CTAs.
extern "C" __global__ void ticket_global(unsigned* lock, unsigned* out) {
    __shared__ unsigned next, serving, sum;
    if (threadIdx.x == 0) { next = 0; serving = 0; sum = 0; }
    __syncthreads();
    if ((threadIdx.x & 31) == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_block> n(next), s(serving);
        unsigned mine = n.fetch_add(1, cuda::memory_order_relaxed);
        while (s.load(cuda::memory_order_acquire) != mine) __nanosleep(20);
        sum += threadIdx.x + 1;
        s.fetch_add(1, cuda::memory_order_release);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> g(*lock);
        unsigned expected = 0;
        while (!g.compare_exchange_weak(expected, 1u, cuda::memory_order_acquire, cuda::memory_order_relaxed)) expected = 0;
        out[0] += sum * (blockIdx.x + 1);
        out[1] += 1;
        g.store(0, cuda::memory_order_release);
    }
}
