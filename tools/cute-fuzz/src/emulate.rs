//! Packages, opened, loaded and run on the emulator in this process.

use crate::finding::{Kind, signature};
use crate::on::On;
use cute_runtime::device::{Device, DeviceError};
use cute_runtime::emulator::{Config, Emulator};
use cute_runtime::package::Compute;
use cute_runtime::tensor::{Given, generate_given};
use cute_runtime::verify::{self, Memory, VerifyError};
use cute_runtime::{Function, HostTensor, Package, plan};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The stage that a package reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// It was refused, or what it asks for would take too long to emulate.
    Opened,
    /// A kernel ran, whatever it did.
    Ran,
}

/// The limits of one run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions of a block.
    pub instructions: u64,
    /// Blocks of all launches together.
    pub blocks: u64,
    /// Bytes of all arguments together.
    pub bytes: u64,
}

/// The limits of runs of damaged packages.
pub const SMALL: Limits = Limits {
    instructions: 3000,
    blocks: 64,
    bytes: 1 << 22,
};

/// Runs every function of a package, and verifies what it left: for what happens, not for what comes out.
pub fn all(package: &Package, given: &[Given], seed: u64, limits: Limits) -> Reached {
    let mut reached = Reached::Opened;
    for function in &package.manifest().functions {
        if let Some(tensors) = tensors(function, given, seed, limits)
            && one(package, function, tensors, seed, limits)
        {
            reached = Reached::Ran;
        }
    }
    reached
}

/// The arguments of a function; none if they cannot be made, or are too large.
fn tensors(
    function: &Function,
    given: &[Given],
    seed: u64,
    limits: Limits,
) -> Option<Vec<HostTensor>> {
    let bytes = function.args.iter().enumerate().map(|(i, arg)| {
        let layout = match (arg, given.get(i)) {
            (cute_runtime::Arg::Tensor { layout, .. }, _) => {
                cute_runtime::Parsed::parse(layout).ok()?
            }
            _ => return Some(8),
        };
        // Elements have eight bytes at most.
        u64::try_from(layout.cosize()).ok()?.checked_mul(8)
    });
    let total: u64 = bytes.flatten().fold(0, u64::saturating_add);
    // So many are to be refused, and not to be made and filled.
    let hopeless = 1 << 40;
    if total > limits.bytes && total < hopeless {
        return None;
    }
    // What the caller says of a layout is for those that are open.
    let given: Vec<Given> = function
        .args
        .iter()
        .enumerate()
        .map(|(i, arg)| match arg {
            cute_runtime::Arg::Tensor { layout, .. } if layout.contains('?') => {
                given.get(i).cloned().unwrap_or_default()
            }
            _ => Given::Nothing,
        })
        .collect();
    generate_given(function, &given, seed).ok()
}

fn one(
    package: &Package,
    function: &Function,
    mut tensors: Vec<HostTensor>,
    seed: u64,
    limits: Limits,
) -> bool {
    let emulator = Emulator::new(Config {
        seed,
        max_instructions: limits.instructions,
        ..Config::default()
    });
    let Ok(mut program) = emulator.load(package, function) else {
        return false;
    };
    let sm_count = emulator.info().multiprocessors;
    let Ok(launches) = plan::plan(function, &tensors, sm_count) else {
        return false;
    };
    // So much is to be refused, and not to be made.
    let hopeless = 1 << 36;
    let workspace = plan::workspace_bytes(function, &tensors, sm_count).unwrap_or(0);
    if workspace > limits.bytes && workspace < hopeless {
        return false;
    }
    let blocks = launches.iter().map(|launch| {
        let counts = launch.grid.iter().map(|&n| u64::from(n));
        counts.fold(1, u64::saturating_mul)
    });
    if blocks.fold(0, u64::saturating_add) > limits.blocks {
        return false;
    }
    let before = tensors.clone();
    let ran = matches!(
        program.run(&mut tensors),
        Ok(()) | Err(DeviceError::Findings(_))
    );
    let config = verify::Config::default();
    let memory = Memory {
        before: Some(&before),
        after: &tensors,
        workspace: Some(program.workspace()),
        sm_count: Some(program.multiprocessors()),
    };
    let _: Result<_, VerifyError> = verify::verify_memory(function, &memory, &config);
    ran
}

/// The result that a kernel is to have.
#[derive(Clone, Debug)]
pub enum Expected {
    Computes(Box<Compute>),
    /// The elements of the arguments from the `first` on, in the order of their indices. Before, each argument has the elements that
    /// `given` says of its number and their indices.
    Holds {
        given: fn(usize, i64) -> f64,
        first: usize,
        elements: Vec<Vec<f64>>,
    },
}

/// The verdict on a run in which nothing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Right,
    /// No element is defined of these data, whatever the kernel does, or an output takes too long to be computed again.
    Undecided,
}

/// A mistake of a run: what it is, and a line on it.
pub type Mistake = (Kind, String, String);

/// Opens a package and runs its only function on a device, as [`check`].
///
/// # Errors
/// The kind of mistake, a panic of the emulator among them.
pub fn check_file(on: &On, path: &Path, given: &[Given], seed: u64) -> Result<Verdict, Mistake> {
    let checked = catch_unwind(AssertUnwindSafe(|| {
        let package = Package::read_file(path).map_err(|error| error.to_string())?;
        check(on, &package, (None, None), given, seed)
    }));
    match checked {
        Ok(Ok(verdict)) => Ok(verdict),
        Ok(Err(said)) => {
            let first = said.lines().next().unwrap_or_default();
            let short = first.split(':').next().unwrap_or_default();
            Err((Kind::Wrong, signature(short), said))
        }
        Err(_) => Err((Kind::Panic, "the emulator panics".into(), String::new())),
    }
}

/// Runs a function of a package, the only one where none is named, and says what is wrong with what it did: findings of the emulator, or
/// elements that are not what they are expected to be. `given` says of the arguments what the package leaves open.
///
/// # Errors
/// The kind of mistake.
pub fn check(
    on: &On,
    package: &Package,
    (name, expected): (Option<&str>, Option<&Expected>),
    given: &[Given],
    seed: u64,
) -> Result<Verdict, String> {
    let mut function = package
        .function(name)
        .map_err(|error| error.to_string())?
        .clone();
    if let Some(Expected::Computes(computes)) = expected {
        function.computes = vec![Compute::clone(computes)];
    }
    let mut tensors = generate_given(&function, given, seed).map_err(|error| error.to_string())?;
    if let Some(Expected::Holds { given, .. }) = expected {
        for (argument, tensor) in tensors.iter_mut().enumerate() {
            tensor.fill_with(|index| given(argument, index));
        }
    }
    let before = tensors.clone();
    let (workspace, sm_count) = on
        .with(seed, |device| {
            let mut program = device.load(package, &function)?;
            program.run(&mut tensors)?;
            Ok((program.workspace().to_vec(), program.multiprocessors()))
        })
        .map_err(|error: DeviceError| {
            on.failed(&error);
            error.to_string()
        })?;
    if let Some(Expected::Holds {
        first, elements, ..
    }) = expected
    {
        return compare(&tensors, *first, elements).map(|()| Verdict::Right);
    }
    let config = verify::Config {
        data: verify::Data::IndependentMeanZero,
        ..verify::Config::default()
    };
    let memory = Memory {
        before: Some(&before),
        after: &tensors,
        workspace: Some(&workspace),
        sm_count: Some(sm_count),
    };
    let reports = match verify::verify_memory(&function, &memory, &config) {
        Ok(reports) => reports,
        // Of long sums of large numbers some are beyond the type of the output, and of large products reduced outputs are not computed again.
        Err(
            verify::VerifyError::Undecided(_)
            | verify::VerifyError::Overflow { .. }
            | verify::VerifyError::TooLarge(_),
        ) => {
            return Ok(Verdict::Undecided);
        }
        Err(error) => return Err(error.to_string()),
    };
    match reports.iter().find(|report| !report.passed()) {
        None => Ok(Verdict::Right),
        Some(report) => Err(format!("wrong result: {:?}", report.failures)),
    }
}

/// Compares elements with what they have to be, exactly.
fn compare(tensors: &[HostTensor], first: usize, elements: &[Vec<f64>]) -> Result<(), String> {
    for (i, expected) in elements.iter().enumerate() {
        let argument = first + i;
        let tensor = tensors
            .get(argument)
            .ok_or_else(|| format!("wrong arguments: there is no argument {argument}"))?;
        for (index, expected) in expected.iter().enumerate() {
            let found = tensor.get(index as i64);
            if found != Some(*expected) {
                return Err(format!(
                    "wrong result: argument {argument} at {:?}: expected {expected}, found {found:?}",
                    tensor.coordinate(index as i64)
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_runtime::{Element, Parsed};

    #[test]
    fn each_element_is_compared() {
        let layout = Parsed::parse("(2,2):(2,1)").unwrap();
        let mut tensor = HostTensor::zeroed(Element::F32, layout).unwrap();
        tensor.set(1, 3.0);
        let tensors = [tensor];
        assert!(compare(&tensors, 0, &[vec![0.0, 3.0, 0.0, 0.0]]).is_ok());
        let said = compare(&tensors, 0, &[vec![0.0, 3.0, 0.0, 1.0]]).unwrap_err();
        assert!(
            said.starts_with("wrong result: argument 0 at [1, 1]"),
            "{said}"
        );
        assert!(compare(&tensors, 1, &[vec![0.0]]).is_err());
    }
}
