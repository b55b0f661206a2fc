// Variables that the host and kernels share, of which clang has none: this is for nvcc.

#include <cstdio>
#include <cstring>

static int wrong = 0;

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      printf("line %d: %s\n", __LINE__, #condition);                                        \
      wrong++;                                                                              \
    }                                                                                       \
  } while (0)
#define CALL(call) CHECK((call) == cudaSuccess)

struct Pair {
  int first;
  double second;
};

__managed__ int count = 3;
__device__ __managed__ float values[300];
static __managed__ Pair pair = {1, 2.5};
__managed__ int *points;
__device__ int own = 4;

__global__ void counts() { atomicAdd(&count, own); }

__global__ void fills(float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += values[n - 1 - i] + i;
}

__global__ void clears(float *to) { to[threadIdx.x] = 0; }

__global__ void follows() {
  *points += 1;
  pair.first += *points;
  pair.second *= 2;
}

int main(int argc, char **argv) {
  // The first access, before any launch, is the host's.
  CHECK(count == 3 && pair.first == 1 && pair.second == 2.5 && values[7] == 0 && points == nullptr);
  count = 10;
  counts<<<1, 32>>>();
  CALL(cudaDeviceSynchronize());
  CHECK(count == 10 + 32 * 4);
  // The address is one for both, also as an argument.
  float other[300];
  float *device;
  CALL(cudaMalloc(&device, sizeof other));
  for (int i = 0; i < 300; i++) values[i] = i;
  CALL(cudaMemset(device, 0, sizeof other));
  fills<<<3, 100>>>(device, 300);
  CALL(cudaMemcpy(other, device, sizeof other, cudaMemcpyDeviceToHost));
  CHECK(other[0] == 299 && other[299] == 299);
  values[10] = 5;
  points = &count;
  follows<<<1, 1>>>();
  CALL(cudaDeviceSynchronize());
  CHECK(count == 139 && pair.first == 140 && pair.second == 5);
  // Copies take it as a variable, and as memory.
  int five = 5, back = 0;
  CALL(cudaMemcpyToSymbol(count, &five, sizeof five));
  CHECK(count == 5);
  counts<<<1, 1>>>();
  CALL(cudaMemcpyFromSymbol(&back, count, sizeof back));
  CHECK(back == 9);
  CALL(cudaMemcpy(&back, &pair.first, sizeof back, cudaMemcpyDefault));
  CHECK(back == 140);
  CALL(cudaMemcpy(device, values, sizeof other, cudaMemcpyDeviceToDevice));
  CALL(cudaMemset(values, 0, sizeof values));
  CHECK(values[299] == 0);
  void *address = nullptr;
  CALL(cudaGetSymbolAddress(&address, values));
  CHECK(address == values);
  cudaPointerAttributes attributes;
  CALL(cudaPointerGetAttributes(&attributes, values));
  CHECK(attributes.devicePointer == values && attributes.hostPointer == values);
  CALL(cudaMemAdvise(values, sizeof values, cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
  CHECK(cudaFree(values) == cudaErrorInvalidValue);
  CALL(cudaDeviceReset());
  CHECK(count == 3 && pair.second == 2.5 && points == nullptr);
  counts<<<1, 1>>>();
  CALL(cudaDeviceSynchronize());
  CHECK(count == 7);
  if (argc > 1 && !strcmp(argv[1], "bounds")) {
    clears<<<1, 304>>>(values);
    CALL(cudaDeviceSynchronize());
  }
  printf(wrong == 0 ? "PASS\n" : "FAIL\n");
  return wrong != 0;
}
