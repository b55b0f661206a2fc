"""IR of products of whole tensors, as text, and the kernels that were compiled of it."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import torch

from .._compile import compile
from .._errors import CuteError
from .._package import Function, Package
from ._call import ELEMENTS, Modes, device_name, log


class Leaf(NamedTuple):
    """An extent or a stride: a number, or one that a call brings and what it is a multiple of."""

    value: Optional[int]
    multiple: int = 1

    def __str__(self) -> str:
        if self.value is not None:
            return str(self.value)
        return "?" if self.multiple == 1 else f"?{{div={self.multiple}}}"


def open_leaf(value: int) -> Leaf:
    """A leaf that a call brings, as much a multiple as vectors can use."""
    return Leaf(None, next(step for step in (8, 4, 2, 1) if value % step == 0))


class Operand(NamedTuple):
    """A tensor of a function."""

    name: str
    dtype: torch.dtype
    extents: Tuple[Leaf, ...]
    strides: Tuple[Leaf, ...]
    modes: Modes
    #: The alignment of its address in bytes.
    align: int
    #: The leaves of each mode, where modes have several.
    nested: Tuple[int, ...] = ()

    def type(self, element: Optional[str] = None) -> str:
        """The type in IR; `element` in the place of that of its elements."""
        element = element or ELEMENTS[self.dtype][0]
        layout = ":".join(_tuple(leaves, self.nested) for leaves in (self.extents, self.strides))
        return f'!cute.memref<{element}, gmem, align<{self.align}>, "{layout}">'


class Made(NamedTuple):
    """A factor that is made of numbers of 8 bits."""

    #: The operation that makes longer ones of them, and their type in IR.
    conversion: str
    element: str
    #: The numbers by which they are multiplied.
    scale: Optional[Operand]


def _tuple(leaves: Sequence[Leaf], nested: Sequence[int]) -> str:
    """Leaves as a tuple of modes with so many of them each, or with one."""
    modes, left = [], list(map(str, leaves))
    for count in nested or [1] * len(left):
        mode, left = left[:count], left[count:]
        modes.append(mode[0] if count == 1 else f"({','.join(mode)})")
    return f"({','.join(modes)})"


def align_of(dtype: torch.dtype, strides: Sequence[Leaf]) -> int:
    """The alignment that is asked for: that of the longest vector, as far as rows have it."""
    bytes = ELEMENTS[dtype][2] // 8
    align = 16
    for leaf in strides:
        step = leaf.multiple if leaf.value is None else leaf.value
        if step in (0, 1):
            continue
        while align > bytes and step * bytes % align:
            align //= 2
    return max(align, bytes)


def product(
    a: Operand,
    b: Operand,
    outs: Sequence[Operand],
    extras: Sequence[Operand],
    region: Optional[Sequence[str]],
    tf32: bool,
    ends: Optional[Operand] = None,
    scales: Sequence[Operand] = (),
    made: Sequence[Optional[Made]] = (None, None),
) -> str:
    """The text of C = A B^T with what is done to it: lines of a region, without its first one, or none; `ends` are those of groups of rows, `scales` those of blocks of A
    and of B, and `made` says what A and B are made of."""
    factor = "tf32" if tf32 else None
    types = [a.type(factor), b.type(factor), *(out.type() for out in outs), *(extra.type() for extra in extras)]
    names = [f"%{one.name}" for one in (a, b, *outs, *extras)]
    first, last, behind = 2, 2 + len(outs), len(names)
    if ends is not None:
        types.append(ends.type())
        names.append(f"%{ends.name}")
    for scale in [*scales, *(one.scale for one in made if one is not None and one.scale is not None)]:
        types.append(scale.type())
        names.append(f"%{scale.name}")
    head = ", ".join(f'{name}: {kind} {{cute.name = "{name[1:]}"}}' for name, kind in zip(names, types))
    lines = [f"func.func @product({head}) {{"]
    lines.append(f"  cute.contract ins({names[0]}, {names[1]} : {types[0]}, {types[1]})")
    lines.append(f"    outs({', '.join(names[first:last])} : {', '.join(types[first:last])}) accumulate f32")
    if ends is not None:
        lines[-1] += f" groups M({names[behind]} : {types[behind]})"
    for at, scale in enumerate(scales):
        element, of = ELEMENTS[(a, b)[at].dtype][0], ELEMENTS[scale.dtype][0]
        lines[-1] += f" prologue {'AB'[at]} ins(%{scale.name} : {scale.type()}) {{"
        lines.append(f"  ^bb0(%x: {element}, %scale: {of}):")
        lines.append(f"    cute.yield %x, %scale : {element}, {of}")
        lines.append("  }")
    for at, one in enumerate(made):
        if one is None:
            continue
        # Registers have no sign: IR's conversion says it.
        given = [f"%x: {ELEMENTS[(a, b)[at].dtype][0].replace('ui8', 'i8')}"]
        body, result = [f"%y = {one.conversion} %x : {given[0][4:]} to {one.element}"], "%y"
        if one.scale is not None:
            given.append(f"%s: {one.element}")
            body.append(f"%z = arith.mulf %y, %s : {one.element}")
            result = "%z"
        read = "" if one.scale is None else f" ins(%{one.scale.name} : {one.scale.type()})"
        lines[-1] += f" prologue {'AB'[at]}{read} {{"
        lines.append(f"  ^bb0({', '.join(given)}):")
        lines += [f"    {line}" for line in [*body, f"cute.yield {result} : {one.element}"]]
        lines.append("  }")
    if region is not None:
        read = f" ins({', '.join(names[last:behind])} : {', '.join(types[last:behind])})" if extras else ""
        given = ["%sum: f32", *(f"%e{at}: {ELEMENTS[extra.dtype][0]}" for at, extra in enumerate(extras))]
        lines[-1] += f" epilogue{read} {{"
        lines.append(f"  ^bb0({', '.join(given)}):")
        lines += [f"    {line}" for line in region]
        lines.append("  }")
    lines += ["  return", "}", ""]
    return "\n".join(lines)


_Key = Tuple[str, str, Tuple[Tuple[str, object], ...]]

_packages: Dict[_Key, Package] = {}
# One for each package that somebody compiles, so that others are compiled beside it.
_compiling: Dict[_Key, threading.Lock] = {}
_all = threading.Lock()


def compiled_function(text: str, device: torch.device, options: Sequence[Tuple[str, object]] = ()) -> Function:
    """The function of a text that has one, compiled once in a process.

    Raises CompileError.
    """
    arch = device_name(device)
    if device.type == "cpu" and not any(name == "variants" for name, _ in options):
        # The emulator has no use for kernels of other speeds.
        options = [*options, ("variants", 1)]
    key = (text, arch, tuple(sorted(options)))
    with _all:
        own = _compiling.setdefault(key, threading.Lock())
    with own:
        package = _packages.get(key)
        if package is None:
            package = compile(text, arch, **dict(options))
            log.info("compiled %s for %s", package[next(iter(package))], arch)
            _packages[key] = package
    return package[next(iter(package))]


#: Texts that are compiled at the same time, at most: a process each, which has threads of its own.
_AT_ONCE = 8


def compile_ahead(texts: Iterable[Tuple[str, torch.device]], options: Sequence[Tuple[str, object]] = ()) -> None:
    """Compiles the functions of texts side by side, so that they are there when they are asked for. Errors are told then."""
    distinct = list(dict.fromkeys(texts))
    if len(distinct) < 2:
        return

    def one(given: Tuple[str, torch.device]) -> None:
        try:
            compiled_function(*given, options)
        except CuteError:
            pass

    with ThreadPoolExecutor(min(_AT_ONCE, len(distinct), os.cpu_count() or 1)) as pool:
        list(pool.map(one, distinct))


def compiled() -> int:
    """The number of packages that this process has compiled."""
    return len(_packages)
