"""Compiles with `cute-opt --cache`, and counts by an assembler of its own what is really compiled.

usage: cache.py FOLDER INPUT: works in FOLDER, which is made anew, and prints what it has seen.
"""

import glob
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

folder, source = os.path.abspath(sys.argv[1]), sys.argv[2]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
os.makedirs("temporary")
ptxas = os.environ.get("CUTE_PTXAS") or shutil.which("ptxas")
if not ptxas:
    sys.exit("expected CUTE_PTXAS, or ptxas on the path")
text = open(source).read()
OPTIONS = "arch=sm_80 tile=32x32x32 warps=1x2 stages=2"

# A kernel that is compiled and warned of.
WARNED = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "warned.mlir")).read()


def write(path, contents, mode=0o644):
    with open(path, "w" if isinstance(contents, str) else "wb") as file:
        file.write(contents)
    os.chmod(path, mode)


def read(path):
    with open(path, "rb") as file:
        return file.read()


write("a.mlir", text)
write("warned.mlir", WARNED)
# It notes each call, and does what a test wants meanwhile.
ASSEMBLER = f'#!/bin/sh\necho >> "{folder}/calls"\neval "$MEANWHILE"\nexec "{ptxas}" "$@"\n'
write("ptxas", ASSEMBLER, 0o755)


def calls():
    return len(read("calls")) if os.path.exists("calls") else 0


def start(cache="--cache", options=OPTIONS, file="a.mlir", package="p.cutepkg", more=(), before=None, **environment):
    options += f" package={package}" if package else ""
    command = ["cute-opt", file, f"--cute-compile={options}", *more] + ([cache] if cache else [])
    environment = {"CUTE_PTXAS": f"{folder}/ptxas", "CUTE_CACHE_DIR": f"{folder}/cache", "TMPDIR": f"{folder}/temporary", **environment}
    text = open("a.mlir") if file in ["-", "/dev/stdin"] else subprocess.DEVNULL
    return subprocess.Popen(command, env={**os.environ, **environment}, stdin=text, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, preexec_fn=before)


def run(package="p.cutepkg", **how):
    """What a command gives: status, module, diagnostics, package; and how often it assembled. Of a file `-` the text is a.mlir."""
    if package and os.path.exists(package):
        os.remove(package)
    count = calls()
    child = start(package=package, **how)
    out, err = child.communicate()
    made = read(package) if package and os.path.exists(package) else None
    return (child.returncode, out, err, made), calls() - count


def require(what, holds):
    if not holds:
        sys.exit(f"not so: {what}")


def entries(ending=".kept"):
    return sorted(name for name in os.listdir("cache") if name.endswith(ending))


def temporary():
    return os.listdir("temporary")


def halves():
    return [name for name in os.listdir("cache") if not name.endswith(".kept")]


def hits(**how):
    """Whether the command is answered by the cache, as it is answered without."""
    plain, _ = run(cache=None, **how)
    given, count = run(**how)
    require(f"{how} gives what it gives without a cache", given == plain)
    return count == 0


# The second time.
require("the first one is compiled", not hits() and hits() and hits())
for how in [{"file": "warned.mlir", "options": "arch=sm_80"}, {"more": ("-o", "o.mlir")}]:
    require("it is the same without a package", not hits(**how, package=None) and hits(**how, package=None))
    hits(**how)
    require("it hits", hits(**how))
(_, _, said, _), _ = run(file="warned.mlir", options="arch=sm_80")
require("warnings are repeated", b"nothing of it can run ahead" in said)
require("standard input", not hits(file="-") and hits(file="-"))
os.mkfifo("fifo")
writer = subprocess.Popen(["sh", "-c", "cat a.mlir > fifo"])
(status, _, said, made), count = run(file="fifo")
require("a pipe is read once", status == 0 and count == 1 and made and b"expected a file, found fifo" in said)
require("and to its end", writer.wait() == 0)
os.remove("o.mlir")
run(more=("-o", "o.mlir"))
require("the output is written", read("o.mlir") == run()[0][1])
os.utime("p.cutepkg", (1, 1))
start().communicate()
require("a package that is there looks new", os.stat("p.cutepkg").st_mtime > 1)
print("the same command gives the same, compiled once")

# Whatever decides the result.
require("another option", not hits(options=OPTIONS.replace("stages=2", "stages=1")))
require("another architecture", not hits(options=OPTIONS.replace("80", "86")))
require("one more architecture", not hits(options=OPTIONS.replace("80", "80,sm_90")))
require("lines", not hits(options=OPTIONS + " lineinfo=true"))
require("printing", not hits(more=("--mlir-print-debuginfo",)) and hits(more=("--mlir-print-debuginfo",)))
require("the order of options is none of it", hits(options=" ".join(reversed(OPTIONS.split()))))
require("nor is a default", hits(options=OPTIONS + " simplify=true"))
write("b.mlir", text)
require("another name", not hits(file="b.mlir"))
write("b.mlir", text + "\n")
require("another text", not hits(file="b.mlir") and hits(file="b.mlir"))
require("the bytes, not the time, of the text", (write("b.mlir", text + "\n"), hits(file="b.mlir"))[1])
write("other", ASSEMBLER, 0o755)
require("another assembler", not hits(CUTE_PTXAS=f"{folder}/other") and hits(CUTE_PTXAS=f"{folder}/other"))
os.utime("other", (1, 1))
require("an assembler that was changed", not hits(CUTE_PTXAS=f"{folder}/other"))
shutil.copy2(shutil.which("cute-opt"), "cute-opt")
os.utime("cute-opt", (1, 1))
require("another build", not hits(PATH=f"{folder}:{os.environ['PATH']}"))
os.remove("cute-opt")
# What is imported is a part of the text.
FACTOR = "func.func private @factor() -> f32 {\n  %f = arith.constant 2.0 : f32\n  return %f : f32\n}\n"
IMPORTER = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "imports.mlir")).read()
write("importer.mlir", IMPORTER)
write("outer.mlir", 'cute.import "inner/factor.mlir"\n')
os.makedirs("inner")
write("inner/factor.mlir", FACTOR)
imported = {"file": "importer.mlir", "options": "arch=sm_80"}
require("a text that imports", not hits(**imported) and hits(**imported))
before, _ = run(**imported)
write("inner/factor.mlir", FACTOR.replace("2.0", "3.0"))
require("an imported file of an imported file", not hits(**imported) and run(**imported)[0] != before)
write("inner/factor.mlir", FACTOR)
require("the bytes that it had before", hits(**imported) and run(**imported)[0] == before)
write("outer.mlir", 'cute.import "./inner/factor.mlir"\n')
require("an imported file", not hits(**imported))
require("and no file that is beside it", (write("inner/more.mlir", FACTOR), hits(**imported))[1])
subprocess.run(["cute-opt", "importer.mlir", "--emit-bytecode", "-o", "importer.mlirbc"], check=True)
(status, _, said, _), count = run(**{**imported, "file": "importer.mlirbc"})
require("bytecode is compiled", status == 0 and count == 1 and b"found bytecode with imports" in said)
print("nothing is found by another text, name, option, architecture, assembler, build or imported file")

# Changes while it compiles.
count = len(entries())
write("c.mlir", text)
run(file="c.mlir", MEANWHILE="echo '// more' >> c.mlir")
run(options=OPTIONS + " sms=7", MEANWHILE="touch ptxas")
run(file="importer.mlir", options="arch=sm_86", MEANWHILE="echo '// more' >> inner/factor.mlir")
require("what changes meanwhile is not kept", len(entries()) == count)
write("ptxas", ASSEMBLER, 0o755)
print("what changes while it is compiled is not kept")

# Failures.
write("wrong.mlir", "func.func @f() { return }\n")
for how in [{"file": "wrong.mlir"}, {"file": "none.mlir"}, {"options": "arch=sm_70"}, {"more": ("--mlir-timing=x",)}]:
    plain, _ = run(cache=None, **how)
    given, _ = run(**how)
    require(f"{how} fails alike", given[0] == plain[0] != 0 and given[2].endswith(plain[2]))
(status, _, said, _), _ = run(more=("--mlir-print-ir-after-all",))
require("others are done without", status == 0 and b"warning: --cache: expected" in said)
print("failures are as without a cache, and not kept")

# Damage.
shutil.rmtree("cache")
whole, _ = run()
[name] = entries()
kept = read(f"cache/{name}")
other = "arch=sm_80 tile=32x32x32 warps=1x2 stages=1"
for damaged in [kept[:100] + bytes([kept[100] ^ 1]) + kept[101:], kept[:-9], b"", kept + b"x"]:
    write(f"cache/{name}", damaged)
    given, count = run()
    require("what is damaged is compiled", given == whole and count == 1)
    require("and replaced", run() == (whole, 0) and read(f"cache/{name}") == kept)
run(options=other)
[foreign] = set(entries()) - {name}
shutil.copy(f"cache/{foreign}", f"cache/{name}")
require("what is foreign is compiled", run() == (whole, 1) and run() == (whole, 0))
print("damaged and foreign entries are replaced")

# Folders.
stdin, _ = run(file="-", cache=None)
for where in ["/proc/cache", f"{folder}/a.mlir/below"]:
    given, count = run(cache=f"--cache={where}")
    warnings = [line for line in given[2].decode().splitlines() if "warning: --cache:" in line]
    require(f"{where} is warned of", len(warnings) == 1 and where in warnings[0])
    piped, _ = run(file="-", cache=f"--cache={where}")
    require("and of standard input", piped[0] == 0 and piped[1:4:2] == stdin[1:4:2])
    require("and compiled", count == 1 and given[:2] + given[3:] == whole[:2] + whole[3:])
quoted = {"cache": f"--cache={folder}/quote'd", "TMPDIR": "/proc"}
given, _ = run(**quoted)
require("packages are made somewhere else", b"warning: --cache: cannot write /proc" in given[2] and given[3] == whole[3])
require("which quotes do not matter to", run(cache=quoted["cache"]) == (whole, 1) and run(cache=quoted["cache"]) == (whole, 0))
given, _ = run(CUTE_CACHE_LIMIT="much")
require("a bound that is none is warned of", b"CUTE_CACHE_LIMIT: expected a number" in given[2])
run(CUTE_CACHE_DIR="", XDG_CACHE_HOME=f"{folder}/xdg")
run(CUTE_CACHE_DIR="", XDG_CACHE_HOME="", HOME=f"{folder}/home")
require("the usual folders", glob.glob("xdg/cute-opt/*.kept") and glob.glob("home/.cache/cute-opt/*.kept"))
print("a folder that cannot be written is a warning")

# Many at once, on nothing.
shutil.rmtree("cache")
children = [start(package=f"{i}.cutepkg") for i in range(8)]
outputs = [child.communicate() for child in children]
require("all succeed", all(child.returncode == 0 for child in children))
require("all give the same", all(output == whole[1:3] for output in outputs))
require("and the same package", all(read(f"{i}.cutepkg") == whole[3] for i in range(8)))
require("one entry is left, and nothing else", len(os.listdir("cache")) == 1 and run() == (whole, 0))
print("eight processes at once leave one entry")

# The bound.
shutil.rmtree("cache")
for stages in [1, 2, 3]:
    run(options=f"arch=sm_80 tile=32x32x32 warps=1x2 stages={stages}")
    now = time.time() - 100 + stages
    for name in entries():
        if os.stat(f"cache/{name}").st_mtime > now:
            os.utime(f"cache/{name}", (now, now))
size = max(os.stat(f"cache/{name}").st_size for name in entries())
write("cache/theirs", "x" * size * 9)
require("used again", hits(options="arch=sm_80 tile=32x32x32 warps=1x2 stages=1"))
run(options=OPTIONS + " sms=9", CUTE_CACHE_LIMIT=str(size * 3))
total = sum(os.stat(f"cache/{name}").st_size for name in entries())
require("the bound is kept", total <= size * 3 and 2 <= len(entries()) <= 3)
require("what was used stays", hits(options="arch=sm_80 tile=32x32x32 warps=1x2 stages=1"))
require("what was not goes", not hits())
require("others' files stay", os.path.exists("cache/theirs"))
print("the bound is kept")


# Killed while the entry is written: by the system, where the file becomes too large.
def killed_by_size(limit, ignored):
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignored else signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return before


shutil.rmtree("cache")
limit = max(len(whole[1]), len(whole[3])) + 100
(status, _, _, made), _ = run(before=killed_by_size(limit, ignored=False))
require("it is killed with the package written", status == -signal.SIGXFSZ and made == whole[3])
[half] = os.listdir("cache")
require("half an entry is left", os.stat(f"cache/{half}").st_size == limit and half.startswith(".part-"))
given, count = run(before=killed_by_size(limit, ignored=True))
require("a full disk is a warning", b"warning: --cache: the cache cannot write" in given[2] and given[3] == whole[3])
require("half an entry is not used, and is removed", run() == (whole, 1) and run() == (whole, 0) and halves() == [])
require("nothing is left of packages", temporary() == [])

# Killed at any time.
shutil.rmtree("cache")
began = time.time()
run()
took = time.time() - began
for i in range(12):
    shutil.rmtree("cache")
    child = start(before=os.setsid)
    time.sleep(took * (i + 1) / 12)
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    require("what is left is right", run()[0] == whole and run() == (whole, 0))
    require("one entry is left", len(entries()) == 1)
print("what killed processes leave is not used")
