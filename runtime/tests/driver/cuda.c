// A driver of CUDA without a GPU: memory is the host's, kernels do nothing, and launches are written down. Tests and benchmarks
// load it in the place of libcuda.so.1.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream, *CUevent;

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, NOT_FOUND = 500 };

typedef struct {
  unsigned id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
} Attribute;

typedef struct {
  unsigned grid[3], block[3], smem;
  CUstream stream;
  Attribute *attributes;
  unsigned count;
} Config;

// A tensor map: what it was made of, in 128 bytes.
typedef struct {
  uint64_t address, rank, element, swizzle, sizes[5], strides[4], box[3];
} Map;

// What the last launch of each thread was; a test asks for it by `fake_last`. Of a parameter that is a map, `values` has the address.
typedef struct {
  char kernel[64];
  unsigned grid[3], block[3], smem, cluster[3];
  CUstream stream;
  CUcontext context;
  unsigned params;
  uint64_t values[64];
  Map map;
  uint64_t launches;
} Last;

// A kernel: its name, and its parameters, which a line of the code tells: `//params KERNEL SIZE SIZE ...`.
typedef struct {
  char name[64];
  unsigned params;
  unsigned sizes[64];
  int smem;
} Kernel;

static char the_context[2];
static _Thread_local CUcontext stack[16];
static _Thread_local int depth;
static _Thread_local Last last;
static int retained, modules, launches_off;

Last *fake_last(void) { return &last; }
int fake_retained(void) { return retained; }
int fake_modules(void) { return modules; }
// Launches are only counted, not written down: for benchmarks.
void fake_quiet(int on) { launches_off = on; }

CUresult cuInit(unsigned flags) { return flags ? INVALID_VALUE : SUCCESS; }
CUresult cuDriverGetVersion(int *version) { return *version = 13000, SUCCESS; }
CUresult cuDeviceGetCount(int *count) { return *count = 2, SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  if (ordinal < 0 || ordinal > 1) return INVALID_VALUE;
  return *device = ordinal, SUCCESS;
}
CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  snprintf(name, (size_t)length, "no GPU %d", device);
  return SUCCESS;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  (void)device;
  return *bytes = (size_t)1 << 30, SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  (void)device;
  switch (attribute) {
  case 16: return *value = 132, SUCCESS;       // MULTIPROCESSOR_COUNT
  case 38: return *value = 50 << 20, SUCCESS;  // L2_CACHE_SIZE
  case 75: return *value = 9, SUCCESS;         // COMPUTE_CAPABILITY_MAJOR
  case 76: return *value = 0, SUCCESS;         // COMPUTE_CAPABILITY_MINOR
  case 97: return *value = 232448, SUCCESS;    // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
  default: return INVALID_VALUE;
  }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  __atomic_add_fetch(&retained, 1, __ATOMIC_SEQ_CST);
  return *context = &the_context[device], SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  (void)device;
  __atomic_sub_fetch(&retained, 1, __ATOMIC_SEQ_CST);
  return SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *context) { return *context = depth ? stack[depth - 1] : NULL, SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext context) {
  if (!depth) depth = 1;
  return stack[depth - 1] = context, SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (depth == 16) return INVALID_VALUE;
  return stack[depth++] = context, SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  if (!depth) return INVALID_CONTEXT;
  return *context = stack[--depth], SUCCESS;
}
CUresult cuCtxSynchronize(void) { return depth ? SUCCESS : INVALID_CONTEXT; }

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, void *options, void *values) {
  (void)count, (void)options, (void)values;
  if (!depth) return INVALID_CONTEXT;
  __atomic_add_fetch(&modules, 1, __ATOMIC_SEQ_CST);
  return *module = strdup(image), SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  if (!depth) return INVALID_CONTEXT;
  __atomic_sub_fetch(&modules, 1, __ATOMIC_SEQ_CST);
  free(module);
  return SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  char line[96];
  snprintf(line, sizeof line, "//params %s ", name);
  const char *found = strstr(module, line);
  if (!found) return NOT_FOUND;
  // Kernels are few, and there as long as the process.
  static Kernel kernels[4096];
  static int used;
  int at = __atomic_fetch_add(&used, 1, __ATOMIC_SEQ_CST);
  if (at >= 4096) return OUT_OF_MEMORY;
  Kernel *kernel = &kernels[at];
  snprintf(kernel->name, sizeof kernel->name, "%s", name);
  for (const char *p = found + strlen(line); kernel->params < 64;) {
    char *end;
    unsigned long size = strtoul(p, &end, 10);
    if (end == p) break;
    kernel->sizes[kernel->params++] = (unsigned)size;
    p = *end == ' ' ? end + 1 : end;
    if (*end == '\n') break;
  }
  kernel->smem = 48 << 10;
  return *function = kernel, SUCCESS;
}
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  (void)function;
  return *value = attribute == 0 ? 1024 : 0, SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  if (attribute == 8) ((Kernel *)function)->smem = value;
  return SUCCESS;
}

CUresult cuLaunchKernelEx(const Config *config, CUfunction function, void **params, void **extra) {
  Kernel *kernel = function;
  (void)extra;
  last.launches++;
  if (launches_off) return SUCCESS;
  if (!depth) return INVALID_CONTEXT;
  if ((int)config->smem > kernel->smem) return INVALID_VALUE;
  if (config->stream == (CUstream)0xbad) return INVALID_VALUE;
  uint64_t launches = last.launches;
  memset(&last, 0, sizeof last);
  last.launches = launches;
  memcpy(last.kernel, kernel->name, sizeof last.kernel);
  memcpy(last.grid, config->grid, sizeof last.grid);
  memcpy(last.block, config->block, sizeof last.block);
  last.smem = config->smem;
  last.stream = config->stream;
  last.context = stack[depth - 1];
  for (unsigned i = 0; i < config->count; i++)
    if (config->attributes[i].id == 4) memcpy(last.cluster, &config->attributes[i].value.cluster, sizeof last.cluster);
  last.params = kernel->params;
  for (unsigned i = 0; i < kernel->params; i++) {
    int is_map = kernel->sizes[i] == sizeof(Map);
    if (is_map) memcpy(&last.map, params[i], sizeof(Map));
    memcpy(&last.values[i], params[i], is_map ? 8 : kernel->sizes[i]);
  }
  return SUCCESS;
}

CUresult cuTensorMapEncodeTiled(Map *map, int element, unsigned rank, void *address, const uint64_t *sizes, const uint64_t *strides,
                                const unsigned *box, const unsigned *steps, int interleave, int swizzle, int promotion, int fill) {
  (void)promotion, (void)fill;
  if ((uintptr_t)map % 64 || rank < 1 || rank > 5 || interleave) return INVALID_VALUE;
  memset(map, 0, sizeof *map);
  map->address = (uint64_t)address, map->rank = rank, map->element = element, map->swizzle = swizzle;
  for (unsigned i = 0; i < rank; i++) {
    if (steps[i] != 1) return INVALID_VALUE;
    map->sizes[i] = sizes[i];
    if (i + 1 < rank) map->strides[i] = strides[i];
    if (i < 3) map->box[i] = box[i];
  }
  return SUCCESS;
}

// What a map by im2col has besides stands in numbers that four modes leave: the extents of a column in `box`, in the fifth size the strides and in the fourth
// stride the corners, a byte each.
CUresult cuTensorMapEncodeIm2col(Map *map, int element, unsigned rank, void *address, const uint64_t *sizes, const uint64_t *strides,
                                 const int *lower, const int *upper, unsigned channels, unsigned pixels, const unsigned *steps, int interleave,
                                 int swizzle, int promotion, int fill) {
  (void)promotion, (void)fill;
  if ((uintptr_t)map % 64 || rank != 4 || interleave) return INVALID_VALUE;
  memset(map, 0, sizeof *map);
  map->address = (uint64_t)address, map->rank = rank, map->element = element, map->swizzle = swizzle;
  for (unsigned i = 0; i < rank; i++) {
    map->sizes[i] = sizes[i], map->sizes[4] |= (uint64_t)steps[i] << 8 * i;
    if (i + 1 < rank) map->strides[i] = strides[i];
  }
  for (unsigned i = 0; i < 2; i++)
    map->strides[3] |= (uint64_t)(uint8_t)lower[i] << 8 * i | (uint64_t)(uint8_t)upper[i] << 8 * (2 + i);
  map->box[0] = channels, map->box[1] = pixels, map->box[2] = 2;
  return SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  (void)flags;
  return *stream = malloc(1), SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream stream) { return free(stream), SUCCESS; }
CUresult cuStreamSynchronize(CUstream stream) { return (void)stream, SUCCESS; }
CUresult cuEventCreate(CUevent *event, unsigned flags) {
  (void)flags;
  return *event = malloc(1), SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent event) { return free(event), SUCCESS; }
CUresult cuEventRecord(CUevent event, CUstream stream) { return (void)event, (void)stream, SUCCESS; }
CUresult cuEventElapsedTime_v2(float *time, CUevent from, CUevent to) {
  (void)from, (void)to;
  return *time = 1.0f, SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!memory) return OUT_OF_MEMORY;
  return *pointer = (CUdeviceptr)memory, SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr pointer) { return free((void *)pointer), SUCCESS; }
static int on_streams;
int fake_on_streams(void) { return on_streams; }
/* A pool of a GPU, which keeps what it is told to. */
static int pools;
int fake_pools(void) { return pools; }
struct pool { unsigned long long kept; };
CUresult cuMemPoolCreate(struct pool **pool, const int *properties) {
  /* Memory of a device that the driver places, no handles for other processes, of one of two devices. */
  if (properties[0] != 1 || properties[1] != 0 || properties[2] != 1 || (unsigned)properties[3] > 1) return INVALID_VALUE;
  *pool = calloc(1, sizeof **pool);
  __atomic_add_fetch(&pools, 1, __ATOMIC_SEQ_CST);
  return SUCCESS;
}
CUresult cuMemPoolSetAttribute(struct pool *pool, int attribute, void *value) {
  if (attribute != 4) return INVALID_VALUE;
  pool->kept = *(unsigned long long *)value;
  return SUCCESS;
}
CUresult cuMemPoolDestroy(struct pool *pool) {
  __atomic_sub_fetch(&pools, 1, __ATOMIC_SEQ_CST);
  return free(pool), SUCCESS;
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, struct pool *pool, CUstream stream) {
  if (!depth) return INVALID_CONTEXT;
  if (stream == (CUstream)0xbad || !pool->kept) return INVALID_VALUE;
  __atomic_add_fetch(&on_streams, 1, __ATOMIC_SEQ_CST);
  return cuMemAlloc_v2(pointer, bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  (void)stream;
  if (!depth) return INVALID_CONTEXT;
  __atomic_sub_fetch(&on_streams, 1, __ATOMIC_SEQ_CST);
  return cuMemFree_v2(pointer);
}
CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total) { return *free_bytes = *total = (size_t)1 << 30, SUCCESS; }
CUresult cuMemsetD8_v2(CUdeviceptr pointer, unsigned char value, size_t bytes) {
  return memset((void *)pointer, value, bytes), SUCCESS;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) { return memcpy((void *)to, from, bytes), SUCCESS; }
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) { return memcpy(to, (void *)from, bytes), SUCCESS; }
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return memcpy((void *)to, (void *)from, bytes), SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char **text) {
  return *text = error == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR", SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  return *text = error == INVALID_VALUE ? "invalid argument" : "an error", SUCCESS;
}
