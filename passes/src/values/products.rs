//! Products of fragments, atom by atom.

use super::{Values, registers::places};
use cute_ir::ops::cute;
use cute_ir::{
    Expected, Failure, algorithm,
    args::GemmArgs,
    mlir::*,
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
}

impl<'c> Values<'c> {
    /// Atom by atom, a k-slice at a time; odd rows of M backwards over N, so that the B of the
    /// turn is used again.
    pub(super) fn gemm(
        &mut self,
        args: Option<GemmArgs<'c>>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let Some(GemmArgs::Mma {
            mma,
            d,
            a,
            b: right,
            c,
        }) = args
        else {
            return Err(b.error("expected a product of fragments; run cute-partition first"));
        };
        let (vd, va) = (&self.registers(d, b)?, &self.registers(a, b)?);
        let (vb, vc) = (&self.registers(right, b)?, &self.registers(c, b)?);
        let product = algorithm::product_of(mma.r#type())
            .ok_or_else(|| b.error("expected an MMA atom or a tiled MMA"))?;
        let extents = product
            .and_then(|p| {
                algorithm::product_extents([&va.layout, &vb.layout, &vc.layout], p.values)
            })
            .map_err(|e| b.error(e))?;
        // A mode that the ranks leave out has one place.
        let operand = |view: &super::View<'c>| -> Result<Operand, Failure> {
            let one = Layout::leaf(1, 0).map_err(|e| b.error(e.to_string()))?;
            let mut modes = view.layout.modes();
            if !extents.values {
                modes.insert(0, one.clone());
            }
            modes.resize(3, one);
            let [values, first, second] = <[Layout; 3]>::try_from(modes)
                .ok()
                .expected(b, "three modes of an operand")?;
            Ok(Operand {
                offset: view.offset,
                values,
                modes: [first, second],
            })
        };
        let (la, lb) = (operand(va)?, operand(vb)?);
        let (lc, ld) = (operand(vc)?, operand(vd)?);
        let mma = self.tiled(mma, b)?;
        for k in 0..extents.k {
            for m in 0..extents.m {
                for step in 0..extents.n {
                    let n = if m % 2 == 0 {
                        step
                    } else {
                        extents.n - 1 - step
                    };
                    let left = self.read(va, &la.at(m, k, b)?, b)?;
                    let right = self.read(vb, &lb.at(n, k, b)?, b)?;
                    let sum = self.read(vc, &lc.at(m, n, b)?, b)?;
                    let sum =
                        b.value(cute::ATOM_MMA, &[mma, left, right, sum], sum.r#type(), &[])?;
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
        match CuteType::get(ty) {
            Some(CuteType::TiledCopy { .. } | CuteType::TiledMma { .. }) => Ok(new),
            Some(CuteType::MmaAtom { .. }) => {
                let one = Layout::parse("(1,1,1):(0,0,0)").map_err(|e| b.error(e.to_string()))?;
                let tile =
                    cute_layout::Tile::parse("[_;_;_]").map_err(|e| b.error(e.to_string()))?;
                let tiled = types::tiled_mma_type(b.location, ty, &one, &tile)?;
                b.value(cute::MAKE_TILED_MMA, &[new], tiled, &[])
            }
            Some(CuteType::CopyAtom { atom, .. }) => {
                let tv = atom.ref_tv().map_err(|e| b.error(e.to_string()))?;
                let size = tv.size().map_err(|e| b.error(e.to_string()))?;
                let tile =
                    cute_layout::Tile::from_shape(&cute_layout::tuple([cute_layout::int(size)]))
                        .map_err(|e| b.error(e.to_string()))?;
                let tiled = types::tiled_copy_type(b.location, ty, &tv, &tile)?;
                b.value(cute::MAKE_TILED_COPY, &[new], tiled, &[])
            }
            _ => Err(b.error(format!(
                "expected an atom or what is tiled over one, found {ty}"
            ))),
        }
    }
}
