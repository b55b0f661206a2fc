//! The modes of a map with sums of products: which are rows and columns of a block, which it sums along, and which are a batch.

use super::choice::MOST_DEPTH;
use cute_ir::{
    fused::{Dependences, Modes, Product, products},
    maps::{modes_of, reductions},
    mlir::*,
    types::MemRef,
};
use cute_layout::{IntTuple, Leaf};

/// The modes of a block, each by its place among those of the tensors, and the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Roles {
    /// Rows, columns, the mode of sums of products of both, and columns of products along columns, where there are such.
    pub(super) block: [Option<usize>; 4],
    /// The modes of which each index is computed apart.
    pub(super) batch: Vec<usize>,
}

impl Roles {
    /// The mode of a block that each mode of the tensors is.
    pub(super) fn names(&self, rank: usize) -> Vec<Option<usize>> {
        let name = |mode| self.block.iter().position(|own| *own == Some(mode));
        (0..rank).map(name).collect()
    }

    /// The roles of the modes of a region on tensors. Errors: modes that have no role, or several.
    pub(super) fn of(
        body: Blk<'_>,
        inputs: &[MemRef<'_>],
        outputs: &[MemRef<'_>],
    ) -> Result<Self, String> {
        let dependences = Dependences::of(body, inputs);
        let all = products(body, &dependences);
        let is_element = |value: Val<'_>| {
            let widened = defining_op(value).map(operands_of).unwrap_or_default();
            let [narrow] = widened[..] else { return false };
            block_argument(narrow).is_some_and(|(block, _)| block == body)
        };
        let (scores, others): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|product| product.factors.iter().all(|factor| is_element(*factor)));
        let inner = scores.first().ok_or(
            "expected a sum of products of elements as they are stored, widened by arith.extf, found factors that are computed; compute \
             them by another cute.map before",
        )?;
        let inner = inner.along;
        if let Some(other) = scores.iter().find(|product| product.along != inner) {
            return Err(format!(
                "expected products of elements summed along one mode, found modes {inner} and {}; write them as several maps",
                other.along
            ));
        }
        let reduced: Modes = reductions(body)
            .iter()
            .flat_map(modes_of)
            .filter_map(|mode| usize::try_from(mode).ok())
            .collect();
        // The factors of products along columns that are stored.
        let stored: Vec<Modes> = others
            .iter()
            .flat_map(|product| product.factors)
            .filter(|factor| is_element(*factor))
            .map(|factor| dependences.modes(factor))
            .collect();
        let sides = Sides {
            reduced: &reduced,
            others: &others,
            stored: &stored,
            outputs,
        };
        let [columns, rows] = sides.of(&scores, &dependences)?;
        if let Some(product) = others.iter().find(|product| product.along != columns) {
            return Err(format!(
                "expected products of computed factors to be summed along mode {columns}, columns of the first products, found mode {}",
                product.along
            ));
        }
        // Of the modes that only stored factors have, one is columns, which a block holds all of: neighbours, of which there are not too many.
        let mut outer: Option<Modes> = None;
        for modes in &stored {
            let of_scores = |mode: &usize| *mode == rows || is_batch(*mode, &scores, &dependences);
            let own: Modes = modes
                .iter()
                .copied()
                .filter(|mode| !of_scores(mode))
                .collect();
            outer = Some(outer.map_or(own.clone(), |outer| &outer & &own));
        }
        let outer = outer.unwrap_or_default().into_iter();
        let outer = outer.max_by_key(|mode| {
            let is_held = sides
                .extent(*mode)
                .is_some_and(|extent| extent <= MOST_DEPTH);
            (is_held, sides.is_next(*mode), *mode)
        });
        if outer.is_none() && !others.is_empty() {
            return Err(
                "expected products of computed factors with stored ones that all have one more mode; write them as several maps"
                    .to_owned(),
            );
        }
        let block = [Some(rows), Some(columns), Some(inner), outer];
        let rank = outputs.first().map_or(0, |output| output.layout.rank());
        let batch: Vec<usize> = (0..rank)
            .filter(|mode| !block.contains(&Some(*mode)))
            .collect();
        if let Some(mode) = batch.iter().find(|mode| reduced.contains(mode)) {
            return Err(format!(
                "reduces along mode {mode}, of which each index is computed apart, beside sums of products; expected reductions along \
                 columns, mode {columns}: write the others as a map of their own"
            ));
        }
        if reduced.contains(&rows) {
            return Err(format!(
                "reduces along rows, mode {rows}, as well as along columns, mode {columns}, beside sums of products; write one of them as a map of its own"
            ));
        }
        Ok(Self { block, batch })
    }
}

/// Tells whether the factors of products along K differ along a mode.
fn is_batch(mode: usize, scores: &[Product<'_>], dependences: &Dependences) -> bool {
    let mut factors = scores.iter().flat_map(|product| product.factors);
    factors.any(|factor| dependences.modes(factor).contains(&mode))
}

/// The properties that tell columns from rows.
struct Sides<'a, 'c> {
    /// The modes that something is reduced along.
    reduced: &'a Modes,
    /// The products of computed factors.
    others: &'a [Product<'c>],
    /// The modes of their stored factors.
    stored: &'a [Modes],
    outputs: &'a [MemRef<'c>],
}

impl Sides<'_, '_> {
    /// The extent of a mode, where it is known.
    fn extent(&self, mode: usize) -> Option<i64> {
        let mut extents = self.outputs.iter().filter_map(|output| {
            let mode = output.layout.mode(mode).ok()?;
            mode.shape().is_static().then(|| mode.size().ok())?
        });
        extents.next()
    }

    /// Tells whether neighbours of the last output lie along a mode.
    fn is_next(&self, mode: usize) -> bool {
        let last = self.outputs.last();
        let stride = last.and_then(|output| output.layout.stride().get(mode));
        stride.and_then(IntTuple::as_leaf) == Some(&Leaf::Static(1))
    }

    /// The columns and the rows of products along K: along columns something is reduced, or neighbours of the outputs lie.
    fn of(&self, scores: &[Product<'_>], dependences: &Dependences) -> Result<[usize; 2], String> {
        // The modes that one factor has and the other has not.
        let mut own: Option<[Modes; 2]> = None;
        for product in scores {
            let [x, y] = product.factors.map(|factor| dependences.modes(factor));
            let mut found = [&x - &y, &y - &x];
            if let Some([one, other]) = &own {
                if one.is_disjoint(&found[0]) {
                    found.reverse();
                }
                if one.is_disjoint(&found[0]) || other.is_disjoint(&found[1]) {
                    return Err(
                        "expected products along one mode with the same rows and the same columns; write them as several maps"
                            .to_owned(),
                    );
                }
                found = [&found[0] & one, &found[1] & other];
            }
            own = Some(found);
        }
        let own = own.unwrap_or_default();
        let is_column = |mode: &usize| {
            self.reduced.contains(mode) || self.others.iter().any(|product| product.along == *mode)
        };
        let side = |is: &dyn Fn(&usize) -> bool| own.iter().position(|modes| modes.iter().any(is));
        let is_next = |mode: &usize| self.is_next(*mode);
        let side = side(&is_column).or_else(|| side(&is_next)).unwrap_or(1);
        // The longest, and of several the last one; rows are none of what other stored factors differ along.
        let longest = |modes: &Modes, is: &dyn Fn(&usize) -> bool| {
            let modes = modes.iter().copied().filter(|mode| is(mode));
            modes.max_by_key(|mode| (self.extent(*mode).unwrap_or(i64::MAX), *mode))
        };
        let columns = longest(&own[side], &is_column)
            .or_else(|| longest(&own[side], &is_next))
            .or_else(|| longest(&own[side], &|_| true));
        let is_stored = |mode: &usize| self.stored.iter().any(|modes| modes.contains(mode));
        let rows = longest(&own[1 - side], &|mode| !is_stored(mode));
        match (columns, rows) {
            (Some(columns), Some(rows)) => Ok([columns, rows]),
            _ => Err("expected a sum of products with rows and columns".to_owned()),
        }
    }
}
