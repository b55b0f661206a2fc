// Kernels of other kinds than the compiler makes, on 256 x 256 words: `nvcc -O3 -std=c++17 -arch=sm_90 -ptx words.cu` made words.ptx.
constexpr int N = 256;
constexpr int TILE = 32;
constexpr int ROWS = 8;

// Stores go down the columns.
extern "C" __global__ void __launch_bounds__(256) transpose_plain(const unsigned *in, unsigned *out) {
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += ROWS) out[x * N + y + i] = in[(y + i) * N + x];
}

template <int PITCH> __device__ void transpose(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[TILE][PITCH];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += ROWS) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * N + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += ROWS) out[(y + i) * N + x] = tile[threadIdx.x][threadIdx.y + i];
}

// A column of the tile is one bank.
extern "C" __global__ void __launch_bounds__(256) transpose_tile(const unsigned *in, unsigned *out) { transpose<TILE>(in, out); }

// Rows are one word longer.
extern "C" __global__ void __launch_bounds__(256) transpose_padded(const unsigned *in, unsigned *out) { transpose<TILE + 1>(in, out); }

// One element further: a sector more for each request.
extern "C" __global__ void __launch_bounds__(256) shift(const unsigned *in, unsigned *out) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i + 1 < N * N) out[i + 1] = in[i] + 1;
}

// Sums of blocks, by halves in shared memory and then within a warp.
extern "C" __global__ void __launch_bounds__(256) sums(const unsigned *in, unsigned *out) {
  __shared__ unsigned part[256];
  int t = threadIdx.x;
  part[t] = in[blockIdx.x * 256 + t];
  for (int half = 128; half >= 32; half /= 2) {
    __syncthreads();
    if (t < half) part[t] += part[t + half];
  }
  __syncthreads();
  if (t < 32) {
    unsigned sum = part[t];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

// Vectors of four words to rows of shared memory that conflict, and back as bytes.
extern "C" __global__ void __launch_bounds__(128) vectors(const unsigned *in, unsigned *out) {
  __shared__ __align__(16) unsigned rows[128][8];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  *reinterpret_cast<uint4 *>(&rows[t][4 * (t & 1)]) = reinterpret_cast<const uint4 *>(in)[i];
  __syncthreads();
  int other = t ^ 5;
  const unsigned char *bytes = reinterpret_cast<const unsigned char *>(&rows[other][4 * (other & 1)]);
  uint2 words = *reinterpret_cast<const uint2 *>(bytes + 8);
  unsigned short low = *reinterpret_cast<const unsigned short *>(bytes + 2);
  out[4 * i + (t & 3)] = words.x + words.y + low + bytes[7];
}

// Counts of the low byte, in shared memory and then in global memory.
extern "C" __global__ void __launch_bounds__(256) histogram(const unsigned *in, unsigned *out) {
  __shared__ unsigned bins[256];
  int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * 256 + t] & 255], 1u);
  __syncthreads();
  atomicAdd(&out[bins[t] & 3 ? t : t / 2], bins[t]);
}
