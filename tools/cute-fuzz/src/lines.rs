//! Kernels of random instructions, straight or with branches and loops: the emulator beside a GPU, bit by bit.

mod assembler;
mod emit;
mod program;
mod registers;
mod table;
mod trace;
mod warp;

use crate::finding::{Finding, Kind, Tally};
use crate::on::On;
use anyhow::{Context, Result};
use cute_runtime::device::{Device, DeviceError};
use cute_runtime::emulator::{Config, Emulator};
use cute_runtime::{
    Access, Arg, Function, HostTensor, ImageSource, KernelInfo, Launch, Package, Parsed,
};
use program::{Program, words_traced};
use registers::{BLOCKS, THREADS, WORDS_IN, words_out};
use std::collections::BTreeMap;

/// The architecture of the kernels; later GPUs compile the PTX for themselves.
const ARCH: &str = "sm_80";
/// Instructions that a block may execute.
const LIMIT: u64 = 40_000_000;

/// The kernels of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Kernels {
    /// Straight ones and ones that diverge, by turns.
    #[default]
    All,
    Straight,
    Divergent,
}

impl Kernels {
    /// So many numbers of kernels, the first of at least that number. The kernel of a number is the same in every run.
    fn numbers(self, first: u64, inputs: u64) -> impl Iterator<Item = u64> {
        (first..)
            .filter(move |&index| match self {
                Kernels::All => true,
                Kernels::Straight => !emit::diverges(index),
                Kernels::Divergent => emit::diverges(index),
            })
            .take(inputs as usize)
    }
}

/// Runs so many kernels, the first of that number: those of even numbers are straight, the others diverge.
pub fn run(
    on: &On,
    kernels: Kernels,
    seed: u64,
    (first, inputs): (u64, u64),
    tally: &mut Tally,
) -> Result<()> {
    let (mut causes, mut optimized) = (Causes::default(), Causes::default());
    for index in kernels.numbers(first, inputs) {
        tally.inputs += 1;
        let program = emit::kernel(seed, index);
        match one(on, &program, seed, index) {
            Ok(()) => tally.accepted += 1,
            Err(failure) if failure.is_optimizers => {
                tally.accepted += 1;
                optimized.add(index, &failure);
            }
            Err(failure) => {
                causes.add(index, &failure);
                tally.add(Finding {
                    index,
                    kind: failure.kind,
                    signature: failure.signature,
                    detail: failure.detail,
                    command: format!("cute-fuzz lines --seed {seed} --first {index} --inputs 1"),
                    input: program.text().into_bytes(),
                    extension: "ptx",
                })?;
            }
        }
        tally.runs += 1;
        if let Some(note) = on.lost(index) {
            tally.notes.push(note);
            break;
        }
    }
    tally.notes.extend(causes.lines());
    let of_optimizer =
        |line| format!("as ptxas optimizes it: {line}; emulated as ptxas -O0 has it");
    tally
        .notes
        .extend(optimized.lines().into_iter().map(of_optimizer));
    Ok(())
}

/// The first differences of kernels by instruction.
#[derive(Default)]
struct Causes(BTreeMap<String, (u64, String)>);

impl Causes {
    fn add(&mut self, index: u64, failure: &Failure) {
        let (opcode, example) = match &failure.first {
            Some(first) => (first.opcode.clone(), first.to_string()),
            None => (failure.signature.clone(), "no instruction".into()),
        };
        let example = || (0, format!("in input {index}, {example}"));
        self.0.entry(opcode).or_insert_with(example).0 += 1;
    }

    /// A line for each instruction, those with most inputs first.
    fn lines(&self) -> Vec<String> {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(opcode, (count, _))| (std::cmp::Reverse(*count), *opcode));
        let line = |(opcode, (count, example)): (&String, &(u64, String))| {
            format!("{opcode} differs first, inputs: {count}; {example}")
        };
        rows.into_iter().map(line).collect()
    }
}

/// Someone who runs kernels; a kernel leaves the words of its last tensor.
trait Execute {
    /// # Errors
    /// If it is refused, or something is found.
    fn run(&self, text: &str, shape: Shape) -> Result<Vec<u32>, Failure>;
}

impl<F: Fn(&str, Shape) -> Result<Vec<u32>, Failure>> Execute for F {
    fn run(&self, text: &str, shape: Shape) -> Result<Vec<u32>, Failure> {
        self(text, shape)
    }
}

/// The parameters of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Memory that it reads, and memory that it leaves.
    Plain,
    /// Its trace besides.
    Traced,
}

#[derive(Debug)]
struct Failure {
    kind: Kind,
    signature: String,
    detail: String,
    /// The instruction that differs first, where that is known.
    first: Option<Box<trace::Difference>>,
    /// Tells whether it is a mistake of ptxas' optimizer: without it, the GPU does what was emulated.
    is_optimizers: bool,
}

fn failure(kind: Kind, signature: &str, detail: impl Into<String>) -> Failure {
    Failure {
        kind,
        signature: signature.into(),
        detail: detail.into(),
        first: None,
        is_optimizers: false,
    }
}

/// The package of a kernel; of machine code for an architecture, where that is given.
fn package(text: &str, shape: Shape, code: Option<(&str, Vec<u8>)>) -> Result<(Package, Function)> {
    let tensor = |name: &str, elements: usize, access| Arg::Tensor {
        name: name.into(),
        element: "i32".into(),
        layout: format!("{elements}:1"),
        align: 256,
        access,
    };
    let mut args = vec![
        tensor("in", WORDS_IN, Access::Read),
        tensor("out", words_out(), Access::Write),
    ];
    let mut passed = vec![0, 1];
    if shape == Shape::Traced {
        // Whatever comes behind the last record of a thread stays as it is.
        args.push(tensor("trace", words_traced(), Access::ReadWrite));
        passed.push(2);
    }
    let launch = Launch::fixed("k", [BLOCKS, 1, 1], [THREADS, 1, 1], 0, passed);
    let function = Function::new("f", args, vec![launch]);
    let (arch, ptx, cubin) = match code {
        Some((arch, code)) => (arch, None, Some(code)),
        None => (ARCH, Some(text.into()), None),
    };
    let package = Package::builder("cute-fuzz").image(ImageSource {
        arch: arch.into(),
        ptx,
        cubin,
        kernels: vec![KernelInfo {
            name: "k".into(),
            ..KernelInfo::default()
        }],
    });
    Ok((package.function(function.clone()).build()?, function))
}

fn tensors(seed: u64, index: u64, shape: Shape) -> Result<Vec<HostTensor>> {
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
    let mut all = vec![input, make(words_out())?];
    if shape == Shape::Traced {
        all.push(make(words_traced())?);
    }
    Ok(all)
}

/// Runs the kernel of a number on a device.
fn execute(
    on: &On,
    (seed, index): (u64, u64),
    device: &dyn Device,
    text: &str,
    shape: Shape,
    code: Option<(&str, Vec<u8>)>,
) -> Result<Vec<u32>, Failure> {
    let broken = |error: anyhow::Error| failure(Kind::Refused, "package", format!("{error:#}"));
    let refused = |error: DeviceError| {
        on.failed(&error);
        let text = error.to_string();
        match &error {
            DeviceError::Findings(findings) => failure(Kind::Wrong, findings[0].kind.name(), text),
            _ => failure(Kind::Refused, &text, text.clone()),
        }
    };
    let (package, function) = package(text, shape, code).map_err(broken)?;
    let mut all = tensors(seed, index, shape).map_err(broken)?;
    let mut program = device.load(&package, &function).map_err(refused)?;
    program.run(&mut all).map_err(refused)?;
    let last = &all[all.len() - 1];
    let words = last.bytes().chunks_exact(4);
    Ok(words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect())
}

/// Runs a kernel on the emulator with two seeds, and on the GPU if there is one.
fn one(on: &On, program: &Program, seed: u64, index: u64) -> Result<(), Failure> {
    let emulated = |order: u64| {
        move |text: &str, shape: Shape| {
            let emulator = Emulator::new(Config {
                seed: order,
                max_instructions: LIMIT,
                ..Config::default()
            });
            execute(on, (seed, index), &emulator, text, shape, None)
        }
    };
    let first = emulated(seed);
    let second = emulated(seed.wrapping_add(index).wrapping_add(1));
    let gpu = |text: &str, shape: Shape| {
        on.with(seed, |device| {
            execute(on, (seed, index), device, text, shape, None)
        })
    };
    let text = program.text();
    let expected = first(&text, Shape::Plain)?;
    let emulated = (&first as &dyn Execute, expected.as_slice());
    agree(
        program,
        emulated,
        ("the emulator with another seed", &second),
    )?;
    if !on.is_gpu() {
        return Ok(());
    }
    agree(program, emulated, ("the GPU", &gpu)).map_err(|failure| {
        let arch = on.arch(ARCH);
        let is_optimizers = assembler::unoptimized(&text, &arch).is_ok_and(|code| {
            let plain = on.with(seed, |device| {
                let code = Some((arch.as_str(), code));
                execute(on, (seed, index), device, &text, Shape::Plain, code)
            });
            plain.is_ok_and(|plain| plain == expected)
        });
        Failure {
            is_optimizers,
            ..failure
        }
    })
}

/// Compares what a kernel leaves everywhere; of a difference, names the instruction at which it begins.
fn agree(
    program: &Program,
    (emulated, expected): (&dyn Execute, &[u32]),
    (whose, other): (&str, &dyn Execute),
) -> Result<(), Failure> {
    let found = other.run(&program.text(), Shape::Plain)?;
    if let Some((register, said)) = difference(expected, &found) {
        let text = program.traced();
        let traces = emulated
            .run(&text, Shape::Traced)
            .and_then(|expected| Ok((expected, other.run(&text, Shape::Traced)?)));
        let (signature, first, more) = match traces {
            Err(failure) => (
                format!("{register}, whose trace fails"),
                None,
                failure.detail,
            ),
            Ok((expected, found)) => match trace::first_difference(program, &expected, &found) {
                Some(first) => (first.opcode.clone(), Some(Box::new(first.clone())), first.to_string()),
                None => (
                    format!("{register}, unless it is traced"),
                    None,
                    "the traces are the same: the assembler made something else of the traced kernel".into(),
                ),
            },
        };
        return Err(Failure {
            first,
            ..failure(
                Kind::Wrong,
                &format!("{whose}, {signature}"),
                format!("{said} on {whose}\n{more}"),
            )
        });
    }
    Ok(())
}

/// The first register that differs, and a line on it.
fn difference(expected: &[u32], found: &[u32]) -> Option<(String, String)> {
    let mut wrong = (0..expected.len()).filter(|&at| expected[at] != found[at]);
    let first = wrong.next()?;
    let (slot, thread) = registers::place(first);
    let register = registers::slot_name(slot);
    let said = format!(
        "{} of {} words differ; the first is {register} of thread {thread}: emulated {:#010x}, found {:#010x}",
        1 + wrong.count(),
        expected.len(),
        expected[first],
        found[first]
    );
    Some((register, said))
}

/// Writes the kernels as files, for another program to look at.
///
/// # Errors
/// If a file cannot be written.
pub fn write(
    folder: &std::path::Path,
    kernels: Kernels,
    seed: u64,
    (first, inputs): (u64, u64),
) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for index in kernels.numbers(first, inputs) {
        let program = emit::kernel(seed, index);
        for (text, kind) in [(program.text(), ""), (program.traced(), "-traced")] {
            let path = folder.join(format!("lines-{seed}-{index}{kind}.ptx"));
            std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
