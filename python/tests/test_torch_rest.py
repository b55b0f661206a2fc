"""Tests of what `torch.compile(backend="cute")` does with the rest of a graph: writes in place, and Inductor. As test_torch.py, whose head says what it needs."""

import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from test_torch import Near, of_type, setUpModule, torch  # noqa: E402, F401

if torch is not None:
    import torch.nn.functional as F
    from test_torch import DEVICE, Block, Mlp

    import cute_opt.torch
    from cute_opt.torch import _backend, _inductor


class Given:
    """The graphs that Inductor is given, and the kernels that each calls."""

    def __enter__(self):
        self.kernels, self._own = [], _inductor._call_operations

        def call(graph):
            self._own(graph)
            self.kernels.append([node.target for node in graph.graph.nodes if str(node.target).startswith("cute_opt.kernel_")])

        _inductor._call_operations = call
        return self

    def __exit__(self, *_):
        _inductor._call_operations = self._own


def compiled(model, **given):
    torch._dynamo.reset()
    return torch.compile(model, backend="cute", **given)


class Rest(unittest.TestCase, Near):
    def test_a_block_of_a_transformer(self):
        model, wide = of_type(Block, torch.float16)
        x = torch.randn(2, 6, 32).half()
        with torch.no_grad(), Given() as given:
            ours = compiled(model, options={"rest": "inductor"})(x)
            self.assert_near(ours, model(x), wide(x.float()))
        # Six products, and norms by rows; the product with three users is one.
        self.assertEqual(len(given.kernels), 1)
        self.assertGreaterEqual(len(given.kernels[0]), 6)

    def test_training(self):
        model, wide = of_type(lambda: Mlp(F.gelu), torch.float16)
        x = torch.randn(5, 24).half()
        with Given() as given:
            grads = []
            for one, inputs in [(compiled(model, options={"rest": "inductor"}), x), (model, x), (wide, x.float())]:
                inputs = inputs.clone().requires_grad_()
                one(inputs).float().pow(2).sum().backward()
                grads.append([inputs.grad, *(parameter.grad for parameter in (wide if one is wide else model).parameters())])
                model.zero_grad()
        self.assertEqual(len(given.kernels), 2)
        self.assertTrue(all(given.kernels))
        for mine, theirs, exact in zip(*grads):
            self.assert_near(mine, theirs, exact)

    def test_other_batches_take_the_kernels_that_are_there(self):
        model, wide = of_type(lambda: Mlp(F.relu), torch.bfloat16)
        run = compiled(model, options={"rest": "inductor"})
        with torch.no_grad(), Given() as given:
            for rows in (4, 7, 9):
                x = torch.randn(rows, 24).bfloat16()
                self.assert_near(run(x), model(x), wide(x.float()))
        self.assertEqual(len(given.kernels), 2)
        self.assertEqual({str(one) for one in given.kernels[0]}, {str(one) for one in given.kernels[1]})

    def test_strides_are_those_that_a_kernel_knows(self):
        # Eager mode has columns of the first factor side by side, and Inductor has rows, if it is left to itself.
        run = lambda x, y, b: (torch.sin(y.t()) + x * x * x) @ b
        x, y, b = torch.randn(16, 24).half(), torch.randn(24, 16).half(), torch.randn(24, 8).half()
        with torch.no_grad(), Given() as given:
            ours = compiled(run, options={"rest": "inductor"})(x, y, b)
        self.assert_near(ours, run(x, y, b), run(x.float(), y.float(), b.float()))
        self.assertEqual([len(one) for one in given.kernels], [1])

    def test_several_results(self):
        # Both the sum and what is computed of it are needed: one kernel with two results.
        def run(a, b):
            sum = a @ b
            return sum.sum(), torch.relu(sum)

        a, b = torch.randn(16, 24).half(), torch.randn(24, 8).half()
        with torch.no_grad(), Given() as given:
            ours = compiled(run, options={"rest": "inductor"})(a, b)
        self.assertEqual(len(given.kernels[0]), 1)
        torch.testing.assert_close(ours[1], torch.relu(a.float() @ b.float()).half(), rtol=2e-3, atol=2e-3)
        torch.testing.assert_close(ours[0].float(), (a.float() @ b.float()).sum(), rtol=1e-2, atol=1e-1)

    def test_operations_are_named_by_what_they_do(self):
        a, b = torch.randn(16, 24).half(), torch.randn(24, 8).half()
        with torch.no_grad(), Given() as given:
            for function in (lambda a, b: torch.cos(a @ b), lambda a, b: torch.cos(a @ b) + 1, lambda a, b: torch.cos(a @ b) * 2):
                compiled(function, options={"rest": "inductor"})(a, b)
        names = [str(kernels[0]) for kernels in given.kernels]
        self.assertEqual(len(set(names)), 3)
        with torch.no_grad(), Given() as given:
            compiled(lambda a, b: torch.cos(a @ b), options={"rest": "inductor"})(a, b)
        self.assertEqual(str(given.kernels[0][0]), names[0])

    def test_a_mode_asks_for_inductor(self):
        model, wide = of_type(lambda: Mlp(F.silu), torch.float16)
        x = torch.randn(5, 24).half()
        with torch.no_grad():
            for more in ({"mode": "max-autotune-no-cudagraphs"}, {"options": {"inductor": {"epilogue_fusion": False}}}, *([{"mode": "reduce-overhead"}] if DEVICE == "cuda" else [])):
                with self.subTest(more), Given() as given:
                    run = compiled(model, **more)
                    for _ in range(3):
                        ours = run(x).clone()
                    self.assert_near(ours, model(x), wide(x.float()))
                    self.assertEqual(len(given.kernels), 1)

    def test_bad_options(self):
        a, b = torch.randn(16, 24).half(), torch.randn(24, 8).half()
        for more, text in [
            ({"options": {"rest": "triton"}}, "rest: expected 'eager' or 'inductor', found 'triton'"),
            ({"options": {"inductor": True}}, "inductor: expected a dictionary of settings of torch._inductor.config, found True"),
            ({"options": {"inductor": {"no.such": 1}}}, "inductor: expected settings of torch._inductor.config, found 'no.such'"),
            ({"mode": "fast"}, "expected a mode of torch.compile, one of default, .*; found 'fast'"),
            ({"options": {"rest": "eager", "inductor": {"epilogue_fusion": False}}}, "inductor={...} is for PyTorch's default back end, and rest='eager' asks for none"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(Exception, text.replace("{...}", ".*")):
                compiled(lambda a, b: a @ b, **more)(a, b)


class Chosen(unittest.TestCase):
    def on_gpu(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            return torch.empty(2, 2, device="cuda")

    def test_inductor_is_taken_on_a_gpu_where_it_works(self):
        graph = torch.fx.symbolic_trace(torch.nn.Identity())
        here, there = torch.ones(2, 2), self.on_gpu()
        with mock.patch.object(_inductor, "missing", lambda: None):
            self.assertEqual(_backend._rest(graph, [here, 3]), "eager")
            self.assertEqual(_backend._rest(graph, [here, there]), "inductor")
        with mock.patch.object(_inductor, "missing", lambda: "expected a thing, found none"), self.assertLogs("cute_opt.torch", "INFO") as logs:
            self.assertEqual(_backend._rest(graph, [there]), "eager")
        self.assertIn("runs operation by operation: expected a thing, found none", logs.output[0])

    def test_what_inductor_wants_is_looked_for(self):
        with mock.patch("torch.utils._triton.has_triton", lambda: False):
            self.assertIn("pip install triton", _inductor.missing())
        with mock.patch("torch.utils._triton.has_triton", lambda: True), mock.patch.dict("os.environ", clear=False) as environment:
            environment.pop("CC", None)
            with mock.patch("shutil.which", lambda name: None):
                self.assertIn("install gcc or set CC", _inductor.missing())
            with mock.patch("shutil.which", lambda name: f"/bin/{name}" if name == "cc" else None):
                self.assertIsNone(_inductor.missing())


class Ahead(unittest.TestCase):
    def test_what_is_compiled_ahead_is_what_is_called(self):
        ahead, called, own, caller = [], [], _backend.compile_ahead, _backend._caller

        def compile_ahead(texts, options=()):
            texts = list(texts)
            ahead.extend(text for text, _ in texts)
            own(texts, options)

        def called_with(name, text, *given):
            called.append(text)
            return caller(name, text, *given)

        model, _ = of_type(Block, torch.float16)
        _backend.compile_ahead, _backend._caller = compile_ahead, called_with
        try:
            with torch.no_grad():
                compiled(model, options={"norms": False})(torch.randn(2, 6, 32).half())
        finally:
            _backend.compile_ahead, _backend._caller = own, caller
        self.assertGreater(len(set(ahead)), 4)
        self.assertEqual(set(ahead), set(called))


class InPlace(unittest.TestCase):
    def run_both(self, function, *given):
        """Runs a function eagerly and compiled on copies; how many tensors it writes in place."""
        counts, own = [], _backend.write_in_place

        def write(graph):
            counts.append(own(graph))
            return counts[-1]

        _backend.write_in_place = write
        try:
            first, second = ([one.clone() for one in given] for _ in range(2))
            with torch.no_grad():
                expected, found = function(*first), compiled(function)(*second)
            for mine, theirs in zip([found, *second], [expected, *first]):
                torch.testing.assert_close(mine, theirs, rtol=0, atol=0)
        finally:
            _backend.write_in_place = own
        # Results are tensors of their own, or not, as they are in eager mode.
        if isinstance(found, torch.Tensor):
            shared = [one.untyped_storage().data_ptr() == found.untyped_storage().data_ptr() for one in second]
            self.assertEqual(shared, [one.untyped_storage().data_ptr() == expected.untyped_storage().data_ptr() for one in first])
        return sum(counts)

    def test_caches(self):
        def run(cache, at, k):
            cache.index_copy_(2, at, k)
            return (cache @ k.transpose(-1, -2)).float().sum()

        def several(cache, at, k):
            cache[:, :, at] = k
            cache[:, :, at + 1] = 2 * k
            return cache.float().sum()

        def added(cache, at, k):
            cache.index_add_(2, at, k)
            return cache * 2

        cache, at, k = torch.randint(-2, 3, (2, 3, 8, 8)).half(), torch.tensor([4]), torch.randint(-2, 3, (2, 3, 1, 8)).half()
        for function in (run, several, added):
            self.assertEqual(self.run_both(function, cache, at, k), 1)

    def test_what_others_see_is_copied(self):
        def before(cache, at, k):
            was = cache.sum()
            cache.index_copy_(2, at, k)
            return was + cache.max()

        def shown(cache, at, k):
            was = cache[:, 0]
            new = cache.index_copy(2, at, k)
            was = was + 1
            cache.copy_(new)
            return was

        def returned(cache, at, k):
            new = cache.index_copy(2, at, k)
            cache.copy_(new)
            return new

        def returned_in_parts(cache, at, k):
            new = cache.index_copy(2, at, k)
            cache.copy_(new)
            return new.split(1, 1)[0].view(2, 64)

        def of_itself(cache, at, k):
            cache.index_copy_(2, at, cache[:, :, 2:3] + k)
            return cache.sum()

        cache, at, k = torch.randint(-2, 3, (2, 1, 8, 8)).half(), torch.tensor([4]), torch.randint(-2, 3, (2, 1, 1, 8)).half()
        for function in (before, shown, returned, returned_in_parts, of_itself):
            with self.subTest(function.__name__):
                self.assertEqual(self.run_both(function, cache, at, k), 0)


if __name__ == "__main__":
    unittest.main()
