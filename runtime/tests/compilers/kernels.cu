// Kernels whose results are the same to the bit on every GPU. nvcc.ptx is what
// `nvcc -ptx -arch=compute_80 -std=c++17 kernels.cu` of CUDA 13.0 makes of them, without comments.
//
// Each runs as 4 blocks of 128 threads with 16 KiB of dynamic shared memory, on tensors of 4096 words.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

#define KERNEL extern "C" __global__ void

extern __shared__ float smem[];

KERNEL block_sum(const float *a, const float *b, float *c) {
  int t = threadIdx.x;
  float s = 0;
  for (int i = t; i < 1024; i += 128)
    s += a[blockIdx.x * 1024 + i];
  for (int o = 16; o; o >>= 1)
    s += __shfl_down_sync(~0u, s, o);
  if (t % 32 == 0)
    smem[t / 32] = s;
  __syncthreads();
  if (t < 32) {
    s = t < 4 ? smem[t] : 0;
    for (int o = 2; o; o >>= 1)
      s += __shfl_xor_sync(~0u, s, o);
  }
  __syncthreads();
  if (t == 0)
    smem[0] = s;
  __syncthreads();
  s = smem[0];
  for (int i = t; i < 1024; i += 128)
    c[blockIdx.x * 1024 + i] = s * b[i];
}

KERNEL transpose(const float *a, const float *b, float *c) {
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
  int bx = blockIdx.x % 2, by = blockIdx.x / 2;
  for (int r = y; r < 32; r += 4)
    smem[r * 33 + x] = a[(by * 32 + r) * 64 + bx * 32 + x];
  __syncthreads();
  for (int r = y; r < 32; r += 4)
    c[(bx * 32 + r) * 64 + by * 32 + x] = smem[x * 33 + r];
}

KERNEL histogram(const int *a, const int *b, int *c) {
  int *h = (int *)smem;
  int t = threadIdx.x;
  for (int i = t; i < 1024; i += 128)
    h[i] = 0;
  __syncthreads();
  for (int i = t; i < 1024; i += 128)
    atomicAdd(&h[(unsigned)a[blockIdx.x * 1024 + i] % 1000u], 1);
  __syncthreads();
  for (int i = t; i < 1024; i += 128)
    c[blockIdx.x * 1024 + i] = h[i];
}

KERNEL pipeline(const float *a, const float *b, float *c) {
  int t = threadIdx.x;
  const float *src = a + blockIdx.x * 1024;
  float s = 0;
  for (int st = 0; st < 2; ++st) {
    __pipeline_memcpy_async(&smem[st * 512 + t * 4], src + st * 512 + t * 4, 16);
    __pipeline_commit();
  }
  for (int st = 0; st < 2; ++st) {
    __pipeline_wait_prior(1 - st);
    __syncthreads();
    for (int i = 0; i < 4; ++i)
      s += smem[st * 512 + (t * 4 + i * 131) % 512];
  }
  for (int i = 0; i < 8; ++i)
    c[blockIdx.x * 1024 + i * 128 + t] = s + i;
}

// Lanes of one instruction with several masks, and loops that a part of the warp executes.
KERNEL groups(const int *a, const int *b, int *c) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int t = threadIdx.x;
  int v = a[blockIdx.x * 128 + t];
  int s = v;
  for (int o = 4; o; o >>= 1)
    s += tile.shfl_xor(s, o);
  unsigned bal = tile.ballot(v > 0);
  int any = tile.any(v > 2000000000);
  int r = 0;
  if (v % 3 == 0) {
    auto active = cg::coalesced_threads();
    r = active.size() * 100 + active.thread_rank();
  }
  unsigned match = __match_any_sync(~0u, v & 3);
  int red = __reduce_max_sync(~0u, v);
  for (int i = 0; i < 8; ++i)
    c[blockIdx.x * 1024 + i * 128 + t] = (i == 0   ? s
                                          : i == 1 ? (int)bal
                                          : i == 2 ? any
                                          : i == 3 ? r
                                          : i == 4 ? (int)match
                                          : i == 5 ? red
                                          : i == 6 ? __popc(match)
                                                   : __clz(v));
}

KERNEL halves(const half *a, const half *b, half *c) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < 4096; i += 512) {
    half2 x = ((const half2 *)a)[i], y = ((const half2 *)b)[i];
    half2 r = __hfma2(x, y, __hadd2(x, y));
    r = __hmax2(r, __hneg2(x));
    if (i % 2)
      r = __hsub2(h2exp(__hmul2(x, __float2half2_rn(0.25f))), y);
    ((half2 *)c)[i] = r;
  }
}

KERNEL fp8s(const float *a, const float *b, int *c) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < 4096; i += 512) {
    __nv_fp8x2_e4m3 x(make_float2(a[i], b[i]));
    __nv_fp8x2_e5m2 y(make_float2(b[i] * 100, a[i] * 1e4f));
    float2 u = float2(x);
    int r = (int)(x.__x) << 16 | y.__x;
    c[i] = r ^ __float_as_int(u.x) ^ (__float_as_int(u.y) >> 3);
  }
}

// Calls a function that is not inlined, with an array of its own.
KERNEL doubles(const double *a, const double *b, double *c) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < 2048; i += 512) {
    double x = a[i], y = b[i];
    c[i] = sqrt(x * x + y * y) + exp(x * 0.1) / (1.0 + fabs(y)) + sin(x) + log(1 + y * y) + cbrt(x);
  }
}

KERNEL integers(const unsigned *a, const unsigned *b, unsigned *c) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < 4096; i += 512) {
    unsigned x = a[i], y = b[i] | 1;
    unsigned long long w = (unsigned long long)x * y;
    long long sw = (long long)(int)x * (int)y;
    c[i] = x / y + x % y + __brev(x) + __ffs(y) + __funnelshift_l(x, y, x & 63) + __byte_perm(x, y, x >> 7) +
           (unsigned)(w >> 32) + (unsigned)(sw >> 13) + __dp4a((int)x, (int)y, 7) + __vadd4(x, y) +
           __sad(x, y, 3) + (unsigned)(w / (y + 7ull)) + (unsigned)(w % (x | 5ull)) +
           __mulhi((int)x, (int)y) + ((int)x >> (y & 31)) + (x << (y & 15));
  }
}

KERNEL floats(const float *a, const float *b, float *c) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < 4096; i += 512) {
    float x = a[i], y = b[i], r = 0;
    int k = i & 15;
    if (k == 0) r = x / y;
    if (k == 1) r = __fdiv_rz(x, y);
    if (k == 2) r = sqrtf(fabsf(x));
    if (k == 3) r = __fsqrt_ru(fabsf(y));
    if (k == 4) r = __fmaf_rd(x, y, y);
    if (k == 5) r = __fadd_ru(x, y);
    if (k == 6) r = rintf(x * 100);
    if (k == 7) r = truncf(y * 50);
    if (k == 8) r = floorf(x * 10) + ceilf(y * 10);
    if (k == 9) r = (float)(int)(x * 1e6f);
    if (k == 10) r = (float)__float2uint_rn(y * 1e5f);
    if (k == 11) r = fminf(x, y) + copysignf(x, y);
    if (k == 12) r = (float)__double2ll_rz((double)x * 1e12);
    if (k == 13) r = __frcp_rn(y);
    if (k == 14) r = fmodf(x, y);
    if (k == 15) r = ldexpf(x, (int)(y * 4));
    c[i] = r;
  }
}

// Loops with a count of their own, a switch, and an array that is indexed.
KERNEL divergent(const int *a, const int *b, int *c) {
  int i = blockIdx.x * 128 + threadIdx.x;
  int hist[16];
  for (int j = 0; j < 16; ++j)
    hist[j] = 0;
  for (int q = 0; q < 8; ++q) {
    int n = (a[i * 8 + q] & 1023) + 1;
    int s = 0;
    while (n != 1) {
      n = n % 2 ? 3 * n + 1 : n / 2;
      ++s;
      if (s > 150)
        break;
    }
    switch (s % 5) {
    case 0: hist[s & 15]++; break;
    case 1: hist[3] += s; break;
    case 2: continue;
    case 3: hist[(s + q) & 15] ^= q; break;
    default: hist[7]--;
    }
  }
  int r = 0;
  for (int j = 0; j < 16; ++j)
    r = r * 31 + hist[(j * 5) & 15];
  for (int q = 0; q < 8; ++q)
    c[i * 8 + q] = r + q;
}
