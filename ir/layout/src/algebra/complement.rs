//! Complement: the layout that fills the gaps of another.
//!
//! Basis strides make one coordinate space a path, and each has a complement of its own.

use smallvec::SmallVec;

use super::coalesce::{coalesce_extending, coalesce_leaves};
use super::{Leaves, fast, from_leaves, leaves, trial};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::{Leaf, Truth, require};
use crate::tuple::{IntTuple, int};

const OP: &str = "complement";

/// The modes that reach one coordinate, or the coordinates below.
#[allow(clippy::large_enum_variant)] // one or two of them, on the stack
enum Codomain {
    Scalar(Leaves),
    Modes(Vec<Codomain>),
}

/// Gaps below the reach of some modes, and that reach.
struct Gaps {
    modes: Leaves,
    reach: Leaf,
}

/// The treatment of a gap that whole blocks do not fill.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// It is an error.
    Whole,
    /// Its end stays empty.
    Disjoint,
}

impl Layout {
    /// The layout that fills the gaps of `self` up to the size of `cotarget`: disjoint from it, strides ascending, and with it
    /// covering (rounded up) the whole cotarget.
    ///
    /// Stride-0 modes are left out first. A complement that fills the cotarget keeps its own cosize as its stride (`1:3`), as
    /// CuTe IR prints it. A dynamic cotarget is filled leaf by leaf. Basis strides: coordinate by coordinate of the
    /// cotarget. Where strides do not divide in order, static layouts within 65536 elements are tried: `(2,2):(1,5)` has
    /// `2:2` in 4, and nothing in 5. Errors: no layout fills the gaps (the offset that shows it is named), or none is proved
    /// to; negative strides; a dynamic stride beside another one.
    pub fn complement(&self, cotarget: &IntTuple) -> Result<Layout> {
        fast::complement(self, cotarget).map_or_else(|| self.complement_general(cotarget), Ok)
    }

    /// The complement that a divide composes with: as [`Layout::complement`], but each leaf of a dynamic cotarget is a mode.
    pub(super) fn complement_by_leaf(&self, cotarget: &IntTuple) -> Result<Layout> {
        fast::complement(self, cotarget).map_or_else(|| self.complement_as(cotarget, false), Ok)
    }

    // Without the short cut; public for the tests of that.
    #[doc(hidden)]
    pub fn complement_general(&self, cotarget: &IntTuple) -> Result<Layout> {
        self.complement_as(cotarget, true)
    }

    fn complement_as(&self, cotarget: &IntTuple, merge: bool) -> Result<Layout> {
        match self.fill(&self.codomain()?, cotarget, merge, &mut SmallVec::new()) {
            Err(e @ LayoutError::NotInjective { .. }) => {
                self.fill_by_trial(cotarget).unwrap_or(Err(e))
            }
            r => r,
        }
    }

    // What fills a cotarget so small that strides above it need not divide, or the offset that shows that nothing does.
    fn fill_by_trial(&self, cotarget: &IntTuple) -> Option<Result<Layout>> {
        let target = cotarget.size().ok().filter(|t| *t > 0)?;
        let mut flat = self.flat()?;
        flat.modes.retain(|(s, d)| *d != 0 && *s != 1);
        match trial::complement(&flat, target) {
            Ok(modes) => {
                let leaf = |(s, d)| (Leaf::Static(s), Leaf::Static(d));
                Some(from_leaves(modes.into_iter().map(leaf).collect()))
            }
            Err(trial::NoComplement::TooLarge) => None,
            Err(trial::NoComplement::At(x)) => Some(Err(LayoutError::NotInjective {
                op: OP,
                found: format!("{self}, with which offset {x} is reached twice or never"),
                cure: "choose strides that are multiples of the extent times the stride below",
            })),
        }
    }

    /// The complement in the layout's own cosize.
    pub fn complement_cosize(&self) -> Result<Layout> {
        self.complement(&int(self.filter()?.cosize()?))
    }

    /// The complement without a cotarget: its last mode has size 1 and says how it goes on beyond the layout's own reach.
    ///
    /// Source: CuTe's `complement` of one argument. Errors as [`Layout::complement`].
    pub fn complement_open(&self) -> Result<Layout> {
        self.open(Fill::Whole)
    }

    /// Places for copies of the layout that no two of them share: the open complement where that exists, else one that
    /// leaves the ends of gaps empty.
    pub(super) fn places(&self) -> Result<Layout> {
        self.open(Fill::Disjoint)
    }

    fn open(&self, fill: Fill) -> Result<Layout> {
        fn walk(
            l: &Layout,
            c: &Codomain,
            fill: Fill,
            path: &mut SmallVec<[u16; 4]>,
        ) -> Result<Layout> {
            match c {
                Codomain::Scalar(modes) => {
                    let mut gaps = l.gaps(modes, fill)?;
                    gaps.modes.push((Leaf::Static(1), gaps.reach));
                    into_coordinate(path, from_leaves(coalesce_extending(gaps.modes)?)?)
                }
                Codomain::Modes(all) => {
                    let mut out = Vec::with_capacity(all.len());
                    for (i, c) in all.iter().enumerate() {
                        path.push(i as u16);
                        out.push(walk(l, c, fill, path)?);
                        path.pop();
                    }
                    Layout::from_modes(&out)
                }
            }
        }
        walk(self, &self.codomain()?, fill, &mut SmallVec::new())
    }

    fn fill(
        &self,
        codomain: &Codomain,
        cotarget: &IntTuple,
        merge: bool,
        path: &mut SmallVec<[u16; 4]>,
    ) -> Result<Layout> {
        match codomain {
            Codomain::Scalar(modes) => {
                let gaps = self.gaps(modes, Fill::Whole)?;
                into_coordinate(path, filled(gaps, cotarget, merge)?)
            }
            Codomain::Modes(all) => {
                let target = cotarget.modes();
                if !cotarget.is_tuple() || target.len() < all.len() {
                    let expected = format!("a cotarget of at least {} modes", all.len());
                    return Err(LayoutError::Rank {
                        op: OP,
                        expected,
                        found: cotarget.to_string(),
                    });
                }
                let mut out = Vec::with_capacity(target.len());
                for (i, target) in target.iter().enumerate() {
                    path.push(i as u16);
                    // A coordinate that nothing reaches is filled whole.
                    let none = Codomain::Scalar(Leaves::new());
                    out.push(match all.get(i) {
                        Some(c) => self.fill(c, target, merge, path)?,
                        None if target.is_tuple() => {
                            into_coordinate(path, Layout::identity(target)?)?
                        }
                        None => self.fill(&none, target, merge, path)?,
                    });
                    path.pop();
                }
                Layout::from_modes(&out)
            }
        }
    }

    fn codomain(&self) -> Result<Codomain> {
        let modes = leaves(self);
        if !self.stride().has_basis() {
            return Ok(Codomain::Scalar(modes));
        }
        let mut root = Codomain::Modes(Vec::new());
        for (s, d) in modes {
            let Leaf::Basis { value, path } = d else {
                continue;
            };
            let mut at = &mut root;
            for &p in &path {
                if let Codomain::Scalar(_) = at {
                    *at = Codomain::Modes(Vec::new());
                }
                let Codomain::Modes(inner) = at else {
                    return Err(self.basis(OP));
                };
                while inner.len() <= usize::from(p) {
                    inner.push(Codomain::Scalar(Leaves::new()));
                }
                at = &mut inner[usize::from(p)];
            }
            match at {
                Codomain::Scalar(modes) => modes.push((s, *value)),
                Codomain::Modes(_) => return Err(self.basis(OP)),
            }
        }
        Ok(root)
    }

    fn gaps(&self, modes: &Leaves, fill: Fill) -> Result<Gaps> {
        let mut modes: Leaves = coalesce_leaves(
            modes
                .iter()
                .filter(|(s, d)| !d.is(0) && !s.is(1))
                .cloned()
                .collect(),
        )?;
        modes.retain(|(s, _)| !s.is(1));
        if let Some((_, d)) = modes
            .iter()
            .find(|(_, d)| d.as_static().is_some_and(|d| d < 0))
        {
            return Err(LayoutError::Stride {
                expected: "positive strides in `complement`",
                found: format!("{d} in {self}"),
            });
        }
        if modes.len() > 1 && modes.iter().any(|(_, d)| !d.is_identified()) {
            return Err(self.dynamic(OP));
        }
        let modes = ascending(modes)?;
        let mut out = Gaps {
            modes: Leaves::new(),
            reach: Leaf::Static(1),
        };
        for (s, d) in modes {
            let mut fits = out.reach.at_most(&d)?;
            if fill == Fill::Whole {
                fits = fits.and(&d.divisible_by(&out.reach)?);
            }
            require(&fits, || LayoutError::NotInjective {
                op: OP,
                found: self.to_string(),
                cure: "choose strides that are multiples of the extent times the stride below",
            })?;
            let next = d.mul(&s)?;
            out.modes.push((d.div(&out.reach)?, out.reach));
            out.reach = next;
        }
        Ok(out)
    }
}

/// Modes by stride. Errors: strides of which it is not known which is the smaller one.
pub(super) fn ascending(mut modes: Leaves) -> Result<Leaves> {
    if modes.iter().all(|(_, d)| d.as_static().is_some()) {
        modes.sort_by_key(|(_, d)| d.as_static());
        return Ok(modes);
    }
    let mut out = Leaves::new();
    for (s, d) in modes {
        let mut at = out.len();
        while at > 0 {
            let before: &Leaf = &out[at - 1].1;
            match before.at_most(&d)? {
                Truth::Known(true) => break,
                Truth::Known(false) => at -= 1,
                unknown => {
                    // The other way round may be known, which says as much.
                    if !d.at_most(before)?.is_true() {
                        require(&unknown, || LayoutError::Stride {
                            expected: "strides whose order is known",
                            found: format!("{before} and {d}"),
                        })?;
                        break;
                    }
                    at -= 1;
                }
            }
        }
        out.insert(at, (s, d));
    }
    Ok(out)
}

// `merge`: neighbours of the rest that are both known, or both dynamic, become one mode.
fn filled(gaps: Gaps, cotarget: &IntTuple, merge: bool) -> Result<Layout> {
    let Gaps {
        mut modes,
        mut reach,
    } = gaps;
    if cotarget.leaves().iter().all(|s| s.is_identified()) && reach.is_identified() {
        modes.push((cotarget.product()?.ceil_div(&reach)?, reach));
    } else {
        // Leaf by leaf: how many blocks of the reach each holds, and how much of it is left for the next. What is left is
        // exact where a block fits into the leaf, or the leaf divides it; the last leaf may round up.
        let sizes = cotarget.leaves();
        let (mut block, mut exact) = (reach.clone(), Truth::Known(true));
        for s in sizes.iter().rev().skip(1).rev() {
            exact = exact.and(&block.at_most(s)?.or(&block.divisible_by(s)?));
            block = block.ceil_div(s)?;
        }
        if exact.is_false() {
            modes.push((cotarget.product()?.ceil_div(&reach)?, reach));
        } else {
            require(&exact, || LayoutError::Divisibility {
                op: OP,
                expected: format!(
                    "leaves of the cotarget that hold {reach} elements, or divide them"
                ),
                found: cotarget.to_string(),
                cure: "flatten the cotarget, or choose a size that divides it".to_string(),
            })?;
            let mut block = reach.clone();
            let mut rest: Vec<Leaf> = Vec::with_capacity(sizes.len());
            for s in sizes {
                let copies = s.ceil_div(&block)?;
                block = block.ceil_div(s)?;
                match rest.last_mut() {
                    Some(last) if merge && last.is_static() == copies.is_static() => {
                        *last = last.mul(&copies)?
                    }
                    _ => rest.push(copies),
                }
            }
            for copies in rest {
                let next = reach.mul(&copies)?;
                modes.push((copies, std::mem::replace(&mut reach, next)));
            }
        }
    }
    from_leaves(coalesce_leaves(modes)?)
}

// A layout into the coordinate that `path` names, or into one below it.
fn into_coordinate(path: &[u16], inner: Layout) -> Result<Layout> {
    fn walk(d: &IntTuple, prefix: &[u16]) -> IntTuple {
        let (value, below): (Box<Leaf>, &[u16]) = match d {
            IntTuple::Tuple(t) => {
                return IntTuple::Tuple(t.iter().map(|d| walk(d, prefix)).collect());
            }
            IntTuple::Leaf(l) if l.is(0) => return int(0),
            IntTuple::Leaf(Leaf::Basis { value, path }) => (value.clone(), path),
            IntTuple::Leaf(l) => (Box::new(l.clone()), &[]),
        };
        let path = prefix.iter().chain(below).copied().collect();
        IntTuple::Leaf(Leaf::Basis { value, path })
    }
    if path.is_empty() {
        return Ok(inner);
    }
    Layout::new(inner.shape().clone(), walk(inner.stride(), path))
}
