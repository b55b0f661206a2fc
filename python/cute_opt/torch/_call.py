"""Calls with PyTorch's tensors: structs of DLPack that are written in place, and the stream that PyTorch uses now."""

from __future__ import annotations

import ctypes
import logging
import struct
import threading
from typing import Any, List, Optional, Sequence, Tuple

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


class Kernel:
    """A function of a package with what it takes of tensors. Calls from any thread."""

    def __init__(self, function: Function, operands: Sequence[Modes], dtypes: Sequence[torch.dtype], aligns: Sequence[int]) -> None:
        self._function = function
        self._operands = tuple(operands)
        self._dtypes = tuple(dtypes)
        self._aligns = tuple(aligns)
        formats, self._offsets, at = ["<"], [], 0
        for modes in operands:
            # DLTensor: data, device, ndim, type, shape, strides, byte offset; then the numbers of both.
            formats.append(f"QiiiBBHQQQ{2 * len(modes)}q")
            self._offsets.append(at)
            at += 48 + 16 * len(modes)
        self._format = struct.Struct("".join(formats))
        self._local = threading.local()

    @property
    def function(self) -> Function:
        """The function that is called."""
        return self._function

    def _make(self) -> Any:
        """The structs of a thread."""
        count = len(self._operands)
        memory = (ctypes.c_uint64 * (self._format.size // 8))()
        base = ctypes.addressof(memory)
        values = (_Value * count)()
        heads = []
        for value, offset, modes, dtype in zip(values, self._offsets, self._operands, self._dtypes):
            value.kind, value.bits = _TENSOR, base + offset
            _, code, bits = ELEMENTS[dtype]
            numbers = base + offset + 48
            heads.append((len(modes), code, bits, 1, numbers, numbers + 8 * len(modes), 0))
        state = (memory, values, heads, ctypes.create_string_buffer(4096))
        self._local.state = state
        return state

    def __call__(self, extents: Sequence[int], tensors: Sequence[torch.Tensor]) -> None:
        """Queues the kernels on the stream of the tensors' GPU that PyTorch uses now; on the host, runs the emulator."""
        state = getattr(self._local, "state", None) or self._make()
        memory, values, heads, error = state
        device = tensors[0].device
        kind, index = _DEVICES.get(device.type, 0), device.index or 0
        numbers: List[int] = []
        kept: List[torch.Tensor] = []
        for at, tensor in enumerate(tensors):
            pointer = tensor.data_ptr()
            if pointer % self._aligns[at]:
                # Only what is read can lie so: outputs are new.
                log.info("%s: argument %d is copied, as it lies at %#x and not at a multiple of %d", self._function.name, at, pointer, self._aligns[at])
                tensor = tensor.clone(memory_format=torch.preserve_format)
                kept.append(tensor)
                pointer = tensor.data_ptr()
            if tensor.dtype != self._dtypes[at] or tensor.device != device:
                raise CuteError(
                    f"{self._function.name}: argument {at}: expected a tensor of {self._dtypes[at]} on {device}, found one of {tensor.dtype} on "
                    f"{tensor.device}"
                )
            strides = tensor.stride()
            modes = self._operands[at]
            numbers += (pointer, kind, index)
            numbers += heads[at]
            numbers += [extents[extent] for extent, _ in modes]
            numbers += [0 if dim is None else strides[dim] if dim >= 0 else extents[-1 - dim] for _, dim in modes]
        self._format.pack_into(memory, 0, *numbers)
        stream = torch._C._cuda_getCurrentRawStream(index) if kind == 2 else None
        function = self._function
        handle = function._package._handle
        code = _cute().cute_call(handle, function._number, values, len(tensors), stream, error, 4096)
        if code:
            raise _ERRORS.get(code, CuteError)(error.value.decode())
