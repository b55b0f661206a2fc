// Instructions of sm_90a that CUDA's headers have no classes for: tensor maps that a kernel makes, and products of bits.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int wrong = 0;

static void expect(const char *name, long found, long expected, int row, int column) {
  if (found == expected) return;
  if (wrong++ < 5) printf("%s: expected %ld at (%d,%d), found %ld\n", name, expected, row, column, found);
}

template <typename T>
static T *device(const std::vector<T> &values) {
  T *memory;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

template <typename T>
static std::vector<T> host(const T *memory, size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

static __device__ uint32_t shared_address(const void *pointer) { return static_cast<uint32_t>(__cvta_generic_to_shared(pointer)); }

constexpr int WIDTH = 40, HEIGHT = 20, BOX_WIDTH = 32, BOX_HEIGHT = 8;

#define FIELD(field, type, letter, value) \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], %1;" ::"l"(map), letter(value) : "memory")
#define FIELD_OF_MODE(field, mode, type, letter, value) \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " mode ", %1;" ::"l"(map), letter(value) : "memory")

// A warp makes a map of a tensor of 16-bit integers and copies a box by it, in a pattern of 64 bytes.
__global__ void by_own_map(const uint16_t *tensor, char *maps, uint16_t *out, int x, int y) {
  __shared__ __align__(1024) uint16_t box[BOX_WIDTH * BOX_HEIGHT];
  __shared__ __align__(128) uint32_t made[32];
  __shared__ __align__(8) uint64_t barrier;
  uint64_t map = shared_address(made);
  made[threadIdx.x] = 0;
  __syncwarp();
  if (threadIdx.x == 0) {
    FIELD("global_address", "b64", "l", tensor);
    FIELD("rank", "b32", "n", 1);
    FIELD_OF_MODE("box_dim", "0", "b32", "r", BOX_WIDTH);
    FIELD_OF_MODE("box_dim", "1", "b32", "r", BOX_HEIGHT);
    FIELD_OF_MODE("global_dim", "0", "b32", "r", WIDTH);
    FIELD_OF_MODE("global_dim", "1", "b32", "r", HEIGHT);
    FIELD_OF_MODE("global_stride", "0", "b64", "l", static_cast<uint64_t>(WIDTH * 2));
    FIELD_OF_MODE("element_stride", "0", "b32", "r", 1);
    FIELD_OF_MODE("element_stride", "1", "b32", "r", 1);
    FIELD("elemtype", "b32", "n", 1);
    FIELD("interleave_layout", "b32", "n", 0);
    FIELD("swizzle_mode", "b32", "n", 2);
    FIELD("fill_mode", "b32", "n", 0);
  }
  __syncwarp();
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(maps),
      "l"(map)
      : "memory");
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async.shared::cta;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
                 "n"(BOX_WIDTH * BOX_HEIGHT * 2)
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(box)),
                 "l"(maps), "r"(x), "r"(y), "r"(shared_address(&barrier))
                 : "memory");
  }
  __syncwarp();
  asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra AGAIN;\n}" ::"r"(shared_address(&barrier)) : "memory");
  for (int i = threadIdx.x; i < BOX_WIDTH * BOX_HEIGHT; i += 32) out[i] = box[i];
}

static void map_that_is_made() {
  std::vector<uint16_t> tensor(WIDTH * HEIGHT);
  for (size_t i = 0; i < tensor.size(); i++) tensor[i] = static_cast<uint16_t>(i * 7 + 1);
  uint16_t *on_device = device(tensor), *out;
  char *maps;
  cudaMalloc(&maps, 128);
  cudaMalloc(&out, BOX_WIDTH * BOX_HEIGHT * 2);
  // Boxes begin at multiples of 16 bytes.
  const int corners[][2] = {{0, 0}, {8, 5}, {-8, 15}, {24, -2}};
  for (const auto &corner : corners) {
    by_own_map<<<1, 32>>>(on_device, maps, out, corner[0], corner[1]);
    std::vector<uint16_t> found = host(out, BOX_WIDTH * BOX_HEIGHT);
    for (int row = 0; row < BOX_HEIGHT; row++) {
      for (int column = 0; column < BOX_WIDTH; column++) {
        int x = column + corner[0], y = row + corner[1];
        bool inside = 0 <= x && x < WIDTH && 0 <= y && y < HEIGHT;
        // Chunks of 16 bytes are exchanged by bits 7 and 8 of the place.
        int byte = (row * BOX_WIDTH + column) * 2, place = byte ^ (byte >> 7 & 3) << 4;
        expect("a map that is made", found[place / 2], inside ? tensor[y * WIDTH + x] : 0, row, column);
      }
    }
  }
  cudaFree(on_device), cudaFree(maps), cudaFree(out);
}

enum Operation { XOR, AND };

static int combined(Operation operation, const uint32_t *left, const uint32_t *right, int words) {
  int sum = 0;
  for (int k = 0; k < words; k++) sum += __builtin_popcount(operation == XOR ? left[k] ^ right[k] : left[k] & right[k]);
  return sum;
}

// D = C + A B^T by m16n8k256: rows of A and of B are 256 bits, C and D are 16 x 8.
template <Operation operation>
__global__ void bits_of_a_warp(const uint32_t *a, const uint32_t *b, const int *c, int *d) {
  int group = threadIdx.x / 4, part = threadIdx.x % 4;
  uint32_t of_a[4], of_b[2];
  for (int i = 0; i < 4; i++) of_a[i] = a[(group + i % 2 * 8) * 8 + part + i / 2 * 4];
  for (int i = 0; i < 2; i++) of_b[i] = b[group * 8 + part + i * 4];
  int sums[4];
  auto place = [&](int i) { return (group + i / 2 * 8) * 8 + part * 2 + i % 2; };
  for (int i = 0; i < 4; i++) sums[i] = c[place(i)];
#define PRODUCT(name)                                                                                                                                   \
  asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32." name ".popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"          \
               : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])                                                                              \
               : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "r"(of_b[0]), "r"(of_b[1]))
  if (operation == XOR) {
    PRODUCT("xor");
  } else {
    PRODUCT("and");
  }
  for (int i = 0; i < 4; i++) d[place(i)] = sums[i];
}

// D = A B^T by m64n8k256: rows of A and of B are 256 bits, in shared memory by core matrices of 8 rows of 16 bytes.
__global__ void bits_of_a_warpgroup(const uint32_t *a, const uint32_t *b, int *d) {
  __shared__ __align__(128) uint32_t of_a[64 * 8];
  __shared__ __align__(128) uint32_t of_b[8 * 8];
  auto core = [](int row, int word) { return row / 8 * 64 + word / 4 * 32 + row % 8 * 4 + word % 4; };
  for (int i = threadIdx.x; i < 64 * 8; i += 128) of_a[core(i / 8, i % 8)] = a[i];
  for (int i = threadIdx.x; i < 8 * 8; i += 128) of_b[core(i / 8, i % 8)] = b[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  // 128 bytes from one core matrix to the next along K, 256 along M or N.
  auto descriptor = [](const uint32_t *tile) { return static_cast<uint64_t>(shared_address(tile) >> 4) | 8ull << 16 | 16ull << 32; };
  int sums[4] = {0, 0, 0, 0};
  asm volatile(
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%0, %1, %2, %3}, %4, %5, 0;\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "l"(descriptor(of_a)), "l"(descriptor(of_b)));
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 4; i++) d[(row + i / 2 * 8) * 8 + column + i % 2] = sums[i];
}

static void products_of_bits() {
  std::vector<uint32_t> a(64 * 8), b(8 * 8);
  std::vector<int> c(16 * 8);
  for (auto &value : a) value = rand() * 40503u;
  for (auto &value : b) value = rand() * 2654435761u;
  for (auto &value : c) value = rand() % 1000 - 500;
  uint32_t *on_a = device(a), *on_b = device(b);
  int *on_c = device(c), *on_d;
  cudaMalloc(&on_d, 64 * 8 * sizeof(int));
  for (Operation operation : {XOR, AND}) {
    if (operation == XOR) {
      bits_of_a_warp<XOR><<<1, 32>>>(on_a, on_b, on_c, on_d);
    } else {
      bits_of_a_warp<AND><<<1, 32>>>(on_a, on_b, on_c, on_d);
    }
    std::vector<int> d = host(on_d, 16 * 8);
    for (int i = 0; i < 16 * 8; i++) {
      int sum = c[i] + combined(operation, &a[i / 8 * 8], &b[i % 8 * 8], 8);
      expect(operation == XOR ? "mma of bits, xor" : "mma of bits, and", d[i], sum, i / 8, i % 8);
    }
  }
  bits_of_a_warpgroup<<<1, 128>>>(on_a, on_b, on_d);
  std::vector<int> d = host(on_d, 64 * 8);
  for (int i = 0; i < 64 * 8; i++) expect("wgmma of bits", d[i], combined(AND, &a[i / 8 * 8], &b[i % 8 * 8], 8), i / 8, i % 8);
  cudaFree(on_a), cudaFree(on_b), cudaFree(on_c), cudaFree(on_d);
}

int main() {
  map_that_is_made();
  products_of_bits();
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    printf("%s\n", cudaGetErrorString(error));
    wrong++;
  }
  printf(wrong == 0 ? "PASS\n" : "FAIL\n");
  return wrong != 0;
}
