"""Candidates whose kernels spill, or that the assembler refuses, are left out: by an assembler that says so of some kernels.

left_out.py FOLDER GEMM: compiles the file with several candidates, and prints what was tested.
"""

import json
import os
import shutil
import stat
import subprocess
import sys

folder, gemm = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
real = os.environ.get("CUTE_PTXAS") or subprocess.run(
    ["sh", "-c", "dirname $(command -v cute-opt)"], capture_output=True, text=True).stdout.strip() + "/../tools/bin/ptxas"
fake = os.path.join(folder, "ptxas")
with open(fake, "w") as file:
    file.write(f"""#!{sys.executable}
import os, subprocess, sys
source = next(word for word in sys.argv if word.endswith(".ptx"))
text = open(source).read()
if any(f".entry {{name}}(" in text for name in os.environ.get("REFUSED", "").split()):
    sys.exit("ptxas fatal: this kernel is not liked")
run = subprocess.run([{real!r}] + sys.argv[1:], capture_output=True, text=True)
log = run.stdout + run.stderr
for name in os.environ.get("SPILLS", "").split():
    at = log.find(f"Function properties for {{name}}\\n")
    if at >= 0:
        log = log[:at] + log[at:].replace("0 bytes spill stores", "24 bytes spill stores", 1)
sys.stderr.write(log)
sys.exit(run.returncode)
""")
os.chmod(fake, os.stat(fake).st_mode | stat.S_IXUSR)
package = os.path.join(folder, "gemm.cutepkg")


def compiled(options="", **environment):
    if os.path.exists(package):
        os.remove(package)
    command = ["cute-opt", gemm, f"--cute-compile=arch=sm_80 candidates=4 package={package} {options}", "-o", os.devnull]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CUTE_PTXAS": fake, **environment})


def manifest():
    run = subprocess.run(["cute-run", package, "--info", "--json"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def numbers():
    [choice] = manifest()["functions"][0]["choices"]
    return [candidate["number"] for candidate in choice["candidates"]]


def tuned():
    command = ["cute-run", package, "--tune", "--tune-by", "instructions", "--device", "emulator", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    results = json.loads(run.stdout)["results"]
    assert all(result["result"] == "right" for result in results), results
    return len(results)


whole = compiled()
assert whole.returncode == 0 and whole.stderr == "", whole.stderr
assert numbers() == [0, 1, 2, 3] and tuned() == 4
print("all are there where all can be had")

spilled = compiled(SPILLS="gemm_kernel_0 gemm_kernel_2")
assert spilled.returncode == 0, spilled.stderr
assert spilled.stderr.count("remark: candidate") == 2, spilled.stderr
assert "is left out: the kernel gemm_kernel_2 spills registers: 24 bytes stored" in spilled.stderr, spilled.stderr
assert numbers() == [1, 3] and tuned() == 2
for image in manifest()["images"]:
    assert [kernel["name"] for kernel in image["kernels"]] == ["gemm_kernel_1", "gemm_kernel_3"], image
    assert sorted(image["instructions"]) == ["gemm_kernel_1", "gemm_kernel_3"], image
run = subprocess.run(["cute-run", package, "--device", "emulator"], capture_output=True, text=True)
assert run.returncode == 0 and "right" in run.stdout, run.stdout + run.stderr
print("what spills is left out, and the first of the others runs")

refused = compiled(REFUSED="gemm_kernel_1", SPILLS="gemm_kernel_3", options="lineinfo=true")
assert refused.returncode == 0, refused.stderr
assert "is left out: ptxas rejects the PTX for sm_80: ptxas fatal: this kernel is not liked" in refused.stderr, refused.stderr
assert numbers() == [0, 2] and tuned() == 2
print("what is refused is left out")

command = ["cute-opt", gemm, f"--cute-compile=arch=sm_80,sm_90a candidates=3 package={package}", "-o", os.devnull]
run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CUTE_PTXAS": fake, "SPILLS": "gemm_kernel_1"})
assert run.returncode == 0 and run.stderr.count("remark") == 1, run.stderr
assert numbers() == [0, 2]
assert all([kernel["name"] for kernel in image["kernels"]] == ["gemm_kernel_0", "gemm_kernel_2"] for image in manifest()["images"])
print("it is left out for all architectures")

none = compiled(SPILLS="gemm_kernel_0 gemm_kernel_1 gemm_kernel_2 gemm_kernel_3")
assert none.returncode != 0 and not os.path.exists(package)
assert "and no candidate of the product is left" in none.stderr, none.stderr
print("where none is left it is an error")
