"""Writes .npy files. By itself, of integers of 32 bits: npy.py FILE INTEGER..."""

import struct
import sys

# The type as NumPy's files say it, by Python's letter for it.
TYPES = {"e": "<f2", "f": "<f4", "d": "<f8", "b": "|i1", "B": "|u1", "i": "<i4", "q": "<i8"}


def write(path, code, shape, values):
    """Writes values of a type, row by row, as a tensor of that shape."""
    head = f"{{'descr': '{TYPES[code]}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        out.write(struct.pack(f"<{len(values)}{code}", *values))


if __name__ == "__main__":
    path, *values = sys.argv[1:]
    write(path, "i", [len(values)], [int(value) for value in values])
