// legacy_votes for sm_50 sm_52 sm_60 sm_61
// Votes and shuffles without a mask, as code before sm_70 has them: among the lanes that are active together.
extern "C" __global__ void legacy_votes(const int* in, int* out) {
    __shared__ int sums[2];
    int t = threadIdx.x, lane = t & 31, v = in[t];
    if (t < 2) sums[t] = 0;
    __syncthreads();
    int s = v;
    for (int d = 16; d > 0; d /= 2) s += __shfl_down(s, d);
    if (lane == 0) atomicAdd(&sums[t / 32], s);
    out[t] = __shfl(v, lane * 7 + 3) + 2 * __shfl_xor(v, 5, 8) + 3 * __shfl_up(v, 2, 16);
    out[64 + t] = __ballot(v & 1);
    out[128 + t] = __all(v > 0) + 2 * __any(v > 90);
    if (lane % 3 == 0) {
        out[192 + t] = __ballot(v & 2);
        out[256 + t] = __shfl(v, lane / 6 * 6);
    } else if (lane & 1) {
        out[192 + t] = __ballot(1);
        out[256 + t] = __any(v == 17);
    }
    __syncthreads();
    out[320 + t] = sums[t / 32];
}
