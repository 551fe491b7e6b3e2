// ring_mpmc for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// A queue of many producers and consumers with a sequence number in each slot.
struct Slot { unsigned seq; unsigned value; };
__device__ bool push(volatile Slot* ring, unsigned* tail, unsigned v) {
    unsigned pos = *(volatile unsigned*)tail;
    for (;;) {
        volatile Slot* s = ring + (pos & 15);
        int d = (int)(s->seq - pos);
        if (d == 0) {
            unsigned seen = atomicCAS(tail, pos, pos + 1);
            if (seen == pos) {
                s->value = v;
                __threadfence_block();
                s->seq = pos + 1;
                return true;
            }
            pos = seen;
        } else if (d < 0) return false;
        else pos = *(volatile unsigned*)tail;
    }
}
__device__ bool pop(volatile Slot* ring, unsigned* head, unsigned* v) {
    unsigned pos = *(volatile unsigned*)head;
    for (;;) {
        volatile Slot* s = ring + (pos & 15);
        int d = (int)(s->seq - (pos + 1));
        if (d == 0) {
            unsigned seen = atomicCAS(head, pos, pos + 1);
            if (seen == pos) {
                __threadfence_block();
                *v = s->value;
                __threadfence_block();
                s->seq = pos + 16;
                return true;
            }
            pos = seen;
        } else if (d < 0) return false;
        else pos = *(volatile unsigned*)head;
    }
}
extern "C" __global__ void ring_mpmc(unsigned* out, int n) {
    __shared__ Slot ring[16];
    __shared__ unsigned head, tail, sum, got;
    if (threadIdx.x < 16) { ring[threadIdx.x].seq = threadIdx.x; ring[threadIdx.x].value = 0; }
    if (threadIdx.x == 0) head = tail = sum = got = 0;
    __syncthreads();
    bool producer = (threadIdx.x / 32) % 2 == 0;
    for (int i = 0; i < n; i++) {
        if (producer) {
            while (!push(ring, &tail, threadIdx.x * 100 + i)) __nanosleep(40);
        } else {
            unsigned v;
            while (!pop(ring, &head, &v)) __nanosleep(40);
            atomicAdd(&sum, v);
            atomicAdd(&out[v % 100 + 4], 1u);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) { out[0] = sum; out[1] = head; out[2] = tail; out[3] = ring[0].seq; }
}
