"""A package's function in JAX, inside `jax.jit`, with derivatives by `jax.custom_vjp`.

    pip install target/wheels/cute_opt-*.whl jax
    python examples/python/jax_matmul.py

On a GPU if JAX has one, else on the emulator.
"""

import jax
import jax.numpy as jnp

import cute_opt
import cute_opt.jax

TEXT = """
!m = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
func.func @gemm(%A: !m, %B: !m, %C: !m) {
  cute.contract ins(%A, %B : !m, !m) outs(%C : !m) accumulate f32
  return
}
"""
# The package's own architecture on a GPU; the emulator runs PTX of sm_80, and has no use for kernels of several speeds.
package = cute_opt.compile(TEXT) if jax.default_backend() == "gpu" else cute_opt.compile(TEXT, "sm_80", variants=1)


@jax.custom_vjp
def matmul(a, b):
    """A B^T."""
    return cute_opt.jax.call(package["gemm"], a, b, outputs=jax.ShapeDtypeStruct((a.shape[0], b.shape[0]), a.dtype))


def forward(a, b):
    return matmul(a, b), (a, b)


def backward(kept, grad):
    a, b = kept
    return matmul(grad, b.T), matmul(grad.T, a.T)


matmul.defvjp(forward, backward)


@jax.jit
def loss(a, b):
    return jax.nn.relu(matmul(a, b)).astype(jnp.float32).sum()


a, b = (jax.random.normal(jax.random.key(seed), shape).astype(jnp.float16) for seed, shape in [(0, (32, 64)), (1, (48, 64))])
ours = jax.grad(loss, argnums=(0, 1))(a, b)
theirs = jax.grad(lambda a, b: jax.nn.relu(a @ b.T).astype(jnp.float32).sum(), argnums=(0, 1))(a, b)
near = all(bool(jnp.allclose(mine, other, rtol=1e-2, atol=1e-1)) for mine, other in zip(ours, theirs))
if not near:
    raise SystemExit("gradients differ")
print("gradients as JAX's")
