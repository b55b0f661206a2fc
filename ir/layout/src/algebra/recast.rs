//! The same bytes as elements of another width.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::{Leaf, require};
use crate::tuple::IntTuple;
use cute_arith::gcd;

type PerLeaf<'a> = &'a mut dyn FnMut(&Leaf, &Leaf) -> Result<(Leaf, Leaf)>;

impl Layout {
    /// Elements `n` times as wide: strides are divided, the contiguous mode shrinks.
    ///
    /// Errors: modes of stride below `n` that do not fill whole new elements, each narrow one once; other strides that are
    /// no multiples of `n`. Of what is dynamic the same is a condition of the result.
    pub fn upcast(&self, n: i64) -> Result<Layout> {
        check_whole(self, n)?;
        self.upcast_rounding(n)
    }

    /// Widens elements as [`Layout::upcast`] does, but rounds a contiguous extent up to one whole element, as CuTe does. For
    /// index arithmetic inside this crate, not for data.
    pub(crate) fn upcast_rounding(&self, n: i64) -> Result<Layout> {
        self.scale("upcast", n, &mut |s, d| up(self, s, d, n))
    }

    /// Elements `n` times as narrow: the contiguous mode grows, other strides are multiplied.
    ///
    /// Errors (unless `n` is 1): no mode of stride 1, or more than one with more than one element; a mode of stride -1. Where
    /// no stride is known to be 1 and one is dynamic, that it is 1 is a condition of the result.
    pub fn downcast(&self, n: i64) -> Result<Layout> {
        if n == 1 {
            return Ok(self.clone());
        }
        let (shape, stride) = (self.shape().leaves(), self.stride().leaves());
        let ones = || (0..shape.len()).filter(|&i| stride[i].is(1));
        let mut long = ones().filter(|&i| !shape[i].is(1));
        let grows = long.next().or_else(|| ones().next());
        let backwards = (0..shape.len()).any(|i| stride[i].is(-1) && !shape[i].is(1));
        let refused = || LayoutError::Divisibility {
            op: "downcast",
            expected: "adjacent elements: exactly one mode of stride 1".to_string(),
            found: self.to_string(),
            cure: "copy into a layout with one contiguous mode first".to_string(),
        };
        // The only stride that is not known has to be the 1.
        let grows = match grows {
            None => {
                let mut unknown = (0..shape.len()).filter(|&i| stride[i].as_static().is_none());
                let only = unknown.next().filter(|_| unknown.next().is_none());
                let only = only.filter(|&i| matches!(stride[i], Leaf::Dynamic(_)));
                if let Some(i) = only {
                    require(&stride[i].equals(&Leaf::Static(1))?, refused)?;
                }
                only
            }
            known => known,
        };
        let grows = grows
            .filter(|_| long.next().is_none() && !backwards)
            .ok_or_else(refused)?;
        let mut leaf = 0;
        self.scale("downcast", n, &mut |s, d| {
            let at = leaf;
            leaf += 1;
            let n = Leaf::Static(n);
            if at == grows {
                Ok((s.mul(&n)?, d.clone()))
            } else {
                Ok((s.clone(), d.mul(&n)?))
            }
        })
    }

    /// The layout in elements of `new_bits`, given one in elements of `old_bits`.
    pub fn recast(&self, old_bits: i64, new_bits: i64) -> Result<Layout> {
        check_widths(old_bits, new_bits)?;
        match ratio(old_bits, new_bits) {
            (1, 1) => Ok(self.clone()),
            (1, d) => self.downcast(d),
            (u, 1) => self.upcast(u),
            (u, d) => self.upcast(u)?.downcast(d),
        }
    }

    fn scale(&self, op: &'static str, n: i64, f: PerLeaf<'_>) -> Result<Layout> {
        fn walk(s: &IntTuple, d: &IntTuple, f: PerLeaf<'_>) -> Result<(IntTuple, IntTuple)> {
            match (s, d) {
                (IntTuple::Leaf(s), IntTuple::Leaf(d)) => {
                    let (s, d) = f(s, d)?;
                    Ok((IntTuple::Leaf(s), IntTuple::Leaf(d)))
                }
                _ => {
                    let pairs = s.modes().iter().zip(d.modes()).map(|(s, d)| walk(s, d, f));
                    let (s, d) = pairs.collect::<Result<Vec<_>>>()?.into_iter().unzip();
                    Ok((IntTuple::Tuple(s), IntTuple::Tuple(d)))
                }
            }
        }
        if n < 1 {
            return Err(LayoutError::Divisibility {
                op,
                expected: "a factor of at least 1".to_string(),
                found: n.to_string(),
                cure: "name the ratio of the wider element to the narrower".to_string(),
            });
        }
        let (s, d) = walk(self.shape(), self.stride(), f)?;
        Layout::new(s, d)
    }
}

/// The numbers by which strides are divided, and then multiplied, from elements of one width to another; both are positive.
pub(super) fn ratio(old_bits: i64, new_bits: i64) -> (i64, i64) {
    let common = gcd(old_bits, new_bits);
    (new_bits / common, old_bits / common)
}

/// Errors: a width in bits that is not positive.
pub(super) fn check_widths(old_bits: i64, new_bits: i64) -> Result<()> {
    if old_bits >= 1 && new_bits >= 1 {
        return Ok(());
    }
    Err(LayoutError::Divisibility {
        op: "recast",
        expected: "positive widths in bits".to_string(),
        found: format!("{old_bits} and {new_bits}"),
        cure: "name the widths of the element types".to_string(),
    })
}

fn refuse(whole: &Layout, expected: String) -> LayoutError {
    LayoutError::Divisibility {
        op: "upcast",
        expected,
        found: whole.to_string(),
        cure: "pad the layout, or keep the narrower element".to_string(),
    }
}

/// The modes of stride below `n`, by stride, must tile `0..n` (and may go on beyond); where there is none, each wide element
/// holds one narrow element at its start.
fn check_whole(l: &Layout, n: i64) -> Result<()> {
    if n < 2 {
        return Ok(());
    }
    let mut below: Vec<(i64, &Leaf)> = Vec::new();
    for (s, d) in l.shape().leaves().into_iter().zip(l.stride().leaves()) {
        match d {
            Leaf::Static(d) if *d != 0 && d.unsigned_abs() < n.unsigned_abs() && !s.is(1) => {
                below.push((*d, s))
            }
            _ => {}
        }
    }
    below.sort_by_key(|b| b.0);
    let mut run = 1i64;
    for (d, s) in &below {
        if *d != run {
            return Err(refuse(
                l,
                format!("modes that fill {n} elements, each once"),
            ));
        }
        let inside = s
            .as_static()
            .and_then(|s| s.checked_mul(*d))
            .filter(|reach| *reach <= n);
        run = match (inside, s) {
            (Some(reach), _) => reach,
            (None, Leaf::Dynamic(_)) => {
                require(&s.divisible_by(&Leaf::Static(n / d))?, || {
                    refuse(l, format!("a multiple of {} elements at stride {d}", n / d))
                })?;
                n
            }
            (None, Leaf::Static(v)) if v % (n / d) != 0 => 0,
            _ => n,
        };
        if run == 0 || n % run != 0 {
            return Err(refuse(
                l,
                format!("a multiple of {} elements at stride {d}", n / d),
            ));
        }
    }
    if below.is_empty() || run == n {
        Ok(())
    } else {
        Err(refuse(l, format!("modes that fill {n} elements")))
    }
}

fn up(whole: &Layout, s: &Leaf, d: &Leaf, n: i64) -> Result<(Leaf, Leaf)> {
    match d {
        _ if n == 1 => Ok((s.clone(), d.clone())),
        Leaf::Static(0) => Ok((s.clone(), d.clone())),
        Leaf::Static(d) => {
            let size = d
                .checked_abs()
                .ok_or(LayoutError::Overflow { op: "upcast" })?;
            if size % n == 0 {
                return Ok((s.clone(), Leaf::Static(d / n)));
            }
            if n % size != 0 {
                if s.is(1) {
                    let rounded = size / n + i64::from(size % n != 0);
                    return Ok((s.clone(), Leaf::Static(d.signum() * rounded)));
                }
                return Err(refuse(
                    whole,
                    format!("strides that divide {n} or are multiples of it"),
                ));
            }
            Ok((
                s.ceil_div(&Leaf::Static(n / size))?,
                Leaf::Static(d.signum()),
            ))
        }
        Leaf::Dynamic(_) => {
            let n = Leaf::Static(n);
            require(&d.divisible_by(&n)?, || {
                refuse(whole, format!("strides that are multiples of {n}"))
            })?;
            Ok((s.clone(), d.div(&n)?))
        }
        _ => Err(whole.basis("upcast")),
    }
}
