//! Register tensors of the examples are registers: no cubin of one has a stack or spills.

use cute_lowering::{CompileOptions, compile};
use melior::ir::Module;
use std::path::Path;

#[test]
fn no_example_uses_local_memory() {
    cute_lowering::initialize();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut count = 0;
    for folder in [examples.clone(), examples.join("kernels")] {
        for entry in std::fs::read_dir(folder).expect("the folder of examples") {
            let file = entry.expect("an entry").path();
            if file.extension().is_none_or(|extension| extension != "mlir") {
                continue;
            }
            let text = std::fs::read_to_string(&file).expect("a text");
            for arch in ["sm_80", "sm_90a"] {
                let context = cute_ir::context();
                let mut module = Module::parse(&context, &text).expect("an example that is read");
                let package = compile(&mut module, &CompileOptions::new(arch))
                    .unwrap_or_else(|error| panic!("{}, {arch}: {error}", file.display()));
                for kernel in package.manifest().images.iter().flat_map(|i| &i.kernels) {
                    let local = [
                        kernel.stack_bytes,
                        kernel.spill_load_bytes,
                        kernel.spill_store_bytes,
                    ];
                    assert_eq!(
                        local,
                        [0; 3],
                        "{}, {arch}: {} has bytes of stack, spill loads and stores",
                        file.display(),
                        kernel.name
                    );
                    assert!(
                        kernel.registers > 0,
                        "ptxas said nothing of {}",
                        kernel.name
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(
        count >= 20,
        "expected the kernels of the examples, found {count}"
    );
}
