//! Tensors in a kernel, as the plan sees them: rows and columns of one product.

use super::{
    kernel::Product,
    leaves::{at_least, leaves_of, places_of, with_layout},
    matrix::{Matrix, Role, divisor},
};
use cute_ir::ops::cute;
use cute_ir::{Expected, Failure, mlir::*, types};
use cute_layout::{IntTuple, tuple};
use melior::ir::ValueLike;

impl<'c> Matrix<'c> {
    /// Rows and columns of one product, as the plan sees them.
    pub(super) fn view(
        &self,
        b: Builder<'c>,
        tensor: Val<'c>,
        product: Option<Product<'c>>,
    ) -> Result<Val<'c>, Failure> {
        let whole = self.linear(b, tensor)?;
        self.of_product(b, whole, product)
    }

    /// The tensor as the matrix expects it, all products of it.
    pub(super) fn linear(&self, b: Builder<'c>, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
        let mut view = tensor;
        if self.layout != self.memref.layout {
            view = self.as_expected(b, view)?;
        }
        if matches!(self.role, Role::Factor | Role::Beside | Role::Scale) {
            view = self.not_empty(b, view)?;
        }
        Ok(view)
    }

    /// Rows and columns of one product of a tensor of all of them.
    pub(super) fn of_product(
        &self,
        b: Builder<'c>,
        tensor: Val<'c>,
        product: Option<Product<'c>>,
    ) -> Result<Val<'c>, Failure> {
        let mut view = self.part_of(b, tensor, product)?;
        if self.turned {
            view = b.infer(cute::SELECT, &[view], &[("mode", b.i32_array(&[1, 0]))])?;
        }
        Ok(view)
    }

    /// The part of a tensor of all products, or of its coordinates, that one of them has, with the modes of the tensor.
    pub(super) fn part_of(
        &self,
        b: Builder<'c>,
        tensor: Val<'c>,
        product: Option<Product<'c>>,
    ) -> Result<Val<'c>, Failure> {
        let Some(product) = product else {
            return Ok(tensor);
        };
        match product.rows.filter(|_| self.has_groups) {
            Some(rows) => rows.of(b, tensor),
            None => {
                let keep = IntTuple::underscore;
                let coord = tuple([keep(), keep(), IntTuple::dynamic()]);
                let coord = b.coord(&coord, &[product.index])?;
                b.infer(cute::SLICE, &[tensor, coord], &[])
            }
        }
    }

    /// The tensor with the layout that the matrix expects, which may say more of its leaves than its type.
    pub(super) fn as_expected(&self, b: Builder<'c>, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
        if self.layout.is_static() {
            return with_layout(b, tensor, &self.layout, [&[], &[]]);
        }
        let layout = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
        let leaves = leaves_of(b, layout)?;
        // Modes that became one are known, so that the others are the same.
        let of_shape = leaves.len() / 2;
        let [first, second] = [&leaves[..of_shape], &leaves[of_shape..]]
            .map(|leaves| leaves.iter().copied().flatten().collect::<Vec<_>>());
        with_layout(b, tensor, &self.layout, [&first, &second])
    }

    /// A factor as if K were its divisor at least where only a launch knows it: layouts have no extents of 0, and the loop along
    /// K has no turn then.
    pub(super) fn not_empty(&self, b: Builder<'c>, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
        let memref = types::memref_of(tensor).expected(b, "a tensor")?;
        let shape = memref.layout.shape();
        let of_k = shape.get(1).map(IntTuple::leaves).unwrap_or_default();
        if of_k.iter().all(|leaf| leaf.is_static()) {
            return Ok(tensor);
        }
        let layout = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
        let mut leaves = leaves_of(b, layout)?;
        leaves.truncate(shape.leaves().len());
        for (place, leaf) in places_of(&memref, 1).zip(of_k) {
            if let Some(own) = leaves.get_mut(place).and_then(Option::as_mut) {
                *own = at_least(b, *own, divisor(leaf))?;
            }
        }
        let leaves: Vec<_> = leaves.into_iter().flatten().collect();
        let shape = b.value(
            cute::MAKE_SHAPE,
            &leaves,
            types::shape_type(b.context, shape),
            &[],
        )?;
        let stride = b.infer(cute::GET_STRIDE, &[layout], &[])?;
        let layout = b.infer(cute::MAKE_LAYOUT, &[shape, stride], &[])?;
        let start = b.infer(cute::GET_ITER, &[tensor], &[])?;
        b.value(cute::MAKE_VIEW, &[start, layout], tensor.r#type(), &[])
    }
}
