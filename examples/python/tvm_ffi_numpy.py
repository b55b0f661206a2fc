"""Calls a function of an exported library (examples/add_one.mlir) through TVM-FFI, on arrays of numpy.

    pip install apache-tvm-ffi numpy
    python examples/python/tvm_ffi_numpy.py libadd_one.so

With tensors of PyTorch on a GPU the same call queues a kernel on PyTorch's current stream.
"""

import sys

import numpy as np
import tvm_ffi

module = tvm_ffi.load_module(sys.argv[1])
x = np.arange(5, dtype=np.float32)
y = np.zeros(5, dtype=np.float32)
module.add_one_cpu(tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(y))
print(y)
