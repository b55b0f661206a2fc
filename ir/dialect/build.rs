//! Generates C++ from the `.td` files and compiles the shim.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

const SOURCES: &[&str] = &[
    "Dialect.cpp",
    "Types.cpp",
    "Nvgpu.cpp",
    "Forms.cpp",
    "Driver.cpp",
];

/// The ops of each dialect: the files define both.
const CUTE: &str = "--op-include-regex=^cute\\.";
const NVGPU: &str = "--op-include-regex=^cute_nvgpu\\.";

/// (generator, output)
const GENERATED: &[(&[&str], &str)] = &[
    (
        &["--gen-dialect-decls", "--dialect=cute"],
        "CuteDialect.h.inc",
    ),
    (
        &["--gen-dialect-defs", "--dialect=cute"],
        "CuteDialect.cpp.inc",
    ),
    (
        &["--gen-typedef-decls", "--typedefs-dialect=cute"],
        "CuteTypes.h.inc",
    ),
    (
        &["--gen-typedef-defs", "--typedefs-dialect=cute"],
        "CuteTypes.cpp.inc",
    ),
    (
        &["--gen-attrdef-decls", "--attrdefs-dialect=cute"],
        "CuteAttrs.h.inc",
    ),
    (
        &["--gen-attrdef-defs", "--attrdefs-dialect=cute"],
        "CuteAttrs.cpp.inc",
    ),
    (
        &["--gen-dialect-decls", "--dialect=cute_nvgpu"],
        "CuteNvgpuDialect.h.inc",
    ),
    (
        &["--gen-dialect-defs", "--dialect=cute_nvgpu"],
        "CuteNvgpuDialect.cpp.inc",
    ),
    (
        &["--gen-typedef-decls", "--typedefs-dialect=cute_nvgpu"],
        "CuteNvgpuTypes.h.inc",
    ),
    (
        &["--gen-typedef-defs", "--typedefs-dialect=cute_nvgpu"],
        "CuteNvgpuTypes.cpp.inc",
    ),
    (
        &["--gen-attrdef-decls", "--attrdefs-dialect=cute_nvgpu"],
        "CuteNvgpuAttrs.h.inc",
    ),
    (
        &["--gen-attrdef-defs", "--attrdefs-dialect=cute_nvgpu"],
        "CuteNvgpuAttrs.cpp.inc",
    ),
    (&["--gen-op-decls", CUTE], "CuteOps.h.inc"),
    (&["--gen-op-defs", CUTE], "CuteOps.cpp.inc"),
    (&["--gen-op-decls", NVGPU], "CuteNvgpuOps.h.inc"),
    (&["--gen-op-defs", NVGPU], "CuteNvgpuOps.cpp.inc"),
];

fn main() {
    let llvm = PathBuf::from(
        env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".to_owned()),
    );
    let include = llvm.join("include");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    // For the `dialect!` macro, which does not run in this folder.
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo:rustc-env=CUTE_ODS={here}/ods");
    for folder in ["ods", "shim"] {
        println!("cargo:rerun-if-changed={folder}");
    }
    for (generator, output) in GENERATED {
        tblgen(
            &llvm.join("bin/mlir-tblgen"),
            &include,
            generator,
            &out.join(output),
        );
    }
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++20")
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag_if_supported("-Wno-unused-function")
        .flag_if_supported("-Wno-unused-parameter")
        .flag_if_supported("-Wno-misleading-indentation")
        // MLIR's headers are not ours to mend.
        .flag(format!("-isystem{}", include.display()))
        .include(&out)
        .include("shim")
        .define("NDEBUG", None)
        .opt_level(1)
        .debug(false);
    for source in SOURCES {
        build.file(Path::new("shim").join(source));
    }
    build.compile("cute_shim");
}

fn tblgen(tool: &Path, include: &Path, generator: &[&str], output: &Path) {
    let result = Command::new(tool)
        .args(generator)
        .arg("-Iods")
        .arg(format!("-I{}", include.display()))
        .arg("ods/CuteOps.td")
        .arg("-o")
        .arg(output)
        .output();
    match result {
        Ok(done) if done.status.success() => {}
        Ok(done) => {
            eprintln!("{}", String::from_utf8_lossy(&done.stderr));
            panic!("mlir-tblgen failed on ods/CuteOps.td");
        }
        Err(error) => panic!(
            "cannot run {}: {error}; run `cargo xtask setup`, or set MLIR_SYS_220_PREFIX to LLVM 22",
            tool.display()
        ),
    }
}
