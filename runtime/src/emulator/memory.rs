//! The memory that a call finds: its arguments, its workspace, the variables of modules.

use super::address;
use super::global::{Buffer, Global};
use super::program::{Kernel, ModuleVariable};
use crate::layout::Parsed;
use crate::package::Arg;
use crate::tensor::{HostTensor, POISON};

/// Puts the variables of a kernel's module into memory. They keep what the launch before left in them.
/// [`Global::start_launch`] comes behind.
pub(super) fn declare(global: &mut Global, kernel: &Kernel) {
    let variables = global.variables_of(kernel.module);
    for (index, variable) in kernel.variables.iter().enumerate() {
        let known = variables.get(index).is_some_and(|buffer| {
            buffer.name == variable.name && buffer.bytes == variable.bytes.len() as u64
        });
        if !known {
            variables.truncate(index);
            variables.push(self::variable(variable));
        }
    }
}

/// The memory of a variable of a module.
pub(super) fn variable(variable: &ModuleVariable) -> Buffer {
    let never: &dyn Fn(u64) -> bool = &|_| false;
    let init = (!variable.initialized).then_some(never);
    Buffer::new(
        variable.name.clone(),
        variable.address,
        &variable.bytes,
        init,
        !variable.constant,
    )
}

/// A workspace of so many bytes, of which none is initialised.
pub(super) fn workspace(base: u64, bytes: u64) -> Buffer {
    let contents = vec![POISON; bytes as usize];
    let never: &dyn Fn(u64) -> bool = &|_| false;
    Buffer::new("workspace".into(), base, &contents, Some(never), true)
}

pub(super) fn coordinate(layout: &Parsed, index: i64) -> String {
    let parts: Vec<String> = layout
        .coordinate(index)
        .iter()
        .map(i64::to_string)
        .collect();
    format!("({})", parts.join(","))
}

/// The tensor that is the argument of that index.
pub(super) fn tensor(index: usize, arg: &Arg, tensor: &HostTensor) -> Buffer {
    // A scalar has no memory on a device: nothing points to this.
    let align = match arg {
        Arg::Tensor { align, .. } => *align,
        Arg::Scalar { .. } => tensor.element().size() as u32,
    };
    let size = tensor.element().size() as u64;
    let layout = tensor.layout();
    let bytes = tensor.bytes();
    // Offsets that elements lie at, where the layout leaves some out.
    let dense = layout.size() as u64 * size == bytes.len() as u64;
    let mut holds = Vec::new();
    if !dense {
        holds = vec![false; bytes.len() / size as usize];
        for place in layout.places() {
            holds[place as usize] = true;
        }
    }
    let reads = arg.access().reads();
    let init = |byte: u64| reads && (dense || holds[(byte / size) as usize]);
    let init: Option<&dyn Fn(u64) -> bool> = if reads && dense { None } else { Some(&init) };
    let mut buffer = Buffer::new(
        arg.name().to_string(),
        address::tensor(index, align),
        bytes,
        init,
        arg.access().writes(),
    );
    buffer.elements = (!dense).then_some((holds, size));
    let layout = layout.clone();
    buffer.describe = Box::new(move |offset| {
        let element = (offset / size) as i64;
        match (0..layout.size()).find(|index| layout.at(*index) == element) {
            Some(index) => format!("element {}", coordinate(&layout, index)),
            None => format!("byte {offset}, between its elements"),
        }
    });
    buffer
}
