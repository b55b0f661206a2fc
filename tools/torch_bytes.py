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

from torch_bench import DEVICE, ON_GPU, captured, of_bytes, timed, wait

SIZE, WIDE = (4096, 14336) if ON_GPU else (128, 256)
# Replays of a graph between two events.
REPLAYS = 5


class Mlp(nn.Module):
    """The gated MLP of a layer."""

    def __init__(self):
        super().__init__()
        layers = [(SIZE, WIDE), (SIZE, WIDE), (WIDE, SIZE)]
        self.gate, self.up, self.down = (nn.Linear(size, results, bias=False, device=DEVICE, dtype=torch.float16) for size, results in layers)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[16, 4096] if ON_GPU else [16])
    options = parser.parse_args()
    torch.manual_seed(0)
    model = of_bytes(Mlp())
    for rows in options.rows:
        x = torch.randn(rows, SIZE, device=DEVICE).half()
        with torch.no_grad():
            exact = model(x.float())
            for way in ("eager", "inductor", "cute"):
                torch._dynamo.reset()
                call = model if way == "eager" else torch.compile(model, backend=way)
                start = time.perf_counter()
                found = call(x)
                wait()
                first = time.perf_counter() - start
                off = (found.float() - exact).abs().max() / exact.abs().max()
                took = ""
                if ON_GPU:
                    replay = captured(lambda: call(x))
                    times = [timed(lambda: [replay() for _ in range(REPLAYS)]) / REPLAYS * 1e3 for _ in range(8)]
                    took = f"{statistics.median(times):.1f} us, "
                print(f"{rows} rows, {way}: {took}first call {first:.1f} s, off by {off.item():.1e} of the largest result", flush=True)


if __name__ == "__main__":
    main()
