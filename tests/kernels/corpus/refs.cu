// refs for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cuda/atomic>
// References and objects of the library: every order, sub-words, waiting and notifying.
extern "C" __global__ void refs(const unsigned* in, unsigned* out, int n) {
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> sum, most;
    __shared__ cuda::atomic<int, cuda::thread_scope_block> least, turn;
    __shared__ unsigned short half[4];
    __shared__ unsigned long long wide;
    __shared__ float f;
    if (threadIdx.x == 0) { sum = 0; most = 0; least = 1000000; turn = 0; wide = 0; f = 0; }
    if (threadIdx.x < 4) half[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum.fetch_add(in[i], cuda::std::memory_order_relaxed);
        most.fetch_max(in[i], cuda::std::memory_order_acq_rel);
        least.fetch_min((int)in[i], cuda::std::memory_order_release);
        cuda::atomic_ref<unsigned short, cuda::thread_scope_block> h(half[i & 3]);
        h.fetch_add((unsigned short)in[i], cuda::std::memory_order_seq_cst);
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_block> w(wide);
        w.fetch_sub(in[i], cuda::std::memory_order_acquire);
        cuda::atomic_ref<float, cuda::thread_scope_block> g(f);
        g.fetch_add(0.5f, cuda::std::memory_order_relaxed);
    }
    if ((threadIdx.x & 31) == 0) {
        int me = threadIdx.x / 32;
        int t;
        while ((t = turn.load(cuda::std::memory_order_acquire)) != me) turn.wait(t);
        turn.fetch_add(1);
        turn.notify_all();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = sum.load(); out[1] = most.load(cuda::std::memory_order_acquire); out[2] = least; out[3] = turn.exchange(9);
        out[4] = (unsigned)-wide; out[5] = (unsigned)(f * 2);
        unsigned e = 5;
        out[6] = sum.compare_exchange_strong(e, 1) ? 1 : e;
    }
    if (threadIdx.x < 4) out[8 + threadIdx.x] = half[threadIdx.x];
}
