// Graphs and captures that are wrong, each with the error that CUDA has for it, and nothing of them done.

#include <cstdio>
#include <thread>

static int wrong = 0;

static void check(bool right, int line, const char *text, const char *found) {
  if (right) return;
  printf("line %d: %s: %s\n", line, text, found);
  wrong++;
}

static void fails(cudaError_t found, cudaError_t expected, int line, const char *text) {
  check(found == expected, line, text, cudaGetErrorName(found));
  cudaGetLastError();
}

#define CHECK(condition) check(condition, __LINE__, #condition, "false")
#define FAILS(call, error) fails(call, error, __LINE__, #call)
#define CALL(call) FAILS(call, cudaSuccess)

__global__ void add(int *values, int what) { values[threadIdx.x] += what; }

static int *values, host[64];
static cudaStream_t stream, other, free_stream;

static cudaError_t launched(cudaStream_t where, int threads = 64) {
  add<<<1, threads, 0, where>>>(values, 1);
  return cudaPeekAtLastError();
}

static void begin(cudaStream_t where = stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  CALL(cudaStreamBeginCapture(where, mode));
}

// A capture that a call has invalidated takes nothing, and ends without a graph.
static void invalidated(cudaStream_t where = stream) {
  cudaStreamCaptureStatus status;
  CALL(cudaStreamIsCapturing(where, &status));
  CHECK(status == cudaStreamCaptureStatusInvalidated);
  FAILS(launched(where), cudaErrorStreamCaptureInvalidated);
  cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(1);
  FAILS(cudaStreamEndCapture(where, &graph), cudaErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);
  CALL(cudaStreamIsCapturing(where, &status));
  CHECK(status == cudaStreamCaptureStatusNone);
}

static void forbidden() {
  int *memory;
  cudaStreamCaptureStatus status;
  begin(), FAILS(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported), invalidated();
  begin(), FAILS(cudaFree(values), cudaErrorStreamCaptureUnsupported), invalidated();
  begin(), FAILS(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported), invalidated();
  begin(), FAILS(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported), invalidated();
  begin(), FAILS(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported), invalidated();
  // The legacy stream waits for other streams, but for those that are made without.
  begin(), FAILS(cudaMemcpy(host, values, 4, cudaMemcpyDeviceToHost), cudaErrorStreamCaptureImplicit), invalidated();
  begin(), FAILS(launched(cudaStreamLegacy), cudaErrorStreamCaptureImplicit), invalidated();
  begin(), FAILS(cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaErrorStreamCaptureImplicit);
  CALL(cudaStreamIsCapturing(stream, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  FAILS(cudaStreamSynchronize(cudaStreamLegacy), cudaErrorStreamCaptureImplicit), invalidated();
  begin(free_stream), CALL(cudaMemcpy(host, values, 4, cudaMemcpyDeviceToHost)), CALL(launched(cudaStreamLegacy));
  cudaGraph_t graph;
  CALL(cudaStreamEndCapture(free_stream, &graph));
  CALL(cudaGraphDestroy(graph));
  // A launch that would fail, a copy outside of memory, and memory in the order of the stream.
  begin(), FAILS(launched(stream, 2000), cudaErrorInvalidConfiguration), invalidated();
  begin(), FAILS(cudaMemsetAsync(values, 0, 1000, stream), cudaErrorInvalidValue), invalidated();
  begin(), FAILS(cudaMallocAsync(&memory, 4, stream), cudaErrorNotSupported), invalidated();
  FAILS(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  FAILS(cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(7)), cudaErrorInvalidValue);
  FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  begin(), FAILS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  // Another thread neither ends it nor allocates meanwhile.
  std::thread([] {
    cudaGraph_t graph;
    FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureWrongThread);
    int *memory;
    FAILS(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
  }).join();
  invalidated();
}

static void events() {
  cudaEvent_t event, before;
  cudaGraph_t graph;
  float milliseconds;
  CALL(cudaEventCreate(&event));
  CALL(cudaEventCreate(&before));
  CALL(cudaEventRecord(before, stream));
  begin(), FAILS(cudaStreamWaitEvent(stream, before, 0), cudaErrorStreamCaptureIsolation), invalidated();
  begin(), CALL(cudaEventRecord(event, stream)), FAILS(cudaEventSynchronize(event), cudaErrorCapturedEvent), invalidated();
  FAILS(cudaEventQuery(event), cudaErrorCapturedEvent);
  FAILS(cudaEventElapsedTime(&milliseconds, before, event), cudaErrorCapturedEvent);
  // Two captures do not join.
  begin(), begin(other);
  CALL(cudaEventRecord(event, other));
  FAILS(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureMerge);
  invalidated(), invalidated(other);
  // A stream that forked is joined, and does not end the capture.
  begin();
  CALL(cudaEventRecord(event, stream));
  CALL(cudaStreamWaitEvent(other, event, 0));
  CALL(launched(other));
  FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  CHECK(graph == nullptr);
  CALL(launched(other));
  begin();
  CALL(cudaEventRecord(event, stream));
  CALL(cudaStreamWaitEvent(other, event, 0));
  FAILS(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  invalidated();
  // A stream that is destroyed leaves no capture.
  cudaStream_t lost;
  CALL(cudaStreamCreate(&lost));
  begin(lost);
  CALL(cudaStreamDestroy(lost));
  FAILS(launched(lost), cudaErrorInvalidResourceHandle);
  CALL(cudaDeviceSynchronize());
  CALL(cudaEventDestroy(event));
  FAILS(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
  FAILS(cudaEventRecord(nullptr, stream), cudaErrorInvalidResourceHandle);
}

static void graphs() {
  cudaGraph_t graph, second;
  cudaGraphNode_t node, last, foreign;
  cudaGraphExec_t exec = nullptr;
  CALL(cudaGraphCreate(&graph, 0));
  CALL(cudaGraphCreate(&second, 0));
  CALL(cudaGraphAddEmptyNode(&foreign, second, nullptr, 0));
  int what = 1;
  void *arguments[] = {&values, &what};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void *>(add);
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(64);
  FAILS(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), cudaErrorInvalidValue);
  kernel.kernelParams = arguments;
  kernel.blockDim = dim3(2000);
  FAILS(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), cudaErrorInvalidConfiguration);
  kernel.blockDim = dim3(64);
  kernel.func = &what;
  FAILS(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), cudaErrorInvalidDeviceFunction);
  kernel.func = reinterpret_cast<void *>(add);
  FAILS(cudaGraphAddKernelNode(&node, graph, &foreign, 1, &kernel), cudaErrorInvalidValue);
  FAILS(cudaGraphAddKernelNode(&node, graph, nullptr, 1, &kernel), cudaErrorInvalidValue);
  FAILS(cudaGraphAddKernelNode(nullptr, graph, nullptr, 0, &kernel), cudaErrorInvalidValue);
  FAILS(cudaGraphAddKernelNode(&node, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  CALL(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  FAILS(cudaGraphAddMemcpyNode1D(&last, graph, &node, 1, host, values, 1000, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  cudaMemsetParams fill = {};
  fill.dst = values, fill.elementSize = 3, fill.width = 1, fill.height = 1;
  FAILS(cudaGraphAddMemsetNode(&last, graph, &node, 1, &fill), cudaErrorInvalidValue);
  cudaGraphNode_t same[] = {node, node};
  FAILS(cudaGraphAddEmptyNode(&last, graph, same, 2), cudaErrorInvalidValue);
  size_t count = 0;
  CALL(cudaGraphGetNodes(graph, nullptr, &count));
  CHECK(count == 1);
  int *memory;
  CALL(cudaMalloc(&memory, 256));
  CALL(cudaGraphAddMemcpyNode1D(&last, graph, &node, 1, host, memory, 256, cudaMemcpyDeviceToHost));
  // A circle.
#if CUDART_VERSION >= 13000
  FAILS(cudaGraphAddDependencies(graph, &node, &node, nullptr, 1), cudaErrorInvalidValue);
  FAILS(cudaGraphAddDependencies(graph, &node, &last, nullptr, 1), cudaErrorInvalidValue);
  CALL(cudaGraphAddDependencies(graph, &last, &node, nullptr, 1));
  FAILS(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
  CHECK(exec == nullptr);
  CALL(cudaGraphRemoveDependencies(graph, &last, &node, nullptr, 1));
#endif
  CALL(cudaGraphInstantiate(&exec, graph, 0));
  FAILS(cudaGraphInstantiate(&exec, nullptr, 0), cudaErrorInvalidValue);
  // What was freed since is told before anything is done.
  int now, after;
  CALL(cudaMemcpy(&now, values, sizeof now, cudaMemcpyDeviceToHost));
  CALL(cudaFree(memory));
  FAILS(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
  CALL(cudaMemcpy(&after, values, sizeof after, cudaMemcpyDeviceToHost));
  CHECK(now == after);
  FAILS(cudaGraphExecKernelNodeSetParams(exec, last, &kernel), cudaErrorInvalidValue);
  FAILS(cudaGraphExecKernelNodeSetParams(exec, foreign, &kernel), cudaErrorInvalidValue);
  cudaGraphExecUpdateResultInfo outcome;
  FAILS(cudaGraphExecUpdate(exec, second, &outcome), cudaErrorGraphExecUpdateFailure);
  CHECK(outcome.result == cudaGraphExecUpdateErrorTopologyChanged);
  CALL(cudaGraphAddEmptyNode(&last, second, &foreign, 1));
  FAILS(cudaGraphExecUpdate(exec, second, &outcome), cudaErrorGraphExecUpdateFailure);
  CHECK(outcome.result == cudaGraphExecUpdateErrorNodeTypeChanged && outcome.errorNode == foreign);
  CALL(cudaGraphExecDestroy(exec));
  FAILS(cudaGraphExecDestroy(exec), cudaErrorInvalidValue);
  FAILS(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
  CALL(cudaGraphDestroy(graph));
  FAILS(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  FAILS(cudaGraphDestroyNode(node), cudaErrorInvalidValue);
  FAILS(cudaGraphCreate(&graph, 1), cudaErrorInvalidValue);
}

int main() {
  CALL(cudaMalloc(&values, sizeof host));
  CALL(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
  CALL(cudaStreamCreate(&stream));
  CALL(cudaStreamCreate(&other));
  CALL(cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking));
  forbidden();
  events();
  graphs();
  CALL(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
  // The launches that were right, and no others.
  CHECK(host[0] == 2 && host[63] == 2);
  printf(wrong == 0 ? "PASS\n" : "FAIL\n");
  return wrong != 0;
}
