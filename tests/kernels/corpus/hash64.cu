// hash64 for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Keys of 64 bits in a table probed by squares; each key with the sum of its values; then lookups.
typedef unsigned long long u64;
__device__ __noinline__ unsigned hash(u64 k) {
    k ^= k >> 33; k *= 0xff51afd7ed558ccdull; k ^= k >> 33; k *= 0xc4ceb9fe1a85ec53ull; k ^= k >> 33;
    return (unsigned)(k % 251);
}
extern "C" __global__ void hash64(const u64* keys, u64* sums, int n) {
    __shared__ u64 table[251], value[251];
    for (int i = threadIdx.x; i < 251; i += blockDim.x) { table[i] = 0; value[i] = 0; }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        u64 k = keys[i];
        unsigned h = hash(k), step = 0;
        u64 seen;
        while ((seen = atomicCAS(&table[h], 0ull, k)) != 0 && seen != k) { step++; h = (h + step) % 251; }
        atomicAdd(&value[h], (u64)i * 0x100000001ull);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned h = hash(keys[i]), step = 0;
        while (table[h] != keys[i]) { step++; h = (h + step) % 251; }
        sums[i] = value[h];
    }
}
