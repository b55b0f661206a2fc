//! Random regions mean the same before and after.

use cute_simplify::{
    Cast, Facts, Guard, Leaf, Limits, Node, Op, Predicate, Region, Simplified, Way, eval, simplify,
    simplify_by, simplify_guarded, widths,
};
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
            nodes.push(Node::Const(constant & mask(width), width));
            nodes.len() - 1
        } else {
            nodes.len() - 1 - b % nodes.len()
        };
        nodes.push(match op {
            0 | 12 => Node::Op(Op::Add, a, b),
            1 => Node::Op(Op::Sub, a, b),
            2 => Node::Op(Op::Mul, a, b),
            3 | 13 => Node::Op(Op::DivU, a, b),
            4 | 14 => Node::Op(Op::RemU, a, b),
            5 => Node::Op(Op::And, a, b),
            6 => Node::Op(Op::Or, a, b),
            7 | 15 => Node::Op(Op::Xor, a, b),
            8 => Node::Op(Op::Shl, a, b),
            9 => Node::Op(Op::ShrU, a, b),
            10 => Node::Op(Op::MinU, a, b),
            _ => Node::Op(Op::MaxU, a, b),
        });
    }
    let roots = roots
        .iter()
        .map(|r| nodes.len() - 1 - r % nodes.len())
        .collect();
    Region {
        leaves: knowns.iter().map(|k| Leaf::new(width, k.facts)).collect(),
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

/// Regions of several widths: all operations with and without signs, comparisons, conversions and selections.
fn mixed(knowns: &[(u32, Known)], steps: &[Step], roots: &[usize]) -> Region {
    let leaves: Vec<Leaf> = knowns.iter().map(|(w, k)| Leaf::new(*w, k.facts)).collect();
    let mut nodes: Vec<Node> = (0..knowns.len() as u32).map(Node::Leaf).collect();
    for &(kind, a, b, constant, use_constant) in steps {
        let of = widths(&leaves, &nodes);
        let back = |by: usize, fits: &dyn Fn(u32) -> bool| {
            let places = (0..nodes.len()).filter(|&i| fits(of[i]));
            let places: Vec<usize> = places.collect();
            (!places.is_empty()).then(|| places[places.len() - 1 - by % places.len()])
        };
        let Some(a) = back(a, &|_| true) else {
            continue;
        };
        let width = of[a];
        let b = if use_constant {
            None
        } else {
            back(b, &|w| w == width)
        };
        let condition = back(constant as usize % 7, &|w| w == 1);
        let others: Vec<u32> = [1, 3, 5, 8, 32, 64]
            .into_iter()
            .filter(|&w| w != width)
            .collect();
        let to = others[constant as usize % others.len()];
        let b = b.unwrap_or_else(|| {
            nodes.push(Node::Const(constant & mask(width), width));
            nodes.len() - 1
        });
        let kind = usize::from(kind);
        let casts = [Cast::SignExtend, Cast::ZeroExtend, Cast::Truncate];
        let cast = casts
            .into_iter()
            .cycle()
            .skip(kind)
            .find(|c| c.leads(width, to));
        nodes.push(match (kind, condition, cast) {
            (0..20, ..) => Node::Op(Op::ALL[kind], a, b),
            (20..30, ..) => Node::Compare(Predicate::ALL[kind - 20], a, b),
            (30..36, Some(condition), _) => Node::Select(condition, a, b),
            (_, _, Some(cast)) => Node::Cast(cast, a, to),
            _ => Node::Op(Op::Add, a, b),
        });
    }
    let roots = roots
        .iter()
        .map(|r| nodes.len() - 1 - r % nodes.len())
        .collect();
    Region {
        leaves,
        nodes,
        roots,
    }
}

fn mixed_cases() -> impl Strategy<Value = (Region, Vec<(u32, Known)>)> {
    let leaf = prop_oneof![Just(1_u32), Just(3), Just(5), Just(8), Just(32), Just(64)]
        .prop_flat_map(|width| known(width).prop_map(move |known| (width, known)));
    let step = (
        0..44_u8,
        0..12_usize,
        0..12_usize,
        constant(),
        any::<bool>(),
    );
    let roots = prop::collection::vec(0..20_usize, 1..6);
    (
        prop::collection::vec(leaf, 1..4),
        prop::collection::vec(step, 1..40),
        roots,
    )
        .prop_map(|(knowns, steps, roots)| (mixed(&knowns, &steps, &roots), knowns))
}

/// Leaf values at which two answers differ, if any of those drawn.
fn differ(region: &Region, simple: &Simplified, knowns: &[(u32, Known)]) -> Option<Vec<u64>> {
    (0..6)
        .map(|i| knowns.iter().map(|(_, k)| k.values[i]).collect())
        .find(|values: &Vec<u64>| {
            eval(&region.leaves, &region.nodes, &region.roots, values)
                != eval(&region.leaves, &simple.nodes, &simple.roots, values)
        })
}

/// A law that is not one, applied to what comes out, is found within a second: extensions forget signs, or comparisons do.
#[test]
fn a_wrong_law_is_found() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let wrong: [fn(Node) -> Node; 4] = [
        |node| match node {
            Node::Cast(Cast::SignExtend, a, width) => Node::Cast(Cast::ZeroExtend, a, width),
            other => other,
        },
        |node| match node {
            Node::Compare(Predicate::Slt, a, b) => Node::Compare(Predicate::Ult, a, b),
            other => other,
        },
        |node| match node {
            Node::Op(Op::DivS, a, b) => Node::Op(Op::DivU, a, b),
            other => other,
        },
        |node| match node {
            Node::Compare(Predicate::Ule, a, b) => Node::Compare(Predicate::Ult, a, b),
            other => other,
        },
    ];
    for (number, law) in wrong.into_iter().enumerate() {
        let mut runner = TestRunner::deterministic();
        let cases = (0..3000).map(|_| mixed_cases().new_tree(&mut runner).unwrap().current());
        let limits = Limits {
            nodes: 1500,
            iterations: 6,
        };
        let mut found = cases.filter_map(|(region, knowns)| {
            let mut simple = simplify(&region, &limits).unwrap();
            simple.nodes.iter_mut().for_each(|node| *node = law(*node));
            differ(&region, &simple, &knowns)
        });
        assert!(found.next().is_some(), "wrong law {number} was not found");
    }
}

/// Guards of a region: by nodes of one bit from the end, the roots that are left under one of them or under both.
fn guards(region: &Region, conditions: &[(usize, bool)]) -> Vec<Guard> {
    let of = widths(&region.leaves, &region.nodes);
    let bits: Vec<usize> = (0..region.nodes.len()).filter(|&i| of[i] == 1).collect();
    let mut known: Vec<(usize, bool)> = Vec::new();
    let mut guards: Vec<Guard> = Vec::new();
    for (number, &(back, holds)) in conditions.iter().enumerate() {
        if !bits.is_empty() {
            known.push((bits[bits.len() - 1 - back % bits.len()], holds));
            let roots = (0..region.roots.len()).filter(|root| root % 3 == number + 1);
            guards.push(Guard {
                conditions: known.clone(),
                roots: roots.collect(),
            });
        }
    }
    guards
}

/// The roots at which an answer differs from what is asked for: of those of a guard, only where it holds, or everywhere.
fn differ_under(
    region: &Region,
    guards: &[Guard],
    answer: &Simplified,
    values: &[u64],
    leaks: bool,
) -> Vec<usize> {
    let all: Vec<usize> = (0..region.nodes.len()).collect();
    let nodes = eval(&region.leaves, &region.nodes, &all, values);
    let after = eval(&region.leaves, &answer.nodes, &answer.roots, values);
    let holds = |guard: &Guard| {
        let mut conditions = guard.conditions.iter();
        conditions.all(|&(node, holds)| nodes[node] == u64::from(holds))
    };
    let counts = |root: &usize| {
        let guard = guards.iter().find(|guard| guard.roots.contains(root));
        leaks || guard.is_none_or(holds)
    };
    let is_wrong = |root: &usize| {
        let before = nodes[region.roots[*root]];
        before != after[*root] || !answer.facts[*root].contains(before)
    };
    let roots = 0..region.roots.len();
    roots.filter(counts).filter(is_wrong).collect()
}

/// Answers of guards that are taken where the guards do not hold are found, and not by chance.
#[test]
fn leaks_are_found() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let limits = Limits {
        nodes: 1500,
        iterations: 6,
    };
    let mut leaks = 0;
    for _ in 0..5000 {
        let (region, knowns) = mixed_cases().new_tree(&mut runner).unwrap().current();
        let guards = guards(&region, &[(0, true), (3, false)]);
        let simple = simplify(&region, &limits).unwrap();
        let answer = simplify_guarded(&region, &guards, simple, &limits).unwrap();
        for i in 0..6 {
            let values: Vec<u64> = knowns.iter().map(|(_, k)| k.values[i]).collect();
            let wrong = differ_under(&region, &guards, &answer, &values, false);
            assert_eq!(wrong, [0; 0], "{region:?} {guards:?} {values:?}");
            let wrong = differ_under(&region, &guards, &answer, &values, true);
            leaks += usize::from(!wrong.is_empty());
        }
    }
    assert!(leaks > 50, "{leaks}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_regions_mean_the_same((region, knowns) in cases()) {
        let simple = simplify(&region, &Limits { nodes: 3000, iterations: 8 }).unwrap();
        prop_assert!(simple.stats.cost_after <= simple.stats.cost_before);
        for i in 0..6 {
            let leaf_values: Vec<u64> = knowns.iter().map(|k| k.values[i]).collect();
            let before = eval(&region.leaves, &region.nodes, &region.roots, &leaf_values);
            let after = eval(&region.leaves, &simple.nodes, &simple.roots, &leaf_values);
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
    fn random_regions_of_several_widths_mean_the_same((region, knowns) in mixed_cases()) {
        let simple = simplify(&region, &Limits { nodes: 3000, iterations: 8 }).unwrap();
        prop_assert!(simple.stats.cost_after <= simple.stats.cost_before);
        prop_assert_eq!(differ(&region, &simple, &knowns), None);
        for i in 0..6 {
            let values: Vec<u64> = knowns.iter().map(|(_, k)| k.values[i]).collect();
            let roots = eval(&region.leaves, &region.nodes, &region.roots, &values);
            for (value, facts) in roots.iter().zip(&simple.facts) {
                prop_assert!(facts.contains(*value), "{} is not in {:?}", value, facts);
            }
        }
    }

    /// The cheaper ways of applying rules are right as well, and cost no more than what they are given.
    #[test]
    fn cheaper_ways_mean_the_same((region, knowns) in mixed_cases(), is_greedy in any::<bool>()) {
        let way = if is_greedy { Way::Greedy } else { Way::Eager };
        let simple = simplify_by(&region, &Limits { nodes: 3000, iterations: 8 }, way).unwrap();
        prop_assert!(simple.stats.cost_after <= simple.stats.cost_before);
        prop_assert_eq!(differ(&region, &simple, &knowns), None);
    }

    /// Asserts that what belongs to a guard is right where it holds, and all else everywhere.
    #[test]
    fn guarded_regions_mean_the_same_where_guards_hold(
        (region, knowns) in mixed_cases(),
        conditions in prop::collection::vec((0..8_usize, any::<bool>()), 1..3),
    ) {
        let limits = Limits { nodes: 2000, iterations: 8 };
        let guards = guards(&region, &conditions);
        let simple = simplify(&region, &limits).unwrap();
        let answer = simplify_guarded(&region, &guards, simple, &limits).unwrap();
        for i in 0..6 {
            let values: Vec<u64> = knowns.iter().map(|(_, k)| k.values[i]).collect();
            let wrong = differ_under(&region, &guards, &answer, &values, false);
            prop_assert_eq!(wrong, [0; 0], "{:?} {:?}", guards, values);
        }
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
        let mut nodes = vec![Node::Leaf(0), Node::Const(0, width)];
        let mut sum = 1;
        for (kind, c, scale, subtract) in fields {
            let base = nodes.len();
            nodes.extend([Node::Const(c & all, width), Node::Const(scale & all, width)]);
            nodes.push([Node::Op(Op::DivU, 0, base), Node::Op(Op::RemU, 0, base), Node::Op(Op::And, 0, base), Node::Op(Op::Add, 0, base)][usize::from(kind)]);
            nodes.push(Node::Op(Op::Mul, base + 2, base + 1));
            nodes.push(if subtract { Node::Op(Op::Sub, sum, base + 3) } else { Node::Op(Op::Add, base + 3, sum) });
            sum = base + 4;
        }
        let region = Region { leaves: vec![Leaf::any(width)], nodes, roots: vec![sum] };
        let simple = simplify(&region, &Limits::default()).unwrap();
        for x in 0..=all {
            let before = eval(&region.leaves, &region.nodes, &region.roots, &[x]);
            prop_assert_eq!(before, eval(&region.leaves, &simple.nodes, &simple.roots, &[x]), "x = {}", x);
        }
    }
}
