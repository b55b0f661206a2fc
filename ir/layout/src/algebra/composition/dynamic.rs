//! Composition where leaves are dynamic: the form that CuTe IR infers, and the conditions under which it is the function.
//!
//! A leaf `r:d` of the right side walks the modes `c` of the left side, taking `min(ceil(c/d), r)` of each. That is right
//! where the values stay inside the mode (`(r-1)*d < c`), step over it whole (`c | d`), or fill it (`d | c`), and where what
//! was taken divides `r`. The leaves' sum is right where no digit carries. What is known decides at once; what is traced
//! becomes a check.

use smallvec::SmallVec;

use super::{OP, Pieces, Side, Used};
use crate::algebra::coalesce::coalesce_leaves;
use crate::error::{LayoutError, Result};
use crate::leaf::{Leaf, Truth, require};

/// The pieces of `i -> A(i*d)`, `0 <= i < r`, and the largest digit of each mode but the last.
pub(super) fn divide(
    r: &Leaf,
    d: &Leaf,
    side: &Side,
    wrong: &dyn Fn(String) -> LayoutError,
) -> Result<(Pieces, SmallVec<[Leaf; 8]>)> {
    let one = Leaf::Static(1);
    let modes = &side.modes;
    let last = modes.len() - 1;
    let sign = d.signum()?;
    let (mut r, mut d, mut signed) = (r.clone(), d.abs()?, d.clone());
    let mut pieces = Pieces::new();
    let mut digits: SmallVec<[Leaf; 8]> = SmallVec::from_elem(Leaf::Static(0), last);
    for (k, (c, stride)) in modes[..last].iter().enumerate() {
        let step = d.max(&one)?;
        let reach = c.ceil_div(&step)?;
        let next = d.ceil_div(c)?;
        if reach.is(1) || r.is(1) {
            if !r.is(1) {
                require(&d.divisible_by(c)?, || {
                    wrong(format!("a step of {d} over the mode {c}:{stride}"))
                })?;
            }
            signed = next.mul(&sign)?;
            d = next;
            continue;
        }
        let taken = reach.min(&r)?;
        let exact = exact(&r, &d, &step, c, &taken)?;
        require(&exact, || {
            wrong(format!("{r} steps of {d} in the mode {c}:{stride}"))
        })?;
        pieces.push((taken.clone(), stride.mul(&signed)?));
        digits[k] = taken.sub(&one)?.mul(&d)?;
        r = r.div(&taken)?;
        signed = next.mul(&sign)?;
        d = next;
    }
    if pieces.is_empty() || !r.is(1) {
        pieces.push((r, modes[last].1.mul(&signed)?));
    }
    let pieces = if pieces.len() > 1 {
        coalesce_leaves(pieces)?
    } else {
        pieces
    };
    Ok((pieces, digits))
}

/// Tells whether taking `taken` of the `r` steps of `d` from the mode of extent `c` is right; `step` is `max(d, 1)`.
fn exact(r: &Leaf, d: &Leaf, step: &Leaf, c: &Leaf, taken: &Leaf) -> Result<Truth> {
    let inside = r.sub(&Leaf::Static(1))?.mul(d)?.less(c)?;
    let whole = d.divisible_by(c)?;
    let fills = c.divisible_by(step)?;
    Ok(inside.or(&whole).or(&fills).and(&r.divisible_by(taken)?))
}

/// The condition that adding the leaves carries in no mode: their largest digits stay below the extent, and no two strides
/// have different signs.
pub(super) fn carries_nowhere(side: &Side, used: &[(usize, &Used)]) -> Result<Truth> {
    let zero = Leaf::Static(0);
    let (mut up, mut down, mut all) = (Truth::Known(true), Truth::Known(true), Truth::Known(true));
    for (_, u) in used {
        up = up.and(&zero.at_most(&u.stride)?);
        down = down.and(&u.stride.at_most(&zero)?);
    }
    for (k, (extent, _)) in side.modes[..side.modes.len() - 1].iter().enumerate() {
        let mut digits = used.iter().map(|(_, u)| &u.digits[k]).filter(|d| !d.is(0));
        let (Some(first), Some(second)) = (digits.next(), digits.next()) else {
            continue;
        };
        let sum = digits.try_fold(first.add(second)?, |sum, d| sum.add(d))?;
        all = all.and(&sum.less(extent)?);
    }
    Ok(all.and(&up.or(&down)))
}

pub(super) fn depends(lhs: &str, rhs: &str, on: String) -> LayoutError {
    LayoutError::Divisibility {
        op: OP,
        expected: format!("{lhs} o {rhs} to be a layout"),
        found: format!("that {on} neither stay inside it, nor step over it whole, nor fill it"),
        cure: "choose sizes and strides that divide the left side's modes".to_string(),
    }
}
