"""A block of a transformer by `torch.compile(backend="cute")`: products with what follows them, norms and softmax are cute-opt's.

    pip install target/wheels/cute_opt-*.whl torch
    python examples/python/torch_compile.py

On a GPU if there is one, else on the emulator. The log says what was compiled, and what stays PyTorch's and why.
"""

import logging

import torch
import torch.nn.functional as F
from torch import nn

import cute_opt.torch  # noqa: F401  (an installed wheel needs no import: PyTorch finds the back end by its name)

logging.basicConfig(format="%(message)s")
logging.getLogger("cute_opt.torch").setLevel(logging.INFO)


class Mlp(nn.Module):
    def __init__(self, size, wide):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.gate, self.up, self.down = (nn.Linear(*sizes, bias=False) for sizes in [(size, wide), (size, wide), (wide, size)])

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


device, size = ("cuda", 1024) if torch.cuda.is_available() else ("cpu", 64)
torch.manual_seed(0)
model = Mlp(size, 2 * size).to(device, torch.float16)
compiled = torch.compile(model, backend="cute")
with torch.no_grad():
    # Other batches take the same kernels.
    for batch in (4, 6, 9):
        x = torch.randn(batch, 16, size, device=device, dtype=torch.float16)
        error = (compiled(x).float() - model.float()(x.float())).abs().max().item()
        model.half()
        print(f"batch {batch}: largest difference from float32 {error:.4f}")
        if error > 0.05:
            raise SystemExit("the results differ")
