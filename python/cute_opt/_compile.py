"""Compiling: the program `cute-opt`, with its cache."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import List, Mapping, Optional, Union

from . import _tools
from ._errors import CompileError, CuteError, Diagnostic
from ._package import Package

#: The architecture of packages that only the emulator can run, where there is no GPU.
EMULATED = "sm_80"

_MESSAGE = re.compile(r"^(?:(<unknown>|.*?):(\d+)(?::(\d+))?: )?(error|warning|remark|note): (.*)$")


def compile(
    source: Union[str, "os.PathLike[str]"],
    arch: str = "native",
    *,
    cache: Union[bool, str, "os.PathLike[str]"] = True,
    **options: object,
) -> Package:
    """Compiles IR, as text or as the path of a file, into a package.

    `arch` is an architecture such as `sm_90a`, several with commas, or `native`: that of this machine's first GPU, and sm_80, for the
    emulator, where there is none. `options` are those of `cute-opt --cute-compile` by name: `tile="128x128x32"`, `candidates=8`, and
    `set={"D": 128, "T": "f16", "L": "(4,8):(8,1)"}` for parameters. What was
    compiled is kept in `cute-opt`'s cache, in the folder `cache` if that is one, unless it is False.

    Raises CompileError with diagnostics, each with its place.
    """
    text: Optional[str] = None
    if isinstance(source, str) and ("\n" in source or "(" in source and not os.path.exists(source)):
        text = source
    elif not os.path.isfile(source):
        raise CuteError(f"expected IR, or the path of a file with IR, found {os.fspath(source)!r}, which is no file")
    if arch == "native" and not _has_gpu():
        arch = EMULATED
    with tempfile.TemporaryDirectory(prefix="cute-opt-") as folder:
        package = os.path.join(folder, "package.cutepkg")
        command = [_tools.find("cute-opt"), "-" if text is not None else os.fspath(source)]
        command.append(f"--cute-compile={_options({**options, 'arch': arch, 'package': package})}")
        command += ["-o", os.devnull]
        if cache is not False:
            command.append("--cache" if cache is True else f"--cache={os.fspath(cache)}")
        done = subprocess.run(command, input=text, capture_output=True, text=True, env=_tools.environment())
        diagnostics = _diagnostics(done.stderr)
        if done.returncode != 0:
            errors = [str(one) for one in diagnostics if one.severity == "error"]
            said = "\n".join(errors) or done.stderr.strip() or f"cute-opt ended with {done.returncode}"
            raise CompileError(said, diagnostics)
        loaded = Package.load(package)
    loaded.diagnostics = tuple(diagnostics)
    return loaded


def _options(options: Mapping[str, object]) -> str:
    words: List[str] = []
    for name, value in options.items():
        said = _settings(value) if isinstance(value, Mapping) else str(value).lower() if isinstance(value, bool) else str(value)
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or not said or not isinstance(value, Mapping) and re.search(r"[\s{}\"']", said):
            raise CuteError(f"expected an option's name and a value without spaces or quotes, found {name}={said!r}")
        words.append(f"{name}={said}")
    return " ".join(words)


def _settings(values: Mapping[str, object]) -> str:
    """Values of parameters in quotes, as text that may have spaces and quotes of the other sort."""
    said = ",".join(f"{name}={value}" for name, value in values.items())
    quote = '"' if "'" in said else "'"
    if quote in said:
        raise CuteError(f"expected values with one sort of quotes, found {said!r}")
    return f"{quote}{said}{quote}"


def _diagnostics(text: str) -> List[Diagnostic]:
    found: List[Diagnostic] = []
    for line in text.splitlines():
        match = _MESSAGE.match(line)
        if not match:
            continue
        file, row, column, severity, message = match.groups()
        if file in (None, "<unknown>"):
            found.append(Diagnostic(severity, message))
        else:
            found.append(Diagnostic(severity, message, file, int(row), int(column) if column else None))
    return found


def _has_gpu() -> bool:
    import ctypes

    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    try:
        return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    except AttributeError:
        # A library of that name that is no driver, such as a stub.
        return False
