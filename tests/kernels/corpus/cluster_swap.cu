// cluster_swap for sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// Loads, stores and atomics of every kind in the shared memory of another CTA.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_swap(const unsigned* in, unsigned* out) {
    __shared__ unsigned mine[64], got[64], flag;
    __shared__ unsigned long long wide, ticket;
    __shared__ float f;
    __shared__ int most;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned me = cluster.block_rank(), t = threadIdx.x;
    mine[t] = in[me * 64 + t];
    if (t == 0) { flag = 0; wide = 0; f = 0; most = -1; ticket = 0; }
    cluster.sync();
    unsigned* theirs = cluster.map_shared_rank(mine, me ^ 1);
    cluster.map_shared_rank(got, me ^ 1)[63 - t] = theirs[t] * 2 + 1;
    unsigned own = mine[t];
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&wide, me ^ 1), 1ull << 33 | t);
    atomicAdd(cluster.map_shared_rank(&f, me ^ 1), 0.5f);
    atomicMax(cluster.map_shared_rank(&most, 0), (int)own);
    if (t < 32) {
        unsigned old = atomicOr(cluster.map_shared_rank(&flag, me ^ 1), 1u << t);
        if (old >> t & 1) out[271] = 1;
        unsigned long long* k = cluster.map_shared_rank(&ticket, 1);
        unsigned long long seen = *k, now;
        while ((now = atomicCAS(k, seen, seen + 3)) != seen) seen = now;
        atomicExch(&theirs[32 + t], t);
    }
    cluster.sync();
    out[me * 128 + t] = got[t];
    out[me * 128 + 64 + t] = mine[t];
    if (t == 0) {
        out[256 + me * 8] = flag; out[257 + me * 8] = (unsigned)(wide >> 33); out[258 + me * 8] = (unsigned)wide;
        out[259 + me * 8] = (unsigned)(f * 2); out[260 + me * 8] = most; out[261 + me * 8] = (unsigned)ticket;
        out[262 + me * 8] = cluster.num_blocks() * 10 + cluster.dim_blocks().x;
    }
}
