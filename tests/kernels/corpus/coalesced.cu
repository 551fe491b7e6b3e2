// coalesced for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// Groups of whatever lanes are there: one atomic for all that keep their element; tiles of eight that add up.
extern "C" __global__ void coalesced(const int* in, int* kept, int* out, int n) {
    __shared__ int count, sum, tiles[16];
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) { count = 0; sum = 0; }
    if (block.thread_rank() < 16) tiles[block.thread_rank()] = 0;
    block.sync();
    for (int i = block.thread_rank(); i < n; i += block.num_threads()) {
        if (in[i] % 3 == 0) {
            cg::coalesced_group g = cg::coalesced_threads();
            int base;
            if (g.thread_rank() == 0) base = atomicAdd(&count, g.size());
            kept[g.shfl(base, 0) + g.thread_rank()] = in[i];
        }
    }
    block.sync();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int mine = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());
    if (tile.thread_rank() == 0) tiles[tile.meta_group_rank() & 15] = mine;
    block.sync();
    for (int i = block.thread_rank(); i < count; i += block.num_threads()) atomicAdd(&sum, kept[i]);
    block.sync();
    if (block.thread_rank() == 0) { out[0] = count; out[1] = sum; }
    if (block.thread_rank() < 16) out[2 + block.thread_rank()] = tiles[block.thread_rank()];
}
