//! Every example, compiled for every chip: it is assembled, with its register tensors in registers, or the chip lacks what the
//! example is about, and the error says so where it stands.

#[path = "common/mod.rs"]
mod common;

use cute_lowering::{CompileError, CompileOptions, Compiler};
use cute_runtime::Package;
use cute_target::{Arch, Chip, Requirement};
use std::path::PathBuf;

/// An example that some chips lack something for.
struct Lacking {
    file: &'static str,
    requires: Requirement,
    /// The text in the example that the error is at.
    at: &'static str,
    /// The instruction that is lacking, as the error names it.
    atom: &'static str,
}

const SM80: Requirement = Requirement::Since(8, 0);

/// The examples that not every chip can run. An example that is not here must compile for all.
const LACKING: [Lacking; 16] = [
    Lacking {
        file: "attention.mlir",
        requires: SM80,
        at: "cute.map ins(%Q, %K, %V)",
        atom: "SM80_16x8x16_F32F16F16F32_TN",
    },
    Lacking {
        file: "convolution.mlir",
        requires: SM80,
        at: "cute.contract",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "gemm_f16.mlir",
        requires: SM80,
        at: "cute.contract",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "gemm_f16_512.mlir",
        requires: SM80,
        at: "cute.contract",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "linear_gelu.mlir",
        requires: SM80,
        at: "cute.contract",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "linear_layer.mlir",
        requires: SM80,
        at: "cute.contract",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "experts.mlir",
        requires: SM80,
        at: "cute.contract",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "scaled_fp8.mlir",
        requires: SM80,
        at: "cute.contract",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "w8a16.mlir",
        requires: SM80,
        at: "cute.contract",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "kernels/attention.mlir",
        requires: SM80,
        at: "cute.static : !copy",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "kernels/flash_attention.mlir",
        requires: SM80,
        at: "cute.static : !copy",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "kernels/mainloop_sm80.mlir",
        requires: SM80,
        at: "cute.static : !mma",
        atom: "SM80_16x8x16_F32F16F16F32_TN",
    },
    Lacking {
        file: "kernels/sgemm_sm80.mlir",
        requires: SM80,
        at: "cute.static : !copy",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "kernels/sgemm_sm80_auto.mlir",
        requires: SM80,
        at: "cute.static : !copy",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "kernels/sgemm_sm80_dynamic.mlir",
        requires: SM80,
        at: "cute.static : !copy",
        atom: "SM80_CP_ASYNC_16",
    },
    Lacking {
        file: "kernels/sgemm_sm80_within.mlir",
        requires: SM80,
        at: "cute.static : !copy",
        atom: "SM80_CP_ASYNC_16",
    },
];

/// An example: its name below `examples`, and its text.
struct Example {
    name: String,
    text: String,
}

fn examples() -> Vec<Example> {
    let root: PathBuf = common::root().join("examples");
    let mut all = Vec::new();
    for folder in ["", "kernels/"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("the folder of examples") {
            let file = entry.expect("an entry").path();
            if file.extension().is_none_or(|extension| extension != "mlir") {
                continue;
            }
            let name = file.file_name().expect("a name").to_string_lossy();
            all.push(Example {
                name: format!("{folder}{name}"),
                text: std::fs::read_to_string(&file).expect("a text"),
            });
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn compiled(example: &Example, arch: Arch) -> Result<Package, CompileError> {
    let compiler = Compiler::new(&CompileOptions::new(arch))?;
    let compiled = compiler.compile_text(&example.name, &example.text)?;
    Ok(compiled.package)
}

/// Says what is wrong with a package: kernels with local memory, or without a word from the assembler. The number of kernels
/// where nothing is.
fn check_kernels(package: &Package) -> Result<usize, String> {
    let mut count = 0;
    for kernel in package.manifest().images.iter().flat_map(|i| &i.kernels) {
        let local = [
            kernel.stack_bytes,
            kernel.spill_load_bytes,
            kernel.spill_store_bytes,
        ];
        if local != [0; 3] {
            return Err(format!(
                "{} has {local:?} bytes of stack, spill loads and stores",
                kernel.name
            ));
        }
        if kernel.registers == 0 {
            return Err(format!("ptxas said nothing of {}", kernel.name));
        }
        count += 1;
    }
    if count == 0 {
        return Err("has no kernel".to_owned());
    }
    Ok(count)
}

/// Says what is wrong with the error for a chip that lacks something.
fn check_error(example: &Example, lacking: &Lacking, arch: Arch, said: &str) -> Result<(), String> {
    let line = example.text.lines().position(|l| l.contains(lacking.at));
    let line = 1 + line.ok_or_else(|| format!("expected '{}' in the example", lacking.at))?;
    let expected = [
        format!(":{line}:"),
        format!("{}, which exists on {}", lacking.atom, lacking.requires),
        arch.to_string(),
    ];
    match expected.iter().find(|text| !said.contains(*text)) {
        Some(missing) => Err(format!("expected an error with '{missing}', found: {said}")),
        None => Ok(()),
    }
}

/// Compiles an example for an architecture. Gives the kernels, 0 where the architecture lacks something, or what is wrong.
fn check(example: &Example, arch: Arch) -> Result<usize, String> {
    let lacking = LACKING
        .iter()
        .find(|lacking| lacking.file == example.name && !arch.has(lacking.requires));
    match (compiled(example, arch), lacking) {
        (Ok(package), None) => check_kernels(&package),
        (Err(error), Some(lacking)) => {
            check_error(example, lacking, arch, &error.to_string()).map(|()| 0)
        }
        (Ok(_), Some(lacking)) => Err(format!("is compiled, without {}", lacking.atom)),
        (Err(error), None) => Err(error.to_string()),
    }
}

/// Takes the last one of each chip's targets, which has all that the chip has.
#[test]
fn every_example_is_assembled_for_every_chip_that_can_run_it() {
    cute_lowering::initialize();
    let examples = examples();
    for lacking in &LACKING {
        let known = examples.iter().any(|example| example.name == lacking.file);
        assert!(known, "no example is named {}", lacking.file);
    }
    let cases: Vec<(&Example, Arch)> = Chip::all()
        .iter()
        .filter_map(|chip| chip.archs().last())
        .flat_map(|arch| examples.iter().map(move |example| (example, arch)))
        .collect();
    let results = common::parallel(&cases, |(example, arch)| check(example, *arch));
    let mut wrong = Vec::new();
    let mut kernels = 0;
    for ((example, arch), result) in cases.iter().zip(results) {
        match result {
            Ok(count) => kernels += count,
            Err(error) => wrong.push(format!("{} for {arch}: {error}", example.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        examples.len() >= 19 && kernels >= 19 * Chip::all().len() - LACKING.len(),
        "expected the kernels of the examples, found {kernels} of {}",
        examples.len()
    );
}
