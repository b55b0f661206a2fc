//! The compiler as a library.

use cute_lowering::{
    CompileError, CompileOptions, Compiler, Diagnostic, Options, Request, Severity, TargetArch,
};
use cute_runtime::{Compute, Expr, Gemm, Package};
use cute_target::Arch;
use melior::{
    Context,
    ir::{Module, operation::OperationLike},
};

fn source(m: i64, n: i64, k: i64) -> String {
    let tensor = |rows: i64, columns: i64| {
        format!("!cute.memref<f16, gmem, align<16>, \"({rows},{columns}):({columns},1)\">")
    };
    let (a, b, c) = (tensor(m, k), tensor(n, k), tensor(m, n));
    format!(
        "func.func @gemm(%A: {a}, %B: {b}, %C: {c}) {{\n  \
         cute.contract ins(%A, %B : {a}, {b}) outs(%C : {c}) accumulate f32\n  return\n}}\n"
    )
}

fn options(text: &str) -> CompileOptions {
    CompileOptions::parse(text).expect("options that are read")
}

fn package(text: &str, options: &CompileOptions) -> Result<Package, CompileError> {
    let compiled = Compiler::new(options)?.compile_text("gemm.mlir", text)?;
    assert_eq!(compiled.diagnostics, [], "nothing to be said of it");
    Ok(compiled.package)
}

#[test]
fn a_package_has_code_a_plan_and_a_meaning() {
    let options = CompileOptions {
        request: Request {
            tile: Some([64, 64, 32]),
            ..Request::default()
        },
        ..CompileOptions::new(Arch::find("sm_80").unwrap())
    };
    let package = package(&source(256, 128, 64), &options).unwrap();
    let manifest = package.manifest();
    let function = &manifest.functions[0];
    assert_eq!(function.launches[0].grid, Expr::all([8, 1, 1]));
    assert!(matches!(
        function.computes[0],
        Compute::Gemm(Gemm {
            a: 0,
            b: 1,
            c: 2,
            ..
        })
    ));
    let image = &manifest.images[0];
    assert_eq!(image.arch, "sm_80");
    let ptx = std::str::from_utf8(package.blob(image.ptx.as_ref().unwrap())).unwrap();
    assert!(ptx.contains("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
    assert!(
        package
            .blob(image.cubin.as_ref().unwrap())
            .starts_with(b"\x7fELF")
    );
    let again = Package::from_bytes(&package.to_bytes().unwrap()).unwrap();
    assert_eq!(again, package);
}

#[test]
fn the_same_source_gives_the_same_package() {
    let options = options("arch=sm_90a");
    let first = package(&source(256, 256, 128), &options).unwrap();
    let compiler = Compiler::new(&options).unwrap();
    for _ in 0..2 {
        let again = compiler.compile_text("gemm.mlir", &source(256, 256, 128));
        assert_eq!(again.unwrap().package, first);
    }
    // In another context on another thread too.
    let other = std::thread::spawn(move || package(&source(256, 256, 128), &options).unwrap());
    assert_eq!(first, other.join().unwrap());
}

#[test]
fn the_dialects_live_in_a_context_of_somebody_else() {
    let context = Context::new();
    context.append_dialect_registry(&cute_ir::registry());
    context.load_all_available_dialects();
    let mut module = Module::parse(&context, &source(128, 128, 64)).expect("the source parses");
    let compiler = Compiler::new(&options("arch=sm_89")).unwrap();
    assert!(compiler.compile(&mut module).is_ok());
}

#[test]
fn an_architecture_that_is_none_is_an_error_of_the_options() {
    assert!(CompileOptions::parse("arch=sm_70").is_err());
    let none = CompileOptions::default();
    assert!(matches!(
        package(&source(128, 128, 64), &none),
        Err(CompileError::Options(_))
    ));
    let native = CompileOptions::new(TargetArch::Native);
    if let Err(error) = Compiler::new(&native) {
        assert!(error.to_string().contains("arch=native"), "{error}");
    }
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let asked = options("arch=sm_80 tile=100x128x32");
    let error = package(&source(128, 128, 64), &asked).unwrap_err();
    let CompileError::Failed(said) = &error else {
        panic!("{error}")
    };
    assert_eq!(said.len(), 1, "{error}");
    let message = &said[0].message;
    assert!(
        message.contains("the tile 100x128x32 is not a multiple of"),
        "{error}"
    );
    let place = said[0].place.as_ref().expect("a place");
    assert_eq!(
        (place.file.as_str(), place.line, place.column),
        ("gemm.mlir", 2, 3)
    );
    assert!(
        error.to_string().starts_with("gemm.mlir:2:3: error: "),
        "{error}"
    );
}

#[test]
fn notes_and_warnings_keep_their_places() {
    // A text that is no module: what the parser says.
    let compiler = Compiler::new(&options("arch=sm_80")).unwrap();
    let twice = "func.func @f() { return }\nfunc.func @f() { return }\n";
    let Err(CompileError::Failed(said)) = compiler.compile_text("twice.mlir", twice) else {
        panic!("two functions of one name");
    };
    let line = |said: &Diagnostic| {
        let place = said.place.as_ref().expect("a place");
        assert_eq!(place.file, "twice.mlir");
        place.line
    };
    assert_eq!(line(&said[0]), 2);
    let note = said[0].notes.iter().find(|note| line(note) == 1);
    let note = note.expect("a note where the other definition is");
    assert_eq!(note.severity, Severity::Note);
    // A kernel that is compiled and warned of: a loop to be pipelined of which nothing can run ahead.
    let warned = include_str!("../../../test/Inputs/warned.mlir");
    let compiled = compiler.compile_text("warned.mlir", warned).unwrap();
    let [warning] = &compiled.diagnostics[..] else {
        panic!("{:?}", compiled.diagnostics)
    };
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(warning.place.as_ref().map(|place| place.line), Some(17));
}

#[test]
fn a_module_without_kernels_is_an_error() {
    let error = package("func.func @f() { return }", &options("arch=sm_80")).unwrap_err();
    assert!(
        error.to_string().contains("is there a cute.contract"),
        "{error}"
    );
}

#[test]
fn a_panic_in_a_pass_is_a_diagnostic() {
    cute_lowering::initialize();
    let context = cute_ir::context();
    let mut module = Module::parse(&context, "func.func @f() { return }").unwrap();
    let said = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let sink = said.clone();
    context.attach_diagnostic_handler(move |diagnostic| {
        sink.lock().unwrap().push_str(&diagnostic.to_string());
        true
    });
    let manager = melior::pass::PassManager::new(&context);
    melior::utility::parse_pass_pipeline(
        manager.as_operation_pass_manager(),
        "builtin.module(cute-test-panic)",
    )
    .unwrap();
    assert!(manager.run(&mut module).is_err());
    let said = said.lock().unwrap();
    assert!(said.contains("internal error in cute-test-panic"), "{said}");
    assert!(module.as_operation().verify());
}

#[test]
fn parameters_are_given_values_of_each_kind() {
    let text = r#"!X = !cute.memref<!cute.param<"T">, gmem, "$L">
module attributes {cute.parameters = {N = "integer", T = "type", L = "layout", X = "tile"}} {
  func.func @copy(%x: !X, %y: !X) {
    %n = cute.param "N"
    %t = cute.static tile "$X"
    cute.map ins(%x : !X) outs(%y : !X) {
    ^bb0(%e: !cute.param<"T">):
      cute.yield %e : !cute.param<"T">
    }
    return
  }
}
"#;
    let layout = || cute_layout::Layout::parse("(8,16):(16,1)").unwrap();
    let context = Context::new();
    let with = |change: &dyn Fn(&mut cute_passes::instantiate::Settings)| {
        let mut options = options("arch=sm_80");
        let set = &mut options.instantiate.set;
        set.set("N", 3).unwrap();
        set.set("T", melior::ir::Type::float16(&context)).unwrap();
        set.set("L", layout()).unwrap();
        set.set("X", cute_layout::Tile::parse("[4:1;8:1]").unwrap())
            .unwrap();
        change(set);
        let compiled = Compiler::new(&options)
            .unwrap()
            .compile_text("set.mlir", text);
        compiled.map_err(|error| error.to_string())
    };
    assert!(with(&|_| {}).is_ok());
    // Text is of whichever kind the parameter has.
    assert!(with(&|set| set.set("L", "(8,16) : (16,1)").unwrap()).is_ok());
    let wrong = |change: &dyn Fn(&mut cute_passes::instantiate::Settings)| {
        with(change).expect_err("a value of another kind")
    };
    let said = wrong(&|set| set.set("X", layout()).unwrap());
    assert!(
        said.contains(
            "parameter X, of which set says the value: expected a tile, such as [64:1;32:1], found the layout (8,16):(16,1); its \
             parameters are L (layout), N (integer), T (type), X (tile)"
        ),
        "{said}"
    );
    let said = wrong(&|set| set.set("T", 3).unwrap());
    assert!(said.contains("found the integer 3"), "{said}");
}
