//! Arbitrary text as values, and every operation on them, whatever their size: no panic, and text that goes round.

#![allow(dead_code)] // each user needs its part

use cute_layout::{ComposedLayout, IntTuple, Kind, Layout, Swizzle, Tile, int};

fn round<T, E>(text: &str, parse: impl Fn(&str) -> Result<T, E>) -> Option<T>
where
    T: std::fmt::Display + PartialEq + std::fmt::Debug,
    E: std::fmt::Debug,
{
    let value = parse(text).ok()?;
    let printed = value.to_string();
    let again = parse(&printed).expect("what is printed can be read");
    assert_eq!(again, value, "{printed}");
    Some(value)
}

/// Reads `data` as each kind of value, and its lines as operands.
pub fn read_all(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for kind in [Kind::IntTuple, Kind::Shape, Kind::Stride, Kind::Coord] {
        if let Err(e) = IntTuple::parse(text, kind) {
            assert!(e.offset <= text.len(), "{e}");
            assert!(e.message.contains("expected"), "{e}");
        }
        round(text, |t| IntTuple::parse(t, kind));
    }
    round(text, Layout::parse);
    round(text, Tile::parse);
    round(text, Swizzle::parse);
    round(text, ComposedLayout::parse);
    let mut lines = text.lines();
    let (first, second) = (lines.next().unwrap_or(""), lines.next().unwrap_or("4:1"));
    if let (Some(a), Ok(t)) = (round(first, Layout::parse), Tile::parse(second)) {
        // Large ones only cost time.
        if a.shape().leaves().len() <= 32 && t.to_string().len() <= 400 {
            everything(&a, &t);
        }
    }
}

/// Every operation, for what it does besides being right.
fn everything(a: &Layout, t: &Tile) {
    let one = Layout::leaf(4, 1).expect("a leaf");
    let b = match t {
        Tile::Layout(b) => b,
        _ => &one,
    };
    let mut results = vec![
        a.coalesce(),
        a.coalesce_by(b.shape()),
        a.filter(),
        a.filter_zeros(),
        a.filter_by(b.shape()),
        a.composition(b),
        a.composition_tile(t),
        a.with_shape(b.shape()),
        a.complement(b.shape()),
        a.complement_open(),
        a.complement_cosize(),
        a.right_inverse(),
        a.left_inverse(),
        a.logical_divide(t),
        a.zipped_divide(t),
        a.tiled_divide(t),
        a.flat_divide(t),
        a.logical_product(t),
        a.zipped_product(t),
        a.tiled_product(t),
        a.flat_product(t),
        a.blocked_product(b),
        a.raked_product(b),
        a.tile_to_shape(b.shape(), None),
        a.tile_to_shape(b.shape(), Some(b.stride())),
        a.slice_modes(b.stride()),
        a.dice(b.stride()),
        a.group(0, b.rank()),
        a.take(0, b.rank()),
        a.flatten(),
        a.unflatten(b.shape()),
        a.zip(b),
        a.append(b),
        a.append_to_rank(b.rank(), &one),
        a.prepend_to_rank(b.rank(), &one),
        a.make_layout_like(),
        a.make_fragment_like(),
        Layout::ordered(a.shape(), b.stride()),
        Layout::row_major(a.shape()),
        Layout::identity(a.shape()),
    ];
    for n in [0, 2, 3, 8, i64::MAX] {
        results.extend([a.upcast(n), a.downcast(n), a.recast(n, 8), a.recast(8, n)]);
    }
    for r in results {
        match r {
            Ok(l) => {
                let text = l.to_string();
                assert_eq!(Layout::parse(&text).as_ref(), Ok(&l), "{text}");
            }
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
    let _ = (
        a.size(),
        a.cosize(),
        a.max_common_vector(b),
        a.divides_evenly(t),
    );
    let _ = (
        a.shape().shape_div(b.shape()),
        a.shape().ceil_div(b.shape()),
    );
    for i in [i64::MIN, -1, 0, 1, 17, i64::MAX] {
        let _ = (a.crd2idx(&int(i)), a.idx2crd(i), a.at(i));
        let _ = a.flat().map(|f| f.checked_at(i));
    }
    let _ = (a.crd2idx(b.stride()), a.slice(b.stride()));
    let _ = cute_layout::Swizzle::new(3, 4, 3)
        .and_then(|s| ComposedLayout::swizzled(s, a.clone()))
        .map(|c| c.crd2idx(b.stride()));
}
