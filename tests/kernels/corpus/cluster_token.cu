// cluster_token for sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// A word goes round the CTAs of a cluster; each waits for it in its own shared memory. Then a sum read from all.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_token(unsigned* out, int rounds) {
    __shared__ unsigned word;
    volatile unsigned* token = &word;
    __shared__ unsigned sums[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned me = cluster.block_rank(), n = cluster.num_blocks();
    if (threadIdx.x < 32) sums[threadIdx.x] = (me + 1) * threadIdx.x;
    if (threadIdx.x == 0) *token = me == 0 ? 1 : 0;
    cluster.sync();
    if (threadIdx.x == 0) {
        for (int r = 0; r < rounds; r++) {
            while (*token == 0) { }
            unsigned v = *token;
            *token = 0;
            __threadfence();
            *(volatile unsigned*)cluster.map_shared_rank(&word, (me + 1) % n) = v + me + 1;
        }
    }
    auto arrived = cluster.barrier_arrive();
    unsigned own = sums[threadIdx.x & 31];
    cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token&&>(arrived));
    unsigned all = 0;
    for (unsigned r = 0; r < n; r++) all += cluster.map_shared_rank(sums, r)[threadIdx.x & 31];
    if (threadIdx.x < 32) out[me * 32 + threadIdx.x] = all + own;
    if (me == 0 && threadIdx.x == 0) out[128] = *token;
    cluster.sync();
}
