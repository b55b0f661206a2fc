//! Tiled operations on random layouts: what comes out is the right function, or an error; nothing panics.

use crate::common::{any_layout, compact_layout, either};
use cute_layout::{
    CopyAtom, IntTuple, Layout, Leaf, MmaAtom, Operand, Residue, Side, Tile, TiledCopy, TiledMma,
    int, tuple,
};
use proptest::prelude::*;

fn atom() -> impl Strategy<Value = CopyAtom> {
    let names: Vec<&str> = CopyAtom::names().collect();
    (
        proptest::sample::select(names),
        proptest::sample::select(vec![8, 16, 32, 64]),
    )
        .prop_filter_map("an atom", |(name, bits)| CopyAtom::named(name, bits).ok())
}

fn mma() -> impl Strategy<Value = TiledMma> {
    let names: Vec<&str> = MmaAtom::names().collect();
    (proptest::sample::select(names), 1i64..3, 1i64..3, 1i64..3).prop_filter_map(
        "a tiled MMA",
        |(name, m, n, k)| {
            let atoms = Layout::col_major(&[m, n, k].into_iter().collect()).ok()?;
            TiledMma::new(MmaAtom::named(name).ok()?, atoms, Tile::Underscore).ok()
        },
    )
}

/// An element for each pair of a thread and a value, as (row, column).
fn coordinates(thr: &Layout, val: &Layout, threads: i64) -> Vec<(i64, i64)> {
    let at = |l: &Layout, i: i64| l.eval(&int(i)).expect("inside");
    let part = |c: &IntTuple, k: usize| match c {
        IntTuple::Leaf(l) if k == 0 => l.as_static().expect("known"),
        c => c.modes().get(k).and_then(IntTuple::as_static).unwrap_or(0),
    };
    let values: Vec<_> = (0..val.size().expect("static"))
        .map(|i| at(val, i))
        .collect();
    (0..threads)
        .flat_map(|t| {
            let from = at(thr, t);
            values
                .iter()
                .map(move |v| from.add(v).expect("a sum"))
                .collect::<Vec<_>>()
        })
        .map(|c| (part(&c, 0), part(&c, 1)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Threads and values by compact layouts, over tensors that the tile need not divide: each element is there once.
    #[test]
    fn a_copy_moves_each_element_once(
        thr in (1i64..5, 1i64..5, any::<bool>()),
        val in (1i64..4, 1i64..4, any::<bool>()),
        rows in 1i64..20,
        columns in 1i64..20,
    ) {
        let matrix = |(m, n, down): (i64, i64, bool)| {
            let shape = [m, n].into_iter().collect();
            if down { Layout::col_major(&shape) } else { Layout::row_major(&shape) }.expect("a layout")
        };
        let atom = CopyAtom::universal(16, 16).expect("atom");
        let copy = TiledCopy::make_tiled_copy(atom, &matrix(thr), &matrix(val)).expect("a copy");
        prop_assert_eq!(copy.missing(), Ok(0));
        let tensor = Layout::identity(&tuple([int(rows), int(columns)])).expect("identity");
        for side in [Side::Source, Side::Destination] {
            let p = copy.partition(side, &tensor, Residue::RoundUp).expect("a partition");
            let mut all = coordinates(&p.thr, &p.val, copy.num_threads());
            all.retain(|(m, n)| *m < rows && *n < columns);
            all.sort_unstable();
            let expected: Vec<_> = (0..rows).flat_map(|m| (0..columns).map(move |n| (m, n))).collect();
            prop_assert_eq!(all, expected);
        }
        let whole = rows % (thr.0 * val.0) == 0 && columns % (thr.1 * val.1) == 0;
        prop_assert_eq!(copy.partition_s(&tensor).is_ok(), whole);
    }

    /// The accumulators of an MMA: each element of C once, of any tensor.
    #[test]
    fn an_mma_has_each_accumulator_once(m in mma(), more in (1i64..3, 1i64..3), cut in (0i64..5, 0i64..5)) {
        let [tm, tn, _] = m.tile_shape();
        let (rows, columns) = ((tm * more.0 - cut.0).max(1), (tn * more.1 - cut.1).max(1));
        let tensor = Layout::identity(&tuple([int(rows), int(columns)])).expect("identity");
        let p = m.partition(Operand::C, &tensor, Residue::RoundUp).expect("a partition");
        // Threads in the order of (V,M,N,K), of which the first along K.
        let threads = m.thr_layout_vmnk();
        let own = threads.take(0, 3).expect("V, M, N").flat().expect("static");
        let mut all: Vec<_> = (0..own.size())
            .flat_map(|i| {
                let part = p.part(&Leaf::Static(own.at(i))).expect("a part");
                let values = 0..p.val.size().expect("static");
                let at = values.map(|v| part.offset.add(&p.val.eval(&int(v)).expect("inside")).expect("a sum"));
                at.collect::<Vec<_>>()
            })
            .map(|c| {
                let at = |k: usize| c.modes().get(k).and_then(IntTuple::as_static).unwrap_or(0);
                (at(0), at(1))
            })
            .filter(|(m, n)| *m < rows && *n < columns)
            .collect();
        all.sort_unstable();
        let expected: Vec<_> = (0..rows).flat_map(|m| (0..columns).map(move |n| (m, n))).collect();
        prop_assert_eq!(all, expected);
    }

    /// Whatever goes in: an answer or an error, and errors say what was expected.
    #[test]
    fn nothing_panics(
        atom in atom(),
        m in mma(),
        a in either(256, -6),
        b in any_layout(64, -3),
        c in compact_layout(256),
        thread in prop_oneof![any::<i64>(), -2i64..200],
    ) {
        let mut errors = vec![];
        let mut keep = |e: Option<cute_layout::LayoutError>| errors.extend(e);
        let tile = Tile::Modes(a.modes().into_iter().map(Tile::Layout).collect());
        let mut copies = vec![];
        for made in [
            TiledCopy::make_tiled_copy(atom.clone(), &c, &b),
            TiledCopy::make_tiled_copy(atom.clone(), &a, &c),
            TiledCopy::make_tiled_copy_impl(atom.clone(), b.clone(), tile.clone()),
            TiledCopy::make_cotiled_copy(atom.clone(), &b, &a),
            TiledCopy::make_cotiled_copy(atom.clone(), &c, &a),
            TiledCopy::make_tiled_copy_a(atom.clone(), &m),
            TiledCopy::make_tiled_copy_b(atom.clone(), &m),
            TiledCopy::make_tiled_copy_c(atom.clone(), &m),
            TiledCopy::make_tiled_copy_c_atom(atom.clone(), &m),
        ] {
            match made {
                Ok(copy) => copies.push(copy),
                Err(e) => keep(Some(e)),
            }
        }
        for copy in &copies {
            for residue in [Residue::Refuse, Residue::RoundUp] {
                for tensor in [&a, &b, &c] {
                    keep(copy.tidfrg(Side::Source, tensor, residue).err());
                    keep(copy.partition(Side::Destination, tensor, residue).err());
                }
            }
            keep(copy.retile(&a).err());
            keep(copy.get_slice(&Leaf::Static(thread)).err());
            keep(TiledCopy::make_tiled_copy_s(atom.clone(), copy).err());
            keep(TiledCopy::make_tiled_copy_d(atom.clone(), copy).err());
        }
        for residue in [Residue::Refuse, Residue::RoundUp] {
            for o in [Operand::A, Operand::B, Operand::C] {
                keep(m.partition_fragment(o, &a, residue).err());
                keep(m.fragment(o, &a).err());
            }
            keep(a.inner_partition(&tile, b.shape(), residue).err());
            keep(c.outer_partition(&Tile::Layout(b.clone()), &int(thread), residue).err());
            keep(a.local_partition(&b, &Leaf::Static(thread), None, residue).err());
        }
        keep(TiledMma::new(m.atom().clone(), b.clone(), tile).err());
        for e in errors {
            let text = e.to_string();
            prop_assert!(text.contains("expected") && text.contains("found"), "{}", text);
        }
    }
}
