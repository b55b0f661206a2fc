"""The programs and libraries that belong to this module."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, List, NoReturn, Optional

from ._errors import CuteError

_HERE = os.path.dirname(os.path.abspath(__file__))


def find(name: str) -> str:
    """Returns the path of a program or library: in `$CUTE_TOOLS_DIR`, in this package, or (programs) on the path."""
    folders: List[str] = []
    if os.environ.get("CUTE_TOOLS_DIR"):
        own = os.environ["CUTE_TOOLS_DIR"]
        # Cargo leaves libraries in `deps`.
        folders += [os.path.join(own, "deps"), own] if name.endswith(".so") else [own]
    folders.append(os.path.join(_HERE, "bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    if not name.endswith(".so"):
        from shutil import which

        found = which(name)
        if found:
            return found
    looked = ", ".join(folders)
    raise CuteError(f"expected {name} in {looked}, found none; install the wheel of cute-opt, or name the folder in CUTE_TOOLS_DIR")


_native: Any = None


def native() -> Any:
    """Returns the extension module that calls packages, loaded at the first use."""
    global _native
    if _native is None:
        from importlib.machinery import ExtensionFileLoader
        from importlib.util import module_from_spec, spec_from_file_location

        name, path = f"{__package__}._native", find("libcute_native.so")
        spec = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, path))
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        _native = module
    return _native


def environment() -> Dict[str, str]:
    """Returns the environment for programs: libraries that the wheel brings are found by it."""
    own = dict(os.environ)
    libraries = os.path.join(_HERE, "lib")
    if os.path.isdir(libraries):
        own["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [libraries, own.get("LD_LIBRARY_PATH", "")]))
    ptxas = None if own.get("CUTE_PTXAS") else _ptxas()
    if ptxas:
        own["CUTE_PTXAS"] = ptxas
    return own


def _ptxas() -> Optional[str]:
    """NVIDIA's assembler, if PyPI's nvidia-cuda-nvcc is installed: `pip install cute-opt[ptxas]`."""
    for folder in sys.path:
        path = os.path.join(folder, "nvidia", "cu13", "bin", "ptxas")
        if os.path.isfile(path):
            return path
    return None


def _become(name: str, program: Optional[str] = None) -> NoReturn:
    """Becomes a program, which is called by a name that may be another than its own."""
    os.execve(find(program or name), [name, *sys.argv[1:]], environment())


def cute_opt() -> NoReturn:
    """Becomes the program `cute-opt`."""
    _become("cute-opt")


def cute_lsp_server() -> NoReturn:
    """Becomes the language server, which is the same program as `cute-opt` under another name."""
    _become("cute-lsp-server", "cute-opt")


def cute_run() -> NoReturn:
    """Becomes the program `cute-run`."""
    _become("cute-run")


def cute_layout() -> NoReturn:
    """Becomes the program `cute-layout`, which is the same as `cute-opt` under another name."""
    _become("cute-layout", "cute-opt")
