"""Tests of the module: with numpy, and no GPU.

CUTE_TOOLS_DIR has cute-opt, cute-run, cute-layout, libcute_native.so and libcute.so; without it, the module's own (of a wheel) are tested.
"""

import ctypes
import doctest
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
if os.environ.get("CUTE_TOOLS_DIR"):
    sys.path.insert(0, str(ROOT / "python"))

import cute_opt  # noqa: E402

ADD_ONE = ROOT / "examples/add_one.mlir"
GEMM = """
func.func @gemm(%A: !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">, %B: !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">,
                %C: !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{div=4},1)">) {
  cute.contract ins(%A, %B : !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">, !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">)
    outs(%C : !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{div=4},1)">) accumulate f32
  return
}
"""


EXCHANGE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry exchange(.param .u64 to, .param .f32 by, .param .s32 from) {
.shared .b32 w[64]; .reg .b32 %r<7>; .reg .b64 %s<3>; .reg .f32 %f<3>;
mov.u32 %r0, %tid.x; mov.u32 %r1, w; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0;
bar.sync 0;
xor.b32 %r4, %r2, 128; add.u32 %r4, %r1, %r4; ld.shared.u32 %r5, [%r4]; ld.param.s32 %r6, [from]; add.s32 %r5, %r5, %r6;
cvt.rn.f32.s32 %f0, %r5; ld.param.f32 %f1, [by]; mul.f32 %f0, %f0, %f1;
ld.param.u64 %s0, [to]; mul.wide.u32 %s1, %r0, 4; add.s64 %s0, %s0, %s1; st.global.f32 [%s0], %f0; ret; }
"""


class Emulators(unittest.TestCase):
    def test_a_kernel_of_anybody(self):
        emulator = cute_opt.Emulator(EXCHANGE, timeline=1)
        to = emulator.memory(256)
        emulator.launch("exchange", grid=1, block=64, args=[to, 0.5, -3])
        self.assertEqual(emulator.findings, [])
        expected = (np.arange(64) ^ 32).astype(np.float32) - 3
        np.testing.assert_array_equal(np.frombuffer(to.read(), np.float32), expected / 2)
        self.assertEqual(emulator.kernels, {"exchange": [("to", 8), ("by", 4), ("from", 4)]})
        self.assertEqual(emulator.report["launches"][0]["kernel"], "exchange")
        self.assertIn("waits for barrier 0", emulator.trace)

    def test_findings(self):
        emulator = cute_opt.Emulator(EXCHANGE.replace("bar.sync 0;", ""))
        to = emulator.memory(np.zeros(64, np.float32), read_only=True)
        emulator.launch("exchange", block=[64], args=[to, np.float32(1), np.int32(0)])
        kinds = sorted(finding.kind for finding in emulator.findings)
        self.assertEqual(kinds, ["shared-race", "write-to-input"])
        self.assertIn("and no barrier orders the two", "".join(map(str, emulator.findings)))
        self.assertEqual(emulator.findings[0].fields["kernel"], "exchange")
        self.assertEqual(len(emulator.memory(np.int64(4000)).read()), 4000)
        emulator = cute_opt.Emulator(EXCHANGE, max_instructions=3)
        emulator.launch("exchange", block=64, args=[emulator.memory(256), 1.0, 0])
        [finding] = emulator.findings
        self.assertIn("raise the limit (`max_instructions`)\n", str(finding))

    def test_what_is_refused(self):
        emulator = cute_opt.Emulator(EXCHANGE)
        to = emulator.memory(256)
        for error, text, launch in [
            (ValueError, r"expected a kernel of the module \(exchange\), found 'other'", lambda: emulator.launch("other")),
            (TypeError, r"exchange: expected 3 arguments \(to, by, from\), found 1", lambda: emulator.launch("exchange", args=[to])),
            (ValueError, "argument from: expected a number of 32 bits, found 4294967296", lambda: emulator.launch("exchange", args=[to, 1.0, 1 << 32])),
            (ValueError, "argument by: expected 4 bytes, found 8", lambda: emulator.launch("exchange", args=[to, np.float64(1), 0])),
            (ValueError, "argument by: expected a float of 32 bits", lambda: emulator.launch("exchange", args=[to, 1e300, 0])),
            (TypeError, "argument to: expected bytes or an array, found str", lambda: emulator.launch("exchange", args=["x", 1.0, 0])),
            (ValueError, "grid: expected one to three positive numbers, found 0", lambda: emulator.launch("exchange", grid=0, args=[to, 1.0, 0])),
            (ValueError, "1 to 1024 threads", lambda: emulator.launch("exchange", block=2048, args=[to, 1.0, 0])),
            (ValueError, "bytes: expected a number of at least 0 and of 64 bits, found -1", lambda: emulator.memory(-1)),
            (ValueError, "at most 1073741824 bytes of memory", lambda: emulator.memory(10**15)),
            (ValueError, "align: expected a number of at least 0 and of 32 bits, found -4", lambda: emulator.memory(16, align=-4)),
            (TypeError, "align: expected a whole number, found float", lambda: emulator.memory(16, align=0.5)),
            (ValueError, "shared: expected a number of at least 0", lambda: emulator.launch("exchange", args=[to, 1.0, 0], shared=-1)),
            (ValueError, "seed: expected a number of at least 0", lambda: cute_opt.Emulator(EXCHANGE, seed=-1)),
            (ValueError, "lowest byte comes first, as a GPU has them, found >i4", lambda: emulator.memory(np.zeros(4, ">i4"))),
            (ValueError, "lowest byte comes first", lambda: to.write(np.zeros(4, [("a", ">f4")]))),
            (TypeError, "expected elements that are numbers, found objects", lambda: emulator.memory(np.array([1, None]))),
            (ValueError, "such as 17:2,40:0", lambda: cute_opt.Emulator(EXCHANGE, schedule="x")),
            (ValueError, "line 1", lambda: cute_opt.Emulator("???")),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text) as caught:
                launch()
            self.assertIsInstance(caught.exception, cute_opt.CuteError)


class Claimed:
    """A tensor of four floats that is where it says, as DLPack has it before version 1."""

    class Tensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_uint64),
            ("device", ctypes.c_int32 * 2),
            ("ndim", ctypes.c_int32),
            ("dtype", ctypes.c_uint8 * 4),
            ("shape", ctypes.POINTER(ctypes.c_int64)),
            ("strides", ctypes.c_void_p),
            ("byte_offset", ctypes.c_uint64),
            ("context", ctypes.c_void_p),
            ("deleter", ctypes.c_void_p),
        ]

    def __init__(self, device, byte_offset=0):
        shape = (ctypes.c_int64 * 1)(4)
        self.tensor = self.Tensor(0x1000, device, 1, (2, 32, 1, 0), shape, None, byte_offset)

    def __dlpack_device__(self):
        return tuple(self.tensor.device)

    def __dlpack__(self, stream=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.argtypes, new.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


def raising(error):
    raise error


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.package = cute_opt.compile(ADD_ONE, arch="sm_80", cache=False)

    def test_arrays_of_numpy(self):
        add_one = self.package["add_one_cpu"]
        for count in [0, 1, 1000]:
            x, y = np.arange(count, dtype=np.float32), np.full(count, -1, dtype=np.float32)
            self.assertIsNone(add_one(x, y))
            np.testing.assert_array_equal(y, x + 1)
        self.assertEqual(repr(add_one), "add_one_cpu(E0: f32 (?):(1), D0: f32 (?):(1))")
        self.assertEqual((len(self.package), list(self.package), self.package.architectures), (1, ["add_one_cpu"], ("sm_80",)))

    def test_a_product_of_a_text(self):
        random = np.random.default_rng(0)
        package = cute_opt.compile(GEMM, arch="sm_80", tile="64x64x32", warps="2x2", stages=2, cache=False)
        for m, n, k in [(64, 64, 32), (33, 20, 40)]:
            a, b = (random.integers(-4, 4, shape).astype(np.float16) for shape in [(m, k), (n, k)])
            c = np.zeros((m, n), dtype=np.float32)
            package["gemm"](a, b, c)
            np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
        with self.assertRaisesRegex(ValueError, r"gemm: argument 0 \(A\): expected .*multiple of 8"):
            package["gemm"](np.zeros((8, 9), np.float16), np.zeros((8, 9), np.float16), np.zeros((8, 8), np.float32))

    def test_tensor_maps_are_made_for_each_call(self):
        package = cute_opt.compile(ROOT / "examples/kernels/sm90/tma_copy.mlir", arch="sm_90a", cache=False)
        for rows, columns in [(131, 200), (64, 64)]:
            source = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns).astype(np.float16)
            target = np.zeros_like(source)
            package["tma_copy"](source, target)
            np.testing.assert_array_equal(source, target)

    def test_arguments_that_are_refused(self):
        add_one, x = self.package["add_one_cpu"], np.zeros(4, dtype=np.float32)
        fixed = np.zeros(4, dtype=np.float32)
        fixed.flags.writeable = False
        for error, arguments, text in [
            (TypeError, [x.astype(np.float64), x], r"add_one_cpu: argument 0 \(E0\): expected elements of type f32, found f64"),
            (TypeError, [x], "add_one_cpu: expected 2 arguments, found 1"),
            (TypeError, ["x", x], r"argument 0 \(E0\): expected a tensor \(anything with __dlpack__\), a number or None, found str"),
            (TypeError, [3, x], r"argument 0 \(E0\): expected a tensor of f32, found the number 3"),
            (TypeError, [2.5, x], r"argument 0 \(E0\): expected a tensor of f32, found the number 2.5"),
            (TypeError, [None, x], r"argument 0 \(E0\): expected a tensor of f32"),
            (ValueError, [1 << 63, x], r"argument 0 \(E0\): expected an integer of 64 bits"),
            (ValueError, [1 << 99999, x], r"argument 0 \(E0\): expected an integer of 64 bits"),
            (ValueError, [np.zeros((4, 2), np.float32), x], r"argument 0 \(E0\): expected 1 dimensions"),
            (ValueError, [np.zeros(8, np.float32)[::2], x], r"argument 0 \(E0\): expected stride\[0\] of 1"),
            (ValueError, [np.zeros(5, np.float32), x], "expected all tensors of one shape"),
            (TypeError, [np.zeros(4, dtype=np.complex64), x], r"argument 0 \(E0\): expected elements of type"),
            (TypeError, [np.zeros(4, dtype="U3"), x], r"argument 0 \(E0\): expected a tensor that can be handed over by DLPack"),
            ((TypeError, ValueError), [x, fixed], r"argument 1 \(D0\): expected a tensor that (may be written|can be handed over)"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text) as caught:
                add_one(*arguments)
            self.assertIsInstance(caught.exception, cute_opt.CuteError)
        # What is only read may be read-only.
        add_one(fixed, x)
        with self.assertRaisesRegex(KeyError, "expected one of the package's functions, add_one_cpu; found 'other'"):
            self.package["other"]

    def test_streams_that_are_refused(self):
        add_one, x = self.package["add_one_cpu"], np.zeros(4, dtype=np.float32)
        expected = "add_one_cpu: stream: expected the handle of a CUDA stream, an integer from 0 of 64 bits, or None, found "
        for error, stream, text in [
            (ValueError, -1, "-1"),
            (ValueError, 2**70, str(2**70)),
            (ValueError, 1 << 99999, "another integer"),
            (TypeError, "x", "<class 'str'>"),
            (TypeError, 1.0, "<class 'float'>"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, re.escape(expected + text)) as caught:
                add_one(x, x.copy(), stream=stream)
            self.assertIsInstance(caught.exception, cute_opt.CuteError)
        # Tensors of the host are on no stream.
        add_one(x, x.copy(), stream=np.int64(0))

    def test_what_arguments_raise_is_the_cause(self):
        add_one, x = self.package["add_one_cpu"], np.zeros(4, dtype=np.float32)
        own = ArithmeticError("none today")
        for method, what in [
            ("__index__", "number, found one whose __index__ raises"),
            ("__float__", "number, found one whose __float__ raises"),
            ("__dlpack__", "tensor that can be handed over by DLPack, found one that refuses"),
        ]:
            raises = lambda *_, **__: raising(own)  # noqa: E731
            argument = type("Raises", (), {method: raises, "__dlpack_device__": lambda _: (1, 0)})()
            with self.subTest(method), self.assertRaisesRegex(cute_opt.ArgumentTypeError, rf"add_one_cpu: argument 1 \(D0\): expected a {what}: none today") as caught:
                add_one(x, argument)
            self.assertIs(caught.exception.__cause__, own)
        # An interrupt is no answer of an argument's.
        stopped = type("Stopped", (), {"__index__": lambda _: raising(KeyboardInterrupt())})()
        with self.assertRaises(KeyboardInterrupt):
            add_one(x, stopped)

    def test_devices_are_compared_before_one_is_opened(self):
        add_one, x = self.package["add_one_cpu"], np.zeros(4, dtype=np.float32)
        host, gpu = (1, 0), (2, 0)
        for error, arguments, text in [
            (ValueError, [Claimed(gpu), x], r"argument 1 \(D0\): expected a tensor in memory of GPU 0, found a tensor of the host"),
            (ValueError, [Claimed(gpu), Claimed((2, 1))], r"argument 1 \(D0\): expected a tensor in memory of GPU 0, found a tensor of GPU 1"),
            (ValueError, [x, Claimed(gpu)], r"argument 1 \(D0\): expected a tensor in memory of the host, found a tensor of GPU 0"),
            (ValueError, [Claimed((2, 64)), x], r"argument 0 \(E0\): expected a tensor of a GPU from 0 to 63, found 64"),
            (TypeError, [Claimed(host, 2**64 - 16), x], r"argument 0 \(E0\): expected a byte_offset .*, found 18446744073709551600 from the address 0x1000"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, "add_one_cpu: " + text):
                add_one(*arguments)

    def test_findings_are_raised_with_their_places(self):
        text = (ROOT / "examples/kernels/transpose.mlir").read_text()
        lines = text.replace("      gpu.barrier\n", "").splitlines()
        package = cute_opt.compile("\n".join(lines), arch="sm_80", cache=False)
        stores, loads = (at for at, line in enumerate(lines, 1) if "cute.call @copy_through" in line)
        x, y = np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float32)
        with self.assertRaises(cute_opt.FindingsError) as caught:
            package["transpose"](x, y)
        said = str(caught.exception)
        self.assertRegex(said, rf"shared-memory race: .*\(called from <stdin>:{stores}:7\)")
        self.assertRegex(said, rf"the other access: .*\(called from <stdin>:{loads}:7\)")
        self.assertIn("no barrier orders the two; put one between them", said)

    def test_packages_are_closed_saved_and_exported(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "add.cutepkg")
            self.package.save(path)
            x = np.zeros(4, dtype=np.float32)
            with cute_opt.Package.load(path) as loaded:
                function = loaded["add_one_cpu"]
                function(x, x.copy())
            with self.assertRaisesRegex(cute_opt.CuteError, "expected a package that is open, found one that was closed"):
                function(x, x.copy())
            loaded.close()
            library = self.package.export(folder, "add")
            self.assertTrue(os.path.samefile(library, os.path.join(folder, "libadd.so")))
            for error, name in [(ValueError, "--"), (ValueError, ""), (ValueError, "a/b"), (ValueError, "../a"), (ValueError, "a" * 300), (TypeError, 3), (TypeError, None)]:
                with self.subTest(name), self.assertRaisesRegex(error, "^export: expected (a name with a letter or digit|the name of a library)") as caught:
                    self.package.export(folder, name)
                self.assertIsInstance(caught.exception, cute_opt.CuteError)
            library = self.package.export(folder, "a\0b.größe")
            self.assertTrue(os.path.samefile(library, os.path.join(folder, "liba_b_gr__e.so")))
            damaged = bytearray(pathlib.Path(path).read_bytes())
            damaged[-1] ^= 1
            with self.assertRaisesRegex(cute_opt.CuteError, "checksum"):
                cute_opt.Package(bytes(damaged))
            self.assertEqual(list(cute_opt.Package(memoryview(pathlib.Path(path).read_bytes()))), ["add_one_cpu"])
        for given, found in [("s", "str"), (3, "int"), (None, "NoneType"), ([1, 2], "list")]:
            with self.subTest(found), self.assertRaisesRegex(cute_opt.ArgumentTypeError, f"Package: expected the bytes of a package, found {found}; read a file by Package.load"):
                cute_opt.Package(given)

    def test_threads(self):
        wrong = []

        def calls(thread):
            for turn in range(1, 20):
                x, y = np.full(turn, thread, dtype=np.float32), np.zeros(turn, dtype=np.float32)
                self.package["add_one_cpu"](x, y)
                if not (y == thread + 1).all():
                    wrong.append((thread, turn))

        threads = [threading.Thread(target=calls, args=[thread]) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_calls_keep_no_array(self):
        x, y = np.zeros(4, dtype=np.float32), np.zeros(4, dtype=np.float32)
        before = sys.getrefcount(x), sys.getrefcount(y)
        for _ in range(100):
            self.package["add_one_cpu"](x, y)
        self.assertEqual((sys.getrefcount(x), sys.getrefcount(y)), before)

    def test_packages_are_closed_while_threads_call(self):
        data, x = self.package._data, np.zeros(8, dtype=np.float32)
        answers = []

        def calls(function, started):
            y = np.zeros_like(x)
            try:
                while True:
                    function(x, y)
                    started.set()
                    if not (y == 1).all():
                        answers.append("a wrong result")
            except cute_opt.CuteError as error:
                answers.append(str(error))

        for _ in range(5):
            package = cute_opt.Package(data)
            started = [threading.Event() for _ in range(4)]
            threads = [threading.Thread(target=calls, args=[package["add_one_cpu"], one]) for one in started]
            for thread in threads:
                thread.start()
            for one in started:
                self.assertTrue(one.wait(60))
            package.close()
            for thread in threads:
                thread.join()
        self.assertEqual(set(answers), {"add_one_cpu: expected a package that is open, found one that was closed"})
        self.assertEqual(len(answers), 20)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork here")
    def test_a_process_that_is_forked_calls(self):
        add_one, x, y = self.package["add_one_cpu"], np.zeros(8, dtype=np.float32), np.zeros(8, dtype=np.float32)
        add_one(x, y)
        fresh = cute_opt.Package(self.package._data)["add_one_cpu"]
        child = os.fork()
        if child == 0:
            # One that waits for a lock that nobody holds any more ends by the signal.
            signal.alarm(60)
            status = 1
            try:
                for function in (add_one, fresh):
                    y[:] = 0
                    function(x, y)
                    status = 0 if (y == 1).all() else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        add_one(y, x)
        self.assertTrue((x == 2).all())

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "the system does not say how much memory a process has")
    def test_calls_leave_no_memory(self):
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        function, short = self.package["add_one_cpu"], np.zeros(3, dtype=np.float32)

        def calls(count):
            for turn in range(count):
                # Other sizes each time, of which none is kept for ever; and what is refused.
                x = np.zeros(4 + turn % 500, dtype=np.float32)
                function(x, x.copy())
                with self.assertRaises(ValueError):
                    function(x, short)

        calls(1000)
        before = resident()
        calls(4000)
        # 100 bytes of each call would be 800 kB.
        self.assertLess(resident() - before, 600_000)


class Compiling(unittest.TestCase):
    def test_diagnostics_have_places(self):
        text = ADD_ONE.read_text().replace("cute.yield %b", "cute.yield %other")
        with self.assertRaisesRegex(cute_opt.CompileError, "expected a value that is defined, found %other") as caught:
            cute_opt.compile(text, arch="sm_80", cache=False)
        [error] = [one for one in caught.exception.diagnostics if one.severity == "error"]
        line = next(at for at, line in enumerate(text.splitlines(), 1) if "%other" in line)
        self.assertEqual((error.file, error.line, error.column), ("<stdin>", line, 16))
        with self.assertRaises(cute_opt.CompileError) as caught:
            cute_opt.compile(ADD_ONE, arch="sm_1", cache=False)
        self.assertIn("sm_1", str(caught.exception))

    def test_what_is_no_source_or_option(self):
        with self.assertRaisesRegex(cute_opt.CuteError, "expected IR, or the path of a file with IR, found 'missing.mlir'"):
            cute_opt.compile("missing.mlir")
        for value in ["a b", "x=1'", ""]:
            with self.assertRaisesRegex(cute_opt.CuteError, "expected an option's name and a value without spaces or quotes"):
                cute_opt.compile(ADD_ONE, arch="sm_80", tile=value)
        with self.assertRaises(cute_opt.CompileError):
            cute_opt.compile(ADD_ONE, arch="sm_80", no_such_option=1, cache=False)

    def test_parameters_have_values(self):
        text = """!X = !cute.memref<!cute.param<"T">, gmem, "$L">
module attributes {cute.parameters = {T = "type", L = #cute.layout<"4:1">}} {
  func.func @copy(%x: !X, %y: !X) {
    cute.map ins(%x : !X) outs(%y : !X) {
    ^bb0(%e: !cute.param<"T">):
      cute.yield %e : !cute.param<"T">
    }
    return
  }
}
"""
        values = {"T": "f16", "L": "(8,16) : (16,1)"}
        package = cute_opt.compile(text, arch="sm_80", set=values, cache=False)
        self.assertIn("f16", str(package["copy"]))
        with self.assertRaisesRegex(cute_opt.CompileError, "expected a layout, such as .*, found the type f16; its parameters are L"):
            cute_opt.compile(text, arch="sm_80", set={"T": "f16", "L": "f16"}, cache=False)
        with self.assertRaisesRegex(cute_opt.CuteError, "expected values with one sort of quotes"):
            cute_opt.compile(text, arch="sm_80", set={"T": "\"'"})

    def test_the_cache_is_used(self):
        with tempfile.TemporaryDirectory() as folder:
            first = cute_opt.compile(ADD_ONE, arch="sm_80", cache=folder)
            kept = sorted(str(path) for path in pathlib.Path(folder).rglob("*"))
            self.assertTrue(kept)
            again = cute_opt.compile(ADD_ONE, arch="sm_80", cache=folder)
            self.assertEqual(first.manifest, again.manifest)
            self.assertEqual(kept, sorted(str(path) for path in pathlib.Path(folder).rglob("*")))


class Layouts(unittest.TestCase):
    def test_layouts_are_read_and_asked(self):
        found = cute_opt.layout("((2,2),8):((1,4),2)")
        self.assertEqual((str(found), repr(found)), ("((2,2),8):((1,4),2)", "cute_opt.layout('((2,2),8):((1,4),2)')"))
        self.assertEqual((found.shape, found.stride, found.size, found.cosize), (((2, 2), 8), ((1, 4), 2), 32, 20))
        offsets = [found(i) for i in range(8)]
        self.assertEqual(offsets, [(i & 1) + 4 * (i >> 1 & 1) + 2 * (i >> 2) for i in range(8)])
        self.assertEqual(found((1, 0), 3), 7)
        self.assertEqual(str(cute_opt.layout("(4,8):(8,1)")(None, 1)), "(4):(8)")
        self.assertEqual(str(cute_opt.layout((4, (2, 3)))), "(4,(2,3)):(1,(4,8))")
        self.assertEqual(found, cute_opt.layout("((2,2),8):((1,4),2)"))
        self.assertNotEqual(found, cute_opt.layout("8:1"))

    def test_the_algebra(self):
        a = cute_opt.layout("(6,2):(8,2)")
        self.assertEqual(str(a @ "(4,3):(3,1)"), "((2,2),3):((24,2),8)")
        self.assertEqual(str(a.compose(cute_opt.layout("(4,3):(3,1)"))), "((2,2),3):((24,2),8)")
        self.assertEqual(str(cute_opt.layout("(4096,4096):(4096,1)").zipped_divide("<128,32>")), "((128,32),(32,128)):((4096,1),(524288,32))")
        self.assertEqual(str(cute_opt.layout("(2,4):(1,2)").coalesce()), "8:1")
        self.assertEqual(cute_opt.evaluate("product_each((2,(3,4)))").value, (2, 12))
        self.assertEqual(str(cute_opt.layout("4:2").complement(24)), "(2,3):(1,8)")
        self.assertTrue(cute_opt.layout("10:1").logical_divide(4).notes[0].startswith("4:1 does not divide 10:1"))

    def test_symbols(self):
        matrix = cute_opt.layout("(M,K):(K,1)", where="M % 128 == 0, K % 32 == 0")
        self.assertEqual(str(matrix.logical_divide((128, 32))), "((128,M/128),(32,K/32)):((K,128*K),(1,32))")
        self.assertEqual(str(cute_opt.layout("(M,N):(1,M)").coalesce()), "M*N:1")
        with self.assertRaises(cute_opt.LayoutError) as caught:
            cute_opt.evaluate("1 + M/32")
        self.assertEqual((caught.exception.needs, caught.exception.start), ("M % 32 == 0", 4))

    def test_errors_point_at_the_part(self):
        with self.assertRaises(cute_opt.LayoutError) as caught:
            cute_opt.evaluate("coalesce(composition((6,2):(1,100), 4:4))")
        error = caught.exception
        self.assertEqual(error.expression[error.start : error.end], "composition((6,2):(1,100), 4:4)")
        self.assertIn("choose sizes and strides that divide the left side's modes", str(error))
        with self.assertRaises(cute_opt.LayoutError):
            cute_opt.layout("8:1").no_such_function()

    def test_facts_stay_with_values(self):
        found = cute_opt.layout("(M,K):(K,1)", where="M % 128 == 0, K % 32 == 0")
        self.assertEqual(cute_opt.layout(found), found)
        divided = cute_opt.layout("(M,4):(4,1)").logical_divide(cute_opt.evaluate("D", where="M % D == 0"))
        self.assertIn("M/D", str(divided))

    def test_truth_values_are_no_coordinates(self):
        with self.assertRaisesRegex(cute_opt.CuteError, "expected an integer, .* found True"):
            cute_opt.layout("8:1")(True)

    def test_methods_are_listed(self):
        names = dir(cute_opt.layout("8:1"))
        self.assertTrue({"coalesce", "right_inverse", "zipped_divide", "tile_to_shape", "shape"} <= set(names))

    def test_pictures(self):
        found = cute_opt.layout("(4,8):(8,1)")
        self.assertTrue(found._repr_svg_().startswith("<svg"))
        self.assertEqual(found._repr_latex_(), "$(4,8):(8,1)$")
        self.assertEqual(cute_opt.evaluate("?{div=8}")._repr_latex_(), r"$?\{div=8\}$")
        self.assertIn("tikzpicture", found.tikz())
        self.assertIsNone(cute_opt.layout("(M,4):(4,1)")._repr_svg_())


class Module(unittest.TestCase):
    def test_it_is_there_at_once(self):
        code = "import time; t = time.perf_counter(); import cute_opt; print(time.perf_counter() - t)"
        path = [str(ROOT / "python")] if os.environ.get("CUTE_TOOLS_DIR") else []
        where = {**os.environ, "PYTHONPATH": os.pathsep.join(path + [os.environ.get("PYTHONPATH", "")])}
        took = [float(subprocess.run([sys.executable, "-c", code], env=where, capture_output=True, text=True, check=True).stdout) for _ in range(5)]
        print(f"the import takes {1e3 * min(took):.1f} ms")
        self.assertLess(min(took), 0.05)

    def test_the_page_says_what_comes_out(self):
        failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, globs={"cute_opt": cute_opt})
        self.assertEqual(failed, 0)
        self.assertGreaterEqual(tried, 4)

    def test_names_and_version(self):
        for name in cute_opt.__all__:
            self.assertTrue(hasattr(cute_opt, name), name)
        with self.assertRaises(AttributeError):
            cute_opt.no_such_name
        version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)
        self.assertEqual(cute_opt.__version__, version.group(1))

    def test_the_compiler_is_the_language_server_by_its_name(self):
        messages = [
            '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"rootPath":null,"capabilities":{},"trace":"off"}}',
            '{"jsonrpc":"2.0","id":1,"method":"shutdown"}',
            '{"jsonrpc":"2.0","method":"exit"}',
        ]
        server = cute_opt._tools.find("cute-opt")
        environment = cute_opt._tools.environment()
        done = subprocess.run(["cute-lsp-server", "--lit-test"], executable=server, input="\n// -----\n".join(messages), capture_output=True, text=True, env=environment)
        self.assertIn('"hoverProvider": true', done.stdout, done.stderr)
        self.assertIn('"inlayHintProvider": true', done.stdout)

    def test_tools_that_are_missing_are_said(self):
        code = "import cute_opt; cute_opt.layout('8:1')"
        path = [str(ROOT / "python")] if os.environ.get("CUTE_TOOLS_DIR") else []
        if not path:
            self.skipTest("a wheel has its tools")
        where = {"PATH": "/nowhere", "PYTHONPATH": path[0], "CUTE_TOOLS_DIR": "/nowhere"}
        done = subprocess.run([sys.executable, "-c", code], env=where, capture_output=True, text=True)
        self.assertIn("expected libcute_native.so in /nowhere", done.stderr)


if __name__ == "__main__":
    # Where `cargo xtask` reads it.
    unittest.main(testRunner=unittest.TextTestRunner(stream=sys.stdout, verbosity=2))
