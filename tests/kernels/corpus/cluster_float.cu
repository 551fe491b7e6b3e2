// cluster_float for sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// The CTAs of a cluster add floats to words of each, through the generic address that the cluster maps them at.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_float(const float* in, float* out, int n) {
    __shared__ float sums[8];
    auto cluster = cg::this_cluster();
    if (threadIdx.x < 8) sums[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(sums, i >> 3 & 1) + (i & 7), in[i]);
    cluster.sync();
    if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = sums[threadIdx.x];
}
