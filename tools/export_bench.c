// The host's time of a call of an exported library from C, on a GPU: examples/linear_layer.mlir, 64 rows.
//
//     cute-opt examples/linear_layer.mlir --cute-compile="arch=sm_90a package=linear_layer.cutepkg" -o /dev/null
//     cute-run linear_layer.cutepkg --export out
//     cc -O2 -I out tools/export_bench.c -o export_bench -L out -llinear_layer -ldl -Wl,-rpath,out && ./export_bench
//     cute-run linear_layer.cutepkg --function forward --shape x=64x256 --shape y=64x256 --bench-launch    # cuLaunchKernelEx with the same arguments
//
// Calls are queued in lots that the driver's queue takes without waiting; a lot's time is divided by its calls, and the median of lots is printed.
#include "linear_layer.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOTS = 400, CALLS = 64 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void *driver(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    fprintf(stderr, "the driver has no %s\n", name);
    exit(1);
  }
  return found;
}

static void check(int code, const char *what) {
  if (code) {
    fprintf(stderr, "%s: error %d\n", what, code);
    exit(1);
  }
}

static DLTensor matrix(uint64_t at, int64_t *shape) {
  DLTensor tensor = {0};
  tensor.data = (void *)(uintptr_t)at;
  tensor.device.device_type = 2;  // kDLCUDA
  tensor.ndim = 2;
  tensor.dtype.code = 2;  // kDLFloat
  tensor.dtype.bits = 16;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

int main(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (!cuda) {
    fprintf(stderr, "no driver: %s\n", dlerror());
    return 1;
  }
  int (*init)(unsigned) = driver(cuda, "cuInit");
  int (*retain)(void **, int) = driver(cuda, "cuDevicePrimaryCtxRetain");
  int (*use)(void *) = driver(cuda, "cuCtxSetCurrent");
  int (*allocate)(uint64_t *, size_t) = driver(cuda, "cuMemAlloc_v2");
  int (*create)(void **, unsigned) = driver(cuda, "cuStreamCreate");
  int (*wait)(void *) = driver(cuda, "cuStreamSynchronize");
  void *context, *stream;
  check(init(0), "cuInit");
  check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
  check(use(context), "cuCtxSetCurrent");
  check(create(&stream, 1), "cuStreamCreate");
  uint64_t at[3];
  for (int i = 0; i < 3; ++i) check(allocate(&at[i], 256 * 256 * 2), "cuMemAlloc");
  int64_t rows[2] = {64, 256}, square[2] = {256, 256};
  DLTensor x = matrix(at[0], rows), w = matrix(at[1], square), y = matrix(at[2], rows);

  char error[512];
  static double lots[LOTS];
  for (int lot = -20; lot < LOTS; ++lot) {
    double start = now();
    for (int call = 0; call < CALLS; ++call) {
      if (linear_layer_forward(&x, &w, &y, stream, error, sizeof error) != CUTE_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
      }
    }
    double end = now();
    check(wait(stream), "cuStreamSynchronize");
    if (lot >= 0) lots[lot] = (end - start) / CALLS;
  }
  qsort(lots, LOTS, sizeof *lots, compare);
  printf("a call from C: %.3f us (median of %d lots of %d; fastest %.3f)\n", lots[LOTS / 2], LOTS, CALLS, lots[0]);
  return 0;
}
