"""Converts every number of 8 bits: every_f8.py TYPE ARCH SCRATCH compiles a map of TYPE to f32, runs it on all 256 on the emulator, and compares
the bits, so that zeros of either sign, what has no leading one, infinities and what is no number are as they should be."""

import math
import struct
import subprocess
import sys

name, arch, scratch = sys.argv[1:]

TEXT = f"""!x = !cute.memref<{name}, gmem, align<16>, "(256):(1)">
!y = !cute.memref<f32, gmem, align<16>, "(256):(1)">
func.func @widen(%x: !x, %y: !y) {{
  cute.map ins(%x : !x) outs(%y : !y) {{
  ^bb0(%e: {name}):
    %w = arith.extf %e : {name} to f32
    cute.yield %w : f32
  }}
  return
}}
"""


def value(byte):
    sign = -1.0 if byte >> 7 else 1.0
    bits, bias = (3, 7) if name == "f8E4M3FN" else (2, 15)
    exponent, fraction = (byte & 0x7F) >> bits, byte & ((1 << bits) - 1)
    top = (0x7F >> bits) == exponent
    if name == "f8E4M3FN" and byte & 0x7F == 0x7F:
        return math.nan
    if name == "f8E5M2" and top:
        return math.nan if fraction else sign * math.inf
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - bits)
    return sign * (1 + fraction / (1 << bits)) * 2.0 ** (exponent - bias)


def npy(numbers):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(numbers)},), }}"
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}f", *numbers)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, **options)
    if done.returncode:
        sys.exit((done.stdout + done.stderr).decode())


package, given, found = (f"{scratch}.{end}" for end in ("cutepkg", "in.npy", "out.npy"))
run("cute-opt", "-", f"--cute-compile=arch={arch} package={package}", "-o", "/dev/null", input=TEXT.encode())
expected = [value(byte) for byte in range(256)]
with open(given, "wb") as file:
    file.write(npy(expected))
run("cute-run", package, "--device=emulator", "--no-verify", "--input", f"E0={given}", "--output", f"D0={found}")
data = open(found, "rb").read()
results = struct.unpack("<256f", data[10 + struct.unpack("<H", data[8:10])[0]:])
for byte, (one, other) in enumerate(zip(results, expected)):
    both = math.isnan(one) and math.isnan(other)
    if not both and (one != other or math.copysign(1, one) != math.copysign(1, other)):
        sys.exit(f"{name} {byte:#04x}: expected {other}, found {one}")
print("all of", name, "on", arch)
