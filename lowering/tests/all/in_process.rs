//! Compiled and run in one process, on the emulator: what examples/embed.rs shows.

use cute_lowering::{CompileOptions, Compiler, Options};
use cute_runtime::device::{Choice, DeviceError, open};
use cute_runtime::emulator::{Config, Finding, Kind, Report};
use cute_runtime::{Function, HostTensor, ImageSource, Package, tensor, verify};

const SOURCE: &str = r#"!a = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
func.func @gemm(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}
"#;

fn package() -> Package {
    let options = CompileOptions::parse("arch=sm_80 tile=64x32x32 warps=2x1").unwrap();
    let compiler = Compiler::new(&options).unwrap();
    compiler.compile_text("gemm.mlir", SOURCE).unwrap().package
}

/// The package with its PTX changed.
fn altered(package: &Package, change: impl Fn(&str) -> String) -> Package {
    let image = &package.manifest().images[0];
    let ptx = std::str::from_utf8(package.blob(&image.ptx.unwrap())).unwrap();
    let ptx = change(ptx);
    Package::builder("test")
        .function(package.function(None).unwrap().clone())
        .image(ImageSource {
            arch: image.arch.clone(),
            ptx: Some(ptx),
            cubin: None,
            kernels: image.kernels.clone(),
        })
        .build()
        .unwrap()
}

struct Ran {
    function: Function,
    tensors: Vec<HostTensor>,
    findings: Vec<Finding>,
    report: Report,
}

fn run(package: &Package, seed: u64) -> Ran {
    let config = Config {
        seed,
        ..Config::default()
    };
    let device = open(Choice::Emulator, config).unwrap().device;
    let function = package.function(None).unwrap();
    let mut tensors = tensor::generate(function, 0).unwrap();
    let mut program = device.load(package, function).unwrap();
    let findings = match program.run(&mut tensors) {
        Ok(()) => vec![],
        Err(DeviceError::Findings(findings)) => findings,
        Err(error) => panic!("{error}"),
    };
    Ran {
        function: function.clone(),
        tensors,
        findings,
        report: program.report().unwrap().clone(),
    }
}

#[test]
fn a_compiled_gemm_is_right_with_any_seed() {
    let package = package();
    for seed in 0..4 {
        let ran = run(&package, seed);
        assert_eq!(ran.findings, [], "{:#?}", ran.findings);
        let reports =
            verify::verify(&ran.function, &ran.tensors, &verify::Config::default()).unwrap();
        assert!(reports[0].passed(), "{}", reports[0]);
        assert_eq!(ran.report.launches.len(), 1);
        assert_eq!(ran.report.launches[0].blocks, 4);
        assert!(ran.report.launches[0].thread_instructions > 0);
    }
}

#[test]
fn findings_are_values_that_lead_back_to_the_ir() {
    let package = package();
    let no_barriers = altered(&package, |ptx| ptx.replace("bar.sync", "// bar.sync"));
    let ran = run(&no_barriers, 0);
    let race = ran
        .findings
        .iter()
        .find(|finding| finding.kind == Kind::SharedRace)
        .unwrap_or_else(|| panic!("{:#?}", ran.findings));
    assert_eq!(race.kernel, "gemm_kernel");
    let place = |site: &Option<cute_runtime::emulator::Site>| {
        let place = site.as_ref().unwrap().source.clone().unwrap();
        (place.line, place.column)
    };
    // `cute.contract` in SOURCE.
    assert_eq!(place(&race.site), (5, 3));
    assert_eq!(place(&race.other), (5, 3));
    assert!(race.thread.is_some());
    assert!(race.count > 0);

    let no_waits = altered(&package, |ptx| {
        ptx.replace("cp.async.wait", "// cp.async.wait")
    });
    let ran = run(&no_waits, 0);
    assert!(
        ran.findings.iter().any(|f| f.kind == Kind::MissingWait),
        "{:#?}",
        ran.findings
    );
}
