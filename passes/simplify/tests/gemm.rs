//! The addresses of GEMM kernels come out as they should: exactly.

mod common;

use common::{Build, base_and_offset, gemm_region, show, show_all};
use cute_simplify::{Facts, Limits, Node, Op, eval, simplify};
use std::collections::BTreeSet;

/// The same values before and after, for every value of the leaves given.
fn same_values(b: &Build, leaf_values: impl Iterator<Item = Vec<u64>>) {
    let simple = b.simplify();
    for values in leaf_values {
        let before = eval(&b.region.leaves, &b.region.nodes, &b.region.roots, &values);
        let after = eval(&b.region.leaves, &simple.nodes, &simple.roots, &values);
        assert_eq!(before, after, "leaves {values:?}");
    }
}

/// A thread's part of an ldmatrix address: row t % 16 of `row_bytes`, chunk of 16 bytes (t / 16) % 2.
fn ldmatrix_base(b: &mut Build, t: usize, row_bytes: u64) -> usize {
    let row = b.rem(t, 16);
    let row = b.mul(row, row_bytes);
    let chunk = b.div(t, 16);
    let chunk = b.rem(chunk, 2);
    let chunk = b.mul(chunk, 16);
    b.add(row, chunk)
}

/// Sixteen rows of tiles share one swizzled base; the rest are constants that fold into the loads.
fn rows_collapse(bits: u32, row_bytes: u64, step: u64) {
    let mut b = Build::new(32);
    let t = b.leaf(Facts::range(0, 127));
    let base = ldmatrix_base(&mut b, t, row_bytes);
    for i in 0..16 {
        let at = b.addc(base, i * step);
        let at = b.swizzle(at, bits, 4, 3);
        b.root(at);
    }
    let simple = b.simplify();
    let split: Vec<(usize, u64)> = simple
        .roots
        .iter()
        .map(|&r| base_and_offset(&simple, r))
        .collect();
    let bases: BTreeSet<usize> = split.iter().map(|s| s.0).collect();
    assert_eq!(bases.len(), 1, "{:#?}", show_all(&simple));
    let offsets: Vec<u64> = split.iter().map(|s| s.1).collect();
    assert_eq!(offsets, (0..16).map(|i| i * step).collect::<Vec<_>>());
    same_values(&b, (0..128).map(|t| vec![t]));
}

#[test]
fn rows_of_64_bytes_share_one_base() {
    rows_collapse(2, 64, 512);
    rows_collapse(2, 64, 1024);
}

#[test]
fn rows_of_128_bytes_share_one_base() {
    rows_collapse(3, 128, 1024);
    rows_collapse(3, 128, 2048);
}

/// The four slices of 32 bytes in a row of 128: the same base, exclusive-ored with a constant.
#[test]
fn k_slices_are_one_exclusive_or_each() {
    let mut b = Build::new(32);
    let t = b.leaf(Facts::range(0, 127));
    let base = ldmatrix_base(&mut b, t, 128);
    for slice in 0..4 {
        let at = b.addc(base, slice * 32);
        let at = b.swizzle(at, 3, 4, 3);
        b.root(at);
    }
    let simple = b.simplify();
    let base = simple.roots[0];
    for (slice, &root) in simple.roots.iter().enumerate().skip(1) {
        let Node::Op(Op::Xor, from, by) = simple.nodes[root] else {
            panic!("{:#?}", show_all(&simple))
        };
        assert_eq!(
            (from, simple.nodes[by]),
            (base, Node::Const(slice as u64 * 32, 32)),
            "{:#?}",
            show_all(&simple)
        );
    }
    same_values(&b, (0..128).map(|t| vec![t]));
}

/// Rows and slices together: four exclusive ors, and constants.
#[test]
fn rows_and_slices_cost_three_operations_more_than_one_address() {
    let address = |offsets: &[u64]| {
        let mut b = Build::new(32);
        let t = b.leaf(Facts::range(0, 127));
        let base = ldmatrix_base(&mut b, t, 128);
        for &offset in offsets {
            let at = b.addc(base, offset);
            let at = b.swizzle(at, 3, 4, 3);
            b.root(at);
        }
        b
    };
    let one = address(&[0]).simplify().stats.cost_after;
    let offsets: Vec<u64> = (0..8)
        .flat_map(|row| (0..4).map(move |slice| row * 2048 + slice * 32))
        .collect();
    let all = address(&offsets);
    let cost = all.simplify().stats.cost_after;
    // Three instructions, and next to nothing for each of the 28 constants that fold into a load.
    assert_eq!(cost - one, 3 * 16 + 28, "{:#?}", show_all(&all.simplify()));
    same_values(&all, (0..128).map(|t| vec![t]));
}

/// The thread's part of a swizzled address in a ring buffer does not depend on the slot.
#[test]
fn the_slot_of_a_ring_buffer_is_added_last() {
    let mut b = Build::new(32);
    let t = b.leaf(Facts::range(0, 127));
    let slot = b.leaf(Facts::range(0, 3));
    let base = ldmatrix_base(&mut b, t, 128);
    let stage = b.mul(slot, 16384);
    let base = b.add(base, stage);
    for offset in [0, 1024, 4096] {
        let at = b.addc(base, offset);
        let at = b.swizzle(at, 3, 4, 3);
        b.root(at);
    }
    let simple = b.simplify();
    let (shared, _) = base_and_offset(&simple, simple.roots[0]);
    let Node::Op(Op::Add, one, other) = simple.nodes[shared] else {
        panic!("{:#?}", show_all(&simple))
    };
    let texts = [show(&simple.nodes, one), show(&simple.nodes, other)];
    assert!(texts.contains(&"(v1 << 14)".to_string()), "{texts:?}");
    assert!(texts.iter().any(|t| !t.contains("v1")), "{texts:?}");
    for (&root, offset) in simple.roots.iter().zip([0, 1024, 4096]) {
        assert_eq!(base_and_offset(&simple, root), (shared, offset));
    }
    same_values(&b, (0..128).flat_map(|t| (0..4).map(move |s| vec![t, s])));
}

/// Rows of a matrix whose leading dimension is an argument: one product by it for all, and multiples of it.
#[test]
fn a_leading_dimension_that_is_an_argument() {
    let mut b = Build::new(64);
    let t = b.leaf(Facts::range(0, 127));
    let block = b.leaf(Facts::range(0, 1023));
    let ld = b.leaf(Facts::range(8, 1 << 31).and(Facts::multiple_of(8)));
    for i in 0..4 {
        let row = b.div(t, 4);
        let first = b.mul(block, 128);
        let row = b.add(first, row);
        let row = b.addc(row, 32 * i);
        let at = b.push(Node::Op(Op::Mul, row, ld));
        let col = b.rem(t, 4);
        let col = b.mul(col, 8);
        let at = b.add(at, col);
        let at = b.mul(at, 2);
        b.root(at);
    }
    let simple = b.simplify();
    let by_variable = |n: &&Node| matches!(n, Node::Op(Op::Mul, ..));
    let products = simple.nodes.iter().filter(by_variable).count();
    // ld * 96 may be a product; the row times ld is there once.
    assert!(
        products <= 2,
        "{products} products: {:#?}",
        show_all(&simple)
    );
    same_values(
        &b,
        (0..128).flat_map(|t| [8, 4096, 1 << 31].map(|ld| vec![t, (t * 7) % 1024, ld])),
    );
}

/// A whole kernel's addresses: a handful of bases, everything else a constant.
#[test]
fn the_addresses_of_a_kernel() {
    let region = gemm_region();
    let simple = simplify(&region, &Limits::default()).unwrap();
    assert!(!simple.stats.hit_limit);
    let bases: BTreeSet<usize> = simple
        .roots
        .iter()
        .map(|&r| base_and_offset(&simple, r).0)
        .collect();
    // Two copies from global memory, one to shared memory for both, two slices each of A and B, C.
    assert_eq!(bases.len(), 2 + 1 + 4 + 1, "{:#?}", show_all(&simple));
    assert!(
        simple.stats.cost_after * 4 < simple.stats.cost_before,
        "{:?}",
        simple.stats
    );
    let dear = |n: &&Node| {
        matches!(
            n,
            Node::Op(Op::DivU, ..) | Node::Op(Op::RemU, ..) | Node::Op(Op::Mul, ..)
        )
    };
    assert_eq!(simple.nodes.iter().filter(dear).count(), 0);
    for t in 0..128 {
        for rest in [[0, 0, 0, 0], [31, 30, 127, 2], [5, 17, 64, 1]] {
            let values: Vec<u64> = std::iter::once(t).chain(rest).collect();
            let before = eval(&region.leaves, &region.nodes, &region.roots, &values);
            assert_eq!(
                before,
                eval(&region.leaves, &simple.nodes, &simple.roots, &values),
                "{values:?}"
            );
        }
    }
}

#[test]
fn the_same_answer_again_and_in_other_threads() {
    let region = gemm_region();
    let here = simplify(&region, &Limits::default()).unwrap();
    assert_eq!(here, simplify(&region, &Limits::default()).unwrap());
    let there: Vec<_> = std::thread::scope(|scope| {
        let run = || scope.spawn(|| simplify(&region, &Limits::default()).unwrap());
        let threads: Vec<_> = (0..4).map(|_| run()).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(there.iter().all(|t| *t == here));
}

#[test]
fn limits_leave_an_answer() {
    let region = gemm_region();
    for (nodes, iterations) in [
        (0, 10),
        (400, 10),
        (700, 10),
        (10_000, 0),
        (10_000, 1),
        (10_000, 2),
    ] {
        let simple = simplify(&region, &Limits { nodes, iterations }).unwrap();
        assert!(
            simple.stats.hit_limit,
            "{nodes} nodes, {iterations} iterations"
        );
        assert!(simple.stats.cost_after <= simple.stats.cost_before);
        let values = [77, 3, 9, 12, 2];
        let before = eval(&region.leaves, &region.nodes, &region.roots, &values);
        assert_eq!(
            before,
            eval(&region.leaves, &simple.nodes, &simple.roots, &values)
        );
    }
}

/// The answer for a kernel is the same however often it is asked for, in two threads. It was over 1,000 runs; these are as many as take a second.
#[test]
fn the_same_answer_each_time() {
    let region = gemm_region();
    let first = simplify(&region, &Limits::default()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for run in 0..40 {
                    let again = simplify(&region, &Limits::default()).unwrap();
                    assert_eq!(again, first, "run {run}");
                }
            });
        }
    });
}
