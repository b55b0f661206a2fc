//! Inverses of layouts into coordinate spaces, against evaluation of every coordinate.

use cute_layout::{Layout, LayoutError, Leaf};

fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The coordinate that a layout of flat basis strides gives the 1-D index `i`.
fn at(l: &Layout, mut i: i64, rank: usize) -> Vec<i64> {
    let mut out = vec![0; rank];
    for (s, d) in l.shape().leaves().into_iter().zip(l.stride().leaves()) {
        let s = s.as_static().expect("a static shape");
        if let Leaf::Basis { value, path } = d {
            assert_eq!(path.len(), 1, "flat coordinates only");
            out[usize::from(path[0])] += i % s * value.as_static().expect("a static stride");
        }
        i /= s;
    }
    out
}

/// The index that an inverse gives a coordinate, mode by mode.
fn index(inverse: &Layout, coord: &[i64]) -> i64 {
    inverse
        .modes()
        .iter()
        .zip(coord)
        .map(|(mode, c)| mode.at(*c))
        .sum()
}

const CASES: [&str; 8] = [
    "(4,5):(1@0,1@1)",
    "(4,5):(1@1,1@0)",
    "(4,1,5):(1@0,0,1@1)",
    "(2,3,4):(1@0,1@1,2@0)",
    "(2,2,2,2):(2@1,1@0,1@1,2@0)",
    "(3,4):(1@0,3@0)",
    "(4,5):(2@0,3@1)",
    "(2,3,2):(4@0,1@1,1@0)",
];

fn cases() -> impl Iterator<Item = Layout> {
    CASES.iter().map(|c| layout(c))
}

fn rank(l: &Layout) -> usize {
    let paths = l.stride().leaves().into_iter().filter_map(|d| match d {
        Leaf::Basis { path, .. } => Some(usize::from(path[0]) + 1),
        _ => None,
    });
    paths.max().unwrap_or(0)
}

#[test]
fn a_left_inverse_gives_every_index_back() {
    for l in cases() {
        let inverse = l.left_inverse().unwrap_or_else(|e| panic!("{l}: {e}"));
        let rank = rank(&l);
        for i in 0..l.size().unwrap() {
            assert_eq!(index(&inverse, &at(&l, i, rank)), i, "{l}, {inverse}");
        }
    }
}

#[test]
fn a_right_inverse_gives_every_coordinate_back() {
    for l in cases() {
        let inverse = l.right_inverse().unwrap_or_else(|e| panic!("{l}: {e}"));
        let extents: Vec<i64> = inverse.modes().iter().map(|m| m.size().unwrap()).collect();
        for n in 0..extents.iter().product() {
            let mut rest = n;
            let coord: Vec<i64> = extents
                .iter()
                .map(|e| {
                    let c = rest % e;
                    rest /= e;
                    c
                })
                .collect();
            let found = at(&l, index(&inverse, &coord), rank(&l));
            assert_eq!(found, coord, "{l}, {inverse}");
        }
    }
}

#[test]
fn inverses_have_the_profile_of_the_coordinates() {
    for (l, right, left) in [
        ("(4,5):(1@1,1@0)", "(5,4):(4,1)", "(5,4):(4,1)"),
        // Nothing reaches coordinate 1 of a stride that begins at 2, or a coordinate in between.
        (
            "(4,5):(1@0,2@2)",
            "(4,1,1):(1,0,0)",
            "(4,1,(2,5)):(1,0,(0,4))",
        ),
        ("(4,5):(1@1,1@0@0)", "((5),4):((4),1)", "((5),4):((4),1)"),
        ("(2,3):(0,1@0)", "(3):(2)", "(3):(2)"),
    ] {
        assert_eq!(layout(l).right_inverse().unwrap().to_string(), right, "{l}");
        assert_eq!(layout(l).left_inverse().unwrap().to_string(), left, "{l}");
    }
}

#[test]
fn a_dynamic_multiple_is_passed_over_or_refused() {
    let l = layout("(4,5):(1@0,?@1)");
    assert_eq!(l.right_inverse().unwrap().to_string(), "(4,1):(1,0)");
    assert!(matches!(l.left_inverse(), Err(LayoutError::Dynamic { .. })));
    // Of one coordinate, one reached twice.
    assert!(layout("(4,5):(1@0,2@0)").left_inverse().is_err());
}
