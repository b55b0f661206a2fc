//! Random regions mean the same before and after.

use cute_simplify::{Facts, Limits, Node, Region, eval, simplify};
use proptest::prelude::*;

/// Facts about one leaf, and values that fulfil them.
#[derive(Clone, Debug)]
struct Known {
    facts: Facts,
    values: Vec<u64>,
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

fn known(width: u32) -> impl Strategy<Value = Known> {
    let scale = prop_oneof![Just(0_u32), 0..width];
    (
        any::<u64>(),
        0..=width,
        scale,
        prop::collection::vec(any::<u64>(), 6),
    )
        .prop_map(move |(at, span, align, random)| {
            // From `lo` on, `span` bits of room, in multiples of a power of two.
            let unit = 1_u64 << align;
            let room = if span == 0 { 0 } else { mask(span) };
            let lo = at & mask(width) & !(unit - 1);
            let hi = lo.saturating_add(room).min(mask(width));
            let value = |r: u64| {
                let distance = hi - lo;
                let offset = if distance == u64::MAX {
                    r
                } else {
                    r % (distance + 1)
                };
                lo + (offset & !(unit - 1))
            };
            let values = random.into_iter().map(value).collect();
            Known {
                facts: Facts::range(lo, hi).and(Facts::multiple_of(unit)),
                values,
            }
        })
}

/// An operation, two operands by distance back, and a constant for where an operand is to be one.
type Step = (u8, usize, usize, u64, bool);

fn region(width: u32, knowns: &[Known], steps: &[Step], roots: &[usize]) -> Region {
    let mut nodes: Vec<Node> = (0..knowns.len() as u32).map(Node::Leaf).collect();
    for &(op, a, b, constant, use_constant) in steps {
        let a = nodes.len() - 1 - a % nodes.len();
        let b = if use_constant {
            nodes.push(Node::Const(constant & mask(width)));
            nodes.len() - 1
        } else {
            nodes.len() - 1 - b % nodes.len()
        };
        nodes.push(match op {
            0 | 12 => Node::Add(a, b),
            1 => Node::Sub(a, b),
            2 => Node::Mul(a, b),
            3 | 13 => Node::DivU(a, b),
            4 | 14 => Node::RemU(a, b),
            5 => Node::And(a, b),
            6 => Node::Or(a, b),
            7 | 15 => Node::Xor(a, b),
            8 => Node::Shl(a, b),
            9 => Node::ShrU(a, b),
            10 => Node::MinU(a, b),
            _ => Node::MaxU(a, b),
        });
    }
    let roots = roots
        .iter()
        .map(|r| nodes.len() - 1 - r % nodes.len())
        .collect();
    Region {
        width,
        leaves: knowns.iter().map(|k| k.facts).collect(),
        nodes,
        roots,
    }
}

fn constant() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..9_u64,
        (0..64_u32).prop_map(|s| 1 << s),
        (0..64_u32).prop_map(|s| (1 << s) - 1),
        (0..4096_u64).prop_map(|c| c * 16),
        any::<u64>()
    ]
}

fn cases() -> impl Strategy<Value = (Region, Vec<Known>)> {
    let width = prop_oneof![1..7_u32, Just(32), Just(64)];
    width.prop_flat_map(|width| {
        let steps = prop::collection::vec(
            (
                0..16_u8,
                0..12_usize,
                0..12_usize,
                constant(),
                any::<bool>(),
            ),
            1..40,
        );
        let roots = prop::collection::vec(0..20_usize, 1..6);
        (prop::collection::vec(known(width), 1..4), steps, roots).prop_map(
            move |(knowns, steps, roots)| (region(width, &knowns, &steps, &roots), knowns),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_regions_mean_the_same((region, knowns) in cases()) {
        let simple = simplify(&region, &Limits { nodes: 3000, iterations: 8 }).unwrap();
        prop_assert!(simple.stats.cost_after <= simple.stats.cost_before);
        for i in 0..6 {
            let leaf_values: Vec<u64> = knowns.iter().map(|k| k.values[i]).collect();
            let before = eval(&region.nodes, &region.roots, region.width, &leaf_values);
            let after = eval(&simple.nodes, &simple.roots, region.width, &leaf_values);
            prop_assert_eq!(&before, &after, "leaves {:?}", leaf_values);
            for (value, facts) in before.iter().zip(&simple.facts) {
                prop_assert!(facts.contains(*value), "{} is not in {:?}", value, facts);
            }
        }
        // What comes out is a region again, and simplifying it again costs no more.
        let again = Region { nodes: simple.nodes.clone(), roots: simple.roots.clone(), ..region.clone() };
        let again = simplify(&again, &Limits { nodes: 3000, iterations: 8 }).unwrap();
        prop_assert!(again.stats.cost_after <= simple.stats.cost_after);
    }

    #[test]
    fn random_regions_are_simplified_the_same_way_twice((region, _) in cases()) {
        let limits = Limits { nodes: 1000, iterations: 5 };
        let other = std::thread::scope(|s| s.spawn(|| simplify(&region, &limits)).join().unwrap());
        prop_assert_eq!(simplify(&region, &limits), other);
    }

    /// Sums of scaled fields, which `linear.rs` takes apart and puts together, for every value of a narrow leaf.
    #[test]
    fn sums_of_fields_mean_the_same(
        width in 3..7_u32,
        fields in prop::collection::vec((0..4_u8, 0..70_u64, 0..70_u64, any::<bool>()), 1..7),
    ) {
        let all = mask(width);
        let mut nodes = vec![Node::Leaf(0), Node::Const(0)];
        let mut sum = 1;
        for (kind, c, scale, subtract) in fields {
            let base = nodes.len();
            nodes.extend([Node::Const(c & all), Node::Const(scale & all)]);
            nodes.push([Node::DivU(0, base), Node::RemU(0, base), Node::And(0, base), Node::Add(0, base)][usize::from(kind)]);
            nodes.push(Node::Mul(base + 2, base + 1));
            nodes.push(if subtract { Node::Sub(sum, base + 3) } else { Node::Add(base + 3, sum) });
            sum = base + 4;
        }
        let region = Region { width, leaves: vec![Facts::any(width)], nodes, roots: vec![sum] };
        let simple = simplify(&region, &Limits::default()).unwrap();
        for x in 0..=all {
            let before = eval(&region.nodes, &region.roots, width, &[x]);
            prop_assert_eq!(before, eval(&simple.nodes, &simple.roots, width, &[x]), "x = {}", x);
        }
    }
}
