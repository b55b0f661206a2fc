"""A package's function as an operation of PyTorch, a layer whose backward products are cute-opt's, streams and CUDA graphs.

    pip install target/wheels/cute_opt-*.whl torch
    python examples/python/pytorch_linear.py

On a GPU if there is one, else on the emulator.
"""

import pathlib

import torch

import cute_opt
import cute_opt.torch

device = "cuda" if torch.cuda.is_available() else "cpu"

# A function of a package as an operation: `torch.compile` and `torch.export` trace it by the fake outputs.
package = cute_opt.compile(pathlib.Path(__file__).parents[1] / "add_one.mlir")
add_one = cute_opt.torch.op("example::add_one", package["add_one_cpu"], outputs=torch.empty_like)
add_one.register_autograd(lambda ctx, grad: grad)
x = torch.arange(5, dtype=torch.float32, device=device)
print(torch.compile(lambda x: 2 * add_one(x), backend="aot_eager", fullgraph=True)(x).tolist())

# A layer: the product of its forward and both of its backward are kernels of cute-opt.
torch.manual_seed(0)
layer = torch.nn.Linear(64, 48).to(device, torch.float16)
ours = cute_opt.torch.Linear.of(layer)
x = torch.randn(8, 64, device=device, dtype=torch.float16, requires_grad=True)
gradients = []
for one in (ours, layer):
    one(x).float().square().sum().backward()
    gradients.append((x.grad, layer.weight.grad, layer.bias.grad))
    x.grad = layer.weight.grad = layer.bias.grad = None
near = all(torch.allclose(mine, other, rtol=1e-2, atol=1e-1) for mine, other in zip(*gradients))
if not near:
    raise SystemExit("gradients differ")
print("gradients as PyTorch's")

if device == "cuda":
    # Kernels are queued on PyTorch's current stream, so that a graph captures them.
    graph = torch.cuda.CUDAGraph()
    still = x.detach()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = ours(still)
    still.copy_(torch.randn_like(still))
    graph.replay()
    torch.cuda.synchronize()
    if not torch.allclose(y, layer(still), rtol=1e-2, atol=1e-2):
        raise SystemExit("the graph differs")
    print("replayed")
