// bulk_both for sm_90a sm_100a sm_120a
#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
// In by a bulk copy that an mbarrier counts, changed, out by bulk copies in groups.
extern "C" __global__ void bulk_both(const int* in, int* out, int tiles) {
    __shared__ alignas(128) int buf[2][256];
    __shared__ uint64_t bar[2];
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar[0], 1);
        ptx::mbarrier_init(&bar[1], 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    for (int i = 0; i < tiles; i++) {
        int s = i & 1;
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buf[s], in + i * 256, 1024u, &bar[s]);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar[s], 1024u);
        }
        while (!ptx::mbarrier_try_wait_parity(&bar[s], (i >> 1) & 1)) { }
        for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&buf[s][k], i + 1);
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + i * 256, buf[s], 1024u);
            ptx::cp_async_bulk_commit_group();
        }
    }
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
