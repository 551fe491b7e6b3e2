// barrier_drop for sm_80 sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
// Three rounds of a library barrier, split and whole; a copy of the group; then half of the threads drop out of the barrier.
extern "C" __global__ void barrier_drop(const int* in, int* out) {
    __shared__ alignas(8) char room[sizeof(barrier)];
    barrier& meet = *(barrier*)room;
    __shared__ int word[64];
    __shared__ alignas(16) int copy[64];
    int t = threadIdx.x, sum = 0;
    if (t == 0) init(&meet, 64);
    __syncthreads();
    for (int r = 0; r < 3; r++) {
        word[t] = in[t] * (r + 1);
        auto token = meet.arrive();
        sum += 1;
        meet.wait(cuda::std::move(token));
        sum += word[(t + r + 1) & 63];
        meet.arrive_and_wait();
    }
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, copy, in, sizeof copy);
    cg::wait(block);
    out[t] = sum + copy[63 - t];
    if (t < 32) meet.arrive_and_drop();
    else meet.arrive_and_wait();
}
