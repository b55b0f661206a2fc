#ifndef CUTE_EXPORT_HPP
#define CUTE_EXPORT_HPP
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace cute {

/// Why a call did nothing: its number, CUTE_WRONG_TYPE and the like, and the reason.
class Error : public std::runtime_error {
public:
  Error(int code, const std::string &text) : std::runtime_error(text), code_(code) {}
  int code() const noexcept { return code_; }

private:
  int code_;
};

/// Bytes of the longest reason.
constexpr std::size_t error_bytes = 4096;

/// Throws what a call returned, if that is an error.
inline void check(int code, const char *text) {
  if (code != CUTE_OK) throw Error(code, text);
}

/// DLPack's type of numbers of C++; for others give it to `tensor`.
template <class T> constexpr DLDataType dtype() {
  static_assert(std::is_arithmetic<T>::value && !std::is_same<T, bool>::value, "give the DLDataType of this type to cute::tensor");
  const auto code = std::is_floating_point<T>::value ? kDLFloat : std::is_signed<T>::value ? kDLInt : kDLUInt;
  return DLDataType{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * sizeof(T)), 1};
}

/// A tensor in memory of the caller, with the shape and strides that its DLTensor points to.
template <std::size_t N> class Tensor {
public:
  Tensor(void *data, DLDataType type, std::array<int64_t, N> shape, std::array<int64_t, N> strides, DLDevice device)
      : shape_(shape), strides_(strides), data_(data), type_(type), device_(device) {}
  /// The struct of DLPack, as long as this lives.
  operator const DLTensor &() const {
    tensor_ = DLTensor{data_,        device_, static_cast<int32_t>(N), type_, const_cast<int64_t *>(shape_.data()),
                       const_cast<int64_t *>(strides_.data()), 0};
    return tensor_;
  }

private:
  std::array<int64_t, N> shape_, strides_;
  void *data_;
  DLDataType type_;
  DLDevice device_;
  mutable DLTensor tensor_{};
};

/// The strides of a compact tensor, the last dimension the fastest.
template <std::size_t N> std::array<int64_t, N> compact(const std::array<int64_t, N> &shape) {
  std::array<int64_t, N> strides{};
  int64_t next = 1;
  for (std::size_t at = N; at-- > 0;) {
    strides[at] = next;
    next *= shape[at];
  }
  return strides;
}

/// A tensor of the host; of a GPU with {kDLCUDA, number}.
template <class T, std::size_t N>
Tensor<N> tensor(T *data, std::array<int64_t, N> shape, std::array<int64_t, N> strides, DLDevice device = {kDLCPU, 0},
                 DLDataType type = dtype<std::remove_const_t<T>>()) {
  return Tensor<N>(const_cast<std::remove_const_t<T> *>(data), type, shape, strides, device);
}
template <class T, std::size_t N>
Tensor<N> tensor(T *data, std::array<int64_t, N> shape, DLDevice device = {kDLCPU, 0}) {
  return tensor<T, N>(data, shape, compact(shape), device);
}

} // namespace cute
#endif
