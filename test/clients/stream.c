// A function of an exported library by TVM-FFI's convention, with tensors of a GPU, on the driver that has none: it is queued on the
// stream of the environment, and errors come by the environment.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

// The beginning of what the driver writes down of the last launch (runtime/tests/driver/cuda.c).
typedef struct {
  char kernel[64];
  unsigned grid[3], block[3], smem, cluster[3];
  void *stream;
} Last;

#define CHECK(what)                                        \
  if (!(what)) {                                           \
    fprintf(stderr, "line %d: %s\n", __LINE__, #what);     \
    return 1;                                              \
  }

static int allocated, freed, refuses;
static int64_t bytes;
static _Alignas(256) char memory[1 << 22];

static void delete(DLManagedTensorVersioned *tensor) {
  freed++;
  free(tensor);
}

// As PyTorch gives memory of its own.
static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *context, void (*set_error)(void *, const char *, const char *)) {
  allocated++;
  if (refuses) return set_error(context, "RuntimeError", "no memory"), -1;
  bytes = prototype->shape[0];
  if (prototype->device.device_type != kDLCUDA || prototype->device.device_id != 1 || bytes > (int64_t)sizeof memory) return -1;
  DLManagedTensorVersioned *tensor = calloc(1, sizeof *tensor);
  tensor->version.major = 1;
  tensor->deleter = delete;
  tensor->dl_tensor = *prototype;
  tensor->dl_tensor.data = memory;
  static int64_t shape[1], strides[1] = {1};
  shape[0] = bytes;
  tensor->dl_tensor.shape = shape, tensor->dl_tensor.strides = strides;
  *out = tensor;
  return 0;
}

// A product whose sums lie in a workspace, which the environment is asked for.
static int workspace(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  TVMFFISafeCallType function;
  *(void **)&function = dlsym(library, "__tvm_ffi_gemm");
  CHECK(function);
  int64_t shape[2] = {64, 64};
  static _Alignas(64) char a[8192], b[8192], c[16384];
  DLTensor tensors[3] = {{a, {kDLCUDA, 1}, 2, {kDLFloat, 16, 1}, shape, NULL, 0}};
  tensors[1] = tensors[2] = tensors[0];
  tensors[1].data = b, tensors[2].data = c, tensors[2].dtype.bits = 32;
  TVMFFIAny arguments[3], result = {.type_index = kTVMFFINone};
  for (int at = 0; at < 3; at++) arguments[at] = (TVMFFIAny){.type_index = kTVMFFIDLTensorPtr, .v_ptr = &tensors[at]};
  // Without an allocator the driver is asked.
  CHECK(function(NULL, arguments, 3, &result) == 0 && allocated == 0);
  CHECK(TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 0, NULL) == 0);
  CHECK(function(NULL, arguments, 3, &result) == 0 && allocated == 1 && freed == 1 && bytes > 0);
  // And so it is where the allocator has none; nobody hears of that.
  refuses = 1;
  CHECK(function(NULL, arguments, 3, &result) == 0 && allocated == 2 && freed == 1);
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  CHECK(error == NULL);
  return 0;
}

int main(int count, char **words) {
  CHECK(count == 3);
  void *library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL), *driver = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(library && driver);
  TVMFFISafeCallType function;
  Last *(*last)(void);
  *(void **)&function = dlsym(library, "__tvm_ffi_add_one_cpu"), *(void **)&last = dlsym(driver, "fake_last");
  CHECK(function && last);
  CHECK(TVMFFIEnvSetStream(kDLCUDA, 1, (void *)0x77, NULL) == 0);
  static float x[8], y[8];
  int64_t shape[1] = {8};
  DLTensor in = {x, {kDLCUDA, 1}, 1, {kDLFloat, 32, 1}, shape, NULL, 0}, out = in;
  out.data = y;
  TVMFFIAny arguments[2] = {{.type_index = kTVMFFIDLTensorPtr, .v_ptr = &in}, {.type_index = kTVMFFIDLTensorPtr, .v_ptr = &out}};
  TVMFFIAny result = {.type_index = kTVMFFIInt, .v_int64 = 7};
  CHECK(function(NULL, arguments, 2, &result) == 0 && result.type_index == kTVMFFINone);
  CHECK(last()->stream == (void *)0x77);
  in.device.device_id = 0;
  CHECK(function(NULL, arguments, 2, &result) == -1);
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  CHECK(error != NULL);
  TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((char *)error + sizeof(TVMFFIObject));
  printf("%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size, cell->message.data);
  TVMFFIObjectDecRef(error);
  return workspace(words[2]);
}
