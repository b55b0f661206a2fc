//! The prover of rules: tries each on all small layouts for which its guard holds, and on random larger ones, and compares both
//! sides as functions, and then as values: in shape and stride, which is what equal terms are. A right side that is said to be
//! a part of the left side has to be defined wherever that is.

use crate::rules::{Compiled, Env, Pat, Rule, TOPICS};
use crate::term::Head;
use crate::value::ideal;
use cute_layout::{ComposedLayout, IntTuple, Layout, Leaf, Swizzle, Tile, int, ops::Value, tuple};
use std::collections::{BTreeMap, BTreeSet};

/// The most combinations of values that are tried for one rule with several variables: of the lists as much is taken as fits,
/// evenly.
const BUDGET: usize = 8_000;
/// The number of random combinations of larger values.
const RANDOM: usize = 300;

/// The values at the front of a list that are always tried.
const CORE: usize = 12;

/// The terms that a variable may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Domain {
    Layouts,
    AnyLayouts,
    Tilers,
    Cotargets,
    Profiles,
    Slices,
    Indices,
    Offsets,
    Swizzles,
}

fn domain(op: &str, operand: usize) -> Domain {
    match (op, operand) {
        ("coalesce", 1) => Domain::Profiles,
        ("complement", 1) => Domain::Cotargets,
        ("slice" | "dice", 1) => Domain::Slices,
        ("layout_eval", 0) => Domain::Indices,
        ("make_composed_layout", 1) => Domain::Offsets,
        ("make_composed_layout" | "swizzle", 0) | ("swizzle_compose", _) => Domain::Swizzles,
        (_, 1) if op.ends_with("_divide") || op == "composition" => Domain::Tilers,
        ("complement" | "filter" | "right_inverse" | "left_inverse" | "cat", _) => Domain::Layouts,
        (_, 0) | ("layout_eval", 1) => Domain::AnyLayouts,
        _ => Domain::Layouts,
    }
}

fn domains(pat: &Pat, out: &mut BTreeMap<char, Domain>) {
    let Pat::Op(spec, operands) = pat else {
        return;
    };
    for (i, operand) in operands.iter().enumerate() {
        match operand {
            Pat::Var(name) => {
                let wanted = domain(spec.op, i);
                let had = out.entry(*name).or_insert(wanted);
                if matches!(*had, Domain::AnyLayouts | Domain::Tilers) {
                    *had = wanted;
                }
            }
            inner => domains(inner, out),
        }
    }
}

/// Values in an order that is the same every time.
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

    /// A layout of up to three modes, compact in some order, or of any strides.
    fn layout(&mut self) -> Layout {
        let rank = 1 + self.below(3);
        let extents: Vec<i64> = (0..rank)
            .map(|_| self.pick(&[1, 2, 3, 4, 5, 6, 8, 12, 16]))
            .collect();
        let strides: Vec<i64> = if self.below(3) == 0 {
            (0..rank)
                .map(|_| self.pick(&[0, 1, 2, 3, 4, 5, 7, 8, 16, 24, 64]))
                .collect()
        } else {
            let mut order: Vec<usize> = (0..rank).collect();
            let (at, to) = (self.below(rank), self.below(rank));
            order.swap(at, to);
            let (mut strides, mut next) = (vec![0; rank], self.pick(&[1, 1, 1, 2, 4]));
            for i in order {
                strides[i] = next;
                next *= extents[i];
            }
            strides
        };
        let leaf = |v: &i64| int(*v);
        let (mut s, mut d): (Vec<_>, Vec<_>) = (
            extents.iter().map(leaf).collect(),
            strides.iter().map(leaf).collect(),
        );
        if rank == 3 && self.below(2) == 0 {
            let nest = |t: &mut Vec<IntTuple>| {
                let last = t.split_off(1);
                t.push(IntTuple::Tuple(last));
            };
            nest(&mut s);
            nest(&mut d);
        }
        if rank == 1 && self.below(2) == 0 {
            return Layout::new(s.remove(0), d.remove(0)).unwrap();
        }
        Layout::new(IntTuple::Tuple(s), IntTuple::Tuple(d)).unwrap()
    }

    fn value(&mut self, domain: Domain, small: &Lists) -> Value {
        match domain {
            Domain::Layouts => Value::Layout(self.layout()),
            Domain::Tilers if self.below(2) == 0 => Value::Layout(self.layout()),
            Domain::Cotargets => Value::Shape(int(self.pick(&[12, 48, 96, 100, 128, 1024]))),
            Domain::Indices => Value::Coord(int(self.below(300) as i64)),
            other => {
                let list = small.of(other);
                self.pick(&list)
            }
        }
    }
}

/// Small values of each domain.
struct Lists {
    layouts: Vec<Layout>,
}

impl Lists {
    fn new() -> Lists {
        let mut layouts = Vec::new();
        let leaf = |s, d| Layout::leaf(s, d).unwrap();
        let flat =
            |s: [i64; 2], d: [i64; 2]| Layout::new(tuple(s.map(int)), tuple(d.map(int))).unwrap();
        layouts.extend([
            leaf(2, 1),
            leaf(4, 1),
            leaf(8, 1),
            leaf(16, 1),
            leaf(4, 2),
            leaf(1, 5),
        ]);
        layouts.extend([
            flat([4, 4], [4, 1]),
            flat([2, 4], [1, 4]),
            flat([2, 1], [1, 7]),
        ]);
        layouts.push(flat([2, 4], [-1, 2]));
        layouts.push(Layout::identity(&tuple([int(4), int(3)])).unwrap());
        layouts.push(Layout::new(tuple([int(2)]), tuple([int(2)])).unwrap());
        for s in [1, 2, 3, 4, 6, 8, 64] {
            for d in [0, 1, 2, 3, 4, 8] {
                layouts.push(leaf(s, d));
            }
        }
        let (extents, strides) = ([1, 2, 3, 4], [0, 1, 2, 3, 4, 8]);
        let mut leaves = Vec::new();
        for s in extents {
            for d in strides {
                leaves.push(leaf(s, d));
            }
        }
        for a in &leaves {
            layouts.push(Layout::from_modes(std::slice::from_ref(a)).unwrap());
            for b in &leaves {
                layouts.push(Layout::from_modes(&[a.clone(), b.clone()]).unwrap());
            }
        }
        // Two levels, sizes up to 64.
        for inner in leaves.iter().step_by(2) {
            for second in leaves.iter().skip(1).step_by(3) {
                let mode = Layout::from_modes(&[inner.clone(), second.clone()]).unwrap();
                for outer in [leaf(2, 1), leaf(4, 4), leaf(4, 16), leaf(1, 5), leaf(3, 0)] {
                    layouts.push(Layout::from_modes(&[mode.clone(), outer.clone()]).unwrap());
                    layouts.push(Layout::from_modes(&[outer, mode.clone()]).unwrap());
                }
            }
        }
        layouts.push(
            Layout::new(
                tuple([int(4), int(4), int(4)]),
                tuple([int(1), int(16), int(4)]),
            )
            .unwrap(),
        );
        Lists { layouts }
    }

    fn of(&self, domain: Domain) -> Vec<Value> {
        let layouts = || self.layouts.iter().cloned().map(Value::Layout);
        let swizzles = || {
            let some = [
                (1, 0, 1),
                (1, 1, 1),
                (2, 0, 2),
                (2, 1, 2),
                (1, 2, -1),
                (3, 0, 3),
                (0, 1, 1),
            ];
            some.into_iter()
                .map(|(b, m, s)| Swizzle::new(b, m, s).unwrap())
        };
        let coords = |texts: &[IntTuple]| texts.iter().cloned().map(Value::Coord).collect();
        let any = IntTuple::underscore;
        match domain {
            Domain::Layouts => layouts().collect(),
            Domain::AnyLayouts => {
                let plain = layouts();
                let swizzled = self.layouts.iter().step_by(5).filter_map(|l| {
                    let s = Swizzle::new(1, 1, 1).unwrap();
                    let composed = ComposedLayout::swizzled(s, l.clone()).ok()?;
                    Some(Value::ComposedLayout(composed))
                });
                plain.chain(swizzled).collect()
            }
            Domain::Tilers => {
                let tile = |modes: Vec<Tile>| Value::Tile(Tile::Modes(modes));
                let one = |s, d| Tile::Layout(Layout::leaf(s, d).unwrap());
                let tiles = [
                    tile(vec![one(2, 1)]),
                    tile(vec![one(2, 1), one(2, 1)]),
                    tile(vec![one(1, 1), one(4, 1)]),
                    tile(vec![one(2, 2), one(3, 1)]),
                    tile(vec![one(2, 1), Tile::Underscore]),
                ];
                tiles.into_iter().chain(layouts()).collect()
            }
            Domain::Cotargets => {
                let shapes = [int(1), int(8), int(24), int(64), tuple([int(4), int(6)])];
                let shapes = shapes.into_iter().map(Value::Shape);
                shapes.chain(layouts().step_by(97)).collect()
            }
            Domain::Profiles => coords(&[int(1), tuple([int(1)]), tuple([int(1), int(1)]), any()]),
            Domain::Slices => coords(&[
                any(),
                tuple([any(), int(1)]),
                tuple([int(0), any()]),
                tuple([int(1), any()]),
                tuple([tuple([any(), int(1)]), any()]),
                int(1),
            ]),
            Domain::Indices => {
                let mut all: Vec<IntTuple> = (0..9).map(int).collect();
                all.extend([int(40), tuple([int(1), int(2)]), tuple([int(0), int(5)])]);
                coords(&all)
            }
            Domain::Offsets => [0, 1, 4]
                .into_iter()
                .map(|o| Value::IntTuple(int(o)))
                .collect(),
            Domain::Swizzles => swizzles().map(Value::Swizzle).collect(),
        }
    }
}

/// The attributes that a variable of an operation may stand for.
fn heads(op: &'static str) -> Vec<Head> {
    let range = |range| Head {
        range: Some(range),
        ..Head::new(op)
    };
    match op {
        "group_modes" => vec![range((0, 1)), range((0, 2)), range((1, 2))],
        _ => vec![
            Head::at(op, &[0]),
            Head::at(op, &[1]),
            Head::at(op, &[0, 1]),
        ],
    }
}

/// The value of a side, or nothing where it is not defined.
fn evaluate(pat: &Pat, env: &Env, computed: Option<&Value>) -> Option<Value> {
    match pat {
        Pat::Var(name) => env.value(*name).cloned(),
        Pat::Computed => computed.cloned(),
        Pat::Op(spec, operands) => {
            let operands: Option<Vec<Value>> = operands
                .iter()
                .map(|o| evaluate(o, env, computed))
                .collect();
            ideal(&spec.head(&env.heads)?, &operands?)
        }
    }
}

fn at(value: &Value, i: i64) -> Option<IntTuple> {
    match value {
        Value::Layout(l) => l.eval(&int(i)).ok(),
        Value::ComposedLayout(c) => c.eval(&int(i)).ok(),
        _ => None,
    }
}

/// The difference between two values: of layouts first one between the functions.
fn difference(left: &Value, right: &Value) -> Option<String> {
    let sized = |v: &Value| match v {
        Value::Layout(l) => l.size().ok(),
        Value::ComposedLayout(c) => c.size().ok(),
        _ => None,
    };
    if let (Some(n), Some(m)) = (sized(left), sized(right)) {
        if n != m {
            return Some(format!("{n} elements became {m}"));
        }
        for i in 0..n {
            if at(left, i) != at(right, i) {
                return Some(format!("at {i} another offset"));
            }
        }
    }
    (left != right).then(|| "another form".to_string())
}

/// Proves a rule on the values of its domains; the number of cases compared, or a counterexample.
fn prove(rule: &Compiled) -> Result<usize, String> {
    let lists = Lists::new();
    let mut vars = BTreeMap::new();
    domains(&rule.lhs, &mut vars);
    let (_, attributes) = rule.lhs.vars();
    let mut all_heads: Vec<BTreeMap<char, Head>> = vec![BTreeMap::new()];
    for (name, op) in attributes {
        all_heads = all_heads
            .iter()
            .flat_map(|some| {
                heads(op).into_iter().map(|head| {
                    let mut some = some.clone();
                    some.insert(name, head);
                    some
                })
            })
            .collect();
    }
    let mut values: Vec<(char, Vec<Value>)> = vars
        .iter()
        .map(|(name, domain)| (*name, lists.of(*domain)))
        .collect();
    let total =
        |values: &[(char, Vec<Value>)]| values.iter().map(|(_, v)| v.len()).product::<usize>();
    while values.len() > 1 && total(&values) > BUDGET {
        let longest = values.iter_mut().max_by_key(|(_, v)| v.len()).unwrap();
        // The first ones are there to stay.
        let mut index = 0;
        longest.1.retain(|_| {
            index += 1;
            index <= CORE || index % 5 != 0
        });
    }
    let typed: BTreeSet<char> = match rule.rule.computed {
        true => vars.keys().copied().collect(),
        false => BTreeSet::new(),
    };
    let mut cases = 0;
    for heads in &all_heads {
        for combination in 0..total(&values) {
            let mut rest = combination;
            let mut env = Env {
                values: BTreeMap::new(),
                heads: heads.clone(),
                typed: typed.clone(),
            };
            for (name, list) in &values {
                env.values.insert(*name, list[rest % list.len()].clone());
                rest /= list.len();
            }
            cases += usize::from(compare(rule, &env)?);
        }
        let mut random = Random(0x001a_4007);
        for _ in 0..RANDOM {
            let env = Env {
                values: vars
                    .iter()
                    .map(|(name, domain)| (*name, random.value(*domain, &lists)))
                    .collect(),
                heads: heads.clone(),
                typed: typed.clone(),
            };
            cases += usize::from(compare(rule, &env)?);
        }
    }
    Ok(cases)
}

/// Compares both sides, if the guard holds and they are defined.
fn compare(rule: &Compiled, env: &Env) -> Result<bool, String> {
    let Some(left) = evaluate(&rule.lhs, env, None) else {
        return Ok(false);
    };
    if rule.rule.computed && !is_inside(env) {
        return Ok(false);
    }
    if !rule.holds(env) {
        return Ok(false);
    }
    let name = rule.rule.name;
    let shown = || -> String {
        let values: Vec<String> = env
            .values
            .iter()
            .map(|(n, v)| format!("?{n} = {v}"))
            .collect();
        values.join(", ")
    };
    let computed = rule.compute(env);
    let Some(right) = evaluate(&rule.rhs, env, computed.as_ref()) else {
        if rule.rule.narrows {
            return Err(format!(
                "{name}: the right side is not defined for {}",
                shown()
            ));
        }
        return Ok(false);
    };
    match difference(&left, &right) {
        Some(why) => Err(format!(
            "{name}: {left} became {right}: {why}, for {}",
            shown()
        )),
        None => Ok(true),
    }
}

/// Tells whether the index, if there is one, is one of the layout's.
fn is_inside(env: &Env) -> bool {
    let index = env.tuple('i').map(|i| i.as_static());
    let size = env.outer('a').and_then(|a| a.size().ok());
    index.is_none_or(|i| i.zip(size).is_some_and(|(i, size)| i < size))
}

fn prove_topic(name: &str) {
    let (_, rules) = TOPICS.iter().find(|(topic, _)| *topic == name).unwrap();
    let mut wrong = Vec::new();
    for rule in *rules {
        let compiled = Compiled::new(rule).unwrap();
        match prove(&compiled) {
            Ok(cases) if cases >= 20 => {}
            Ok(cases) => wrong.push(format!("{}: compared in {cases} cases only", rule.name)),
            Err(why) => wrong.push(why),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_law_of_coalesce_holds() {
    prove_topic("coalesce");
}

#[test]
fn every_law_of_composition_holds() {
    prove_topic("composition");
}

#[test]
fn every_law_of_divide_holds() {
    prove_topic("divide");
}

#[test]
fn every_law_of_product_holds() {
    prove_topic("product");
}

#[test]
fn every_law_of_inverse_holds() {
    prove_topic("inverse");
}

#[test]
fn every_law_of_size_holds() {
    prove_topic("size");
}

#[test]
fn every_law_of_swizzle_holds() {
    prove_topic("swizzle");
}

/// Laws that look right and are not.
static WRONG: &[Rule] = &[
    // Composition does not commute.
    Rule::new("commutes", "(composition ?a ?b)", "(composition ?b ?a)"),
    // C may reach beyond B, where B's extension is not the composition's.
    Rule::new(
        "associates-anywhere",
        "(coalesce (composition (composition ?a ?b) ?c))",
        "(coalesce (composition ?a (composition ?b ?c)))",
    ),
    // A coalesced layout goes on in another way beyond its domain.
    Rule::new(
        "coalesced-beyond",
        "(composition (coalesce ?a) ?b)",
        "(composition ?a ?b)",
    ),
    // The size of A is not that of A o B.
    Rule::new("size-of-left", "(size (composition ?a ?b))", "(size ?a)"),
    // A tile that does not divide rounds up.
    Rule::new(
        "size-of-any-divide",
        "(size (logical_divide ?a ?t))",
        "(size ?a)",
    ),
    // The order is the other way round.
    Rule::new(
        "rest-before-tile",
        "(logical_divide ?a ?t)",
        "(composition ?a (cat (complement ?t (get_shape ?a)) ?t))",
    ),
    // A right inverse is no left inverse.
    Rule::new("right-for-left", "(left_inverse ?a)", "(right_inverse ?a)"),
    // A left inverse of what is reached twice gives the first index.
    Rule::new(
        "left-of-anything",
        "(coalesce (composition (left_inverse ?a) ?a))",
        "?k",
    )
    .k(|e| {
        Some(Value::Layout(
            Layout::new(
                IntTuple::Leaf(Leaf::Static(e.layout('a')?.size().ok()?)),
                int(1),
            )
            .ok()?,
        ))
    }),
    // The inverse of an inverse is as large as the inverse.
    Rule::new(
        "inverse-of-partial",
        "(right_inverse (right_inverse ?a))",
        "(coalesce ?a)",
    ),
    // Copies of a block that has gaps do not stand behind it.
    Rule::new(
        "product-behind",
        "(logical_product ?a ?b)",
        "(cat ?a (composition (complement ?a ?a) ?b))",
    ),
    // Filtering drops modes of stride 0.
    Rule::new("filter-is-coalesce", "(filter ?a)", "(coalesce ?a)"),
    Rule::new("size-filtered", "(size (filter ?a))", "(size ?a)"),
    // A swizzle moves what has bits that it reads.
    Rule::new(
        "swizzle-for-nothing",
        "(layout_eval ?i (swizzle ?s ?a))",
        "(layout_eval ?i ?a)",
    ),
    // The inner one of two swizzles counts too.
    Rule::new(
        "swizzle-absorbs",
        "(swizzle ?s (swizzle ?t ?a))",
        "(swizzle ?s ?a)",
    ),
    // The second mode is not the first.
    Rule::new(
        "wrong-mode",
        "(get.1 (logical_divide ?a ?t))",
        "(composition ?a ?t)",
    ),
    // Equal as functions, but of another shape.
    Rule::new("flat-for-nested", "(flatten ?a)", "?a"),
    // The modes of B are composed in their order.
    Rule::new(
        "modes-swapped",
        "(composition ?a (cat ?b ?c))",
        "(cat (composition ?a ?c) (composition ?a ?b))",
    ),
    // Not every composition has the right side's modes of the left one.
    Rule::new(
        "mode-of-left",
        "(get.i (composition ?a ?b))",
        "(composition (get.i ?a) ?b)",
    ),
    // The complement fills what a layout leaves, not what its inverse does.
    Rule::new(
        "complement-of-inverse",
        "(complement ?a ?b)",
        "(complement (right_inverse ?a) ?b)",
    ),
    // A slice of a layout is not a mode of it.
    Rule::new("slice-is-nothing", "(slice ?a ?c)", "?a"),
    // An index is taken through B first.
    Rule::new(
        "eval-inside-out",
        "(layout_eval ?i (composition ?a ?b))",
        "(layout_eval (to_coord (layout_eval ?i ?a)) ?b)",
    ),
    // Said to be a part of the left side, and not always defined.
    Rule::new(
        "claims-to-narrow",
        "(size (logical_product ?a ?b))",
        "(size (cat ?a (composition (complement ?a) ?b)))",
    )
    .narrowing(),
];

#[test]
fn wrong_laws_are_found_out() {
    assert!(WRONG.len() >= 20);
    for rule in WRONG {
        let compiled = Compiled::new(rule).unwrap();
        let found = prove(&compiled);
        let why = found.expect_err(rule.name);
        assert!(why.starts_with(rule.name), "{why}");
    }
}

/// Rules whose guard keeps them to where they are of use.
const TRUE_WITHOUT_GUARD: &[&str] = &["eval-computed"];

/// The prover sees what guards are for: without them, rules are found out.
#[test]
fn without_its_guard_a_rule_is_found_out() {
    let mut held = Vec::new();
    for rule in TOPICS.iter().flat_map(|(_, rules)| rules.iter()) {
        let unguarded: &'static Rule = Box::leak(Box::new(rule.unguarded()));
        let compiled = Compiled::new(unguarded).unwrap();
        if rule.is_guarded() && prove(&compiled).is_ok() {
            held.push(rule.name);
        }
    }
    assert_eq!(held, TRUE_WITHOUT_GUARD);
}
