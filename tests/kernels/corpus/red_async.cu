// red_async for sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// Asynchronous reductions in the shared memory of another CTA, and the mbarrier there that knows when they have come.
__device__ __forceinline__ unsigned sptr(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) red_async(const unsigned* in, unsigned* out) {
    __shared__ unsigned sum[16], most[16], bits[16];
    __shared__ unsigned long long wide[16], bar;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned me = cluster.block_rank(), t = threadIdx.x;
    if (t < 16) { sum[t] = 0; most[t] = 0; bits[t] = 0; wide[t] = 0; }
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sptr(&bar)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sptr(&bar)), "r"(blockDim.x * 20) : "memory");
    }
    cluster.sync();
    auto there = [&](void* p) { unsigned a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(sptr(p)), "r"(me ^ 1)); return a; };
    unsigned b = there(&bar), v = in[me * blockDim.x + t];
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(there(&sum[t & 15])), "r"(v), "r"(b) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%0], %1, [%2];" ::"r"(there(&most[t & 15])), "r"(v), "r"(b) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.or.b32 [%0], %1, [%2];" ::"r"(there(&bits[t & 15])), "r"(1u << (v & 31)), "r"(b) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%0], %1, [%2];" ::"r"(there(&wide[t & 15])), "l"((unsigned long long)v << 20), "r"(b) : "memory");
    unsigned ok;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sptr(&bar)) : "memory");
    } while (!ok);
    if (t < 16) {
        out[me * 64 + t] = sum[t]; out[me * 64 + 16 + t] = most[t]; out[me * 64 + 32 + t] = bits[t]; out[me * 64 + 48 + t] = (unsigned)(wide[t] >> 20);
    }
    cluster.sync();
}
