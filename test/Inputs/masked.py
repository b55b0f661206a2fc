"""Attention with a mask of which some elements are -inf, which no verification computes: makes the inputs and checks the output.

    masked.py make DIR M N     writes Q.npy, K.npy, V.npy and mask.npy, each of the shape (M, N, 8, 8)
    masked.py check DIR M N    compares O.npy, by f64 and a tolerance: rows without any key are NaN
"""

import ast
import math
import random
import struct
import sys

from npy import write

DEPTH = 8
SCALE = 0.25


def read(path):
    """The elements of a file by their index."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + length].decode())
    body = data[10 + length :]
    values = struct.unpack(f"<{len(body) // 2}e", body)
    strides, step = [], 1
    order = header["shape"] if header["fortran_order"] else header["shape"][::-1]
    for extent in order:
        strides.append(step)
        step *= extent
    if not header["fortran_order"]:
        strides.reverse()
    return lambda *index: values[sum(i * s for i, s in zip(index, strides))]


def visible(m, n, keys):
    """Tells whether a query sees a key: the first ones see none, others only late ones, early ones, or all."""
    if m < 3:
        return False
    return {0: n >= keys - 5, 1: n <= m % keys, 2: True}[m % 3]


def main():
    what, directory, m, n = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    rng = random.Random(7)
    draw = lambda rows: [[struct.unpack("<e", struct.pack("<e", rng.gauss(0, 1)))[0] for _ in range(DEPTH)] for _ in range(rows)]
    q, k, v = draw(m), draw(n), draw(n)
    mask = lambda i, j: 0.5 if visible(i, j, n) else -math.inf
    if what == "make":
        shape = (m, n, DEPTH, DEPTH)
        index = [(i, j, d, e) for i in range(m) for j in range(n) for d in range(DEPTH) for e in range(DEPTH)]
        write(f"{directory}/Q.npy", "e", shape, [q[i][d] for i, _, d, _ in index])
        write(f"{directory}/K.npy", "e", shape, [k[j][d] for _, j, d, _ in index])
        write(f"{directory}/V.npy", "e", shape, [v[j][e] for _, j, _, e in index])
        write(f"{directory}/mask.npy", "f", shape, [mask(i, j) for i, j, _, _ in index])
        return 0
    found = read(f"{directory}/O.npy")
    wrong = 0
    for i in range(m):
        scores = [sum(a * b for a, b in zip(q[i], k[j])) * SCALE + mask(i, j) for j in range(n)]
        largest = max(scores)
        powers = [math.exp(s - largest) if largest > -math.inf else math.nan for s in scores]
        for e in range(DEPTH):
            expected = sum(p * v[j][e] for j, p in enumerate(powers)) / sum(powers)
            value = found(i, 0, 0, e)
            same = math.isnan(value) if math.isnan(expected) else abs(value - expected) < 5e-3
            if not same and wrong < 5:
                print(f"O({i},{e}) is {value}, expected {expected}")
            wrong += not same
    print(f"{wrong} wrong of {m * DEPTH}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
