//! Kinds of instructions, by name and modifiers alone.

use serde::Serialize;

use super::ast::{Instruction, Type};

/// The kind of work that an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Products of matrices: `mma`, `wmma.mma`, `wgmma.mma_async`, `tcgen05.mma`.
    Mma,
    /// Matrices from shared memory to registers: `ldmatrix`.
    LoadMatrix,
    /// Matrices from registers to shared memory, or to other threads: `stmatrix`, `movmatrix`.
    StoreMatrix,
    /// Asynchronous copies, bulk ones too.
    AsyncCopy,
    /// Loads of global memory by an address of that space: `ld.global`, `wmma.load.a.global`.
    GlobalLoad,
    /// Stores to global memory by an address of that space: `st.global`.
    GlobalStore,
    /// Loads of shared memory by an address of that space: `ld.shared`.
    SharedLoad,
    /// Stores to shared memory by an address of that space: `st.shared`.
    SharedStore,
    /// Loads and stores of local memory.
    Local,
    /// Loads and stores of generic addresses.
    Generic,
    /// `atom`, `red`.
    Atomic,
    /// Barriers, fences, and commits and waits of asynchronous groups.
    Sync,
    /// Integer arithmetic, logic, comparisons and conversions.
    Integer,
    /// Floating-point arithmetic, comparisons and conversions.
    FloatingPoint,
    /// Branches, calls, ends.
    Control,
    /// Moves, parameters, constants, shuffles, and what is not known.
    Other,
}

impl Class {
    /// A short name for tables, such as `global loads`.
    pub fn name(self) -> &'static str {
        match self {
            Class::Mma => "mma",
            Class::LoadMatrix => "ldmatrix",
            Class::StoreMatrix => "stmatrix, movmatrix",
            Class::AsyncCopy => "cp.async",
            Class::GlobalLoad => "global loads",
            Class::GlobalStore => "global stores",
            Class::SharedLoad => "shared loads",
            Class::SharedStore => "shared stores",
            Class::Local => "local memory",
            Class::Generic => "generic addresses",
            Class::Atomic => "atomics",
            Class::Sync => "barriers, waits",
            Class::Integer => "integer",
            Class::FloatingPoint => "floating point",
            Class::Control => "control",
            Class::Other => "other",
        }
    }

    /// The class of an instruction.
    pub fn of(instruction: &Instruction<'_>) -> Class {
        let has = |name: &str| instruction.modifiers.contains(&name);
        match instruction.opcode {
            "mma" => Class::Mma,
            "wmma" | "tcgen05" if has("mma") => Class::Mma,
            "wgmma" if has("mma_async") => Class::Mma,
            "ldmatrix" => Class::LoadMatrix,
            "stmatrix" | "movmatrix" => Class::StoreMatrix,
            "wgmma" | "bar" | "barrier" | "mbarrier" | "membar" | "fence" => Class::Sync,
            "tcgen05" if has("fence") || has("wait") || has("commit") => Class::Sync,
            "cp" if has("commit_group")
                || has("wait_group")
                || has("wait_all")
                || has("arrive") =>
            {
                Class::Sync
            }
            "cp" if has("async") && !has("prefetch") => Class::AsyncCopy,
            "ld" | "ldu" | "st" | "wmma" => access(instruction),
            "atom" | "red" => Class::Atomic,
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" => Class::Control,
            "fma" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh"
            | "copysign" | "testp" => Class::FloatingPoint,
            "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "lop3" | "bfe"
            | "bfi" | "bfind" | "bmsk" | "brev" | "clz" | "popc" | "prmt" | "fns" | "szext"
            | "mul24" | "mad24" | "sad" | "dp2a" | "dp4a" | "addc" | "subc" | "madc" => {
                Class::Integer
            }
            "abs" | "add" | "cvt" | "div" | "mad" | "max" | "min" | "mul" | "neg" | "rem"
            | "set" | "setp" | "slct" | "sub" => {
                if instruction.modifiers.iter().any(|name| is_float(name)) {
                    Class::FloatingPoint
                } else {
                    Class::Integer
                }
            }
            _ => Class::Other,
        }
    }
}

/// A load or a store, by its state space.
fn access(instruction: &Instruction<'_>) -> Class {
    let is_store = instruction.opcode == "st" || instruction.modifiers.first() == Some(&"store");
    let space = instruction
        .modifiers
        .iter()
        .map(|name| name.split("::").next().unwrap_or(name))
        .find(|name| ["global", "shared", "local", "param", "const"].contains(name));
    match (space, is_store) {
        (Some("global"), false) => Class::GlobalLoad,
        (Some("global"), true) => Class::GlobalStore,
        (Some("shared"), false) => Class::SharedLoad,
        (Some("shared"), true) => Class::SharedStore,
        (Some("local"), _) => Class::Local,
        (Some(_), _) => Class::Other,
        // `ldu` without a space is of global memory too (PTX ISA, `ldu`), by a generic address.
        (None, _) => Class::Generic,
    }
}

/// Tells whether a modifier is a floating-point type, one without registers of its own included.
fn is_float(name: &str) -> bool {
    Type::of(name).is_some_and(Type::is_float)
        || ["e4m3", "e5m2", "e2m1", "e2m3", "e3m2", "ue8m0"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}
