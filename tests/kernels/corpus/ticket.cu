// ticket for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// A ticket lock for which all lanes of all warps contend.
struct Ticket { unsigned next, serving; };
extern "C" __global__ void ticket(unsigned* out, unsigned* order) {
    __shared__ Ticket t;
    __shared__ unsigned sum, held;
    if (threadIdx.x == 0) { t.next = t.serving = 0; sum = held = 0; }
    __syncthreads();
    unsigned mine = atomicAdd(&t.next, 1u);
    while (*(volatile unsigned*)&t.serving != mine) { }
    __threadfence_block();
    volatile unsigned* s = &sum;
    volatile unsigned* h = &held;
    *h = *h + 1;
    if (*h != 1) out[2] = 77;
    order[mine] = *s;
    *s = *s + threadIdx.x;
    *h = *h - 1;
    __threadfence_block();
    atomicAdd(&t.serving, 1u);
    __syncthreads();
    if (threadIdx.x == 0) { out[0] = sum; out[1] = t.serving; }
    if (threadIdx.x > 0 && order[threadIdx.x] < order[threadIdx.x - 1]) out[3] = 1;
}
