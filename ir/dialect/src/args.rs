//! The operands of ops that take them in several forms, or that several ops take alike: read once, by name.
//!
//! Each is nothing of another op, and of operands of another number, which the verifier refuses.

use crate::{
    mlir::*,
    ops::{cute, cute_nvgpu},
    types::{CuteType, Field, describe_fields, memref_of},
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Makes `op` use `new` wherever it uses `old`.
pub fn replace_operand<'c>(op: Op<'c>, old: Val<'c>, new: Val<'c>) {
    for (place, operand) in operands_of(op).into_iter().enumerate() {
        if operand == old {
            set_operand(op, place, new);
        }
    }
}

//===-- Copies ----------------------------------------------------------------===//

/// The operands of a `cute.copy` or a `cute.copy_if`.
#[derive(Clone, Copy)]
pub enum CopyArgs<'c> {
    /// A copy of one thread, by an atom.
    Thread(ThreadCopy<'c>),
    /// A copy of one thread, of the elements at which a predicate holds.
    Elements {
        /// Truth values, one for each element.
        predicate: Val<'c>,
        /// The tensor that is copied from.
        source: Val<'c>,
        /// The tensor that is copied to.
        destination: Val<'c>,
    },
}

/// The operands of a copy of one thread.
#[derive(Clone, Copy)]
pub struct ThreadCopy<'c> {
    /// A copy atom or a tiled copy.
    pub copy: Val<'c>,
    /// The tensor that is copied from.
    pub source: Val<'c>,
    /// The tensor that is copied to.
    pub destination: Val<'c>,
    /// Truth values, one for each atom.
    pub predicate: Option<Val<'c>>,
}

impl<'c> CopyArgs<'c> {
    /// Reads the operands of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let thread = |copy, source, destination, predicate| {
            Self::Thread(ThreadCopy {
                copy,
                source,
                destination,
                predicate,
            })
        };
        Some(match (name_of(op), operands_of(op).as_slice()) {
            (cute::COPY, &[copy, source, destination]) => thread(copy, source, destination, None),
            (cute::COPY, &[copy, source, destination, predicate]) => {
                thread(copy, source, destination, Some(predicate))
            }
            (cute::COPY_IF, &[predicate, source, destination]) => Self::Elements {
                predicate,
                source,
                destination,
            },
            (cute::COPY_IF, &[copy, predicate, source, destination]) => {
                thread(copy, source, destination, Some(predicate))
            }
            _ => return None,
        })
    }
}

impl<'c> ThreadCopy<'c> {
    /// Reads the operands of a copy of one thread by an atom.
    pub fn of(op: Op<'c>) -> Option<Self> {
        match CopyArgs::of(op)? {
            CopyArgs::Thread(copy) => Some(copy),
            _ => None,
        }
    }

    /// The operands of the `cute.copy` that does this.
    pub fn operands(self) -> Vec<Val<'c>> {
        let mut all = vec![self.copy, self.source, self.destination];
        all.extend(self.predicate);
        all
    }
}

/// The operands of a `cute.autovec_copy` or a `cute.basic_copy`.
#[derive(Clone, Copy)]
pub struct PlainCopyArgs<'c> {
    /// The tensor that is copied from.
    pub source: Val<'c>,
    /// The tensor that is copied to.
    pub destination: Val<'c>,
}

impl<'c> PlainCopyArgs<'c> {
    /// Reads the operands of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        match (name_of(op), operands_of(op).as_slice()) {
            (cute::AUTOVEC_COPY | cute::BASIC_COPY, &[source, destination]) => Some(Self {
                source,
                destination,
            }),
            _ => None,
        }
    }
}

/// The operands of a `cute.cooperative_copy`.
#[derive(Clone, Copy)]
pub struct CooperativeCopyArgs<'c> {
    /// The index of the thread.
    pub thread: Val<'c>,
    /// The tensor that is copied from.
    pub source: Val<'c>,
    /// The tensor that is copied to.
    pub destination: Val<'c>,
}

impl<'c> CooperativeCopyArgs<'c> {
    /// Reads the operands of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        match cute::CooperativeCopy::of(op)?.args()[..] {
            [thread, source, destination] => Some(Self {
                thread,
                source,
                destination,
            }),
            _ => None,
        }
    }
}

/// The operands of a `cute.prefetch`.
#[derive(Clone, Copy)]
pub struct PrefetchArgs<'c> {
    /// The atom by which the tensor will be copied.
    pub atom: Option<Val<'c>>,
    /// The tensor that is fetched.
    pub source: Val<'c>,
}

impl<'c> PrefetchArgs<'c> {
    /// Reads the operands of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let (atom, source) = match cute::Prefetch::of(op)?.args()[..] {
            [source] => (None, source),
            [atom, source] => (Some(atom), source),
            _ => return None,
        };
        Some(Self { atom, source })
    }
}

//===-- Products --------------------------------------------------------------===//

/// The operands of a `cute.gemm`.
#[derive(Clone, Copy)]
pub enum GemmArgs<'c> {
    /// A product of one thread by an MMA atom or a tiled MMA: D = A B + C.
    Mma {
        /// The MMA atom or the tiled MMA.
        mma: Val<'c>,
        /// The fragment of the result.
        d: Val<'c>,
        /// The fragment of A.
        a: Val<'c>,
        /// The fragment of B.
        b: Val<'c>,
        /// The fragment that is added.
        c: Val<'c>,
    },
    /// A product of one thread by an MMA atom or a tiled MMA, with C as D.
    MmaInPlace {
        /// The MMA atom or the tiled MMA.
        mma: Val<'c>,
        /// The fragment of A.
        a: Val<'c>,
        /// The fragment of B.
        b: Val<'c>,
        /// The fragment that is added, and that takes the result.
        c: Val<'c>,
    },
    /// A product of one thread by multiply-adds of single elements: D = A B + C.
    Elements {
        /// The fragment of the result.
        d: Val<'c>,
        /// The fragment of A.
        a: Val<'c>,
        /// The fragment of B.
        b: Val<'c>,
        /// The fragment that is added.
        c: Val<'c>,
    },
}

impl<'c> GemmArgs<'c> {
    /// Reads the operands of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        Some(match cute::Gemm::of(op)?.args()[..] {
            [d, a, b, c] if memref_of(d).is_some() => Self::Elements { d, a, b, c },
            [mma, a, b, c] => Self::MmaInPlace { mma, a, b, c },
            [mma, d, a, b, c] => Self::Mma { mma, d, a, b, c },
            _ => return None,
        })
    }
}

/// The operands of a `cute.cooperative_gemm`.
#[derive(Clone, Copy)]
pub struct CooperativeGemmArgs<'c> {
    /// The index of the thread.
    pub thread: Val<'c>,
    /// A tiled MMA.
    pub mma: Val<'c>,
    /// The tensor A.
    pub a: Val<'c>,
    /// The tensor B.
    pub b: Val<'c>,
    /// The tensor C, which takes the result.
    pub c: Val<'c>,
    /// The factors of C = alpha A B + beta C; without them A B is added to C.
    pub scale: Option<Scale<'c>>,
}

/// The factors of a scaled product.
#[derive(Clone, Copy)]
pub struct Scale<'c> {
    /// The factor of A B.
    pub alpha: Val<'c>,
    /// The factor of C.
    pub beta: Val<'c>,
}

impl<'c> CooperativeGemmArgs<'c> {
    /// Reads the operands of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let (thread, mma, [a, b, c], scale) = match cute::CooperativeGemm::of(op)?.args()[..] {
            [thread, mma, a, b, c] => (thread, mma, [a, b, c], None),
            [thread, mma, alpha, a, b, beta, c] => {
                (thread, mma, [a, b, c], Some(Scale { alpha, beta }))
            }
            _ => return None,
        };
        Some(Self {
            thread,
            mma,
            a,
            b,
            c,
            scale,
        })
    }
}

//===-- Elements --------------------------------------------------------------===//

/// The operands of a `cute.axpby`: y = alpha x + beta y.
#[derive(Clone, Copy)]
pub struct AxpbyArgs<'c> {
    /// The factor of x.
    pub alpha: Val<'c>,
    /// The tensor x.
    pub x: Val<'c>,
    /// The factor of y.
    pub beta: Val<'c>,
    /// The tensor y, which takes the result.
    pub y: Val<'c>,
    /// Truth values, one for each element.
    pub predicate: Option<Val<'c>>,
}

impl<'c> AxpbyArgs<'c> {
    /// Reads the operands of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let (alpha, x, beta, y, predicate) = match cute::Axpby::of(op)?.args()[..] {
            [alpha, x, beta, y] => (alpha, x, beta, y, None),
            [alpha, x, beta, y, predicate] => (alpha, x, beta, y, Some(predicate)),
            _ => return None,
        };
        Some(Self {
            alpha,
            x,
            beta,
            y,
            predicate,
        })
    }
}

/// The place that a `cute.memref.load` or a `cute.memref.store` is about.
#[derive(Clone, Copy)]
pub struct ElementArgs<'c> {
    /// The tensor of the element.
    pub tensor: Val<'c>,
    /// The coordinate of the element.
    pub coord: Val<'c>,
}

impl<'c> ElementArgs<'c> {
    /// Reads the operands of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        match (name_of(op), operands_of(op).as_slice()) {
            (cute::MEMREF_LOAD, &[tensor, coord]) => Some(Self { tensor, coord }),
            (cute::MEMREF_STORE, &[tensor, coord, _]) => Some(Self { tensor, coord }),
            _ => None,
        }
    }
}

//===-- Views -----------------------------------------------------------------===//

/// A partition by a tiled copy or a tiled MMA.
#[derive(Clone, Copy)]
pub struct PartitionArgs<'c> {
    /// A tiled copy or a tiled MMA.
    pub tiled: Val<'c>,
    /// The tensor that is partitioned.
    pub tensor: Val<'c>,
    /// The index of the thread.
    pub thread: Val<'c>,
    /// The result: what the thread has of the tensor.
    pub part: Val<'c>,
}

impl<'c> PartitionArgs<'c> {
    /// Reads the operands and the result of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let (cute::TILED_COPY_PARTITION_S
        | cute::TILED_COPY_PARTITION_D
        | cute::TILED_MMA_PARTITION) = name_of(op)
        else {
            return None;
        };
        match (operands_of(op).as_slice(), results_of(op).as_slice()) {
            (&[tiled, tensor, thread], &[part]) => Some(Self {
                tiled,
                tensor,
                thread,
                part,
            }),
            _ => None,
        }
    }

    /// Reads the operands and the result of a partition by a tiled copy.
    pub fn by_copy(op: Op<'c>) -> Option<Self> {
        Self::of(op).filter(|_| name_of(op) != cute::TILED_MMA_PARTITION)
    }
}

/// A tensor or a pointer shown as another type, with its elements where they are.
#[derive(Clone, Copy)]
pub struct Reinterpretation<'c> {
    /// The tensor or the pointer as it was.
    pub from: Val<'c>,
    /// The tensor or the pointer as it is shown.
    pub to: Val<'c>,
}

impl<'c> Reinterpretation<'c> {
    /// Reads the operand and the result of `op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let (from, to) = if let Some(op) = cute::GetIter::of(op) {
            (op.tensor(), op.result())
        } else if let Some(op) = cute::MakeView::of(op) {
            (op.iter(), op.result())
        } else if let Some(op) = cute::Recast::of(op) {
            (op.tensor(), op.result())
        } else if let Some(op) = cute::RecastIter::of(op) {
            (op.iter(), op.result())
        } else if let Some(op) = cute::TiledCopyRetile::of(op) {
            (op.fragment(), op.result())
        } else if let Some(op) = cute::Derefine::of(op) {
            (op.value(), op.result())
        } else {
            return None;
        };
        Some(Self { from, to })
    }
}

/// Returns the integers that the dynamic leaves of a coordinate or an integer tuple are, in their order, of the op that makes it.
pub fn leaves_of(op: Op<'_>) -> Option<Vec<Val<'_>>> {
    cute::MakeCoord::of(op)
        .map(cute::MakeCoord::leaves)
        .or_else(|| Some(cute::MakeIntTuple::of(op)?.leaves()))
        .or_else(|| Some(vec![cute::Assume::of(op)?.value()]))
}

//===-- Attributes that say which part -----------------------------------------===//

/// The coordinates in the attribute `at`, none where it is not given.
pub fn at_of(op: Op<'_>) -> Vec<i64> {
    attribute_of(op, "at").and_then(i64s_of).unwrap_or_default()
}

/// The part of the state that an op is about.
pub fn field_of(op: Op<'_>) -> Result<&'static Field, String> {
    let set = cute_nvgpu::AtomSetValue::of(op).map(|op| op.atom());
    let atom = set.or_else(|| Some(cute_nvgpu::AtomGetValue::of(op)?.atom()));
    let ty = atom.ok_or("has no part of a state")?.r#type();
    let field = op.attribute("field").map(|field| field.to_string());
    field_named(ty, &field.unwrap_or_default())
}

/// The part of the state of an atom, or of what is tiled over one, that an attribute's text names.
///
/// # Errors
/// A type without a state, and a part that it does not have.
pub(crate) fn field_named(ty: Type<'_>, found: &str) -> Result<&'static Field, String> {
    let atom = CuteType::of(ty).filter(|atom| {
        matches!(
            atom,
            CuteType::CopyAtom { .. }
                | CuteType::MmaAtom { .. }
                | CuteType::TiledCopy { .. }
                | CuteType::TiledMma { .. }
        )
    });
    let fields = atom
        .ok_or_else(|| format!("expected an atom or what is tiled over one, found {ty}"))?
        .fields();
    fields
        .iter()
        .find(|field| field.spelled() == found)
        .ok_or_else(|| {
            format!(
                "expected a field of the atom's state, {}, found {found}",
                describe_fields(fields)
            )
        })
}
