//! Tests of the interpreter in numbers of their own: integers, each view's start against what its layout gives.
