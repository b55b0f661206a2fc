//! Sums of products in the regions of `cute.map` and `cute.block.fuse`: which there are, and along which modes values differ. The
//! verifier, `cute-tile` and `cute-partition` read it here.

use crate::{
    maps::{kind_of, modes_of, reductions},
    mlir::*,
    ops::{arith, cute},
    types::{self, MemRef},
};
use cute_arith::ReduceOp;
use cute_layout::{Layout, Leaf};
use melior::ir::ValueLike;
use std::collections::{BTreeSet, HashMap};

/// Modes of the tensors of a map.
pub type Modes = BTreeSet<usize>;

/// The modes along which each value of a region differs.
#[derive(Clone, Debug, Default)]
pub struct Dependences(HashMap<ValueKey, Modes>);

impl Dependences {
    /// The dependences of the values of a region whose arguments are elements of these tensors: an element differs along modes
    /// with a stride that is not 0, whatever their extent, and a reduction along all modes of its value but its own.
    pub fn of(block: Blk<'_>, inputs: &[MemRef<'_>]) -> Self {
        let mut all = Self::default();
        for (argument, input) in arguments_of(block).into_iter().zip(inputs) {
            let modes = 0..input.layout.rank();
            let own = modes.filter(|mode| steps_along(&input.layout, *mode));
            all.0.insert(key(argument), own.collect());
        }
        for op in ops_of(block) {
            let mut modes = Modes::new();
            for value in values_used_by(op) {
                modes.extend(all.modes(value));
            }
            if let Some(reduce) = cute::AllReduce::of(op) {
                for mode in modes_of(&reduce) {
                    modes.retain(|own| usize::try_from(mode) != Ok(*own));
                }
            }
            for result in results_of(op) {
                all.0.insert(key(result), modes.clone());
            }
        }
        all
    }

    /// The same with the modes by other names; those without one are left out.
    #[must_use]
    pub fn renamed(&self, name: impl Fn(usize) -> Option<usize>) -> Self {
        let modes = |modes: &Modes| modes.iter().filter_map(|mode| name(*mode)).collect();
        let all = self.0.iter().map(|(value, own)| (*value, modes(own)));
        Self(all.collect())
    }

    /// The modes along which a value differs; none of a value from outside the region.
    pub fn modes(&self, value: Val<'_>) -> Modes {
        self.0.get(&key(value)).cloned().unwrap_or_default()
    }
}

/// Tells whether a mode of a layout has a stride that is not 0.
pub fn steps_along(layout: &Layout, mode: usize) -> bool {
    let leaves = layout.stride().get(mode).map(|stride| stride.leaves());
    leaves
        .into_iter()
        .flatten()
        .any(|stride| *stride != Leaf::Static(0))
}

/// A sum of products along a mode, of factors each of which differs along a mode of its own.
#[derive(Clone, Copy)]
pub struct Product<'c> {
    /// The reduction that sums.
    pub reduce: cute::AllReduce<'c>,
    /// The factors, as they are multiplied.
    pub factors: [Val<'c>; 2],
    /// The mode of the sum.
    pub along: usize,
}

impl<'c> Product<'c> {
    /// The sum of products that a reduction is; none where it is another reduction.
    pub fn of(reduce: cute::AllReduce<'c>, dependences: &Dependences) -> Option<Self> {
        let [along] = modes_of(&reduce)[..] else {
            return None;
        };
        let along = usize::try_from(along).ok()?;
        let times = defining_op(reduce.value()).filter(|op| name_of(*op) == arith::MULF)?;
        let [x, y] = operands_of(times)[..] else {
            return None;
        };
        let [of_x, of_y] = [x, y].map(|value| dependences.modes(value));
        let is_sum = kind_of(&reduce) == Some(ReduceOp::Add);
        let is_product = of_x.contains(&along)
            && of_y.contains(&along)
            && !of_x.is_subset(&of_y)
            && !of_y.is_subset(&of_x);
        (is_sum && is_product).then_some(Self {
            reduce,
            factors: [x, y],
            along,
        })
    }

    /// The factors before they were widened: numbers of one type of 16 bits, whose products f32 holds. Errors: a factor that
    /// is no such number.
    pub fn narrow(&self) -> Result<[Val<'c>; 2], String> {
        let narrow = self.factors.map(|factor| {
            let found = format!("found {}", described(factor));
            let widened = defining_op(factor)
                .filter(|op| name_of(*op) == arith::EXTF)
                .and_then(|op| operands_of(op).first().copied());
            widened.ok_or(found)
        });
        let expected = |found: String| {
            format!(
                "expected factors of a sum of products along mode {} that are f16 or bf16, widened to f32 by arith.extf, {found}",
                self.along
            )
        };
        let [x, y] = narrow;
        let (x, y) = (x.map_err(expected)?, y.map_err(expected)?);
        let is_half = types::element_bits(x.r#type()) == Some(16);
        let is_single = self.reduce.value().r#type().to_string() == "f32";
        if !is_half || !is_single || x.r#type() != y.r#type() {
            return Err(expected(format!(
                "found {} and {}, multiplied in {}",
                x.r#type(),
                y.r#type(),
                self.reduce.value().r#type()
            )));
        }
        Ok([x, y])
    }
}

/// The op that gives a value, in messages.
fn described(value: Val<'_>) -> String {
    let name = defining_op(value).map(|op| format!("'{}'", name_of(op)));
    let name = name.unwrap_or_else(|| "an element".to_owned());
    format!("{name} of {}", value.r#type())
}

/// Tells whether a region reduces along different modes, and has sums of products among that: what is computed so has no plain rows.
pub fn is_fused(block: Blk<'_>, inputs: &[MemRef<'_>]) -> bool {
    let modes: BTreeSet<Vec<i64>> = reductions(block).iter().map(modes_of).collect();
    modes.len() > 1 && !products(block, &Dependences::of(block, inputs)).is_empty()
}

/// The sums of products of a region, in its order.
pub fn products<'c>(block: Blk<'c>, dependences: &Dependences) -> Vec<Product<'c>> {
    let all = reductions(block).into_iter();
    all.filter_map(|reduce| Product::of(reduce, dependences))
        .collect()
}
