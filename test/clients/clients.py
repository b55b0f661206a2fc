"""Programs of others that call exported libraries: TVM-FFI's own examples, unmodified, and Python. And the examples of this project.

Run by `cargo xtask clients`, which says where things are:

- CUTE_TOOLS_DIR: cute-opt and cute-run, with libcute.so.
- CUTE_CLIENTS: a folder with `py` (packages of Python) and `tvm` (TVM-FFI's source package); what is built goes there, too.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A file beside this one has the name of a package of PyPI, which PyTorch and JAX import where they find it.
sys.path = [folder for folder in sys.path if pathlib.Path(folder).resolve() != pathlib.Path(__file__).resolve().parent]
TOOLS = pathlib.Path(os.environ["CUTE_TOOLS_DIR"]).resolve()
CLIENTS = pathlib.Path(os.environ["CUTE_CLIENTS"]).resolve()
WORK = CLIENTS / "work"


def run(*command, **how):
    """What a program wrote to stdout, if it ended well."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **how)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def exported(name, text, options="", stem="add_one"):
    """The library of a package of some IR."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source, package = folder / f"{stem}.mlir", folder / f"{stem}.cutepkg"
    source.write_text(text)
    run(TOOLS / "cute-opt", source, f"--cute-compile=arch=sm_80 {options} package={package}", "-o", os.devnull)
    run(TOOLS / "cute-run", package, "--export", folder)
    return folder / f"lib{stem}.so"


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


TEXT = (ROOT / "examples/add_one.mlir").read_text()
OURS = exported("f32", TEXT)
# The same function of another type, whose message proves who was called.
OTHER = exported("i32", TEXT.replace("f32", "i32").replace("1.0", "1").replace("addf", "addi"))
SAYS = "TypeError: add_one_cpu: argument 0 (E0): expected elements of type i32, found f32"


def tvm_ffi_folder():
    import tvm_ffi

    return pathlib.Path(tvm_ffi.__file__).parent


class Unmodified(unittest.TestCase):
    """Examples of TVM-FFI, with our library in the place of the one that they build."""

    def setUp(self):
        [self.source] = (CLIENTS / "tvm").glob("apache_tvm_ffi-*/")

    def test_load_c(self):
        folder = WORK / "load_c"
        (folder / "build").mkdir(parents=True, exist_ok=True)
        own = tvm_ffi_folder()
        program = folder / "load"
        source = self.source / "examples/stable_c_abi/src/load.c"
        run("cc", "-std=c11", f"-I{own}/include", source, "-o", program, f"-L{own}/lib", "-ltvm_ffi", f"-Wl,-rpath,{own}/lib")
        shutil.copy(OURS, folder / "build/add_one_cpu.so")
        self.assertEqual(digest(folder / "build/add_one_cpu.so"), digest(OURS))
        said = run(program, cwd=folder)
        self.assertEqual(said.split(), ["[", "2.000000", "3.000000", "4.000000", "5.000000", "6.000000", "]"])
        shutil.copy(OTHER, folder / "build/add_one_cpu.so")
        failed = subprocess.run([program], cwd=folder, capture_output=True, text=True)
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn(SAYS, failed.stdout)

    def test_load_library_rs(self):
        if not shutil.which("cargo"):
            self.skipTest("cargo is not on the path")
        # The build script of the example asks `python` to compile its library, by a program that is not there.
        tools = WORK / "rust_tools"
        tools.mkdir(parents=True, exist_ok=True)
        python = tools / "python"
        python.write_text("#!/bin/sh\nexit 1\n")
        python.chmod(0o755)
        config = tools / "tvm-ffi-config"
        config.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m tvm_ffi.config \"$@\"\n")
        config.chmod(0o755)
        target = CLIENTS / "rust"
        where = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "CARGO_TARGET_DIR": str(target)}
        where.pop("CARGO_MANIFEST_DIR", None)
        crate = self.source / "rust/tvm-ffi"
        build = ["cargo", "build", "--quiet", "--manifest-path", str(crate / "Cargo.toml"), "--example", "load_library", "--features", "example"]
        built = subprocess.run(build, env=where, cwd=crate, capture_output=True, text=True)
        if built.returncode != 0 and ("failed to download" in built.stderr or "failed to get" in built.stderr or "Could not resolve" in built.stderr):
            self.skipTest("its dependencies cannot be downloaded from crates.io")
        self.assertEqual(built.returncode, 0, built.stderr)
        outs = list((target / "debug/build").glob("tvm-ffi-*/out"))
        program = target / "debug/examples/load_library"
        where["LD_LIBRARY_PATH"] = str(tvm_ffi_folder() / "lib")
        for out in outs:
            shutil.copy(OURS, out / "add_one_cpu.so")
        said = run(program, env=where)
        self.assertIn("y: [1.0, 2.0, 3.0, 4.0]", said)
        for out in outs:
            shutil.copy(OTHER, out / "add_one_cpu.so")
        failed = subprocess.run([program], env=where, capture_output=True, text=True)
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("add_one_cpu: argument 0 (E0): expected elements of type i32, found f32", failed.stderr)


class Numpy(unittest.TestCase):
    """`tvm_ffi.load_module` with arrays of numpy."""

    def setUp(self):
        import numpy as np
        import tvm_ffi

        self.np, self.of = np, tvm_ffi.from_dlpack
        self.ours = tvm_ffi.load_module(str(OURS))

    def test_results(self):
        for count in [0, 1, 5, 1000]:
            x = self.np.arange(count, dtype=self.np.float32)
            y = self.np.full(count, -1, dtype=self.np.float32)
            self.assertIsNone(self.ours.add_one_cpu(self.of(x), self.of(y)))
            self.assertTrue((y == x + 1).all())

    def test_errors(self):
        np, x = self.np, self.np.zeros(5, dtype=self.np.float32)
        wide, long, column = np.zeros(5), np.zeros(6, dtype=np.float32), np.zeros((5, 2), dtype=np.float32)
        for kind, arguments, text in [
            (TypeError, [self.of(wide), self.of(x)], r"add_one_cpu: argument 0 \(E0\): expected elements of type f32, found f64"),
            (TypeError, [self.of(x)], "add_one_cpu: expected 2 arguments, found 1"),
            (TypeError, [1, self.of(x)], r"argument 0 \(E0\): expected a tensor of f32, found the number 1"),
            (TypeError, ["x", self.of(x)], r"argument 0 \(E0\): expected a tensor .* found type index"),
            (TypeError, [None, self.of(x)], r"argument 0 \(E0\): expected a tensor of f32"),
            (ValueError, [self.of(column), self.of(x)], r"argument 0 \(E0\): expected 1 dimensions"),
            (ValueError, [self.of(column[:, 0]), self.of(x)], r"argument 0 \(E0\): expected stride\[0\] of 1, for which it was compiled"),
            (ValueError, [self.of(x), self.of(long)], r"expected all tensors of one shape, found E0 \(5\), D0 \(6\)"),
            (ValueError, [self.of(x), self.of(x)], r"overlap, but the kernel was compiled for tensors that do not \(cute.noalias\)"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                self.ours.add_one_cpu(*arguments)
        self.assertTrue((x == 0).all())

    def test_versions_and_threads(self):
        import tvm_ffi

        other = tvm_ffi.load_module(str(OTHER))
        wrong = []

        def calls(thread):
            for turn in range(1, 20):
                for module, kind in [(self.ours, self.np.float32), (other, self.np.int32)]:
                    x = self.np.full(turn, thread, dtype=kind)
                    y = self.np.zeros(turn, dtype=kind)
                    module.add_one_cpu(self.of(x), self.of(y))
                    if not (y == thread + 1).all():
                        wrong.append((thread, turn, y))

        threads = [threading.Thread(target=calls, args=[thread]) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Jax(unittest.TestCase):
    """Functions of exported libraries that JAX calls through jax-tvm-ffi, unmodified."""

    def test_calls(self):
        try:
            import jax
            import jax.numpy as jnp
        except ImportError:
            self.skipTest("JAX is not installed, so that jax-tvm-ffi was not tried; pip install jax")
        import jax_tvm_ffi
        import tvm_ffi

        for name, library in [("ours", OURS), ("other", OTHER)]:
            jax_tvm_ffi.register_ffi_target(name, tvm_ffi.load_module(str(library)).add_one_cpu, ["args", "rets"], platform="cpu")
        x = jnp.arange(5.0)

        def call(name, x):
            return jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

        self.assertEqual(call("ours", x).tolist(), [1, 2, 3, 4, 5])
        self.assertEqual(jax.jit(lambda x: 2 * call("ours", x + 1))(x).tolist(), [4, 6, 8, 10, 12])
        self.assertEqual(call("other", x.astype(jnp.int32)).tolist(), [1, 2, 3, 4, 5])
        with self.assertRaisesRegex(Exception, r"add_one_cpu: argument 0 \(E0\): expected elements of type i32, found f32"):
            jax.block_until_ready(call("other", x))


class Streams(unittest.TestCase):
    """Tensors of a GPU by TVM-FFI's convention, on a driver that has none."""

    def test_the_stream_is_that_of_the_environment(self):
        folder = WORK / "stream"
        (folder / "driver").mkdir(parents=True, exist_ok=True)
        # The driver takes any kernel whose parameters a line of the code tells, which the compiler does not write.
        driver = (ROOT / "runtime/tests/driver/cuda.c").read_text().replace("if (!found) return NOT_FOUND;", 'if (!found) found = strcpy(line, "");')
        (folder / "cuda.c").write_text(driver.replace("found + strlen(line)", "found"))
        run("cc", "-O1", "-shared", "-fPIC", folder / "cuda.c", "-o", folder / "driver/libcuda.so.1")
        own = tvm_ffi_folder()
        source = ROOT / "test/clients/stream.c"
        flags = ["-std=c11", "-Wall", "-Werror", f"-I{own}/include", f"-L{own}/lib", f"-Wl,-rpath,{own}/lib"]
        run("cc", source, *flags, "-ltvm_ffi", "-ldl", "-o", folder / "stream")
        where = {**os.environ, "LD_LIBRARY_PATH": str(folder / "driver")}
        matrix = '!cute.memref<{}, gmem, align<16>, "(64,64):(64,1)">'
        a, c = matrix.format("f16"), matrix.format("f32")
        contract = f"cute.contract ins(%A, %B : {a}, {a}) outs(%C : {c}) accumulate f32"
        text = f"func.func @gemm(%A: {a}, %B: {a}, %C: {c}) {{\n  {contract}\n  return\n}}\n"
        split = exported("split", text, "tile=32x32x32 warps=1x1 stages=1 split=2", "gemm")
        said = run(folder / "stream", OURS, split, env=where)
        self.assertEqual(said.strip(), "ValueError: add_one_cpu: argument 1 (D0): expected a tensor in memory of GPU 0, found a tensor of GPU 1; "
                         "load the function for that device, or copy the tensor")


class Examples(unittest.TestCase):
    """The programs of `examples/`, compiled as they say."""

    def check(self, compiler, standard, source, expected):
        program = WORK / source.replace("/", "_")
        flags = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", f"-I{OURS.parent}", f"-L{OURS.parent}", f"-Wl,-rpath,{OURS.parent}"]
        run(compiler, ROOT / "examples" / source, *flags, "-ladd_one", "-o", program)
        self.assertEqual(run(program, env={**os.environ, "LD_BIND_NOW": "1"}).splitlines(), expected)

    def test_c(self):
        self.check("cc", "c11", "c/add_one.c", ["2 3 4 5 6 "])

    def test_cpp(self):
        error = "1: add_one_cpu: argument 0 (E0): expected elements of type f32, found f64"
        self.check("c++", "c++17", "cpp/add_one.cpp", ["2 3 4 5 6 ", error])

    def test_rust(self):
        folder = WORK / "rust_example"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / "examples/rust", folder, ignore=shutil.ignore_patterns("target", "Cargo.lock"))
        manifest = folder / "Cargo.toml"
        manifest.write_text(manifest.read_text().replace("../../runtime", str(ROOT / "runtime")))
        # The versions that are here, so that nothing is downloaded; and what the workspace has built of them, in its profile.
        shutil.copy(ROOT / "Cargo.lock", folder)
        how = {**os.environ, "CARGO_PROFILE_DEV_DEBUG": "false", "CARGO_PROFILE_DEV_LTO": "off", "CARGO_TARGET_DIR": str(TOOLS.parent)}
        said = run("cargo", "run", "--quiet", "--offline", "--", OURS.parent / "add_one.cutepkg", cwd=folder, env=how)
        self.assertEqual(said.strip(), "[1.0, 2.0, 3.0, 4.0, 5.0]")

    def test_python(self):
        said = run(sys.executable, ROOT / "examples/python/tvm_ffi_numpy.py", OURS)
        self.assertEqual(said.split(), ["[1.", "2.", "3.", "4.", "5.]"])

    def test_headers_are_those_of_dlpack_where_it_is(self):
        source = WORK / "both.c"
        source.write_text('#include "add_one.h"\n#include <dlpack/dlpack.h>\n#include "add_one.h"\nint main(void) { return sizeof(DLManagedTensor) ? 0 : 1; }\n')
        own = tvm_ffi_folder() / "include"
        run("cc", "-std=c11", "-Wall", "-Werror", source, f"-I{own}", f"-I{OURS.parent}", "-o", WORK / "both")
        run(WORK / "both")


if __name__ == "__main__":
    # Where `cargo xtask` reads it.
    unittest.main(testRunner=unittest.TextTestRunner(stream=sys.stdout, verbosity=2))
