"""Prints the fences of MLIR in a document as one file for cute-opt. No fence is an error."""

import re
import sys

fences = re.findall(r"^```mlir\n(.*?)^```$", open(sys.argv[1], encoding="utf-8").read(), re.M | re.S)
if not fences:
    sys.exit(f"{sys.argv[1]}: expected a fence of MLIR, found none")
print("\n// -----\n\n".join(fences))
