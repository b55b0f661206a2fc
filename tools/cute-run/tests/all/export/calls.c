// Calls of an exported library from C. Each mode checks what it says and ends with 0.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels.h"

static char error[1024];

#define CHECK(what)                                                                       \
  do {                                                                                    \
    if (!(what)) {                                                                        \
      fprintf(stderr, "line %d: expected %s; the error is `%s`\n", __LINE__, #what, error); \
      exit(1);                                                                            \
    }                                                                                     \
  } while (0)
#define SAYS(text) CHECK(strstr(error, text) != NULL)

static const DLDataType f32 = {kDLFloat, 32, 1};

typedef struct {
  int64_t shape[2], strides[2];
  DLTensor dl;
} Tensor;

static DLTensor *matrix(Tensor *to, void *data, int64_t rows, int64_t columns, int64_t stride, int device) {
  *to = (Tensor){{rows, columns}, {stride, 1}, {0}};
  to->dl = (DLTensor){data, {(DLDeviceType)device, 0}, 2, f32, to->shape, to->strides, 0};
  return &to->dl;
}
static DLTensor *vector(Tensor *to, void *data, int64_t n, int device) {
  *to = (Tensor){{n, 0}, {1, 0}, {0}};
  // Without strides it is compact.
  to->dl = (DLTensor){data, {(DLDeviceType)device, 0}, 1, f32, to->shape, NULL, 0};
  return &to->dl;
}

static int scale_of(int64_t rows, int64_t columns, float alpha, char *said, size_t size) {
  float *x = malloc(sizeof(float) * rows * (columns + 4)), *y = malloc(sizeof(float) * rows * columns);
  const int64_t stride = (columns + 3) / 4 * 4;
  for (int64_t i = 0; i < rows * stride; i++) x[i] = (float)i;
  Tensor a, b;
  int code = kernels_scale(matrix(&a, x, rows, columns, stride, kDLCPU), matrix(&b, y, rows, columns, columns, kDLCPU), alpha, NULL, said, size);
  for (int64_t i = 0; !code && i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      if (y[i * columns + j] != alpha * x[i * stride + j]) code = -1;
  free(x);
  free(y);
  return code;
}

// Numbers of the host, by the emulator.
static void host(void) {
  memset(error, 'x', sizeof error);
  CHECK(scale_of(3, 70, 2.5f, error, sizeof error) == 0 && error[0] == 0);
  float x[20], y[20] = {0};
  for (int i = 0; i < 20; i++) x[i] = (float)i;
  Tensor a, b;
  // Through a workspace, which the library has itself.
  CHECK(kernels_through(vector(&a, x, 20, kDLCPU), vector(&b, y, 20, kDLCPU), 3, NULL, error, sizeof error) == 0);
  for (int i = 0; i < 20; i++) CHECK(y[i] == 3 * x[i]);
  CHECK(kernels_add_one_cpu(&a.dl, &b.dl, NULL, NULL, 0) == 0);
  for (int i = 0; i < 20; i++) CHECK(y[i] == x[i] + 1);
  // As a list, with the number that the package gives.
  cute_value values[] = {cute_tensor(&a.dl), cute_tensor(&b.dl), cute_default()};
  CHECK(cute_kernels_through(values, 3, NULL, error, sizeof error) == 0);
  for (int i = 0; i < 20; i++) CHECK(y[i] == x[i]);
  // What a kernel must not do is told.
  CHECK(kernels_beyond(&a.dl, &b.dl, NULL, error, sizeof error) == CUTE_FINDINGS);
  SAYS("ld.global.f32");
  SAYS("kernel add_one");
  // From an offset on, and nothing.
  a.dl.byte_offset = 8;
  a.shape[0] = b.shape[0] = 5;
  CHECK(kernels_add_one_cpu(&a.dl, &b.dl, NULL, error, sizeof error) == 0 && y[4] == 7 && y[5] == 6);
}

// What is refused leaves the output as it is.
static void bad(int device, uint64_t (*launches)(void)) {
  float *x = aligned_alloc(64, 1024), *y = aligned_alloc(64, 1024);
  for (int i = 0; i < 256; i++) x[i] = 1, y[i] = -1;
  const uint64_t before = launches ? launches() : 0;
  Tensor a, b;
  matrix(&a, x, 4, 8, 8, device), matrix(&b, y, 4, 8, 8, device);
#define REFUSED(code, text)                                                                   \
  do {                                                                                        \
    memset(error, 0, sizeof error);                                                           \
    CHECK(kernels_scale(&a.dl, &b.dl, 2, NULL, error, sizeof error) == code);                 \
    SAYS(text);                                                                               \
    matrix(&a, x, 4, 8, 8, device), matrix(&b, y, 4, 8, 8, device);                           \
  } while (0)
  b.dl.dtype.bits = 64;
  REFUSED(CUTE_WRONG_TYPE, "scale: argument 1 (y): expected elements of type f32, found f64");
  b.dl.dtype.code = 99;
  REFUSED(CUTE_WRONG_TYPE, "scale: argument 1 (y): expected elements of type f8E4M3FN, f8E5M2, f16, bf16, f32");
  a.dl.device.device_type = (DLDeviceType)8;
  REFUSED(CUTE_WRONG_TYPE, "scale: argument 0 (x): expected a tensor of the CPU (1, 3) or of CUDA (2, 13), found one of device type 8");
  b.dl.device.device_type = device == kDLCPU ? kDLCUDA : kDLCPU;
  REFUSED(CUTE_WRONG_VALUE, "scale: argument 1 (y): expected a tensor in memory of");
  a.dl.ndim = 1;
  REFUSED(CUTE_WRONG_VALUE, "scale: argument 0 (x): expected 2 dimensions");
  a.dl.ndim = -1;
  REFUSED(CUTE_WRONG_TYPE, "scale: argument 0 (x): expected 0 to 64 dimensions, found -1");
  a.dl.shape = NULL;
  REFUSED(CUTE_WRONG_TYPE, "scale: argument 0 (x): expected a shape, found a null pointer");
  a.dl.data = NULL;
  REFUSED(CUTE_WRONG_VALUE, "scale: argument 0 (x): expected the address of 128 bytes, found a null pointer");
  a.dl.byte_offset = 2;
  REFUSED(CUTE_WRONG_VALUE, "scale: argument 0 (x): expected an address that is a multiple of 4 bytes");
  a.strides[0] = 9;
  REFUSED(CUTE_WRONG_VALUE, "scale: argument 0 (x): expected stride[0] to be a multiple of 4, found stride[0] of 9");
  a.strides[1] = 2;
  REFUSED(CUTE_WRONG_VALUE, "scale: argument 0 (x): expected stride[1] of 1, for which it was compiled, found stride[1] of 2");
  a.shape[0] = -4;
  REFUSED(CUTE_WRONG_VALUE, "scale: argument 0 (x): expected shape[0] from 0 to");
  a.shape[0] = 3;
  REFUSED(CUTE_WRONG_VALUE, "x and y have one shape");
  b.dl.data = x + 4;
  REFUSED(CUTE_WRONG_VALUE, "overlap, but the kernel was compiled for tensors that do not (cute.noalias)");
  CHECK(kernels_scale(NULL, &b.dl, 2, NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  SAYS("scale: argument 0 (x): expected a pointer to a DLTensor, found a null pointer");
  cute_value values[] = {cute_tensor(&a.dl), cute_tensor(&b.dl), cute_real(1), cute_real(1)};
  CHECK(cute_kernels_scale(values, 4, NULL, error, sizeof error) == CUTE_WRONG_TYPE);
  SAYS("scale: expected 3 arguments, found 4");
  CHECK(cute_kernels_scale(values, -1, NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  SAYS("expected a list of arguments, found -1 of them");
  CHECK(cute_kernels_scale(NULL, 3, NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  SAYS("expected a list of arguments, found a null pointer");
  values[0].as.tensor = (const DLTensor *)((const char *)&a.dl + 1);
  CHECK(cute_kernels_scale(values, 3, NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  SAYS("scale: argument 0 (x): expected a pointer to a DLTensor, found the address 0x");
  values[0] = cute_tensor(&a.dl), values[2] = cute_tensor(&a.dl);
  CHECK(cute_kernels_scale(values, 3, NULL, error, sizeof error) == CUTE_WRONG_TYPE);
  SAYS("scale: argument 2 (alpha): expected a number of type f32, found a tensor of f32");
  values[2].kind = 11;
  CHECK(cute_kernels_scale(values, 3, NULL, error, sizeof error) == CUTE_WRONG_TYPE);
  SAYS("scale: argument 2 (alpha): expected a tensor (type index 7 or 70), an integer (1) or a real number (3), found type index 11");
  values[2] = cute_integer(2), values[1] = cute_integer(2);
  CHECK(cute_kernels_scale(values, 3, NULL, error, sizeof error) == CUTE_WRONG_TYPE);
  SAYS("scale: argument 1 (y): expected a tensor of f32, found the number 2");
  // A text that is cut ends with a zero; no buffer will do.
  char few[8] = "xxxxxxx";
  CHECK(kernels_scale(NULL, &b.dl, 2, NULL, few, 6) == CUTE_WRONG_VALUE && strcmp(few, "scale") == 0 && few[6] == 'x');
  CHECK(kernels_scale(NULL, &b.dl, 2, NULL, NULL, 6) == CUTE_WRONG_VALUE);
  CHECK(kernels_scale(NULL, &b.dl, 2, NULL, few, 0) == CUTE_WRONG_VALUE && few[0] == 's');
  for (int i = 0; i < 256; i++) CHECK(x[i] == 1 && y[i] == -1);
  if (launches) CHECK(launches() == before);
  free(x);
  free(y);
}

static void *calls(void *thread) {
  for (long turn = 1; turn <= 20; turn++) {
    char said[256];
    int code = scale_of(1 + (long)thread, 4 * turn, (float)turn, said, sizeof said);
    if (code) return strdup(code < 0 ? "another result" : said);
    // Errors are the caller's own.
    if (scale_of(1, -(long)thread - 1, 1, said, sizeof said) != CUTE_WRONG_VALUE) return strdup("no error");
    char expected[64];
    snprintf(expected, sizeof expected, "found shape[1] of %ld", -(long)thread - 1);
    if (!strstr(said, expected)) return strdup(said);
  }
  return NULL;
}

static void threads(void) {
  pthread_t all[8];
  for (long at = 0; at < 8; at++) CHECK(pthread_create(&all[at], NULL, calls, (void *)at) == 0);
  for (int at = 0; at < 8; at++) {
    void *wrong;
    CHECK(pthread_join(all[at], &wrong) == 0);
    if (wrong) fprintf(stderr, "thread %d: %s\n", at, (char *)wrong), exit(1);
  }
}

// What waits for ever is ended by a signal, which is a failure.
static void limit_time(void) { alarm(300); }

static void in_child(void (*work)(void)) {
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  // A child has no alarm of its parent's.
  if (child == 0) limit_time(), work(), _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Handlers of forks that were registered. The name is glibc's own, which pthread_atfork calls; the program's comes first.
static int registered;
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *object);
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *object) {
  int (*next)(void (*)(void), void (*)(void), void (*)(void), void *);
  *(void **)&next = dlsym(RTLD_NEXT, "__register_atfork");
  registered++;
  return next(before, parent, child, object);
}

static void forked_while_called(void) {
  // Before any call: a fork beside the first one must find them.
  CHECK(registered > 0);
  pthread_t other;
  CHECK(pthread_create(&other, NULL, calls, (void *)3) == 0);
  for (int turn = 0; turn < 10; turn++) in_child(host);
  void *wrong;
  CHECK(pthread_join(other, &wrong) == 0 && !wrong);
}

static void many(int count) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {0};
  Tensor a, b, c;
  vector(&a, x, 8, kDLCPU), vector(&b, y, 8, kDLCPU), vector(&c, NULL, 8, kDLCPU);
  size_t before = 0;
  for (int turn = 0; turn < count; turn++) {
    if (turn == count / 10) before = mallinfo2().uordblks;
    CHECK(kernels_add_one_cpu(&a.dl, &b.dl, NULL, error, sizeof error) == 0 && y[7] == 9);
    // Errors leave nothing either.
    CHECK(turn % 16 || kernels_add_one_cpu(&a.dl, &c.dl, NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  }
  const size_t after = mallinfo2().uordblks;
  if (after > before + 65536) fprintf(stderr, "%zu bytes more after %d calls\n", after - before, count), exit(1);
}

// With the driver that has no GPU, whose last launch is written down.
typedef struct {
  char kernel[64];
  unsigned grid[3], block[3], smem, cluster[3];
  void *stream, *context;
  unsigned params;
  uint64_t values[64];
  uint64_t launches;
} Last;
static Last *(*last)(void);
static int (*counted)(void);
static uint64_t launches(void) { return last()->launches; }

static float gpu_x[64], gpu_y[64];
static void forked_gpu(void) {
  Tensor a, b;
  CHECK(kernels_add_one_cpu(vector(&a, gpu_x, 8, kDLCUDA), vector(&b, gpu_y, 8, kDLCUDA), NULL, error, sizeof error) == CUTE_FAILED);
  SAYS("expected a process of its own to use a GPU, found one that was forked after its parent had used it; start it anew (spawn)");
  host();
}

static void *gpu_calls(void *thread) {
  (void)thread;
  Tensor a, b;
  char said[256];
  for (int turn = 0; turn < 1000; turn++)
    if (kernels_through(vector(&a, gpu_x, 1 + turn % 30, kDLCUDA), vector(&b, gpu_y, 1 + turn % 30, kDLCUDA), 2, (void *)0x77, said, sizeof said))
      return strdup(said);
  return NULL;
}

static void gpu(void) {
  // The library finds the driver itself; here it is only asked.
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
  CHECK(driver != NULL);
  *(void **)&last = dlsym(driver, "fake_last"), *(void **)&counted = dlsym(driver, "fake_on_streams");
  int (*modules)(void);
  *(void **)&modules = dlsym(driver, "fake_modules");
  CHECK(last && counted && modules && modules() == 0);
  Tensor a, b;
  CHECK(kernels_add_one_cpu(vector(&a, gpu_x, 8, kDLCUDA), vector(&b, gpu_y, 8, kDLCUDA), (void *)0x77, error, sizeof error) == 0);
  CHECK(strcmp(last()->kernel, "add_one") == 0 && last()->stream == (void *)0x77 && last()->params == 3);
  CHECK(last()->values[0] == (uint64_t)gpu_x && last()->values[1] == (uint64_t)gpu_y && last()->values[2] == 8);
  // Code is loaded once for a function on a device, and the workspace is the stream's.
  CHECK(kernels_through(vector(&a, gpu_x, 20, kDLCUDA), vector(&b, gpu_y, 20, kDLCUDA), 3, (void *)0x77, error, sizeof error) == 0);
  CHECK(strcmp(last()->kernel, "back") == 0 && last()->values[0] % 256 == 0 && counted() == 0);
  for (int turn = 0; turn < 10; turn++) CHECK(kernels_through(&a.dl, &b.dl, 3, NULL, error, sizeof error) == 0 && last()->stream == NULL);
  CHECK(modules() == 2);
  CHECK(kernels_through(&a.dl, &b.dl, 3, (void *)0xbad, error, sizeof error) == CUTE_FAILED);
  SAYS("cuMemAllocFromPoolAsync failed: CUDA_ERROR_INVALID_VALUE (invalid argument)");
  CHECK(kernels_add_one_cpu(&a.dl, &b.dl, (void *)0xbad, error, sizeof error) == CUTE_FAILED);
  SAYS("launching add_one failed: CUDA_ERROR_INVALID_VALUE (invalid argument)");
  a.dl.device.device_id = b.dl.device.device_id = 7;
  CHECK(kernels_add_one_cpu(&a.dl, &b.dl, NULL, error, sizeof error) == CUTE_FAILED);
  SAYS("GPU 7 was asked for, there are 2");
  a.dl.device.device_id = 64;
  CHECK(kernels_add_one_cpu(&a.dl, &b.dl, NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  SAYS("add_one_cpu: argument 0 (x): expected a tensor of a GPU from 0 to 63, found 64");
  a.dl.device.device_id = -1;
  CHECK(kernels_add_one_cpu(&a.dl, &b.dl, NULL, error, sizeof error) == CUTE_WRONG_TYPE);
  SAYS("expected a number of a device from 0, found -1");
  bad(kDLCUDA, launches);
  pthread_t all[8];
  for (long at = 0; at < 8; at++) CHECK(pthread_create(&all[at], NULL, gpu_calls, NULL) == 0);
  for (int at = 0; at < 8; at++) {
    void *wrong;
    CHECK(pthread_join(all[at], &wrong) == 0 && !wrong);
  }
  CHECK(counted() == 0);
  in_child(forked_gpu);
  CHECK(kernels_add_one_cpu(vector(&a, gpu_x, 8, kDLCUDA), vector(&b, gpu_y, 8, kDLCUDA), NULL, error, sizeof error) == 0);
}

// With CUTE_DEVICE=emulator tensors of a GPU go through the emulator; two of one matrix's columns keep apart.
static void emulated(void) {
  float x[64], y[64];
  for (int i = 0; i < 64; i++) x[i] = (float)i, y[i] = -1;
  Tensor a, b;
  CHECK(kernels_scale(matrix(&a, x, 4, 6, 8, kDLCUDA), matrix(&b, y + 1, 4, 6, 9, kDLCUDA), 2, NULL, error, sizeof error) == 0);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 9; j++) CHECK(y[1 + 9 * i + j] == (j < 6 ? 2 * x[8 * i + j] : -1));
  matrix(&a, x, 4, 3, 8, kDLCUDA), matrix(&b, x + 4, 4, 3, 8, kDLCUDA);
  CHECK(kernels_scale(&a.dl, &b.dl, 2, NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  SAYS("overlap, but the kernel was compiled for tensors that do not");
  b.dl.device.device_type = kDLCPU;
  CHECK(kernels_scale(&a.dl, &b.dl, 2, NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  SAYS("scale: argument 1 (y): expected a tensor in memory of GPU 0, found a tensor of the host");
  a.strides[0] = -8;
  b.dl.device.device_type = kDLCUDA;
  CHECK(kernels_scale(&a.dl, &b.dl, 2, NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  SAYS("scale: argument 0 (x): expected a shape and strides that are not negative");
  // Columns of one matrix, where nothing is said of aliasing; and elements that are in both.
  DLTensor *both[] = {vector(&a, x, 8, kDLCUDA), vector(&b, x + 8, 8, kDLCUDA)};
  CHECK(kernels_add_one_cpu(both[0], both[1], NULL, error, sizeof error) == 0 && x[8] == 1 && x[15] == 8 && x[16] == 16);
  b.dl.data = x + 4;
  CHECK(kernels_add_one_cpu(both[0], both[1], NULL, error, sizeof error) == CUTE_WRONG_VALUE);
  SAYS("add_one_cpu: argument 1 (y): expected elements that are in no other argument");
  CHECK(x[4] == 4);
}

// Nanoseconds of a call beyond the driver, which does nothing.
static void timed(int rounds) {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
  CHECK(driver != NULL);
  void (*quiet)(int);
  *(void **)&quiet = dlsym(driver, "fake_quiet");
  quiet(1);
  Tensor a, b;
  matrix(&a, gpu_x, 4, 8, 8, kDLCUDA), matrix(&b, gpu_y, 4, 8, 8, kDLCUDA);
  double best = 1e9;
  for (int round = 0; round < rounds; round++) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int call = 0; call < 10000; call++) CHECK(kernels_scale(&a.dl, &b.dl, 2, NULL, error, sizeof error) == 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double took = ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / 10000;
    best = took < best ? took : best;
  }
  printf("%.0f ns\n", best);
}

// Two versions of one library, with the same names.
static void two(const char *first, const char *second) {
  typedef int Function(const cute_value *, int32_t, void *, char *, size_t);
  float x[4] = {1, 2, 3, 4}, y[4];
  Tensor a, b;
  const cute_value values[] = {cute_tensor(vector(&a, x, 4, kDLCPU)), cute_tensor(vector(&b, y, 4, kDLCPU))};
  const char *paths[] = {first, second};
  Function *functions[2];
  for (int at = 0; at < 2; at++) {
    void *library = dlopen(paths[at], RTLD_NOW | RTLD_GLOBAL);
    if (!library) fprintf(stderr, "%s\n", dlerror()), exit(1);
    *(void **)&functions[at] = dlsym(library, "cute_kernels_add_one_cpu");
    CHECK(functions[at] != NULL);
    CHECK(dlclose(library) == 0);
  }
  CHECK(functions[0] != functions[1]);
  for (int turn = 0; turn < 2; turn++) {
    CHECK(functions[0](values, 2, NULL, error, sizeof error) == 0 && y[3] == 5);
    CHECK(functions[1](values, 2, NULL, error, sizeof error) == 0 && y[3] == 104);
  }
}

static void refused_by_device(const char *text) {
  Tensor a, b;
  CHECK(kernels_add_one_cpu(vector(&a, gpu_x, 8, kDLCUDA), vector(&b, gpu_y, 8, kDLCUDA), NULL, error, sizeof error) != 0);
  SAYS(text);
  // Tensors of the host need no GPU.
  host();
}

int main(int count, char **words) {
  const char *mode = count > 1 ? words[1] : "";
  limit_time();
  if (!strcmp(mode, "host")) host();
  else if (!strcmp(mode, "bad")) bad(kDLCPU, NULL);
  else if (!strcmp(mode, "threads")) threads();
  else if (!strcmp(mode, "fork")) forked_while_called();
  else if (!strcmp(mode, "many")) many(atoi(words[2]));
  else if (!strcmp(mode, "gpu")) gpu();
  else if (!strcmp(mode, "emulated")) emulated();
  else if (!strcmp(mode, "timed")) timed(atoi(words[2]));
  else if (!strcmp(mode, "two")) two(words[2], words[3]);
  else if (!strcmp(mode, "device")) refused_by_device(words[2]);
  else return fprintf(stderr, "no mode `%s`\n", mode), 2;
  return 0;
}
