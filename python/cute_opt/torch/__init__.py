"""PyTorch: products with gradients, packages as operations, and `torch.compile(model, backend="cute")`.

    >>> import cute_opt.torch
    >>> y = cute_opt.torch.linear(x, weight, bias)
    >>> model = torch.compile(model, backend="cute")

Tensors of a GPU are computed with on PyTorch's current stream; those of the host on the emulator.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as _error:
    raise ImportError("expected PyTorch for cute_opt.torch, found none; install it: pip install torch") from _error

from ._backend import cute, register
from ._linear import Linear, linear, mm
from ._ops import op

register()

__all__ = ["Linear", "cute", "linear", "mm", "op"]
