//! The kernel of a map: which rows and columns a block computes.

use super::{Arrangement, Map};
use crate::launch::follow;
use crate::tile::{
    function::{Kernel, block_index},
    leaves::{open_leaves, with_layout},
};
use cute_ir::ops::cute;
use cute_ir::{
    Failure,
    attributes::{MIN_BLOCKS, STAYS},
    mlir::*,
};
use cute_layout::{IntTuple, tuple};
use melior::ir::{Attribute, ValueLike};

impl<'c> Map<'c> {
    /// Writes a kernel.
    pub(super) fn kernel(
        &self,
        place: Builder<'c>,
        name: &str,
        way: &Arrangement,
    ) -> Result<(), Failure> {
        let mut arguments: Vec<_> = self.arguments.iter().map(|v| v.r#type()).collect();
        let grid = self.grid(way);
        arguments.extend(grid.counted().iter().map(|_| place.i32_type()));
        let attributes = self.attributes(place, way)?;
        let kernel = Kernel {
            name,
            arguments,
            threads: way.threads[0] * way.threads[1],
            blocks: grid.known_blocks(),
            attributes,
        };
        kernel.write(place, |b, body| self.body(b, body, way))
    }

    /// The attributes of a kernel that others do not have.
    pub(super) fn attributes(
        &self,
        place: Builder<'c>,
        way: &Arrangement,
    ) -> Result<Vec<(&'static str, Attribute<'c>)>, Failure> {
        let mut all = Vec::new();
        if let Some(blocks) = way.stays {
            // A block that has to wait for another one to end would begin when all others have computed most of their rows.
            all.push((MIN_BLOCKS, place.integer(place.i32_type(), blocks)));
            all.push((STAYS, place.unit()));
        }
        if self.reads_apart(way) {
            // LLVM makes no vectors of loads then, which would read what lies between elements or behind the last.
            let attribute = place.attribute("[\"noimplicitfloat\"]")?;
            all.push(("passthrough", attribute));
        }
        Ok(all)
    }

    fn body(&self, b: Builder<'c>, body: Blk<'c>, way: &Arrangement) -> Result<(), Failure> {
        follow(b, &self.archs)?;
        let block = block_index(b)?;
        self.body_of_block(b, body, way, (block, self.arguments.len()))
    }

    /// Writes what a block computes, by its index; what the launch counted for it stands behind so many arguments.
    pub(super) fn body_of_block(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        way: &Arrangement,
        (block, counted): (Val<'c>, usize),
    ) -> Result<(), Failure> {
        let (at, part) = self.grid(way).place(b, body, (block, counted))?;
        let mut tensors = Vec::new();
        for (whole, layout) in self.tensors.iter().zip(&way.layouts) {
            let tensor = whole.in_kernel(b, body)?;
            let mut tensor = match self.is_in_order() && *layout == whole.memref.layout {
                true => tensor,
                false if layout.is_static() => with_layout(b, tensor, layout, [&[], &[]])?,
                false => {
                    let [shape, stride] = open_leaves(b, tensor, &whole.memref, &self.modes)?;
                    with_layout(b, tensor, layout, [&shape, &stride])?
                }
            };
            if let Some(part) = part {
                let keep = IntTuple::underscore;
                let coord = b.coord(&tuple([keep(), keep(), IntTuple::dynamic()]), &[part])?;
                tensor = b.infer(cute::SLICE, &[tensor, coord], &[])?;
            }
            tensors.push(tensor);
        }
        let outputs = i32::try_from(tensors.len() - self.inputs).unwrap_or(0);
        let inputs = i32::try_from(self.inputs).unwrap_or(0);
        let operands = [tensors, vec![at]].concat();
        let mut attributes = vec![
            ("operandSegmentSizes", b.i32_array(&[inputs, outputs, 1])),
            ("threads", b.i64_array(&way.threads)),
            ("values", b.i64_array(&way.values)),
        ];
        if let Some(columns) = self.ranges {
            attributes.push(("columns", b.i64_attribute(columns)));
        }
        for (name, is) in [
            ("by_rows", way.by_rows),
            ("held", way.held),
            ("stays", way.stays.is_some()),
        ] {
            if is {
                attributes.push((name, b.unit()));
            }
        }
        if let Some(lead) = way.aligned_by {
            attributes.push(("aligned_by", b.i64_attribute(lead as i64)));
        }
        if !way.staged.is_empty() {
            attributes.push(("staged", b.i64_array(&way.staged)));
            attributes.push(("row_vector", b.i64_attribute(way.row_vector)));
        }
        let (region, inner) = Detached::with_block(&self.region.arguments());
        b.with_regions(cute::BLOCK_MAP, &operands, &[], &attributes, vec![region])?;
        let l = Builder::at_end(b.context, inner, b.location);
        let elements = arguments_of(inner);
        let computed = self
            .region
            .compute(l, &elements, |place| argument(body, place))?;
        l.op(cute::YIELD, &computed, &[], &[])?;
        // What was reduced are the columns.
        for op in ops_of(inner) {
            if cute::AllReduce::of(op).is_some() {
                set_attribute(op, "along", b.i64_array(&[1]));
            }
        }
        Ok(())
    }
}
