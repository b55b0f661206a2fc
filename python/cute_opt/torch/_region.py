"""Regions of kernels from PyTorch's element-wise operations: each computes in float32, and what is stored is rounded once."""

from __future__ import annotations

import math
import re
import struct
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import torch

from ._call import ELEMENTS

aten = torch.ops.aten

#: A number of the region: the name of an f32, or one that is known.
Number = Union[str, float]


class Region:
    """Lines of a region, as they are written."""

    def __init__(self) -> None:
        self.lines: List[str] = []
        self._known: Dict[str, str] = {}

    def line(self, text: str) -> str:
        """Adds `%N = text`, once, and returns its name."""
        if text not in self._known:
            self._known[text] = f"%v{len(self._known)}"
            self.lines.append(f"{self._known[text]} = {text}")
        return self._known[text]

    def name(self, number: Number) -> str:
        """The name of a number."""
        if isinstance(number, str):
            return number
        bits = struct.unpack("<I", struct.pack("<f", _single(number)))[0]
        return self.line(f"arith.constant 0x{bits:08X} : f32")

    def op(self, name: str, *numbers: Number) -> str:
        """The name of what an operation makes of numbers."""
        return self.line(f"{name} {', '.join(map(self.name, numbers))} : f32")

    def near(self, name: str, *numbers: Number) -> str:
        """The same, where two units in the last place do not matter, nor what lies below 2^-126: for a fifth of the instructions."""
        return self.line(f"{name} {', '.join(map(self.name, numbers))} fastmath<afn> : f32")

    def load(self, argument: str, dtype: torch.dtype) -> str:
        """The name of an argument as f32."""
        element = ELEMENTS[dtype][0]
        return argument if element == "f32" else self.line(f"arith.extf {argument} : {element} to f32")

    def store(self, number: Number, dtype: torch.dtype) -> str:
        """The name of a number, rounded to a type."""
        element = ELEMENTS[dtype][0]
        return self.name(number) if element == "f32" else self.line(f"arith.truncf {self.name(number)} : f32 to {element}")

    def needed(self, names: Sequence[str]) -> List[str]:
        """The lines that some names are computed by."""
        wanted, lines = set(names), []
        for line in reversed(self.lines):
            name, _, text = line.partition(" = ")
            if name in wanted:
                lines.append(line)
                wanted.update(re.findall(r"%\w+", text))
        return lines[::-1]

    def less(self, kind: str, a: Number, b: Number, then: Number, otherwise: Number) -> str:
        """The name of one of two numbers, by a comparison."""
        condition = self.line(f"arith.cmpf {kind}, {self.name(a)}, {self.name(b)} : f32")
        return self.line(f"arith.select {condition}, {self.name(then)}, {self.name(otherwise)} : f32")


def _single(number: float) -> float:
    try:
        struct.pack("<f", number)
        return number
    except OverflowError:
        return math.copysign(math.inf, number)


def _add(r: Region, a: Number, b: Number, *, alpha: float = 1) -> str:
    return r.op("arith.addf", a, b if alpha == 1 else r.op("arith.mulf", b, alpha))


def _sub(r: Region, a: Number, b: Number, *, alpha: float = 1) -> str:
    return r.op("arith.subf", a, b if alpha == 1 else r.op("arith.mulf", b, alpha))


def _rsub(r: Region, a: Number, b: Number, alpha: float = 1) -> str:
    return _sub(r, b, a, alpha=alpha)


def _of_sigmoid(r: Region, x: Number, by: Number) -> str:
    # A divisor is 1 at least, and one of 2^126 and more has a quotient that is 0 as eager mode's is to all but its last bits.
    return r.near("arith.divf", by, r.op("arith.addf", r.near("math.exp", r.op("arith.negf", x)), 1.0))


def _sigmoid(r: Region, x: Number) -> str:
    return _of_sigmoid(r, x, 1.0)


def _silu(r: Region, x: Number) -> str:
    return _of_sigmoid(r, x, x)


def _silu_backward(r: Region, grad: Number, x: Number) -> str:
    s = _sigmoid(r, x)
    rest = r.op("math.fma", x, r.op("arith.subf", 1.0, s), 1.0)
    return r.op("arith.mulf", r.op("arith.mulf", grad, s), rest)


_TANH = (math.sqrt(2 / math.pi), 0.044715)


def _inner(r: Region, x: Number) -> str:
    scale, cube = _TANH
    square = r.op("arith.mulf", x, x)
    return r.op("arith.mulf", r.op("arith.mulf", x, scale), r.op("math.fma", square, cube, 1.0))


def _gelu(r: Region, x: Number, *, approximate: str = "none") -> str:
    inside = r.op("math.tanh", _inner(r, x)) if approximate == "tanh" else r.op("math.erf", r.op("arith.mulf", x, math.sqrt(0.5)))
    half = r.op("arith.mulf", x, 0.5)
    return r.op("math.fma", half, inside, half)


def _gelu_backward(r: Region, grad: Number, x: Number, *, approximate: str = "none") -> str:
    square = r.op("arith.mulf", x, x)
    if approximate == "tanh":
        scale, cube = _TANH
        t = r.op("math.tanh", _inner(r, x))
        slope = r.op("arith.mulf", r.op("math.fma", square, 3 * cube, 1.0), scale)
        rest = r.op("arith.mulf", r.op("arith.subf", 1.0, r.op("arith.mulf", t, t)), slope)
        both = r.op("math.fma", x, rest, r.op("arith.addf", t, 1.0))
        return r.op("arith.mulf", grad, r.op("arith.mulf", both, 0.5))
    below = r.op("arith.mulf", r.op("arith.addf", r.op("math.erf", r.op("arith.mulf", x, math.sqrt(0.5))), 1.0), 0.5)
    density = r.op("arith.mulf", r.op("math.exp", r.op("arith.mulf", square, -0.5)), 1 / math.sqrt(2 * math.pi))
    return r.op("arith.mulf", grad, r.op("math.fma", x, density, below))


def _clamp(r: Region, x: Number, low: Optional[float] = None, high: Optional[float] = None) -> Number:
    if low is not None:
        x = r.op("arith.maximumf", x, low)
    return x if high is None else r.op("arith.minimumf", x, high)


def _leaky(r: Region, x: Number, slope: float = 0.01) -> str:
    return r.less("ogt", x, 0.0, x, r.op("arith.mulf", x, slope))


def _threshold_backward(r: Region, grad: Number, x: Number, threshold: float) -> str:
    return r.less("ole", x, threshold, 0.0, grad)


def _pow(r: Region, x: Number, exponent: float) -> Number:
    if exponent == 1:
        return x
    if exponent == 0.5:
        return r.op("math.sqrt", x)
    if exponent == -0.5:
        return r.op("math.rsqrt", x)
    square = r.op("arith.mulf", x, x)
    return square if exponent == 2 else r.op("arith.mulf", square, x if exponent == 3 else square)


def _same(r: Region, x: Number, **_: Any) -> Number:
    return x


def _plain(name: str) -> Callable[..., str]:
    return lambda r, *numbers: r.op(name, *numbers)


_OPS: Dict[Any, Callable[..., Number]] = {
    aten.add.Tensor: _add,
    aten.add.Scalar: lambda r, a, b, alpha=1: _add(r, a, b, alpha=alpha),
    aten.sub.Tensor: _sub,
    aten.sub.Scalar: lambda r, a, b, alpha=1: _sub(r, a, b, alpha=alpha),
    aten.rsub.Scalar: _rsub,
    aten.mul.Tensor: _plain("arith.mulf"),
    aten.mul.Scalar: _plain("arith.mulf"),
    aten.div.Tensor: _plain("arith.divf"),
    aten.div.Scalar: _plain("arith.divf"),
    aten.neg.default: _plain("arith.negf"),
    aten.abs.default: _plain("math.absf"),
    aten.exp.default: _plain("math.exp"),
    aten.log.default: _plain("math.log"),
    aten.sqrt.default: _plain("math.sqrt"),
    aten.rsqrt.default: _plain("math.rsqrt"),
    aten.tanh.default: _plain("math.tanh"),
    aten.erf.default: _plain("math.erf"),
    aten.sin.default: _plain("math.sin"),
    aten.cos.default: _plain("math.cos"),
    aten.reciprocal.default: lambda r, x: r.op("arith.divf", 1.0, x),
    aten.maximum.default: _plain("arith.maximumf"),
    aten.minimum.default: _plain("arith.minimumf"),
    aten.relu.default: lambda r, x: r.op("arith.maximumf", x, 0.0),
    aten.sigmoid.default: _sigmoid,
    aten.silu.default: _silu,
    aten.gelu.default: _gelu,
    aten.clamp.default: _clamp,
    aten.clamp_min.default: lambda r, x, low: _clamp(r, x, low),
    aten.clamp_max.default: lambda r, x, high: _clamp(r, x, None, high),
    aten.hardtanh.default: lambda r, x, low=-1.0, high=1.0: _clamp(r, x, low, high),
    aten.leaky_relu.default: _leaky,
    aten.pow.Tensor_Scalar: _pow,
    aten.threshold_backward.default: _threshold_backward,
    aten.gelu_backward.default: _gelu_backward,
    aten.silu_backward.default: _silu_backward,
    aten.sigmoid_backward.default: lambda r, grad, y: r.op("arith.mulf", grad, r.op("arith.mulf", y, r.op("arith.subf", 1.0, y))),
    aten.tanh_backward.default: lambda r, grad, y: r.op("arith.mulf", grad, r.op("arith.subf", 1.0, r.op("arith.mulf", y, y))),
    aten._to_copy.default: _same,
    aten.clone.default: _same,
    aten.alias.default: _same,
    aten.detach.default: _same,
    torch.ops.prims.convert_element_type.default: lambda r, x, _dtype: x,
}

def computes(node: torch.fx.Node) -> bool:
    """Tells whether regions have an operation, with these arguments."""
    if node.op != "call_function" or node.target not in _OPS or not is_number(node):
        return False
    numbers = (*node.args, *node.kwargs.values())
    if any(isinstance(one, torch.fx.Node) and not is_number(one) for one in numbers):
        return False
    if node.target is aten.pow.Tensor_Scalar:
        return node.args[1] in (0.5, -0.5, 1, 2, 3, 4)
    if node.target is aten._to_copy.default:
        return set(node.kwargs) <= {"dtype", "layout", "device", "pin_memory", "non_blocking"} and _stays(node)
    if node.target is aten.clone.default:
        return node.kwargs.get("memory_format") in (None, torch.preserve_format, torch.contiguous_format)
    scalars = [one for one in node.args if not isinstance(one, torch.fx.Node)]
    return all(one is None or isinstance(one, (int, float, str, torch.dtype)) and not isinstance(one, torch.SymInt) for one in scalars)


def _stays(node: torch.fx.Node) -> bool:
    source = node.args[0]
    return isinstance(source, torch.fx.Node) and source.meta["val"].device == node.meta["val"].device


def is_number(node: torch.fx.Node) -> bool:
    """Tells whether a node is a tensor of numbers that kernels read and write."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16, torch.float32)


def write(region: Region, node: torch.fx.Node, numbers: Dict[torch.fx.Node, Number]) -> Number:
    """The number that an operation makes; `numbers` are those of its arguments."""
    args: Sequence[Any] = [numbers[one] if isinstance(one, torch.fx.Node) else one for one in node.args]
    given = {name: numbers[one] if isinstance(one, torch.fx.Node) else one for name, one in node.kwargs.items()}
    if node.target in (aten._to_copy.default, aten.clone.default):
        given = {}
    of_sigmoid = _divisor_of_sigmoid(node)
    if of_sigmoid is not None:
        return _of_sigmoid(region, numbers[of_sigmoid], args[0] if node.target is aten.div.Tensor else 1.0)
    return _OPS[node.target](region, *args, **given)


def _divisor_of_sigmoid(node: torch.fx.Node) -> Optional[torch.fx.Node]:
    """The x of x / (1 + exp(-x)), and of 1 / (1 + exp(-x)), as Inductor writes SiLU and the sigmoid; none of other divisions."""
    by = {aten.div.Tensor: 1, aten.reciprocal.default: 0}.get(node.target)
    sum = node.args[by] if by is not None else None
    if not isinstance(sum, torch.fx.Node) or sum.target is not aten.add.Tensor or sum.kwargs:
        return None
    power = next((one for one, other in (sum.args, sum.args[::-1]) if other == 1), None)
    if not isinstance(power, torch.fx.Node) or power.target is not aten.exp.default:
        return None
    negative = power.args[0]
    if not isinstance(negative, torch.fx.Node) or negative.target is not aten.neg.default:
        return None
    x = negative.args[0]
    return x if isinstance(x, torch.fx.Node) and (by == 0 or node.args[0] is x) else None


def shape_of(node: torch.fx.Node) -> Tuple[Any, ...]:
    """The shape of a node's tensor."""
    return tuple(node.meta["val"].shape)
