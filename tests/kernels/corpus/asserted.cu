// asserted for sm_75 sm_80 sm_90a sm_100a sm_120a; debug builds (-G) for sm_80 sm_120a
#include <cassert>
#include <cstdio>
// A histogram that checks its input with assert, and prints what lies in the last bin.
extern "C" __global__ void asserted(const unsigned* in, unsigned* out, unsigned bins) {
    __shared__ unsigned counts[8];
    unsigned t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    unsigned bin = in[t] & 7;
    assert(bin < bins);
    if (bin == 7) printf("thread %u of %d: 100%%\n", t, 64);
    atomicAdd(&counts[bin], 1u);
    __syncthreads();
    if (t < 8) out[t] = counts[t];
}
