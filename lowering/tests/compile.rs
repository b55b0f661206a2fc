//! The compiler as a library.

use cute_lowering::{CompileError, CompileOptions, compile};
use cute_runtime::{Compute, Expr, Gemm, Package};
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

fn package(
    context: &Context,
    text: &str,
    options: &CompileOptions,
) -> Result<Package, CompileError> {
    let mut module = Module::parse(context, text).expect("the source parses");
    compile(&mut module, options)
}

#[test]
fn a_package_has_code_a_plan_and_a_meaning() {
    let context = cute_ir::context();
    let options = CompileOptions {
        tile: "64x64x32".to_owned(),
        ..CompileOptions::new("sm_80")
    };
    let package = package(&context, &source(256, 128, 64), &options).unwrap();
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
    let context = cute_ir::context();
    let options = CompileOptions::new("sm_90a");
    let compile = || package(&context, &source(256, 256, 128), &options).unwrap();
    let first = compile();
    // In another context on another thread too.
    let other = std::thread::spawn(|| {
        let context = cute_ir::context();
        package(
            &context,
            &source(256, 256, 128),
            &CompileOptions::new("sm_90a"),
        )
        .unwrap()
    });
    assert_eq!(first, compile());
    assert_eq!(first, other.join().unwrap());
}

#[test]
fn the_dialects_live_in_a_context_of_somebody_else() {
    let context = Context::new();
    context.append_dialect_registry(&cute_ir::registry());
    context.load_all_available_dialects();
    assert!(
        package(
            &context,
            &source(128, 128, 64),
            &CompileOptions::new("sm_89")
        )
        .is_ok()
    );
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let context = cute_ir::context();
    let error = package(
        &context,
        &source(128, 128, 64),
        &CompileOptions::new("sm_70"),
    )
    .unwrap_err();
    assert!(matches!(error, CompileError::Options(_)), "{error}");
    let error = package(
        &context,
        &source(100, 128, 64),
        &CompileOptions::new("sm_80"),
    )
    .unwrap_err();
    let CompileError::Diagnostics(said) = &error else {
        panic!("{error}")
    };
    assert_eq!(said.len(), 1, "{error}");
    assert!(
        said[0].contains("does not divide the problem 100x128x64"),
        "{error}"
    );
    assert!(said[0].contains(":2:3"), "{error}");
}

#[test]
fn a_module_without_kernels_is_an_error() {
    let context = cute_ir::context();
    let error = package(
        &context,
        "func.func @f() { return }",
        &CompileOptions::new("sm_80"),
    )
    .unwrap_err();
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
