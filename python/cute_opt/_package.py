"""Packages: their functions, called on tensors of any library that speaks DLPack."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from . import _tools
from ._errors import ArgumentTypeError, ArgumentValueError, CuteError, DeviceError, Diagnostic, FindingsError

_ERRORS = {1: ArgumentTypeError, 2: ArgumentValueError, 3: DeviceError, 4: FindingsError}
_CUDA = (2, 13)
_READ_ONLY = 1

# The numbers of `cute_value` (docs/export.md).
_DEFAULT, _INTEGER, _REAL, _TENSOR = 0, 1, 3, 7


class _Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("zero", ctypes.c_uint32), ("bits", ctypes.c_uint64)]


_library: Optional[ctypes.CDLL] = None


def _cute() -> ctypes.CDLL:
    """The library, loaded at the first use."""
    global _library
    if _library is None:
        library = ctypes.CDLL(_tools.find("libcute.so"))
        text: List[Any] = [ctypes.c_char_p, ctypes.c_size_t]
        library.cute_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t, *text]
        library.cute_open.restype = ctypes.c_uint64
        library.cute_close.argtypes = [ctypes.c_uint64, *text]
        library.cute_describe.argtypes = [ctypes.c_uint64, *text]
        library.cute_describe.restype = ctypes.c_size_t
        call: List[Any] = [ctypes.c_uint64, ctypes.c_size_t, ctypes.POINTER(_Value), ctypes.c_int32, ctypes.c_void_p]
        library.cute_call.argtypes = [*call, *text]
        _library = library
    return _library


class Package:
    """A kernel package: a mapping from the names of its functions."""

    def __init__(self, data: bytes) -> None:
        error = ctypes.create_string_buffer(4096)
        self._handle = 0
        self._data = bytes(data)
        self._handle = _cute().cute_open(self._data, len(self._data), error, len(error))
        if not self._handle:
            raise CuteError(error.value.decode())
        needed = _cute().cute_describe(self._handle, None, 0)
        text = ctypes.create_string_buffer(needed)
        _cute().cute_describe(self._handle, text, needed)
        #: What the package holds, as docs/package.md has it.
        self.manifest: Mapping[str, Any] = json.loads(text.value)
        #: The remarks and warnings of its compilation.
        self.diagnostics: Tuple[Diagnostic, ...] = ()
        functions = [Function(self, number, about) for number, about in enumerate(self.manifest["functions"])]
        self._functions: Dict[str, Function] = {function.name: function for function in functions}

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> Package:
        """Reads a package from a file."""
        with open(path, "rb") as file:
            return cls(file.read())

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the package into a file."""
        with open(path, "wb") as file:
            file.write(self._data)

    def export(self, folder: Union[str, "os.PathLike[str]"], name: str) -> str:
        """Writes the package as a library `libNAME.so` with headers into a folder, and returns its path (docs/export.md)."""
        import subprocess
        import tempfile

        with tempfile.TemporaryDirectory(prefix="cute-opt-") as temporary:
            path = os.path.join(temporary, f"{name}.cutepkg")
            self.save(path)
            command = [_tools.find("cute-run"), path, "--export", os.fspath(folder)]
            done = subprocess.run(command, capture_output=True, text=True, env=_tools.environment())
        if done.returncode != 0:
            raise CuteError(done.stderr.strip().removeprefix("error: "))
        return done.stdout.split(": ", 1)[0]

    @property
    def architectures(self) -> Tuple[str, ...]:
        """The architectures that the package has code for."""
        return tuple(image["arch"] for image in self.manifest["images"])

    def close(self) -> None:
        """Gives back what calls have loaded. Functions of a closed package cannot be called."""
        if self._handle:
            _cute().cute_close(self._handle, None, 0)
            self._handle = 0

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # At the end of the process the library may be gone before.
        if getattr(self, "_handle", 0) and _library is not None and not sys.is_finalizing():
            self.close()

    def __getitem__(self, name: str) -> Function:
        try:
            return self._functions[name]
        except KeyError:
            there = ", ".join(self._functions) or "none"
            raise KeyError(f"expected one of the package's functions, {there}; found {name!r}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def __repr__(self) -> str:
        return f"<cute_opt.Package of {', '.join(map(repr, self._functions.values()))} for {', '.join(self.architectures)}>"


class Function:
    """A function of a package."""

    def __init__(self, package: Package, number: int, about: Mapping[str, Any]) -> None:
        self._package, self._number = package, number
        #: What the package says of it.
        self.about = about
        #: The name.
        self.name: str = about["name"]
        #: The arguments, each with `kind`, `name`, and the element type and layout of a tensor or the type of a number.
        self.args: Tuple[Mapping[str, Any], ...] = tuple(about["args"])
        self._written = [arg.get("access", "read") != "read" for arg in self.args]

    def __call__(self, *arguments: Any, stream: Optional[int] = None) -> None:
        """Calls the function with tensors and numbers; None is the number that the package gives.

        Tensors are anything with `__dlpack__`. Those of a GPU are queued on a CUDA stream (its handle as an integer; that which PyTorch
        uses now, if it is loaded, else the default one), and the call returns at once. Those of the host run on the emulator.
        """
        package = self._package
        if not package._handle:
            raise CuteError(f"{self.name}: expected a package that is open, found one that was closed")
        values = (_Value * max(1, len(arguments)))()
        # What owns the tensors, until the call is over.
        kept: List[Any] = []
        device: Optional[Tuple[int, int]] = None
        for at, argument in enumerate(arguments):
            if argument is None:
                values[at].kind = _DEFAULT
            elif hasattr(argument, "__dlpack__"):
                pointer, where = self._tensor(at, argument, kept)
                values[at].kind, values[at].bits = _TENSOR, pointer
                device = device or where
            elif hasattr(argument, "__index__"):
                number = argument.__index__()
                if not -(1 << 63) <= number < 1 << 63:
                    raise ArgumentValueError(f"{self._place(at)}: expected an integer of 64 bits, found {number}")
                values[at].kind, values[at].bits = _INTEGER, number & (1 << 64) - 1
            elif hasattr(argument, "__float__"):
                values[at].kind = _REAL
                values[at].bits = int.from_bytes(ctypes.c_double(float(argument)), sys.byteorder)
            else:
                text = f"expected a tensor (anything with __dlpack__), a number or None, found {type(argument).__name__}"
                raise ArgumentTypeError(f"{self._place(at)}: {text}")
        if stream is None and device is not None and device[0] in _CUDA:
            stream = _current_stream(device[1])
        error = ctypes.create_string_buffer(4096)
        code = _cute().cute_call(package._handle, self._number, values, len(arguments), stream, error, len(error))
        if code:
            raise _ERRORS.get(code, CuteError)(error.value.decode())

    def _place(self, at: int) -> str:
        name = f" ({self.args[at]['name']})" if at < len(self.args) else ""
        return f"{self.name}: argument {at}{name}"

    def _tensor(self, at: int, argument: Any, kept: List[Any]) -> Tuple[int, Tuple[int, int]]:
        """The address of a DLTensor, and its device."""
        where = tuple(map(int, argument.__dlpack_device__()))
        # On a GPU nothing is waited for: the kernel is queued on the stream on which the tensor is used.
        how: Dict[str, Any] = {"stream": -1} if where[0] in _CUDA else {}
        try:
            try:
                capsule = argument.__dlpack__(max_version=(1, 0), **how)
            except TypeError:
                capsule = argument.__dlpack__(**how)
        except Exception as error:
            text = f"expected a tensor that can be handed over by DLPack, found one that refuses: {error}"
            raise ArgumentTypeError(f"{self._place(at)}: {text}") from error
        kept.append(capsule)
        name = _name(capsule)
        pointer = _pointer(capsule, name)
        if name == b"dltensor":
            return pointer, (where[0], where[1])
        # DLManagedTensorVersioned: version, context, deleter, flags, and the tensor.
        major = ctypes.c_uint32.from_address(pointer).value
        if major != 1:
            raise ArgumentTypeError(f"{self._place(at)}: expected a tensor of DLPack 1, found one of DLPack {major}")
        flags = ctypes.c_uint64.from_address(pointer + 24).value
        if flags & _READ_ONLY and at < len(self._written) and self._written[at]:
            raise ArgumentValueError(f"{self._place(at)}: expected a tensor that may be written, found one that may only be read")
        return pointer + 32, (where[0], where[1])

    def __repr__(self) -> str:
        def of(arg: Mapping[str, Any]) -> str:
            if arg["kind"] == "tensor":
                return f"{arg['name']}: {arg['element']} {arg['layout']}"
            default = f" = {arg['default']}" if arg.get("default") is not None else ""
            return f"{arg['name']}: {arg['type']}{default}"

        return f"{self.name}({', '.join(map(of, self.args))})"


def _name(capsule: Any) -> bytes:
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return get(capsule) or b""


def _pointer(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name) or 0


def _current_stream(gpu: int) -> int:
    torch = sys.modules.get("torch")
    return torch.cuda.current_stream(gpu).cuda_stream if torch is not None else 0
