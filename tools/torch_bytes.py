"""Times a layer's MLP of Llama's sizes with weights of bytes in PyTorch: eager, PyTorch's default back end, and "cute", each as a CUDA graph.

    CUTE_TOOLS_DIR=FOLDER PYTHONPATH=python python tools/torch_bytes.py [--rows 16 4096]

FOLDER has cute-opt and libcute_native.so (of a release build); an installed wheel needs neither variable. For each number of rows it prints, for each way, the median of eight
rounds, what the first call took, and how far the result is from float32. Without a GPU sizes are small, all runs on the emulator, and times are not taken.
"""

import argparse
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

import cute_opt.torch  # noqa: F401

ON_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if ON_GPU else "cpu")
SIZE, WIDE = (4096, 14336) if ON_GPU else (128, 256)


class Bytes(nn.Module):
    """A linear layer with weights of bytes, and a scale for each of its results, as gpt-fast writes it."""

    def __init__(self, results, size):
        super().__init__()
        self.weight = torch.randint(-127, 128, (results, size), device=DEVICE, dtype=torch.int8)
        self.scale = (torch.rand(results, device=DEVICE) / 64 / size**0.5).half()

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype)) * self.scale.to(x.dtype)


class Mlp(nn.Module):
    """The gated MLP of a layer."""

    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = Bytes(WIDE, SIZE), Bytes(WIDE, SIZE), Bytes(SIZE, WIDE)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def captured(run):
    """A CUDA graph of a call."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph


def timed(graph):
    """Microseconds of a graph's replay."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(5):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 5 * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[16, 4096] if ON_GPU else [16])
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Mlp()
    for rows in options.rows:
        x = torch.randn(rows, SIZE, device=DEVICE).half()
        with torch.no_grad():
            exact = model(x.float())
            for way in ("eager", "inductor", "cute"):
                torch._dynamo.reset()
                call = model if way == "eager" else torch.compile(model, backend=way)
                start = time.perf_counter()
                found = call(x)
                if ON_GPU:
                    torch.cuda.synchronize()
                first = time.perf_counter() - start
                off = (found.float() - exact).abs().max() / exact.abs().max()
                took = ""
                if ON_GPU:
                    graph = captured(lambda: call(x))
                    took = f"{statistics.median(timed(graph) for _ in range(8)):.1f} us, "
                print(f"{rows} rows, {way}: {took}first call {first:.1f} s, off by {off.item():.1e} of the largest result", flush=True)


if __name__ == "__main__":
    main()
