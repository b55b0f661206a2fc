"""Prints the expressions of the examples that `cute-layout functions` shows, one a line, for `cute-layout batch`."""

import sys

for line in sys.stdin:
    expression, equals, _ = line.strip().rpartition(" = ")
    if equals:
        print(expression)
