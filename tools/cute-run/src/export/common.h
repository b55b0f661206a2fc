#include <stddef.h>
#include <stdint.h>

/* The structs of DLPack: its own header where there is one. Include that first if a program has it elsewhere. */
#ifdef __has_include
#if !defined(DLPACK_DLPACK_H_) && __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif
#if !defined(DLPACK_DLPACK_H_) && !defined(CUTE_DLPACK)
#define CUTE_DLPACK
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 } DLDeviceType;
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLFloat8_e4m3fn = 10, kDLFloat8_e5m2 = 12 } DLDataTypeCode;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
/* Strides count elements; NULL: compact, the last dimension the fastest. */
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;
#endif

#ifndef CUTE_VALUE
#define CUTE_VALUE
#if defined(_WIN32)
#define CUTE_IMPORT __declspec(dllimport)
#else
#define CUTE_IMPORT
#endif

/* What functions return. The buffer `error` has the reason, cut to `error_bytes` with the zero behind it; it may be NULL. */
enum {
  CUTE_OK = 0,          /* The work is queued on the stream; with tensors of the host it is done. */
  CUTE_WRONG_TYPE = 1,  /* An argument of another kind or type, or another number of arguments. Nothing was launched. */
  CUTE_WRONG_VALUE = 2, /* An argument that the function does not take. Nothing was launched. */
  CUTE_FAILED = 3,      /* No driver, no code for the GPU, an error of the driver's. */
  CUTE_FINDINGS = 4     /* The emulator ran the kernels, and saw them do what they must not do. */
};

/* An argument. It is what TVM-FFI calls TVMFFIAny. */
typedef struct {
  int32_t kind;
  uint32_t zero;
  union {
    int64_t integer;
    double real;
    const DLTensor *tensor;
  } as;
} cute_value;

static inline cute_value cute_default(void) {
  cute_value value = {0, 0, {0}};
  return value;
}
static inline cute_value cute_integer(int64_t integer) {
  cute_value value = {1, 0, {0}};
  value.as.integer = integer;
  return value;
}
static inline cute_value cute_real(double real) {
  cute_value value = {3, 0, {0}};
  value.as.real = real;
  return value;
}
static inline cute_value cute_tensor(const DLTensor *tensor) {
  cute_value value = {7, 0, {0}};
  value.as.tensor = tensor;
  return value;
}
#endif
