//! Swizzles composed, on elements of another width, and gone where a layout does: each against all offsets.

use cute_layout::algebra::AnyLayout;
use cute_layout::{ComposedLayout, Inner, Layout, LayoutError, Swizzle, int};
use proptest::prelude::*;

// All swizzles of at most `bits` bits, the identity once.
fn swizzles(bits: i64) -> Vec<Swizzle> {
    let mut out = vec![Swizzle::new(0, 0, 0).expect("the identity")];
    for b in 1..=bits {
        for m in 0..bits {
            for s in -bits..=bits {
                if b + m + s.abs() <= bits {
                    out.extend(Swizzle::new(b, m, s));
                }
            }
        }
    }
    out
}

fn same(s: &Swizzle, f: impl Fn(i64) -> i64, bits: u32) -> bool {
    (0..1i64 << bits).all(|x| s.apply(x) == f(x))
}

#[test]
fn compositions() {
    const BITS: u32 = 8;
    let all = swizzles(BITS.into());
    let (mut some, mut none) = (0, 0);
    for a in &all {
        for b in &all {
            let truth = |x: i64| a.apply(b.apply(x));
            match a.compose(b) {
                Ok(s) => {
                    some += 1;
                    assert!(same(&s, truth, BITS), "{a} o {b} = {s}");
                    assert!((0..2000).all(|x: i64| s.apply(-x * 37) == truth(-x * 37)));
                }
                Err(e) => {
                    none += 1;
                    assert!(
                        !all.iter().any(|s| same(s, truth, BITS)),
                        "{a} o {b}: {e}, though it is a swizzle"
                    );
                    // The offset of the message is one at which no one bit is flipped, or the candidate is wrong.
                    let text = e.to_string();
                    let after = |key: &str| -> Option<i64> {
                        let digits = text.split(key).nth(1)?;
                        digits
                            .split(|c: char| !c.is_ascii_digit())
                            .next()?
                            .parse()
                            .ok()
                    };
                    let at = after("at offset ").expect("an offset");
                    assert_eq!(after("found "), Some(truth(at)), "{text}");
                    let wrong = (truth(at) ^ at).count_ones() > 1
                        || after("gives ").is_some_and(|v| v != truth(at));
                    assert!(wrong, "{text}");
                }
            }
        }
    }
    // Of 101 swizzles of at most 8 bits.
    assert_eq!((some, none), (661, 9540));
}

#[test]
fn compositions_print_as() {
    let s = |t: &str| Swizzle::parse(t).expect(t);
    let of = |a: &str, b: &str| s(a).compose(&s(b)).map(|s| s.to_string());
    assert_eq!(of("S<1,5,3>", "S<2,3,3>").as_deref(), Ok("S<3,3,3>"));
    assert_eq!(of("S<3,4,3>", "S<3,4,3>").as_deref(), Ok("S<0,4,3>"));
    assert_eq!(of("S<3,4,3>", "S<2,4,3>").as_deref(), Ok("S<1,6,3>"));
    assert_eq!(of("S<0,4,3>", "S<3,4,3>").as_deref(), Ok("S<3,4,3>"));
    let error = of("S<1,0,3>", "S<1,4,2>").map_err(|e| e.to_string());
    assert_eq!(
        error,
        Err("`composition` expected S<1,0,3> o S<1,4,2> to be a swizzle, found 80 at offset 64, where S<1,0,3>, which the lower \
             bits ask for, gives 64; compose swizzles whose bits do not meet and which continue one another at one shift, or \
             keep two layers"
            .to_string())
    );
}

#[test]
fn widths() {
    let all = swizzles(8);
    for s in &all {
        for log in 0..5 {
            let n = 1i64 << log;
            // Wider: whole wide elements move.
            let wide =
                |t: &Swizzle| (0..1i64 << 10).all(|x| s.apply(x) == t.apply(x / n) * n + x % n);
            match s.upcast(n) {
                Ok(t) => {
                    assert!(wide(&t), "{s} by {n} is {t}");
                    assert_eq!(s.recast(8, 8 * n), Ok(t));
                }
                Err(e) => assert!(!all.iter().any(wide), "{s} by {n}: {e}"),
            }
            let narrow = s.downcast(n).expect("room for the bits");
            assert!((0..1i64 << 12).all(|x| narrow.apply(x) == s.apply(x / n) * n + x % n));
            assert_eq!(s.recast(8 * n, 8), Ok(narrow));
            assert!(same(&narrow.upcast(n).expect("back"), |x| s.apply(x), 10));
        }
        for n in [-1, 0, 3, 6] {
            assert!(matches!(s.upcast(n), Err(LayoutError::Divisibility { .. })));
            assert!(matches!(
                s.downcast(n),
                Err(LayoutError::Divisibility { .. })
            ));
        }
        assert!(s.recast(8, 12).is_err() && s.recast(0, 8).is_err());
    }
    assert!(
        Swizzle::new(3, 20, 9)
            .expect("32 bits")
            .downcast(2)
            .is_err()
    );
}

fn composed(s: &Swizzle, offset: i64, outer: &str) -> ComposedLayout {
    let outer = Layout::parse(outer).expect(outer);
    ComposedLayout::new(Inner::Swizzle(*s), int(offset), outer).expect("integer strides")
}

#[test]
fn decay_prints_as() {
    let s = Swizzle::new(3, 4, 3).expect("the 128-byte swizzle");
    for (offset, outer, plain, number) in [
        // Below what is read, and what is read but not moved.
        (0, "(16,8):(1,16)", "(16,8):(1,16)", 0),
        (0, "8:128", "8:144", 0),
        // One column of a swizzled tile; the rows move it.
        (
            5 * 128,
            "(16,8):(1,16)",
            "(16,(2,2,2)):(1,(-16,32,-64))",
            5 * 128 + 5 * 16,
        ),
        (128, "8:1", "8:1", 144),
    ] {
        let (layout, at) = composed(&s, offset, outer).decay().expect(outer);
        assert_eq!((layout.outer().to_string().as_str(), at), (plain, number));
        assert!(matches!(layout, AnyLayout::Plain(_)));
    }
    let whole = composed(&s, 0, "(64,8):(1,64)");
    assert_eq!(whole.decay(), Ok((AnyLayout::Composed(whole.clone()), 0)));
    // Too large to enumerate: by the highest offset.
    let large = composed(&Swizzle::new(1, 4, 24).expect("valid"), 0, "1000000:1");
    assert!(matches!(large.decay(), Ok((AnyLayout::Plain(_), 0))));
    let large = composed(&s, 0, "1000000:1");
    assert!(matches!(large.decay(), Ok((AnyLayout::Composed(_), 0))));
}

fn outer() -> impl Strategy<Value = String> {
    let size = prop::sample::select(vec![1i64, 2, 3, 4, 6, 8, 16]);
    let stride = prop_oneof![
        4 => (0u32..9).prop_map(|k| 1i64 << k),
        1 => prop::sample::select(vec![0i64, 3, 5, 24, -1, -8, -64]),
    ];
    prop::collection::vec((size, stride), 1..4).prop_map(|modes| {
        let join = |v: Vec<String>| v.join(",");
        let sizes = join(modes.iter().map(|m| m.0.to_string()).collect());
        let strides = join(modes.iter().map(|m| m.1.to_string()).collect());
        format!("({sizes}):({strides})")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decays_to_the_same_function(i in 0usize..1000, offset in -64i64..512, outer in outer()) {
        let all = swizzles(8);
        let s = all[i % all.len()];
        let c = composed(&s, offset, &outer);
        let flat = c.outer().flat().expect("static");
        let size = flat.size();
        let truth = |i: i64| s.apply(offset + flat.at(i));
        match c.decay().expect("small") {
            (AnyLayout::Plain(l), at) => {
                prop_assert_eq!(l.size(), Ok(size));
                // The top modes stay.
                prop_assert_eq!(l.modes().len(), c.outer().modes().len());
                let got = l.flat().expect("static");
                for i in 0..size {
                    prop_assert_eq!(got.at(i) + at, truth(i), "{} is {} + {} at {}", &c, &l, at, i);
                }
            }
            (AnyLayout::Composed(same), at) => {
                prop_assert_eq!(at, 0);
                prop_assert_eq!(&same, &c);
                // It is not the identity up to a number.
                prop_assert!((0..size).any(|i| truth(i) - truth(0) != flat.at(i) - flat.at(0)));
            }
        }
    }
}
