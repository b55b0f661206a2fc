"""Writes a matrix of f16, and what a tile of 32 x 128 has of it from row -1 and column -8 on: halo.py PREFIX ROWS COLUMNS"""

import sys

from npy import write

prefix, rows, columns = sys.argv[1], *map(int, sys.argv[2:])


def element(i, j):
    return (i * 31 + j * 7) % 1000 + 1 if 0 <= i < rows and 0 <= j < columns else 0


write(f"{prefix}.in.npy", "e", (rows, columns), [element(i, j) for i in range(rows) for j in range(columns)])
write(f"{prefix}.out.npy", "e", (32, 128), [element(i - 1, j - 8) for i in range(32) for j in range(128)])
