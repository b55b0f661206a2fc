"""Runs a command of which only the first line is read; prints that, what it says on stderr, and its status."""

import subprocess
import sys

run = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
print("first line:", run.stdout.readline().strip())
run.stdout.close()
print("stderr:", run.stderr.read().strip() or "nothing")
print("status:", run.wait())
