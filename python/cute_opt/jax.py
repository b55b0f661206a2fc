"""JAX: functions of packages, called by XLA's foreign function interface, inside `jax.jit` and out of it.

    >>> import cute_opt.jax
    >>> c = cute_opt.jax.call(package["gemm"], a, b, outputs=jax.ShapeDtypeStruct((m, n), jnp.float32))

On a GPU the kernels are queued on XLA's stream; arrays of the CPU are computed with on the emulator.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Dict, List, Sequence, Union

try:
    import jax
    import numpy as np
except ImportError as _error:
    raise ImportError("expected JAX for cute_opt.jax, found none; install it: pip install jax") from _error

from . import _tools
from ._errors import ArgumentTypeError
from ._package import Function, Package

# What an argument is: the package's number, a number that is known, an array, a result.
_DEFAULT, _INTEGER, _REAL, _TENSOR, _RESULT = 0, 1, 3, 7, 8
_TARGET = "cute_opt_call"

_registering = threading.Lock()
_registered = False
# Programs of XLA name a package by its number, as long as the process runs.
_kept: Dict[int, Package] = {}


def _register() -> None:
    global _registered
    with _registering:
        if not _registered:
            for address, platform in zip(_tools.native().xla_handlers(), ["cpu", "CUDA"]):
                jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(address), platform=platform)
            _registered = True


def call(function: Function, *arguments: Any, outputs: Union[Any, Sequence[Any]]) -> Any:
    """Calls a function of a package, and returns what it writes.

    `arguments` are those that the function reads, in their order: arrays, and numbers that are known when JAX traces (None is the number
    that the package gives). `outputs` are the shape and type of what it writes, in the order of its arguments: a `jax.ShapeDtypeStruct`, or
    several. What it reads and writes is an argument and a result: the array that was given is left as it is.

    Arrays lie in the order of rows. Kernels have no derivatives: give them by `jax.custom_vjp`. `jax.vmap` calls once for each element.
    """
    if not isinstance(function, Function):
        raise ArgumentTypeError(f"call: expected a function of a package, such as package['gemm'], found {_kind(function)}")
    package = function._package
    handle = package._native.handle(function.name)
    given = list(arguments)
    results = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    for result in results:
        if not hasattr(result, "shape") or not hasattr(result, "dtype"):
            raise ArgumentTypeError(
                f"{function.name}: outputs: expected a jax.ShapeDtypeStruct for each tensor that is written, found {_kind(result)}; "
                "give shape and type, as in jax.ShapeDtypeStruct((m, n), jnp.float32)"
            )
    arrays: List[Any] = []
    kinds: List[int] = []
    values: List[int] = []
    aliases: Dict[int, int] = {}
    written = 0
    for at, arg in enumerate(function.args):
        access = arg.get("access", "read")
        if arg["kind"] == "tensor" and access != "read":
            if written == len(results):
                raise ArgumentTypeError(f"{function._place(at)}: expected its shape and type in `outputs`, found only {len(results)} of them")
            if access == "read_write":
                aliases[len(arrays)] = written
                arrays.append(_next(function, at, given))
            kinds.append(_RESULT)
            values.append(written)
            written += 1
        elif arg["kind"] == "tensor":
            array = _next(function, at, given)
            kinds.append(_TENSOR)
            values.append(len(arrays))
            arrays.append(array)
        else:
            number = given.pop(0) if given else None
            kind, value = _number(function, at, number)
            kinds.append(kind)
            values.append(value)
    if given or written < len(results):
        raise ArgumentTypeError(
            f"{function.name}: expected {len(arguments) - len(given)} arguments and {written} outputs, found {len(arguments)} and {len(results)}"
        )
    _register()
    _kept[handle] = package
    calling = jax.ffi.ffi_call(_TARGET, results, input_output_aliases=aliases, vmap_method="sequential")
    numbers = {"kinds": np.array(kinds, np.int64), "values": np.array(values, np.int64)}
    made = calling(*arrays, handle=np.int64(handle), function=np.int64(function._number), name=function.name, **numbers)
    return made if isinstance(outputs, (list, tuple)) else made[0]


def _kind(value: Any) -> str:
    return "None" if value is None else f"{value!r}" if isinstance(value, (int, float, str)) else type(value).__name__


def _next(function: Function, at: int, given: List[Any]) -> Any:
    if not given or given[0] is None or not hasattr(given[0], "dtype"):
        found = "none" if not given else type(given[0]).__name__
        raise ArgumentTypeError(f"{function._place(at)}: expected an array, found {found}")
    return given.pop(0)


def _number(function: Function, at: int, number: Any) -> Any:
    if number is None:
        return _DEFAULT, 0
    if isinstance(number, jax.core.Tracer):
        raise ArgumentTypeError(f"{function._place(at)}: expected a number that is known when JAX traces, found one that it traces; name it in static_argnums")
    try:
        whole = number.__index__() if hasattr(number, "__index__") else None
        real = float(number) if whole is None and hasattr(number, "__float__") else None
    except Exception as error:
        raise ArgumentTypeError(f"{function._place(at)}: expected a number, found one that raises: {error}") from error
    if whole is not None:
        value = whole
        if -(1 << 63) <= value < 1 << 63:
            return _INTEGER, value
    elif real is not None:
        return _REAL, ctypes.c_int64.from_buffer(ctypes.c_double(real)).value
    raise ArgumentTypeError(f"{function._place(at)}: expected a number of 64 bits or None, found {number!r}")
