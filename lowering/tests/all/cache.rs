//! The cache behind the compiler as a library.

use cute_lowering::{Cache, CompileError, CompileOptions, Compiled, Compiler, Options, Severity};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

const GEMM: &str = r#"!a = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !a, %B: !a, %C: !a) {
  cute.contract ins(%A, %B : !a, !a) outs(%C : !a) accumulate f32
  return
}
"#;

/// A kernel that is compiled and warned of.
const WARNED: &str = include_str!("../../../test/Inputs/warned.mlir");

fn compiler(options: &str, folder: &Path) -> Compiler {
    let options = CompileOptions::parse(options).unwrap();
    Compiler::new(&options)
        .unwrap()
        .with_cache(Cache::at(folder))
}

/// Compiles, and tells whether it was in the cache.
fn hit(options: &str, folder: &Path, name: &str, text: &str) -> bool {
    let compiled = compiler(options, folder).compile_text(name, text).unwrap();
    compiled.cached
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_hit_is_what_was_compiled_with_its_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let options = CompileOptions::parse("arch=sm_80").unwrap();
    let plain = Compiler::new(&options).unwrap();
    assert_eq!(plain.cache(), None);
    for (name, text) in [("gemm.mlir", GEMM), ("warned.mlir", WARNED)] {
        let compiler = compiler("arch=sm_80", folder.path());
        let uncached = plain.compile_text(name, text).unwrap();
        let first = compiler.compile_text(name, text).unwrap();
        assert_eq!(first, uncached);
        let expected = Compiled {
            cached: true,
            ..first
        };
        assert_eq!(compiler.compile_text(name, text).unwrap(), expected);
        // One that has no context yet, on another thread.
        let other = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let compiler = self::compiler("arch=sm_80", folder.path());
                compiler.compile_text(name, text).unwrap()
            });
            other.join().unwrap()
        });
        assert_eq!(other, expected);
        let off = compiler.without_cache();
        assert!(!off.compile_text(name, text).unwrap().cached);
    }
    assert_eq!(entries(folder.path()).len(), 2);
}

#[test]
fn only_the_same_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let hit = |options: &str, name: &str, text: &str| hit(options, folder.path(), name, text);
    let options = "arch=sm_80 stages=2";
    assert!(!hit(options, "a.mlir", GEMM));
    assert!(hit(options, "a.mlir", GEMM));
    assert!(hit("stages=2 arch=sm_80 simplify=1", "a.mlir", GEMM));
    assert!(!hit("arch=sm_80 stages=3", "a.mlir", GEMM));
    assert!(!hit("arch=sm_80", "a.mlir", GEMM));
    assert!(!hit("arch=sm_86 stages=2", "a.mlir", GEMM));
    assert!(!hit("arch=sm_80,sm_90 stages=2", "a.mlir", GEMM));
    assert!(!hit("arch=sm_80 stages=2 lineinfo=true", "a.mlir", GEMM));
    assert!(!hit("arch=sm_80 stages=2 simplify=false", "a.mlir", GEMM));
    // Packages hold places of the text.
    assert!(!hit(options, "b.mlir", GEMM));
    let longer = format!("{GEMM}\n");
    assert!(!hit(options, "a.mlir", &longer));
    assert!(hit(options, "a.mlir", GEMM));
    assert_eq!(entries(folder.path()).len(), 9);
}

#[test]
fn what_is_imported_counts_by_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    let at = |name: &str| files.path().join(name);
    let factor = |factor: &str| {
        let text = format!(
            "func.func private @factor() -> f32 {{\n  %f = arith.constant {factor} : f32\n  return %f : f32\n}}"
        );
        fs::write(at("factor.mlir"), text).unwrap();
    };
    fs::write(at("outer.mlir"), "cute.import \"factor.mlir\"").unwrap();
    factor("2.0");
    let text = include_str!("../../../test/Inputs/imports.mlir");
    let name = at("a.mlir").display().to_string();
    let compile = || {
        let compiler = compiler("arch=sm_80", folder.path());
        compiler.compile_text(&name, text).unwrap()
    };
    let first = compile();
    assert!(!first.cached && compile().cached);
    factor("3.0");
    let second = compile();
    assert!(!second.cached && second.package != first.package);
    factor("2.0");
    let again = compile();
    assert!(again.cached && again.package == first.package);
    // Without a file there is no failure that is kept, and none that is found.
    fs::remove_file(at("outer.mlir")).unwrap();
    let missing = compiler("arch=sm_80", folder.path()).compile_text(&name, text);
    let Err(CompileError::Failed(said)) = missing else {
        panic!("the file is gone")
    };
    assert!(
        said[0].message.contains("outer.mlir, found none"),
        "{said:?}"
    );
    // A name without a folder starts at the current one, where no such file is.
    assert!(
        compiler("arch=sm_80", folder.path())
            .compile_text("a.mlir", text)
            .is_err()
    );
    assert_eq!(entries(folder.path()).len(), 2);
}

#[test]
fn a_table_counts_by_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tempfile::tempdir().unwrap();
    let table = |name: &str, text: &str| {
        let path = tables.path().join(name);
        fs::write(&path, text).unwrap();
        format!("arch=sm_90a measured={}", path.display())
    };
    let hit = |options: &str| hit(options, folder.path(), "a.mlir", GEMM);
    let empty = "{\"format\": 1, \"generation\": 1, \"times\": []}";
    let time = |ns: u32| {
        format!(
            "{{\"format\": 1, \"generation\": 1, \"times\": [{{\"arch\":\"sm_90\",\"sms\":132,\"device\":\"d\",\"problem\":\"p\",\
             \"extents\":[1,1,1,1],\"plan\":\"stages=2\",\"ns\":{ns}}}]}}"
        )
    };
    assert!(!hit("arch=sm_90a"));
    let one = table("one", empty);
    assert!(!hit(&one));
    assert!(hit(&one));
    assert!(hit(&table("other", empty)));
    assert!(!hit(&table("one", &time(1))));
    assert!(!hit(&table("one", &time(2))));
    assert!(hit(&table("other", &time(1))));
    assert_eq!(entries(folder.path()).len(), 4);
    // One that cannot be read is an error of the compilation, and not kept.
    fs::remove_file(tables.path().join("one")).unwrap();
    let Err(CompileError::Failed(said)) =
        compiler(&one, folder.path()).compile_text("a.mlir", GEMM)
    else {
        panic!("there is no table")
    };
    assert!(
        said[0].message.contains("expected a file that can be read"),
        "{said:?}"
    );
    assert_eq!(entries(folder.path()).len(), 4);
}

#[test]
fn errors_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let compiler = compiler("arch=sm_80", folder.path());
    let compile = || compiler.compile_text("f.mlir", "func.func @f() { return }");
    for _ in 0..2 {
        let Err(CompileError::Failed(said)) = compile() else {
            panic!("nothing is launched")
        };
        assert!(said[0].message.contains("is there a cute.contract"));
    }
    assert_eq!(entries(folder.path()).len(), 0);
}

#[test]
fn a_damaged_entry_is_compiled_again_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let hit = || hit("arch=sm_80", folder.path(), "a.mlir", GEMM);
    assert!(!hit() && hit());
    let [entry] = &entries(folder.path())[..] else {
        panic!("one entry")
    };
    let mut bytes = fs::read(entry).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(entry, bytes).unwrap();
    assert!(!hit() && hit());
}

#[test]
fn a_folder_that_cannot_be_written_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    File::create(&file).unwrap();
    for where_to in [file.join("below"), PathBuf::from("/proc/cache")] {
        let compiled = compiler("arch=sm_80", &where_to)
            .compile_text("a.mlir", GEMM)
            .unwrap();
        let [warning] = &compiled.diagnostics[..] else {
            panic!("{:?}", compiled.diagnostics)
        };
        assert_eq!(
            (warning.severity, &warning.place),
            (Severity::Warning, &None)
        );
        let text = warning.to_string();
        assert!(text.contains(where_to.to_str().unwrap()), "{text}");
        assert!(!compiled.cached);
    }
}

#[test]
fn a_hit_writes_the_package_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, file) = (folder.path().join("cache"), folder.path().join("p.cutepkg"));
    let options = format!("arch=sm_80 package={}", file.display());
    assert!(!hit(&options, &cache, "a.mlir", GEMM));
    let written = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    assert!(hit(&options, &cache, "a.mlir", GEMM));
    assert_eq!(fs::read(&file).unwrap(), written);
    // Where it is written is none of the key; where it cannot be is an error as without a cache.
    assert!(hit("arch=sm_80", &cache, "a.mlir", GEMM));
    let nowhere = format!("arch=sm_80 package={}/x", file.display());
    let compiled = compiler(&nowhere, &cache).compile_text("a.mlir", GEMM);
    let error = compiled.unwrap_err().to_string();
    assert!(error.contains("cannot write"), "{error}");
}

#[test]
fn compilers_side_by_side_share_an_entry() {
    let folder = tempfile::tempdir().unwrap();
    let compile = || {
        let compiler = compiler("arch=sm_80", folder.path());
        compiler.compile_text("a.mlir", GEMM).unwrap().package
    };
    let packages: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(compile)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(packages.iter().all(|package| *package == packages[0]));
    assert_eq!(entries(folder.path()).len(), 1);
}
