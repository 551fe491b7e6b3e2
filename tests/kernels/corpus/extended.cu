// extended for sm_50 sm_52 sm_60 sm_61
// Products of words in halves, sums of several words, fields of bits at places of their own, selections by sign.
extern "C" __global__ void extended(const int* in, const float* floats, int* out) {
    __shared__ int folded[16];
    int t = threadIdx.x;
    if (t < 16) folded[t] = 0;
    __syncthreads();
    int a = in[t], b = in[64 + t], c = in[128 + t], d = in[192 + t], r[16];
    r[0] = __mulhi(a, b);
    r[1] = __umulhi(a, b);
    asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(r[2]) : "r"(a), "r"(b), "r"(c));
    asm("mad.lo.cc.u32 %0, %3, %4, %5; madc.hi.cc.u32 %1, %3, %4, %6; addc.u32 %2, %5, 0;"
        : "=&r"(r[3]), "=&r"(r[4]), "=r"(r[5]) : "r"(a), "r"(b), "r"(c), "r"(d));
    asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.lo.u32 %1, %2, %5, %6;"
        : "=&r"(r[6]), "=r"(r[7]) : "r"(a & 0xffff), "r"(b & 0xffff), "r"(c), "r"(d & 0xffff), "r"(d));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r[8]) : "r"(a), "r"(b), "r"(c & 63), "r"(d & 63));
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r[9]) : "r"(a), "r"(c & 63), "r"(d & 63));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r[10]) : "r"(a), "r"(c & 63), "r"(d & 63));
    asm("bfi.b32 %0, %1, %2, 12, 9;" : "=r"(r[11]) : "r"(a), "r"(b));
    asm("slct.s32.f32 %0, %1, %2, %3;" : "=r"(r[12]) : "r"(a), "r"(b), "f"(floats[t]));
    r[13] = floats[t] > 0 ? a : b;
    r[14] = (int)(((long long)a * b + c) / (d | 1));
    r[15] = (int)(((unsigned long long)(unsigned)a << 20 ^ (unsigned)b) % ((unsigned)c | 1));
    for (int i = 0; i < 16; i++) {
        out[16 * t + i] = r[i];
        atomicXor(&folded[i], r[i]);
    }
    __syncthreads();
    if (t < 16) out[1024 + t] = folded[t];
}
