//! Makes C++ and Rust of the `.td` files, and compiles the shim.

#[path = "build/accessors.rs"]
mod accessors;
#[path = "build/parts.rs"]
mod parts;
#[path = "build/records.rs"]
mod records;

use records::Records;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const SOURCES: &[&str] = &[
    "Dialect.cpp",
    "Types.cpp",
    "Nvgpu.cpp",
    "Parts.cpp",
    "Forms.cpp",
    "Groups.cpp",
    "Head.cpp",
    "Texts.cpp",
    "Names.cpp",
    "Strip.cpp",
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
    for folder in ["ods", "shim", "build", "build.rs"] {
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
    generate(&llvm, &include, &out);
    let mut build = cc::Build::new();
    // LLVM's own clang takes a third less time than GCC 12.
    println!("cargo:rerun-if-env-changed=CXX");
    let clang = llvm.join("bin/clang++");
    if env::var_os("CXX").is_none() && clang.is_file() {
        build.compiler(clang);
    }
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
    compile(&build, &out);
}

/// The header that has nearly all that the sources include.
const HEADER: &str = "shim/Syntax.h";

/// Has the header compiled once for all sources, a third of whose time it takes, where the compiler is a clang. Another one
/// reads it in each source.
fn precompile(build: &mut cc::Build, out: &Path) {
    let compiler = build.get_compiler();
    if !compiler.is_like_clang() {
        return;
    }
    let compiled = out.join("Syntax.pch");
    let mut command = compiler.to_command();
    command
        .args([
            "-fpch-instantiate-templates",
            "-x",
            "c++-header",
            HEADER,
            "-o",
        ])
        .arg(&compiled);
    // Where that fails, the sources say why.
    if command.status().is_ok_and(|status| status.success()) {
        build.flag("-include-pch").flag(compiled);
    }
}

/// Compiles the shim, or takes it from an earlier build in the same target folder: `cargo check`, `clippy`, `test` and each
/// profile have a build of their own, but the C++ is the same in all of them.
fn compile(build: &cc::Build, out: &Path) {
    const ARCHIVE: &str = "libcute_shim.a";
    let archive = out.join(ARCHIVE);
    // target/PROFILE/build/PACKAGE/out
    let target = out.ancestors().nth(4).unwrap_or(out);
    let shared = target.join(format!("cute-shim-{:016x}", fingerprint(build, out)));
    let kept = shared.join(ARCHIVE);
    if fs::copy(&kept, &archive).is_err() {
        let mut build = build.clone();
        build.cargo_metadata(false).out_dir(out);
        precompile(&mut build, out);
        build.compile("cute_shim");
        // A build that runs beside this one finds a whole file or none. Without room for it the next build compiles again.
        let half = shared.join(format!("{}.half", std::process::id()));
        let _ = fs::create_dir_all(&shared)
            .and_then(|()| fs::copy(&archive, &half))
            .and_then(|_| fs::rename(&half, &kept));
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=cute_shim");
    println!("cargo:rustc-link-lib=stdc++");
}

/// A number for all that the compiled shim depends on: sources, generated headers, the compiler and its arguments.
fn fingerprint(build: &cc::Build, out: &Path) -> u64 {
    let mut files = Vec::new();
    for (folder, ending) in [(Path::new("shim"), ""), (out, ".inc")] {
        let entries = fs::read_dir(folder).expect("the folders of the shim");
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        files.extend(paths.filter(|path| path.to_string_lossy().ends_with(ending)));
    }
    files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.file_name().hash(&mut hasher);
        fs::read(&file).ok().hash(&mut hasher);
    }
    let compiler = build.get_compiler();
    let own = out.to_string_lossy();
    for argument in compiler.to_command().get_args() {
        // The folder of generated headers is another one for each build.
        let argument = argument.to_string_lossy();
        if !argument.contains(&*own) {
            argument.hash(&mut hasher);
        }
    }
    let version = compiler.to_command().arg("--version").output();
    version.ok().map(|said| said.stdout).hash(&mut hasher);
    hasher.finish()
}

/// Dialects of MLIR whose ops the passes build and read: where they are defined, and whether they get accessors beside names.
const UPSTREAM: &[(&str, &str, bool)] = &[
    ("arith", "Arith/IR/ArithOps.td", true),
    ("cf", "ControlFlow/IR/ControlFlowOps.td", true),
    ("func", "Func/IR/FuncOps.td", true),
    ("gpu", "GPU/IR/GPUOps.td", true),
    ("llvm", "LLVMIR/LLVMOps.td", true),
    ("math", "Math/IR/MathOps.td", false),
    ("nvvm", "LLVMIR/NVVMOps.td", false),
    ("scf", "SCF/IR/SCFOps.td", true),
    ("ub", "UB/IR/UBOps.td", false),
    ("vector", "Vector/IR/VectorOps.td", true),
];

/// Generates what `mlir-tblgen` has no generator for: the numbers of types and attributes on both sides of the shim, the
/// code that takes them apart, and names and accessors of ops for Rust.
fn generate(llvm: &Path, include: &Path, out: &Path) {
    let tool = llvm.join("bin/llvm-tblgen");
    let own = Records::read(
        &tool,
        &[Path::new("ods"), include],
        Path::new("ods/CuteOps.td"),
    );
    let types = own.parts("cute");
    write(&out.join("CuteKinds.h.inc"), &parts::kinds_header(&types));
    write(&out.join("CuteParts.cpp.inc"), &parts::parts_source(&types));
    write(&out.join("kinds.rs"), &parts::kinds_rust(&types));
    let mut ops = String::new();
    let mut all = Vec::new();
    for name in ["cute", "cute_nvgpu"] {
        let of_dialect = own.ops(name);
        ops += &accessors::dialect(name, &of_dialect, true);
        all.extend(of_dialect);
    }
    ops += &accessors::taken(&all);
    for (name, file, accessors) in UPSTREAM {
        let file = include.join("mlir/Dialect").join(file);
        let records = Records::read(&tool, &[include], &file);
        ops += &accessors::dialect(name, &records.ops(name), *accessors);
    }
    write(&out.join("ops.rs"), &ops);
}

fn write(path: &Path, text: &str) {
    fs::write(path, text)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
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
