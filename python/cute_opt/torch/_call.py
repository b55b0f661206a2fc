"""Calls with PyTorch's tensors, of which it is known what goes where."""

from __future__ import annotations

import logging
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch

from .._errors import CuteError
from .._package import Function

#: What is done otherwise than asked for, and why: `logging.getLogger("cute_opt.torch").setLevel(logging.INFO)`, or
#: `TORCH_LOGS=+cute_opt.torch`.
log = logging.getLogger("cute_opt.torch")

#: Element types: the name in IR, and DLPack's code and bits.
ELEMENTS = {
    torch.float16: ("f16", 2, 16),
    torch.bfloat16: ("bf16", 4, 16),
    torch.float32: ("f32", 2, 32),
    torch.int32: ("i32", 0, 32),
    torch.float8_e4m3fn: ("f8E4M3FN", 10, 8),
    torch.float8_e5m2: ("f8E5M2", 12, 8),
    torch.int8: ("i8", 0, 8),
    torch.uint8: ("ui8", 1, 8),
}

_DEVICES = {"cpu": 1, "cuda": 2}

#: An operand of a kernel: for each mode of its layout the extent of the call, and the dimension of the tensor whose stride it has, or
#: none where the stride is 0; -1 - E is for elements that are as far apart as the extent E is long.
Modes = Tuple[Tuple[int, Optional[int]], ...]


def device_name(device: torch.device) -> str:
    """The architecture that code for a device is compiled for. Tensors of the host run on the emulator."""
    if device.type == "cpu":
        return "sm_80"
    if device.type != "cuda":
        raise CuteError(f"expected tensors of an NVIDIA GPU or of the host, found some of {device}")
    major, minor = torch.cuda.get_device_capability(device)
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


class Plan(NamedTuple):
    """What a kernel is called with, in the words of the function that is made of it: tensors are `t0`, `t1` and so on, extents `e0`."""

    #: The number of tensors that are given.
    given: int
    #: An expression for each extent.
    extents: Sequence[str]
    #: Tensors that are made: their types, and expressions of their shapes. They are named behind those that are given.
    made: Sequence[Tuple[torch.dtype, str]]
    #: For each argument of the kernel its tensor, which is no other's, modes, type and alignment.
    operands: Sequence[Tuple[int, Modes, torch.dtype, int]]


def caller(name: str, function: Function, plan: Plan, device: torch.device) -> Callable[..., Any]:
    """Makes a Python function that takes tensors of a device, calls a kernel, and returns the tensors that were made.

    It is written for the plan, line by line, since it is what a program does for each kernel. The kernels are queued on the stream of the GPU
    that PyTorch uses now; on the host the emulator runs.
    """

    def copy(operand: int, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a tensor that lies where the kernel does not expect it, or whose elements are those in memory with the other sign."""
        align = plan.operands[operand][3]
        if tensor.is_neg():
            log.info("%s: argument %d is copied, as it has the negative bit", function.name, operand)
        else:
            log.info("%s: argument %d is copied, as it lies at %#x and not at a multiple of %d", function.name, operand, tensor.data_ptr(), align)
        return tensor.clone(memory_format=torch.preserve_format)

    operands = [(tensor, list(modes), ELEMENTS[dtype][1:], align) for tensor, modes, dtype, align in plan.operands]
    count = plan.given + len(plan.made)
    place = (_DEVICES[device.type], device.index or 0)
    kernel = function._package._native.kernel(function._number, function.name, place, count, len(plan.extents), operands, copy)
    types = {tensor: dtype for tensor, _, dtype, _ in plan.operands}

    made = _written(name, plan, types.get(0), kernel)
    # What it makes of shapes alone.
    made.fake = _written(name, plan, types.get(0), lambda *_: None)
    made.plan, made.device = plan, device
    return made


def _written(name: str, plan: Plan, first: Optional[torch.dtype], kernel: Callable[..., Any]) -> Any:
    """The function of a plan, around a kernel; `first` is the type of the first tensor, if that is known."""
    tensors = [f"t{at}" for at in range(plan.given + len(plan.made))]
    results = tensors[plan.given :]
    extents = [f"e{at}" for at in range(len(plan.extents))]
    lines = [f"def {name}({', '.join(tensors[: plan.given])}):"]
    lines += [f"    {extent} = {what}" for extent, what in zip(extents, plan.extents)]
    for at, (result, (dtype, shape)) in enumerate(zip(results, plan.made)):
        other = "" if first == dtype else f", dtype=d{at}"
        lines.append(f"    {result} = t0.new_empty({shape}{other})")
    lines.append(f"    kernel({', '.join([*tensors, *extents])})")
    lines.append(f"    return {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}")
    scope: Dict[str, Any] = {"kernel": kernel, **{f"d{at}": dtype for at, (dtype, _) in enumerate(plan.made)}}
    exec("\n".join(lines), scope)  # noqa: S102: the lines are ours, made of numbers
    made = scope[name]
    made.__module__ = __name__
    return made
