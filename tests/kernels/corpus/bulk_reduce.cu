// bulk_reduce for sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// Each CTA of a cluster works blocks of its shared memory into blocks of the next one, by every operation that there is,
// and waits at an mbarrier for those that come in; then into global memory, of both CTAs into one place.
typedef unsigned long long u64;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#define INTO_SHARED(op, to, from, bytes) \
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." op " [%0], [%1], %2, [%3];" \
                 ::"r"(to), "r"(at(from)), "r"(bytes), "r"(there_bar) : "memory")
#define INTO_GLOBAL(op, to, from, bytes) \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." op " [%0], [%1], %2;" \
                 ::"l"(to), "r"(at(from)), "r"(bytes) : "memory")
struct Words {
    unsigned word[10][16];
    u64 wide[16];
};
extern "C" __global__ void __cluster_dims__(2, 1, 1)
bulk_reduce(const unsigned* in, unsigned* out, u64* out64, unsigned* g, float* f, u64* g64) {
    __shared__ alignas(128) Words to;
    __shared__ alignas(128) unsigned data[16];
    __shared__ alignas(128) u64 wide[16];
    __shared__ alignas(128) float single[16];
    __shared__ alignas(8) u64 bar;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t < 16) {
        data[t] = in[16 * rank + t];
        wide[t] = (u64)in[16 * rank + t] << 20;
        single[t] = in[16 * rank + t] & 255;
        for (int k = 0; k < 10; k++) to.word[k][t] = 100 * k + 0x10001 * t;
        to.wide[t] = 1ull << 40;
    }
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(10 * 64 + 128) : "memory");
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    cluster.sync();
    if (t == 0) {
        unsigned there, there_bar;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(&to)), "r"(rank ^ 1));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there_bar) : "r"(at(&bar)), "r"(rank ^ 1));
        INTO_SHARED("add.u32", there, data, 64);
        INTO_SHARED("add.s32", there + 64, data, 64);
        INTO_SHARED("min.u32", there + 128, data, 64);
        INTO_SHARED("max.s32", there + 192, data, 64);
        INTO_SHARED("min.s32", there + 256, data, 64);
        INTO_SHARED("inc.u32", there + 320, data, 64);
        INTO_SHARED("dec.u32", there + 384, data, 64);
        INTO_SHARED("and.b32", there + 448, data, 64);
        INTO_SHARED("or.b32", there + 512, data, 64);
        INTO_SHARED("xor.b32", there + 576, data, 64);
        INTO_SHARED("add.u64", there + 640, wide, 128);
        INTO_GLOBAL("add.u32", g, data, 64);
        INTO_GLOBAL("max.u32", g + 16, data, 64);
        INTO_GLOBAL("add.f32", f, single, 64);
        INTO_GLOBAL("add.u64", g64, wide, 128);
        INTO_GLOBAL("xor.b64", g64 + 16, wide, 128);
        asm volatile("cp.async.bulk.commit_group;");
    }
    asm volatile("{\n.reg .pred p;\nW%=: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra W%=;\n}" ::"r"(at(&bar)) : "memory");
    for (int k = 0; k < 10; k++) if (t < 16) out[160 * rank + 16 * k + t] = to.word[k][t];
    if (t < 16) out64[16 * rank + t] = to.wide[t];
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    cluster.sync();
}
