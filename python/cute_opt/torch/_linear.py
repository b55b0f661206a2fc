"""Products with gradients, as operations that PyTorch knows: `torch.ops.cute_opt.mm`."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch.utils._device import DeviceContext

from .._errors import ArgumentTypeError, ArgumentValueError
from ._call import ELEMENTS, Plan, caller
from ._text import Leaf, Operand, align_of, compiled_function, open_leaf, product

_FACTORS = (torch.float16, torch.bfloat16, torch.float32)

# Extents of a product, by number: rows, columns, what is summed over.
_M, _N, _K = range(3)

_kernels: Dict[Tuple[Any, ...], Callable[..., torch.Tensor]] = {}

# The kernels of products that were seen, by all that decides on the kernel and on whether matrices are taken as they are.
_seen: Dict[Tuple[Any, ...], Callable[..., torch.Tensor]] = {}
_MOST_SEEN = 4096


def _lies(tensor: torch.Tensor) -> Tuple[Tuple[bool, int], ...]:
    """What kernels are told of where a matrix's elements lie: for each dimension whether neighbours are beside each other, and otherwise
    what the stride is a multiple of."""
    sides = []
    inner = 1 if tensor.stride(1) == 1 else 0
    for dim in (0, 1):
        step = tensor.stride(dim)
        # A stride along one element says nothing.
        is_inner = dim == inner
        sides.append((is_inner, 8 if is_inner or tensor.shape[dim] == 1 else open_leaf(step).multiple))
    return tuple(sides)


def _beside(tensor: torch.Tensor) -> torch.Tensor:
    """The matrix, with neighbours beside each other along one dimension."""
    return tensor if 1 in tensor.stride() or tensor.numel() == 0 else tensor.contiguous()


def _operand(name: str, tensor: torch.Tensor, lies: Tuple[Tuple[bool, int], ...], extents: Tuple[int, int], dims: Tuple[int, int]) -> Operand:
    strides = tuple(Leaf(1) if lies[dim][0] else Leaf(None, lies[dim][1]) for dim in dims)
    modes = tuple(zip(extents, dims))
    return Operand(name, tensor.dtype, (Leaf(None), Leaf(None)), strides, modes, align_of(tensor.dtype, strides))


def _allows_tf32(device: torch.device) -> bool:
    return device.type == "cuda" and torch.backends.cuda.matmul.allow_tf32


def _run(a: torch.Tensor, b: torch.Tensor, bias: Optional[torch.Tensor]) -> torch.Tensor:
    (m, k), n = a.shape, b.shape[1]
    if 0 in (m, n, k):
        empty = a.new_zeros((m, n))
        return empty if bias is None else empty + bias
    asked = (a, b, bias)
    a, b = _beside(a), _beside(b)
    bias = None if bias is None else bias.contiguous()
    tf32 = a.dtype == torch.float32 and _allows_tf32(a.device)
    key = (a.dtype, a.device, tf32, _lies(a), _lies(b), open_leaf(n).multiple, bias is not None)
    found = _kernels.get(key)
    if found is None:
        operands = [
            _operand("A", a, _lies(a), (_M, _K), (0, 1)),
            _operand("B", b, _lies(b), (_N, _K), (1, 0)),
            _operand("C", a.new_empty((m, n)), ((False, open_leaf(n).multiple), (True, 8)), (_M, _N), (0, 1)),
        ]
        region: Optional[List[str]] = None
        extras: List[Operand] = []
        if bias is not None:
            element = ELEMENTS[a.dtype][0]
            strides = (Leaf(0), Leaf(1))
            extras.append(Operand("bias", a.dtype, (Leaf(None), Leaf(None)), strides, ((_M, None), (_N, 0)), 16))
            if element == "f32":
                region = ["%c = arith.addf %sum, %e0 : f32", "cute.yield %c : f32"]
            else:
                region = [
                    f"%b = arith.extf %e0 : {element} to f32",
                    "%x = arith.addf %sum, %b : f32",
                    f"%c = arith.truncf %x : f32 to {element}",
                    f"cute.yield %c : {element}",
                ]
        text = product(operands[0], operands[1], operands[2:], extras, region, tf32)
        function = compiled_function(text, a.device)
        given = 2 + len(extras)
        places = [0, 1, given, 2]
        arguments = [(place, one.modes, one.dtype, one.align) for place, one in zip(places, [*operands, *extras])]
        plan = Plan(given, ["t0.shape[0]", "t1.shape[1]", "t0.shape[1]"], [(a.dtype, "(e0, e1)")], arguments)
        found = _kernels[key] = caller("mm", function, plan, a.device)
    if all(one is other for one, other in zip(asked, (a, b, bias))):
        if len(_seen) >= _MOST_SEEN:
            _seen.clear()
        _seen[_looks(a, b, bias)] = found
    return found(a, b) if bias is None else found(a, b, bias)


def _looks(a: torch.Tensor, b: torch.Tensor, bias: Optional[torch.Tensor]) -> Tuple[Any, ...]:
    """All of a product's tensors that decides on its kernel."""
    looks = (a.dtype, a.device, a.shape, a.stride(), b.dtype, b.device, b.shape, b.stride(), torch.backends.cuda.matmul.allow_tf32)
    return looks if bias is None else (*looks, bias.dtype, bias.device, bias.shape, bias.stride())


def _check(a: torch.Tensor, b: torch.Tensor, bias: Optional[torch.Tensor]) -> None:
    for name, tensor, rank in [("a", a, 2), ("b", b, 2), ("bias", bias, 1)]:
        if tensor is not None and tensor.dim() != rank:
            raise ArgumentValueError(f"mm: {name}: expected {rank} dimensions, found {tensor.dim()}; reshape it")
        if tensor is not None and (tensor.dtype not in _FACTORS or tensor.dtype != a.dtype):
            raise ArgumentTypeError(f"mm: {name}: expected elements of one type of float16, bfloat16 and float32, found {tensor.dtype}; convert it")
        if tensor is not None and tensor.device != a.device:
            raise ArgumentValueError(f"mm: {name}: expected a tensor on {a.device}, as a is, found one on {tensor.device}; move it")
    if a.shape[1] != b.shape[0]:
        raise ArgumentValueError(f"mm: b: expected {a.shape[1]} rows, as many as a has columns, found {b.shape[0]}")
    if bias is not None and bias.shape[0] != b.shape[1]:
        raise ArgumentValueError(f"mm: bias: expected {b.shape[1]} numbers, as many as b has columns, found {bias.shape[0]}")


@torch.library.custom_op("cute_opt::mm", mutates_args=(), schema="(Tensor a, Tensor b, Tensor? bias=None) -> Tensor")
def _mm(a: torch.Tensor, b: torch.Tensor, bias: Optional[torch.Tensor] = None) -> torch.Tensor:
    _check(a, b, bias)
    return _run(a, b, bias)


@_mm.register_fake
def _(a: torch.Tensor, b: torch.Tensor, bias: Optional[torch.Tensor] = None) -> torch.Tensor:
    _check(a, b, bias)
    return a.new_empty((a.shape[0], b.shape[1]))


def _save(ctx: Any, inputs: Tuple[Any, ...], output: torch.Tensor) -> None:
    a, b, bias = inputs
    ctx.save_for_backward(a, b)
    ctx.has_bias = bias is not None


def _backward(ctx: Any, grad: torch.Tensor) -> Tuple[Optional[torch.Tensor], ...]:
    a, b = ctx.saved_tensors
    needs = ctx.needs_input_grad
    return (
        _mm(grad, b.t()) if needs[0] else None,
        _mm(a.t(), grad) if needs[1] else None,
        grad.sum(0) if ctx.has_bias and needs[2] else None,
    )


_mm.register_autograd(_backward, setup_context=_save)


_PLAIN = {torch.Tensor, torch.nn.Parameter}
# The numbers of modes that see operations (those that trace among them), and the transformation of functions that is under way. Where a
# version of PyTorch does not say so, all calls go through its dispatcher.
_function_modes = getattr(torch._C, "_len_torch_function_stack", None)
_function_mode = getattr(torch._C, "_get_function_stack_at", None)
_dispatch_modes = getattr(torch._C, "_len_torch_dispatch_stack", None)
_transformation = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", None)
_says_all = bool(_function_modes and _function_mode and _dispatch_modes and _transformation)


def _is_direct(*tensors: Optional[torch.Tensor]) -> bool:
    """Tells whether an operation on tensors is no more than its kernel: nobody traces, watches or derives it."""
    if not _says_all or torch.compiler.is_compiling():
        return False
    if any(one is not None and type(one) not in _PLAIN for one in tensors):
        return False
    if torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in tensors):
        return False
    # `torch.set_default_device` is a mode, too, but of functions that make tensors.
    watched = any(type(_function_mode(at)) is not DeviceContext for at in range(_function_modes()))
    return not (watched or _dispatch_modes()) and _transformation() is None


def _tensors(name: str, **given: Any) -> None:
    """Checks that arguments are tensors; there may be no bias."""
    for what, one in given.items():
        if not isinstance(one, torch.Tensor) and not (what == "bias" and one is None):
            raise ArgumentTypeError(f"{name}: {what}: expected a tensor, found {type(one).__name__}")


def mm(a: torch.Tensor, b: torch.Tensor, bias: Optional[torch.Tensor] = None) -> torch.Tensor:
    """Returns the product of two matrices, plus a number for each column: sums in float32, rounded once. It has gradients."""
    # PyTorch's dispatcher calls Python back, which takes several times as long as the call of the kernel.
    # That there are two is looked at first, as a type of no tensor's is none of those that are direct.
    if a is not None and b is not None and _is_direct(a, b, bias):
        found = _seen.get(_looks(a, b, bias))
        if found is not None:
            return found(a, b) if bias is None else found(a, b, bias)
    _tensors("mm", a=a, b=b, bias=bias)
    return torch.ops.cute_opt.mm(a, b, bias)


def linear(input: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor] = None) -> torch.Tensor:
    """Returns what `torch.nn.functional.linear` does, of products of cute-opt, forward and backward."""
    _tensors("linear", input=input, weight=weight, bias=bias)
    rows = input.reshape(-1, input.shape[-1])
    return mm(rows, weight.t(), bias).reshape(*input.shape[:-1], weight.shape[0])


class Linear(torch.nn.Linear):
    """The layer `torch.nn.Linear`, with products of cute-opt."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Returns the layer's output."""
        return linear(input, self.weight, self.bias)

    @classmethod
    def of(cls, layer: torch.nn.Linear) -> Linear:
        """Returns a layer that shares the parameters of another one."""
        made = cls.__new__(cls)
        torch.nn.Module.__init__(made)
        made.in_features, made.out_features = layer.in_features, layer.out_features
        made.weight, made.bias = layer.weight, layer.bias
        return made
