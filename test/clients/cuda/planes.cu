// Copies and fills of pitched memory in two and three dimensions, against loops of the host; and what is wrong with some.

#include <cstdio>
#include <cstring>
#include <vector>

static int wrong = 0;

static void check(bool right, int line, const char *text) {
  if (right) return;
  printf("line %d: %s\n", line, text);
  wrong++;
}

#define CHECK(condition) check(condition, __LINE__, #condition)
#define CALL(call) CHECK((call) == cudaSuccess)

constexpr int WIDTH = 10, HEIGHT = 6, DEPTH = 4;

__global__ void adds(cudaPitchedPtr memory, int depth) {
  for (int z = 0; z < depth; z++) {
    char *row = static_cast<char *>(memory.ptr) + z * memory.pitch * memory.ysize + threadIdx.y * memory.pitch;
    reinterpret_cast<int *>(row)[threadIdx.x] += 100 * z + 10 * threadIdx.y + threadIdx.x;
  }
}

static int &at(std::vector<int> &values, int x, int y, int z) { return values[(z * HEIGHT + y) * WIDTH + x]; }

static cudaMemcpy3DParms copy(cudaPitchedPtr from, cudaPos start, cudaPitchedPtr to, cudaPos end, cudaExtent extent, cudaMemcpyKind kind) {
  cudaMemcpy3DParms parameters = {};
  parameters.srcPtr = from, parameters.srcPos = start;
  parameters.dstPtr = to, parameters.dstPos = end;
  parameters.extent = extent, parameters.kind = kind;
  return parameters;
}

int main() {
  cudaStream_t stream;
  CALL(cudaStreamCreate(&stream));
  cudaPitchedPtr memory, other;
  cudaExtent whole = make_cudaExtent(WIDTH * sizeof(int), HEIGHT, DEPTH);
  CALL(cudaMalloc3D(&memory, whole));
  CALL(cudaMalloc3D(&other, whole));
  CHECK(memory.pitch >= WIDTH * sizeof(int) && memory.ysize == HEIGHT);
  std::vector<int> host(WIDTH * HEIGHT * DEPTH), back(host.size());
  for (size_t i = 0; i < host.size(); i++) host[i] = int(i) * 7;
  cudaPitchedPtr on_host = make_cudaPitchedPtr(host.data(), WIDTH * sizeof(int), WIDTH, HEIGHT);
  cudaPitchedPtr on_back = make_cudaPitchedPtr(back.data(), WIDTH * sizeof(int), WIDTH, HEIGHT);
  cudaPos origin = make_cudaPos(0, 0, 0);
  // There, through a kernel, to other memory, and back.
  auto there = copy(on_host, origin, memory, origin, whole, cudaMemcpyHostToDevice);
  CALL(cudaMemcpy3D(&there));
  adds<<<1, dim3(WIDTH, HEIGHT), 0, stream>>>(memory, DEPTH);
  CALL(cudaMemset3DAsync(other, 0xff, whole, stream));
  // A box from the middle into a corner.
  auto box = copy(memory, make_cudaPos(2 * sizeof(int), 1, 1), other, origin, make_cudaExtent(5 * sizeof(int), 3, 2), cudaMemcpyDeviceToDevice);
  CALL(cudaMemcpy3DAsync(&box, stream));
  auto again = copy(other, origin, on_back, origin, whole, cudaMemcpyDefault);
  CALL(cudaMemcpy3DAsync(&again, stream));
  CALL(cudaStreamSynchronize(stream));
  bool right = true;
  for (int z = 0; z < DEPTH; z++) {
    for (int y = 0; y < HEIGHT; y++) {
      for (int x = 0; x < WIDTH; x++) {
        bool inside = x < 5 && y < 3 && z < 2;
        int from = inside ? at(host, x + 2, y + 1, z + 1) + 100 * (z + 1) + 10 * (y + 1) + x + 2 : -1;
        right &= at(back, x, y, z) == from;
      }
    }
  }
  CHECK(right);
  // Planes, rows and parts of them are filled.
  CALL(cudaMemset3D(memory, 0, make_cudaExtent(3 * sizeof(int), 2, DEPTH)));
  CALL(cudaMemset2DAsync(static_cast<char *>(memory.ptr) + 4 * memory.pitch, memory.pitch, 1, sizeof(int), 2, stream));
  again = copy(memory, origin, on_back, origin, whole, cudaMemcpyDeviceToHost);
  CALL(cudaMemcpy3D(&again));
  CHECK(at(back, 2, 1, 3) == 0 && at(back, 3, 1, 3) != 0 && at(back, 2, 2, 3) != 0);
  CHECK(at(back, 0, 5, 0) == 0x01010101 && at(back, 1, 5, 0) == at(host, 1, 5, 0) + 51);
  // In a graph.
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  CALL(cudaGraphCreate(&graph, 0));
  CALL(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &there));
  CALL(cudaGraphInstantiate(&exec, graph, 0));
  CALL(cudaGraphLaunch(exec, stream));
  CALL(cudaMemcpy3D(&again));
  CHECK(back == host);
  cudaMemcpy3DParms told;
  CALL(cudaGraphMemcpyNodeGetParams(node, &told));
  CHECK(told.srcPtr.ptr == host.data() && told.dstPtr.pitch == memory.pitch && told.extent.depth == DEPTH && told.kind == cudaMemcpyHostToDevice);
  CALL(cudaGraphExecMemcpyNodeSetParams(exec, node, &told));
  CALL(cudaGraphExecDestroy(exec));
  CALL(cudaGraphDestroy(graph));
  // Nothing of a box that is not inside is copied or filled.
  std::vector<int> before = back;
  again = copy(memory, make_cudaPos(0, 0, 1), on_back, origin, whole, cudaMemcpyDeviceToHost);
  CHECK(cudaMemcpy3D(&again) == cudaErrorInvalidValue);
  again = copy(memory, origin, on_back, make_cudaPos(1, 0, 0), whole, cudaMemcpyDeviceToHost);
  CHECK(cudaMemcpy3D(&again) == cudaErrorInvalidValue);
  CHECK(back == before);
  CHECK(cudaMemset3D(memory, 0, make_cudaExtent(memory.pitch + 1, 2, 1)) == cudaErrorInvalidValue);
  CHECK(cudaMemset3D(memory, 0, make_cudaExtent(4, HEIGHT + 1, 2)) == cudaErrorInvalidValue);
  CHECK(cudaMemset2DAsync(memory.ptr, memory.pitch, 0, 4, 1000, stream) == cudaErrorInvalidValue);
  there.dstArray = reinterpret_cast<cudaArray_t>(&there);
  CHECK(cudaMemcpy3D(&there) == cudaErrorNotSupported);
  again = copy(memory, origin, on_back, origin, whole, cudaMemcpyDeviceToHost);
  CALL(cudaMemcpy3D(&again));
  CHECK(back == host);
  CALL(cudaFree(memory.ptr));
  CALL(cudaFree(other.ptr));
  CALL(cudaStreamDestroy(stream));
  printf(wrong == 0 ? "PASS\n" : "FAIL\n");
  return wrong != 0;
}
