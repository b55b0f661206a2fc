"""Takes the configuration that an error message names ("...; tile=.. warps=.. stages=.. fits", or
"try tile=.."), and compiles with it.

usage: cure.py INPUT OPTIONS: the options are those of --cute-compile, and must be refused.
"""

import re
import subprocess
import sys

source, options = sys.argv[1:]


def compile_with(options):
    command = ["cute-opt", source, f"--cute-compile={options}", "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True)


refused = compile_with(options)
if refused.returncode == 0:
    sys.exit(f"expected an error for {options}")
print(refused.stderr)
found = re.search(r"; (?:try )?(tile=\S+ warps=\S+ stages=\d+)", refused.stderr)
if not found:
    sys.exit(f"no configuration is named for {options}")
# What was not named stays as it was asked for.
named = found.group(1)
kept = [o for o in options.split() if o.split("=")[0] not in ("tile", "warps", "stages")]
again = " ".join(kept + [named])
print("compiling with", again)
done = compile_with(again)
print(done.stderr)
if done.returncode != 0:
    sys.exit(f"the cure {again} for {options} does not compile")
