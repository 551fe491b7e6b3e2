// cluster_handoff for sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
// CTA 0 fills words of CTA 1 and raises a flag there, of device scope; CTA 1 waits for the flag and hands the words on
// through its own.
using flag_ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_handoff(const unsigned* in, unsigned* out, int rounds) {
    __shared__ unsigned word[32], flag, answer;
    auto cluster = cg::this_cluster();
    unsigned lane = threadIdx.x;
    if (lane == 0) flag = answer = 0;
    cluster.sync();
    if (cluster.block_rank() == 0) {
        unsigned* there = cluster.map_shared_rank(word, 1);
        flag_ref go(*cluster.map_shared_rank(&flag, 1)), back(answer);
        for (unsigned r = 0; r < rounds; r++) {
            there[lane] = in[r * 32 + lane];
            __syncwarp();
            if (lane == 0) {
                go.store(r + 1, cuda::memory_order_release);
                while (back.load(cuda::memory_order_acquire) != r + 1) {}
            }
            __syncwarp();
        }
    } else {
        flag_ref go(flag), back(*cluster.map_shared_rank(&answer, 0));
        unsigned sum = 0;
        for (unsigned r = 0; r < rounds; r++) {
            if (lane == 0) while (go.load(cuda::memory_order_acquire) != r + 1) {}
            __syncwarp();
            sum = sum * 3 + word[lane ^ 5];
            __syncwarp();
            if (lane == 0) back.store(r + 1, cuda::memory_order_release);
        }
        out[lane] = sum;
    }
    cluster.sync();
}
