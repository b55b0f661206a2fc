// Graphs: captured from streams, made of nodes, changed and launched again, each against what the same calls do without a graph.

#include <cstdio>
#include <thread>
#include <vector>

static int wrong = 0;

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      printf("line %d: %s\n", __LINE__, #condition);                                        \
      wrong++;                                                                              \
    }                                                                                       \
  } while (0)
#define CALL(call) CHECK((call) == cudaSuccess)

constexpr int N = 64;
constexpr size_t BYTES = N * sizeof(int);

__device__ int factor;

__global__ void add(int *values, int what) { values[threadIdx.x] += what; }
__global__ void sum(int *to, const int *a, const int *b) { to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }
__global__ void scale(int *values) { values[threadIdx.x] *= factor; }

static int *device(int value) {
  std::vector<int> host(N, value);
  int *memory;
  CALL(cudaMalloc(&memory, BYTES));
  CALL(cudaMemcpy(memory, host.data(), BYTES, cudaMemcpyHostToDevice));
  return memory;
}

// The value that all elements have; -1 where they differ.
static int all(const int *memory) {
  int host[N];
  CALL(cudaMemcpy(host, memory, BYTES, cudaMemcpyDeviceToHost));
  for (int value : host) {
    if (value != host[0]) return -1;
  }
  return host[0];
}

static size_t nodes(cudaGraph_t graph) {
  size_t count = 0;
  CALL(cudaGraphGetNodes(graph, nullptr, &count));
  return count;
}

static void counts(void *data) { ++*static_cast<int *>(data); }

// Two streams fork from one and join it. Nothing is done until the launch, which has the arguments of the capture.
static void captured() {
  int *a = device(1), *b = device(2), *to = device(0), calls = 0, host[N];
  cudaStream_t streams[2];
  cudaEvent_t forked, joined;
  for (auto &stream : streams) CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CALL(cudaEventCreate(&forked));
  CALL(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  cudaStreamCaptureStatus status;
  CALL(cudaStreamIsCapturing(streams[0], &status));
  CHECK(status == cudaStreamCaptureStatusNone);
  CALL(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  CALL(cudaStreamIsCapturing(streams[0], &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  int what = 10;
  add<<<1, N, 0, streams[0]>>>(a, what);
  CALL(cudaEventRecord(forked, streams[0]));
  CALL(cudaStreamWaitEvent(streams[1], forked, 0));
  CALL(cudaStreamIsCapturing(streams[1], &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  add<<<1, N, 0, streams[1]>>>(b, 100);
  what = 1000;
  add<<<1, N, 0, streams[0]>>>(a, 5);
  CALL(cudaEventRecord(joined, streams[1]));
  CALL(cudaStreamWaitEvent(streams[0], joined, 0));
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr, ended;
#if CUDART_VERSION >= 13000
  const cudaGraphNode_t *before = nullptr;
  const cudaGraphEdgeData *edges = nullptr;
  size_t count = 0;
  CALL(cudaStreamGetCaptureInfo(streams[0], &status, &id, &graph, &before, &edges, &count));
  CHECK(status == cudaStreamCaptureStatusActive && id != 0 && count == 2 && before[0] != before[1] && edges[1].type == 0);
  CHECK(nodes(graph) == 3);
#endif
  sum<<<1, N, 0, streams[0]>>>(to, a, b);
  CALL(cudaMemcpyAsync(host, to, BYTES, cudaMemcpyDeviceToHost, streams[0]));
  CALL(cudaLaunchHostFunc(streams[0], counts, &calls));
  CALL(cudaStreamEndCapture(streams[0], &ended));
  CHECK(CUDART_VERSION < 13000 || ended == graph);
  CALL(cudaGetLastError());
  CHECK(nodes(ended) == 6 && all(a) == 1 && all(b) == 2 && all(to) == 0 && calls == 0);
  size_t roots = 0;
  CALL(cudaGraphGetRootNodes(ended, nullptr, &roots));
  CHECK(roots == 1);
  cudaGraphExec_t exec;
  CALL(cudaGraphInstantiate(&exec, ended, nullptr, nullptr, 0));
  CALL(cudaGraphUpload(exec, streams[0]));
  for (int i = 1; i <= 3; i++) {
    CALL(cudaGraphLaunch(exec, streams[i % 2]));
    CALL(cudaStreamSynchronize(streams[i % 2]));
    CHECK(all(a) == 1 + 15 * i && all(b) == 2 + 100 * i && host[5] == 3 + 115 * i && calls == i);
  }
  // The executable graph outlives the graph.
  CALL(cudaGraphDestroy(ended));
  CALL(cudaGraphLaunch(exec, streams[0]));
  CHECK(calls == 4);
  CALL(cudaGraphExecDestroy(exec));
  for (auto &stream : streams) CALL(cudaStreamDestroy(stream));
  CALL(cudaEventDestroy(forked));
  CALL(cudaEventDestroy(joined));
  for (auto memory : {a, b, to}) CALL(cudaFree(memory));
}

static cudaKernelNodeParams launch(void *function, void **arguments) {
  cudaKernelNodeParams parameters = {};
  parameters.func = function;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(N);
  parameters.kernelParams = arguments;
  return parameters;
}

// Nodes that are made in another order than they wait for each other: fill, add, copy, call.
static void built() {
  int *values, host[N] = {0}, calls = 0, what = 3;
  CALL(cudaMalloc(&values, BYTES));
  cudaGraph_t graph;
  CALL(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t called, copied, added, filled, empty;
  cudaHostNodeParams host_parameters = {counts, &calls};
  CALL(cudaGraphAddHostNode(&called, graph, nullptr, 0, &host_parameters));
  CALL(cudaGraphAddMemcpyNode1D(&copied, graph, nullptr, 0, host, values, BYTES, cudaMemcpyDeviceToHost));
  void *arguments[] = {&values, &what};
  cudaKernelNodeParams kernel = launch((void *)add, arguments);
  CALL(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &kernel));
  what = 77;
  cudaMemsetParams fill = {};
  fill.dst = values;
  fill.value = 40;
  fill.elementSize = 4;
  fill.width = N;
  fill.height = 1;
  CALL(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  CALL(cudaGraphAddEmptyNode(&empty, graph, &added, 1));
  cudaGraphNode_t from[] = {filled, empty, copied}, to[] = {added, copied, called};
#if CUDART_VERSION >= 13000
  CALL(cudaGraphAddDependencies(graph, from, to, nullptr, 3));
  size_t edges = 0;
  CALL(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
#else
  CALL(cudaGraphAddDependencies(graph, from, to, 3));
  size_t edges = 0;
  CALL(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
#endif
  CHECK(edges == 4 && nodes(graph) == 5);
  cudaGraphNode_t listed[8];
  size_t room = 8;
  CALL(cudaGraphGetNodes(graph, listed, &room));
  CHECK(room == 5 && listed[0] == called && listed[4] == empty && listed[5] == nullptr);
  room = 8;
  CALL(cudaGraphGetRootNodes(graph, listed, &room));
  CHECK(room == 1 && listed[0] == filled);
  cudaGraphNodeType type;
  CALL(cudaGraphNodeGetType(filled, &type));
  CHECK(type == cudaGraphNodeTypeMemset);
  cudaGraphExec_t exec;
  CALL(cudaGraphInstantiate(&exec, graph, 0));
  CALL(cudaGraphLaunch(exec, 0));
  CALL(cudaDeviceSynchronize());
  CHECK(host[0] == 43 && host[N - 1] == 43 && calls == 1);
  // Other arguments, another kernel, another value, another place.
  what = 2;
  CALL(cudaGraphExecKernelNodeSetParams(exec, added, &kernel));
  fill.value = 5;
  CALL(cudaGraphExecMemsetNodeSetParams(exec, filled, &fill));
  int other[N] = {0};
  CALL(cudaGraphExecMemcpyNodeSetParams1D(exec, copied, other, values, BYTES, cudaMemcpyDeviceToHost));
  CALL(cudaGraphLaunch(exec, 0));
  CHECK(other[9] == 7 && host[9] == 43);
  int six = 6;
  CALL(cudaMemcpyToSymbol(factor, &six, sizeof six));
  void *scaled[] = {&values};
  cudaKernelNodeParams another = launch((void *)scale, scaled);
  CALL(cudaGraphExecKernelNodeSetParams(exec, added, &another));
  CALL(cudaGraphLaunch(exec, 0));
  CHECK(other[9] == 30);
  CALL(cudaGraphNodeSetEnabled(exec, added, 0));
  CALL(cudaGraphLaunch(exec, 0));
  CHECK(other[9] == 5);
  // The graph itself is as it was, and gives its work back.
  cudaGraphExecUpdateResultInfo outcome;
  CALL(cudaGraphExecUpdate(exec, graph, &outcome));
  CHECK(outcome.result == cudaGraphExecUpdateSuccess);
  CALL(cudaGraphNodeSetEnabled(exec, added, 1));
  calls = 0;
  CALL(cudaGraphLaunch(exec, 0));
  CHECK(host[9] == 43 && calls == 1);
  // Graphs in graphs, and copies of graphs.
  cudaGraph_t outer, inner, copy;
  cudaGraphNode_t first, second, found;
  CALL(cudaGraphCreate(&outer, 0));
  CALL(cudaGraphAddChildGraphNode(&first, outer, nullptr, 0, graph));
  what = 100;
  CALL(cudaGraphAddKernelNode(&second, outer, &first, 1, &kernel));
  CALL(cudaGraphChildGraphNodeGetGraph(first, &inner));
  CHECK(inner != graph && nodes(inner) == 5);
  CALL(cudaGraphClone(&copy, outer));
  CALL(cudaGraphNodeFindInClone(&found, second, copy));
  CHECK(found != second);
  CALL(cudaGraphDestroyNode(found));
  CHECK(nodes(copy) == 1 && nodes(outer) == 2);
  CALL(cudaGraphDestroy(copy));
  CALL(cudaGraphExecDestroy(exec));
  CALL(cudaGraphInstantiateWithFlags(&exec, outer, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  CALL(cudaGraphDestroy(graph));
  CALL(cudaGraphLaunch(exec, 0));
  CHECK(host[3] == 43 && all(values) == 143 && calls == 2);
  // A launch that is captured is a node.
  cudaStream_t stream;
  cudaGraph_t again;
  cudaGraphExec_t twice;
  CALL(cudaStreamCreate(&stream));
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CALL(cudaGraphLaunch(exec, stream));
  add<<<1, N, 0, stream>>>(values, 1);
  CALL(cudaStreamEndCapture(stream, &again));
  CHECK(nodes(again) == 2 && calls == 2);
  CALL(cudaGraphInstantiate(&twice, again, 0));
  CALL(cudaGraphLaunch(twice, stream));
  CHECK(all(values) == 144 && calls == 3);
  CALL(cudaGraphExecDestroy(exec));
  CALL(cudaGraphExecDestroy(twice));
  CALL(cudaGraphDestroy(again));
  CALL(cudaGraphDestroy(outer));
  CALL(cudaStreamDestroy(stream));
  CALL(cudaFree(values));
}

// Nodes of any kind by one call, and what nodes are told to do.
static void asked() {
  int *values = device(1), what = 6, host[N];
  cudaGraph_t graph;
  cudaGraphNode_t filled, added, copied, timed, called;
  cudaEvent_t event;
  CALL(cudaEventCreate(&event));
  CALL(cudaGraphCreate(&graph, 0));
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeMemset;
  any.memset.dst = values;
  any.memset.value = 2;
  any.memset.elementSize = 4;
  any.memset.width = N;
  any.memset.height = 1;
  void *arguments[] = {&values, &what};
#if CUDART_VERSION >= 13000
#define ADD(node, before, count) CALL(cudaGraphAddNode(node, graph, before, nullptr, count, &any))
#else
#define ADD(node, before, count) CALL(cudaGraphAddNode(node, graph, before, count, &any))
#endif
  ADD(&filled, nullptr, 0);
  any = {};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = (void *)add;
  any.kernel.gridDim = dim3(1);
  any.kernel.blockDim = dim3(N);
  any.kernel.kernelParams = arguments;
  ADD(&added, &filled, 1);
  any = {};
  any.type = cudaGraphNodeTypeEventRecord;
  any.eventRecord.event = event;
  ADD(&timed, &added, 1);
  any = {};
  any.type = cudaGraphNodeTypeHost;
  int calls = 0;
  any.host.fn = counts;
  any.host.userData = &calls;
  ADD(&called, &timed, 1);
  CALL(cudaGraphAddMemcpyNode1D(&copied, graph, &called, 1, host, values, BYTES, cudaMemcpyDeviceToHost));
  // The launch has its own arguments, which are told and can be changed.
  what = 0;
  cudaKernelNodeParams told;
  CALL(cudaGraphKernelNodeGetParams(added, &told));
  CHECK(told.func == (void *)add && told.blockDim.x == N && *static_cast<int *>(told.kernelParams[1]) == 6);
  CHECK(*static_cast<int **>(told.kernelParams[0]) == values);
  int nine = 9;
  void *others[] = {told.kernelParams[0], &nine};
  told.kernelParams = others;
  CALL(cudaGraphKernelNodeSetParams(added, &told));
  cudaMemsetParams fill;
  CALL(cudaGraphMemsetNodeGetParams(filled, &fill));
  CHECK(fill.dst == values && fill.width == N && fill.elementSize == 4 && fill.value == 2);
  cudaHostNodeParams called_with;
  CALL(cudaGraphHostNodeGetParams(called, &called_with));
  CHECK(called_with.fn == counts && called_with.userData == &calls);
  cudaEvent_t recorded;
  CALL(cudaGraphEventRecordNodeGetEvent(timed, &recorded));
  CHECK(recorded == event);
  cudaGraphExec_t exec;
  CALL(cudaGraphInstantiate(&exec, graph, 0));
  CALL(cudaGraphLaunch(exec, 0));
  CALL(cudaEventSynchronize(event));
  CHECK(host[17] == 11 && calls == 1);
  any = {};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = (void *)add;
  any.kernel.gridDim = dim3(1);
  any.kernel.blockDim = dim3(N);
  any.kernel.kernelParams = arguments;
  what = 50;
  CALL(cudaGraphExecNodeSetParams(exec, added, &any));
  CALL(cudaGraphLaunch(exec, 0));
  CHECK(host[17] == 52 && calls == 2);
  CALL(cudaGraphExecDestroy(exec));
  CALL(cudaGraphDestroy(graph));
  CALL(cudaEventDestroy(event));
  CALL(cudaFree(values));
}

// All that streams take, in a capture into a graph that is there, with planes and variables.
static void everything() {
  int *values = device(3), host[N] = {0}, four = 4, back = 0;
  cudaStream_t stream;
  cudaEvent_t event;
  CALL(cudaStreamCreate(&stream));
  CALL(cudaEventCreate(&event));
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  // A relaxed capture lets the thread do all that does not need the stream.
  int *other;
  CALL(cudaMalloc(&other, BYTES));
  CALL(cudaMemcpyToSymbolAsync(factor, &four, sizeof four, 0, cudaMemcpyHostToDevice, stream));
  scale<<<1, N, 0, stream>>>(values);
  CALL(cudaMemcpyFromSymbolAsync(&back, factor, sizeof back, 0, cudaMemcpyDeviceToHost, stream));
  CALL(cudaMemcpyAsync(other, values, BYTES, cudaMemcpyDeviceToDevice, stream));
  CALL(cudaMemsetAsync(other, 0, sizeof(int), stream));
  CALL(cudaMemset2DAsync(other + 4, 4 * sizeof(int), 0, sizeof(int), 2, stream));
  CALL(cudaMemcpy2DAsync(host, 2 * sizeof(int), other, 4 * sizeof(int), 2 * sizeof(int), N / 4, cudaMemcpyDeviceToHost, stream));
  CALL(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CALL(cudaStreamEndCapture(stream, &graph));
  CHECK(nodes(graph) == 8 && back == 0);
  CALL(cudaGraphInstantiate(&exec, graph, 0));
  CALL(cudaGraphLaunch(exec, stream));
  CALL(cudaEventSynchronize(event));
  CHECK(back == 4 && all(values) == 12);
  CHECK(host[0] == 0 && host[1] == 12 && host[2] == 0 && host[3] == 12 && host[4] == 0 && host[6] == 12);
  // Another thread may allocate while this one captures for itself, and this one, too, while it says so.
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  std::thread([] {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
    CALL(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeGlobal);
    int *memory;
    CALL(cudaMalloc(&memory, 4));
    CALL(cudaFree(memory));
  }).join();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CALL(cudaThreadExchangeStreamCaptureMode(&mode));
  CALL(cudaFree(other));
  CALL(cudaThreadExchangeStreamCaptureMode(&mode));
  add<<<1, N, 0, stream>>>(values, 1);
  cudaGraph_t changed;
  CALL(cudaStreamEndCapture(stream, &changed));
  CHECK(mode == cudaStreamCaptureModeRelaxed && nodes(changed) == 1);
  CALL(cudaGraphExecDestroy(exec));
  CALL(cudaGraphInstantiate(&exec, changed, 0));
  // A capture of the same shape gives the executable graph its arguments.
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, N, 0, stream>>>(values, 8);
  CALL(cudaGraphDestroy(graph));
  CALL(cudaStreamEndCapture(stream, &graph));
  cudaGraphExecUpdateResultInfo outcome;
  CALL(cudaGraphExecUpdate(exec, graph, &outcome));
  CALL(cudaGraphLaunch(exec, stream));
  CHECK(all(values) == 20);
  CALL(cudaGraphDestroy(graph));
  CALL(cudaGraphDestroy(changed));
  CALL(cudaGraphExecDestroy(exec));
  CALL(cudaEventDestroy(event));
  CALL(cudaStreamDestroy(stream));
  CALL(cudaFree(values));
}

// A capture that goes on with a graph, and lets its next work wait for no more than it must.
static void continued() {
  int *a = device(1), *b = device(2);
  cudaStream_t stream;
  cudaGraph_t graph, same;
  cudaGraphNode_t first, listed[4];
  cudaMemsetParams fill = {};
  fill.dst = a;
  fill.elementSize = 1;
  fill.width = BYTES;
  fill.height = 1;
  CALL(cudaStreamCreate(&stream));
  CALL(cudaGraphCreate(&graph, 0));
  CALL(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &fill));
  CALL(cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, cudaStreamCaptureModeGlobal));
  add<<<1, N, 0, stream>>>(a, 5);
#if CUDART_VERSION >= 13000
  CALL(cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
#else
  CALL(cudaStreamUpdateCaptureDependencies(stream, nullptr, 0, cudaStreamSetCaptureDependencies));
#endif
  add<<<1, N, 0, stream>>>(b, 7);
#if CUDART_VERSION >= 13000
  CALL(cudaStreamUpdateCaptureDependencies(stream, &first, nullptr, 1, cudaStreamAddCaptureDependencies));
#else
  CALL(cudaStreamUpdateCaptureDependencies(stream, &first, 1, cudaStreamAddCaptureDependencies));
#endif
  sum<<<1, N, 0, stream>>>(b, b, b);
  CALL(cudaStreamEndCapture(stream, &same));
  size_t roots = 4, before = 4;
  CALL(cudaGraphGetRootNodes(graph, listed, &roots));
  CHECK(same == graph && nodes(graph) == 4 && roots == 2 && listed[0] == first);
  cudaGraphNode_t all_nodes[4];
  size_t count = 4;
  CALL(cudaGraphGetNodes(graph, all_nodes, &count));
#if CUDART_VERSION >= 13000
  CALL(cudaGraphNodeGetDependencies(all_nodes[3], listed, nullptr, &before));
#else
  CALL(cudaGraphNodeGetDependencies(all_nodes[3], listed, &before));
#endif
  CHECK(before == 2 && listed[0] == all_nodes[2] && listed[1] == first && listed[2] == nullptr);
  cudaGraphExec_t exec;
  cudaGraphInstantiateParams parameters = {};
  CALL(cudaGraphInstantiateWithParams(&exec, graph, &parameters));
  CHECK(parameters.result_out == cudaGraphInstantiateSuccess);
  CALL(cudaGraphLaunch(exec, stream));
  CHECK(all(a) == 5 && all(b) == 18);
  CALL(cudaGraphExecDestroy(exec));
  CALL(cudaGraphDestroy(graph));
  CALL(cudaStreamDestroy(stream));
  CALL(cudaFree(a));
  CALL(cudaFree(b));
}

int main() {
  captured();
  built();
  asked();
  everything();
  continued();
  CALL(cudaGetLastError());
  printf(wrong == 0 ? "PASS\n" : "FAIL\n");
  return wrong != 0;
}
