//! Packages, opened, loaded and run on the emulator in this process.

use cute_runtime::device::{Device, DeviceError};
use cute_runtime::emulator::{Config, Emulator};
use cute_runtime::package::Compute;
use cute_runtime::tensor::{Given, generate_given};
use cute_runtime::verify::{self, VerifyError};
use cute_runtime::{Function, HostTensor, Package, plan};

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
    let Ok(launches) = plan::plan(function, &tensors, emulator.info().multiprocessors) else {
        return false;
    };
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
    let _: Result<_, VerifyError> = verify::verify_from(function, Some(&before), &tensors, &config);
    ran
}

/// Runs the only function of a package on random data, and says what is wrong with what it did: findings of the emulator, or elements
/// that are not what `computes` says.
///
/// # Errors
/// The kind of mistake.
pub fn check(package: &Package, computes: Option<Compute>, seed: u64) -> Result<(), String> {
    let mut function = package
        .function(None)
        .map_err(|error| error.to_string())?
        .clone();
    if let Some(computes) = computes {
        function.computes = vec![computes];
    }
    let emulator = Emulator::new(Config {
        seed,
        max_instructions: 10_000_000,
        ..Config::default()
    });
    let mut program = emulator
        .load(package, &function)
        .map_err(|error| error.to_string())?;
    let mut tensors = generate_given(&function, &[], seed).map_err(|error| error.to_string())?;
    let before = tensors.clone();
    program
        .run(&mut tensors)
        .map_err(|error| error.to_string())?;
    let config = verify::Config {
        data: verify::Data::IndependentMeanZero,
        ..verify::Config::default()
    };
    let reports = verify::verify_from(&function, Some(&before), &tensors, &config)
        .map_err(|error| error.to_string())?;
    match reports.iter().find(|report| !report.passed()) {
        None => Ok(()),
        Some(report) => Err(format!("wrong result: {:?}", report.failures)),
    }
}
