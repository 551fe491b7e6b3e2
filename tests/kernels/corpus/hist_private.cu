// hist_private for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// A histogram per warp in dynamic shared memory, four bytes of input at a time, from a block of two dimensions.
extern "C" __global__ void hist_private(const uchar4* in, unsigned* out, int n, int bins) {
    extern __shared__ unsigned h[];
    int t = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y, warps = threads / 32;
    for (int i = t; i < bins * warps; i += threads) h[i] = 0;
    __syncthreads();
    unsigned* mine = h + (t / 32) * bins;
    for (int i = blockIdx.x * threads + t; i < n; i += gridDim.x * threads) {
        uchar4 v = in[i];
        atomicAdd(&mine[v.x % bins], 1u);
        atomicAdd(&mine[v.y % bins], 1u);
        atomicAdd(&mine[v.z % bins], 1u);
        atomicAdd(&mine[v.w % bins], 1u);
    }
    __syncthreads();
    for (int b = t; b < bins; b += threads) {
        unsigned sum = 0;
        for (int w = 0; w < warps; w++) sum += h[w * bins + b];
        if (sum) atomicAdd(&out[b], sum);
    }
}
