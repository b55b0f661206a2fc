//! The cycles that instructions of a warp take: what a schedule needs to know to lay one beside the other.
//!
//! Figures are those of one of the four quarters of a multiprocessor, for one warp of 32 threads. They are orders of magnitude
//! from microbenchmarks of SM80 and SM90 (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture"; Abdelkhalik et al.,
//! "Demystifying the Nvidia Ampere Architecture"); only their ratios matter.

use crate::Arch;

/// A unit of a quarter of a multiprocessor that instructions of a warp occupy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// The scheduler, which issues an instruction a cycle.
    Issue,
    /// The tensor core.
    Tensor,
    /// The lanes for floating-point numbers and integers.
    Arithmetic,
    /// The lanes for functions such as the exponential.
    Special,
    /// The way to memory: the load and store unit and the ports of shared memory behind it, which what comes from global memory
    /// and what comes from shared memory go through alike.
    Memory,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Unit; 5] = [
        Unit::Issue,
        Unit::Tensor,
        Unit::Arithmetic,
        Unit::Special,
        Unit::Memory,
    ];

    /// The unit's name in IR.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Issue => "issue",
            Unit::Tensor => "tensor",
            Unit::Arithmetic => "arithmetic",
            Unit::Special => "special",
            Unit::Memory => "memory",
        }
    }

    /// The cycles in which an operation that occupies the unit for so many is issued: an instruction is for 32 lanes of sums at
    /// most, for 4 lanes of functions, for 16 bytes a thread, or a whole product.
    pub fn issues(self, cycles: i64) -> i64 {
        let instructions = match self {
            Unit::Issue | Unit::Arithmetic => cycles,
            Unit::Tensor => 1,
            Unit::Special => cycles / 8,
            Unit::Memory => cycles / 16,
        };
        instructions.max(1).min(cycles)
    }

    /// The unit of that name.
    pub fn find(name: &str) -> Option<Unit> {
        Unit::ALL.into_iter().find(|unit| unit.name() == name)
    }
}

/// The cost of an instruction: the cycles for which it occupies its unit, and those until its result may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// The unit that executes the instruction.
    pub unit: Unit,
    /// Cycles for which the instruction occupies the unit.
    pub cycles: i64,
    /// Cycles until its result may be used.
    pub latency: i64,
}

/// The costs of an architecture's instructions.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Cycles in which the lanes do one operation for each of the 32 threads.
    arithmetic: i64,
}

impl Timing {
    /// The costs on `arch`.
    pub fn of(arch: Arch) -> Timing {
        // 64 lanes of a multiprocessor, or 128 (CUDA C++ Programming Guide, "Arithmetic Instructions").
        Timing {
            arithmetic: if (arch.major, arch.minor) <= (8, 0) {
                2
            } else {
                1
            },
        }
    }

    /// A product of `multiplications` elements of `bits` bits by the tensor core.
    pub fn product(self, multiplications: i64, bits: i64) -> Cost {
        // 128 of 16 bits a cycle: a rate at which the fragments of the next products can be loaded beside.
        Cost {
            unit: Unit::Tensor,
            cycles: (multiplications * bits / (16 * 128)).max(1),
            latency: 34,
        }
    }

    /// A load of `bytes` bytes a thread from shared memory. A quarter of the multiprocessor gets 32 bytes a cycle.
    pub fn shared_load(self, bytes: i64) -> Cost {
        Cost {
            latency: 33,
            ..self.moved(bytes)
        }
    }

    /// A load of `bytes` bytes a thread from global memory, or an asynchronous copy.
    pub fn global_load(self, bytes: i64) -> Cost {
        Cost {
            latency: 500,
            ..self.moved(bytes)
        }
    }

    /// A store of `bytes` bytes a thread.
    pub fn store(self, bytes: i64) -> Cost {
        self.moved(bytes)
    }

    /// An exchange of values between the threads of a warp.
    pub fn exchange(self) -> Cost {
        Cost {
            latency: 24,
            ..self.moved(4)
        }
    }

    /// An operation on `elements` numbers of a thread.
    pub fn arithmetic(self, elements: i64) -> Cost {
        Cost {
            unit: Unit::Arithmetic,
            cycles: elements * self.arithmetic,
            latency: 4,
        }
    }

    /// A function of `elements` numbers of a thread, such as the exponential: 4 lanes.
    pub fn special(self, elements: i64) -> Cost {
        Cost {
            unit: Unit::Special,
            cycles: elements * 8,
            latency: 18,
        }
    }

    fn moved(self, bytes: i64) -> Cost {
        Cost {
            unit: Unit::Memory,
            cycles: bytes.max(1),
            latency: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_names_of_their_own() {
        for unit in Unit::ALL {
            assert_eq!(Unit::find(unit.name()), Some(unit));
        }
        assert_eq!(Unit::find("nothing"), None);
        let issued = Unit::ALL.map(|unit| (unit.issues(0), unit.issues(4), unit.issues(32)));
        assert_eq!(
            issued,
            [(0, 4, 32), (0, 1, 1), (0, 4, 32), (0, 1, 4), (0, 1, 2)]
        );
    }

    #[test]
    fn costs_are_those_of_the_unit() {
        let of = |name: &str| Timing::of(Arch::find(name).unwrap());
        let product = of("sm_80").product(16 * 8 * 16, 16);
        assert_eq!((product.unit, product.cycles), (Unit::Tensor, 16));
        assert_eq!(of("sm_80").product(16 * 8 * 32, 8).cycles, 16);
        // Four matrices of ldmatrix, and a vector of cp.async.
        assert_eq!(of("sm_80").shared_load(16).cycles, 16);
        // 64 lanes of an A100's multiprocessor, 128 of an H100's.
        assert_eq!(of("sm_80").arithmetic(4).cycles, 8);
        assert_eq!(of("sm_90").arithmetic(4).cycles, 4);
    }
}
