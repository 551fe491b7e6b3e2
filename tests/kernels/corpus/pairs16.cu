// pairs16 for sm_80 sm_90a sm_100a sm_120a
// Pairs of halves: every form that one or three operands have, each kind of minimum and maximum, and sums.
extern "C" __global__ void pairs16(const unsigned* in, unsigned* out, int n) {
    int i = threadIdx.x;
    unsigned a = in[i], b = in[i + n], c = in[i + 2 * n], r[20];
#define TWO(k, text) asm(text " %0, %1, %2;" : "=r"(r[k]) : "r"(a), "r"(b))
#if __CUDA_ARCH__ >= 900
    TWO(0, "add.u16x2"); TWO(1, "add.s16x2"); TWO(2, "min.u16x2"); TWO(3, "min.s16x2"); TWO(4, "max.u16x2");
    TWO(5, "max.s16x2"); TWO(6, "min.relu.s16x2"); TWO(7, "max.relu.s16x2");
#else
    r[0] = __vadd2(a, b); r[1] = __vadd2(b, a); r[2] = __vminu2(a, b); r[3] = __vmins2(a, b); r[4] = __vmaxu2(a, b);
    r[5] = __vmaxs2(a, b); r[6] = __vimin_s16x2_relu(a, b); r[7] = __vimax_s16x2_relu(a, b);
#endif
    r[8] = __vimax3_s16x2(a, b, c); r[9] = __vimin3_u16x2(a, b, c); r[10] = __vimax3_s16x2_relu(a, b, c);
    r[11] = __viaddmax_s16x2(a, b, c); r[12] = __viaddmin_u16x2(a, b, c); r[13] = __viaddmax_s16x2_relu(a, b, c);
    bool high, low;
    r[14] = __vibmax_s16x2(a, b, &high, &low);
    r[15] = high * 2 + low;
    r[16] = __vibmin_u16x2(a, b, &high, &low);
    r[17] = high * 2 + low;
    r[18] = __vsub2(a, b);
    r[19] = __vaddus2(a, b);
    __shared__ unsigned kept[20 * 32];
    for (int k = 0; k < 20; k++) kept[k * 32 + i] = r[k];
    __syncthreads();
    for (int k = 0; k < 20; k++) out[k * n + i] = kept[k * 32 + i];
}
