// A program that uses most of what the emulator's CUDA runtime has, and checks what it gets.

#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_fp16.h>
#include <mma.h>

static int wrong = 0;

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      printf("line %d: %s\n", __LINE__, #condition);                                        \
      wrong++;                                                                              \
    }                                                                                       \
  } while (0)
#define CALL(call) CHECK((call) == cudaSuccess)

__constant__ float scale[2];
__device__ int counter;
__device__ unsigned table[64];
__device__ unsigned arrived;

struct Pair {
  const float *from;
  float *to;
};

__global__ void scaled(int n, Pair pair, char offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    pair.to[i] = pair.from[i] * scale[1] + offset;
    atomicAdd(&counter, 1);
  }
}

__global__ void reversed(int *values, int n) {
  extern __shared__ int staged[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) staged[i] = values[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = staged[n - 1 - i];
}

__global__ void says(int what) { printf("a kernel says %d\n", what); }

// Each block adds what the block before it has written, once all have written.
__global__ void meets(int *values, int *sums) {
  if (threadIdx.x != 0) return;
  values[blockIdx.x] = blockIdx.x + 1;
  __threadfence();
  atomicAdd(&arrived, 1);
  while (atomicAdd(&arrived, 0) < gridDim.x) __threadfence();
  __threadfence();
  sums[blockIdx.x] = values[blockIdx.x] + values[(blockIdx.x + 1) % gridDim.x];
}

__global__ void fills(unsigned *address) { address[threadIdx.x] = threadIdx.x; }

// A product of tiles by nvcuda::wmma, with A scaled in shared memory whose lines are padded to 24 halves.
__global__ void tiles(const half *a, const half *b, float *c) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) half staged[16 * 24];
  fragment<matrix_a, 16, 16, 16, half, row_major> left;
  fragment<matrix_b, 16, 16, 16, half, col_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  for (int i = threadIdx.x; i < 256; i += 32) staged[i / 16 * 24 + i % 16] = a[i];
  __syncwarp();
  load_matrix_sync(left, staged, 24);
  load_matrix_sync(right, b, 16);
  fill_fragment(sum, 1.f);
  for (int i = 0; i < left.num_elements; i++) left.x[i] = left.x[i] * __float2half(2.f);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(c, sum, 16, mem_row_major);
}

static void products() {
  half *a, *b;
  float *c;
  CALL(cudaMallocManaged(&a, 256 * sizeof(half)));
  CALL(cudaMallocManaged(&b, 256 * sizeof(half)));
  CALL(cudaMallocManaged(&c, 256 * sizeof(float)));
  for (int i = 0; i < 256; i++) {
    a[i] = __float2half(float(i * 7 % 5 - 2));
    b[i] = __float2half(float(i * 3 % 7 - 3));
  }
  tiles<<<1, 32>>>(a, b, c);
  CALL(cudaDeviceSynchronize());
  bool right = true;
  for (int row = 0; row < 16; row++) {
    for (int column = 0; column < 16; column++) {
      float sum = 1;
      for (int k = 0; k < 16; k++) sum += 2 * __half2float(a[row * 16 + k]) * __half2float(b[column * 16 + k]);
      right &= c[row * 16 + column] == sum;
    }
  }
  CHECK(right);
  CALL(cudaFree(a));
  CALL(cudaFree(b));
  CALL(cudaFree(c));
}

static void arrays() {
  const int n = 1000;
  std::vector<float> host(n), back(n);
  for (int i = 0; i < n; i++) host[i] = i;
  float *from, *to;
  CALL(cudaMalloc(&from, n * sizeof(float)));
  CALL(cudaMalloc(&to, n * sizeof(float)));
  CALL(cudaMemcpy(from, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  float values[2] = {9, 3};
  CALL(cudaMemcpyToSymbol(scale, values, sizeof values));
  int zero = 0;
  CALL(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
  scaled<<<(n + 127) / 128, 128>>>(n, Pair{from, to}, char(-2));
  CALL(cudaGetLastError());
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemcpy(back.data(), to, n * sizeof(float), cudaMemcpyDefault));
  int count = 0;
  CALL(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(count == n);
  bool right = true;
  for (int i = 0; i < n; i++) right &= back[i] == 3.f * i - 2;
  CHECK(right);
  // From an offset, on the device, and rows.
  CALL(cudaMemcpy(to + 10, from + 1, 3 * sizeof(float), cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy2D(back.data(), 2 * sizeof(float), to + 10, 1 * sizeof(float), sizeof(float), 3, cudaMemcpyDeviceToHost));
  CHECK(back[0] == 1 && back[2] == 2 && back[4] == 3);
  CALL(cudaMemset(to, 0, n * sizeof(float)));
  CALL(cudaMemcpy(back.data(), to, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(back[10] == 0 && back[n - 1] == 0);
  void *address = nullptr;
  size_t bytes = 0;
  CALL(cudaGetSymbolAddress(&address, table));
  CALL(cudaGetSymbolSize(&bytes, table));
  CHECK(bytes == sizeof table);
  fills<<<1, 64>>>(static_cast<unsigned *>(address));
  unsigned last[2];
  CALL(cudaMemcpyFromSymbol(last, table, sizeof last, 62 * sizeof(unsigned)));
  CHECK(last[0] == 62 && last[1] == 63);
  CALL(cudaFree(from));
  CALL(cudaFree(to));
  CALL(cudaFree(nullptr));
}

static void memory_of_both() {
  const int n = 24 * 1024;  // 96 KiB of shared memory
  int *managed, *pinned;
  CALL(cudaMallocManaged(&managed, n * sizeof(int)));
  for (int i = 0; i < n; i++) managed[i] = i;
  CALL(cudaFuncSetAttribute(reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, n * sizeof(int)));
  reversed<<<1, 256, n * sizeof(int)>>>(managed, n);
  CALL(cudaDeviceSynchronize());
  CHECK(managed[0] == n - 1 && managed[n - 1] == 0 && managed[5] == n - 6);
  CALL(cudaMallocHost(&pinned, 64));
  memset(pinned, 0, 64);
  int *other;
  CALL(cudaHostGetDevicePointer(&other, pinned, 0));
  fills<<<1, 16>>>(reinterpret_cast<unsigned *>(other));
  CALL(cudaDeviceSynchronize());
  CHECK(pinned[15] == 15);
  int own[16] = {0};
  CALL(cudaHostRegister(own, sizeof own, cudaHostRegisterMapped));
  CALL(cudaHostGetDevicePointer(&other, own, 0));
  fills<<<1, 16>>>(reinterpret_cast<unsigned *>(other));
  CALL(cudaDeviceSynchronize());
  CHECK(own[7] == 7);
  CALL(cudaHostUnregister(own));
  cudaPointerAttributes attributes;
  CALL(cudaPointerGetAttributes(&attributes, managed));
  CHECK(attributes.devicePointer == managed);
  CALL(cudaFreeHost(pinned));
  CALL(cudaFree(managed));
}

static void device() {
  int count = 0, threads = 0;
  CALL(cudaGetDeviceCount(&count));
  CHECK(count == 1);
  cudaDeviceProp prop;
  CALL(cudaGetDeviceProperties(&prop, 0));
  CHECK(prop.warpSize == 32 && prop.maxThreadsPerBlock == 1024 && prop.major == 8 && prop.multiProcessorCount > 0);
  CHECK(prop.maxGridSize[0] == 2147483647 && prop.sharedMemPerBlockOptin == 163 * 1024 && strstr(prop.name, "emulator"));
  CHECK(prop.maxThreadsPerMultiProcessor == 2048 && prop.regsPerBlock == 65536 && prop.cooperativeLaunch == 1);
  CALL(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0));
  CHECK(threads == 1024);
  CALL(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxBlockDimY, 0));
  CHECK(threads == prop.maxThreadsDim[1]);
  int blocks = 0;
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meets, 1024, 0));
  CHECK(blocks == 2);
  cudaFuncAttributes attributes;
  CALL(cudaFuncGetAttributes(&attributes, meets));
  CHECK(attributes.maxThreadsPerBlock == 1024);
  size_t left, all;
  CALL(cudaMemGetInfo(&left, &all));
  CHECK(left > 0 && left <= all);
}

static void order() {
  cudaStream_t stream;
  cudaEvent_t start, end;
  CALL(cudaStreamCreate(&stream));
  CALL(cudaEventCreate(&start));
  CALL(cudaEventCreateWithFlags(&end, 0));
  CALL(cudaEventRecord(start, stream));
  int *values, *sums, back[4];
  CALL(cudaMallocAsync(&values, sizeof back, stream));
  CALL(cudaMalloc(&sums, sizeof back));
  void *arguments[] = {&values, &sums};
  CALL(cudaLaunchCooperativeKernel(meets, dim3(4), dim3(32), arguments, 0, stream));
  CALL(cudaMemcpyAsync(back, sums, sizeof back, cudaMemcpyDeviceToHost, stream));
  CALL(cudaEventRecord(end, stream));
  CALL(cudaStreamWaitEvent(stream, end, 0));
  CALL(cudaStreamSynchronize(stream));
  CHECK(back[0] == 3 && back[3] == 5);
  float milliseconds = -1;
  CALL(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds >= 0);
  CALL(cudaEventDestroy(start));
  CALL(cudaEventDestroy(end));
  CALL(cudaFreeAsync(values, stream));
  CALL(cudaFree(sums));
  CALL(cudaStreamDestroy(stream));
}

// What a program sets, it is told again.
static void settings() {
  size_t bytes = 0;
  CALL(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
  CALL(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  CHECK(bytes == 1 << 20);
  cudaFuncCache config;
  CALL(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  CALL(cudaDeviceGetCacheConfig(&config));
  CHECK(config == cudaFuncCachePreferL1);
  int device = 7;
  char place[16];
  CALL(cudaDeviceGetPCIBusId(place, sizeof place, 0));
  CALL(cudaDeviceGetByPCIBusId(&device, place));
  CHECK(device == 0);
  cudaStream_t stream, other;
  unsigned flags = 0;
  int priority = 7;
  CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CALL(cudaStreamCreate(&other));
  CALL(cudaStreamGetFlags(stream, &flags));
  CALL(cudaStreamGetPriority(stream, &priority));
  CHECK(flags == cudaStreamNonBlocking && priority == 0);
  unsigned long long ids[2];
  CALL(cudaStreamGetId(stream, &ids[0]));
  CALL(cudaStreamGetId(other, &ids[1]));
  CHECK(ids[0] != ids[1]);
  cudaStreamAttrValue value = {}, found = {};
  value.accessPolicyWindow.num_bytes = 4096;
  CALL(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
  CALL(cudaStreamCopyAttributes(other, stream));
  CALL(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &found));
  CHECK(found.accessPolicyWindow.num_bytes == 4096);
  CALL(cudaCtxResetPersistingL2Cache());
  // Pools of memory.
  cudaMemPool_t pool, own;
  unsigned long long threshold = 1 << 16, told = 0;
  CALL(cudaDeviceGetDefaultMemPool(&pool, 0));
  CALL(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CALL(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &told));
  CHECK(told == threshold);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  CALL(cudaMemPoolCreate(&own, &properties));
  unsigned *memory;
  CALL(cudaMallocFromPoolAsync(&memory, 256, own, stream));
  CALL(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &told));
  CHECK(told >= 256);
  fills<<<1, 64, 0, stream>>>(memory);
  CALL(cudaFreeAsync(memory, stream));
  CALL(cudaMemPoolTrimTo(own, 0));
  CALL(cudaMemPoolDestroy(own));
  CALL(cudaStreamDestroy(stream));
  CALL(cudaStreamDestroy(other));
}

// All but the program's variables is gone, and those begin anew.
static void reset() {
  int *managed, back = 0;
  cudaStream_t stream;
  cudaEvent_t event;
  size_t before, left, all;
  CALL(cudaDeviceReset());
  CALL(cudaMemGetInfo(&before, &all));
  CHECK(before == all);
  CALL(cudaMallocManaged(&managed, 4096));
  CALL(cudaMalloc(&managed, 4096));
  CALL(cudaStreamCreate(&stream));
  CALL(cudaEventCreate(&event));
  CALL(cudaMemcpyFromSymbol(&back, counter, sizeof back));
  CHECK(back == 0);
  back = 5;
  CALL(cudaMemcpyToSymbol(counter, &back, sizeof back));
  CALL(cudaDeviceReset());
  CALL(cudaMemGetInfo(&left, &all));
  CHECK(left == before);
  CALL(cudaMemcpyFromSymbol(&back, counter, sizeof back));
  CHECK(back == 0);
  CALL(cudaDeviceSynchronize());
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) printf("argument %s\n", argv[i]);
  arrays();
  products();
  memory_of_both();
  device();
  order();
  settings();
  reset();
  printf("before, ");
  says<<<1, 1>>>(42);
  CALL(cudaDeviceSynchronize());
  printf("after\n%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
