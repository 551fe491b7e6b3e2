// recurse for sm_75 sm_80 sm_90a sm_100a sm_120a; a debug build (-G) for sm_90a
// Functions that call themselves.
__device__ __noinline__ unsigned collatz(unsigned v, unsigned depth) {
    if (v <= 1 || depth > 40) return depth;
    return v & 1 ? collatz(3 * v + 1, depth + 1) + 0 * v : collatz(v / 2, depth + 1);
}
__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recurse(unsigned* steps, unsigned* sum) {
    __shared__ unsigned all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    unsigned t = threadIdx.x, f = fib(t % 7);
    steps[t] = collatz(t + 1, 0) + 1000 * f;
    atomicAdd(&all, f);
    __syncthreads();
    if (t == 0) *sum = all;
}
