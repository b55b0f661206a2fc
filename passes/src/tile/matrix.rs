//! The tensors of a product: how they lie, and what is known of M, N and K.

use crate::plan::Access;
use cute_ir::{
    plan::{OPERANDS, name_of_operand},
    types::MemRef,
};
use cute_layout::{IntTuple, Layout, Leaf, Operand};

/// The widest access to memory in bytes.
const WIDEST: i64 = 16;

/// A, B or C as a kernel sees it: rows, columns, and perhaps a batch.
#[derive(Clone, Debug)]
pub(super) struct Matrix<'c> {
    /// Its place among the operands of the op.
    pub(super) operand: usize,
    /// The tensor.
    pub(super) memref: MemRef<'c>,
    /// True where rows and columns are exchanged.
    pub(super) turned: bool,
    /// The tensor's layout with each of rows and columns in one mode, before they are exchanged.
    pub(super) layout: Layout,
    /// The accesses to it in global memory, after that.
    pub(super) access: Access,
}

impl<'c> Matrix<'c> {
    /// The matrices of C (M,N) = A (M,K) B (N,K)^T. Where C lies column by column they are those of the transposed product:
    /// B, A and C's transpose. Errors: a tensor that cannot be read or written by tiles.
    pub(super) fn of(tensors: [MemRef<'c>; 3]) -> Result<[Self; 3], String> {
        let [a, b, c] = tensors;
        let c = Self::read(Operand::C, c)?;
        let (a, b) = (Self::read(Operand::A, a)?, Self::read(Operand::B, b)?);
        if c.access.major == 1 {
            return Ok([a, b, c]);
        }
        let access = Access {
            major: 1,
            ..c.access
        };
        let c = Self {
            turned: true,
            access,
            ..c
        };
        Ok([b, a, c])
    }

    fn read(operand: Operand, memref: MemRef<'c>) -> Result<Self, String> {
        let name = name_of_operand(operand);
        let mut modes = memref.layout.modes();
        for mode in modes.iter_mut().take(2) {
            if mode.shape().is_tuple() {
                let whole = mode.coalesce().map_err(|e| e.to_string())?;
                if whole.shape().is_tuple() {
                    return Err(format!(
                        "expected rows and columns of {name} that have one extent and one stride each, found {}; a mode of \
                         several is not supported yet: make a copy of {name} that lies in order",
                        memref.layout
                    ));
                }
                *mode = whole;
            }
            if memref.layout.is_static() && mode.size() == Ok(1) {
                // It goes nowhere, so that nothing is to be aligned.
                *mode = Layout::leaf(1, 0).map_err(|e| e.to_string())?;
            }
        }
        let layout = Layout::from_modes(&modes).map_err(|e| e.to_string())?;
        if layout.stride().has_basis() {
            return Err(format!(
                "expected {name} with strides that are integers, found {}",
                memref.layout
            ));
        }
        if operand == Operand::C {
            check_apart(&layout)?;
        }
        memref.check_addressable()?;
        let access = access(&memref, &layout)?;
        Ok(Self {
            operand: operand as usize,
            memref,
            turned: false,
            layout,
            access,
        })
    }

    /// The extent of rows (0), columns (1) or the batch (2), as the kernel sees it.
    pub(super) fn extent(&self, mode: usize) -> Option<&IntTuple> {
        self.layout.shape().get(self.place(mode))
    }

    /// The mode of the tensor that is mode `mode` of the matrix.
    pub(super) fn place(&self, mode: usize) -> usize {
        if self.turned && mode < 2 {
            1 - mode
        } else {
            mode
        }
    }

    /// Its name, in the op.
    pub(super) fn name(&self) -> &'static str {
        name_of_operand(OPERANDS[self.operand])
    }
}

/// One of M, N and K.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    /// The extent; none where only a launch knows.
    pub(super) known: Option<i64>,
    /// A number that is known to divide it.
    pub(super) divisor: i64,
    /// The matrix that has it, by its place among the three, and the mode.
    pub(super) from: (usize, usize),
}

impl Extent {
    /// M, N and K of matrices, each of the matrix that knows the most of it.
    pub(super) fn of(matrices: &[Matrix; 3]) -> [Self; 3] {
        [0, 1, 2].map(|axis| {
            let holders = holders(axis).map(|(matrix, mode)| {
                let leaf = matrices[matrix].extent(mode).and_then(IntTuple::as_leaf);
                let (known, divisor) = match leaf {
                    Some(Leaf::Static(extent)) => (Some(*extent), *extent),
                    Some(leaf) => (None, divisor(leaf)),
                    None => (None, 1),
                };
                Self {
                    known,
                    divisor,
                    from: (matrix, mode),
                }
            });
            let [first, second] = holders;
            match (first.known, second.known) {
                (None, Some(_)) => second,
                (None, None) if second.divisor > first.divisor => second,
                _ => first,
            }
        })
    }

    /// Tells whether tiles of `tile` never reach over the end.
    pub(super) fn is_divided_by(&self, tile: i64) -> bool {
        tile > 0 && self.divisor % tile == 0
    }
}

/// The two matrices that have M (0), N (1) or K (2), each with the mode that it is.
pub(super) fn holders(axis: usize) -> [(usize, usize); 2] {
    match axis {
        0 => [(0, 0), (2, 0)],
        1 => [(1, 0), (2, 1)],
        _ => [(0, 1), (1, 1)],
    }
}

/// The number of products; none where only a launch knows.
pub(super) fn batch(matrices: &[Matrix; 3]) -> Option<i64> {
    let known = |matrix: &Matrix| match matrix.extent(2) {
        Some(extent) if extent.is_static() => extent.size().ok(),
        Some(_) => None,
        None => Some(1),
    };
    matrices.iter().find_map(known)
}

/// A number that is known to divide a leaf; 0 of zero, which everything divides.
fn divisor(leaf: &Leaf) -> i64 {
    match leaf {
        Leaf::Static(value) => value.abs(),
        Leaf::Dynamic(dynamic) => dynamic.div,
        _ => 1,
    }
}

/// The accesses to a matrix: along the mode by which the most can be moved at once, columns if either would do.
fn access(memref: &MemRef, layout: &Layout) -> Result<Access, String> {
    let bytes = memref.element_bytes();
    let one = |mode: usize, what: &IntTuple| what.get(mode).and_then(IntTuple::as_leaf).cloned();
    let vector = |major: usize| {
        let (extent, stride) = (one(major, layout.shape()), one(major, layout.stride()));
        let (Some(extent), Some(Leaf::Static(1))) = (extent, stride) else {
            return 1;
        };
        let others = (0..layout.rank()).filter(|mode| *mode != major);
        let strides = others.filter_map(|mode| layout.stride().get(mode));
        let strides = strides.flat_map(IntTuple::leaves).map(divisor);
        let multiples: Vec<i64> = strides.chain([divisor(&extent)]).collect();
        let mut vector = (WIDEST / bytes).max(1);
        while vector > 1
            && (multiples.iter().any(|multiple| multiple % vector != 0)
                || memref.align % (vector * bytes) != 0)
        {
            vector /= 2;
        }
        vector
    };
    let is_along = |mode: usize| one(mode, layout.stride()) == Some(Leaf::Static(1));
    let [rows, columns] = [vector(0), vector(1)];
    // Also of what is moved one by one, neighbours are best moved by neighbours.
    let major = usize::from(!(rows > columns || (rows == columns && is_along(0) && !is_along(1))));
    Ok(Access {
        major,
        known: layout.stride().is_static(),
        vector: [rows, columns][major],
    })
}

/// Checks that each element of C has a place of its own, as far as the type says it.
fn check_apart(layout: &Layout) -> Result<(), String> {
    let Some(flat) = layout.flat() else {
        return Ok(());
    };
    let mut modes: Vec<_> = flat.modes().iter().filter(|mode| mode.0 > 1).collect();
    modes.sort_by_key(|mode| mode.1);
    let mut reach = 1i64;
    for (extent, stride) in modes {
        if *stride < reach {
            return Err(format!(
                "expected elements of C that do not overlap, found {layout}: {extent} elements that are {stride} apart, where \
                 others reach over {reach}"
            ));
        }
        reach = reach.saturating_add((extent - 1).saturating_mul(*stride));
    }
    Ok(())
}
