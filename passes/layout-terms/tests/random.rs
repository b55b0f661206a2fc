//! Random terms are the same values before and after.
//!
//! A term's leaves are layouts with symbols; then the symbols get numbers, and both the term and its answer are computed from
//! the leaves by the static algebra, and compared at all coordinates.

use cute_layout::{
    ComposedLayout, IntTuple, Layout, Leaf, Swizzle, Term,
    ops::{Attrs, Value, apply},
    record,
    symbolic::{Poly, Symbol},
};
use cute_layout_terms::{
    Form, Head, Kind, Limits, Problem, Simplified, actual, arithmetic, ideal, plain, simplify,
};
use std::collections::BTreeMap;

/// Numbers in an order that is the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) % n as u64) as usize
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// Values for the symbols of a problem.
type Numbers = BTreeMap<String, i64>;

/// Symbols, with numbers that their facts allow.
struct Symbols {
    all: Vec<Symbol>,
}

impl Symbols {
    fn new(random: &mut Random) -> Symbols {
        let symbol = |i: usize, div| {
            Symbol::new(&format!("n{i}"))
                .with_div(div)
                .with_range(1, Some(1 << 20))
        };
        let all = (0..4)
            .map(|i| symbol(i, random.pick(&[1, 1, 2, 8])))
            .collect();
        Symbols { all }
    }

    fn leaf(&self, random: &mut Random) -> Leaf {
        match random.below(5) {
            0 => Leaf::Static(random.pick(&[1, 2, 4, 8])),
            1 => Leaf::Static(random.pick(&[2, 3, 6, 16])),
            _ => Leaf::symbolic(Poly::symbol(random.pick(&self.all)).unwrap()),
        }
    }

    fn numbers(&self, random: &mut Random) -> Numbers {
        let number = |s: &Symbol| (s.name.to_string(), s.div * random.pick(&[1, 1, 2, 3, 4]));
        self.all.iter().map(number).collect()
    }

    /// A layout that is compact in some order, with a stride that is a symbol, or with gaps.
    fn layout(&self, random: &mut Random) -> Layout {
        let rank = 1 + random.below(3);
        let extents: Vec<Leaf> = (0..rank).map(|_| self.leaf(random)).collect();
        let mut strides = vec![Leaf::Static(0); rank];
        let (at, to) = (random.below(rank), random.below(rank));
        let mut order: Vec<usize> = (0..rank).collect();
        order.swap(at, to);
        let mut next = Leaf::Static(random.pick(&[1, 1, 1, 2]));
        for i in order {
            strides[i] = match random.below(8) {
                0 => self.leaf(random),
                1 => Leaf::Static(0),
                _ => next.clone(),
            };
            next = next.mul(&extents[i]).unwrap();
        }
        if rank == 1 {
            let one = |mut leaves: Vec<Leaf>| IntTuple::Leaf(leaves.remove(0));
            return Layout::new(one(extents), one(strides)).unwrap();
        }
        let tuple =
            |leaves: Vec<Leaf>| IntTuple::Tuple(leaves.into_iter().map(IntTuple::Leaf).collect());
        Layout::new(tuple(extents), tuple(strides)).unwrap()
    }
}

/// A value where the symbols have numbers.
fn at(value: &Value, numbers: &Numbers) -> Option<Value> {
    let mut whole = true;
    let made = value.with_leaves(&mut |d| {
        let number = match &d.term {
            Term::Symbolic(p) => p.eval(&|s| numbers.get(&*s.name).copied()),
            _ => None,
        };
        whole &= number.is_some();
        Leaf::Static(number.unwrap_or(1))
    });
    made.ok().filter(|_| whole)
}

fn offset(value: &Value, i: i64) -> Option<IntTuple> {
    let coord = IntTuple::Leaf(Leaf::Static(i));
    match value {
        Value::Layout(l) => l.eval(&coord).ok(),
        Value::ComposedLayout(c) => c.eval(&coord).ok(),
        _ => None,
    }
}

fn size(value: &Value) -> Option<i64> {
    match value {
        Value::Layout(l) => l.size().ok(),
        Value::ComposedLayout(c) => c.size().ok(),
        _ => None,
    }
}

/// The difference between two values as functions, or as integers.
fn differ(a: &Value, b: &Value) -> bool {
    match (size(a), size(b)) {
        (Some(n), Some(m)) => n != m || (0..n.min(5_000)).any(|i| offset(a, i) != offset(b, i)),
        _ => a != b,
    }
}

/// Draws a problem: an operation that is not defined on what was drawn is left out.
fn problem(random: &mut Random, symbols: &Symbols) -> Problem {
    let mut p = Problem::default();
    for _ in 0..2 + random.below(2) {
        p.leaf(Value::Layout(symbols.layout(random)));
    }
    let small = random.pick(&[(2, 1), (4, 1), (8, 1), (2, 4), (4, 2)]);
    p.leaf(Value::Layout(Layout::leaf(small.0, small.1).unwrap()));
    let swizzle = p.leaf(Value::Swizzle(random.pick(&[
        Swizzle::new(1, 0, 1).unwrap(),
        Swizzle::new(2, 1, 3).unwrap(),
    ])));
    let zero = p.leaf(Value::IntTuple(IntTuple::Leaf(Leaf::Static(0))));
    let index = p.leaf(Value::Coord(IntTuple::Leaf(Leaf::Static(
        random.below(40) as i64
    ))));
    let layouts = |p: &Problem| -> Vec<usize> {
        let is_layout = |i: &usize| size_of_sort(&p.nodes[*i].value);
        (0..p.nodes.len()).filter(is_layout).collect()
    };
    for _ in 0..3 + random.below(8) {
        let candidates = layouts(&p);
        let (a, b) = (random.pick(&candidates), random.pick(&candidates));
        let (head, operands): (Head, Vec<usize>) = match random.below(20) {
            0 | 1 => (Head::new("coalesce"), vec![a]),
            2..=5 => (Head::new("composition"), vec![a, b]),
            6 => (Head::new("flatten"), vec![a]),
            7 => (Head::new("filter"), vec![a]),
            8 => (Head::new("right_inverse"), vec![a]),
            9 => (Head::new("left_inverse"), vec![a]),
            10 => (Head::new("logical_divide"), vec![a, b]),
            11 => (Head::new("zipped_divide"), vec![a, b]),
            12 => (Head::new("logical_product"), vec![a, b]),
            13 => (Head::at("get", &[random.below(2) as i64]), vec![a]),
            14 => (Head::new("complement"), vec![a, b]),
            15 => (Head::new("make_composed_layout"), vec![swizzle, zero, a]),
            16 => (Head::new("raked_product"), vec![a, b]),
            17 => (Head::new("layout_eval"), vec![index, a]),
            18 => (Head::new("cosize"), vec![a]),
            _ => (Head::new("size"), vec![a]),
        };
        // Half of what is computed is computed as an op does.
        let values: Vec<Value> = operands.iter().map(|&o| p.nodes[o].value.clone()).collect();
        let typed = actual(&head, &values);
        match typed.filter(|_| random.below(2) == 0) {
            Some(value) if p.op(head.clone(), &operands).is_err() || random.below(2) == 0 => {
                let plain: Vec<Value> = values.iter().map(plain).collect();
                let cost = arithmetic(&head, &plain).unwrap_or(0);
                p.push(Kind::Op(head, operands), value, cost);
            }
            Some(_) => {}
            None => {
                let _ = p.op(head, &operands);
            }
        }
    }
    let first = p.nodes.len().saturating_sub(4);
    p.roots = (first..p.nodes.len()).collect();
    p
}

fn shown(p: &Problem) -> String {
    let line = |(i, n): (usize, &cute_layout_terms::Node)| match &n.kind {
        Kind::Op(head, operands) => format!("{i}: {} {operands:?} = {}", head.op, n.value),
        _ => format!("{i}: {}", n.value),
    };
    let lines: Vec<String> = p.nodes.iter().enumerate().map(line).collect();
    lines.join("\n")
}

fn size_of_sort(value: &Value) -> bool {
    matches!(value, Value::Layout(_) | Value::ComposedLayout(_))
}

/// Tells whether what the op would assert holds.
fn asserts(head: &Head, operands: &[&Value], numbers: &Numbers) -> bool {
    let (mut traced, mut inputs) = (Vec::new(), Vec::new());
    for operand in operands {
        traced.push(plain(operand).traced(inputs.len()));
        for d in operand.dynamic_leaves() {
            let Term::Symbolic(p) = &d.term else {
                return false;
            };
            match p.eval(&|s| numbers.get(&*s.name).copied()) {
                Some(number) => inputs.push(number),
                None => return false,
            }
        }
    }
    if !head.is_op() {
        return true;
    }
    let (results, checks) = record(|| apply(head.op, &traced, &head.attrs()));
    results.is_ok() && checks.iter().all(|c| c.condition.eval(&inputs) == Some(1))
}

/// Tells for each node of a problem whether nothing that it needs asserts what does not hold, or looks beyond a domain.
fn sound(p: &Problem, numbers: &Numbers) -> Vec<bool> {
    let mut out: Vec<bool> = Vec::new();
    for node in &p.nodes {
        let below = node.kind.operands().iter().all(|&o| out[o]);
        let own = match &node.kind {
            Kind::Op(head, operands) => {
                let operands: Vec<&Value> = operands.iter().map(|&o| &p.nodes[o].value).collect();
                let known: Vec<Value> = operands.iter().filter_map(|v| at(v, numbers)).collect();
                asserts(head, &operands, numbers) && is_inside(head, &known)
            }
            _ => true,
        };
        out.push(below && own);
    }
    out
}

/// The nodes of an answer that a node of it needs, itself too.
fn cone(simple: &Simplified, node: usize) -> Vec<usize> {
    let mut out = vec![node];
    let mut next = 0;
    while next < out.len() {
        if let Form::Op(_, operands) = &simple.nodes[out[next]].form {
            out.extend(operands);
        }
        next += 1;
    }
    out
}

/// Tells whether a layout is evaluated, or composed, within its domain: beyond it, forms differ.
fn is_inside(head: &Head, operands: &[Value]) -> bool {
    match (head.op, operands) {
        ("layout_eval", [Value::Coord(c), layout]) => {
            let (at, size) = (c.as_static(), size(layout));
            at.zip(size).is_some_and(|(at, size)| at < size)
        }
        ("composition", [layout, Value::Layout(b)]) => {
            let size = size(layout);
            size.zip(b.cosize().ok())
                .is_some_and(|(size, reach)| reach <= size)
        }
        _ => true,
    }
}

#[test]
fn random_terms_are_the_same_values() {
    let mut random = Random(0x00c0_ffee);
    let (mut compared, mut changed, mut cheaper) = (0, 0, 0);
    for _ in 0..1_500 {
        let symbols = Symbols::new(&mut random);
        let p = problem(&mut random, &symbols);
        let simple = simplify(&p, &Limits::default()).unwrap();
        assert!(simple.stats.cost_after <= simple.stats.cost_before);
        assert_eq!(simple.roots.len(), p.roots.len());
        cheaper += usize::from(simple.stats.cost_after < simple.stats.cost_before);
        for _ in 0..4 {
            let numbers = symbols.numbers(&mut random);
            let sound = sound(&p, &numbers);
            for (&old, &new) in p.roots.iter().zip(&simple.roots) {
                if !sound[old] {
                    continue;
                }
                let why = || {
                    format!(
                        "with {numbers:?} by {:?} in\n{}",
                        simple.stats.applied,
                        shown(&p)
                    )
                };
                let is = at(&simple.nodes[new].value, &numbers).unwrap();
                let was = at(&p.nodes[old].value, &numbers).unwrap();
                assert!(
                    !differ(&is, &was),
                    "node {old}, {was}, became {is} {}",
                    why()
                );
                compared += 1;
                changed += usize::from(simple.nodes[new].form != Form::Given(old));
                for made in cone(&simple, new) {
                    let Form::Op(head, operands) = &simple.nodes[made].form else {
                        continue;
                    };
                    let symbolic: Vec<&Value> =
                        operands.iter().map(|&o| &simple.nodes[o].value).collect();
                    // Nothing is asked for that was not.
                    assert!(
                        asserts(head, &symbolic, &numbers),
                        "{} asserts more {}",
                        head.op,
                        why()
                    );
                    // What is said of it is what the static algebra gives. A mode that happens to have one element counts as
                    // one that has more, so that its stride makes other numbers.
                    let known: Vec<Value> =
                        symbolic.iter().filter_map(|v| at(v, &numbers)).collect();
                    if numbers.values().all(|n| *n > 1) && is_inside(head, &known) {
                        let is = ideal(head, &known).unwrap();
                        let said = at(&simple.nodes[made].value, &numbers).unwrap();
                        assert!(!differ(&is, &said), "{is} is said to be {said} {}", why());
                    }
                }
            }
        }
    }
    assert!(compared > 6_000, "{compared}");
    assert!(changed > 1_000, "{changed}");
    assert!(cheaper > 100, "{cheaper}");
}

#[test]
fn answers_do_not_depend_on_threads_or_on_what_came_before() {
    let mut random = Random(7);
    for _ in 0..60 {
        let symbols = Symbols::new(&mut random);
        let p = problem(&mut random, &symbols);
        let limits = Limits {
            nodes: 300,
            ..Limits::default()
        };
        let here = simplify(&p, &limits).unwrap();
        let there = std::thread::scope(|s| s.spawn(|| simplify(&p, &limits)).join().unwrap());
        assert_eq!(Ok(here), there);
    }
}

/// At its limits it still answers, no worse than what it was given.
#[test]
fn limits_end_the_search() {
    let mut random = Random(11);
    for nodes in [0, 1, 10, 100] {
        let symbols = Symbols::new(&mut random);
        let p = problem(&mut random, &symbols);
        let limits = Limits {
            nodes,
            iterations: 2,
            matches: 3,
        };
        let simple = simplify(&p, &limits).unwrap();
        assert!(simple.stats.cost_after <= simple.stats.cost_before);
    }
}

/// Dynamic layouts give what static ones give.
#[test]
fn dynamic_operands_give_what_static_ones_give() {
    let mut random = Random(3469);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..4_000 {
        let symbols = Symbols::new(&mut random);
        let (a, b) = (symbols.layout(&mut random), symbols.layout(&mut random));
        let (a, b) = (Value::Layout(a), Value::Layout(b));
        let cotarget = match &a {
            Value::Layout(l) => Value::Shape(IntTuple::Leaf(l.cosize_leaf().unwrap())),
            other => other.clone(),
        };
        let op = random.pick(&[
            "coalesce",
            "composition",
            "right_inverse",
            "left_inverse",
            "complement",
        ]);
        let operands = match op {
            "composition" => vec![a, b],
            "complement" => vec![a, cotarget],
            _ => vec![a],
        };
        let Some(open) = ideal(&Head::new(op), &operands) else {
            continue;
        };
        for _ in 0..4 {
            let numbers = symbols.numbers(&mut random);
            // As above: it leaves more room than there has to be.
            if op == "complement" && numbers.values().any(|n| *n == 1) {
                continue;
            }
            let known: Vec<Value> = operands.iter().filter_map(|v| at(v, &numbers)).collect();
            let (Ok(known), Some(open)) =
                (apply(op, &known, &Attrs::default()), at(&open, &numbers))
            else {
                continue;
            };
            if op == "right_inverse" {
                // What is not known of a mode ends it early, and of two that overlap either may be taken.
                let l = at(&operands[0], &numbers).unwrap();
                let back = (0..size(&open).unwrap().min(2_000)).all(|i| {
                    let there = offset(&open, i).and_then(|o| o.as_static());
                    there.and_then(|there| offset(&l, there))
                        == Some(IntTuple::Leaf(Leaf::Static(i)))
                });
                assert!(back, "{open} of {l}");
            } else if op == "left_inverse" {
                // Any is one that gives back the index of what is reached.
                let (Value::Layout(l), Some(n)) =
                    (at(&operands[0], &numbers).unwrap(), size(&open))
                else {
                    continue;
                };
                assert!(n >= 1);
                let back = (0..l.size().unwrap().min(2_000)).all(|i| {
                    let there = l.eval(&IntTuple::Leaf(Leaf::Static(i))).unwrap();
                    let there = there.as_static().unwrap();
                    let here = offset(&open, there).and_then(|o| o.as_static());
                    here.and_then(|here| l.eval(&IntTuple::Leaf(Leaf::Static(here))).ok())
                        == Some(IntTuple::Leaf(Leaf::Static(there)))
                });
                assert!(back, "{open} of {l}");
            } else {
                assert!(
                    !differ(&open, &known[0]),
                    "{op}: {open} for {} of {operands:?}",
                    known[0]
                );
            }
            *counts.entry(op).or_default() += 1;
        }
    }
    assert!(
        counts.len() == 5 && counts.values().all(|n| *n > 200),
        "{counts:?}"
    );
}

#[test]
fn a_swizzle_that_reads_nothing_is_dropped() {
    let mut p = Problem::default();
    let n = IntTuple::Leaf(Leaf::symbolic(
        Poly::symbol(Symbol::new("n").with_div(16)).unwrap(),
    ));
    let wide = Layout::new(IntTuple::Tuple(vec![n.clone(), n.clone()]), {
        IntTuple::Tuple(vec![IntTuple::Leaf(Leaf::Static(16)), n])
    });
    let layout = p.leaf(Value::Layout(wide.unwrap()));
    let swizzle = p.leaf(Value::Swizzle(Swizzle::new(2, 0, 2).unwrap()));
    let zero = p.leaf(Value::IntTuple(IntTuple::Leaf(Leaf::Static(0))));
    let i = IntTuple::Leaf(Leaf::symbolic(Poly::symbol(Symbol::new("i")).unwrap()));
    let coord = p.leaf(Value::Coord(i));
    let composed = Head::new("make_composed_layout");
    let value = ComposedLayout::swizzled(
        Swizzle::new(2, 0, 2).unwrap(),
        match &p.nodes[layout].value {
            Value::Layout(l) => l.clone(),
            _ => unreachable!("a layout was put there"),
        },
    );
    let swizzled = p.push(
        Kind::Op(composed, vec![swizzle, zero, layout]),
        Value::ComposedLayout(value.unwrap()),
        0,
    );
    // The bits are not known to polynomials, so that the value is one of its own.
    let out = IntTuple::Leaf(Leaf::symbolic(Poly::symbol(Symbol::new("out")).unwrap()));
    let eval = Head::new("layout_eval");
    let root = p.push(
        Kind::Op(eval, vec![coord, swizzled]),
        Value::IntTuple(out),
        80,
    );
    p.roots.push(root);
    let simple = simplify(&p, &Limits::default()).unwrap();
    assert!(simple.stats.cost_after < simple.stats.cost_before);
    let made = &simple.nodes[simple.roots[0]];
    let Form::Op(head, operands) = &made.form else {
        panic!("{made:?}");
    };
    assert_eq!(head.op, "layout_eval");
    assert_eq!(simple.nodes[operands[1]].form, Form::Given(layout));
}
