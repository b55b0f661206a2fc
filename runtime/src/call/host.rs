//! Calls on the emulator: tensors of the host are copied into its memory, and back what was written.

use super::arguments::Described;
use super::compiled::Compiled;
use super::error::{ArgumentError, CallError, Problem};
use super::view::{Argument, TensorView};
use crate::emulator::Emulated;
use crate::package::Function;
use crate::tensor::{ArgError, HostTensor};
use std::collections::HashSet;

/// Runs a function whose arguments suit.
///
/// # Errors
/// [`CallError`]: tensors that overlap where one is written, and what the emulator reports.
pub(super) fn run(
    compiled: &Compiled,
    emulated: &Emulated,
    arguments: &[Argument],
) -> Result<(), CallError> {
    let function = compiled.function();
    let described = compiled.described(arguments)?;
    apart(function, &described)?;
    let mut tensors = Vec::new();
    for ((arg, described), argument) in function.args.iter().zip(&described).zip(arguments) {
        let tensor = described.tensor(arg.is_tensor());
        let mut tensor = tensor.map_err(|error| ArgError::OutOfMemory {
            name: arg.name().to_owned(),
            error,
        })?;
        if let Argument::Tensor(view) = argument
            && arg.access().reads()
        {
            load(view, &mut tensor);
        }
        tensors.push(tensor);
    }
    let (result, _) = emulated.execute_once(&mut tensors);
    for ((arg, tensor), argument) in function.args.iter().zip(&tensors).zip(arguments) {
        if let Argument::Tensor(view) = argument
            && arg.access().writes()
        {
            store(view, tensor);
        }
    }
    result.map_err(CallError::from)
}

/// Places and lengths, in bytes, of what a tensor has in a row: all of it, or each element.
fn runs(tensor: &HostTensor) -> Vec<(usize, usize)> {
    let size = tensor.element().size();
    let layout = tensor.layout();
    if layout.places_count() == layout.cosize() {
        return vec![(0, tensor.bytes().len())];
    }
    let places = layout.places();
    places.map(|place| (place as usize * size, size)).collect()
}

fn load(view: &TensorView, tensor: &mut HostTensor) {
    for (at, length) in runs(tensor) {
        let to = &mut tensor.bytes_mut()[at..at + length];
        // SAFETY: the view's memory is there from its first element to its last, and nothing writes it meanwhile, as whoever made the
        // view has promised or borrowed; the bytes are of an element of it. The emulator's memory is another.
        unsafe {
            let from = (view.address as *const u8).add(at);
            std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), length);
        }
    }
}

fn store(view: &TensorView, tensor: &HostTensor) {
    for (at, length) in runs(tensor) {
        let from = &tensor.bytes()[at..at + length];
        // SAFETY: as of `load`; the view may be written, which was checked, and nothing else uses the memory.
        unsafe {
            let to = (view.address as *mut u8).add(at);
            std::ptr::copy_nonoverlapping(from.as_ptr(), to, length);
        }
    }
}

/// Checks that no element that is written is one of another argument: on the emulator each has memory of its own.
fn apart(function: &Function, described: &[Described]) -> Result<(), CallError> {
    let all = || function.args.iter().zip(described).enumerate();
    for (index, (arg, one)) in all().filter(|(_, (arg, _))| arg.access().writes()) {
        for (other_index, (other_arg, other)) in all() {
            let near = one.taken.value < other.taken.value + other.taken.bytes
                && other.taken.value < one.taken.value + one.taken.bytes;
            if other_index == index || !other_arg.is_tensor() || !near {
                continue;
            }
            if let Some(address) = common(one, other) {
                return Err(CallError::from(Box::new(ArgumentError {
                    function: function.name.clone(),
                    index,
                    name: arg.name().to_owned(),
                    problem: Problem::Pointer,
                    expected: "elements that are in no other argument, as the emulator gives each memory of its own".into(),
                    found: format!(
                        "the byte at {address:#x} in argument {other_index} ({}), too",
                        other_arg.name()
                    ),
                    cure: "copy one of them".into(),
                })));
            }
        }
    }
    Ok(())
}

/// The address of a byte that both tensors have.
fn common(one: &Described, other: &Described) -> Option<u64> {
    let bytes = |described: &Described| -> Vec<u64> {
        let size = described.size();
        let places = described.places();
        let starts = places.map(|place| described.taken.value + place as u64 * size);
        starts.flat_map(|start| start..start + size).collect()
    };
    let seen: HashSet<u64> = bytes(one).into_iter().collect();
    bytes(other).into_iter().find(|byte| seen.contains(byte))
}
