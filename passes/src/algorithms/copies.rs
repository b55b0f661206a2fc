//! Copies and prefetches of one thread.

use super::{Lower, WIDEST};
use cute_ir::ops::cute;
use cute_ir::{
    Failure,
    algorithm::{self, AtomSide, Predicate},
    args::{PrefetchArgs, ThreadCopy},
    mlir::*,
    types::{self, CuteType, Space},
};
use cute_layout::{IntTuple, Layout, Tile, int, tuple};
use melior::ir::ValueLike;

/// `((V,1),rest)` of an order `(V,rest)`.
fn as_partition(order: &Layout) -> cute_layout::Result<Layout> {
    let values = Layout::from_modes(&[order.mode(0)?, Layout::leaf(1, 0)?])?;
    Layout::from_modes(&[values, order.mode(1)?])
}

impl<'c> Lower<'c> {
    /// A copy by an atom: tensors `((V,R),...)` with the values in memory order, and a predicate for each atom; false where it
    /// is one already.
    pub(super) fn copy(&self, args: ThreadCopy<'c>) -> Result<bool, Failure> {
        let ThreadCopy {
            copy,
            source,
            destination,
            predicate: pred,
        } = args;
        let table = types::copy_row(copy.r#type())
            .ok_or_else(|| self.b.error("expected an atom or a tiled copy"))?;
        if pred.is_none() && is_auto(copy) {
            self.copy_vectors(source, destination, WIDEST)?;
            return Ok(true);
        }
        let (from, to) = (self.memref(source)?, self.memref(destination)?);
        let counts = [table.num_val_src(), table.num_val_dst()];
        let [count_from, count_to] = counts.map(|n| n.map_err(self.wrong()));
        let (count_from, count_to) = (count_from?, count_to?);
        let side = |layout: &Layout, count| {
            algorithm::atom_side("a tensor", layout, count).map_err(self.wrong())
        };
        let (src, dst) = (side(&from.layout, count_from)?, side(&to.layout, count_to)?);
        // What is in memory says in which order the values are taken.
        let by = if from.space != Space::Rmem {
            &src
        } else {
            &dst
        };
        let ordered = memory_order(by).map_err(self.wrong())?;
        let new_source = self.in_order(source, &src, count_from, ordered.as_ref())?;
        let new_destination = self.in_order(destination, &dst, count_to, ordered.as_ref())?;
        let new_pred = match pred {
            None => None,
            Some(pred) => {
                let kind = algorithm::predicate(&self.memref(pred)?, &src, &table)
                    .map_err(self.wrong())?;
                Some(match kind {
                    Predicate::Each => self.for_each_atom(pred, &src)?,
                    Predicate::At(coord) => self.slice(pred, &coord, &[])?,
                })
            }
        };
        let old = (source, destination, pred).map_keys();
        if (new_source, new_destination, new_pred).map_keys() == old {
            return Ok(false);
        }
        let new = ThreadCopy {
            copy,
            source: new_source,
            destination: new_destination,
            predicate: new_pred,
        };
        self.b.copy(&new.operands())?;
        Ok(true)
    }

    /// A predicate that has a mode for each of the copy's, or for each but the first of size 1.
    fn for_each_atom(&self, pred: Val<'c>, side: &AtomSide) -> Result<Val<'c>, Failure> {
        let found = self.memref(pred)?.layout;
        let rank = side.extents.len().max(1);
        if found.rank() == rank + 1 {
            let kept = std::iter::repeat_n(IntTuple::underscore(), rank);
            return self.slice(pred, &tuple(std::iter::once(int(0)).chain(kept)), &[]);
        }
        Ok(pred)
    }

    fn in_order(
        &self,
        tensor: Val<'c>,
        side: &AtomSide,
        count: i64,
        order: Option<&Layout>,
    ) -> Result<Val<'c>, Failure> {
        let rank = self.memref(tensor)?.layout.rank();
        let partitioned = side.extents.len() == rank;
        let order = match order {
            Some(order) => order.clone(),
            None if partitioned => return Ok(tensor),
            None => Layout::leaf(count, 1).map_err(self.wrong())?,
        };
        let whole = std::iter::repeat_n(Tile::Underscore, rank - 1);
        let tile = Tile::Modes(std::iter::once(Tile::Layout(order)).chain(whole).collect());
        self.divided(tensor, tile)
    }

    /// Copies by the widest vectors that layouts, alignment and swizzles allow, of at most `most` bits.
    pub(super) fn copy_vectors(
        &self,
        source: Val<'c>,
        destination: Val<'c>,
        most: i64,
    ) -> Result<(), Failure> {
        let (from, to) = (self.memref(source)?, self.memref(destination)?);
        if from.space == Space::Rmem && to.space == Space::Rmem {
            return self.move_registers(source, destination);
        }
        let vectors = algorithm::vectors(&from, &to, most).map_err(self.wrong())?;
        self.copy_in_order(source, destination, &vectors.order, vectors.length)
    }

    /// Copies by vectors of `length` elements in an order `(vector, vectors)`.
    pub(super) fn copy_in_order(
        &self,
        source: Val<'c>,
        destination: Val<'c>,
        order: &Layout,
        length: i64,
    ) -> Result<(), Failure> {
        let order = as_partition(order).map_err(self.wrong())?;
        let source = self.ordered(source, &order)?;
        let destination = self.ordered(destination, &order)?;
        self.copy_partitions(source, destination, length, None)
    }

    /// Partitions `((length,1),...)`, by the universal atom of that length.
    pub(super) fn copy_partitions(
        &self,
        source: Val<'c>,
        destination: Val<'c>,
        length: i64,
        pred: Option<Val<'c>>,
    ) -> Result<(), Failure> {
        let element = self.memref(source)?.element;
        let bits = types::element_bits(element).unwrap_or(8);
        let copy = ThreadCopy {
            copy: self.universal(element, bits * length)?,
            source,
            destination,
            predicate: pred,
        };
        self.b.copy(&copy.operands())?;
        Ok(())
    }

    /// Copies from registers to registers.
    fn move_registers(&self, source: Val<'c>, destination: Val<'c>) -> Result<(), Failure> {
        let value = self.b.infer(cute::MEMREF_LOAD_VEC, &[source], &[])?;
        self.b
            .op(cute::MEMREF_STORE_VEC, &[value, destination], &[], &[])?;
        Ok(())
    }

    /// Element by element, each where its predicate holds.
    pub(super) fn copy_elements(
        &self,
        source: Val<'c>,
        destination: Val<'c>,
        pred: Option<Val<'c>>,
    ) -> Result<bool, Failure> {
        let (from, to) = (self.memref(source)?, self.memref(destination)?);
        if from.space == Space::Rmem && to.space == Space::Rmem && pred.is_none() {
            self.move_registers(source, destination)?;
            return Ok(true);
        }
        let size = algorithm::common_size(&from, &to).map_err(self.wrong())?;
        let one = || Layout::leaf(1, 0);
        let whole = Layout::leaf(size, 1).map_err(self.wrong())?;
        // A mode of its own, also where what is ordered is nested.
        let each = one().and_then(|v| Layout::from_modes(&[v, whole]));
        let each = each.map_err(self.wrong())?;
        let order = as_partition(&each).map_err(self.wrong())?;
        let source = self.ordered(source, &order)?;
        let destination = self.ordered(destination, &order)?;
        let pred = pred.map(|pred| self.ordered(pred, &each)).transpose()?;
        self.copy_partitions(source, destination, 1, pred)?;
        Ok(true)
    }

    /// One request for each run of bytes; false where the tensor is one.
    pub(super) fn prefetch(&self, op: Op<'c>, args: PrefetchArgs<'c>) -> Result<bool, Failure> {
        let memref = self.memref(args.source)?;
        let order = algorithm::runs(&memref, algorithm::PREFETCHED).map_err(self.wrong())?;
        let count = order
            .mode(1)
            .and_then(|rest| rest.size())
            .map_err(self.wrong())?;
        if count == 1 && args.atom.is_none() {
            return Ok(false);
        }
        self.check_count("requests", count, &memref.layout)?;
        let level = attribute_of(op, "level");
        let attributes: Vec<_> = level.iter().map(|level| ("level", *level)).collect();
        let runs = self.ordered(args.source, &order)?;
        for i in 0..count {
            let run = self.at_last(runs, 2, i)?;
            self.b.op(cute::PREFETCH, &[run], &[], &attributes)?;
        }
        Ok(true)
    }

    /// Fills what is in memory from a vector that holds one value `length` times: `value` makes it.
    pub(super) fn store_everywhere(
        &self,
        tensor: Val<'c>,
        value: impl FnOnce(Val<'c>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let memref = self.memref(tensor)?;
        let vectors = algorithm::vectors(&memref, &memref, WIDEST).map_err(self.wrong())?;
        let order = as_partition(&vectors.order).map_err(self.wrong())?;
        let destination = self.ordered(tensor, &order)?;
        let registers = self.registers(memref.element, &tuple([int(vectors.length)]))?;
        value(registers)?;
        // The one vector, as often as there are places for it.
        let rest = order.mode(1).map_err(self.wrong())?;
        let repeated = Layout::new(
            tuple([
                tuple([int(vectors.length), int(1)]),
                int(rest.size().map_err(self.wrong())?),
            ]),
            tuple([tuple([int(1), int(0)]), int(0)]),
        )
        .map_err(self.wrong())?;
        let iter = self.b.infer(cute::GET_ITER, &[registers], &[])?;
        let layout = self
            .b
            .static_value(types::layout_type(self.b.context, &repeated))?;
        let ty = cute_ir::types::MemRef {
            layout: repeated,
            ..self.memref(registers)?
        };
        let ty = ty.to_type(self.b.location)?;
        let source = self.b.value(cute::MAKE_VIEW, &[iter, layout], ty, &[])?;
        self.copy_partitions(source, destination, vectors.length, None)
    }
}

/// Returns the layout by which values are taken in memory order, where that is not their own order.
fn memory_order(side: &AtomSide) -> Result<Option<Layout>, String> {
    let Some(flat) = side.values.flat() else {
        return Ok(None);
    };
    if flat.is_identity() {
        return Ok(None);
    }
    let inverse = side.values.right_inverse().map_err(|e| e.to_string())?;
    match inverse.size() {
        Ok(size) if size == flat.size() => Ok(Some(inverse)),
        // Registers in any order.
        _ => Ok(None),
    }
}

/// Tells whether it is an atom that is not tiled and copies as much at once as it can.
fn is_auto(atom: Val<'_>) -> bool {
    matches!(
        CuteType::get(atom.r#type()),
        Some(CuteType::CopyAtom { atom, .. }) if atom.is_auto_vectorizing()
    )
}

/// The keys that tell values apart.
trait Keys {
    fn map_keys(&self) -> (ValueKey, ValueKey, Option<ValueKey>);
}

impl Keys for (Val<'_>, Val<'_>, Option<Val<'_>>) {
    fn map_keys(&self) -> (ValueKey, ValueKey, Option<ValueKey>) {
        (key(self.0), key(self.1), self.2.map(key))
    }
}
