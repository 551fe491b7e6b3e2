// calls for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Functions that are called, one of them with an array of its own; a dense switch.
__device__ __noinline__ unsigned collatz(unsigned v) {
    unsigned steps = 0;
    while (v > 1 && steps <= 40) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        steps++;
    }
    return steps;
}
__device__ __noinline__ unsigned fib(unsigned n) {
    unsigned a = 0, b = 1;
    for (; n; n--) { unsigned c = a + b; a = b; b = c; }
    return a;
}
__device__ __noinline__ int shuffle(unsigned seed, int at) {
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = i;
    for (int i = 15; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int j = (seed >> 8) % (i + 1), x = a[i];
        a[i] = a[j];
        a[j] = x;
    }
    return a[at & 15];
}
extern "C" __global__ void calls(unsigned* steps, unsigned* kinds, unsigned* spots) {
    __shared__ unsigned kind[8], spot[16];
    if (threadIdx.x < 8) kind[threadIdx.x] = 0;
    if (threadIdx.x < 16) spot[threadIdx.x] = 0;
    __syncthreads();
    unsigned t = threadIdx.x;
    steps[t] = collatz(t + 1) + 1000 * fib(t % 7);
    atomicAdd(&spot[shuffle(t, t)], 1u);
    unsigned v = t;
    switch (t % 11) {
        case 0: v = v * v; break;
        case 1: v = v ^ 0x55; break;
        case 2: v = v / 3; break;
        case 3: v = __brev(v) >> 20; break;
        case 4: v = v << 3; atomicAdd(&kind[7], 1u); break;
        case 5: v = __popc(v); break;
        case 6: v = v - 100; atomicMax(&kind[6], t); break;
        case 7: v = v * 7 + 1;
        case 8: v = v % 5; break;
        case 9: v = ~v; break;
    }
    atomicAdd(&kind[v & 3], v);
    __syncthreads();
    if (t < 8) kinds[t] = kind[t];
    if (t < 16) spots[t] = spot[t];
}
