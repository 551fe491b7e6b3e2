// bulk_multicast for sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// Each CTA of a cluster of four copies its block of global memory to a subset of the CTAs; each of these waits for all that
// come to it, at its own mbarrier.
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void __cluster_dims__(4, 1, 1) bulk_multicast(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned block[4][32];
    __shared__ alignas(8) unsigned long long bar;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    unsigned rank = cluster.block_rank();
    // CTA r copies to r, and to those above it.
    unsigned short mask = 0xf << rank & 0xf;
    for (int k = 0; k < 4; k++) block[k][t] = 7;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(128 * (rank + 1)) : "memory");
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    cluster.sync();
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;"
                     ::"r"(at(block[rank])), "l"(in + 32 * rank), "r"(at(&bar)), "h"(mask) : "memory");
    asm volatile("{\n.reg .pred p;\nW%=: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra W%=;\n}" ::"r"(at(&bar)) : "memory");
    for (int k = 0; k < 4; k++) out[128 * rank + 32 * k + t] = block[k][t];
    cluster.sync();
}
