// dekker for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cuda/atomic>
// Two warps set a flag each and read the other's behind a sequentially consistent fence: never do both read zero.
// Then they keep each other out of a section by flags alone.
extern "C" __global__ void dekker(unsigned* out, int n) {
    __shared__ unsigned flag[2], seen[2], turn, both, count;
    if (threadIdx.x == 0) { flag[0] = flag[1] = 0; turn = 0; both = 0; count = 0; }
    __syncthreads();
    unsigned me = threadIdx.x >> 5;
    bool lead = (threadIdx.x & 31) == 0;
    for (int i = 0; i < n; i++) {
        if (lead) {
            cuda::atomic_ref<unsigned, cuda::thread_scope_block> mine(flag[me]), other(flag[me ^ 1]);
            mine.store(1, cuda::memory_order_relaxed);
            cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
            seen[me] = other.load(cuda::memory_order_relaxed);
        }
        __syncthreads();
        if (threadIdx.x == 0) { if (!seen[0] && !seen[1]) both++; flag[0] = flag[1] = 0; }
        __syncthreads();
    }
    if (lead) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_block> mine(flag[me]), other(flag[me ^ 1]), t(turn);
        for (int i = 0; i < n; i++) {
            mine.store(1, cuda::memory_order_seq_cst);
            t.store(me ^ 1, cuda::memory_order_seq_cst);
            while (other.load(cuda::memory_order_seq_cst) && t.load(cuda::memory_order_seq_cst) == (me ^ 1)) { }
            volatile unsigned* c = &count;
            *c = *c + 1;
            cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_block);
            mine.store(0, cuda::memory_order_release);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) { out[0] = both; out[1] = count; }
}
