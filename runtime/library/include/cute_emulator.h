/* Launches of any PTX on the emulator of libcute.so: no GPU, no driver and no package is needed. See docs/emulator-ptx.md. */
#ifndef CUTE_EMULATOR_H
#define CUTE_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A module of PTX, with memory and what was found in its launches. One thread at a time may use it. */
typedef struct cute_emulator cute_emulator;

/* The sizes of a launch. A size of 0 is 1; a cluster of one block is what the kernel says. */
typedef struct {
  uint32_t blocks[3], threads[3], cluster[3];
  uint32_t shared; /* bytes of dynamic shared memory of a block */
} cute_emulator_grid;

/* What functions return. */
enum {
  CUTE_EMULATOR_OK = 0,
  CUTE_EMULATOR_WRONG_VALUE = 2, /* an argument that the function does not take; nothing was done */
  CUTE_EMULATOR_FAILED = 3,      /* the library itself */
  CUTE_EMULATOR_FINDINGS = 4     /* it was done, and something is wrong in this launch or in one before */
};

/* Functions that take `error` write there, in at most `error_bytes` bytes with the 0 at the end, why they did not do what they were asked
   for. It may be NULL. */

/* Reads a module; NULL if it is no PTX. The seed decides the order of warps and of copies. */
cute_emulator *cute_emulator_open(const char *ptx, uint64_t seed, char *error, size_t error_bytes);

/* Allocates memory with these contents, or memory that nobody has written where `data` is NULL. Returns its address, or 0. A write of a kernel to
   memory that is `read_only` is a finding. */
uint64_t cute_emulator_memory(cute_emulator *emulator, const void *data, size_t bytes, int read_only, char *error, size_t error_bytes);

/* Runs a kernel to its end. `params` are pointers to the values of its parameters, in their order, as for cuLaunchKernel. */
int cute_emulator_launch(cute_emulator *emulator, const char *kernel, cute_emulator_grid grid, const void *const *params, size_t count,
                         char *error, size_t error_bytes);

/* Copies memory to the host. */
int cute_emulator_read(cute_emulator *emulator, uint64_t address, void *to, size_t bytes, char *error, size_t error_bytes);

/* The number of findings of all launches, and the text of each, from 0; NULL beyond them. Texts are good until the next launch. */
size_t cute_emulator_findings(cute_emulator *emulator);
const char *cute_emulator_finding(cute_emulator *emulator, size_t number);

/* All findings as JSON, as `cute-run --json` has them; good until the next launch. */
const char *cute_emulator_json(cute_emulator *emulator);

/* Gives everything back. It may be NULL. */
void cute_emulator_close(cute_emulator *emulator);

#ifdef __cplusplus
}
#endif

#endif
