// graph for sm_75 sm_80 sm_89 sm_90a sm_100a sm_120a
// Breadth first with a queue in shared memory, and components by union with compare-and-swap.
__device__ int root(volatile int* up, int v) {
    while (up[v] != v) v = up[v];
    return v;
}
extern "C" __global__ void graph(const int2* edges, int* depth, int* component, int m) {
    __shared__ int dist[64], up[64], queue[64], count, head;
    int t = threadIdx.x;
    if (t < 64) { dist[t] = -1; up[t] = t; }
    if (t == 0) { dist[0] = 0; queue[0] = 0; count = 1; head = 0; }
    __syncthreads();
    while (true) {
        int first = head, last = count;
        __syncthreads();
        if (first == last) break;
        for (int e = t; e < m; e += blockDim.x) {
            int2 ab = edges[e];
            for (int k = first; k < last; k++) {
                int v = queue[k], w = ab.x == v ? ab.y : ab.y == v ? ab.x : -1;
                if (w >= 0 && atomicCAS(&dist[w], -1, dist[v] + 1) == -1) queue[atomicAdd(&count, 1)] = w;
            }
        }
        if (t == 0) head = last;
        __syncthreads();
    }
    for (int e = t; e < m; e += blockDim.x) {
        int a = edges[e].x, b = edges[e].y;
        for (;;) {
            a = root(up, a);
            b = root(up, b);
            if (a == b) break;
            int high = max(a, b), low = min(a, b);
            if (atomicCAS(&up[high], high, low) == high) break;
        }
    }
    __syncthreads();
    if (t < 64) { depth[t] = dist[t]; component[t] = root(up, t); }
}
