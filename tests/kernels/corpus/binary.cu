// binary for sm_75 sm_80 sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
// Two groups of a warp, by a predicate; then the lanes that are in a branch, among themselves.
extern "C" __global__ void binary(const int* in, int* kept, int* out, int n) {
    __shared__ int sums[2], count, thirds;
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() < 2) sums[block.thread_rank()] = 0;
    if (block.thread_rank() == 0) { count = 0; thirds = 0; }
    block.sync();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    for (int i = block.thread_rank(); i < n; i += block.num_threads()) {
        bool odd = in[i] & 1;
        cg::coalesced_group half = cg::binary_partition(warp, odd);
        int all = cg::reduce(half, in[i], cg::plus<int>());
        if (half.thread_rank() == 0) atomicAdd(&sums[odd], all);
        int before = cg::exclusive_scan(half, in[i]);
        kept[i] = before;
        if (in[i] % 3 == 0) {
            cg::coalesced_group here = cg::coalesced_threads();
            int third = cg::reduce(here, in[i], cg::plus<int>());
            if (here.any(here.thread_rank() == 0 && third >= 0)) here.sync();
            if (here.thread_rank() == 0) atomicAdd(&thirds, third);
            if (here.thread_rank() == 0) atomicAdd(&count, here.num_threads());
        }
    }
    block.sync();
    if (block.thread_rank() == 0) { out[0] = sums[0]; out[1] = sums[1]; out[2] = count; out[3] = thirds; }
}
