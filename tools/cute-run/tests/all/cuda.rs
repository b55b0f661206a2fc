//! `cute-run --cuda`: programs that cannot run on the emulator, and options that mean nothing for them. What runs is tested by
//! `test/clients/cuda.py`, which has a compiler for CUDA.

use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cute-run"))
        .args(arguments)
        .output()
        .unwrap()
}

/// The text of an error, with which a run ends that could not begin.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Compiles a C program, with these options.
fn compiled(folder: &Path, text: &str, options: &[&str]) -> String {
    let source = folder.join("program.c");
    std::fs::write(&source, text).unwrap();
    let program = folder.join("program");
    let mut compiler = Command::new("cc");
    compiler.arg(&source).arg("-o").arg(&program).args(options);
    assert!(compiler.status().unwrap().success());
    program.to_str().unwrap().to_owned()
}

#[test]
fn programs_that_use_no_cuda_runtime_are_refused() {
    let error = refused(&["--cuda", "true", "--whatever"]);
    assert!(
        error.contains("found none of its calls (exit status: 0)"),
        "{error}"
    );
    assert!(error.contains("-cudart shared"), "{error}");
    let error = refused(&["--cuda", "/nowhere/program"]);
    assert!(error.contains("cannot find /nowhere/program"), "{error}");
    let error = refused(&["--cuda", "no-such-program-at-all"]);
    assert!(error.contains("neither here nor in PATH"), "{error}");
}

#[test]
fn runtimes_that_are_linked_in_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = "__attribute__((section(\".nv_fatbin\"))) const char code[] = \"code\";\nint main(void) { return code[0] == 0; }\n";
    let program = compiled(folder.path(), text, &[]);
    let error = refused(&["--cuda", &program]);
    assert!(
        error.contains("found device code and no libcudart.so"),
        "{error}"
    );
}

#[test]
fn runtimes_of_other_versions_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("libcudart.so.11.0");
    let mut compiler = Command::new("cc");
    compiler.args([
        "-shared",
        "-x",
        "c",
        "/dev/null",
        "-Wl,-soname,libcudart.so.11.0",
        "-o",
    ]);
    assert!(compiler.arg(&library).status().unwrap().success());
    let options = ["-Wl,--no-as-needed", library.to_str().unwrap()];
    let program = compiled(folder.path(), "int main(void) { return 0; }\n", &options);
    let error = refused(&["--cuda", &program]);
    assert!(
        error.contains("version 12 or 13, found libcudart.so.11.0"),
        "{error}"
    );
}

/// A program linked with a runtime that is not there starts, by the library that stands for it.
#[test]
fn programs_start_without_a_runtime() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["12", "13"] {
        let name = format!("libcudart.so.{version}");
        // As NVIDIA's: the version of each symbol is the library's name.
        let script = folder.path().join("versions");
        std::fs::write(&script, format!("{name} {{ global: cuda*; }};\n")).unwrap();
        let source = folder.path().join("runtime.c");
        std::fs::write(
            &source,
            "int cudaGetDeviceCount(int *count) { return *count = 77; }\n",
        )
        .unwrap();
        let library = folder.path().join(&name);
        let mut compiler = Command::new("cc");
        compiler.arg("-shared").arg(&source).arg("-o").arg(&library);
        compiler.arg(format!(
            "-Wl,-soname,{name},--version-script,{}",
            script.display()
        ));
        assert!(compiler.status().unwrap().success());
        let text = "#include <stdio.h>\nint cudaGetDeviceCount(int *);\n\
                    int main(void) { int count = 0; int error = cudaGetDeviceCount(&count); printf(\"%d %d\\n\", error, count); return 9; }\n";
        let program = compiled(folder.path(), text, &[library.to_str().unwrap()]);
        std::fs::remove_file(&library).unwrap();
        let output = run(&["--cuda", &program]);
        assert_eq!(output.status.code(), Some(9), "{output:?}");
        assert_eq!(output.stdout, b"0 1\n");
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            told,
            format!("{program}: 0 launches on the emulator: no findings\n")
        );
    }
}

#[test]
fn options_that_mean_nothing_are_refused() {
    for (arguments, says) in [
        (&["--json", "--cuda", "true"][..], "--cuda-report FILE"),
        (&["--seeds=2", "--cuda", "true"], "another --seed"),
        (
            &["--kernel=k", "--cuda", "true"],
            "--kernel is not for CUDA programs",
        ),
        (&["--device=cuda", "--cuda", "true"], "--device=emulator"),
        (
            &["x.cutepkg", "--cuda", "true"],
            "found x.cutepkg before it, too",
        ),
        (
            &["--cuda-report=x.json", "x.ptx"],
            "--cuda-report is for CUDA programs",
        ),
    ] {
        let error = refused(arguments);
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
}
