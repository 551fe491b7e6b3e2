// Variables that come with the code: in global memory, in constant banks, and a table of functions.
__device__ unsigned scale[4] = {1, 2, 3, 4};
__device__ unsigned counts[8];
__constant__ unsigned offsets[4] = {5, 6, 7, 8};
__device__ unsigned *where[2] = {scale, counts};

__device__ __noinline__ unsigned next(unsigned x) { return x + 1; }
__device__ __noinline__ unsigned triple(unsigned x) { return x * 3; }
__device__ unsigned (*functions[2])(unsigned) = {next, triple};

extern "C" __global__ void module_data(const unsigned *in, unsigned *out, int n) {
  __shared__ unsigned sums[8];
  unsigned i = threadIdx.x;
  if (i < 8) sums[i] = 0;
  __syncthreads();
  atomicAdd(&sums[in[i] & 7], scale[in[i] & 3]);
  atomicAdd(&where[n & 1 | 1][i & 7], 1u);
  __syncthreads();
  out[i] = sums[i & 7] + offsets[i & 3] + counts[i & 7] + functions[i & 1](i);
}

// A second kernel of the file, which nothing launches.
extern "C" __global__ void other(unsigned *out) { atomicAdd(&counts[threadIdx.x & 7], *out); }
