// apart for sm_75 sm_80 sm_90a sm_100a sm_120a
// Lanes that come to a vote, a shuffle, a match and a barrier of the warp from different places.
extern "C" __global__ void apart(unsigned* out, unsigned mask) {
    __shared__ unsigned count;
    unsigned t = threadIdx.x, v = t * 3;
    unsigned own = (t & 8) ? mask : ~mask;
    if (t == 0) count = 0;
    __syncwarp();
    if (t & 1) { v = __shfl_sync(~0u, v + 1, t ^ 1); } else { v = __shfl_sync(~0u, v + 2, t ^ 1) + 7; }
    out[t] = v;
    if (t & 4) { out[32 + t] = __ballot_sync(~0u, t & 8); } else { out[32 + t] = 1 + __ballot_sync(~0u, t & 16); }
    if (t & 2) { out[64 + t] = __match_any_sync(~0u, t & 5); } else { out[64 + t] = 1 ^ __match_any_sync(~0u, t & 4); }
    if (t & 1) { v = __shfl_sync(own, t + 5, t ^ 1); } else { atomicAdd(&count, 1); v = __shfl_sync(own, t + 9, t ^ 1); }
    out[96 + t] = v;
    if (t & 4) { out[128 + t] = __ballot_sync(own, t & 2); } else { out[128 + t] = ~__ballot_sync(own, t & 16); }
    if (t & 2) { __syncwarp(own); v = count; } else { atomicAdd(&count, 2); __syncwarp(own); v = count; }
    __syncwarp();
    out[160 + t] = count;
}
