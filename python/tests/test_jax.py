"""Tests of `cute_opt.jax` on the emulator: skipped, which is said, where JAX is not installed.

CUTE_TOOLS_DIR has cute-opt, cute-run, libcute_native.so and libcute.so; without it, the module's own (of a wheel) are used.
"""

import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if os.environ.get("CUTE_TOOLS_DIR"):
    sys.path.insert(0, str(ROOT / "python"))

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    jax = None


def setUpModule():
    if jax is None:
        raise unittest.SkipTest("JAX is not installed, so that cute_opt.jax was not tried; pip install jax")


TEXT = """
!m = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
!c = !cute.memref<f32, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
func.func @gemm(%A: !m, %B: !m, %C: !c, %alpha: f32 {cute.name = "alpha", cute.default = 1.0 : f32}) {
  cute.contract ins(%A, %B : !m, !m) outs(%C : !c) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.mulf %sum, %alpha : f32
    cute.yield %c : f32
  }
  return
}
func.func @add(%A: !m, %B: !m, %C: !c) {
  cute.contract ins(%A, %B : !m, !m) outs(%C : !c) accumulate f32 epilogue ins(%C : !c) {
  ^bb0(%sum: f32, %before: f32):
    %c = arith.addf %sum, %before : f32
    cute.yield %c : f32
  }
  return
}
"""


class Raises:
    """A number that cannot be asked."""

    def __float__(self):
        raise ArithmeticError("none today")


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if jax is None:
            return
        import cute_opt
        import cute_opt.jax

        cls.cute = cute_opt
        cls.package = cute_opt.compile(TEXT, arch="sm_80", variants=1, cache=False)
        keys = jax.random.split(jax.random.key(0), 3)
        cls.a, cls.b = (jax.random.randint(key, shape, -4, 4).astype(jnp.float16) for key, shape in zip(keys, [(20, 16), (24, 16)]))
        cls.c = jax.random.randint(keys[2], (20, 24), -4, 4).astype(jnp.float32)
        cls.product = cls.a.astype(jnp.float32) @ cls.b.astype(jnp.float32).T
        cls.shape = jax.ShapeDtypeStruct((20, 24), jnp.float32)

    def gemm(self, *arguments, **options):
        return self.cute.jax.call(self.package["gemm"], *arguments, **{"outputs": self.shape, **options})

    def test_alone_and_in_jit(self):
        for alpha, factor in [((), 1), ((None,), 1), ((0.5,), 0.5), ((2,), 2)]:
            self.assertTrue((self.gemm(self.a, self.b, *alpha) == factor * self.product).all())
        jitted = jax.jit(lambda a, b: self.gemm(a, b) + 1)
        self.assertTrue((jitted(self.a, self.b) == self.product + 1).all())
        # XLA's own layouts are brought into the order of rows.
        turned = jax.jit(lambda a, b: self.gemm(a.T, b, outputs=self.shape))
        self.assertTrue((turned(self.a.T, self.b) == self.product).all())

    def test_what_is_read_and_written_is_left_as_it_was(self):
        before = self.c + 0
        result = self.cute.jax.call(self.package["add"], self.a, self.b, self.c, outputs=[self.shape])
        self.assertTrue((result[0] == self.product + before).all())
        self.assertTrue((self.c == before).all())

    def test_derivatives_and_batches(self):
        @jax.custom_vjp
        def matmul(a, b):
            return self.gemm(a, b, outputs=jax.ShapeDtypeStruct((a.shape[0], b.shape[0]), jnp.float32))

        def backward(kept, grad):
            a, b = kept
            grad = grad.astype(jnp.float16)
            return matmul(grad, b.T).astype(a.dtype), matmul(grad.T, a.T).astype(b.dtype)

        matmul.defvjp(lambda a, b: (matmul(a, b), (a, b)), backward)
        a = self.a[:16]
        ours = jax.grad(lambda a, b: matmul(a, b).sum(), argnums=(0, 1))(a, self.b)
        theirs = jax.grad(lambda a, b: (a.astype(jnp.float32) @ b.astype(jnp.float32).T).sum(), argnums=(0, 1))(a, self.b)
        for mine, other in zip(ours, theirs):
            self.assertTrue((mine == other).all())
        batch = jnp.stack([self.a, 2 * self.a])
        self.assertTrue((jax.vmap(lambda a: self.gemm(a, self.b))(batch)[1] == 2 * self.product).all())

    def test_the_package_is_kept(self):
        package = self.cute.compile(TEXT, arch="sm_80", variants=1)
        jitted = jax.jit(lambda a, b: self.cute.jax.call(package["gemm"], a, b, outputs=self.shape))
        jitted(self.a, self.b)
        del package
        self.assertTrue((jitted(self.a, self.b) == self.product).all())

    def test_a_package_that_was_closed(self):
        package = self.cute.compile(TEXT, arch="sm_80", variants=1, cache=False)
        jitted = jax.jit(lambda a, b: self.cute.jax.call(package["gemm"], a, b, outputs=self.shape))
        jitted(self.a, self.b)
        package.close()
        with self.assertRaisesRegex(Exception, "gemm: expected a package that is open, found one that was closed"):
            jax.block_until_ready(jitted(self.a, self.b))

    def test_what_is_refused(self):
        wide = self.a.astype(jnp.float32)
        for error, text, run in [
            (Exception, r"gemm: argument 0 \(A\): expected elements of type f16, found f32", lambda: self.gemm(wide, self.b)),
            (Exception, r"gemm: argument 0 \(A\): expected 2 dimensions", lambda: self.gemm(self.a[0], self.b)),
            (Exception, r"argument 0 \(A\): expected .*multiple of 8", lambda: self.gemm(self.a[:, :9], self.b[:, :9])),
            (TypeError, r"gemm: argument 1 \(B\): expected an array, found none", lambda: self.gemm(self.a)),
            (TypeError, r"gemm: argument 0 \(A\): expected an array, found str", lambda: self.gemm("a", self.b)),
            (TypeError, "gemm: expected 3 arguments and 1 outputs, found 4 and 1", lambda: self.gemm(self.a, self.b, 1.0, 2)),
            (TypeError, "gemm: expected 2 arguments and 1 outputs, found 2 and 2", lambda: self.gemm(self.a, self.b, outputs=[self.shape] * 2)),
            (TypeError, r"gemm: argument 2 \(C\): expected its shape and type in `outputs`, found only 0", lambda: self.gemm(self.a, self.b, outputs=[])),
            (TypeError, r"argument 3 \(alpha\): expected a number of 64 bits or None, found 'x'", lambda: self.gemm(self.a, self.b, "x")),
            (TypeError, r"gemm: outputs: expected a jax.ShapeDtypeStruct for each tensor that is written, found None", lambda: self.gemm(self.a, self.b, outputs=None)),
            (TypeError, r"gemm: outputs: expected a jax.ShapeDtypeStruct .*, found 3; give", lambda: self.gemm(self.a, self.b, outputs=3)),
            (TypeError, r"gemm: outputs: expected a jax.ShapeDtypeStruct .*, found None", lambda: self.gemm(self.a, self.b, outputs=[None])),
            (TypeError, r"call: expected a function of a package, such as package\['gemm'\], found 'gemm'", lambda: self.cute.jax.call("gemm", self.a, outputs=self.shape)),
            (TypeError, r"call: expected a function of a package, .*, found None", lambda: self.cute.jax.call(None, outputs=self.shape)),
            (TypeError, r"argument 3 \(alpha\): expected a number, found one that raises: none today", lambda: self.gemm(self.a, self.b, Raises())),
            (TypeError, "found one that it traces", lambda: jax.jit(lambda x: self.gemm(self.a, self.b, x))(2.0)),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                jax.block_until_ready(run())
        with self.assertRaisesRegex(Exception, "expected an attribute `handle` of 64-bit integers, found none"):
            jax.block_until_ready(jax.ffi.ffi_call("cute_opt_call", self.shape)(self.a))

    def test_the_example(self):
        path = os.pathsep.join(filter(None, [str(ROOT / "python") if os.environ.get("CUTE_TOOLS_DIR") else "", os.environ.get("PYTHONPATH", "")]))
        example = ROOT / "examples/python/jax_matmul.py"
        done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
        self.assertEqual((done.returncode, done.stdout), (0, "gradients as JAX's\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
