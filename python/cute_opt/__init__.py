"""Kernels for NVIDIA tensor cores from CuTe's layouts and tensors: compiled, called on any tensors, and looked at.

    >>> import cute_opt
    >>> package = cute_opt.compile("add_one.mlir")
    >>> package["add_one_cpu"](x, y)  # anything with __dlpack__: PyTorch on a GPU, numpy on the emulator
    >>> cute_opt.layout("((2,2),8):((1,4),2)").coalesce()

Compiling is the work of the program `cute-opt`, which this module starts; calls go through a small library. Nothing else is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import (
    ArgumentTypeError,
    ArgumentValueError,
    CompileError,
    CuteError,
    Diagnostic,
    DeviceError,
    FindingsError,
    LayoutError,
)
from ._version import __version__

if TYPE_CHECKING:
    from ._compile import compile
    from ._emulator import Emulator, Finding, Memory
    from ._layout import Layout, Value, evaluate, layout
    from ._package import Function, Package

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "CompileError",
    "CuteError",
    "DeviceError",
    "Diagnostic",
    "Emulator",
    "Finding",
    "FindingsError",
    "Function",
    "Layout",
    "LayoutError",
    "Memory",
    "Package",
    "Value",
    "__version__",
    "compile",
    "evaluate",
    "layout",
]

_PLACES = {
    "compile": "_compile",
    "Emulator": "_emulator",
    "Finding": "_emulator",
    "Memory": "_emulator",
    "Function": "_package",
    "Package": "_package",
    "Layout": "_layout",
    "Value": "_layout",
    "evaluate": "_layout",
    "layout": "_layout",
}


def __getattr__(name: str) -> Any:
    """Loads a part when it is first used, so that the module itself is there at once."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found
