"""Calls with PyTorch's tensors: structs of DLPack that are written in place, and the stream that PyTorch uses now."""

from __future__ import annotations

import ctypes
import logging
import struct
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch

from .._errors import CuteError
from .._package import _ERRORS, _TENSOR, Function, _cute, _Value

#: What is done otherwise than asked for, and why: `logging.getLogger("cute_opt.torch").setLevel(logging.INFO)`, or
#: `TORCH_LOGS=+cute_opt.torch`.
log = logging.getLogger("cute_opt.torch")

#: Element types: the name in IR, and DLPack's code and bits.
ELEMENTS = {
    torch.float16: ("f16", 2, 16),
    torch.bfloat16: ("bf16", 4, 16),
    torch.float32: ("f32", 2, 32),
    torch.float8_e4m3fn: ("f8E4M3FN", 10, 8),
    torch.float8_e5m2: ("f8E5M2", 12, 8),
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

    It is written for the plan, line by line, since it is what a program does for each kernel: it writes addresses, extents and strides into
    structs of DLPack that each thread has, and calls the library. The kernels are queued on the stream of the GPU that PyTorch uses now; on
    the host the emulator runs.
    """
    kind, index = _DEVICES[device.type], device.index or 0
    # Addresses of the structs, and of the numbers of all of them, which lie behind.
    count = len(plan.operands)
    starts, at = [], 48 * count
    for _, modes, _, _ in plan.operands:
        starts.append(at)
        at += 16 * len(modes)
    size = at
    numbers: List[str] = []
    for tensor, modes, _, _ in plan.operands:
        numbers += [f"e{extent}" for extent, _ in modes]
        for _, dim in modes:
            numbers.append("0" if dim is None else f"s{tensor}[{dim}]" if dim >= 0 else f"e{-1 - dim}")
    local = threading.local()

    def make() -> Any:
        """The structs of a thread."""
        memory = (ctypes.c_int64 * (size // 8))()
        base = ctypes.addressof(memory)
        values = (_Value * max(1, count))()
        for number, (value, start, (_, modes, dtype, _)) in enumerate(zip(values, starts, plan.operands)):
            value.kind, value.bits = _TENSOR, base + 48 * number
            _, code, bits = ELEMENTS[dtype]
            # DLTensor: data, device, dimensions, type, shape, strides, byte offset.
            head = (0, kind, index, len(modes), code, bits, 1, base + start, base + start + 8 * len(modes), 0)
            _HEAD.pack_into(memory, 48 * number, *head)
        local.state = (memory, values, ctypes.create_string_buffer(4096))
        return local.state

    def aligned(operand: int, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a tensor that lies where the kernel does not expect it. Only what is given can lie so."""
        align = plan.operands[operand][3]
        if tensor.data_ptr() % align == 0:
            return tensor
        log.info("%s: argument %d is copied, as it lies at %#x and not at a multiple of %d", function.name, operand, tensor.data_ptr(), align)
        return tensor.clone(memory_format=torch.preserve_format)

    def failed(code: int, error: Any) -> CuteError:
        return _ERRORS.get(code, CuteError)(error.value.decode())

    tensors = [f"t{at}" for at in range(plan.given + len(plan.made))]
    results = tensors[plan.given :]
    lines = [f"def {name}({', '.join(tensors[: plan.given])}):"]
    lines += [f"    e{at} = {extent}" for at, extent in enumerate(plan.extents)]
    lines += [f"    {result} = t0.new_empty({shape}, dtype=d{at})" for at, (result, (_, shape)) in enumerate(zip(results, plan.made))]
    used = sorted({tensor for tensor, modes, _, _ in plan.operands if any(dim is not None and dim >= 0 for _, dim in modes)})
    lines += [f"    p{at} = t{tensor}.data_ptr()" for at, (tensor, *_) in enumerate(plan.operands)]
    loose = [f"p{at} % {align}" for at, (tensor, _, _, align) in enumerate(plan.operands) if tensor < plan.given]
    lines.append(f"    if {' or '.join(loose)}:")
    for at, (tensor, *_) in enumerate(plan.operands):
        if tensor < plan.given:
            lines += [f"        t{tensor} = aligned({at}, t{tensor})", f"        p{at} = t{tensor}.data_ptr()"]
    lines += [f"    s{tensor} = t{tensor}.stride()" for tensor in used]
    lines += ["    try:", "        memory, values, error = local.state", "    except AttributeError:", "        memory, values, error = make()"]
    lines.append(f"    pack(memory, {48 * count}, {', '.join(numbers)})")
    lines += [f"    memory[{6 * at}] = p{at}" for at in range(count)]
    stream = f"stream({index})" if kind == 2 else "None"
    lines.append(f"    code = cute_call(package._handle, {function._number}, values, {count}, {stream}, error, 4096)")
    lines += ["    if code:", "        raise failed(code, error)"]
    lines.append(f"    return {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}")
    scope: Dict[str, Any] = {"aligned": aligned, "failed": failed, "make": make, "local": local, "package": function._package}
    scope["pack"] = struct.Struct(f"<{len(numbers)}q").pack_into
    scope["cute_call"] = _cute().cute_call
    scope["stream"] = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    scope.update({f"d{at}": dtype for at, (dtype, _) in enumerate(plan.made)})
    exec("\n".join(lines), scope)  # noqa: S102: the lines are ours, made of numbers
    made = scope[name]
    made.__module__ = __name__
    return made


_HEAD = struct.Struct("<QiiiBBHQQQ")
