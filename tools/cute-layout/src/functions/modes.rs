//! Making layouts, and rearranging modes.

use cute_layout::{ComposedLayout, IntTuple, Layout, LayoutError, Leaf};

use super::{Answer, Call, Function, MANY};
use crate::failure::Fault;
use crate::value::{MAX_LEAVES, Major, Value};

pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["make_layout", "layout"],
        signature: "make_layout(shape[, stride | LayoutLeft | LayoutRight]) or make_layout(layout..)",
        about: "a layout; column-major without a stride; of layouts, the one with these modes",
        example: "make_layout((2,(2,2)))",
        gives: "(2,(2,2)):(1,(2,4))",
        arity: 1..=MANY,
        run: make_layout,
    },
    Function {
        names: &["make_ordered_layout"],
        signature: "make_ordered_layout(shape, order)",
        about: "compact, the mode of the lowest order fastest",
        example: "make_ordered_layout((2,3,4), (2,0,1))",
        gives: "(2,3,4):(12,1,3)",
        arity: 2..=2,
        run: |c| Ok(Layout::ordered(&c.shape(0)?, &c.tuple(1)?)?.into()),
    },
    Function {
        names: &["make_identity_layout"],
        signature: "make_identity_layout(shape)",
        about: "coordinates to themselves, with basis strides",
        example: "make_identity_layout((2,3))",
        gives: "(2,3):(1@0,1@1)",
        arity: 1..=1,
        run: |c| Ok(Layout::identity(&c.shape(0)?)?.into()),
    },
    Function {
        names: &["make_layout_like"],
        signature: "make_layout_like(layout)",
        about: "compact, in the order of the strides",
        example: "make_layout_like((4,8):(16,1))",
        gives: "(4,8):(8,1)",
        arity: 1..=1,
        run: |c| Ok(c.layout(0)?.make_layout_like()?.into()),
    },
    Function {
        names: &["make_fragment_like"],
        signature: "make_fragment_like(layout)",
        about: "compact for registers: mode 0 first, the others in the order of their strides",
        example: "make_fragment_like(((2,2),3,4):((1,8),64,16))",
        gives: "((2,2),3,4):((1,2),16,4)",
        arity: 1..=1,
        run: |c| Ok(c.layout(0)?.make_fragment_like()?.into()),
    },
    Function {
        names: &["get"],
        signature: "get(x, mode..)",
        about: "a mode, or a mode of a mode",
        example: "get<1>((4,(2,3)):(1,(4,8)))",
        gives: "(2,3):(4,8)",
        arity: 2..=MANY,
        run: |c| {
            let mut value = c.value(0).clone();
            for i in 1..c.len() {
                value = mode(&value, c.index(i)?).or_else(|e| c.at(i, Err(e)))?;
            }
            Ok(value)
        },
    },
    Function {
        names: &["select"],
        signature: "select(x, mode..)",
        about: "the named modes, in this order",
        example: "select((2,3,4):(1,2,6), 2, 0)",
        gives: "(4,2):(6,1)",
        arity: 2..=MANY,
        run: |c| {
            let chosen = (1..c.len())
                .map(|i| c.index(i))
                .collect::<Result<Vec<_>, _>>()?;
            rearrange(c, |all| {
                chosen.iter().map(|&i| all.get(i).cloned()).collect()
            })
        },
    },
    Function {
        names: &["take"],
        signature: "take(x, begin, end)",
        about: "modes begin..end",
        example: "take<1,3>((2,3,4):(1,2,6))",
        gives: "(3,4):(2,6)",
        arity: 3..=3,
        run: |c| {
            let (begin, end) = (c.index(1)?, c.index(2)?);
            rearrange(c, |all| all.get(begin..end).map(<[Value]>::to_vec))
        },
    },
    Function {
        names: &["reverse"],
        signature: "reverse(x)",
        about: "the modes at the top in reverse",
        example: "reverse((2,3,4):(1,2,6))",
        gives: "(4,3,2):(6,2,1)",
        arity: 1..=1,
        run: |c| rearrange(c, |all| Some(all.iter().rev().cloned().collect())),
    },
    Function {
        names: &["replace"],
        signature: "replace(x, mode, y)",
        about: "the mode replaced by y",
        example: "replace((2,3):(1,2), 1, 5:7)",
        gives: "(2,5):(1,7)",
        arity: 3..=3,
        run: |c| {
            let (at, new) = (c.index(1)?, c.value(2).clone());
            rearrange(c, |all| {
                let mut all = all.to_vec();
                *all.get_mut(at)? = new;
                Some(all)
            })
        },
    },
    Function {
        names: &["group", "group_modes"],
        signature: "group(x, begin, end)",
        about: "modes begin..end become one",
        example: "group<0,2>((4,5,6):(1,4,20))",
        gives: "((4,5),6):((1,4),20)",
        arity: 3..=3,
        run: |c| {
            let (begin, end) = (c.index(1)?, c.index(2)?);
            if let Value::Tuple(t) = c.value(0) {
                let Some(middle) = t.modes().get(begin..end).filter(|m| !m.is_empty()) else {
                    return c.bad(
                        1,
                        format!(
                            "expected a range within the {} modes of {t}, found {begin}..{end}",
                            t.rank()
                        ),
                    );
                };
                let mut modes = t.modes()[..begin].to_vec();
                modes.push(IntTuple::Tuple(middle.to_vec()));
                modes.extend_from_slice(&t.modes()[end..]);
                return Ok(IntTuple::Tuple(modes).into());
            }
            c.map(0, |l| Ok(l.group(begin, end)?))
        },
    },
    Function {
        names: &["flatten"],
        signature: "flatten(x)",
        about: "the leaves at depth 1",
        example: "flatten(((2,4),3):((1,2),8))",
        gives: "(2,4,3):(1,2,8)",
        arity: 1..=1,
        run: |c| match c.value(0) {
            Value::Tuple(t) => Ok(t.flatten().into()),
            _ => c.map(0, |l| Ok(l.flatten()?)),
        },
    },
    Function {
        names: &["unflatten"],
        signature: "unflatten(x, profile)",
        about: "the leaves nested as the profile",
        example: "unflatten((2,4,3):(1,2,8), ((_,_),_))",
        gives: "((2,4),3):((1,2),8)",
        arity: 2..=2,
        run: |c| {
            let profile = c.shape(1)?;
            match c.value(0) {
                Value::Tuple(t) => unflatten(t, &profile),
                _ => c.map(0, |l| Ok(l.unflatten(&profile)?)),
            }
        },
    },
    Function {
        names: &["append"],
        signature: "append(x, y) or append(x, rank[, y])",
        about: "one more mode at the end; or copies of y (1:0) up to a rank",
        example: "append<3>((2,3):(1,2))",
        gives: "(2,3,1):(1,2,0)",
        arity: 2..=3,
        run: |c| attach(c, false, false),
    },
    Function {
        names: &["prepend"],
        signature: "prepend(x, y) or prepend(x, rank[, y])",
        about: "one more mode at the front; or copies of y (1:0) up to a rank",
        example: "prepend((2,3):(1,2), 4:6)",
        gives: "(4,2,3):(6,1,2)",
        arity: 2..=3,
        run: |c| attach(c, true, false),
    },
    Function {
        names: &["append_to_rank"],
        signature: "append_to_rank(x, rank[, y])",
        about: "copies of y (of 1:0 for a layout) at the end up to a rank",
        example: "append_to_rank((2,3):(1,2), 4)",
        gives: "(2,3,1,1):(1,2,0,0)",
        arity: 2..=3,
        run: |c| attach(c, false, true),
    },
    Function {
        names: &["prepend_to_rank"],
        signature: "prepend_to_rank(x, rank[, y])",
        about: "copies of y (of 1:0 for a layout) at the front up to a rank",
        example: "prepend_to_rank((2,3), 4, 1)",
        gives: "(1,1,2,3)",
        arity: 2..=3,
        run: |c| attach(c, true, true),
    },
    Function {
        names: &["zip"],
        signature: "zip(a, b)",
        about: "pairs the modes of two layouts",
        example: "zip((2,3):(1,2), (4,5):(6,24))",
        gives: "((2,4),(3,5)):((1,6),(2,24))",
        arity: 2..=2,
        run: |c| Ok(c.layout(0)?.zip(&c.layout(1)?)?.into()),
    },
];

/// Mode `i` of a value.
pub fn mode(value: &Value, i: usize) -> Answer {
    let missing = || {
        Fault::Algebra(LayoutError::Rank {
            op: "get",
            expected: format!("a mode of {value}"),
            found: i.to_string(),
        })
    };
    match value {
        Value::Tuple(t) => Ok(t.get(i).cloned().ok_or_else(missing)?.into()),
        Value::Layout(l) => Ok(l.mode(i)?.into()),
        Value::Composed(c) => {
            let outer = c.outer().mode(i)?;
            Ok(ComposedLayout::new(c.inner().clone(), c.offset().clone(), outer)?.into())
        }
        Value::Tile(t) => match t.modes().get(i).ok_or_else(missing)? {
            cute_layout::Tile::Layout(l) => Ok(l.clone().into()),
            other => Ok(Value::Tile(other.clone())),
        },
        other => Err(other.unlike("a layout or a tuple")),
    }
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Tuple(t) => t.leaves().len(),
        Value::Layout(l) => l.shape().leaves().len(),
        _ => 1,
    }
}

// The value whose modes are those that `f` makes of the modes; `None` from it is a mode that is not there.
fn rearrange(c: &Call<'_>, f: impl FnOnce(&[Value]) -> Option<Vec<Value>>) -> Answer {
    let value = c.value(0);
    if let Value::Composed(inner) = value {
        let outer = remade(c, &Value::Layout(inner.outer().clone()), f)?.to_layout()?;
        let made = ComposedLayout::new(inner.inner().clone(), inner.offset().clone(), outer)?;
        return Ok(made.into());
    }
    remade(c, value, f)
}

fn remade(c: &Call<'_>, value: &Value, f: impl FnOnce(&[Value]) -> Option<Vec<Value>>) -> Answer {
    let modes: Vec<Value> = match value {
        Value::Tuple(t) => t.modes().iter().cloned().map(Value::from).collect(),
        Value::Layout(l) => l.modes().into_iter().map(Value::from).collect(),
        other => return c.at(0, Err(other.unlike("a layout or a tuple"))),
    };
    // Before any copy is made: what is chosen is at most `arguments` times the largest mode.
    let largest = modes.iter().map(leaves).max().unwrap_or(0);
    if c.len().saturating_mul(largest) > 64 * MAX_LEAVES {
        return c.bad(
            0,
            format!("expected at most {MAX_LEAVES} leaves, found more"),
        );
    }
    let Some(made) = f(&modes) else {
        return c.bad(
            1,
            format!(
                "expected modes of the {} of {value}, found others",
                modes.len()
            ),
        );
    };
    if matches!(value, Value::Tuple(_)) {
        let modes = made.iter().map(Value::to_tuple);
        return Ok(IntTuple::Tuple(modes.collect::<Result<_, _>>()?).into());
    }
    let modes = made.iter().map(Value::to_layout);
    Ok(Layout::from_modes(&modes.collect::<Result<Vec<_>, _>>()?)?.into())
}

fn make_layout(c: &mut Call<'_>) -> Answer {
    match (c.value(0), c.args.get(1).map(|a| &a.0)) {
        (Value::Tuple(s), None) => Ok(Layout::col_major(s)?.into()),
        (Value::Tuple(s), Some(Value::Major(m))) if c.len() == 2 => Ok(match m {
            Major::Left => Layout::col_major(s)?.into(),
            Major::Right => Layout::row_major(s)?.into(),
        }),
        (Value::Tuple(s), Some(Value::Tuple(d))) if c.len() == 2 => {
            Ok(Layout::new(s.clone(), d.clone())?.into())
        }
        (Value::Layout(_) | Value::Composed(_), None) => Ok(c.value(0).clone()),
        _ => {
            let modes = (0..c.len()).map(|i| c.layout(i));
            Ok(Layout::from_modes(&modes.collect::<Result<Vec<_>, _>>()?)?.into())
        }
    }
}

fn unflatten(t: &IntTuple, profile: &IntTuple) -> Answer {
    fn build<'a>(p: &IntTuple, it: &mut impl Iterator<Item = &'a Leaf>) -> Option<IntTuple> {
        match p {
            IntTuple::Leaf(_) => it.next().cloned().map(IntTuple::Leaf),
            IntTuple::Tuple(t) => t
                .iter()
                .map(|p| build(p, it))
                .collect::<Option<_>>()
                .map(IntTuple::Tuple),
        }
    }
    let leaves = t.leaves();
    let made = (profile.leaves().len() == leaves.len())
        .then(|| build(profile, &mut leaves.into_iter()))
        .flatten();
    let wanted = || LayoutError::Rank {
        op: "unflatten",
        expected: format!("a profile of {} leaves", t.leaves().len()),
        found: profile.to_string(),
    };
    Ok(made.ok_or_else(wanted)?.into())
}

// `append` and `prepend`: a mode, or a rank (always where `to_rank`) with the mode to fill up with.
fn attach(c: &mut Call<'_>, front: bool, to_rank: bool) -> Answer {
    if c.is_tuple(0) {
        if to_rank && c.len() == 2 {
            return c.bad(
                0,
                "expected a third argument beside a tuple: what to fill up with",
            );
        }
        let mut modes = c.tuple(0)?.modes().to_vec();
        let (upto, new) = match c.len() {
            2 => (modes.len() + 1, c.tuple(1)?),
            _ => (c.index(1)?, c.tuple(2)?),
        };
        if upto < modes.len() || upto.saturating_mul(new.leaves().len()) > 64 * MAX_LEAVES {
            return c.bad(
                1,
                format!(
                    "expected a rank from {} to {MAX_LEAVES}, found {upto}",
                    modes.len()
                ),
            );
        }
        while modes.len() < upto {
            modes.insert(if front { 0 } else { modes.len() }, new.clone());
        }
        return Ok(IntTuple::Tuple(modes).into());
    }
    let by_rank = to_rank || c.len() == 3 || matches!(c.value(1), Value::Tuple(IntTuple::Leaf(_)));
    if !by_rank {
        let new = c.layout(1)?;
        return c.map(0, |l| {
            Ok(if front {
                l.prepend(&new)?
            } else {
                l.append(&new)?
            })
        });
    }
    let rank = c.index(1)?;
    let new = if c.len() == 3 {
        c.layout(2)?
    } else {
        Layout::leaf(1, 0)?
    };
    if rank.saturating_mul(new.shape().leaves().len()) > 64 * MAX_LEAVES {
        return c.bad(
            1,
            format!("expected at most {MAX_LEAVES} leaves, found more"),
        );
    }
    c.map(0, |l| {
        Ok(if front {
            l.prepend_to_rank(rank, &new)?
        } else {
            l.append_to_rank(rank, &new)?
        })
    })
}
