"""Writes damaged copies of a package.

usage: damage.py PACKAGE FOLDER: the copies in FOLDER are truncated.cutepkg, half.cutepkg (half of the
header), longer.cutepkg, newer.cutepkg and older.cutepkg (of another version), flipped.cutepkg (one bit
of the contents), header.cutepkg (one bit of the header), empty.cutepkg.
"""

import os
import sys

source, folder = sys.argv[1:]
data = open(source, "rb").read()


def write(name, damaged):
    with open(os.path.join(folder, name + ".cutepkg"), "wb") as file:
        file.write(damaged)


def flipped(at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


write("truncated", data[:-100])
write("half", data[:16])
write("longer", data + b"\0" * 16)
write("newer", data[:8] + (1000).to_bytes(4, "little") + data[12:])
write("older", data[:8] + (0).to_bytes(4, "little") + data[12:])
write("flipped", flipped(len(data) // 2))
write("header", flipped(13))
write("empty", b"")
