"""Compares conversions with what numbers of Python give: conversions.py KERNELS PREFIX FROM TO..."""

import math
import random
import subprocess
import sys

from npy import write

# Bits of a fraction, the least exponent of a number with a leading one, the largest number; whether more than that becomes it.
FLOATS = {"f8E4M3FN": (3, -6, 448.0, True), "f8E5M2": (2, -14, 57344.0, True), "f16": (10, -14, 65504.0, False), "bf16": (7, -126, 3.3e38, False),
          "f32": (23, -126, 3.4e38, False), "f64": (52, -1022, 1.7e308, False)}
# The letters of types in files; those of others are f32.
CODES = {"f16": "e", "f64": "d", "i8": "b", "ui8": "B", "i32": "i", "i64": "q"}


def integer(ty):
    bits = int(ty.lstrip("ui"))
    return (0, 2**bits - 1) if ty.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def rounded(x, ty):
    """The nearest number, of two the even one."""
    fraction, least, most, saturates = FLOATS[ty]
    if x == 0:
        return x
    step = 2.0 ** (max(math.frexp(x)[1] - 1, least) - fraction)
    result = round(x / step) * step
    return math.copysign(most, x) if saturates and abs(result) > most else float(result)


def converted(x, source, target):
    if target in FLOATS:
        return rounded(float(x), target)
    least, most = integer(target)
    if source in FLOATS:
        return max(least, min(most, math.trunc(x)))
    return (x - least) % (most - least + 1) + least


def values_of(source, target):
    """256 numbers of a type, at the ends of what the other one has, and by chance."""
    chance = random.Random(source + target)
    if source in FLOATS:
        most = FLOATS[source][2]
        if target in FLOATS and not FLOATS[target][3]:
            most = min(most, FLOATS[target][2] * 0.99)
        ends = [0.0, 0.5, 1.5, 2.5, 126.5, 127.5, 128.0, 255.5, 256.0, 447.0, 464.0, 465.0, 32767.5, 57344.0, 61440.0, 65504.0, 1e5, 2.5e9, 2.0**-9, 2.0**-10, 1.5 * 2.0**-10]
        values = [sign * x for x in ends for sign in (1, -1)]
        values += [chance.uniform(-1, 1) * 2.0 ** chance.randrange(-12, 34) for _ in range(300)]
        values = [rounded(x, source) for x in values]
        return ([x for x in values if abs(x) <= most] * 2)[:256]
    least, most = integer(source)
    if target in ("f16",):
        least, most = max(least, -65000), min(most, 65000)
    ends = [x for x in (0, 1, -1, 127, 128, -128, 255, 256, 448, 464, 465, 32767, 65535, 2**24 + 1, 2**24 + 3, least, most) if least <= x <= most]
    return (ends + [chance.randint(least, most) >> chance.randrange(0, 8) for _ in range(256)])[:256]


kernels, prefix, source, *targets = sys.argv[1:]
for target in targets:
    package, given, wanted = (f"{prefix}.{source}.{target}.{end}" for end in ("cutepkg", "in.npy", "out.npy"))
    subprocess.run(["cute-opt", kernels, f"--cute-compile=arch=sm_90a set=T={source},U={target} package={package}", "-o", "/dev/null"], check=True)
    values = values_of(source, target)
    write(given, CODES.get(source, "f"), (32, 8), values)
    write(wanted, CODES.get(target, "f"), (32, 8), [converted(x, source, target) for x in values])
    command = ["cute-run", package, "--function=convert", "--device=emulator", f"--input=from={given}", f"--expect=to={wanted}", "--tolerance=to=0,0"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{source} to {target}:\n{done.stdout}{done.stderr}")
