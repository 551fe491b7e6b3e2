// grid_sync for sm_75 sm_80 sm_90a sm_100a sm_120a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// Each block adds up its part; after each barrier of the grid, it takes the sum of the block before it.
extern "C" __global__ void grid_sync(const unsigned* in, unsigned* partial, unsigned* out, unsigned rounds) {
    cg::grid_group grid = cg::this_grid();
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[grid.thread_rank()]);
    __syncthreads();
    for (unsigned round = 0; round < rounds; round++) {
        if (threadIdx.x == 0) partial[blockIdx.x] = sum;
        grid.sync();
        if (threadIdx.x == 0) atomicExch(&sum, partial[(blockIdx.x + gridDim.x - 1) % gridDim.x] + round);
        grid.sync();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
