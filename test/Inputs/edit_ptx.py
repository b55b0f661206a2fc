"""Writes a package with other PTX, whole otherwise: edit_ptx.py PACKAGE NEW OLD-TEXT NEW-TEXT.

The text must be there. The format is that of docs/package.md; cubins are left out, as they would not
be what the PTX says.
"""

import json
import struct
import sys
import zlib

source, target, old, new = sys.argv[1:]
data = open(source, "rb").read()
length = struct.unpack_from("<I", data, 20)[0]
manifest = json.loads(data[32:32 + length])
blobs = data[(32 + length + 15) // 16 * 16:]

section = b""
found = 0
for image in manifest["images"]:
    image.pop("cubin", None)
    if "ptx" not in image:
        continue
    at = image["ptx"]
    text = blobs[at["offset"]:at["offset"] + at["length"]]
    found += text.count(old.encode())
    text = text.replace(old.encode(), new.encode())
    section += b"\0" * (-len(section) % 16)
    image["ptx"] = {"offset": len(section), "length": len(text)}
    section += text
if not found:
    sys.exit(f"expected `{old}` in the PTX of {source}, found none")

text = json.dumps(manifest).encode()
contents = text + b"\0" * (-(32 + len(text)) % 16) + section
header = data[:12] + struct.pack("<QII", 32 + len(contents), len(text), zlib.crc32(contents))
header += struct.pack("<I", zlib.crc32(header))
with open(target, "wb") as file:
    file.write(header + contents)
