"""Packages: their functions, called on tensors of any library that speaks DLPack."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Union

from . import _tools
from ._errors import ArgumentTypeError, ArgumentValueError, CuteError, Diagnostic

# Characters of the name of a library: a file's has 255, with what stands around it.
_LONGEST = 200


class Package:
    """A kernel package: a mapping from the names of its functions."""

    def __init__(self, data: Union[bytes, bytearray, memoryview]) -> None:
        try:
            self._data = bytes(memoryview(data))
        except TypeError as error:
            text = f"Package: expected the bytes of a package, found {type(data).__name__}; read a file by Package.load(path)"
            raise ArgumentTypeError(text) from error
        self._native = _tools.native().Package(self._data)
        #: What the package holds, as docs/package.md has it.
        self.manifest: Mapping[str, Any] = json.loads(self._native.manifest())
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

        if not isinstance(name, str):
            raise ArgumentTypeError(f"export: expected the name of a library, found {type(name).__name__}")
        # Names of C, as `cute-run` makes them of the file's.
        plain = "".join(one if one.isascii() and one.isalnum() else "_" for one in name)
        if not plain.strip("_") or "/" in name or len(plain) > _LONGEST:
            raise ArgumentValueError(
                f"export: expected a name with a letter or digit, of at most {_LONGEST} characters and without a slash, found {name!r}; "
                "the library is libNAME.so in the folder that is named first"
            )
        with tempfile.TemporaryDirectory(prefix="cute-opt-") as temporary:
            path = os.path.join(temporary, f"{plain}.cutepkg")
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
        self._native.close()

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *_: object) -> None:
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
        self._native = package._native.function(number)

    def __call__(self, *arguments: Any, stream: Optional[int] = None) -> None:
        """Calls the function with tensors and numbers; None is the number that the package gives.

        Tensors are anything with `__dlpack__`. Those of a GPU are queued on a CUDA stream (its handle as an integer; that which PyTorch
        uses now, if it is loaded, else the default one), and the call returns at once. Those of the host run on the emulator.

        What an argument raises when it is asked for its number or its tensor is the cause of an `ArgumentTypeError` that says which it is.
        """
        self._native(*arguments, stream=stream)

    def _place(self, at: int) -> str:
        name = f" ({self.args[at]['name']})" if at < len(self.args) else ""
        return f"{self.name}: argument {at}{name}"

    def __repr__(self) -> str:
        def of(arg: Mapping[str, Any]) -> str:
            if arg["kind"] == "tensor":
                return f"{arg['name']}: {arg['element']} {arg['layout']}"
            default = f" = {arg['default']}" if arg.get("default") is not None else ""
            return f"{arg['name']}: {arg['type']}{default}"

        return f"{self.name}({', '.join(map(of, self.args))})"
