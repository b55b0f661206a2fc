//! `--export`: libraries that are made without a compiler, called from C.

mod package;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The output of a program, if it ended well.
fn ran(command: &mut Command) -> String {
    let output = ended(command);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

fn ended(command: &mut Command) -> Output {
    let output = command.output();
    output.unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn cute_run() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cute-run"))
}

/// Exports the package for an architecture as `kernels` into a folder.
fn export(folder: &Path, arch: &str, step: f32) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join("kernels.cutepkg");
    package::package(arch, step).write_file(&path).unwrap();
    let out = folder.join("out");
    ran(cute_run().arg(&path).arg("--export").arg(&out));
    out
}

/// The program of `export/calls.c`, linked with the library in a folder.
fn calls(out: &Path) -> PathBuf {
    let program = out.join("calls");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/export/calls.c");
    ran(Command::new("cc")
        .args([
            "-std=gnu11",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pthread",
            "-I",
        ])
        .arg(out)
        .arg(source)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(out)
        .args(["-lkernels", "-ldl"])
        .arg(format!("-Wl,-rpath,{}", out.display())));
    program
}

/// A program without a driver that may be there, whose symbols are all bound at the start.
fn alone(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("LD_BIND_NOW", "1")
        .env("CUDA_VISIBLE_DEVICES", "");
    command.env_remove("CUTE_DEVICE");
    command
}

/// The driver without a GPU, in a folder of its own.
fn driver(folder: &Path) -> PathBuf {
    let folder = folder.join("driver");
    fs::create_dir_all(&folder).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/tests/driver/cuda.c");
    ran(Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .arg(source));
    folder
}

fn with_driver(program: &Path, driver: &Path) -> Command {
    let mut command = alone(program);
    command.env("LD_LIBRARY_PATH", driver);
    command
}

#[test]
fn c_programs_call_functions_on_the_emulator() {
    let folder = TempDir::new().unwrap();
    let out = export(folder.path(), "sm_80", 1.0);
    let program = calls(&out);
    for mode in ["host", "bad", "threads", "fork"] {
        ran(alone(&program).arg(mode));
    }
    // On a machine with a driver it is hidden that there is a GPU.
    let text = match has_driver() {
        true => "finds no GPU",
        false => {
            "no CUDA driver found (libcuda.so.1); install an NVIDIA driver, or run on a machine that has one; without a GPU, \
                  tensors of the host run on the emulator"
        }
    };
    ran(alone(&program).args(["device", text]));
}

/// Tells whether this machine has the library of the driver.
fn has_driver() -> bool {
    let list = Command::new("/sbin/ldconfig").arg("-p").output();
    list.is_ok_and(|list| String::from_utf8_lossy(&list.stdout).contains("libcuda.so.1"))
}

#[test]
fn c_programs_call_functions_on_a_gpu() {
    let folder = TempDir::new().unwrap();
    let out = export(folder.path(), "sm_80", 1.0);
    let (program, driver) = (calls(&out), driver(folder.path()));
    ran(with_driver(&program, &driver).arg("gpu"));
    ran(with_driver(&program, &driver)
        .arg("emulated")
        .env("CUTE_DEVICE", "emulator"));
    ran(with_driver(&program, &driver)
        .args([
            "device",
            "CUTE_DEVICE: expected nothing, auto or emulator, found `gpu`",
        ])
        .env("CUTE_DEVICE", "gpu"));
    let took = ran(with_driver(&program, &driver).args(["timed", "5"]));
    println!("a call of scale takes {}", took.trim());
}

/// A GPU that no code is for.
#[test]
fn a_chip_without_code_is_an_error() {
    let folder = TempDir::new().unwrap();
    let out = export(folder.path(), "sm_120", 1.0);
    let (program, driver) = (calls(&out), driver(folder.path()));
    let text = "sm_120";
    ran(with_driver(&program, &driver).args(["device", text]));
}

#[test]
fn two_versions_are_in_one_process() {
    let folder = TempDir::new().unwrap();
    let one = export(&folder.path().join("one"), "sm_80", 1.0);
    let two = export(&folder.path().join("two"), "sm_80", 100.0);
    let program = calls(&one);
    ran(alone(&program)
        .arg("two")
        .arg(one.join("libkernels.so"))
        .arg(two.join("libkernels.so")));
}

#[test]
fn calls_leave_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let out = export(folder.path(), "sm_80", 1.0);
    let program = calls(&out);
    ran(alone(&program).args(["many", "100000"]));
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!(
            "skipped: memory is not checked, as valgrind is not installed (apt install valgrind)"
        );
        return;
    }
    let checked = |words: &[&str]| {
        let mut command = Command::new("valgrind");
        command.args(["-q", "--error-exitcode=9", "--leak-check=full"]);
        command
            .arg("--errors-for-leak-kinds=definite")
            .arg(&program);
        command.args(words).env("CUDA_VISIBLE_DEVICES", "");
        ran(&mut command)
    };
    checked(&["many", "100"]);
    checked(&["bad"]);
}

/// The libraries that it has to be loaded with, and the names that it has.
#[test]
fn the_library_needs_libc_alone() {
    let folder = TempDir::new().unwrap();
    let out = export(folder.path(), "sm_80", 1.0);
    let bytes = fs::read(out.join("libkernels.so")).unwrap();
    let elf = object::build::elf::Builder::read(bytes.as_slice()).unwrap();
    let mut needed = Vec::new();
    for entry in elf.dynamic_data().unwrap() {
        if let object::build::elf::Dynamic::String { tag, val } = entry {
            match *tag {
                object::elf::DT_NEEDED => needed.push(val.to_string()),
                object::elf::DT_SONAME => assert_eq!(val.to_string(), "libkernels.so"),
                _ => panic!("{tag:?} {val}"),
            }
        }
    }
    let allowed = [
        "libc.so.6",
        "libm.so.6",
        "libgcc_s.so.1",
        "libdl.so.2",
        "libpthread.so.0",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    ];
    assert!(
        needed.iter().all(|name| allowed.contains(&name.as_str())),
        "{needed:?}"
    );
    let symbols = elf.dynamic_symbols.iter();
    let mut defined: Vec<String> = symbols
        .filter(|symbol| symbol.section.is_some())
        .map(|symbol| symbol.name.to_string())
        .collect();
    defined.sort();
    let functions = ["add_one_cpu", "beyond", "scale", "through"];
    let tvm = functions.map(|name| format!("__tvm_ffi_{name}"));
    let c = functions.map(|name| format!("cute_kernels_{name}"));
    assert_eq!(defined, [tvm, c].concat());

    let described = fs::read(out.join("kernels.json")).unwrap();
    let described: serde_json::Value = serde_json::from_slice(&described).unwrap();
    assert_eq!(described["library"], "libkernels.so");
    let function = &described["functions"][0];
    assert_eq!(
        (&function["c"], &function["tvm_ffi"]),
        (&"cute_kernels_scale".into(), &"__tvm_ffi_scale".into())
    );
    assert_eq!(function["args"][2]["default"], 1.0);
    assert_eq!(function["requires"][0], "x and y have one shape");
    assert_eq!(described["functions"][1]["workspace"], true);
    // The package is in the library as it was.
    let package = fs::read(folder.path().join("kernels.cutepkg")).unwrap();
    assert_eq!(
        described["package"]["blake3"],
        blake3::hash(&package).to_hex().as_str()
    );
    assert!(bytes.windows(package.len()).any(|part| part == package));
}

/// Nothing but the package decides what is written.
#[test]
fn exports_are_the_same_every_time() {
    let folder = TempDir::new().unwrap();
    let one = export(&folder.path().join("one"), "sm_80", 1.0);
    let two = export(&folder.path().join("two"), "sm_80", 1.0);
    for file in ["libkernels.so", "kernels.h", "kernels.hpp", "kernels.json"] {
        assert!(
            fs::read(one.join(file)).unwrap() == fs::read(two.join(file)).unwrap(),
            "{file}"
        );
    }
}

#[test]
fn what_cannot_be_exported_is_said() {
    let folder = TempDir::new().unwrap();
    let refused = |package: &Path, text: &str| {
        let output = ended(
            cute_run()
                .arg(package)
                .arg("--export")
                .arg(folder.path().join("out")),
        );
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && said.contains(text),
            "{said}"
        );
    };
    let built = package::package("sm_80", 1.0);
    let unnamed = folder.path().join("--.cutepkg");
    built.write_file(&unnamed).unwrap();
    refused(
        &folder.path().join("./--.cutepkg"),
        "expected a name with a letter or digit",
    );
    let functions = |names: &[String]| {
        let template = built.function(Some("add_one_cpu")).unwrap();
        let mut builder = cute_runtime::Package::builder("test");
        for name in names {
            let function = cute_runtime::Function {
                name: name.clone(),
                launches: Vec::new(),
                ..template.clone()
            };
            builder = builder.function(function);
        }
        let path = folder.path().join("functions.cutepkg");
        builder.build().unwrap().write_file(&path).unwrap();
        path
    };
    let same = functions(&["a.b".into(), "a-b".into()]);
    refused(
        &same,
        "functions `a.b` and `a-b` are both a_b in C; rename one",
    );
    let zero = functions(&["a\0b".into()]);
    refused(
        &zero,
        "expected a function's name without zero bytes, found `a\\0b`",
    );
    let all: Vec<String> = (0..257).map(|at| format!("f{at}")).collect();
    refused(
        &functions(&all),
        "expected a package of at most 256 functions, found 257; split it",
    );
    refused(
        &functions(&[]),
        "expected a package with functions, found none",
    );
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let output = ended(
        cute_run()
            .arg(functions(&all[..256]))
            .arg("--export")
            .arg(&file),
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot make"));
    // As many as there may be; a function of nothing but conditions is a function.
    ran(cute_run()
        .arg(functions(&all[..256]))
        .arg("--export")
        .arg(folder.path().join("out")));

    // A program without the generic object beside it, and one with another.
    let moved = folder.path().join("bin/cute-run");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_cute-run"), &moved).unwrap();
    let path = functions(&all[..1]);
    let lone = |text: &str| {
        let output = ended(
            Command::new(&moved)
                .arg(&path)
                .arg("--export")
                .arg(folder.path().join("lone")),
        );
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && said.contains(text),
            "{said}"
        );
        assert!(!folder.path().join("lone").exists(), "nothing is written");
    };
    lone(
        "expected libcute.so, which --export makes libraries of, beside this program; found none in",
    );
    let generic = moved.with_file_name("libcute.so");
    fs::write(&generic, "no library").unwrap();
    lone("the generic object is no ELF library");
    fs::copy(&moved, &generic).unwrap();
    lone("the generic object has no symbol cute_package: it is none of cute-run's");
    fs::copy(folder.path().join("out/libfunctions.so"), &generic).unwrap();
    lone("the generic object has no symbol cute_package");
}

/// y = a x + y, by threads that check their number against `n` plus what is said.
fn axpy(more: u32) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry axpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) {{\n\
         .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %s<4>;\n\
         ld.param.u32 %r0, [n]; ld.param.f32 %f0, [a]; ld.param.u64 %s0, [x]; ld.param.u64 %s1, [y];\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1; add.u32 %r0, %r0, {more};\n\
         setp.ge.u32 %p, %r1, %r0; @%p ret; mul.wide.u32 %s2, %r1, 4; add.s64 %s0, %s0, %s2; add.s64 %s1, %s1, %s2;\n\
         ld.global.f32 %f1, [%s0];\nld.global.f32 %f2, [%s1]; fma.rn.f32 %f2, %f0, %f1, %f2;\nst.global.f32 [%s1], %f2; ret; }}\n"
    )
}

#[test]
fn any_ptx_is_launched_from_c() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = folder.path().join("emulate");
    let libraries = Path::new(env!("CARGO_BIN_EXE_cute-run")).parent().unwrap();
    let libraries = libraries.join("deps");
    ran(Command::new("cc")
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root.join("runtime/library/include"))
        .arg(root.join("examples/c/emulate.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&libraries)
        .args(["-lcute", "-Wl,-rpath"])
        .arg(format!("-Wl,{}", libraries.display())));
    let run = |text: &str| {
        let file = folder.path().join("axpy.ptx");
        fs::write(&file, text).unwrap();
        let output = ended(Command::new(&program).arg(&file));
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    };
    assert_eq!(run(&axpy(0)), (Some(0), "y[999] = 2498.5\n".into()));
    // One thread too many reads and writes behind both.
    let (code, said) = run(&axpy(1));
    assert_eq!(code, Some(4), "{said}");
    assert!(
        said.contains("out of bounds: PTX line 9: ld.global.f32"),
        "{said}"
    );
    assert!(said.contains("and 2 more"), "{said}");
    let (code, said) = run("???");
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("expected an emulator, found a null pointer"),
        "{said}"
    );
    let (code, said) = run(&axpy(0).replace("entry axpy", "entry other"));
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("expected a kernel of the module (other), found axpy"),
        "{said}"
    );
}
