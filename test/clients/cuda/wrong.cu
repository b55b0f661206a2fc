// A program that makes the mistake that its argument names.

#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void neighbour(int *values) {
  __shared__ int staged[64];
  staged[threadIdx.x] = values[threadIdx.x];
  values[threadIdx.x] = staged[(threadIdx.x + 33) % 64];
}

__global__ void fills(int *values) { values[threadIdx.x] = 7; }

__global__ void asserts(int *values) { assert(values[0] == 1); }

__global__ void dynamic(int *values) {
  extern __shared__ int staged[];
  staged[threadIdx.x] = 1;
  values[threadIdx.x] = staged[threadIdx.x];
}

static int told(cudaError_t error) {
  printf("%s\n", cudaGetErrorName(error));
  return error != cudaSuccess;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int *values, host[64] = {0};
  cudaMalloc(&values, sizeof host);
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  if (!strcmp(what, "race")) {
    neighbour<<<1, 64>>>(values);
  } else if (!strcmp(what, "bounds")) {
    fills<<<1, 96>>>(values);
  } else if (!strcmp(what, "freed")) {
    cudaFree(values);
    fills<<<1, 32>>>(values);
  } else if (!strcmp(what, "twice")) {
    cudaFree(values);
    return told(cudaFree(values));
  } else if (!strcmp(what, "assert")) {
    asserts<<<1, 1>>>(values);
    cudaDeviceSynchronize();
    // The device is lost.
    return told(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  } else if (!strcmp(what, "reset")) {
    asserts<<<1, 1>>>(values);
    if (cudaDeviceSynchronize() != cudaErrorAssert || cudaDeviceReset() != cudaSuccess) return 1;
    // The device is there again, and its memory is not.
    cudaMalloc(&values, sizeof host);
    fills<<<1, 64>>>(values);
    return told(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost)) || host[63] != 7;
  } else if (!strcmp(what, "hint")) {
    return told(cudaMemPrefetchAsync(values, sizeof host, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, 0));
  } else if (!strcmp(what, "copy")) {
    return told(cudaMemcpy(host, values, 2 * sizeof host, cudaMemcpyDeviceToHost));
  } else if (!strcmp(what, "direction")) {
    return told(cudaMemcpy(host, values, sizeof host, cudaMemcpyHostToDevice));
  } else if (!strcmp(what, "shared")) {
    dynamic<<<1, 32, 64 * 1024>>>(values);
    return told(cudaGetLastError());
  } else if (!strcmp(what, "threads")) {
    fills<<<1, 2000>>>(values);
    return told(cudaGetLastError());
  } else if (!strcmp(what, "array")) {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    return told(cudaMallocArray(&array, &format, 64));
  } else if (!strcmp(what, "memory")) {
    return told(cudaMalloc(&values, size_t(1) << 40));
  } else if (!strcmp(what, "device")) {
    return told(cudaSetDevice(3));
  } else if (!strcmp(what, "crash")) {
    fills<<<1, 96>>>(values);
    return *static_cast<volatile int *>(nullptr);
  }
  return told(cudaDeviceSynchronize());
}
