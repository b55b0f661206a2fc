/* Launches a kernel of a file of PTX on the emulator, without a GPU:
     cc -Iruntime/library/include examples/c/emulate.c -o emulate -L DIR -lcute, with libcute.so in DIR; ./emulate axpy.ptx */
#include <stdio.h>
#include <stdlib.h>

#include "cute_emulator.h"

int main(int count, char **arguments) {
  static char ptx[1 << 20], error[1024];
  FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
  if (!file || !fread(ptx, 1, sizeof ptx - 1, file)) return fprintf(stderr, "usage: emulate FILE.ptx\n"), 2;

  float x[1000], y[1000], a = 2.5f;
  for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 1;
  uint32_t n = 1000;
  cute_emulator *emulator = cute_emulator_open(ptx, 0, error, sizeof error);
  uint64_t from = cute_emulator_memory(emulator, x, sizeof x, 1, error, sizeof error);
  uint64_t to = cute_emulator_memory(emulator, y, sizeof y, 0, error, sizeof error);
  cute_emulator_grid grid = {.blocks = {4}, .threads = {256}};
  const void *params[] = {&n, &a, &from, &to};
  int status = cute_emulator_launch(emulator, "axpy", grid, params, 4, error, sizeof error);
  if (status == CUTE_EMULATOR_OK) status = cute_emulator_read(emulator, to, y, sizeof y, error, sizeof error);

  if (status == CUTE_EMULATOR_OK) printf("y[999] = %g\n", y[999]);
  else fprintf(stderr, "%s\n", error);
  for (size_t i = 0; i < cute_emulator_findings(emulator); i++) puts(cute_emulator_finding(emulator, i));
  cute_emulator_close(emulator);
  return status;
}
