// ring_inc for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Slots given out round and round by atomicInc and taken back by atomicDec.
extern "C" __global__ void ring_inc(unsigned* out, unsigned limit, int n) {
    __shared__ unsigned up, down, used[32], back[32];
    if (threadIdx.x < 32) used[threadIdx.x] = back[threadIdx.x] = 0;
    if (threadIdx.x == 0) { up = 0; down = 5; }
    __syncthreads();
    for (int i = 0; i < n; i++) {
        unsigned a = atomicInc(&up, limit);
        atomicAdd(&used[a & 31], 1u);
        unsigned b = atomicDec(&down, limit);
        atomicSub(&back[b & 31], 1u);
        atomicInc(&out[64], 0xffffffffu);
    }
    __syncthreads();
    if (threadIdx.x < 32) { out[threadIdx.x] = used[threadIdx.x]; out[32 + threadIdx.x] = back[threadIdx.x]; }
    if (threadIdx.x == 0) { out[65] = up; out[66] = down; }
}
