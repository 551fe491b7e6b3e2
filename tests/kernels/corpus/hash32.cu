// hash32 for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// An open-addressing hash table that counts keys of 32 bits.
__device__ __forceinline__ unsigned mix(unsigned k) {
    k ^= k >> 16; k *= 0x85ebca6bu; k ^= k >> 13; k *= 0xc2b2ae35u; k ^= k >> 16;
    return k;
}
extern "C" __global__ void hash32(const unsigned* in, unsigned* out, unsigned* used, int n) {
    __shared__ unsigned keys[128], counts[128];
    for (int i = threadIdx.x; i < 128; i += blockDim.x) { keys[i] = 0xffffffffu; counts[i] = 0; }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned k = in[i], at = mix(k) & 127;
        for (;;) {
            unsigned seen = atomicCAS(&keys[at], 0xffffffffu, k);
            if (seen == 0xffffffffu || seen == k) { atomicAdd(&counts[at], 1u); break; }
            at = (at + 1) & 127;
        }
    }
    __syncthreads();
    int mine = 0;
    for (int i = threadIdx.x; i < 128; i += blockDim.x)
        if (keys[i] != 0xffffffffu) { out[keys[i]] = counts[i]; mine++; }
    int all = __syncthreads_count(mine > 0);
    if (mine) atomicAdd(used, mine);
    if (threadIdx.x == 0 && all == 0) used[1] = 1;
}
