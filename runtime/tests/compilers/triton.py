"""The kernel of triton.ptx: C = A B of 128 x 128 matrices of f16, by Triton 3.6 for sm_80."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def t_matmul(a, b, c, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, N, BK):
        x = tl.load(a + m[:, None] * N + (k0 + k)[None, :])
        y = tl.load(b + (k0 + k)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


if __name__ == "__main__":
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp16"}
    sizes = {"N": 128, "BM": 64, "BN": 64, "BK": 32}
    source = ASTSource(t_matmul, types | dict.fromkeys(sizes, "constexpr"), constexprs=sizes)
    options = {"num_warps": 4, "num_stages": 3}
    print(triton.compile(source, target=GPUTarget("cuda", 80, 32), options=options).asm["ptx"])
