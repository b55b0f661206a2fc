//! A brute-force evaluator, written apart from the crate's own.

#![allow(dead_code)] // each user needs its part

use cute_layout::Layout;

/// Leaves as (extent, stride).
pub fn leaves(l: &Layout) -> Vec<(i64, i64)> {
    let s = l.shape().static_leaves().expect("static shape");
    s.into_iter()
        .zip(l.stride().static_leaves().expect("static stride"))
        .collect()
}

/// The offset of 1-D index `i`: digits of all leaves but the last, which takes the rest. Odd for negative indices.
pub fn eval(l: &Layout, i: i64) -> i64 {
    if i < 0 {
        return -eval(l, -i);
    }
    let modes = leaves(l);
    let (mut rest, mut acc) = (i, 0);
    for (k, (s, d)) in modes.iter().enumerate() {
        if k + 1 == modes.len() {
            acc += rest * d;
        } else {
            acc += rest % s * d;
            rest /= s;
        }
    }
    acc
}

pub fn size(l: &Layout) -> i64 {
    leaves(l).iter().map(|m| m.0).product()
}

/// All offsets, in 1-D order.
pub fn values(l: &Layout) -> Vec<i64> {
    (0..size(l)).map(|i| eval(l, i)).collect()
}

pub fn injective(l: &Layout) -> bool {
    let mut v = values(l);
    v.sort_unstable();
    v.windows(2).all(|w| w[0] != w[1])
}

/// The 1-D index of a natural coordinate, and back: colexicographic.
pub fn digits(extents: &[i64], i: i64) -> Vec<i64> {
    let mut rest = i;
    extents
        .iter()
        .map(|s| {
            let c = rest % s;
            rest /= s;
            c
        })
        .collect()
}

/// The values as a multiset.
pub fn sorted(mut v: Vec<i64>) -> Vec<i64> {
    v.sort_unstable();
    v
}

/// Offsets that are reached, each once.
pub fn image(l: &Layout) -> Vec<i64> {
    let mut v = sorted(values(l));
    v.dedup();
    v
}

/// Tells whether some layout of `n` elements has these values: tries every ordered factorisation of `n`.
pub fn some_layout_has(values: &[i64]) -> bool {
    fn extend(values: &[i64], done: usize) -> bool {
        if done == values.len() {
            return true;
        }
        let rest = values.len() / done;
        (2..=rest).filter(|f| rest.is_multiple_of(*f)).any(|f| {
            let stride = values[done];
            (0..done * f).all(|i| values[i] == values[i % done] + (i / done) as i64 * stride)
                && extend(values, done * f)
        })
    }
    values[0] == 0 && extend(values, 1)
}

/// Tells whether `a o b` has a layout of `b`'s profile: each leaf has one, and the leaves add up.
pub fn composition_exists(a: &Layout, b: &Layout) -> bool {
    let modes = leaves(b);
    let extents: Vec<i64> = modes.iter().map(|m| m.0).collect();
    modes.iter().all(|(s, d)| {
        let v: Vec<i64> = (0..*s).map(|i| eval(a, i * d)).collect();
        some_layout_has(&v)
    }) && (0..size(b)).all(|i| {
        let c = digits(&extents, i);
        let sum: i64 = c.iter().zip(&modes).map(|(c, m)| eval(a, c * m.1)).sum();
        sum == eval(a, eval(b, i))
    })
}

/// Tells whether some layout of ascending values has, with these offsets, each sum once and all of `0..target`.
pub fn complement_exists(offsets: &[i64], target: i64) -> bool {
    fn put(seen: &mut Vec<bool>, offsets: &[i64], at: i64) -> bool {
        offsets.iter().all(|o| {
            let x = (o + at) as usize;
            if seen.len() <= x {
                seen.resize(x + 1, false);
            }
            !std::mem::replace(&mut seen[x], true)
        })
    }
    fn extend(seen: &[bool], offsets: &[i64], have: &[i64], end: i64, target: i64) -> bool {
        let hole = seen.iter().position(|s| !s).unwrap_or(seen.len()) as i64;
        if hole >= target {
            return true;
        }
        // Offsets ascend and the hole must be filled, so the next stride is the hole. At the end of the mode before it would
        // be one mode with that, which has been tried.
        if hole == end || have.last().is_some_and(|l| *l >= hole) {
            return false;
        }
        let (mut seen, mut all) = (seen.to_vec(), have.to_vec());
        for copy in 1.. {
            if !have
                .iter()
                .all(|h| put(&mut seen, offsets, h + copy * hole))
            {
                return false;
            }
            all.extend(have.iter().map(|h| h + copy * hole));
            if extend(&seen, offsets, &all, (copy + 1) * hole, target) {
                return true;
            }
            if copy * hole > target {
                return false;
            }
        }
        false
    }
    let mut seen = Vec::new();
    offsets.iter().all(|o| *o >= 0)
        && put(&mut seen, offsets, 0)
        && extend(&seen, offsets, &[0], 0, target)
}

/// The largest `n` such that some layout `R` of `n` elements, with values in the domain, has `l(R(i)) == i`.
pub fn longest_right_inverse(l: &Layout) -> i64 {
    fn extend(v: &[i64], have: &[i64], best: &mut i64, steps: &mut u32) {
        *best = (*best).max(have.len() as i64);
        *steps += 1;
        if *steps > 20_000 {
            return;
        }
        let n = have.len() as i64;
        for (stride, _) in v.iter().enumerate().filter(|(_, x)| **x == n) {
            let mut all = have.to_vec();
            for copy in 1.. {
                let block: Vec<i64> = have.iter().map(|h| h + copy * stride as i64).collect();
                let fits = block
                    .iter()
                    .zip(copy * n..)
                    .all(|(at, want)| v.get(*at as usize) == Some(&want));
                if !fits {
                    break;
                }
                all.extend(block);
                extend(v, &all, best, steps);
            }
        }
    }
    let mut best = 1;
    extend(&values(l), &[0], &mut best, &mut 0);
    best
}

/// Tells whether some layout of small strides gives back the index of every offset of `l`: tries all extents and strides.
pub fn left_inverse_exists(l: &Layout) -> bool {
    let v = values(l);
    let reach = v.iter().copied().max().unwrap_or(0) as usize;
    let mut index = vec![None; reach + 1];
    for (i, x) in v.iter().enumerate() {
        index[*x as usize] = Some(i as i64);
    }
    fn extend(index: &[Option<i64>], have: &[i64]) -> bool {
        let n = have.len();
        if n >= index.len() {
            return true;
        }
        (-9..=9).any(|stride| {
            let mut all = have.to_vec();
            for copy in 1.. {
                for h in have {
                    let (at, value) = (all.len(), h + copy * stride);
                    if index.get(at).copied().flatten().is_some_and(|i| i != value) {
                        return false;
                    }
                    all.push(value);
                }
                if extend(index, &all) {
                    return true;
                }
            }
            false
        })
    }
    extend(&index, &[0])
}
