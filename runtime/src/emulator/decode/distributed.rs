//! `st.async` and `red.async`: what threads send to the shared memory of other blocks.

use super::super::program::{Op, Space, StoreAsync};
use super::{Decoder, Result};
use crate::ptx::{Instruction, Type};

/// The reductions of `red.async` that complete at an `mbarrier` object: operation and type.
const REDUCTIONS: [(&str, &str); 13] = [
    ("inc", "u32"),
    ("dec", "u32"),
    ("min", "u32"),
    ("min", "s32"),
    ("max", "u32"),
    ("max", "s32"),
    ("and", "b32"),
    ("or", "b32"),
    ("xor", "b32"),
    ("add", "u32"),
    ("add", "s32"),
    ("add", "u64"),
    // Of ptxas; the ISA names it for global memory alone.
    ("add", "s64"),
];

impl<'a> Decoder<'_, 'a> {
    /// `st.async` (PTX ISA, st.async).
    pub(super) fn store_async(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let [address, source, barrier] = i.operands.as_slice() else {
            return self.error("expected an address, a source and an mbarrier after st.async");
        };
        let (mut count, mut ty, mut is_counted, mut is_shared) = (1, None, false, false);
        for &name in &i.modifiers[1..] {
            match name {
                "mbarrier::complete_tx::bytes" => is_counted = true,
                "shared::cluster" => is_shared = true,
                "weak" => {}
                "v2" => count = 2,
                "v4" => count = 4,
                name => match Type::of(name) {
                    Some(found) if ty.is_none() => ty = Some(found),
                    _ => return self.unknown(i),
                },
            }
        }
        let (Some(ty), true, true) = (ty, is_counted, is_shared) else {
            return self.error(
                "expected st.async.shared::cluster.mbarrier::complete_tx::bytes and the type of the elements",
            );
        };
        let Some(width @ (4 | 8)) = ty.bytes() else {
            return self.error("expected elements of 4 or 8 bytes after st.async");
        };
        if width == 8 && count == 4 {
            return self.error("expected at most two elements of 8 bytes after st.async");
        }
        self.note_shared(Space::Shared, width);
        self.note_shared(Space::Shared, 8);
        let values = self
            .parts(source, count)?
            .iter()
            .map(|part| self.source(part, ty))
            .collect::<Result<Vec<_>>>()?;
        Ok(Op::StoreAsync(Box::new(StoreAsync {
            to: self.at(address, Space::Shared)?,
            barrier: self.at(barrier, Space::Shared)?,
            width,
            values,
            reduction: None,
        })))
    }

    /// `red.async` (PTX ISA, red.async).
    pub(super) fn reduce_async(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let modifiers = &i.modifiers[1..];
        for name in ["mmio", "release", "gpu", "sys", "global"] {
            if modifiers.contains(&name) {
                return self.error(format!(
                    "expected red.async.relaxed.cluster.shared::cluster, which completes at an mbarrier, found `.{name}`; the emulator has no \
                     asynchronous reductions of global memory"
                ));
            }
        }
        let [address, source, barrier] = i.operands.as_slice() else {
            return self.error("expected an address, a source and an mbarrier after red.async");
        };
        let needed = ["relaxed", "cluster", "mbarrier::complete_tx::bytes"];
        if !needed.iter().all(|name| modifiers.contains(name)) {
            return self.error(
                "expected red.async.relaxed.cluster.mbarrier::complete_tx::bytes, the operation and its type",
            );
        }
        let space = match modifiers.contains(&"shared::cluster") {
            true => Space::Shared,
            false => Space::Generic,
        };
        let known = |name: &str| needed.contains(&name) || name == "shared::cluster";
        let rest = modifiers.iter().filter(|name| !known(name));
        let rest: Vec<&str> = rest.copied().collect();
        let reduction = match rest[..] {
            [op, ty] => REDUCTIONS.into_iter().find(|found| *found == (op, ty)),
            _ => None,
        };
        let Some((op, name)) = reduction else {
            return self.error(format!(
                "expected a reduction that red.async has (.inc, .dec, .min, .max, .add of 32 bits, .add of 64 bits, .and, .or, .xor of .b32), \
                 found `.{}`",
                rest.join(".")
            ));
        };
        let ty = Type::of(name).unwrap_or(Type::B32);
        let width = ty.bytes().unwrap_or(4);
        self.note_shared(Space::Shared, width);
        self.note_shared(Space::Shared, 8);
        Ok(Op::StoreAsync(Box::new(StoreAsync {
            to: self.at(address, space)?,
            barrier: self.at(barrier, space)?,
            width,
            values: vec![self.source(source, ty)?],
            reduction: Some((op, name)),
        })))
    }
}
