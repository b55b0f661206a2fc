//! Running the kernels of a module on the emulator, and writing them for a GPU.

use crate::kernel::{Case, Module, bytes};
use cute_runtime::{
    HostTensor,
    device::{Device, DeviceError},
    emulator::{Config, Emulator},
    tensor::tensor_for,
};
use std::{fmt::Write, path::Path};

fn write_bits(tensor: &mut HostTensor, element: &str, values: &[u64]) {
    let size = bytes(element);
    for (index, value) in values.iter().enumerate() {
        let offset = tensor.layout().at(index as i64) as usize * size;
        tensor.bytes_mut()[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

fn read_bits(tensor: &HostTensor, element: &str, index: i64) -> u64 {
    let size = bytes(element);
    let offset = tensor.layout().at(index) as usize * size;
    let mut word = [0; 8];
    word[..size].copy_from_slice(&tensor.bytes()[offset..offset + size]);
    u64::from_le_bytes(word)
}

/// All tensors of the module's function, and for each case what its last tensor must be.
fn given(module: &Module, cases: &[Case], seed: u64) -> (Vec<HostTensor>, Vec<Vec<u64>>) {
    let function = module.package.function(None).expect("one function");
    let mut tensors: Vec<HostTensor> = function
        .args
        .iter()
        .map(|arg| tensor_for(arg).expect("a tensor"))
        .collect();
    let mut first = 0;
    let mut expected = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let (values, last) = (case.data)(seed.wrapping_mul(1000) + i as u64);
        for (at, values) in values.iter().enumerate() {
            write_bits(&mut tensors[first + at], case.arguments[at].0, values);
        }
        first += case.arguments.len();
        expected.push(last);
    }
    (tensors, expected)
}

/// The mistakes in the results of a run on the emulator.
pub fn failures(module: &Module, cases: &[Case], seed: u64) -> Vec<String> {
    let (mut tensors, expected) = given(module, cases, seed);
    let emulator = Emulator::new(Config {
        seed,
        ..Config::default()
    });
    let function = module.package.function(None).expect("one function");
    let mut program = match emulator.load(&module.package, function) {
        Ok(program) => program,
        Err(error) => return vec![error.to_string()],
    };
    match program.run(&mut tensors) {
        Ok(()) => {}
        Err(DeviceError::Findings(all)) => return vec![DeviceError::Findings(all).to_string()],
        Err(error) => return vec![error.to_string()],
    }
    let mut wrong = Vec::new();
    let mut first = 0;
    for (case, expected) in cases.iter().zip(&expected) {
        first += case.arguments.len();
        let element = case.arguments[case.arguments.len() - 1].0;
        let tensor = &tensors[first - 1];
        let differs =
            (0..expected.len()).find(|i| read_bits(tensor, element, *i as i64) != expected[*i]);
        if let Some(i) = differs {
            wrong.push(format!(
                "{}: element {i} is {:#x}, expected {:#x}",
                case.name,
                read_bits(tensor, element, i as i64),
                expected[i]
            ));
        }
    }
    wrong
}

/// Writes the package, the arguments, what must come out, and a script that runs and compares.
pub fn write(folder: &Path, module: &Module, cases: &[Case]) {
    std::fs::create_dir_all(folder).expect("a folder");
    module
        .package
        .write_file(folder.join("atoms.cutepkg"))
        .expect("a package");
    let (mut tensors, expected) = given(module, cases, 0);
    let function = module.package.function(None).expect("one function");
    let names: Vec<&str> = function.args.iter().map(|arg| arg.name()).collect();
    // $1 is cute-run.
    let mut script = "cd \"$(dirname \"$0\")\"\n\"$1\" atoms.cutepkg --no-verify".to_owned();
    let mut compare = String::new();
    let mut first = 0;
    for (case, expected) in cases.iter().zip(&expected) {
        let last = first + case.arguments.len() - 1;
        for at in first..=last {
            let name = names[at];
            tensors[at]
                .write_npy(folder.join(format!("{name}.npy")))
                .expect("a file");
            let _ = write!(script, " --input {name}={name}.npy");
        }
        let name = names[last];
        let _ = write!(script, " --output {name}={name}.out.npy");
        write_bits(&mut tensors[last], case.arguments[last - first].0, expected);
        tensors[last]
            .write_npy(folder.join(format!("{name}.expected.npy")))
            .expect("a file");
        let _ = writeln!(
            compare,
            "if cmp -s {name}.out.npy {name}.expected.npy; then echo 'right {0}'; else echo 'WRONG {0}'; fi",
            case.name
        );
        first = last + 1;
    }
    let text = format!("{script}\n{compare}");
    std::fs::write(folder.join("run.sh"), text).expect("a script");
}
