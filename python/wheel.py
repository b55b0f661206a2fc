"""Makes the wheel: the module, the programs and the libraries, as one file for every Python from 3.9 on.

    python python/wheel.py TOOLS FOLDER

TOOLS has cute-opt, cute-run, libcute_native.so and libcute.so; the wheel goes into FOLDER, and its path is printed. Run by `cargo xtask wheel`.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
NAME = "cute_opt"
PROGRAMS = ["cute-opt", "cute-run"]
#: Commands; two are the compiler under another name.
COMMANDS = [*PROGRAMS, "cute-layout", "cute-lsp-server"]
#: The extension module, and what packages are exported into.
LIBRARIES = ["libcute_native.so", "libcute.so"]
#: `torch.compile(model, backend="cute")`: PyTorch looks there for back ends.
BACKEND = f"[torch_dynamo_backends]\ncute = {NAME}.torch:cute\n"

#: Libraries that a wheel for `manylinux` may expect (PEP 600); all others go with it.
EXPECTED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1"}
EXPECTED |= {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

#: The newest symbols of libstdc++ that are on every system with a glibc: (glibc, GLIBCXX). (Versions of GCC in distributions.)
LIBSTDCXX = [((2, 28), (3, 4, 25)), ((2, 34), (3, 4, 29)), ((2, 36), (3, 4, 30)), ((2, 38), (3, 4, 32)), ((2, 39), (3, 4, 33))]


def read(program, *options):
    return subprocess.run(["readelf", *options, str(program)], capture_output=True, text=True, check=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", read(path, "-dW"))


def versions(path, name):
    """The newest version of symbols that are needed."""
    found = re.findall(rf"\b{name}_(\d+(?:\.\d+)*)\b", read(path, "-VW"))
    return max((tuple(map(int, version.split("."))) for version in found), default=(0,))


def place(library, user):
    """The file of a library that a program is linked with."""
    listed = subprocess.run(["ldd", str(user)], capture_output=True, text=True, check=True).stdout
    match = re.search(rf"{re.escape(library)} => (/\S+)", listed)
    if not match:
        sys.exit(f"expected {library}, which {user} needs, on this machine; found none: install it")
    return pathlib.Path(match.group(1))


def glibc_of(files):
    """The oldest glibc with which all files run."""
    oldest = max(versions(file, "GLIBC")[:2] for file in files)
    if any("GLIBC_ABI_DT_RELR" in read(file, "-VW") for file in files):
        oldest = max(oldest, (2, 36))
    cxx = max(versions(file, "GLIBCXX") for file in files)
    suffices = [glibc for glibc, have in LIBSTDCXX if have >= cxx]
    if not suffices:
        sys.exit(f"expected symbols of libstdc++ up to GLIBCXX_{'.'.join(map(str, LIBSTDCXX[-1][1]))}, found {'.'.join(map(str, cxx))}: add a line to LIBSTDCXX")
    return max(oldest, suffices[0]) if cxx > (0,) else oldest


def metadata(version):
    text = (ROOT / "docs/python.md").read_text()
    return f"""Metadata-Version: 2.1
Name: cute-opt
Version: {version}
Summary: An open compiler for NVIDIA tensor-core kernels: CuTe's layouts and tensors as MLIR
License: Apache-2.0 WITH LLVM-exception
Requires-Python: >=3.9
Provides-Extra: ptxas
Requires-Dist: nvidia-cuda-nvcc>=13.0,<14; extra == "ptxas"
Description-Content-Type: text/markdown

{text}"""


def main(tools, folder):
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M).group(1)
    tools, folder = pathlib.Path(tools), pathlib.Path(folder)
    binaries = [tools / program for program in PROGRAMS]
    # Cargo leaves libraries in `deps`.
    binaries += [next((path for path in (tools / "deps" / name, tools / name) if path.is_file()), tools / name) for name in LIBRARIES]
    for binary in binaries:
        if not binary.is_file():
            sys.exit(f"expected {binary.name} in {tools}; found none: build it")
    contents = {}
    modes = {}
    for path in sorted((HERE / NAME).rglob("*")):
        if path.is_file() and path.suffix in (".py", ".typed"):
            contents[f"{NAME}/{path.relative_to(HERE / NAME).as_posix()}"] = path.read_bytes()
    # For programs in C that launch PTX.
    contents[f"{NAME}/include/cute_emulator.h"] = (ROOT / "runtime/library/include/cute_emulator.h").read_bytes()
    with tempfile.TemporaryDirectory() as temporary:
        files, queue = [], list(binaries)
        others = {}
        while queue:
            binary = queue.pop()
            files.append(binary)
            for name in needed(binary):
                if name not in EXPECTED and name not in others:
                    others[name] = place(name, binary)
                    queue.append(others[name])
        for binary, where in [(binary, "bin") for binary in binaries] + [(path, "lib") for path in others.values()]:
            name = next((name for name, path in others.items() if path == binary), binary.name)
            stripped = os.path.join(temporary, name)
            subprocess.run(["strip", "--strip-all", "-o", stripped, str(binary)], check=True)
            contents[f"{NAME}/{where}/{name}"] = pathlib.Path(stripped).read_bytes()
            modes[f"{NAME}/{where}/{name}"] = 0o755
        major, minor = glibc_of(files)
    # Python's own symbols are those of its stable interface, which every later version has.
    tag = f"cp39-abi3-manylinux_{major}_{minor}_{platform.machine()}"
    about = f"{NAME}-{version}.dist-info"
    scripts = "".join(f"{program} = {NAME}._tools:{program.replace('-', '_')}\n" for program in COMMANDS)
    contents[f"{about}/METADATA"] = metadata(version).encode()
    contents[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: cute-opt\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    contents[f"{about}/entry_points.txt"] = f"[console_scripts]\n{scripts}\n{BACKEND}".encode()
    contents[f"{about}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = f"{about}/RECORD"
    lines = []
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    contents[record] = "".join([*lines, f"{record},,\n"]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in contents.items():
            # The same contents are the same file.
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.external_attr = (modes.get(name, 0o644) | 0o100000) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data, compresslevel=9)
    print(wheel)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
