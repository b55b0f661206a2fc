"""How lit runs the tests of this folder.

The environment says where things are; `cargo xtask test` sets it:

- CUTE_TOOLS_DIR: cute-opt, cute-run, cute-layout and cute-fuzz; by default target/debug.
- LLVM_TOOLS_DIR: FileCheck, not, split-file, mlir-opt, mlir-runner; by default those on the path.
- CUTE_PTXAS: the assembler; where it is not set, cute-opt looks for it.
- CUTE_TEST_OUT: where tests may write; by default target/lit.
"""

import ctypes
import os
import shutil
import sys

import lit.formats

config.name = "cute-opt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# What is in gpu/ is compiled and run by `cargo xtask gpu-test`.
config.excludes = ["Inputs", "gpu"]

config.test_source_root = os.path.dirname(os.path.abspath(__file__))
target = os.environ.get("CARGO_TARGET_DIR") or os.path.join(config.test_source_root, "..", "target")
config.test_exec_root = os.path.abspath(os.environ.get("CUTE_TEST_OUT") or os.path.join(target, "lit"))

tools = os.environ.get("CUTE_TOOLS_DIR") or os.path.join(target, "debug")
folders = [tools, os.environ.get("LLVM_TOOLS_DIR", "")]
path = os.pathsep.join([os.path.abspath(f) for f in folders if f] + [os.environ.get("PATH", "")])
config.environment["PATH"] = path
for name in ["cute-opt", "cute-run", "cute-layout", "cute-fuzz", "FileCheck", "not", "split-file", "mlir-opt", "mlir-runner"]:
    if not shutil.which(name, path=path):
        lit_config.fatal(f"{name} not found in {folders} or on the path; set CUTE_TOOLS_DIR and "
                         "LLVM_TOOLS_DIR, or run `cargo xtask test`")

for name in ["CUTE_PTXAS", "TMPDIR"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Scripts in Inputs leave no compiled files in the source tree.
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"

config.substitutions.append(("%python", f'"{sys.executable}"'))
config.substitutions.append(("%inputs", os.path.join(config.test_source_root, "Inputs")))

try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    config.available_features.add("no-gpu")

# A command that hangs is an error, and not the end of the run. (lit can do it with psutil only.)
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = 300
