use super::*;

/// The bits, lowest first.
fn list(x: u64, width: usize) -> Vec<bool> {
    (0..width).map(|i| x >> i & 1 == 1).collect()
}

fn join(bits: &[bool]) -> u64 {
    bits.iter()
        .enumerate()
        .fold(0, |x, (i, bit)| x | u64::from(*bit) << i)
}

#[test]
fn logic() {
    for (ty, mask) in [("b16", 0xffff), ("b32", 0xffff_ffff), ("b64", u64::MAX)] {
        check(&format!("and.{ty}"), |x| x[0] & x[1]);
        check(&format!("or.{ty}"), |x| x[0] | x[1]);
        check(&format!("xor.{ty}"), |x| x[0] ^ x[1]);
        check(&format!("not.{ty}"), |x| !x[0] & mask);
        check(&format!("cnot.{ty}"), |x| u64::from(x[0] == 0));
        check(&format!("mov.{ty}"), |x| x[0]);
    }
    check("lop3.b32", |x| {
        let table = list(x[3], 8);
        let [a, b, c] = [0, 1, 2].map(|i| list(x[i], 32));
        let bits: Vec<bool> = (0..32)
            .map(|i| table[usize::from(a[i]) * 4 + usize::from(b[i]) * 2 + usize::from(c[i])])
            .collect();
        join(&bits)
    });
    // The table of the function is the function of the tables.
    assert_eq!(
        value("lop3.b32", &[1, 3, 5, (0xf0 & 0xcc) ^ 0xaa]),
        (1 & 3) ^ 5
    );
}

#[test]
fn shifts() {
    for width in [16usize, 32, 64] {
        // Amounts near the width, and any others.
        let amount = |n: u64| n.min(1000) as usize;
        check(&format!("shl.b{width}"), |x| {
            let mut bits = vec![false; amount(x[1])];
            bits.extend(list(x[0], width));
            join(&bits[..width])
        });
        for (ty, signed) in [("b", false), ("u", false), ("s", true)] {
            check(&format!("shr.{ty}{width}"), |x| {
                let bits = list(x[0], width);
                let fill = signed && bits[width - 1];
                let shifted: Vec<bool> = (0..width)
                    .map(|i| *bits.get(i + amount(x[1])).unwrap_or(&fill))
                    .collect();
                join(&shifted)
            });
        }
    }
    for n in 0..80 {
        let [a, b] = [0x89ab_cdef, 0x0123_4567u64];
        let both = b << 32 | a;
        for (mode, n_used) in [("clamp", n.min(32)), ("wrap", n % 32)] {
            let left = u64::from(((u128::from(both) << n_used) >> 32) as u32);
            let right = u64::from((both >> n_used) as u32);
            assert_eq!(value(&format!("shf.l.{mode}.b32"), &[a, b, n]), left);
            assert_eq!(value(&format!("shf.r.{mode}.b32"), &[a, b, n]), right);
        }
        for width in [16u64, 32, 64] {
            let left = if n < width { 1 << n } else { 0 };
            assert_eq!(value(&format!("shl.b{width}"), &[1, n]), left);
        }
    }
}

#[test]
fn counts() {
    for width in [32usize, 64] {
        check(&format!("popc.b{width}"), |x| {
            list(x[0], width).iter().filter(|bit| **bit).count() as u64
        });
        check(&format!("clz.b{width}"), |x| {
            list(x[0], width)
                .iter()
                .rev()
                .take_while(|bit| !**bit)
                .count() as u64
        });
        check(&format!("brev.b{width}"), |x| {
            let mut bits = list(x[0], width);
            bits.reverse();
            join(&bits)
        });
        for signed in [false, true] {
            let ty = format!("{}{width}", if signed { 's' } else { 'u' });
            let place = |x: u64| {
                let bits = list(x, width);
                let sign = signed && bits[width - 1];
                bits.iter().rposition(|bit| *bit != sign)
            };
            check(&format!("bfind.{ty}"), |x| {
                place(x[0]).map_or(0xffff_ffff, |at| at as u64)
            });
            check(&format!("bfind.shiftamt.{ty}"), |x| {
                place(x[0]).map_or(0xffff_ffff, |at| (width - 1 - at) as u64)
            });
        }
    }
}

#[test]
fn n_th_bit() {
    let mut random = Random::new("fns");
    for _ in 0..20_000 {
        let mask = random.next() & random.next() & 0xffff_ffff;
        let base = random.next() % 34;
        let offset = (random.next() % 80) as i32 - 40;
        // The PTX ISA's loop.
        let mut expected = 0xffff_ffff;
        if offset == 0 {
            if base < 32 && mask >> base & 1 == 1 {
                expected = base;
            }
        } else {
            let (mut place, mut count) = (base as i64, offset.abs() - 1);
            while (0..32).contains(&place) {
                if mask >> place & 1 == 1 {
                    if count == 0 {
                        expected = place as u64;
                        break;
                    }
                    count -= 1;
                }
                place += i64::from(offset.signum());
            }
        }
        let found = value("fns.b32", &[mask, base, offset as u32 as u64]);
        assert_eq!(found, expected, "{mask:x} {base} {offset}");
    }
    assert_eq!(value("fns.b32", &[1, 0, 0x8000_0000]), 0xffff_ffff);
}

#[test]
fn fields() {
    for width in [32usize, 64] {
        for signed in [false, true] {
            let ty = format!("{}{width}", if signed { 's' } else { 'u' });
            let field = |x: &[u64]| {
                let (at, count) = (x[1] as usize & 0xff, x[2] as usize & 0xff);
                let bits = list(x[0], width);
                let fill = signed && count > 0 && bits[(at + count - 1).min(width - 1)];
                let field: Vec<bool> = (0..width)
                    .map(|i| match i < count && at + i < width {
                        true => bits[at + i],
                        false => fill,
                    })
                    .collect();
                join(&field)
            };
            check(&format!("bfe.{ty}"), field);
            small(&format!("bfe.{ty}"), |x, b, c| field(&[x, b, c]));
        }
        let insert = |x: &[u64]| {
            let (at, count) = (x[2] as usize & 0xff, x[3] as usize & 0xff);
            let (a, mut b) = (list(x[0], width), list(x[1], width));
            for i in 0..count {
                if at + i < width {
                    b[at + i] = a[i];
                }
            }
            join(&b)
        };
        check(&format!("bfi.b{width}"), insert);
        for at in 0..70 {
            for count in 0..70 {
                let x = [0x5a5a_1234_0f0f_9999, 0xdead_0123_4567_89ab, at, count];
                let cut = [
                    x[0] << (64 - width) >> (64 - width),
                    x[1] << (64 - width) >> (64 - width),
                ];
                assert_eq!(
                    value(&format!("bfi.b{width}"), &x),
                    insert(&[cut[0], cut[1], at, count])
                );
            }
        }
    }
}

/// Tries amounts up to a little more than widths are.
fn small(name: &str, oracle: impl Fn(u64, u64, u64) -> u64) {
    let cut = if name.ends_with("64") {
        u64::MAX
    } else {
        0xffff_ffff
    };
    for b in 0..70 {
        for c in 0..70 {
            for x in [0x8765_4321_fedc_ba98, 0x7fff_ffff_0000_0001] {
                assert_eq!(
                    value(name, &[x, b, c]),
                    oracle(x & cut, b, c),
                    "{name} {b} {c}"
                );
            }
        }
    }
}

#[test]
fn masks_and_extensions() {
    for a in (0..70).chain([u64::from(u32::MAX)]) {
        for b in (0..70).chain([u64::from(u32::MAX)]) {
            for clamp in [true, false] {
                let mode = if clamp { "clamp" } else { "wrap" };
                // The PTX ISA's steps.
                let (a1, b1) = (a as u32 & 31, b as u32 & 31);
                let (place, wide) = (clamp && a >= 32, clamp && b >= 32);
                let mask0 = if place { 0 } else { u32::MAX << a1 };
                let mask1 = match (a1 + b1 >= 32 || place || wide, b1) {
                    (true, _) => 0,
                    (false, 0) => u32::MAX,
                    (false, _) => u32::MAX << (a1 + b1),
                };
                let mut expected = mask0 & !mask1;
                if !wide && b1 == 0 {
                    expected = 0;
                }
                let found = value(&format!("bmsk.{mode}.b32"), &[a, b]);
                assert_eq!(found, u64::from(expected), "{mode} {a} {b}");

                let x = 0x9234_5678u32.rotate_left(a as u32 % 32);
                let n = if clamp { b.min(32) } else { b % 32 } as usize;
                let bits = list(x.into(), 32);
                for signed in [false, true] {
                    let fill = signed && n > 0 && bits[n - 1];
                    let ty = if signed { "s32" } else { "u32" };
                    let found = value(&format!("szext.{mode}.{ty}"), &[x.into(), b]);
                    let mut expected = bits.clone();
                    expected[n..].fill(fill);
                    assert_eq!(found, join(&expected), "{mode} {ty} {b}");
                }
            }
        }
    }
}

#[test]
fn bytes() {
    let bytes = |x: &[u64]| -> Vec<u64> {
        let both = x[1] << 32 | x[0];
        (0..8).map(|i| both >> (8 * i) & 0xff).collect()
    };
    let join = |bytes: [u64; 4]| bytes.iter().rev().fold(0, |x, byte| x << 8 | byte);
    check("prmt.b32", |x| {
        join([0, 1, 2, 3].map(|i| {
            let select = x[2] >> (4 * i) & 15;
            let byte = bytes(x)[select as usize & 7];
            match select & 8 {
                0 => byte,
                _ => (byte >> 7) * 0xff,
            }
        }))
    });
    // The tables of the PTX ISA: bytes 3, 2, 1, 0 of the result for c = 0, 1, 2, 3.
    for (mode, table) in [
        (
            "f4e",
            [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]],
        ),
        (
            "b4e",
            [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]],
        ),
        ("rc8", [[0; 4], [1; 4], [2; 4], [3; 4]]),
        (
            "ecl",
            [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]],
        ),
        (
            "ecr",
            [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]],
        ),
        (
            "rc16",
            [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]],
        ),
    ] {
        check(&format!("prmt.b32.{mode}"), |x| {
            let mut places: [usize; 4] = table[x[2] as usize & 3];
            places.reverse();
            join(places.map(|at| bytes(x)[at]))
        });
    }
}
