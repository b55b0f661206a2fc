//! The instructions of a kernel by kind.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ast::{Function, Instruction, Type};
use super::class::Class;

/// Number of instructions by the bytes that one thread moves with each; an opcode whose type is not
/// known counts as 0 bytes.
pub type Accesses = BTreeMap<u32, u64>;

/// Instructions of a function as they stand in its text: one in a loop counts once, and what a
/// called function has is not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mix {
    /// [`Class::Mma`].
    pub mma: u64,
    /// [`Class::LoadMatrix`] and [`Class::StoreMatrix`].
    pub ldmatrix: u64,
    /// [`Class::AsyncCopy`].
    pub cp_async: u64,
    /// [`Class::GlobalLoad`], by the bytes a thread loads.
    pub global_loads: Accesses,
    /// [`Class::GlobalStore`], by the bytes a thread stores.
    pub global_stores: Accesses,
    /// [`Class::SharedLoad`], by the bytes a thread loads.
    pub shared_loads: Accesses,
    /// [`Class::SharedStore`], by the bytes a thread stores.
    pub shared_stores: Accesses,
    /// [`Class::Sync`].
    pub barriers: u64,
    /// [`Class::Integer`].
    pub integer: u64,
    /// [`Class::FloatingPoint`].
    pub floating_point: u64,
    /// [`Class::Control`].
    pub control: u64,
    /// Moves, parameters, local and generic memory, atomics, shuffles, and what is not known.
    pub other: u64,
}

impl Mix {
    /// Counts a function; one without a body has nothing.
    pub fn of(function: &Function<'_>) -> Mix {
        let mut mix = Mix::default();
        for instruction in function.instructions() {
            mix.add(instruction);
        }
        mix
    }

    /// All instructions.
    pub fn total(&self) -> u64 {
        let memory = [
            &self.global_loads,
            &self.global_stores,
            &self.shared_loads,
            &self.shared_stores,
        ];
        let memory: u64 = memory.iter().flat_map(|map| map.values()).sum();
        memory
            + self.mma
            + self.ldmatrix
            + self.cp_async
            + self.barriers
            + self.integer
            + self.floating_point
            + self.control
            + self.other
    }

    fn add(&mut self, instruction: &Instruction<'_>) {
        let accesses = match Class::of(instruction) {
            Class::GlobalLoad => &mut self.global_loads,
            Class::GlobalStore => &mut self.global_stores,
            Class::SharedLoad => &mut self.shared_loads,
            Class::SharedStore => &mut self.shared_stores,
            class => {
                *self.count(class) += 1;
                return;
            }
        };
        *accesses.entry(access_bytes(instruction)).or_default() += 1;
    }

    fn count(&mut self, class: Class) -> &mut u64 {
        match class {
            Class::Mma => &mut self.mma,
            Class::LoadMatrix | Class::StoreMatrix => &mut self.ldmatrix,
            Class::AsyncCopy => &mut self.cp_async,
            Class::Sync => &mut self.barriers,
            Class::Integer => &mut self.integer,
            Class::FloatingPoint => &mut self.floating_point,
            Class::Control => &mut self.control,
            Class::GlobalLoad
            | Class::GlobalStore
            | Class::SharedLoad
            | Class::SharedStore
            | Class::Local
            | Class::Generic
            | Class::Atomic
            | Class::Other => &mut self.other,
        }
    }
}

/// Bytes that one thread loads or stores.
fn access_bytes(instruction: &Instruction<'_>) -> u32 {
    let element = instruction
        .modifiers
        .iter()
        .rev()
        .find_map(|name| Type::of(name))
        .and_then(Type::bytes);
    let length = instruction.modifiers.iter().find_map(|&name| match name {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    });
    element.map_or(0, |bytes| bytes * length.unwrap_or(1))
}
