// offsets for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Members before and far behind the address in hand, arrays of structs, steps back from the end.
typedef unsigned long long u64;
struct Record { unsigned a; unsigned short b; signed char c; unsigned char d; u64 e; float f; unsigned pad[3]; };
struct Big { unsigned head; unsigned gap[2999]; unsigned tail; u64 wide; };
extern "C" __global__ void offsets(const int* in, int* out, int n) {
    __shared__ Record r[20];
    __shared__ Big big;
    int t = threadIdx.x;
    if (t < 20) { r[t].a = 0; r[t].b = 7; r[t].c = -5; r[t].d = 250; r[t].e = 0; r[t].f = 0; r[t].pad[2] = 100; }
    if (t == 0) { big.head = 0; big.tail = 0; big.wide = 0; }
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) {
        Record* p = &r[2 + (in[i] & 15)];
        atomicAdd(&p[-1].a, 1u);
        atomicSub(&p[-2].pad[2], 2u);
        atomicAdd(&p[1].e, (u64)in[i]);
        atomicAdd(&p[0].f, 0.25f);
        atomicMax(&big.tail, (unsigned)in[i]);
        atomicAdd(&(&big.wide)[0], 1ull << 32);
        atomicOr(&big.gap[2998 - (in[i] & 3)], 1u << (in[i] & 31));
        atomicAdd((unsigned*)&big + 1 - (in[i] & 1), 0u);
    }
    if (t < 3) big.gap[2998 - t] = 0;
    __syncthreads();
    if (t < 20) {
        out[t * 6] = r[t].a; out[t * 6 + 1] = r[t].b * r[t].c; out[t * 6 + 2] = r[t].d;
        out[t * 6 + 3] = (int)r[t].e; out[t * 6 + 4] = (int)(r[t].f * 4); out[t * 6 + 5] = r[t].pad[2];
    }
    if (t == 0) { out[120] = big.tail; out[121] = (int)(big.wide >> 32); out[122] = big.head; }
}
