//! Products of fragments, atom by atom.

use super::{Values, registers::places};
use cute_ir::{
    Failure,
    build::*,
    types::{self, CuteType},
};
use cute_layout::Layout;
use melior::ir::ValueLike;

/// An operand of a product as (V, I, J).
struct Operand {
    offset: i64,
    values: Layout,
    modes: [Layout; 2],
}

impl Operand {
    /// The registers of the atom at (., i, j).
    fn at(&self, i: i64, j: i64, b: Builder) -> Result<Vec<i64>, Failure> {
        let start = self.offset + self.modes[0].at(i) + self.modes[1].at(j);
        places(&self.values, start, b)
    }

    fn size(&self, mode: usize) -> i64 {
        self.modes[mode].flat().map_or(0, |flat| flat.size())
    }
}

impl<'c> Values<'c> {
    /// Atom by atom, a k-slice at a time; odd rows of M backwards over N, so that the B of the
    /// turn is used again.
    ///
    /// Forms, as in CuTe's `gemm`: (V)x(V)=>(V), (M)x(N)=>(M,N), (M,K)x(N,K)=>(M,N), (V,M)x(V,N)=>(V,M,N),
    /// (V,M,K)x(V,N,K)=>(V,M,N).
    pub(super) fn gemm(&mut self, operands: &[Val<'c>], b: Builder<'c>) -> Result<(), Failure> {
        let [mma, d, a, bb, c] = operands[..] else {
            return Err(b.error("expected a product of fragments; run cute-partition first"));
        };
        let views = [d, a, bb, c]
            .into_iter()
            .map(|v| self.registers(v, b))
            .collect::<Result<Vec<_>, _>>()?;
        let [vd, va, vb, vc] = &views[..] else {
            return Err(Failure);
        };
        let ranks = [va.layout.rank(), vb.layout.rank(), vc.layout.rank()];
        // Which mode of each operand is its values, and which follow.
        let forms = match ranks {
            [1, 1, 1] => [[Some(0), None, None]; 3],
            [1, 1, 2] => [
                [None, Some(0), None],
                [None, Some(0), None],
                [None, Some(0), Some(1)],
            ],
            [2, 2, 2] => [
                [None, Some(0), Some(1)],
                [None, Some(0), Some(1)],
                [None, Some(0), Some(1)],
            ],
            [2, 2, 3] => [
                [Some(0), Some(1), None],
                [Some(0), Some(1), None],
                [Some(0), Some(1), Some(2)],
            ],
            [3, 3, 3] => [[Some(0), Some(1), Some(2)]; 3],
            _ => {
                return Err(b.error(format!(
                    "expected A, B and C of ranks (V)x(V)=>(V), (M)x(N)=>(M,N), (M,K)x(N,K)=>(M,N), (V,M)x(V,N)=>(V,M,N) \
                     or (V,M,K)x(V,N,K)=>(V,M,N), found {}, {} and {}",
                    va.layout, vb.layout, vc.layout
                )));
            }
        };
        let operand =
            |view: &super::View<'c>, form: [Option<usize>; 3]| -> Result<Operand, Failure> {
                let mode = |at: Option<usize>| {
                    match at {
                        Some(at) => view.layout.mode(at),
                        None => Layout::leaf(1, 0),
                    }
                    .map_err(|e| b.error(e.to_string()))
                };
                Ok(Operand {
                    offset: view.offset,
                    values: mode(form[0])?,
                    modes: [mode(form[1])?, mode(form[2])?],
                })
            };
        let (la, lb) = (operand(va, forms[0])?, operand(vb, forms[1])?);
        let (lc, ld) = (operand(vc, forms[2])?, operand(vd, forms[2])?);
        let (m_size, n_size, k_size) = (la.size(0), lb.size(0), la.size(1));
        for (what, left, right) in [
            ("M of A and C", m_size, lc.size(0)),
            ("N of B and C", n_size, lc.size(1)),
            ("K of A and B", k_size, lb.size(1)),
        ] {
            if left != right {
                return Err(b.error(format!(
                    "expected the same {what}, found {left} and {right}"
                )));
            }
        }
        let mma = self.tiled(mma, b)?;
        for k in 0..k_size {
            for m in 0..m_size {
                for step in 0..n_size {
                    let n = if m % 2 == 0 { step } else { n_size - 1 - step };
                    let left = self.read(va, &la.at(m, k, b)?, b)?;
                    let right = self.read(vb, &lb.at(n, k, b)?, b)?;
                    let sum = self.read(vc, &lc.at(m, n, b)?, b)?;
                    let sum =
                        b.value("cute.atom_mma", &[mma, left, right, sum], sum.r#type(), &[])?;
                    self.write(vd, &ld.at(m, n, b)?, sum, b)?;
                }
            }
        }
        Ok(())
    }

    /// An atom as the tiled operation of it alone; what is tiled already, as it is.
    pub(super) fn tiled(&self, value: Val<'c>, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let new = self.map(value);
        let ty = value.r#type();
        let wrong = |e: String| b.error(e);
        match CuteType::of(ty) {
            Some(CuteType::TiledCopy { .. } | CuteType::TiledMma { .. }) => Ok(new),
            Some(atom @ CuteType::MmaAtom { .. }) => {
                types::mma_atom(&atom).map_err(wrong)?;
                let one = Layout::parse("(1,1,1):(0,0,0)").map_err(|e| b.error(e.to_string()))?;
                let tile =
                    cute_layout::Tile::parse("[_;_;_]").map_err(|e| b.error(e.to_string()))?;
                let tiled = types::tiled_mma_type(b.location, ty, &one, &tile).ok_or(Failure)?;
                b.value("cute.make_tiled_mma", &[new], tiled, &[])
            }
            Some(atom @ CuteType::CopyAtom { .. }) => {
                let table = types::copy_atom(&atom).map_err(wrong)?;
                let tv = table.ref_tv().map_err(|e| b.error(e.to_string()))?;
                let size = tv.size().map_err(|e| b.error(e.to_string()))?;
                let tile =
                    cute_layout::Tile::from_shape(&cute_layout::tuple([cute_layout::int(size)]))
                        .map_err(|e| b.error(e.to_string()))?;
                let tiled = types::tiled_copy_type(b.location, ty, &tv, &tile).ok_or(Failure)?;
                b.value("cute.make_tiled_copy", &[new], tiled, &[])
            }
            _ => Err(b.error(format!(
                "expected an atom or what is tiled over one, found {ty}"
            ))),
        }
    }
}
