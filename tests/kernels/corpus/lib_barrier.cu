// lib_barrier for sm_80 sm_89 sm_90a sm_100a sm_120a
#include <cuda/barrier>
// The barrier object of the library: half the threads produce, half consume, a stage apart.
extern "C" __global__ void lib_barrier(const int* in, int* out, int rounds) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(barrier) char room[4 * sizeof(barrier)];
    barrier* full = (barrier*)room;
    barrier* empty = full + 2;
    __shared__ int data[2][64];
    __shared__ int total;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) { init(&full[i], blockDim.x); init(&empty[i], blockDim.x); }
        total = 0;
    }
    __syncthreads();
    int t = threadIdx.x & 63;
    if (threadIdx.x < 64) {
        for (int r = 0; r < rounds; r++) {
            empty[r & 1].arrive_and_wait();
            data[r & 1][t] = in[r * 64 + t] * 2;
            (void)full[r & 1].arrive();
        }
    } else {
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        int sum = 0;
        for (int r = 0; r < rounds; r++) {
            full[r & 1].wait(full[r & 1].arrive());
            sum += data[r & 1][63 - t];
            if (r + 2 < rounds) (void)empty[r & 1].arrive();
        }
        out[t] = sum;
        atomicAdd(&total, sum);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[64] = total;
}
