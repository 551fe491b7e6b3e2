// hist_match for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// One atomic per distinct key of a warp: the lanes that hold the same key elect a leader.
extern "C" __global__ void hist_match(const unsigned* in, unsigned* out, int n) {
    __shared__ unsigned h[64];
    if (threadIdx.x < 64) h[threadIdx.x] = 0;
    __syncthreads();
    unsigned lane = threadIdx.x & 31;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned k = in[i] & 63;
        unsigned peers = __match_any_sync(__activemask(), k);
        if (lane == __ffs(peers) - 1) atomicAdd(&h[k], (unsigned)__popc(peers));
    }
    __syncthreads();
    if (threadIdx.x < 64) out[threadIdx.x] = h[threadIdx.x];
}
