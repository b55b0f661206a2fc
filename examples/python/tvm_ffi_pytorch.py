"""Functions of an exported library (examples/linear_layer.mlir) as an operation of PyTorch, through TVM-FFI alone.

    pip install apache-tvm-ffi torch
    python examples/python/tvm_ffi_pytorch.py [liblinear_layer.so]

The library is exported here where none is named, for which cute-opt's own module is needed.
A fake implementation lets `torch.compile` trace it, its gradients are functions of the library, and on a GPU kernels are queued on
PyTorch's current stream, so that graphs capture them. Without a GPU the library's emulator runs them.
"""

import pathlib
import sys
import tempfile

import torch
import tvm_ffi


def exported():
    import cute_opt

    package = cute_opt.compile(pathlib.Path(__file__).parents[1] / "linear_layer.mlir")
    return package.export(tempfile.mkdtemp(), "linear_layer")


library = tvm_ffi.load_module(sys.argv[1] if len(sys.argv) > 1 else str(exported()))


@torch.library.custom_op("example::linear", mutates_args=())
def linear(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    library.forward(x, w, y)
    return y


@linear.register_fake
def _(x, w):
    return torch.empty_like(x)


@torch.library.custom_op("example::linear_gradients", mutates_args=())
def linear_gradients(dy: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    dy, dx, dw = dy.contiguous(), torch.empty_like(x), torch.empty_like(w)
    library.input_gradient(dy, w.t(), dx)
    library.weight_gradient(dy.t(), x.t(), dw)
    return dx, dw


@linear_gradients.register_fake
def _(dy, x, w):
    return torch.empty_like(x), torch.empty_like(w)


def save(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


linear.register_autograd(lambda ctx, dy: linear_gradients(dy, *ctx.saved_tensors), setup_context=save)


def near(a, b):
    return torch.allclose(a, b, rtol=1e-2, atol=1e-1)


def expect(right, what):
    if not right:
        raise SystemExit(f"{what} differ from PyTorch's")
    print(f"{what} are PyTorch's")


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    x, w = (torch.randn(n, 256, device=device, dtype=torch.float16) for n in (64, 256))
    expect(near(linear(x, w), x @ w.t()), "results")

    found = []
    for call in (linear, torch.compile(linear, backend="aot_eager", fullgraph=True), torch.nn.functional.linear):
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        (call(a, b) / 16).float().square().sum().backward()
        found.append((a.grad, b.grad))
    *ours, theirs = found
    expect(all(near(mine, other) for one in ours for mine, other in zip(one, theirs)), "gradients")

    if device == "cuda":
        stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        still = x.clone()
        with torch.cuda.stream(stream):
            y = linear(still, w)
        stream.synchronize()
        expect(near(y, x @ w.t()), "results on another stream")
        with torch.cuda.graph(graph):
            y = linear(still, w)
        still.copy_(torch.randn_like(still))
        graph.replay()
        torch.cuda.synchronize()
        expect(near(y, still @ w.t()), "results of a graph")


if __name__ == "__main__":
    main()
