//! Facts that follow from a guard are used where it holds, and nowhere else.

mod common;

use common::{Build, show};
use cute_simplify::{
    Facts, Guard, Limits, Node, Op, Predicate, Region, Simplified, eval, simplify_guarded,
};

/// The answer where the conditions of guards are used.
fn guarded(b: &Build, guards: &[Guard]) -> Simplified {
    simplify_guarded(&b.region, guards, b.simplify(), &Limits::default()).unwrap()
}

/// A value as it is everywhere, and where a condition is `holds`; as text.
fn both(b: &mut Build, condition: usize, holds: bool, value: usize) -> (String, String) {
    b.region.roots = vec![condition, value];
    let guard = Guard {
        conditions: vec![(condition, holds)],
        roots: vec![1],
    };
    let everywhere = b.simplify();
    let there = guarded(b, &[guard]);
    assert_eq!(
        show(&there.nodes, there.roots[0]),
        show(&everywhere.nodes, everywhere.roots[0])
    );
    (
        show(&everywhere.nodes, everywhere.roots[1]),
        show(&there.nodes, there.roots[1]),
    )
}

/// A thread, whether it is below 24, and its remainder by 24.
fn below_24() -> (Build, [usize; 2]) {
    let mut b = Build::new(32);
    let t = b.leaf(Facts::range(0, 1023));
    let bound = b.c(24);
    let is_below = b.compare(Predicate::Ult, t, bound);
    let rest = b.rem(t, 24);
    (b, [is_below, rest])
}

#[test]
fn a_remainder_of_what_is_below_is_itself() {
    let (mut b, [is_below, place]) = below_24();
    assert_eq!(both(&mut b, is_below, true, place).1, "t");
    let (outside, inside) = both(&mut b, is_below, false, place);
    assert_eq!(outside, inside);
}

#[test]
fn the_threads_of_the_first_warp_are_few() {
    let mut b = Build::new(32);
    let t = b.leaf(Facts::range(0, 1023));
    let warp = b.div(t, 32);
    let zero = b.c(0);
    let is_first = b.compare(Predicate::Eq, warp, zero);
    let lane = b.rem(t, 32);
    let row = b.mul(warp, 96);
    let sum = b.add(row, lane);
    let (outside, inside) = both(&mut b, is_first, true, sum);
    assert_ne!(outside, "t");
    assert_eq!(inside, "t");
}

#[test]
fn a_difference_of_what_is_smaller_has_no_sign() {
    let mut b = Build::new(32);
    let i = b.leaf(Facts::range(0, 0x7fff_ffff));
    let n = b.leaf(Facts::range(0, 0x7fff_ffff));
    let is_there = b.compare(Predicate::Slt, i, n);
    let rest = b.op(Op::Sub, n, i);
    let wide = b.sext(rest);
    let (outside, inside) = both(&mut b, is_there, true, wide);
    assert!(outside.starts_with("s64"), "{outside}");
    assert_eq!(inside, "u64((v1 - t))");
    let zero = b.c(0);
    let some = b.compare(Predicate::Ne, rest, zero);
    assert_eq!(both(&mut b, is_there, true, some).1, "1");
    let (outside, inside) = both(&mut b, is_there, false, some);
    assert_eq!(outside, inside);
}

#[test]
fn a_condition_is_known_where_it_holds() {
    let mut b = Build::new(32);
    let [i, n, m] = [(); 3].map(|()| b.leaf(Facts::any(32)));
    let first = b.compare(Predicate::Ult, i, n);
    let second = b.compare(Predicate::Slt, m, n);
    let all = b.op(Op::And, first, second);
    let same = b.compare(Predicate::Ugt, n, i);
    let not = b.compare(Predicate::Sge, m, n);
    let [same, not] = [same, not].map(|condition| b.push(Node::Select(condition, i, m)));
    assert_eq!(both(&mut b, all, true, same).1, "t");
    assert_eq!(both(&mut b, all, true, not).1, "v2");
    // That not all hold says nothing of one.
    let (outside, inside) = both(&mut b, all, false, same);
    assert_eq!(outside, inside);
}

#[test]
fn nothing_is_known_of_other_orders() {
    let mut b = Build::new(32);
    let [i, n] = [(); 2].map(|()| b.leaf(Facts::any(32)));
    let is_below = b.compare(Predicate::Slt, i, n);
    for predicate in [Predicate::Ult, Predicate::Ule, Predicate::Ugt] {
        let other = b.compare(predicate, i, n);
        let (outside, inside) = both(&mut b, is_below, true, other);
        assert_eq!(outside, inside, "{predicate:?}");
    }
}

#[test]
fn what_is_computed_anyway_is_not_computed_twice() {
    let (mut b, [is_below, rest]) = below_24();
    let scaled = b.mul(rest, 5);
    // The product is there already, where the one with the thread itself would be another.
    b.region.roots = vec![is_below, scaled, scaled];
    let guard = Guard {
        conditions: vec![(is_below, true)],
        roots: vec![2],
    };
    let answer = guarded(&b, &[guard]);
    assert_eq!(answer.roots[1], answer.roots[2]);
    assert_eq!(answer.roots, b.simplify().roots);
}

#[test]
fn what_the_other_branch_computes_is_no_help() {
    let (mut b, [is_below, rest]) = below_24();
    let scaled = b.mul(rest, 5);
    b.region.roots = vec![is_below, scaled, scaled];
    let guards = [true, false].map(|holds| Guard {
        conditions: vec![(is_below, holds)],
        roots: vec![if holds { 1 } else { 2 }],
    });
    let answer = guarded(&b, &guards);
    assert_eq!(show(&answer.nodes, answer.roots[1]), "(t * 5)");
    assert!(
        show(&answer.nodes, answer.roots[2]).contains('%') || answer.roots[2] != answer.roots[1]
    );
}

#[test]
fn conditions_that_exclude_each_other_change_nothing() {
    let mut b = Build::new(32);
    let t = b.leaf(Facts::range(0, 1023));
    let [low, high] = [24, 48].map(|c| b.c(c));
    let is_low = b.compare(Predicate::Ult, t, low);
    let is_high = b.compare(Predicate::Ult, high, t);
    let rest = b.rem(t, 24);
    b.region.roots = vec![is_low, is_high, rest];
    let guard = Guard {
        conditions: vec![(is_low, true), (is_high, true)],
        roots: vec![2],
    };
    assert_eq!(guarded(&b, &[guard]).roots, b.simplify().roots);
}

/// The answer for a root under a guard, at every value: right where the guard holds, and found to be wrong where it is used elsewhere.
#[test]
fn an_answer_that_leaks_is_found() {
    let mut b = Build::new(8);
    let t = b.leaf(Facts::any(8));
    let bound = b.c(24);
    let is_below = b.compare(Predicate::Ult, t, bound);
    let place = b.rem(t, 24);
    let quotient = b.div(t, 7);
    let masked = b.c(31);
    let masked = b.op(Op::And, t, masked);
    b.region.roots = vec![is_below, place, quotient, masked];
    let guard = Guard {
        conditions: vec![(is_below, true)],
        roots: vec![1, 2, 3],
    };
    let answer = guarded(&b, &[guard]);
    let Region {
        leaves,
        nodes,
        roots,
    } = &b.region;
    let mut leaks = 0;
    for t in 0..=255 {
        let before = eval(leaves, nodes, roots, &[t]);
        let after = eval(leaves, &answer.nodes, &answer.roots, &[t]);
        if before[0] == 1 {
            assert_eq!(before, after, "{t}");
        } else {
            leaks += usize::from(before != after);
        }
    }
    assert!(leaks > 200, "{leaks}");
}
