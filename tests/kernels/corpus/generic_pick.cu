// generic_pick for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Functions that do not know whether their pointer is to shared, global or local memory.
typedef unsigned long long u64;
__device__ __noinline__ unsigned bump(unsigned* p, unsigned by) { return atomicAdd(p, by); }
__device__ __noinline__ void widest(u64* p, u64 v) { atomicMax(p, v); }
__device__ __noinline__ int space(const void* p) { return __isShared(p) ? 1 : __isGlobal(p) ? 2 : __isLocal(p) ? 3 : 0; }
extern "C" __global__ void generic_pick(const int* pick, unsigned* g, u64* w, float* f, unsigned* out) {
    __shared__ unsigned s[32];
    __shared__ u64 sw[2];
    __shared__ float sf[2];
    unsigned here = threadIdx.x;
    if (threadIdx.x < 32) s[threadIdx.x] = 0;
    if (threadIdx.x < 2) { sw[threadIdx.x] = 0; sf[threadIdx.x] = 0; }
    __syncthreads();
    unsigned* p = pick[threadIdx.x] ? g : s;
    bump(p + (threadIdx.x & 31), threadIdx.x);
    widest((pick[threadIdx.x] ? w : sw) + (threadIdx.x & 1), (u64)threadIdx.x << 33);
    atomicAdd((pick[threadIdx.x] ? f : sf) + (threadIdx.x & 1), 0.5f);
    atomicExch(pick[threadIdx.x] ? &g[40] : &s[31], 12u);
    if (atomicCAS(pick[threadIdx.x] ? &g[41] : &s[30], 0u, 0u) == 0xffffffffu) out[99] = 1;
    __syncthreads();
    unsigned* q = pick[threadIdx.x] == 2 ? &here : p + 1;
    int k = space(q);
    *q += k == 3 ? 1000 : 0;
    out[threadIdx.x] = k * 10000 + (k == 3 ? here : pick[threadIdx.x]);
    if (threadIdx.x < 30) out[128 + threadIdx.x] = s[threadIdx.x];
    if (threadIdx.x < 2) { out[158 + threadIdx.x] = (unsigned)(sw[threadIdx.x] >> 33); out[160 + threadIdx.x] = (unsigned)sf[threadIdx.x]; out[162 + threadIdx.x] = s[31]; }
}
