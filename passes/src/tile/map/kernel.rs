//! The kernel of a map: which rows and columns a block computes.

use super::{Arrangement, Map};
use crate::tile::{function::Kernel, leaves::with_layout};
use cute_ir::ops::{arith, cute, gpu};
use cute_ir::{Expected, Failure, mlir::*};
use cute_layout::{Dyn, IntTuple, Leaf, int, tuple};
use melior::ir::ValueLike;

impl<'c> Map<'c> {
    /// Writes a kernel.
    pub(super) fn kernel(
        &self,
        place: Builder<'c>,
        name: &str,
        way: &Arrangement,
    ) -> Result<(), Failure> {
        let mut arguments: Vec<_> = self.arguments.iter().map(|v| v.r#type()).collect();
        let counted = self.counted_by_launch(way);
        arguments.extend(counted.iter().map(|_| place.i32_type()));
        let mut attributes = Vec::new();
        if self.reads_apart(way) {
            // LLVM makes no vectors of loads then, which would read what lies between elements or behind the last.
            let attribute = place.attribute("[\"noimplicitfloat\"]")?;
            attributes.push(("passthrough", attribute));
        }
        let kernel = Kernel {
            name,
            arguments,
            threads: way.threads[0] * way.threads[1],
            blocks: self.known_blocks(way),
            attributes,
        };
        kernel.write(place, |b, body| self.body(b, body, way))
    }

    fn body(&self, b: Builder<'c>, body: Blk<'c>, way: &Arrangement) -> Result<(), Failure> {
        let word = b.i32_type();
        let dimension = [("dimension", b.attribute("#gpu<dim x>")?)];
        let block = b.value(gpu::BLOCK_ID, &[], b.index_type(), &dimension)?;
        let mut block = b.value(arith::INDEX_CAST, &[block], word, &[])?;
        // Neighbouring blocks are neighbours along columns.
        let tiles = |axis: usize| match self.known_tiles(way, axis) {
            Some(known) => b.i32(known),
            None => {
                let counted = self.counted_by_launch(way);
                let place = counted.iter().position(|other| *other == axis);
                let place = place.expected(b, "an axis that the launch counts")?;
                Ok(argument(body, self.arguments.len() + place))
            }
        };
        let mut column = None;
        if self.known_tiles(way, 1) != Some(1) {
            let parts = tiles(1)?;
            let part = b.value(arith::REMUI, &[block, parts], word, &[])?;
            block = b.value(arith::DIVUI, &[block, parts], word, &[])?;
            let each = b.i32(way.tile(1))?;
            column = Some(b.value(arith::MULI, &[part, each], word, &[])?);
        }
        let mut part = None;
        if self.is_batched() {
            let rows = tiles(0)?;
            part = Some(b.value(arith::DIVUI, &[block, rows], word, &[])?);
            block = b.value(arith::REMUI, &[block, rows], word, &[])?;
        }
        if let (Some(columns), Some(part)) = (self.ranges, part) {
            column = Some(b.value(arith::MULI, &[part, b.i32(columns)?], word, &[])?);
        }
        let each = b.i32(way.threads[0])?;
        let row = b.value(arith::MULI, &[block, each], word, &[])?;
        let multiple = |of: i64| {
            IntTuple::Leaf(Leaf::Dynamic(Dyn {
                div: of,
                ..Dyn::I32
            }))
        };
        let first = tuple([
            multiple(way.threads[0]),
            column.map_or(int(0), |_| multiple(self.ranges.unwrap_or(way.tile(1)))),
        ]);
        let leaves: Vec<_> = std::iter::once(row).chain(column).collect();
        let at = b.coord(&first, &leaves)?;
        let mut tensors = Vec::new();
        for (whole, layout) in self.tensors.iter().zip(&way.layouts) {
            let tensor = whole.in_kernel(b, body)?;
            let mut tensor = match self.is_in_order() && *layout == whole.memref.layout {
                true => tensor,
                false if layout.is_static() => with_layout(b, tensor, layout, [&[], &[]])?,
                false => {
                    let [shape, stride] = whole.open_leaves(b, tensor, &self.modes)?;
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
        for (name, is) in [("by_rows", way.by_rows), ("held", way.held)] {
            if is {
                attributes.push((name, b.unit()));
            }
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
