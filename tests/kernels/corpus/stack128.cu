// stack128 for sm_90a sm_100a sm_120a
// A stack whose head, a pointer and a count, changes by 128-bit compare-and-swap; nodes in global memory.
typedef unsigned long long u64;
struct __align__(16) Head { u64 top; u64 tag; };
struct Node { u64 next; u64 value; };
extern "C" __global__ void stack128(Node* nodes, u64* out, int each) {
    __shared__ Head head;
    __shared__ u64 sum, popped;
    if (threadIdx.x == 0) { head.top = 0; head.tag = 0; sum = 0; popped = 0; }
    __syncthreads();
    for (int i = 0; i < each; i++) {
        Node* mine = nodes + threadIdx.x * each + i;
        Head old = head, seen, next;
        do {
            seen = old;
            *(volatile u64*)&mine->next = seen.top;
            __threadfence_block();
            next.top = (u64)mine;
            next.tag = seen.tag + 1;
            old = atomicCAS(&head, seen, next);
        } while (old.top != seen.top || old.tag != seen.tag);
    }
    __syncthreads();
    for (int i = 0; i < each; i++) {
        Head old = head;
        for (;;) {
            Node* top = (Node*)old.top;
            if (!top) break;
            Head next;
            next.top = *(volatile u64*)&top->next;
            next.tag = old.tag + 1;
            Head seen = atomicCAS(&head, old, next);
            if (seen.top == old.top && seen.tag == old.tag) {
                atomicAdd(&sum, top->value);
                atomicAdd(&popped, 1ull);
                break;
            }
            old = seen;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) { out[0] = sum; out[1] = popped; out[2] = head.top; out[3] = head.tag; }
}
