// list_tagged for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// A list of nodes in shared memory; its head is an index and a tag in 64 bits. Every thread pushes its nodes, then pops
// as many and adds them up.
typedef unsigned long long u64;
struct Node { unsigned next, value; };
extern "C" __global__ void list_tagged(const unsigned* in, u64* out, int each) {
    __shared__ Node node[256];
    __shared__ u64 head, sum;
    __shared__ unsigned count;
    if (threadIdx.x == 0) { head = 0xffffffffull; sum = 0; count = 0; }
    __syncthreads();
    volatile Node* nodes = node;
    for (int i = 0; i < each; i++) {
        unsigned mine = threadIdx.x * each + i;
        nodes[mine].value = in[mine];
        u64 old = *(volatile u64*)&head, seen;
        do {
            seen = old;
            nodes[mine].next = (unsigned)seen;
            __threadfence_block();
            old = atomicCAS(&head, seen, ((seen >> 32) + 1) << 32 | mine);
        } while (old != seen);
    }
    __syncthreads();
    for (int i = 0; i < each; i++) {
        u64 old = *(volatile u64*)&head;
        for (;;) {
            unsigned top = (unsigned)old;
            if (top == 0xffffffffu) break;
            u64 next = ((old >> 32) + 1) << 32 | nodes[top].next;
            u64 seen = atomicCAS(&head, old, next);
            if (seen == old) {
                atomicAdd(&sum, (u64)nodes[top].value);
                atomicAdd(&count, 1u);
                break;
            }
            old = seen;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) { out[0] = sum; out[1] = count; out[2] = head; }
}
