// list_exch for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Lists of pointers built by 64-bit exchange, the nodes in shared memory; then one thread walks each list.
typedef unsigned long long u64;
struct Node { Node* next; unsigned key, value; };
extern "C" __global__ void list_exch(const unsigned* in, unsigned* sums, unsigned* lengths, int n) {
    __shared__ Node nodes[128];
    __shared__ Node* heads[16];
    if (threadIdx.x < 16) heads[threadIdx.x] = nullptr;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Node* p = &nodes[i];
        p->key = in[i] & 15;
        p->value = in[i] >> 4;
        p->next = (Node*)atomicExch((u64*)&heads[p->key], (u64)p);
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        unsigned sum = 0, length = 0;
        for (Node* p = heads[threadIdx.x]; p; p = p->next) { sum += p->value; length += p->key == threadIdx.x; }
        sums[threadIdx.x] = sum;
        lengths[threadIdx.x] = length;
    }
}
