// Products of `nvcuda::wmma` of every shape and type, against sums by plain loops.

#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

// Lines of all matrices are this many bytes further apart than they are long.
constexpr int PADDING = 32;

template <typename T, int Rows, int Columns, typename Layout>
struct Matrix {
  static constexpr bool by_rows = std::is_same<Layout, wmma::row_major>::value;
  static constexpr int stride = (by_rows ? Columns : Rows) + PADDING / sizeof(T);
  static constexpr int size = stride * (by_rows ? Rows : Columns);
  static __host__ __device__ int place(int row, int column) { return by_rows ? row * stride + column : column * stride + row; }
};

template <int M, int N, int K, typename Factor, typename Type, typename Sum, typename Result, typename LayoutA, typename LayoutB, typename LayoutC,
          bool Shared>
__global__ void product(const Type *a, const Type *b, const Sum *c, Result *d) {
  using A = Matrix<Type, M, K, LayoutA>;
  using B = Matrix<Type, K, N, LayoutB>;
  using C = Matrix<Sum, M, N, LayoutC>;
  using D = Matrix<Result, M, N, LayoutC>;
  constexpr auto layout = C::by_rows ? wmma::mem_row_major : wmma::mem_col_major;
  wmma::fragment<wmma::matrix_a, M, N, K, Factor, LayoutA> of_a;
  wmma::fragment<wmma::matrix_b, M, N, K, Factor, LayoutB> of_b;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> of_c;
  wmma::fragment<wmma::accumulator, M, N, K, Result> of_d;
  if (Shared) {
    __shared__ __align__(32) Type staged[A::size];
    for (int i = threadIdx.x; i < A::size; i += 32) staged[i] = a[i];
    __syncwarp();
    wmma::load_matrix_sync(of_a, staged, A::stride);
  } else {
    wmma::load_matrix_sync(of_a, a, A::stride);
  }
  wmma::load_matrix_sync(of_b, b, B::stride);
  wmma::load_matrix_sync(of_c, c, C::stride, layout);
  wmma::mma_sync(of_d, of_a, of_b, of_c);
  // What is done to each element of a fragment is done to each element of the matrix.
  for (int i = 0; i < of_d.num_elements; i++) of_d.x[i] = of_d.x[i] + of_d.x[i];
  wmma::store_matrix_sync(d, of_d, D::stride, layout);
}

static int wrong = 0;

template <typename T>
static T *device(const std::vector<T> &values) {
  T *memory;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

template <typename T>
static double number(T value) { return static_cast<double>(static_cast<float>(value)); }

template <int M, int N, int K, typename Factor, typename Type, typename Sum, typename Result, typename LayoutA, typename LayoutB, typename LayoutC,
          bool Shared>
static void check(const char *name) {
  using A = Matrix<Type, M, K, LayoutA>;
  using B = Matrix<Type, K, N, LayoutB>;
  using C = Matrix<Sum, M, N, LayoutC>;
  using D = Matrix<Result, M, N, LayoutC>;
  std::vector<Type> a(A::size);
  std::vector<Type> b(B::size);
  std::vector<Sum> c(C::size);
  std::vector<Result> d(D::size);
  // Small integers, which every type holds.
  for (auto &value : a) value = static_cast<Type>(static_cast<float>(rand() % 5));
  for (auto &value : b) value = static_cast<Type>(static_cast<float>(rand() % 4));
  for (auto &value : c) value = static_cast<Sum>(static_cast<float>(rand() % 9));
  Type *on_a = device(a), *on_b = device(b);
  Sum *on_c = device(c);
  Result *on_d = device(d);
  product<M, N, K, Factor, Type, Sum, Result, LayoutA, LayoutB, LayoutC, Shared><<<1, 32>>>(on_a, on_b, on_c, on_d);
  cudaMemcpy(d.data(), on_d, d.size() * sizeof(Result), cudaMemcpyDeviceToHost);
  cudaFree(on_a), cudaFree(on_b), cudaFree(on_c), cudaFree(on_d);
  for (int row = 0; row < M; row++) {
    for (int column = 0; column < N; column++) {
      double sum = number(c[C::place(row, column)]);
      for (int k = 0; k < K; k++) sum += number(a[A::place(row, k)]) * number(b[B::place(k, column)]);
      double found = number(d[D::place(row, column)]);
      if (found != 2 * sum) {
        printf("%s m%dn%dk%d: expected %g at (%d,%d), found %g\n", name, M, N, K, 2 * sum, row, column, found);
        wrong++;
        return;
      }
    }
  }
}

template <int M, int N, int K, typename Factor, typename Type, typename Sum, typename Result>
static void layouts(const char *name) {
  using row = wmma::row_major;
  using col = wmma::col_major;
  check<M, N, K, Factor, Type, Sum, Result, row, row, row, false>(name);
  check<M, N, K, Factor, Type, Sum, Result, row, col, col, true>(name);
  check<M, N, K, Factor, Type, Sum, Result, col, row, col, true>(name);
  check<M, N, K, Factor, Type, Sum, Result, col, col, row, false>(name);
}

template <typename Factor, typename Sum, typename Result>
static void shapes(const char *name) {
  layouts<16, 16, 16, Factor, Factor, Sum, Result>(name);
  layouts<8, 32, 16, Factor, Factor, Sum, Result>(name);
  layouts<32, 8, 16, Factor, Factor, Sum, Result>(name);
}

// An element of less than a byte.
struct Narrow {
  int bits;
  bool is_signed;
};

template <typename Factor, int K, int Operation>
__global__ void packed_product(const unsigned *a, const unsigned *b, int *d, int stride) {
  wmma::fragment<wmma::matrix_a, 8, 8, K, Factor, wmma::row_major> of_a;
  wmma::fragment<wmma::matrix_b, 8, 8, K, Factor, wmma::col_major> of_b;
  wmma::fragment<wmma::accumulator, 8, 8, K, int> of_d;
  wmma::load_matrix_sync(of_a, a, stride);
  wmma::load_matrix_sync(of_b, b, stride);
  wmma::fill_fragment(of_d, 1);
  if constexpr (Operation == 0) {
    wmma::mma_sync(of_d, of_a, of_b, of_d);
  } else {
    wmma::bmma_sync(of_d, of_a, of_b, of_d, static_cast<wmma::experimental::bmmaBitOp>(Operation));
  }
  wmma::store_matrix_sync(d, of_d, 8, wmma::mem_row_major);
}

// An element of a line, which lies packed in words.
static int element(const unsigned *line, int place, Narrow kind) {
  unsigned value = line[place * kind.bits / 32] >> (place * kind.bits % 32) & ((1u << kind.bits) - 1);
  bool is_negative = kind.is_signed && value >> (kind.bits - 1);
  return static_cast<int>(value) - (is_negative ? 1 << kind.bits : 0);
}

template <typename Factor, int K, int Operation>
static void packed(const char *name, Narrow kind) {
  constexpr int words = 8;
  std::vector<unsigned> a(8 * words);
  std::vector<unsigned> b(8 * words);
  std::vector<int> d(64);
  for (auto &value : a) value = rand() * 40503u;
  for (auto &value : b) value = rand() * 40503u;
  unsigned *on_a = device(a), *on_b = device(b);
  int *on_d = device(d);
  packed_product<Factor, K, Operation><<<1, 32>>>(on_a, on_b, on_d, words * 32 / kind.bits);
  cudaMemcpy(d.data(), on_d, d.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(on_a), cudaFree(on_b), cudaFree(on_d);
  for (int place = 0; place < 64; place++) {
    int sum = 1;
    for (int k = 0; k < K; k++) {
      int left = element(&a[place / 8 * words], k, kind), right = element(&b[place % 8 * words], k, kind);
      sum += Operation == 0 ? left * right : Operation == 1 ? left ^ right : left & right;
    }
    if (d[place] != sum) {
      printf("%s: expected %d at (%d,%d), found %d\n", name, sum, place / 8, place % 8, d[place]);
      wrong++;
      return;
    }
  }
}

int main() {
  shapes<half, float, float>("f16");
  shapes<half, half, half>("f16");
  shapes<half, float, half>("f16");
  shapes<half, half, float>("f16");
  shapes<__nv_bfloat16, float, float>("bf16");
  shapes<signed char, int, int>("s8");
  shapes<unsigned char, int, int>("u8");
  layouts<16, 16, 8, wmma::precision::tf32, float, float, float>("tf32");
  layouts<8, 8, 4, double, double, double, double>("f64");
  packed<wmma::experimental::precision::s4, 32, 0>("s4", {4, true});
  packed<wmma::experimental::precision::u4, 32, 0>("u4", {4, false});
  packed<wmma::experimental::precision::b1, 128, wmma::experimental::bmmaBitOpXOR>("b1 xor", {1, false});
  packed<wmma::experimental::precision::b1, 128, wmma::experimental::bmmaBitOpAND>("b1 and", {1, false});
  printf(wrong == 0 ? "PASS\n" : "FAIL\n");
  return wrong != 0;
}
