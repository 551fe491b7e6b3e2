// lock_buckets for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// A lock per bucket, all lanes of a warp at once, sleeping longer after each failure.
struct Bucket { int lock; int count; long long sum; };
extern "C" __global__ void lock_buckets(const int* in, long long* out, int n) {
    __shared__ Bucket b[8];
    if (threadIdx.x < 8) { b[threadIdx.x].lock = 0; b[threadIdx.x].count = 0; b[threadIdx.x].sum = 0; }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Bucket* p = &b[in[i] & 7];
        unsigned ns = 8;
        bool done = false;
        while (!done) {
            if (atomicCAS(&p->lock, 0, 1) == 0) {
                __threadfence_block();
                volatile Bucket* v = p;
                v->count = v->count + 1;
                v->sum = v->sum + in[i];
                __threadfence_block();
                atomicExch(&p->lock, 0);
                done = true;
            } else {
                __nanosleep(ns);
                if (ns < 256) ns *= 2;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x < 8) { out[threadIdx.x] = b[threadIdx.x].count; out[8 + threadIdx.x] = b[threadIdx.x].sum; }
}
