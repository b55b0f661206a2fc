"""Runs a command and requires an exit status: status.py STATUS COMMAND..."""

import subprocess
import sys

expected, command = int(sys.argv[1]), sys.argv[2:]
status = subprocess.run(command).returncode
if status != expected:
    sys.exit(f"expected exit status {expected} of {' '.join(command)}, found {status}")
