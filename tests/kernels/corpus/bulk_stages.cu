// bulk_stages for sm_90a sm_100a sm_120a
// A producer warp fills three stages with bulk copies, with a cache policy, and two consumer warps empty them: mbarriers
// for full and empty stages.
typedef unsigned long long u64;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(u64* bar, unsigned parity) {
    asm volatile("{\n.reg .pred p;\nW%=: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1, 1000;\n"
                 "@p bra D%=;\nbra W%=;\nD%=:\n}" ::"r"(at(bar)), "r"(parity) : "memory");
}
extern "C" __global__ void bulk_stages(const int* in, int* out) {
    __shared__ alignas(128) int stage[3][64];
    __shared__ u64 full[3], empty[3];
    int t = threadIdx.x;
    if (t == 0) {
        for (int i = 0; i < 3; i++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(full + i)));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(at(empty + i)));
        }
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("fence.proxy.async.shared::cta;");
    }
    __syncthreads();
    if (t == 0) {
        for (int i = 0; i < 7; i++) {
            int s = i % 3;
            wait(empty + s, (i / 3 & 1) ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at(full + s)) : "memory");
            u64 policy;
            asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                         "[%0], [%1], 256, [%2], %3;"
                         ::"r"(at(stage[s])), "l"(in + 64 * i), "r"(at(full + s)), "l"(policy) : "memory");
        }
    } else if (t >= 32) {
        int sum = 0;
        for (int i = 0; i < 7; i++) {
            int s = i % 3;
            wait(full + s, i / 3 & 1);
            sum = sum * 3 + stage[s][t - 32];
            __syncwarp();
            if ((t & 31) == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(empty + s)) : "memory");
        }
        out[t - 32] = sum;
    }
}
