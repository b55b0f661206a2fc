"""CUDA programs on the emulator: compiled by clang with the headers of a CUDA toolkit, run by `cute-run --cuda`.

CUTE_CUDA names the toolkit's folder, with headers, nvcc, ptxas, fatbinary, libdevice and libcudart.so.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(os.environ["CUTE_TOOLS_DIR"], "cute-run")
CUDA = os.environ["CUTE_CUDA"]
CLANG = os.environ["CUTE_CLANG"]
# The flags of a program whose default stream is one for each thread.
PER_THREAD = ("--cuda-include-ptx=all", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM", "-Xclang", "-fgpu-default-stream=per-thread")


def compiled(folder, name, *flags, arch="sm_80"):
    """Compiles a program of the folder `cuda`."""
    program = os.path.join(folder, name + "".join(flag.replace("/", "_") for flag in flags))
    command = [CLANG, "--driver-mode=g++", "-x", "cuda", os.path.join(HERE, "cuda", name + ".cu"), "--no-offload-new-driver", "-O1",
               "-gline-tables-only", "-std=c++17", f"--cuda-gpu-arch={arch}", f"--cuda-path={CUDA}", "-Wno-unknown-cuda-version", "-o", program,
               "-L", os.path.join(CUDA, "lib"), *(flags or ("--cuda-include-ptx=all",)), "-lcudart"]
    subprocess.run(command, check=True)
    return program


def compiled_by_nvcc(folder, name, *flags):
    """Compiles a program of the folder `cuda` with nvcc."""
    program = os.path.join(folder, name + ".nvcc")
    command = [os.path.join(CUDA, "bin", "nvcc"), "-lineinfo", "-std=c++17", "-cudart", "shared", "-o", program,
               os.path.join(HERE, "cuda", name + ".cu"), "-L", os.path.join(CUDA, "lib"), *(flags or ("-arch=sm_80",))]
    subprocess.run(command, check=True)
    return program


def run(*arguments, **keywords):
    return subprocess.run([RUN, *arguments], capture_output=True, text=True, timeout=300, **keywords)


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.whole = compiled(cls.folder.name, "whole")
        cls.wrong = compiled(cls.folder.name, "wrong")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_whole_program_is_right(self):
        done = run("--cuda", self.whole, "--one", "two", "--seed=3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # All that is behind the option is the program's, and kernels print in their turn.
        self.assertIn("argument --one\nargument two\nargument --seed=3\n", done.stdout)
        self.assertIn("before, a kernel says 42\nafter\nPASS\n", done.stdout)
        self.assertIn("launches on sm_80: no findings", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_streams_of_threads_are_in_order(self):
        # The headers give calls other names then, and so does clang for launches.
        program = compiled(self.folder.name, "whole", *PER_THREAD)
        with open(program, "rb") as file:
            content = file.read()
        for name in (b"cudaLaunchKernel_ptsz", b"cudaMemcpyAsync_ptsz", b"cudaMemcpy_ptds"):
            self.assertTrue(name in content, name)
        done = run("--cuda", program, "--one", "two", "--seed=3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("launches on sm_80: no findings", done.stderr)

    def test_graphs_do_what_their_calls_do(self):
        for flags in ((), PER_THREAD):
            done = run("--cuda", compiled(self.folder.name, "graphs", *flags))
            self.assertEqual((done.returncode, done.stdout), (0, "PASS\n"), done.stderr)
            self.assertIn("32 launches on sm_80: no findings", done.stderr)

    def test_boxes_are_copied_and_filled(self):
        done = run("--cuda", compiled(self.folder.name, "planes"))
        self.assertEqual((done.returncode, done.stdout), (2, "PASS\n"), done.stderr)
        self.assertIn("1 launch on sm_80: no findings", done.stderr)
        for words in (
            "cudaMemset3D: expected rows inside of the pitch of a cudaPitchedPtr, found",
            "cudaMemset2DAsync: a fill of the memory of 12288 bytes that cudaMalloc3D gave (allocation 1): expected bytes inside of its 12288",
            "cudaMemcpy3D: expected memory with a pitch, found an array, which the emulator does not have",
        ):
            self.assertIn(words, done.stderr)

    def test_graphs_that_are_wrong_do_nothing(self):
        done = run("--cuda", compiled(self.folder.name, "graph_errors"))
        self.assertEqual((done.returncode, done.stdout), (2, "PASS\n"), done.stderr)
        self.assertIn("2 launches on sm_80: no findings", done.stderr)
        for words in (
            "cudaMalloc: expected no stream that is captured, found one; make the call before cudaStreamBeginCapture",
            "cudaMemcpy: expected no use of the legacy stream while a stream that waits for it is captured",
            "cudaStreamEndCapture: expected all streams of the capture to be joined, found one whose work is not waited for",
            "cudaGraphInstantiate: expected nodes that wait for nodes before them, found some that wait for themselves",
            "cudaGraphLaunch: a copy from the memory of 256 bytes that cudaMalloc gave (allocation 2): expected memory that is allocated",
        ):
            self.assertIn(words, done.stderr)

    @unittest.skipUnless(shutil.which("g++"), "nvcc has no g++ to compile for the host with")
    def test_programs_of_nvcc_are_right(self):
        for name, launches in (("whole", 9), ("graphs", 32)):
            done = run("--cuda", compiled_by_nvcc(self.folder.name, name))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("PASS\n", done.stdout)
            self.assertIn(f"{launches} launches on sm_80: no findings", done.stderr)

    @unittest.skipUnless(shutil.which("g++"), "nvcc has no g++ to compile for the host with")
    def test_variables_of_both_are_one(self):
        program = compiled_by_nvcc(self.folder.name, "managed")
        done = run("--cuda", program)
        # To free a variable is an error.
        self.assertEqual((done.returncode, done.stdout), (2, "PASS\n"), done.stderr)
        self.assertIn("cudaFree: expected memory that an allocation gave, found a variable", done.stderr)
        self.assertIn("5 launches on sm_80: no findings, 1 call that returned an error", done.stderr)
        done = run("--cuda", program, "bounds")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("0 bytes past the end of the __managed__ variable values of 1200 bytes", done.stderr)

    @unittest.skipUnless(shutil.which("g++"), "nvcc has no g++ to compile for the host with")
    def test_variables_of_both_without_ptx_are_refused(self):
        program = compiled_by_nvcc(self.folder.name, "managed", "-gencode", "arch=compute_80,code=sm_80")
        done = run("--cuda", program)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("expected PTX for any architecture in the program, found none", done.stderr)

    def test_products_of_whole_matrices_are_right(self):
        done = run("--cuda", compiled(self.folder.name, "matrices"))
        self.assertEqual((done.returncode, done.stdout), (0, "PASS\n"), done.stderr)
        self.assertIn("96 launches on sm_80: no findings", done.stderr)

    def test_maps_that_kernels_make_and_products_of_bits_are_right(self):
        done = run("--cuda", compiled(self.folder.name, "hopper", arch="sm_90a"))
        self.assertEqual((done.returncode, done.stdout), (0, "PASS\n"), done.stderr)
        self.assertIn("7 launches on sm_90a: no findings", done.stderr)

    def test_every_order_of_warps_is_right(self):
        for seed in ("1", "2"):
            self.assertEqual(run("--seed", seed, "--cuda", self.whole).returncode, 0)

    def test_findings_have_their_status_and_place(self):
        for mistake, status, words in (
            ("race", 3, ["shared-memory race", "wrong.cu:9:", "kernel neighbour(int*)"]),
            ("bounds", 4, ["out of bounds", "wrong.cu:13:", "past the end of the memory of 256 bytes that cudaMalloc gave (allocation 1)"]),
            ("freed", 4, ["memory that the program has freed", "which was freed"]),
            ("assert", 7, ["trap", "values[0] == 1", "cudaErrorAssert"]),
            ("reset", 7, ["trap", "cudaSuccess", "2 launches"]),
        ):
            with self.subTest(mistake):
                done = run("--cuda", self.wrong, mistake)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                for word in words:
                    self.assertIn(word, done.stdout + done.stderr)

    def test_calls_that_are_wrong_return_an_error_and_say_why(self):
        for mistake, name, words in (
            ("twice", "cudaErrorInvalidValue", "cudaFree: freeing memory: expected the start of memory that is allocated"),
            ("copy", "cudaErrorInvalidValue", "bytes inside of its 256, found 512 at byte 0"),
            ("direction", "cudaErrorInvalidValue", "expected memory of the device as the destination, found an address of the host"),
            ("shared", "cudaErrorInvalidValue", "ask for them by cudaFuncSetAttribute"),
            ("threads", "cudaErrorInvalidConfiguration", "1024"),
            ("array", "cudaErrorNotSupported", "cudaMallocArray: the emulator's CUDA runtime does not have the function"),
            ("memory", "cudaErrorMemoryAllocation", "run a smaller problem"),
            ("device", "cudaErrorInvalidDevice", "expected device 0"),
            ("hint", "cudaErrorInvalidValue", "expected 256 bytes of managed memory, found 0 from there on"),
        ):
            with self.subTest(mistake):
                done = run("--cuda", self.wrong, mistake)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(name, done.stdout)
                self.assertIn(words, done.stderr)
                self.assertIn("1 call that returned an error", done.stderr)

    def test_a_program_that_crashes_leaves_what_was_found(self):
        done = run("--cuda", self.wrong, "crash")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("out of bounds", done.stderr)
        self.assertIn("ended by signal 11", done.stderr)

    def test_reports_are_files(self):
        report = os.path.join(self.folder.name, "report.json")
        sarif = os.path.join(self.folder.name, "report.sarif")
        run("--cuda-report", report, "--sarif", sarif, "--cuda", self.wrong, "bounds")
        with open(report) as file:
            told = json.load(file)
        self.assertEqual((told["arch"], told["launches"]), ("sm_80", 1))
        self.assertEqual([finding["kind"] for finding in told["findings"]], ["out-of-bounds"])
        with open(sarif) as file:
            self.assertEqual(json.load(file)["runs"][0]["results"][0]["ruleId"], "out-of-bounds")

    def test_the_library_alone_tells_at_the_end(self):
        library = os.path.join(os.environ["CUTE_TOOLS_DIR"], "deps", "libcute_cudart.so")
        environment = {**os.environ, "LD_PRELOAD": library, "LD_LIBRARY_PATH": os.path.join(CUDA, "lib")}
        done = subprocess.run([self.wrong, "bounds"], capture_output=True, text=True, env=environment, timeout=300)
        self.assertEqual(done.returncode, 0)
        self.assertIn("out of bounds", done.stderr)
        self.assertIn("1 launches on the emulator of sm_80: 1 findings", done.stderr)

    def test_programs_without_ptx_are_refused(self):
        program = compiled(self.folder.name, "wrong", "--no-cuda-include-ptx=all")
        done = run("--cuda", program, "threads")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("expected PTX for any architecture in the program, found none", done.stderr)
        self.assertIn("cudaErrorNoKernelImageForDevice", done.stdout)

    def test_architectures_are_chosen(self):
        done = run("--arch=sm_90a", "--cuda", self.wrong, "race")
        self.assertIn("on sm_90a", done.stderr)
        done = run("--arch=sm_70", "--cuda", self.wrong, "bounds")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
