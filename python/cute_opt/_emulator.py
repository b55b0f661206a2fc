"""Launches of any PTX on the emulator, which says what is wrong with a kernel. No GPU and no package is needed."""

from __future__ import annotations

import json
import numbers
import struct
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _tools
from ._errors import ArgumentTypeError, ArgumentValueError

#: Sizes of a grid, a block or a cluster: one number, or up to three.
Sizes = Union[int, Sequence[int]]


class Memory:
    """Memory of an `Emulator`. `memory + 16` points 16 bytes into it."""

    def __init__(self, emulator: Emulator, address: int, start: int) -> None:
        self._emulator, self._start = emulator, start
        #: The address, as a kernel gets it.
        self.address = address

    def __add__(self, offset: int) -> Memory:
        return Memory(self._emulator, self.address + offset, self._start)

    def read(self) -> bytes:
        """Returns the bytes of the whole memory: `numpy.frombuffer(y.read(), "f4")`."""
        return self._emulator._native.read(self._start)  # type: ignore[no-any-return]

    def write(self, contents: Any) -> None:
        """Writes bytes, or the elements of an array, from the address on."""
        self._emulator._native.write(self.address, _bytes("contents", contents))


class Finding:
    """A mistake of a kernel. Its text has the place, what is wrong, who and where, and what to do."""

    def __init__(self, text: str, fields: Dict[str, Any]) -> None:
        self._text = text
        #: What `cute-run --json` says of it.
        self.fields = fields
        #: The kind, such as `shared-race`.
        self.kind: str = fields["kind"]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Finding {self.kind}: {self._text.splitlines()[0]}>"


class Emulator:
    """A module of PTX, and memory that its launches share.

    `seed` decides the order of warps and of copies, `schedule` chooses an order that `cute-run --explore` has named, and `timeline` is for how many
    blocks of each launch `trace` has a timeline.
    """

    def __init__(
        self,
        ptx: str,
        seed: int = 0,
        arch: Optional[str] = None,
        max_instructions: Optional[int] = None,
        schedule: Optional[str] = None,
        timeline: int = 0,
    ) -> None:
        seed, timeline = _number("seed", seed, 64), _number("timeline", timeline, 32)
        if max_instructions is not None:
            max_instructions = _number("max_instructions", max_instructions, 64)
        self._native = _tools.native().Emulator(ptx, seed, arch, max_instructions, schedule, timeline)
        self._kernels: Dict[str, List[Tuple[str, int]]] = dict(self._native.kernels())
        self._count = 0

    @property
    def kernels(self) -> Dict[str, List[Tuple[str, int]]]:
        """The kernels: names and bytes of the parameters of each."""
        return dict(self._kernels)

    def memory(self, contents: Any, read_only: bool = False, align: int = 256, name: Optional[str] = None) -> Memory:
        """Allocates memory: with the elements of an array (or bytes), or so many bytes that nobody has written.

        To read what nobody has written is a finding, as a write to what is `read_only` is.
        """
        name = name or f"memory {self._count}"
        self._count += 1
        align = _number(f"{name}: align", align, 32)
        if isinstance(contents, numbers.Integral):
            address = self._native.memory(name, None, _number(f"{name}: bytes", contents, 64), align, read_only)
        else:
            address = self._native.memory(name, _bytes(name, contents), 0, align, read_only)
        return Memory(self, address, address)

    def launch(self, kernel: str, grid: Sizes = 1, block: Sizes = 32, args: Sequence[Any] = (), cluster: Sizes = 1, shared: int = 0) -> None:
        """Runs a kernel to its end. What is wrong with it is in `findings`.

        An argument is memory, a number (a float is one of the parameter's size), a scalar of numpy, or the bytes of a structure.
        """
        params = self._kernels.get(kernel)
        if params is None:
            raise ArgumentValueError(f"expected a kernel of the module ({', '.join(self._kernels)}), found {kernel!r}")
        if len(params) != len(args):
            names = ", ".join(name for name, _ in params)
            raise ArgumentTypeError(f"{kernel}: expected {len(params)} arguments ({names}), found {len(args)}")
        values = [_value(f"{kernel}: argument {name}", size, value) for (name, size), value in zip(params, args)]
        sizes = _sizes("grid", grid), _sizes("block", block), _sizes("cluster", cluster)
        self._native.launch(kernel, sizes, _number("shared", shared, 32), values)

    @property
    def findings(self) -> List[Finding]:
        """What is wrong with the launches so far, causes first."""
        return [Finding(text, json.loads(fields)) for text, fields in self._native.findings()]

    @property
    def report(self) -> Dict[str, Any]:
        """What the launches did: instructions, wavefronts, sectors, and what they printed."""
        return json.loads(self._native.report())  # type: ignore[no-any-return]

    @property
    def trace(self) -> str:
        """A timeline of the warps as JSON, which Perfetto shows; `timeline` says of how many blocks."""
        return self._native.trace()  # type: ignore[no-any-return]


def _sizes(what: str, sizes: Sizes) -> List[int]:
    given = [sizes] if isinstance(sizes, int) else list(sizes)
    if not 1 <= len(given) <= 3 or not all(isinstance(size, int) and 0 < size < 1 << 32 for size in given):
        raise ArgumentValueError(f"{what}: expected one to three positive numbers, found {sizes!r}")
    return given + [1] * (3 - len(given))


def _number(what: str, value: Any, bits: int) -> int:
    if not isinstance(value, numbers.Integral):
        raise ArgumentTypeError(f"{what}: expected a whole number, found {type(value).__name__}")
    if not 0 <= value < 1 << bits:
        raise ArgumentValueError(f"{what}: expected a number of at least 0 and of {bits} bits, found {value}")
    return int(value)


def _bytes(what: str, value: Any) -> bytes:
    dtype = getattr(value, "dtype", None)
    if getattr(dtype, "hasobject", False):
        raise ArgumentTypeError(f"{what}: expected elements that are numbers, found objects of Python ({dtype})")
    if hasattr(dtype, "newbyteorder") and dtype != dtype.newbyteorder("<"):
        raise ArgumentValueError(f"{what}: expected elements whose lowest byte comes first, as a GPU has them, found {dtype}; pass x.astype(x.dtype.newbyteorder('<'))")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if hasattr(value, "tobytes"):
        return value.tobytes()  # type: ignore[no-any-return]
    raise ArgumentTypeError(f"{what}: expected bytes or an array, found {type(value).__name__}")


def _value(what: str, size: int, value: Any) -> bytes:
    """The bytes of an argument for a parameter of that size."""
    if isinstance(value, Memory):
        value = value.address
    if isinstance(value, (bool, int)):
        if not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
            raise ArgumentValueError(f"{what}: expected a number of {8 * size} bits, found {value}")
        found = (value % (1 << 8 * size)).to_bytes(size, "little")
    elif type(value) is float:
        if size not in (2, 4, 8):
            raise ArgumentTypeError(f"{what}: expected a value of {size} bytes, found the number {value}")
        try:
            found = struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], value)
        except OverflowError as error:
            raise ArgumentValueError(f"{what}: expected a float of {8 * size} bits, found {value}") from error
    else:
        found = _bytes(what, value)
    if len(found) != size:
        raise ArgumentValueError(f"{what}: expected {size} bytes, found {len(found)}")
    return found
