// interp for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Each thread runs a program of its own on a stack of its own and a shared memory of all.
extern "C" __global__ void interp(const unsigned char* code, unsigned* out, int length) {
    __shared__ unsigned cell[16];
    if (threadIdx.x < 16) cell[threadIdx.x] = 0;
    __syncthreads();
    unsigned stack[8], sp = 0, acc = threadIdx.x;
    for (int i = 0; i < length; i++) {
        unsigned op = code[(threadIdx.x & 3) * length + i], x = op >> 4;
        switch (op & 15) {
            case 0: atomicAdd(&cell[x], acc); break;
            case 1: atomicXor(&cell[x], acc * 5); break;
            case 2: stack[sp++ & 7] = acc; break;
            case 3: acc += stack[--sp & 7]; break;
            case 4: acc = acc * 3 + x; break;
            case 5: acc ^= acc >> (x + 1); break;
            case 6: atomicAdd(&cell[x ^ 8], __popc(acc)); acc += 2; break;
            case 7: acc = __brev(acc) >> 7; break;
            case 8: acc = acc / (x + 1); break;
            case 9: for (unsigned k = 0; k < x; k++) acc += acc << 1; break;
            case 10: acc = ~acc; atomicAdd(&cell[15], 1u); break;
            case 11: acc -= x * threadIdx.x; break;
            case 12: acc = __umulhi(acc, 0x9e3779b9u); break;
            case 13: if (acc & 1) acc += 7; else acc -= 9; break;
        }
    }
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = cell[threadIdx.x];
    out[16 + threadIdx.x] = acc + sp;
}
