//! Programs whose loads may not matter: what some of them load is used later, by some lanes of no branch that can be foreseen, or thrown
//! away.

use super::programs::{Program, Step, Strength};
use crate::random::SplitMix;

/// The use of what a step loads, after a later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// The load, and the step behind which it stands.
    pub load: usize,
    pub after: usize,
    pub dropped: bool,
    /// The start of its registers.
    slot: u32,
    form: u64,
}

/// Loads of a program that have registers of their own.
const MOST: u32 = 10;
/// The registers that uses have beside those of all kernels.
pub(super) const REGISTERS: &str =
    ".reg .b32 %u<30>; .reg .b64 %v<30>; .reg .b16 %w<30>; .reg .pred %t<30>; ";

impl Program {
    /// Gives weak loads uses. Those that are thrown away are among weak accesses only: beside strong ones a read counts when it is made.
    pub(crate) fn decide(&mut self, seed: u64) {
        let mut random = SplitMix(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let last = self.steps.len() as u64;
        let often = random.below(2) == 0;
        for (load, step) in self.steps.iter().enumerate() {
            let Step::Load(.., Strength::Weak) = step else {
                continue;
            };
            let slot = self.uses.len() as u32;
            if slot == MOST || random.below(4) == 0 {
                continue;
            }
            self.uses.push(Use {
                load,
                after: load + random.below((last - load as u64).min(6)) as usize,
                dropped: !self.strong && (often || random.below(3) == 0),
                slot,
                form: random.below(7),
            });
        }
    }

    pub(super) fn use_of(&self, load: usize) -> Option<&Use> {
        self.uses.iter().find(|found| found.load == load)
    }
}

impl Use {
    /// The register of an element that is loaded.
    pub(super) fn register(&self, width: u32, element: u32) -> String {
        match width {
            8 => format!("%s{}", 30 + 2 * self.slot + element),
            1 | 2 => format!("%h{}", 10 + self.slot),
            _ => format!("%r{}", 40 + 4 * self.slot + element),
        }
    }

    /// The element that is used, of so many that are loaded.
    pub(super) fn element(&self, count: u32) -> u32 {
        self.slot % count
    }

    /// The instructions that use what the lanes of a predicate have loaded. %p6 holds, and %p7 does not.
    pub(super) fn text(&self, width: u32, count: u32, when: &str) -> String {
        let value = self.register(width, self.element(count));
        let (ty, name) = match width {
            8 => ("64", "v"),
            1 | 2 => ("16", "w"),
            _ => ("32", "u"),
        };
        // As compilers do, no register is written for two purposes.
        let [a, b, c] = [0, 1, 2].map(|i| format!("%{name}{}", 3 * self.slot + i));
        let [p, q] = [0, 1].map(|i| format!("%t{}", 2 * self.slot + i));
        let (yes, label) = (if self.dropped { "%p7" } else { "%p6" }, self.load);
        match self.form {
            0 => format!("{when}selp.b{ty} {a}, {value}, 0, {yes}; {when}add.u{ty} {b}, {a}, 1;"),
            1 => format!(
                "{when}add.u{ty} {a}, {value}, 1; {when}selp.b{ty} {b}, {a}, 0, {yes}; {when}sub.u{ty} {c}, {b}, 1;"
            ),
            2 => format!("@!{yes} bra USE{label}; {when}add.u{ty} {a}, {value}, 1; USE{label}:"),
            3 => format!(
                "{when}mov.b{ty} {a}, {value}; {when}xor.b{ty} {b}, {a}, 7; {when}selp.b{ty} {c}, {b}, {b}, {yes}; {when}selp.b{ty} {a}, {c}, 0, {yes}; {when}add.u{ty} {b}, {a}, 1;"
            ),
            4 => format!(
                "setp.ne.u32 {q}, 0, 0; {when}setp.ge.u{ty} {p}, {value}, 1; {when}and.pred {q}, {p}, {yes}; @{q} mov.b{ty} {c}, 0;"
            ),
            5 => format!(
                "setp.ne.u32 {q}, 0, 0; {when}setp.ge.and.u{ty} {q}, {value}, 1, {yes}; @{q} mov.b{ty} {c}, 0;"
            ),
            _ => format!(
                "{when}mov.b{ty} {b}, 0; @!{yes} bra USE{label}; {when}mov.b{ty} {b}, {value}; USE{label}: {when}mul.lo.u{ty} {c}, {b}, 3;"
            ),
        }
    }
}
