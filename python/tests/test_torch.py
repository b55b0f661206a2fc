"""Tests of `cute_opt.torch` on the emulator, or on a GPU with CUTE_TEST_DEVICE=cuda: skipped, which is said, where PyTorch is not installed.

CUTE_TOOLS_DIR has cute-opt, cute-run, libcute_native.so and libcute.so; without it, the module's own (of a wheel) are used. PyTorch is no requirement of
anything else here, and is not downloaded: `pip install torch` in the environment that runs this file.
"""

import logging
import os
import pathlib
import subprocess
import sys
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if os.environ.get("CUTE_TOOLS_DIR"):
    sys.path.insert(0, str(ROOT / "python"))

try:
    import torch
    from torch import nn
except ImportError:
    torch = None


def setUpModule():
    if torch is None:
        raise unittest.SkipTest("PyTorch is not installed, so that cute_opt.torch was not tried; pip install torch")


if torch is not None:
    import torch.nn.functional as F

    DEVICE = os.environ.get("CUTE_TEST_DEVICE", "cpu")
    # What is made below is made there.
    torch.set_default_device(DEVICE)

    import cute_opt
    import cute_opt.torch
    from cute_opt.torch import _backend, _linear, _text

    class Mlp(nn.Module):
        def __init__(self, activation):
            super().__init__()
            self.up, self.down, self.activation = nn.Linear(24, 40), nn.Linear(40, 24), activation

        def forward(self, x):
            return x + 0.5 * self.down(self.activation(self.up(x)))

    class RmsNorm(nn.Module):
        """As language models write it."""

        def __init__(self, size):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(size) + 0.5)

        def forward(self, x):
            wide = x.to(torch.float32)
            wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
            return self.weight * wide.to(x.dtype)

    class Block(nn.Module):
        """A block of a transformer."""

        def __init__(self, size=32, heads=2, wide=48):
            super().__init__()
            self.heads = heads
            self.first, self.second = nn.LayerNorm(size), RmsNorm(size)
            self.qkv, self.out = nn.Linear(size, 3 * size, bias=False), nn.Linear(size, size)
            self.gate, self.up, self.down = (nn.Linear(*sizes, bias=False) for sizes in [(size, wide), (size, wide), (wide, size)])

        def forward(self, x):
            batch, length, size = x.shape
            q, k, v = self.qkv(self.first(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            shares = torch.softmax(q @ k.transpose(-1, -2) * (size // self.heads) ** -0.5, -1)
            x = x + self.out((shares @ v).transpose(1, 2).reshape(batch, length, size))
            y = self.second(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))


def of_type(make, dtype):
    """A model of a type, and the same numbers in float32."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = make().to(dtype)
    wide = make()
    wide.load_state_dict(model.state_dict())
    return model, wide


class Rewritten:
    """The graphs that the backend was given, as it made them, and how many kernels each has."""

    def __enter__(self):
        self.graphs, self.counts, self._own = [], [], _backend.rewrite

        def rewrite(graph, options):
            self.counts.append(self._own(graph, options))
            self.graphs.append(graph)
            return self.counts[-1]

        _backend.rewrite = rewrite
        return self

    def __exit__(self, *_):
        _backend.rewrite = self._own

    def left(self, number=-1):
        """The operations that stayed PyTorch's, but for views."""
        views = ("view", "_unsafe_view", "t", "permute", "transpose", "expand", "clone", "select", "getitem", "detach")
        nodes = [node for node in self.graphs[number].graph.nodes if node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor) and not hasattr(node.target, "text")]
        names = [getattr(node.target, "__name__", str(node.target)).split(".")[0] for node in nodes]
        return [name for name in names if name not in views]

    def texts(self, number=-1):
        return [node.target.text for node in self.graphs[number].graph.nodes if hasattr(node.target, "text")]


class Near:
    def assert_near(self, ours, eager, wide, slack=2.0):
        """The result is as near to that of float32 as PyTorch's own is."""
        scale = wide.detach().abs().max().item() + 1e-6
        step = torch.finfo(ours.dtype).eps
        mine = (ours.float() - wide).abs().max().item()
        theirs = (eager.float() - wide).abs().max().item()
        self.assertLessEqual(mine, slack * theirs + step * scale, f"{mine} against {theirs}")


class Products(unittest.TestCase, Near):
    def test_linear_and_its_gradients(self):
        for dtype, shape, out in [("float16", (3, 5, 16), 24), ("bfloat16", (7, 24), 9), ("float32", (2, 17), 8)]:
            with self.subTest(dtype=dtype):
                dtype = getattr(torch, dtype)
                torch.manual_seed(1)
                make = lambda *size: torch.randn(*size).to(dtype)
                tensors = [make(*shape), make(out, shape[-1]), make(out)]
                grad = make(*shape[:-1], out)

                def run(function, convert):
                    given = [convert(one).detach().requires_grad_() for one in tensors]
                    result = function(*given)
                    return result, torch.autograd.grad(result, given, convert(grad))

                ours = run(cute_opt.torch.linear, lambda one: one)
                eager = run(F.linear, lambda one: one)
                wide = run(F.linear, lambda one: one.float())
                self.assert_near(ours[0], eager[0], wide[0])
                for mine, theirs, exact in zip(ours[1], eager[1], wide[1]):
                    self.assertEqual((mine.shape, mine.dtype), (theirs.shape, dtype))
                    self.assert_near(mine, theirs, exact)

    def test_layouts_and_sizes_of_one(self):
        torch.manual_seed(2)
        a, b = torch.randn(12, 8).half(), torch.randn(8, 16).half()
        columns = torch.randn(8, 12).half().t()
        misaligned = torch.randn(12 * 8 + 1).half()[1:].view(12, 8)
        for left, right in [(a, b), (columns, b), (a, b.t().contiguous().t()), (a[::2], b), (a[:, ::2], b[::2]), (a[:1], b), (a, b[:, :1]), (misaligned, b)]:
            product = cute_opt.torch.mm(left, right)
            torch.testing.assert_close(product, (left.float() @ right.float()).half(), rtol=2e-3, atol=2e-3)
        self.assertEqual(cute_opt.torch.mm(a[:0], b).shape, (0, 16))
        self.assertTrue((cute_opt.torch.mm(a[:, :0], b[:0]) == 0).all())

    def test_what_is_refused(self):
        a, b = torch.zeros(4, 8).half(), torch.zeros(8, 4).half()
        for error, given, text in [
            (TypeError, (a, b.float()), "mm: b: expected elements of one type of float16, bfloat16 and float32, found torch.float32"),
            (TypeError, (a.long(), b.long()), "mm: a: expected elements of one type"),
            (ValueError, (a[0], b), "mm: a: expected 2 dimensions, found 1"),
            (ValueError, (a, a), "mm: b: expected 8 rows, as many as a has columns, found 4"),
            (ValueError, (a, b, torch.zeros(5).half()), "mm: bias: expected 4 numbers, as many as b has columns, found 5"),
            (TypeError, (None, b), "mm: a: expected a tensor, found NoneType"),
            (TypeError, (a, None), "mm: b: expected a tensor, found NoneType"),
            (TypeError, (a, 3), "mm: b: expected a tensor, found int"),
            (TypeError, (a, b, "x"), "mm: bias: expected a tensor, found str"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text) as caught:
                cute_opt.torch.mm(*given)
            self.assertIsInstance(caught.exception, cute_opt.CuteError)
        with self.assertRaisesRegex(TypeError, "linear: input: expected a tensor, found NoneType"):
            cute_opt.torch.linear(None, b)

    def test_the_negative_bit(self):
        torch.manual_seed(7)
        a, b = torch.randn(4, 8).half(), torch.randn(8, 8).half()
        expected = cute_opt.torch.mm(-a, b)
        # Elements are those in memory with the other sign. The second call knows the kernel.
        for _ in range(2):
            torch.testing.assert_close(cute_opt.torch.mm(torch._neg_view(a), b), expected)
        with torch.no_grad():
            compiled = torch.compile(lambda a, b: a @ b, backend="cute")
            for left in (-a, torch._neg_view(a)):
                torch.testing.assert_close(compiled(left, b), expected)

    def test_operations_are_as_pytorch_wants_them(self):
        torch.manual_seed(3)
        a, b = torch.randn(4, 8).half().requires_grad_(), torch.randn(8, 8).half().requires_grad_()
        torch.library.opcheck(torch.ops.cute_opt.mm.default, (a, b, None), test_utils=("test_schema", "test_faketensor"))
        compiled = torch.compile(lambda a, b: cute_opt.torch.mm(a, b) + 1, backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(compiled(a, b), cute_opt.torch.mm(a, b) + 1)

    def test_who_watches_operations_sees_a_product(self):
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode

        torch.manual_seed(5)
        a, b = torch.randn(4, 8).half(), torch.randn(8, 8).half()
        cute_opt.torch.mm(a, b)
        self.assertTrue(_linear._is_direct(a, b))
        self.assertTrue(_linear._looks(a, b, None) in _linear._seen)
        seen = []

        class Functions(TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                seen.append(function)
                return function(*args, **(kwargs or {}))

        class Operations(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                seen.append(function)
                return function(*args, **(kwargs or {}))

        for mode, function in [(Functions, torch.ops.cute_opt.mm), (Operations, torch.ops.cute_opt.mm.default)]:
            with mode():
                cute_opt.torch.mm(a, b)
            self.assertIn(function, seen)
        # Transformations of functions, which are no modes.
        with torch.no_grad():
            _, moved = torch.func.jvp(lambda a: (cute_opt.torch.mm(a, b).detach(), a), (a,), (a,))[1]
        torch.testing.assert_close(moved, a)
        left = a.clone().requires_grad_()
        with self.assertRaisesRegex(RuntimeError, "functorch transforms"):
            # PyTorch's answer to operations of others; a product without a gradient would be a wrong one.
            torch.func.grad(lambda a: cute_opt.torch.mm(a, b).float().sum())(a)
        cute_opt.torch.mm(left, b).float().sum().backward()
        torch.testing.assert_close(left.grad, b.sum(1).expand(4, 8), rtol=2e-3, atol=2e-3)

    def test_layers_share_parameters(self):
        layer = nn.Linear(8, 16).half()
        ours = cute_opt.torch.Linear.of(layer)
        self.assertIs(ours.weight, layer.weight)
        x = torch.randn(3, 8).half()
        torch.testing.assert_close(ours(x), layer(x), rtol=2e-3, atol=2e-3)

    def test_threads(self):
        wrong = []
        a, b = torch.eye(8).half(), torch.arange(64).reshape(8, 8).half()

        def calls(number):
            for _ in range(5):
                if not torch.equal(cute_opt.torch.mm(a * number, b), b * number):
                    wrong.append(number)

        threads = [threading.Thread(target=calls, args=[number]) for number in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    @unittest.skipIf(os.environ.get("CUTE_TEST_DEVICE", "cpu") == "cpu", "there is no GPU to capture")
    def test_streams_and_graphs(self):
        a, b = torch.randn(64, 64).half(), torch.randn(64, 64).half()
        model = torch.compile(lambda a, b: torch.softmax(F.gelu(a @ b), -1), backend="cute")
        with torch.no_grad():
            for run in (cute_opt.torch.mm, model):
                stream = torch.cuda.Stream()
                stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(stream):
                    run(a, b)
                torch.cuda.current_stream().wait_stream(stream)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    captured = run(a, b)
                for _ in range(2):
                    a.copy_(torch.randn(64, 64))
                    graph.replay()
                    torch.testing.assert_close(captured, run(a, b))


class Operations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.package = cute_opt.compile(ROOT / "examples/add_one.mlir", arch="sm_80" if DEVICE == "cpu" else "native")

    def test_an_operation_that_writes(self):
        add = cute_opt.torch.op("cute_tests::add_into", self.package["add_one_cpu"])
        x, y = torch.arange(5.0), torch.zeros(5)
        self.assertIsNone(add(x, y))
        torch.testing.assert_close(y, x + 1)

        def twice(x):
            y = torch.zeros_like(x)
            add(x, y)
            return 2 * y

        torch.testing.assert_close(torch.compile(twice, backend="aot_eager", fullgraph=True)(x), 2 * (x + 1))
        torch.library.opcheck(add, (x, y), test_utils=("test_schema", "test_faketensor"))

    def test_an_operation_that_returns(self):
        add = cute_opt.torch.op("cute_tests::add_one", self.package["add_one_cpu"], outputs=torch.empty_like)
        x = torch.arange(5.0)
        torch.testing.assert_close(add(x), x + 1)
        torch.testing.assert_close(torch.compile(lambda x: 2 * add(x), backend="aot_eager", fullgraph=True)(x), 2 * (x + 1))
        add.register_autograd(lambda ctx, grad: grad)
        x = x.clone().requires_grad_()
        add(x).sum().backward()
        torch.testing.assert_close(x.grad, torch.ones(5))

    def test_what_is_refused(self):
        two = cute_opt.torch.op("cute_tests::two", self.package["add_one_cpu"], outputs=lambda x: (x, x))
        with self.assertRaisesRegex(cute_opt.CuteError, "expected 1 tensors of `outputs`, one for each that add_one_cpu writes, found 2"):
            two(torch.zeros(3))
        add = cute_opt.torch.op("cute_tests::wrong", self.package["add_one_cpu"], outputs=torch.empty_like)
        with self.assertRaisesRegex(TypeError, r"argument 0 \(E0\): expected elements of type f32, found f64"):
            add(torch.zeros(3, dtype=torch.float64))

    def test_bits_of_which_dlpack_says_nothing(self):
        add = self.package["add_one_cpu"]
        x, y = torch.arange(4.0), torch.zeros(4)
        negated = torch._neg_view(x)
        other = type("Other", (torch.Tensor,), {})
        text = r"add_one_cpu: argument {} \({}\): expected a tensor whose elements are those in memory, found one with the negative bit, .*; use tensor.resolve_neg\(\)"
        with torch.inference_mode():
            imaginary = torch.complex(torch.ones(1), torch.ones(1)).conj().imag
        for given in (negated, negated.data, nn.Parameter(negated, requires_grad=False), negated.as_subclass(other), imaginary):
            self.assertTrue(given.is_neg())
            with self.assertRaisesRegex(cute_opt.ArgumentValueError, text.format(0, "E0")):
                add(given, y)
            with self.assertRaisesRegex(cute_opt.ArgumentValueError, text.format(1, "D0")):
                add(x, given)
        add(negated.resolve_neg(), y)
        torch.testing.assert_close(y, 1 - x)
        # No package has complex numbers.
        with self.assertRaisesRegex(TypeError, r"argument 0 \(E0\): expected elements of type"):
            add(torch.ones(4, dtype=torch.complex64).conj(), y)
        operation = cute_opt.torch.op("cute_tests::negated", add, outputs=torch.empty_like)
        torch.testing.assert_close(operation(negated), 1 - x)


class Compiled(unittest.TestCase, Near):
    def compare(self, make, shapes, dtype, **options):
        model, wide = of_type(make, dtype)
        compiled = torch.compile(model, backend="cute", options=options or None)
        with Rewritten() as graphs, torch.no_grad():
            for shape in shapes:
                x = torch.randn(shape).to(dtype)
                self.assert_near(compiled(x), model(x), wide(x.float()))
        return graphs

    def test_a_block_of_a_transformer(self):
        for dtype in (torch.float16, torch.bfloat16):
            graphs = self.compare(Block, [(2, 8, 32), (3, 16, 32)], dtype)
            # Two norms, softmax, and six products, with all that is computed behind them.
            self.assertEqual((graphs.counts, graphs.left()), ([10, 10], []))

    def test_followers_are_in_the_kernel(self):
        for name, word in [("relu", "arith.maximumf"), ("gelu", "math.erf"), ("silu", "math.exp"), ("tanh", "math.tanh"), ("sigmoid", "math.exp")]:
            with self.subTest(name):
                graphs = self.compare(lambda: Mlp(getattr(torch.nn.functional, name)), [(6, 24)], torch.float16)
                self.assertEqual(graphs.left(), [])
                first, second = graphs.texts()
                self.assertIn(word, first)
                # The residual is read beside the sum.
                self.assertIn("%E1", second)

    def test_batches_of_other_sizes_are_not_compiled_again(self):
        model, wide = of_type(lambda: Mlp(F.gelu), torch.float16)
        compiled = torch.compile(model, backend="cute")
        counts = []
        with torch.no_grad():
            for rows in [5, 9, 40, 1]:
                x = torch.randn(rows, 24).half()
                self.assert_near(compiled(x), model(x), wide(x.float()))
                counts.append(_text.compiled())
        self.assertEqual(len(set(counts)), 1)

    def test_training(self):
        model, wide = of_type(Block, torch.float16)
        compiled = torch.compile(model, backend="cute")
        x = torch.randn(2, 8, 32).half()
        grad = torch.randn(2, 8, 32).half()
        results = []
        for run, convert in [(compiled, lambda one: one), (model, lambda one: one), (wide, lambda one: one.float())]:
            parameters = list((wide if run is wide else model).parameters())
            given = convert(x).detach().requires_grad_()
            result = run(given)
            results.append([result.detach(), *torch.autograd.grad(result, [given, *parameters], convert(grad))])
        for mine, theirs, exact in zip(*results):
            self.assert_near(mine, theirs, exact, slack=4.0)

    def test_scaled_sums_and_batches(self):
        class Sums(nn.Module):
            def forward(self, x):
                square = x @ x.transpose(-1, -2)
                added = torch.baddbmm(square, x, x.transpose(-1, -2), beta=0.5, alpha=2)
                first = torch.addmm(square[0], x[0], x[1].t(), beta=-1, alpha=0.25)
                return F.relu(added) - 1, first.clamp(-2, 2)

        model = Sums()
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="cute")
        x = torch.randn(3, 16, 8).half()
        with torch.no_grad():
            for mine, theirs, exact in zip(compiled(x), model(x), model(x.float())):
                self.assert_near(mine, theirs, exact)

    def test_products_of_float8(self):
        torch.manual_seed(11)
        x, w = (torch.randn(*shape).to(torch.float8_e4m3fn) for shape in [(32, 64), (48, 64)])
        bias = torch.randn(48).bfloat16()

        def scaled(x, w, of_x, of_w):
            y = torch._scaled_mm(x, w.t(), of_x, of_w, bias=bias, out_dtype=torch.bfloat16, use_fast_accum=True)
            return F.gelu(y)

        one = [torch.tensor(0.5), torch.tensor(0.125)]
        each = [torch.rand(32, 1) + 0.5, torch.rand(1, 48) + 0.5]
        for of_x, of_w in [one, each]:
            torch._dynamo.reset()
            with Rewritten() as graphs, torch.no_grad():
                mine = torch.compile(scaled, backend="cute")(x, w, of_x, of_w)
            exact = F.gelu(x.float() @ w.float().t() * of_x * of_w + bias.float())
            torch.testing.assert_close(mine.float(), exact, rtol=1e-2, atol=1e-2)
            self.assertEqual((graphs.counts, graphs.left()), ([1], []))

    def test_weights_of_bytes(self):
        torch.manual_seed(17)
        ways = {
            # As gpt-fast and torchao write it.
            "scaled behind": lambda x, w, s: F.linear(x, w.to(x.dtype)) * s,
            "scaled before": lambda x, w, s: F.linear(x, w.to(x.dtype) * s[:, None]),
            "transposed first": lambda x, w, s: x @ (w.t().to(x.dtype) * s),
            "on the left": lambda x, w, s: ((w.to(x.dtype) * s[:, None]) @ x.t()).t(),
        }
        stored = [torch.int8, torch.uint8, torch.float8_e4m3fn, torch.float8_e5m2]
        for (name, way), kind, dtype in zip(ways.items(), stored, [torch.float16, torch.bfloat16] * 2):
            torch._dynamo.reset()
            w = torch.randint(0, 127, (64, 128)).to(kind)
            x, s = torch.randn(24, 128).to(dtype), (torch.rand(64) / 64).to(dtype)
            with Rewritten() as graphs, torch.no_grad():
                mine, theirs = torch.compile(way, backend="cute")(x, w, s), way(x, w, s)
            exact = x.double() @ (w.double() * s.double()[:, None]).t()
            self.assert_near(mine, theirs, exact)
            # Nothing is converted outside of the kernel.
            self.assertEqual(graphs.counts, [1], name)
            self.assertLessEqual(set(graphs.left()), {"unsqueeze"}, name)

    def test_weights_of_bytes_that_are_converted_before(self):
        torch.manual_seed(18)
        w = torch.randint(-127, 128, (128, 40), dtype=torch.int8)
        # Many rows, with weights that warpgroups cannot take; and a tensor that is written between its conversion and the product.
        many = torch.randn(300, 128).half()
        with Rewritten() as graphs, torch.no_grad():
            compiled = torch.compile(lambda x, w: x @ w.half(), backend="cute")
            self.assert_near(compiled(many, w), many @ w.half(), many.double() @ w.double())
        self.assertEqual(len(graphs.left()), 1)

        def written(x, w):
            wide = w.half()
            w.add_(1)
            return x @ wide

        torch._dynamo.reset()
        few, mine, theirs = many[:8], w.clone(), w.clone()
        with torch.no_grad():
            self.assert_near(torch.compile(written, backend="cute")(few, mine), written(few, theirs), few.double() @ w.double())
        self.assertTrue(torch.equal(mine, theirs))

    def test_scales_of_blocks(self):
        torch.manual_seed(13)
        w = torch.randn(256, 384).to(torch.float8_e4m3fn)
        bias = torch.randn(256).bfloat16()

        def plain(x, w, of_x, of_w):
            # PyTorch checks it on a GPU alone.
            torch._check(of_x.shape[0] == x.shape[0])
            return torch._scaled_mm(x, w.t(), of_x, of_w, out_dtype=torch.bfloat16)

        def biased(x, w, of_x, of_w):
            torch._check(of_x.shape[0] == x.shape[0])
            return F.relu(torch._scaled_mm(x, w.t(), of_x, of_w, bias=bias, out_dtype=torch.bfloat16))

        for scaled, lines in [(plain, 2), (biased, 2), (plain, 256)]:
            torch._dynamo.reset()
            compiled = torch.compile(scaled, backend="cute")
            of_w = torch.rand(lines, 3) + 0.5
            # Scales of neighbouring rows lie side by side, as cuBLAS has them, or those of neighbouring blocks do.
            with Rewritten() as graphs, torch.no_grad():
                for rows, is_by_rows in [(40, False), (130, False), (40, True)]:
                    x = torch.randn(rows, 384).to(torch.float8_e4m3fn)
                    of_x = torch.rand(rows, 3) + 0.5 if is_by_rows else (torch.rand(3, rows) + 0.5).t()
                    mine = compiled(x, w, of_x, of_w.t())
                    wide = w.float() * of_w.repeat_interleave(256 // lines, 0).repeat_interleave(128, 1)
                    exact = (x.float() * of_x.repeat_interleave(128, 1)) @ wide.t()
                    if scaled is biased:
                        exact = F.relu(exact + bias.float())
                    torch.testing.assert_close(mine.float(), exact, rtol=1e-2, atol=1e-1)
            self.assertTrue(graphs.graphs and all(not graphs.left(at) for at in range(len(graphs.graphs))))

    def test_groups_of_rows(self):
        torch.manual_seed(12)
        x, w = torch.randn(40, 64).bfloat16(), torch.randn(4, 48, 64).bfloat16()
        weights = torch.rand(40, 1)

        def experts(x, w, ends, weights):
            y = torch._grouped_mm(x, w.transpose(1, 2), offs=ends)
            return (F.silu(y) * weights).bfloat16(), y

        torch._dynamo.reset()
        compiled = torch.compile(experts, backend="cute")
        kernels = []
        for ends in [[3, 3, 25, 40], [40, 40, 40, 40], [8, 16, 24, 32]]:
            last = ends[-1]
            with Rewritten() as graphs, torch.no_grad():
                mine, sums = compiled(x, w, torch.tensor(ends, dtype=torch.int32), weights)
            starts = [0, *ends[:-1]]
            exact = torch.cat([x[a:b].float() @ w[g].float().t() for g, (a, b) in enumerate(zip(starts, ends))])
            torch.testing.assert_close(sums[:last].float(), exact, rtol=1e-2, atol=1e-2)
            torch.testing.assert_close(mine[:last].float(), F.silu(exact) * weights[:last], rtol=1e-2, atol=1e-2)
            kernels += graphs.counts
        self.assertEqual(kernels, [1])

        def along_k(x, w, ends):
            return torch._grouped_mm(x.t(), w, offs=ends)

        torch._dynamo.reset()
        with self.assertLogs("cute_opt.torch", logging.INFO) as said, torch.no_grad():
            torch.compile(along_k, backend="cute")(x, torch.randn(40, 48).bfloat16(), torch.tensor([8, 40], dtype=torch.int32))
        self.assertRegex(said.output[0], "groups are of rows")

    def test_results_that_others_need_are_stored(self):
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(16, 16), nn.Linear(16, 16)

            def forward(self, x):
                y = self.first(x)
                z = F.relu(y)
                # What is computed of a result otherwise comes behind the kernel.
                return z + 1, y.cumsum(-1), self.second(z).sum(0), y.flip(0) * z

        model, wide = of_type(Two, torch.float16)
        compiled = torch.compile(model, backend="cute")
        x = torch.randn(6, 16).half()
        with Rewritten() as graphs, torch.no_grad():
            for mine, theirs, exact in zip(compiled(x), model(x), wide(x.float())):
                self.assert_near(mine, theirs, exact)
        self.assertEqual(graphs.counts, [2])

    def test_tensors_that_are_written_keep_their_order(self):
        class Cache(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(16, 16)
                self.register_buffer("state", torch.zeros(4, 16))

            def forward(self, x):
                y = self.layer(x) + self.state
                self.state.copy_(y)
                return y * 2 + self.state

        model, wide = of_type(Cache, torch.float16)
        other, _ = of_type(Cache, torch.float16)
        compiled = torch.compile(model, backend="cute")
        x = torch.randn(4, 16).half()
        with torch.no_grad():
            for _ in range(3):
                mine, theirs, exact = compiled(x), other(x), wide(x.float())
                self.assert_near(mine, theirs, exact)
            self.assert_near(model.state, other.state, wide.state)

    def test_what_stays_is_said(self):
        torch._dynamo.reset()
        compiled = torch.compile(lambda a, b: a @ b, backend="cute")
        a = torch.randn(4, 4)
        with self.assertLogs("cute_opt.torch", logging.INFO) as said:
            torch.testing.assert_close(compiled(a, a), a @ a)
        self.assertRegex(said.output[0], r"aten.mm.default of float32\[4, 4\].* stays PyTorch's: tensor cores round float32 to tf32")
        with self.assertLogs("cute_opt.torch", logging.INFO) as said:
            a = torch.randn(4, 0).half()
            self.assertTrue((torch.compile(lambda a: a @ a.t(), backend="cute")(a) == 0).all())
        self.assertRegex(said.output[0], "it has no elements")

    def test_options(self):
        graphs = self.compare(lambda: Mlp(F.gelu), [(6, 24)], torch.float16, fuse=False, tile="64x64x32", warps="2x2", stages=2)
        self.assertIn("gelu", graphs.left())
        graphs = self.compare(Block, [(2, 8, 32)], torch.float16, norms=False)
        self.assertIn("_softmax", graphs.left())
        # What the compiler refuses stays PyTorch's, with its reason.
        with self.assertLogs("cute_opt.torch", logging.INFO) as said:
            graphs = self.compare(lambda: Mlp(F.gelu), [(6, 24)], torch.float16, tile="nonsense")
        self.assertEqual(graphs.counts, [0])
        self.assertTrue(any("stays PyTorch's" in line and "nonsense" in line for line in said.output), said.output)


class Examples(unittest.TestCase):
    def run_example(self, *command):
        path = os.pathsep.join(filter(None, [str(ROOT / "python") if os.environ.get("CUTE_TOOLS_DIR") else "", os.environ.get("PYTHONPATH", "")]))
        done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_they_run(self):
        said = self.run_example(ROOT / "examples/python/pytorch_linear.py")
        self.assertTrue(said.startswith("[2.0, 4.0, 6.0, 8.0, 10.0]\ngradients as PyTorch's\n"), said)
        said = self.run_example(ROOT / "examples/python/torch_compile.py")
        errors = [float(line.rsplit(" ", 1)[1]) for line in said.splitlines()]
        self.assertTrue(len(errors) == 3 and max(errors) < 0.01, said)

    @unittest.skipIf(torch is not None and torch.cuda.is_available() and torch.cuda.device_count() < 2, "there are fewer than two GPUs")
    def test_several_processes(self):
        said = self.run_example("-m", "torch.distributed.run", "--nproc-per-node", 2, ROOT / "examples/python/tensor_parallel.py")
        self.assertRegex(said, "2 processes: relative difference [0-9.]+e-0[3-9]")


if __name__ == "__main__":
    unittest.main()
