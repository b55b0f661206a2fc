//! Numbers of a thread's rows, and reductions along columns.
//!
//! A thread has, of an atom's 16 rows and 8 columns of sums, two neighbours in each of two rows, 8 apart, and four neighbouring threads have a row
//! between them.

use super::{Fuse, SHARING, values::Values};
use crate::{
    algorithms::operation,
    arch::WARP,
    fused::{COLUMNS, Domain, ROWS, Reduced},
    partition::wrong,
    plan::ATOM_ROWS,
};
use cute_arith::{Predicate, ReduceOp};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, cute, gpu, scf, vector},
};
use cute_layout::{IntTuple, Layout, int, tuple};
use melior::ir::{Type, ValueLike};

/// Rows of a thread in an atom.
const OF_ATOM: i64 = 2;

/// The modes of accumulators of such atoms: neighbours, rows, atoms along rows and along columns, each an extent and a stride.
fn modes(fragment: &Layout) -> Option<[(i64, i64); 4]> {
    let flat = fragment.flat()?;
    let modes: Vec<_> = flat.modes().iter().map(|mode| (mode.0, mode.1)).collect();
    let shape = fragment.shape();
    let is_atom = shape.rank() == 3 && shape.get(0).is_some_and(|atom| atom.rank() == 2);
    let [pair, rows, m, n] = modes[..] else {
        return None;
    };
    (is_atom && pair == (2, 1) && rows == (OF_ATOM, 2)).then_some([pair, rows, m, n])
}

/// The layout of numbers of the rows of accumulators; none of accumulators of other atoms.
pub(super) fn of_fragment(fragment: &Layout) -> Option<Layout> {
    let [_, (rows, _), (atoms, _), _] = modes(fragment)?;
    Layout::col_major(&tuple([int(rows), int(atoms)])).ok()
}

/// The layout in which numbers of rows are seen as accumulators of that layout.
pub(super) fn repeated(fragment: &Layout) -> Option<Layout> {
    let [_, (rows, _), (atoms, _), _] = modes(fragment)?;
    let of_atoms = if atoms == 1 { 0 } else { rows };
    let stride = tuple([tuple([int(0), int(1)]), int(of_atoms), int(0)]);
    Layout::new(fragment.shape().clone(), stride).ok()
}

/// The layout in which accumulators are seen as the first factor of a product along their columns, of atoms of 16 columns.
pub(super) fn as_factor(fragment: &Layout) -> Option<Layout> {
    let [pair, rows, (m, of_m), (n, of_n)] = modes(fragment)?;
    if n % 2 != 0 {
        return None;
    }
    let atom = tuple([int(pair.0), int(rows.0), int(2)]);
    let within = tuple([int(pair.1), int(rows.1), int(of_n)]);
    let shape = tuple([atom, int(m), int(n / 2)]);
    let stride = tuple([within, int(of_m), int(2 * of_n)]);
    Layout::new(shape, stride).ok()
}

impl<'c> Fuse<'c> {
    /// The indices of the thread's rows, and which of them are there.
    pub(super) fn own_rows(
        &self,
        b: Builder<'c>,
    ) -> Result<Vec<(Val<'c>, Option<Val<'c>>)>, Failure> {
        let word =
            |name: &str, x: Val<'c>, y: i64| b.value(name, &[x, b.i32(y)?], b.i32_type(), &[]);
        let add = |x: Val<'c>, y: Val<'c>| b.value(arith::ADDI, &[x, y], b.i32_type(), &[]);
        let of_warp = word(arith::DIVUI, self.thread, WARP)?;
        let of_warp = word(arith::MULI, of_warp, ATOM_ROWS)?;
        let lane = word(arith::REMUI, self.thread, WARP)?;
        let lane = word(arith::DIVUI, lane, SHARING)?;
        let first = word(arith::MULI, self.at[0], self.tile[ROWS])?;
        let first = add(add(first, of_warp)?, lane)?;
        let last = word(arith::SUBI, self.extents[ROWS], 1)?;
        let mut rows = Vec::new();
        for at in 0..OF_ATOM {
            let row = word(arith::ADDI, first, at * (ATOM_ROWS / OF_ATOM))?;
            rows.push(match self.ragged(ROWS) {
                true => {
                    let there = b.compare(Predicate::Slt, row, self.extents[ROWS])?;
                    let row = b.value(arith::MINSI, &[row, last], b.i32_type(), &[])?;
                    (row, Some(there))
                }
                false => (row, None),
            });
        }
        Ok(rows)
    }

    /// A number for each of the thread's rows, of a tensor in global memory.
    pub(super) fn load_rows(
        &self,
        b: Builder<'c>,
        tensor: Val<'c>,
        element: Type<'c>,
    ) -> Result<Val<'c>, Failure> {
        let registers = self.allocate(b, element, Domain::Rows)?;
        for (at, (row, _)) in self.rows.iter().enumerate() {
            let number = b.value(cute::MEMREF_LOAD, &[tensor, place(b, *row)?], element, &[])?;
            let at = super::coordinate(b, int(at as i64), &[])?;
            b.op(cute::MEMREF_STORE, &[registers, at, number], &[], &[])?;
        }
        Ok(registers)
    }

    /// Stores a number for each of the thread's rows, by the first of the threads that share them.
    pub(super) fn store_rows(
        &self,
        b: Builder<'c>,
        tensor: Val<'c>,
        registers: Val<'c>,
    ) -> Result<(), Failure> {
        let first = self.is_first(b)?;
        let element = cute_ir::types::memref_of(registers)
            .expected(b, "registers")?
            .element;
        for (at, (row, there)) in self.rows.iter().enumerate() {
            let at = super::coordinate(b, int(at as i64), &[])?;
            let number = b.value(cute::MEMREF_LOAD, &[registers, at], element, &[])?;
            let writes = match there {
                Some(there) => b.value(arith::ANDI, &[first, *there], first.r#type(), &[])?,
                None => first,
            };
            let (region, block) = Detached::with_block(&[]);
            let regions = vec![region, Detached::empty()];
            b.with_regions(scf::IF, &[writes], &[], &[], regions)?;
            let l = Builder::at_end(b.context, block, b.location);
            l.op(
                cute::MEMREF_STORE,
                &[tensor, place(l, *row)?, number],
                &[],
                &[],
            )?;
            l.op(scf::YIELD, &[], &[], &[])?;
        }
        Ok(())
    }

    /// The numbers that a thread's elements of its rows are reduced to, of a tile of columns.
    pub(super) fn partial(
        &self,
        b: Builder<'c>,
        reduced: &Reduced<'c>,
        column: Val<'c>,
        values: &mut Values<'c>,
    ) -> Result<Val<'c>, Failure> {
        let value = reduced.reduce.value();
        let is_ragged = self.ragged(COLUMNS) && !reduced.vanishes;
        let else_ = match is_ragged {
            true => Some((column, self.neutral(b, reduced.kind)?)),
            false => None,
        };
        let elements = self.compute(b, value, Domain::Columns, values, else_)?;
        let is_of_columns = self.fused.domain(value) == Domain::Columns;
        if is_ragged && is_of_columns && reduced.kind == ReduceOp::Maximum {
            // Powers of what is not there are 0 then.
            values
                .registers
                .insert(key(value), (Domain::Columns, elements));
        }
        self.along(b, elements, reduced.kind)
    }

    /// The numbers that the elements of a thread's rows are reduced to.
    pub(super) fn along(
        &self,
        b: Builder<'c>,
        elements: Val<'c>,
        kind: ReduceOp,
    ) -> Result<Val<'c>, Failure> {
        let ty = b.ty("f32")?;
        let result = self.allocate(b, ty, Domain::Rows)?;
        let name = [(
            "kind",
            b.attribute(&format!("#vector.kind<{}>", name_of(kind)))?,
        )];
        for at in 0..self.rows.len() as i64 {
            let keep = IntTuple::underscore;
            let row = tuple([tuple([keep(), int(at)]), int(0), keep()]);
            let row = super::coordinate(b, row, &[])?;
            let row = b.infer(cute::SLICE, &[elements, row], &[])?;
            let row = b.infer(cute::MEMREF_LOAD_VEC, &[row], &[])?;
            let number = b.value(vector::REDUCTION, &[row], ty, &name)?;
            let at = super::coordinate(b, int(at), &[])?;
            b.op(cute::MEMREF_STORE, &[result, at, number], &[], &[])?;
        }
        Ok(result)
    }

    /// Numbers of rows, of which each thread has a part, as all threads that share a row have them together.
    pub(super) fn across(
        &self,
        b: Builder<'c>,
        parts: Val<'c>,
        kind: ReduceOp,
    ) -> Result<Val<'c>, Failure> {
        let ty = b.ty("f32")?;
        let result = self.allocate(b, ty, Domain::Rows)?;
        let attributes = [
            (
                "op",
                b.attribute(&format!("#gpu<all_reduce_op {}>", name_of(kind)))?,
            ),
            ("cluster_size", b.integer(b.i32_type(), SHARING)),
        ];
        for at in 0..self.rows.len() as i64 {
            let at = super::coordinate(b, int(at), &[])?;
            let part = b.value(cute::MEMREF_LOAD, &[parts, at], ty, &[])?;
            let number = b.value(gpu::SUBGROUP_REDUCE, &[part], ty, &attributes)?;
            b.op(cute::MEMREF_STORE, &[result, at, number], &[], &[])?;
        }
        Ok(result)
    }

    /// A reduction of all columns as the region has it: a mean is divided by their number.
    pub(super) fn finished(
        &self,
        b: Builder<'c>,
        reduced: &Reduced<'c>,
        whole: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        if reduced.kind != ReduceOp::Mean {
            return Ok(whole);
        }
        let ty = b.ty("f32")?;
        let columns = b.value(arith::SITOFP, &[self.extents[1]], ty, &[])?;
        let result = self.allocate(b, ty, Domain::Rows)?;
        self.transform(b, &[whole], result, |l, row| {
            l.value(arith::DIVF, &[row[0], columns], ty, &[])
        })?;
        Ok(result)
    }

    /// The number that changes no reduction of that kind.
    pub(super) fn neutral(&self, b: Builder<'c>, kind: ReduceOp) -> Result<Val<'c>, Failure> {
        let text = match kind {
            ReduceOp::Add | ReduceOp::Mean => "0.0 : f32",
            ReduceOp::Maximum => "0xFF800000 : f32",
            ReduceOp::Minimum => "0x7F800000 : f32",
        };
        let value = b.attribute(text)?;
        b.value(arith::CONSTANT, &[], b.ty("f32")?, &[("value", value)])
    }

    /// Two parts of a reduction as one.
    pub(super) fn combined(
        &self,
        b: Builder<'c>,
        kind: ReduceOp,
        [one, other]: [Val<'c>; 2],
    ) -> Result<Val<'c>, Failure> {
        let ty = one.r#type();
        let name = operation(name_of(kind), ty).expected(b, "a known reduction")?;
        b.value(name, &[one, other], ty, &[])
    }
}

/// The name of a reduction of floating-point numbers among MLIR's kinds.
fn name_of(kind: ReduceOp) -> &'static str {
    match kind {
        ReduceOp::Add | ReduceOp::Mean => "add",
        ReduceOp::Maximum => "maximumf",
        ReduceOp::Minimum => "minimumf",
    }
}

/// The place of a row's number in a tensor of a block.
fn place<'c>(b: Builder<'c>, row: Val<'c>) -> Result<Val<'c>, Failure> {
    b.coord(
        &tuple([IntTuple::dynamic(), int(0), int(0), int(0)]),
        &[row],
    )
    .map_err(|_| wrong(b)("expected a row"))
}
