//! Small expressions and what becomes of them, and regions that are refused.

mod common;

use common::{Build, show, show_all};
use cute_simplify::{
    Cast, Error, Facts, Leaf, Limits, Node, Op, Predicate, Region, Way, eval, simplify, simplify_by,
};

/// One root over `t` with the facts given, as text.
fn becomes(facts: Facts, make: impl Fn(&mut Build, usize) -> usize) -> String {
    let mut b = Build::new(32);
    let t = b.leaf(facts);
    let root = make(&mut b, t);
    b.root(root);
    show_all(&b.simplify()).remove(0)
}

/// A thread index of 128 threads.
fn thread() -> Facts {
    Facts::range(0, 127)
}

#[test]
fn ranges_remove_divisions() {
    assert_eq!(becomes(thread(), |b, t| b.div(t, 128)), "0");
    assert_eq!(becomes(thread(), |b, t| b.rem(t, 128)), "t");
    assert_eq!(becomes(Facts::range(0, 2), |b, t| b.rem(t, 3)), "t");
    assert_eq!(becomes(Facts::range(6, 8), |b, t| b.div(t, 3)), "2");
    // Nothing is known: it stays, the remainder as what it is made of.
    assert_eq!(
        becomes(Facts::any(32), |b, t| b.rem(t, 3)),
        "(t - ((t / 3) * 3))"
    );
    assert_eq!(becomes(Facts::any(32), |b, t| b.div(t, 3)), "(t / 3)");
}

#[test]
fn divisions_by_powers_of_two_are_bits() {
    assert_eq!(becomes(thread(), |b, t| b.div(t, 4)), "(t >> 2)");
    let lane_group = |b: &mut Build, t| {
        let lane = b.rem(t, 32);
        b.div(lane, 4)
    };
    assert_eq!(becomes(Facts::range(0, 31), lane_group), "(t >> 2)");
    assert_eq!(becomes(thread(), lane_group).matches(['&', '>']).count(), 3);
    let there_and_back = |b: &mut Build, t| {
        let q = b.div(t, 8);
        b.mul(q, 64)
    };
    assert_eq!(becomes(thread(), there_and_back), "((t >> 3) << 6)");
}

#[test]
fn a_contiguous_copy_is_one_product() {
    // Row t/8 of 64 elements, column (t%8)*8.
    let contiguous = |b: &mut Build, t| {
        let row = b.div(t, 8);
        let row = b.mul(row, 64);
        let col = b.rem(t, 8);
        let col = b.mul(col, 8);
        b.add(row, col)
    };
    assert_eq!(becomes(thread(), contiguous), "(t << 3)");
    let by_twelves = |b: &mut Build, t| {
        let row = b.div(t, 12);
        let row = b.mul(row, 12);
        let col = b.rem(t, 12);
        b.add(row, col)
    };
    assert_eq!(becomes(thread(), by_twelves), "t");
}

#[test]
fn the_example_of_the_crate() {
    // ((t / 4) % 8) * 64 + (t % 4) * 16
    let address = |b: &mut Build, t| {
        let row = b.div(t, 4);
        let row = b.rem(row, 8);
        let row = b.mul(row, 64);
        let col = b.rem(t, 4);
        let col = b.mul(col, 16);
        b.add(row, col)
    };
    assert_eq!(becomes(thread(), address), "((t & 31) << 4)");
}

#[test]
fn sums_in_any_order_are_one_sum() {
    let mut b = Build::new(32);
    let leaves: Vec<usize> = (0..4).map(|_| b.leaf(Facts::any(32))).collect();
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let left = order
            .iter()
            .map(|&i| leaves[i])
            .reduce(|s, x| b.add(s, x))
            .unwrap();
        let right = order
            .iter()
            .map(|&i| leaves[i])
            .rev()
            .reduce(|s, x| b.add(x, s))
            .unwrap();
        let both = b.addc(right, 12);
        b.root(left);
        b.root(both);
    }
    let simple = b.simplify();
    for pair in simple.roots.chunks(2) {
        assert_eq!(pair, &simple.roots[..2]);
    }
    // Three additions, and a constant at the roots.
    assert_eq!(simple.stats.cost_after / 16, 3);
}

#[test]
fn what_is_subtracted_again_is_gone() {
    let gone = |b: &mut Build, t| {
        let other = b.leaf(Facts::any(32));
        let sum = b.add(t, other);
        let sum = b.addc(sum, 100);
        let back = b.push(Node::Op(Op::Sub, sum, other));
        let c = b.c(40);
        b.push(Node::Op(Op::Sub, back, c))
    };
    assert_eq!(becomes(Facts::any(32), gone), "(t + 60)");
}

#[test]
fn disjoint_bits_are_sums() {
    let or = |b: &mut Build, t| {
        let high = b.mul(t, 32);
        let c = b.c(5);
        b.push(Node::Op(Op::Or, high, c))
    };
    assert_eq!(becomes(thread(), or), "((t << 5) + 5)");
    let aligned = |b: &mut Build, t| {
        let c = b.c(5);
        b.push(Node::Op(Op::Xor, t, c))
    };
    assert_eq!(becomes(Facts::multiple_of(8), aligned), "(t + 5)");
    assert_eq!(becomes(Facts::any(32), aligned), "(t ^ 5)");
}

#[test]
fn minima_by_ranges() {
    let min = |limit| {
        move |b: &mut Build, t| {
            let c = b.c(limit);
            b.push(Node::Op(Op::MinU, t, c))
        }
    };
    assert_eq!(becomes(thread(), min(127)), "t");
    assert_eq!(becomes(thread(), min(126)), "(t min 126)");
    assert_eq!(becomes(Facts::range(64, 127), min(64)), "64");
}

#[test]
fn a_divisor_that_may_be_zero_keeps_its_division() {
    let mut b = Build::new(32);
    let x = b.leaf(Facts::any(32));
    let by = b.push(Node::Op(Op::DivU, x, x));
    let left = b.push(Node::Op(Op::RemU, x, x));
    b.root(by);
    b.root(left);
    // Both are asked for, so the remainder is made from the quotient.
    assert_eq!(show_all(&b.simplify()), ["(t / t)", "(t - (t * (t / t)))"]);
    b.region.leaves[0].facts = Facts::range(1, 9);
    assert_eq!(show_all(&b.simplify()), ["1", "0"]);
}

#[test]
fn facts_about_the_roots() {
    let mut b = Build::new(32);
    let t = b.leaf(thread());
    let at = b.mul(t, 48);
    let at = b.addc(at, 16);
    b.root(at);
    let facts = b.simplify().facts[0];
    assert_eq!(
        (facts.lo, facts.hi, facts.zero_bits & 15),
        (16, 127 * 48 + 16, 15)
    );
}

#[test]
fn sixty_four_bits_and_one_bit() {
    let mut b = Build::new(64);
    let t = b.leaf(Facts::multiple_of(1 << 40));
    let wide = b.addc(t, u64::MAX);
    let wide = b.addc(wide, 3);
    b.root(wide);
    assert_eq!(show_all(&b.simplify()), ["(t + 2)"]);
    let mut b = Build::new(1);
    let t = b.leaf(Facts::any(1));
    let twice = b.add(t, t);
    b.root(twice);
    assert_eq!(show_all(&b.simplify()), ["0"]);
}

#[test]
fn deep_regions_do_not_overflow_the_stack() {
    let mut b = Build::new(32);
    let leaves: Vec<usize> = (0..64).map(|_| b.leaf(Facts::any(32))).collect();
    let mut node = leaves[0];
    for i in 0..4000 {
        node = b.push(if i % 3 == 0 {
            Node::Op(Op::Xor, node, leaves[i % 64])
        } else {
            Node::Op(Op::Add, node, leaves[i % 64])
        });
    }
    b.root(node);
    let simple = b.simplify();
    let values: Vec<u64> = (0..64).map(|i| (i * 0x1234_5677) & 0xffff_ffff).collect();
    let before = eval(&b.region.leaves, &b.region.nodes, &b.region.roots, &values);
    assert_eq!(
        before,
        eval(&b.region.leaves, &simple.nodes, &simple.roots, &values)
    );
}

/// An argument that a kernel asserts to be at least 1.
fn extent() -> Facts {
    Facts::range(1, i32::MAX as u64)
}

#[test]
fn signs_that_nothing_has_are_gone() {
    let by_64 = |op| {
        move |b: &mut Build, t| {
            let c = b.c(64);
            b.op(op, t, c)
        }
    };
    assert_eq!(becomes(extent(), by_64(Op::DivS)), "(t >> 6)");
    assert_eq!(becomes(extent(), by_64(Op::RemS)), "(t & 63)");
    assert_eq!(becomes(extent(), by_64(Op::MinS)), "(t min 64)");
    // What may be negative keeps them.
    assert_eq!(becomes(Facts::any(32), by_64(Op::DivS)), "(t divsi 64)");
    assert_eq!(becomes(extent(), |b, t| b.sext(t)), "u64(t)");
    assert_eq!(becomes(Facts::any(32), |b, t| b.sext(t)), "s64(t)");
}

/// A quotient, and one more where something is left.
#[test]
fn a_quotient_that_is_rounded_up_is_a_sum_and_a_shift() {
    let tiles = |b: &mut Build, t| {
        let c = b.c(64);
        let quotient = b.op(Op::DivS, t, c);
        let whole = b.op(Op::Mul, quotient, c);
        let more = b.compare(Predicate::Sgt, t, whole);
        let more = b.push(Node::Cast(Cast::ZeroExtend, more, 32));
        b.add(quotient, more)
    };
    assert_eq!(becomes(Facts::range(1, 1 << 30), tiles), "((t + 63) >> 6)");
}

#[test]
fn comparisons_are_decided_by_ranges() {
    let below = |limit| {
        move |b: &mut Build, t| {
            let at = b.addc(t, 16);
            let limit = b.c(limit);
            b.compare(Predicate::Slt, at, limit)
        }
    };
    assert_eq!(becomes(thread(), below(144)), "1");
    assert_eq!(becomes(thread(), below(16)), "0");
    assert_eq!(becomes(thread(), below(100)), "(t ult 84)");
}

/// Columns of a thread in a tile, eight at a time, of a matrix whose extent is a multiple of 8: the tile decides.
#[test]
fn a_predicate_of_a_vector_is_one_of_its_tile() {
    let mut b = Build::new(32);
    let (t, n) = (
        b.leaf(thread()),
        b.leaf(extent().and(Facts::multiple_of(8))),
    );
    let tile = b.mul(t, 8);
    let predicates: Vec<usize> = (0..4)
        .map(|i| {
            let at = b.addc(tile, 2 * i);
            b.compare(Predicate::Slt, at, n)
        })
        .collect();
    b.region.roots = predicates;
    let simple = b.simplify();
    assert_eq!(simple.roots, [simple.roots[0]; 4]);
    assert_eq!(show_all(&simple)[0], "((t << 3) ult v1)");
}

#[test]
fn comparisons_are_made_at_the_narrow_width() {
    let wide = |b: &mut Build, t| {
        let (t, limit) = (b.sext(t), b.wide(40));
        b.compare(Predicate::Slt, t, limit)
    };
    assert_eq!(becomes(Facts::any(32), wide), "(t slt 40)");
    assert_eq!(becomes(thread(), wide), "(t ult 40)");
}

/// Offsets of 64 bits of rows and columns of 32: the constant is added last, and narrow arithmetic stays narrow.
#[test]
fn sums_see_through_conversions() {
    let wide = |b: &mut Build, t| {
        let row = b.addc(t, 16);
        let row = b.sext(row);
        let bytes = b.wide(48);
        b.op(Op::Mul, row, bytes)
    };
    assert_eq!(becomes(thread(), wide), "(u64((t * 48)) + 768)");
}

#[test]
fn selections_that_are_decided_or_something_else() {
    let smaller = |b: &mut Build, t| {
        let c = b.c(40);
        let less = b.compare(Predicate::Slt, t, c);
        b.push(Node::Select(less, t, c))
    };
    assert_eq!(becomes(thread(), smaller), "(t min 40)");
    assert_eq!(becomes(Facts::range(0, 39), smaller), "t");
    assert_eq!(becomes(Facts::any(32), smaller), "(t minsi 40)");
}

#[test]
fn regions_that_are_not_well_formed() {
    let good = Region {
        leaves: vec![Leaf::any(8)],
        nodes: vec![Node::Leaf(0), Node::Op(Op::Add, 0, 0)],
        roots: vec![1],
    };
    let refused = |region: Region| simplify(&region, &Limits::default()).unwrap_err();
    assert!(simplify(&good, &Limits::default()).is_ok());
    for width in [0, 65] {
        let leaves = vec![Leaf::new(width, Facts::range(0, 0))];
        let region = Region {
            leaves,
            ..good.clone()
        };
        assert_eq!(refused(region), Error::Width { node: 0, width });
    }
    let with = |node| Region {
        nodes: vec![Node::Leaf(0), Node::Const(1, 16), Node::Const(1, 1), node],
        ..good.clone()
    };
    for (kind, widths) in [
        (Node::Op(Op::Add, 0, 1), vec![8, 16]),
        (Node::Compare(Predicate::Ult, 0, 1), vec![8, 16]),
        (Node::Cast(Cast::ZeroExtend, 0, 8), vec![8]),
        (Node::Cast(Cast::Truncate, 0, 16), vec![8]),
        (Node::Select(0, 0, 0), vec![8, 8, 8]),
        (Node::Select(2, 0, 1), vec![1, 8, 16]),
    ] {
        let error = Error::Widths {
            node: 3,
            kind,
            widths,
        };
        assert_eq!(refused(with(kind)), error);
    }
    assert_eq!(
        refused(Region {
            leaves: vec![],
            ..good.clone()
        }),
        Error::Leaf {
            node: 0,
            leaf: 0,
            leaves: 0
        }
    );
    assert_eq!(
        refused(Region {
            roots: vec![0, 2],
            ..good.clone()
        }),
        Error::Root {
            root: 1,
            node: 2,
            nodes: 2
        }
    );
    let forward = vec![Node::Leaf(0), Node::Op(Op::Add, 0, 1)];
    assert_eq!(
        refused(Region {
            nodes: forward,
            ..good.clone()
        }),
        Error::Operand {
            node: 1,
            operand: 1
        }
    );
    let wide = vec![Node::Const(256, 8), Node::Leaf(0)];
    assert_eq!(
        refused(Region {
            nodes: wide,
            ..good.clone()
        }),
        Error::Constant {
            node: 0,
            value: 256,
            width: 8
        }
    );
    let facts = Facts::range(3, 5).and(Facts::multiple_of(8));
    assert_eq!(
        refused(Region {
            leaves: vec![Leaf::new(8, facts)],
            ..good.clone()
        }),
        Error::Facts {
            leaf: 0,
            facts,
            width: 8
        }
    );
    let empty = simplify(
        &Region {
            nodes: vec![],
            roots: vec![],
            ..good
        },
        &Limits::default(),
    )
    .unwrap();
    assert_eq!((empty.nodes.len(), empty.roots.len()), (0, 0));
}

/// The cheaper ways find what facts decide; of the addresses of a kernel they find no more than all rules until nothing changes.
#[test]
fn cheaper_ways_find_less() {
    let mut b = Build::new(32);
    let t = b.leaf(thread());
    let quotient = b.div(t, 128);
    b.root(quotient);
    let region = &b.region;
    for way in [Way::Eager, Way::Greedy, Way::Saturate] {
        let simple = simplify_by(region, &Limits::default(), way).unwrap();
        assert_eq!(show(&simple.nodes, simple.roots[0]), "0", "{way:?}");
    }
    let region = common::gemm_region();
    let cost = |way| {
        let simple = simplify_by(&region, &Limits::default(), way).unwrap();
        simple.stats.cost_after
    };
    let [all, eager, greedy] = [Way::Saturate, Way::Eager, Way::Greedy].map(cost);
    assert!(all <= eager && eager <= greedy, "{all} {eager} {greedy}");
    assert!(
        greedy
            < simplify(&region, &Limits::default())
                .unwrap()
                .stats
                .cost_before
    );
}
