//! `cute-lower-layouts` against the static algebra: what a dynamic layout computes is what the static one is.
//!
//! Random static operands have some integers hidden behind `?`. A function of the op on these types is lowered, and its
//! arithmetic is interpreted on the hidden integers. Where every assertion holds, the result is that of the static op.

use cute_ir::mlir::*;
use cute_layout::{
    IntTuple, Kind, Layout, Tile,
    ops::{Attrs, Value, apply},
};
use melior::{
    Context,
    ir::{Module, Type, ValueLike},
};
use std::collections::{BTreeMap, HashMap};

/// A small generator, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// An operand as a kind of type and a text.
#[derive(Clone, Debug)]
struct Operand {
    kind: &'static str,
    text: String,
}

impl Operand {
    fn new(kind: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, text }
    }

    fn ty(&self) -> String {
        format!("!cute.{}<\"{}\">", self.kind, self.text)
    }

    fn value(&self) -> Value {
        let tuple = |kind| IntTuple::parse(&self.text, kind).expect(&self.text);
        match self.kind {
            "layout" => Value::Layout(Layout::parse(&self.text).expect(&self.text)),
            "tile" => Value::Tile(Tile::parse(&self.text).expect(&self.text)),
            "shape" => Value::Shape(tuple(Kind::Shape)),
            "coord" => Value::Coord(tuple(Kind::Coord)),
            _ => Value::IntTuple(tuple(Kind::IntTuple)),
        }
    }

    /// The same with some integers hidden, which join `inputs` in order.
    fn hidden(&self, random: &mut Random, inputs: &mut Vec<i64>) -> Self {
        let mut text = String::new();
        let mut digits = String::new();
        for c in self.text.chars().chain(std::iter::once(' ')) {
            if c.is_ascii_digit() || (c == '-' && digits.is_empty()) {
                digits.push(c);
                continue;
            }
            if !digits.is_empty() {
                if random.below(2) == 0 {
                    inputs.push(digits.parse().expect("an integer"));
                    text.push('?');
                } else {
                    text.push_str(&digits);
                }
                digits.clear();
            }
            if c != ' ' {
                text.push(c);
            }
        }
        Self::new(self.kind, text)
    }
}

fn extents(random: &mut Random, rank: usize, of: &[i64]) -> Vec<i64> {
    (0..rank).map(|_| random.pick(of)).collect()
}

fn tuple(values: &[i64]) -> String {
    match values {
        [one] => one.to_string(),
        [a, b, c] => format!("({a},({b},{c}))"),
        all => format!(
            "({})",
            all.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(",")
        ),
    }
}

/// A layout: compact in a random order of its modes, or with random strides.
fn layout(random: &mut Random, of: &[i64]) -> Operand {
    let rank = 1 + random.below(3);
    let shape = extents(random, rank, of);
    let mut stride = vec![0; rank];
    if random.below(4) == 0 {
        stride = extents(random, rank, &[0, 1, 2, 3, 4, 5, 8, 12, 16]);
    } else {
        let mut order: Vec<usize> = (0..rank).collect();
        for i in (1..rank).rev() {
            order.swap(i, random.below(i + 1));
        }
        let mut run = 1;
        for i in order {
            stride[i] = run;
            run *= shape[i];
        }
    }
    Operand::new("layout", format!("{}:{}", tuple(&shape), tuple(&stride)))
}

/// An op with operands.
fn case(random: &mut Random) -> (&'static str, Vec<Operand>) {
    const POWERS: &[i64] = &[1, 2, 4, 8];
    const ANY: &[i64] = &[1, 2, 3, 4, 5, 6, 8];
    let of = if random.below(3) == 0 { ANY } else { POWERS };
    let shape =
        |random: &mut Random, rank: usize| Operand::new("shape", tuple(&extents(random, rank, of)));
    match random.below(12) {
        0 => ("composition", vec![layout(random, of), layout(random, of)]),
        1 => ("composition", vec![layout(random, of), shape(random, 1)]),
        2 => ("coalesce", vec![layout(random, of)]),
        3 => {
            let op = random.pick(&[
                "logical_divide",
                "zipped_divide",
                "tiled_divide",
                "flat_divide",
            ]);
            (op, vec![layout(random, of), layout(random, of)])
        }
        4 => {
            let op = random.pick(&["logical_divide", "zipped_divide"]);
            let l = layout(random, of);
            let rank = match l.value() {
                Value::Layout(l) => l.rank(),
                _ => 1,
            };
            let tile: Vec<String> = (0..rank)
                .map(|_| format!("{}:1", random.pick(of)))
                .collect();
            (
                op,
                vec![l, Operand::new("tile", format!("[{}]", tile.join(";")))],
            )
        }
        5 => {
            let op = random.pick(&[
                "logical_product",
                "zipped_product",
                "blocked_product",
                "raked_product",
            ]);
            (op, vec![layout(random, of), layout(random, of)])
        }
        6 => ("complement", vec![layout(random, of), shape(random, 1)]),
        7 => (random.pick(&["size", "cosize"]), vec![layout(random, of)]),
        8 => {
            let l = layout(random, of);
            let c = Operand::new("coord", random.below(32).to_string());
            ("layout_eval", vec![c, l])
        }
        9 => {
            let rank = 1 + random.below(3);
            let i = Operand::new("int_tuple", random.below(64).to_string());
            ("idx2crd", vec![i, shape(random, rank)])
        }
        10 => {
            let rank = 1 + random.below(3);
            let s = shape(random, rank);
            let i = random.below(32).to_string();
            let Value::Shape(t) = s.value() else {
                unreachable!()
            };
            let c = t.idx2crd(&IntTuple::parse(&i, Kind::IntTuple).expect("an index"));
            (
                "increment_coord",
                vec![Operand::new("coord", c.expect("an index").to_string()), s],
            )
        }
        _ => {
            let op = random.pick(&["ceil_div", "tuple_add", "tuple_sub"]);
            let rank = 1 + random.below(2);
            let kind = if op == "ceil_div" {
                "shape"
            } else {
                "int_tuple"
            };
            let a = Operand::new(kind, tuple(&extents(random, rank, of)));
            let b = Operand::new(kind, tuple(&extents(random, rank, of)));
            (op, vec![a, b])
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Layout(_) => "layout",
        Value::Shape(_) => "shape",
        Value::Stride(_) => "stride",
        Value::Coord(_) => "coord",
        Value::Tile(_) => "tile",
        _ => "int_tuple",
    }
}

/// Runs straight-line arithmetic. Nothing where an assertion fails or an operation is not defined.
fn interpret(function: Op<'_>, inputs: &[i64]) -> Option<Vec<i64>> {
    let body = body_of(function, 0).expect("a body");
    let mut values: HashMap<ValueKey, i64> = HashMap::new();
    for (i, v) in inputs.iter().enumerate() {
        values.insert(key(argument(body, i)), *v);
    }
    let narrow = |v: i64, ty: Type<'_>| match ty.to_string().as_str() {
        "i1" => v & 1,
        "i32" => i64::from(v as i32),
        _ => v,
    };
    for op in ops_of(body) {
        let given: Vec<i64> = operands_of(op).iter().map(|v| values[&key(*v)]).collect();
        let number = |name: &str| integer_of(op, name).expect("an integer attribute");
        let result = match (name_of(op), &given[..]) {
            ("func.return", all) => return Some(all.to_vec()),
            ("cf.assert", [holds]) => {
                if *holds == 0 {
                    return None;
                }
                continue;
            }
            ("arith.constant", []) => number("value"),
            ("arith.addi", [a, b]) => a + b,
            ("arith.subi", [a, b]) => a - b,
            ("arith.muli", [a, b]) => a * b,
            ("arith.divsi", [a, b]) => a.checked_div(*b).expect("no division by zero"),
            ("arith.remsi", [a, b]) => a.checked_rem(*b).expect("no division by zero"),
            ("arith.minsi", [a, b]) => *a.min(b),
            ("arith.maxsi", [a, b]) => *a.max(b),
            ("arith.andi", [a, b]) => a & b,
            ("arith.ori", [a, b]) => a | b,
            ("arith.xori", [a, b]) => a ^ b,
            ("arith.extsi" | "arith.trunci", [a]) => *a,
            ("arith.extui", [a]) => a & 1,
            ("arith.select", [c, a, b]) => *(if *c != 0 { a } else { b }),
            ("arith.cmpi", [a, b]) => i64::from(match number("predicate") {
                0 => a == b,
                1 => a != b,
                2 => a < b,
                3 => a <= b,
                4 => a > b,
                _ => a >= b,
            }),
            (other, _) => panic!("an op that is not interpreted: {other}"),
        };
        let out = result_of(op, 0);
        values.insert(key(out), narrow(result, out.r#type()));
    }
    panic!("a function without a return")
}

/// The numbers put in for the dynamic leaves, in order.
fn put_in(text: &str, numbers: &[i64]) -> String {
    let mut numbers = numbers.iter();
    text.split('?')
        .enumerate()
        .map(|(i, part)| match i {
            0 => part.to_owned(),
            _ => format!("{}{part}", numbers.next().expect("a number for each `?`")),
        })
        .collect()
}

fn offsets(l: &Layout) -> Vec<i64> {
    let f = l.flat().expect("static");
    (0..f.size()).map(|i| f.at(i)).collect()
}

fn lowered<'c>(context: &'c Context, text: &str) -> Module<'c> {
    let module = Module::parse(context, text);
    let mut module = module.unwrap_or_else(|| panic!("does not parse: {text}"));
    let done = Rewriter::within(&mut module, |rewriter, op| {
        (cute_passes::lower_layouts::PASS.run)(rewriter, op, &["true"])
    });
    assert!(done.is_ok(), "does not lower: {text}");
    module
}

/// The same function, or an op whose dynamic form rounds up leaf by leaf and so covers more.
fn same(op: &str, dynamic: &str, truth: &Value) -> bool {
    let Value::Layout(truth) = truth else {
        return dynamic == truth.to_string();
    };
    let Ok(have) = Layout::parse(dynamic) else {
        return false;
    };
    let (have, want) = (offsets(&have), offsets(truth));
    let rounds = op.ends_with("_divide") || op == "complement";
    have == want || (rounds && have.len() > want.len())
}

/// An op on operands with hidden integers, lowered.
struct Case<'c> {
    op: &'static str,
    operands: Vec<Operand>,
    /// The hidden integers.
    inputs: Vec<i64>,
    /// The text of the inferred result.
    result: String,
    text: String,
    module: Module<'c>,
}

impl<'c> Case<'c> {
    /// Makes a case; nothing where the op refuses the types.
    fn new(context: &'c Context, random: &mut Random) -> Option<Self> {
        let (op, operands) = case(random);
        let mut inputs = Vec::new();
        // The gaps of a layout are known only where its strides are.
        let whole = op.ends_with("_product") && random.below(4) > 0;
        let hidden: Vec<Operand> = operands
            .iter()
            .enumerate()
            .map(|(i, o)| {
                if whole && i == 0 {
                    o.clone()
                } else {
                    o.hidden(random, &mut inputs)
                }
            })
            .collect();
        let values: Vec<Value> = hidden.iter().map(Operand::value).collect();
        let results = apply(op, &values, &Attrs::default()).ok()?;
        let result = Operand::new(kind_of(&results[0]), results[0].to_string());
        let types: Vec<String> = hidden.iter().map(Operand::ty).collect();
        let arguments: Vec<String> = types
            .iter()
            .enumerate()
            .map(|(i, t)| format!("%{i}: {t}"))
            .collect();
        let names: Vec<String> = (0..types.len()).map(|i| format!("%{i}")).collect();
        let text = format!(
            "func.func @f({}) -> {r} {{\n  %r = cute.{op}({}) : ({}) -> {r}\n  return %r : {r}\n}}",
            arguments.join(", "),
            names.join(", "),
            types.join(", "),
            r = result.ty(),
        );
        let module = lowered(context, &text);
        Some(Self {
            op,
            operands,
            inputs,
            result: result.text,
            text,
            module,
        })
    }

    /// Returns what the function gives for these inputs; nothing where an assertion fails.
    fn run(&self, inputs: &[i64]) -> Option<Vec<i64>> {
        let top: Op = self.module.as_operation();
        let function = nested_ops(top)
            .into_iter()
            .find(|op| name_of(*op) == "func.func");
        interpret(function.expect("a function"), inputs)
    }
}

#[test]
fn dynamic_layouts_are_computed_as_static_ones() {
    let context = cute_ir::context();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut right: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..6000 {
        let Some(case) = Case::new(&context, &mut random) else {
            continue;
        };
        let Some(numbers) = case.run(&case.inputs) else {
            continue;
        };
        let (op, operands, text) = (case.op, &case.operands, &case.text);
        let dynamic = put_in(&case.result, &numbers);
        let values: Vec<Value> = operands.iter().map(Operand::value).collect();
        let truth = apply(op, &values, &Attrs::default()).unwrap_or_else(|e| {
            panic!("{op} {operands:?}: {dynamic} where the static op says {e}\n{text}")
        });
        assert!(
            same(op, &dynamic, &truth[0]),
            "{op} {operands:?}: {dynamic} where {} is right\n{text}",
            truth[0]
        );
        *right.entry(op).or_default() += 1;
    }
    // Most cases of each op are decided, so that the comparison above is one.
    for (op, least) in [
        ("composition", 500),
        ("coalesce", 400),
        ("logical_divide", 200),
        ("zipped_divide", 150),
        ("logical_product", 60),
        ("blocked_product", 60),
        ("complement", 250),
        ("size", 200),
        ("cosize", 200),
        ("layout_eval", 400),
        ("idx2crd", 400),
        ("increment_coord", 400),
        ("ceil_div", 100),
        ("tuple_add", 100),
    ] {
        let n = right.get(op).copied().unwrap_or(0);
        assert!(
            n >= least,
            "{op}: {n} comparisons, expected {least}: {right:?}"
        );
    }
}

/// An extent of 0 is stopped by an assertion: nothing is divided by it (the interpreter would panic).
#[test]
fn nothing_is_divided_by_zero() {
    let context = cute_ir::context();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut stopped = 0;
    for _ in 0..3000 {
        let Some(case) = Case::new(&context, &mut random) else {
            continue;
        };
        for zero in 0..case.inputs.len() {
            let mut inputs = case.inputs.clone();
            inputs[zero] = 0;
            stopped += usize::from(case.run(&inputs).is_none());
        }
    }
    assert!(stopped > 500, "{stopped} runs were stopped");
}

#[test]
fn a_leaf_is_an_argument() {
    let context = cute_ir::context();
    let module = lowered(
        &context,
        "func.func @f(%l: !cute.layout<\"(?,8):(1,?{i64})\">) -> !cute.shape<\"(?,8)\"> {\n  \
         %s = cute.get_shape(%l) : !cute.layout<\"(?,8):(1,?{i64})\"> -> !cute.shape<\"(?,8)\">\n  \
         return %s : !cute.shape<\"(?,8)\">\n}",
    );
    let text = module.as_operation().to_string();
    assert!(text.contains("@f(%arg0: i32, %arg1: i64) -> i32"), "{text}");
    assert!(text.contains("return %arg0 : i32"), "{text}");
}
