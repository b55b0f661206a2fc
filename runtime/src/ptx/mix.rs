//! What a kernel consists of: its instructions by kind.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ast::{Function, Instruction, Statement, Type};

/// Number of instructions by the bytes that one thread moves with each; an opcode whose type is not
/// known counts as 0 bytes.
pub type Accesses = BTreeMap<u32, u64>;

/// Instructions of a function as they stand in its text: one in a loop counts once, and what a
/// called function has is not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mix {
    /// Products of matrices: `mma`, `wmma.mma`, `wgmma.mma_async`, `tcgen05.mma`.
    pub mma: u64,
    /// Matrices from shared memory to registers and back: `ldmatrix`, `stmatrix`.
    pub ldmatrix: u64,
    /// Asynchronous copies, bulk ones too.
    pub cp_async: u64,
    pub global_loads: Accesses,
    pub global_stores: Accesses,
    pub shared_loads: Accesses,
    pub shared_stores: Accesses,
    /// Barriers, fences, and commits and waits of asynchronous groups.
    pub barriers: u64,
    /// Integer arithmetic, logic, comparisons and conversions.
    pub integer: u64,
    /// Floating-point arithmetic, comparisons and conversions.
    pub floating_point: u64,
    /// Branches, calls, ends.
    pub control: u64,
    /// Moves, parameters, local and generic memory, atomics, shuffles, and what is not known.
    pub other: u64,
}

impl Mix {
    /// Counts a function; one without a body has nothing.
    pub fn of(function: &Function<'_>) -> Mix {
        let mut mix = Mix::default();
        mix.add_all(function.body.as_deref().unwrap_or_default());
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

    fn add_all(&mut self, body: &[Statement<'_>]) {
        for statement in body {
            match statement {
                Statement::Instruction(instruction) => self.add(instruction),
                Statement::Scope(inside) => self.add_all(inside),
                _ => {}
            }
        }
    }

    fn add(&mut self, instruction: &Instruction<'_>) {
        let has = |name: &str| instruction.modifiers.contains(&name);
        let count = match instruction.opcode {
            "mma" => &mut self.mma,
            "wmma" | "tcgen05" if has("mma") => &mut self.mma,
            "wgmma" if has("mma_async") => &mut self.mma,
            "ldmatrix" | "stmatrix" => &mut self.ldmatrix,
            "wgmma" | "bar" | "barrier" | "mbarrier" | "membar" | "fence" => &mut self.barriers,
            "tcgen05" if has("fence") || has("wait") || has("commit") => &mut self.barriers,
            "cp" if has("commit_group")
                || has("wait_group")
                || has("wait_all")
                || has("arrive") =>
            {
                &mut self.barriers
            }
            "cp" if has("async") && !has("prefetch") => &mut self.cp_async,
            "ld" | "ldu" | "st" => match self.accesses(instruction) {
                Some(accesses) => accesses.entry(access_bytes(instruction)).or_default(),
                None => &mut self.other,
            },
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" => &mut self.control,
            "fma" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh"
            | "copysign" | "testp" => &mut self.floating_point,
            "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "lop3" | "bfe"
            | "bfi" | "bfind" | "bmsk" | "brev" | "clz" | "popc" | "prmt" | "fns" | "szext"
            | "mul24" | "mad24" | "sad" | "dp2a" | "dp4a" | "addc" | "subc" | "madc" => {
                &mut self.integer
            }
            "abs" | "add" | "cvt" | "div" | "mad" | "max" | "min" | "mul" | "neg" | "rem"
            | "set" | "setp" | "slct" | "sub" => {
                if instruction.modifiers.iter().any(|name| is_float(name)) {
                    &mut self.floating_point
                } else {
                    &mut self.integer
                }
            }
            _ => &mut self.other,
        };
        *count += 1;
    }

    /// Where a load or a store counts; none if not in global or shared memory.
    fn accesses(&mut self, instruction: &Instruction<'_>) -> Option<&mut Accesses> {
        let store = instruction.opcode == "st";
        let space =
            instruction
                .modifiers
                .iter()
                .find_map(|name| match name.split("::").next() {
                    Some("global") => Some(true),
                    Some("shared") => Some(false),
                    _ => None,
                })?;
        Some(match (space, store) {
            (true, false) => &mut self.global_loads,
            (true, true) => &mut self.global_stores,
            (false, false) => &mut self.shared_loads,
            (false, true) => &mut self.shared_stores,
        })
    }
}

/// Whether a modifier is a floating-point type, one without registers of its own included.
fn is_float(name: &str) -> bool {
    Type::of(name).is_some_and(Type::is_float)
        || ["e4m3", "e5m2", "e2m1", "e2m3", "e3m2", "ue8m0"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
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
