// Calls a function of an exported library (examples/add_one.mlir) from C, on tensors of the host.
//
//     cc -std=c11 examples/c/add_one.c -I. -L. -ladd_one -Wl,-rpath,. -o add_one && ./add_one

#include <stdio.h>

#include "add_one.h"

int main(void) {
  float x[5] = {1, 2, 3, 4, 5}, y[5] = {0};
  int64_t shape[1] = {5};
  const DLDataType f32 = {kDLFloat, 32, 1};
  // With {kDLCUDA, 0} and pointers to memory of that GPU the same call queues a kernel on the stream.
  const DLDevice host = {kDLCPU, 0};
  const DLTensor in = {x, host, 1, f32, shape, NULL, 0};
  const DLTensor out = {y, host, 1, f32, shape, NULL, 0};

  char error[256];
  if (add_one_add_one_cpu(&in, &out, NULL, error, sizeof error) != CUTE_OK) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  for (int i = 0; i < 5; i++) printf("%g ", y[i]);
  printf("\n");
  return 0;
}
