"""Prints names and sizes of an ELF file's sections, or one section's bytes in hex: sections.py FILE [SECTION].

64 bits and little endian, as cubins are.
"""

import struct
import sys

data = open(sys.argv[1], "rb").read()
table = struct.unpack_from("<Q", data, 0x28)[0]
size, count, names = struct.unpack_from("<HHH", data, 0x3A)
headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
strings = headers[names][4]
found = False
for name, _, _, _, offset, length in headers:
    start = strings + name
    name = data[start:data.index(b"\0", start)].decode()
    if len(sys.argv) == 2:
        print(length, name)
    elif name == sys.argv[2]:
        print(data[offset:offset + length].hex())
        found = True
if len(sys.argv) > 2 and not found:
    sys.exit(f"expected a section {sys.argv[2]} in {sys.argv[1]}, found none")
