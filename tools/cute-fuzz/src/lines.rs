//! Kernels of random instructions, straight or with branches and loops: the emulator beside a GPU, bit by bit.

mod emit;
mod table;

use crate::finding::{Finding, Kind, Tally};
use crate::on::On;
use anyhow::{Context, Result};
use cute_runtime::device::{Device, DeviceError};
use cute_runtime::emulator::{Config, Emulator};
use cute_runtime::{
    Access, Arg, Function, HostTensor, ImageSource, KernelInfo, Launch, Package, Parsed,
};
use emit::{BLOCKS, THREADS, WORDS_IN, words_out};

/// The architecture of the kernels; later GPUs compile the PTX for themselves.
const ARCH: &str = "sm_80";
/// Instructions that a block may execute.
const LIMIT: u64 = 2_000_000;

/// Runs so many kernels, the first of that number: those of even numbers are straight, the others diverge.
pub fn run(on: &On, seed: u64, first: u64, inputs: u64, tally: &mut Tally) -> Result<()> {
    for index in first..first + inputs {
        tally.inputs += 1;
        let text = emit::kernel(seed, index);
        match one(on, &text, seed, index) {
            Ok(()) => tally.accepted += 1,
            Err(failure) => tally.add(Finding {
                index,
                kind: failure.kind,
                signature: failure.signature,
                detail: failure.detail,
                command: format!("cute-fuzz lines --seed {seed} --first {index} --inputs 1"),
                input: text.into_bytes(),
                extension: "ptx",
            })?,
        }
        tally.runs += 1;
        if let Some(note) = on.lost(index) {
            tally.notes.push(note);
            break;
        }
    }
    Ok(())
}

struct Failure {
    kind: Kind,
    signature: String,
    detail: String,
}

fn failure(kind: Kind, signature: &str, detail: impl Into<String>) -> Failure {
    Failure {
        kind,
        signature: signature.into(),
        detail: detail.into(),
    }
}

fn package(text: &str) -> Result<(Package, Function)> {
    let tensor = |name: &str, elements: usize, access| Arg::Tensor {
        name: name.into(),
        element: "i32".into(),
        layout: format!("{elements}:1"),
        align: 256,
        access,
    };
    let args = vec![
        tensor("in", WORDS_IN, Access::Read),
        tensor("out", words_out(), Access::Write),
    ];
    let launch = Launch::fixed("k", [BLOCKS, 1, 1], [THREADS, 1, 1], 0, [0, 1]);
    let function = Function::new("f", args, vec![launch]);
    let package = Package::builder("cute-fuzz").image(ImageSource {
        arch: ARCH.into(),
        ptx: Some(text.into()),
        cubin: None,
        kernels: vec![KernelInfo {
            name: "k".into(),
            ..KernelInfo::default()
        }],
    });
    Ok((package.function(function.clone()).build()?, function))
}

fn tensors(seed: u64, index: u64) -> Result<Vec<HostTensor>> {
    let make = |elements: usize| -> Result<HostTensor> {
        let layout = Parsed::parse(&format!("{elements}:1"))?;
        Ok(HostTensor::zeroed(cute_runtime::Element::I32, layout)?)
    };
    let mut input = make(WORDS_IN)?;
    let words = emit::inputs(seed, index);
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    input
        .bytes_mut()
        .copy_from_slice(&bytes.collect::<Vec<u8>>());
    Ok(vec![input, make(words_out())?])
}

/// Runs a kernel on the emulator with two seeds, and on the GPU if there is one.
fn one(on: &On, text: &str, seed: u64, index: u64) -> Result<(), Failure> {
    let broken = |error: anyhow::Error| failure(Kind::Refused, "package", format!("{error:#}"));
    let (package, function) = package(text).map_err(broken)?;
    let run = |device: &dyn Device| -> Result<Vec<u8>, Failure> {
        let mut all = tensors(seed, index).map_err(broken)?;
        let refused = |error: DeviceError| {
            on.failed(&error);
            let text = error.to_string();
            match &error {
                DeviceError::Findings(findings) => {
                    failure(Kind::Wrong, findings[0].kind.name(), text)
                }
                _ => failure(Kind::Refused, &text, text.clone()),
            }
        };
        let mut program = device.load(&package, &function).map_err(refused)?;
        program.run(&mut all).map_err(refused)?;
        Ok(all[1].bytes().to_vec())
    };
    let emulated = |seed: u64| {
        run(&Emulator::new(Config {
            seed,
            max_instructions: LIMIT,
            ..Config::default()
        }))
    };
    let expected = emulated(seed)?;
    let other = emulated(seed.wrapping_add(index).wrapping_add(1))?;
    compare(&expected, &other, "the emulator with another seed")?;
    if on.is_gpu() {
        let found = on.with(seed, run)?;
        compare(&expected, &found, "the GPU")?;
    }
    Ok(())
}

fn compare(expected: &[u8], found: &[u8], whose: &str) -> Result<(), Failure> {
    let words = |bytes: &[u8]| -> Vec<u32> {
        let words = bytes.chunks_exact(4);
        words
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect()
    };
    let (expected, found) = (words(expected), words(found));
    let mut wrong = (0..expected.len()).filter(|&at| expected[at] != found[at]);
    let Some(first) = wrong.next() else {
        return Ok(());
    };
    let (slot, thread) = emit::place(first);
    Err(failure(
        Kind::Wrong,
        &format!("{whose}, {}", emit::slot_name(slot)),
        format!(
            "{} of {} words differ on {whose}; the first is {} of thread {thread}: emulated {:#010x}, found {:#010x}",
            1 + wrong.count(),
            expected.len(),
            emit::slot_name(slot),
            expected[first],
            found[first]
        ),
    ))
}

/// Writes the kernels and their inputs as files, for another program to look at.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &std::path::Path, seed: u64, first: u64, inputs: u64) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for index in first..first + inputs {
        let path = folder.join(format!("lines-{seed}-{index}.ptx"));
        std::fs::write(&path, emit::kernel(seed, index))
            .with_context(|| path.display().to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_run_without_findings() {
        let folder = tempfile::tempdir().unwrap();
        let mut tally = Tally::new("lines", 1, folder.path());
        run(&On::emulator(), 1, 0, 40, &mut tally).unwrap();
        assert!(
            tally.is_clean(),
            "{}",
            crate::finding::table(&[(tally, Default::default())])
        );
    }

    #[test]
    fn every_instruction_of_the_table_occurs() {
        let all: String = (0..200).map(|index| emit::kernel(3, index)).collect();
        for row in table::ROWS {
            let opcode = row.split(' ').next().unwrap();
            assert!(all.contains(opcode), "{opcode}");
        }
    }

    /// Asks ptxas, if `CUTE_PTXAS` names it, whether the texts are PTX.
    #[test]
    fn the_assembler_takes_them() {
        let Some(ptxas) = std::env::var_os("CUTE_PTXAS") else {
            eprintln!("not run: CUTE_PTXAS names no ptxas");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 5, 0, 12).unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let file = file.unwrap().path();
            let done = std::process::Command::new(&ptxas)
                .args(["-arch=sm_80", "-o", "/dev/null"])
                .arg(&file)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{}: {text}", file.display());
        }
    }
}
