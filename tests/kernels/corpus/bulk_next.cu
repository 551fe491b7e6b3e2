// bulk_next for sm_90a sm_100a sm_120a
// Each CTA of a cluster of two copies its block of global memory to the other CTA, which waits at its own mbarrier.
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned of(unsigned address, unsigned rank) {
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}
__device__ void meet() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) bulk_next(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned block[32];
    __shared__ alignas(8) unsigned long long bar;
    unsigned t = threadIdx.x, rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(at(&bar)) : "memory");
    }
    meet();
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                     ::"r"(of(at(block), rank ^ 1)), "l"(in + 32 * rank), "r"(of(at(&bar), rank ^ 1)) : "memory");
    asm volatile("{\n.reg .pred p;\nW%=: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra W%=;\n}" ::"r"(at(&bar)) : "memory");
    out[32 * rank + t] = block[t];
    meet();
}
