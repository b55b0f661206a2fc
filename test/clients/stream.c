// A function of an exported library by TVM-FFI's convention, with tensors of a GPU, on the driver that has none: it is queued on the
// stream of the environment, and errors come by the environment.

#include <dlfcn.h>
#include <stdio.h>
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

int main(int count, char **words) {
  CHECK(count == 2);
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
  return 0;
}
