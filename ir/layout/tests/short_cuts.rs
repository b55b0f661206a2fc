//! The short cuts against the general code: what they give is what it gives, leaf by leaf.

use crate::common::source::{Source, refill, streams};
use cute_layout::algebra::fast::*;
use cute_layout::{IntTuple, Kind, Layout, Result, Tile, int};

const CASES: usize = 20_000;

/// Runs both on many operands. At least `percent` of what the general code gives must come from the short cut.
fn agree<T: std::fmt::Debug>(
    percent: usize,
    operands: impl Fn(&mut Source<'_>) -> T,
    fast: impl Fn(&T) -> Option<Layout>,
    general: impl Fn(&T) -> Result<Layout>,
) {
    let (mut given, mut cut) = (0, 0);
    streams(percent as u64, CASES, |s| {
        let t = operands(s);
        let general = general(&t);
        given += usize::from(general.is_ok());
        if let Some(l) = fast(&t) {
            cut += 1;
            assert_eq!(Ok(l), general, "{t:?}");
        }
    });
    assert!(given > CASES / 10, "{given} results");
    assert!(cut * 100 >= given * percent, "{cut} of {given}");
}

/// A layout, sometimes of numbers near the limits, which must be refused by both.
fn any(s: &mut Source<'_>, limit: i64) -> Layout {
    let l = s.layout(limit, true);
    if s.byte() > 40 {
        return l;
    }
    let by = s.pick(&[1i64 << 20, 1 << 40, 1 << 55, i64::MAX / 7, 3_037_000_500]);
    let scale = |t: &IntTuple, which: u8| {
        let leaves = t.static_leaves().expect("static");
        let leaves: Vec<i64> = leaves
            .into_iter()
            .map(|v| v.checked_mul(if which < 128 { by } else { 1 }).unwrap_or(v))
            .collect();
        refill(t, &mut leaves.into_iter())
    };
    let (shape, stride) = (scale(l.shape(), s.byte()), scale(l.stride(), s.byte()));
    Layout::new(shape, stride).unwrap_or(l)
}

#[test]
fn coalesces() {
    let one = |s: &mut Source<'_>| any(s, 400);
    agree(99, one, coalesce, Layout::coalesce_general);
}

#[test]
fn compositions() {
    let two = |s: &mut Source<'_>| (any(s, 300), any(s, 100));
    agree(
        80,
        two,
        |(a, b)| composition(a, b),
        |(a, b)| a.composition_general(b),
    );
}

#[test]
fn complements() {
    let two = |s: &mut Source<'_>| (any(s, 100), s.shape(1000));
    agree(
        90,
        two,
        |(l, t)| complement(l, t),
        |(l, t)| l.complement_general(t),
    );
}

#[test]
fn inverses() {
    let one = |s: &mut Source<'_>| any(s, 200);
    agree(99, one, right_inverse, Layout::right_inverse_general);
    agree(70, one, left_inverse, Layout::left_inverse_general);
}

#[test]
fn divides() {
    let two = |s: &mut Source<'_>| {
        let l = any(s, 300);
        let t = s.tile(l.shape(), 0);
        (l, t)
    };
    let by = |f: fn(&Layout, &Tile) -> Option<Layout>| move |(l, t): &(Layout, Tile)| f(l, t);
    agree(80, two, by(logical_divide), |(l, t)| {
        l.logical_divide_general(t)
    });
    agree(80, two, by(zipped_divide), |(l, t)| {
        l.zipped_divide_general(t)
    });
}

#[test]
fn layouts_are_checked_as_in_general() {
    let (mut good, mut bad) = (0, 0);
    streams(7, CASES, |s| {
        let (shape, other) = (s.shape(300), s.shape(300));
        let values = [
            1,
            1,
            2,
            2,
            3,
            4,
            8,
            0,
            -1,
            1 << 31,
            1 << 62,
            i64::MAX,
            i64::MIN,
        ];
        let draw = |s: &mut Source<'_>, t: &IntTuple, most: usize| {
            let v: Vec<i64> = t.leaves().iter().map(|_| s.pick(&values[..most])).collect();
            refill(t, &mut v.into_iter())
        };
        let most = s.pick(&[7, 7, 9, 13]);
        let shape = draw(s, &shape, most);
        let nesting = if s.byte() < 200 { &shape } else { &other };
        let most = s.pick(&[9, 9, 13]);
        let stride = draw(s, nesting, most);
        let general = Layout::new_general(shape.clone(), stride.clone());
        let fast = Layout::new_static(shape, stride);
        assert_eq!(fast.as_ref().ok(), general.as_ref().ok());
        *(if fast.is_ok() { &mut good } else { &mut bad }) += 1;
    });
    assert!(good > CASES / 4 && bad > CASES / 4, "{good} and {bad}");
}

#[test]
fn text_is_read_and_written_as_in_general() {
    fn write(t: &IntTuple) -> String {
        match t {
            IntTuple::Leaf(l) => l.to_string(),
            IntTuple::Tuple(t) => {
                let modes: Vec<String> = t.iter().map(write).collect();
                format!("({})", modes.join(","))
            }
        }
    }
    streams(8, CASES, |s| {
        let l = any(s, 300);
        let (shape, stride) = (write(l.shape()), write(l.stride()));
        assert_eq!(l.to_string(), format!("{shape}:{stride}"));
        let mut text = format!("{shape}:{stride}");
        for _ in 0..s.below(3) {
            let at = s.below(text.len() + 1);
            text.insert(
                at,
                s.pick(&[' ', '\n', '(', ')', ',', '1', '-', '?', '@', ':']),
            );
        }
        let mut halves = text.splitn(2, ':');
        let parts = halves.next().zip(halves.next());
        let general = parts.and_then(|(a, b)| {
            let shape = IntTuple::parse(a, Kind::Shape).ok()?;
            let stride = IntTuple::parse(b, Kind::Stride).ok()?;
            Layout::new(shape, stride).ok()
        });
        match (general, Layout::parse(&text)) {
            (Some(g), f) => assert_eq!(Ok(g), f, "{text}"),
            // A shape alone is column-major.
            (None, f) => assert!(f.is_err() || parts.is_none(), "{text}"),
        }
    });
    for v in [
        0,
        9,
        10,
        99,
        100,
        i64::MAX,
        i64::MIN,
        -1,
        10i64.pow(18),
        10i64.pow(18) - 1,
    ] {
        assert_eq!(int(v).to_string(), v.to_string());
    }
    let long: IntTuple = (0..500).map(|i| i * 999_999_999_999).collect();
    assert_eq!(long.to_string(), write(&long));
}
