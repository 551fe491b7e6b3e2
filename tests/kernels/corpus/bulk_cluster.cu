// bulk_cluster for sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// A bulk copy from the shared memory of one CTA to that of the next, counted by an mbarrier there.
__device__ __forceinline__ unsigned sptr(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) bulk_cluster(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned from[128], to[128];
    __shared__ unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned me = cluster.block_rank();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sptr(&bar)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(sptr(&bar)) : "memory");
    }
    from[threadIdx.x] = in[me * 128 + threadIdx.x] + me;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cluster.sync();
    if (threadIdx.x == 0) {
        unsigned d, b;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(d) : "r"(sptr(to)), "r"(me ^ 1));
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(b) : "r"(sptr(&bar)), "r"(me ^ 1));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(d), "r"(sptr(from)), "r"(b) : "memory");
    }
    unsigned ok;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sptr(&bar)) : "memory");
    } while (!ok);
    atomicAdd(&to[threadIdx.x ^ 3], 10u);
    __syncthreads();
    out[me * 128 + threadIdx.x] = to[threadIdx.x];
    cluster.sync();
}
