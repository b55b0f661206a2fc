"""Writes integers of 32 bits as an .npy file: npy.py FILE INTEGER..."""

import struct
import sys

path, *values = sys.argv[1:]
head = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(values)},)}}"
head += " " * (-(len(head) + 11) % 64) + "\n"
with open(path, "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    out.write(struct.pack(f"<{len(values)}i", *map(int, values)))
