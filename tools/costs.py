#!/usr/bin/env python3
"""Measures what operations on integers cost on the GPU at hand: the times that `passes/simplify/src/cost.rs` weighs them by.

    tools/costs.py            measures, and prints a table in Markdown
    tools/costs.py ptx ROW    prints the kernel of a row (`div.u32 by 3`)

A kernel is one block of 1024 threads on each multiprocessor, all of whose warps execute an operation thousands of times on four numbers
each, in a loop that is written out. Its clock says how long that takes. Each number goes through the operation and then through an exclusive
or with one that nobody knows, so that no two operations become one; and what that takes is subtracted. A unit is an addition or an
exclusive or of 32 bits, which are one instruction each. Beside the units stands how many instructions ptxas makes of an operation. Divisions
by constants are measured as LLVM writes them. Needs a driver, `ptxas` and `nvdisasm`.
"""

import ctypes
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CHAINS, UNROLLED, TURNS, THREADS, ROUNDS = 4, 16, 64, 1024, 5

# The lines of each row: `X` is the number, `NEXT` the next one, `Y` and `W` others that nobody knows, `N` a number of bits, `D` a divisor, `T`
# and `U` scratch, `H` one of 32 bits, `P` a predicate. `|` separates lines.
BITS = {32: ("b32", "u32", "s32"), 64: ("b64", "u64", "s64")}


def rows():
    """The name, the width, and the lines of each row."""
    for width, (b, u, s) in BITS.items():
        yield f"add.{u}", width, f"add.{u} X, X, Y"
        yield f"sub.{u}", width, f"sub.{u} X, X, Y"
        yield f"shl.{b}", width, f"shl.{b} X, X, N"
        yield f"shl.{b} by 3", width, f"shl.{b} X, X, 3"
        yield f"shr.{u}", width, f"shr.{u} X, X, N"
        yield f"shr.{u} by 3", width, f"shr.{u} X, X, 3"
        yield f"shr.{s} by 3", width, f"shr.{s} X, X, 3"
        yield f"min.{u}", width, f"min.{u} X, X, Y"
        yield f"max.{s}", width, f"max.{s} X, X, Y"
        yield f"mul.lo.{u}", width, f"mul.lo.{u} X, X, Y"
        yield f"mul.lo.{u} by 5", width, f"mul.lo.{u} X, X, 5"
        yield f"mul.lo.{u} by 1001", width, f"mul.lo.{u} X, X, 1001"
        yield f"mul.hi.{u}", width, f"mul.hi.{u} X, X, Y"
        third, seventh = (0xAAAAAAAB, 0x24924925) if width == 32 else (0xAAAAAAAAAAAAAAAB, 0x2492492492492493)
        signed = 0x55555556 if width == 32 else 0x5555555555555556
        by = {
            f"div.{u} by 3": f"mul.hi.{u} T, X, {third} | shr.{u} {{}}, T, 1",
            f"div.{u} by 7": f"mul.hi.{u} T, X, {seventh} | sub.{u} U, X, T | shr.{u} U, U, 1 | add.{u} T, U, T | shr.{u} {{}}, T, 2",
            f"div.{s} by 3": f"mul.hi.{s} T, X, {signed} | shr.{u} U, T, {width - 1} | add.{u} {{}}, T, U",
            f"div.{s} by 8": f"shr.{s} T, X, {width - 1} | shr.{u} T, T, {width - 3} | add.{u} T, X, T | shr.{s} {{}}, T, 3",
        }
        for name, lines in by.items():
            number = name[-1]
            yield name, width, lines.format("X")
            product = f"mul.lo.{u} T, T, {number}" if number != "8" else f"shl.{b} T, T, 3"
            yield name.replace("div", "rem"), width, f"{lines.format('T')} | {product} | sub.{u} X, X, T"
        for name in ("div", "rem"):
            for kind in (u, s):
                yield f"{name}.{kind}, divisors that do not change", width, f"{name}.{kind} X, X, D"
                yield f"{name}.{kind}, with an or", width, f"or.{b} T, NEXT, D | {name}.{kind} X, X, T"
        yield f"setp.lt.{u}, selp.{b}", width, f"setp.lt.{u} P, X, Y | selp.{b} X, W, Y, P"
        yield f"setp.lt.{s}, selp.{b}", width, f"setp.lt.{s} P, X, Y | selp.{b} X, W, Y, P"
    yield "cvt.s64.s32, with an addition", 64, "cvt.u32.u64 H, X | cvt.s64.s32 T, H | add.u64 X, X, T"
    yield "cvt.u64.u32, with an addition", 64, "cvt.u32.u64 H, X | cvt.u64.u32 T, H | add.u64 X, X, T"
    yield "cvt.u32.u8, with an addition", 32, "and.b32 T, X, 255 | add.u32 X, X, T"


def kernel(width, lines):
    """The PTX of a row; without lines, that of what is around it."""
    b = BITS[width][0]
    body = []
    for at in range(UNROLLED):
        for chain in range(CHAINS):
            x = f"%x{chain}"
            for line in [] if lines is None else lines.split(" | "):
                names = {"X": x, "NEXT": f"%x{(chain + 1) % CHAINS}", "D": "%d", "Y": "%y", "W": "%w", "N": "%n"}
                names |= {"P": f"%p{chain}", "H": f"%h{chain}", "T": f"%v{chain}", "U": f"%u{chain}"}
                body.append(re.sub(r"\b[A-Z]+\b", lambda match: names[match[0]], line) + ";")
            body.append(f"xor.{b} {x}, {x}, %z{at % 2};")
    first = "\n".join(f"ld.global.{b} %x{chain}, [%from+{8 * chain}];" for chain in range(CHAINS))
    last = "\n".join(f"xor.{b} %x0, %x0, %x{chain};" for chain in range(1, CHAINS))
    return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)
.maxntid {THREADS}, 1, 1
{{
.reg .{b} %x<{CHAINS}>, %v<{CHAINS}>, %u<{CHAINS}>, %y, %w, %d, %z<2>; .reg .b32 %h<{CHAINS}>, %n, %i, %t, %b; .reg .b64 %from, %to, %s, %e, %o; .reg .pred %p<{CHAINS}>, %q;
ld.param.u64 %from, [from];
ld.param.u64 %to, [to];
mov.u32 %t, %tid.x;
mul.wide.u32 %o, %t, 8;
{first}
ld.global.{b} %y, [%from+64];
ld.global.{b} %w, [%from+72];
ld.global.{b} %z0, [%from+80];
ld.global.{b} %z1, [%from+88];
ld.global.{b} %d, [%from+96];
ld.global.b32 %n, [%from+104];
mov.u32 %i, {TURNS};
bar.sync 0;
mov.u64 %s, %clock64;
LOOP:
{chr(10).join(body)}
sub.s32 %i, %i, 1;
setp.ne.s32 %q, %i, 0;
@%q bra LOOP;
bar.sync 0;
mov.u64 %e, %clock64;
{last}
sub.s64 %e, %e, %s;
mov.u32 %b, %ctaid.x;
mad.wide.u32 %to, %b, {16 * THREADS}, %to;
add.s64 %to, %to, %o;
st.global.b64 [%to], %e;
st.global.{b} [%to+{8 * THREADS}], %x0;
ret;
}}
"""


class Gpu:
    """The first GPU, by its driver."""

    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        numbers = []
        # Multiprocessors, and the compute capability.
        for attribute in (16, 75, 76):
            number = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, device)
            numbers.append(number.value)
        self.blocks, self.arch = numbers[0], f"sm_{numbers[1]}{numbers[2]}"
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()
        self.source, self.target = ctypes.c_uint64(), ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(self.source), 256)
        self.call("cuMemAlloc_v2", ctypes.byref(self.target), 16 * THREADS * self.blocks)
        numbers = [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0, 0, 0, 0]
        numbers += [0x8F14E45FCEEA167A, 0x5A8DB9F4E7C1D203, 0xA3B1957C2D4E6F81, 0x7C6E5D4F3A2B1908, 0x1000000F5, 5]
        data = b"".join(number.to_bytes(8, "little") for number in numbers)
        self.call("cuMemcpyHtoD_v2", self.source, data, len(data))

    def call(self, name, *arguments):
        code = getattr(self.cu, name)(*arguments)
        if code:
            sys.exit(f"{name} failed: error {code} of the driver")

    def cycles(self, code):
        """The cycles of a kernel, as most blocks have them."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), code)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        parameters = (ctypes.c_void_p * 2)(ctypes.addressof(self.source), ctypes.addressof(self.target))
        times = []
        for _ in range(ROUNDS):
            self.call("cuLaunchKernel", function, self.blocks, 1, 1, THREADS, 1, 1, 0, None, parameters, None)
            self.call("cuCtxSynchronize")
            found = (ctypes.c_uint64 * 1)()
            per_block = []
            for block in range(self.blocks):
                self.call("cuMemcpyDtoH_v2", found, ctypes.c_uint64(self.target.value + 16 * THREADS * block), 8)
                per_block.append(found[0])
            times.append(statistics.median(per_block))
        self.call("cuModuleUnload", module)
        return min(times)


def assembled(ptx, arch):
    """The machine code of a kernel, and its instructions between the two readings of the clock."""
    with tempfile.TemporaryDirectory() as folder:
        source, code = Path(folder) / "k.ptx", Path(folder) / "k.cubin"
        source.write_text(ptx)
        subprocess.run(["ptxas", "-arch", arch, "-o", code, source], check=True)
        sass = subprocess.run(["nvdisasm", "-c", code], capture_output=True, text=True, check=True).stdout
        lines = [line for line in sass.splitlines() if re.search(r"/\*[0-9a-f]{4,}\*/\s", line)]
        clocks = [at for at, line in enumerate(lines) if "CLOCK" in line]
        # A division may be a routine behind the kernel, which is told by its calls.
        inside = lines[clocks[0] : clocks[-1]]
        calls = sum("CALL" in line for line in inside)
        return code.read_bytes(), len(inside), calls


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "ptx":
        [(_, width, lines)] = [row for row in rows() if row[0] == sys.argv[2]]
        return print(kernel(width, lines))
    gpu = Gpu()
    around = {}
    for width in BITS:
        code, instructions, _ = assembled(kernel(width, None), gpu.arch)
        # Nothing is left of exclusive ors with two numbers but one for each chain, so that this is the loop itself.
        around[width] = gpu.cycles(code), instructions
    count = CHAINS * UNROLLED
    found = {}
    for name, width, lines in rows():
        code, instructions, calls = assembled(kernel(width, lines), gpu.arch)
        cycles = (gpu.cycles(code) - around[width][0]) / (TURNS * count * THREADS / 32 / 4)
        found[name] = cycles, (instructions - around[width][1]) / count, calls, width
    unit = found["add.u32"][0] / 2
    print(f"{gpu.name}: a unit is {unit:.2f} cycles of a scheduler\n")
    print("| operation | units | instructions of SASS |\n| --- | --- | --- |")
    for name, (cycles, instructions, calls, width) in found.items():
        xor = width // 32
        text = f"{instructions - xor:.1f}" + (" and a routine" if calls else "")
        print(f"| `{name}` | {cycles / unit - xor:.1f} | {text} |")


if __name__ == "__main__":
    main()
