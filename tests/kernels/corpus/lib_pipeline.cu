// lib_pipeline for sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
// A pipeline of the library with two stages, filled by asynchronous copies.
extern "C" __global__ void lib_pipeline(const int* in, int* out, int rounds) {
    __shared__ int buf[2][128];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    for (int fetch = 0, r = 0; r < rounds; r++) {
        for (; fetch < rounds && fetch < r + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buf[fetch & 1][threadIdx.x], in + fetch * 128 + threadIdx.x, cuda::aligned_size_t<4>(4), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        atomicAdd(&out[threadIdx.x & 31], buf[r & 1][threadIdx.x ^ 1]);
        __syncthreads();
        pipe.consumer_release();
    }
}
