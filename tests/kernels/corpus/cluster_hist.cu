// cluster_hist for sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// A histogram whose bins are spread over the shared memory of the CTAs of a cluster.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_hist(const unsigned* in, unsigned* out, int n) {
    extern __shared__ unsigned bins[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned b = in[i] & 255;
        unsigned* there = cluster.map_shared_rank(bins, b / 64);
        atomicAdd(there + b % 64, 1u);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&out[cluster.block_rank() * 64 + i], bins[i]);
}
