// labeled for sm_75 sm_80 sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// Groups of lanes with one label: each group adds up its elements, and one lane of it adds them to the label's sum.
extern "C" __global__ void labeled(const int* in, int* sums, int* most, int* sizes, int n) {
    __shared__ int sum[16], top[16], size[16];
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() < 16) { sum[block.thread_rank()] = 0; top[block.thread_rank()] = -1; size[block.thread_rank()] = 0; }
    block.sync();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    for (int i = block.thread_rank(); i < n; i += block.num_threads()) {
        int label = in[i] & 15;
        cg::coalesced_group group = cg::labeled_partition(warp, label);
        int all = cg::reduce(group, in[i], cg::plus<int>());
        int high = cg::reduce(group, in[i], cg::greater<int>());
        if (group.thread_rank() == 0) { atomicAdd(&sum[label], all); atomicMax(&top[label], high); }
        int last = group.shfl(group.thread_rank(), group.num_threads() - 1);
        if (group.thread_rank() == last) atomicAdd(&size[label], last + 1);
    }
    block.sync();
    if (block.thread_rank() < 16) { int r = block.thread_rank(); sums[r] = sum[r]; most[r] = top[r]; sizes[r] = size[r]; }
}
